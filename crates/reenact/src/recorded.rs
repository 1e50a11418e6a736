//! Events as calls that can be issued.

use crate::names;
use crate::reason::{LeftOut, Reason};
use iotrail_model::calls::{CallKind, CallSpec, OpenFlags, PerCall, Transfer};
use iotrail_model::places::is_pseudo;
use iotrail_model::text::text_to_path;
use iotrail_model::{Event, FileId, Names, PathId};
use iotrail_replay::{MAX_TRANSFER, OpenMode};
use iotrail_structure_file::Document;
use iotrail_verify::{Call, CallAction, Description, Moved};
use std::collections::{HashMap, HashSet};

/// What is done, beside what the order of bytes knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Act {
    /// What its [`CallAction`] tells.
    Plain,
    /// Opens, and fails.
    Open(OpenMode),
    Inspect,
    Access,
    /// By `rmdir`, or by `unlink`.
    Remove {
        directory: bool,
    },
    /// To that name.
    Rename(usize),
    /// Under that name, too.
    Link(usize),
    /// As a symbolic link.
    Symlink,
    /// To that length, by its name.
    Truncate(u64),
    MakeDirectory,
    List,
    Duplicate,
    /// Something that the engine does not know.
    Other(usize),
}

/// A call that is issued.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) call: Call,
    pub(crate) act: Act,
    /// Its name, of [`Recorded::names`].
    pub(crate) name: usize,
    /// The number of the error, if it failed.
    pub(crate) error: Option<i32>,
}

/// The calls of a structure that are issued, in the order of their starts.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) steps: Vec<Step>,
    /// Names below the directory.
    pub(crate) names: Vec<String>,
    /// Which of them are directories, at some time.
    pub(crate) is_directory: Vec<bool>,
    /// Which of them are something else, at some time: what paths end at that go on (`ENOTDIR`), and what is read or written.
    pub(crate) is_file: Vec<bool>,
    pub(crate) left_out: LeftOut,
}

/// Errors that files of our own have for the same reason: numbers of `asm-generic/errno-base.h` and `errno.h`.
const ERRORS: [(&str, i32); 4] =
    [("ENOENT", ENOENT), ("EEXIST", 17), ("ENOTDIR", ENOTDIR), ("ENOTEMPTY", 39)];

pub(crate) const ENOENT: i32 = 2;
pub(crate) const ENOTDIR: i32 = 20;

/// Reads events of one structure.
pub(crate) struct Reading<'a> {
    document: &'a Document,
    specs: PerCall<Option<&'static CallSpec>>,
    /// The number of the name of each path.
    numbers: HashMap<PathId, usize>,
    of_name: HashMap<String, usize>,
    directories: HashSet<usize>,
    /// Names in whose places calls found what is not a directory.
    files: HashSet<usize>,
    /// Descriptions that append.
    appending: HashSet<Description>,
    root: Option<usize>,
    recorded: Recorded,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(document: &'a Document) -> Self {
        let specs = PerCall::new(&document.names.calls, |call| call.spec);
        Self {
            document,
            specs,
            numbers: HashMap::new(),
            of_name: HashMap::new(),
            directories: HashSet::new(),
            files: HashSet::new(),
            appending: HashSet::new(),
            root: None,
            recorded: Recorded::default(),
        }
    }

    /// How many calls are issued up to now.
    pub(crate) fn len(&self) -> usize {
        self.recorded.steps.len()
    }

    /// Takes an event, or counts why not.
    pub(crate) fn add(&mut self, event: &Event) {
        let made = match self.specs.of(event.call) {
            Some(spec) if spec.kind == CallKind::Copy => self.copy(event),
            _ => self.step(event).map(|step| self.recorded.steps.push(step)),
        };
        if let Err(reason) = made {
            self.leave_out(event, reason);
        }
    }

    /// Takes a call that was made of an event.
    pub(crate) fn push(&mut self, step: Step) {
        self.recorded.steps.push(step);
    }

    /// The number of the name that all others are below.
    pub(crate) fn root(&mut self) -> usize {
        if let Some(root) = self.root {
            return root;
        }
        let number = self.recorded.names.len();
        self.recorded.names.push(names::ROOT.to_owned());
        self.directories.insert(number);
        self.root = Some(number);
        number
    }

    /// Counts an event that is not issued.
    pub(crate) fn leave_out(&mut self, event: &Event, reason: Reason) {
        self.recorded.left_out.add(reason, self.document.names.call(event.call));
    }

    fn step(&mut self, event: &Event) -> Result<Step, Reason> {
        let names: &Names = &self.document.names;
        let spec = self.specs.of(event.call).ok_or(Reason::Unsupported)?;
        if spec.request.is_some() {
            return Err(Reason::Asynchronous);
        }
        let path = event.path.get().ok_or(Reason::NoFile)?;
        let error = event.errno.get().map(|error| &*names.errnos[error.index()]);
        let error = error.map(errno).transpose()?;
        let flags = names.flags(event.flags).unwrap_or_default();
        let (mut act, mut action) = classify(event, spec, flags, error)?;
        let name = self.name(path)?;
        if let Act::Rename(to) | Act::Link(to) = &mut act {
            *to = self.name(event.path2.get().ok_or(Reason::Unknown)?)?;
        }
        match error {
            None if is_of_directory(act, action) => {
                self.directories.insert(name);
            }
            None if is_of_file(act, action) => {
                self.files.insert(name);
            }
            Some(ENOTDIR) => self.is_no_directory(act, action, name),
            Some(ENOENT) if makes_name(act) => {
                let outer = names::parents(&self.recorded.names[name]).next().map(str::to_owned);
                if let Some(outer) = outer.filter(|outer| outer != names::ROOT) {
                    let outer = self.number(outer);
                    self.directories.insert(outer);
                }
            }
            _ => {}
        }
        self.place_of_append(event, &mut action)?;
        let open = event.open.get().filter(|_| error.is_none() && uses_open(act, action));
        if uses_open(act, action) && open.is_none() {
            return Err(Reason::Unknown);
        }
        let call = call_of(event, name, open.map(|open| (event.case, open)), action);
        Ok(Step { call, act, name, error })
    }

    /// Where a call that appends writes its offset does not tell, and does not decide: it is made at the end of the file.
    fn place_of_append(&mut self, event: &Event, action: &mut CallAction) -> Result<(), Reason> {
        let open = event.open.get().map(|open| (event.case, open));
        match action {
            CallAction::Open(mode) if mode.append => self.appending.extend(open),
            CallAction::Transfer(moved) if moved.positioned && moved.offset.is_none() => {
                let appends = moved.writes && open.is_some_and(|open| self.appending.contains(&open));
                moved.positioned = false;
                return if appends { Ok(()) } else { Err(Reason::Unknown) };
            }
            _ => {}
        }
        Ok(())
    }

    /// What a call found that failed with `ENOTDIR`: its name, or the one that it is in, is something else.
    fn is_no_directory(&mut self, act: Act, action: CallAction, name: usize) {
        let wants_one = match (act, action) {
            (Act::Remove { directory: true }, _) => true,
            (Act::Open(mode), _) => mode.directory,
            _ => false,
        };
        if wants_one {
            self.files.insert(name);
            return;
        }
        let outer = names::parents(&self.recorded.names[name]).next().map(str::to_owned);
        if let Some(outer) = outer.filter(|outer| outer != names::ROOT) {
            let outer = self.number(outer);
            self.files.insert(outer);
        }
    }

    /// A copy within the kernel: the same bytes are read and written.
    fn copy(&mut self, event: &Event) -> Result<(), Reason> {
        /// Bytes of one read and one write.
        const PIECE: u64 = 8 << 20;
        /// More is not copied by one call.
        const MOST: u64 = 1 << 40;
        let number = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        if event.errno.get().is_some() {
            return Err(Reason::Failed);
        }
        let bytes = number(event.size.get()).ok_or(Reason::Unknown)?;
        if bytes > MOST {
            return Err(Reason::TooLarge);
        }
        let (Some(path), Some(path2)) = (event.path.get(), event.path2.get()) else {
            return Err(Reason::NoPath);
        };
        let (from, to) = (self.name(path)?, self.name(path2)?);
        let (Some(open), Some(open2)) = (event.open.get(), event.open2.get()) else {
            return Err(Reason::Unknown);
        };
        self.files.extend([from, to]);
        let mut done = 0;
        loop {
            let moved = PIECE.min(bytes - done);
            let offset = number(event.offset.get()).map(|offset| offset.saturating_add(done));
            // One that copies nothing asks for what is behind the end.
            let asked = moved.max(1);
            let part = |writes, offset| {
                CallAction::Transfer(Moved { writes, positioned: false, offset, asked, moved, buffers: 1 })
            };
            let call = call_of(event, from, Some((event.case, open)), part(false, offset));
            self.recorded.steps.push(Step { call, act: Act::Plain, name: from, error: None });
            if moved > 0 {
                let target = Event { file: event.file2, ..*event };
                let call = call_of(&target, to, Some((event.case, open2)), part(true, None));
                self.recorded.steps.push(Step { call, act: Act::Plain, name: to, error: None });
            }
            done += moved;
            if done >= bytes {
                return Ok(());
            }
        }
    }

    /// The number of a name below the directory.
    fn number(&mut self, name: String) -> usize {
        if let Some(number) = self.of_name.get(&name) {
            return *number;
        }
        let number = self.recorded.names.len();
        self.of_name.insert(name.clone(), number);
        self.recorded.names.push(name);
        number
    }

    /// The number of the name of a path.
    pub(crate) fn name(&mut self, path: PathId) -> Result<usize, Reason> {
        if let Some(number) = self.numbers.get(&path) {
            return Ok(*number);
        }
        let text = text_to_path(&self.document.names.paths[path.index()]);
        if !text.starts_with(b"/") {
            return Err(Reason::NoPath);
        }
        if is_pseudo(&text) {
            return Err(Reason::Kernel);
        }
        let name = names::name(&text).ok_or(Reason::Name)?;
        if name == names::ROOT {
            let root = self.root();
            self.numbers.insert(path, root);
            return Ok(root);
        }
        // Names of two paths are the same only if the paths are, but for slashes.
        let number = self.number(name);
        self.numbers.insert(path, number);
        Ok(number)
    }

    /// All calls, the first to begin first.
    pub(crate) fn finish(mut self) -> Recorded {
        let of_rows = self.document.files.iter().filter(|row| row.kind.as_deref() == Some("directory"));
        let rows: HashSet<String> = of_rows.filter_map(|row| names::name(&text_to_path(&row.path))).collect();
        let ways = self.ways();
        let parents: HashSet<&str> = (self.recorded.names.iter().zip(ways))
            .flat_map(|(name, is_way)| names::parents(name).skip(usize::from(!is_way)))
            .collect();
        let is_directory = |(number, name): (usize, &String)| {
            self.directories.contains(&number) || rows.contains(name) || parents.contains(name.as_str())
        };
        self.recorded.is_directory = self.recorded.names.iter().enumerate().map(is_directory).collect();
        self.recorded.is_file =
            (0..self.recorded.names.len()).map(|number| self.files.contains(&number)).collect();
        self.recorded.name_what_moves();
        self.recorded.steps.sort_by_key(|step| (step.call.start, step.call.place));
        self.recorded
    }

    /// Of each name whether a call came as far as the directory that it is in.
    fn ways(&self) -> Vec<bool> {
        let mut ways = vec![true; self.recorded.names.len()];
        for step in self.recorded.steps.iter().filter(|step| step.error == Some(ENOTDIR)) {
            ways[step.name] = self.files.contains(&step.name);
        }
        for step in self.recorded.steps.iter().filter(|step| step.error != Some(ENOTDIR)) {
            ways[step.name] = true;
        }
        ways
    }
}

impl Recorded {
    /// Names the files that get other names with the directories that they are in, so that it is known what there is at the end.
    fn name_what_moves(&mut self) {
        let mut known: HashSet<String> = self.names.iter().cloned().collect();
        for step in &self.steps {
            let Act::Rename(to) = step.act else { continue };
            if !self.is_directory[step.name] || step.error.is_some() {
                continue;
            }
            self.is_directory[to] = true;
            self.is_file[to] |= self.is_file[step.name];
            let (from, to) = (format!("{}/", self.names[step.name]), self.names[to].clone());
            for number in 0..self.names.len() {
                let moved = self.names[number].strip_prefix(&from).map(|rest| format!("{to}/{rest}"));
                if let Some(name) = moved.filter(|name| known.insert(name.clone())) {
                    self.names.push(name);
                    self.is_directory.push(self.is_directory[number]);
                    self.is_file.push(self.is_file[number]);
                }
            }
        }
    }
}

fn errno(name: &str) -> Result<i32, Reason> {
    ERRORS.iter().find(|(known, _)| *known == name).map(|(_, number)| *number).ok_or(Reason::Failed)
}

/// Whether a call through a description.
fn uses_open(act: Act, action: CallAction) -> bool {
    match act {
        Act::Plain => !matches!(action, CallAction::Stat),
        Act::Inspect | Act::List | Act::Duplicate => true,
        _ => false,
    }
}

/// Whether what a call is about is a directory.
pub(crate) fn is_of_directory(act: Act, action: CallAction) -> bool {
    match (act, action) {
        (Act::MakeDirectory | Act::List, _) => true,
        (Act::Remove { directory }, _) => directory,
        (_, CallAction::Open(mode)) => mode.directory,
        _ => false,
    }
}

/// Whether it makes its name: if it finds nothing, the directory is not there.
pub(crate) fn makes_name(act: Act) -> bool {
    matches!(act, Act::MakeDirectory | Act::Symlink) || matches!(act, Act::Open(mode) if mode.create)
}

/// Whether it can be no directory.
pub(crate) fn is_of_file(act: Act, action: CallAction) -> bool {
    match (act, action) {
        (Act::Remove { directory }, _) => !directory,
        (Act::Link(_) | Act::Symlink, _) | (_, CallAction::Transfer(_) | CallAction::Truncate(_)) => true,
        (_, CallAction::Open(mode)) => mode.write || mode.create,
        _ => false,
    }
}

/// What a call does.
fn classify(
    event: &Event,
    spec: &CallSpec,
    flags: &str,
    error: Option<i32>,
) -> Result<(Act, CallAction), Reason> {
    let named = |act| Ok((act, CallAction::Stat));
    match spec.kind {
        CallKind::Open | CallKind::Create => {
            let flags = match spec.kind {
                CallKind::Create => OpenFlags::CREAT,
                _ => OpenFlags::parse(flags.as_bytes()),
            };
            let mode = mode(flags).ok_or(Reason::Unsupported)?;
            match error {
                Some(_) => named(Act::Open(mode)),
                None => Ok((Act::Plain, CallAction::Open(mode))),
            }
        }
        CallKind::Stat if event.fd.get().is_some_and(|fd| fd >= 0) && event.open.get().is_some() => {
            if error.is_some() { Err(Reason::Failed) } else { named(Act::Inspect) }
        }
        CallKind::Stat => named(Act::Plain),
        CallKind::Access => named(Act::Access),
        CallKind::Unlink | CallKind::RemoveDirectory => {
            let directory = spec.kind == CallKind::RemoveDirectory || flags.contains("AT_REMOVEDIR");
            named(Act::Remove { directory })
        }
        CallKind::Symlink => named(Act::Symlink),
        CallKind::Link if flags.contains("EMPTY_PATH") => Err(Reason::Unsupported),
        CallKind::Link => named(Act::Link(usize::MAX)),
        CallKind::Truncate if event.fd.get().is_none() => {
            let size = event.offset.get().and_then(|size| u64::try_from(size).ok());
            let size = size.ok_or(Reason::Unknown)?;
            Ok((Act::Truncate(size), CallAction::Truncate(size)))
        }
        CallKind::MakeDirectory => named(Act::MakeDirectory),
        CallKind::Rename if flags.contains("EXCHANGE") => Err(Reason::Unsupported),
        CallKind::Rename => named(Act::Rename(usize::MAX)),
        _ if error.is_some() => Err(Reason::Failed),
        CallKind::List => named(Act::List),
        CallKind::Duplicate => named(Act::Duplicate),
        CallKind::Control if flags.contains("F_DUPFD") => named(Act::Duplicate),
        CallKind::Map | CallKind::Unmap | CallKind::Remap | CallKind::SyncMemory => Err(Reason::Mapping),
        _ if matches!(spec.transfer, Transfer::Read | Transfer::Write)
            || matches!(
                spec.kind,
                CallKind::Close | CallKind::Seek | CallKind::Sync | CallKind::Truncate
            ) =>
        {
            let action = CallAction::of(event, spec, flags).ok_or(Reason::Unknown)?;
            match action {
                CallAction::Transfer(moved) if moved.asked > MAX_TRANSFER => Err(Reason::TooLarge),
                _ => Ok((Act::Plain, action)),
            }
        }
        _ => Err(Reason::Unsupported),
    }
}

/// None for descriptors that give no access to data, and for files without names.
fn mode(flags: OpenFlags) -> Option<OpenMode> {
    (!flags.is_path() && !flags.nameless()).then(|| OpenMode {
        read: flags.reads(),
        write: flags.writes(),
        create: flags.creates(),
        exclusive: flags.exclusive(),
        truncate: flags.truncates(),
        append: flags.appends(),
        sync: flags.syncs(),
        direct: false,
        directory: flags.directory(),
        ..OpenMode::default()
    })
}

/// An event as a call on the file of that name; a file without a number is told by its name.
pub(crate) fn call_of(event: &Event, name: usize, open: Option<Description>, action: CallAction) -> Call {
    Call {
        place: (event.case, event.seq),
        start: event.start.0,
        end: event.dur.get().map_or(event.start.0, |duration| event.start.0.saturating_add(duration.0)),
        think: 0,
        pid: event.pid,
        tid: event.tid,
        file: event.file.get().unwrap_or(FileId(u32::MAX / 2 + name as u32)),
        open,
        action,
    }
}
