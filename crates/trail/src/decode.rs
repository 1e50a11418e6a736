//! Row groups of `events` back into columns of ids.
//!
//! Names are looked up once per entry of a row group's dictionary; rows then cost one look into a small table.

use crate::columns::Columns;
use crate::error::TrailError;
use crate::own_names::NameColumn;
use crate::parquet_file::ParquetFile;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int32Type, Int64Type, TimestampNanosecondType, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use iotrail_model::nullable::Sentinel;
use iotrail_model::{
    CallId, CaseId, ErrnoId, EventBatch, FlagsId, Layer, Nanos, Nullable, PathId, Pid, Tid, Timestamp,
};

/// Where a name's id comes from.
pub(crate) trait NameTable {
    /// The id of `text`, `None` if it has none.
    fn id(&mut self, column: NameColumn, text: &str) -> Option<u32>;
}

/// Decodes `columns` of one row group.
pub(crate) fn decode(
    file: &ParquetFile,
    row_group: usize,
    columns: Columns,
    names: &mut impl NameTable,
) -> Result<EventBatch, TrailError> {
    let mut batch = EventBatch::default();
    if columns == Columns::NONE {
        batch.len = file.group_rows(row_group);
        return Ok(batch);
    }
    file.read(row_group, columns.indices(), |record| append(&mut batch, record, columns, names))?;
    Ok(batch)
}

fn append(
    batch: &mut EventBatch,
    record: &RecordBatch,
    columns: Columns,
    names: &mut impl NameTable,
) -> Result<(), String> {
    batch.len += record.num_rows();
    for (place, array) in columns.indices().zip(record.columns()) {
        let name = Columns::NAMES[place];
        append_column(batch, place, array, names).map_err(|why| format!("column `{name}` {why}"))?;
    }
    Ok(())
}

fn append_column(
    batch: &mut EventBatch,
    place: usize,
    array: &ArrayRef,
    names: &mut impl NameTable,
) -> Result<(), String> {
    match place {
        0 => required::<UInt32Type, _>(array, &mut batch.case, CaseId),
        1 => required::<UInt64Type, _>(array, &mut batch.seq, |value| value),
        2 => required::<UInt32Type, _>(array, &mut batch.pid, Pid),
        3 => required::<UInt32Type, _>(array, &mut batch.tid, Tid),
        4 => {
            let layer =
                |text: &str| Layer::from_name(text).ok_or_else(|| format!("has the unknown layer `{text}`"));
            dictionary(array, &mut batch.layer, layer, None)
        }
        5 => dictionary(array, &mut batch.call, lookup(names, NameColumn::Call, CallId), None),
        6 => required::<TimestampNanosecondType, _>(array, &mut batch.start, Timestamp),
        7 => optional::<Int64Type, _>(array, &mut batch.dur, Nanos),
        8 => optional::<Int32Type, _>(array, &mut batch.fd, |value| value),
        9 => nullable_names(array, &mut batch.path, lookup(names, NameColumn::Path, PathId)),
        10 => nullable_names(array, &mut batch.path2, lookup(names, NameColumn::Path, PathId)),
        11 => optional::<Int64Type, _>(array, &mut batch.offset, |value| value),
        12 => optional::<Int64Type, _>(array, &mut batch.requested, |value| value),
        13 => optional::<Int64Type, _>(array, &mut batch.size, |value| value),
        14 => optional::<Int64Type, _>(array, &mut batch.ret, |value| value),
        15 => nullable_names(array, &mut batch.errno, lookup(names, NameColumn::Errno, ErrnoId)),
        _ => nullable_names(array, &mut batch.flags, lookup(names, NameColumn::Flags, FlagsId)),
    }
}

fn lookup<T>(
    names: &mut impl NameTable,
    column: NameColumn,
    id: impl Fn(u32) -> T,
) -> impl FnMut(&str) -> Result<T, String> {
    move |text| {
        let found = names.id(column, text).map(&id);
        found.ok_or_else(|| {
            let table = match column {
                NameColumn::Path => "the table `files`",
                NameColumn::Call | NameColumn::Errno | NameColumn::Flags => "the totals of trail.json",
            };
            format!("has `{}`, which is not in {table}", iotrail_model::text::printable(text))
        })
    }
}

fn required<P: ArrowPrimitiveType, T>(
    array: &ArrayRef,
    column: &mut Vec<T>,
    make: impl Fn(P::Native) -> T,
) -> Result<(), String> {
    let array = array.as_primitive_opt::<P>().ok_or_else(|| wrong_type(array))?;
    column.extend(array.values().iter().map(|value| make(*value)));
    Ok(())
}

fn optional<P: ArrowPrimitiveType, T: Sentinel>(
    array: &ArrayRef,
    column: &mut Vec<Nullable<T>>,
    make: impl Fn(P::Native) -> T,
) -> Result<(), String> {
    let array = array.as_primitive_opt::<P>().ok_or_else(|| wrong_type(array))?;
    let values = array.values().iter().map(|value| make(*value));
    match array.nulls() {
        None => column.extend(values.map(Nullable::some)),
        Some(nulls) => column.extend(
            values
                .zip(nulls.iter())
                .map(|(value, valid)| Nullable::some(if valid { value } else { T::NULL })),
        ),
    }
    Ok(())
}

fn nullable_names<T: Sentinel>(
    array: &ArrayRef,
    column: &mut Vec<Nullable<T>>,
    mut id: impl FnMut(&str) -> Result<T, String>,
) -> Result<(), String> {
    dictionary(array, column, |text| id(text).map(Nullable::some), Some(Nullable::NULL))
}

/// Rows of a dictionary column: `id` for each entry of the dictionary, then a look per row.
fn dictionary<T: Copy>(
    array: &ArrayRef,
    column: &mut Vec<T>,
    mut id: impl FnMut(&str) -> Result<T, String>,
    null: Option<T>,
) -> Result<(), String> {
    let array = array.as_dictionary_opt::<Int32Type>().ok_or_else(|| wrong_type(array))?;
    let texts = array.values().as_string_opt::<i32>().ok_or_else(|| wrong_type(array.values()))?;
    // Which entries rows refer to is not known yet, but files of this format have no others.
    let ids: Vec<T> = texts.iter().map(|text| id(text.unwrap_or_default())).collect::<Result<_, _>>()?;
    let of = |key: i32| ids.get(key as usize).copied().ok_or(());
    let keys = array.keys();
    column.reserve(keys.len());
    let filled = match (keys.nulls(), null) {
        (None, _) => keys.values().iter().try_for_each(|key| {
            column.push(of(*key)?);
            Ok(())
        }),
        (Some(nulls), Some(null)) => keys.values().iter().zip(nulls.iter()).try_for_each(|(key, valid)| {
            column.push(if valid { of(*key)? } else { null });
            Ok(())
        }),
        (Some(_), None) => return Err("has NULL".to_owned()),
    };
    filled.map_err(|()| "refers to an entry behind the end of its dictionary".to_owned())
}

fn wrong_type(array: &dyn Array) -> String {
    format!("came as {}", array.data_type())
}
