//! The prompt: statements over several lines up to `;`, history, completion.

use crate::run::Engine;
use anyhow::Context as _;
use iotrail_console::{output, ui::Ui};
use iotrail_sql::SqlError;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper, Highlighter, Hinter};
use std::path::{Path, PathBuf};

const HELP: &str = "\
A statement ends with `;` and may have several lines. Tab completes words, tables, columns and functions.
  \\d          tables and views
  \\d TABLE    columns of a table
  \\?          this help
  \\q          leaves, as does Ctrl-D; Ctrl-C ends a query that is at work";

const KEYWORDS: [&str; 48] = [
    "ALL",
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "COUNT",
    "DESC",
    "DESCRIBE",
    "DISTINCT",
    "ELSE",
    "END",
    "EXCEPT",
    "EXISTS",
    "EXPLAIN",
    "FILTER",
    "FROM",
    "FULL",
    "GROUP",
    "HAVING",
    "ILIKE",
    "IN",
    "INNER",
    "INTERSECT",
    "INTERVAL",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NOT",
    "NULL",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OVER",
    "PARTITION",
    "SELECT",
    "SHOW",
    "TABLES",
    "THEN",
    "UNION",
    "USING",
    "WHERE",
    "WITH",
];

pub(crate) fn run(engine: &Engine, ui: &Ui) -> anyhow::Result<()> {
    let tables = engine.tables()?;
    let config = Config::builder().history_ignore_space(true).completion_type(CompletionType::List).build();
    let mut editor: Editor<Words, DefaultHistory> =
        Editor::with_config(config).context("there is no prompt")?;
    editor.set_helper(Some(Words::new(&tables, engine.session.functions())));
    let history = history_file();
    if let Some(file) = &history {
        // The first time there is none.
        let _ = editor.load_history(file);
    }
    ui.info("Statements end with `;`. \\? helps, \\q leaves.");
    loop {
        let text = match editor.readline("sql> ") {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error).context("cannot read from the terminal"),
        };
        if text.trim().is_empty() {
            continue;
        }
        let _ = editor.add_history_entry(text.trim());
        match text.trim() {
            "\\q" | "exit" | "quit" => break,
            "\\?" | "help" => ui.info(HELP),
            command if command.starts_with("\\d") => describe(command, &tables)?,
            statements => answer(engine, statements, ui)?,
        }
    }
    if let Some(file) = &history
        && let Err(error) = save(&mut editor, file)
    {
        ui.warn(&format!("the history could not be saved in {}: {error}", file.display()));
    }
    Ok(())
}

/// Answers, and goes on after whatever a statement can do wrong.
fn answer(engine: &Engine, text: &str, ui: &Ui) -> anyhow::Result<()> {
    let answered = engine
        .session
        .parse(text)
        .map_err(anyhow::Error::from)
        .and_then(|statements| engine.answer_to(Path::new("-"), statements));
    match answered {
        Err(error) if output::is_closed_pipe(&error) => Err(error),
        Err(error) if matches!(error.downcast_ref(), Some(SqlError::Interrupted)) => {
            ui.info("interrupted");
            Ok(())
        }
        Err(error) => {
            ui.error(&error);
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

fn describe(command: &str, tables: &[(String, Vec<String>)]) -> anyhow::Result<()> {
    let wanted = command.trim_start_matches("\\d").trim().trim_end_matches(';');
    let mut text = String::new();
    for (table, columns) in tables.iter().filter(|(table, _)| wanted.is_empty() || table == wanted) {
        text.push_str(&format!("{table}: {}\n", columns.join(", ")));
    }
    if text.is_empty() {
        text = format!("there is no table {}\n", iotrail_model::text::printable(wanted));
    }
    output::stdout(text.as_bytes())
}

/// Where the statements of earlier days are.
fn history_file() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))?;
    Some(state.join("iotrail/sql_history"))
}

fn save(editor: &mut Editor<Words, DefaultHistory>, file: &Path) -> anyhow::Result<()> {
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory)?;
    }
    Ok(editor.save_history(file)?)
}

/// The words that the prompt knows.
#[derive(Helper, Highlighter, Hinter)]
struct Words(Vec<String>);

impl Words {
    fn new(tables: &[(String, Vec<String>)], functions: Vec<String>) -> Self {
        let mut words: Vec<String> = KEYWORDS.map(str::to_owned).into();
        for (table, columns) in tables {
            words.push(table.clone());
            words.extend(columns.iter().cloned());
        }
        words.extend(functions.into_iter().map(|name| name + "("));
        words.sort();
        words.dedup();
        Self(words)
    }

    /// Where the word at `end` begins, and what it may become. Keywords come in the case in which they were begun.
    fn candidates(&self, line: &str, end: usize) -> (usize, Vec<String>) {
        let inside = |character: char| character.is_alphanumeric() || character == '_';
        let start = line[..end]
            .rfind(|character| !inside(character))
            .map_or(0, |place| place + line[place..].chars().next().map_or(1, char::len_utf8));
        let begun = &line[start..end];
        if begun.is_empty() {
            return (start, Vec::new());
        }
        let lower = begun.to_lowercase();
        let matching = self.0.iter().filter(|word| word.to_lowercase().starts_with(&lower));
        let is_lower = begun.chars().all(|character| !character.is_uppercase());
        let shown = |word: &String| match is_lower && KEYWORDS.contains(&word.as_str()) {
            true => word.to_lowercase(),
            false => word.clone(),
        };
        (start, matching.map(shown).collect())
    }
}

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.candidates(line, pos))
    }
}

impl Validator for Words {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_complete(context.input()) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

fn is_complete(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || text.ends_with(';')
        || text.starts_with('\\')
        || matches!(text, "exit" | "quit" | "help")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_completed_in_the_case_in_which_they_were_begun() {
        let tables = [("events".to_owned(), vec!["errno".to_owned(), "call".to_owned()])];
        let words = Words::new(&tables, vec!["ext".to_owned()]);
        assert_eq!(words.candidates("sel", 3), (0, vec!["select".to_owned()]));
        assert_eq!(words.candidates("SEL", 3), (0, vec!["SELECT".to_owned()]));
        assert_eq!(words.candidates("SELECT é.err", 13), (10, vec!["errno".to_owned()]));
        assert_eq!(words.candidates("SELECT ext", 10).1, ["ext("]);
        assert_eq!(words.candidates("SELECT ", 7).1, Vec::<String>::new());
        assert_eq!(words.candidates("FROM ev", 7).1, ["events"]);
    }

    #[test]
    fn statements_end_with_a_semicolon_and_commands_with_their_line() {
        for whole in ["SELECT 1;", "  SELECT\n 1 ; ", "\\d", "", "quit"] {
            assert!(is_complete(whole), "{whole}");
        }
        for begun in ["SELECT 1", "SELECT ';' "] {
            assert!(!is_complete(begun), "{begun}");
        }
    }
}
