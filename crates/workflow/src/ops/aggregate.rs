//! Aggregation: processes or files that have something in common become one vertex (Dun et al., section 5.3.2).

use crate::graph::{Graph, ProcessVertex, Vertex, VertexId};
use crate::ops::OpError;
use crate::ops::cluster;
use crate::ops::file_groups::file_names;
use crate::ops::quotient::{Name, quotient};
use iotrail_model::text::{printable, shorten};
use iotrail_query::preset::base;
use std::sync::Arc;

const ALLOWED: &str = "write process=exe|cmd|host|cid|env:NAME|phase|cluster, file=dir|ext|template|all, or one of each with a comma between them";
/// Characters of a command line that are drawn.
const LONGEST_LABEL: usize = 60;
/// The group of processes of which it is unknown.
const NONE: &str = "(none)";

/// What processes of one vertex have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessKey {
    /// The base name of the last executable.
    Exe,
    /// The command line.
    Cmd,
    /// The host that the process ran on.
    Host,
    /// The first part of the recorded case's name: the command of the run.
    Cid,
    /// The value of a recorded environment variable.
    Env(String),
    /// The phase (group of processes) that the process belongs to.
    Phase,
    /// The behaviour: see [`mod@crate::ops::cluster`].
    Cluster,
}

/// What files of one vertex have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKey {
    /// The directory that holds the file.
    Dir,
    /// The extension of the file name.
    Ext,
    /// The path but for its numbers: `/data/corr_*.fits`.
    Template,
    /// That they are files.
    All,
}

/// What becomes one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aggregation {
    /// Processes, unless they stay single.
    pub process: Option<ProcessKey>,
    /// Files, unless they stay single.
    pub file: Option<FileKey>,
}

impl Aggregation {
    /// Parses `process=exe,file=template`.
    ///
    /// # Errors
    /// For a part that is not of this form.
    pub fn parse(word: &str) -> Result<Self, OpError> {
        let mut aggregation = Self::default();
        for part in word.split(',').map(str::trim) {
            let bad = |problem: &str| {
                let column = word.find(part).map_or(1, |at| word[..at].chars().count() + 1);
                let problem = format!("at character {column}: `{}` {problem}", printable(part));
                OpError::word("aggregate", word, problem, ALLOWED)
            };
            let (kind, key) = part.split_once('=').ok_or_else(|| bad("says not what of what"))?;
            let again = match kind.trim() {
                "process" => {
                    let key = ProcessKey::parse(key.trim())
                        .ok_or_else(|| bad("groups processes by nothing known"))?;
                    aggregation.process.replace(key).is_some()
                }
                "file" => {
                    let key =
                        FileKey::parse(key.trim()).ok_or_else(|| bad("groups files by nothing known"))?;
                    aggregation.file.replace(key).is_some()
                }
                _ => return Err(bad("is about neither process nor file")),
            };
            if again {
                return Err(bad("comes a second time"));
            }
        }
        Ok(aggregation)
    }
}

impl ProcessKey {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "exe" => Self::Exe,
            "cmd" => Self::Cmd,
            "host" => Self::Host,
            "cid" => Self::Cid,
            "phase" => Self::Phase,
            "cluster" => Self::Cluster,
            _ => Self::Env(word.strip_prefix("env:").filter(|name| !name.is_empty())?.to_owned()),
        })
    }

    /// The name in messages.
    fn describe(&self) -> String {
        match self {
            Self::Exe => "executable".to_owned(),
            Self::Cmd => "command line".to_owned(),
            Self::Host => "host".to_owned(),
            Self::Cid => "cid".to_owned(),
            Self::Env(name) => format!("variable {}", printable(name)),
            Self::Phase => "phase".to_owned(),
            Self::Cluster => "behaviour".to_owned(),
        }
    }

    fn names(&self, graph: &Graph) -> Vec<Option<Name>> {
        if *self == Self::Cluster {
            return cluster::names(graph);
        }
        let name = |vertex: &Vertex| {
            let value = self.value(graph, vertex, vertex.process()?);
            Some(named(&value.unwrap_or_else(|| NONE.to_owned())))
        };
        graph.vertices.iter().map(name).collect()
    }

    fn value(&self, graph: &Graph, vertex: &Vertex, process: &ProcessVertex) -> Option<String> {
        match self {
            Self::Exe => process.exe.as_deref().map(|exe| base(exe).to_owned()),
            Self::Cmd => process.cmdline.as_deref().map(|cmd| cmd.trim_end_matches('\0').replace('\0', " ")),
            Self::Host => process.host.as_deref().map(str::to_owned),
            Self::Cid => process.case.split('/').next().map(str::to_owned),
            Self::Env(name) => variable(process, name).map(str::to_owned),
            Self::Phase => {
                vertex.phase.and_then(|phase| graph.phases.get(phase as usize)).map(|p| p.to_string())
            }
            Self::Cluster => None,
        }
    }
}

impl FileKey {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "dir" => Self::Dir,
            "ext" => Self::Ext,
            "template" => Self::Template,
            "all" => Self::All,
            _ => return None,
        })
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Dir => "files by directory",
            Self::Ext => "files by extension",
            Self::Template => "files by template",
            Self::All => "all files",
        }
    }
}

/// The value of an environment variable of a process.
pub(crate) fn variable<'a>(process: &'a ProcessVertex, name: &str) -> Option<&'a str> {
    process.env.iter().find_map(|entry| entry.strip_prefix(name)?.strip_prefix('='))
}

fn named(value: &str) -> Name {
    Name { key: value.into(), label: shorten(value, LONGEST_LABEL).into() }
}

/// The graph in which what has the keys of `aggregation` in common is one vertex. What becomes cyclic by that is said in
/// [`Graph::notes`].
#[must_use]
pub fn aggregate(graph: &Graph, aggregation: &Aggregation) -> Graph {
    aggregate_mapped(graph, aggregation).0
}

/// As [`aggregate()`], and for each vertex of `graph` the one that it is part of.
#[must_use]
pub fn aggregate_mapped(graph: &Graph, aggregation: &Aggregation) -> (Graph, Vec<VertexId>) {
    let mut names: Vec<Option<Name>> = match &aggregation.process {
        Some(key) => key.names(graph),
        None => vec![None; graph.vertices.len()],
    };
    if let Some(key) = aggregation.file {
        file_names(graph, key, &mut names);
    }
    let parts = [
        aggregation.process.as_ref().map(|key| format!("processes by {}", key.describe())),
        aggregation.file.map(|key| key.describe().to_owned()),
    ];
    let sentence = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    quotient(graph, &names, format!("aggregate {sentence}"))
}

impl Name {
    pub(crate) fn new(key: impl Into<Arc<str>>, label: impl Into<Arc<str>>) -> Self {
        Self { key: key.into(), label: label.into() }
    }
}
