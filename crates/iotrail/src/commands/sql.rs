//! `iotrail sql`: SQL over trails, by a program of its own.

use crate::ui::Ui;
use anyhow::{Context, bail};
use iotrail_console::program;
use std::ffi::OsString;
use std::process::ExitCode;

const PROGRAM: &str = "iotrail-sql";

/// Query trails in SQL (needs iotrail-sql).
///
/// Runs the separate program iotrail-sql, which `make sql` builds.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail sql run.trail \"SELECT call, count(*), sum(size) FROM events GROUP BY call ORDER BY 2 DESC\"
  iotrail sql run.trail \"SELECT * FROM dfg('dir2')\" --csv > edges.csv
  iotrail sql a.trail b.trail -f question.sql -o answer.parquet
  iotrail sql run.trail

Options: -f FILE, --csv, --json, --parquet, -o FILE, --rows N, --memory BYTES, --threads N; `iotrail-sql --help` explains them, docs/sql.md the tables and functions. The engine is heavy, so it is a program of its own; it is looked for beside this one, then in PATH.")]
pub(crate) struct Args {
    /// Trails, the query as the last word, and options. Without a query: a prompt, or statements from stdin.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "TRAIL... [QUERY]"
    )]
    words: Vec<OsString>,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let Some(found) = program::find(PROGRAM) else {
        bail!(
            "`iotrail sql` is a program of its own, {PROGRAM}, which is neither beside this one nor in PATH. \
             In iotrail's source directory `make sql` builds it beside iotrail, `cargo install --path crates/sql` installs it"
        );
    };
    let messages = ui.as_options().into_iter().map(OsString::from);
    let arguments: Vec<OsString> = messages.chain(args.words.iter().cloned()).collect();
    Err(program::become_program(&found, &arguments))
        .with_context(|| format!("cannot run {}", found.display()))
}
