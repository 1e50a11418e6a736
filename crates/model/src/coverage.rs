//! The coverage statement: what a trail holds of what happened, and what it does not.

use crate::notes::{Note, Notes};
use crate::recording_coverage::RecordingCoverage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many examples of unparsed input a statement keeps.
pub const MAX_EXAMPLES: usize = 20;
/// How many bytes of each example.
pub const MAX_EXAMPLE_BYTES: usize = 400;

/// Every input line is in exactly one of these, so `total` is the sum of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    /// Lines read.
    pub total: u64,
    /// A whole call.
    pub event: u64,
    /// The first half of a call.
    pub unfinished: u64,
    /// The second half of a call.
    pub resumed: u64,
    /// A signal was delivered, or a process stopped or went on.
    pub signal: u64,
    /// A process ended.
    pub exit: u64,
    /// Known chatter, dumps, stacks, tables; by kind in [`Coverage::noise`].
    pub noise: u64,
    /// Not understood; the first ones are in [`Coverage::examples`].
    pub unparsed: u64,
}

impl Lines {
    /// Sum of all kinds; equal to `total` in every statement.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.event + self.unfinished + self.resumed + self.signal + self.exit + self.noise + self.unparsed
    }

    fn add(&mut self, other: &Self) {
        self.total += other.total;
        self.event += other.event;
        self.unfinished += other.unfinished;
        self.resumed += other.resumed;
        self.signal += other.signal;
        self.exit += other.exit;
        self.noise += other.noise;
        self.unparsed += other.unparsed;
    }
}

/// A piece of input that was not understood.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Example {
    /// Name of the input.
    pub file: String,
    /// Line number, from 1.
    pub line: u64,
    /// The beginning of the line, in the text form of [`crate::text::path_to_text`].
    pub text: String,
}

/// What was seen, kept, lost, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Every input line by kind.
    pub lines: Lines,
    /// Known noise by kind (`stack`, `dump`, `attach-message`, `summary-table`, ...).
    pub noise: BTreeMap<String, u64>,
    /// Calls that a signal interrupted and that the kernel restarted (ERESTART*): not events, their restart is.
    pub interrupted: u64,
    /// Calls that a signal interrupted and that failed with EINTR, because its handler said so: events.
    #[serde(default)]
    pub interrupted_ended: u64,
    /// Calls that a signal interrupted and of which it did not show what became: events whose result is not known.
    #[serde(default)]
    pub interrupted_unknown: u64,
    /// Calls of which only one half was seen.
    pub incomplete: u64,
    /// Calls of which strace cut an argument that is kept: a command line or a path.
    #[serde(default)]
    pub cut_arguments: u64,
    /// Events known to be missing.
    pub lost: u64,
    /// Events whose path could not be made absolute, because a working directory or descriptor was never seen.
    pub relative_paths: u64,
    /// The first unparsed lines, sorted by file and line.
    pub examples: Vec<Example>,
    /// Whatever else a reader must know.
    #[serde(flatten)]
    pub notes: Notes,
    /// What recorders saw and what not; nothing of imports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<RecordingCoverage>,
}

impl Coverage {
    /// The statement of a recording. Its sums of lost and unfinished calls are those of the whole statement.
    #[must_use]
    pub fn of_recording(recording: RecordingCoverage) -> Self {
        Self {
            lost: recording.lost(),
            incomplete: recording.unfinished,
            recording: Some(recording),
            ..Self::default()
        }
    }

    /// Counts one line of known noise.
    pub fn count_noise(&mut self, kind: &str) {
        self.lines.noise += 1;
        match self.noise.get_mut(kind) {
            Some(count) => *count += 1,
            None => {
                self.noise.insert(kind.to_owned(), 1);
            }
        }
    }

    /// Keeps `example` if there is room.
    pub fn keep_example(&mut self, file: &str, line: u64, bytes: &[u8]) {
        if self.examples.len() < MAX_EXAMPLES {
            let text = crate::text::path_to_text(&bytes[..bytes.len().min(MAX_EXAMPLE_BYTES)]).into_owned();
            self.examples.push(Example { file: file.to_owned(), line, text });
        }
    }

    /// Adds a fact, once.
    pub fn note(&mut self, note: Note) {
        self.notes.insert(note);
    }

    /// The statement for both inputs together.
    pub fn merge(&mut self, other: &Self) {
        self.lines.add(&other.lines);
        for (kind, count) in &other.noise {
            *self.noise.entry(kind.clone()).or_default() += count;
        }
        self.interrupted += other.interrupted;
        self.interrupted_ended += other.interrupted_ended;
        self.interrupted_unknown += other.interrupted_unknown;
        self.incomplete += other.incomplete;
        self.cut_arguments += other.cut_arguments;
        self.lost = self.lost.saturating_add(other.lost);
        self.relative_paths += other.relative_paths;
        self.examples.extend(other.examples.iter().cloned());
        self.examples.sort();
        self.examples.truncate(MAX_EXAMPLES);
        self.notes.extend(other.notes.iter().cloned());
        if let Some(recording) = &other.recording {
            self.recording.get_or_insert_default().merge(recording);
        }
    }
}
