//! What transfers return: a read ends where the file does.

use crate::Planned;
use iotrail_replay::{Action, Operation};
use std::collections::HashMap;

/// The bytes that each operation of each stream moves, if all begin at their `starts`: those of a read are there by then, written
/// by whoever began before.
pub(crate) fn returned(planned: &Planned, starts: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let mut bytes: Vec<Vec<u64>> = starts.iter().map(|starts| vec![0; starts.len()]).collect();
    let mut order: Vec<(u64, u32, u32)> = starts
        .iter()
        .enumerate()
        .flat_map(|(stream, starts)| {
            starts.iter().enumerate().map(move |(at, start)| (*start, stream as u32, at as u32))
        })
        .collect();
    order.sort_unstable();
    let mut disk = Disk::new(planned);
    for (_, stream, at) in order {
        let (stream, at) = (stream as usize, at as usize);
        bytes[stream][at] = disk.does(stream, &planned.program.streams[stream][at]);
    }
    bytes
}

/// The files while operations are done.
struct Disk {
    /// The file behind each name, if there is one.
    named: Vec<Option<usize>>,
    /// The length of each file.
    lengths: Vec<u64>,
    /// By stream and number, the open files.
    open: HashMap<(usize, u32), Opened>,
}

#[derive(Clone, Copy)]
struct Opened {
    file: usize,
    position: u64,
    appends: bool,
}

impl Disk {
    fn new(planned: &Planned) -> Self {
        let mut disk = Self { named: Vec::new(), lengths: Vec::new(), open: HashMap::new() };
        for file in &planned.program.files {
            let made = file.size.map(|size| disk.made(size));
            disk.named.push(made);
        }
        disk
    }

    fn made(&mut self, length: u64) -> usize {
        self.lengths.push(length);
        self.lengths.len() - 1
    }

    /// Answers how many bytes are moved.
    fn does(&mut self, stream: usize, operation: &Operation) -> u64 {
        match operation.action {
            Action::Open { file: name, open, mode } => {
                let there = self.named.get(name).copied().flatten();
                let file = there.unwrap_or_else(|| self.made(0));
                if mode.create && there.is_none() {
                    self.named[name] = Some(file);
                }
                if mode.truncate {
                    self.lengths[file] = 0;
                }
                self.open.insert((stream, open.0), Opened { file, position: 0, appends: mode.append });
                0
            }
            Action::Close(open) => {
                self.open.remove(&(stream, open.0));
                0
            }
            Action::Read(open, bytes) => self.moves((stream, open.0), false, None, bytes),
            Action::ReadAt(open, offset, bytes) => self.moves((stream, open.0), false, Some(offset), bytes),
            Action::Write(open, bytes) => self.moves((stream, open.0), true, None, bytes),
            Action::WriteAt(open, offset, bytes) => self.moves((stream, open.0), true, Some(offset), bytes),
            Action::Truncate(open, length) => {
                if let Some(opened) = self.open.get(&(stream, open.0)) {
                    self.lengths[opened.file] = length;
                }
                0
            }
            Action::Unlink(name) => {
                self.named[name] = None;
                0
            }
            Action::Rename(from, to) => {
                self.named[to] = self.named[from].take();
                0
            }
            Action::Link(from, to) => {
                self.named[to] = self.named[from];
                0
            }
            _ => 0,
        }
    }

    /// A transfer, at the position of the open file if there is no `offset`.
    fn moves(&mut self, open: (usize, u32), writes: bool, offset: Option<u64>, bytes: u64) -> u64 {
        let Some(opened) = self.open.get_mut(&open) else { return 0 };
        let length = &mut self.lengths[opened.file];
        let begin = if writes && opened.appends { *length } else { offset.unwrap_or(opened.position) };
        let moved = if writes { bytes } else { bytes.min(length.saturating_sub(begin)) };
        let end = begin.saturating_add(moved);
        if writes {
            *length = end.max(*length);
        }
        if offset.is_none() {
            opened.position = end;
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule;
    use iotrail_replay::{Expected, OpenMode, OpenNumber, Program, ScratchFile};

    #[test]
    fn a_read_ends_where_the_file_does_by_then() {
        let file = |name: &str, size| ScratchFile { name: name.to_owned(), size, directory: false };
        let mode = |create| OpenMode { read: true, write: true, create, ..OpenMode::default() };
        let open = |file, create| Action::Open { file, open: OpenNumber(0), mode: mode(create) };
        let number = OpenNumber(0);
        let stream = |actions: &[Action]| -> Vec<Operation> {
            actions
                .iter()
                .map(|action| Operation { think_ns: 10, action: *action, expected: Expected::Success })
                .collect()
        };
        let streams = vec![
            stream(&[
                open(0, false),
                Action::Read(number, 60),
                Action::Read(number, 60),
                Action::Read(number, 60),
                Action::ReadAt(number, 90, 5),
                Action::Truncate(number, 20),
                Action::ReadAt(number, 15, 60),
            ]),
            stream(&[open(1, true), Action::Write(number, 7), Action::Rename(1, 2), Action::Close(number)]),
            stream(&[
                Action::Stat(0),
                Action::Stat(0),
                Action::Stat(0),
                open(2, false),
                Action::Read(number, 60),
            ]),
        ];
        let files = vec![file("a", Some(100)), file("b", None), file("c", None)];
        let durations = streams.iter().map(|stream| vec![0; stream.len()]).collect();
        let planned = Planned { program: Program { files, streams, ..Program::default() }, durations };
        let bytes = returned(&planned, &schedule(&planned));
        assert_eq!(bytes, [vec![0, 60, 40, 0, 5, 0, 5], vec![0, 7, 0, 0], vec![0, 0, 0, 0, 7]]);
    }
}
