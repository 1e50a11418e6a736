//! What the parts about the workflow are made from.

use super::distributions::{self, distributions, throughput};
use super::flow::{self, CriticalPath, Overview, flow};
use super::phases::phases;
use super::processes::processes;
use super::{PageWorkflow, Part};
use crate::error::ReportError;
use crate::name_table::NameTable;
use crate::options::ReportOptions;
use iotrail_model::Timestamp;
use iotrail_query::{ProcessGroupBy, ProcessGroups, ProcessId, ProcessTable, Query};
use iotrail_stats::{Context, FileUsing, Profile, ProfileOptions, Profiling, RowBy};
use iotrail_trail::EventLog;
use iotrail_workflow::build::{BuildOptions, Gathering, Records, Survey, Surveying, graph};
use iotrail_workflow::graph::Graph;

/// Processes, their groups, and what shall be found out about them.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    log: &'a EventLog,
    query: &'a Query,
    options: &'a ReportOptions,
    processes: ProcessTable,
    groups: ProcessGroups,
    profile: ProfileOptions,
}

impl<'a> Ground<'a> {
    pub(crate) fn new(
        log: &'a EventLog,
        query: &'a Query,
        options: &'a ReportOptions,
    ) -> Result<Self, ReportError> {
        let processes = ProcessTable::of_log(log)?;
        let groups = ProcessGroupBy::parse(&options.phases_by)?.divide(log, &processes);
        let profile = ProfileOptions {
            by: options.phases_by.clone(),
            threads: options.threads,
            ..ProfileOptions::default()
        };
        Ok(Self { log, query, options, processes, groups, profile })
    }

    fn wants(&self, part: Part) -> bool {
        !self.options.without.contains(&part)
    }

    pub(crate) const fn processes(&self) -> &ProcessTable {
        &self.processes
    }

    /// The pass for the profile, if it is asked for, and the one that tells what was done to each file.
    pub(crate) fn files_and_profile(&self) -> Result<(Option<Profiling<'_>>, FileUsing<'_>), ReportError> {
        let Self { log, query, processes, groups, profile, .. } = self;
        if self.wants(Part::Phases) || self.wants(Part::Distributions) {
            let profiling = Profiling::new(log, query, processes, groups, profile)?;
            let using = profiling.files(RowBy::Path);
            return Ok((Some(profiling), using));
        }
        let context = Context { log, query, processes, groups, only: None };
        Ok((None, FileUsing::new(context, RowBy::Path, self.options.threads)?))
    }

    /// The pass that finds out who waited for whom.
    pub(crate) fn surveying(&self) -> Surveying<'_> {
        Surveying::new(self.log, &self.processes)
    }

    /// The pass for the workflow graph, if it is asked for.
    pub(crate) fn gathering<'b>(&'b self, survey: &'b Survey) -> Option<Gathering<'b>> {
        self.wants(Part::Workflow).then(|| Gathering::new(&self.processes, survey))
    }

    /// With what the passes have found.
    pub(crate) fn material(
        self,
        profile: Option<Profile>,
        records: Option<(Survey, Records)>,
    ) -> Result<Material, ReportError> {
        let graph = records.map(|(survey, gathered)| self.drawn(survey, gathered)).transpose()?;
        Ok(Material { processes: self.processes, groups: self.groups, profile, graph })
    }

    /// The graph, its critical path and its positions.
    fn drawn(
        &self,
        survey: Survey,
        gathered: Records,
    ) -> Result<(Graph, CriticalPath, Overview), ReportError> {
        let query = (!self.query.selection().is_empty()).then_some(self.query);
        let how = BuildOptions { query, threads: self.options.threads, ..BuildOptions::default() };
        let graph = graph(self.log, &self.processes, &self.groups, survey, gathered, &how)?;
        let critical = CriticalPath::new(&graph);
        let room = (self.options.limits.flow_groups, self.options.limits.flow_routed);
        let overview = Overview::new(&graph, &critical, room)?;
        Ok((graph, critical, overview))
    }
}

/// Processes, their groups, and what was found out about them: once, however much of it the page holds.
#[derive(Debug, Default)]
pub(crate) struct Material {
    processes: ProcessTable,
    groups: ProcessGroups,
    profile: Option<Profile>,
    graph: Option<(Graph, CriticalPath, Overview)>,
}

impl Material {
    pub(crate) const fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref()
    }

    /// The parts of the page, within its limits.
    pub(crate) fn page(
        &self,
        log: &EventLog,
        origin: Timestamp,
        options: &ReportOptions,
        names: &mut NameTable,
    ) -> PageWorkflow {
        let limits = &options.limits;
        let wanted = |part: Part| !options.without.contains(&part);
        let mut page = PageWorkflow {
            by: options.phases_by.clone(),
            groups: self.groups.names.iter().map(|name| names.id(name)).collect(),
            without: options.without.clone(),
            ..PageWorkflow::default()
        };
        let group_of = |process: ProcessId| self.groups.of(process).map(|group| group.0);
        let chosen = processes((&self.processes, log.cases()), &group_of, origin, limits.processes, names);
        let positions = chosen.as_ref().map(|chosen| chosen.positions.clone()).unwrap_or_default();
        if wanted(Part::Processes) || wanted(Part::Workflow) {
            page.processes = chosen.map(|chosen| chosen.page);
        }
        if let Some((graph, critical, overview)) = &self.graph {
            let room = (limits.flow_vertices, limits.flow_edges);
            page.flow = flow(
                &flow::Subject { graph, critical, overview, processes: &positions, origin, room },
                names,
            );
        }
        if let Some(profile) = &self.profile {
            let room = distributions::Room {
                series: limits.series,
                cells: limits.throughput_cells,
                rows: limits.throughput_rows,
            };
            page.phases = phases(profile, limits.phases).filter(|_| wanted(Part::Phases));
            if wanted(Part::Distributions) {
                page.distributions = distributions(profile, room, names);
                page.throughput = throughput(profile, origin.0, room, names);
            }
        }
        page.absent = absent(&page, &wanted);
        page
    }
}

/// Why each part that is wanted is not there.
fn absent(page: &PageWorkflow, wanted: &dyn Fn(Part) -> bool) -> Vec<(Part, String)> {
    const NO_PROCESSES: &str = "no process with a known time: the trail has no table of processes, or its traces have no time stamps";
    let reasons = [
        (Part::Phases, page.phases.is_some(), "no process of a known group made a selected call"),
        (Part::Processes, page.processes.is_some(), NO_PROCESSES),
        (Part::Workflow, page.flow.is_some(), "no process is known to have used a file"),
        (
            Part::Distributions,
            !page.distributions.is_empty(),
            "no selected call has a duration or moved bytes",
        ),
    ];
    let missing = reasons.into_iter().filter(|(part, there, _)| wanted(*part) && !there);
    missing.map(|(part, _, why)| (part, why.to_owned())).collect()
}
