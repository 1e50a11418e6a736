//! The directory in which `generate` and `replay` make files, and what becomes of them.

use crate::commands::record::bytes;
use crate::ui::Ui;
use anyhow::ensure;
use iotrail_replay::{Plan, Sandbox};
use std::path::PathBuf;
use std::process::ExitCode;

/// Where files are made, how many, and what becomes of them.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Files that are made")]
pub(crate) struct Scratch {
    /// Directory for the files, and nothing else: made, or empty.
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    pub(crate) dir: Option<PathBuf>,

    /// Check everything and show what would be done; nothing is made.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Leave the files in the directory; `--clean` removes them.
    #[arg(long, conflicts_with_all = ["dry_run", "clean"])]
    pub(crate) keep: bool,

    /// Remove what an earlier run left in the directory, and do nothing else.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) clean: bool,

    /// Refuse if the files need more: `2GiB`.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) max_bytes: Option<u64>,

    /// Refuse more files and directories.
    #[arg(long, value_name = "N")]
    pub(crate) max_files: Option<u64>,
}

impl Scratch {
    /// Removes what an earlier run left.
    ///
    /// # Errors
    /// If it is in use, or not all of it can be removed.
    pub(crate) fn clean(&self, ui: &Ui) -> anyhow::Result<ExitCode> {
        if let Some(dir) = &self.dir {
            let found = Sandbox::clean(dir)?;
            let text =
                if found { "removed what an earlier run left" } else { "no earlier run left anything" };
            ui.info(&format!("{}: {text}", dir.display()));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Checks a whole plan before its first file is made: its limits and, in a dry run, the room in the directory.
    ///
    /// # Errors
    /// If it needs more than it may, or than there is.
    pub(crate) fn check(&self, plan: &Plan) -> anyhow::Result<()> {
        for (needs, most, what, option) in [
            (plan.peak_bytes(), self.max_bytes, "bytes", "--max-bytes"),
            (plan.names(), self.max_files, "files and directories", "--max-files"),
        ] {
            if let Some(most) = most {
                ensure!(
                    needs <= most,
                    "up to {needs} {what} are needed, more than {option} {most}: use fewer ranks or smaller files"
                );
            }
        }
        match &self.dir {
            Some(dir) if self.dry_run => Ok(Sandbox::check_place(dir, plan)?),
            _ => Ok(()),
        }
    }
}
