//! A trail while it is recorded.
//!
//! Every recorder has a directory of its own under `NAME.trail/recording/` and appends its events to a spool there
//! (`iotrail_spool`), so that recorders need nothing of each other while they run and each survives the death of the
//! others. When a program has ended its recorder makes Parquet files of its own spool and adds them to the trail under a
//! lock, which is held for as long as it takes to write `trail.json`. What a killed recorder leaves is read by
//! [`crate::Trail::open`] and made part of the trail by [`recover`].

mod convert;
mod join;
mod lock;
mod open;
mod place;
mod publish;
mod recover;
mod run;
mod unfinished;
mod vanished;

pub(crate) use open::{Opened, open, state};
pub(crate) use run::{BROKEN, RECORDING, RUN};

pub use join::{JoinOptions, Recording};
pub use publish::Published;
pub use recover::{RecoverOptions, Recovered, Unreadable, recover};
pub use run::missing_ranks;
pub use unfinished::{Liveness, Unfinished, unfinished};

/// Why an event is lost that no record of a spool can hold.
pub const TOO_LONG: &str = "name too long";

/// Takes how many of how many events were converted so far; called from several threads.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);
