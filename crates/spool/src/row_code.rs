//! Process rows and file facts as bytes.
//!
//! A row may end early: fields that a later version of this crate appends are unknown to rows of earlier ones.

use iotrail_model::varint::{Cursor, put, put_bytes, put_signed};
use iotrail_model::{
    CaseId, FileFacts, FileId, FileKind, NamedFile, Nanos, Nullable, Pid, Process, Timestamp, Usage,
};

/// Appends a process row. Texts are cut where the row would grow beyond `limit` bytes; answers whether one was.
pub(crate) fn put_process(out: &mut Vec<u8>, process: &Process, limit: usize) -> bool {
    let Process {
        case,
        pid,
        ppid,
        start,
        end,
        exit_code,
        signal,
        exe,
        cmdline,
        cmdline_cut,
        cwd,
        threads,
        usage,
        bytes_read,
        bytes_written,
        env,
    } = process;
    put(out, u64::from(case.0));
    put(out, u64::from(pid.0));
    put(out, u64::from(*threads));
    put_signed(out, *bytes_read);
    put_signed(out, *bytes_written);
    put_number(out, ppid.map(|pid| i64::from(pid.0)));
    put_number(out, start.map(|time| time.0));
    // The end lies near the start.
    put_number(out, end.map(|time| time.0.wrapping_sub(start.map_or(0, |start| start.0))));
    put_number(out, exit_code.map(i64::from));
    put_usage(out, usage);
    let mut is_cut = false;
    for text in [signal, exe, cwd] {
        is_cut |= put_text(out, text.as_deref(), limit / 8);
    }
    let line_is_cut = put_text(out, cmdline.as_deref(), limit / 4);
    let fitting = fitting(env, limit / 4);
    put(out, fitting.len() as u64);
    fitting.iter().for_each(|variable| put_bytes(out, variable.as_bytes()));
    put_number(out, if line_is_cut { Some(1) } else { cmdline_cut.map(i64::from) });
    is_cut | line_is_cut | (fitting.len() < env.len())
}

/// The first variables that fit into `room` bytes together.
fn fitting(env: &[String], mut room: usize) -> &[String] {
    let fits = |variable: &String| {
        let bytes = variable.len() + 4;
        let fits = bytes <= room;
        room = room.saturating_sub(bytes);
        fits
    };
    let count = env.iter().map(fits).take_while(|fits| *fits).count();
    &env[..count]
}

/// The process row that [`put_process`] wrote.
pub(crate) fn read_process(from: &mut Cursor<'_>) -> Option<Process> {
    let case = CaseId(from.small()?);
    let pid = Pid(from.small()?);
    let threads = from.small()?;
    let (bytes_read, bytes_written) = (from.signed()?, from.signed()?);
    let ppid = match read_number(from)? {
        Some(ppid) => Some(Pid(ppid.try_into().ok()?)),
        None => None,
    };
    let start = read_number(from)?;
    let end = read_number(from)?.map(|apart| apart.wrapping_add(start.unwrap_or(0)));
    let exit_code = match read_number(from)? {
        Some(code) => Some(code.try_into().ok()?),
        None => None,
    };
    let usage = read_usage(from)?;
    let (signal, exe, cwd) = (read_text(from)?, read_text(from)?, read_text(from)?);
    let cmdline = read_text(from)?;
    let mut env = Vec::new();
    for _ in 0..from.number()? {
        env.push(text(from.bytes()?));
    }
    let cmdline_cut = read_number(from).flatten().map(|cut| cut != 0);
    Some(Process {
        case,
        pid,
        ppid,
        start: start.map(Timestamp),
        end: end.map(Timestamp),
        exit_code,
        signal,
        exe,
        cmdline,
        cmdline_cut,
        cwd,
        threads,
        usage,
        bytes_read,
        bytes_written,
        env,
    })
}

fn put_usage(out: &mut Vec<u8>, usage: &Usage) {
    let Usage {
        user,
        system,
        minor_faults,
        major_faults,
        max_memory,
        storage_read,
        storage_written,
        voluntary_switches,
        involuntary_switches,
        io_delay,
    } = usage;
    for span in [user, system, io_delay] {
        put_number(out, span.map(|span| span.0));
    }
    for count in [
        minor_faults,
        major_faults,
        max_memory,
        storage_read,
        storage_written,
        voluntary_switches,
        involuntary_switches,
    ] {
        put_number(out, count.map(|count| count as i64));
    }
}

fn read_usage(from: &mut Cursor<'_>) -> Option<Usage> {
    let mut span = || Some(read_number(from)?.map(Nanos));
    let (user, system, io_delay) = (span()?, span()?, span()?);
    let mut count = || Some(read_number(from)?.map(|count| count as u64));
    Some(Usage {
        user,
        system,
        io_delay,
        minor_faults: count()?,
        major_faults: count()?,
        max_memory: count()?,
        storage_read: count()?,
        storage_written: count()?,
        voluntary_switches: count()?,
        involuntary_switches: count()?,
    })
}

/// A number or NULL: whether there is one, then the number.
fn put_number(out: &mut Vec<u8>, number: Option<i64>) {
    out.push(u8::from(number.is_some()));
    if let Some(number) = number {
        put_signed(out, number);
    }
}

fn read_number(from: &mut Cursor<'_>) -> Option<Option<i64>> {
    Some(match from.byte()? {
        0 => None,
        _ => Some(from.signed()?),
    })
}

/// Appends a text or NULL; answers whether the text was longer than `limit` bytes and cut.
fn put_text(out: &mut Vec<u8>, text: Option<&str>, limit: usize) -> bool {
    out.push(u8::from(text.is_some()));
    let Some(text) = text else { return false };
    put_bytes(out, &text.as_bytes()[..text.floor_char_boundary(limit)]);
    text.len() > limit
}

fn read_text(from: &mut Cursor<'_>) -> Option<Option<String>> {
    Some(match from.byte()? {
        0 => None,
        _ => Some(text(from.bytes()?)),
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Device, inode and birth of the last facts in the block: files of one directory tree lie on one device, often in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastFile {
    device: u64,
    inode: u64,
    birth: i64,
}

/// Bits of the byte that each name of a file has; the kind comes behind them.
mod bits {
    pub(super) const SAME_DEVICE: u8 = 1;
    pub(super) const SIZE: u8 = 2;
    pub(super) const FACTS: u8 = 4;
    pub(super) const BIRTH: u8 = 8;
    /// How many bits these are.
    pub(super) const COUNT: u32 = 4;
}

/// Appends what is known of the file named `path`.
pub(crate) fn put_named(out: &mut Vec<u8>, path: u32, named: &NamedFile, last: &mut LastFile) {
    put(out, u64::from(path));
    let file = named.file.get().map_or(0, |file| u64::from(file.0) + 1);
    put(out, file << 1 | u64::from(named.gone));
    let known = named.facts.map_or(named.kind, |facts| facts.kind);
    let kind = known.map_or(0, |kind| kind as u8 + 1);
    let Some(facts) = &named.facts else { return out.push(kind << bits::COUNT) };
    let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    let same = facts.device == last.device;
    out.push(
        kind << bits::COUNT
            | bits::FACTS
            | bit(facts.size.is_some(), bits::SIZE)
            | bit(facts.birth.is_some(), bits::BIRTH)
            | bit(same, bits::SAME_DEVICE),
    );
    if !same {
        put(out, facts.device);
    }
    put_signed(out, facts.inode.wrapping_sub(last.inode) as i64);
    if let Some(size) = facts.size {
        put_signed(out, size);
    }
    if let Some(birth) = facts.birth {
        put_signed(out, birth.wrapping_sub(last.birth));
    }
    *last = LastFile { device: facts.device, inode: facts.inode, birth: facts.birth.unwrap_or(last.birth) };
}

/// The path and what [`put_named`] wrote.
pub(crate) fn read_named(from: &mut Cursor<'_>, last: &mut LastFile) -> Option<(u32, NamedFile)> {
    let path = from.small()?;
    let number = from.number()?;
    let file = match number >> 1 {
        0 => Nullable::NULL,
        file => Nullable::some(FileId(u32::try_from(file - 1).ok()?)),
    };
    let found = from.byte()?;
    let kind = match usize::from(found >> bits::COUNT) {
        0 => None,
        kind => Some(*FileKind::ALL.get(kind - 1)?),
    };
    let mut named = NamedFile { file, gone: number & 1 == 1, facts: None, kind };
    if found & bits::FACTS == 0 {
        return Some((path, named));
    }
    named.kind = None;
    let device = if found & bits::SAME_DEVICE != 0 { last.device } else { from.number()? };
    let inode = last.inode.wrapping_add(from.signed()? as u64);
    let size = if found & bits::SIZE != 0 { Some(from.signed()?) } else { None };
    let birth = match found & bits::BIRTH {
        0 => None,
        _ => Some(last.birth.wrapping_add(from.signed()?)),
    };
    *last = LastFile { device, inode, birth: birth.unwrap_or(last.birth) };
    named.facts = Some(FileFacts { device, inode, size, kind, birth });
    Some((path, named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn process_rows_round_trip(process in samples::process()) {
            let mut out = Vec::new();
            prop_assert!(!put_process(&mut out, &process, 1 << 16));
            prop_assert_eq!(read_process(&mut Cursor(&out)), Some(process));
        }

        #[test]
        fn facts_round_trip(facts in prop::collection::vec(samples::named(), 0..8)) {
            let (mut writing, mut reading) = (LastFile::default(), LastFile::default());
            for (path, facts) in facts.iter().enumerate() {
                let mut out = Vec::new();
                put_named(&mut out, path as u32, facts, &mut writing);
                prop_assert_eq!(read_named(&mut Cursor(&out), &mut reading), Some((path as u32, *facts)));
            }
        }

        #[test]
        fn any_bytes_are_a_row_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_process(&mut Cursor(&bytes));
            let _ = read_named(&mut Cursor(&bytes), &mut LastFile::default());
        }
    }

    #[test]
    fn kinds_are_numbered_as_they_are_listed() {
        for (number, kind) in FileKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
        }
    }

    #[test]
    fn a_row_never_grows_beyond_its_limit() {
        let long = || Some("é".repeat(1 << 20));
        let process = Process {
            exe: long(),
            cwd: long(),
            signal: long(),
            cmdline: long(),
            env: vec!["X=1".repeat(100); 10_000],
            ..Process::default()
        };
        let mut out = Vec::new();
        assert!(put_process(&mut out, &process, 1 << 16), "it says that it cut");
        assert!(out.len() <= 1 << 16, "{}", out.len());
        let read = read_process(&mut Cursor(&out)).unwrap();
        assert!(read.cmdline.unwrap().len() > 16_000);
        assert_eq!(read.cmdline_cut, Some(true));
    }
}
