//! Pages as they stand in a file: a header in Thrift's compact protocol, and the compressed bytes.
//!
//! The library can read the checksums of pages, but does not write them; so headers are made here (`parquet.thrift`,
//! `PageHeader`).

use crate::checksums;
use iotrail_model::varint::put_signed;
use parquet::basic::Encoding;
use parquet::errors::{ParquetError, Result};

/// What a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageKind {
    /// The entries of a dictionary.
    Dictionary,
    /// Values of a column and which of them are NULL.
    Data(Encoding),
}

/// Bytes of a page with its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageSize {
    pub(crate) compressed: i64,
    pub(crate) uncompressed: i64,
}

/// Fields that are 32-bit numbers, one after the other; the first of a structure, too.
const NEXT_I32: u8 = 0x15;
const STOP: u8 = 0;

/// Appends a page of `values` values, compressed to `body` from `uncompressed` bytes.
pub(crate) fn put(
    out: &mut Vec<u8>,
    kind: PageKind,
    values: usize,
    uncompressed: usize,
    body: &[u8],
) -> Result<PageSize> {
    let start = out.len();
    let number = |out: &mut Vec<u8>, value: i32| {
        out.push(NEXT_I32);
        put_signed(out, value.into());
    };
    number(out, if kind == PageKind::Dictionary { 2 } else { 0 });
    number(out, size(uncompressed)?);
    number(out, size(body.len())?);
    number(out, checksums::of(body) as i32);
    match kind {
        PageKind::Dictionary => {
            // Field 7: entries, their encoding, and that they are not sorted.
            out.push(0x3c);
            number(out, size(values)?);
            number(out, id(Encoding::PLAIN)?);
            out.extend([0x12, STOP]);
        }
        PageKind::Data(encoding) => {
            // Field 5: values, their encoding, and that of the levels.
            out.push(0x1c);
            number(out, size(values)?);
            number(out, id(encoding)?);
            number(out, id(Encoding::RLE)?);
            number(out, id(Encoding::RLE)?);
            out.push(STOP);
        }
    }
    out.push(STOP);
    let header = (out.len() - start) as i64;
    out.extend_from_slice(body);
    Ok(PageSize { compressed: header + body.len() as i64, uncompressed: header + uncompressed as i64 })
}

fn size(bytes: usize) -> Result<i32> {
    i32::try_from(bytes).map_err(|_| ParquetError::General("a page is larger than 2 GiB".to_owned()))
}

fn id(encoding: Encoding) -> Result<i32> {
    Ok(match encoding {
        Encoding::PLAIN => 0,
        Encoding::RLE => 3,
        Encoding::DELTA_BINARY_PACKED => 5,
        Encoding::RLE_DICTIONARY => 8,
        other => return Err(ParquetError::General(format!("pages are not encoded as {other}"))),
    })
}
