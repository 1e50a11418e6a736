//! What recorders saw and what they know they did not see: the part of the coverage statement that imports do not have.
//!
//! Statements of several recorders (ranks, hosts) become one by addition, in any order and grouping: numbers add up, sets
//! unite. So nothing in here may be a mean or a state; what is shown as one is computed from sums.

use crate::time::{Nanos, Timestamp};
use crate::units;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How many different sentences a statement keeps of texts that come from the recorded program.
const MAX_TEXTS: usize = 20;

/// Why an event is missing, a process escaped, and so on, with the number of times.
pub type Counts = BTreeMap<String, u64>;

/// What the recorders of a trail saw, and what they did not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordingCoverage {
    /// Recorders that this statement speaks of.
    pub recorders: u64,
    /// Recorders that were killed or broke off; their events are those that the spool held.
    pub broken_off: u64,
    /// Recordings that were finished by another (`iotrail recover`, another rank).
    pub recovered: u64,
    /// Which calls were to be recorded: one for all recorders, or several if they were started differently.
    pub selections: BTreeSet<Selection>,
    /// Events written.
    pub events: u64,
    /// Files mapped into memory. Accesses to them are no calls and were not seen.
    pub mapped_files: u64,
    /// io_uring rings whose submissions the kernel polls (`IORING_SETUP_SQPOLL`): what they submitted was not seen.
    pub polled_rings: u64,
    /// io_uring entries that are not about files, by operation: counted, not decoded.
    pub other_ring_entries: Counts,
    /// Processes that were not followed, by reason.
    pub escaped: Counts,
    /// Processes that went on unseen when the recording ended (`--wait main`, detached).
    pub left_running: u64,
    /// When the first recorder left them; NULL: none was left, or an older iotrail recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_at: Option<Timestamp>,
    /// Events known to be missing, by reason.
    pub lost: Counts,
    /// Damaged places of spools at which events are missing whose number nothing tells.
    pub lost_unknown: u64,
    /// Events left out because the user wished so or because they are not about files, by reason.
    pub left_out: Counts,
    /// Calls whose end was never seen: their thread was killed in them or the recording ended.
    pub unfinished: u64,
    /// Calls of which no more than the number is known, by ABI or name.
    pub not_decoded: Counts,
    /// Processes that filtered their own calls (seccomp).
    pub filtering_themselves: u64,
    /// Processes that used ptrace, or wished to.
    pub tracing_others: u64,
    /// Programs with set-user-ID, set-group-ID or capabilities that ran without gaining them, with the number of times.
    pub without_privileges: Counts,
    /// Commands that could not be started: the error.
    pub not_started: Counts,
    /// Command lines that were longer than what is kept.
    pub cut_command_lines: u64,
    /// Descriptors of processes found running whose name could not be read.
    pub unnamed_descriptors: u64,
    /// Paths that could not be read from the memory of a program that does not let others look (`PR_SET_DUMPABLE`).
    pub unreadable_paths: u64,
    /// Paths that are known by their letters only: symbolic links in them were not followed.
    pub unresolved_paths: u64,
    /// Names of files of another mount namespace that have none in the recorder's; they begin with `/mnt:[`.
    pub foreign_names: u64,
    /// The umasks under which commands were started.
    pub umasks: BTreeSet<u32>,
    /// What the recording cost.
    pub cost: TracerCost,
}

/// Which calls a recorder was to record.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Selection {
    /// The set as the user asked for it (`io`).
    pub asked: String,
    /// How many calls of the kernel's table are in it.
    pub calls: u32,
    /// Names of families of calls that are not in it at all.
    pub without: BTreeSet<String>,
}

/// What the recording cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TracerCost {
    /// Times that a thread was stopped, for whatever reason.
    pub stops: u64,
    /// Calls that were stopped at, recorded or not.
    pub calls: u64,
    /// CPU time of the recorders themselves.
    pub cpu: Nanos,
    /// Recorders that measured at their start what a stopped call costs.
    pub calibrated: u64,
    /// Calls of the calibrated recorders.
    pub calibrated_calls: u64,
    /// Time that those calls cost the program in all, by the recorders' own measure, at least: as if program and recorder
    /// always ran on one core.
    pub added: Nanos,
    /// The part of it that stands in the durations of the calls.
    pub inside: Nanos,
    /// The lowest cost of one call that a recorder measured.
    pub least: Option<Nanos>,
    /// The highest cost of one call that a recorder measured; NULL without a measurement.
    pub most: Option<Nanos>,
}

impl TracerCost {
    /// States what one recorder measured at its start, for each of the [`TracerCost::calls`] counted so far: a call costs
    /// the program `per_call`, of which `inside` stands in the call's duration. To be called at the end of the recording.
    pub fn calibrate(&mut self, per_call: Nanos, inside: Nanos) {
        let calls = i64::try_from(self.calls).unwrap_or(i64::MAX);
        self.calibrated = 1;
        self.calibrated_calls = self.calls;
        self.added = Nanos(per_call.0.saturating_mul(calls));
        self.inside = Nanos(inside.0.saturating_mul(calls));
        self.least = Some(per_call);
        self.most = Some(per_call);
    }

    /// What a call costs, from the lowest to the highest measure: `4.41 us`, `4.41 us to 30.2 us`.
    #[must_use]
    pub fn range(&self) -> Option<String> {
        let (least, most) = self.least.zip(self.most)?;
        let text = |nanos: Nanos| units::duration(nanos.0 as f64);
        Some(if least == most { text(least) } else { format!("{} to {}", text(least), text(most)) })
    }

    /// States what a call cost when program and recorder ran on two cores. To be called after [`TracerCost::calibrate`].
    pub fn calibrate_apart(&mut self, per_call: Nanos) {
        self.least = self.least.map(|least| least.min(per_call));
        self.most = self.most.max(Some(per_call));
    }

    /// Mean cost of a call, over all calls of calibrated recorders; what the recorders measured if there were no calls.
    #[must_use]
    pub fn per_call(&self) -> Option<Nanos> {
        match i64::try_from(self.calibrated_calls) {
            Ok(calls) if calls > 0 => Some(Nanos(self.added.0 / calls)),
            _ => self.most,
        }
    }

    /// Mean time that a call's duration holds in excess, over all calls of calibrated recorders.
    #[must_use]
    pub fn inside_per_call(&self) -> Option<Nanos> {
        let calls = i64::try_from(self.calibrated_calls).ok().filter(|calls| *calls > 0)?;
        Some(Nanos(self.inside.0 / calls))
    }

    fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.stops, other.stops),
            (&mut self.calls, other.calls),
            (&mut self.calibrated, other.calibrated),
            (&mut self.calibrated_calls, other.calibrated_calls),
        ];
        pairs.into_iter().for_each(|(into, from)| *into = into.saturating_add(from));
        self.cpu.0 = self.cpu.0.saturating_add(other.cpu.0);
        self.added.0 = self.added.0.saturating_add(other.added.0);
        self.inside.0 = self.inside.0.saturating_add(other.inside.0);
        self.least = [self.least, other.least].into_iter().flatten().min();
        self.most = self.most.max(other.most);
    }
}

/// Why events are left out of every recording: they touch memory that is no file.
pub const NO_FILE: &str = "anonymous memory mappings";
/// What older recordings call it.
const NO_FILE_BEFORE: &str = "memory of no file";

impl RecordingCoverage {
    /// Events that were left out because the user asked for it, by option.
    #[must_use]
    pub fn left_out_on_request(&self) -> Counts {
        let asked =
            self.left_out.iter().filter(|(reason, _)| ![NO_FILE, NO_FILE_BEFORE].contains(&reason.as_str()));
        asked.map(|(reason, number)| (reason.clone(), *number)).collect()
    }

    /// The statement for both together.
    pub fn merge(&mut self, other: &Self) {
        self.left_at = [self.left_at, other.left_at].into_iter().flatten().min();
        let numbers = [
            (&mut self.recorders, other.recorders),
            (&mut self.broken_off, other.broken_off),
            (&mut self.recovered, other.recovered),
            (&mut self.events, other.events),
            (&mut self.mapped_files, other.mapped_files),
            (&mut self.polled_rings, other.polled_rings),
            (&mut self.left_running, other.left_running),
            (&mut self.lost_unknown, other.lost_unknown),
            (&mut self.unfinished, other.unfinished),
            (&mut self.filtering_themselves, other.filtering_themselves),
            (&mut self.tracing_others, other.tracing_others),
            (&mut self.cut_command_lines, other.cut_command_lines),
            (&mut self.unnamed_descriptors, other.unnamed_descriptors),
            (&mut self.unreadable_paths, other.unreadable_paths),
            (&mut self.unresolved_paths, other.unresolved_paths),
            (&mut self.foreign_names, other.foreign_names),
        ];
        numbers.into_iter().for_each(|(into, from)| *into = into.saturating_add(from));
        self.selections.extend(other.selections.iter().cloned());
        self.umasks.extend(&other.umasks);
        self.cost.add(&other.cost);
        let pairs = [
            (&mut self.other_ring_entries, &other.other_ring_entries),
            (&mut self.escaped, &other.escaped),
            (&mut self.lost, &other.lost),
            (&mut self.left_out, &other.left_out),
            (&mut self.not_decoded, &other.not_decoded),
            (&mut self.without_privileges, &other.without_privileges),
            (&mut self.not_started, &other.not_started),
        ];
        for (into, from) in pairs {
            from.iter().for_each(|(reason, number)| count(into, reason, *number));
        }
    }

    /// Sum of the events known to be missing.
    #[must_use]
    pub fn lost(&self) -> u64 {
        sum(&self.lost)
    }

    /// The statement in one line: `all 256 calls of set io; 3 files memory-mapped (accesses through memory not visible); 0 lost; tracing added 26.0 us to each call`.
    #[must_use]
    pub fn in_one_line(&self) -> String {
        let mut parts = vec![self.selected()];
        parts.extend(self.gaps());
        if self.lost.is_empty() && self.lost_unknown == 0 {
            parts.push("0 lost".to_owned());
        }
        parts.extend(self.cost.range().map(|range| format!("tracing added {range} to each call")));
        parts.join("; ")
    }

    /// Which calls were recorded, in words.
    #[must_use]
    pub fn selected(&self) -> String {
        let mut texts = self.selections.iter().map(|selection| {
            format!("all {} calls of set {}", units::count(selection.calls.into()), selection.asked)
        });
        match (texts.next(), texts.next()) {
            (None, _) => "no calls selected".to_owned(),
            (Some(text), None) => text,
            (Some(first), Some(second)) => {
                [first, second].into_iter().chain(texts).collect::<Vec<_>>().join(" or ")
                    + " (recorders differ)"
            }
        }
    }

    /// Families of calls that no recorder was to record, sorted.
    #[must_use]
    pub fn without(&self) -> Vec<&str> {
        let mut selections = self.selections.iter();
        let Some(first) = selections.next() else { return Vec::new() };
        let rest: Vec<_> = selections.collect();
        let nowhere = |family: &&String| rest.iter().all(|other| other.without.contains(*family));
        first.without.iter().filter(nowhere).map(String::as_str).collect()
    }

    /// What the recording cost, one sentence each.
    #[must_use]
    pub fn costs(&self) -> Vec<String> {
        let cost = &self.cost;
        let time = |nanos: Nanos| units::duration(nanos.0 as f64);
        let mut costs = Vec::new();
        if let Some(range) = cost.range() {
            let inside = cost
                .inside_per_call()
                .map(|part| format!(", at least {} of it within its duration", time(part)));
            costs.push(format!("a traced call takes {range} longer{}", inside.unwrap_or_default()));
        }
        if cost.stops > 0 {
            let (stops, calls) = (units::count(cost.stops), units::count(cost.calls));
            let recorder = if self.recorders > 1 { "the recorders" } else { "the recorder" };
            costs.push(format!("{stops} stops for {calls} calls, {} CPU time of {recorder}", time(cost.cpu)));
        }
        costs
    }

    /// Everything that keeps the recording from being the whole truth, one phrase each, the gravest first. Empty if
    /// nothing is known to be missing.
    #[must_use]
    pub fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        let mut count = |number: u64, one: &str, many: &str, rest: &str| {
            if number > 0 {
                gaps.push(format!("{} {}{rest}", units::count(number), if number == 1 { one } else { many }));
            }
        };
        count(self.lost(), "event", "events", &format!(" lost{}", reasons(&self.lost)));
        count(
            self.lost_unknown,
            "damaged place in a spool",
            "damaged places in spools",
            " (an unknown number of events lost)",
        );
        count(
            self.broken_off,
            "recorder was killed",
            "recorders were killed",
            " (what their spools held is here)",
        );
        count(
            sum(&self.not_started),
            "command",
            "commands",
            &format!(" could not be started{}", reasons(&self.not_started)),
        );
        count(
            sum(&self.escaped),
            "process",
            "processes",
            &format!(" not followed{}", reasons(&self.escaped)),
        );
        count(self.left_running, "process", "processes", " left running unseen");
        let left_out = self.left_out_on_request();
        count(sum(&left_out), "event", "events", &format!(" left out{}", reasons(&left_out)));
        count(
            self.polled_rings,
            "io_uring ring",
            "io_uring rings",
            " polled by the kernel (submissions not seen)",
        );
        count(self.mapped_files, "file", "files", " memory-mapped (accesses through memory not visible)");
        let others = &self.other_ring_entries;
        count(
            sum(others),
            "io_uring entry",
            "io_uring entries",
            &format!(" not about files{}", reasons(others)),
        );
        let undecoded = &self.not_decoded;
        count(sum(undecoded), "call", "calls", &format!(" not decoded{}", reasons(undecoded)));
        count(self.unfinished, "call", "calls", " without an end");
        let tame = &self.without_privileges;
        count(sum(tame), "program", "programs", &format!(" run without gaining privileges{}", reasons(tame)));
        count(
            self.filtering_themselves,
            "process",
            "processes",
            " with a seccomp filter of its own (calls that it lets another process answer are not seen)",
        );
        count(self.tracing_others, "process", "processes", " that used ptrace");
        count(self.cut_command_lines, "command line", "command lines", " cut");
        count(self.unnamed_descriptors, "descriptor", "descriptors", " without a readable name");
        count(self.unreadable_paths, "path", "paths", " not readable (the program does not let others look)");
        count(self.unresolved_paths, "path", "paths", " as given (symbolic links not followed)");
        count(self.foreign_names, "name", "names", " of another mount namespace (/mnt:[...)");
        gaps
    }

    /// Why there are no events; `None` if there are some.
    #[must_use]
    pub fn why_empty(&self) -> Option<String> {
        if self.events > 0 {
            return None;
        }
        let why = if !self.not_started.is_empty() {
            format!("the command could not be started{}", reasons(&self.not_started))
        } else if self.lost() > 0 {
            format!("all {} events were lost{}", units::count(self.lost()), reasons(&self.lost))
        } else if !self.selections.is_empty() && self.selections.iter().all(|selection| selection.calls == 0)
        {
            "no call is in the set that was asked for".to_owned()
        } else if !self.left_out.is_empty() {
            format!(
                "all {} events were left out{}",
                units::count(sum(&self.left_out)),
                reasons(&self.left_out)
            )
        } else if !self.escaped.is_empty() {
            format!("no process could be followed{}", reasons(&self.escaped))
        } else if self.broken_off > 0 {
            "the recorder was killed before the first call, or its spool is gone".to_owned()
        } else {
            format!("the program made no call of set {}", self.asked())
        };
        Some(why)
    }

    fn asked(&self) -> String {
        self.selections.iter().map(|selection| selection.asked.as_str()).collect::<Vec<_>>().join(" or ")
    }
}

/// Adds `number` under `reason`.
pub fn count(counts: &mut Counts, reason: &str, number: u64) {
    if number > 0 {
        let sum = counts.entry(reason.to_owned()).or_default();
        *sum = sum.saturating_add(number);
    }
}

/// Counts one under a text that comes from the recorded program, in its text form. A program can bring forth any number
/// of them, so that new ones count as `others` when many are known.
pub fn count_text(counts: &mut Counts, text: &[u8]) {
    let text = crate::text::path_to_text(text);
    let room = counts.len() < MAX_TEXTS || counts.contains_key(text.as_ref());
    count(counts, if room { &text } else { "others" }, 1);
}

fn sum(counts: &Counts) -> u64 {
    counts.values().fold(0, |sum, number| sum.saturating_add(*number))
}

/// ` (reason 3, other 1)`, the most frequent first; nothing if there are none. A single reason stands without number.
fn reasons(counts: &Counts) -> String {
    let mut sorted: Vec<(&String, u64)> = counts.iter().map(|(reason, number)| (reason, *number)).collect();
    sorted.sort_by_key(|(reason, number)| (std::cmp::Reverse(*number), *reason));
    let words: Vec<String> = match sorted[..] {
        [] => return String::new(),
        [(reason, _)] => vec![reason.clone()],
        _ => {
            let shown = sorted.iter().take(MAX_TEXTS);
            let more = sorted.len().saturating_sub(MAX_TEXTS);
            let rest = (more > 0).then(|| format!("{more} more"));
            shown.map(|(reason, number)| format!("{reason} {}", units::count(*number))).chain(rest).collect()
        }
    };
    format!(" ({})", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn recorded() -> RecordingCoverage {
        let selection =
            Selection { asked: "io".into(), calls: 256, without: BTreeSet::from(["memory".into()]) };
        let cost = TracerCost { stops: 2010, calls: 1000, ..TracerCost::default() };
        RecordingCoverage {
            recorders: 1,
            selections: BTreeSet::from([selection]),
            events: 990,
            cost,
            ..RecordingCoverage::default()
        }
    }

    fn calibrated(nanos: i64) -> RecordingCoverage {
        let mut recording = recorded();
        recording.cost.calibrate(Nanos(nanos), Nanos(nanos / 2));
        recording
    }

    #[test]
    fn one_line_says_what_was_asked_for_and_what_is_missing() {
        let mut recording = calibrated(26_000);
        assert_eq!(
            recording.in_one_line(),
            "all 256 calls of set io; 0 lost; tracing added 26.0 us to each call"
        );
        recording.mapped_files = 3;
        count(&mut recording.lost, "disk full", 7);
        count(&mut recording.lost, "recorder killed", 1);
        count(&mut recording.escaped, "not ours to trace", 1);
        assert_eq!(
            recording.in_one_line(),
            "all 256 calls of set io; 8 events lost (disk full 7, recorder killed 1); 1 process not followed (not ours to trace); \
             3 files memory-mapped (accesses through memory not visible); tracing added 26.0 us to each call"
        );
        assert_eq!(RecordingCoverage::default().in_one_line(), "no calls selected; 0 lost");
    }

    #[test]
    fn recorders_that_differ_say_so_and_their_cost_is_weighted_by_calls() {
        let mut both = calibrated(20_000);
        let mut other = calibrated(50_000);
        other.cost.calls = 500;
        other.cost.calibrate(Nanos(50_000), Nanos(40_000));
        other.selections =
            BTreeSet::from([Selection { asked: "all".into(), calls: 350, ..Selection::default() }]);
        both.merge(&other);
        assert_eq!(both.cost.per_call(), Some(Nanos(30_000)));
        assert_eq!(both.cost.inside_per_call(), Some(Nanos(20_000)));
        assert_eq!((both.cost.least, both.cost.most), (Some(Nanos(20_000)), Some(Nanos(50_000))));
        assert_eq!(both.selected(), "all 350 calls of set all or all 256 calls of set io (recorders differ)");
    }

    #[test]
    fn a_recording_without_calls_still_tells_what_one_would_cost() {
        let mut cost = TracerCost::default();
        cost.calibrate(Nanos(9_000), Nanos(4_000));
        assert_eq!((cost.per_call(), cost.inside_per_call()), (Some(Nanos(9_000)), None));
        cost.calibrate_apart(Nanos(31_000));
        assert_eq!(cost.range().as_deref(), Some("9.00 us to 31.0 us"));
    }

    #[test]
    fn cost_is_told_in_words() {
        let mut both = calibrated(20_000);
        both.cost.cpu = Nanos(12_000_000);
        assert_eq!(
            both.costs(),
            [
                "a traced call takes 20.0 us longer, at least 10.0 us of it within its duration",
                "2,010 stops for 1,000 calls, 12.0 ms CPU time of the recorder"
            ]
        );
        both.merge(&calibrated(40_000));
        assert!(both.costs()[0].starts_with("a traced call takes 20.0 us to 40.0 us longer, "));
        assert_eq!(RecordingCoverage::default().costs(), Vec::<String>::new());
    }

    #[test]
    fn what_is_left_out_of_every_recording_is_not_told_each_time() {
        let mut recording = recorded();
        let before = recording.in_one_line();
        count(&mut recording.left_out, NO_FILE, 4);
        assert_eq!(recording.in_one_line(), before);
        count(&mut recording.left_out, "sample", 3);
        assert_eq!(recording.left_out_on_request(), Counts::from([("sample".to_owned(), 3)]));
        assert!(
            recording.in_one_line().contains("3 events left out (sample)"),
            "{}",
            recording.in_one_line()
        );
    }

    #[test]
    fn a_family_is_not_recorded_if_no_recorder_recorded_it() {
        let mut both = recorded();
        assert_eq!(both.without(), ["memory"]);
        let without = BTreeSet::from(["sync".to_owned()]);
        both.merge(&RecordingCoverage {
            selections: BTreeSet::from([Selection { asked: "x".into(), calls: 1, without }]),
            ..RecordingCoverage::default()
        });
        assert_eq!(both.without(), Vec::<&str>::new());
    }

    #[test]
    fn a_recording_without_events_says_why() {
        assert_eq!(recorded().why_empty(), None);
        let empty = RecordingCoverage { events: 0, ..recorded() };
        let why = |change: fn(&mut RecordingCoverage)| {
            let mut recording = empty.clone();
            change(&mut recording);
            recording.why_empty().unwrap_or_default()
        };
        assert_eq!(why(|_| ()), "the program made no call of set io");
        assert_eq!(
            why(|r| count(&mut r.not_started, "ENOENT", 1)),
            "the command could not be started (ENOENT)"
        );
        assert_eq!(why(|r| count(&mut r.lost, "disk full", 5)), "all 5 events were lost (disk full)");
        assert_eq!(
            why(|r| count(&mut r.escaped, "not ours to trace", 2)),
            "no process could be followed (not ours to trace)"
        );
        assert_eq!(
            why(|r| count(&mut r.left_out, "limit of events", 9)),
            "all 9 events were left out (limit of events)"
        );
        assert_eq!(
            why(|r| r.broken_off = 1),
            "the recorder was killed before the first call, or its spool is gone"
        );
        assert_eq!(
            why(|r| r.selections =
                BTreeSet::from([Selection { asked: "all,!all".into(), ..Selection::default() }])),
            "no call is in the set that was asked for"
        );
    }

    #[test]
    fn texts_of_the_recorded_program_do_not_grow_without_bound() {
        let mut counts = Counts::new();
        for number in 0..1000 {
            count_text(&mut counts, format!("/bin/su{number}\u{1b}").as_bytes());
        }
        assert_eq!((counts.len(), sum(&counts)), (MAX_TEXTS + 1, 1000));
        assert_eq!(counts["others"], 1000 - MAX_TEXTS as u64);
    }

    #[test]
    fn a_statement_of_an_older_or_newer_version_is_read() {
        let recording: RecordingCoverage = serde_json::from_str(r#"{"events":3,"of tomorrow":1}"#).unwrap();
        assert_eq!(recording, RecordingCoverage { events: 3, ..RecordingCoverage::default() });
    }

    fn counts() -> impl Strategy<Value = Counts> {
        prop::collection::btree_map("[abc]", 1..9_u64, 0..3)
    }

    prop_compose! {
        fn any_cost()(stops in 0..9_u64, calls in 0..9_u64, price in prop::option::of((0..99_i64, 0..99_i64))) -> TracerCost {
            let mut cost = TracerCost { stops, calls, cpu: Nanos(7), ..TracerCost::default() };
            price.into_iter().for_each(|(all, part)| cost.calibrate(Nanos(all), Nanos(part)));
            cost
        }
    }

    prop_compose! {
        fn any_recording()(
            numbers in prop::array::uniform16(0..9_u64),
            maps in prop::array::uniform7(counts()),
            asked in prop::collection::btree_set("[ab]", 0..3),
            umasks in prop::collection::btree_set(0_u32..0o777, 0..3),
            cost in any_cost(),
        ) -> RecordingCoverage {
            let [recorders, broken_off, recovered, events, mapped_files, polled_rings, left_running, unfinished,
                filtering_themselves, tracing_others, cut_command_lines, unnamed_descriptors, unreadable_paths, unresolved_paths,
                foreign_names, lost_unknown] = numbers;
            let [other_ring_entries, escaped, lost, left_out, not_decoded, without_privileges, not_started] = maps;
            let selections = asked.into_iter().map(|asked| Selection { asked, ..Selection::default() }).collect();
            RecordingCoverage {
                recorders, broken_off, recovered, selections, events, mapped_files, other_ring_entries, polled_rings,
                escaped, left_running, left_at: (left_running > 0).then_some(Timestamp(left_running as i64)), lost, lost_unknown, left_out, unfinished, not_decoded, filtering_themselves, tracing_others,
                without_privileges, not_started, cut_command_lines, unnamed_descriptors, unreadable_paths, unresolved_paths,
                foreign_names, umasks, cost,
            }
        }
    }

    fn merged(parts: &[&RecordingCoverage]) -> RecordingCoverage {
        let mut sum = RecordingCoverage::default();
        parts.iter().for_each(|part| sum.merge(part));
        sum
    }

    proptest! {
        #[test]
        fn parts_add_up_in_any_order_and_grouping(a in any_recording(), b in any_recording(), c in any_recording()) {
            let whole = merged(&[&a, &b, &c]);
            prop_assert_eq!(&whole, &merged(&[&c, &a, &b]));
            prop_assert_eq!(&whole, &merged(&[&a, &merged(&[&b, &c])]));
            prop_assert_eq!(&merged(&[&a]), &a);
            prop_assert_eq!(whole.lost(), a.lost() + b.lost() + c.lost());
            prop_assert_eq!(whole.events, a.events + b.events + c.events);
            prop_assert_eq!(sum(&whole.escaped), sum(&a.escaped) + sum(&b.escaped) + sum(&c.escaped));
        }

        #[test]
        fn whole_statements_add_up_too(a in any_recording(), b in any_recording()) {
            use crate::coverage::Coverage;
            let mut sum = Coverage::of_recording(a.clone());
            sum.merge(&Coverage::of_recording(b.clone()));
            prop_assert_eq!(sum, Coverage::of_recording(merged(&[&a, &b])));
        }

        #[test]
        fn a_statement_survives_its_json(a in any_recording()) {
            let json = serde_json::to_string(&a).unwrap();
            prop_assert_eq!(serde_json::from_str::<RecordingCoverage>(&json).unwrap(), a);
        }
    }
}
