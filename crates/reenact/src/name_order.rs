//! Which calls wait for calls of other threads because of names: who opens a file waits for who made, renamed or removed it or a
//! directory that it is in, if that was over before; who changes a name waits for who used it.

use crate::names::parents;
use crate::recorded::{Act, Recorded, Step};
use iotrail_verify::{CallAction, Lanes, Waits};
use std::collections::HashMap;

/// Of a name: the last call that changed it, and the last of each lane that used it since.
#[derive(Default)]
struct Uses {
    changed: Option<usize>,
    used: HashMap<usize, usize>,
}

/// The waits of calls for changes of names.
pub(crate) fn name_waits(recorded: &Recorded, lanes: &Lanes) -> Waits {
    let mut waits = Waits::new();
    if lanes.count() < 2 {
        return waits;
    }
    let steps = &recorded.steps;
    let mut names: HashMap<&str, Uses> = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        let lane = lanes.lane(&step.call);
        let mut wait = |other: usize| {
            let other_call = &steps[other].call;
            if lanes.lane(other_call) != lane && other_call.end <= step.call.start {
                let of_step = waits.entry(index).or_default();
                if !of_step.contains(&other) {
                    of_step.push(other);
                }
            }
        };
        let own = recorded.names[step.name].as_str();
        let target = match step.act {
            Act::Rename(to) | Act::Link(to) => Some(recorded.names[to].as_str()),
            _ => None,
        };
        for name in [Some(own), target].into_iter().flatten() {
            for place in parents(name).chain([name]) {
                let uses = names.entry(place).or_default();
                uses.changed.into_iter().for_each(&mut wait);
                if place == name && changes(step) {
                    uses.used.values().copied().for_each(&mut wait);
                    *uses = Uses { changed: Some(index), used: HashMap::new() };
                } else if by_name(step) {
                    uses.used.insert(lane, index);
                }
            }
        }
    }
    waits
}

/// Whether a call changes what its name leads to.
fn changes(step: &Step) -> bool {
    let makes = matches!(step.call.action, CallAction::Open(mode) if mode.create && mode.exclusive);
    makes
        || matches!(
            step.act,
            Act::Remove { .. } | Act::Rename(_) | Act::Link(_) | Act::Symlink | Act::MakeDirectory
        ) && step.error.is_none()
}

/// Whether a call follows its name, and not a description.
fn by_name(step: &Step) -> bool {
    step.call.open.is_none() || matches!(step.call.action, CallAction::Open(_))
}
