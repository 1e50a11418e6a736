//! What can be wrong with a file of a structure.

use crate::container::{OLDEST_VERSION, VERSION};
use crate::section::Section;
use thiserror::Error;

/// Why bytes are not a structure.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// It is another file.
    #[error("not a structure: it begins with {found}, expected `{}`", crate::MAGIC.escape_ascii())]
    Foreign {
        /// Its first bytes, escaped.
        found: String,
    },
    /// Another program wrote it.
    #[error("version {found} of the format, expected {OLDEST_VERSION} or {VERSION}: {} iotrail reads it", other(*found))]
    Version {
        /// Its version.
        found: u32,
    },
    /// The index of sections is damaged.
    #[error("index, byte {byte}: found {found}, expected {expected}")]
    Index {
        /// Where, from the start of the file.
        byte: usize,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
    /// A section is damaged.
    #[error("section `{section}`, byte {byte}: found {found}, expected {expected}")]
    Section {
        /// Which one.
        section: Section,
        /// Where, from the start of the section as it is without compression.
        byte: usize,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
    /// What was made of a structure has more of something than numbers of the format hold.
    #[error("{what}: too many for a structure")]
    TooMany {
        /// Of what.
        what: &'static str,
    },
}

fn other(version: u32) -> &'static str {
    if version > VERSION { "a later" } else { "an earlier" }
}
