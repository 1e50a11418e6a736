//! The table of events and the view that shows it with names, made of the list of columns.

use crate::value::unsigned;
use iotrail_model::{CellKind, Column, Event, NameKind, Value};
use iotrail_trail::position_sql;
use rusqlite::types::Value as Stored;

/// A small table that numbers texts.
struct Texts {
    table: &'static str,
    id: &'static str,
    text: &'static str,
}

/// The statements that make the table `event_rows` and the view `events`.
pub(crate) fn schema() -> String {
    let mut columns = Vec::new();
    let mut shown = Vec::new();
    let mut joins = String::new();
    for column in Event::COLUMNS {
        let null = if column.nullable || column.kind == CellKind::Time { "" } else { " NOT NULL" };
        let Some(texts) = texts(column) else {
            columns.push(format!("  \"{}\" INTEGER{null}{}", column.name, refers(column.kind)));
            shown.push(format!("e.\"{}\"", column.name));
            continue;
        };
        let (name, Texts { table, id, text }) = (column.name, texts);
        columns.push(format!("  {name}_id INTEGER{null} REFERENCES {table}"));
        shown.push(format!("n{}.{text} AS {name}", columns.len()));
        let left = if column.nullable { "LEFT " } else { "" };
        joins +=
            &format!("\n{left}JOIN {table} n{place} ON n{place}.{id} = e.{name}_id", place = columns.len());
    }
    let positions = position_sql().map(|(name, value)| format!("{value} AS {name}"));
    format!(
        "CREATE TABLE event_rows (\n{}\n);\nCREATE VIEW events AS\nSELECT *, {}\nFROM (\nSELECT {}\nFROM event_rows e{joins}\n);\n",
        columns.join(",\n"),
        positions.join(", "),
        shown.join(", ")
    )
}

/// The statement that appends a row.
pub(crate) fn insert() -> String {
    let places: Vec<String> = (1..=Event::COLUMNS.len()).map(|place| format!("?{place}")).collect();
    format!("INSERT INTO event_rows VALUES ({})", places.join(", "))
}

/// A cell as it is stored. Without time stamps (`timed`) the start is not known; `seq` tells the order.
pub(crate) fn value(value: Value, timed: bool) -> Stored {
    match value {
        Value::Null => Stored::Null,
        Value::Int(number) => Stored::Integer(number),
        Value::Count(number) => unsigned(number),
        Value::Time(time) if timed => Stored::Integer(time.0),
        Value::Time(_) => Stored::Null,
        Value::Layer(layer) => Stored::Integer(layer as i64),
        Value::Name(_, id) => Stored::Integer(id.into()),
    }
}

/// The table in which a column's texts are.
fn texts(column: &Column) -> Option<Texts> {
    let texts = |table, id, text| Some(Texts { table, id, text });
    match column.kind {
        CellKind::Name(NameKind::Call) => texts("calls", "call_id", "call"),
        CellKind::Name(NameKind::Path) => texts("files", "file_id", "path"),
        CellKind::Name(NameKind::Errno) => texts("errnos", "errno_id", "errno"),
        CellKind::Name(NameKind::Flags) => texts("flag_texts", "flags_id", "flags"),
        CellKind::Layer => texts("layers", "layer_id", "layer"),
        CellKind::Number | CellKind::Time | CellKind::Case | CellKind::File => None,
    }
}

/// The table whose rows a column of numbers names.
fn refers(kind: CellKind) -> &'static str {
    match kind {
        CellKind::Case => " REFERENCES cases",
        CellKind::File => " REFERENCES distinct_files",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn the_view_has_the_columns_of_the_trail_and_positions() {
        let database = Connection::open_in_memory().unwrap();
        database.execute_batch(include_str!("schema.sql")).unwrap();
        database.execute_batch(&schema()).unwrap();
        database.execute_batch(include_str!("indices.sql")).unwrap();
        let view = database.prepare("SELECT * FROM events").unwrap();
        let columns = Event::COLUMNS.iter().map(|column| column.name);
        let names: Vec<&str> = columns.chain(iotrail_trail::POSITION_COLUMNS).collect();
        assert!(view.column_names().eq(names));
    }
}
