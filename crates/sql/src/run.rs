//! From the arguments to answers.

use crate::cli::{Args, Source};
use crate::{memory, prompt};
use anyhow::{Context, bail};
use iotrail_console::{output, ui::Ui};
use iotrail_sql::{Answer, Interrupt, Limits, OutputFormat, Session, SqlError, Statement};
use iotrail_trail::EventLog;
use std::io::{IsTerminal, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::runtime::Runtime;

/// Everything that a statement needs.
pub(crate) struct Engine {
    runtime: &'static Runtime,
    pub(crate) session: Arc<Session>,
    interrupt: Interrupt,
    pub(crate) format: OutputFormat,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<()> {
    let (trails, source) = args.words()?;
    let log = EventLog::open(&trails)?;
    let engine = Engine::new(args, ui, log)?;
    let text = match source {
        Source::Text(text) => text,
        Source::Stdin if std::io::stdin().is_terminal() && args.file.is_none() => {
            if args.output != Path::new("-") {
                bail!("the answers of a prompt go to the terminal: give a query for a file");
            }
            return prompt::run(&engine, ui);
        }
        Source::Stdin => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("cannot read statements from stdin")?;
            text
        }
    };
    let statements = engine.session.parse(&text)?;
    match statements.len() {
        0 => bail!("there is no statement to run"),
        1 => (),
        count if matches!(engine.format, OutputFormat::Parquet) => {
            bail!("{count} statements do not fit into one Parquet file: run them one by one")
        }
        _ => (),
    }
    engine.answer_to(&args.output, statements)
}

impl Engine {
    fn new(args: &Args, ui: &Ui, log: EventLog) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(args.threads.get())
            .build()
            .map_err(SqlError::Engine)?;
        // Never taken down: that would wait for readers that nobody waits for any more.
        let runtime: &'static Runtime = Box::leak(Box::new(runtime));
        let limits = Limits { memory: args.memory.unwrap_or_else(memory::default), threads: args.threads };
        let session = Arc::new(runtime.block_on(Session::new(log, limits))?);
        let format = args.format().unwrap_or(OutputFormat::Table { style: ui.style(), rows: args.rows });
        let interrupt = Interrupt::default();
        listen(interrupt.clone()).context("cannot listen for Ctrl-C")?;
        Ok(Self { runtime, session, interrupt, format })
    }

    /// Tables, views and their columns.
    pub(crate) fn tables(&self) -> Result<Vec<(String, Vec<String>)>, SqlError> {
        self.runtime.block_on(self.session.tables())
    }

    /// Writes the answers of statements to `target`, `-` for stdout.
    pub(crate) fn answer_to(&self, target: &Path, statements: Vec<Statement>) -> anyhow::Result<()> {
        match self.format {
            OutputFormat::Table { .. } => output::stream_text(target, |out| self.answer_all(statements, out)),
            _ => output::stream(target, |out| self.answer_all(statements, out)),
        }
    }

    /// The answers, an empty line between them unless rows are JSON.
    fn answer_all(&self, statements: Vec<Statement>, out: &mut dyn Write) -> anyhow::Result<()> {
        for (index, statement) in statements.into_iter().enumerate() {
            if index > 0 && !matches!(self.format, OutputFormat::Json) {
                writeln!(out)?;
            }
            let mut answer = Answer::start(self.runtime, &self.session, statement, &self.interrupt)?;
            match self.format.write(&mut answer, out) {
                // As the system's error, by which it is told whether a reader went away.
                Err(SqlError::Write(error)) => return Err(error.into()),
                written => written?,
            };
        }
        Ok(())
    }
}

/// Ends the statement at work on Ctrl-C, and the program if there is none or on the second Ctrl-C.
#[allow(clippy::disallowed_methods, reason = "a second wish gives up at once, whatever is under way")]
fn listen(interrupt: Interrupt) -> std::io::Result<()> {
    let (mut wakes, wake) = UnixStream::pair()?;
    signal_hook::low_level::pipe::register(signal_hook::consts::SIGINT, wake)?;
    let again = AtomicBool::new(false);
    std::thread::Builder::new().name("interrupt".to_owned()).spawn(move || {
        while wakes.read_exact(&mut [0]).is_ok() {
            if !interrupt.interrupt() && again.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        }
    })?;
    Ok(())
}
