//! Calls made a program of the replay engine.

use crate::calls::{Call, CallAction, Description, Moved};
use iotrail_model::FileId;
use iotrail_replay::{Action, Buffers, Expected, OpenMode, OpenNumber, Operation, Program, ScratchFile};
use std::collections::HashMap;

/// The scratch files that stand for those of calls.
#[derive(Debug)]
pub(crate) struct Files {
    numbers: HashMap<FileId, usize>,
    files: Vec<ScratchFile>,
}

/// What is known of a file while its calls are followed.
#[derive(Default)]
struct Size {
    /// Bytes that must be there at the begin.
    first: u64,
    /// Where what was written ends.
    written: u64,
    /// Whether it was emptied or made: what is read behind was written by others.
    emptied: bool,
    /// Whether the first call makes it.
    made: bool,
    seen: bool,
}

impl Files {
    /// The files of the calls as recorded: those that are read hold what is read.
    pub(crate) fn of(calls: &[Call]) -> Self {
        let mut numbers = HashMap::new();
        let mut sizes = Vec::<Size>::new();
        for call in calls {
            let number = *numbers.entry(call.file).or_insert_with(|| {
                sizes.push(Size::default());
                sizes.len() - 1
            });
            sizes[number].follow(call);
        }
        let file = |(number, size): (usize, Size)| ScratchFile {
            name: format!("f{number}"),
            size: (!size.made || size.first > 0).then_some(size.first),
        };
        Self { numbers, files: sizes.into_iter().enumerate().map(file).collect() }
    }

    /// The program that issues calls one after the other, all of them past the page cache (`direct`) or none.
    pub(crate) fn program(&self, calls: &[Call], direct: bool) -> Program {
        let mut last_use = HashMap::<Description, usize>::new();
        for (index, call) in calls.iter().enumerate() {
            if let Some(open) = call.open {
                last_use.insert(open, index);
            }
        }
        let mut issuing =
            Issuing { files: self, direct, last_use, numbers: HashMap::new(), operations: Vec::new() };
        calls.iter().enumerate().for_each(|(index, call)| issuing.call(index, call));
        Program { files: self.files.clone(), streams: vec![issuing.operations], groups: Vec::new() }
    }
}

impl Size {
    fn follow(&mut self, call: &Call) {
        let is_first = !std::mem::replace(&mut self.seen, true);
        match call.action {
            CallAction::Open(mode) => {
                self.made |= is_first && mode.create;
                self.emptied |= mode.truncate;
            }
            CallAction::Truncate(_) => self.emptied = true,
            CallAction::Transfer(moved) => {
                let Some((low, high)) = moved.range() else { return };
                if moved.writes {
                    self.written = self.written.max(high);
                } else if !self.emptied && high > self.written.max(self.first) && high > low {
                    self.first = high;
                }
            }
            _ => {}
        }
    }
}

struct Issuing<'a> {
    files: &'a Files,
    direct: bool,
    last_use: HashMap<Description, usize>,
    numbers: HashMap<Description, OpenNumber>,
    operations: Vec<Operation>,
}

impl Issuing<'_> {
    fn call(&mut self, index: usize, call: &Call) {
        let Some(file) = self.files.numbers.get(&call.file).copied() else { return };
        if call.action != CallAction::Stat {
            return self.through(index, call, file);
        }
        self.push(Action::Stat(file), Expected::Success);
        self.close_at(index, call);
    }

    /// A call through a description: one that was opened before the recording, or by another program, is opened now.
    fn through(&mut self, index: usize, call: &Call, file: usize) {
        let Some(description) = call.open else { return };
        let fresh = OpenNumber(self.numbers.len() as u32);
        let is_known = self.numbers.contains_key(&description);
        let open = *self.numbers.entry(description).or_insert(fresh);
        match call.action {
            CallAction::Open(mode) if !is_known => {
                let mode = OpenMode { direct: self.direct, ..mode };
                self.push(Action::Open { file, open, mode }, Expected::Success)
            }
            _ if !is_known => {
                let mode = OpenMode { read: true, write: true, direct: self.direct, ..OpenMode::default() };
                self.push(Action::Open { file, open, mode }, Expected::Success);
            }
            _ => {}
        }
        match call.action {
            CallAction::Transfer(moved) => self.push(transfer(open, moved), Expected::Bytes(moved.moved)),
            CallAction::Seek(to) => self.push(Action::Seek(open, to), Expected::Success),
            CallAction::Sync => self.push(Action::Sync(open), Expected::Success),
            CallAction::SyncData => self.push(Action::SyncData(open), Expected::Success),
            CallAction::Truncate(size) => self.push(Action::Truncate(open, size), Expected::Success),
            // The last descriptor of a description closes it.
            CallAction::Open(_) | CallAction::Close | CallAction::Stat => {}
        }
        self.close_at(index, call);
    }

    fn close_at(&mut self, index: usize, call: &Call) {
        if let Some(open) = call.open.filter(|open| self.last_use.get(open) == Some(&index))
            && let Some(number) = self.numbers.get(&open)
        {
            self.push(Action::Close(*number), Expected::Success);
        }
    }

    fn push(&mut self, action: Action, expected: Expected) {
        self.operations.push(Operation { think_ns: 0, action, expected });
    }
}

fn transfer(open: OpenNumber, moved: Moved) -> Action {
    let offset = moved.offset.filter(|_| moved.positioned);
    let buffers = Buffers { bytes: moved.asked, count: moved.buffers };
    match (moved.writes, offset) {
        (false, _) if moved.buffers > 1 => Action::ReadVector(open, offset, buffers),
        (true, _) if moved.buffers > 1 => Action::WriteVector(open, offset, buffers),
        (false, None) => Action::Read(open, moved.asked),
        (true, None) => Action::Write(open, moved.asked),
        (false, Some(offset)) => Action::ReadAt(open, offset, moved.asked),
        (true, Some(offset)) => Action::WriteAt(open, offset, moved.asked),
    }
}
