//! Points of calls, at their begin.

use crate::error::ExportError;
use crate::influx::line::push_tag;
use crate::influx::times::Times;
use crate::influx::{Measurement, Out, Source};
use iotrail_model::{CallId, CaseId, Event, Layer, Nullable};
use iotrail_trail::{Columns, EventLog, Positions};
use std::collections::HashMap;

const COLUMNS: Columns = Columns::CASE
    .union(Columns::SEQ)
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
    .union(Columns::RET)
    .union(Columns::ERRNO)
    .union(Columns::FILE);

/// The calls of one name in a layer of a case.
struct Series {
    head: String,
    times: Times,
}

pub(crate) fn write<E: From<ExportError>>(
    source: &Source<'_>,
    out: &mut Out<'_, E>,
    step: &mut dyn FnMut(u64),
) -> Result<(), E> {
    let (measurement, log) = (Measurement::Call, source.log);
    let positions = Positions::new(log.names());
    let mut all = HashMap::<(CaseId, Layer, CallId), Series>::new();
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, COLUMNS).map_err(|error| E::from(error.into()))?;
        for row in 0..batch.len {
            let event = batch.event(row);
            let series = all.entry((event.case, event.layer, event.call)).or_insert_with(|| {
                let mut head = out.tags.of_case(measurement.name(), event.case);
                push_tag(&mut head, "layer", event.layer.name());
                push_tag(&mut head, "call", log.names().call(event.call));
                Series { head, times: Times::default() }
            });
            out.line.begin(&series.head);
            let time = series.times.next(event.start.0);
            fields(log, &event, positions.of(&event), out);
            out.end(measurement, event.start.0, time)?;
        }
        step(out.written.calls.points);
    }
    Ok(())
}

fn fields<E>(log: &EventLog, event: &Event, [_, after]: [Nullable<i64>; 2], out: &mut Out<'_, E>) {
    let (line, names) = (&mut out.line, log.names());
    let path = names.path(event.path);
    let file = event.file.get().and_then(|file| log.distinct_files().get(file.index()));
    let file = file.map(|file| &*names.paths[file.path.index()]).or(path);
    line.integer("pid", Some(i64::from(event.pid.0)));
    line.integer("tid", Some(i64::from(event.tid.0)));
    line.integer("seq", i64::try_from(event.seq).ok());
    line.integer("duration_ns", event.dur.get().map(|dur| dur.0));
    line.integer("fd", event.fd.get().map(i64::from));
    line.text("file", file);
    line.text("path", path.filter(|path| Some(*path) != file));
    line.text("path2", names.path(event.path2));
    line.integer("offset", event.offset.get());
    line.integer("offset_after", after.get());
    line.integer("requested", event.requested.get());
    line.integer("size", event.size.get());
    line.text("errno", names.errno(event.errno));
}
