//! What can go wrong while drawing.

use std::path::PathBuf;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum DrawError {
    /// The extension names no format of pictures.
    #[error("{}: not a format of pictures; use one of .svg, .png, .pdf", .0.display())]
    NoPicture(PathBuf),
    /// The graph has no layout.
    #[error("cannot lay out the graph: {0}")]
    Layout(#[from] iotrail_layout::LayoutError),
    /// The picture has more pixels than a raster image may have.
    #[error(
        "the picture would be {width} x {height} pixels, more than {limit} in all; write .svg or .pdf, or draw fewer nodes"
    )]
    TooLarge {
        /// Pixels.
        width: u64,
        /// Pixels.
        height: u64,
        /// Pixels in all.
        limit: u64,
    },
    /// An encoder failed.
    #[error("cannot encode the {format}: {reason}")]
    Encode {
        /// Name of the format.
        format: &'static str,
        /// What the encoder says.
        reason: String,
    },
}
