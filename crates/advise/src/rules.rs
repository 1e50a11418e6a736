//! Rules beyond merging: habits of programs that cost time. Each has a file of its own, which sees the calls of a log in order and
//! keeps what it needs by process, and a page that `iotrail advise --explain` prints.

mod beside;
mod blocking_io;
mod by_process;
mod descriptor_leak;
mod every_rank_reads;
mod failed_lookups;
mod grow_by_truncate;
pub(crate) mod habit;
mod interleaved_ranks;
mod list_and_stat;
mod lock_waits;
mod metadata_share;
mod needless_collective;
mod overwrite;
mod peers;
mod per_image;
mod polling;
mod process_storm;
mod random_reads;
mod rank_imbalance;
mod read_again;
mod read_own_writes;
mod reopen;
mod root_io;
mod same_command;
mod seek_read;
mod seek_seek;
mod serial_phase;
mod shared_append;
mod shared_blocks;
mod shared_mappings;
mod slow_start;
mod small_appends;
pub(crate) mod small_buffers;
mod small_files;
mod stat_again;
mod sync_bound;
mod sync_each_write;
mod tiny_pipe_transfers;
mod unaligned_writes;
mod unused_files;
mod waits;
pub(crate) mod watch;

use crate::result::{Habit, Place, severity};
use crate::rules::habit::{Context, First, Image, PLACES, ProcessHabit, Seen, Tally};
use crate::stake::Stake;
use iotrail_workflow::why::PathTimes;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A rule, as `iotrail advise --explain` knows it.
#[derive(Clone, Copy, Debug)]
pub struct RuleInfo {
    /// The word in findings.
    pub id: &'static str,
    /// What it is about, in a line.
    pub title: &'static str,
    /// Its page, as Markdown.
    pub page: &'static str,
}

macro_rules! rule {
    ($id:literal, $title:literal) => {
        RuleInfo { id: $id, title: $title, page: include_str!(concat!("../../../docs/rules/", $id, ".md")) }
    };
}

/// All rules, in the order of their names.
pub const RULES: &[RuleInfo] = &[
    rule!("blocking-io", "a thread computes and transfers data in turns"),
    rule!("descriptor-leak", "files are opened and not closed"),
    rule!("every-rank-reads", "each process of a parallel program reads all of the same file"),
    rule!("failed-lookups", "names are searched for in many directories"),
    rule!("grow-by-truncate", "a file is made longer step by step"),
    rule!("interleaved-ranks", "processes transfer small pieces that lie between those of others"),
    rule!("list-and-stat", "each entry of a directory is asked for its state"),
    rule!("lock-waits", "processes wait for locks of a file"),
    rule!("merge-reads", "several reads could be one"),
    rule!("merge-writes", "several writes could be one"),
    rule!("metadata-share", "most I/O time goes to names and states, not to data"),
    rule!("needless-collective", "large blocks are moved by collective calls"),
    rule!("overwrite", "bytes are written again that nobody has read"),
    rule!("polling", "something is looked for again and again until it is there"),
    rule!("process-storm", "a short program is started for each item"),
    rule!("random-reads", "pieces of a file are read here and there, from storage"),
    rule!("rank-imbalance", "one process spends far more time on files than the others"),
    rule!("read-again", "the same bytes are read again"),
    rule!("read-own-writes", "a process reads back what it has written"),
    rule!("reopen", "the same file is opened again and again"),
    rule!("root-io", "one process moves nearly all bytes"),
    rule!("same-command", "the same command runs again on unchanged files"),
    rule!("seek-read", "each transfer is preceded by a seek"),
    rule!("seek-seek", "a seek follows a seek"),
    rule!("serial-phase", "one process works while all others wait for it"),
    rule!("shared-append", "several processes append to one file in turns"),
    rule!("shared-blocks", "several processes write parts of the same blocks"),
    rule!("slow-start", "a program takes long to start"),
    rule!("small-appends", "a few bytes are appended at a time"),
    rule!("small-buffers", "many files are moved piece by piece"),
    rule!("small-files", "many files hold little each"),
    rule!("stat-again", "the state of a file is asked for again and again"),
    rule!("sync-bound", "processes wait for each other far longer than they access files"),
    rule!("sync-each-write", "little data is forced to storage each time"),
    rule!("tiny-pipe-transfers", "a pipe carries a few bytes at a time"),
    rule!("unaligned-writes", "parts of blocks are changed here and there"),
    rule!("unused-files", "files are written and removed, and nobody reads them"),
];

/// The rule of that name.
#[must_use]
pub fn explain(id: &str) -> Option<&'static RuleInfo> {
    RULES.iter().find(|rule| rule.id == id)
}

/// A rule at work.
pub(crate) trait Rule: Send {
    /// The next call of the log.
    fn see(&mut self, call: &Seen);

    /// The next call of MPI-IO that all ranks make together, or that prepares such calls. It stands above calls that [`see`](Self::see) gets.
    fn see_together(&mut self, _call: &Seen) {}

    /// A process ended, or executes another program.
    fn ended(&mut self, _image: Image) {}

    /// What it found, a habit for each process and file.
    fn found(&self, log: &Context) -> Vec<ProcessHabit>;
}

/// All rules at work.
pub(crate) fn all() -> Vec<Box<dyn Rule>> {
    vec![
        Box::<blocking_io::BlockingIo>::default(),
        Box::<descriptor_leak::DescriptorLeak>::default(),
        Box::<every_rank_reads::EveryRankReads>::default(),
        Box::<failed_lookups::FailedLookups>::default(),
        Box::<grow_by_truncate::GrowByTruncate>::default(),
        Box::<interleaved_ranks::InterleavedRanks>::default(),
        Box::<list_and_stat::ListAndStat>::default(),
        Box::<lock_waits::LockWaits>::default(),
        Box::<metadata_share::MetadataShare>::default(),
        Box::<needless_collective::NeedlessCollective>::default(),
        Box::<overwrite::Overwrite>::default(),
        Box::<polling::Polling>::default(),
        Box::<process_storm::ProcessStorm>::default(),
        Box::<random_reads::RandomReads>::default(),
        Box::<rank_imbalance::RankImbalance>::default(),
        Box::<read_again::ReadAgain>::default(),
        Box::<read_own_writes::ReadOwnWrites>::default(),
        Box::<reopen::Reopen>::default(),
        Box::<root_io::RootIo>::default(),
        Box::<same_command::SameCommand>::default(),
        Box::<seek_read::SeekRead>::default(),
        Box::<seek_seek::SeekSeek>::default(),
        Box::<serial_phase::SerialPhase>::default(),
        Box::<shared_append::SharedAppend>::default(),
        Box::<shared_blocks::SharedBlocks>::default(),
        Box::<slow_start::SlowStart>::default(),
        Box::<small_appends::SmallAppends>::default(),
        Box::<small_files::SmallFiles>::default(),
        Box::<stat_again::StatAgain>::default(),
        Box::<sync_bound::SyncBound>::default(),
        Box::<sync_each_write::SyncEachWrite>::default(),
        Box::<tiny_pipe_transfers::TinyPipeTransfers>::default(),
        Box::<unaligned_writes::UnalignedWrites>::default(),
        Box::<unused_files::UnusedFiles>::default(),
    ]
}

/// The places with most calls, the most first.
fn with_most_calls(places: BTreeMap<&str, u64>) -> Vec<Place> {
    let mut places: Vec<Place> =
        places.into_iter().map(|(file, calls)| Place { file: file.to_owned(), calls }).collect();
    places.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.file.cmp(&b.file)));
    places.truncate(PLACES);
    places
}

/// The rule, the file and the program.
type Whose = (&'static str, Arc<str>, Arc<str>);

/// The habits of all processes of one program on one file as one, in no order.
pub(crate) fn join(
    found: Vec<ProcessHabit>,
    path: &PathTimes,
    tracing: u64,
    case: impl Fn(&First) -> String,
    program: impl Fn(&First) -> Arc<str>,
) -> Vec<Habit> {
    let mut groups: BTreeMap<Whose, Vec<ProcessHabit>> = BTreeMap::new();
    for habit in found {
        let name = program(&habit.tally.first);
        groups.entry((habit.rule, Arc::clone(&habit.file), name)).or_default().push(habit);
    }
    let habit = |((rule, file, program), members): (Whose, Vec<ProcessHabit>)| {
        let sum = |number: fn(&Tally) -> u64| {
            members.iter().map(|member| number(&member.tally)).fold(0, u64::saturating_add)
        };
        let mut stake = Stake::default();
        for ProcessHabit { tally, .. } in &members {
            stake.add(path.run(tally.first.case), tally.saved.at_stake(tracing));
        }
        let most = members.iter().max_by_key(|member| {
            let Tally { saved, first, .. } = &member.tally;
            (saved.calls, Reverse((first.case, first.seq)))
        })?;
        let processes: BTreeSet<_> =
            members.iter().map(|member| (member.tally.first.case, member.tally.first.pid)).collect();
        let mut places: BTreeMap<&str, u64> = BTreeMap::new();
        for (place, calls) in members.iter().flat_map(|member| &member.places) {
            *places.entry(place).or_default() += calls;
        }
        let first = &most.tally.first;
        let (at_stake_ns, share) = stake.most(path);
        Some(Habit {
            rule,
            severity: severity(share),
            file: file.to_string(),
            program: program.to_string(),
            processes: processes.len() as u64,
            calls: sum(|tally| tally.calls),
            saved_calls: sum(|tally| tally.saved.calls),
            saved_ns: members
                .iter()
                .map(|member| member.tally.saved.time(tracing))
                .try_fold(0, |sum: u64, saved| Some(sum.saturating_add(saved?))),
            at_stake_ns,
            share,
            amount: sum(|tally| tally.amount),
            places: with_most_calls(places),
            fix: most.fix,
            assumes: most.assumes,
            example: first.example(case(first), most.tally.calls),
        })
    };
    groups.into_iter().filter_map(habit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_page_that_begins_with_its_name() {
        for rule in RULES {
            assert!(rule.page.starts_with(&format!("# `{}`", rule.id)), "{}", rule.id);
            for part in ["## When it fires", "## What to change", "## What it assumes"] {
                assert!(rule.page.contains(part), "{}: {part}", rule.id);
            }
        }
        assert!(RULES.is_sorted_by_key(|rule| rule.id));
        assert!(explain("reopen").is_some() && explain("nothing").is_none());
    }
}
