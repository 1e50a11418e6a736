//! The small tables back into rows.

use crate::error::TrailError;
use crate::parquet_file::ParquetFile;
use crate::sites::SiteRow;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int32Type, Int64Type, TimestampNanosecondType, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use iotrail_model::{
    Case, CaseId, CaseName, Clock, FileRow, Frame, Nanos, Pid, Process, Resolution, SiteId, SourcePlace,
    Timestamp, Usage,
};
use std::sync::Arc;

/// Rows that are decoded at a time.
const SLICE_ROWS: usize = 8192;

/// All rows of a small table's file.
pub(crate) fn rows<R>(
    file: &ParquetFile,
    row: impl Fn(&Fields<'_>, usize) -> Result<R, String>,
) -> Result<Vec<R>, TrailError> {
    let mut rows = Vec::new();
    each(file, row, |row| rows.push(row))?;
    Ok(rows)
}

/// Gives all rows of a small table's file, one after the other, to `take`.
pub(crate) fn each<R>(
    file: &ParquetFile,
    row: impl Fn(&Fields<'_>, usize) -> Result<R, String>,
    mut take: impl FnMut(R),
) -> Result<(), TrailError> {
    let columns = file.metadata().schema().fields().len();
    for group in 0..file.row_groups() {
        file.read(group, 0..columns, SLICE_ROWS, |batch| {
            let fields = Fields(batch);
            for number in 0..batch.num_rows() {
                take(row(&fields, number)?);
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// A batch whose schema was verified, by column number; columns that an older file lacks are NULL.
pub(crate) struct Fields<'a>(&'a RecordBatch);

impl Fields<'_> {
    fn number<P: ArrowPrimitiveType>(&self, column: usize, row: usize) -> Option<P::Native> {
        let array = self.0.columns().get(column)?.as_primitive_opt::<P>()?;
        array.is_valid(row).then(|| array.value(row))
    }

    fn text(&self, column: usize, row: usize) -> Option<String> {
        self.str(column, row).map(str::to_owned)
    }

    fn str(&self, column: usize, row: usize) -> Option<&str> {
        let array = self.0.columns().get(column)?.as_string_opt::<i32>()?;
        array.is_valid(row).then(|| array.value(row))
    }

    fn time(&self, column: usize, row: usize) -> Option<Timestamp> {
        self.number::<TimestampNanosecondType>(column, row).map(Timestamp)
    }

    fn truth(&self, column: usize, row: usize) -> Option<bool> {
        let array = self.0.columns().get(column)?.as_boolean_opt()?;
        array.is_valid(row).then(|| array.value(row))
    }

    fn texts(&self, column: usize, row: usize) -> Option<Vec<String>> {
        let list = self.0.columns().get(column)?.as_list_opt::<i32>()?.value(row);
        Some(list.as_string_opt::<i32>()?.iter().flatten().map(str::to_owned).collect())
    }
}

pub(crate) fn case(fields: &Fields<'_>, row: usize) -> Result<Case, String> {
    let clock = fields.text(5, row).unwrap_or_default();
    Ok(Case {
        id: CaseId(fields.number::<UInt32Type>(0, row).unwrap_or_default()),
        name: CaseName { cid: fields.text(1, row), host: fields.text(2, row), rid: fields.text(3, row) },
        label: fields.text(4, row),
        clock: Clock::from_name(&clock)
            .ok_or_else(|| format!("row {row} has the unknown clock `{clock}`"))?,
        source: fields.text(6, row).unwrap_or_default(),
        interleaved: fields.truth(7, row).unwrap_or_default(),
        resolution: Resolution::from(fields.number::<Int64Type>(8, row)),
        numbered_with: fields.number::<UInt32Type>(9, row).map(CaseId),
    })
}

pub(crate) fn process(fields: &Fields<'_>, row: usize) -> Result<Process, String> {
    Ok(Process {
        case: CaseId(fields.number::<UInt32Type>(0, row).unwrap_or_default()),
        pid: Pid(fields.number::<UInt32Type>(1, row).unwrap_or_default()),
        ppid: fields.number::<UInt32Type>(2, row).map(Pid),
        start: fields.time(3, row),
        end: fields.time(4, row),
        exit_code: fields.number::<Int32Type>(5, row),
        signal: fields.text(6, row),
        exe: fields.text(7, row),
        cmdline: fields.text(8, row),
        cmdline_cut: fields.truth(24, row),
        cwd: fields.text(9, row),
        threads: fields.number::<UInt32Type>(10, row).unwrap_or_default(),
        usage: Usage {
            user: fields.number::<Int64Type>(11, row).map(Nanos),
            system: fields.number::<Int64Type>(12, row).map(Nanos),
            minor_faults: fields.number::<UInt64Type>(16, row),
            major_faults: fields.number::<UInt64Type>(17, row),
            max_memory: fields.number::<UInt64Type>(18, row),
            storage_read: fields.number::<UInt64Type>(19, row),
            storage_written: fields.number::<UInt64Type>(20, row),
            voluntary_switches: fields.number::<UInt64Type>(21, row),
            involuntary_switches: fields.number::<UInt64Type>(22, row),
            io_delay: fields.number::<Int64Type>(23, row).map(Nanos),
        },
        bytes_read: fields.number::<Int64Type>(13, row).unwrap_or_default(),
        bytes_written: fields.number::<Int64Type>(14, row).unwrap_or_default(),
        env: fields.texts(15, row).unwrap_or_default(),
    })
}

pub(crate) fn file(fields: &Fields<'_>, row: usize) -> Result<FileRow, String> {
    let path: Arc<str> = fields.str(0, row).unwrap_or_default().into();
    let canonical = fields.str(1, row).unwrap_or_default();
    Ok(FileRow {
        canonical: if canonical == &*path { Arc::clone(&path) } else { canonical.into() },
        path,
        kind: fields.text(2, row),
        device: fields.number::<UInt64Type>(3, row),
        inode: fields.number::<UInt64Type>(4, row),
        size: fields.number::<Int64Type>(5, row),
        file: fields.number::<UInt32Type>(6, row),
        birth: fields.number::<Int64Type>(7, row),
        gone: fields.truth(8, row),
        case: fields.number::<UInt32Type>(9, row).map(CaseId),
    })
}

pub(crate) fn site_row(fields: &Fields<'_>, row: usize) -> Result<SiteRow, String> {
    Ok(SiteRow {
        site: SiteId(fields.number::<UInt32Type>(0, row).unwrap_or_default()),
        place: fields.number::<UInt32Type>(1, row).unwrap_or_default(),
        frame: Frame {
            module: fields.text(2, row).unwrap_or_default(),
            build_id: fields.text(3, row),
            offset: fields.number::<UInt64Type>(4, row).unwrap_or_default(),
            source: SourcePlace {
                function: fields.text(5, row),
                file: fields.text(6, row),
                line: fields.number::<UInt32Type>(7, row),
            },
        },
    })
}
