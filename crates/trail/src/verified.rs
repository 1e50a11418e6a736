//! Column chunks of a row group, read whole and verified before the library sees a byte of them.

use crate::checksums;
use bytes::{Buf, Bytes};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Some chunks of a file.
#[derive(Debug)]
pub(crate) struct VerifiedChunks {
    /// Where each begins, and its bytes.
    chunks: Vec<(u64, Bytes)>,
    file_bytes: u64,
}

impl VerifiedChunks {
    /// Reads the chunks of `columns`; `checksums` are those of all columns of the row group, if the file has any.
    pub(crate) fn read(
        file: &File,
        file_bytes: u64,
        group: &RowGroupMetaData,
        columns: &[usize],
        checksums: Option<&[u32]>,
    ) -> std::result::Result<Self, String> {
        let chunks = columns.iter().map(|column| {
            let chunk = group.columns().get(*column).ok_or("a column is missing")?;
            let name = chunk.column_path().string();
            let (start, length) = chunk.byte_range();
            // That it lies within the file was verified when the file was opened.
            let mut bytes = vec![0; length as usize];
            file.read_exact_at(&mut bytes, start).map_err(|error| format!("column `{name}`: {error}"))?;
            if let Some(expected) = checksums.and_then(|sums| sums.get(*column)) {
                let found = checksums::of(&bytes);
                if found != *expected {
                    let end = start + length;
                    return Err(format!(
                        "column `{name}`, bytes {start} to {end}: the checksum is {found:08x}, not {expected:08x}"
                    ));
                }
            }
            Ok((start, Bytes::from(bytes)))
        });
        Ok(Self { chunks: chunks.collect::<std::result::Result<_, String>>()?, file_bytes })
    }

    /// The bytes of one of the chunks.
    pub(crate) fn bytes(&self, chunk: &ColumnChunkMetaData) -> Option<&[u8]> {
        let start = chunk.byte_range().0;
        self.chunks.iter().find(|(first, _)| *first == start).map(|(_, bytes)| &bytes[..])
    }

    /// The checksum of one of the chunks.
    pub(crate) fn checksum(&self, chunk: &ColumnChunkMetaData) -> u32 {
        self.bytes(chunk).map_or(0, checksums::of)
    }

    fn from(&self, start: u64) -> Result<Bytes> {
        let inside = |(first, bytes): &&(u64, Bytes)| (*first..*first + bytes.len() as u64).contains(&start);
        let (first, bytes) = self.chunks.iter().find(inside).ok_or_else(outside)?;
        Ok(bytes.slice((start - first) as usize..))
    }
}

fn outside() -> ParquetError {
    ParquetError::EOF("a page lies outside of its column".to_owned())
}

impl Length for VerifiedChunks {
    fn len(&self) -> u64 {
        self.file_bytes
    }
}

impl ChunkReader for VerifiedChunks {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(self.from(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let rest = self.from(start)?;
        if length > rest.len() {
            return Err(outside());
        }
        Ok(rest.slice(..length))
    }
}
