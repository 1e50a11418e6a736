//! Points of processes, at their birth.

use crate::influx::times::Times;
use crate::influx::{Measurement, Out, Source, origin};
use iotrail_model::{CaseId, Process};
use iotrail_query::ProcessId;
use std::collections::HashMap;

pub(crate) fn write<E>(source: &Source<'_>, out: &mut Out<'_, E>) -> Result<(), E> {
    let (measurement, origin) = (Measurement::Process, origin(source));
    let mut times = HashMap::<CaseId, Times>::new();
    for (number, process) in source.processes.all().iter().enumerate() {
        let id = ProcessId(number as u32);
        let (images, last) = (source.processes.images(id), source.processes.last_image(id));
        let series = out.tags.of_case(measurement.name(), process.case);
        let line = &mut out.line;
        line.begin(&series);
        line.integer("pid", Some(i64::from(process.pid.0)));
        line.integer("ppid", images[0].ppid.map(|pid| i64::from(pid.0)));
        line.text("exe", last.exe.as_deref());
        line.text("command", last.cmdline.as_deref().map(spaced).as_deref());
        line.integer("duration_ns", process.span().map(|span| span.0));
        line.integer(
            "threads",
            Some(images.iter().map(|image| i64::from(image.threads)).max().unwrap_or_default()),
        );
        line.integer("bytes_read", Some(sum(images, |image| image.bytes_read)));
        line.integer("bytes_written", Some(sum(images, |image| image.bytes_written)));
        line.integer("exit_code", last.exit_code.map(i64::from));
        line.text("signal", last.signal.as_deref());
        let wanted = process.start.map_or(origin, |start| start.0);
        let time = times.entry(process.case).or_default().next(wanted);
        out.end(measurement, wanted, time)?;
    }
    Ok(())
}

fn spaced(words: &str) -> String {
    words.trim_end_matches('\0').replace('\0', " ")
}

fn sum(images: &[Process], of: impl Fn(&Process) -> i64) -> i64 {
    images.iter().map(of).fold(0, i64::saturating_add)
}
