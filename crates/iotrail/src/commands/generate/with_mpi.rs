//! Models with a rank in each process of MPI.

use super::{Args, Done, Part, Planned, alone, tell};
use crate::ui::Ui;
use anyhow::{Context, anyhow, bail, ensure};
use iotrail_generate::{Meet, of_rank, schedule};
use iotrail_mpi_run::{Collective, Launched, Library, Mpi, SendMode};
use iotrail_reenact::{Listener, MpiCall, Rank};
use iotrail_replay::{Cache, Checked, Outcome, Sandbox, Times, execute_beside};
use iotrail_stats::messages::communicators::WORLD;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How much longer than planned a rank may wait for others.
const LIMIT: Duration = Duration::from_secs(600);
/// Numbers of errors are below this.
const ERRORS: usize = 134;

pub(super) fn run(
    args: &Args,
    Launched { launcher, rank, size }: Launched,
    ui: &Ui,
) -> anyhow::Result<ExitCode> {
    if args.scratch.dry_run && rank > 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let (parts, planned, labels) = args.planned(Some(size))?;
    let ranks = planned.program.streams.len();
    ensure!(
        ranks == size as usize,
        "the models have {ranks} ranks, and {size} were launched: start them with `mpirun -n {ranks} iotrail generate ...`"
    );
    if args.scratch.dry_run {
        return alone(args, (parts, planned, labels), ui);
    }
    let library = Library::load(launcher, args.mpi_library.as_deref())?;
    let session = Mpi::begin(library, 1)?;
    let done = generate(args, (&parts, &labels), planned, &session, ui);
    if let Err(error) = &done {
        ui.error(&anyhow!("rank {}: {error:#}", session.rank()));
        session.abort();
    }
    let code = done?;
    session.end()?;
    Ok(code)
}

fn generate(
    args: &Args,
    (parts, labels): (&[Part], &[String]),
    planned: Planned,
    session: &Mpi,
    ui: &Ui,
) -> anyhow::Result<ExitCode> {
    let planned = args.paced(planned);
    let longest = schedule(&planned).iter().filter_map(|starts| starts.last()).max().copied();
    let limit = LIMIT + Duration::from_nanos(longest.unwrap_or_default());
    let (own, meets) = of_rank(&planned, session.rank() as usize);
    let whole = args.checked(planned.program)?;
    args.scratch.check(&whole)?;
    let dir = args.scratch.dir.as_deref().context("no directory")?;
    let plan = whole.of_part(own)?;
    let calls: Vec<MpiCall> = meets.into_iter().map(call).collect();
    let cancel = Arc::new(AtomicBool::new(false));
    // The first rank makes the files, and removes them when all others are done.
    let first = if session.rank() == 0 {
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&cancel))?;
        }
        let mut sandbox = Sandbox::new(dir, &whole)?;
        let cache = if args.is_cold() { Cache::Cold } else { Cache::Warm };
        sandbox.prepare(&whole, cache, false, &cancel)?;
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
    let listener = Listener::new(&plan);
    let directory = std::path::absolute(dir)?;
    let rank = Rank::new(session, (&calls, &[]), directory, &plan.program().files, &listener, 1);
    session.sums(&[1])?;
    let begin = Instant::now();
    let is_over = AtomicBool::new(false);
    let outcome = thread::scope(|scope| -> anyhow::Result<Outcome> {
        scope.spawn(|| watch(&rank, (&is_over, &cancel), limit, ui));
        let outcome = execute_beside(&plan, sandbox, args.think(), &AtomicBool::new(false), &rank);
        let finished = rank.finish();
        is_over.store(true, Ordering::Relaxed);
        finished?;
        Ok(outcome)
    })?;
    if let Some(error) = rank.figures().first_error {
        bail!("a call of MPI failed: {error}");
    }
    let mut all = sums(&outcome, session)?;
    all.elapsed = begin.elapsed();
    let checked = if args.verify && !all.cancelled {
        let written = gathered(&outcome.written(), session)?;
        let check = |sandbox: &Sandbox| sandbox.check(&whole, &all.clone().with_written(&written), &cancel);
        first.as_ref().map(check).transpose()?
    } else {
        None
    };
    let done = Done { outcome: all, checked, by_mpi_io: true };
    if session.rank() == 0 {
        tell(args, (parts, labels), Some(&done), ui)?;
    }
    Ok(if done.is_right() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn call(meet: Meet) -> MpiCall {
    match meet {
        Meet::All => {
            MpiCall::Collective { comm: WORLD, call: Collective::Barrier, begin: false, bytes: 0, root: 0 }
        }
        Meet::Send(peer, tag) => MpiCall::Send {
            comm: WORLD,
            mode: SendMode::Standard,
            begin: true,
            buffered: false,
            bytes: 0,
            peer: peer as i32,
            tag,
        },
        Meet::Receive(peer, tag) => MpiCall::Receive { comm: WORLD, begin: false, peer: peer as i32, tag },
    }
}

/// Ends the rank when it waits for too long, or a signal came: the launcher ends the others. Each rank says for whom it waits.
fn watch(rank: &Rank<'_>, (is_over, cancel): (&AtomicBool, &AtomicBool), limit: Duration, ui: &Ui) {
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(20));
        let stuck = rank.stuck(limit);
        if let Some(waits) = &stuck {
            ui.error(&anyhow!("no progress for {} s: {waits}", limit.as_secs()));
            // The other ranks say theirs.
            thread::sleep(Duration::from_secs(2));
        }
        let failed = rank.figures().first_error;
        if let Some(error) = &failed {
            ui.error(&anyhow!("a call of MPI failed: {error}"));
        }
        if stuck.is_some() || failed.is_some() || cancel.load(Ordering::Relaxed) {
            #[expect(clippy::disallowed_methods, reason = "a thread may be in a call that does not return")]
            std::process::exit(1);
        }
    }
}

/// The numbers of all ranks, one rank after the other.
fn gathered(own: &[u64], session: &Mpi) -> anyhow::Result<Vec<u64>> {
    let rank = session.rank() as usize;
    let mut lengths = vec![0; session.size() as usize];
    lengths[rank] = own.len() as u64;
    let lengths = session.sums(&lengths)?;
    let before = |ranks: &[u64]| ranks.iter().sum::<u64>() as usize;
    let mut all = vec![0; before(&lengths)];
    let begin = before(&lengths[..rank]);
    all[begin..begin + own.len()].copy_from_slice(own);
    Ok(if all.is_empty() { all } else { session.sums(&all)? })
}

/// What all ranks did.
fn sums(own: &Outcome, session: &Mpi) -> anyhow::Result<Outcome> {
    let mut numbers: Vec<u64> = Vec::new();
    for times in [&own.times, &own.lateness].into_iter().chain(&own.by_kind) {
        numbers.push(times.total_ns);
        numbers.extend(times.counts);
    }
    numbers.extend(own.slack_ns.into_iter().chain(own.moved));
    numbers.extend([own.expected_errors, own.differences, u64::from(own.cancelled)]);
    numbers.extend([own.checked.bytes, own.checked.wrong, own.checked.missing]);
    let errors = (0..ERRORS as i32).map(|number| own.errors.get(&number).copied().unwrap_or_default());
    numbers.extend(errors);
    let mut sums = session.sums(&numbers)?.into_iter();
    let mut next = || sums.next().unwrap_or_default();
    let mut times = || {
        let mut times = Times { total_ns: next(), ..Times::default() };
        times.counts.iter_mut().for_each(|count| *count = next());
        times
    };
    let mut all = Outcome::default();
    (all.times, all.lateness) = (times(), times());
    all.by_kind.iter_mut().for_each(|kind| *kind = times());
    all.slack_ns = [next(), next()];
    all.moved = [next(), next()];
    all.expected_errors = next();
    all.differences = next();
    all.cancelled = next() > 0;
    all.checked = Checked { bytes: next(), wrong: next(), missing: next() };
    let errors = (0..ERRORS as i32).map(|number| (number, next()));
    all.errors = errors.filter(|(_, count)| *count > 0).collect();
    Ok(all)
}
