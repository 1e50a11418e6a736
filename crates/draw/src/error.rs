//! What can go wrong while drawing.

use std::path::PathBuf;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum DrawError {
    /// The extension names no format of pictures.
    #[error("{}: not a format of pictures; use one of .svg, .png, .pdf", .0.display())]
    NoPicture(PathBuf),
    /// The engine that was asked for is not installed or gave no layout.
    #[error("Graphviz `dot` gave no layout: {0}; install graphviz, or choose the layout `auto`")]
    Graphviz(String),
    /// The built-in engine failed, which it should not.
    #[error("the built-in layout failed: {0}; draw fewer nodes, or choose the layout `dot`")]
    BuiltIn(String),
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
