//! The tables of an event log as Arrow has them: schemas and record batches, with the ids of the log.

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, DictionaryArray, Int32Array, Int64Array, ListBuilder, RecordBatch,
    RecordBatchOptions, StringArray, StringBuilder, TimestampNanosecondArray, UInt32Array, UInt64Array,
};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use datafusion::error::{DataFusionError, Result};
use iotrail_model::{Cell, CellKind, EventBatch, Layer, Names};
use iotrail_trail::{Cells, ColumnKind, ColumnSchema, Columns, EventLog, Row, Table};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Rows of a record batch at most.
const BATCH_ROWS: usize = 8192;

/// The schema of a table.
pub(crate) fn schema(table: Table) -> SchemaRef {
    let columns = iotrail_trail::schema(table);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

fn field(column: &ColumnSchema) -> Field {
    Field::new(column.name, data_type(column.kind), column.nullable)
}

fn data_type(kind: ColumnKind) -> DataType {
    match kind {
        ColumnKind::Boolean => DataType::Boolean,
        ColumnKind::Int32 => DataType::Int32,
        ColumnKind::UInt32 => DataType::UInt32,
        ColumnKind::Int64 => DataType::Int64,
        ColumnKind::UInt64 => DataType::UInt64,
        ColumnKind::Time => DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
        ColumnKind::Text => DataType::Utf8,
        ColumnKind::Name => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        ColumnKind::Texts => DataType::List(item()),
    }
}

/// The element of a list of texts.
fn item() -> FieldRef {
    Arc::new(Field::new("item", DataType::Utf8, false))
}

/// Rows of a small table.
pub(crate) fn batches<R: Row>(rows: &[R]) -> Result<Vec<RecordBatch>> {
    let columns = iotrail_trail::schema(R::TABLE);
    let schema = schema(R::TABLE);
    let batch = |rows: &[R]| {
        let cells = R::columns(rows);
        let arrays = columns.iter().zip(&cells).map(|(column, cells)| of_cells(column.kind, cells));
        Ok(RecordBatch::try_new(Arc::clone(&schema), arrays.collect::<Result<_>>()?)?)
    };
    rows.chunks(BATCH_ROWS).map(batch).collect()
}

fn of_cells(kind: ColumnKind, cells: &Cells<&str>) -> Result<ArrayRef> {
    match cells {
        Cells::Truths(cells) => Ok(Arc::new(cells.iter().copied().collect::<BooleanArray>())),
        Cells::Numbers(cells) => of_numbers(kind, cells.iter().copied()),
        Cells::Texts(cells) => Ok(Arc::new(cells.iter().copied().collect::<StringArray>())),
        Cells::Lists(lists) => {
            let mut builder = ListBuilder::new(StringBuilder::new()).with_field(item());
            for list in lists {
                list.iter().for_each(|text| builder.values().append_value(text));
                builder.append(true);
            }
            Ok(Arc::new(builder.finish()))
        }
    }
}

fn of_numbers(kind: ColumnKind, cells: impl Iterator<Item = Option<i64>>) -> Result<ArrayRef> {
    Ok(match kind {
        ColumnKind::Int32 => {
            Arc::new(cells.map(|cell| cell.map(|number| number as i32)).collect::<Int32Array>())
        }
        ColumnKind::UInt32 => {
            Arc::new(cells.map(|cell| cell.map(|bits| bits as u32)).collect::<UInt32Array>())
        }
        ColumnKind::Int64 => Arc::new(cells.collect::<Int64Array>()),
        ColumnKind::UInt64 => {
            Arc::new(cells.map(|cell| cell.map(|bits| bits as u64)).collect::<UInt64Array>())
        }
        ColumnKind::Time => Arc::new(cells.collect::<TimestampNanosecondArray>().with_timezone("UTC")),
        ColumnKind::Boolean | ColumnKind::Text | ColumnKind::Name | ColumnKind::Texts => {
            return Err(DataFusionError::Internal("a column of texts has numbers".to_owned()));
        }
    })
}

/// Reads columns of one row group of `events` and hands them on in their order, until `give` breaks off.
pub(crate) fn event_batches(
    log: &EventLog,
    row_group: usize,
    columns: Columns,
    mut give: impl FnMut(RecordBatch) -> ControlFlow<()>,
) -> Result<()> {
    let batch = log.read(row_group, columns).map_err(|error| DataFusionError::External(Box::new(error)))?;
    let (fields, arrays) = events(&batch, columns, log.names())?;
    let schema = Arc::new(Schema::new(fields));
    for first in (0..batch.len).step_by(BATCH_ROWS) {
        let rows =
            UInt32Array::from_iter_values((first..batch.len.min(first + BATCH_ROWS)).map(|row| row as u32));
        if give(some_rows(&schema, &arrays, &rows)?).is_break() {
            break;
        }
    }
    Ok(())
}

/// Rows with memory of their own, as the engine counts for each batch what all of its arrays hold. Dictionaries are shared.
fn some_rows(schema: &SchemaRef, arrays: &[ArrayRef], rows: &UInt32Array) -> Result<RecordBatch> {
    let arrays = arrays.iter().map(|array| take(array, rows, None)).collect::<std::result::Result<_, _>>()?;
    let count = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &count)?)
}

macro_rules! arrays {
    ($(#[$doc:meta] $field:ident: $cell:ty, $constant:ident = $name:literal, $packing:ident, $redaction:ident, $code:ident;)*) => {
        /// Columns of events.
        fn events(batch: &EventBatch, wanted: Columns, names: &Names) -> Result<(Vec<Field>, Vec<ArrayRef>)> {
            let (mut fields, mut arrays) = (Vec::new(), Vec::new());
            let mut schema = iotrail_trail::schema(Table::Events).into_iter();
            $(if let Some(column) = schema.next().filter(|_| wanted.contains(Columns::$constant)) {
                fields.push(field(&column));
                arrays.push(of_events(column.kind, &batch.$field, names)?);
            })*
            Ok((fields, arrays))
        }
    };
}

iotrail_model::event_columns!(arrays);

fn of_events<C: Cell>(kind: ColumnKind, cells: &[C], names: &Names) -> Result<ArrayRef> {
    let numbers = cells.iter().map(|cell| cell.number());
    match C::KIND {
        CellKind::Layer => of_names(numbers, |layer| Layer::ALL.get(layer).map(|layer| layer.name())),
        CellKind::Name(name) => {
            let texts = name.texts(names);
            of_names(numbers, |id| texts.get(id).map(|text| &**text))
        }
        CellKind::Number | CellKind::Time | CellKind::Case | CellKind::File => of_numbers(kind, numbers),
    }
}

/// Names by their ids, each text once.
fn of_names<'a>(
    ids: impl Iterator<Item = Option<i64>>,
    text: impl Fn(usize) -> Option<&'a str>,
) -> Result<ArrayRef> {
    let (mut keys_of_ids, mut texts) = (Vec::new(), Vec::new());
    let mut key = |id: Option<i64>| {
        let Some(id) = id.and_then(|id| usize::try_from(id).ok()) else { return Ok(None) };
        if id >= keys_of_ids.len() {
            keys_of_ids.resize(id + 1, None);
        }
        if keys_of_ids[id].is_none() {
            let unknown = || DataFusionError::Internal(format!("an event has the unknown name {id}"));
            keys_of_ids[id] = Some(texts.len() as i32);
            texts.push(text(id).ok_or_else(unknown)?);
        }
        Ok(keys_of_ids[id])
    };
    let keys = ids.map(&mut key).collect::<Result<Int32Array>>()?;
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(StringArray::from(texts)))?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::AsArray;
    use datafusion::arrow::datatypes::UInt32Type;
    use iotrail_trail::memory::small_trail;

    #[test]
    fn several_trails_have_ids_of_their_own_and_reading_stops_when_asked() {
        let directory = tempfile::tempdir().expect("a directory");
        let (one, two) = (directory.path().join("a.trail"), directory.path().join("b.trail"));
        small_trail(&one).expect("a trail");
        small_trail(&two).expect("a trail");
        let log = EventLog::open(&[one, two]).expect("a log");
        let mut ids = Vec::new();
        for row_group in 0..log.row_groups() {
            let columns = Columns::CASE | Columns::CALL;
            event_batches(&log, row_group, columns, |batch| {
                ids.extend(batch.column(0).as_primitive::<UInt32Type>().values().to_vec());
                ControlFlow::Break(())
            })
            .expect("events");
        }
        let cases = log.cases().len() as u32;
        assert_eq!(ids.iter().max(), Some(&(cases - 1)));
        assert_eq!(batches(log.cases()).expect("cases")[0].num_rows(), cases as usize);
        let mut rows = 0;
        event_batches(&log, 0, Columns::NONE, |batch| {
            rows += batch.num_rows();
            ControlFlow::Continue(())
        })
        .expect("events");
        assert_eq!(rows, log.row_group(0).rows);
    }

    #[test]
    fn arrow_reads_from_the_files_the_schema_that_tables_have() {
        use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
        let directory = tempfile::tempdir().expect("a directory");
        let trail = directory.path().join("a.trail");
        small_trail(&trail).expect("a trail");
        for (name, table) in [
            ("events-0000", Table::Events),
            ("processes-0000", Table::Processes),
            ("files-0000", Table::Files),
            ("cases", Table::Cases),
        ] {
            let file = std::fs::File::open(trail.join(name).with_extension("parquet")).expect("a file");
            let read = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).expect("metadata");
            // Numbers of dictionaries, and what a file says beside its columns, are no part of a table's schema.
            let columns = |schema: &Schema| {
                let fields = schema.fields().iter();
                let columns = fields
                    .map(|field| (field.name().clone(), field.data_type().clone(), field.is_nullable()));
                columns.collect::<Vec<_>>()
            };
            assert_eq!(columns(read.schema()), columns(&schema(table)), "{name}");
        }
    }

    #[test]
    fn names_have_one_entry_each_and_numbers_their_bits() {
        let names = of_names([Some(3), None, Some(1), Some(3)].into_iter(), |id| {
            ["a", "b", "c", "d"].get(id).copied()
        });
        let names = names.expect("names");
        let dictionary = names.as_dictionary::<datafusion::arrow::datatypes::Int32Type>();
        assert_eq!(dictionary.values().as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["d", "b"]);
        assert_eq!(dictionary.keys().iter().collect::<Vec<_>>(), [Some(0), None, Some(1), Some(0)]);
        assert!(of_names([Some(9)].into_iter(), |_| None).is_err());
        let bits = of_numbers(ColumnKind::UInt64, [Some(-1)].into_iter()).expect("numbers");
        assert_eq!(bits.as_primitive::<datafusion::arrow::datatypes::UInt64Type>().value(0), u64::MAX);
    }
}
