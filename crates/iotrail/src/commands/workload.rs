//! `iotrail workload`: model files, shown, checked and changed.

use crate::{output, ui::Ui};
use anyhow::{Context, ensure};
use iotrail_terminal::workload_summary::model_totals;
use iotrail_workload::{Knobs, Model, RequestKind, TEMPLATES, Totals};
use serde::Serialize;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Larger model files are refused before they are read.
const MAX_MODEL: u64 = 1 << 20;

/// Show, check and change a model of a workload.
///
/// What it comes to at a number of ranks; other sizes, other numbers of requests, other time between them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail workload --template checkpoint -o model.toml
  iotrail workload model.toml
  iotrail workload model.toml --ranks 64 --json
  iotrail workload model.toml --scale size=4,slack=0.1 -o larger.toml
  iotrail workload model.toml --scale files=3,reads=0.5,random=0.1 -o mixed.toml

docs/workload.md explains the model file.")]
pub(crate) struct Args {
    /// The model file, as `iotrail characterize -o` writes it; `-` is stdin.
    #[arg(value_name = "MODEL", required_unless_present = "template", conflicts_with = "template")]
    model: Option<PathBuf>,

    /// A model to start from.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(TEMPLATES.map(|(name, ..)| name)))]
    template: Option<String>,

    #[command(flatten)]
    knobs: Scaling,

    /// Ranks for which totals are shown [default: those of the recording, else 4].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    ranks: Option<u32>,

    /// Write the model to a file; `-` is stdout, without the totals.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print the totals as JSON.
    #[arg(long)]
    json: bool,
}

/// How a model is changed.
#[derive(Debug, clap::Args)]
pub(crate) struct Scaling {
    /// Change the model first, comma-separated: factors `size` (bytes of transfers, files, offsets), `requests`, `files`, `metadata`,
    /// `slack`, `burst`, of which those of one word multiply; shares `reads` and `random`; `sharing=private` or `sharing=shared`;
    /// `layer=posix`, `layer=mpi-io` or `layer=collective`.
    #[arg(long = "scale", alias = "set", value_name = "KNOB=FACTOR")]
    scale: Vec<String>,

    /// Strong scaling: the transfers of shared files stay those of the recording, dealt to the ranks in runs, or in turns where ranks
    /// take turns. Without it each rank makes as many.
    #[arg(long)]
    strong: bool,
}

impl Scaling {
    /// The model with these changes.
    ///
    /// # Errors
    /// If a word is none, a factor does not fit, or the model does not say of how many ranks it is.
    pub(crate) fn apply(&self, model: &Model) -> anyhow::Result<Model> {
        let mut knobs = Knobs::default();
        self.scale.iter().try_for_each(|word| knobs.set(word))?;
        let mut model = knobs.apply(model)?;
        ensure!(
            !self.strong || model.ranks.is_some(),
            "--strong needs a model that says of how many ranks it is: add `ranks = N` to the model file"
        );
        ensure!(
            !self.strong || model.path.is_none(),
            "--strong needs a model with [program]: transfers are dealt in the order that it has"
        );
        model.strong |= self.strong;
        Ok(model)
    }

    /// The same of a model whose order is written down.
    ///
    /// # Errors
    /// As [`apply`](Self::apply), and if the order is drawn.
    pub(crate) fn apply_to_program(&self, model: &Model) -> anyhow::Result<Model> {
        ensure!(
            model.path.is_none(),
            "a model without [program], whose order is drawn, cannot be exported; `iotrail characterize --level program` writes one with it"
        );
        self.apply(model)
    }
}

/// What a model comes to.
#[derive(Serialize)]
struct Document {
    format: &'static str,
    ranks: u32,
    files: u64,
    sessions: u64,
    mpi_io_sessions: u64,
    collective_sessions: u64,
    reads: u64,
    writes: u64,
    fsyncs: u64,
    fdatasyncs: u64,
    bytes_read: u64,
    bytes_written: u64,
    calls: u64,
    barriers: u64,
    messages_sent: u64,
    messages_received: u64,
}

impl Document {
    fn new(ranks: u32, totals: &Totals) -> Self {
        let of = |kind| totals.requests.get(&kind).copied().unwrap_or_default();
        Self {
            format: "iotrail-workload-totals/1",
            ranks,
            files: totals.files,
            sessions: totals.sessions,
            mpi_io_sessions: totals.mpi_io_sessions,
            collective_sessions: totals.collective_sessions,
            reads: of(RequestKind::Read),
            writes: of(RequestKind::Write),
            fsyncs: of(RequestKind::Fsync),
            fdatasyncs: of(RequestKind::Fdatasync),
            bytes_read: totals.bytes_read,
            bytes_written: totals.bytes_written,
            calls: totals.calls,
            barriers: totals.barriers,
            messages_sent: totals.messages_sent,
            messages_received: totals.messages_received,
        }
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let model = match (&args.model, &args.template) {
        (Some(path), _) => read(path)?,
        (None, Some(template)) => {
            let text = TEMPLATES.iter().find(|(name, ..)| name == template).map_or("", |(.., text)| text);
            Model::parse(text)?
        }
        (None, None) => anyhow::bail!("a model file or a template is needed"),
    };
    let model = args.knobs.apply(&model)?;
    let to_stdout = args.output.as_deref() == Some(Path::new("-"));
    if let Some(path) = &args.output {
        output::text(path, model.to_string())?;
        if !to_stdout {
            ui.report_written(std::slice::from_ref(path));
        }
    }
    if !to_stdout {
        let ranks = model.ranks_of_run(args.ranks);
        let totals = model.totals(ranks)?;
        if args.json {
            output::json(&Document::new(ranks, &totals))?;
        } else {
            output::text(Path::new("-"), model_totals(&model, ranks, &totals, ui.style()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The model in a file.
///
/// # Errors
/// If it cannot be read or is none.
pub(crate) fn read(path: &Path) -> anyhow::Result<Model> {
    let name = path.display();
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin()
            .take(MAX_MODEL + 1)
            .read_to_end(&mut bytes)
            .context("stdin: cannot read the model")?;
    } else {
        ensure!(
            !path.is_dir(),
            "{name}: a directory, not a model; `iotrail characterize {name} -o model.toml` makes one of a trail"
        );
        let file = std::fs::File::open(path).with_context(|| format!("{name}: cannot open the model"))?;
        file.take(MAX_MODEL + 1)
            .read_to_end(&mut bytes)
            .with_context(|| format!("{name}: cannot read the model"))?;
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let byte = error.utf8_error().valid_up_to() + 1;
        anyhow::anyhow!(
            "{name}: not a model of a workload: byte {byte} is not text; name a file as `iotrail characterize -o` writes it"
        )
    })?;
    Model::parse(&text).with_context(|| format!("{name}: not a model of a workload"))
}
