//! What a column costs that is appended to the list: one line. Here the list has one line more; the table that the same macros
//! make of it reads what today's iotrail wrote, and today's reads what it writes.

use crate::columns::Columns as Today;
use crate::decode::{NameTable, Slice, decode};
use crate::encode::EncodedChunk;
use crate::event_file::EventFile;
use crate::memory::small_trail;
use crate::own_names::OwnNames;
use crate::parquet_file::ParquetFile;
use crate::planted::exchangeable_trail;
use crate::{EventLog, Table, check};
use iotrail_model::{EventBatch as BatchOfToday, FlagsId, NameKind, Nullable};
use std::path::Path;

const EVENTS: &str = "events-0000.parquet";

/// The table of an iotrail to come.
#[allow(unreachable_pub, dead_code, reason = "the macros make what the whole crate has of it")]
mod later {
    use crate::cell::{Pages, Stored, table};
    use crate::columns::columns;
    use crate::decode::{Chunk, NameTable, PageDecoder, Slice};
    use crate::encode::{ChunkEncoder, EncodedChunk, Integers};
    use crate::own_names::OwnNames;
    use crate::schema::ColumnSchema;
    use iotrail_model::{
        CallId, CaseId, ErrnoId, FileId, FlagsId, Layer, Nanos, Nullable, OpenId, PathId, Pid, SiteId, Tid,
        Timestamp,
    };
    use parquet::errors::{ParquetError, Result};
    use parquet::schema::types::ColumnDescPtr;
    use std::ops::Range;

    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) struct Columns(u64);

    impl Columns {
        const fn at(index: usize) -> Self {
            Self(1 << index)
        }

        const fn contains(self, other: Self) -> bool {
            self.0 & other.0 == other.0
        }
    }

    macro_rules! batch {
        ($(#[$doc:meta] $field:ident: $cell:ty, $constant:ident = $name:literal, $packing:ident, $redaction:ident, $code:ident;)*) => {
            #[derive(Default)]
            pub(super) struct EventBatch {
                pub(super) len: usize,
                $(pub(super) $field: Vec<$cell>,)*
            }
        };
    }

    macro_rules! everything {
        ($($columns:tt)*) => {
            batch! { $($columns)* }
            columns! { $($columns)* }
            table! { $($columns)* }
        };
    }

    macro_rules! with_one_more {
        ($($columns:tt)*) => {
            everything! {
                $($columns)*
                #[doc = "What the thread was called."] task: Nullable<FlagsId>, TASK = "task", DictionaryOrPlain, known, Plain;
            }
        };
    }

    iotrail_model::event_columns!(with_one_more);
}

/// The rows of today with what their threads were called.
fn with_tasks(batch: BatchOfToday, task: Vec<Nullable<FlagsId>>) -> later::EventBatch {
    macro_rules! take {
        ($(#[$doc:meta] $field:ident: $cell:ty, $constant:ident = $name:literal, $packing:ident, $redaction:ident, $code:ident;)*) => {
            later::EventBatch { len: batch.len, $($field: batch.$field,)* task }
        };
    }
    iotrail_model::event_columns!(take)
}

fn read_today(path: &Path, names: &mut OwnNames) -> BatchOfToday {
    let file = ParquetFile::open(&path.join(EVENTS), Table::Events).unwrap();
    decode(&file, 0, Today::ALL, names).unwrap()
}

/// Replaces the events of a trail.
fn write_later(path: &Path, batch: &later::EventBatch, groups: usize, names: &OwnNames) {
    std::fs::remove_file(path.join(EVENTS)).unwrap();
    let mut file = EventFile::with_schema(&path.join(EVENTS), &later::columns()).unwrap();
    let rows = batch.len / groups;
    for group in 0..groups {
        let rows = group * rows..(group + 1) * rows;
        file.write_encoded(rows.len(), |encoder, column, place| -> parquet::errors::Result<EncodedChunk> {
            later::encode(encoder, column, place, (batch, rows.clone()), names)
        })
        .unwrap();
    }
    file.finish().unwrap();
}

/// Reads all columns as an iotrail to come does.
fn read_later(path: &Path, names: &mut impl NameTable) -> later::EventBatch {
    let file = ParquetFile::open(&path.join(EVENTS), Table::Events).unwrap();
    let there = file.metadata().file_metadata().schema_descr().num_columns();
    let rows = file.group_rows(0);
    let mut batch = later::EventBatch::default();
    file.read(0, 0..there, 7, |found| {
        let mut columns = found.iter().enumerate();
        columns
            .try_for_each(|(index, cells)| later::decode(&Slice::new(cells, rows), index, &mut batch, names))
    })
    .unwrap();
    later::fill_absent(&mut batch, later::Columns::ALL, rows);
    batch
}

#[test]
fn a_column_more_is_read_where_it_is_and_null_where_it_is_not_yet() {
    let (_guard, path) = exchangeable_trail();
    let mut names = OwnNames::default();
    let today = read_today(&path, &mut names);
    let read = read_later(&path, &mut names);
    assert_eq!((read.len, read.task.len()), (today.len, today.len));
    assert!(read.task.iter().all(|task| task.is_null()));
    assert_eq!(read.open2, today.open2);

    let task = Nullable::some(FlagsId(names.column_mut(NameKind::Flags).intern("rank 7")));
    let tasks: Vec<_> = (0..today.len).map(|row| if row % 3 == 0 { task } else { Nullable::NULL }).collect();
    write_later(&path, &with_tasks(today.clone(), tasks.clone()), 1, &names);
    assert_eq!(read_later(&path, &mut names).task, tasks);

    assert_eq!(read_today(&path, &mut names), today, "an iotrail that does not know the column");
    assert_eq!(check(&path).unwrap(), []);
    let log = EventLog::open(&[path]).unwrap();
    assert_eq!(log.read(0, Today::ALL).unwrap().len, today.len);
}

#[test]
fn a_column_that_is_null_costs_less_than_a_hundred_bytes_a_row_group() {
    let (_guard, path) = exchangeable_trail();
    let mut names = OwnNames::default();
    let today = read_today(&path, &mut names);
    let tasks = |task| vec![task; today.len];
    let size = |groups| {
        write_later(&path, &with_tasks(today.clone(), tasks(Nullable::NULL)), groups, &names);
        let with = std::fs::metadata(path.join(EVENTS)).unwrap().len();
        std::fs::remove_file(path.join(EVENTS)).unwrap();
        let mut file = EventFile::create(&path.join(EVENTS)).unwrap();
        let rows = today.len / groups;
        (0..groups).for_each(|group| file.write(&today, group * rows..(group + 1) * rows, &names).unwrap());
        file.finish().unwrap();
        with - std::fs::metadata(path.join(EVENTS)).unwrap().len()
    };
    let (one, ten) = (size(1), size(10));
    let each = (ten - one) / 9;
    assert!(each < 100, "{each} bytes for each of ten row groups, {one} for one with the schema");
}

#[test]
fn every_row_of_a_column_that_is_null_is_null() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.trail");
    small_trail(&path).unwrap();
    let log = EventLog::open(&[path]).unwrap();
    let batch = log.read(0, Today::ALL).unwrap();
    assert!(batch.parent.len() == batch.len && batch.parent.iter().all(|parent| parent.is_null()));
    assert!(batch.path2.len() == batch.len && batch.path2.iter().all(|path| path.is_null()));
}

#[test]
fn a_trail_with_the_first_columns_alone_opens_and_the_rest_is_null() {
    let (_guard, path) = exchangeable_trail();
    let mut names = OwnNames::default();
    let today = read_today(&path, &mut names);
    std::fs::remove_file(path.join(EVENTS)).unwrap();
    let first = &crate::schema::schema(Table::Events)[..17];
    let mut file = EventFile::with_schema(&path.join(EVENTS), first).unwrap();
    file.write(&today, 0..today.len, &names).unwrap();
    file.finish().unwrap();
    assert_eq!(check(&path).unwrap(), []);
    assert_eq!(read_today(&path, &mut names), today, "none of the later columns is known in this trail");
    let log = EventLog::open(&[path]).unwrap();
    let batch = log.read(0, Today::ALL).unwrap();
    assert!(batch.parent.len() == today.len && batch.parent.iter().all(|parent| parent.is_null()));
}
