//! The worked examples of the definitions, and laws.

#![allow(clippy::expect_used)]

mod characteristics;
mod distribution;
mod drawn;
mod file_class;
mod fuzz;
mod groups;
mod kept;
mod knobs;
mod layers;
mod locks;
mod merge;
mod model;
mod path;
mod requests;
mod validation;
