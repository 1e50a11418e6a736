//! The coverage statement of a copy: numbers stay, texts that may hold names do not.

use crate::redact::Redacted;
use crate::words::Words;
use crate::{notes, public};
use iotrail_model::calls::{self, Group};
use iotrail_model::recording_coverage::{Counts, Selection};
use iotrail_model::{Coverage, Note, RecordingCoverage};

/// The statement of a copy of which `done` is known, without names.
pub(crate) fn redacted(coverage: &Coverage, words: &Words, done: &Redacted) -> Coverage {
    let mut redacted = coverage.clone();
    redacted.examples.clear();
    let kept: Vec<Note> = coverage.notes.iter().filter_map(|note| notes::redacted(note, words)).collect();
    let notes = (coverage.notes.len() - kept.len()) as u64;
    redacted.notes = kept.into_iter().collect();
    let examples = coverage.examples.len() as u64;
    redacted.noise = renamed(&coverage.noise, &|kind| reason(kind));
    if let Some(recording) = &mut redacted.recording {
        recorded(recording, words);
    }
    redacted.note(match words.hashes() {
        true => Note::Redacted,
        false => Note::RedactedByRules { renamed: done.renamed, paths: done.paths },
    });
    if examples + notes > 0 {
        redacted.note(Note::RedactedTexts { notes, examples });
    }
    redacted
}

/// The recorder's statement: programs and commands are named in the keys of some counts.
fn recorded(recording: &mut RecordingCoverage, words: &Words) {
    recording.without_privileges = renamed(&recording.without_privileges, &|path| words.path(path));
    recording.not_started = renamed(&recording.not_started, &|error| kept(error, public::is_error(error)));
    for counts in [
        &mut recording.escaped,
        &mut recording.lost,
        &mut recording.left_out,
        &mut recording.not_decoded,
        &mut recording.other_ring_entries,
    ] {
        *counts = renamed(counts, &|text| reason(text));
    }
    let selections = std::mem::take(&mut recording.selections).into_iter();
    recording.selections = selections
        .map(|selection| Selection {
            asked: kept(&selection.asked, is_call_set(&selection.asked)),
            without: selection.without.iter().map(|family| reason(family)).collect(),
            ..selection
        })
        .collect();
}

fn renamed(counts: &Counts, name: &dyn Fn(&str) -> String) -> Counts {
    let mut renamed = Counts::new();
    for (key, count) in counts {
        *renamed.entry(name(key)).or_default() += count;
    }
    renamed
}

/// A reason in iotrail's own words, which neither quote nor name anything.
pub(crate) fn reason(text: &str) -> String {
    let digits = text.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or_default();
    let quotes = text.contains(['/', '`', '"', '\'', '=', '\\', '@', ':', '.']);
    kept(text, digits <= 3 && !quotes && text.is_ascii())
}

/// Whether a list of calls names nothing but calls and groups of calls.
pub(crate) fn is_call_set(asked: &str) -> bool {
    let known = |word: &str| {
        let word = word.trim_start_matches('!').trim_start_matches('%');
        calls::named(word).is_some() || Group::named(word).is_some()
    };
    asked.strip_prefix("trace=").unwrap_or(asked).split([',', ' ']).all(known)
}

pub(crate) fn kept(text: &str, stays: bool) -> String {
    if stays { text.to_owned() } else { "redacted".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_calls_stay_whatever_groups_they_name() {
        for group in Group::names() {
            assert!(is_call_set(group), "{group}");
        }
        assert!(is_call_set("file,desc,!openat") && is_call_set("trace=%network,%file"));
        assert!(!is_call_set("file,secret") && !is_call_set("/home/ann"));
    }
}
