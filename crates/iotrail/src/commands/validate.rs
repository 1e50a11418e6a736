//! `iotrail validate`: a program and the clone that a model makes of it, run in turns and compared.

use crate::args::query;
use crate::commands::runs::{RecordedRun, Trails};
use crate::commands::workload::read;
use crate::{output, ui::Ui};
use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use iotrail_characterize::{Ranking, Sample, VERDICTS, validate};
use iotrail_export::escape::argument;
use iotrail_model::threads::one_per_core;
use iotrail_model::units;
use iotrail_terminal::workload_summary::validation;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Compare a program with the clone that a model makes of it.
///
/// Both run in turns, recorded and plain; each figure of the model gets its distance, the noise of the program and a verdict.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail validate model.toml --dir scratch --ranks 1 --runs 2 --app ./app
  iotrail validate model.toml --dir scratch --ranks 1 --runs 2 --against a.trail b.trail --json

A command with {trail} in it records itself there, as in --app 'mpirun -n 4 iotrail record --mpi -o {trail} -- ./app'. Verdicts, the first that applies: `equal`; `within noise`, not further away than 1.5 times what runs of the program are from each other (95 % bound); `within tolerance`, at most 5 % (mixes 1 %); `differs`; `undecided`, more runs are needed. docs/workload.md explains the figures.")]
pub(crate) struct Args {
    /// The model file.
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Directory for the files of the clone.
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,

    /// The program, as a line for the shell.
    #[arg(long, value_name = "LINE", required_unless_present = "against", conflicts_with = "against")]
    app: Option<String>,

    /// Recordings of the program in place of runs: two or more.
    #[arg(long, value_name = "TRAIL", num_args = 1..)]
    against: Vec<PathBuf>,

    /// Ranks of the clone. Default: those of the model.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    ranks: Option<u32>,

    /// Runs of each.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Exit with status 1 if a verdict is this one or a worse one.
    #[arg(long, value_name = "VERDICT", value_enum)]
    fail_on: Option<FailOn>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    selection: query::Selection,
}

/// Verdicts that are a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// More runs are needed.
    Undecided,
    /// A difference that chance does not explain.
    Differs,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let model = read(&args.model)?;
    let ranks = model.ranks_of_run(args.ranks);
    let of_program = args.against.len() + if args.app.is_some() { args.runs as usize } else { 0 };
    ensure!(
        of_program >= 2,
        "comparing needs at least 2 runs of the program: give two recordings of it, or the command"
    );
    let trails = Trails::new()?;
    let (mut program, mut clone) = (Vec::new(), Vec::new());
    for trail in &args.against {
        program.push(args.sample(trail, Ranking::Auto)?);
    }
    for number in 0..args.runs {
        ui.info(&format!("run {} of {}", number + 1, args.runs));
        if let Some(app) = &args.app {
            program.push(args.program(app, &trails.path("program"), ui)?);
        }
        clone.push(args.clone(ranks, &trails.path("clone"), ui)?);
    }
    let found = validate(&program, &clone)?;
    if args.json {
        output::json(&found)?;
    } else {
        output::text(Path::new("-"), validation(&found, ui.style()))?;
    }
    let rank = |word: &str| VERDICTS.iter().position(|(_, known)| *known == word);
    let limit = args.fail_on.and_then(|fail_on| match fail_on {
        FailOn::Undecided => rank("undecided"),
        FailOn::Differs => rank("differs"),
    });
    let failed = limit.is_some_and(|limit| rank(found.verdict) >= Some(limit));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Elapsed time without recording.
const PLAIN: &str = "elapsed, plain (ns)";

impl Args {
    /// A run of the program, recorded, and one that is not.
    fn program(&self, app: &str, trail: &Path, ui: &Ui) -> anyhow::Result<Sample> {
        if app.contains(ITSELF) {
            // That of the run before; a run of several ranks is added to what is there.
            if trail.exists() {
                std::fs::remove_dir_all(trail).with_context(|| trail.display().to_string())?;
            }
            shell(&app.replace(ITSELF, &argument(&trail.to_string_lossy())))?;
            return self.sample(trail, Ranking::Auto);
        }
        let begin = Instant::now();
        shell(app)?;
        let elapsed = begin.elapsed();
        let words = ["record", "-q", "--force", "-o"].map(OsStr::new);
        let command = ["--", "sh", "-c", app].map(OsStr::new);
        this(&[&words[..], &[trail.as_os_str()], &command].concat(), ui)?;
        let mut sample = self.sample(trail, Ranking::Auto)?;
        sample.total_of_run(PLAIN, elapsed.as_nanos() as f64);
        Ok(sample)
    }

    /// A run of the clone, recorded, and one that is not.
    fn clone(&self, ranks: u32, trail: &Path, ui: &Ui) -> anyhow::Result<Sample> {
        let ranks = ranks.to_string();
        let words = ["generate", "-q", "--json", "--ranks", &ranks, "--dir"].map(OsStr::new);
        let words = [&words[..], &[self.dir.as_os_str(), self.model.as_os_str()]].concat();
        let plain: Option<serde_json::Value> = match self.has_plain() {
            true => Some(serde_json::from_slice(&this(&words, ui)?)?),
            false => None,
        };
        let record = ["--force", "-o"].map(OsStr::new);
        this(&[&words[..], &record, &[trail.as_os_str()]].concat(), ui)?;
        let mut sample = self.sample(trail, Ranking::Threads)?;
        if let Some(elapsed) = plain.and_then(|plain| plain["elapsed_ns"].as_f64()) {
            sample.total_of_run(PLAIN, elapsed);
        }
        Ok(sample)
    }

    /// Whether the program runs without being recorded.
    fn has_plain(&self) -> bool {
        self.app.as_ref().is_some_and(|app| !app.contains(ITSELF))
    }

    fn sample(&self, trail: &Path, ranking: Ranking) -> anyhow::Result<Sample> {
        let select = match ranking {
            Ranking::Auto => self.selection.spec(),
            // What is selected of the program is what the model is of.
            Ranking::Threads => Default::default(),
        };
        let run = RecordedRun::open(trail, select, ranking)?;
        Sample::of(&run.log, &run.query, run.options, one_per_core())
            .with_context(|| trail.display().to_string())
    }
}

/// In a command, where it writes its trail.
const ITSELF: &str = "{trail}";

/// Runs a line of the shell; what it prints goes to stderr, because stdout has the result.
fn shell(line: &str) -> anyhow::Result<()> {
    let status = Command::new("sh").args(["-c", line]).stdout(std::io::stderr()).status();
    let status = status.context("cannot run sh")?;
    ensure!(status.success(), "the program failed ({status}): {line}");
    Ok(())
}

/// Runs this program with other words; what it prints. If calls of a clone failed, there is a result all the same.
fn this(words: &[&OsStr], ui: &Ui) -> anyhow::Result<Vec<u8>> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let done =
        Command::new(program).args(words).stdin(Stdio::null()).output().context("cannot run this program")?;
    let failed = serde_json::from_slice(&done.stdout).ok();
    let failed = failed.and_then(|result: serde_json::Value| result["failed"].as_u64()).unwrap_or_default();
    if failed > 0 {
        let calls = units::counted(failed, "call", "calls");
        ui.warn(&format!(
            "{calls} of the clone failed: ranks wait for each other at barriers of the model alone"
        ));
    } else if !done.status.success() {
        let line: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        bail!("iotrail {} failed: {}", line.join(" "), String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(done.stdout)
}
