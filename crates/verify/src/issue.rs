//! Calls made a program of the replay engine.

use crate::calls::{Call, CallAction, Description, Moved, Refusal};
use crate::lanes::Lanes;
use crate::order::{Waits, shared, waits};
use iotrail_model::FileId;
use iotrail_replay::{
    Action, Buffers, Expected, OpenMode, OpenNumber, Operation, Program, ScratchFile, Stream,
};
use std::collections::{HashMap, HashSet};

/// Numbers of errors: those of `asm-generic/errno-base.h`, which all architectures share.
const ENOENT: i32 = 2;
const EEXIST: i32 = 17;

/// The scratch files that stand for those of calls.
#[derive(Debug)]
pub(crate) struct Files {
    numbers: HashMap<FileId, usize>,
    files: Vec<ScratchFile>,
    /// The one that is never there.
    missing: usize,
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
    /// The files of the calls as recorded, of which those that are read hold what is read, and those that only the calls as advised use.
    pub(crate) fn of(recorded: &[Call], advised: &[Call]) -> Self {
        let mut numbers = HashMap::new();
        let mut sizes = Vec::<Size>::new();
        let own: HashSet<FileId> = recorded.iter().map(|call| call.file).collect();
        for call in recorded.iter().chain(advised.iter().filter(|call| !own.contains(&call.file))) {
            let number = *numbers.entry(call.file).or_insert_with(|| {
                sizes.push(Size::default());
                sizes.len() - 1
            });
            sizes[number].follow(call);
        }
        let file = |(number, size): (usize, Size)| ScratchFile {
            name: format!("f{number}"),
            size: (!size.made || size.first > 0).then_some(size.first),
            directory: false,
        };
        let mut files: Vec<ScratchFile> = sizes.into_iter().enumerate().map(file).collect();
        files.push(ScratchFile { name: "missing".to_owned(), size: None, directory: false });
        Self { numbers, missing: files.len() - 1, files }
    }

    /// The program that issues calls, those of each lane one after the other, all of them past the page cache (`direct`) or none.
    pub(crate) fn program(&self, calls: &[Call], lanes: &Lanes, direct: bool) -> Program {
        let waits = waits(calls, lanes, |file| self.files[*self.numbers.get(&file)?].size);
        let mut issuing = Issuing::new(self, calls, lanes, &waits, direct);
        calls.iter().enumerate().for_each(|(index, call)| issuing.call(index, call));
        let Issuing { lanes, events, .. } = issuing;
        Program {
            files: self.files.clone(),
            streams: lanes.into_iter().map(|lane| lane.operations).collect(),
            groups: Vec::new(),
            events,
        }
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
            // Of a file whose name was missing before it was made.
            CallAction::Refused(Refusal::Open(_) | Refusal::Stat) => self.seen = !is_first,
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
    of: &'a Lanes,
    waits: &'a Waits,
    direct: bool,
    lanes: Vec<Lane>,
    /// The event of each call that others wait for.
    awaited: HashMap<usize, usize>,
    /// Descriptions of several lanes, and the events with which they are shared.
    shared: HashMap<Description, Option<usize>>,
    events: usize,
}

/// A stream while it is made.
#[derive(Default)]
struct Lane {
    numbers: HashMap<Description, OpenNumber>,
    last_use: HashMap<Description, usize>,
    operations: Stream,
    /// Time before the next operation.
    think_ns: u64,
}

impl Lane {
    fn push(&mut self, action: Action, expected: Expected) {
        let think_ns = std::mem::take(&mut self.think_ns);
        self.operations.push(Operation { think_ns, action, expected });
    }

    fn number(&mut self, description: Description) -> OpenNumber {
        let fresh = OpenNumber(self.numbers.len() as u32);
        *self.numbers.entry(description).or_insert(fresh)
    }
}

impl<'a> Issuing<'a> {
    fn new(files: &'a Files, calls: &[Call], of: &'a Lanes, waits: &'a Waits, direct: bool) -> Self {
        let mut lanes: Vec<Lane> = (0..of.count()).map(|_| Lane::default()).collect();
        for (index, call) in calls.iter().enumerate() {
            if let Some(open) = call.open {
                lanes[of.lane(call)].last_use.insert(open, index);
            }
        }
        let mut awaited = HashMap::new();
        let mut calls_waited_for: Vec<usize> = waits.values().flatten().copied().collect();
        calls_waited_for.sort_unstable();
        for call in calls_waited_for {
            let event = awaited.len();
            awaited.entry(call).or_insert(event);
        }
        let shared = shared(calls, of).into_iter().map(|open| (open, None)).collect();
        Self { files, of, waits, direct, lanes, events: awaited.len(), awaited, shared }
    }

    fn call(&mut self, index: usize, call: &Call) {
        let Some(file) = self.files.numbers.get(&call.file).copied() else { return };
        let at = self.of.lane(call);
        self.lanes[at].think_ns = self.lanes[at].think_ns.saturating_add(call.think);
        for other in self.waits.get(&index).into_iter().flatten() {
            if let Some(event) = self.awaited.get(other) {
                self.lanes[at].push(Action::Await(*event), Expected::Success);
            }
        }
        match call.action {
            CallAction::Stat => self.lanes[at].push(Action::Stat(file), Expected::Success),
            CallAction::Refused(refusal) => self.refused(at, file, refusal),
            _ => self.through(at, call, file),
        }
        if let Some(event) = self.awaited.get(&index) {
            self.lanes[at].push(Action::Signal(*event), Expected::Success);
        }
        self.close_at(at, index, call);
    }

    fn refused(&mut self, at: usize, file: usize, refusal: Refusal) {
        let missing = self.files.missing;
        let open = OpenNumber(u32::MAX);
        let (action, error) = match refusal {
            Refusal::Stat => (Action::Stat(missing), ENOENT),
            Refusal::Open(mode) => (Action::Open { file: missing, open, mode }, ENOENT),
            Refusal::Create(mode) => (Action::Open { file, open, mode }, EEXIST),
        };
        self.lanes[at].push(action, Expected::Error(error));
    }

    /// A call through a description: one that was opened before the recording, or by another program, is opened now.
    fn through(&mut self, at: usize, call: &Call, file: usize) {
        let Some(description) = call.open else { return };
        let open = self.opened(at, call, description, file);
        let lane = &mut self.lanes[at];
        match call.action {
            CallAction::Transfer(moved) => lane.push(transfer(open, moved), Expected::Bytes(moved.moved)),
            CallAction::Seek(to) => lane.push(Action::Seek(open, to), Expected::Success),
            CallAction::Sync => lane.push(Action::Sync(open), Expected::Success),
            CallAction::SyncData => lane.push(Action::SyncData(open), Expected::Success),
            CallAction::Truncate(size) => lane.push(Action::Truncate(open, size), Expected::Success),
            // The last descriptor of a description closes it.
            CallAction::Open(_) | CallAction::Close | CallAction::Stat | CallAction::Refused(_) => {}
        }
    }

    /// The number of a description in a lane, after it was opened or inherited there.
    fn opened(&mut self, at: usize, call: &Call, description: Description, file: usize) -> OpenNumber {
        let lane = &mut self.lanes[at];
        if let Some(open) = lane.numbers.get(&description) {
            return *open;
        }
        let open = lane.number(description);
        if let Some(Some(event)) = self.shared.get(&description) {
            lane.push(Action::Inherit { open, event: *event }, Expected::Success);
            return open;
        }
        let mode = match call.action {
            CallAction::Open(mode) => mode,
            _ => OpenMode { read: true, write: true, ..OpenMode::default() },
        };
        let mode = OpenMode { direct: self.direct, ..mode };
        lane.push(Action::Open { file, open, mode }, Expected::Success);
        if let Some(event) = self.shared.get_mut(&description) {
            lane.push(Action::Share { open, event: self.events }, Expected::Success);
            *event = Some(self.events);
            self.events += 1;
        }
        open
    }

    fn close_at(&mut self, at: usize, index: usize, call: &Call) {
        let lane = &mut self.lanes[at];
        if let Some(open) = call.open.filter(|open| lane.last_use.get(open) == Some(&index))
            && let Some(number) = lane.numbers.get(&open)
        {
            let close = Action::Close(*number);
            lane.push(close, Expected::Success);
        }
    }
}

/// A read or write of an open file.
#[must_use]
pub fn transfer(open: OpenNumber, moved: Moved) -> Action {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::{blocks_of_one, files_of_their_own, gathered, read_by_one};
    use crate::testing::{OPEN, at, calls_of, moved, streams};

    fn words(streams: &[Vec<String>]) -> Vec<String> {
        streams.iter().map(|stream| stream.join(", ")).collect()
    }

    fn recorded(rows: &[(u32, u32, i64, i64, CallAction)]) -> Vec<String> {
        let calls = calls_of(rows);
        words(&streams(&calls, &calls))
    }

    #[test]
    fn processes_issue_their_calls_at_once_and_wait_for_the_bytes_of_others() {
        let rows = [
            (1, 1, 0, 10, OPEN),
            (2, 2, 5, 12, OPEN),
            (1, 1, 20, 30, at(true, 0, 100)),
            (2, 2, 25, 35, at(true, 100, 100)),
            // Over before the next begins: it waits.
            (2, 2, 40, 45, at(false, 50, 100)),
            // Overlaps the read: it waits for what that process did before.
            (1, 1, 43, 50, at(true, 0, 60)),
            // Behind both.
            (2, 2, 60, 61, at(true, 0, 1)),
        ];
        assert_eq!(
            recorded(&rows),
            [
                "open, pwrite 100 at 0, signal 0, await 1, pwrite 60 at 0, signal 2, close",
                "open, pwrite 100 at 100, signal 1, await 0, pread 100 at 50, await 2, pwrite 1 at 0, close"
            ]
        );
    }

    #[test]
    fn who_appends_waits_for_nobody_else_who_does() {
        let CallAction::Open(mode) = OPEN else { return };
        let open = CallAction::Open(OpenMode { append: true, ..mode });
        let unknown = |offset| {
            let CallAction::Transfer(moved) = moved(true, 0, 5) else { return OPEN };
            CallAction::Transfer(Moved { offset, ..moved })
        };
        for offset in [None, Some(0)] {
            let rows = [
                (1, 1, 0, 10, open),
                (2, 2, 5, 12, open),
                (1, 1, 20, 21, unknown(offset)),
                (2, 2, 30, 31, unknown(offset.map(|_| 5))),
                (1, 1, 40, 41, at(false, 0, 10)),
            ];
            assert_eq!(
                recorded(&rows),
                ["open, write 5, await 0, pread 10 at 0, close", "open, write 5, signal 0, close"]
            );
        }
    }

    #[test]
    fn who_opens_a_file_while_another_makes_it_waits_for_that() {
        let CallAction::Open(mode) = OPEN else { return };
        let make = CallAction::Open(OpenMode { create: true, ..mode });
        let rows = [(1, 1, 0, 10, make), (2, 2, 5, 12, OPEN)];
        assert_eq!(recorded(&rows), ["open, signal 0, close", "await 0, open, close"]);
    }

    #[test]
    fn calls_that_never_overlapped_are_issued_by_one_thread() {
        let rows = [
            (1, 1, 0, 5, OPEN),
            (2, 2, 5, 9, OPEN),
            (1, 1, 10, 20, moved(true, 0, 5)),
            (2, 2, 20, 21, moved(true, 5, 5)),
        ];
        assert_eq!(recorded(&rows), ["open, open, write 5, close, write 5, close"]);
    }

    #[test]
    fn processes_that_share_an_open_file_inherit_it() {
        let rows = [
            (1, 7, 0, 10, OPEN),
            (2, 7, 20, 30, moved(true, 0, 5)),
            (1, 7, 25, 31, moved(true, 5, 5)),
            (2, 7, 40, 41, CallAction::Seek(0)),
        ];
        assert_eq!(
            recorded(&rows),
            ["open, share 1, write 5, signal 0, close", "inherit 1, write 5, await 0, seek 0, close"]
        );
    }

    #[test]
    fn what_failed_fails_again() {
        let mode = OpenMode { write: true, create: true, ..OpenMode::default() };
        let refused = CallAction::Refused;
        let rows = [
            (1, 1, 0, 1, refused(Refusal::Stat)),
            (1, 1, 2, 3, refused(Refusal::Open(OpenMode { create: false, ..mode }))),
            (1, 1, 4, 5, CallAction::Open(mode)),
            (1, 1, 6, 7, refused(Refusal::Create(OpenMode { exclusive: true, ..mode }))),
        ];
        let mut calls = calls_of(&rows);
        calls
            .iter_mut()
            .filter(|call| matches!(call.action, CallAction::Refused(_)))
            .for_each(|call| call.open = None);
        let files = Files::of(&calls, &calls);
        assert_eq!(files.files[0].size, None, "the program made it");
        assert_eq!(words(&streams(&calls, &calls)), ["stat 1, open 1, open, close, open"]);
        let program = files.program(&calls, &Lanes::of(&calls).unwrap(), false);
        let expected: Vec<Expected> = program.streams[0].iter().map(|operation| operation.expected).collect();
        let (missing, exists) = (Expected::Error(ENOENT), Expected::Error(EEXIST));
        assert_eq!(expected, [missing, missing, Expected::Success, Expected::Success, exists]);
    }

    /// Pieces of two processes, one behind the other in the file, at the same time.
    fn interleaved(writes: bool, bytes: u64) -> Vec<Call> {
        let mut rows = vec![(1, 1, 0, 10, OPEN), (2, 2, 5, 12, OPEN)];
        for number in 0..6_u32 {
            let (pid, start) = (1 + number % 2, 20 + i64::from(number) * 10);
            rows.push((pid, pid, start, start + 15, at(writes, u64::from(number) * bytes, bytes)));
        }
        calls_of(&rows)
    }

    #[test]
    fn pieces_of_several_processes_are_moved_in_ranges_of_4_mib() {
        let follow = |writes, bytes| {
            let calls = interleaved(writes, bytes);
            words(&streams(&calls, &gathered(&calls).unwrap()))
        };
        assert_eq!(follow(true, 512), ["open, pwrite 3072 at 0, close", "open, close"]);
        assert_eq!(
            follow(true, 1 << 20),
            ["open, pwrite 4194304 at 0, close", "open, pwrite 2097152 at 4194304, close"]
        );
        assert_eq!(follow(false, 512), ["open, pread 3072 at 0, close", "open, close"]);
    }

    #[test]
    fn blocks_are_written_by_who_writes_their_first_byte() {
        let calls = interleaved(true, 3000);
        assert_eq!(
            words(&streams(&calls, &blocks_of_one(&calls).unwrap())),
            [
                "open, pwrite 4096 at 0, pwrite 4096 at 8192, pwrite 4096 at 12288, close",
                "open, pwrite 4096 at 4096, pwrite 1616 at 16384, close"
            ]
        );
    }

    #[test]
    fn one_reads_for_all() {
        let mut rows = vec![(1, 1, 0, 10, OPEN), (2, 2, 5, 12, OPEN)];
        rows.extend([
            (1, 1, 20, 30, at(false, 0, 50)),
            (2, 2, 25, 31, at(false, 10, 20)),
            (1, 1, 40, 41, at(false, 50, 9)),
        ]);
        let calls = calls_of(&rows);
        assert_eq!(
            words(&streams(&calls, &read_by_one(&calls).unwrap())),
            ["open, pread 50 at 0, pread 9 at 50, close", "open, close"]
        );
    }

    #[test]
    fn who_appends_gets_a_file_of_its_own() {
        let CallAction::Open(mode) = OPEN else { return };
        let open = CallAction::Open(OpenMode { append: true, ..mode });
        let rows = [
            (1, 1, 0, 10, open),
            (2, 2, 5, 12, open),
            (1, 1, 20, 30, moved(true, 0, 5)),
            (2, 2, 25, 31, moved(true, 5, 5)),
        ];
        let calls = calls_of(&rows);
        let own = files_of_their_own(&calls).unwrap();
        assert_eq!(words(&streams(&calls, &own)), ["open, write 5, close", "open 1, write 5, close"]);
    }
}
