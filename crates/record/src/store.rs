//! Where events are kept.

use iotrail_model::{Coverage, Dictionaries, Event, NamedFile, PathId, Process, Site, SiteId};

/// Why something is not kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// This one record cannot be kept; others can.
    #[error("{0}")]
    Refused(&'static str),
    /// Nothing more can be kept.
    #[error("{0}")]
    Failed(String),
}

/// The end of the pipe from the tracer over resolver and filter. It can fail: the program goes on all the same, and what the
/// store does not keep is counted as lost, with the reason that it gives.
pub trait Store {
    /// The program runs, or the processes to be recorded were joined: from now on there is something to keep.
    fn begun(&mut self) {}

    /// Keeps a resolved call. Its ids refer to `names`, until [`Store::rotated`].
    ///
    /// # Errors
    /// It is not kept.
    fn event(&mut self, event: &Event, names: &Dictionaries) -> Result<(), StoreError>;

    /// Keeps an executable image that has ended.
    ///
    /// # Errors
    /// It is not kept.
    fn process(&mut self, process: &Process) -> Result<(), StoreError>;

    /// Keeps an executable image that has begun, in case nobody tells its end.
    ///
    /// # Errors
    /// It is not kept.
    fn image(&mut self, _process: &Process) -> Result<(), StoreError> {
        Ok(())
    }

    /// Keeps what became known of the file of that name.
    ///
    /// # Errors
    /// It is not kept.
    fn file(&mut self, _path: PathId, _file: &NamedFile, _names: &Dictionaries) -> Result<(), StoreError> {
        Ok(())
    }

    /// Keeps a call site, or what became known of it, before an event refers to it.
    ///
    /// # Errors
    /// It is not kept, and no event may refer to it.
    fn site(&mut self, _site: SiteId, _of: &Site) -> Result<(), StoreError> {
        Ok(())
    }

    /// What can be said so far, now and then: a recorder that is killed says nothing more.
    ///
    /// # Errors
    /// It is not kept.
    fn coverage(&mut self, _coverage: &Coverage) -> Result<(), StoreError> {
        Ok(())
    }

    /// Bytes kept so far.
    fn bytes(&self) -> u64;

    /// From here on, ids of names mean something else.
    fn rotated(&mut self) {}
}
