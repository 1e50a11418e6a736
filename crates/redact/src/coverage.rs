//! The coverage statement of a copy: numbers stay, texts that may hold names do not.

use crate::words::Words;
use iotrail_model::recording_coverage::Counts;
use iotrail_model::{Coverage, RecordingCoverage};

/// The statement without names.
pub(crate) fn redacted(coverage: &Coverage, words: &Words) -> Coverage {
    let mut redacted = coverage.clone();
    let (examples, notes) = (redacted.examples.len(), redacted.notes.len());
    redacted.examples.clear();
    redacted.notes.retain(|note| is_harmless(note));
    let removed = notes - redacted.notes.len();
    if let Some(recording) = &mut redacted.recording {
        recorded(recording, words);
    }
    redacted.note("redacted: names of files, hosts and commands are not those of the recording".to_owned());
    if examples + removed > 0 {
        redacted.note(format!(
            "redacted: {removed} notes and {examples} examples of unparsed lines were removed"
        ));
    }
    redacted
}

/// The recorder's statement: programs and commands are named in the keys of some counts.
fn recorded(recording: &mut RecordingCoverage, words: &Words) {
    let renamed = |counts: &Counts, name: &dyn Fn(&str) -> String| {
        let mut renamed = Counts::new();
        for (key, count) in counts {
            *renamed.entry(name(key)).or_default() += count;
        }
        renamed
    };
    recording.without_privileges = renamed(&recording.without_privileges, &|path| words.path(path));
    recording.not_started = renamed(&recording.not_started, &|_| "redacted".to_owned());
}

/// Whether a sentence is iotrail's own: no path, nothing quoted, no assignment.
fn is_harmless(note: &str) -> bool {
    !note.contains(['/', '`', '"', '\'', '=', '\\', '@'])
}
