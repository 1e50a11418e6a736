//! A report from a log and a query.

use crate::assemble::assemble;
use crate::collect::{Collected, Collecting};
use crate::data::PageData;
use crate::drill::keep;
use crate::error::ReportError;
use crate::files::Files;
use crate::options::ReportOptions;
use crate::page::page;
use crate::positions::{Positions, positions, shown};
use crate::slices::{Sliced, time_slices};
use crate::subject::Subject;
use crate::workflow::{Ground, Material};
use iotrail_advise::{Advice, AdviseOptions, Analysis, explain_and_advise};
use iotrail_dfg::{Comparison, Contrast, Dfg, DfgOptions, Slicing, Synthesis};
use iotrail_draw::Picture;
use iotrail_kernel::heap;
use iotrail_model::Process;
use iotrail_query::{Query, scan};
use iotrail_stats::{AccessSampling, FileSlicing};
use iotrail_trail::EventLog;
use iotrail_workflow::why::Explaining;
use iotrail_workflow::why::result::Why;

/// A page is made smaller until it has at most this many bytes, so that it can be mailed and opens at once.
pub const MAX_PAGE_BYTES: usize = 1_200_000;

/// The report as one HTML file. Where the query has groups, the first two that have traces are compared, in the order of the query.
///
/// # Errors
/// If the log cannot be read or the graph cannot be laid out.
pub fn report(log: &EventLog, query: &Query, options: &ReportOptions) -> Result<String, ReportError> {
    let foundation = Foundation::new(log, query, options)?;
    let mut options = options.clone();
    loop {
        let html = page(&foundation.page_data(&options))?;
        if html.len() <= MAX_PAGE_BYTES || !options.limits.tighten() {
            return Ok(html);
        }
    }
}

/// The data of the report within the limits of `options`, however large the page becomes.
///
/// # Errors
/// If the log cannot be read or the graph cannot be laid out.
pub fn page_data(log: &EventLog, query: &Query, options: &ReportOptions) -> Result<PageData, ReportError> {
    Ok(Foundation::new(log, query, options)?.page_data(options))
}

/// What does not depend on how much detail the page holds. Several scans of the log, one after the other: what the second half
/// collects depends on which nodes are shown and which files are one, and what they hold in memory need not be there at once.
struct Foundation<'a> {
    log: &'a EventLog,
    query: &'a Query,
    processes: Vec<Process>,
    dfg: Dfg,
    comparison: Option<Comparison>,
    collected: Collected,
    shown: Picture,
    positions: Positions,
    workflow: Material,
    files: Files,
    sliced: Option<Sliced>,
    why: Why,
    advice: Advice,
}

impl<'a> Foundation<'a> {
    fn new(log: &'a EventLog, query: &'a Query, options: &ReportOptions) -> Result<Self, ReportError> {
        let how = DfgOptions { max_concurrency: options.concurrency, threads: options.threads };
        let ground = Ground::new(log, query, options)?;
        let dfg = scan(log, Some(query), options.threads, &Synthesis::new(log, query, how))?;
        query.check_selected(dfg.events.total, log)?;
        heap::give_back();
        let passes = (ground.files_and_profile()?, ground.surveying());
        let ((profile, used), survey) = scan(log, Some(query), options.threads, &passes)?;
        let ((_, using), _) = passes;
        heap::give_back();
        let shown = shown(&dfg, options);
        let positions = positions(&dfg, &shown, options)?;

        let mut groups = dfg.groups.iter().filter(|group| group.cases > 0).map(|group| group.name.as_str());
        let contrast = match (groups.next(), groups.next()) {
            (Some(a), Some(b)) => Some(Contrast::new(log, query, a, b, how)?),
            _ => None,
        };
        let explaining = Explaining::new(log, ground.processes(), &survey, options.threads)?;
        let how = AdviseOptions { keep: keep(&options.limits), ..AdviseOptions::new(options.threads) };
        let (why, advice) = match explaining {
            Some(explaining) => {
                let times = explaining.times();
                let why = explaining.explain(options.threads)?;
                (why, Analysis::new(log, query, ground.processes(), &times, how).advise()?)
            }
            None => explain_and_advise(log, query, &how)?,
        };

        heap::give_back();
        let mut files = Files::new(used.rows, &options.limits);
        let sampling = AccessSampling::new(&using, &files.sampled, options.limits.accesses);
        let collecting = Collecting::new(log, query, &dfg, &shown.nodes, &options.limits);
        let slices = time_slices(log, profile.as_ref());
        let listed = files.listed(&options.limits);
        let slicing = slices.clone().map(|slices| {
            (Slicing::new(slices.clone(), collecting.wanted()), FileSlicing::new(&using, listed, slices))
        });
        let passes = (((collecting, slicing), contrast), sampling);
        let (((collected, sliced), comparison), samples) = scan(log, Some(query), options.threads, &passes)?;
        drop(passes);
        files.samples = samples;
        let sliced = slices.zip(sliced).map(|(slices, (graph, files))| Sliced { slices, graph, files });
        drop(using);
        heap::give_back();

        let gathered = scan(log, Some(query), options.threads, &ground.gathering(&survey))?;
        heap::give_back();
        let workflow = ground.material(profile, gathered.map(|gathered| (survey, gathered)))?;
        heap::give_back();
        Ok(Self {
            log,
            query,
            processes: log.processes()?,
            dfg,
            comparison,
            collected,
            shown,
            positions,
            workflow,
            files,
            sliced,
            why,
            advice,
        })
    }

    fn page_data(&self, options: &ReportOptions) -> PageData {
        let subject = Subject {
            log: self.log,
            query: self.query,
            processes: &self.processes,
            dfg: &self.dfg,
            comparison: self.comparison.as_ref(),
            collected: &self.collected,
            workflow: &self.workflow,
            files: &self.files,
            sliced: self.sliced.as_ref(),
            why: &self.why,
            advice: &self.advice,
            options,
        };
        assemble(&subject, &self.shown, &self.positions)
    }
}
