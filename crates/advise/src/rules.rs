//! Rules beyond merging: habits of programs that cost time. Each has a file of its own, which sees the calls of a log in order and
//! keeps what it needs by process, and a page that `iotrail advise --explain` prints.

mod failed_lookups;
mod habit;
mod read_again;
mod reopen;
mod seek_read;
mod shared_mappings;
mod sync_each_write;
pub(crate) mod watch;

use crate::result::{Habit, severity};
use crate::rules::habit::{Found, Seen};
use iotrail_model::Names;
use std::collections::BTreeMap;
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
    rule!("failed-lookups", "many names are looked for that are not there"),
    rule!("merge-reads", "several reads could be one"),
    rule!("merge-writes", "several writes could be one"),
    rule!("read-again", "the same bytes are read again"),
    rule!("reopen", "the same file is opened again and again"),
    rule!("seek-read", "each transfer is preceded by a seek"),
    rule!("sync-each-write", "little data is forced to storage each time"),
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

    /// What it found, a habit for each process and file.
    fn found(&self, names: &Names) -> Vec<Found>;
}

/// All rules at work.
pub(crate) fn all() -> Vec<Box<dyn Rule>> {
    vec![
        Box::<failed_lookups::FailedLookups>::default(),
        Box::<read_again::ReadAgain>::default(),
        Box::<reopen::Reopen>::default(),
        Box::<seek_read::SeekRead>::default(),
        Box::<sync_each_write::SyncEachWrite>::default(),
    ]
}

/// The rule, the file and the program.
type Whose = (&'static str, Arc<str>, Arc<str>);

/// The habits of all processes of one program on one file as one, those with most at stake first.
pub(crate) fn join(
    found: Vec<Found>,
    elapsed: Option<u64>,
    tracing: u64,
    case: impl Fn(&Seen) -> String,
    program: impl Fn(&Seen) -> Arc<str>,
) -> Vec<Habit> {
    let mut groups: BTreeMap<Whose, Vec<Found>> = BTreeMap::new();
    for habit in found {
        let name = program(&habit.example);
        groups.entry((habit.rule, Arc::clone(&habit.file), name)).or_default().push(habit);
    }
    let mut habits: Vec<Habit> = groups
        .into_iter()
        .filter_map(|((rule, file, program), members)| {
            let sum = |number: fn(&Found) -> u64| members.iter().map(number).fold(0, u64::saturating_add);
            let saved_ns = members.iter().map(|member| member.saved.time(tracing)).sum::<Option<u64>>();
            let share = saved_ns.zip(elapsed).filter(|(_, elapsed)| *elapsed > 0);
            let share = share.map(|(saved, elapsed)| saved as f64 / elapsed as f64);
            let most = members.iter().max_by_key(|member| member.saved.calls)?;
            Some(Habit {
                rule,
                severity: severity(share),
                file: file.to_string(),
                program: program.to_string(),
                processes: members.len() as u64,
                calls: sum(|member| member.calls),
                saved_calls: sum(|member| member.saved.calls),
                saved_ns,
                share,
                amount: sum(|member| member.amount),
                fix: most.fix,
                assumes: most.assumes,
                example: most.example.example(case(&most.example), most.calls),
            })
        })
        .collect();
    habits.sort_by(|a, b| {
        let weight = |habit: &Habit| (habit.saved_ns.unwrap_or_default(), habit.saved_calls);
        let name = |habit: &Habit| (habit.rule, habit.file.clone(), habit.program.clone());
        weight(b).cmp(&weight(a)).then_with(|| name(a).cmp(&name(b)))
    });
    habits
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
