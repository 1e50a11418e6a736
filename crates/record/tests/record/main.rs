//! The recorder, and its decoder alone.

mod decode;
mod recorder;
