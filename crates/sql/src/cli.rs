//! The words of the command line.

use crate::memory;
use anyhow::{Context, bail};
use clap::Parser;
use iotrail_console::ui::Colour;
use iotrail_sql::OutputFormat;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Ask trails questions in SQL.
#[derive(Debug, Parser)]
#[command(
    name = "iotrail-sql",
    bin_name = "iotrail sql",
    version,
    max_term_width = 110,
    after_help = "\
Tables: events, cases, processes, files (docs/trail-format.md), runs (one row for each trail).
Functions: activity(['dir2',] call, path), dir(path [, levels]), template(path), ext(path), canonical(path);
table functions dfg('dir2') and dfg_nodes('dir2'). Times are in ns. docs/sql.md has examples.

Examples:
  iotrail sql run.trail \"SELECT call, count(*), sum(size) FROM events GROUP BY call ORDER BY 2 DESC\"
  iotrail sql run.trail \"SELECT * FROM dfg('dir2')\" --csv > edges.csv
  iotrail sql a.trail b.trail -f question.sql -o answer.parquet
  iotrail sql run.trail"
)]
pub(crate) struct Args {
    /// Trails, read as one log; and the query, as the last word. Without a query: a prompt, or statements from stdin.
    #[arg(required = true, value_name = "TRAIL... [QUERY]")]
    words: Vec<String>,

    /// Read the statements from a file (`-` for stdin).
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Comma-separated values with a header line.
    #[arg(long, group = "form")]
    csv: bool,

    /// JSON lines: one object for each row.
    #[arg(long, group = "form")]
    json: bool,

    /// Parquet.
    #[arg(long, group = "form")]
    parquet: bool,

    /// Write to a file instead of stdout; names that end in .csv, .json, .jsonl or .parquet say the form.
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) output: PathBuf,

    /// Rows that a table for reading shows; what is beyond is counted.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) rows: usize,

    /// Memory for sorting, grouping and joining: `512MiB`. Default: half of what the machine has. Beyond it, temporary files are used.
    #[arg(long, value_name = "BYTES", value_parser = memory::parse)]
    pub(crate) memory: Option<usize>,

    /// Threads that compute. With more than one, rows come in any order where the query does not say ORDER BY.
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) threads: NonZeroUsize,

    /// When to use colours.
    #[arg(long = "color", alias = "colour", value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) colour: Colour,

    /// Say nothing but errors on stderr.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Where the statements come from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The command line or a file.
    Text(String),
    /// Standard input, to its end or line by line if it is a terminal.
    Stdin,
}

impl Args {
    /// The trails and the statements among the words.
    pub(crate) fn words(&self) -> anyhow::Result<(Vec<PathBuf>, Source)> {
        let (last, others) = self.words.split_last().context("no trail was given")?;
        let paths = |words: &[String]| words.iter().map(PathBuf::from).collect::<Vec<_>>();
        match &self.file {
            Some(file) if file == Path::new("-") => Ok((paths(&self.words), Source::Stdin)),
            Some(file) => {
                let text = std::fs::read_to_string(file);
                let text = text.with_context(|| format!("cannot read {}", file.display()))?;
                Ok((paths(&self.words), Source::Text(text)))
            }
            None if !is_query(last) => Ok((paths(&self.words), Source::Stdin)),
            None if others.is_empty() => bail!("no trail was given: iotrail sql TRAIL... \"{last}\""),
            None => Ok((paths(others), Source::Text(last.clone()))),
        }
    }

    /// The form that was asked for by an option or by the name of the output file.
    pub(crate) fn format(&self) -> Option<OutputFormat> {
        match (self.csv, self.json, self.parquet) {
            (true, ..) => Some(OutputFormat::Csv),
            (_, true, _) => Some(OutputFormat::Json),
            (.., true) => Some(OutputFormat::Parquet),
            _ => OutputFormat::of_file(&self.output),
        }
    }
}

/// A statement has at least two words; a trail may have a space in its name, but then it is there.
fn is_query(word: &str) -> bool {
    word.contains(|character: char| character.is_whitespace() || matches!(character, '(' | ';'))
        && !Path::new(word).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(arguments: &[&str]) -> Option<(Vec<PathBuf>, Source)> {
        let arguments = ["iotrail-sql"].iter().chain(arguments);
        Args::try_parse_from(arguments).ok()?.words().ok()
    }

    #[test]
    fn the_last_word_is_a_query_if_it_reads_like_one() {
        let trail = || vec![PathBuf::from("a.trail")];
        assert_eq!(words(&["a.trail", "SELECT 1"]), Some((trail(), Source::Text("SELECT 1".to_owned()))));
        assert_eq!(words(&["a.trail"]), Some((trail(), Source::Stdin)));
        let two = vec![PathBuf::from("a.trail"), PathBuf::from("b.trail")];
        assert_eq!(words(&["a.trail", "b.trail"]), Some((two, Source::Stdin)));
        assert_eq!(words(&["SELECT 1"]), None);
        assert_eq!(words(&[]), None);
    }

    #[test]
    fn the_name_of_the_output_says_the_form_unless_an_option_does() {
        let format = |arguments: &[&str]| {
            let arguments = ["iotrail-sql", "a.trail"].iter().chain(arguments);
            Args::try_parse_from(arguments).unwrap().format()
        };
        assert!(format(&[]).is_none());
        assert!(matches!(format(&["-o", "x.parquet"]), Some(OutputFormat::Parquet)));
        assert!(format(&["-o", "x.txt"]).is_none());
        assert!(matches!(format(&["-o", "x.parquet", "--csv"]), Some(OutputFormat::Csv)));
    }
}
