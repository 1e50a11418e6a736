//! Points of findings, at the begin of their example.

use crate::influx::line::push_tag;
use crate::influx::times::Times;
use crate::influx::{Measurement, Out, Source};
use iotrail_advise::Item;
use std::collections::BTreeMap;

pub(crate) fn write<E>(source: &Source<'_>, out: &mut Out<'_, E>) -> Result<(), E> {
    let measurement = Measurement::Finding;
    let mut all = source.advice.items();
    all.sort_by(|a, b| order(*a).cmp(&order(*b)));
    let mut times = BTreeMap::<String, Times>::new();
    for item in all {
        let mut series = out.tags.of_job(measurement.name());
        push_tag(&mut series, "rule", item.rule());
        push_tag(&mut series, "severity", item.severity().name());
        let line = &mut out.line;
        line.begin(&series);
        line.text("file", Some(item.file()));
        line.text("program", Some(item.program()));
        line.count("processes", item.processes());
        line.count("calls", item.calls());
        line.count("saved_calls", item.saved_calls());
        line.maybe_count("saved_ns", item.saved_ns());
        line.maybe_count("at_stake_ns", item.at_stake_ns());
        line.text("fix", Some(item.fix()));
        let start = item.example().start_ns;
        let time = times.entry(series).or_default().next(start);
        out.end(measurement, start, time)?;
    }
    Ok(())
}

/// By time; the rest tells apart what begins at the same one.
fn order(item: Item<'_>) -> (i64, &str, &str, u64) {
    (item.example().start_ns, item.rule(), item.file(), item.example().first)
}
