//! Files that were opened long before the command for which they were opened was executed, as by `exec 3>log` of a shell.
//!
//! As redirections of that command they are opened when it runs. That is not the same where somebody else used in between what
//! the opening made or emptied, or where the name led elsewhere by then.

use super::divide::Division;
use super::group::Together;
use super::hidden::Hidden;
use super::programs::{FileOpenId, ProgramId, Programs, name};
use super::steps::{JobAction, Step};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::Names;
use iotrail_query::ProcessTable;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Included};

/// Opens after which somebody else did something before the command was executed that has the open file.
#[derive(Debug, Default)]
pub(crate) struct OpenedEarly {
    /// The opening may have made or emptied the file, and somebody used it, or looked whether it is there.
    pub(crate) used: BTreeSet<FileOpenId>,
    /// The name, or one on the way to it, was removed or given to something else.
    pub(crate) renamed: BTreeSet<FileOpenId>,
}

/// Looks for them; costs one walk through the steps.
pub(crate) fn opened_early(
    steps: &[Step],
    names: &Names,
    processes: &ProcessTable,
    programs: &Programs,
    (division, together): (&Division, &Together),
    hidden: &Hidden,
) -> OpenedEarly {
    let mut walk = Walk {
        names,
        programs,
        waiting: BTreeMap::new(),
        for_program: HashMap::default(),
        found: OpenedEarly::default(),
    };
    for (number, step) in steps.iter().enumerate() {
        if step.action == JobAction::Exec
            && let Some(program) = programs.of_step[number]
        {
            walk.executed(program);
        }
        if !walk.waiting.is_empty() {
            walk.step(step);
        }
        if let Some(open) = programs.open_of_step.get(&number)
            && let Some(head) = together.opened_for.get(open)
        {
            let program = division.heads[*head as usize];
            let process = processes.find(step.case, step.pid, step.start);
            let is_hidden = hidden.hides(programs.opening(*open).path);
            if !is_hidden && process != Some(programs.get(program).process) {
                walk.opened(*open, program);
            }
        }
    }
    walk.found
}

struct Walk<'a> {
    names: &'a Names,
    programs: &'a Programs,
    /// Opens for commands that were not executed yet, by the names that lead to them.
    waiting: BTreeMap<&'a str, Vec<FileOpenId>>,
    for_program: HashMap<ProgramId, Vec<FileOpenId>, RandomState>,
    found: OpenedEarly,
}

impl<'a> Walk<'a> {
    fn opened(&mut self, open: FileOpenId, program: ProgramId) {
        self.for_program.entry(program).or_default().push(open);
        for called in self.called(open) {
            self.waiting.entry(called).or_default().push(open);
        }
    }

    fn executed(&mut self, program: ProgramId) {
        for open in self.for_program.remove(&program).into_iter().flatten() {
            for called in self.called(open) {
                if let Some(opens) = self.waiting.get_mut(called) {
                    opens.retain(|other| *other != open);
                    if opens.is_empty() {
                        self.waiting.remove(called);
                    }
                }
            }
        }
    }

    /// The name of the file, and the one by which it was opened.
    fn called(&self, open: FileOpenId) -> impl Iterator<Item = &'a str> + use<'a> {
        let opening = self.programs.opening(open);
        let via = self.names.flags(opening.via.into());
        std::iter::once(&**name(self.names, opening.path)).chain(via)
    }

    fn step(&mut self, step: &Step) {
        match step.action {
            JobAction::Remove | JobAction::RemoveDirectory | JobAction::Rename => {
                for path in [step.path.get(), step.path2.get()].into_iter().flatten() {
                    self.renamed(name(self.names, path));
                }
            }
            JobAction::List => {
                if let Some(path) = step.path.get() {
                    self.listed(name(self.names, path));
                }
            }
            JobAction::Read
            | JobAction::Write
            | JobAction::Copy
            | JobAction::Change
            | JobAction::Mode(_)
            | JobAction::Times
            | JobAction::Open(_)
            | JobAction::Look
            | JobAction::Stat
            | JobAction::Link
            | JobAction::Exec => {
                for path in [step.path.get(), step.path2.get()].into_iter().flatten() {
                    self.used(step, name(self.names, path));
                }
            }
            _ => {}
        }
    }

    fn used(&mut self, step: &Step, path: &str) {
        for open in self.waiting.get(path).into_iter().flatten() {
            let opening = self.programs.opening(*open);
            let through = step.open.get().map(|number| (step.numbering, number));
            let is_itself = through.is_some() && opening.number == through;
            if !is_itself && (opening.mode.create || opening.mode.truncate) {
                self.found.used.insert(*open);
            }
        }
    }

    /// A directory was listed: also whoever only sees that the file is there.
    fn listed(&mut self, directory: &str) {
        let made = |open: &&FileOpenId| self.programs.opening(**open).mode.create;
        let within = self
            .below(directory)
            .filter(|(path, _)| path.rfind('/') == Some(directory.trim_end_matches('/').len()));
        let opens: Vec<FileOpenId> =
            within.flat_map(|(_, opens)| opens.iter().filter(made).copied()).collect();
        self.found.used.extend(opens);
    }

    fn renamed(&mut self, path: &str) {
        let opens = self.waiting.get(path).into_iter().chain(self.below(path).map(|(_, opens)| opens));
        let opens: Vec<FileOpenId> = opens.flatten().copied().collect();
        self.found.renamed.extend(opens);
    }

    /// What has a name below a directory.
    fn below(&self, directory: &str) -> impl Iterator<Item = (&&'a str, &Vec<FileOpenId>)> {
        let start = format!("{}/", directory.trim_end_matches('/'));
        // The character behind "/".
        let end = format!("{}0", directory.trim_end_matches('/'));
        self.waiting.range::<str, _>((Included(&*start), Excluded(&*end)))
    }
}
