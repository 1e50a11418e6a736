//! Where the resolver's results go.

use iotrail_model::{CallId, Dictionaries, Event, NamedFile, PathId, Process};

/// Takes what a [`crate::Resolver`] finds out, in the order it finds it out.
pub trait Sink {
    /// A resolved call. Its ids refer to `names`, until the next [`crate::Resolver::rotate`].
    fn event(&mut self, event: &Event, names: &Dictionaries);

    /// Whether it asks for events of that call: a recorder follows some for what they do to descriptors alone.
    fn asks(&self, _call: CallId) -> bool {
        true
    }

    /// An executable image that ended, or was still running at the end of the trace.
    fn process(&mut self, process: Process);

    /// An executable image that began, as far as it is known: with its first call, or when the tracer shows it. The same
    /// one (`pid` and `start`) comes again as [`Sink::process`] when it ends.
    fn image(&mut self, _process: &Process) {}

    /// What became known of the file of that name.
    fn file(&mut self, _path: PathId, _file: &NamedFile, _names: &Dictionaries) {}
}
