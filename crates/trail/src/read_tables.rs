//! The small tables back into rows.

use crate::cells::Cells;
use crate::decode::Text;
use crate::error::TrailError;
use crate::parquet_file::ParquetFile;
use crate::sites::SiteRow;
use iotrail_model::{
    Case, CaseId, CaseName, Clock, FileRow, Frame, Nanos, Pid, Process, Resolution, SiteId, SourcePlace,
    Timestamp, Usage,
};
use std::sync::Arc;

/// Rows that are decoded at a time.
const SLICE_ROWS: usize = 1024;

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
    for group in 0..file.row_groups() {
        file.read(group, 0..file.columns(), SLICE_ROWS, |columns| {
            let fields = Fields(columns);
            for number in 0..columns.first().map_or(0, Cells::len) {
                take(row(&fields, number)?);
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Columns whose types were verified, by their places; those that an older file lacks are NULL.
pub(crate) struct Fields<'a>(&'a [Cells<Text>]);

impl Fields<'_> {
    fn integer(&self, column: usize, row: usize) -> Option<i64> {
        let Some(Cells::Numbers(cells)) = self.0.get(column) else { return None };
        *cells.get(row)?
    }

    /// A number of 32 bits without sign.
    fn number(&self, column: usize, row: usize) -> Option<u32> {
        self.integer(column, row).map(|bits| bits as u32)
    }

    /// A number of 64 bits without sign.
    fn count(&self, column: usize, row: usize) -> Option<u64> {
        self.integer(column, row).map(|bits| bits as u64)
    }

    fn span(&self, column: usize, row: usize) -> Option<Nanos> {
        self.integer(column, row).map(Nanos)
    }

    fn time(&self, column: usize, row: usize) -> Option<Timestamp> {
        self.integer(column, row).map(Timestamp)
    }

    fn text(&self, column: usize, row: usize) -> Option<String> {
        self.str(column, row).map(str::to_owned)
    }

    fn str(&self, column: usize, row: usize) -> Option<&str> {
        let Some(Cells::Texts(cells)) = self.0.get(column) else { return None };
        cells.get(row)?.as_ref().map(Text::as_str)
    }

    fn truth(&self, column: usize, row: usize) -> Option<bool> {
        let Some(Cells::Truths(cells)) = self.0.get(column) else { return None };
        *cells.get(row)?
    }

    fn texts(&self, column: usize, row: usize) -> Option<Vec<String>> {
        let Some(Cells::Lists(lists)) = self.0.get(column) else { return None };
        Some(lists.get(row)?.iter().map(|text| text.as_str().to_owned()).collect())
    }
}

pub(crate) fn case(fields: &Fields<'_>, row: usize) -> Result<Case, String> {
    let clock = fields.text(5, row).unwrap_or_default();
    Ok(Case {
        id: CaseId(fields.number(0, row).unwrap_or_default()),
        name: CaseName { cid: fields.text(1, row), host: fields.text(2, row), rid: fields.text(3, row) },
        label: fields.text(4, row),
        clock: Clock::from_name(&clock)
            .ok_or_else(|| format!("row {row} has the unknown clock `{clock}`"))?,
        source: fields.text(6, row).unwrap_or_default(),
        interleaved: fields.truth(7, row).unwrap_or_default(),
        resolution: Resolution::from(fields.integer(8, row)),
        numbered_with: fields.number(9, row).map(CaseId),
    })
}

pub(crate) fn process(fields: &Fields<'_>, row: usize) -> Result<Process, String> {
    Ok(Process {
        case: CaseId(fields.number(0, row).unwrap_or_default()),
        pid: Pid(fields.number(1, row).unwrap_or_default()),
        ppid: fields.number(2, row).map(Pid),
        start: fields.time(3, row),
        end: fields.time(4, row),
        exit_code: fields.integer(5, row).map(|code| code as i32),
        signal: fields.text(6, row),
        exe: fields.text(7, row),
        cmdline: fields.text(8, row),
        cmdline_cut: fields.truth(24, row),
        cwd: fields.text(9, row),
        threads: fields.number(10, row).unwrap_or_default(),
        usage: Usage {
            user: fields.span(11, row),
            system: fields.span(12, row),
            minor_faults: fields.count(16, row),
            major_faults: fields.count(17, row),
            max_memory: fields.count(18, row),
            storage_read: fields.count(19, row),
            storage_written: fields.count(20, row),
            voluntary_switches: fields.count(21, row),
            involuntary_switches: fields.count(22, row),
            io_delay: fields.span(23, row),
        },
        bytes_read: fields.integer(13, row).unwrap_or_default(),
        bytes_written: fields.integer(14, row).unwrap_or_default(),
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
        device: fields.count(3, row),
        inode: fields.count(4, row),
        size: fields.integer(5, row),
        file: fields.number(6, row),
        birth: fields.integer(7, row),
        gone: fields.truth(8, row),
        case: fields.number(9, row).map(CaseId),
    })
}

pub(crate) fn site_row(fields: &Fields<'_>, row: usize) -> Result<SiteRow, String> {
    Ok(SiteRow {
        site: SiteId(fields.number(0, row).unwrap_or_default()),
        place: fields.number(1, row).unwrap_or_default(),
        frame: Frame {
            module: fields.text(2, row).unwrap_or_default(),
            build_id: fields.text(3, row),
            offset: fields.count(4, row).unwrap_or_default(),
            source: SourcePlace {
                function: fields.text(5, row),
                file: fields.text(6, row),
                line: fields.number(7, row),
            },
        },
    })
}
