//! How an import tells how far it is. Nothing here knows about terminals.

/// Listens to an import; called from several threads.
pub trait Progress: Sync {
    /// The import is about to read `files` files of `bytes` bytes in all, as stored; `None` if an input is a stream.
    fn begin(&self, files: u64, bytes: Option<u64>) {
        let _ = (files, bytes);
    }

    /// `bytes` more bytes were read, as stored.
    fn advance(&self, bytes: u64) {
        let _ = bytes;
    }
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}
