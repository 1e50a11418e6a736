//! One file per format, one small trait.

mod csv;
mod dot;
mod graphml;
mod json;
mod mermaid;
mod pdf;
mod picture;
mod png;

pub use csv::quoted as quoted_csv;
pub use picture::{PictureFormat, picture, picture_file};

use crate::error::DrawError;
use crate::view::View;
use iotrail_dfg::Dfg;
use std::path::{Path, PathBuf};

/// Something a graph can be written as.
trait Exporter {
    fn export(&self, dfg: &Dfg, view: &View) -> Result<Vec<u8>, DrawError>;
}

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// The whole result, pretty and stable.
    Json,
    /// A row for each activity.
    NodesCsv,
    /// A row for each transition.
    EdgesCsv,
    /// Graphviz, the drawn part.
    Dot,
    /// The picture.
    Svg,
    /// The picture in pixels, two for each point.
    Png,
    /// The picture on a page of its size.
    Pdf,
    /// The whole graph for networkx, Gephi, yEd, igraph.
    GraphMl,
    /// A flowchart for Markdown, the drawn part.
    Mermaid,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 9] = [
        Self::Json,
        Self::NodesCsv,
        Self::EdgesCsv,
        Self::Dot,
        Self::Svg,
        Self::Png,
        Self::Pdf,
        Self::GraphMl,
        Self::Mermaid,
    ];

    /// The format that the extension of `path` names; `.csv` alone names [`Format::NodesCsv`], see [`files`].
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let (_, extension) = name.rsplit_once('.')?;
        match extension {
            "json" => Some(Self::Json),
            "csv" if name.ends_with(".edges.csv") => Some(Self::EdgesCsv),
            "csv" => Some(Self::NodesCsv),
            "dot" | "gv" => Some(Self::Dot),
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            "pdf" => Some(Self::Pdf),
            "graphml" => Some(Self::GraphMl),
            "mmd" | "mermaid" => Some(Self::Mermaid),
            _ => None,
        }
    }

    fn exporter(self) -> &'static dyn Exporter {
        match self {
            Self::Json => &json::Json,
            Self::NodesCsv => &csv::Nodes,
            Self::EdgesCsv => &csv::Edges,
            Self::Dot => &dot::Dot,
            Self::Svg => &PictureFormat::Svg,
            Self::Png => &PictureFormat::Png,
            Self::Pdf => &PictureFormat::Pdf,
            Self::GraphMl => &graphml::GraphMl,
            Self::Mermaid => &mermaid::Mermaid,
        }
    }
}

/// `dfg` in `format`, as the bytes of a file.
///
/// # Errors
/// If the picture cannot be laid out, is too large, or cannot be encoded.
pub fn export(dfg: &Dfg, view: &View, format: Format) -> Result<Vec<u8>, DrawError> {
    format.exporter().export(dfg, view)
}

/// The files that `-o path` asks for: one, or `NAME.nodes.csv` and `NAME.edges.csv` for `NAME.csv`.
///
/// # Errors
/// If the extension names no format, and as [`export`].
pub fn files(dfg: &Dfg, view: &View, path: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, DrawError> {
    let format = Format::from_path(path).ok_or_else(|| DrawError::UnknownFormat(path.to_owned()))?;
    let parts = match csv_parts(path) {
        Some((nodes, edges)) => vec![(nodes, Format::NodesCsv), (edges, Format::EdgesCsv)],
        None => vec![(path.to_owned(), format)],
    };
    parts.into_iter().map(|(path, format)| Ok((path, export(dfg, view, format)?))).collect()
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
