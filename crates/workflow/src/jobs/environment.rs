//! Variables and the umask that the recording began with.

use super::programs::Programs;
use super::{Issue, Jobs};
use iotrail_model::run_variables::variable_of_run;
use iotrail_model::{ENVIRONMENT_DIGEST, Process};
use iotrail_query::ProcessTable;
use iotrail_trail::EventLog;
use std::collections::BTreeSet;

/// What is taken away from the permissions of new files where nothing else is known.
pub(crate) const USUAL_UMASK: u32 = 0o022;

/// The umask under which the commands of a recording were started, if it was one and is known.
pub(crate) fn initial_umask(log: &EventLog) -> Option<u32> {
    let umasks = log.coverage().recording?.umasks;
    umasks.first().copied().filter(|_| umasks.len() == 1)
}

/// The variables of the first programs that jobs shall have, and those that cannot be written down.
pub(crate) fn environment(programs: &Programs, processes: &ProcessTable) -> (Vec<String>, Vec<String>) {
    let first = programs.all.iter().filter(|program| program.parent.is_none());
    let kept = first.flat_map(|program| &programs.image(program, processes).env).filter(|variable| {
        let name = variable.split('=').next().unwrap_or_default();
        !variable.starts_with(ENVIRONMENT_DIGEST) && name != "PWD" && variable_of_run(name).is_none()
    });
    kept.cloned().collect::<BTreeSet<_>>().into_iter().partition(|variable| is_plain(variable))
}

/// Whether two programs have different variables beside those that were kept, as far as is known.
pub(crate) fn differs(one: &Process, other: &Process) -> bool {
    let digest =
        |image: &'_ Process| image.env.iter().position(|entry| entry.starts_with(ENVIRONMENT_DIGEST));
    digest(one).zip(digest(other)).is_some_and(|(own, its)| one.env[own] != other.env[its])
}

/// Whether no sign in it means anything to a shell, to make or to Python.
fn is_plain(variable: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    variable.split_once('=').is_some_and(|(name, value)| {
        name.bytes().all(is_word) && value.bytes().all(|byte| is_word(byte) || b"./:@%+,=-".contains(&byte))
    })
}

impl Jobs {
    /// The variables and the umask that jobs shall have, in words, for formats that cannot give them.
    #[must_use]
    pub fn environment_remark(&self) -> Option<String> {
        let umask = self.umask.map(|umask| format!("umask {umask:03o}"));
        let variables: Vec<String> = self.environment.iter().cloned().chain(umask).collect();
        (!variables.is_empty()).then(|| Issue::Environment { variables }.message())
    }
}
