//! The command that was meant by a mistyped one.

use clap::Parser;
use clap::error::{ContextKind, ContextValue};

/// The command line; at wrong words the program ends with what clap says, and with the command that was meant.
pub(crate) fn parsed<C: Parser>() -> C {
    C::try_parse().unwrap_or_else(|mut error| {
        // clap measures how alike words are by letters in nearly the same place: `dgf` is nothing like `dfg` to it.
        let suggests = error.get(ContextKind::SuggestedSubcommand).is_some();
        if let (false, Some(ContextValue::String(word))) =
            (suggests, error.get(ContextKind::InvalidSubcommand))
        {
            let root = C::command();
            let names = root.get_subcommands().map(clap::Command::get_name);
            let meant: Vec<String> =
                names.filter(|name| same_letters(name, word)).map(str::to_owned).collect();
            if !meant.is_empty() {
                error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(meant));
            }
        }
        error.exit()
    })
}

fn same_letters(one: &str, other: &str) -> bool {
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    sorted(one) == sorted(other)
}
