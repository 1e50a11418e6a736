//! The experiment.

use crate::advised::advised;
use crate::calls::{Call, CallAction, Calls, Moved, Wanted, gather};
use crate::issue::Files;
use crate::lanes::Lanes;
use crate::merge::Merge;
use iotrail_advise::{Item, Measured, Proof};
use iotrail_query::ProcessTable;
use iotrail_replay::{Action, Cache, Plan, PlanError, Sandbox, SandboxError, Think, execute};
use iotrail_trail::{EventLog, TrailError};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// How advice is measured.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where scratch files are made: an empty directory, or one to be made.
    pub directory: PathBuf,
    /// How often each form is executed.
    pub runs: usize,
    /// What is done about the page cache before each.
    pub cache: Cache,
    /// How adjacent accesses are merged.
    pub merge: Merge,
    /// Whether files are opened with `O_DIRECT`.
    pub direct: bool,
    /// Whether the time between calls is kept.
    pub keep_think: bool,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The trail cannot be read.
    #[error(transparent)]
    Trail(#[from] TrailError),
    /// The directory cannot be used.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
}

/// Measures the advice of `items`, one after the other: the calls of the program on the file as recorded and as advised, in turns.
/// A finding that has no other form of its calls, or whose calls cannot be issued, gets the reason.
///
/// # Errors
/// If the trail cannot be read, the directory is refused, or `cancel` is set; scratch files are removed in each case.
pub fn verify(
    log: &EventLog,
    items: &[Item<'_>],
    options: &Options,
    cancel: &AtomicBool,
) -> Result<Vec<Proof>, VerifyError> {
    let process_table = ProcessTable::of_log(log)?;
    let wanted: Vec<Wanted<'_>> =
        items.iter().map(|item| Wanted { file: item.file(), program: item.program() }).collect();
    let calls = gather(log, &process_table, &wanted)?;
    let mut proofs = Vec::new();
    for (item, calls) in items.iter().zip(&calls) {
        let mut proof = Proof::of(*item);
        match experiment(*item, calls, options) {
            Err(reason) => proof.reason = Some(reason),
            Ok(experiment) => {
                let measured = experiment.measure(calls, options, cancel)?;
                match failed(&measured, calls) {
                    Some(reason) => proof.reason = Some(reason),
                    None => proof.measured = Some(measured),
                }
            }
        }
        proofs.push(proof);
    }
    Ok(proofs)
}

/// Why a measurement says nothing: most calls of a form did not do what they were issued for.
fn failed(measured: &Measured, calls: &Calls) -> Option<String> {
    let forms = [
        (measured.differences_recorded, measured.calls_recorded),
        (measured.differences_advised, measured.calls_advised),
    ];
    let (differences, number) = forms.into_iter().find(|(differences, number)| *differences * 2 > *number)?;
    let unplaced = |call: &&Call| matches!(call.action, CallAction::Transfer(Moved { offset: None, .. }));
    let why = match calls.calls.iter().filter(unplaced).count() {
        0 => String::new(),
        transfers => format!("; the trail does not tell where {transfers} transfers began"),
    };
    Some(format!("{differences} of {number} calls failed, or moved other bytes than they should{why}"))
}

/// Bytes of the buffers of all threads.
const MAX_BUFFERS: u64 = 1 << 30;

/// Files that all threads have open at once, so that usual limits of descriptors (1,024) suffice.
const MAX_OPEN: usize = 900;

struct Experiment {
    recorded: Plan,
    advised: Plan,
}

fn experiment(item: Item<'_>, calls: &Calls, options: &Options) -> Result<Experiment, String> {
    let mut recorded = calls.calls.clone();
    let lanes = Lanes::of(&recorded)?;
    lanes.think(&mut recorded);
    let mut followed = advised(item, &recorded, options.merge)?;
    lanes.keep_think(&recorded, &mut followed);
    let files = Files::of(&recorded, &followed);
    let refused = |error: PlanError| format!("its calls cannot be issued: {error}");
    let plan = |calls: &[Call]| Plan::new(files.program(calls, &lanes, options.direct)).map_err(refused);
    let experiment = Experiment { recorded: plan(&recorded)?, advised: plan(&followed)? };
    let buffers = experiment.recorded.buffer_bytes().max(experiment.advised.buffer_bytes());
    if buffers > MAX_BUFFERS {
        return Err(format!(
            "the buffers of its threads need {buffers} bytes, at most {MAX_BUFFERS} are used"
        ));
    }
    let open = experiment.recorded.open_files().max(experiment.advised.open_files());
    if open > MAX_OPEN {
        return Err(format!("its threads have {open} files open at once, at most {MAX_OPEN} are used"));
    }
    Ok(experiment)
}

/// Times of one form, in ns, and the most differences of a run.
#[derive(Default)]
struct Series {
    times: Vec<u64>,
    differences: u64,
}

impl Series {
    /// Executes a form once more; `again` if files that it leaves unchanged are as they must be.
    fn run(
        &mut self,
        plan: &Plan,
        sandbox: &Sandbox,
        again: bool,
        options: &Options,
        cancel: &AtomicBool,
    ) -> Result<(), SandboxError> {
        sandbox.prepare(plan, options.cache, again, cancel)?;
        let think = if options.keep_think { Think::Scaled(1.0) } else { Think::Dropped };
        let outcome = execute(plan, sandbox, think, cancel);
        if outcome.cancelled || cancel.load(Ordering::Relaxed) {
            return Err(SandboxError::Cancelled);
        }
        if outcome.is_full {
            return Err(SandboxError::Full(options.directory.clone()));
        }
        self.times.push(u64::try_from(outcome.elapsed.as_nanos()).unwrap_or(u64::MAX).max(1));
        self.differences = self.differences.max(outcome.differences);
        Ok(())
    }
}

impl Experiment {
    /// Whether both forms change the same files: what one leaves unchanged is then as it was made.
    fn changes_alike(&self) -> bool {
        let files = 0..self.recorded.program().files.len();
        files.into_iter().all(|file| self.recorded.modifies(file) == self.advised.modifies(file))
    }

    fn measure(
        &self,
        calls: &Calls,
        options: &Options,
        cancel: &AtomicBool,
    ) -> Result<Measured, SandboxError> {
        let larger = if self.recorded.peak_bytes() < self.advised.peak_bytes() {
            &self.advised
        } else {
            &self.recorded
        };
        let sandbox = Sandbox::new(&options.directory, larger)?;
        let (mut recorded, mut advised) = (Series::default(), Series::default());
        for run in 0..options.runs {
            let again = self.changes_alike();
            recorded.run(&self.recorded, &sandbox, again && run > 0, options, cancel)?;
            advised.run(&self.advised, &sandbox, again, options, cancel)?;
        }
        let cache = if sandbox.is_in_memory() { Cache::Warm } else { options.cache };
        Ok(self.measured(calls, options, cache, [&recorded, &advised]))
    }

    fn measured(
        &self,
        calls: &Calls,
        options: &Options,
        cache: Cache,
        [recorded, advised]: [&Series; 2],
    ) -> Measured {
        let ratios =
            recorded.times.iter().zip(&advised.times).map(|(recorded, advised)| ratio(*recorded, *advised));
        let (recorded_ns, advised_ns) = (median(&recorded.times), median(&advised.times));
        Measured {
            runs: options.runs as u64,
            calls_recorded: operations(&self.recorded, Action::is_call),
            calls_advised: operations(&self.advised, Action::is_call),
            vectored_calls: operations(&self.advised, is_vectored),
            threads: self.recorded.program().streams.len() as u64,
            waits: operations(&self.recorded, waits),
            think: if options.keep_think { "keep" } else { "drop" }.to_owned(),
            left_out: calls.left_out,
            not_issued: calls.not_issued,
            recorded_ns,
            advised_ns,
            ratio: ratio(recorded_ns, advised_ns),
            ratio_min: ratios.clone().fold(f64::INFINITY, f64::min),
            ratio_max: ratios.fold(0.0, f64::max),
            cache: match cache {
                Cache::Cold => "cold".to_owned(),
                Cache::Warm => "warm".to_owned(),
            },
            direct: options.direct,
            directory: options.directory.to_string_lossy().into_owned(),
            differences_recorded: recorded.differences,
            differences_advised: advised.differences,
        }
    }
}

/// How many of its operations are such.
fn operations(plan: &Plan, is: impl Fn(Action) -> bool) -> u64 {
    plan.program().streams.iter().flatten().filter(|operation| is(operation.action)).count() as u64
}

const fn is_vectored(action: Action) -> bool {
    matches!(action, Action::ReadVector(..) | Action::WriteVector(..))
}

const fn waits(action: Action) -> bool {
    matches!(action, Action::Await(_) | Action::Inherit { .. })
}

fn ratio(recorded: u64, advised: u64) -> f64 {
    recorded as f64 / advised.max(1) as f64
}

/// The middle one, or the lower one of the two in the middle.
fn median(times: &[u64]) -> u64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}
