//! The formats that hold an event log as a whole: one list of their names, the usual endings of their files, and what they are.

/// A format for event logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// A database of SQLite; only in builds that have SQLite.
    Sqlite,
    /// Tracks for the user interface of Perfetto.
    Perfetto,
}

/// What is known of a format.
struct Row {
    format: LogFormat,
    name: &'static str,
    ending: &'static str,
    about: &'static str,
}

const ROWS: [Row; 2] = [
    Row {
        format: LogFormat::Sqlite,
        name: "sqlite",
        ending: ".db",
        about: "A database for SQLite, as ParaTrac's",
    },
    Row {
        format: LogFormat::Perfetto,
        name: "perfetto",
        ending: ".pftrace",
        about: "Tracks of processes, threads and calls for Perfetto",
    },
];

impl LogFormat {
    /// All formats, in the order in which help lists them.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.format)
    }

    /// The name by which `--format` selects it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().map_or("", |row| row.name)
    }

    /// How the names of its files usually end.
    #[must_use]
    pub fn ending(self) -> &'static str {
        self.row().map_or("", |row| row.ending)
    }

    /// What it is, in a phrase.
    #[must_use]
    pub fn about(self) -> &'static str {
        self.row().map_or("", |row| row.about)
    }

    /// The format of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        ROWS.iter().find(|row| row.name == name).map(|row| row.format)
    }

    fn row(self) -> Option<&'static Row> {
        ROWS.iter().find(|row| row.format == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name_and_has_a_line_in_the_guide() {
        let guide = include_str!("../../../docs/exports.md");
        for format in LogFormat::all() {
            assert_eq!(LogFormat::from_name(format.name()), Some(format));
            let line = format!("iotrail export {} T -o T{}", format.name(), format.ending());
            assert!(guide.contains(&line), "{line}");
            assert!(!format.about().is_empty());
        }
        assert_eq!(LogFormat::from_name("xls"), None);
    }
}
