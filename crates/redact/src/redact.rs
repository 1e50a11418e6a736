//! From a trail to its copy.

use crate::coverage;
use crate::error::RedactError;
use crate::words::Words;
use iotrail_model::{
    Case, CaseName, Dictionaries, Event, FileFacts, FileKind, FileRow, Names, Nullable, PathId, Process,
};
use iotrail_trail::{Capture, Columns, CreateOptions, EventLog, PartWriter, Totals, TrailWriter};
use serde::Serialize;
use std::collections::HashSet;
use std::path::Path;

/// How a copy is made.
#[derive(Clone, Debug)]
pub struct RedactOptions {
    /// How texts are replaced.
    pub words: Words,
    /// Replace a trail that is there already.
    pub overwrite: bool,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Redacted {
    /// Events copied: all.
    pub events: u64,
    /// Distinct paths.
    pub paths: u64,
    /// Paths that got another name.
    pub renamed: u64,
    /// Paths that became the same as another by a rule: what is known of them is joined.
    pub joined: u64,
    /// Processes copied.
    pub processes: u64,
}

/// Writes a copy of `log` to `target`; `step` is told the number of events after each row group.
///
/// # Errors
/// If a trail cannot be read or written.
pub fn redact(
    log: &EventLog,
    target: &Path,
    options: &RedactOptions,
    mut step: impl FnMut(u64),
) -> Result<Redacted, RedactError> {
    let processes = log.processes()?;
    let programs = processes.iter().filter_map(|process| process.exe.as_deref());
    let words = &options.words.clone().with_programs(programs);
    let writer = TrailWriter::create(target, CreateOptions { overwrite: options.overwrite })?;
    let mut part = writer.part()?;
    let (names, mut redacted) = Translation::new(log.names(), words);
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, Columns::ALL)?;
        for row in 0..batch.len {
            part.push(&names.event(batch.event(row)), &names.dictionaries)?;
        }
        redacted.events += batch.len as u64;
        step(redacted.events);
    }
    for process in processes {
        part.push_process(&of_process(process, words))?;
        redacted.processes += 1;
    }
    files(log, words, &mut part)?;
    let summary = part.finish(&names.dictionaries)?;
    let cases: Vec<Case> = log.cases().iter().map(|case| of_case(case, words)).collect();
    let coverage = coverage::redacted(&log.coverage(), words);
    let _: Totals = writer.finish(&cases, vec![summary], of_capture(log, words), &coverage)?;
    Ok(redacted)
}

/// From the log's ids to those of the copy.
struct Translation {
    dictionaries: Dictionaries,
    calls: Vec<u32>,
    paths: Vec<u32>,
    errnos: Vec<u32>,
    flags: Vec<u32>,
}

impl Translation {
    fn new(names: &Names, words: &Words) -> (Self, Redacted) {
        let mut dictionaries = Dictionaries::default();
        let mut redacted = Redacted { paths: names.paths.len() as u64, ..Redacted::default() };
        let mut seen = HashSet::new();
        let paths = names.paths.iter().map(|path| {
            let new = words.path(path);
            redacted.renamed += u64::from(new != **path);
            let id = dictionaries.paths.intern(&iotrail_model::text::text_to_path(&new));
            redacted.joined += u64::from(!seen.insert(id));
            id
        });
        let paths = paths.collect();
        let calls = names.calls.iter().map(|name| dictionaries.calls.intern(name.as_bytes())).collect();
        let errnos = names.errnos.iter().map(|name| dictionaries.errnos.intern(name.as_bytes())).collect();
        let flags = names.flags.iter().map(|text| {
            let text = if is_symbols(text) { (**text).to_owned() } else { words.text(text) };
            dictionaries.flags.intern(text.as_bytes())
        });
        let flags = flags.collect();
        (Self { dictionaries, calls, paths, errnos, flags }, redacted)
    }

    fn event(&self, mut event: Event) -> Event {
        let path = |id: Nullable<PathId>| id.get().map(|id| PathId(self.paths[id.index()])).into();
        event.call.0 = self.calls[event.call.index()];
        event.path = path(event.path);
        event.path2 = path(event.path2);
        event.errno = event.errno.get().map(|id| iotrail_model::ErrnoId(self.errnos[id.index()])).into();
        event.flags = event.flags.get().map(|id| iotrail_model::FlagsId(self.flags[id.index()])).into();
        event
    }
}

/// Flags are symbols and numbers; whatever else stands there may be a name.
fn is_symbols(text: &str) -> bool {
    let symbol = |byte: u8| {
        byte.is_ascii_uppercase()
            || byte.is_ascii_digit()
            || matches!(byte, b'_' | b'|' | b'~' | b'x' | b'<' | b' ')
    };
    text.bytes().all(symbol)
        || text.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn of_case(case: &Case, words: &Words) -> Case {
    let name = &case.name;
    Case {
        name: CaseName {
            cid: name.cid.as_deref().map(|cid| words.word(cid)),
            host: name.host.as_deref().map(|host| words.host(host)),
            rid: name.rid.as_deref().map(|rid| words.text(rid)),
        },
        label: case.label.as_deref().map(|label| words.text(label)),
        source: words.path(&case.source),
        ..case.clone()
    }
}

fn of_process(process: Process, words: &Words) -> Process {
    Process {
        exe: process.exe.as_deref().map(|exe| words.path(exe)),
        cmdline: process.cmdline.as_deref().map(|line| words.command(line)),
        cwd: process.cwd.as_deref().map(|cwd| words.path(cwd)),
        env: process.env.iter().map(|entry| words.variable(entry)).collect(),
        ..process
    }
}

/// What is known of files; kinds that only the name told are told by it again.
fn files(log: &EventLog, words: &Words, part: &mut PartWriter) -> Result<(), RedactError> {
    for row in log.files() {
        if let Some(facts) = facts(row) {
            let path = words.path(&row.path);
            part.push_file(&iotrail_model::text::text_to_path(&path), &facts)?;
        }
    }
    Ok(())
}

fn facts(row: &FileRow) -> Option<FileFacts> {
    let kind = FileKind::ALL.into_iter().find(|kind| row.kind.as_deref() == Some(kind.name()));
    Some(FileFacts { device: row.device?, inode: row.inode?, size: row.size, kind })
}

/// How the first trail was captured, without names.
fn of_capture(log: &EventLog, words: &Words) -> Capture {
    let Some(trail) = log.trails().first() else { return Capture::default() };
    let capture = &trail.meta().capture;
    Capture {
        source: capture.source.clone(),
        command: capture.command.as_deref().map(|line| words.sentence(line)),
        host: capture.host.as_deref().map(|host| words.host(host)),
        inputs: capture.inputs.iter().map(|input| words.path(input)).collect(),
        details: capture.details.iter().map(|(name, text)| (name.clone(), words.text(text))).collect(),
    }
}
