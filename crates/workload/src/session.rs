//! Sessions: open file descriptions from their open to their last close.
//!
//! Source: PIONEER, section IV-C.

use crate::characteristics::Placed;
use crate::file_class::FileIndex;
use iotrail_model::calls::CallKind;
use std::collections::HashMap;
use std::sync::Arc;

/// What was done through one open file description.
#[derive(Clone, Debug, PartialEq)]
pub struct Session<'a> {
    /// The file.
    pub file: FileIndex,
    /// Flags of the open; NULL if it was not seen.
    pub mode: Option<Arc<str>>,
    /// Position of the open in the path; NULL if it was not seen.
    pub opened: Option<u64>,
    /// What follows the open, in order.
    pub requests: Vec<&'a Placed>,
    /// Whether the last of them is a close; otherwise its end is that of the run.
    pub closed: bool,
}

impl Session<'_> {
    /// Position of the last request.
    #[must_use]
    pub fn last(&self) -> Option<u64> {
        self.requests.last().map(|placed| placed.position).or(self.opened)
    }

    /// Its transfers.
    pub fn data(&self) -> impl Iterator<Item = &Placed> {
        self.requests.iter().copied().filter(|placed| placed.request.is_data())
    }
}

/// The sessions of the requests of a rank, in the order in which they begin. Requests without a description belong to
/// none.
#[must_use]
pub fn sessions(requests: &[Placed]) -> Vec<Session<'_>> {
    let mut sessions: Vec<Session<'_>> = Vec::new();
    let mut by_open: HashMap<u64, usize> = HashMap::new();
    for placed in requests {
        let request = &placed.request;
        let Some(open) = request.open.get() else { continue };
        let opens = request.kind().opens_file();
        let at = *by_open.entry(open).or_insert_with(|| {
            sessions.push(Session {
                file: request.file,
                mode: request.form.mode.clone().filter(|_| opens),
                opened: opens.then_some(placed.position),
                requests: Vec::new(),
                closed: false,
            });
            sessions.len() - 1
        });
        let session = &mut sessions[at];
        if session.opened != Some(placed.position) {
            session.requests.push(placed);
            session.closed = request.kind() == CallKind::Close;
        }
    }
    sessions
}
