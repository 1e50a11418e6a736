//! The kernel's tracing interface in safe types: stops, seccomp filters, another process's memory.

mod append_file;

pub use append_file::AppendFile;
