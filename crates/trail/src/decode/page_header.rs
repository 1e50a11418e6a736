//! Headers of pages: structures in Thrift's compact protocol (`parquet.thrift`, `PageHeader`).

use crate::decode::input::{advance, varint, zigzag};

/// The kinds of pages that are read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageKind {
    Data,
    Dictionary,
}

/// What is needed of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageHeader {
    pub(super) kind: PageKind,
    /// Bytes of the page, and of what is stored of it.
    pub(super) uncompressed: usize,
    pub(super) compressed: usize,
    /// Rows, or entries of the dictionary.
    pub(super) values: usize,
    /// The number of the encoding in `parquet.thrift`.
    pub(super) encoding: i64,
}

const I32: u8 = 5;
const BINARY: u8 = 8;
const STRUCTURE: u8 = 12;
/// How deep structures lie in one another in a header; what is deeper is none.
const DEPTH: usize = 4;

impl PageHeader {
    /// The header at the start of `input`, which is left with what follows; `None` if it is of another kind of page, or none.
    pub(super) fn read(input: &mut &[u8]) -> Option<Self> {
        let (mut kind, mut sizes) = (None, [None; 2]);
        let (mut values, mut encoding) = (None, None);
        each_field(input, |input, id, word| match (id, word) {
            (1, I32) => {
                kind = Some(match zigzag(input)? {
                    0 => PageKind::Data,
                    2 => PageKind::Dictionary,
                    _ => return None,
                });
                Some(())
            }
            (2 | 3, I32) => {
                sizes[usize::from(id == 3)] = Some(count(input)?);
                Some(())
            }
            // The part of its own that each of the two kinds has.
            (5 | 7, STRUCTURE) => each_field(input, |input, id, word| match (id, word) {
                (1, I32) => {
                    values = Some(count(input)?);
                    Some(())
                }
                (2, I32) => {
                    encoding = Some(zigzag(input)?);
                    Some(())
                }
                _ => skip(input, word, DEPTH),
            }),
            _ => skip(input, word, DEPTH),
        })?;
        let [uncompressed, compressed] = sizes;
        Some(Self {
            kind: kind?,
            uncompressed: uncompressed?,
            compressed: compressed?,
            values: values?,
            encoding: encoding?,
        })
    }
}

fn count(input: &mut &[u8]) -> Option<usize> {
    usize::try_from(zigzag(input)?).ok()
}

/// Calls `field` with the number and the type of each field of a structure; it must take the value.
fn each_field(input: &mut &[u8], mut field: impl FnMut(&mut &[u8], i64, u8) -> Option<()>) -> Option<()> {
    let mut id = 0_i64;
    loop {
        let [word] = *advance(input, 1)? else { return None };
        if word == 0 {
            return Some(());
        }
        id = match word >> 4 {
            0 => zigzag(input)?,
            step => id.wrapping_add(i64::from(step)),
        };
        field(input, id, word & 15)?;
    }
}

fn skip(input: &mut &[u8], word: u8, depth: usize) -> Option<()> {
    match word {
        // The value of a truth is its type.
        1 | 2 => {}
        3 => drop(advance(input, 1)?),
        4..=6 => drop(varint(input)?),
        BINARY => {
            let length = usize::try_from(varint(input)?).ok()?;
            advance(input, length)?;
        }
        STRUCTURE if depth > 0 => each_field(input, |input, _, word| skip(input, word, depth - 1))?,
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::page;
    use parquet::basic::Encoding;

    #[test]
    fn headers_that_are_written_are_read() {
        let mut bytes = Vec::new();
        page::put(&mut bytes, page::PageKind::Data(Encoding::DELTA_BINARY_PACKED), 1 << 17, 300, b"body")
            .unwrap();
        page::put(&mut bytes, page::PageKind::Dictionary, 7, 28, b"").unwrap();
        let mut input = &bytes[..];
        let data = PageHeader {
            kind: PageKind::Data,
            uncompressed: 300,
            compressed: 4,
            values: 1 << 17,
            encoding: 5,
        };
        assert_eq!(PageHeader::read(&mut input), Some(data));
        assert_eq!(advance(&mut input, 4), Some(&b"body"[..]));
        let dictionary = PageHeader::read(&mut input).unwrap();
        assert_eq!((dictionary.kind, dictionary.values, dictionary.encoding), (PageKind::Dictionary, 7, 0));
        assert!(input.is_empty());
    }

    #[test]
    fn bytes_that_are_anything_are_read_to_their_end_at_most() {
        let mut bits = 1_u64;
        for length in 0..3000 {
            let bytes: Vec<u8> = std::iter::repeat_with(|| {
                bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Mostly words that begin a field.
                [0x15, 0x1c, 0x05, 0x2c, (bits >> 56) as u8][(bits >> 33) as usize % 5]
            })
            .take(length % 60)
            .collect();
            let mut input = &bytes[..];
            let _ = PageHeader::read(&mut input);
            assert!(bytes.ends_with(input));
        }
    }

    #[test]
    fn statistics_are_skipped_and_structures_without_end_are_no_header() {
        // Type, sizes, and a data page with statistics: two texts and a count.
        let header = [
            0x15, 0, 0x15, 8, 0x15, 8, 0x2c, 0x15, 4, 0x15, 0, 0x15, 6, 0x15, 6, 0x1c, 0x18, 1, b'a', 0x18,
            1, b'b', 0x16, 2, 0, 0, 0,
        ];
        let read = PageHeader::read(&mut &header[..]).unwrap();
        assert_eq!((read.values, read.encoding, read.uncompressed), (2, 0, 4));
        assert_eq!(PageHeader::read(&mut &[0x1c; 100_000][..]), None);
        (0..header.len()).for_each(|cut| assert_eq!(PageHeader::read(&mut &header[..cut]), None));
    }
}
