//! What the kernel tells about a traced process: its threads, descriptors, image, environment, and what it used.
//!
//! Everything is read from `/proc`, from CPU clocks of other processes and from taskstats. Nothing here opens a file of
//! the traced program, and nothing asks a file system that may not answer: links in `/proc/PID/fd` lead to what is
//! open already, and `statx` is told to be content with the attributes at hand (`AT_STATX_DONT_SYNC`). Processes vanish
//! at any moment, so what cannot be read is unknown, not an error.
//!
//! The parsers are functions over bytes: a process chooses its own name, command line and file names.

mod descriptor;
mod environment;
mod fdinfo;
mod image;
mod io;
mod launcher;
mod link;
mod read;
mod sharers;
mod snapshot;
mod socket;
mod stat;
mod status;
mod taskstats;
mod tracees;
mod usage;

pub use descriptor::{FileInfo, FoundDescriptor, file_info, look};
pub(crate) use descriptor::{leads_to_lost_name, position, there};
pub use environment::{EnvError, EnvSelection};
pub(crate) use image::path;
pub use image::{ImageFacts, image};
pub use launcher::{Launcher, host};
pub use link::Name;
pub(crate) use sharers::is_alone;
pub use snapshot::{Seen, SnapshotSummary, birth, snapshot};
pub(crate) use socket::ends as socket_ends;
pub(crate) use stat::leads_session;
pub(crate) use status::{own_umask, process_of, tracer_of};
pub(crate) use tracees::is_tracing;
pub use usage::Accounts;
