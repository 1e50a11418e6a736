//! The tables: names and types of their columns, and what these are in Parquet. `docs/trail-format.md` explains every column.

use crate::cell;
use crate::error::TrailError;
use crate::meta::Table;
use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::Result;
use parquet::schema::printer::print_schema;
use parquet::schema::types::{Type, TypePtr};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// What Parquet calls the row of a table.
const ROOT: &str = "arrow_schema";

/// The type of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// True or false.
    Boolean,
    /// Integers of 32 bits.
    Int32,
    /// The same without sign.
    UInt32,
    /// Integers of 64 bits.
    Int64,
    /// The same without sign.
    UInt64,
    /// Nanoseconds since 1970.
    Time,
    /// Texts.
    Text,
    /// Texts, few different ones.
    Name,
    /// Lists of texts, none of them NULL.
    Texts,
}

impl ColumnKind {
    const fn physical(self) -> Physical {
        match self {
            Self::Boolean => Physical::BOOLEAN,
            Self::Int32 | Self::UInt32 => Physical::INT32,
            Self::Int64 | Self::UInt64 | Self::Time => Physical::INT64,
            Self::Text | Self::Name | Self::Texts => Physical::BYTE_ARRAY,
        }
    }

    fn logical(self) -> Option<LogicalType> {
        match self {
            Self::Boolean | Self::Int32 | Self::Int64 => None,
            Self::UInt32 => Some(LogicalType::integer(32, false)),
            Self::UInt64 => Some(LogicalType::integer(64, false)),
            Self::Time => Some(LogicalType::timestamp(true, TimeUnit::NANOS)),
            Self::Text | Self::Name | Self::Texts => Some(LogicalType::String),
        }
    }

    /// What cells of a column of a file are; `None` if no table has such.
    fn of(column: &Type) -> Option<Self> {
        if column.is_group() {
            return is_list_of_texts(column).then_some(Self::Texts);
        }
        let info = column.get_basic_info();
        let kinds =
            [Self::Boolean, Self::Int32, Self::UInt32, Self::Int64, Self::UInt64, Self::Time, Self::Text];
        let found = match (info.logical_type_ref(), info.converted_type()) {
            (Some(logical), _) => Some(logical.clone()),
            (None, ConvertedType::UTF8) => Some(LogicalType::String),
            (None, ConvertedType::UINT_32) => Some(LogicalType::integer(32, false)),
            (None, ConvertedType::UINT_64) => Some(LogicalType::integer(64, false)),
            (None, ConvertedType::NONE | ConvertedType::INT_32 | ConvertedType::INT_64) => None,
            (None, _) => return None,
        };
        // Integers with a sign need not say so.
        let signed = [LogicalType::integer(32, true), LogicalType::integer(64, true)];
        let found = found.filter(|logical| !signed.contains(logical));
        let physical = column.get_physical_type();
        kinds.into_iter().find(|kind| kind.physical() == physical && kind.logical() == found)
    }

    /// Whether a file stores it as it stores `other`.
    fn is_stored_as(self, other: Self) -> bool {
        self == other || self == Self::Name && other == Self::Text
    }
}

impl fmt::Display for ColumnKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boolean => "Boolean",
            Self::Int32 => "Int32",
            Self::UInt32 => "UInt32",
            Self::Int64 => "Int64",
            Self::UInt64 => "UInt64",
            Self::Time => "Timestamp(ns, UTC)",
            Self::Text | Self::Name => "Utf8",
            Self::Texts => "List(Utf8)",
        })
    }
}

/// A list as Parquet defines it: a repeated group around the element.
fn is_list_of_texts(column: &Type) -> bool {
    let info = column.get_basic_info();
    let is_list =
        info.logical_type_ref() == Some(&LogicalType::List) || info.converted_type() == ConvertedType::LIST;
    let [list] = column.get_fields() else { return false };
    if !is_list || list.is_primitive() || list.get_basic_info().repetition() != Repetition::REPEATED {
        return false;
    }
    let [item] = list.get_fields() else { return false };
    item.is_primitive()
        && item.get_basic_info().repetition() == Repetition::REQUIRED
        && ColumnKind::of(item) == Some(ColumnKind::Text)
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnSchema {
    /// Its name.
    pub name: &'static str,
    /// What its cells are.
    pub kind: ColumnKind,
    /// Whether a cell may be NULL.
    pub nullable: bool,
}

impl ColumnSchema {
    fn parquet(&self) -> Result<Type> {
        let repetition = if self.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        if self.kind == ColumnKind::Texts {
            let item = Self { name: "item", kind: ColumnKind::Text, nullable: false }.parquet()?;
            let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
            let list = list.with_fields(vec![Arc::new(item)]).build()?;
            let column = Type::group_type_builder(self.name).with_logical_type(Some(LogicalType::List));
            return column.with_repetition(repetition).with_fields(vec![Arc::new(list)]).build();
        }
        let column = Type::primitive_type_builder(self.name, self.kind.physical());
        column.with_logical_type(self.kind.logical()).with_repetition(repetition).build()
    }
}

impl fmt::Display for ColumnSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind, if self.nullable { " or NULL" } else { "" })
    }
}

/// Columns as a schema of Parquet.
pub(crate) fn parquet_schema(columns: &[ColumnSchema]) -> Result<TypePtr> {
    let columns = columns.iter().map(|column| column.parquet().map(Arc::new)).collect::<Result<_>>()?;
    Type::group_type_builder(ROOT).with_fields(columns).build().map(Arc::new)
}

/// The columns of a table.
#[must_use]
pub fn schema(table: Table) -> Vec<ColumnSchema> {
    use ColumnKind::{Boolean, Int32, Int64, Text, Texts, Time, UInt32, UInt64};
    let required = |name, kind| ColumnSchema { name, kind, nullable: false };
    let nullable = |name, kind| ColumnSchema { name, kind, nullable: true };
    match table {
        Table::Cases => vec![
            required("case_id", UInt32),
            nullable("cid", Text),
            nullable("host", Text),
            nullable("rid", Text),
            nullable("label", Text),
            required("clock", Text),
            required("source", Text),
            required("interleaved", Boolean),
            nullable("resolution", Int64),
            nullable("numbered_with", UInt32),
        ],
        Table::Events => cell::columns(),
        Table::Processes => vec![
            required("case_id", UInt32),
            required("pid", UInt32),
            nullable("ppid", UInt32),
            nullable("start", Time),
            nullable("end", Time),
            nullable("exit_code", Int32),
            nullable("signal", Text),
            nullable("exe", Text),
            nullable("cmdline", Text),
            nullable("cwd", Text),
            required("threads", UInt32),
            nullable("user", Int64),
            nullable("system", Int64),
            required("bytes_read", Int64),
            required("bytes_written", Int64),
            required("env", Texts),
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
            required("path", Text),
            required("canonical", Text),
            nullable("kind", Text),
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
            required("module", Text),
            nullable("build_id", Text),
            required("offset", UInt64),
            nullable("function", Text),
            nullable("file", Text),
            nullable("line", UInt32),
        ],
    }
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

/// Makes sure that the file at `path` has the columns of `table` and answers how many it has; more columns are no fault, nor is it
/// that those are missing at the end which a later iotrail added.
pub(crate) fn verify(path: &Path, table: Table, found: &[TypePtr]) -> std::result::Result<usize, TrailError> {
    let columns = schema(table);
    for (index, expected) in columns.iter().enumerate() {
        if index >= first_columns(table) && index >= found.len() {
            return Ok(index);
        }
        if let Some(what) = wrong_column(index, expected, found) {
            return Err(TrailError::Column {
                path: path.to_owned(),
                column: expected.name.to_owned(),
                found: what,
                expected: expected.to_string(),
            });
        }
    }
    Ok(columns.len())
}

/// What is wrong with the column that should be at a place of a file.
fn wrong_column(index: usize, expected: &ColumnSchema, found: &[TypePtr]) -> Option<String> {
    let Some(column) = found.get(index).filter(|column| column.name() == expected.name) else {
        return Some(match found.iter().position(|column| column.name() == expected.name) {
            Some(place) => format!("is column {place} of the file, it should be {index}"),
            None => "is missing".to_owned(),
        });
    };
    let (nullable, kind) = match column.get_basic_info().repetition() {
        Repetition::REPEATED => (false, None),
        repetition => (repetition == Repetition::OPTIONAL, ColumnKind::of(column)),
    };
    let fits = kind.is_some_and(|kind| expected.kind.is_stored_as(kind)) && (expected.nullable || !nullable);
    let told = || match kind {
        Some(kind) => ColumnSchema { kind, nullable, ..*expected }.to_string(),
        None => told_by_parquet(column),
    };
    (!fits).then(|| format!("has type {}", told()))
}

fn told_by_parquet(column: &Type) -> String {
    let mut told = Vec::new();
    print_schema(&mut told, column);
    let told = String::from_utf8_lossy(&told).split_whitespace().collect::<Vec<_>>().join(" ");
    iotrail_model::text::printable(&told).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::schema::parser::parse_message_type;

    /// What is wrong with a table `sites` that has such a column in the place of its first, `site`.
    fn wrong_site(column: &str) -> String {
        let columns: Vec<TypePtr> =
            parse_message_type(&format!("message m {{ {column}; }}")).unwrap().get_fields().to_vec();
        wrong_column(0, &schema(Table::Sites)[0], &columns).unwrap_or_default()
    }

    #[test]
    fn columns_of_another_type_are_told_by_it() {
        for sound in ["required int32 site (integer(32, false))", "required int32 site (uint_32)"] {
            assert_eq!(wrong_site(sound), "");
        }
        assert_eq!(wrong_site("optional int32 site (integer(32, false))"), "has type UInt32 or NULL");
        assert_eq!(wrong_site("required int32 site"), "has type Int32");
        assert_eq!(wrong_site("required int64 site (integer(64, true))"), "has type Int64");
        assert_eq!(wrong_site("required binary site (utf8)"), "has type Utf8");
        assert_eq!(wrong_site("required int64 site (timestamp(nanos, true))"), "has type Timestamp(ns, UTC)");
        let foreign = "has type REQUIRED INT64 site (TIMESTAMP(MICROS,true));";
        assert_eq!(wrong_site("required int64 site (timestamp(micros, true))"), foreign);
        assert_eq!(wrong_site("required double site"), "has type REQUIRED DOUBLE site;");
        assert!(wrong_site("repeated int32 site (uint_32)").starts_with("has type REPEATED INT32 site"));
        assert!(wrong_site("required int32 place").starts_with("is missing"));
    }

    #[test]
    fn only_lists_of_texts_without_null_are_such() {
        let kind = |element: &str| {
            let list = format!(
                "message m {{ required group env (LIST) {{ repeated group list {{ {element}; }} }} }}"
            );
            ColumnKind::of(&parse_message_type(&list).unwrap().get_fields()[0])
        };
        assert_eq!(kind("required binary item (string)"), Some(ColumnKind::Texts));
        assert_eq!(kind("required binary element (utf8)"), Some(ColumnKind::Texts));
        assert_eq!(kind("optional binary item (string)"), None);
        assert_eq!(kind("required binary item"), None);
        assert_eq!(kind("required binary a (utf8); required binary b (utf8)"), None);
    }

    #[test]
    fn what_is_written_is_what_is_expected() {
        for table in [Table::Cases, Table::Events, Table::Processes, Table::Files, Table::Sites] {
            let columns = schema(table);
            let written = parquet_schema(&columns).unwrap();
            assert_eq!(verify(Path::new("x"), table, written.get_fields()).unwrap(), columns.len());
        }
    }
}
