//! Event logs in memory, for tests of what reads logs.

use crate::counters::{Counters, NamedCounters};
use crate::error::TrailError;
use crate::log::EventLog;
use crate::meta::{Capture, FORMAT, FORMAT_VERSION, TimeBase, TrailMeta};
use crate::name_index::NameIndex;
use crate::name_pairs::{NamePairs, of_key};
use crate::own_names::OwnNames;
use crate::part::file_row;
use crate::sites::Sites;
use crate::trail::Trail;
use crate::writer::{CreateOptions, TrailWriter};
use iotrail_model::text::path_to_text;
use iotrail_model::{
    CallId, Case, CaseId, CaseName, Coverage, Dictionaries, ErrnoId, Event, EventBatch, FileId, FileRow,
    FlagsId, NameKind, NamedFile, Nanos, Nullable, PathId, Pid, Process, Site, SiteId, Tid, Timestamp,
};
use std::collections::BTreeMap;
use std::path::Path;

/// Builds an [`EventLog`] in memory that reads like one from disk.
#[derive(Debug, Default)]
pub struct MemoryLog {
    cases: Vec<Case>,
    names: Dictionaries,
    events: Vec<Event>,
    processes: Vec<Process>,
    facts: BTreeMap<(String, Nullable<FileId>), NamedFile>,
    sites: Sites,
    coverage: Coverage,
    row_group_rows: usize,
}

impl MemoryLog {
    /// A log of these cases, whose ids must be their places.
    #[must_use]
    pub fn new(cases: Vec<Case>) -> Self {
        Self { cases, row_group_rows: 1 << 17, ..Self::default() }
    }

    /// Rows per row group, to test what happens at the boundaries.
    #[must_use]
    pub fn row_group_rows(mut self, rows: usize) -> Self {
        self.row_group_rows = rows.max(1);
        self
    }

    /// The coverage statement of the log.
    #[must_use]
    pub fn coverage(mut self, coverage: Coverage) -> Self {
        self.coverage = coverage;
        self
    }

    /// The dictionaries that pushed events refer to.
    pub fn names(&mut self) -> &mut Dictionaries {
        &mut self.names
    }

    /// The id of a call name.
    pub fn call(&mut self, name: &str) -> CallId {
        CallId(self.names.calls.intern(name.as_bytes()))
    }

    /// The id of a path.
    pub fn path(&mut self, path: &str) -> Nullable<PathId> {
        Nullable::some(PathId(self.names.paths.intern(path.as_bytes())))
    }

    /// The id of an error name.
    pub fn errno(&mut self, name: &str) -> Nullable<ErrnoId> {
        Nullable::some(ErrnoId(self.names.errnos.intern(name.as_bytes())))
    }

    /// The id of a text of flags.
    pub fn flags(&mut self, text: &str) -> Nullable<FlagsId> {
        Nullable::some(FlagsId(self.names.flags.intern(text.as_bytes())))
    }

    /// The id of a call site.
    pub fn site(&mut self, site: Site) -> Nullable<SiteId> {
        Nullable::some(self.sites.add(site))
    }

    /// Adds an event, in any order.
    pub fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Changes the events pushed so far.
    #[must_use]
    pub fn map_events(mut self, change: impl FnMut(&mut Event)) -> Self {
        self.events.iter_mut().for_each(change);
        self
    }

    /// Adds a process.
    pub fn push_process(&mut self, process: Process) {
        self.processes.push(process);
    }

    /// Adds what is known of a file; the latest facts of a path count.
    pub fn push_file(&mut self, path: &[u8], file: impl Into<NamedFile>) {
        let file = file.into();
        self.facts.insert((path_to_text(path).into_owned(), file.file), file);
    }

    /// The log, sorted.
    #[must_use]
    pub fn build(mut self) -> EventLog {
        self.events.sort_by_key(Event::sort_key);
        let mut own = OwnNames::default();
        for name in self.names.calls.iter() {
            own.calls.intern(&path_to_text(name));
        }
        let mut counters = Counters::default();
        let events: Vec<Event> = self.events.iter().map(|event| own.translate(event, &self.names)).collect();
        events.iter().for_each(|event| counters.count(event, &own));
        self.processes.iter().for_each(|process| counters.count_process(process));
        let batches = events.chunks(self.row_group_rows).map(EventBatch::from_events).collect();
        let mut pairs = NamePairs::default();
        for event in &events {
            pairs.note(event.path, event.file);
            pairs.note(event.path2, event.file2);
        }
        let names = index(&own);
        let files = rows(&own, &pairs, &self.facts);
        let mut total = NamedCounters::default();
        total.add(counters.named(&own));
        let meta = TrailMeta {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            capture: Capture { source: "memory".to_owned(), ..Capture::default() },
            time: TimeBase::default(),
            files: Vec::new(),
            totals: total.totals(self.cases.len()),
            coverage: self.coverage,
            recordings: Vec::new(),
            distinct_files: false,
            checksum: crate::seal::Checksum::default(),
        };
        EventLog::in_memory(
            Trail::in_memory(meta, self.cases),
            names,
            files,
            batches,
            (self.processes, self.sites),
        )
    }
}

fn index(own: &OwnNames) -> NameIndex {
    let mut names = NameIndex::new();
    for column in [NameKind::Call, NameKind::Errno, NameKind::Flags] {
        for text in own.column(column).iter() {
            names.add(column, String::from_utf8_lossy(text));
        }
    }
    names
}

/// The table `files`, in the order of the paths' ids.
fn rows(
    own: &OwnNames,
    pairs: &NamePairs,
    facts: &BTreeMap<(String, Nullable<FileId>), NamedFile>,
) -> Vec<FileRow> {
    let mut keys = pairs.keys(&own.paths);
    keys.sort();
    let mut rows = Vec::new();
    for text in own.paths.iter() {
        let first = keys.partition_point(|key| of_key(key).0 < text);
        for key in keys[first..].iter().take_while(|key| of_key(key).0 == text) {
            let file = of_key(key).1;
            let path = String::from_utf8_lossy(text).into_owned();
            let known = facts.get(&(path.clone(), file)).copied();
            rows.push(file_row(path.into(), &known.unwrap_or(NamedFile { file, ..NamedFile::default() })));
        }
    }
    rows
}

/// Writes a small trail of 40 events, two cases and three processes to `target`, for tests of readers.
///
/// # Errors
/// If it cannot be written.
pub fn small_trail(target: &Path) -> Result<(), TrailError> {
    let writer = TrailWriter::create(target, CreateOptions::default())?;
    let mut names = Dictionaries::default();
    let [read, open] = ["read", "openat"].map(|name| CallId(names.calls.intern(name.as_bytes())));
    let paths: Vec<PathId> =
        (0..5).map(|n| PathId(names.paths.intern(format!("/data/{n}").as_bytes()))).collect();
    let enoent = ErrnoId(names.errnos.intern(b"ENOENT"));
    let flags = FlagsId(names.flags.intern(b"O_RDONLY"));
    let mut part = writer.part()?;
    for row in 0..40_u64 {
        let mut event = Event {
            case: CaseId((row % 2) as u32),
            seq: row,
            pid: Pid(10 + (row % 3) as u32),
            tid: Tid(10 + (row % 3) as u32),
            call: open,
            start: Timestamp(1_000_000_000 + row as i64 * 1000),
            dur: Nullable::some(Nanos(500)),
            path: Nullable::some(paths[row as usize % paths.len()]),
            flags: Nullable::some(flags),
            ..Event::default()
        };
        match row % 4 {
            0 => (event.errno, event.ret) = (Nullable::some(enoent), Nullable::some(-1)),
            1 => event.ret = Nullable::some(3),
            _ => {
                event.call = read;
                event.flags = Nullable::NULL;
                (event.requested, event.size) = (Nullable::some(4096), Nullable::some(100));
                (event.ret, event.offset) = (Nullable::some(100), Nullable::some(row as i64 * 100));
            }
        }
        part.push(&event, &names)?;
    }
    for pid in 10..13 {
        let exe = Some("/usr/bin/cat".to_owned());
        part.push_process(&Process { pid: Pid(pid), exe, threads: 1, ..Process::default() })?;
    }
    let summary = part.finish(&names)?;
    let case = |id: u32| Case {
        id: CaseId(id),
        name: CaseName {
            cid: Some("a".to_owned()),
            host: Some("host1".to_owned()),
            rid: Some(id.to_string()),
        },
        source: format!("a_host1_{id}.st"),
        ..Case::default()
    };
    let capture = Capture { source: "strace".to_owned(), ..Capture::default() };
    writer.finish(&[case(0), case(1)], vec![summary], capture, &Coverage::default()).map(drop)
}
