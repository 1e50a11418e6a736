//! What the parts about the workflow are made from: found once, however much of it the page holds.

use super::distributions::{self, distributions, throughput};
use super::flow::{self, CriticalPath, Overview, flow};
use super::phases::phases;
use super::processes::processes;
use super::{PageWorkflow, Part};
use crate::error::ReportError;
use crate::name_table::NameTable;
use crate::options::ReportOptions;
use iotrail_model::Timestamp;
use iotrail_query::{LifeId, Lives, ProcessGroupBy, ProcessGroups, Query};
use iotrail_stats::{Profile, ProfileOptions, profile};
use iotrail_trail::EventLog;
use iotrail_workflow::build::{BuildOptions, build};
use iotrail_workflow::graph::Graph;

/// Processes, their groups, and what was found out about them.
#[derive(Debug, Default)]
pub(crate) struct Material {
    lives: Lives,
    groups: ProcessGroups,
    profile: Option<Profile>,
    graph: Option<(Graph, CriticalPath, Overview)>,
}

impl Material {
    /// What `options` ask for.
    pub(crate) fn new(log: &EventLog, query: &Query, options: &ReportOptions) -> Result<Self, ReportError> {
        let lives = Lives::of_log(log)?;
        let groups = ProcessGroupBy::parse(&options.phases_by)?.divide(log, &lives);
        let wanted = |part: Part| !options.without.contains(&part);
        let profile = if wanted(Part::Phases) || wanted(Part::Distributions) {
            let how = ProfileOptions {
                by: options.phases_by.clone(),
                threads: options.threads,
                ..ProfileOptions::default()
            };
            Some(profile(log, query, &lives, &groups, &how)?)
        } else {
            None
        };
        let graph = match wanted(Part::Workflow) {
            true => Some(drawn(log, query, &lives, &groups, options)?),
            false => None,
        };
        Ok(Self { lives, groups, profile, graph })
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
        let group_of = |life: LifeId| self.groups.of(life).map(|group| group.0);
        let chosen = processes((&self.lives, log.cases()), &group_of, origin, limits.processes, names);
        let places = chosen.as_ref().map(|chosen| chosen.places.clone()).unwrap_or_default();
        if wanted(Part::Processes) || wanted(Part::Workflow) {
            page.processes = chosen.map(|chosen| chosen.page);
        }
        if let Some((graph, critical, overview)) = &self.graph {
            let room = (limits.flow_vertices, limits.flow_edges);
            page.flow =
                flow(&flow::Subject { graph, critical, overview, lives: &places, origin, room }, names);
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

/// The graph, its critical path and its positions.
fn drawn(
    log: &EventLog,
    query: &Query,
    lives: &Lives,
    groups: &ProcessGroups,
    options: &ReportOptions,
) -> Result<(Graph, CriticalPath, Overview), ReportError> {
    let query = (!query.selection().is_empty()).then_some(query);
    let how = BuildOptions { query, threads: options.threads, ..BuildOptions::default() };
    let graph = build(log, lives, groups, &how)?;
    let critical = CriticalPath::new(&graph);
    let room = (options.limits.flow_groups, options.limits.flow_routed);
    let overview = Overview::new(&graph, &critical, options.engine, room)?;
    Ok((graph, critical, overview))
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
