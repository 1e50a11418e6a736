//! What is advised, and its JSON.

use crate::judged::JudgedFile;
use crate::pairs::Category;
use crate::proof::Proof;
use crate::rules::small_buffers;
use iotrail_model::{CaseId, Limitation};
use serde::{Serialize, Serializer};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Version of the document.
pub const ADVICE_FORMAT: u32 = 1;

/// How the ranges of a run lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape {
    /// Each begins where the one before ended.
    Adjacent,
    /// Equal sizes at equal distances.
    Strided {
        /// Bytes of each.
        size: u64,
        /// Bytes from the begin of one to the begin of the next.
        stride: u64,
    },
    /// No pattern that the other shapes describe.
    Scattered,
}

impl Shape {
    /// In a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Adjacent => "adjacent",
            Self::Strided { .. } => "strided",
            Self::Scattered => "scattered",
        }
    }
}

impl Shape {
    /// How many accesses make a run of it: two are neither regular nor many.
    #[must_use]
    pub const fn fewest(self) -> usize {
        match self {
            Self::Adjacent => 2,
            Self::Strided { .. } => 3,
            Self::Scattered => 8,
        }
    }
}

impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// How sure the advice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Several threads or processes use the description.
    Low,
    /// Others use the file, too, but not these bytes at these times.
    Medium,
    /// Nobody else used the file.
    High,
}

/// Pairs by the article's categories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pairs {
    /// Category 0: not possible.
    pub impossible: u64,
    /// Category 1: nothing is in between.
    pub easy: u64,
    /// Category 2: possible although calls are in between.
    pub possible: u64,
    /// Category 3: not known.
    pub unknown: u64,
}

impl Pairs {
    pub(crate) fn count(&mut self, category: Category) {
        *match category {
            Category::Impossible => &mut self.impossible,
            Category::Easy => &mut self.easy,
            Category::Possible => &mut self.possible,
            Category::Unknown => &mut self.unknown,
        } += 1;
    }

    /// Others as well.
    pub(crate) fn add(&mut self, other: Self) {
        self.impossible += other.impossible;
        self.easy += other.easy;
        self.possible += other.possible;
        self.unknown += other.unknown;
    }
}

/// A run to look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// Name of the case.
    pub case: String,
    /// Process id as the trail has it.
    pub pid: u32,
    /// The thread that began it.
    pub tid: u32,
    /// `seq` of its first call.
    pub first: u64,
    /// `seq` of its last call.
    pub last: u64,
    /// Start of its first call, in ns.
    pub start_ns: i64,
    /// How many calls.
    pub calls: u64,
    /// Where it begins in the file.
    pub offset: u64,
    /// Bytes that it moves.
    pub bytes: u64,
}

/// A call: its case, and its `seq` there.
pub type CallPlace = (CaseId, u64);

/// Accesses of one program to one file that could be fewer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// `merge-reads` or `merge-writes`.
    pub rule: &'static str,
    /// Path of the file.
    pub file: String,
    /// How many files of that name: one that is removed and made again is another one.
    pub files: u64,
    /// Base name of the executable.
    pub program: String,
    /// How many processes of it.
    pub processes: u64,
    /// How the ranges lie.
    pub shape: &'static str,
    /// Calls that move data this way through the same descriptions, merged or not.
    pub calls: u64,
    /// How many calls would be left.
    pub calls_after: u64,
    /// How many runs they make.
    pub runs: u64,
    /// Calls less.
    pub saved_calls: u64,
    /// Bytes in runs.
    pub bytes: u64,
    /// Median bytes of a call in runs.
    pub call_bytes: u64,
    /// Median bytes of a run.
    pub run_bytes: u64,
    /// Time in these calls, without what tracing added; NULL if the trace has no durations.
    pub time_ns: Option<u64>,
    /// Estimated time that the advice saves, of `time_ns`.
    pub saved_ns: Option<u64>,
    /// The part of `saved_ns` that explains the elapsed time: 0 if nobody waits for it.
    pub at_stake_ns: Option<u64>,
    /// Share of `at_stake_ns` in the elapsed time.
    pub share: Option<f64>,
    /// By `share`.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// Pairs of these accesses by the article's categories.
    pub pairs: Pairs,
    /// Between accesses that follow each other and are not in one run: what is in the way, and how often.
    pub stops: BTreeMap<&'static str, u64>,
    /// What to change.
    pub fix: String,
    /// The run that moves most calls.
    pub example: Example,
    /// The calls of each run, in their order, if [`crate::AdviseOptions::keep_calls`] asks for them.
    #[serde(skip)]
    pub kept: Vec<Vec<CallPlace>>,
}

/// How much of the elapsed time is at stake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Less than a hundredth, or not known.
    Low,
    /// A hundredth or more.
    Medium,
    /// A tenth or more.
    High,
}

/// The severity of what would save this share of the elapsed time.
pub(crate) fn severity(share: Option<f64>) -> Severity {
    match share {
        Some(share) if share >= 0.1 => Severity::High,
        Some(share) if share >= 0.01 => Severity::Medium,
        _ => Severity::Low,
    }
}

impl Severity {
    /// In a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// What a rule beyond merging found: a habit of a program that costs time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Habit {
    /// Name of the rule: [`crate::RULES`].
    pub rule: &'static str,
    /// By `share`.
    pub severity: Severity,
    /// The file, or the directory.
    pub file: String,
    /// Base name of the executable.
    pub program: String,
    /// How many processes of it.
    pub processes: u64,
    /// Calls of that habit.
    pub calls: u64,
    /// Of them those that need not be.
    pub saved_calls: u64,
    /// Estimated time that the advice saves, without what tracing added; NULL if that is not known.
    pub saved_ns: Option<u64>,
    /// The part of `saved_ns` that explains the elapsed time: 0 if nobody waits for it.
    pub at_stake_ns: Option<u64>,
    /// Share of `at_stake_ns` in the elapsed time.
    pub share: Option<f64>,
    /// What the rule counts beside calls: bytes, names, files; its page tells.
    pub amount: u64,
    /// Where most of the calls are, the most first; empty if `file` tells all.
    pub places: Vec<Place>,
    /// What to change.
    pub fix: &'static str,
    /// Under what conditions that is right.
    pub assumes: &'static str,
    /// The first of these calls of the process that made most.
    pub example: Example,
}

/// Where calls of a habit are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file or directory.
    pub file: String,
    /// How many calls.
    pub calls: u64,
}

/// What was looked at, and what could not be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Looked {
    /// Transfers from and to files.
    pub transfers: u64,
    /// Of them with a known description and place, and selected.
    pub mergeable: u64,
    /// Of them whose place in the file is not known.
    pub without_offset: u64,
    /// Of them whose open file description is not known.
    pub without_description: u64,
    /// Files that were looked at.
    pub files: u64,
    /// Files whose accesses come from hosts or traces with clocks of their own.
    pub several_clocks: u64,
}

/// The advice for a log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// [`ADVICE_FORMAT`].
    pub format: u32,
    /// Names of the trails.
    pub sources: Vec<String>,
    /// Which events were selected, in words; empty if all were.
    pub selection: String,
    /// Which events the trails lack; empty if none is known to be missing.
    pub limitations: Vec<Limitation>,
    /// What was looked at.
    pub looked: Looked,
    /// Elapsed time of the trails, in ns.
    pub elapsed_ns: Option<u64>,
    /// Time that tracing added to each call, which is taken out of all figures.
    pub tracing_ns: u64,
    /// Pairs of all files.
    pub pairs: Pairs,
    /// How many findings a baseline took out.
    pub accepted: u64,
    /// What was measured of findings, now or before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verified: Vec<Proof>,
    /// Accesses of files, each with what became of it, if [`crate::AdviseOptions::keep`] asks for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<JudgedFile>,
    /// Findings, those with most at stake first.
    pub findings: Vec<Finding>,
    /// What rules beyond merging found, those with most at stake first.
    pub habits: Vec<Habit>,
}

/// A piece of advice, of whatever rule.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// Accesses that could be one.
    Finding(&'a Finding),
    /// A habit.
    Habit(&'a Habit),
}

impl<'a> Item<'a> {
    /// Name of the rule.
    #[must_use]
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Finding(finding) => finding.rule,
            Self::Habit(habit) => habit.rule,
        }
    }

    /// The file or directory.
    #[must_use]
    pub fn file(self) -> &'a str {
        match self {
            Self::Finding(finding) => &finding.file,
            Self::Habit(habit) => &habit.file,
        }
    }

    /// The program.
    #[must_use]
    pub fn program(self) -> &'a str {
        match self {
            Self::Finding(finding) => &finding.program,
            Self::Habit(habit) => &habit.program,
        }
    }

    /// By the share of the elapsed time.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::Finding(finding) => finding.severity,
            Self::Habit(habit) => habit.severity,
        }
    }

    /// Time on the path that explains the elapsed time, in ns; NULL if it is not known.
    #[must_use]
    pub const fn at_stake_ns(self) -> Option<u64> {
        match self {
            Self::Finding(finding) => finding.at_stake_ns,
            Self::Habit(habit) => habit.at_stake_ns,
        }
    }

    /// How many processes did it.
    #[must_use]
    pub const fn processes(self) -> u64 {
        match self {
            Self::Finding(finding) => finding.processes,
            Self::Habit(habit) => habit.processes,
        }
    }

    /// Calls less.
    #[must_use]
    pub const fn saved_calls(self) -> u64 {
        match self {
            Self::Finding(finding) => finding.saved_calls,
            Self::Habit(habit) => habit.saved_calls,
        }
    }

    /// Calls less that no other piece of advice counts: a rule that joins the findings on many files adds none to theirs.
    #[must_use]
    pub fn own_saved_calls(self) -> u64 {
        if self.rule() == small_buffers::RULE { 0 } else { self.saved_calls() }
    }

    /// Their time wherever they are, in ns; NULL if it is not known.
    #[must_use]
    pub const fn saved_ns(self) -> Option<u64> {
        match self {
            Self::Finding(finding) => finding.saved_ns,
            Self::Habit(habit) => habit.saved_ns,
        }
    }

    /// Share of `at_stake_ns` in the elapsed time.
    #[must_use]
    pub const fn share(self) -> Option<f64> {
        match self {
            Self::Finding(finding) => finding.share,
            Self::Habit(habit) => habit.share,
        }
    }

    /// What to change.
    #[must_use]
    pub fn fix(self) -> &'a str {
        match self {
            Self::Finding(finding) => &finding.fix,
            Self::Habit(habit) => habit.fix,
        }
    }

    /// A call, or run of calls, to look at.
    #[must_use]
    pub const fn example(self) -> &'a Example {
        match self {
            Self::Finding(finding) => &finding.example,
            Self::Habit(habit) => &habit.example,
        }
    }

    /// How the ranges lie, of runs.
    #[must_use]
    pub const fn shape(self) -> Option<&'static str> {
        match self {
            Self::Finding(finding) => Some(finding.shape),
            Self::Habit(_) => None,
        }
    }

    /// Calls that it is about.
    #[must_use]
    pub const fn calls(self) -> u64 {
        match self {
            Self::Finding(finding) => finding.calls,
            Self::Habit(habit) => habit.calls,
        }
    }

    /// Most at stake first, then what is not known, then what nobody waits for.
    pub(crate) fn order(self, other: Item<'_>) -> Ordering {
        let weight = |item: Item<'_>| {
            let known = match item.at_stake_ns() {
                Some(0) => 0,
                None => 1,
                Some(_) => 2,
            };
            (known, item.at_stake_ns(), item.saved_calls())
        };
        weight(other).cmp(&weight(self)).then_with(|| self.name().cmp(&other.name()))
    }

    fn name(&self) -> (&str, &str, &str) {
        let shape = match self {
            Self::Finding(finding) => finding.shape,
            Self::Habit(_) => "",
        };
        (self.rule(), self.file(), shape)
    }
}

/// So much advice a person reads.
const FOREMOST: usize = 3;

impl Advice {
    /// All advice, most at stake first.
    #[must_use]
    pub fn items(&self) -> Vec<Item<'_>> {
        let findings = self.findings.iter().map(Item::Finding);
        let mut items: Vec<_> = findings.chain(self.habits.iter().map(Item::Habit)).collect();
        items.sort_by(|a, b| a.order(*b));
        items
    }

    /// What is worth being said wherever the elapsed time is explained: the advice with most at stake, if that is a hundredth of the
    /// elapsed time or more.
    pub fn foremost(&self) -> impl Iterator<Item = Item<'_>> {
        let is_worth = |item: &Item<'_>| item.at_stake_ns().is_some() && item.severity() >= Severity::Medium;
        self.items().into_iter().filter(is_worth).take(FOREMOST)
    }

    /// What was measured of a piece of advice.
    #[must_use]
    pub fn proof(&self, item: Item<'_>) -> Option<&Proof> {
        self.verified.iter().find(|proof| proof.is_of(item))
    }

    /// The severest of all findings.
    #[must_use]
    pub fn severest(&self) -> Option<Severity> {
        self.items().into_iter().map(Item::severity).max()
    }
}
