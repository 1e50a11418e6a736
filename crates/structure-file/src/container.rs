//! Sections in a file: magic, version, index, then the sections, one behind the other.
//!
//! The index is the number of sections, and of each its kind, codec, bytes as stored and without compression as varints,
//! and the CRC-32 of the stored bytes (4, little-endian). Behind it stands the CRC-32 of all before.

use crate::error::FileError;
use crate::reader::Reader;
use crate::section::Section;
use crate::writer::Writer;
use hashbrown::HashMap;
use std::io::Read;

/// How structures begin.
pub const MAGIC: [u8; 8] = *b"IOTRAIL\xc5";
/// The version of the format.
pub const VERSION: u32 = 3;

const CHECKSUM: usize = 4;
const MAX_SECTIONS: u64 = 1_024;
const STORED: u32 = 0;
const ZSTD: u32 = 1;
const ZSTD_WITH_DICTIONARY: u32 = 2;
const ZSTD_LEVEL: i32 = 19;
/// What sections often hold.
const DICTIONARY: &[u8] = include_bytes!("dictionary.txt");
/// Sections that are larger have such things of their own.
const MOST_WITH_DICTIONARY: usize = 1 << 16;
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

/// A section without compression.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    /// How many bytes its reader makes of it: of one to be written as it will, of one that was read at most.
    pub(crate) expanded: usize,
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, expanded: 0 }
    }
}

struct Entry {
    kind: u32,
    codec: u32,
    stored: u64,
    raw: u64,
    checksum: u32,
}

/// The bytes of a file of these sections.
pub(crate) fn pack(sections: &[(Section, Content)]) -> Vec<u8> {
    let packed: Vec<(Entry, Vec<u8>)> =
        sections.iter().map(|(section, content)| compress(*section, content)).collect();
    let mut out = Writer::default();
    out.bytes.extend_from_slice(&MAGIC);
    out.bytes.extend_from_slice(&VERSION.to_le_bytes());
    out.len(packed.len());
    for (Entry { kind, codec, stored, raw, checksum }, _) in &packed {
        out.number(*kind);
        out.number(*codec);
        out.number(*stored);
        out.number(*raw);
        out.bytes.extend_from_slice(&checksum.to_le_bytes());
    }
    let checksum = crc32fast::hash(&out.bytes);
    out.bytes.extend_from_slice(&checksum.to_le_bytes());
    packed.iter().for_each(|(_, bytes)| out.bytes.extend_from_slice(bytes));
    out.bytes
}

fn compress(section: Section, Content { bytes: raw, expanded }: &Content) -> (Entry, Vec<u8>) {
    let needed = raw.len().max(*expanded);
    let with_dictionary = || {
        let mut compressor = zstd::bulk::Compressor::with_dictionary(ZSTD_LEVEL, DICTIONARY)?;
        compressor.compress(raw)
    };
    let plain = zstd::bulk::compress(raw, ZSTD_LEVEL).map(|small| (ZSTD, small));
    let other = (raw.len() <= MOST_WITH_DICTIONARY)
        .then(|| with_dictionary().map(|small| (ZSTD_WITH_DICTIONARY, small)));
    let small = [Some(plain), other].into_iter().flatten().flatten();
    let small = small.filter(|(_, small)| small.len() < raw.len() && needed <= most_bytes(small.len()));
    let (codec, bytes) = small.min_by_key(|(_, small)| small.len()).unwrap_or_else(|| (STORED, raw.clone()));
    let checksum = crc32fast::hash(&bytes);
    let (stored, raw) = (bytes.len() as u64, raw.len() as u64);
    (Entry { kind: section as u32, codec, stored, raw, checksum }, bytes)
}

fn most_bytes(stored: usize) -> usize {
    stored.saturating_mul(MAX_RATIO).saturating_add(FREE_BYTES)
}

/// The sections of a file, without those that this program does not know.
pub(crate) fn unpack(file: &[u8]) -> Result<HashMap<Section, Content>> {
    let mut sections = HashMap::new();
    let (entries, mut rest) = index(file)?;
    for entry in entries {
        let byte = file.len() - rest.len();
        let wrong = |found: String, expected: String| Err(FileError::Index { byte, found, expected });
        let Some(bytes) = usize::try_from(entry.stored).ok().and_then(|stored| rest.get(..stored)) else {
            return wrong(
                format!("{} bytes of a section", rest.len()),
                format!("{}; the file is cut off", entry.stored),
            );
        };
        rest = &rest[bytes.len()..];
        let checksum = crc32fast::hash(bytes);
        if checksum != entry.checksum {
            return wrong(format!("bytes with checksum {checksum:08x}"), format!("{:08x}", entry.checksum));
        }
        if let Some(section) = Section::ALL.into_iter().find(|section| *section as u32 == entry.kind) {
            let content =
                Content { bytes: decompress(section, &entry, bytes)?, expanded: most_bytes(bytes.len()) };
            if sections.insert(section, content).is_some() {
                return wrong(format!("a second section `{section}`"), "one".to_owned());
            }
        }
    }
    if rest.is_empty() {
        return Ok(sections);
    }
    Err(FileError::Index {
        byte: file.len() - rest.len(),
        found: format!("{} bytes of no section", rest.len()),
        expected: "the end".to_owned(),
    })
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
        ZSTD | ZSTD_WITH_DICTIONARY => {
            let mut raw = Vec::new();
            let dictionary = if entry.codec == ZSTD { &[] } else { DICTIONARY };
            let decoder = zstd::Decoder::with_dictionary(bytes, dictionary);
            let read = decoder.and_then(|decoder| decoder.take(len as u64 + 1).read_to_end(&mut raw));
            read.map_err(|error| wrong(raw.len(), format!("bad zstd data ({error})"), "a frame".to_owned()))?;
            raw
        }
        codec => {
            return Err(wrong(
                0,
                format!("codec {codec}"),
                "0 (as it is), 1 (zstd) or 2 (zstd with the dictionary)".to_owned(),
            ));
        }
    };
    if raw.len() != len {
        let found = if raw.len() > len { "more bytes".to_owned() } else { format!("{} bytes", raw.len()) };
        return Err(wrong(raw.len(), found, format!("{len}")));
    }
    Ok(raw)
}

/// The entries of the index, and the bytes behind it.
fn index(file: &[u8]) -> Result<(Vec<Entry>, &[u8])> {
    if !is_structure(file) {
        let start = &file[..file.len().min(MAGIC.len())];
        return Err(FileError::Foreign { found: format!("`{}`", start.escape_ascii()) });
    }
    let mut input = Reader::of_index(file);
    input.bytes(MAGIC.len())?;
    match input.little_endian()? {
        VERSION => {}
        found => return Err(FileError::Version { found }),
    }
    let count = input.at_most(MAX_SECTIONS, "a number of sections")?;
    let entries = (0..count).map(|_| entry(&mut input)).collect::<Result<Vec<_>>>()?;
    let end = input.position();
    let actual = crc32fast::hash(&file[..end]);
    match input.little_endian()? {
        checksum if checksum == actual => Ok((entries, &file[end + CHECKSUM..])),
        checksum => Err(FileError::Index {
            byte: end,
            found: format!("checksum {checksum:08x}"),
            expected: format!("{actual:08x}"),
        }),
    }
}

fn entry(input: &mut Reader<'_>) -> Result<Entry> {
    Ok(Entry {
        kind: input.u32("a kind of section")?,
        codec: input.u32("a codec")?,
        stored: input.at_most(u64::MAX, "bytes as stored")?,
        raw: input.at_most(u64::MAX, "bytes without compression")?,
        checksum: input.little_endian()?,
    })
}
