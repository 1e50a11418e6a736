//! Structures from files.

use crate::error::CompressError;
use crate::events::Events;
use iotrail_structure_file::{Document, MAGIC, is_structure};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Whether there is a structure at `path`, as its first bytes tell.
#[must_use]
pub fn is_structure_file(path: &Path) -> bool {
    let mut start = Vec::new();
    let file = if path.is_file() { File::open(path).ok() } else { None };
    let read = file.map(|file| file.take(MAGIC.len() as u64).read_to_end(&mut start));
    matches!(read, Some(Ok(_))) && is_structure(&start)
}

/// Reads a structure.
///
/// # Errors
/// The file cannot be read, is no structure, or is damaged.
pub fn load(path: &Path) -> Result<Document, CompressError> {
    if iotrail_trail::is_trail(path) {
        return Err(CompressError::IsTrail(path.to_owned()));
    }
    let bytes = std::fs::read(path);
    let bytes = bytes.map_err(|source| CompressError::Read { path: path.to_owned(), source })?;
    Document::of_bytes(&bytes).map_err(|source| CompressError::File { path: path.to_owned(), source })
}

/// Walks all lines of a structure: what is wrong with their events, one problem for each line, up to `most`.
#[must_use]
pub fn check(document: &Document, most: usize) -> Vec<CompressError> {
    let mut events = Events::new(document, 0);
    let lines = 0..document.lines.len() as u32;
    let mut problems: Vec<CompressError> =
        lines.filter_map(|line| events.line(line, &mut |_| Ok(())).err()).take(most).collect();
    if problems.is_empty() {
        problems.extend(events.end().err());
    }
    problems
}
