//! How the binaries meet the world: data to stdout or into files that appear whole, talk to stderr.
//!
//! A crate of its own because there are two binaries, `iotrail` and `iotrail-sql`, that shall do both alike.

pub mod hints;
pub mod logs;
pub mod near;
pub mod output;
pub mod program;
pub mod signals;
pub mod ui;
