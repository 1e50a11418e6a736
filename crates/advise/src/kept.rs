//! The files whose accesses are kept to be looked at: those with most at stake, found while one file after the other is advised on.

use crate::judged::JudgedFile;
use crate::result::Habit;
use iotrail_model::PathId;
use std::collections::HashMap;
use std::sync::Arc;

/// Which accesses advice keeps to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// None.
    Nothing,
    /// Some accesses to those files with most at stake; of several files of a name the one with most.
    Foremost {
        /// How many files.
        files: usize,
        /// How many accesses to each.
        accesses: usize,
    },
    /// All accesses to the files of that name.
    Named(PathId),
}

/// How much a file is worth being looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Worth {
    /// Time at stake, ns.
    pub(crate) at_stake: u64,
    /// Calls less.
    pub(crate) saved_calls: u64,
    /// How many accesses there are.
    pub(crate) accesses: u64,
}

impl Worth {
    fn and(self, other: Self) -> Self {
        Self {
            at_stake: self.at_stake.saturating_add(other.at_stake),
            saved_calls: self.saved_calls.saturating_add(other.saved_calls),
            accesses: self.accesses.saturating_add(other.accesses),
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            at_stake: self.at_stake.max(other.at_stake),
            saved_calls: self.saved_calls.max(other.saved_calls),
            accesses: self.accesses.max(other.accesses),
        }
    }
}

/// What is kept so far.
pub(crate) struct Kept {
    keep: Keep,
    /// By name: what habits have at stake there.
    habits: HashMap<Arc<str>, Worth>,
    /// By name: what merging saves of the files so far.
    merges: HashMap<PathId, Worth>,
    files: Vec<KeptFile>,
}

struct KeptFile {
    path: PathId,
    /// Of all files of that name, and of this one.
    of_name: Worth,
    own: Worth,
    judged: JudgedFile,
}

impl Kept {
    pub(crate) fn new(keep: Keep, found: &[Habit]) -> Self {
        let mut habits: HashMap<Arc<str>, Worth> = HashMap::new();
        if matches!(keep, Keep::Foremost { .. }) {
            for habit in found {
                let worth = Worth {
                    at_stake: habit.at_stake_ns.unwrap_or_default(),
                    saved_calls: habit.saved_calls,
                    accesses: habit.calls,
                };
                let known = habits.entry(habit.file.as_str().into()).or_default();
                *known = known.or(worth);
            }
        }
        Self { keep, habits, merges: HashMap::new(), files: Vec::new() }
    }

    /// Another file, of which `judge` makes that many accesses.
    pub(crate) fn file(
        &mut self,
        path: PathId,
        name: &str,
        own: Worth,
        judge: impl FnOnce(usize) -> JudgedFile,
    ) {
        match self.keep {
            Keep::Nothing => {}
            Keep::Named(wanted) if wanted == path => {
                let judged = judge(usize::MAX);
                self.files.push(KeptFile { path, of_name: own, own, judged });
            }
            Keep::Named(_) => {}
            Keep::Foremost { files, accesses } => {
                let merges = self.merges.entry(path).or_default();
                *merges = merges.and(Worth { accesses: 0, ..own });
                let habits = self.habits.get(name).copied().unwrap_or_default();
                let of_name = merges.or(habits);
                if of_name > Worth::default() {
                    self.put(files, path, of_name, own, || judge(accesses));
                }
            }
        }
    }

    fn put(
        &mut self,
        most: usize,
        path: PathId,
        of_name: Worth,
        own: Worth,
        judge: impl FnOnce() -> JudgedFile,
    ) {
        if let Some(known) = self.files.iter_mut().find(|known| known.path == path) {
            known.of_name = of_name;
            if own > known.own {
                (known.own, known.judged) = (own, judge());
            }
            return;
        }
        let least = self.files.iter().enumerate().min_by_key(|(_, known)| known.of_name);
        let least = least.map(|(index, known)| (index, known.of_name));
        match least.filter(|_| self.files.len() >= most) {
            Some((index, worth)) if worth < of_name => {
                self.files[index] = KeptFile { path, of_name, own, judged: judge() };
            }
            Some(_) => {}
            None if most > 0 => self.files.push(KeptFile { path, of_name, own, judged: judge() }),
            None => {}
        }
    }

    /// The files, those with most at stake first.
    pub(crate) fn into_files(mut self) -> Vec<JudgedFile> {
        if matches!(self.keep, Keep::Foremost { .. }) {
            self.files.sort_by(|a, b| b.of_name.cmp(&a.of_name).then(a.path.cmp(&b.path)));
        }
        self.files.into_iter().map(|kept| kept.judged).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Pairs;
    use std::collections::BTreeMap;

    fn judged(file: &str, accesses: usize) -> JudgedFile {
        JudgedFile {
            file: file.to_owned(),
            accesses_in_all: accesses as u64,
            runs_in_all: 0,
            pairs: Pairs::default(),
            stops: BTreeMap::new(),
            runs: Vec::new(),
            accesses: Vec::new(),
        }
    }

    fn kept(keep: Keep, files: &[(u32, u64)]) -> Vec<String> {
        let mut kept = Kept::new(keep, &[]);
        for (index, (path, at_stake)) in files.iter().enumerate() {
            let own = Worth { at_stake: *at_stake, saved_calls: 0, accesses: 1 };
            kept.file(PathId(*path), "", own, |_| judged(&format!("{path}.{index}"), 1));
        }
        kept.into_files().into_iter().map(|file| file.file).collect()
    }

    #[test]
    fn files_with_most_at_stake_are_kept_and_of_a_name_the_one_with_most() {
        let files = [(1, 5), (2, 9), (3, 0), (1, 7), (4, 10), (5, 1)];
        assert_eq!(kept(Keep::Foremost { files: 2, accesses: 9 }, &files), ["1.3", "4.4"]);
        assert_eq!(kept(Keep::Foremost { files: 9, accesses: 9 }, &files), ["1.3", "4.4", "2.1", "5.5"]);
        assert_eq!(kept(Keep::Named(PathId(1)), &files), ["1.0", "1.3"]);
        assert_eq!(kept(Keep::Nothing, &files), [] as [&str; 0]);
    }
}
