//! What an import counts beside lines, and the sentences that the coverage statement makes of it.

use crate::ending::{ClockSteps, Ending};
use iotrail_model::units::{count, duration};
use iotrail_model::{Clock, Coverage, Resolution};
use std::collections::BTreeSet;

/// Counts over files; those of all parts add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) files: u64,
    /// The formats that were in them.
    pub(crate) formats: BTreeSet<&'static str>,
    pub(crate) events: u64,
    pub(crate) text_bytes: u64,
    pub(crate) stored_bytes: u64,
    pub(crate) without_events: u64,
    /// Files, or sets of files, of which no event has a duration.
    pub(crate) without_durations: u64,
    pub(crate) damaged: u64,
    pub(crate) unreadable: u64,
    pub(crate) orphans: u64,
    pub(crate) changed_roots: u64,
    /// Names that are unknown because there were too many long ones.
    pub(crate) long_names: u64,
    /// Changes of mounts that were not followed.
    pub(crate) unclear_mounts: u64,
    /// Files mapped to memory.
    pub(crate) file_mappings: u64,
    /// Requests to io_uring and aio, and rings set up.
    pub(crate) submitted: u64,
    pub(crate) rings: u64,
    /// Calls taken for restarted where a return from a signal handler would not show.
    pub(crate) presumed_restarts: u64,
    /// How often clocks were set back.
    pub(crate) clock_steps: ClockSteps,
    /// The coarsest unit of time stamps.
    pub(crate) resolution: Resolution,
    /// Whether a cancellation ended a file before its end.
    pub(crate) cut: bool,
    cut_lines: u64,
    /// The first file that ends in the middle of a line, and that line.
    first_cut: Option<(String, u64)>,
    doubtful_ends: u64,
    long_lines: u64,
    dropped_bytes: u64,
    utc: u64,
    dated: u64,
    undated: u64,
    relative: u64,
    untimed: u64,
}

impl Tally {
    pub(crate) fn count_file(&mut self, text_bytes: u64, stored_bytes: u64, dropped: (u64, u64)) {
        self.files += 1;
        self.text_bytes += text_bytes;
        self.stored_bytes += stored_bytes;
        self.long_lines += dropped.0;
        self.dropped_bytes += dropped.1;
    }

    pub(crate) fn count_format(&mut self, name: &'static str) {
        self.formats.insert(name);
    }

    pub(crate) fn count_clock(&mut self, clock: Clock, date_given: bool) {
        *match clock {
            Clock::Utc => &mut self.utc,
            Clock::TimeOfDay if date_given => &mut self.dated,
            Clock::TimeOfDay => &mut self.undated,
            Clock::Relative => &mut self.relative,
            Clock::Order => &mut self.untimed,
        } += 1;
    }

    pub(crate) fn count_ending(&mut self, file: &str, ending: Ending) {
        match ending {
            Ending::Whole => {}
            Ending::Doubtful => self.doubtful_ends += 1,
            Ending::Cut(line) => {
                self.cut_lines += 1;
                self.keep_cut(Some((file.to_owned(), line)));
            }
        }
    }

    fn keep_cut(&mut self, other: Option<(String, u64)>) {
        self.first_cut = self.first_cut.take().into_iter().chain(other).min();
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.formats.extend(&other.formats);
        self.events += other.events;
        self.text_bytes += other.text_bytes;
        self.stored_bytes += other.stored_bytes;
        self.without_events += other.without_events;
        self.without_durations += other.without_durations;
        self.damaged += other.damaged;
        self.unreadable += other.unreadable;
        self.orphans += other.orphans;
        self.changed_roots += other.changed_roots;
        self.long_names += other.long_names;
        self.unclear_mounts += other.unclear_mounts;
        self.file_mappings += other.file_mappings;
        self.submitted += other.submitted;
        self.rings += other.rings;
        self.presumed_restarts += other.presumed_restarts;
        self.clock_steps.add(other.clock_steps);
        self.resolution = self.resolution.max(other.resolution);
        self.cut |= other.cut;
        self.cut_lines += other.cut_lines;
        self.keep_cut(other.first_cut.clone());
        self.doubtful_ends += other.doubtful_ends;
        self.long_lines += other.long_lines;
        self.dropped_bytes += other.dropped_bytes;
        self.utc += other.utc;
        self.dated += other.dated;
        self.undated += other.undated;
        self.relative += other.relative;
        self.untimed += other.untimed;
    }

    /// Says in `coverage` what a reader of the trail must know.
    pub(crate) fn note(&self, coverage: &mut Coverage) {
        let files = |number: u64, predicate: &str| match number {
            1 => format!("1 file {predicate}"),
            _ => format!("{} files {predicate}", count(number)),
        };
        let mut note = |number: u64, sentence: String| {
            if number > 0 {
                coverage.note(sentence);
            }
        };
        note(
            self.untimed,
            files(self.untimed, "without time stamps (option -ttt): only the order of calls is known"),
        );
        note(
            self.relative,
            files(self.relative, "with relative time stamps only (option -r): they start at 0"),
        );
        note(
            self.undated,
            files(self.undated, "with times of day but no date (option -ttt has it, --date gives it)"),
        );
        self.resolution.note().into_iter().for_each(|sentence| note(1, sentence));
        note(self.without_durations, files(self.without_durations, "without durations (option -T)"));
        note(self.without_events, files(self.without_events, "held no events"));
        note(
            self.damaged,
            files(self.damaged, "with damaged or incomplete compressed data: the rest is lost"),
        );
        note(self.unreadable, files(self.unreadable, "could not be read to the end"));
        if let Some((file, line)) = &self.first_cut {
            let sentence = match self.cut_lines {
                1 => format!("{file} ends in the middle of line {line}"),
                number => {
                    let files = count(number);
                    format!(
                        "{files} files end in the middle of a line, the first of them {file} in line {line}"
                    )
                }
            };
            note(self.cut_lines, sentence);
        }
        note(
            self.doubtful_ends,
            files(self.doubtful_ends, "without a line end: the last value in it may lack digits"),
        );
        note(
            self.long_lines,
            match self.long_lines {
                1 => format!(
                    "1 line was so long that {} bytes in its middle were not looked at",
                    count(self.dropped_bytes)
                ),
                number => format!(
                    "{} lines were so long that {} bytes in their middle were not looked at",
                    count(number),
                    count(self.dropped_bytes)
                ),
            },
        );
        note(
            self.orphans,
            match self.orphans {
                1 => "1 thread whose process is unknown: it counts as a process".to_owned(),
                number => {
                    format!("{} threads whose process is unknown: each counts as a process", count(number))
                }
            },
        );
        note(
            self.file_mappings,
            match self.file_mappings {
                1 => "1 file was mapped to memory: reads and writes through memory are not in a trace"
                    .to_owned(),
                number => format!(
                    "{} files were mapped to memory: reads and writes through memory are not in a trace",
                    count(number)
                ),
            },
        );
        note(
            self.submitted + self.rings,
            format!(
                "io_uring or aio were used ({}): what such requests read and wrote is not in a trace",
                match self.submitted {
                    0 => "requests without a call".to_owned(),
                    1 => "1 request".to_owned(),
                    number => format!("{} requests", count(number)),
                }
            ),
        );
        let ClockSteps { count: steps, largest } = self.clock_steps;
        let by = duration(largest.0 as f64);
        note(
            steps,
            match steps {
                1 => format!(
                    "the clock was set back by {by}: later times are shifted by that, so that calls keep their order"
                ),
                _ => format!(
                    "the clock was set back {} times, by up to {by}: later times are shifted by that, so that calls keep their order",
                    count(steps)
                ),
            },
        );
        note(
            self.presumed_restarts,
            match self.presumed_restarts {
                1 => "1 interrupted call counts as restarted because its thread made it again, but returns from signal handlers (rt_sigreturn) were not traced: it may have failed with EINTR".to_owned(),
                number => format!(
                    "{} interrupted calls count as restarted because their threads made them again, but returns from signal handlers (rt_sigreturn) were not traced: they may have failed with EINTR",
                    count(number)
                ),
            },
        );
        note(
            self.changed_roots,
            "processes changed their root directory: later paths are as they saw them".to_owned(),
        );
        note(
            self.long_names,
            match self.long_names {
                1 => "1 path is unknown: its directory lies too deep to keep its name".to_owned(),
                number => {
                    format!(
                        "{} paths are unknown: their directories lie too deep to keep their names",
                        count(number)
                    )
                }
            },
        );
        note(
            self.unclear_mounts,
            match self.unclear_mounts {
                1 => "1 call changed mounts in a way that is not followed: names below may be those of other files than the numbers of files say".to_owned(),
                number => format!(
                    "{} calls changed mounts in ways that are not followed: names below may be those of other files than the numbers of files say",
                    count(number)
                ),
            },
        );
        note(u64::from(self.cut), "the import was cancelled before the end of its inputs".to_owned());
        let clocks = [self.utc, self.dated + self.undated, self.relative, self.untimed];
        let mixed = clocks.iter().filter(|number| **number > 0).count() > 1;
        note(u64::from(mixed), "clocks differ between files: their times cannot be compared".to_owned());
    }
}
