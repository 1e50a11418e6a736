//! The file in which a thread of the program tells of its MPI calls (`iotrail_mpi_abi`). Whatever the program writes there,
//! reading it takes bounded memory and ends.

use iotrail_mpi_abi::{
    CAPACITY, CONSUMED, DROPPED, FILE_BYTES, MAGIC, PRODUCED, RECORD_BYTES, SITELESS, place_of, version,
};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A record as it lies in the file.
pub(crate) type Bytes = [u8; RECORD_BYTES];

/// Such a file.
#[derive(Debug)]
pub(crate) struct RecordFile {
    file: File,
    consumed: u64,
    dropped: u64,
    siteless: u64,
    /// Its counters made no sense, and it is not read any more.
    pub(crate) is_damaged: bool,
}

impl RecordFile {
    /// Takes a file that a program has made; `None` if it is none of ours.
    pub(crate) fn take(file: File) -> io::Result<Option<Self>> {
        let taken = Self { file, consumed: 0, dropped: 0, siteless: 0, is_damaged: false };
        let is_ours = taken.file.metadata()?.len() == FILE_BYTES as u64
            && taken.number(0)? == MAGIC
            && taken.number(8)? == version();
        Ok(is_ours.then_some(taken))
    }

    /// Records that were written since the last time, in their order.
    pub(crate) fn read(&mut self, records: &mut Vec<Bytes>) {
        records.clear();
        if self.is_damaged || self.try_read(records).is_err() {
            self.is_damaged = true;
        }
    }

    fn try_read(&mut self, records: &mut Vec<Bytes>) -> io::Result<()> {
        let produced = self.number(PRODUCED)?;
        let new = produced.wrapping_sub(self.consumed);
        if new == 0 {
            return Ok(());
        }
        if new > CAPACITY {
            return Err(io::ErrorKind::InvalidData.into());
        }
        for number in 0..new {
            let mut bytes = [0; RECORD_BYTES];
            self.file.read_exact_at(&mut bytes, place_of(self.consumed.wrapping_add(number)) as u64)?;
            records.push(bytes);
        }
        self.consumed = produced;
        self.dropped = self.number(DROPPED)?;
        self.siteless = self.number(SITELESS)?;
        self.file.write_all_at(&produced.to_ne_bytes(), CONSUMED as u64)
    }

    /// Records for which there was no room.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Calls whose site has no number.
    pub(crate) fn siteless(&self) -> u64 {
        self.siteless
    }

    fn number(&self, place: usize) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, place as u64)?;
        Ok(u64::from_ne_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_mpi_abi::Record;

    fn file() -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(FILE_BYTES as u64).unwrap();
        file.write_all_at(&MAGIC.to_ne_bytes(), 0).unwrap();
        file.write_all_at(&version().to_ne_bytes(), 8).unwrap();
        file
    }

    fn write(file: &File, number: u64) {
        let record = Record { start: number as i64, ..Record::default() };
        file.write_all_at(&record.to_bytes(), place_of(number) as u64).unwrap();
        file.write_all_at(&(number + 1).to_ne_bytes(), PRODUCED as u64).unwrap();
    }

    #[test]
    fn records_are_read_once_and_in_their_order_however_often_the_file_was_full() {
        let file = file();
        let mut taken = RecordFile::take(file.try_clone().unwrap()).unwrap().unwrap();
        let (mut records, mut seen) = (Vec::new(), Vec::new());
        for number in 0..3 * CAPACITY {
            write(&file, number);
            if number % 5000 == 0 || number + 1 == 3 * CAPACITY {
                taken.read(&mut records);
                seen.extend(records.iter().map(|bytes| Record::of(bytes).unwrap().start as u64));
            }
        }
        assert!(seen.into_iter().eq(0..3 * CAPACITY));
        assert!(!taken.is_damaged);
    }

    #[test]
    fn a_file_of_another_version_or_length_is_none_of_ours() {
        let file = file();
        file.write_all_at(&(version() + 1).to_ne_bytes(), 8).unwrap();
        assert!(RecordFile::take(file).unwrap().is_none());
        assert!(RecordFile::take(tempfile::tempfile().unwrap()).unwrap().is_none());
    }

    #[test]
    fn counters_that_make_no_sense_and_a_file_that_is_cut_end_the_reading() {
        let file = file();
        let mut taken = RecordFile::take(file.try_clone().unwrap()).unwrap().unwrap();
        file.write_all_at(&u64::MAX.to_ne_bytes(), PRODUCED as u64).unwrap();
        let mut records = Vec::new();
        taken.read(&mut records);
        assert!(records.is_empty() && taken.is_damaged);
        let other = self::file();
        let mut taken = RecordFile::take(other.try_clone().unwrap()).unwrap().unwrap();
        write(&other, 0);
        other.set_len(100).unwrap();
        taken.read(&mut records);
        assert!(taken.is_damaged);
    }
}
