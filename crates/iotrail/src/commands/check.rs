//! `iotrail check`: is a trail sound?

use crate::{output, ui::Ui};
use iotrail_model::text::printable;
use iotrail_trail::{Problem, check};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Check trails for damage.
///
/// Reads trails completely: structure, order, row counts, dictionaries, checksums. Each problem is named with its
/// file and row group.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail check run.trail
  iotrail check *.trail --json

Exit status: 0 sound, 1 problems or a trail that cannot be opened.")]
pub(crate) struct Args {
    /// Trails.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// Print JSON: for each trail its name and its problems.
    #[arg(long)]
    json: bool,
}

/// What was found in one trail.
#[derive(Serialize)]
struct Finding {
    trail: String,
    sound: bool,
    problems: Vec<Problem>,
    /// Why it could not be opened.
    error: Option<String>,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let findings: Vec<Finding> = args.trails.iter().map(|path| examine(path)).collect();
    if args.json {
        output::json(&findings)?;
    } else {
        output::stdout(human(&findings).as_bytes())?;
    }
    for error in findings.iter().filter_map(|finding| finding.error.as_ref()) {
        ui.error(&anyhow::anyhow!("{error}"));
    }
    let sound = findings.iter().all(|finding| finding.sound);
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn examine(path: &Path) -> Finding {
    let trail = path.display().to_string();
    match check(path) {
        Ok(problems) => Finding { trail, sound: problems.is_empty(), problems, error: None },
        Err(error) => Finding { trail, sound: false, problems: Vec::new(), error: Some(error.to_string()) },
    }
}

fn human(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings.iter().filter(|finding| finding.error.is_none()) {
        let name = printable(&finding.trail);
        // Writing to a String cannot fail.
        let _ = match finding.problems.len() {
            0 => writeln!(text, "{name}: sound"),
            1 => writeln!(text, "{name}: 1 problem"),
            problems => writeln!(text, "{name}: {problems} problems"),
        };
        for problem in &finding.problems {
            let _ = writeln!(text, "  {}", printable(&problem.to_string()));
        }
    }
    text
}
