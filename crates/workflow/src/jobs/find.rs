//! Finds the jobs: divides, joins what must run together, and takes a manager as a whole where its commands alone would
//! give another result.

use super::divide::{Division, divide};
use super::early::{OpenedEarly, opened_early};
use super::environment::differs;
use super::group::{Together, together};
use super::hidden::Hidden;
use super::history::{self, History};
use super::order::{self, components};
use super::own_actions::own_actions;
use super::programs::{ProgramId, Programs};
use super::script::Scripts;
use super::steps::Step;
use super::{JobOptions, Jobs, Script};
use crate::waits::ends::Channels;
use iotrail_model::text::printable;
use iotrail_query::ProcessTable;
use iotrail_trail::EventLog;
use std::collections::{BTreeMap, BTreeSet};

/// How often jobs that need each other are joined before their manager is taken as a whole.
const ROUNDS: usize = 8;

/// What the jobs are found in.
pub(crate) struct Finder<'a> {
    pub(crate) log: &'a EventLog,
    pub(crate) processes: &'a ProcessTable,
    pub(crate) options: &'a JobOptions,
    pub(crate) steps: &'a [Step],
    pub(crate) programs: &'a Programs,
    pub(crate) hidden: &'a Hidden,
    pub(crate) sockets: &'a Channels,
}

/// Jobs before they are described.
pub(crate) struct JobDrafts {
    pub(crate) division: Division,
    pub(crate) together: Together,
    /// For each group what runs it, or why nothing can.
    pub(crate) scripts: Vec<Result<Script, String>>,
    pub(crate) history: History,
    /// What managers did that is not exported.
    pub(crate) not_exported: Vec<String>,
    /// Managers that are one job each, and why.
    pub(crate) whole: BTreeMap<ProgramId, String>,
}

/// A manager that must be taken as a whole, and why.
struct Whole(ProgramId, String);

impl Finder<'_> {
    pub(crate) fn find(&self) -> Jobs {
        let mut whole: BTreeMap<ProgramId, String> = BTreeMap::new();
        loop {
            let managers: BTreeSet<ProgramId> = whole.keys().copied().collect();
            let division = divide(self.processes, self.programs, self.options, &managers);
            match self.attempt(division) {
                // Each round takes one more manager as a whole.
                Err(Whole(manager, why)) => drop(whole.insert(manager, why)),
                Ok(found) => {
                    return order::assemble(
                        self.log,
                        self.processes,
                        self.programs,
                        JobDrafts { whole, ..found },
                    );
                }
            }
        }
    }

    fn attempt(&self, division: Division) -> Result<JobDrafts, Whole> {
        let mut joined: Vec<Vec<u32>> = Vec::new();
        let mut not_exported = Vec::new();
        let mut early = None;
        let mut round = 0;
        loop {
            let together = together(self.programs, self.processes, &division, &joined);
            let early = early.get_or_insert_with(|| {
                opened_early(
                    self.steps,
                    self.log.names(),
                    self.processes,
                    self.programs,
                    (&division, &together),
                    self.hidden,
                )
            });
            if round == 0 {
                let actions = own_actions(
                    self.steps,
                    self.log.names(),
                    self.processes,
                    self.programs,
                    (&division, &together, early),
                    self.hidden,
                    self.sockets,
                );
                for manager in actions.managers() {
                    if !division.forced[manager.index()] {
                        return Err(Whole(manager, actions.reason(manager)));
                    }
                    not_exported.extend(actions.sentences(manager, division.system[manager.index()]));
                }
                not_exported.extend(self.launched(&division));
            }
            let scripts = self.scripts(&division, &together, early)?;
            let who: Vec<Option<u32>> = division
                .of_program
                .iter()
                .map(|head| head.map(|head| together.of_head[head as usize]))
                .collect();
            let history = history::write(
                self.steps,
                self.log,
                self.processes,
                self.programs,
                &together,
                (&who, &division.of_program),
                self.hidden,
            );
            let cycles = cycles(together.groups.len(), &history);
            let forced = |group: &u32| self.manager(&division, &together.groups[*group as usize]).is_none();
            let cycles: Vec<Vec<u32>> =
                cycles.into_iter().filter(|groups| !groups.iter().all(forced)).collect();
            if cycles.is_empty() {
                let whole = BTreeMap::new();
                return Ok(JobDrafts { division, together, scripts, history, not_exported, whole });
            }
            if round >= ROUNDS {
                let heads = cycles.iter().flatten().flat_map(|group| &together.groups[*group as usize]);
                let heads: Vec<u32> = heads.copied().collect();
                if let Some(manager) = self.manager(&division, &heads) {
                    return Err(Whole(manager, "its commands exchange data both ways".to_owned()));
                }
            }
            for groups in cycles {
                joined
                    .push(groups.iter().flat_map(|group| together.groups[*group as usize].clone()).collect());
            }
            round += 1;
        }
    }

    /// Managers of jobs that were started with other variables than the recording began with, which their commands got from them.
    fn launched(&self, division: &Division) -> Vec<String> {
        let image = |program: ProgramId| self.programs.image(self.programs.get(program), self.processes);
        let name = |program: ProgramId| {
            let exe = image(program).exe.as_deref().unwrap_or("?");
            printable(exe.rsplit('/').next().unwrap_or_default()).into_owned()
        };
        let managers: BTreeSet<ProgramId> =
            division.heads.iter().filter_map(|head| self.programs.get(*head).parent).collect();
        let mut sentences = Vec::new();
        for manager in managers {
            let parent = |program: &ProgramId| self.programs.get(*program).parent;
            let root = std::iter::successors(Some(manager), parent).last().unwrap_or(manager);
            if differs(image(manager), image(root)) {
                sentences.push(format!(
                    "{} was started with environment variables that are not in the trail (`iotrail record --env NAME` keeps one), and its commands had them",
                    name(manager)
                ));
            }
        }
        sentences
    }

    /// What runs each group.
    fn scripts(
        &self,
        division: &Division,
        together: &Together,
        early: &OpenedEarly,
    ) -> Result<Vec<Result<Script, String>>, Whole> {
        let scripts = Scripts {
            processes: self.processes,
            names: self.log.names(),
            programs: self.programs,
            division,
            together,
            early,
        };
        let mut all = Vec::with_capacity(together.groups.len());
        for heads in &together.groups {
            let script = scripts.script(heads);
            if let (Err(why), Some(manager)) = (&script, self.manager(division, heads)) {
                return Err(Whole(manager, why.clone()));
            }
            all.push(script);
        }
        Ok(all)
    }

    /// The manager that can be taken as a whole instead of those heads.
    fn manager(&self, division: &Division, heads: &[u32]) -> Option<ProgramId> {
        let managers =
            heads.iter().filter_map(|head| self.programs.get(division.heads[*head as usize]).parent);
        managers.filter(|manager| !division.forced[manager.index()]).max()
    }
}

/// Groups that need each other.
fn cycles(count: usize, history: &History) -> Vec<Vec<u32>> {
    let mut needs: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); count];
    for (job, needed) in &history.needs {
        needs[*job as usize].insert(*needed);
    }
    let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (group, component) in components(&needs).into_iter().enumerate() {
        members.entry(component).or_default().push(group as u32);
    }
    members.into_values().filter(|groups| groups.len() > 1).collect()
}
