//! The format of what strace prints: [`parser`] makes raw calls of the text of one strace, [`Strace`] reads files and the sets of files
//! that one `strace -ff` wrote.

mod births;
mod follow;
mod format;
mod overlaps;
pub mod parser;
mod probe;
mod shares;
mod stream;
mod unordered;

pub use format::Strace;
