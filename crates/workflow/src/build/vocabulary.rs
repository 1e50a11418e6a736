//! What names mean: each call, text of flags and path of a log is looked at once.

use crate::system::{self, System};
use iotrail_model::calls::flags::has_word;
use iotrail_model::calls::{ArgKind, CallKind, CallSpec, OpenFlags, PerCall, Presence, Transfer};
use iotrail_model::{CallId, FileId, FlagsId, Layer, Names, Nullable, PathId, Timestamp};
use iotrail_trail::EventLog;
use std::sync::Arc;

/// What a call does to files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Action {
    /// Nothing that matters here.
    #[default]
    None,
    Read,
    Write,
    Copy,
    Open,
    Creat,
    Truncate,
    /// Changes the extent of a file without moving data.
    Allocate,
    Rename,
    Link,
    Unlink,
    Symlink,
    MakeNode,
    Channel,
    Map,
    Exec,
    /// Tells whether a path is there.
    Look,
}

fn action(spec: &CallSpec) -> Action {
    match spec.kind {
        CallKind::Read => Action::Read,
        CallKind::Write => Action::Write,
        CallKind::Copy => Action::Copy,
        CallKind::Open => Action::Open,
        CallKind::Create => Action::Creat,
        CallKind::Truncate => Action::Truncate,
        CallKind::Allocate => Action::Allocate,
        CallKind::Rename => Action::Rename,
        CallKind::Link => Action::Link,
        CallKind::Unlink => Action::Unlink,
        CallKind::Symlink => Action::Symlink,
        CallKind::MakeNode => Action::MakeNode,
        CallKind::Pipe | CallKind::SocketPair => Action::Channel,
        CallKind::Map => Action::Map,
        CallKind::Exec => Action::Exec,
        // A descriptor tells nothing about a path.
        CallKind::Stat | CallKind::Access if spec.has(ArgKind::Path) => Action::Look,
        _ => Action::None,
    }
}

/// What a call of a library does, whose name tells no more.
fn action_of_library(transfer: Transfer) -> Action {
    match transfer {
        Transfer::Read => Action::Read,
        Transfer::Write => Action::Write,
        _ => Action::None,
    }
}

/// What flags of opens, mappings, renames and nodes say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) create: bool,
    pub(super) truncate: bool,
    pub(super) exclusive: bool,
    /// Of a descriptor without access (`O_PATH`).
    pub(super) no_access: bool,
    /// Of a file without a name in a directory (`O_TMPFILE`).
    pub(super) nameless: bool,
    pub(super) shared_writable: bool,
    /// Of a mapping of instructions.
    pub(super) executable: bool,
    pub(super) exchange: bool,
    /// Of a node that is a device.
    pub(super) device: bool,
}

fn flags(text: &str) -> Flags {
    let open = OpenFlags::parse(text.as_bytes());
    let has = |symbol| has_word(text.as_bytes(), symbol);
    let shared = has("MAP_SHARED") || has("MAP_SHARED_VALIDATE");
    Flags {
        create: open.creates(),
        truncate: open.truncates(),
        exclusive: open.exclusive(),
        no_access: open.is_path(),
        nameless: open.nameless(),
        shared_writable: shared && has("PROT_WRITE"),
        executable: has("PROT_EXEC"),
        exchange: has("RENAME_EXCHANGE"),
        device: has("S_IFCHR") || has("S_IFBLK"),
    }
}

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathKind {
    /// A file of the workflow.
    File,
    /// A pipe, FIFO or socket of it: what is written there cannot be emptied.
    Channel,
    /// Belongs to the system.
    System(System),
    Directory,
}

fn place(class: Option<System>, kind: Option<&str>) -> PathKind {
    match (kind, class) {
        (Some("directory"), _) => PathKind::Directory,
        (_, Some(class)) => PathKind::System(class),
        (Some("char" | "block" | "anon"), None) => PathKind::System(System::Pseudo),
        (Some("pipe" | "socket"), None) => PathKind::Channel,
        _ => PathKind::File,
    }
}

/// The meanings of a log's names.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// The layer whose calls make edges: the lowest one of the log.
    pub(super) layer: Layer,
    actions: PerCall<Action>,
    flags: Vec<Flags>,
    path_files: Vec<PathKind>,
    /// By path, whose file may be another one at each time.
    classes: Vec<Option<System>>,
    /// The first file of each path.
    first: Vec<FileId>,
    /// By [`FileId`].
    kinds: Vec<Option<String>>,
    specs: PerCall<Option<&'static CallSpec>>,
    errnos: Vec<Arc<str>>,
    /// Of flags.
    texts: Vec<Arc<str>>,
    /// By [`FileId`]: when a file was made, if its file system tells that.
    births: Vec<Option<i64>>,
}

impl Vocabulary {
    pub(super) fn new(log: &EventLog) -> Self {
        let Names { calls, paths, errnos, flags: texts } = log.names();
        let kind = |path: usize| log.files().get(path).and_then(|row| row.kind.as_deref());
        let classes: Vec<Option<System>> = paths.iter().map(|path| system::class(path)).collect();
        Self {
            layer: log.layers().first().copied().unwrap_or_default(),
            actions: PerCall::new(calls, |call| {
                call.spec.map_or_else(|| action_of_library(call.transfer()), action)
            }),
            flags: texts.iter().map(|text| flags(text)).collect(),
            path_files: classes.iter().enumerate().map(|(id, class)| place(*class, kind(id))).collect(),
            classes,
            first: (0..paths.len()).map(|path| log.file_of(PathId::from_index(path))).collect(),
            kinds: log.distinct_files().iter().map(|file| file.kind.clone()).collect(),
            births: log.distinct_files().iter().map(|file| file.birth).collect(),
            specs: PerCall::new(calls, |call| call.spec),
            errnos: errnos.clone(),
            texts: texts.clone(),
        }
    }

    pub(super) fn action(&self, call: CallId) -> Action {
        self.actions.of(call)
    }

    /// Whether a call gives a file another name.
    pub(super) fn gives_names(&self, call: CallId) -> bool {
        matches!(self.action(call), Action::Rename | Action::Link)
    }

    pub(super) fn flags(&self, text: Nullable<FlagsId>) -> Flags {
        text.get().and_then(|id| self.flags.get(id.index())).copied().unwrap_or_default()
    }

    pub(super) fn place(&self, path: PathId) -> PathKind {
        self.path_files.get(path.index()).copied().unwrap_or(PathKind::File)
    }

    /// The place where the path led to that file: a name may be that of a directory first and of a file then.
    pub(super) fn place_of(&self, path: PathId, file: Nullable<FileId>) -> PathKind {
        let other = file.get().filter(|file| self.first.get(path.index()) != Some(file));
        match other.and_then(|other| self.kinds.get(other.index()).zip(self.classes.get(path.index()))) {
            Some((kind, class)) => place(*class, kind.as_deref()),
            None => self.place(path),
        }
    }

    /// Whether a call that failed tells that nothing is at its path.
    pub(super) fn is_missing(
        &self,
        call: CallId,
        flags: Nullable<FlagsId>,
        errno: Nullable<iotrail_model::ErrnoId>,
    ) -> bool {
        let text = || flags.get().and_then(|id| self.texts.get(id.index())).map_or("", |text| text);
        let errno = errno.get().and_then(|id| self.errnos.get(id.index()));
        let told = self.specs.of(call).zip(errno).map(|(spec, errno)| spec.presence(text, errno.as_bytes()));
        told == Some(Presence::Missing)
    }

    /// Whether a file is known to be older than a call that began `at`. File systems take the time of birth from a clock that
    /// may be a tick behind: what was made shortly before may have been made by the call.
    pub(super) fn is_older(&self, file: Nullable<FileId>, at: Timestamp) -> bool {
        const TICKS: i64 = 20_000_000;
        let birth = file.get().and_then(|file| self.births.get(file.index()).copied().flatten());
        birth.is_some_and(|birth| birth < at.0.saturating_sub(TICKS))
    }

    /// Number of paths.
    pub(super) fn paths(&self) -> usize {
        self.path_files.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::calls::TABLE;

    #[test]
    fn what_every_call_does_to_files() {
        let rows = TABLE.iter().map(|spec| (spec.name, action(spec)));
        let rows = rows.filter(|(_, action)| *action != Action::None);
        let rows: Vec<String> = rows.map(|(name, action)| format!("{name}: {action:?}")).collect();
        insta::assert_snapshot!(rows.join("\n"));
    }

    #[test]
    fn flags_are_read_as_words() {
        let open = flags("O_WRONLY|O_CREAT|O_TRUNC");
        assert!(open.create && open.truncate && !open.exclusive && !open.shared_writable);
        assert!(flags("PROT_READ|PROT_WRITE|MAP_SHARED").shared_writable);
        assert!(!flags("PROT_READ|PROT_WRITE|MAP_PRIVATE").shared_writable);
        assert!(!flags("O_CREATE").create);
        let number = flags("0x241 /* O_WRONLY|O_CREAT|O_TRUNC */");
        assert!(
            number.create && number.truncate && !number.exclusive,
            "what a tracer did not name is in the number"
        );
    }

    #[test]
    fn what_is_found_counts_more_than_the_name() {
        assert_eq!(place(system::class("/data/ff"), Some("pipe")), PathKind::Channel);
        assert_eq!(place(system::class("/data/disk"), Some("block")), PathKind::System(System::Pseudo));
        assert_eq!(place(system::class("/lib/libc.so.6"), Some("directory")), PathKind::Directory);
        assert_eq!(place(system::class("/lib/libc.so.6"), None), PathKind::System(System::Installed));
        assert_eq!(place(system::class("/data/a"), None), PathKind::File);
    }
}
