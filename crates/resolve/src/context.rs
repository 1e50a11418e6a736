//! What every step of resolving needs beside what it replays.

use crate::Sink;
use iotrail_model::Dictionaries;

/// The names that events refer to, and where results go.
#[derive(Debug)]
pub(crate) struct Context<'c, S: Sink> {
    pub(crate) names: &'c mut Dictionaries,
    pub(crate) sink: &'c mut S,
}
