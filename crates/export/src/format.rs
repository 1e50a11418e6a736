//! The formats: one list of their names, the endings of their files, and what each can hold.

use crate::error::ExportError;
use iotrail_draw::PictureFormat;
use std::path::Path;

/// A format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// The whole result, as its schema says.
    Json,
    /// A row for each activity.
    NodesCsv,
    /// A row for each transition.
    EdgesCsv,
    /// The picture: vectors for browsers.
    Svg,
    /// The picture in pixels, two for each point.
    Png,
    /// The picture on a page of its size.
    Pdf,
    /// Graphviz.
    Dot,
    /// GraphML: networkx, Gephi, yEd, igraph.
    GraphMl,
    /// A flowchart for Markdown.
    Mermaid,
    /// Graph Modelling Language: networkx, igraph, Gephi.
    Gml,
    /// Cytoscape and Cytoscape.js.
    Cyjs,
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

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A Directly-Follows Graph.
    Dfg,
    /// A workflow graph: processes and files, or the jobs behind them.
    Workflow,
}

/// What is known of a format.
struct Row {
    format: Format,
    name: &'static str,
    /// How names of its files end, the usual one first.
    endings: &'static [&'static str],
    holds: &'static [Subject],
}

const fn row(
    format: Format,
    name: &'static str,
    endings: &'static [&'static str],
    holds: &'static [Subject],
) -> Row {
    Row { format, name, endings, holds }
}

const DFG: &[Subject] = &[Subject::Dfg];
const WORKFLOW: &[Subject] = &[Subject::Workflow];
const BOTH: &[Subject] = &[Subject::Dfg, Subject::Workflow];

const ROWS: [Row; 18] = [
    row(Format::Json, "json", &[".json"], BOTH),
    row(Format::Svg, "svg", &[".svg"], BOTH),
    row(Format::Png, "png", &[".png"], BOTH),
    row(Format::Pdf, "pdf", &[".pdf"], BOTH),
    row(Format::NodesCsv, "nodes.csv", &[".csv", ".nodes.csv"], DFG),
    row(Format::EdgesCsv, "edges.csv", &[".edges.csv"], DFG),
    row(Format::Dot, "dot", &[".dot", ".gv"], BOTH),
    row(Format::GraphMl, "graphml", &[".graphml"], BOTH),
    row(Format::Mermaid, "mermaid", &[".mmd", ".mermaid"], BOTH),
    row(Format::Gml, "gml", &[".gml"], WORKFLOW),
    row(Format::Cyjs, "cyjs", &[".cyjs"], WORKFLOW),
    row(Format::Prov, "prov", &[".prov.json", ".provn.json"], WORKFLOW),
    row(Format::Makefile, "makefile", &[".mk", "makefile"], WORKFLOW),
    row(Format::Snakemake, "snakemake", &[".smk", "snakefile"], WORKFLOW),
    row(Format::Dagman, "dagman", &[".dag"], WORKFLOW),
    row(Format::Pegasus, "pegasus", &[".yml", ".yaml"], WORKFLOW),
    row(Format::Dax, "dax", &[".dax", ".dax.xml"], WORKFLOW),
    row(Format::WfFormat, "wfformat", &[".wf.json", ".wfformat.json"], WORKFLOW),
];

fn rows(subject: Subject) -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(move |row| row.holds.contains(&subject))
}

impl Format {
    /// Every format that can hold `subject`.
    pub fn all(subject: Subject) -> impl Iterator<Item = Self> {
        rows(subject).map(|row| row.format)
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        ROWS.iter().find(|row| row.format == self).map_or("", |row| row.name)
    }

    /// The format of pictures that it is.
    #[must_use]
    pub fn picture(self) -> Option<PictureFormat> {
        match self {
            Self::Svg => Some(PictureFormat::Svg),
            Self::Png => Some(PictureFormat::Png),
            Self::Pdf => Some(PictureFormat::Pdf),
            _ => None,
        }
    }

    /// Whether it holds jobs with their command lines ([`crate::write_jobs`]) and not a graph of processes and files. Of a graph,
    /// [`crate::write`](fn@crate::write) makes a description without command lines, where the format allows for that.
    #[must_use]
    pub fn is_of_jobs(self) -> bool {
        matches!(
            self,
            Self::Pegasus | Self::Dax | Self::Dagman | Self::Makefile | Self::Snakemake | Self::WfFormat
        )
    }

    /// The format for `subject` of that name, or whose files end like that.
    ///
    /// # Errors
    /// If there is none; the message lists all.
    pub fn from_name(word: &str, subject: Subject) -> Result<Self, ExportError> {
        let is_it = |row: &&Row| {
            row.name.eq_ignore_ascii_case(word)
                || row.endings.iter().any(|ending| {
                    ending.strip_prefix('.').is_some_and(|ending| ending.eq_ignore_ascii_case(word))
                })
        };
        let row = rows(subject).find(is_it);
        row.map(|row| row.format).ok_or_else(|| ExportError::UnknownFormat { word: word.to_owned(), subject })
    }

    /// The format for `subject` that the end of a file's name tells.
    ///
    /// # Errors
    /// If it tells none; the message lists the endings.
    pub fn from_path(path: &Path, subject: Subject) -> Result<Self, ExportError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let endings =
            rows(subject).flat_map(|row| row.endings.iter().map(move |ending| (ending.len(), ending, row)));
        let longest = endings.filter(|(_, ending, _)| name.ends_with(*ending)).max_by_key(|found| found.0);
        longest
            .map(|(.., row)| row.format)
            .ok_or_else(|| ExportError::UnknownEnding { path: path.to_owned(), subject })
    }
}

/// The names of all formats that can hold `subject`, for messages and help.
#[must_use]
pub fn names(subject: Subject) -> String {
    rows(subject).map(|row| row.name).collect::<Vec<_>>().join(", ")
}

/// The usual endings, for messages.
pub(crate) fn endings(subject: Subject) -> String {
    rows(subject).map(|row| row.endings[0]).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name_and_its_endings() {
        for row in &ROWS {
            for subject in row.holds {
                assert_eq!(Format::from_name(row.name, *subject).unwrap(), row.format);
                for ending in row.endings {
                    let path = format!("a.b{ending}");
                    assert_eq!(Format::from_path(Path::new(&path), *subject).unwrap(), row.format);
                }
            }
        }
        let errors = [
            Format::from_name("xls", Subject::Workflow).unwrap_err().to_string(),
            Format::from_name("makefile", Subject::Dfg).unwrap_err().to_string(),
            Format::from_path(Path::new("a.xls"), Subject::Workflow).unwrap_err().to_string(),
            Format::from_path(Path::new("a.smk"), Subject::Dfg).unwrap_err().to_string(),
        ];
        insta::assert_snapshot!(errors.join("\n"));
    }
}
