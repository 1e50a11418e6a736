//! `iotrail check`: is a trail sound?

use crate::{logs, output, ui::Ui};
use iotrail_compress::{CompressError, is_structure_file, load};
use iotrail_model::text::printable;
use iotrail_trail::{MAX_PROBLEMS, Problem, Trail, TrailError, check_trail, unfinished};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Check trails and structures for damage.
///
/// Reads trails completely: structure, order, row counts, dictionaries, checksums. Each problem is named with its
/// file and row group.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail check run.trail
  iotrail check *.trail --json
  iotrail check run.structure

Exit status: 0 sound, 1 problems or a trail that cannot be opened.")]
pub(crate) struct Args {
    /// Trails or structures.
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
    /// Recordings that are not part of it yet, and what is missing of them: no damage.
    unfinished: Vec<String>,
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
    if is_structure_file(path) {
        return examine_structure(path, trail);
    }
    match examine_trail(path) {
        Ok((problems, unfinished)) => {
            Finding { trail, sound: problems.is_empty(), problems, unfinished, error: None }
        }
        Err(error) => Finding::failed(trail, error.to_string()),
    }
}

/// The problems of a trail, and what is not part of it if it is not finished.
fn examine_trail(path: &Path) -> Result<(Vec<Problem>, Vec<String>), TrailError> {
    let trail = Trail::open(path)?;
    // A recorder that finishes meanwhile leaves nothing to wait for.
    let waiting = unfinished(path).unwrap_or_default();
    let missing = if waiting.is_empty() { Vec::new() } else { logs::missing(path, trail.coverage()) };
    let waiting = waiting.iter().map(|recording| format!("{}: {}", recording.case, recording.why));
    Ok((check_trail(&trail)?, waiting.chain(missing).collect()))
}

impl Finding {
    fn failed(trail: String, error: String) -> Self {
        Self { trail, sound: false, problems: Vec::new(), unfinished: Vec::new(), error: Some(error) }
    }
}

fn examine_structure(path: &Path, trail: String) -> Finding {
    let document = match load(path) {
        Ok(document) => document,
        Err(error) => return Finding::failed(trail, error.to_string()),
    };
    let of_file =
        |error: CompressError| Problem { file: trail.clone(), row_group: None, what: error.to_string() };
    let problems: Vec<Problem> =
        iotrail_compress::check(&document, MAX_PROBLEMS).into_iter().map(of_file).collect();
    Finding { trail, sound: problems.is_empty(), problems, unfinished: Vec::new(), error: None }
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
        let problems = finding.problems.iter().map(ToString::to_string);
        for line in problems.chain(finding.unfinished.iter().cloned()) {
            let _ = writeln!(text, "  {}", printable(&line));
        }
    }
    text
}
