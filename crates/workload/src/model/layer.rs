//! With whose calls sessions are done: those of the system or of MPI-IO; and where all ranks make them together.

use super::{Action, KnobError, Model, ModelSession, RequestKind, Sharing, Synthetic};

/// With whose calls a session is done (definitions: docs/workload.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SessionLayer {
    /// System calls.
    #[default]
    System,
    /// Calls of MPI-IO that a rank makes alone.
    MpiIo,
    /// Calls of MPI-IO that all ranks make together.
    Collective,
}

/// All layers with their words.
const LAYERS: [(&str, SessionLayer); 3] = [
    ("posix", SessionLayer::System),
    ("mpi-io", SessionLayer::MpiIo),
    ("collective", SessionLayer::Collective),
];

impl SessionLayer {
    /// The word for it in model files.
    #[must_use]
    pub fn word(self) -> &'static str {
        LAYERS.iter().find(|(_, layer)| *layer == self).map_or("", |(word, _)| word)
    }

    /// The layer of a word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        LAYERS.iter().find(|(known, _)| *known == word).map(|(_, layer)| *layer)
    }
}

impl RequestKind {
    /// Whether MPI-IO has a call for it that all ranks make together.
    #[must_use]
    pub const fn may_be_collective(self) -> bool {
        !matches!(self, Self::Stat) && !self.is_of_lock()
    }
}

impl ModelSession {
    /// How often all ranks meet in an execution: at its open, its close and each request between that they make together.
    #[must_use]
    pub fn meetings(&self) -> u64 {
        if self.layer != SessionLayer::Collective {
            return 0;
        }
        let together = self.requests.iter().filter(|(kind, _)| kind.may_be_collective());
        together.fold(2, |sum, (_, count)| sum.saturating_add(*count))
    }
}

impl Model {
    /// Whether all ranks make calls together in any session.
    #[must_use]
    pub fn has_collective(&self) -> bool {
        self.sessions().any(|session| session.layer == SessionLayer::Collective)
    }

    /// Whether any session is done with calls of MPI-IO.
    #[must_use]
    pub fn has_mpi_io(&self) -> bool {
        self.sessions().any(|session| session.layer != SessionLayer::System)
    }

    /// A session that takes locks, of those whose transfers are dealt to the ranks.
    #[must_use]
    pub fn dealt_with_locks(&self) -> Option<&str> {
        let dealt = (0..self.files.len()).filter(|file| self.is_dealt(*file));
        let sessions = dealt.flat_map(|file| &self.files[file].sessions);
        sessions.into_iter().find(|session| session.has_locks()).map(|session| &*session.name)
    }

    /// The sessions of all files.
    pub fn sessions(&self) -> impl Iterator<Item = &ModelSession> {
        self.files.iter().flat_map(|file| &file.sessions)
    }

    /// The index of the group of all ranks.
    #[must_use]
    pub fn group_of_all(&self) -> Option<usize> {
        self.groups.iter().position(|group| (group.first, group.last) == (0, None))
    }

    /// The group that waits for each other at a step of a session, because all ranks make that call together.
    pub(super) fn meets_at(&self, step: &Synthetic) -> Option<usize> {
        let (file, session) = step.of?;
        let session = self.files.get(file)?.sessions.get(session)?;
        let together = match step.action {
            Action::Open { .. } | Action::Close => true,
            Action::Transfer { kind, .. } | Action::Request(kind) => kind.may_be_collective(),
            _ => false,
        };
        if session.layer == SessionLayer::Collective && together { self.group_of_all() } else { None }
    }

    /// Lets all sessions of files that hold bytes be done with such calls.
    pub(super) fn use_layer(&mut self, layer: SessionLayer) -> Result<(), KnobError> {
        let why = |file: &str, why| KnobError::NotOfLayer(file.to_owned(), layer.word(), why);
        let (is_drawn, has_all) = (self.path.is_some(), self.group_of_all().is_some());
        for file in &mut self.files {
            let is_shared = file.class == Sharing::Shared;
            for session in &mut file.sessions {
                session.layer = match layer {
                    SessionLayer::System => layer,
                    _ if is_drawn => return Err(why(&file.name, "the model has no [program]")),
                    _ if session.mode.append => return Err(why(&file.name, "it is appended to")),
                    _ if session.has_locks() => {
                        return Err(why(&file.name, "it is locked, and MPI-IO has no locks"));
                    }
                    SessionLayer::Collective if !is_shared => SessionLayer::MpiIo,
                    SessionLayer::Collective if !has_all => {
                        return Err(why(&file.name, "the model has no group of all ranks"));
                    }
                    _ => layer,
                };
            }
        }
        Ok(())
    }
}
