//! Processes over time: a row for each, from its start to its end, below the process that made it (Dun et al., section
//! 6.3.3: the process tree; here with the axis of time that its picture lacks).

mod clock;
mod colours;
mod lanes;
mod of_tree;
mod scene;
mod strips;

pub use of_tree::timeline;
pub use scene::scene;

/// A process, or several that became one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GanttRow {
    /// What is written beside it: the command's base name.
    pub label: String,
    /// What its tooltip says: the command line.
    pub detail: String,
    /// Index into [`Gantt::groups`]; none if it is in no group.
    pub group: Option<usize>,
    /// When it began, ns since the epoch; none if that was not seen.
    pub start: Option<i64>,
    /// When it ended; none if that was not seen.
    pub end: Option<i64>,
    /// Number of its ancestors.
    pub depth: usize,
    /// Index of the row of its parent, which comes before it.
    pub parent: Option<usize>,
    /// Whether it ended with another exit status than 0, or by a signal.
    pub failed: bool,
    /// How many processes it stands for.
    pub count: u64,
}

/// A timeline of processes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gantt {
    /// What it shows, short.
    pub title: String,
    /// What it shows, at length; a line each.
    pub notes: Vec<String>,
    /// Names of the groups of processes.
    pub groups: Vec<String>,
    /// First and last moment that anything is known of, ns since the epoch; taken from the rows if it is not given.
    pub span: Option<(i64, i64)>,
    /// Every process before its children, otherwise in the order in which they shall be drawn.
    pub rows: Vec<GanttRow>,
}
