//! Workflow graphs and their jobs in the formats that hold them.

use crate::describe::describe;
use crate::error::ExportError;
use crate::format::Format;
use crate::{cyjs, dagman, dax, dot, gml, graphml, makefile, mermaid, pegasus, prov, snakemake, wfformat};
use iotrail_workflow::Graph;
use iotrail_workflow::jobs::Jobs;

/// How a workflow is written.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// A title; by default one is made.
    pub title: Option<String>,
    /// Names of the trails that the graph is of.
    pub sources: Vec<String>,
}

impl WriteOptions {
    pub(crate) fn title(&self) -> String {
        self.title.clone().unwrap_or_else(|| format!("Workflow of {}", self.sources.join(", ")))
    }
}

/// The workflow in a format that is neither JSON nor a picture, as the bytes of a file.
///
/// # Errors
/// If the format cannot hold it.
pub fn write(graph: &Graph, format: Format, options: &WriteOptions) -> Result<Vec<u8>, ExportError> {
    let text = match format {
        Format::Dot => dot::document(graph, options),
        Format::Gml => gml::document(graph, options),
        Format::GraphMl => graphml::workflow(graph, options),
        Format::Cyjs => cyjs::document(graph, options)?,
        Format::Mermaid => mermaid::document(graph, options),
        Format::Prov => prov::document(graph, options)?,
        Format::Pegasus
        | Format::Dax
        | Format::Dagman
        | Format::Makefile
        | Format::Snakemake
        | Format::WfFormat => return write_jobs(&describe(graph), format, options),
        Format::Json | Format::Svg | Format::Png | Format::Pdf | Format::NodesCsv | Format::EdgesCsv => {
            return Err(cannot_hold(format, "it is not written as a text of the graph"));
        }
    };
    Ok(text.into_bytes())
}

/// The jobs of a workflow in a format for which [`Format::is_of_jobs`], as the bytes of a file.
///
/// # Errors
/// If the format cannot hold them.
pub fn write_jobs(jobs: &Jobs, format: Format, options: &WriteOptions) -> Result<Vec<u8>, ExportError> {
    let title = options.title();
    if matches!(format, Format::Pegasus | Format::Dax | Format::Dagman) {
        crate::runnable::check_lengths(jobs, format.name())?;
    }
    let text = match format {
        Format::Pegasus => pegasus::document(jobs, &title),
        Format::Dax => dax::document(jobs, &title),
        Format::Dagman => dagman::document(jobs, &title)?,
        Format::Makefile => makefile::document(jobs, &title)?,
        Format::Snakemake => snakemake::document(jobs, &title)?,
        Format::WfFormat => wfformat::document(jobs, &title)?,
        Format::Json
        | Format::Svg
        | Format::Png
        | Format::Pdf
        | Format::NodesCsv
        | Format::EdgesCsv
        | Format::Dot
        | Format::Gml
        | Format::GraphMl
        | Format::Cyjs
        | Format::Mermaid
        | Format::Prov => return Err(cannot_hold(format, "it does not hold jobs")),
    };
    Ok(text.into_bytes())
}

fn cannot_hold(format: Format, why: &str) -> ExportError {
    ExportError::CannotHold { format: format.name(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Subject;

    #[test]
    fn every_format_for_workflows_holds_them() {
        let (graph, options) = (crate::samples::workflow(), WriteOptions::default());
        for format in Format::all(Subject::Workflow).filter(|format| format.picture().is_none()) {
            let written = write(&graph, format, &options);
            // This graph has no command lines, which some want.
            let wants_lines = || matches!(&written, Err(ExportError::CannotHold { why, .. }) if why.contains("command line"));
            assert!(
                written.is_ok() || format == Format::Json || wants_lines(),
                "{}: {written:?}",
                format.name()
            );
        }
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
