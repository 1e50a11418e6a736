//! Where events are kept.

use iotrail_model::Coverage;
use iotrail_resolve::Sink;

/// A sink that can fail. The program goes on all the same; what the sink refuses is counted as lost.
pub trait Store: Sink {
    /// The program runs, or the processes to be recorded were joined: from now on there is something to keep.
    fn begun(&mut self) {}

    /// Why nothing more can be kept, if so.
    fn failure(&self) -> Option<String>;

    /// Bytes kept so far.
    fn bytes(&self) -> u64;

    /// From here on, ids of names mean something else.
    fn rotated(&mut self) {}

    /// What can be said so far, now and then: a recorder that is killed says nothing more.
    fn coverage(&mut self, _coverage: &Coverage) {}
}
