//! Perfetto trace: processes, threads and calls as tracks, for ui.perfetto.dev and the trace processor.
//!
//! The format is a stream of `TracePacket`s (Perfetto's `trace_packet.proto`, `track_event.proto`). A process is a track with
//! a slice for each image, a thread is a track with a slice for each call; calls of one thread that overlap (io_uring, aio)
//! go to further tracks beneath it, since slices of one track must nest. Names are interned. Numbers of processes and threads
//! that occur twice (used again, or on another host) are replaced by free ones, because a trace knows each number once.

use crate::error::ExportError;
use crate::perfetto_messages::{
    DebugAnnotation, InternedData, InternedString, ProcessDescriptor, SliceKind, ThreadDescriptor,
    TracePacket, TrackDescriptor, TrackEvent,
};
use iotrail_model::{Case, CaseId, EventBatch, Nullable, PathId, Tid, Timestamp};
use iotrail_query::preset::base;
use iotrail_query::{ProcessId, ProcessTable};
use iotrail_trail::{Columns, EventLog};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};

/// All packets are of one sequence, within which interned names hold.
const SEQUENCE: u32 = 1;
const INCREMENTAL_STATE_CLEARED: u32 = 1;
const NEEDS_INCREMENTAL_STATE: u32 = 2;

const COLUMNS: Columns = Columns::CASE
    .union(Columns::PID)
    .union(Columns::TID)
    .union(Columns::LAYER)
    .union(Columns::CALL)
    .union(Columns::START)
    .union(Columns::DUR)
    .union(Columns::FD)
    .union(Columns::PATH)
    .union(Columns::PATH2)
    .union(Columns::OFFSET)
    .union(Columns::REQUESTED)
    .union(Columns::SIZE)
    .union(Columns::ERRNO)
    .union(Columns::FLAGS);

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Written {
    /// Slices and instants of calls: one for each event.
    pub events: u64,
    /// Process tracks.
    pub processes: u64,
    /// Thread tracks.
    pub threads: u64,
    /// Calls whose end was not seen: instants.
    pub unfinished: u64,
    /// Calls on further tracks, because they overlap another of their thread.
    pub overlapping: u64,
}

/// Writes the whole log; `step` is told the number of events after each row group.
///
/// # Errors
/// If the log cannot be read or `out` cannot be written to.
pub fn write(
    log: &EventLog,
    processes: &ProcessTable,
    out: &mut dyn Write,
    mut step: impl FnMut(u64),
) -> Result<Written, ExportError> {
    if !log.cases().iter().all(Case::has_times) {
        return Err(ExportError::CannotHold {
            format: "perfetto",
            why: "a trace in it has no time stamps, and tracks are calls over time; trace with strace -ttt"
                .to_owned(),
        });
    }
    if !log.cases().iter().all(Case::times_calls) {
        return Err(ExportError::CannotHold {
            format: "perfetto",
            why: "the time stamps of a trace in it are too coarse to place single calls; trace with strace -ttt"
                .to_owned(),
        });
    }
    let mut writer = Writer::new(log, processes, out);
    writer.begin()?;
    writer.processes()?;
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, COLUMNS)?;
        for row in 0..batch.len {
            writer.call(&batch, row)?;
        }
        step(writer.written.events);
    }
    Ok(writer.written)
}

/// What is interned, each kind with numbers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Category,
    Event,
    AnnotationName,
    AnnotationValue,
}

/// A thread with its tracks: the time until which each is taken.
#[derive(Debug)]
struct Thread {
    tracks: Vec<(u64, i64)>,
}

struct Writer<'a> {
    log: &'a EventLog,
    processes: &'a ProcessTable,
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
    /// Names that the next packet introduces.
    fresh: InternedData,
    names: HashMap<(Kind, &'a str), u64>,
    counts: [u64; 4],
    threads: HashMap<(CaseId, Option<ProcessId>, Tid), Thread>,
    /// By process: the number under which the trace knows it.
    numbers: Vec<i32>,
    taken: HashSet<i32>,
    next_free: i32,
    tracks: u64,
    /// Processes that are not in the table, by case and number.
    unknown_processes: BTreeMap<(CaseId, u32), (u64, i32)>,
    written: Written,
}

impl<'a> Writer<'a> {
    fn new(log: &'a EventLog, processes: &'a ProcessTable, out: &'a mut dyn Write) -> Self {
        Self {
            log,
            processes,
            out,
            buffer: Vec::new(),
            fresh: InternedData::default(),
            names: HashMap::new(),
            counts: [0; 4],
            threads: HashMap::new(),
            numbers: Vec::new(),
            taken: HashSet::new(),
            next_free: 1 << 22,
            tracks: processes.all().len() as u64 + 1,
            unknown_processes: BTreeMap::new(),
            written: Written::default(),
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        let flags = INCREMENTAL_STATE_CLEARED | NEEDS_INCREMENTAL_STATE;
        self.packet(TracePacket { sequence_flags: Some(flags), ..TracePacket::default() })
    }

    /// A number that no other process or thread of the trace has: its own if that is free.
    fn number(&mut self, own: u32) -> i32 {
        let own = i32::try_from(own).unwrap_or(i32::MAX);
        if self.taken.insert(own) {
            return own;
        }
        while !self.taken.insert(self.next_free) {
            self.next_free += 1;
        }
        self.next_free
    }

    /// A track for each process, with a slice for each image.
    fn processes(&mut self) -> io::Result<()> {
        for index in 0..self.processes.all().len() {
            let id = ProcessId(index as u32);
            let (process, last) = (self.processes.get(id), self.processes.last_image(id));
            let pid = self.number(process.pid.0);
            self.numbers.push(pid);
            let words = last.cmdline.as_deref().unwrap_or_default().trim_end_matches('\0');
            let host = self.log.cases()[process.case.index()].name.host.clone();
            let name =
                last.exe.as_deref().map_or_else(|| process.pid.to_string(), |exe| base(exe).to_owned());
            let process = ProcessDescriptor {
                pid: Some(pid),
                cmdline: words.split('\0').map(str::to_owned).collect(),
                process_name: Some(host.map_or_else(|| name.clone(), |host| format!("{name} ({host})"))),
            };
            let track =
                TrackDescriptor { uuid: Some(track_of(id)), process: Some(process), ..Default::default() };
            self.packet(TracePacket { track_descriptor: Some(track), ..TracePacket::default() })?;
            self.written.processes += 1;
            self.images(id)?;
        }
        Ok(())
    }

    fn images(&mut self, id: ProcessId) -> io::Result<()> {
        let processes = self.processes;
        for image in processes.images(id) {
            let Some(start) = image.start else { continue };
            let name = self.intern(Kind::Event, image.exe.as_deref().map_or("process", base));
            let category = self.intern(Kind::Category, "process");
            self.slice(track_of(id), start, image.end, name, category, Vec::new())?;
        }
        Ok(())
    }

    fn call(&mut self, batch: &EventBatch, row: usize) -> io::Result<()> {
        let log = self.log;
        let event = batch.event(row);
        let end = event.dur.get().map(|dur| event.start + dur);
        let track = self.track(event.case, event.pid.0, event.tid, event.start, end)?;
        let names = log.names();
        let name = self.intern(Kind::Event, names.call(event.call));
        let category = self.intern(Kind::Category, event.layer.name());
        let mut notes = Vec::new();
        let path = |id: Nullable<PathId>| names.path(id);
        let texts = [
            ("path", path(event.path)),
            ("path2", path(event.path2)),
            ("errno", names.errno(event.errno)),
            ("flags", names.flags(event.flags)),
        ];
        for (note, text) in texts {
            if let Some(text) = text {
                let value = self.intern(Kind::AnnotationValue, text);
                notes.push(DebugAnnotation {
                    name_iid: Some(self.intern(Kind::AnnotationName, note)),
                    string_value_iid: Some(value),
                    int_value: None,
                });
            }
        }
        let figures = [
            ("fd", event.fd.get().map(i64::from)),
            ("offset", event.offset.get()),
            ("requested", event.requested.get()),
            ("size", event.size.get()),
        ];
        for (note, figure) in figures {
            if let Some(figure) = figure {
                notes.push(DebugAnnotation {
                    name_iid: Some(self.intern(Kind::AnnotationName, note)),
                    string_value_iid: None,
                    int_value: Some(figure),
                });
            }
        }
        self.written.events += 1;
        self.written.unfinished += u64::from(end.is_none());
        self.slice(track, event.start, end, name, category, notes)
    }

    /// A slice, or an instant if its end is unknown.
    fn slice(
        &mut self,
        track: u64,
        start: Timestamp,
        end: Option<Timestamp>,
        name: u64,
        category: u64,
        notes: Vec<DebugAnnotation>,
    ) -> io::Result<()> {
        let kind = if end.is_some() { SliceKind::Begin } else { SliceKind::Instant };
        let begin = TrackEvent {
            category_iids: vec![category],
            debug_annotations: notes,
            kind: Some(kind as i32),
            name_iid: Some(name),
            track_uuid: Some(track),
        };
        self.event(start, begin)?;
        let Some(end) = end else { return Ok(()) };
        let finish = TrackEvent {
            kind: Some(SliceKind::End as i32),
            track_uuid: Some(track),
            ..TrackEvent::default()
        };
        self.event(end, finish)
    }

    fn event(&mut self, at: Timestamp, event: TrackEvent) -> io::Result<()> {
        self.packet(TracePacket {
            timestamp: Some(u64::try_from(at.0).unwrap_or(0)),
            sequence_flags: Some(NEEDS_INCREMENTAL_STATE),
            track_event: Some(event),
            ..TracePacket::default()
        })
    }

    /// The track of a thread that is free from `start` on.
    fn track(
        &mut self,
        case: CaseId,
        pid: u32,
        tid: Tid,
        start: Timestamp,
        end: Option<Timestamp>,
    ) -> io::Result<u64> {
        let process = self.processes.find(case, iotrail_model::Pid(pid), start);
        let key = (case, process, tid);
        let until = end.unwrap_or(start).0;
        if let Some(thread) = self.threads.get_mut(&key) {
            if let Some(index) = thread.tracks.iter().position(|(_, taken)| *taken <= start.0) {
                thread.tracks[index].1 = until;
                self.written.overlapping += u64::from(index > 0);
                return Ok(thread.tracks[index].0);
            }
            let (parent, number) = (thread.tracks[0].0, thread.tracks.len());
            self.tracks += 1;
            let uuid = self.tracks;
            thread.tracks.push((uuid, until));
            self.written.overlapping += 1;
            let track = TrackDescriptor {
                uuid: Some(uuid),
                parent_uuid: Some(parent),
                name: Some(format!("overlapping calls {number}")),
                ..TrackDescriptor::default()
            };
            self.packet(TracePacket { track_descriptor: Some(track), ..TracePacket::default() })?;
            return Ok(uuid);
        }
        let (parent, pid_number) = match process {
            Some(process) => (track_of(process), self.numbers[process.index()]),
            None => self.unknown_process(case, pid)?,
        };
        // The main thread has the number of its process.
        let number = if tid.0 == pid { pid_number } else { self.number(tid.0) };
        self.tracks += 1;
        let uuid = self.tracks;
        let thread = ThreadDescriptor {
            pid: Some(pid_number),
            tid: Some(number),
            thread_name: Some(format!("thread {tid}")),
        };
        let track = TrackDescriptor {
            uuid: Some(uuid),
            parent_uuid: Some(parent),
            thread: Some(thread),
            ..TrackDescriptor::default()
        };
        self.packet(TracePacket { track_descriptor: Some(track), ..TracePacket::default() })?;
        self.threads.insert(key, Thread { tracks: vec![(uuid, until)] });
        self.written.threads += 1;
        Ok(uuid)
    }

    /// The track of a process that made calls and is not in the table.
    fn unknown_process(&mut self, case: CaseId, pid: u32) -> io::Result<(u64, i32)> {
        if let Some(known) = self.unknown_processes.get(&(case, pid)) {
            return Ok(*known);
        }
        self.tracks += 1;
        let known = (self.tracks, self.number(pid));
        let process = ProcessDescriptor {
            pid: Some(known.1),
            process_name: Some(format!("process {pid}")),
            ..ProcessDescriptor::default()
        };
        let track = TrackDescriptor { uuid: Some(known.0), process: Some(process), ..Default::default() };
        self.packet(TracePacket { track_descriptor: Some(track), ..TracePacket::default() })?;
        self.unknown_processes.insert((case, pid), known);
        self.written.processes += 1;
        Ok(known)
    }

    /// The number of a name, which the next packet introduces if it is new.
    fn intern(&mut self, kind: Kind, name: &'a str) -> u64 {
        let count = &mut self.counts[kind as usize];
        *self.names.entry((kind, name)).or_insert_with(|| {
            *count += 1;
            let entry = InternedString { iid: Some(*count), text: Some(name.as_bytes().to_vec()) };
            match kind {
                Kind::Category => self.fresh.event_categories.push(entry),
                Kind::Event => self.fresh.event_names.push(entry),
                Kind::AnnotationName => self.fresh.debug_annotation_names.push(entry),
                Kind::AnnotationValue => self.fresh.debug_annotation_string_values.push(entry),
            }
            *count
        })
    }

    /// Writes one packet: field 1 of the message `Trace`.
    fn packet(&mut self, mut packet: TracePacket) -> io::Result<()> {
        packet.trusted_packet_sequence_id = Some(SEQUENCE);
        if packet.track_event.is_some() && !self.fresh.is_empty() {
            packet.interned_data = Some(std::mem::take(&mut self.fresh));
        }
        self.buffer.clear();
        prost::encoding::message::encode(1, &packet, &mut self.buffer);
        self.out.write_all(&self.buffer)
    }
}

/// Tracks of processes are numbered like the processes of the log, from 1.
const fn track_of(process: ProcessId) -> u64 {
    process.0 as u64 + 1
}
