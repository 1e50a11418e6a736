//! Locks in the order in which a plan takes them, whoever would come first.

use crate::{GenerateError, Planned, schedule};
use iotrail_replay::{Action, Expected, OpenNumber, Operation, Program};
use std::collections::{BTreeMap, HashMap};

/// A lock, from where it is taken to where it is released.
struct Held {
    stream: usize,
    /// Indices of operations; NULL if it is not released.
    taken: usize,
    released: Option<usize>,
    shared: bool,
    /// When the plan takes it, in ns.
    start: u64,
    /// How many operations come before it, of all streams that it waits for: what takes no time has an order, too.
    place: u64,
}

/// The same, in which ranks wait for those that have a lock before them in the plan: in a recording's order, as far as its times say it.
///
/// # Errors
/// If a rank would wait for what comes behind it.
pub fn with_lock_order(mut planned: Planned) -> Result<Planned, GenerateError> {
    let found = locks(&planned);
    let mut order: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, (file, _)) in found.iter().enumerate() {
        order.entry(*file).or_default().push(number);
    }
    let mut waits: Vec<(usize, usize)> = Vec::new();
    for mut of_file in order.into_values() {
        of_file.sort_by_key(|number| {
            let lock = &found[*number].1;
            (lock.start, lock.place, lock.stream)
        });
        waits.extend(turns(&of_file, |number| found[number].1.shared));
    }
    waits.retain(|(before, behind)| {
        let (before, behind) = (&found[*before].1, &found[*behind].1);
        before.stream != behind.stream && before.released.is_some()
    });
    let events = planned.program.events;
    insert(&mut planned, &found, &waits);
    let starts = schedule(&planned);
    // Who waits for a lock for ever; others may wait for that rank.
    let waits = |rank: &usize| {
        let next = planned.program.streams[*rank].get(starts[*rank].len());
        matches!(next.map(|operation| operation.action), Some(Action::Await(event)) if event >= events)
    };
    let Some(rank) = (0..starts.len()).find(waits) else { return Ok(planned) };
    // The wait stands before the lock.
    let next = |(_, lock): &&(usize, Held)| lock.stream == rank && lock.taken >= starts[rank].len();
    let locks = locks(&planned);
    let file = locks.iter().find(next).and_then(|(file, _)| planned.program.files.get(*file));
    Err(GenerateError::LockOrder(rank as u32, file.map(|file| file.name.clone()).unwrap_or_default()))
}

/// All locks with the files that they are of.
fn locks(planned: &Planned) -> Vec<(usize, Held)> {
    let mut locks: Vec<(usize, Held)> = Vec::new();
    let (starts, places) = (schedule(planned), schedule(&steps(planned)));
    for (stream, operations) in planned.program.streams.iter().enumerate() {
        let when = |starts: &[Vec<u64>], at: usize| starts[stream].get(at).copied().unwrap_or(u64::MAX);
        let mut open: HashMap<OpenNumber, usize> = HashMap::new();
        let mut held: HashMap<OpenNumber, usize> = HashMap::new();
        for (at, operation) in operations.iter().enumerate() {
            match operation.action {
                Action::Open { file, open: number, .. } => {
                    open.insert(number, file);
                }
                Action::Lock { open: number, shared } => {
                    let Some(file) = open.get(&number) else { continue };
                    held.insert(number, locks.len());
                    let (start, place) = (when(&starts, at), when(&places, at));
                    locks.push((*file, Held { stream, taken: at, released: None, shared, start, place }));
                }
                Action::Unlock(number) | Action::Close(number) => {
                    if let Some(lock) = held.remove(&number) {
                        locks[lock].1.released = Some(at);
                    }
                }
                _ => {}
            }
        }
    }
    locks
}

/// The same plan, in which each operation takes one step.
fn steps(planned: &Planned) -> Planned {
    let mut steps = planned.clone();
    steps.program.streams.iter_mut().flatten().for_each(|operation| operation.think_ns = 0);
    steps.durations.iter_mut().flatten().for_each(|duration| *duration = 1);
    steps
}

/// Which locks of a file are released before which are taken: one that is not shared comes behind all before it, shared ones only behind the last one that is
/// not.
fn turns(order: &[usize], is_shared: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let mut waits = Vec::new();
    let (mut before, mut now): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for lock in order {
        let together = is_shared(*lock) && now.last().is_some_and(|last| is_shared(*last));
        if !together {
            before = std::mem::take(&mut now);
        }
        waits.extend(before.iter().map(|before| (*before, *lock)));
        now.push(*lock);
    }
    waits
}

/// Lets streams wait for what releases their locks.
fn insert(planned: &mut Planned, locks: &[(usize, Held)], waits: &[(usize, usize)]) {
    let mut events: BTreeMap<usize, usize> = BTreeMap::new();
    // Of each stream what comes before and what behind its operations.
    let mut more: HashMap<(usize, usize), (Vec<Action>, Vec<Action>)> = HashMap::new();
    for (before, behind) in waits {
        let next = planned.program.events + events.len();
        let is_new = !events.contains_key(before);
        let event = *events.entry(*before).or_insert(next);
        let (first, second) = (&locks[*before].1, &locks[*behind].1);
        if let Some(released) = first.released.filter(|_| is_new) {
            more.entry((first.stream, released)).or_default().1.push(Action::Signal(event));
        }
        more.entry((second.stream, second.taken)).or_default().0.push(Action::Await(event));
    }
    planned.program.events += events.len();
    let Program { streams, .. } = &mut planned.program;
    for (number, (stream, durations)) in streams.iter_mut().zip(&mut planned.durations).enumerate() {
        let all = std::mem::take(stream).into_iter().zip(std::mem::take(durations)).enumerate();
        for (at, (operation, duration)) in all {
            let (before, behind) = more.remove(&(number, at)).unwrap_or_default();
            let meet = |action| (Operation { think_ns: 0, action, expected: Expected::Success }, 0);
            let before = before.into_iter().map(meet);
            for (operation, duration) in
                before.chain([(operation, duration)]).chain(behind.into_iter().map(meet))
            {
                stream.push(operation);
                durations.push(duration);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planned;
    use iotrail_workload::Model;

    const LOCKED: &str = r#"
iotrail_workload = 1
[[file]]
name = "f"
class = "shared"
  [[file.session]]
  name = "s"
  mode = "rw create"
  requests = { lock = 2, write = 2, unlock = 2 }
  order = ["lock", "write", "unlock"]
  size = "8 B"
  slack = "1 ms"
[program]
steps = [{ session = "f/s" }]
"#;

    #[test]
    fn each_lock_is_taken_behind_the_one_before() {
        let ordered = with_lock_order(planned(&Model::parse(LOCKED).unwrap(), 3, 0).unwrap()).unwrap();
        // Six locks of three ranks in turns: each but the first waits for one.
        assert_eq!(ordered.program.events, 5);
        let mut taken: Vec<(u64, usize)> = Vec::new();
        let starts = schedule(&ordered);
        for (rank, (stream, starts)) in ordered.program.streams.iter().zip(&starts).enumerate() {
            assert_eq!((starts.len(), ordered.durations[rank].len()), (stream.len(), stream.len()));
            let locks = stream.iter().zip(starts);
            let locks = locks.filter(|(operation, _)| matches!(operation.action, Action::Lock { .. }));
            taken.extend(locks.map(|(_, start)| (*start, rank)));
        }
        taken.sort_unstable();
        assert!(taken.windows(2).all(|pair| pair[0].0 < pair[1].0), "{taken:?}");
        assert_eq!(taken.iter().map(|(_, rank)| *rank).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn a_rank_that_waits_for_a_later_lock_is_told_with_the_file() {
        let text = LOCKED.replace("lock = 2, write = 2, unlock = 2", "lock = 1, write = 1, unlock = 1");
        let text = text.replace("[[file]]", "[[group]]\nname = \"all\"\nranks = \"0..\"\n[[file]]");
        let held = "{ session = \"f/s\", next = 3 }, { barrier = \"all\" }, { session = \"f/s\", next = 2 }";
        let model = Model::parse(&text.replace("{ session = \"f/s\" }", held)).unwrap();
        // Nobody plans this: both hold the lock while they meet.
        assert!(matches!(planned(&model, 2, 0), Err(GenerateError::Stuck(_))));
        let mut plan = planned(&model, 1, 0).unwrap();
        plan.program.streams.push(plan.program.streams[0].clone());
        plan.durations.push(plan.durations[0].clone());
        plan.program.groups = vec![vec![0, 1]];
        assert_eq!(with_lock_order(plan), Err(GenerateError::LockOrder(1, "f".to_owned())));
    }

    #[test]
    fn what_takes_no_time_has_an_order_too() {
        let text = LOCKED
            .replace("slack = \"1 ms\"", "")
            .replace("[[file]]", "[[group]]\nname = \"all\"\nranks = \"0..\"\n[[file]]");
        let text = text.replace(
            "[{ session = \"f/s\" }]",
            "[{ repeat = 3, steps = [{ session = \"f/s\" }, { barrier = \"all\" }] }]",
        );
        let plan = planned(&Model::parse(&text).unwrap(), 4, 0).unwrap();
        assert!(with_lock_order(plan).is_ok());
    }

    #[test]
    fn shared_locks_wait_for_others_alone() {
        // Exclusive, two shared ones, exclusive.
        let shared = [false, true, true, false];
        let waits = turns(&[0, 1, 2, 3], |lock| shared[lock]);
        assert_eq!(waits, [(0, 1), (0, 2), (1, 3), (2, 3)]);
        assert_eq!(turns(&[1, 2], |lock| shared[lock]), []);
    }
}
