//! A look at a Parquet footer before the library reads it.
//!
//! The library allocates what a list in the footer declares before it reads the list. Eight hostile bytes could so ask
//! for a hundred gigabytes, and a failed allocation ends the process. Here the footer's Thrift structure is walked
//! first: every list and text must fit into the bytes that are there.

use crate::checksums;
use crate::error::TrailError;
use crate::seal::Seal;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

const MAGIC: &[u8; 4] = b"PAR1";
/// Structures of the Parquet footer nest about six deep.
const MAX_DEPTH: u32 = 32;
/// A footer of a hundred thousand row groups is smaller.
const MAX_FOOTER_BYTES: u64 = 1 << 30;

/// Makes sure that the footer of the file of `bytes` bytes declares nothing that cannot be there.
pub(crate) fn examine(path: &Path, mut file: &File, bytes: u64) -> Result<(), TrailError> {
    let io = || TrailError::io("read", path);
    let damaged = |why: &str| TrailError::damaged(path, None, why);
    if bytes < 12 {
        return Err(damaged(&format!("it has {bytes} bytes, too few for a Parquet file: the file was cut")));
    }
    let mut head = [0; 4];
    file.seek(SeekFrom::Start(0)).map_err(io())?;
    file.read_exact(&mut head).map_err(io())?;
    if &head != MAGIC {
        return Err(damaged("it does not begin like a Parquet file"));
    }
    let mut tail = [0; 8];
    file.seek(SeekFrom::End(-8)).map_err(io())?;
    file.read_exact(&mut tail).map_err(io())?;
    let [a, b, c, d, magic @ ..] = tail;
    if &magic != MAGIC {
        return Err(damaged("it does not end like a Parquet file: the file was cut"));
    }
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    if length > MAX_FOOTER_BYTES.min(bytes - 12) {
        return Err(damaged(&format!("its footer would have {length} of the file's {bytes} bytes")));
    }
    let mut footer = vec![0; length as usize];
    file.seek(SeekFrom::End(-8 - length as i64)).map_err(io())?;
    file.read_exact(&mut footer).map_err(io())?;
    if checksums::examine(&footer) == Seal::Broken {
        return Err(damaged("its footer does not match its checksum"));
    }
    let fits = Walk { rest: &footer }.structure(0).is_some();
    if fits { Ok(()) } else { Err(damaged("its footer declares more than it holds")) }
}

/// Thrift's compact protocol, as far as sizes go. `None` is a structure that does not fit.
struct Walk<'a> {
    rest: &'a [u8],
}

impl Walk<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn structure(&mut self, depth: u32) -> Option<()> {
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Some(());
            }
            if header >> 4 == 0 {
                self.varint()?;
            }
            // In a field, true and false are types of their own and have no body.
            match header & 15 {
                1 | 2 => (),
                kind => self.value(kind, depth)?,
            }
        }
    }

    fn value(&mut self, kind: u8, depth: u32) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match kind {
            1..=3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => self.list(depth),
            12 => self.structure(depth + 1),
            _ => None,
        }
    }

    fn list(&mut self, depth: u32) -> Option<()> {
        let header = self.byte()?;
        let count = match header >> 4 {
            15 => self.varint()?,
            short => u64::from(short),
        };
        // Every element takes at least a byte.
        if count > self.rest.len() as u64 {
            return None;
        }
        (0..count).try_for_each(|_| self.value(header & 15, depth + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::Walk;

    fn fits(bytes: &[u8]) -> bool {
        Walk { rest: bytes }.structure(0).is_some()
    }

    #[test]
    fn lists_that_cannot_be_there_are_refused() {
        assert!(fits(&[0x15, 0x02, 0x19, 0x25, 0x02, 0x04, 0x00]), "a number and a list of two numbers");
        assert!(!fits(&[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x00]), "a list of 4 billion numbers");
        assert!(!fits(&[0x18, 0x7f, b'a', 0x00]), "a text of 127 bytes");
        assert!(!fits(&[0x1c; 100]), "structures without end");
        assert!(!fits(&[0x19; 5000]), "lists without end");
    }
}
