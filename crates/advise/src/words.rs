//! Findings in words.

use crate::result::{Finding, Habit, Item};
use iotrail_model::units;

impl Item<'_> {
    /// What was found, in a line. Names are as they are: whoever shows it escapes it.
    #[must_use]
    pub fn title(self) -> String {
        match self {
            Self::Finding(finding) => finding_title(finding),
            // A habit of a program as a whole, not of what it does to a file.
            Self::Habit(habit) if habit.file == habit.program => format!("{}: {}", habit.file, what(habit)),
            Self::Habit(habit) => {
                format!("{}: {} by {}", habit.file, what(habit), by(&habit.program, habit.processes))
            }
        }
    }
}

/// What keeps accesses apart, a key of the `stops` of a finding, in words.
#[must_use]
pub fn stop_in_words(word: &str) -> &str {
    match word {
        "mixed" => "reads and writes take turns",
        "parallel" => "another thread or process goes on",
        "conflict" => "somebody else uses the bytes",
        "unknown" => "something with an unknown effect comes between",
        "sync" => "forced to storage in between",
        "close" => "closed in between",
        "resize" => "resized in between",
        "name" => "a name is made, changed or removed in between",
        "overlap" => "the program overwrites bytes of its own",
        "lock" => "locked in between",
        "send" => "the process sends a message in between",
        "process" => "a process starts or ends in between",
        other => other,
    }
}

fn finding_title(finding: &Finding) -> String {
    let verb = if finding.rule == "merge-writes" { "writes" } else { "reads" };
    let files = match finding.files {
        1 => String::new(),
        many => format!(" ({} files of that name)", units::count(many)),
    };
    format!(
        "{}{files}: {} {verb} by {} could be {}",
        finding.file,
        units::count(finding.calls),
        by(&finding.program, finding.processes),
        units::count(finding.calls_after)
    )
}

fn by(program: &str, processes: u64) -> String {
    match processes {
        1 => program.to_owned(),
        many => format!("{program} ({} processes)", units::count(many)),
    }
}

/// What the calls of a habit do.
fn what(habit: &Habit) -> String {
    let (calls, amount) = (units::count(habit.calls), habit.amount);
    let (number, bytes) = (units::count(amount), units::bytes(amount as f64));
    match habit.rule {
        "blocking-io" => format!("{number} turns of computing and moving data, one after the other"),
        "descriptor-leak" => format!("{number} files opened and not closed"),
        "every-rank-reads" => format!("{bytes} read, all of the file by each process"),
        "failed-lookups" => format!("{calls} failed lookups of {number} names"),
        "grow-by-truncate" => format!("made longer {number} times"),
        "interleaved-ranks" => format!("{bytes} moved in {calls} pieces that lie between those of others"),
        "list-and-stat" => format!("{number} entries listed, then looked at one by one"),
        "lock-waits" => format!("{} of waiting for its lock", units::duration(amount as f64)),
        "metadata-share" => format!("{number} calls on names and states take most of the I/O time"),
        "needless-collective" => format!("{bytes} moved in {calls} large blocks by collective calls"),
        "overwrite" => format!("{bytes} overwritten before anybody used them"),
        "polling" => format!("looked for in vain {number} times, with sleeps in between"),
        "process-storm" => format!("{number} short processes"),
        "random-reads" => format!("{number} slow reads here and there"),
        "rank-imbalance" => format!("one process moves {bytes} and takes longest"),
        "read-again" => format!("{bytes} read again"),
        "read-own-writes" => format!("{bytes} read back"),
        "reopen" => format!("{number} opens of the same file"),
        "root-io" => format!("{bytes} moved, nearly all of it by one process"),
        "same-command" => format!("run {number} times on unchanged files"),
        "seek-read" => format!("{number} seeks before a read or write"),
        "seek-seek" => format!("{number} seeks before another seek"),
        "serial-phase" => {
            format!("{} in which one process works and all others wait", units::duration(amount as f64))
        }
        "shared-append" => format!("{number} appends right behind those of other processes"),
        "shared-blocks" => format!("{number} writes in blocks that others write, too"),
        "slow-start" => format!("{} of start-up", units::duration(amount as f64)),
        "small-appends" => format!("{bytes} appended in {calls} pieces"),
        "small-buffers" => format!("{number} files moved in {calls} pieces that follow each other"),
        "small-files" => format!("{number} small files"),
        "stat-again" => format!("looked at {number} times"),
        "sync-each-write" => {
            format!("{calls} syncs of {} each", units::bytes(amount as f64 / habit.calls.max(1) as f64))
        }
        "sync-bound" => {
            format!("{} of waiting for each other in a usual process", units::duration(amount as f64))
        }
        "tiny-pipe-transfers" => format!("{calls} transfers of {bytes} in all"),
        "unaligned-writes" => format!("{number} writes that change parts of blocks"),
        "unused-files" => format!("{number} files written and removed unread"),
        other => format!("{calls} calls ({other})"),
    }
}
