//! The program of a structure without MPI.

use crate::begin::files;
use crate::error::ReenactError;
use crate::issue::Issuing;
use crate::name_order::name_waits;
use crate::reason::{LeftOut, Reason};
use crate::recorded::{Reading, Recorded, Step};
use crate::tally::Tally;
use iotrail_compress::each_event;
use iotrail_model::Layer;
use iotrail_replay::{Plan, Program};
use iotrail_structure_file::Document;
use iotrail_verify::{Call, Lanes, Waits, waits};
use std::collections::HashMap;

/// Calls that are held in memory at most: about 250 bytes each.
const MAX_CALLS: u64 = 20_000_000;

/// What is done again of a structure.
#[derive(Debug)]
pub struct Posix {
    /// The program, checked.
    pub plan: Plan,
    /// Calls that are not issued.
    pub left_out: LeftOut,
    /// What is issued, as recorded.
    pub recorded: Tally,
    /// From the first call that is issued to the end of the last one, as recorded, in ns.
    pub elapsed_ns: u64,
}

/// The system calls of all threads of a structure; times that are drawn depend on `seed`.
///
/// # Errors
/// If it is damaged, too large, or the engine refuses its calls.
pub fn posix(document: &Document, seed: u64) -> Result<Posix, ReenactError> {
    let lowest = document.keys.iter().map(|key| key.layer).min().unwrap_or(Layer::Syscall);
    let mut reading = Reading::new(document);
    let mut is_too_large = false;
    each_event(document, seed, &mut |_, event| {
        if reading.len() as u64 >= MAX_CALLS {
            is_too_large = true;
        } else if event.layer == lowest {
            reading.add(event);
        } else {
            reading.leave_out(event, Reason::Library);
        }
        Ok(())
    })?;
    if is_too_large {
        return Err(ReenactError::TooMany(document.events(), MAX_CALLS));
    }
    program(reading.finish(), |_| true)
}

/// The program of calls, of which `is_own` are issued here; the files are those of all.
pub(crate) fn program(mut recorded: Recorded, is_own: impl Fn(&Step) -> bool) -> Result<Posix, ReenactError> {
    let files = files(&recorded);
    recorded.steps.retain(is_own);
    let mut calls: Vec<Call> = recorded.steps.iter().map(|step| step.call).collect();
    let lanes = Lanes::of(&calls).map_err(|_| ReenactError::Threads)?;
    lanes.think(&mut calls);
    recorded.steps.iter_mut().zip(&calls).for_each(|(step, call)| step.call = *call);
    let sizes: HashMap<_, _> = recorded
        .steps
        .iter()
        .rev()
        .filter_map(|step| Some((step.call.file, files[step.name].size?)))
        .collect();
    let bytes = waits(&calls, &lanes, |file| sizes.get(&file).copied());
    let waits = joined(bytes, name_waits(&recorded, &lanes));
    let tally = Tally::recorded(&recorded);
    let (streams, events) = Issuing::new(&recorded, &lanes, &waits).all(&recorded);
    let first = calls.iter().map(|call| call.start).min().unwrap_or_default();
    let last = calls.iter().map(|call| call.end).max().unwrap_or_default();
    let plan = Plan::new(Program { files, streams, groups: Vec::new(), events })?;
    Ok(Posix { plan, left_out: recorded.left_out, recorded: tally, elapsed_ns: last.abs_diff(first) })
}

fn joined(mut waits: Waits, more: Waits) -> Waits {
    for (call, others) in more {
        let of_call = waits.entry(call).or_default();
        of_call.extend(others);
        of_call.sort_unstable();
        of_call.dedup();
    }
    waits
}
