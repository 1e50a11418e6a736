//! The formats, their names and endings.

use crate::describe::describe;
use crate::error::ExchangeError;
use crate::{cyjs, dagman, dax, dot, gml, graphml, makefile, mermaid, pegasus, prov, snakemake, wfformat};
use iotrail_workflow::Graph;
use iotrail_workflow::jobs::Jobs;
use std::path::Path;

/// A format of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// Graphviz.
    Dot,
    /// Graph Modelling Language: networkx, igraph, Gephi.
    Gml,
    /// GraphML: networkx, Gephi, yEd, igraph.
    GraphMl,
    /// Cytoscape and Cytoscape.js.
    Cyjs,
    /// A flowchart for Markdown.
    Mermaid,
    /// W3C PROV-JSON.
    Prov,
    /// Pegasus 5, YAML.
    Pegasus,
    /// Pegasus before version 5, XML.
    Dax,
    /// HTCondor's DAGMan.
    Dagman,
    /// GNU make.
    Makefile,
    /// Snakemake.
    Snakemake,
    /// WfCommons.
    WfFormat,
}

/// What is known of a format.
struct Row {
    format: Format,
    name: &'static str,
    /// How names of its files end, the usual one first.
    endings: &'static [&'static str],
}

const ROWS: [Row; 12] = [
    Row { format: Format::Dot, name: "dot", endings: &[".dot", ".gv"] },
    Row { format: Format::Gml, name: "gml", endings: &[".gml"] },
    Row { format: Format::GraphMl, name: "graphml", endings: &[".graphml"] },
    Row { format: Format::Cyjs, name: "cyjs", endings: &[".cyjs"] },
    Row { format: Format::Mermaid, name: "mermaid", endings: &[".mmd", ".mermaid"] },
    Row { format: Format::Prov, name: "prov", endings: &[".prov.json", ".provn.json"] },
    Row { format: Format::Pegasus, name: "pegasus", endings: &[".yml", ".yaml"] },
    Row { format: Format::Dax, name: "dax", endings: &[".dax", ".dax.xml"] },
    Row { format: Format::Dagman, name: "dagman", endings: &[".dag"] },
    Row { format: Format::Makefile, name: "makefile", endings: &[".mk", "makefile"] },
    Row { format: Format::Snakemake, name: "snakemake", endings: &[".smk", "snakefile"] },
    Row { format: Format::WfFormat, name: "wfformat", endings: &[".wf.json", ".wfformat.json"] },
];

/// How a workflow is written.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// A title; by default one is made.
    pub title: Option<String>,
    /// Names of the trails that the graph is of.
    pub sources: Vec<String>,
}

impl WriteOptions {
    /// The title.
    pub(crate) fn title(&self) -> String {
        self.title.clone().unwrap_or_else(|| format!("Workflow of {}", self.sources.join(", ")))
    }
}

impl Format {
    /// Every format.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.format)
    }

    fn row(self) -> &'static Row {
        let place = ROWS.iter().position(|row| row.format == self);
        &ROWS[place.unwrap_or_default()]
    }

    /// Whether it holds jobs with their command lines ([`write_jobs`]) and not a graph of processes and files. Of a graph,
    /// [`write`](fn@write) makes a description without command lines, where the format allows for that.
    #[must_use]
    pub fn is_of_jobs(self) -> bool {
        matches!(
            self,
            Self::Pegasus | Self::Dax | Self::Dagman | Self::Makefile | Self::Snakemake | Self::WfFormat
        )
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The format of that name.
    ///
    /// # Errors
    /// If there is none; the message lists all.
    pub fn from_name(word: &str) -> Result<Self, ExchangeError> {
        let row = ROWS.iter().find(|row| row.name.eq_ignore_ascii_case(word));
        row.map(|row| row.format).ok_or_else(|| ExchangeError::UnknownFormat { word: word.to_owned() })
    }

    /// The format that the end of a file's name tells.
    ///
    /// # Errors
    /// If it tells none; the message lists the endings.
    pub fn from_path(path: &Path) -> Result<Self, ExchangeError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let row = ROWS.iter().find(|row| row.endings.iter().any(|ending| name.ends_with(ending)));
        row.map(|row| row.format).ok_or_else(|| ExchangeError::UnknownEnding { path: path.to_owned() })
    }
}

impl std::str::FromStr for Format {
    type Err = ExchangeError;

    fn from_str(word: &str) -> Result<Self, ExchangeError> {
        Self::from_name(word)
    }
}

/// All names, for messages.
pub(crate) fn names() -> String {
    ROWS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ")
}

/// The usual endings, for messages.
pub(crate) fn endings() -> String {
    ROWS.iter().map(|row| row.endings[0]).collect::<Vec<_>>().join(", ")
}

/// The workflow in a format, as the bytes of a file.
///
/// # Errors
/// If the format cannot hold it.
pub fn write(graph: &Graph, format: Format, options: &WriteOptions) -> Result<Vec<u8>, ExchangeError> {
    let text = match format {
        Format::Dot => dot::document(graph, options),
        Format::Gml => gml::document(graph, options),
        Format::GraphMl => graphml::workflow(graph, options),
        Format::Cyjs => cyjs::document(graph, options)?,
        Format::Mermaid => mermaid::document(graph, options),
        Format::Prov => prov::document(graph, options)?,
        jobs => return write_jobs(&describe(graph), jobs, options),
    };
    Ok(text.into_bytes())
}

/// The jobs of a workflow in a format for which [`Format::is_of_jobs`], as the bytes of a file.
///
/// # Errors
/// If the format cannot hold them.
pub fn write_jobs(jobs: &Jobs, format: Format, options: &WriteOptions) -> Result<Vec<u8>, ExchangeError> {
    let title = options.title();
    let text = match format {
        Format::Pegasus => pegasus::document(jobs, &title),
        Format::Dax => dax::document(jobs, &title),
        Format::Dagman => dagman::document(jobs, &title)?,
        Format::Makefile => makefile::document(jobs, &title)?,
        Format::Snakemake => snakemake::document(jobs, &title)?,
        Format::WfFormat => wfformat::document(jobs, &title)?,
        graph => {
            let why = "it holds a graph of processes and files, not jobs".to_owned();
            return Err(ExchangeError::CannotHold { format: graph.name(), why });
        }
    };
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name_and_its_endings() {
        for row in &ROWS {
            assert_eq!(Format::from_name(row.name).unwrap(), row.format);
            for ending in row.endings {
                assert_eq!(Format::from_path(Path::new(&format!("a.b{ending}"))).unwrap(), row.format);
            }
        }
        let errors = [
            Format::from_name("xls").unwrap_err().to_string(),
            Format::from_path(Path::new("a.xls")).unwrap_err().to_string(),
        ];
        insta::assert_snapshot!(errors.join("\n"));
    }

    #[test]
    fn hostile_names_stay_names_in_every_format() {
        let options = WriteOptions { title: None, sources: vec!["a <trail>".to_owned()] };
        for format in [Format::Dot, Format::Gml, Format::GraphMl, Format::Cyjs, Format::Mermaid, Format::Prov]
        {
            let bytes = write(&crate::samples::workflow(), format, &options).unwrap();
            insta::assert_snapshot!(format.name(), String::from_utf8(bytes).unwrap());
        }
    }
}
