//! Who does a step: a job, in one of its commands.
//!
//! A job may be several commands that share an open file. What others do meanwhile can wait for a command that is over, though its job
//! is not.

use super::group::Together;
use super::programs::{ProgramId, Programs};
use iotrail_model::Timestamp;
use iotrail_query::ProcessTable;

/// When each command ends with all that it started.
pub(crate) fn ends_of_heads(
    processes: &ProcessTable,
    programs: &Programs,
    heads: &[Option<u32>],
    number: usize,
) -> Vec<Option<Timestamp>> {
    let mut ends = vec![None; number];
    let last = programs.last.iter().enumerate().filter_map(|(process, program)| {
        Some((heads[program.as_ref()?.index()]?, processes.all()[process].end?))
    });
    let until = programs.all.iter().zip(heads).filter_map(|(program, head)| Some(((*head)?, program.until?)));
    for (head, end) in last.chain(until) {
        let known = &mut ends[head as usize];
        *known = (*known).max(Some(end));
    }
    ends
}

/// Which job and which of its commands each program belongs to.
pub(crate) struct Commands<'a> {
    pub(crate) programs: &'a Programs,
    pub(crate) together: &'a Together,
    pub(crate) who: &'a [Option<u32>],
    pub(crate) heads: &'a [Option<u32>],
    /// When each command ends.
    pub(crate) untils: &'a [Option<Timestamp>],
}

impl Commands<'_> {
    /// What a program does it does for a job.
    pub(crate) fn of_program(&self, program: ProgramId) -> Option<Doer> {
        Some(Doer { job: self.who[program.index()]?, until: self.until(program) })
    }

    /// When the command of a program ends.
    pub(crate) fn until(&self, program: ProgramId) -> Option<Timestamp> {
        self.untils[self.heads[program.index()]? as usize]
    }

    /// The one for which a manager opened a file in that step.
    pub(crate) fn of_opened(&self, step: usize) -> Option<Doer> {
        let head = *self.together.opened_for.get(self.programs.open_of_step.get(&step)?)?;
        let job = *self.together.of_head.get(head as usize)?;
        Some(Doer { job, until: self.untils[head as usize] })
    }
}

/// A job did something in one of its commands, which ended then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Doer {
    pub(crate) job: u32,
    pub(crate) until: Option<Timestamp>,
}

impl Doer {
    /// Whether the command was over at that time, so that others can wait for it.
    pub(crate) fn is_over(&self, at: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= at)
    }
}
