//! Reads the files of one `strace -ff` as the one run that they are.
//!
//! Each file holds one thread, and a thread inherits descriptors from another file's thread, so all lines go to one
//! resolver, in the order of their time stamps. Only files whose first time stamp has been reached take part; of those,
//! a bounded number are open. Without comparable time stamps the files are read one after the other, parents first:
//! that is in the order of thread ids.
//!
//! What is certain comes before what time stamps say: a thread's own order, that it begins after the call that made
//! it, and that it goes on where the thread was whose place it took. Clocks may be set back ([`iotrail_import::ClockSteps`]),
//! and equal time stamps say nothing ([`When`]).

use crate::births::{births, made};
use crate::parser::Half;
use crate::stream::{Stream, Turn, What, When};
use hashbrown::{HashMap, HashSet};
use iotrail_import::{Context, Limits, PlannedFile};
use iotrail_model::raw::RawItem;
use iotrail_model::{Dictionaries, Nanos, Tid, Timestamp};
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

/// Memory for the windows of all files of a set together, lines of unusual length aside.
const WINDOWS: usize = 16 << 20;

/// Place in the queue: files without a time stamp come last, in the order of their threads.
type QueueKey = (bool, When, usize);

/// The files of one run, merged.
pub(crate) struct Merge<'a> {
    files: &'a [PlannedFile],
    context: Context<'a>,
    limits: Limits,
    by_tid: HashMap<Tid, usize>,
    queue: BinaryHeap<Reverse<QueueKey>>,
    states: Vec<State<'a>>,
    /// The file that is being read.
    current: Option<usize>,
    /// Files whose thread a call in a file that was not read yet makes.
    waiting: BTreeSet<(Timestamp, usize)>,
    /// Files that cannot go on before another one, whose thread a call that was not read yet makes: by that one.
    blocked: HashMap<usize, usize>,
    /// The threads that calls in the files make.
    births: Option<HashSet<Tid>>,
    /// Files at their end whose thread goes on in another one.
    renamed: BTreeSet<usize>,
    /// Files at their end, to be told.
    ended: Vec<Stream<'a>>,
    /// Streams that may hold an open file, the one that was opened first in front.
    open: VecDeque<usize>,
    max_open: usize,
}

/// What became of a file.
enum State<'a> {
    /// It was not begun; whether the call was read that made its thread, and what that says of its times.
    New(Option<Made>),
    Begun(Box<Stream<'a>>),
    /// It is at its end.
    Over,
}

/// What the call that made a thread says of the times in its file.
#[derive(Clone, Copy, Debug)]
struct Made {
    at: Timestamp,
    /// What is added to the time stamps of the parent's file.
    shift: Nanos,
}

impl<'a> Merge<'a> {
    /// At the start of all `files`, of which at most `max_open` will be open at once.
    pub(crate) fn new(files: &'a [PlannedFile], max_open: usize, context: Context<'a>) -> Self {
        let chunk = (WINDOWS / files.len().max(1)).clamp(4 << 10, Limits::LARGE.chunk);
        let firsts = files.iter().enumerate();
        Self {
            files,
            context,
            limits: Limits { chunk, ..Limits::LARGE },
            by_tid: files.iter().enumerate().filter_map(|(index, file)| Some((file.tid?, index))).collect(),
            queue: firsts.map(|(index, file)| Reverse(first_key(file.first, index))).collect(),
            states: files.iter().map(|_| State::New(None)).collect(),
            current: None,
            waiting: BTreeSet::new(),
            blocked: HashMap::new(),
            births: None,
            renamed: BTreeSet::new(),
            ended: Vec::new(),
            open: VecDeque::new(),
            max_open: max_open.max(1),
        }
    }

    /// Parses lines of the file that is next.
    pub(crate) fn turn(
        &mut self,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(&PlannedFile, RawItem<'_>, &mut Dictionaries),
    ) -> Step<'a> {
        if let Some(stream) = self.ended.pop() {
            return Step::Ended(Box::new(stream));
        }
        let Some(index) = self.current.take().or_else(|| self.next()) else {
            return self.last(names, sink);
        };
        let limit = self.limit(index);
        match self.read(index, limit, names, sink) {
            Turn::At(when) => self.queue.push(Reverse((false, when, index))),
            Turn::Superseded(by) if self.is_blocked(by, index) => {}
            Turn::Superseded(by) => {
                let half = self.leave(by, index, names, sink);
                let file = &self.files[index];
                if let State::Begun(stream) = &mut self.states[index] {
                    stream.goes_on_from(by, half, names, &mut |item, names| sink(file, item, names));
                    // Before anybody is told that the thread's own file is at its end.
                    self.read_line(index, names, sink);
                }
                self.current = Some(index);
            }
            Turn::Paused => self.current = Some(index),
            Turn::End => self.end(index, names, sink),
        }
        Step::Paused
    }

    /// The file that is next, begun.
    fn next(&mut self) -> Option<usize> {
        loop {
            let (untimed, when, index) = match self.queue.pop() {
                Some(Reverse(place)) => place,
                // What is left waits for each other, or for what never came.
                None => {
                    let waiting = self.waiting.pop_first().map(|(_, index)| index);
                    let index = waiting.or_else(|| self.blocked.keys().min().copied())?;
                    self.begin(index);
                    self.unblock(index);
                    return Some(index);
                }
            };
            match &self.states[index] {
                State::Begun(_) => return Some(index),
                State::Over => {}
                State::New(made) => {
                    let made = *made;
                    if made.is_none() && self.is_born_later(index) {
                        self.waiting.insert((when.time, index));
                        continue;
                    }
                    let earliest = self.earliest(index, made);
                    if !untimed && earliest > when.time {
                        let when = When { time: earliest, what: What::Begins };
                        self.queue.push(Reverse((false, when, index)));
                    } else {
                        self.begin(index);
                        return Some(index);
                    }
                }
            }
        }
    }

    /// Whether the file of `index` has to wait, because its thread goes on as `by`, of which nothing can be read yet.
    fn is_blocked(&mut self, by: Tid, index: usize) -> bool {
        let Some(&own) = self.by_tid.get(&by).filter(|own| **own != index) else { return false };
        let waits = matches!(self.states[own], State::New(None)) && self.is_born_later(own);
        if waits {
            self.blocked.insert(own, index);
        }
        waits
    }

    /// What waited for the file of `index` goes on.
    fn unblock(&mut self, index: usize) {
        if let Some(waited) = self.blocked.remove(&index) {
            let now = When { time: Timestamp(i64::MIN), what: What::GoesOn };
            self.queue.push(Reverse((self.files[waited].first.is_none(), now, waited)));
        }
    }

    /// When the first line of a file is, as far as that can be told before it is read.
    fn earliest(&self, index: usize, made: Option<Made>) -> Timestamp {
        let first = self.files[index].first.unwrap_or_default();
        made.map_or(first, |made| made.at.max(first + made.shift))
    }

    /// Whether a call that was not read yet makes the thread of a file.
    fn is_born_later(&mut self, index: usize) -> bool {
        let births = self.births.get_or_insert_with(|| births(self.files, self.context));
        self.files[index].tid.is_some_and(|tid| births.contains(&tid))
    }

    fn begin(&mut self, index: usize) {
        let State::New(made) = self.states[index] else { return };
        let file = &self.files[index];
        let mut stream = Box::new(Stream::new(file, self.limits, None, self.context));
        if let (Some(made), Some(tid), Some(_)) = (made, file.tid, file.first) {
            stream.parser.begin(tid, made.at, made.shift);
        }
        self.states[index] = State::Begun(stream);
    }

    /// The place up to which a file may be read: that of the file behind it.
    fn limit(&self, index: usize) -> Option<When> {
        let next = self.queue.peek().filter(|Reverse((untimed, ..))| !untimed);
        next.filter(|_| self.files[index].first.is_some()).map(|Reverse((_, when, _))| *when)
    }

    /// Parses lines of a file that was begun, up to `limit` or to where a thread was made.
    fn read(
        &mut self,
        index: usize,
        limit: Option<When>,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(&PlannedFile, RawItem<'_>, &mut Dictionaries),
    ) -> Turn {
        self.make_room(index);
        let (file, stop) = (&self.files[index], Cell::new(false));
        let State::Begun(stream) = &mut self.states[index] else { return Turn::End };
        let mut births = Vec::new();
        let turn = stream.until(limit, &stop, names, &mut |item, names| {
            if let Some(birth) = made(&item) {
                births.push(birth);
                stop.set(true);
            }
            sink(file, item, names);
        });
        let shift = stream.parser.shift();
        for (child, at) in births {
            self.is_born(child, Made { at, shift });
        }
        turn
    }

    /// Parses the next line of a file, whatever it is.
    fn read_line(
        &mut self,
        index: usize,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(&PlannedFile, RawItem<'_>, &mut Dictionaries),
    ) {
        let nowhere = When { time: Timestamp(i64::MIN), what: What::GoesOn };
        self.read(index, Some(nowhere), names, sink);
    }

    /// The call that made a thread was read.
    fn is_born(&mut self, child: Tid, made: Made) {
        let Some(&index) = self.by_tid.get(&child) else { return };
        if let State::New(known @ None) = &mut self.states[index] {
            *known = Some(made);
            let file = &self.files[index];
            if self.waiting.remove(&(file.first.unwrap_or_default(), index)) {
                let earliest = file.first.map(|_| self.earliest(index, Some(made)));
                self.queue.push(Reverse(first_key(earliest, index)));
            }
            self.unblock(index);
        }
    }

    /// The thread `by` of another file goes on in that of `index`: reads its own to the end, and gives the half of the
    /// call that it is in.
    fn leave(
        &mut self,
        by: Tid,
        index: usize,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(&PlannedFile, RawItem<'_>, &mut Dictionaries),
    ) -> Option<Half> {
        let own = *self.by_tid.get(&by).filter(|own| **own != index)?;
        if matches!(self.states[own], State::New(_)) {
            self.begin(own);
        }
        if !self.renamed.remove(&own) {
            while matches!(self.states[own], State::Begun(_))
                && self.read(own, None, names, sink) == Turn::Paused
            {}
        }
        let State::Begun(stream) = &mut self.states[own] else { return None };
        let half = stream.parser.take_renamed_half();
        self.end(own, names, sink);
        half
    }

    /// A file is at its end. It is kept if its thread goes on in another one.
    fn end(
        &mut self,
        index: usize,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(&PlannedFile, RawItem<'_>, &mut Dictionaries),
    ) {
        let file = &self.files[index];
        match std::mem::replace(&mut self.states[index], State::Over) {
            State::Begun(stream) if stream.parser.has_renamed_half() => {
                self.renamed.insert(index);
                self.states[index] = State::Begun(stream);
            }
            State::Begun(mut stream) => {
                stream.finish(names, &mut |item, names| sink(file, item, names));
                self.ended.push(*stream);
            }
            State::New(_) | State::Over => {}
        }
        self.open.retain(|open| *open != index);
    }

    /// All files are at their end. Of threads that went on in a file that is not there, nothing more comes.
    fn last(
        &mut self,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(&PlannedFile, RawItem<'_>, &mut Dictionaries),
    ) -> Step<'a> {
        let Some(index) = self.renamed.pop_first() else { return Step::Done };
        let file = &self.files[index];
        match std::mem::replace(&mut self.states[index], State::Over) {
            State::Begun(mut stream) => {
                stream.finish(names, &mut |item, names| sink(file, item, names));
                Step::Ended(stream)
            }
            State::New(_) | State::Over => Step::Paused,
        }
    }

    /// Parks the file that has been open for longest if that of `index` needs its place.
    fn make_room(&mut self, index: usize) {
        match &self.states[index] {
            State::Begun(stream) if !stream.text.reader.is_open() && !stream.text.reader.window.ended() => {}
            _ => return,
        }
        while self.open.len() >= self.max_open {
            let oldest = self.open.pop_front();
            if let Some(State::Begun(stream)) = oldest.and_then(|oldest| self.states.get_mut(oldest)) {
                stream.text.reader.park();
            }
        }
        self.open.push_back(index);
    }
}

/// What a turn came to.
pub(crate) enum Step<'a> {
    /// There is more to read.
    Paused,
    /// This file is at its end.
    Ended(Box<Stream<'a>>),
    /// All files are.
    Done,
}

fn first_key(time: Option<Timestamp>, index: usize) -> QueueKey {
    (time.is_none(), When { time: time.unwrap_or_default(), what: What::Begins }, index)
}
