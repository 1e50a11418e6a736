//! Events as calls that can be issued.

use crate::names;
use crate::reason::{LeftOut, Reason};
use iotrail_model::calls::{CallKind, CallSpec, OpenFlags, PerCall, Transfer};
use iotrail_model::text::text_to_path;
use iotrail_model::{Event, FileId, Names, PathId};
use iotrail_replay::{MAX_TRANSFER, OpenMode};
use iotrail_structure_file::Document;
use iotrail_verify::{Call, CallAction, Description};
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
    Remove,
    /// To that name.
    Rename(usize),
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
    /// Which of them are directories.
    pub(crate) is_directory: Vec<bool>,
    pub(crate) left_out: LeftOut,
}

/// Errors that files of our own have for the same reason: numbers of `asm-generic/errno-base.h` and `errno.h`.
const ERRORS: [(&str, i32); 4] = [("ENOENT", 2), ("EEXIST", 17), ("ENOTDIR", 20), ("ENOTEMPTY", 39)];

/// Reads events of one structure.
pub(crate) struct Reading<'a> {
    document: &'a Document,
    specs: PerCall<Option<&'static CallSpec>>,
    /// The number of the name of each path.
    numbers: HashMap<PathId, usize>,
    directories: HashSet<usize>,
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
            directories: HashSet::new(),
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
        match self.step(event) {
            Ok(step) => self.recorded.steps.push(step),
            Err(reason) => self.leave_out(event, reason),
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
        let (mut act, action) = classify(event, spec, flags, error)?;
        let name = self.name(path)?;
        if let Act::Rename(to) = &mut act {
            *to = self.name(event.path2.get().ok_or(Reason::Unknown)?)?;
        }
        if is_of_directory(act, action, spec, flags) && error.is_none() {
            self.directories.insert(name);
        }
        let open = event.open.get().filter(|_| error.is_none() && uses_open(act, action));
        if uses_open(act, action) && open.is_none() {
            return Err(Reason::Unknown);
        }
        let call = call_of(event, name, open.map(|open| (event.case, open)), action);
        Ok(Step { call, act, name, error })
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
        if is_of_kernel(&text) {
            return Err(Reason::Kernel);
        }
        let name = names::name(&text).ok_or(Reason::Name)?;
        if name == names::ROOT {
            let root = self.root();
            self.numbers.insert(path, root);
            return Ok(root);
        }
        // Names of two paths are the same only if the paths are.
        let known =
            self.recorded.names.iter().position(|known| *known == name).filter(|_| text.ends_with(b"/"));
        let number = known.unwrap_or(self.recorded.names.len());
        if known.is_none() {
            self.recorded.names.push(name);
        }
        self.numbers.insert(path, number);
        Ok(number)
    }

    /// All calls, the first to begin first.
    pub(crate) fn finish(mut self) -> Recorded {
        let of_rows = self.document.files.iter().filter(|row| row.kind.as_deref() == Some("directory"));
        let rows: HashSet<String> = of_rows.filter_map(|row| names::name(&text_to_path(&row.path))).collect();
        let parents: HashSet<String> =
            self.recorded.names.iter().flat_map(|name| names::parents(name)).map(str::to_owned).collect();
        let is_directory = |(number, name): (usize, &String)| {
            self.directories.contains(&number) || rows.contains(name) || parents.contains(name)
        };
        self.recorded.is_directory = self.recorded.names.iter().enumerate().map(is_directory).collect();
        self.recorded.name_what_moves();
        self.recorded.steps.sort_by_key(|step| (step.call.start, step.call.place));
        self.recorded
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
            let (from, to) = (format!("{}/", self.names[step.name]), self.names[to].clone());
            for number in 0..self.names.len() {
                let moved = self.names[number].strip_prefix(&from).map(|rest| format!("{to}/{rest}"));
                if let Some(name) = moved.filter(|name| known.insert(name.clone())) {
                    self.names.push(name);
                    self.is_directory.push(self.is_directory[number]);
                }
            }
        }
    }
}

fn errno(name: &str) -> Result<i32, Reason> {
    ERRORS.iter().find(|(known, _)| *known == name).map(|(_, number)| *number).ok_or(Reason::Failed)
}

/// Whether a path is of the kernel. Shared memory is files.
fn is_of_kernel(path: &[u8]) -> bool {
    let below = |root: &str| {
        path.strip_prefix(root.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    ["/proc", "/sys", "/dev"].into_iter().any(below) && !below("/dev/shm")
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
fn is_of_directory(act: Act, action: CallAction, spec: &CallSpec, flags: &str) -> bool {
    match (act, action) {
        (Act::MakeDirectory | Act::List, _) => true,
        (Act::Remove, _) => spec.kind == CallKind::RemoveDirectory || flags.contains("AT_REMOVEDIR"),
        (_, CallAction::Open(mode)) => mode.directory,
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
        CallKind::Unlink | CallKind::RemoveDirectory => named(Act::Remove),
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
                CallAction::Transfer(moved) if moved.positioned && moved.offset.is_none() => {
                    Err(Reason::Unknown)
                }
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
