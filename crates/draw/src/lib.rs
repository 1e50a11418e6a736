//! Drawing: graph layout, SVG, terminal tables, one file per export format.
//!
//! The way of the data: [`Dfg`] and [`View`] → [`Picture`] (what is drawn, and what is hidden) → [`layout::Layout`]
//! (where it is) → [`scene::Scene`] (shapes and text in points) → SVG, PNG or PDF. Exports of data (JSON, CSV, GraphML)
//! hold the whole graph; exports of pictures (SVG, PNG, PDF, DOT, Mermaid) hold the drawn part and say what they hide.
//!
//! [`chart`] draws the figures of a profile, [`gantt`] processes over time, [`flow`] the graph of a workflow: each makes a
//! scene, and [`picture`](fn@picture) makes a file of any scene.

pub mod chart;
pub mod compare_phases;
pub mod compare_summary;
mod compose;
pub mod error;
pub mod export;
pub mod flow;
pub mod font;
mod furniture;
pub mod gantt;
mod glyphs;
pub mod label;
pub mod layout;
mod painter;
pub mod palette;
pub mod picture;
pub mod process_tree;
pub mod profile_csv;
pub mod profile_tables;
mod project;
pub mod scene;
mod shade;
pub mod summary;
pub mod svg;
pub mod table;
pub mod view;
pub mod workflow_picture;
pub mod workflow_summary;

pub use error::DrawError;
pub use export::{Format, PictureFormat, export, files, picture, picture_file};
pub use iotrail_dfg::Dfg;
pub use layout::{Layout, layout};
pub use picture::{Hidden, Picture};
pub use table::Style;
pub use view::{ColourBy, Direction, EdgeMeasure, EngineChoice, Scale, Theme, View};
