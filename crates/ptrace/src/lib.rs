//! The kernel's tracing interface in safe types: stops, seccomp filters, another process's memory.
