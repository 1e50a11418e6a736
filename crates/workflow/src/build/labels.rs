//! Names of vertices: keys that are unique and the same in every run of the analysis, labels for people.

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::Pid;
use iotrail_query::{ProcessId, ProcessTable};
use std::sync::Arc;

/// The last component of a path; of what is no file the whole name.
pub(crate) fn base(path: &str) -> &str {
    match path.rsplit('/').next() {
        Some(name) if path.starts_with('/') && !name.is_empty() => name,
        _ => path,
    }
}

/// For each process its number, and `~2` for the second process of that number.
pub(crate) fn process_keys(processes: &ProcessTable) -> Vec<String> {
    let mut seen: HashMap<Pid, u32, RandomState> = HashMap::default();
    let key = |index: usize| {
        let pid = processes.get(ProcessId(index as u32)).pid;
        let count = seen.entry(pid).or_default();
        *count += 1;
        if *count == 1 { pid.to_string() } else { format!("{pid}~{count}") }
    };
    (0..processes.all().len()).map(key).collect()
}

/// Shares equal texts.
#[derive(Debug, Default)]
pub(crate) struct Texts(HashSet<Arc<str>, RandomState>);

impl Texts {
    pub(crate) fn share(&mut self, text: &str) -> Arc<str> {
        self.0.get_or_insert_with(text, |text| Arc::from(text)).clone()
    }
}

/// Keys that were given.
#[derive(Debug, Default)]
pub(crate) struct Keys(HashSet<Arc<str>, RandomState>);

impl Keys {
    /// The key, with a number behind it if another vertex has it already (a relative path that looks like a process).
    pub(crate) fn unique(&mut self, key: &str) -> Arc<str> {
        let mut unique: Arc<str> = Arc::from(key);
        let mut number = 2_u32;
        while !self.0.insert(Arc::clone(&unique)) {
            unique = Arc::from(format!("{key}~{number}"));
            number += 1;
        }
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short_and_keys_unique() {
        assert_eq!(
            [base("/a/b.fits"), base("pipe:[7]"), base("TCP:[a/b]"), base("/")],
            ["b.fits", "pipe:[7]", "TCP:[a/b]", "/"]
        );
        let mut keys = Keys::default();
        let made: Vec<Arc<str>> = ["7", "7", "7~2", "7"].iter().map(|key| keys.unique(key)).collect();
        assert_eq!(made.iter().map(|key| &**key).collect::<Vec<_>>(), ["7", "7~2", "7~2~2", "7~3"]);
    }
}
