//! Which files have one name, one after the other.
//!
//! Two files of one name that are there at the same time have two names: the directory of one of them got another name meanwhile, and nobody called the
//! file by that.

use crate::names::path;
use crate::streams::Streams;
use iotrail_model::calls::CallKind;
use iotrail_trail::EventLog;
use std::collections::HashMap;

/// When a file has its name.
#[derive(Clone, Copy)]
struct Life {
    /// In ns.
    begin: i64,
    /// When the name is taken away.
    end: i64,
    /// Whether it gets the name by a rename, which takes it from who has it.
    replaces: bool,
}

impl Life {
    const NONE: Self = Self { begin: i64::MAX, end: i64::MAX, replaces: false };
}

/// Whether a file has not the name any more afterwards.
pub(crate) const fn takes_name(call: CallKind) -> bool {
    matches!(call, CallKind::Unlink | CallKind::RemoveDirectory | CallKind::Rename)
}

/// Of each file the first one of its name; what is not there has none.
pub(crate) fn named(log: &EventLog, streams: &Streams) -> Vec<usize> {
    let files = &streams.frame.files;
    let mut of_names: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, file) in files.iter().enumerate() {
        if let Some(name) = path(log, *file) {
            of_names.entry(name).or_default().push(at);
        }
    }
    let mut named: Vec<usize> = (0..files.len()).collect();
    let mut lives: HashMap<usize, Life> = HashMap::new();
    for all in of_names.values().filter(|all| all.len() > 1) {
        all.iter().for_each(|at| named[*at] = all[0]);
        let there: Vec<usize> = all.iter().copied().filter(|at| files[*at].file.is_some()).collect();
        if there.len() > 1 {
            lives.extend(there.iter().map(|at| (*at, Life::NONE)));
        }
    }
    if !lives.is_empty() {
        live(streams, &mut lives);
        for all in of_names.values() {
            let of_all = all.iter().filter_map(|at| Some((*at, *lives.get(at)?))).collect();
            apart(of_all).into_iter().for_each(|(at, first)| named[at] = first);
        }
    }
    named
}

fn live(streams: &Streams, lives: &mut HashMap<usize, Life>) {
    for (requests, renames) in streams.requests.iter().zip(&streams.frame.renames) {
        for (at, request) in requests.iter().enumerate() {
            if let Some(life) = lives.get_mut(&(request.file.0 as usize)) {
                life.begin = life.begin.min(request.start);
                if takes_name(request.kind()) {
                    life.end = request.start;
                }
            }
            if let Some(life) = renames.get(&at).and_then(|to| lives.get_mut(&(to.0 as usize)))
                && request.start < life.begin
            {
                life.begin = request.start;
                life.replaces = request.kind() == CallKind::Rename;
            }
        }
    }
}

/// Of each of the files of a name the first one of those that have it one after the other.
fn apart(mut files: Vec<(usize, Life)>) -> Vec<(usize, usize)> {
    files.sort_by_key(|(at, life)| (life.begin, *at));
    let mut slots: Vec<(i64, usize)> = Vec::new();
    let mut of_slots: Vec<(usize, usize)> = Vec::new();
    for (at, life) in files {
        if life.replaces {
            slots.iter_mut().for_each(|(end, _)| *end = life.begin);
        }
        let free = slots.iter().position(|(end, _)| *end <= life.begin);
        let slot = free.unwrap_or_else(|| {
            slots.push((0, at));
            slots.len() - 1
        });
        slots[slot] = (life.end, slots[slot].1.min(at));
        of_slots.push((at, slot));
    }
    of_slots.into_iter().map(|(at, slot)| (at, slots[slot].1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn life(begin: i64, end: i64) -> Life {
        Life { begin, end, replaces: false }
    }

    #[test]
    fn names_that_are_given_again_are_one() {
        let all = vec![(4, life(1, 2)), (2, life(3, 5)), (7, life(5, i64::MAX))];
        assert_eq!(apart(all), [(4, 2), (2, 2), (7, 2)]);
    }

    #[test]
    fn files_that_are_there_at_the_same_time_have_names_of_their_own() {
        let forever = |at, begin| (at, life(begin, i64::MAX));
        assert_eq!(apart(vec![forever(0, 1), forever(1, 2), forever(2, 3)]), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(apart(vec![(0, life(1, 9)), forever(1, 2), forever(2, 10)]), [(0, 0), (1, 1), (2, 0)]);
        let renamed = Life { replaces: true, ..life(5, i64::MAX) };
        assert_eq!(apart(vec![forever(0, 1), (1, renamed)]), [(0, 0), (1, 0)]);
    }
}
