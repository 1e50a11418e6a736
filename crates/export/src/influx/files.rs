//! Points of files, those with most I/O time first, a nanosecond apart from the begin of the log: dashboards can only sort by time,
//! so the first points are the heaviest files.

use crate::influx::{Measurement, Out, Source, origin};
use iotrail_stats::UsedFile;
use std::cmp::Reverse;

pub(crate) fn write<E>(source: &Source<'_>, out: &mut Out<'_, E>) -> Result<(), E> {
    let measurement = Measurement::File;
    let series = out.tags.of_job(measurement.name());
    for (time, file) in (origin(source)..).zip(heaviest_first(source.files)) {
        let (line, used) = (&mut out.line, &file.used);
        line.begin(&series);
        line.text("file", Some(&file.file.path));
        line.text("kind", file.file.kind.as_deref());
        line.count("calls", used.calls);
        line.count("failures", used.failures);
        line.count("opens", used.opens);
        line.count("reads", used.reads);
        line.count("writes", used.writes);
        line.count("bytes_read", used.bytes_read);
        line.count("bytes_written", used.bytes_written);
        line.maybe_count("io_ns", used.io_ns);
        line.maybe_count("data_ns", used.data_ns);
        line.maybe_count("sync_ns", used.sync_ns);
        line.maybe_count("metadata_ns", used.metadata_ns);
        line.maybe_count("wait_ns", used.wait_ns);
        line.fraction("sequential", used.sequential_share());
        line.maybe_count("reread", used.reread);
        line.maybe_count("overwritten", used.overwritten);
        line.count("processes", used.processes);
        line.count("ranks", used.ranks);
        line.integer("first_ns", used.first_ns);
        line.integer("last_ns", used.last_ns);
        out.end(measurement, time, time)?;
    }
    Ok(())
}

/// The files with which something was done.
pub(crate) fn heaviest_first(files: &[UsedFile]) -> Vec<&UsedFile> {
    let mut files: Vec<&UsedFile> = files.iter().filter(|file| file.used.calls > 0).collect();
    files.sort_by_key(|file| {
        let used = &file.used;
        (Reverse((used.io_ns, used.bytes(), used.calls)), &file.file.path, file.file.file)
    });
    files
}
