//! The worked examples of the definitions, and laws.

mod characteristics;
mod distribution;
mod file_class;
mod groups;
mod model;
mod path;
mod requests;
