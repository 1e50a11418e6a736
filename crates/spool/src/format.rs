//! Sizes and marks of the format; `docs/spool-format.md` explains them.

/// Bytes of a block: no record crosses its end, so that a reader finds its way again after damage.
pub(crate) const BLOCK: usize = 1 << 16;
/// Blocks of a piece: names are defined anew in each piece, so that it can be read alone.
pub(crate) const PIECE_BLOCKS: usize = 16;
/// Bytes of a piece.
pub(crate) const PIECE: usize = BLOCK * PIECE_BLOCKS;
/// Bytes of a segment.
pub(crate) const SEGMENT: u64 = 256 << 20;
/// By how much the file of a segment grows at a time.
pub(crate) const GROWTH: usize = 1 << 20;
/// What a segment begins with: mark, version, number, identity.
pub(crate) const PREAMBLE: usize = 24;
/// The first bytes of a segment.
pub(crate) const MARK: [u8; 8] = *b"iotspool";
/// The largest record: length, check, payload.
pub(crate) const MAX_FRAME: usize = BLOCK - FOOTER - PREAMBLE;
/// Bytes of the footer at the end of a block.
pub(crate) const FOOTER: usize = 56;
/// The largest number of bytes before a payload: three of the length, two of the check.
pub(crate) const MAX_FRONT: usize = 5;
/// The longest name. Five names of an event must find room in one piece, each in blocks of its own, and a sixth one (`via`), which is no
/// longer than the kernel takes names.
pub(crate) const MAX_NAME: usize = 2 * (MAX_FRAME - 64);
/// The largest row: it must fit into a piece.
pub(crate) const MAX_ROW: usize = (PIECE_BLOCKS - 1) * (MAX_FRAME - 64);
/// Ids of names are below this: a piece has no room for so many.
pub(crate) const MAX_NAMES: u32 = 1 << 18;

/// What a record is, the number it begins with. From [`Head::EVENT`] on it is an event and says its call.
#[derive(Debug)]
pub(crate) struct Head;

impl Head {
    pub(crate) const NAME: u64 = 0;
    pub(crate) const IMAGE: u64 = 1;
    pub(crate) const PROCESS: u64 = 2;
    pub(crate) const FILE: u64 = 3;
    pub(crate) const COVERAGE: u64 = 4;
    pub(crate) const FRAGMENT: u64 = 5;
    /// The last fragment.
    pub(crate) const LAST: u64 = 6;
    pub(crate) const END: u64 = 7;
    pub(crate) const EVENT: u64 = 8;
}

/// The name of the file of segment `number`.
/// The file of segment 0, which is written after the header.
pub const FIRST_SEGMENT: &str = "0000.spool";

pub(crate) fn segment_name(number: u32) -> String {
    format!("{number:04}.spool")
}

/// The number of the segment in a file of that name.
pub(crate) fn segment_number(name: &str) -> Option<u32> {
    let number = name.strip_suffix(".spool")?.parse().ok()?;
    (segment_name(number) == name).then_some(number)
}

/// The first bytes of a segment.
pub(crate) fn preamble(number: u32, identity: u64) -> [u8; PREAMBLE] {
    let mut bytes = [0; PREAMBLE];
    bytes[..8].copy_from_slice(&MARK);
    bytes[8..12].copy_from_slice(&(crate::FORMAT_VERSION as u32).to_le_bytes());
    bytes[12..16].copy_from_slice(&number.to_le_bytes());
    bytes[16..].copy_from_slice(&identity.to_le_bytes());
    bytes
}
