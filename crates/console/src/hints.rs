//! What to do about a fact or an error, in words of the command line. Libraries know no options and no commands: they state
//! what is the case as values, and here each value that something can be done about gets its hint.

use iotrail_model::Note;

/// What to do about a fact of the trail `name`.
#[must_use]
pub fn of_note(note: &Note, name: &str) -> Option<String> {
    match note {
        Note::FilesWithoutDate { .. } => Some("--date gives the date".to_owned()),
        Note::Unfinished => Some(format!("to finish it: iotrail recover {name}")),
        _ => None,
    }
}

/// A fact with what to do about it.
#[must_use]
pub fn with_hint(note: &Note, name: &str) -> String {
    let hint = of_note(note, name).map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{note}{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_trail_names_the_command_that_finishes_it() {
        let text = with_hint(&Note::Unfinished, "a.trail");
        assert_eq!(text, "this trail is not finished; to finish it: iotrail recover a.trail");
        assert_eq!(with_hint(&Note::Redacted, "a.trail"), Note::Redacted.to_string());
    }
}
