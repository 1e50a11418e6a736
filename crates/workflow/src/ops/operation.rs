//! Operations as words, and their application one after the other.

use crate::graph::Graph;
use crate::ops::aggregate::{Aggregation, FileKey, ProcessKey, aggregate};
use crate::ops::error::OpError;
use crate::ops::expression::Expression;
use crate::ops::find::find;
use crate::ops::table::{self, Table};
use crate::ops::weight::Weight;
use crate::ops::window::{Window, window};
use crate::ops::{hide, hide_system, phase, reach, select};
use iotrail_model::text::printable;

/// One operation, its words checked.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Keeps the vertices for which an expression holds.
    Select(Expression),
    /// Leaves out the vertices for which an expression holds.
    Hide(Expression),
    /// Leaves out files of the system, which are left out anyway unless they are asked for.
    HideSystem,
    /// Keeps a vertex and what leads to it.
    Ancestors(String),
    /// Keeps a vertex and what it leads to.
    Descendants(String),
    /// Keeps a vertex and those next to it.
    Neighbours(String),
    /// Keeps what happened in a time window.
    Window(String, Window),
    /// Keeps a phase and its files.
    Phase(String),
    /// Joins what has something in common.
    Aggregate(Aggregation),
    /// Joins processes of the same behaviour, and files by template.
    Cluster,
    /// Sets what the operations after it weigh by.
    Weight(Weight),
    /// Tells the critical paths.
    CriticalPath,
    /// Tells the slack of each vertex.
    Slack,
    /// Tells the bottlenecks.
    Bottlenecks,
    /// Tells degrees and centrality.
    Degrees,
    /// Tells the clusters.
    Clusters,
    /// Tells every name of each file.
    Paths,
}

/// What operations made of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The graph after all of them.
    pub graph: Graph,
    /// The weight after all of them.
    pub weight: Weight,
    /// The tables that were asked for, each of the graph as it was then.
    pub tables: Vec<Table>,
}

impl Operation {
    /// The operation `name` (as on the command line, without dashes) on `word`, which is empty for those that take none.
    ///
    /// # Errors
    /// For a word that makes no sense.
    pub fn parse(name: &str, word: &str) -> Result<Self, OpError> {
        Ok(match name {
            "select" => Self::Select(Expression::parse("select", word)?),
            "hide" if word.trim() == "system" => Self::HideSystem,
            "hide" => Self::Hide(Expression::parse("hide", word)?),
            "ancestors" => Self::Ancestors(word.to_owned()),
            "descendants" => Self::Descendants(word.to_owned()),
            "neighbours" => Self::Neighbours(word.to_owned()),
            "window" => Self::Window(word.to_owned(), Window::parse(word)?),
            "phase" => Self::Phase(word.to_owned()),
            "aggregate" => Self::Aggregate(Aggregation::parse(word)?),
            "weight" => Self::Weight(Weight::parse(word)?),
            "cluster" => Self::Cluster,
            "critical-path" => Self::CriticalPath,
            "slack" => Self::Slack,
            "bottlenecks" => Self::Bottlenecks,
            "degrees" => Self::Degrees,
            "clusters" => Self::Clusters,
            "paths" => Self::Paths,
            _ => {
                let allowed = "write select, hide, ancestors, descendants, neighbours, window, phase, aggregate, \
                               cluster, weight, critical-path, slack, bottlenecks, degrees, clusters or paths";
                return Err(OpError::Unknown { name: name.to_owned(), allowed });
            }
        })
    }

    fn apply(&self, outcome: &mut Outcome) -> Result<(), OpError> {
        let graph = &outcome.graph;
        let shown = |word: &str| printable(word).into_owned();
        outcome.graph = match self {
            Self::Select(expression) => select(graph, expression),
            Self::Hide(expression) => hide(graph, expression),
            Self::HideSystem => hide_system(graph),
            Self::Ancestors(word) => reach::ancestors(graph, &find(graph, "ancestors", word)?, &shown(word)),
            Self::Descendants(word) => {
                reach::descendants(graph, &find(graph, "descendants", word)?, &shown(word))
            }
            Self::Neighbours(word) => {
                reach::neighbours(graph, &find(graph, "neighbours", word)?, &shown(word))
            }
            Self::Window(word, moments) => window(graph, word, *moments)?,
            Self::Phase(name) => phase(graph, name)?,
            Self::Aggregate(aggregation) => aggregate(graph, aggregation),
            Self::Cluster => aggregate(
                graph,
                &Aggregation { process: Some(ProcessKey::Cluster), file: Some(FileKey::Template) },
            ),
            Self::Weight(weight) => {
                outcome.weight = *weight;
                return Ok(());
            }
            Self::CriticalPath => {
                outcome.tables.extend(table::critical_path(graph, outcome.weight)?);
                return Ok(());
            }
            Self::Slack => {
                return table::slack(graph, outcome.weight).map(|table| outcome.tables.push(table));
            }
            Self::Bottlenecks => {
                outcome.tables.push(table::bottlenecks(graph));
                return Ok(());
            }
            Self::Degrees => {
                outcome.tables.push(table::degrees(graph));
                return Ok(());
            }
            Self::Clusters => {
                outcome.tables.push(table::clusters(graph));
                return Ok(());
            }
            Self::Paths => {
                outcome.tables.push(table::paths(graph));
                return Ok(());
            }
        };
        Ok(())
    }
}

/// Applies operations in their order.
///
/// # Errors
/// For the first that cannot be done.
pub fn run(graph: Graph, operations: &[Operation]) -> Result<Outcome, OpError> {
    let mut outcome = Outcome { graph, ..Outcome::default() };
    for operation in operations {
        operation.apply(&mut outcome)?;
    }
    Ok(outcome)
}
