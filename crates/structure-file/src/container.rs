//! Sections in a file: magic, version, index, then the sections, one behind the other.
//!
//! All numbers of the index are little-endian. An entry is kind, codec (4 bytes each), bytes as stored, bytes without
//! compression (8 each), CRC-32 of the stored bytes (4). Behind the entries stands the CRC-32 of all before.

use crate::error::FileError;
use crate::section::Section;
use hashbrown::HashMap;
use std::io::Read;

/// How structures begin.
pub const MAGIC: [u8; 8] = *b"IOTRAIL\xc5";
/// The latest version of the format.
pub const VERSION: u32 = 2;
/// The version of structures of which nothing is drawn, which all programs read.
pub(crate) const EXACT_VERSION: u32 = 1;

const HEADER: usize = 16;
const ENTRY: usize = 28;
const MAX_SECTIONS: usize = 1_024;
const STORED: u32 = 0;
const ZSTD: u32 = 1;
const ZSTD_LEVEL: i32 = 19;
/// The most bytes that a stored byte may stand for, so that a small file needs little memory. What compresses better is
/// stored as it is.
const MAX_RATIO: usize = 4_096;
/// What any section may have.
const FREE_BYTES: usize = 1 << 16;

type Result<T> = std::result::Result<T, FileError>;

/// Whether a file that begins with these bytes is a structure.
#[must_use]
pub fn is_structure(start: &[u8]) -> bool {
    start.starts_with(&MAGIC)
}

struct Entry {
    kind: u32,
    codec: u32,
    stored: u64,
    raw: u64,
    checksum: u32,
}

/// The bytes of a file of these sections.
pub(crate) fn pack(version: u32, sections: &[(Section, Vec<u8>)]) -> Vec<u8> {
    let packed: Vec<(Entry, Vec<u8>)> =
        sections.iter().map(|(section, raw)| compress(*section, raw)).collect();
    let mut file = Vec::new();
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&version.to_le_bytes());
    file.extend_from_slice(&(packed.len() as u32).to_le_bytes());
    for (Entry { kind, codec, stored, raw, checksum }, _) in &packed {
        file.extend_from_slice(&kind.to_le_bytes());
        file.extend_from_slice(&codec.to_le_bytes());
        file.extend_from_slice(&stored.to_le_bytes());
        file.extend_from_slice(&raw.to_le_bytes());
        file.extend_from_slice(&checksum.to_le_bytes());
    }
    let checksum = crc32fast::hash(&file);
    file.extend_from_slice(&checksum.to_le_bytes());
    packed.iter().for_each(|(_, bytes)| file.extend_from_slice(bytes));
    file
}

fn compress(section: Section, raw: &[u8]) -> (Entry, Vec<u8>) {
    let small = zstd::bulk::compress(raw, ZSTD_LEVEL);
    let small = small.ok().filter(|small| small.len() < raw.len() && raw.len() <= most_bytes(small.len()));
    let (codec, bytes) = small.map_or_else(|| (STORED, raw.to_vec()), |small| (ZSTD, small));
    let checksum = crc32fast::hash(&bytes);
    let (stored, raw) = (bytes.len() as u64, raw.len() as u64);
    (Entry { kind: section as u32, codec, stored, raw, checksum }, bytes)
}

fn most_bytes(stored: usize) -> usize {
    stored.saturating_mul(MAX_RATIO).saturating_add(FREE_BYTES)
}

/// The sections of a file, without those that this program does not know.
pub(crate) fn unpack(file: &[u8]) -> Result<HashMap<Section, Vec<u8>>> {
    let mut position = 0;
    let mut sections = HashMap::new();
    let (entries, start) = index(file)?;
    for (number, entry) in entries.iter().enumerate() {
        let byte = HEADER + number * ENTRY;
        let wrong = |found: String, expected: String| Err(FileError::Index { byte, found, expected });
        let rest = &file[start + position..];
        let Some(bytes) = usize::try_from(entry.stored).ok().and_then(|stored| rest.get(..stored)) else {
            return wrong(
                format!("{} bytes", entry.stored),
                format!("at most the {} that follow", rest.len()),
            );
        };
        position += bytes.len();
        let checksum = crc32fast::hash(bytes);
        if checksum != entry.checksum {
            return wrong(format!("bytes with checksum {checksum:08x}"), format!("{:08x}", entry.checksum));
        }
        if let Some(section) = Section::ALL.into_iter().find(|section| *section as u32 == entry.kind) {
            let raw = decompress(section, entry, bytes)?;
            if sections.insert(section, raw).is_some() {
                return wrong(format!("a second section `{section}`"), "one".to_owned());
            }
        }
    }
    match file.len() - start - position {
        0 => Ok(sections),
        left => Err(FileError::Index {
            byte: start + position,
            found: format!("{left} bytes of no section"),
            expected: "the end".to_owned(),
        }),
    }
}

fn decompress(section: Section, entry: &Entry, bytes: &[u8]) -> Result<Vec<u8>> {
    let wrong = |byte, found: String, expected: String| FileError::Section { section, byte, found, expected };
    let most = most_bytes(bytes.len());
    let Some(len) = usize::try_from(entry.raw).ok().filter(|len| *len <= most) else {
        return Err(wrong(
            0,
            format!("{} bytes", entry.raw),
            format!("at most {most} of {} stored", bytes.len()),
        ));
    };
    let raw = match entry.codec {
        STORED => bytes.to_vec(),
        ZSTD => {
            let mut raw = Vec::new();
            let decoder = zstd::Decoder::new(bytes);
            let read = decoder.and_then(|decoder| decoder.take(len as u64 + 1).read_to_end(&mut raw));
            read.map_err(|error| wrong(raw.len(), format!("bad zstd data ({error})"), "a frame".to_owned()))?;
            raw
        }
        codec => return Err(wrong(0, format!("codec {codec}"), "0 (as it is) or 1 (zstd)".to_owned())),
    };
    if raw.len() != len {
        let found = if raw.len() > len { "more bytes".to_owned() } else { format!("{} bytes", raw.len()) };
        return Err(wrong(raw.len(), found, format!("{len}")));
    }
    Ok(raw)
}

/// The entries of the index, and where the first section begins.
fn index(file: &[u8]) -> Result<(Vec<Entry>, usize)> {
    if !is_structure(file) {
        let start = &file[..file.len().min(MAGIC.len())];
        return Err(FileError::Foreign { found: format!("`{}`", start.escape_ascii()) });
    }
    let cut = |byte: usize| FileError::Index {
        byte,
        found: "the end".to_owned(),
        expected: "an entry of the index; the file is cut off".to_owned(),
    };
    let version = u32_at(file, 8).ok_or_else(|| cut(file.len()))?;
    if version > VERSION {
        return Err(FileError::Future { found: version });
    }
    let count = u32_at(file, 12).ok_or_else(|| cut(file.len()))? as usize;
    if count > MAX_SECTIONS {
        let (found, expected) = (format!("{count} sections"), format!("at most {MAX_SECTIONS}"));
        return Err(FileError::Index { byte: 12, found, expected });
    }
    let end = HEADER + count * ENTRY;
    let checksum = u32_at(file, end).ok_or_else(|| cut(file.len()))?;
    let actual = crc32fast::hash(&file[..end]);
    if checksum != actual {
        let (found, expected) = (format!("checksum {actual:08x}"), format!("{checksum:08x}"));
        return Err(FileError::Index { byte: end, found, expected });
    }
    let entries = (0..count).map(|number| entry(file, HEADER + number * ENTRY)).collect::<Option<Vec<_>>>();
    Ok((entries.ok_or_else(|| cut(file.len()))?, end + 4))
}

fn entry(file: &[u8], at: usize) -> Option<Entry> {
    let u64_at = |at| Some(u64::from_le_bytes(file.get(at..at + 8)?.try_into().ok()?));
    Some(Entry {
        kind: u32_at(file, at)?,
        codec: u32_at(file, at + 4)?,
        stored: u64_at(at + 8)?,
        raw: u64_at(at + 16)?,
        checksum: u32_at(file, at + 24)?,
    })
}

fn u32_at(file: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?))
}
