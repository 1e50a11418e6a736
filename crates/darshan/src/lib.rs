//! Darshan's extended traces (DXT) as a format: logs, and the text that `darshan-dxt-parser` makes of them.
//!
//! DXT knows the path and the offset of every transfer, so nothing is left to resolve: events go straight to the trail.

mod binary;
mod format;
mod header;
mod line;
mod log;
mod ranks;

pub use format::DarshanDxt;
pub use line::{Line, Segment};
