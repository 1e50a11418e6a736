//! Checksums of a Parquet file of a trail: one of each column chunk, and one of the footer that holds them.
//!
//! They stand in the key-value metadata as `iotrail.checksums footer=0123abcd chunks=89abcdef…`, chunks by row group and then by
//! column, eight digits each. Pages have the checksum that Parquet defines, too, for other readers; the one of a chunk also covers
//! the headers of its pages.

use crate::seal::{self, Seal};
use parquet::file::metadata::KeyValue;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

const KEY: &str = "iotrail.checksums";
/// What comes before the checksum of the footer.
const MARK: &str = "iotrail.checksums footer=";
const CHUNKS: &str = " chunks=";

/// The checksum of bytes.
pub(crate) fn of(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// What goes into the footer before it is sealed.
pub(crate) fn entry(chunks: &[u32]) -> KeyValue {
    let digits: String = chunks.iter().map(|sum| format!("{sum:08x}")).collect();
    KeyValue::new(KEY.to_owned(), format!("{}{CHUNKS}{digits}", seal::placeholder(MARK)))
}

/// The checksums of the chunks, `None` in a file without them.
pub(crate) fn chunks(metadata: Option<&Vec<KeyValue>>) -> Option<Vec<u32>> {
    let digits = sums(metadata)?.1.as_bytes();
    let sum = |digits: &[u8]| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    digits.chunks(8).map(sum).collect()
}

/// Whether a footer is as it was written.
pub(crate) fn examine(footer: &[u8]) -> Seal {
    seal::examine(footer, MARK)
}

/// The checksum of the footer, by which `trail.json` knows the file; `None` in a file without one.
pub(crate) fn footer(metadata: Option<&Vec<KeyValue>>) -> Option<&str> {
    Some(sums(metadata)?.0)
}

/// The digits of the footer and those of all chunks.
fn sums(metadata: Option<&Vec<KeyValue>>) -> Option<(&str, &str)> {
    let value = metadata?.iter().find(|entry| entry.key == KEY)?.value.as_deref()?;
    value.strip_prefix(MARK)?.split_once(CHUNKS)
}

/// Seals the footer of a file that was just written; answers its checksum.
pub(crate) fn seal_footer(file: &mut File) -> io::Result<Option<String>> {
    let mut tail = [0; 4];
    file.seek(SeekFrom::End(-8))?;
    file.read_exact(&mut tail)?;
    let length = u32::from_le_bytes(tail);
    let start = SeekFrom::End(-8 - i64::from(length));
    file.seek(start)?;
    let mut footer = vec![0; length as usize];
    file.read_exact(&mut footer)?;
    let checksum = seal::seal(&mut footer, MARK);
    file.seek(start)?;
    file.write_all(&footer)?;
    Ok(checksum)
}
