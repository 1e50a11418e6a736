//! The recorder.

mod recorder;
