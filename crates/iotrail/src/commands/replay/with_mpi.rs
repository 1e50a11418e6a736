//! Replay of programs with MPI, a rank in each process.

use super::{Args, MpiDone, SHOWN, not_replayed, result, words};
use crate::{output, ui::Ui};
use anyhow::{Context, anyhow, ensure};
use iotrail_mpi_run::{Launched, Library, Mpi};
use iotrail_reenact::{Listener, MpiReplay, Rank, differences, mpi};
use iotrail_replay::{Cache, Outcome, Sandbox, execute_beside};
use iotrail_structure_file::Document;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How long a call of MPI may take.
const LIMIT: Duration = Duration::from_secs(60);

pub(super) fn run(args: &Args, document: &Document, ranks: u32, ui: &Ui) -> anyhow::Result<ExitCode> {
    let launched = Launched::find(|name| std::env::var(name).ok());
    if args.scratch.dry_run {
        let is_first = launched.is_none_or(|launched| launched.rank == 0);
        return if is_first { dry_run(args, document, ranks) } else { Ok(ExitCode::SUCCESS) };
    }
    let Launched { launcher, size, .. } = launched.ok_or_else(|| {
        anyhow!("the program was recorded with MPI: start its {ranks} ranks with `mpirun -n {ranks} iotrail replay ...`")
    })?;
    ensure!(
        size == ranks,
        "the program was recorded with {ranks} ranks, and {size} were launched: it sends messages to ranks by their numbers"
    );
    let dir = args.scratch.dir.as_deref().context("no directory")?;
    let library = Library::load(launcher, args.mpi_library.as_deref())?;
    let probe = mpi(document, args.seed, None, args.io)?.buffer_bytes;
    let mpi_session = Mpi::begin(library, probe)?;
    let done = replay(args, document, dir, &mpi_session, ui);
    match done {
        Ok(code) => {
            mpi_session.end()?;
            Ok(code)
        }
        Err(error) => {
            let error = error.context(format!("rank {}", mpi_session.rank()));
            ui.error(&error);
            mpi_session.abort();
            Err(error)
        }
    }
}

fn dry_run(args: &Args, document: &Document, ranks: u32) -> anyhow::Result<ExitCode> {
    let MpiReplay { posix, calls, .. } = mpi(document, args.seed, None, args.io)?;
    let mut found = result(&posix, None);
    found.mpi =
        Some(MpiDone { ranks, calls: calls.len() as u64, made: None, failed: None, unfinished: None });
    tell(args, &found)
}

fn tell(args: &Args, found: &super::ReplayResult) -> anyhow::Result<ExitCode> {
    if args.json {
        output::json(found)?;
    } else {
        output::text(Path::new("-"), words(found, args))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn replay(args: &Args, document: &Document, dir: &Path, session: &Mpi, ui: &Ui) -> anyhow::Result<ExitCode> {
    let own = mpi(document, args.seed, Some(session.rank()), args.io)?;
    let plan = &own.posix.plan;
    let cancel = AtomicBool::new(false);
    // The first rank makes the files, and removes them when all others are done.
    let first = if session.rank() == 0 {
        args.scratch.check(plan)?;
        let mut sandbox = Sandbox::new(dir, plan)?;
        sandbox.prepare(plan, Cache::Warm, false, &cancel)?;
        if args.scratch.keep {
            sandbox.keep();
        }
        Some(sandbox)
    } else {
        None
    };
    session.sums(&[1])?;
    let joined = if first.is_some() { None } else { Some(Sandbox::join(dir)?) };
    let sandbox = first.as_ref().or(joined.as_ref()).context("no directory")?;
    let directory = std::path::absolute(dir)?;
    let listener = Listener::new(plan);
    let rank = Rank::new(
        session,
        (&own.calls, &own.waited),
        directory,
        &plan.program().files,
        &listener,
        plan.program().streams.len(),
    );
    session.sums(&[1])?;
    let is_over = AtomicBool::new(false);
    let outcome = thread::scope(|scope| -> anyhow::Result<Outcome> {
        scope.spawn(|| watch(&rank, &is_over, ui));
        let outcome = execute_beside(plan, sandbox, args.compute, &cancel, &rank);
        let finished = rank.finish();
        is_over.store(true, Ordering::Relaxed);
        finished?;
        Ok(outcome)
    })?;
    report(args, &own, &listener, &rank, &outcome, session, ui)
}

/// Ends the rank when a call takes too long; each rank says what it waits for.
fn watch(rank: &Rank<'_>, is_over: &AtomicBool, ui: &Ui) {
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(100));
        if let Some(waits) = rank.stuck(LIMIT) {
            ui.error(&anyhow!("no progress for {} s: {waits}", LIMIT.as_secs()));
            // The other ranks say theirs.
            thread::sleep(Duration::from_secs(2));
            #[expect(clippy::disallowed_methods, reason = "a thread is in a call that does not return")]
            std::process::exit(1);
        }
    }
}

fn report(
    args: &Args,
    own: &MpiReplay,
    listener: &Listener<'_>,
    rank: &Rank<'_>,
    outcome: &Outcome,
    session: &Mpi,
    ui: &Ui,
) -> anyhow::Result<ExitCode> {
    let figures = rank.figures();
    if let Some(error) = &figures.first_error {
        ui.warn(&format!(
            "rank {}: {} calls of MPI failed, the first: {error}",
            session.rank(),
            figures.failed
        ));
    }
    let differ =
        args.verify.then(|| differences(&own.posix.plan, &own.posix.recorded, &listener.issued(), SHOWN));
    for difference in differ.iter().flatten() {
        ui.warn(&format!("rank {}: {} {} differs", session.rank(), difference.call, difference.file));
    }
    let differ = differ.map_or(0, |differ| differ.len() as u64);
    let bytes = own.posix.recorded.by_kind();
    let moved = |kind| bytes.get(kind).map_or(0, |(_, bytes)| *bytes);
    let elapsed = u64::try_from(outcome.elapsed.as_nanos()).unwrap_or(u64::MAX);
    let own_sums = [
        figures.made,
        figures.failed,
        figures.unfinished,
        outcome.differences,
        differ,
        own.posix.recorded.calls(),
        moved("read"),
        moved("write"),
    ];
    let sums = session.sums(&own_sums)?;
    let all_made = sums[0] == own.calls.len() as u64;
    let failed = sums[1] + sums[4] > 0 || args.verify && !all_made;
    if session.rank() == 0 {
        let mut found = result(&own.posix, None);
        found.not_replayed = not_replayed(&own.posix.left_out);
        (found.calls, found.bytes_read, found.bytes_written) = (sums[5], sums[6], sums[7]);
        (found.elapsed_ns, found.different_results) = (Some(elapsed), Some(sums[3]));
        found.threads = own.ranks.into();
        found.by_kind.clear();
        found.mpi = Some(MpiDone {
            ranks: own.ranks,
            calls: own.calls.len() as u64,
            made: Some(sums[0]),
            failed: Some(sums[1]),
            unfinished: Some(sums[2]),
        });
        found.differences = (args.verify && sums[4] == 0 && all_made).then(Vec::new);
        tell(args, &found)?;
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
