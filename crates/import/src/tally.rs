//! What an import counts beside lines, and the facts that the coverage statement has of it.

use crate::ending::{ClockSteps, Ending};
use iotrail_model::{Clock, Coverage, Note, Resolution};
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
    /// Calls on descriptors that another thread may have changed before.
    pub(crate) uncertain_calls: u64,
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
        self.uncertain_calls += other.uncertain_calls;
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

    /// Notes in `coverage` what a reader of the trail must know.
    pub(crate) fn note(&self, coverage: &mut Coverage) {
        let facts = [
            (self.untimed, Note::FilesWithoutTimes { files: self.untimed }),
            (self.relative, Note::FilesWithRelativeTimes { files: self.relative }),
            (self.undated, Note::FilesWithoutDate { files: self.undated }),
            (self.without_durations, Note::FilesWithoutDurations { files: self.without_durations }),
            (self.without_events, Note::FilesWithoutEvents { files: self.without_events }),
            (self.damaged, Note::FilesDamaged { files: self.damaged }),
            (self.unreadable, Note::FilesUnreadable { files: self.unreadable }),
            (self.doubtful_ends, Note::FilesWithoutLineEnd { files: self.doubtful_ends }),
            (self.long_lines, Note::LongLines { lines: self.long_lines, bytes: self.dropped_bytes }),
            (self.orphans, Note::ThreadsWithoutProcess { threads: self.orphans }),
            (self.file_mappings, Note::FilesMapped { files: self.file_mappings }),
            (self.submitted + self.rings, Note::AsynchronousRequests { requests: self.submitted }),
            (
                self.clock_steps.count,
                Note::ClockSetBack { times: self.clock_steps.count, largest: self.clock_steps.largest },
            ),
            (self.presumed_restarts, Note::PresumedRestarts { calls: self.presumed_restarts }),
            (self.changed_roots, Note::RootsChanged { processes: self.changed_roots }),
            (self.long_names, Note::LongNames { paths: self.long_names }),
            (self.unclear_mounts, Note::UnclearMounts { calls: self.unclear_mounts }),
            (self.uncertain_calls, Note::UncertainDescriptors { calls: self.uncertain_calls }),
            (u64::from(self.cut), Note::ImportCancelled),
            (u64::from(self.clocks_differ()), Note::ClocksDiffer),
        ];
        let facts = facts.into_iter().filter(|(number, _)| *number > 0).map(|(_, note)| note);
        coverage.notes.extend(facts.chain(self.resolution.note()).chain(self.cut_file()));
    }

    fn cut_file(&self) -> Option<Note> {
        let (first, line) = self.first_cut.clone()?;
        Some(Note::FilesCut { files: self.cut_lines, first, line })
    }

    fn clocks_differ(&self) -> bool {
        let clocks = [self.utc, self.dated + self.undated, self.relative, self.untimed];
        clocks.iter().filter(|number| **number > 0).count() > 1
    }
}
