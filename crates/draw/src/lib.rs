//! Drawing: graphs, charts, timelines; SVG, PNG and PDF.
//!
//! The way of the data: [`Dfg`] and [`View`] → [`Picture`] (what is drawn, and what is hidden) → [`layout::Layout`]
//! (where it is) → [`scene::Scene`] (shapes and text in points) → SVG, PNG or PDF ([`image`]).
//!
//! [`chart`] draws the figures of a profile, [`gantt`] processes over time, [`flow`] the graph of a workflow: each makes a
//! scene, and [`picture`](fn@picture) makes a file of any scene.

pub mod chart;
mod compose;
pub mod error;
pub mod flow;
pub mod font;
mod furniture;
pub mod gantt;
mod glyphs;
pub mod image;
pub mod label;
pub mod layout;
mod links;
mod painter;
pub mod palette;
pub mod picture;
mod project;
pub mod scene;
pub mod shade;
mod stops;
pub mod svg;
pub mod view;
mod ways;
pub mod workflow_picture;

pub use compose::call_graph;
pub use error::DrawError;
pub use image::{PictureFormat, picture, picture_file};
pub use iotrail_dfg::Dfg;
pub use layout::{Layout, layout};
pub use links::Vertex;
pub use picture::{Hidden, Picture};
pub use stops::{Level, Stop, StopLimits, Stops, Way};
pub use view::{ColourBy, Direction, EdgeMeasure, Scale, Theme, View};
