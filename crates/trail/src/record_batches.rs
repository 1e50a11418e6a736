//! The tables of an event log as Arrow record batches, for engines that compute on those.
//!
//! What comes out has the schema of the format and ids of the log. It is as good as checked: foreign bytes pass the same
//! border as everywhere, and no key of a dictionary leads out of it, which the Parquet library does not promise.

use crate::columns::Columns;
use crate::decode::NameTable;
use crate::error::TrailError;
use crate::log::EventLog;
use crate::meta::Table;
use crate::parquet_file::ParquetFile;
use crate::schema::schema;
use crate::tables::Row;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt32Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow_schema::{DataType, Field, SchemaRef};
use iotrail_model::{FileId, NameKind, Nullable, PathId, SiteId};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Rows of a record batch at most.
const BATCH_ROWS: usize = 8192;

impl EventLog {
    /// Reads columns of one row group of `events` and hands them on in their order, until `take` breaks off.
    ///
    /// # Errors
    /// If the file cannot be read or is damaged, or the log has no files.
    pub fn event_batches(
        &self,
        row_group: usize,
        columns: Columns,
        mut take: impl FnMut(RecordBatch) -> ControlFlow<()>,
    ) -> Result<(), TrailError> {
        let (file, of_file, cases) = self.source(row_group)?;
        let there = file.metadata().schema().fields().len();
        let wanted: Vec<usize> = columns.indices().collect();
        let places: Vec<usize> =
            columns.with_paths_of_files().indices().filter(|place| *place < there).collect();
        let schema = project(&wanted);
        let mut broken_off = false;
        let read = file.read(of_file, places.iter().copied(), BATCH_ROWS, |found| {
            let batch = self.checked(found, &places, &wanted, (row_group, &schema, &cases))?;
            match take(batch) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => {
                    broken_off = true;
                    Err("nobody wants more".to_owned())
                }
            }
        });
        if broken_off { Ok(()) } else { read }
    }

    /// The table `cases`.
    ///
    /// # Errors
    /// Never for the cases of a log that was opened.
    pub fn case_batches(&self) -> Result<Vec<RecordBatch>, TrailError> {
        self.batches(self.cases())
    }

    /// The table `processes`, sorted by case, start and pid.
    ///
    /// # Errors
    /// If a file of it cannot be read.
    pub fn process_batches(&self) -> Result<Vec<RecordBatch>, TrailError> {
        self.batches(&self.processes()?)
    }

    /// The table `files`: one row for each name of a file of the log.
    ///
    /// # Errors
    /// Never for the files of a log that was opened.
    pub fn file_batches(&self) -> Result<Vec<RecordBatch>, TrailError> {
        self.batches(&self.file_names())
    }

    fn batches<R: Row>(&self, rows: &[R]) -> Result<Vec<RecordBatch>, TrailError> {
        let batch = |rows: &[R]| RecordBatch::try_new(schema(R::TABLE), R::columns(rows));
        let made: Result<Vec<_>, _> = rows.chunks(BATCH_ROWS).map(batch).collect();
        made.map_err(|error| TrailError::Inconsistent {
            path: self.trails().first().map(|trail| trail.path().to_owned()).unwrap_or_default(),
            why: error.to_string(),
        })
    }

    /// The columns `wanted` of a batch that has the columns `places`, with the log's ids of cases and files.
    fn checked(
        &self,
        found: &RecordBatch,
        places: &[usize],
        wanted: &[usize],
        (row_group, schema, cases): (usize, &SchemaRef, &Range<u32>),
    ) -> Result<RecordBatch, String> {
        let array = |index: usize| {
            let there = places.iter().position(|other| *other == index)?;
            found.columns().get(there)
        };
        let column = |index: &usize| {
            let column = match (*index, array(*index)) {
                (CASE, Some(array)) => of_log(array, cases),
                (FILE, files) => self.files_of_log(row_group, files, array(PATH)),
                (FILE2, files) => self.files_of_log(row_group, files, array(PATH2)),
                (SITE, Some(sites)) => self.sites_of_log(row_group, sites),
                (_, Some(array)) => within_dictionary(array),
                (_, None) => Ok(new_null_array(schema_of(*index).data_type(), found.num_rows())),
            };
            column.map_err(|why| format!("column `{}` {why}", Columns::NAMES[*index]))
        };
        let columns = wanted.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let rows = RecordBatchOptions::new().with_row_count(Some(found.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(schema), columns, &rows)
            .map_err(|error| error.to_string())
    }

    /// The ids in the log of files and, where they are not known, of their paths.
    fn files_of_log(
        &self,
        row_group: usize,
        files: Option<&ArrayRef>,
        paths: Option<&ArrayRef>,
    ) -> Result<ArrayRef, String> {
        let paths = self.path_ids(paths.ok_or("has no paths beside it")?)?;
        let mut ids: Vec<Nullable<FileId>> = match files {
            None => vec![Nullable::NULL; paths.len()],
            Some(files) => {
                let files = files.as_primitive_opt::<UInt32Type>().ok_or("is not a column of numbers")?;
                files.iter().map(|number| number.map(FileId).into()).collect()
            }
        };
        self.translate_files(row_group, &mut ids, &paths)
            .map_err(|number| format!("has the file {number}, which is not in `files`"))?;
        Ok(Arc::new(ids.into_iter().map(|id| id.get().map(|id| id.0)).collect::<UInt32Array>()))
    }

    /// The ids in the log of call sites.
    fn sites_of_log(&self, row_group: usize, sites: &ArrayRef) -> Result<ArrayRef, String> {
        let sites = sites.as_primitive_opt::<UInt32Type>().ok_or("is not a column of numbers")?;
        let mut ids: Vec<Nullable<SiteId>> = sites.iter().map(|number| number.map(SiteId).into()).collect();
        self.translate_sites(row_group, &mut ids)
            .map_err(|number| format!("has the site {number}, which is not in `sites`"))?;
        Ok(Arc::new(ids.into_iter().map(|id| id.get().map(|id| id.0)).collect::<UInt32Array>()))
    }

    /// The log's ids of a column of paths.
    fn path_ids(&self, paths: &ArrayRef) -> Result<Vec<Nullable<PathId>>, String> {
        let paths = within_dictionary(paths)?;
        let paths = paths.as_dictionary_opt::<Int32Type>().ok_or("is not a dictionary")?;
        let texts = paths.values().as_string_opt::<i32>().ok_or("is not a dictionary of texts")?;
        let mut names = self.name_index();
        let ids: Vec<Nullable<PathId>> = texts
            .iter()
            .map(|text| text.and_then(|text| names.id(NameKind::Path, text)).map(PathId).into())
            .collect();
        let id = |key: Option<i32>| key.map_or(Nullable::NULL, |key| ids[key as usize]);
        Ok(paths.keys().iter().map(id).collect())
    }

    /// The file of a row group, its place there, and the ids that the cases of its trail have in the log.
    fn source(&self, row_group: usize) -> Result<(&ParquetFile, usize, Range<u32>), TrailError> {
        self.place_of(row_group).ok_or_else(|| TrailError::Inconsistent {
            path: self.trails().first().map(|trail| trail.path().to_owned()).unwrap_or_default(),
            why: "a log in memory has no files to read".to_owned(),
        })
    }
}

const CASE: usize = Columns::CASE.place();
const PATH: usize = Columns::PATH.place();
const PATH2: usize = Columns::PATH2.place();
const FILE: usize = Columns::FILE.place();
const FILE2: usize = Columns::FILE2.place();
const SITE: usize = Columns::SITE.place();

fn schema_of(index: usize) -> Arc<Field> {
    Arc::clone(&schema(Table::Events).fields()[index])
}

fn project(places: &[usize]) -> SchemaRef {
    let all = schema(Table::Events);
    let fields: Vec<_> = places.iter().map(|index| Arc::clone(&all.fields()[*index])).collect();
    Arc::new(arrow_schema::Schema::new(fields))
}

/// Ids of cases as the log numbers them.
fn of_log(array: &ArrayRef, cases: &Range<u32>) -> Result<ArrayRef, String> {
    let ids = array.as_primitive_opt::<UInt32Type>().ok_or("is not a column of numbers")?;
    if let Some(wrong) = ids.values().iter().find(|id| **id >= cases.end - cases.start) {
        return Err(format!("has the case {wrong}, which is not in `cases`"));
    }
    if cases.start == 0 {
        return Ok(Arc::clone(array));
    }
    Ok(Arc::new(UInt32Array::from_iter_values(ids.values().iter().map(|id| id + cases.start))))
}

fn within_dictionary(array: &ArrayRef) -> Result<ArrayRef, String> {
    if let DataType::Dictionary(..) = array.data_type() {
        let names = array.as_dictionary_opt::<Int32Type>().ok_or("is not a column of names")?;
        let entries = names.values().len();
        if names.keys().iter().flatten().any(|key| key as u32 as usize >= entries) {
            return Err("refers to an entry behind the end of its dictionary".to_owned());
        }
    }
    Ok(Arc::clone(array))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::small_trail;

    #[test]
    fn several_trails_have_ids_of_their_own_and_reading_stops_when_asked() {
        let directory = tempfile::tempdir().unwrap();
        let (one, two) = (directory.path().join("a.trail"), directory.path().join("b.trail"));
        small_trail(&one).unwrap();
        small_trail(&two).unwrap();
        let log = EventLog::open(&[one, two]).unwrap();
        let mut ids = Vec::new();
        for row_group in 0..log.row_groups() {
            let columns = Columns::CASE | Columns::CALL;
            log.event_batches(row_group, columns, |batch| {
                ids.extend(batch.column(0).as_primitive::<UInt32Type>().values().to_vec());
                ControlFlow::Break(())
            })
            .unwrap();
        }
        let cases = log.cases().len() as u32;
        assert_eq!(ids.iter().max(), Some(&(cases - 1)));
        assert_eq!(log.case_batches().unwrap()[0].num_rows(), cases as usize);
        let mut rows = 0;
        log.event_batches(0, Columns::NONE, |batch| {
            rows += batch.num_rows();
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(rows, log.row_group(0).rows);
    }

    #[test]
    fn cases_that_the_trail_does_not_have_are_refused() {
        let ids: ArrayRef = Arc::new(UInt32Array::from(vec![0, 2]));
        assert!(of_log(&ids, &(4..6)).unwrap_err().contains("the case 2"));
        assert_eq!(of_log(&ids, &(4..7)).unwrap().as_primitive::<UInt32Type>().values(), &[4, 6]);
    }
}
