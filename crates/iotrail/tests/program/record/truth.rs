//! What a program noted and what was recorded, side by side.

use crate::record::program::Recorded;
use iotrail_model::text::path_to_text;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Calls by which the operations of a thread are handed over; the operations themselves are events.
const CARRIERS: [&str; 4] = ["io_uring_enter", "io_uring_register", "io_submit", "io_getevents"];

/// An operation that a program noted. What is absent may be anything; `null` must be NULL.
#[derive(Debug, Deserialize)]
pub(crate) struct Note {
    tid: u32,
    call: String,
    #[serde(default, deserialize_with = "present")]
    path: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    path2: Option<Option<String>>,
    like: Option<String>,
    #[serde(default, deserialize_with = "present")]
    fd: Option<Option<i64>>,
    #[serde(default, deserialize_with = "present")]
    offset: Option<Option<i64>>,
    #[serde(default, deserialize_with = "present")]
    size: Option<Option<i64>>,
    #[serde(default, deserialize_with = "present")]
    requested: Option<Option<i64>>,
    errno: Option<String>,
    #[serde(default)]
    unfinished: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) tid: u32,
    pub(crate) call: String,
    /// RFC 3339 with nine digits, in the order of time.
    start: String,
    seq: u64,
    dur: Option<i64>,
    pub(crate) path: Option<String>,
    path2: Option<String>,
    fd: Option<i64>,
    offset: Option<i64>,
    size: Option<i64>,
    requested: Option<i64>,
    ret: Option<i64>,
    errno: Option<String>,
}

/// `Some` of what is there, be it `null`.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// The text form of a path in hexadecimal.
fn path_of(hexadecimal: &str) -> String {
    let digits = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("two digits");
        u8::from_str_radix(pair, 16).expect("a byte")
    };
    let bytes: Vec<u8> = hexadecimal.as_bytes().chunks(2).map(digits).collect();
    path_to_text(&bytes).into_owned()
}

impl Note {
    /// In which columns an event differs from the note.
    fn differences(&self, row: &Row) -> Vec<&'static str> {
        let path = |wanted: &Option<Option<String>>, found: &Option<String>| match wanted {
            None => true,
            Some(wanted) => match wanted.as_deref().map(path_of) {
                // What is no path has a number that nobody knows before.
                Some(name) if !name.starts_with('/') => {
                    found.as_ref().is_some_and(|found| found.starts_with(&name))
                }
                wanted => wanted == *found,
            },
        };
        let like = |name: &String| row.path.as_ref().is_some_and(|path| path.starts_with(name));
        let number = |wanted: Option<Option<i64>>, found| wanted.is_none_or(|wanted| wanted == found);
        let columns = [
            ("call", self.call == row.call),
            ("path", self.like.as_ref().map_or_else(|| path(&self.path, &row.path), like)),
            ("path2", path(&self.path2, &row.path2)),
            ("fd", number(self.fd, row.fd)),
            ("offset", number(self.offset, row.offset)),
            ("size", number(self.size, row.size)),
            ("requested", number(self.requested, row.requested)),
            ("errno", self.errno == row.errno),
            ("ret", row.ret.map(|ret| ret == -1) == (!self.unfinished).then_some(self.errno.is_some())),
            ("dur", row.dur.map(|dur| dur >= 0) == (!self.unfinished).then_some(true)),
        ];
        columns.into_iter().filter(|(_, same)| !same).map(|(column, _)| column).collect()
    }
}

/// The events of each thread between its marks, in order.
fn marked(rows: Vec<Row>) -> BTreeMap<u32, Vec<Row>> {
    let mut threads: BTreeMap<u32, Vec<Row>> = BTreeMap::new();
    for row in rows {
        threads.entry(row.tid).or_default().push(row);
    }
    for rows in threads.values_mut() {
        rows.sort_by(|a, b| (&a.start, a.seq).cmp(&(&b.start, b.seq)));
        let mut within = false;
        rows.retain(|row| match row.path.as_deref() {
            Some("/truth/begin") => {
                within = true;
                false
            }
            Some("/truth/end") => {
                within = false;
                false
            }
            _ => within && !CARRIERS.contains(&&*row.call),
        });
    }
    threads
}

/// Every operation was recorded as it was, in the order of its thread, and nothing else.
#[track_caller]
pub(crate) fn compare(recorded: Recorded) {
    let mut notes: BTreeMap<u32, Vec<Note>> = BTreeMap::new();
    for note in recorded.notes {
        notes.entry(note.tid).or_default().push(note);
    }
    let mut threads = marked(recorded.rows);
    let mut report = String::new();
    for (tid, notes) in &notes {
        let rows = threads.remove(tid).unwrap_or_default();
        if notes.len() != rows.len() {
            let _ = writeln!(report, "thread {tid}: {} operations, {} events", notes.len(), rows.len());
        }
        for (note, row) in notes.iter().zip(&rows) {
            let differences = note.differences(row);
            if !differences.is_empty() {
                let _ = writeln!(report, "{differences:?} differ:\n  {note:?}\n  {row:?}");
            }
            if differences.contains(&"call") {
                break;
            }
        }
    }
    threads.retain(|_, rows| !rows.is_empty());
    let _ =
        threads.iter().try_for_each(|(tid, rows)| writeln!(report, "thread {tid} noted none of {rows:?}"));
    assert!(report.is_empty(), "{report}");
}
