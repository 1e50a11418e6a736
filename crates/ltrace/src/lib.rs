//! The format of what ltrace prints: calls of libraries, and the system calls that they make (`ltrace -S`).

mod arguments;
mod format;
mod line;
mod names;
mod parser;
mod pending;

pub use format::Ltrace;
pub use parser::Parser;
