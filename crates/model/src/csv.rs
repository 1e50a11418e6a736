//! Comma-separated values, the same for all tables: RFC 4180 with lines that end in LF. NULL is an empty cell, an empty text is `""`.
//!
//! Names are not altered against spreadsheet programs that evaluate cells beginning with `=`: a name read back is the
//! name in the trace. `docs/exports.md` says how to open the files as text.

use std::fmt::Write;

/// A cell that holds a text, in quotes where it would not be read back otherwise.
#[must_use]
pub fn text(text: &str) -> String {
    if text.is_empty() || text.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A cell that holds a text or NULL.
#[must_use]
pub fn text_or_null(cell: Option<&str>) -> String {
    cell.map(text).unwrap_or_default()
}

/// A cell that holds a number or NULL.
#[must_use]
pub fn number(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A line of cells, with its end.
#[must_use]
pub fn line(cells: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut table = Table::default();
    table.line(cells);
    table.0
}

/// A table in memory.
#[derive(Clone, Debug, Default)]
pub struct Table(String);

impl Table {
    /// A table with a header line; its names are texts, not cells.
    #[must_use]
    pub fn new(names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self(line(names.into_iter().map(|name| text(name.as_ref()))))
    }

    /// One more line, of cells.
    pub fn line(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        for (number, cell) in cells.into_iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            // Writing to a String cannot fail.
            let _ = write!(self.0, "{comma}{}", cell.as_ref());
        }
        self.0.push('\n');
    }

    /// All of it.
    #[must_use]
    pub fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be_and_null_is_not_empty() {
        let mut table = Table::new(["name", "of, two"]);
        table.line([text("a \"b\""), number(Some(-1))]);
        table.line([text("two\nlines"), number(None::<i64>)]);
        table.line([text(""), text_or_null(None)]);
        assert_eq!(table.finish(), "name,\"of, two\"\n\"a \"\"b\"\"\",-1\n\"two\nlines\",\n\"\",\n");
    }
}
