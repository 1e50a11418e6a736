//! One log, or its text, on the way to the trail.

use crate::binary;
use crate::header::Header;
use crate::line::{Line, Segment};
use crate::ranks::{Rank, Ranks};
use iotrail_import::{
    CasePattern, Ending, FileReport, Intake, Limits, PlannedFile, Rows, Text, TraceReader, lines,
};
use iotrail_model::{
    CallId, Case, CaseName, Clock, Coverage, Dictionaries, Event, Layer, Nanos, Note, Nullable, PathId,
    Process, Resolution,
};
use std::collections::BTreeSet;

/// Reads a log. False if no more is taken.
pub(crate) fn read(
    file: &PlannedFile,
    opened: Option<TraceReader>,
    intake: &mut Intake<'_, '_, Rows>,
) -> bool {
    let mut text = Text::new(file, Limits::LARGE, opened, intake.context);
    let mut log = Log::new(file, intake.names);
    if text.reader.window.unread().is_empty() {
        text.fill();
    }
    if binary::is_log(text.reader.window.unread()) {
        let mut bytes = Vec::new();
        while binary::collect(&mut text.reader.window, &mut bytes) && text.fill() {}
        // What cannot be read has no lines, and is told by that.
        let _ = binary::lines(&bytes, |line| log.line(line, intake));
        return log.finish(&text, intake);
    }
    while text.chunk(|text, ended| {
        let done = lines(text, ended, |line| log.line(line, intake));
        if ended && !text.is_empty() && text.last() != Some(&b'\n') {
            let last = text.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
            log.ending = Ending::without_line_end(last, log.coverage.lines.total, log.understood_last);
        }
        done
    }) && intake.to.goes_on()
    {}
    log.finish(&text, intake)
}

/// The transfers of a file by a rank.
#[derive(Debug, Default)]
struct Section {
    path: Nullable<PathId>,
    /// The place of the rank.
    rank: Option<usize>,
    /// How many transfers should come, and how many came.
    declared: u64,
    seen: u64,
}

/// See the [module](self).
struct Log<'a> {
    file: &'a PlannedFile,
    header: Header,
    ranks: Ranks,
    section: Section,
    calls: Calls,
    coverage: Coverage,
    /// The unit of its times.
    unit: Nanos,
    ending: Ending,
    understood_last: bool,
    /// The modules whose data came; a log without traces says so in their stead.
    modules: BTreeSet<String>,
    without_traces: bool,
}

/// The calls that stand for transfers. Which variant it was, Darshan does not keep.
struct Calls {
    posix: [CallId; 2],
    mpiio: [CallId; 2],
}

impl Calls {
    fn new(names: &mut Dictionaries) -> Self {
        let mut id = |name: &str| CallId(names.calls.intern(name.as_bytes()));
        Self { posix: [id("read"), id("write")], mpiio: [id("MPI_File_read"), id("MPI_File_write")] }
    }

    fn of(&self, segment: &Segment) -> CallId {
        let calls = if segment.layer == Layer::Mpiio { &self.mpiio } else { &self.posix };
        calls[usize::from(segment.writes)]
    }
}

impl<'a> Log<'a> {
    fn new(file: &'a PlannedFile, names: &mut Dictionaries) -> Self {
        Self {
            file,
            header: Header::default(),
            ranks: Ranks::default(),
            section: Section::default(),
            calls: Calls::new(names),
            coverage: Coverage::default(),
            unit: Nanos(0),
            ending: Ending::Whole,
            understood_last: true,
            modules: BTreeSet::new(),
            without_traces: false,
        }
    }

    fn line(&mut self, line: &[u8], intake: &mut Intake<'_, '_, Rows>) {
        self.coverage.lines.total += 1;
        let read = Line::read(line);
        self.understood_last = read != Line::Unknown;
        match read {
            Line::Segment(segment) => {
                self.coverage.lines.event += 1;
                self.transfer(&segment, intake);
            }
            Line::Job { key, value } => {
                self.header.take(key, value);
                self.coverage.count_noise("header");
            }
            Line::File(path) => {
                self.section_is_over();
                intake.to.pause(intake.names);
                let path = path.map(|path| PathId(intake.names.paths.intern(path)));
                self.section.path = path.into();
                self.coverage.count_noise("file");
            }
            Line::Rank { rank, host } => {
                let index = self.rank(rank, intake);
                let host = iotrail_model::text::path_to_text(host).into_owned();
                self.ranks.all[index].host.get_or_insert(host);
                self.coverage.count_noise("file");
            }
            Line::Counts(writes, reads) => {
                self.section.declared = writes.saturating_add(reads);
                self.coverage.count_noise("file");
            }
            Line::Incomplete(module) => {
                let module = String::from_utf8_lossy(module);
                self.coverage.note(Note::DxtModuleIncomplete { module: module.into_owned() });
                self.coverage.count_noise("warning");
            }
            Line::Module(module) => {
                self.modules.insert(String::from_utf8_lossy(module).into_owned());
                self.coverage.count_noise("comment");
            }
            Line::NoTraces => {
                self.without_traces = true;
                self.coverage.count_noise("comment");
            }
            Line::Known(kind) => self.coverage.count_noise(kind),
            Line::Unknown => {
                self.coverage.lines.unparsed += 1;
                let number = self.coverage.lines.total;
                self.coverage.keep_example(&self.file.file.name, number, line);
            }
        }
    }

    fn rank(&mut self, number: i64, intake: &Intake<'_, '_, Rows>) -> usize {
        let place = self.ranks.place(number, |nth| intake.context.case_id(self.file, nth));
        self.section.rank = Some(place);
        place
    }

    fn transfer(&mut self, segment: &Segment, intake: &mut Intake<'_, '_, Rows>) {
        let index = match self.section.rank {
            Some(index) if self.ranks.all[index].number == segment.rank => index,
            _ => self.rank(segment.rank, intake),
        };
        self.section.seen += 1;
        self.unit = self.unit.max(segment.unit);
        let (seq, tid) = self.ranks.count(index, segment);
        let rank = &self.ranks.all[index];
        let asked = segment.layer == Layer::Mpiio;
        let event = Event {
            case: rank.case,
            seq,
            pid: rank.pid,
            tid,
            layer: segment.layer,
            call: self.calls.of(segment),
            start: self.header.at(segment.start),
            dur: Some(Nanos(segment.end.0 - segment.start.0)).filter(|dur| dur.0 >= 0).into(),
            path: self.section.path,
            offset: segment.offset.into(),
            // Of a call of MPI-IO Darshan keeps what it asked for, of a POSIX call what it returned.
            requested: Some(segment.length).filter(|_| asked).into(),
            size: Nullable::some(segment.length),
            ret: Some(segment.length).filter(|_| !asked).into(),
            ..Event::default()
        };
        intake.to.add_event(&event, intake.names);
    }

    /// What was announced and did not come is missing.
    fn section_is_over(&mut self) {
        let section = std::mem::take(&mut self.section);
        self.coverage.lost = self.coverage.lost.saturating_add(section.declared.saturating_sub(section.seen));
    }

    fn finish(mut self, text: &Text<'_>, intake: &mut Intake<'_, '_, Rows>) -> bool {
        self.section_is_over();
        let understood = !self.ranks.all.is_empty() || self.header != Header::default();
        if understood {
            self.note();
            self.note_what_did_not_come();
        }
        let clock = if self.header.start.is_some() { Clock::Utc } else { Clock::Relative };
        let resolution = Resolution(self.unit);
        for rank in &self.ranks.all {
            intake.to.add_process(&self.process(rank));
        }
        let cases = self.cases(clock, resolution, intake);
        let report = FileReport {
            cases,
            coverage: &self.coverage,
            understood,
            clock,
            resolution,
            clock_steps: Default::default(),
            ending: self.ending,
            presumed_restarts: 0,
        };
        intake.end_of(text, report);
        intake.to.goes_on()
    }

    /// What a reader must know of a log of Darshan.
    fn note(&mut self) {
        self.coverage.note(Note::DxtTransfersOnly);
        if self.unit.0 > 1 {
            self.coverage.note(Note::DxtUnit { unit: self.unit });
        }
        if self.header.start.is_some() {
            self.coverage.note(Note::DxtStartInSeconds);
        }
    }

    /// A text that was cut between two lines does not show it by its last one.
    fn note_what_did_not_come(&mut self) {
        let file = self.file.file.name.clone();
        let modules: Vec<String> = self.header.announced.difference(&self.modules).cloned().collect();
        if self.without_traces {
            self.coverage.note(Note::DxtDisabled { file });
        } else if !modules.is_empty() || (self.modules.is_empty() && self.ranks.all.is_empty()) {
            self.coverage.note(Note::DxtTextCut { file, modules });
        }
    }

    fn process(&self, rank: &Rank) -> Process {
        let [read, written] = rank.bytes();
        Process {
            case: rank.case,
            pid: rank.pid,
            start: self.header.start,
            exe: self.header.exe.clone(),
            threads: rank.threads,
            bytes_read: read,
            bytes_written: written,
            ..Process::default()
        }
    }

    /// A row for each rank; for a log without any its own.
    fn cases(&self, clock: Clock, resolution: Resolution, intake: &Intake<'_, '_, Rows>) -> Vec<Case> {
        let cid = self.cid(intake);
        let row = |id, host, rid| {
            let name = CaseName { cid: cid.clone(), host, rid };
            intake.case(self.file, id, name, clock, resolution)
        };
        if self.ranks.all.is_empty() {
            return vec![row(self.file.case, None, None)];
        }
        let ranks = self.ranks.all.iter();
        ranks.map(|rank| row(rank.case, rank.host.clone(), Some(rank.number.to_string()))).collect()
    }

    /// What the cases have in common: the name of the file, or what the user's pattern makes of it.
    fn cid(&self, intake: &Intake<'_, '_, Rows>) -> Option<String> {
        let CaseName { cid, host, rid } = &self.file.name;
        match intake.context.options.case_pattern {
            CasePattern::Given(_) => cid.clone(),
            // Darshan's own names have underscores that are not those of hosts and ranks.
            CasePattern::Guess => {
                let parts: Vec<&str> = [cid, host, rid].into_iter().flatten().map(String::as_str).collect();
                Some(parts.join("_"))
            }
        }
    }
}
