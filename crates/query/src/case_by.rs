//! What a case is: the recorded rank, or a process, thread or executable image within it.
//!
//! The paper's case is one traced MPI process, one trace file (section III). A file into which a tracer followed several
//! processes that ran at the same time is no sequence of calls; there a directly-follows relation between calls of
//! different processes would say nothing, so each process is a case of its own.

use crate::error::QueryError;
use iotrail_model::Case;
use iotrail_model::units::count;
use serde::Serialize;

/// What a case is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CaseBy {
    /// The recorded case: (cid, host, rid).
    #[default]
    Rank,
    /// Each process of it.
    Pid,
    /// Each thread of it.
    Tid,
    /// Each executable image of each process: an exec begins a new case.
    Exec,
}

impl CaseBy {
    const ALL: [Self; 4] = [Self::Rank, Self::Pid, Self::Tid, Self::Exec];

    /// The word that stands for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rank => "rank",
            Self::Pid => "pid",
            Self::Tid => "tid",
            Self::Exec => "exec",
        }
    }

    /// The kind of case of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|by| by.name() == name)
    }

    /// The value of that word of the user.
    ///
    /// # Errors
    /// If it is none of `rank`, `pid`, `tid`, `exec`.
    pub fn parse(word: &str) -> Result<Self, QueryError> {
        Self::from_name(word).ok_or_else(|| {
            QueryError::word("case", word, "unknown kind of case", "write rank, pid, tid or exec")
        })
    }

    /// The kind of case that fits `cases`, and why, as a clause: rank unless processes of a case ran at the same time.
    #[must_use]
    pub fn choose(cases: &[Case]) -> (Self, String) {
        let interleaved: Vec<&Case> = cases.iter().filter(|case| case.interleaved).collect();
        match interleaved.first() {
            None => (Self::Rank, "in no recorded case did two processes run at the same time".to_owned()),
            Some(first) => {
                let (some, all) = (count(interleaved.len() as u64), count(cases.len() as u64));
                let name = iotrail_model::text::printable(&first.name.to_string()).into_owned();
                let of = if cases.len() == 1 { "the recorded case" } else { "recorded cases" };
                let which = match cases.len() {
                    1 => format!("{of} {name}"),
                    _ => format!("{some} of {all} {of} ({name} is the first)"),
                };
                (Self::Pid, format!("in {which} several processes ran at the same time"))
            }
        }
    }
}

impl std::fmt::Display for CaseBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
