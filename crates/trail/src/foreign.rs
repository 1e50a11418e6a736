//! Tables that others have written: compressions, encodings and pages that this crate does not make read as its own, and damage in
//! them is an error.

use crate::cells::Cells;
use crate::columns::Columns;
use crate::decode::{Text, decode};
use crate::encode::write_cells;
use crate::own_names::OwnNames;
use crate::parquet_file::ParquetFile;
use crate::planted::exchangeable_trail;
use crate::read_tables;
use crate::schema::{parquet_schema, schema};
use crate::tables::TableWriter;
use crate::{EventLog, Table, check};
use iotrail_model::{Pid, Process, Timestamp};
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use proptest::prelude::*;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

const EVENTS: &str = "events-0000.parquet";

/// Ways of others.
fn ways() -> Vec<(&'static str, WriterProperties)> {
    let plain = || WriterProperties::builder().set_write_batch_size(3);
    let small_pages = |way: WriterPropertiesBuilder| way.set_data_page_row_count_limit(7);
    let version_2 = |way: WriterPropertiesBuilder| way.set_writer_version(WriterVersion::PARQUET_2_0);
    let path = || ColumnPath::from("path");
    vec![
        ("snappy", plain().set_compression(Compression::SNAPPY).build()),
        ("small pages", small_pages(plain()).build()),
        ("no dictionaries", small_pages(plain()).set_dictionary_enabled(false).build()),
        ("pages of version 2", small_pages(version_2(plain())).set_compression(Compression::SNAPPY).build()),
        (
            "differences of texts",
            version_2(plain())
                .set_dictionary_enabled(false)
                .set_compression(Compression::ZSTD(Default::default()))
                .build(),
        ),
        (
            "lengths apart",
            small_pages(plain())
                .set_column_dictionary_enabled(path(), false)
                .set_column_encoding(path(), Encoding::DELTA_LENGTH_BYTE_ARRAY)
                .build(),
        ),
        (
            "bytes apart",
            plain()
                .set_dictionary_enabled(false)
                .set_column_encoding(ColumnPath::from("start"), Encoding::BYTE_STREAM_SPLIT)
                .set_column_encoding(ColumnPath::from("dur"), Encoding::BYTE_STREAM_SPLIT)
                .build(),
        ),
    ]
}

/// All columns of a file of one row group.
fn cells(file: &ParquetFile) -> Vec<Cells<Text>> {
    let mut all = Vec::new();
    let rows = file.group_rows(0);
    file.read(0, 0..file.columns(), rows, |found| {
        all = found.to_vec();
        Ok(())
    })
    .unwrap();
    all
}

/// Writes a table anew.
fn rewrite(path: &Path, table: Table, properties: &WriterProperties) {
    let columns = cells(&ParquetFile::open(path, table).unwrap());
    fs::remove_file(path).unwrap();
    let file = File::create_new(path).unwrap();
    let schema = parquet_schema(&schema(table)).unwrap();
    let properties = properties.clone();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for cells in &columns {
        let mut column = group.next_column().unwrap().unwrap();
        write_cells(column.untyped(), cells).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn events_that_others_have_written_are_the_same() {
    for (way, properties) in ways() {
        let (_guard, path) = exchangeable_trail();
        let mut names = OwnNames::default();
        let file = ParquetFile::open(&path.join(EVENTS), Table::Events).unwrap();
        let own = decode(&file, 0, Columns::ALL, &mut names).unwrap();
        let log = EventLog::open(std::slice::from_ref(&path)).unwrap();
        let in_log = log.read(0, Columns::ALL).unwrap();
        rewrite(&path.join(EVENTS), Table::Events, &properties);
        let file = ParquetFile::open(&path.join(EVENTS), Table::Events).unwrap();
        assert_eq!(decode(&file, 0, Columns::ALL, &mut names).unwrap(), own, "{way}");
        assert_eq!(check(&path).unwrap(), [], "{way}");
        let log = EventLog::open(std::slice::from_ref(&path)).unwrap();
        assert_eq!(log.read(0, Columns::ALL).unwrap(), in_log, "{way}");
    }
}

#[test]
fn processes_that_others_have_written_are_the_same() {
    let process = |pid: u32| Process {
        pid: Pid(pid),
        start: Some(Timestamp(i64::from(pid))),
        exit_code: pid.is_multiple_of(3).then_some(-1),
        threads: u32::MAX - pid,
        env: (0..pid % 4).map(|number| format!("N={number}")).collect(),
        cmdline_cut: pid.is_multiple_of(2).then_some(pid.is_multiple_of(4)),
        ..Process::default()
    };
    let rows: Vec<Process> = (0..50).map(process).collect();
    for (way, properties) in ways() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("processes-0000.parquet");
        let mut table = TableWriter::create(&path).unwrap();
        rows.iter().for_each(|row| table.push(row.clone()).unwrap());
        table.finish().unwrap();
        rewrite(&path, Table::Processes, &properties);
        let file = ParquetFile::open(&path, Table::Processes).unwrap();
        assert_eq!(read_tables::rows(&file, read_tables::process).unwrap(), rows, "{way}");
    }
}

#[test]
fn many_rows_of_a_table_are_several_row_groups() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("processes-0000.parquet");
    let mut table = TableWriter::create(&path).unwrap();
    let rows = (0..70_000).map(|pid| Process { pid: Pid(pid), ..Process::default() });
    rows.clone().for_each(|row| table.push(row).unwrap());
    let written = table.finish().unwrap();
    let file = ParquetFile::open(&path, Table::Processes).unwrap();
    assert_eq!((file.row_groups(), file.group_rows(0), written.rows), (2, 65_536, 70_000));
    file.verify().unwrap();
    assert_eq!(read_tables::rows(&file, read_tables::process).unwrap(), rows.collect::<Vec<_>>());
    let sites = directory.path().join("sites-0000.parquet");
    TableWriter::<crate::sites::SiteRow>::create(&sites).unwrap().finish().unwrap();
    let empty = ParquetFile::open(&sites, Table::Sites).unwrap();
    assert_eq!((empty.row_groups(), empty.rows()), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn flipped_bytes_of_others_never_panic(
        way in 0..7_usize,
        table in prop_oneof![Just(Table::Events), Just(Table::Processes), Just(Table::Files)],
        places in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..4),
    ) {
        let (_guard, path) = exchangeable_trail();
        let file = path.join(table.file_name(0));
        rewrite(&file, table, &ways()[way].1);
        let mut bytes = fs::read(&file).unwrap();
        for (place, flip) in places {
            let place = place.index(bytes.len());
            bytes[place] ^= flip;
        }
        fs::write(&file, bytes).unwrap();
        if let Ok(log) = EventLog::open(std::slice::from_ref(&path)) {
            let _ = log.read(0, Columns::ALL);
            let _ = log.processes();
        }
        let _ = check(&path);
    }
}
