//! Records that follow from their number, so that a reader can tell whether each is what was written.

use crate::{SpoolError, SpoolWriter, Visit};
use iotrail_model::{
    CallId, Coverage, Dictionaries, ErrnoId, Event, FileFacts, FileId, FileKind, FlagsId, NamedFile, Nanos,
    Nullable, PathId, Pid, Process, Tid, Timestamp, calls,
};

pub(crate) fn names() -> Dictionaries {
    let mut names = Dictionaries::default();
    names.flags.intern(b"O_RDONLY");
    names.errnos.intern(b"ENOENT");
    names
}

/// Long, and different from the one before, so that blocks fill soon.
fn path(number: u64) -> Vec<u8> {
    let mut path = format!("/{number:x}/").into_bytes();
    path.resize(300, b'a' + (number % 26) as u8);
    path.push(0xff);
    path
}

fn event(number: u64, path: u32) -> Event {
    let value = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64 >> (number % 60);
    Event {
        seq: number,
        pid: Pid(number as u32 / 7),
        tid: Tid(number as u32),
        call: CallId((number % 9) as u32),
        start: Timestamp(1_700_000_000_000_000_000 + number as i64 * 1000),
        dur: if number.is_multiple_of(11) { Nullable::NULL } else { Nullable::some(Nanos(value.max(0))) },
        fd: Nullable::some((number % 20) as i32),
        path: Nullable::some(PathId(path)),
        file: Nullable::some(FileId(path / 2)),
        offset: Nullable::some(value),
        requested: Nullable::some(4096),
        size: Nullable::some(value),
        ret: if number.is_multiple_of(5) { Nullable::some(-1) } else { Nullable::some(value) },
        errno: if number.is_multiple_of(5) { Nullable::some(ErrnoId(0)) } else { Nullable::NULL },
        flags: if number.is_multiple_of(3) { Nullable::some(FlagsId(0)) } else { Nullable::NULL },
        ..Event::default()
    }
}

fn process(number: u64) -> Process {
    Process {
        pid: Pid(number as u32),
        start: Some(Timestamp(number as i64)),
        // Some are longer than a block.
        cmdline: Some("x".repeat(if number.is_multiple_of(7) { 90_000 } else { 90 })),
        ..Process::default()
    }
}

fn facts(number: u64) -> FileFacts {
    FileFacts {
        device: number / 100,
        inode: number * 3,
        size: Some(number as i64),
        kind: Some(FileKind::File),
        birth: Some(number as i64 * 7),
    }
}

fn named(number: u64) -> NamedFile {
    NamedFile {
        file: Nullable::some(FileId(number as u32)),
        gone: number.is_multiple_of(4),
        facts: Some(facts(number)),
        kind: None,
    }
}

/// Writes record `number`.
pub(crate) fn write(
    writer: &mut SpoolWriter,
    number: u64,
    names: &mut Dictionaries,
) -> Result<(), SpoolError> {
    match number % 50 {
        10 => writer.process(&process(number)),
        20 => writer.image(&process(number)),
        30 => {
            let id = names.paths.intern(&path(number));
            writer.file(PathId(id), named(number), names)
        }
        40 => writer.coverage(&Coverage { lost: number, ..Coverage::default() }),
        _ => {
            let id = names.paths.intern(&path(number));
            writer.event(&event(number, id), names)
        }
    }
}

/// Checks that the records come one after another, as they were written.
#[derive(Debug, Default)]
pub(crate) struct SequenceCheck {
    /// The number of the next record.
    pub(crate) next: u64,
}

impl SequenceCheck {
    fn take(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }
}

impl Visit for SequenceCheck {
    type Error = SpoolError;

    fn event(&mut self, found: &Event, names: &Dictionaries) -> Result<(), SpoolError> {
        let number = self.take();
        let id = found.path.get().unwrap();
        assert_eq!(names.paths.get(id.0), path(number));
        let mut expected = event(number, id.0);
        assert!(found.errno.get().is_none_or(|id| names.errnos.get(id.0) == b"ENOENT"));
        assert!(found.flags.get().is_none_or(|id| names.flags.get(id.0) == b"O_RDONLY"));
        assert_eq!(names.calls.get(found.call.0), calls::TABLE[expected.call.index()].name.as_bytes());
        expected.call = found.call;
        assert_eq!(*found, expected);
        Ok(())
    }

    fn process(&mut self, found: Process) -> Result<(), SpoolError> {
        let number = self.take();
        assert_eq!((number % 50, found), (10, process(number)));
        Ok(())
    }

    fn image(&mut self, found: Process) -> Result<(), SpoolError> {
        let number = self.take();
        assert_eq!((number % 50, found), (20, process(number)));
        Ok(())
    }

    fn file(&mut self, name: &[u8], found: &NamedFile) -> Result<(), SpoolError> {
        let number = self.take();
        assert_eq!((number % 50, name, *found), (30, &path(number)[..], named(number)));
        Ok(())
    }

    fn coverage(&mut self, found: Coverage) -> Result<(), SpoolError> {
        let number = self.take();
        assert_eq!((number % 50, found.lost), (40, number));
        Ok(())
    }
}
