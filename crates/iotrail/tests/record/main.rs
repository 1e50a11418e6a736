//! Recordings against the truth: programs that note what they do, recorded and compared call by call.

mod classes;
mod program;
mod truth;
