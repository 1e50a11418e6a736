//! What the events of a line tell of the next one.
//!
//! A descriptor keeps its file, an access begins where the one before ended, a new file has the next number, a new thread the next of
//! those that its case has. Of each column
//! a structure keeps the difference to what is foreseen, in the form that takes the least space; so whatever the
//! forms are, nothing is lost. Writer and reader follow the same events, each line by itself.

use crate::columns::{
    FD, FILE, FILE2, Numbers, OFFSET, OPEN, OPEN2, PARENT, PATH, PATH2, REQUESTED, RET, SEQ, SIZE, START,
};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{CaseId, Cell};
use iotrail_structure_file::Line;

type Map<K, V> = HashMap<K, V, RandomState>;

/// What a descriptor is.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    open: Option<i64>,
    path: Option<i64>,
    file: Option<i64>,
}

/// What is followed through an open file: its number, or its descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Opened {
    Number(i64),
    Descriptor(Option<i64>),
}

/// A call that others may be inside of.
#[derive(Clone, Copy, Debug)]
struct Level {
    seq: Option<i64>,
    /// When the next call of this level is expected.
    next: i64,
}

/// The threads of each case, ascending.
#[derive(Debug)]
pub(crate) struct Threads(Map<CaseId, Vec<i64>>);

impl Threads {
    pub(crate) fn of<'a>(lines: impl IntoIterator<Item = &'a Line>) -> Self {
        let mut threads: Map<CaseId, Vec<i64>> = Map::default();
        for line in lines {
            threads.entry(line.case).or_default().extend(line.tid.number());
        }
        threads.values_mut().for_each(|threads| threads.sort_unstable());
        Self(threads)
    }
}

/// What is known of a line behind some of its events.
#[derive(Debug)]
pub(crate) struct Foresight<'a> {
    file_of_path: &'a Map<i64, i64>,
    held: Map<i64, Held>,
    accesses: Map<Opened, (i64, i64)>,
    files: Map<i64, i64>,
    last: Option<Numbers>,
    last_path: Option<i64>,
    last_path2: Option<i64>,
    largest_open: Option<i64>,
    largest_path: Option<i64>,
    levels: Vec<Level>,
    /// The threads of the case, ascending, and the last one that is no later than those that the line made.
    threads: &'a [i64],
    last_thread: i64,
}

impl<'a> Foresight<'a> {
    /// Nothing yet of a line of a case with these `threads`; the files of names are those of `file_of_path` until others are seen.
    pub(crate) fn new(line: &Line, file_of_path: &'a Map<i64, i64>, threads: &'a Threads) -> Self {
        Self {
            file_of_path,
            held: Map::default(),
            accesses: Map::default(),
            files: Map::default(),
            last: None,
            last_path: None,
            last_path2: None,
            largest_open: None,
            largest_path: None,
            levels: vec![Level { seq: None, next: line.start.0 }],
            threads: threads.0.get(&line.case).map_or(&[], Vec::as_slice),
            last_thread: line.tid.number().unwrap_or(0),
        }
    }

    /// What a form of a column foresees of an event of which the columns before are known and which is made inside of so
    /// many others.
    pub(crate) fn of(&self, column: usize, form: u8, event: &Numbers, inside: usize) -> Option<i64> {
        let held = || event[FD].and_then(|fd| self.held.get(&fd)).copied().unwrap_or_default();
        match (column, form) {
            (START, 1) => self.last?[START],
            (START, _) => self.level(inside).map(|level| level.next),
            (FD, 1) => self.last?[FD],
            (OPEN, 1) => held().open,
            (OPEN, 2) | (OPEN2, 1) => self.largest_open.max(event[OPEN].filter(|_| column == OPEN2)),
            (PATH, 1) => held().path,
            (PATH, 2) => self.last_path,
            (PATH, 3) => self.largest_path,
            (FILE, 1) => held().file,
            (FILE, 2) => self.file_of(event[PATH]),
            (PATH2, 1) => self.last_path2,
            (PATH2, 2) => self.largest_path.max(event[PATH]),
            (FILE2, 1) => self.file_of(event[PATH2]),
            (SIZE, 1) => event[REQUESTED],
            (RET, 1) => event[SIZE],
            (RET, 2) => event[FD],
            (RET, 3) => self.next_thread(),
            (OFFSET, 1) => self.accesses.get(&opened(event)).map(|&(_, end)| end),
            (OFFSET, 2) => self.accesses.get(&opened(event)).map(|&(start, _)| start),
            (SEQ, 1) => self.last?[SEQ].map(|seq| seq.wrapping_add(1)),
            (PARENT, 1) => self.level(inside.checked_sub(1)?)?.seq,
            _ => None,
        }
    }

    fn level(&self, inside: usize) -> Option<&Level> {
        self.levels.get(inside)
    }

    fn next_thread(&self) -> Option<i64> {
        let next = self.threads.partition_point(|thread| *thread <= self.last_thread);
        self.threads.get(next).copied()
    }

    fn file_of(&self, path: Option<i64>) -> Option<i64> {
        let path = path?;
        self.files.get(&path).or_else(|| self.file_of_path.get(&path)).copied()
    }

    /// Goes on behind an event.
    pub(crate) fn follow(&mut self, event: &Numbers, duration: Option<i64>, inside: usize) {
        let (open, path, file) = (event[OPEN], event[PATH], event[FILE]);
        if let Some(fd) = event[FD] {
            self.held.insert(fd, Held { open, path, file });
        }
        for (path, file) in [(path, file), (event[PATH2], event[FILE2])] {
            if let (Some(path), Some(file)) = (path, file) {
                self.files.insert(path, file);
            }
        }
        if let Some(offset) = event[OFFSET] {
            let end = offset.wrapping_add(event[SIZE].unwrap_or(0));
            self.accesses.insert(opened(event), (offset, end));
        }
        if let Some(thread) = event[RET].filter(|ret| self.threads.binary_search(ret).is_ok()) {
            self.last_thread = self.last_thread.max(thread);
        }
        self.last_path = path.or(self.last_path);
        self.last_path2 = event[PATH2].or(self.last_path2);
        self.largest_open = self.largest_open.max(open).max(event[OPEN2]);
        self.largest_path = self.largest_path.max(path).max(event[PATH2]);
        self.last = Some(*event);
        let start = event[START].unwrap_or(0);
        self.levels.truncate(inside);
        self.levels.push(Level { seq: event[SEQ], next: start.wrapping_add(duration.unwrap_or(0)) });
        self.levels.push(Level { seq: None, next: start });
    }
}

fn opened(event: &Numbers) -> Opened {
    event[OPEN].map_or(Opened::Descriptor(event[FD]), Opened::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::{Pid, Tid};

    fn line(case: u32, tid: u32) -> Line {
        Line { case: CaseId(case), pid: Pid(50), tid: Tid(tid), ..Line::default() }
    }

    fn returning(ret: i64) -> Numbers {
        let mut event = Numbers::default();
        event[RET] = Some(ret);
        event
    }

    #[test]
    fn new_threads_are_the_next_ones_of_the_case() {
        let lines = [line(0, 50), line(1, 55), line(0, 60), line(0, 52)];
        let (threads, files) = (Threads::of(&lines), Map::default());
        let mut foresight = Foresight::new(&lines[0], &files, &threads);
        let next = |foresight: &Foresight<'_>| foresight.of(RET, 3, &Numbers::default(), 0);
        assert_eq!(next(&foresight), Some(52));
        foresight.follow(&returning(53), None, 0);
        assert_eq!(next(&foresight), Some(52), "what is no thread of the case changes nothing");
        foresight.follow(&returning(52), None, 0);
        assert_eq!(next(&foresight), Some(60));
        foresight.follow(&returning(60), None, 0);
        assert_eq!(next(&foresight), None);
        assert_eq!(next(&Foresight::new(&lines[1], &files, &threads)), None);
    }
}
