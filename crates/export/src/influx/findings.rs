//! Points of findings, at the begin of their example.

use crate::influx::line::push_tag;
use crate::influx::times::Times;
use crate::influx::{Measurement, Out, Source};
use iotrail_advise::{Finding, Habit, Severity};
use std::collections::BTreeMap;

/// What findings of both kinds have.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Found<'a> {
    start: i64,
    rule: &'a str,
    severity: Severity,
    file: &'a str,
    program: &'a str,
    processes: u64,
    calls: u64,
    saved_calls: u64,
    saved_ns: Option<u64>,
    fix: &'a str,
}

impl<'a> From<&'a Finding> for Found<'a> {
    fn from(found: &'a Finding) -> Self {
        Self {
            start: found.example.start_ns,
            rule: found.rule,
            severity: found.severity,
            file: &found.file,
            program: &found.program,
            processes: found.processes,
            calls: found.calls,
            saved_calls: found.saved_calls,
            saved_ns: found.saved_ns,
            fix: &found.fix,
        }
    }
}

impl<'a> From<&'a Habit> for Found<'a> {
    fn from(found: &'a Habit) -> Self {
        Self {
            start: found.example.start_ns,
            rule: found.rule,
            severity: found.severity,
            file: &found.file,
            program: &found.program,
            processes: found.processes,
            calls: found.calls,
            saved_calls: found.saved_calls,
            saved_ns: found.saved_ns,
            fix: found.fix,
        }
    }
}

pub(crate) fn write<E>(source: &Source<'_>, out: &mut Out<'_, E>) -> Result<(), E> {
    let measurement = Measurement::Finding;
    let advice = source.advice;
    let mut all: Vec<Found<'_>> =
        advice.findings.iter().map(Found::from).chain(advice.habits.iter().map(Found::from)).collect();
    all.sort();
    let mut times = BTreeMap::<String, Times>::new();
    for found in all {
        let mut series = out.tags.of_job(measurement.name());
        push_tag(&mut series, "rule", found.rule);
        push_tag(&mut series, "severity", word(found.severity));
        let line = &mut out.line;
        line.begin(&series);
        line.text("file", Some(found.file));
        line.text("program", Some(found.program));
        line.count("processes", found.processes);
        line.count("calls", found.calls);
        line.count("saved_calls", found.saved_calls);
        line.maybe_count("saved_ns", found.saved_ns);
        line.text("fix", Some(found.fix));
        let time = times.entry(series).or_default().next(found.start);
        out.end(measurement, found.start, time)?;
    }
    Ok(())
}

const fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "low",
        Severity::Medium => "medium",
        Severity::High => "high",
    }
}
