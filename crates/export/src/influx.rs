//! InfluxDB's line protocol: each call, process, file and finding of a log is a point.
//!
//! Times are unique within a series, so no point overwrites another: a point whose time is taken is moved to the next free
//! nanosecond, says by how much (`moved_ns`), and is counted. Tags are few and have few values, what has many (paths, numbers)
//! is a field. Points come in an order that depends on the log alone, so an upload can go on where it stopped.
//!
//! The measurements and their fields are listed in `docs/influx.md`.

mod calls;
mod files;
mod findings;
mod line;
mod processes;
mod tags;
mod times;

use crate::error::ExportError;
use crate::influx::line::Line;
use crate::influx::tags::Tags;
use iotrail_advise::Advice;
use iotrail_model::Case;
use iotrail_query::ProcessTable;
use iotrail_stats::UsedFile;
use iotrail_trail::EventLog;
use serde::Serialize;

/// What a point is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measurement {
    /// A process from its birth to its death.
    Process,
    /// What was done to a file.
    File,
    /// What could be done with fewer calls.
    Finding,
    /// A call.
    Call,
}

impl Measurement {
    /// Every measurement, in the order in which their points come.
    pub const ALL: [Self; 4] = [Self::Process, Self::File, Self::Finding, Self::Call];

    /// Its name in the server.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "iotrail_process",
            Self::File => "iotrail_file",
            Self::Finding => "iotrail_finding",
            Self::Call => "iotrail_call",
        }
    }

    /// A field that each of its points has.
    #[must_use]
    pub const fn counted_by(self) -> &'static str {
        match self {
            Self::Process | Self::Call => "pid",
            Self::File | Self::Finding => "calls",
        }
    }
}

/// What points are made of.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The log.
    pub log: &'a EventLog,
    /// Its processes.
    pub processes: &'a ProcessTable,
    /// What was done to each of its files.
    pub files: &'a [UsedFile],
    /// What could be done with fewer calls.
    pub advice: &'a Advice,
    /// The tag `job` of all points.
    pub job: &'a str,
}

/// Points of a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// How many.
    pub points: u64,
    /// Time of the first, in ns since the epoch.
    pub first_ns: Option<i64>,
    /// Time of the last.
    pub last_ns: Option<i64>,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Points of processes.
    pub processes: Extent,
    /// Points of files.
    pub files: Extent,
    /// Points of findings.
    pub findings: Extent,
    /// Points of calls.
    pub calls: Extent,
    /// Points that were moved to a free time.
    pub moved: u64,
}

impl Written {
    /// The points of a measurement.
    #[must_use]
    pub const fn of(&self, measurement: Measurement) -> Extent {
        match measurement {
            Measurement::Process => self.processes,
            Measurement::File => self.files,
            Measurement::Finding => self.findings,
            Measurement::Call => self.calls,
        }
    }

    /// All points.
    #[must_use]
    pub fn points(&self) -> u64 {
        Measurement::ALL.iter().map(|measurement| self.of(*measurement).points).sum()
    }

    /// The times of the first and of the last point, in ns.
    #[must_use]
    pub fn span(&self) -> Option<(i64, i64)> {
        let extents = Measurement::ALL.map(|measurement| self.of(measurement));
        let first = extents.iter().filter_map(|extent| extent.first_ns).min();
        first.zip(extents.iter().filter_map(|extent| extent.last_ns).max())
    }

    fn count(&mut self, measurement: Measurement, time: i64, moved: bool) {
        let extent = match measurement {
            Measurement::Process => &mut self.processes,
            Measurement::File => &mut self.files,
            Measurement::Finding => &mut self.findings,
            Measurement::Call => &mut self.calls,
        };
        extent.points += 1;
        extent.first_ns = Some(extent.first_ns.map_or(time, |first| first.min(time)));
        extent.last_ns = extent.last_ns.max(Some(time));
        self.moved += u64::from(moved);
    }
}

/// Makes all points of `source` and hands each line, without its end, to `sink`; `step` is told the number of calls so far.
/// Memory does not grow with the number of calls.
///
/// # Errors
/// If the log cannot be read or has no times, or the first error of `sink`.
pub fn points<E: From<ExportError>>(
    source: &Source<'_>,
    sink: &mut dyn FnMut(&str) -> Result<(), E>,
    step: &mut dyn FnMut(u64),
) -> Result<Written, E> {
    if !source.log.cases().iter().all(Case::has_times) {
        return Err(E::from(ExportError::CannotHold {
            format: "influx",
            why: "a trace in it has no time stamps, and points have times; trace with strace -ttt".to_owned(),
        }));
    }
    let mut out = Out {
        tags: Tags::new(source.log, source.job),
        line: Line::default(),
        written: Written::default(),
        sink,
    };
    processes::write(source, &mut out)?;
    files::write(source, &mut out)?;
    findings::write(source, &mut out)?;
    calls::write(source, &mut out, step)?;
    Ok(out.written)
}

/// The file with most I/O time; none if nothing was done with any.
#[must_use]
pub fn heaviest_file(files: &[UsedFile]) -> Option<&str> {
    files::heaviest_first(files).first().map(|file| &*file.file.path)
}

/// Where points go.
struct Out<'a, E> {
    tags: Tags,
    line: Line,
    written: Written,
    sink: &'a mut dyn FnMut(&str) -> Result<(), E>,
}

impl<E> Out<'_, E> {
    /// Ends the line with the time to which the point was moved.
    fn end(&mut self, measurement: Measurement, wanted: i64, time: i64) -> Result<(), E> {
        let moved = time.wrapping_sub(wanted);
        if moved != 0 {
            self.line.integer("moved_ns", Some(moved));
        }
        self.written.count(measurement, time, moved != 0);
        (self.sink)(self.line.end(time))
    }
}

/// When the log begins: the earliest time of a process or a file.
fn origin(source: &Source<'_>) -> i64 {
    let processes = source.processes.all().iter().filter_map(|process| process.start).map(|start| start.0);
    let files = source.files.iter().filter_map(|file| file.used.first_ns);
    processes.chain(files).min().unwrap_or_default()
}

#[cfg(test)]
mod tests;
