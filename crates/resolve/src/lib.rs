//! Raw calls to events: descriptor tables, open file descriptions, working directories, process life.
//!
//! A tracer delivers what it saw ([`iotrail_model::raw::RawItem`]): descriptor numbers, relative paths, thread ids.
//! The [`Resolver`] replays what the kernel did with them and hands out events with absolute paths, offsets and
//! processes. It is a pure stream: items in, events out, memory bounded by what is alive.
//!
//! What it names, and what it does not:
//! - Paths are made absolute by their letters; symbolic links are followed where the trace made them or the tracer printed the
//!   result.
//! - A pipe, socket or other thing without a path that the tracer did not name is called by its kind (`pipe`, `socket`,
//!   `anon_inode:[eventfd]`): that much the call says. Numbers are not invented.
//! - What was never seen to be opened has no path. Its cursor is unknown, because others may move it.
//! - A symbolic link's `path` is the link, its `path2` what it points to.
//! - `offset` of lseek is the cursor before it; of truncate and fallocate the argument; of calls on memory and of locks
//!   see `docs/trail-format.md`.
//! - Sockets are called after their addresses where nobody names them better.
//! - Every process that no other in the trace made is one by itself; so is each thread of a process that was attached to.
//!
//! What recorders know better they say: who made whom, what was there before, what an image shows of itself, which
//! descriptors share an open file description and whether everybody who does is followed.
//!
//! Each part of what is replayed has one owner, and files import in one direction (a test checks that): `state` puts the owners side
//! by side; `lookup`, `identity`, `lifecycle`, `image`, `making`, `apply`, `call` and `found` say what concerns several; the `resolver` takes items.
//!
//! Cost: 58 ns of CPU per read on a known descriptor, 63 ns with a hint to compare, 161 ns per open or close
//! (the calls of `benches/resolve.rs`, two processes in turns), which is why
//! descriptor tables are dense vectors and paths are ids.

mod address_spaces;
mod apply;
mod attributes;
mod births;
mod call;
mod cases;
mod contested;
mod context;
mod covers;
mod creations;
mod cursor;
mod descriptor_tables;
mod directories;
mod effect;
mod entering;
mod file_names;
mod found;
mod gone;
mod held;
mod histories;
mod holds;
mod identity;
mod ids;
mod image;
mod kin;
mod library;
mod lifecycle;
mod locks;
mod lookup;
mod lost;
mod making;
mod mappings;
mod mounting;
mod mounts;
mod namespace;
mod node;
mod offsets;
mod open_files;
mod operands;
mod owned;
mod paths;
mod positions;
mod probes;
mod process_table;
mod renamed;
mod resolver;
mod ring_files;
mod scene;
mod shares;
mod sink;
mod sockets;
mod source;
mod state;
mod summary;
mod symbols;
mod tally;
mod turns;
mod uncertain;
mod unshown;
mod watches;

pub use resolver::Resolver;
pub use sink::Sink;
pub use summary::{CaseSummary, Summary};
