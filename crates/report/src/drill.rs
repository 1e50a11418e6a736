//! From findings to files to accesses: which files have most at stake, and for these the accesses with what became of each.

use crate::data::{Bounded, NameId};
use crate::name_table::NameTable;
use crate::options::Limits;
use crate::subject::Subject;
use iotrail_advise::{
    AccessCall, Advice, Item, JudgedAccess, JudgedFile, JudgedPair, Reason, Shape, stop_in_words,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Files by what is at stake with them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageDrill {
    /// Files that findings name, those with most at stake first.
    pub files: Bounded<PageFileAdvice>,
    /// Transfers from and to files; of them those that could be judged, those without an offset, those without an open file
    /// description.
    pub looked: (u64, u64, u64, u64),
}

/// A file that findings name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageFileAdvice {
    /// Path of the file.
    pub n: NameId,
    /// How many files of that name have runs: one that is removed and made again is another one.
    pub files: u64,
    /// Time at stake with merging its accesses, or with the habit that has most, whichever is more; NULL if it is not known.
    pub at_stake_ns: Option<u64>,
    /// Calls less, in the same way.
    pub saved_calls: u64,
    /// Findings of accesses that could be fewer, and of habits.
    pub findings: (u64, u64),
    /// Runs.
    pub runs: u64,
    /// Pairs by category, from 0 to 3.
    pub pairs: [u64; 4],
    /// Its accesses, of the files with most at stake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<PageJudged>,
}

/// Accesses to a file. Keys are short because there are many.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageJudged {
    /// How many accesses there are in all, and how many runs.
    pub all: (u64, u64),
    /// When the first one began, after the page's origin.
    pub from: i64,
    /// Names of calls.
    pub calls: Vec<NameId>,
    /// Who made them: case and process id.
    pub who: Vec<(NameId, u32)>,
    /// Runs.
    pub runs: Vec<PageRun>,
    /// The accesses, in the order of time.
    pub a: Vec<PageAccess>,
    /// What keeps an access apart from the next one.
    pub stops: Vec<PageStop>,
}

/// A run: number, shape, calls, bytes, saved time and the part of it that is at stake, ns.
pub type PageRun = (u64, &'static str, u64, u64, Option<u64>, Option<u64>);

/// An access: start after the one before, duration (-1 if it is not known), offset after the last known end of one (NULL if it is not
/// known), size (-1 if it is not known), call, who, number of the open file (0 for none), run (0 for none), which one of the run, and
/// what it does (0 to 4) with five times what became of its pair (`pair_code`).
pub type PageAccess = (i64, i64, Option<i64>, i64, usize, usize, u64, u64, u64, u8);

/// The number of an access, why it is apart from the next one, the number of the access that is in the way or -1, and if there is none
/// the call: name, process id, start after the first access, offset, size.
pub type PageStop = (usize, NameId, i64, Option<(NameId, u32, i64, Option<u64>, Option<u64>)>);

/// Which files the page tells of.
pub(crate) fn page_drill(subject: &Subject<'_>, names: &mut NameTable) -> PageDrill {
    let (advice, limits) = (subject.advice, &subject.options.limits);
    let looked = &advice.looked;
    let rows = rows(advice, &files_of(subject));
    let more = rows.len().saturating_sub(limits.advised_files) as u64;
    let judged: HashMap<&str, &JudgedFile> =
        advice.accesses.iter().map(|file| (file.file.as_str(), file)).collect();
    let mut room = limits.judged_files;
    let list = rows.into_iter().take(limits.advised_files).map(|row| {
        let judged = judged.get(row.file).filter(|_| room > 0);
        room -= usize::from(judged.is_some());
        PageFileAdvice {
            n: names.id(row.file),
            files: row.files.max(1),
            at_stake_ns: row.at_stake(),
            saved_calls: row.merged.saved_calls.max(row.habit.saved_calls),
            findings: (row.findings, row.habits),
            runs: row.runs,
            pairs: row.pairs(),
            x: judged.map(|file| accesses(file, subject.origin().0, names)),
        }
    });
    PageDrill {
        files: Bounded { list: list.collect(), more },
        looked: (looked.transfers, looked.mergeable, looked.without_offset, looked.without_description),
    }
}

/// Names of what holds bytes at places.
fn files_of<'a>(subject: &Subject<'a>) -> BTreeSet<&'a str> {
    let log = subject.log;
    let files = log.distinct_files().iter().zip(log.holds_bytes());
    files.filter(|(_, holds)| *holds).map(|(file, _)| &*log.names().paths[file.path.index()]).collect()
}

/// What findings have at stake.
#[derive(Clone, Copy, Default)]
struct Stakes {
    at_stake: Option<u64>,
    saved_calls: u64,
}

/// A file with its findings.
#[derive(Default)]
struct Row<'a> {
    file: &'a str,
    /// All that merging saves: of accesses, each of which is in one finding.
    merged: Stakes,
    /// The habit with most: several may be about the same calls.
    habit: Stakes,
    findings: u64,
    habits: u64,
    runs: u64,
    files: u64,
    /// By program and rule.
    of_uses: BTreeMap<(&'a str, &'a str), [u64; 4]>,
}

impl<'a> Row<'a> {
    fn add(&mut self, item: Item<'a>) {
        let (at_stake, saved_calls) = (item.at_stake_ns(), item.saved_calls());
        match item {
            Item::Finding(finding) => {
                let pairs = &finding.pairs;
                let pairs = [pairs.impossible, pairs.easy, pairs.possible, pairs.unknown];
                self.of_uses.insert((&finding.program, finding.rule), pairs);
                self.findings += 1;
                self.runs += finding.runs;
                self.files = self.files.max(finding.files);
                let all = at_stake.map(|more| self.merged.at_stake.unwrap_or_default().saturating_add(more));
                self.merged.at_stake = all.or(self.merged.at_stake);
                self.merged.saved_calls += saved_calls;
            }
            Item::Habit(_) => {
                self.habits += 1;
                self.habit.at_stake = self.habit.at_stake.max(at_stake);
                self.habit.saved_calls = self.habit.saved_calls.max(saved_calls);
            }
        }
    }

    fn at_stake(&self) -> Option<u64> {
        self.merged.at_stake.max(self.habit.at_stake)
    }

    fn pairs(&self) -> [u64; 4] {
        std::array::from_fn(|category| self.of_uses.values().map(|pairs| pairs[category]).sum())
    }
}

/// The files that findings are about, those with most at stake first.
fn rows<'a>(advice: &'a Advice, files: &BTreeSet<&str>) -> Vec<Row<'a>> {
    let mut rows: BTreeMap<&str, Row<'a>> = BTreeMap::new();
    for item in advice.items() {
        let file = item.file();
        if files.contains(file) {
            rows.entry(file).or_insert_with(|| Row { file, ..Row::default() }).add(item);
        }
    }
    let mut rows: Vec<Row<'a>> = rows.into_values().collect();
    rows.sort_by_key(|row| {
        std::cmp::Reverse((row.at_stake(), row.merged.saved_calls.max(row.habit.saved_calls)))
    });
    rows
}

fn accesses(file: &JudgedFile, origin: i64, names: &mut NameTable) -> PageJudged {
    let first = file.accesses.first().map_or(origin, |access| access.call.start_ns);
    let mut page = PageJudged {
        all: (file.accesses_in_all, file.runs_in_all),
        from: first.saturating_sub(origin),
        ..PageJudged::default()
    };
    page.runs = file
        .runs
        .iter()
        .map(|run| (run.number, Shape::name(run.shape), run.calls, run.bytes, run.saved_ns, run.at_stake_ns))
        .collect();
    let (mut before, mut behind) = (first, 0);
    for (index, access) in file.accesses.iter().enumerate() {
        let row = row(access, (before, behind), &mut page, names);
        page.a.push(row);
        before = access.call.start_ns;
        behind = access.offset_after.or(access.call.offset).unwrap_or(behind);
        if let Some(stop) = &access.stop {
            let AccessCall { call, pid, start_ns, offset, size, .. } = &stop.by;
            let words = names.id(stop_in_words(stop.reason));
            let mut by = || (names.id(call), *pid, start_ns.saturating_sub(first), *offset, *size);
            page.stops.push(match stop.access {
                Some(access) => (index, words, access as i64, None),
                None => (index, words, -1, Some(by())),
            });
        }
    }
    page
}

fn row(
    access: &JudgedAccess,
    (before, behind): (i64, u64),
    page: &mut PageJudged,
    names: &mut NameTable,
) -> PageAccess {
    let call = &access.call;
    let known = |number: Option<u64>| number.map_or(-1, |number| i64::try_from(number).unwrap_or(i64::MAX));
    // Of a seek only where it goes is known.
    let offset = call.offset.or(access.offset_after);
    let (name, who) = (names.id(&call.call), (names.id(&call.case), call.pid));
    (
        call.start_ns.saturating_sub(before),
        known(call.dur_ns),
        offset.map(|offset| offset.wrapping_sub(behind) as i64),
        known(call.size),
        number_of(&mut page.calls, name),
        number_of(&mut page.who, who),
        access.open.unwrap_or_default(),
        access.run.unwrap_or_default(),
        access.member.unwrap_or_default(),
        what_code(access.kind) + 5 * access.pair.map_or(0, pair_code),
    )
}

/// The place of a value in a list, to whose end it is added if it is not there.
fn number_of<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

fn what_code(kind: &str) -> u8 {
    let kinds = ["read", "write", "seek", "may-read", "may-write"];
    kinds.iter().position(|known| *known == kind).map_or(4, |index| index as u8)
}

/// What became of a pair, from 1 on: easily merged, mergeable, and not for a write, a read, a seek, an unknown effect.
const fn pair_code(pair: JudgedPair) -> u8 {
    match pair.reason {
        Reason::NothingBetween => 1,
        Reason::NothingInTheWay => 2,
        Reason::Write => 3,
        Reason::Read => 4,
        Reason::Seek => 5,
        Reason::UnknownEffect => 6,
    }
}

/// How many files and accesses advice keeps for a page.
pub(crate) const fn keep(limits: &Limits) -> iotrail_advise::Keep {
    iotrail_advise::Keep::Foremost { files: limits.judged_files, accesses: limits.judged_accesses }
}
