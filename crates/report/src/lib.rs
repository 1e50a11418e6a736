//! The self-contained HTML report.
//!
//! The way of the data: a graph and its comparison ([`iotrail_dfg`]), one more scan for what stands behind the figures
//! (`collect`), positions from [`iotrail_draw`] (`place`), all of it as bounded, dictionary-encoded [`data::PageData`]
//! (`assemble`), and that in one HTML file beside the page's own style and script (`page`). The page draws itself from the
//! data; names from a trace exist in the file only within that JSON.

pub mod advice;
pub mod answer;
mod assemble;
mod collect;
pub mod data;
mod digest;
pub mod drill;
mod error;
pub mod files;
pub mod fold;
pub mod loops;
mod name_table;
mod options;
pub mod page;
mod positions;
mod report;
pub mod slices;

pub mod stops;
mod strip;
mod subject;
pub mod workflow;

pub use error::ReportError;
pub use options::{Limits, ReportOptions};
pub use report::{MAX_PAGE_BYTES, page_data, report};
pub use workflow::Part;
