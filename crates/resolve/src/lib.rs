//! Raw calls to events: descriptor tables, open file descriptions, working directories, process life.
//!
//! A tracer delivers what it saw ([`iotrail_model::raw::RawItem`]): descriptor numbers, relative paths, thread ids.
//! The [`Resolver`] replays what the kernel did with them and hands out events with absolute paths, offsets and
//! processes. It is a pure stream: items in, events out, memory bounded by what is alive.

mod call;
mod cursor;
mod directories;
mod effect;
mod files;
mod held;
mod life;
mod lookup;
mod operands;
mod paths;
mod population;
mod resolver;
mod sink;
mod summary;
mod symbols;
mod turns;

pub use resolver::Resolver;
pub use sink::Sink;
pub use summary::{CaseSummary, Summary};
