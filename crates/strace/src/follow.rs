//! Reads the files of one `strace -ff` as the one run that they are.
//!
//! Each file holds one thread, and a thread inherits descriptors from another file's thread, so all lines go to one
//! resolver, in the order of their time stamps. Only files whose first time stamp has been reached take part; of those,
//! a bounded number are open. Without comparable time stamps the files are read one after the other, parents first:
//! that is in the order of thread ids.

use crate::plan::PlannedFile;
use crate::stream::{Context, Stream, Turn};
use crate::window::Limits;
use iotrail_model::raw::RawItem;
use iotrail_model::{Dictionaries, Timestamp};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Memory for the windows of all files of a set together, lines of unusual length aside.
const WINDOWS: usize = 16 << 20;

/// Place in the queue: files without a time stamp come last, in the order of their threads.
type Place = (bool, Timestamp, usize);

/// The files of one run, merged.
pub(crate) struct Merge<'a> {
    files: &'a [PlannedFile],
    context: Context<'a>,
    limits: Limits,
    queue: BinaryHeap<Reverse<Place>>,
    streams: Vec<Option<Box<Stream<'a>>>>,
    /// Streams that may hold an open file, the one that was opened first in front.
    open: VecDeque<usize>,
    max_open: usize,
}

impl<'a> Merge<'a> {
    /// At the start of all `files`, of which at most `max_open` will be open at once.
    pub(crate) fn new(files: &'a [PlannedFile], max_open: usize, context: Context<'a>) -> Self {
        let chunk = (WINDOWS / files.len().max(1)).clamp(4 << 10, Limits::LARGE.chunk);
        Self {
            files,
            context,
            limits: Limits { chunk, ..Limits::LARGE },
            queue: files.iter().enumerate().map(|(index, file)| Reverse(place(file.first, index))).collect(),
            streams: files.iter().map(|_| None).collect(),
            open: VecDeque::new(),
            max_open: max_open.max(1),
        }
    }

    /// Parses the lines of the file that is next, as long as it is.
    pub(crate) fn turn(
        &mut self,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(&PlannedFile, RawItem<'_>, &mut Dictionaries),
    ) -> Step<'a> {
        let Some(Reverse((_, _, index))) = self.queue.pop() else { return Step::Done };
        let file = &self.files[index];
        let mut stream = match self.streams[index].take() {
            Some(stream) => stream,
            None => Box::new(Stream::new(file, self.limits, self.context)),
        };
        self.make_room(&stream, index);
        let next = self.queue.peek().filter(|Reverse((untimed, ..))| !untimed);
        let limit = next.filter(|_| file.first.is_some()).map(|Reverse((_, time, _))| *time);
        match stream.until(limit, names, &mut |item, names| sink(file, item, names)) {
            Turn::At(time) => {
                self.queue.push(Reverse(place(Some(time), index)));
                self.streams[index] = Some(stream);
                Step::Paused
            }
            Turn::End => {
                self.open.retain(|open| *open != index);
                Step::Ended(stream)
            }
        }
    }

    /// Parks the file that has been open for longest if `stream` needs its place.
    fn make_room(&mut self, stream: &Stream<'_>, index: usize) {
        if stream.reader.is_open() || stream.reader.window.ended() {
            return;
        }
        while self.open.len() >= self.max_open {
            let oldest = self.open.pop_front();
            if let Some(stream) = oldest.and_then(|oldest| self.streams[oldest].as_mut()) {
                stream.reader.park();
            }
        }
        self.open.push_back(index);
    }
}

/// What a turn came to.
pub(crate) enum Step<'a> {
    /// Another file is next.
    Paused,
    /// This file is at its end.
    Ended(Box<Stream<'a>>),
    /// All files are.
    Done,
}

fn place(time: Option<Timestamp>, index: usize) -> Place {
    (time.is_none(), time.unwrap_or_default(), index)
}
