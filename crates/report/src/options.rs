//! What a report says about itself, and how much it holds.

use crate::workflow::Part;
use iotrail_advise::Proof;
use iotrail_characterize::Likeness;
use iotrail_dfg::ConcurrencyRule;
use iotrail_model::threads::one_per_core;
use std::num::NonZeroUsize;

/// How a report is made. The limits keep the file below a megabyte; whatever they cut is counted in the page.
#[derive(Clone, Debug)]
pub struct ReportOptions {
    /// Heading; the names of the trails if there is none.
    pub title: Option<String>,
    /// What a comparison of the log's groups comes to, in a line; leads the page.
    pub verdict: Option<String>,
    /// The command line that makes this page, for the footer.
    pub command: String,
    /// How concurrency is counted.
    pub concurrency: ConcurrencyRule,
    /// Worker threads.
    pub threads: NonZeroUsize,
    /// How processes are grouped, in the words of [`iotrail_query::ProcessGroupBy::parse`].
    pub phases_by: String,
    /// Parts that are left out.
    pub without: Vec<Part>,
    /// What was measured of the advice on the log.
    pub proofs: Vec<Proof>,
    /// The program of the log beside the clone that a model makes of it.
    pub likeness: Option<Likeness>,
    /// The loops of the structures among the inputs.
    pub structured: Option<crate::loops::Structured>,
    /// How much the page holds.
    pub limits: Limits,
}

/// How many of each the page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Activities.
    pub nodes: usize,
    /// Transitions.
    pub edges: usize,
    /// Stops of the slider of activities.
    pub stops: usize,
    /// Stops of the slider of transitions.
    pub levels: usize,
    /// Lines of the graph at a stop, if not more are needed to keep it together.
    pub routed_edges: usize,
    /// Slowest events of each activity.
    pub examples: usize,
    /// Files of each activity, and cases of each activity.
    pub rows_per_node: usize,
    /// Variants.
    pub variants: usize,
    /// Folded activities of a variant.
    pub variant_tokens: usize,
    /// Rows of each table of cases and changes.
    pub table_rows: usize,
    /// Rows of the table of files.
    pub files: usize,
    /// Files whose accesses are sampled.
    pub sampled_files: usize,
    /// Sampled accesses of such a file.
    pub accesses: usize,
    /// Findings of advice.
    pub advice: usize,
    /// Files that findings are about, those whose accesses are shown, and accesses of each of these.
    pub advised_files: usize,
    /// See `advised_files`.
    pub judged_files: usize,
    /// See `advised_files`.
    pub judged_accesses: usize,
    /// Pieces of the elapsed time, and rows of who waited for whom.
    pub pieces: usize,
    /// Events drawn one by one in all timelines together.
    pub bars: usize,
    /// Events drawn one by one in one timeline.
    pub bars_per_timeline: usize,
    /// Longest events of a timeline that is drawn in bins.
    pub longest: usize,
    /// Rows of a timeline.
    pub timeline_rows: usize,
    /// Columns of a timeline.
    pub timeline_bins: u32,
    /// Characters of all binned timelines together.
    pub timeline_characters: usize,
    /// Groups of processes.
    pub phases: usize,
    /// Processes.
    pub processes: usize,
    /// Distributions of each quantity.
    pub series: usize,
    /// Bins of all series of a picture of throughput together.
    pub throughput_cells: usize,
    /// Series of a picture of throughput.
    pub throughput_rows: usize,
    /// Joined vertices of the workflow.
    pub flow_groups: usize,
    /// Edges between them that the layout makes room for.
    pub flow_routed: usize,
    /// Vertices behind them.
    pub flow_vertices: usize,
    /// Edges between these.
    pub flow_edges: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            nodes: 60,
            edges: 1500,
            stops: 12,
            levels: 4,
            routed_edges: 220,
            examples: 5,
            rows_per_node: 10,
            variants: 60,
            variant_tokens: 400,
            table_rows: 500,
            files: 200,
            sampled_files: 20,
            accesses: 2_000,
            advice: 20,
            advised_files: 100,
            judged_files: 12,
            judged_accesses: 400,
            pieces: 60,
            bars: 8_000,
            bars_per_timeline: 3000,
            longest: 30,
            timeline_rows: 48,
            timeline_bins: 256,
            timeline_characters: 220_000,
            phases: 100,
            processes: 5_000,
            series: 16,
            throughput_cells: 4_000,
            throughput_rows: 64,
            flow_groups: 48,
            flow_routed: 240,
            flow_vertices: 5_000,
            flow_edges: 12_000,
        }
    }
}

impl Limits {
    /// Takes a third of the detail away: what fills a page is bars and bins, long traces, examples, long tables and stops of the graph. Returns
    /// whether there was anything left to take.
    pub(crate) fn tighten(&mut self) -> bool {
        let before = *self;
        self.stops = (self.stops / 3 * 2).max(6);
        self.bars = (self.bars / 3 * 2).max(200);
        self.bars_per_timeline = (self.bars_per_timeline / 3 * 2).max(100);
        self.timeline_characters = (self.timeline_characters / 3 * 2).max(2_000);
        self.longest = (self.longest / 3 * 2).max(1);
        self.examples = (self.examples / 3 * 2).max(1);
        self.rows_per_node = (self.rows_per_node / 3 * 2).max(1);
        self.variants = (self.variants / 3 * 2).max(5);
        self.variant_tokens = (self.variant_tokens / 3 * 2).max(20);
        self.table_rows = (self.table_rows / 3 * 2).max(20);
        self.files = (self.files / 3 * 2).max(20);
        self.accesses = (self.accesses / 3 * 2).max(200);
        self.judged_files = (self.judged_files / 3 * 2).max(2);
        self.processes = (self.processes / 3 * 2).max(200);
        self.series = (self.series / 3 * 2).max(4);
        self.throughput_cells = (self.throughput_cells / 3 * 2).max(400);
        self.flow_vertices = (self.flow_vertices / 3 * 2).max(200);
        self.flow_edges = (self.flow_edges / 3 * 2).max(400);
        *self != before
    }
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self {
            title: None,
            verdict: None,
            command: String::new(),
            concurrency: ConcurrencyRule::default(),
            threads: one_per_core(),
            phases_by: "exe".to_owned(),
            without: Vec::new(),
            proofs: Vec::new(),
            likeness: None,
            structured: None,
            limits: Limits::default(),
        }
    }
}
