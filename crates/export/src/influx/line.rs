//! A line of line protocol: `measurement,tag=value field=value,field=value time`.
//!
//! The protocol has no escape for line ends and none for backslashes in tags, so both are written in the text form of paths
//! (`\x0a`, [`iotrail_model::text`]), which keeps names distinct and can be undone.

use std::fmt::Write;

/// Longest text of a field: servers take 64 KiB.
const LONGEST: usize = 60_000;

/// A line that is being written.
#[derive(Debug, Default)]
pub(crate) struct Line {
    text: String,
    has_field: bool,
}

impl Line {
    /// Begins with what identifies the series: the measurement and its tags.
    pub(crate) fn begin(&mut self, series: &str) {
        self.text.clear();
        self.text.push_str(series);
        self.has_field = false;
    }

    /// An integer, if it is known.
    pub(crate) fn integer(&mut self, name: &str, value: Option<i64>) {
        if let Some(value) = value {
            self.name(name);
            let _ = write!(self.text, "{value}i");
        }
    }

    /// A count. What is beyond 63 bits, which no server takes everywhere, is the largest number.
    pub(crate) fn count(&mut self, name: &str, value: u64) {
        self.integer(name, Some(i64::try_from(value).unwrap_or(i64::MAX)));
    }

    /// A count, if it is known.
    pub(crate) fn maybe_count(&mut self, name: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.count(name, value);
        }
    }

    /// A fraction, if it is a number.
    pub(crate) fn fraction(&mut self, name: &str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.name(name);
            let _ = write!(self.text, "{value}");
        }
    }

    /// A text, if there is one.
    pub(crate) fn text(&mut self, name: &str, value: Option<&str>) {
        let Some(value) = value else { return };
        self.name(name);
        self.text.push('"');
        let begin = self.text.len();
        for character in value.chars() {
            if self.text.len() - begin > LONGEST {
                self.text.push('…');
                break;
            }
            match character {
                '"' | '\\' => self.text.extend(['\\', character]),
                '\0'..='\x1f' | '\x7f' => {
                    let _ = write!(self.text, "\\\\x{:02x}", u32::from(character));
                }
                _ => self.text.push(character),
            }
        }
        self.text.push('"');
    }

    /// The line with its time in ns.
    pub(crate) fn end(&mut self, time: i64) -> &str {
        let _ = write!(self.text, " {time}");
        &self.text
    }

    fn name(&mut self, name: &str) {
        self.text.push(if self.has_field { ',' } else { ' ' });
        self.has_field = true;
        self.text.push_str(name);
        self.text.push('=');
    }
}

/// Adds a tag to what identifies a series. An empty value is none.
pub(crate) fn push_tag(series: &mut String, name: &str, value: &str) {
    if value.is_empty() {
        return;
    }
    series.push(',');
    series.push_str(name);
    series.push('=');
    for character in value.chars() {
        match character {
            ',' | '=' | ' ' => series.extend(['\\', character]),
            '\0'..='\x1f' | '\x7f' | '\\' => {
                let _ = write!(series, "\\x{:02x}", u32::from(character));
            }
            _ => series.push(character),
        }
    }
}
