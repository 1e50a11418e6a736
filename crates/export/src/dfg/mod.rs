//! Directly-Follows Graphs, one file per format. Formats of data (JSON, CSV, GraphML) hold the whole graph; pictures, DOT and
//! Mermaid hold the drawn part and say what they hide.

mod csv;
mod dot;
mod graphml;
mod json;
mod mermaid;

use crate::error::ExportError;
use crate::format::{Format, Subject};
use iotrail_dfg::Dfg;
use iotrail_draw::{View, call_graph, picture};
use std::path::{Path, PathBuf};

/// `dfg` in `format`, as the bytes of a file.
///
/// # Errors
/// If the picture cannot be laid out, is too large, or cannot be encoded.
pub fn write_dfg(dfg: &Dfg, view: &View, format: Format) -> Result<Vec<u8>, ExportError> {
    if let Some(pictures) = format.picture() {
        return Ok(picture(&call_graph(dfg, view)?, view.theme, pictures)?);
    }
    Ok(match format {
        Format::NodesCsv => csv::nodes(dfg),
        Format::EdgesCsv => csv::edges(dfg),
        Format::Dot => dot::document(dfg, view),
        Format::GraphMl => graphml::document(dfg),
        Format::Mermaid => mermaid::document(dfg, view),
        Format::Json => return json::document(dfg),
        Format::Svg
        | Format::Png
        | Format::Pdf
        | Format::Gml
        | Format::Cyjs
        | Format::Prov
        | Format::Pegasus
        | Format::Dax
        | Format::Dagman
        | Format::Makefile
        | Format::Snakemake
        | Format::WfFormat => {
            let word = format.name().to_owned();
            return Err(ExportError::UnknownFormat { word, subject: Subject::Dfg });
        }
    }
    .into_bytes())
}

/// The files that `-o path` asks for: one, or `NAME.nodes.csv` and `NAME.edges.csv` for `NAME.csv`.
///
/// # Errors
/// If the extension names no format, and as [`write_dfg`].
pub fn dfg_files(dfg: &Dfg, view: &View, path: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, ExportError> {
    let format = Format::from_path(path, Subject::Dfg)?;
    let parts = match csv_parts(path) {
        Some((nodes, edges)) => vec![(nodes, Format::NodesCsv), (edges, Format::EdgesCsv)],
        None => vec![(path.to_owned(), format)],
    };
    parts.into_iter().map(|(path, format)| Ok((path, write_dfg(dfg, view, format)?))).collect()
}

/// Both names for `NAME.csv`; nothing for other formats and for a name that says which of the two is wanted.
fn csv_parts(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let is_csv =
        |path: &Path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    let stem = Path::new(path.file_stem()?);
    let one_of_two = stem.extension().is_some_and(|part| part == "nodes" || part == "edges");
    (is_csv(path) && !one_of_two)
        .then(|| (path.with_extension("nodes.csv"), path.with_extension("edges.csv")))
}
