//! Sections in a file: magic, version, index, then blocks of sections, one behind the other.
//!
//! The index is the number of blocks, and of each its codec, bytes as stored, and sections: of each its kind, bytes without
//! compression, and digits, which stand uncompressed behind all else of the block; then the CRC-32 of the stored bytes
//! (4, little-endian), and of a block that is modelled that of its sections without compression: what a model makes depends on all that it has
//! read. Behind it stands the CRC-32 of all before. In version 3 a block is one section without digits.

use crate::error::FileError;
use crate::model;
use crate::model::{Material, Model};
use crate::reader::Reader;
use crate::section::Section;
use crate::writer::Writer;
use hashbrown::HashMap;
use std::io::Read;
use std::sync::LazyLock;

/// How structures begin.
pub const MAGIC: [u8; 8] = *b"IOTRAIL\xc5";
/// The version of the format that is written.
pub const VERSION: u32 = 4;
/// The oldest version that is read.
pub(crate) const OLDEST_VERSION: u32 = 3;

const CHECKSUM: usize = 4;
const MAX_SECTIONS: u64 = 1_024;
const STORED: u32 = 0;
const ZSTD: u32 = 1;
/// Before version 4.
const ZSTD_WITH_DICTIONARY: u32 = 2;
const MODELLED: u32 = 3;
const ZSTD_LEVEL: i32 = 19;
/// Of sections of irregular programs, for which the highest level takes seconds and saves a hundredth.
const LEVEL_OF_LARGE: i32 = 15;
/// Bytes of a section from which on it is large.
const LARGE: usize = 1 << 23;
/// What sections often hold.
const DICTIONARY: &[u8] = include_bytes!("dictionary.txt");
/// Structures of small programs on two ranks, [`uncompressed`]: what those of others are like. Whoever changes them changes the format.
const TYPICAL: [&[u8]; 2] =
    [include_bytes!("typical-mpich.structure"), include_bytes!("typical-openmpi.structure")];
/// Sections that are larger are blocks of their own, as the model takes its time.
const MOST_MODELLED: usize = 1 << 16;
/// Sections of a block that is modelled have no more bytes, so that no file keeps a reader busy.
const MOST_MODELLED_TOGETHER: usize = 1 << 18;
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
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    /// Numbers that no compression makes smaller.
    pub(crate) digits: Vec<u8>,
    /// How many bytes its reader makes of it: of one to be written as it will, of one that was read at most.
    pub(crate) expanded: usize,
}

impl Content {
    fn needs(&self) -> usize {
        self.bytes.len().max(self.expanded)
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, ..Self::default() }
    }
}

impl From<Writer> for Content {
    fn from(writer: Writer) -> Self {
        Self { bytes: writer.bytes, digits: writer.digits.finish(), expanded: 0 }
    }
}

/// A section, as the index has it.
struct Part {
    kind: u32,
    raw: u64,
    digits: u64,
}

/// Sections that are compressed together.
struct Block {
    codec: u32,
    stored: u64,
    parts: Vec<Part>,
    checksum: u32,
    /// Of the sections that were modelled, without their digits; 0 of others.
    modelled: u32,
}

type Sections<'a> = Vec<&'a (Section, Content)>;

/// The bytes of a file of these sections.
pub(crate) fn pack(sections: &[(Section, Content)]) -> Vec<u8> {
    let (small, large): (Sections<'_>, Sections<'_>) =
        sections.iter().partition(|(_, content)| content.bytes.len() <= MOST_MODELLED);
    let (modelled, apart) = modelled(small);
    let mut blocks = vec![modelled];
    blocks.extend(large.into_iter().chain(apart).map(|section| {
        let (codec, bytes) = compress(&section.1);
        block(codec, bytes, &[section])
    }));
    file(&blocks)
}

fn file(blocks: &[(Block, Vec<u8>)]) -> Vec<u8> {
    let mut out = Writer::default();
    out.bytes.extend_from_slice(&MAGIC);
    out.bytes.extend_from_slice(&VERSION.to_le_bytes());
    out.len(blocks.len());
    blocks.iter().for_each(|(block, _)| block.write(&mut out));
    let checksum = crc32fast::hash(&out.bytes);
    out.bytes.extend_from_slice(&checksum.to_le_bytes());
    blocks.iter().for_each(|(_, bytes)| out.bytes.extend_from_slice(bytes));
    out.bytes
}

/// The block of small sections, and those that are too much for one, or of which a reader may not make as much as it has to.
fn modelled(small: Sections<'_>) -> ((Block, Vec<u8>), Sections<'_>) {
    let mut together = 0;
    let (small, mut too_much): (Sections<'_>, Sections<'_>) = small.into_iter().partition(|(_, content)| {
        let with = together + content.bytes.len();
        let fits = with <= MOST_MODELLED_TOGETHER;
        if fits {
            together = with;
        }
        fits
    });
    let model = |sections: &Sections<'_>| {
        let sections = sections.iter().map(|(section, content)| (material(*section), &content.bytes[..]));
        model::compress(TRAINED.clone(), sections)
    };
    let bytes = model(&small);
    let most = most_bytes(bytes.len());
    if small.iter().all(|(_, content)| content.needs() <= most) {
        return (block(MODELLED, bytes, &small), too_much);
    }
    let (small, apart): (Sections<'_>, Sections<'_>) =
        small.into_iter().partition(|(_, content)| content.needs() <= FREE_BYTES);
    too_much.extend(apart);
    (block(MODELLED, model(&small), &small), too_much)
}

/// The model that has read what sections often hold.
static TRAINED: LazyLock<Model> = LazyLock::new(|| {
    let sections = TYPICAL.iter().flat_map(|file| stored_sections(file).unwrap_or_default());
    Model::new([(Material::Text, DICTIONARY)].into_iter().chain(sections))
});

/// The sections of a file that is not compressed, without their digits.
fn stored_sections(file: &[u8]) -> Result<Vec<(Material, &[u8])>> {
    let (blocks, mut rest) = index(file)?;
    let of_block = |block: &Block| {
        let (stored, behind) = rest.split_at((block.stored as usize).min(rest.len()));
        rest = behind;
        let material = block.parts.first().and_then(Part::section).map_or(Material::Numbers, material);
        Ok((material, block.divide(stored, 0)?.0))
    };
    blocks.iter().map(of_block).collect()
}

/// The same structure, of whose sections none is compressed: to look into them, and to learn from them.
///
/// # Errors
/// It is no structure, or damaged.
pub fn uncompressed(structure: &[u8]) -> Result<Vec<u8>> {
    let mut sections: Vec<(Section, Content)> = unpack(structure)?.into_iter().collect();
    sections.sort_unstable_by_key(|(section, _)| *section);
    let blocks: Vec<_> =
        sections.iter().map(|section| block(STORED, section.1.bytes.clone(), &[section])).collect();
    Ok(file(&blocks))
}

fn material(section: Section) -> Material {
    match section {
        Section::About | Section::Names | Section::Cases | Section::Processes | Section::Sites => {
            Material::Text
        }
        _ => Material::Numbers,
    }
}

/// Bytes of sections as a block, with the digits of these behind them.
fn block(codec: u32, mut bytes: Vec<u8>, sections: &[&(Section, Content)]) -> (Block, Vec<u8>) {
    let part = |(section, content): &&(Section, Content)| Part {
        kind: *section as u32,
        raw: content.bytes.len() as u64,
        digits: content.digits.len() as u64,
    };
    let parts = sections.iter().map(part).collect();
    sections.iter().for_each(|(_, content)| bytes.extend_from_slice(&content.digits));
    let checksum = crc32fast::hash(&bytes);
    let contents = sections.iter().map(|(_, content)| &content.bytes[..]);
    let modelled = if codec == MODELLED { checksum_of(contents) } else { 0 };
    (Block { codec, stored: bytes.len() as u64, parts, checksum, modelled }, bytes)
}

/// Of bytes one behind the other.
fn checksum_of<'a>(parts: impl Iterator<Item = &'a [u8]>) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    parts.for_each(|part| hasher.update(part));
    hasher.finalize()
}

/// A section on its own: its codec and its bytes.
fn compress(content: &Content) -> (u32, Vec<u8>) {
    let raw = &content.bytes;
    let level = if raw.len() < LARGE { ZSTD_LEVEL } else { LEVEL_OF_LARGE };
    let small = zstd::bulk::compress(raw, level).ok();
    let small = small.filter(|small| small.len() < raw.len() && content.needs() <= most_bytes(small.len()));
    small.map_or_else(|| (STORED, raw.clone()), |small| (ZSTD, small))
}

fn most_bytes(stored: usize) -> usize {
    stored.saturating_mul(MAX_RATIO).saturating_add(FREE_BYTES)
}

/// The sections of a file, without those that this program does not know.
pub(crate) fn unpack(file: &[u8]) -> Result<HashMap<Section, Content>> {
    let mut sections = HashMap::new();
    let (blocks, mut rest) = index(file)?;
    let mut is_modelled = false;
    for block in blocks {
        let byte = file.len() - rest.len();
        let wrong = |found: String, expected: String| Err(FileError::Index { byte, found, expected });
        let Some(bytes) = usize::try_from(block.stored).ok().and_then(|stored| rest.get(..stored)) else {
            return wrong(
                format!("{} bytes of a section", rest.len()),
                format!("{}; the file is cut off", block.stored),
            );
        };
        rest = &rest[bytes.len()..];
        let checksum = crc32fast::hash(bytes);
        if checksum != block.checksum {
            return wrong(format!("bytes with checksum {checksum:08x}"), format!("{:08x}", block.checksum));
        }
        if block.codec == MODELLED && std::mem::replace(&mut is_modelled, true) {
            return wrong("a second block that is modelled".to_owned(), "one".to_owned());
        }
        for (section, content) in block.sections(bytes, byte)? {
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

impl Part {
    /// NULL: this program does not know it.
    fn section(&self) -> Option<Section> {
        Section::ALL.into_iter().find(|section| *section as u32 == self.kind)
    }

    fn write(&self, out: &mut Writer) {
        out.number(self.kind << 1 | u32::from(self.digits > 0));
        out.number(self.raw);
        if self.digits > 0 {
            out.number(self.digits);
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self> {
        let tag = input.u32("a kind of section")?;
        let raw = input.at_most(u64::MAX, "bytes without compression")?;
        let digits = if tag & 1 == 1 { input.at_most(u64::MAX, "bytes of digits")? } else { 0 };
        Ok(Self { kind: tag >> 1, raw, digits })
    }
}

impl Block {
    fn write(&self, out: &mut Writer) {
        out.number(self.codec);
        out.number(self.stored);
        out.len(self.parts.len());
        self.parts.iter().for_each(|part| part.write(out));
        out.bytes.extend_from_slice(&self.checksum.to_le_bytes());
        if self.codec == MODELLED {
            out.bytes.extend_from_slice(&self.modelled.to_le_bytes());
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self> {
        let codec = input.u32("a codec")?;
        let stored = input.at_most(u64::MAX, "bytes as stored")?;
        let len = input.at_most(MAX_SECTIONS, "a number of sections")?;
        let parts = (0..len).map(|_| Part::read(input)).collect::<Result<_>>()?;
        let checksum = input.little_endian()?;
        let modelled = if codec == MODELLED { input.little_endian()? } else { 0 };
        Ok(Self { codec, stored, parts, checksum, modelled })
    }

    /// The entry of a section in the index of version 3.
    fn read_single(input: &mut Reader<'_>) -> Result<Self> {
        let kind = input.u32("a kind of section")?;
        let codec = input.u32("a codec")?;
        let stored = input.at_most(u64::MAX, "bytes as stored")?;
        let raw = input.at_most(u64::MAX, "bytes without compression")?;
        let parts = vec![Part { kind, raw, digits: 0 }];
        Ok(Self { codec, stored, parts, checksum: input.little_endian()?, modelled: 0 })
    }

    /// Its sections that this program knows; `byte` is where it begins in the file.
    fn sections(&self, stored: &[u8], byte: usize) -> Result<Vec<(Section, Content)>> {
        let (bytes, mut digits) = self.divide(stored, byte)?;
        let contents = match (self.codec, &self.parts[..]) {
            (MODELLED, _) => self.modelled(bytes, byte)?,
            (_, [part]) => match part.section() {
                Some(section) => vec![decompress(section, self.codec, part.raw, bytes)?],
                None => return Ok(Vec::new()),
            },
            (codec, parts) => {
                let found = format!("codec {codec} of {} sections", parts.len());
                return Err(FileError::Index { byte, found, expected: "one section".to_owned() });
            }
        };
        let mut sections = Vec::new();
        for (part, content) in self.parts.iter().zip(contents) {
            let own;
            (own, digits) = digits.split_at((part.digits as usize).min(digits.len()));
            let content = |section| {
                let expanded = most_bytes(stored.len());
                (section, Content { bytes: content, digits: own.to_vec(), expanded })
            };
            sections.extend(part.section().map(content));
        }
        Ok(sections)
    }

    /// What is compressed, and the digits behind it.
    fn divide<'a>(&self, stored: &'a [u8], byte: usize) -> Result<(&'a [u8], &'a [u8])> {
        let digits = self.parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.digits));
        let compressed = digits.and_then(|digits| (stored.len() as u64).checked_sub(digits));
        let Some(compressed) = compressed else {
            let (found, expected) = (format!("more digits than {} bytes", stored.len()), "fewer".to_owned());
            return Err(FileError::Index { byte, found, expected });
        };
        Ok(stored.split_at(compressed as usize))
    }

    fn modelled(&self, bytes: &[u8], byte: usize) -> Result<Vec<Vec<u8>>> {
        let wrong = |found, expected| Err(FileError::Index { byte, found, expected });
        let most = MOST_MODELLED_TOGETHER.min(most_bytes(bytes.len())) as u64;
        if let Some(part) = self.parts.iter().find(|part| part.raw > MOST_MODELLED as u64) {
            return wrong(format!("{} bytes of a section", part.raw), format!("at most {MOST_MODELLED}"));
        }
        let raw = self.parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.raw));
        if raw.is_none_or(|raw| raw > most) {
            return wrong(
                format!("{raw:?} bytes of sections"),
                format!("at most {most} of {} stored", bytes.len()),
            );
        }
        let mut sections = model::Sections::new(TRAINED.clone(), bytes);
        let of_part = |part: &Part| {
            let material = part.section().map_or(Material::Numbers, material);
            sections.next(material, part.raw as usize)
        };
        let contents: Vec<Vec<u8>> = self.parts.iter().map(of_part).collect();
        if !sections.is_at_end() {
            return wrong("bytes behind the last section".to_owned(), "none".to_owned());
        }
        let checksum = checksum_of(contents.iter().map(Vec::as_slice));
        if checksum != self.modelled {
            return wrong(
                format!("sections with checksum {checksum:08x} (of another model?)"),
                format!("{:08x}", self.modelled),
            );
        }
        Ok(contents)
    }
}

fn decompress(section: Section, codec: u32, raw: u64, bytes: &[u8]) -> Result<Vec<u8>> {
    let wrong = |byte, found: String, expected: String| FileError::Section { section, byte, found, expected };
    let most = most_bytes(bytes.len());
    let Some(len) = usize::try_from(raw).ok().filter(|len| *len <= most) else {
        return Err(wrong(0, format!("{raw} bytes"), format!("at most {most} of {} stored", bytes.len())));
    };
    let raw = match codec {
        STORED => bytes.to_vec(),
        ZSTD | ZSTD_WITH_DICTIONARY => {
            let mut raw = Vec::new();
            let dictionary = if codec == ZSTD { &[] } else { DICTIONARY };
            let decoder = zstd::Decoder::with_dictionary(bytes, dictionary);
            let read = decoder.and_then(|decoder| decoder.take(len as u64 + 1).read_to_end(&mut raw));
            read.map_err(|error| wrong(raw.len(), format!("bad zstd data ({error})"), "a frame".to_owned()))?;
            raw
        }
        codec => {
            return Err(wrong(
                0,
                format!("codec {codec}"),
                "0 (as it is), 1 (zstd), 2 (zstd with the dictionary) or 3 (modelled)".to_owned(),
            ));
        }
    };
    if raw.len() != len {
        let found = if raw.len() > len { "more bytes".to_owned() } else { format!("{} bytes", raw.len()) };
        return Err(wrong(raw.len(), found, format!("{len}")));
    }
    Ok(raw)
}

/// The blocks of the index, and the bytes behind it.
fn index(file: &[u8]) -> Result<(Vec<Block>, &[u8])> {
    if !is_structure(file) {
        let start = &file[..file.len().min(MAGIC.len())];
        return Err(FileError::Foreign { found: format!("`{}`", start.escape_ascii()) });
    }
    let mut input = Reader::of_index(file);
    input.bytes(MAGIC.len())?;
    let read = match input.little_endian()? {
        VERSION => Block::read,
        OLDEST_VERSION => Block::read_single,
        found => return Err(FileError::Version { found }),
    };
    let count = input.at_most(MAX_SECTIONS, "a number of sections")?;
    let blocks = (0..count).map(|_| read(&mut input)).collect::<Result<Vec<_>>>()?;
    let end = input.position();
    let actual = crc32fast::hash(&file[..end]);
    match input.little_endian()? {
        checksum if checksum == actual => Ok((blocks, &file[end + CHECKSUM..])),
        checksum => Err(FileError::Index {
            byte: end,
            found: format!("checksum {checksum:08x}"),
            expected: format!("{actual:08x}"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_has_read_typical_structures() {
        for typical in TYPICAL {
            assert!(stored_sections(typical).expect("sections").len() >= 10);
            let same = uncompressed(&uncompressed(typical).expect("a structure")).expect("a structure");
            assert_eq!(same, typical);
        }
    }

    #[test]
    fn sections_are_modelled_compressed_or_stored() {
        let large = |bytes: Vec<u8>| (Section::Names, Content { digits: vec![7, 7], ..bytes.into() });
        let text = |numbers: u32| (0..numbers).flat_map(|number| number.to_string().into_bytes()).collect();
        assert!(Vec::len(&text(1_500_000)) > LARGE);
        let texts = [20_000, 1_500_000].map(|numbers| large(text(numbers)));
        let others = [vec![7; MOST_MODELLED], vec![7; 1 << 20], Vec::new()].map(large);
        for names in texts.into_iter().chain(others) {
            let about = (Section::About, Content { digits: vec![1], ..b"{}".to_vec().into() });
            let file = pack(&[about, names]);
            let sections = unpack(&file).expect("sections");
            assert_eq!(sections[&Section::About].bytes, b"{}");
            assert_eq!(
                (sections[&Section::About].digits.len(), &sections[&Section::Names].digits[..]),
                (1, &[7, 7][..])
            );
            assert!(
                pack(&[(Section::Names, large(sections[&Section::Names].bytes.clone()).1)]).len()
                    <= file.len()
            );
        }
    }

    #[test]
    fn sections_that_another_model_made_are_an_error() {
        let about = (Section::About, Content::from(b"{}".to_vec()));
        let bytes = model::compress(Model::new([]), [(Material::Text, &b"{}"[..])]);
        let error = unpack(&file(&[block(MODELLED, bytes, &[&about])])).expect_err("other sections");
        assert!(error.to_string().contains("of another model"), "{error}");
    }

    #[test]
    fn more_sections_than_are_modelled_come_back() {
        let sections: Vec<(Section, Content)> = Section::ALL
            .into_iter()
            .map(|section| (section, vec![section as u8; MOST_MODELLED - 1].into()))
            .collect();
        let file = pack(&sections);
        let (blocks, _) = index(&file).expect("an index");
        assert_eq!((blocks.len(), blocks[0].parts.len()), (1 + 10, 4));
        let back = unpack(&file).expect("sections");
        assert!(sections.iter().all(|(section, content)| back[section].bytes == content.bytes));
    }

    #[test]
    fn what_the_model_has_read_is_part_of_the_format() {
        // Whoever changes one of these files changes what every modelled block means: the version of the format, too.
        let checksums = [DICTIONARY, TYPICAL[0], TYPICAL[1]].map(crc32fast::hash);
        assert_eq!(checksums, [0xa317_fd54, 0xc007_9303, 0xf9b3_8b0d]);
    }

    #[test]
    fn what_the_index_does_not_say_is_refused() {
        let of = |codec, raw, digits| {
            let part = |kind| Part { kind, raw, digits };
            let block = |bytes: Vec<u8>| {
                let checksum = crc32fast::hash(&bytes);
                (Block { codec, stored: 10, parts: vec![part(1), part(2)], checksum, modelled: 0 }, bytes)
            };
            unpack(&file(&[block(vec![9; 10])]))
                .map(|sections| sections.len())
                .map_err(|error| error.to_string())
        };
        of(ZSTD, 1, 0).expect_err("two sections of zstd");
        of(MODELLED, 1, 6).expect_err("more digits than bytes");
        of(MODELLED, u64::MAX, 0).expect_err("more bytes than 64 bits count");
        of(MODELLED, 1 << 20, 0).expect_err("more bytes than the block justifies");
        of(MODELLED, MOST_MODELLED as u64 + 1, 0).expect_err("a section that is too large for the model");
        of(MODELLED, 0, 0).expect_err("bytes of no section");
        of(77, 1, 0).expect_err("a codec that is none");
    }
}
