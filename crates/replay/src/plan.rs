//! A program that was checked as a whole, and the space that it needs.

use crate::content::{Content, FileContent};
use crate::program::{
    Action, Buffers, Expected, OpenMode, OpenNumber, Operation, Program, ScratchFile, Stream,
};
use crate::waiting::check_waiting;
use std::collections::{HashMap, HashSet};

/// Bytes that one operation moves at most: each stream has a buffer of that size or less.
pub const MAX_TRANSFER: u64 = 64 << 20;

/// Buffers of one vectored call at most (`IOV_MAX`, limits.h).
pub const MAX_BUFFERS: u32 = 1024;

/// Bytes of the blocks in which `O_DIRECT` moves data: those of all usual storage, or a multiple (`open(2)`).
pub const DIRECT_BLOCK: u64 = 4096;

/// Parts of a name at most.
pub const MAX_NAME_PARTS: usize = 64;

/// Bytes of each at most.
pub const MAX_NAME_PART: usize = 200;

/// Bytes of the blocks in which file systems keep data, as a rule.
const BLOCK: u64 = 4096;

/// Files that a stream has open at once at most, so that usual limits of descriptors suffice.
const MAX_OPEN: usize = 512;

/// What is wrong with a program. Streams and operations are counted from 1.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A name that could lead elsewhere.
    #[error(
        "file name {0:?}: expected at most {MAX_NAME_PARTS} parts of 1 to {MAX_NAME_PART} letters, digits, `-`, `_` or `.`, none beginning with a dot, with `/` between them"
    )]
    Name(String),
    /// Two files of a name, or a file and a directory that are both there beforehand.
    #[error("file name {0:?}: two files have it")]
    Twice(String),
    /// A name is a directory of another.
    #[error("file name {0:?}: it is a directory of another file")]
    Directory(String),
    /// A group that the program does not have, or that the stream is not in.
    #[error("stream {0}, operation {1}: the stream is in no group {2}")]
    NoGroup(usize, usize, usize),
    /// Streams wait for each other for ever.
    #[error(
        "stream {0}, operation {1}: waits for ever at a barrier of group {2}, because not all of its streams come to it"
    )]
    Deadlock(usize, usize, usize),
    /// An event that nobody sets, or several do.
    #[error("stream {0}, operation {1}: event {2} is set by {3} operations, expected 1")]
    Event(usize, usize, usize, usize),
    /// An event is set only after what waits for it.
    #[error("stream {0}, operation {1}: waits for ever for event {2}")]
    Never(usize, usize, usize),
    /// Streams wait for each other in a circle.
    #[error("streams wait for each other in a circle: {0}")]
    Circle(String),
    /// What is inherited is not shared.
    #[error("stream {0}, operation {1}: no description comes with event {2}")]
    NotShared(usize, usize, usize),
    /// A file that the program does not have.
    #[error("stream {0}, operation {1}: the program has no file {2}")]
    NoFile(usize, usize, usize),
    /// A description that is not open.
    #[error("stream {0}, operation {1}: description {2} is not open")]
    NotOpen(usize, usize, u32),
    /// A description that is open already.
    #[error("stream {0}, operation {1}: description {2} is open already")]
    IsOpen(usize, usize, u32),
    /// Too many open files.
    #[error("stream {0}, operation {1}: more than {MAX_OPEN} files are open at once")]
    TooManyOpen(usize, usize),
    /// A transfer that is too large.
    #[error("stream {0}, operation {1}: moves {2} bytes, at most {MAX_TRANSFER} are allowed")]
    TooLarge(usize, usize, u64),
    /// Too many buffers, or none.
    #[error("stream {0}, operation {1}: {2} buffers, 1 to {MAX_BUFFERS} are allowed")]
    Buffers(usize, usize, u32),
    /// A transfer past the page cache that is not one of blocks.
    #[error(
        "stream {0}, operation {1}: moves {2} bytes at offset {3}; with O_DIRECT, offsets and buffers must be multiples of {DIRECT_BLOCK} bytes"
    )]
    Unaligned(usize, usize, u64, u64),
    /// An offset that no file can have.
    #[error("stream {0}, operation {1}: offset {2} is below 0 or beyond the largest of a file")]
    Offset(usize, usize, u64),
}

/// A checked program.
#[derive(Clone, Debug)]
pub struct Plan {
    program: Program,
    modified: Vec<bool>,
    /// Files of which nobody knows where all bytes are written.
    unplaced: Vec<bool>,
    /// Files that are cut somewhere.
    cut: Vec<bool>,
    /// Of each file the one whose bytes it holds.
    bytes_of: Vec<usize>,
    content: Option<Content>,
    peak_bytes: u64,
    open_files: usize,
}

impl Plan {
    /// Checks all names, files, descriptions, sizes and offsets of a program.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn new(program: Program) -> Result<Self, PlanError> {
        let mut names = HashSet::new();
        for file in &program.files {
            if !is_simple(&file.name) {
                return Err(PlanError::Name(file.name.clone()));
            }
            if !names.insert((file.name.as_str(), file.directory)) {
                return Err(PlanError::Twice(file.name.clone()));
            }
        }
        let is_there = |file: &&ScratchFile| file.size.is_some();
        let mut there = HashSet::new();
        if let Some(twice) = program.files.iter().filter(is_there).find(|file| !there.insert(&file.name)) {
            return Err(PlanError::Twice(twice.name.clone()));
        }
        let names: HashSet<&str> = program.files.iter().map(|file| file.name.as_str()).collect();
        let own_directories: HashSet<&str> =
            program.files.iter().filter(|file| file.directory).map(|file| file.name.as_str()).collect();
        for name in &names {
            let is_file = |name: &&str| names.contains(name) && !own_directories.contains(name);
            if let Some(directory) = directories(name).find(is_file) {
                return Err(PlanError::Directory(directory.to_owned()));
            }
        }
        check_waiting(&program)?;
        let mut sizes = Sizes::of(&program);
        for (number, stream) in program.streams.iter().enumerate() {
            sizes.follow(number + 1, stream)?;
        }
        let Sizes { highest, appended, written, modified, cut, bytes_of, shared, open_files } = sizes;
        let is_unplaced =
            |own: &usize| bytes_of.iter().zip(&appended).any(|(other, bytes)| other == own && *bytes > 0);
        let unplaced = bytes_of.iter().map(is_unplaced).collect();
        let ends = highest.iter().zip(appended).map(|(highest, appended)| highest.saturating_add(appended));
        let beforehand = program.files.iter().map(|file| file.size.unwrap_or_default());
        let data = beforehand.zip(written).map(|(beforehand, written)| beforehand.saturating_add(written));
        let peak_bytes = ends.zip(data).map(|(end, data)| end.min(data)).fold(0, u64::saturating_add);
        let open_files = open_files + shared.len();
        Ok(Self { program, modified, unplaced, cut, bytes_of, content: None, peak_bytes, open_files })
    }

    /// The same with bytes that can be checked: files hold, and writes write, what is a function of seed, file and offset.
    #[must_use]
    pub const fn with_content(mut self, content: Content) -> Self {
        self.content = Some(content);
        self
    }

    /// The plan of a part of the program that has all its files, for a process of its own: contents are checked as in the whole.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn of_part(&self, part: Program) -> Result<Self, PlanError> {
        Ok(Self {
            unplaced: self.unplaced.clone(),
            cut: self.cut.clone(),
            bytes_of: self.bytes_of.clone(),
            content: self.content,
            ..Self::new(part)?
        })
    }

    /// The bytes of the file of that index, if they are checked.
    pub(crate) fn content(&self, file: usize) -> Option<FileContent> {
        let unplaced = self.unplaced.get(file).copied().unwrap_or_default();
        self.content.map(|content| content.of(self.bytes_of.get(file).copied().unwrap_or(file), unplaced))
    }

    /// Whether contents are checked.
    pub(crate) const fn has_content(&self) -> bool {
        self.content.is_some()
    }

    /// Whether it is known where the bytes of a file are at the end: nobody cuts it, appends to it or shares its position.
    pub(crate) fn is_placed(&self, file: usize) -> bool {
        !self.unplaced.get(file).copied().unwrap_or(true) && !self.cut.get(file).copied().unwrap_or(true)
    }

    /// The program.
    #[must_use]
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// Whether it opens a file past the page cache.
    pub(crate) fn is_direct(&self) -> bool {
        let mut operations = self.program.streams.iter().flatten();
        operations.any(|operation| matches!(operation.action, Action::Open { mode, .. } if mode.direct))
    }

    /// Bytes that its files take at most, all together: an upper bound, without the holes that no transfer touches.
    #[must_use]
    pub const fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// Files and directories that are there at once at most, with those on the way to files: an upper bound, which counts those that are
    /// removed, too.
    #[must_use]
    pub fn names(&self) -> u64 {
        let files = self.program.files.iter().map(|file| file.name.as_str());
        let outer = self.program.files.iter().flat_map(|file| directories(&file.name));
        files.chain(outer).collect::<HashSet<&str>>().len() as u64
    }

    /// Files that all streams have open at once at most: an upper bound, which counts shared ones several times.
    #[must_use]
    pub const fn open_files(&self) -> usize {
        self.open_files
    }

    /// Bytes of the buffers of all streams: each has one for its largest transfer.
    #[must_use]
    pub fn buffer_bytes(&self) -> u64 {
        let largest = |stream: &Stream| stream.iter().map(|operation| operation.action.bytes()).max();
        self.program.streams.iter().filter_map(largest).fold(0, u64::saturating_add)
    }

    /// Whether the program may change the file of that index.
    #[must_use]
    pub fn modifies(&self, file: usize) -> bool {
        self.modified.get(file).copied().unwrap_or_default()
    }
}

/// Whether a name is one that stays in its directory, and none of ours.
pub(crate) fn is_simple(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_part = |part: &str| {
        (1..=MAX_NAME_PART).contains(&part.len()) && part.bytes().all(allowed) && !part.starts_with('.')
    };
    name.split('/').count() <= MAX_NAME_PARTS && name.split('/').all(is_part)
}

/// The directories of a name, the outermost first.
pub(crate) fn directories(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(slash, _)| &name[..slash])
}

/// How long the files may become.
struct Sizes {
    highest: Vec<u64>,
    appended: Vec<u64>,
    /// Bytes of the blocks that are written, those that are written twice counted twice.
    written: Vec<u64>,
    modified: Vec<bool>,
    cut: Vec<bool>,
    /// Files whose names become those of others hold bytes that both may hold.
    bytes_of: Vec<usize>,
    /// What is shared, by event.
    shared: HashMap<usize, (usize, OpenMode)>,
    /// Sum of the most that each stream has open at once.
    open_files: usize,
}

/// A description while the streams are followed.
struct Followed {
    file: usize,
    mode: OpenMode,
    cursor: u64,
    /// Whether several streams have it: where it stands is not known.
    is_shared: bool,
}

/// What comes with each event.
fn shared(program: &Program) -> HashMap<usize, (usize, OpenMode)> {
    let mut shared = HashMap::new();
    for stream in &program.streams {
        let mut opened = HashMap::new();
        for operation in stream {
            match operation.action {
                Action::Open { file, open, mode } | Action::Attach { file, open, mode } => {
                    opened.insert(open, (file, mode));
                }
                Action::Share { open, event } => {
                    shared.extend(opened.get(&open).map(|what| (event, *what)));
                }
                _ => {}
            }
        }
    }
    shared
}

impl Sizes {
    fn of(program: &Program) -> Self {
        let files = program.files.len();
        let highest = program.files.iter().map(|file| file.size.unwrap_or_default()).collect();
        let (appended, modified, cut) = (vec![0; files], vec![false; files], vec![false; files]);
        let (written, bytes_of) = (vec![0; files], (0..files).collect());
        Self { highest, appended, written, modified, cut, bytes_of, shared: shared(program), open_files: 0 }
    }

    /// Checks what an operation names and moves.
    fn check(&self, action: Action, stream: usize, at: usize) -> Result<(), PlanError> {
        if action.bytes() > MAX_TRANSFER {
            return Err(PlanError::TooLarge(stream, at, action.bytes()));
        }
        if let Some(Buffers { count, .. }) = action.buffers()
            && !(1..=MAX_BUFFERS).contains(&count)
        {
            return Err(PlanError::Buffers(stream, at, count));
        }
        if let Some(file) = action.names().find(|file| *file >= self.highest.len()) {
            return Err(PlanError::NoFile(stream, at, file));
        }
        Ok(())
    }

    /// The description that an operation gives its stream.
    fn opened(
        &mut self,
        operation: &Operation,
        stream: usize,
        at: usize,
    ) -> Result<Option<(OpenNumber, Followed)>, PlanError> {
        match operation.action {
            Action::Open { file, open, mode } | Action::Attach { file, open, mode } => {
                self.modified[file] |= mode.truncate || mode.create;
                self.cut[file] |= mode.truncate;
                let opens = !matches!(operation.expected, Expected::Error(_));
                Ok(opens.then_some((open, Followed { file, mode, cursor: 0, is_shared: false })))
            }
            Action::Inherit { open, event } => {
                let shared = self.shared.get(&event).copied();
                let (file, mode) = shared.ok_or(PlanError::NotShared(stream, at, event))?;
                Ok(Some((open, Followed { file, mode, cursor: 0, is_shared: true })))
            }
            _ => Ok(None),
        }
    }

    fn follow(&mut self, stream: usize, operations: &Stream) -> Result<(), PlanError> {
        let mut descriptions = HashMap::<OpenNumber, Followed>::new();
        let mut most = 0;
        for (index, operation) in operations.iter().enumerate() {
            let (action, at) = (operation.action, index + 1);
            self.check(action, stream, at)?;
            if action.changes_names() {
                for file in action.names() {
                    (self.modified[file], self.cut[file]) = (true, true);
                }
            }
            if let Action::TruncateNamed(file, size) = action {
                (self.modified[file], self.cut[file]) = (true, true);
                self.highest[file] = self.highest[file].max(size);
                if size > i64::MAX as u64 {
                    return Err(PlanError::Offset(stream, at, size));
                }
            }
            if let Action::Rename(from, to) | Action::Link(from, to) = action {
                // Whose bytes lie behind a name is known of all files that ever have it together.
                let (one, other) = (self.bytes_of[from], self.bytes_of[to]);
                self.bytes_of.iter_mut().filter(|file| **file == other).for_each(|file| *file = one);
            }
            let opened = self.opened(operation, stream, at)?;
            if let Some((open, followed)) = opened {
                if descriptions.insert(open, followed).is_some() {
                    return Err(PlanError::IsOpen(stream, at, open.0));
                }
                most = most.max(descriptions.len());
                if descriptions.len() > MAX_OPEN {
                    return Err(PlanError::TooManyOpen(stream, at));
                }
            }
            let Some(open) = action.uses() else { continue };
            let followed = descriptions.get_mut(&open).ok_or(PlanError::NotOpen(stream, at, open.0))?;
            if let Some(offset) = followed.begin(action).filter(|_| followed.mode.direct)
                && !is_aligned(action, offset)
            {
                return Err(PlanError::Unaligned(stream, at, action.bytes(), offset));
            }
            let end = followed.step(action);
            if end > i64::MAX as u64 {
                return Err(PlanError::Offset(stream, at, end));
            }
            let (file, appends) = (followed.file, followed.mode.append || followed.is_anywhere(action));
            if action.writes() {
                let blocks = action.bytes().div_ceil(BLOCK) + 1;
                self.written[file] = self.written[file].saturating_add(blocks * BLOCK);
            }
            let copied = Followed { file, mode: followed.mode, cursor: followed.cursor, is_shared: true };
            match action {
                Action::Duplicate { copy, .. } | Action::Adopt { copy, .. } => {
                    followed.is_shared = true;
                    if descriptions.insert(copy, copied).is_some() {
                        return Err(PlanError::IsOpen(stream, at, copy.0));
                    }
                }
                Action::Share { .. } => followed.is_shared = true,
                _ if action.writes() && appends => {
                    self.modified[file] = true;
                    self.appended[file] = self.appended[file].saturating_add(action.bytes());
                }
                _ if action.writes() || matches!(action, Action::Truncate(..)) => {
                    self.modified[file] = true;
                    self.cut[file] |= !action.writes();
                    self.highest[file] = self.highest[file].max(end);
                }
                Action::Close(_) | Action::Leave(_) => {
                    descriptions.remove(&open);
                }
                _ => {}
            }
        }
        self.open_files += most;
        Ok(())
    }
}

/// Whether a transfer at that offset, and each of its buffers, is one of whole blocks.
fn is_aligned(action: Action, offset: u64) -> bool {
    let buffers = action.buffers().map_or(1, |buffers| u64::from(buffers.count));
    offset.is_multiple_of(DIRECT_BLOCK) && action.bytes().is_multiple_of(DIRECT_BLOCK * buffers)
}

impl Followed {
    /// Whether it begins where the description stands, and others move that.
    fn is_anywhere(&self, action: Action) -> bool {
        self.is_shared
            && matches!(
                action,
                Action::Read(..)
                    | Action::Write(..)
                    | Action::ReadVector(_, None, _)
                    | Action::WriteVector(_, None, _)
            )
    }

    /// Where a transfer begins. Where one that appends does is not known.
    fn begin(&self, action: Action) -> Option<u64> {
        match action {
            _ if action.writes() && self.mode.append || self.is_anywhere(action) => None,
            Action::Read(..)
            | Action::Write(..)
            | Action::ReadVector(_, None, _)
            | Action::WriteVector(_, None, _) => Some(self.cursor),
            Action::ReadAt(_, offset, _)
            | Action::WriteAt(_, offset, _)
            | Action::ReadVector(_, Some(offset), _)
            | Action::WriteVector(_, Some(offset), _) => Some(offset),
            _ => None,
        }
    }

    /// Moves the cursor, and answers the byte behind the last one that is touched.
    fn step(&mut self, action: Action) -> u64 {
        match action {
            Action::Read(..)
            | Action::Write(..)
            | Action::ReadVector(_, None, _)
            | Action::WriteVector(_, None, _) => {
                self.cursor = self.cursor.saturating_add(action.bytes());
                self.cursor
            }
            Action::Seek(_, to) => {
                self.cursor = to;
                to
            }
            Action::ReadAt(_, offset, _)
            | Action::WriteAt(_, offset, _)
            | Action::ReadVector(_, Some(offset), _)
            | Action::WriteVector(_, Some(offset), _) => offset.saturating_add(action.bytes()),
            Action::Truncate(_, size) => size,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ScratchFile;

    fn program(name: &str, actions: &[Action]) -> Program {
        let operation =
            |action: &Action| Operation { think_ns: 0, action: *action, expected: Expected::Success };
        Program {
            files: vec![ScratchFile { name: name.to_owned(), size: Some(100), directory: false }],
            streams: vec![actions.iter().map(operation).collect()],
            ..Program::default()
        }
    }

    fn refused(name: &str, actions: &[Action]) -> String {
        Plan::new(program(name, actions)).unwrap_err().to_string()
    }

    const OPEN: OpenNumber = OpenNumber(1);

    fn open(append: bool) -> Action {
        Action::Open { file: 0, open: OPEN, mode: OpenMode { write: true, append, ..OpenMode::default() } }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in [
            "",
            ".",
            "..",
            "/etc/passwd",
            "../x",
            "a/../b",
            "a/",
            "a//b",
            "a/.b",
            "a\0",
            "a\nb",
            ".iotrail-scratch",
            "ä",
        ] {
            assert!(refused(name, &[]).starts_with("file name"), "{name:?}");
        }
        let mut twice = program("a", &[]);
        twice.files.push(twice.files[0].clone());
        assert!(Plan::new(twice).unwrap_err().to_string().contains("two files"));
    }

    #[test]
    fn what_is_not_open_or_too_large_is_refused_with_its_place() {
        assert_eq!(refused("a", &[Action::Close(OPEN)]), "stream 1, operation 1: description 1 is not open");
        assert_eq!(
            refused("a", &[open(false), open(false)]),
            "stream 1, operation 2: description 1 is open already"
        );
        assert_eq!(refused("a", &[Action::Stat(3)]), "stream 1, operation 1: the program has no file 3");
        assert!(refused("a", &[open(false), Action::Write(OPEN, MAX_TRANSFER + 1)]).contains("at most"));
        for count in [0, MAX_BUFFERS + 1] {
            let vector = Action::WriteVector(OPEN, None, Buffers { bytes: 1, count });
            assert!(refused("a", &[open(false), vector]).contains("1 to 1024 are allowed"));
        }
        assert!(
            refused("a", &[open(false), Action::WriteAt(OPEN, u64::MAX, 1)]).contains("beyond the largest")
        );
    }

    #[test]
    fn what_goes_past_the_page_cache_is_in_blocks() {
        let mode = OpenMode { read: true, write: true, direct: true, ..OpenMode::default() };
        let open = Action::Open { file: 0, open: OPEN, mode };
        let says = |actions: &[Action]| {
            let plan = Plan::new(program("a", &[&[open], actions].concat()));
            plan.err().map(|error| error.to_string()).unwrap_or_default()
        };
        let vector = |count| Action::WriteVector(OPEN, None, Buffers { bytes: 8192, count });
        let (read, seek) = (|bytes| Action::Read(OPEN, bytes), |to| Action::Seek(OPEN, to));
        assert_eq!(says(&[read(4096), Action::ReadAt(OPEN, 8192, 4096), vector(2)]), "");
        assert!(says(&[read(4096), read(700)]).contains("operation 3: moves 700 bytes at offset 4096;"));
        assert!(says(&[seek(1), read(4096)]).contains("moves 4096 bytes at offset 1;"));
        assert!(says(&[Action::WriteAt(OPEN, 512, 4096)]).contains("at offset 512;"));
        assert!(says(&[vector(4)]).contains("multiples of 4096 bytes"));
    }

    #[test]
    fn the_peak_counts_what_is_there_written_and_appended() {
        let peak = |actions: &[Action]| Plan::new(program("a", actions)).unwrap().peak_bytes();
        assert_eq!(peak(&[]), 100);
        assert_eq!(peak(&[open(false), Action::Write(OPEN, 30)]), 100);
        assert_eq!(peak(&[open(false), Action::Seek(OPEN, 90), Action::Write(OPEN, 30)]), 120);
        assert_eq!(peak(&[open(true), Action::Write(OPEN, 30), Action::Write(OPEN, 30)]), 160);
        let vector = |offset| Action::WriteVector(OPEN, offset, Buffers { bytes: 30, count: 4 });
        assert_eq!(peak(&[open(false), vector(Some(90))]), 120);
        assert_eq!(peak(&[open(false), Action::Seek(OPEN, 90), vector(None), vector(None)]), 150);
        assert_eq!(peak(&[open(true), vector(None), vector(Some(0))]), 160);
        assert_eq!(peak(&[open(false), Action::Truncate(OPEN, 1 << 40)]), 100, "a hole takes nothing");
        assert_eq!(peak(&[open(false), Action::WriteAt(OPEN, 1 << 40, 5000)]), 100 + 3 * 4096);
    }

    #[test]
    fn who_waits_for_ever_is_refused_with_its_place() {
        let says = |groups: &[&[usize]], streams: &[&[usize]]| {
            let wait = |group: &usize| Operation {
                think_ns: 0,
                action: Action::Barrier(*group),
                expected: Expected::Success,
            };
            let program = Program {
                files: Vec::new(),
                streams: streams.iter().map(|groups| groups.iter().map(wait).collect()).collect(),
                groups: groups.iter().map(|members| members.to_vec()).collect(),
                events: 0,
            };
            Plan::new(program).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(says(&[&[0, 1, 2], &[0, 1]], &[&[0, 1, 0], &[0, 1, 0], &[0, 0]]), "");
        assert!(
            says(&[&[0, 1]], &[&[0, 0], &[0]])
                .starts_with("stream 1, operation 2: waits for ever at a barrier of group 0")
        );
        assert_eq!(
            says(&[&[0, 1], &[0, 1]], &[&[0, 1], &[1, 0]]),
            "streams wait for each other in a circle: stream 1, operation 1, waits for the barrier of group 0 of stream 2, operation 1, waits for \
             the barrier of group 1 of stream 1"
        );
        assert_eq!(says(&[&[0]], &[&[0], &[0]]), "stream 2, operation 1: the stream is in no group 0");
        assert_eq!(says(&[&[0]], &[&[3]]), "stream 1, operation 1: the stream is in no group 3");
    }

    #[test]
    fn what_is_written_where_a_shared_description_stands_counts_as_appended() {
        let operation =
            |action: &Action| Operation { think_ns: 0, action: *action, expected: Expected::Success };
        let other = [Action::Inherit { open: OPEN, event: 0 }, Action::Write(OPEN, 30)];
        let own = [open(false), Action::Share { open: OPEN, event: 0 }, Action::Write(OPEN, 50)];
        let streams = [&own[..], &other, &other];
        let program = Program {
            streams: streams.iter().map(|actions| actions.iter().map(operation).collect()).collect(),
            events: 1,
            ..program("a", &[])
        };
        let plan = Plan::new(program).unwrap();
        assert_eq!(plan.peak_bytes(), 210);
        // One in each stream, and the one that is shared until the end.
        assert_eq!(plan.open_files(), 4);
    }

    #[test]
    fn a_directory_is_no_file() {
        let mut two = program("a/b", &[]);
        assert!(Plan::new(two.clone()).is_ok());
        two.files.push(ScratchFile { name: "a".to_owned(), size: None, directory: false });
        assert!(Plan::new(two).unwrap_err().to_string().contains("\"a\": it is a directory of another file"));
    }
}
