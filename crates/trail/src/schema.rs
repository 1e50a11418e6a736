//! The tables as Arrow schemas. `docs/trail-format.md` explains every column.

use crate::cell::{self, time_type};
use crate::error::TrailError;
use crate::meta::Table;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::path::Path;
use std::sync::Arc;

/// The schema of a table.
#[must_use]
pub fn schema(table: Table) -> SchemaRef {
    let required = |name: &str, kind: DataType| Field::new(name, kind, false);
    let nullable = |name: &str, kind: DataType| Field::new(name, kind, true);
    use DataType::{Boolean, Int32, Int64, UInt32, UInt64, Utf8};
    let fields = match table {
        Table::Cases => vec![
            required("case_id", UInt32),
            nullable("cid", Utf8),
            nullable("host", Utf8),
            nullable("rid", Utf8),
            nullable("label", Utf8),
            required("clock", Utf8),
            required("source", Utf8),
            required("interleaved", Boolean),
            nullable("resolution", Int64),
            nullable("numbered_with", UInt32),
        ],
        Table::Events => cell::fields(),
        Table::Processes => vec![
            required("case_id", UInt32),
            required("pid", UInt32),
            nullable("ppid", UInt32),
            nullable("start", time_type()),
            nullable("end", time_type()),
            nullable("exit_code", Int32),
            nullable("signal", Utf8),
            nullable("exe", Utf8),
            nullable("cmdline", Utf8),
            nullable("cwd", Utf8),
            required("threads", UInt32),
            nullable("user", Int64),
            nullable("system", Int64),
            required("bytes_read", Int64),
            required("bytes_written", Int64),
            required("env", DataType::List(Arc::new(required("item", Utf8)))),
            nullable("minor_faults", UInt64),
            nullable("major_faults", UInt64),
            nullable("max_memory", UInt64),
            nullable("storage_read", UInt64),
            nullable("storage_written", UInt64),
            nullable("voluntary_switches", UInt64),
            nullable("involuntary_switches", UInt64),
            nullable("io_delay", Int64),
            nullable("cmdline_cut", Boolean),
        ],
        Table::Files => vec![
            required("path", Utf8),
            required("canonical", Utf8),
            nullable("kind", Utf8),
            nullable("device", UInt64),
            nullable("inode", UInt64),
            nullable("size", Int64),
            nullable("file", UInt32),
            nullable("birth", Int64),
            nullable("gone", Boolean),
            nullable("case_id", UInt32),
        ],
        Table::Sites => vec![
            required("site", UInt32),
            required("frame", UInt32),
            required("module", Utf8),
            nullable("build_id", Utf8),
            required("offset", UInt64),
            nullable("function", Utf8),
            nullable("file", Utf8),
            nullable("line", UInt32),
        ],
    };
    Arc::new(Schema::new(fields))
}

/// How many columns a table had when the format was made. Later ones are at the end and may be NULL; trails that were
/// written before lack them.
const fn first_columns(table: Table) -> usize {
    match table {
        Table::Cases => 8,
        Table::Events => 17,
        Table::Processes => 16,
        Table::Files => 6,
        Table::Sites => 8,
    }
}

/// Makes sure that the file at `path` has the columns of `table`; more columns are no fault, nor is it that those are
/// missing at the end which a later iotrail added.
pub(crate) fn verify(path: &Path, table: Table, found: &Schema) -> Result<(), TrailError> {
    for (index, expected) in schema(table).fields().iter().enumerate() {
        let wrong = |what: String| TrailError::Column {
            path: path.to_owned(),
            column: expected.name().clone(),
            found: what,
            expected: describe(expected),
        };
        if index >= first_columns(table) && index >= found.fields().len() {
            return Ok(());
        }
        let field = found.fields().get(index).filter(|field| field.name() == expected.name());
        let Some(field) = field else {
            return Err(wrong(match found.index_of(expected.name()) {
                Ok(place) => format!("is column {place} of the file, it should be {index}"),
                Err(_) => "is missing".to_owned(),
            }));
        };
        let too_lax = field.is_nullable() && !expected.is_nullable();
        if !same_type(field.data_type(), expected.data_type()) || too_lax {
            return Err(wrong(format!("has type {}", describe(field))));
        }
    }
    Ok(())
}

fn same_type(found: &DataType, expected: &DataType) -> bool {
    match (found, expected) {
        (DataType::List(found), DataType::List(expected)) => {
            same_type(found.data_type(), expected.data_type())
                && found.is_nullable() == expected.is_nullable()
        }
        _ => found == expected,
    }
}

fn describe(field: &Field) -> String {
    format!("{}{}", field.data_type(), if field.is_nullable() { " or NULL" } else { "" })
}
