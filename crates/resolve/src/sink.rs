//! Where the resolver's results go.

use iotrail_model::{Dictionaries, Event, Process};

/// Takes what a [`crate::Resolver`] finds out, in the order it finds it out.
pub trait Sink {
    /// A resolved call. Its ids refer to `names`, until the next [`crate::Resolver::rotate`].
    fn event(&mut self, event: &Event, names: &Dictionaries);

    /// An executable image that ended, or was still running at the end of the trace.
    fn process(&mut self, process: Process);
}
