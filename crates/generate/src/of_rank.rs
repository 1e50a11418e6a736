//! What one of the processes of an MPI program does: its own stream, in which it meets the others by calls of MPI.

use crate::Planned;
use iotrail_replay::{Action, Interface, OpenNumber, Operation, Program, Stream};
use std::collections::{BTreeMap, HashMap};

/// How a rank meets others. Messages carry nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meet {
    /// A barrier of all ranks.
    All,
    /// A message to a rank, with a tag.
    Send(u32, i32),
    /// A message from a rank, with a tag.
    Receive(u32, i32),
}

/// The tag of barriers of some ranks; those of events follow.
const BARRIER: i32 = 1;
/// Every library has as many tags.
const TAGS: usize = 32_000;

/// The stream of a rank as a program, and what its meetings are, by their numbers. In barriers of some ranks the first one of them hears of all
/// others and tells them; ends of sessions are told to each rank that waits for them.
#[must_use]
pub fn of_rank(planned: &Planned, rank: usize) -> (Program, Vec<Meet>) {
    let program = &planned.program;
    let listeners = listeners(program);
    let setters = setters(program);
    let (mut stream, mut meets) = (Stream::new(), Vec::new());
    let own = program.streams.get(rank).map_or(&[][..], Vec::as_slice);
    let own = collective(own, program);
    for operation in &own {
        let met = match operation.action {
            Action::Barrier(group) => {
                barrier(program.groups.get(group).map_or(&[], Vec::as_slice), program, rank)
            }
            Action::Signal(event) => {
                let listeners = listeners.get(&event).map_or(&[][..], Vec::as_slice);
                listeners.iter().map(|other| Meet::Send(*other as u32, tag(event))).collect()
            }
            Action::Await(event) => setters
                .get(&event)
                .map(|other| Meet::Receive(*other as u32, tag(event)))
                .into_iter()
                .collect(),
            _ => {
                stream.push(*operation);
                continue;
            }
        };
        for (at, meet) in met.into_iter().enumerate() {
            let think_ns = if at == 0 { operation.think_ns } else { 0 };
            stream.push(Operation {
                think_ns,
                action: Action::Meet(meets.len()),
                expected: operation.expected,
            });
            meets.push(meet);
        }
    }
    let program = Program { files: program.files.clone(), streams: vec![stream], ..Program::default() };
    (program, meets)
}

/// The operations of a rank, without the barriers of all ranks before calls that they make together: these are the meetings. Ranks that are not all of the run
/// meet, and make each its own call.
fn collective(own: &[Operation], program: &Program) -> Stream {
    let is_of_all = |action: Action| {
        let Action::Barrier(group) = action else { return false };
        program.groups.get(group).is_some_and(|members| members.len() == program.streams.len())
    };
    let mut together: HashMap<OpenNumber, bool> = HashMap::new();
    let mut stream = Stream::with_capacity(own.len());
    for operation in own {
        let mut operation = *operation;
        let met = stream.last().is_some_and(|before: &Operation| is_of_all(before.action));
        if let Action::Open { open, mode, .. } = &mut operation.action {
            if mode.interface == Interface::Collective && !met {
                mode.interface = Interface::MpiIo;
            }
            together.insert(*open, mode.interface == Interface::Collective);
        }
        let open = match operation.action {
            Action::Open { open, .. } => Some(open),
            // Nobody waits for others to ask for the size.
            Action::StatOpen(_) => None,
            action => action.uses(),
        };
        if met
            && open.is_some_and(|open| together.get(&open) == Some(&true))
            && let Some(barrier) = stream.pop()
        {
            operation.think_ns = operation.think_ns.saturating_add(barrier.think_ns);
        }
        stream.push(operation);
    }
    stream
}

fn tag(event: usize) -> i32 {
    BARRIER + 1 + (event % TAGS) as i32
}

fn barrier(members: &[usize], program: &Program, rank: usize) -> Vec<Meet> {
    let Some((first, others)) = members.split_first() else { return Vec::new() };
    if members.len() == program.streams.len() {
        return vec![Meet::All];
    }
    if rank != *first {
        return vec![Meet::Send(*first as u32, BARRIER), Meet::Receive(*first as u32, BARRIER)];
    }
    let heard = others.iter().map(|other| Meet::Receive(*other as u32, BARRIER));
    heard.chain(others.iter().map(|other| Meet::Send(*other as u32, BARRIER))).collect()
}

/// The streams that wait for each event, as often as they do.
fn listeners(program: &Program) -> BTreeMap<usize, Vec<usize>> {
    let mut listeners: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (stream, operations) in program.streams.iter().enumerate() {
        for operation in operations {
            if let Action::Await(event) = operation.action {
                listeners.entry(event).or_default().push(stream);
            }
        }
    }
    listeners
}

/// The stream that sets each event.
fn setters(program: &Program) -> BTreeMap<usize, usize> {
    let all = program.streams.iter().enumerate();
    let set = all.flat_map(|(stream, operations)| {
        operations.iter().filter_map(move |operation| match operation.action {
            Action::Signal(event) => Some((event, stream)),
            _ => None,
        })
    });
    set.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planned;
    use iotrail_workload::Model;

    #[test]
    fn ranks_meet_in_barriers_and_by_messages() {
        let text = r#"
iotrail_workload = 1
[[group]]
name = "all"
ranks = "0.."
[[group]]
name = "others"
ranks = "1.."
[[file]]
name = "f"
class = "shared"
  [[file.session]]
  name = "s"
  mode = "wo create"
  requests = { write = 1 }
  size = "1 B"
[program]
steps = [{ session = "f/s" }, { after = "f/s", by = -1 }, { barrier = "all" }, { barrier = "others" }]
"#;
        let planned = planned(&Model::parse(text).unwrap(), 3, 0).unwrap();
        let meets = |rank: usize| of_rank(&planned, rank).1;
        assert_eq!(meets(0), [Meet::Send(1, 2), Meet::All]);
        assert_eq!(
            meets(1),
            [Meet::Send(2, 3), Meet::Receive(0, 2), Meet::All, Meet::Receive(2, 1), Meet::Send(2, 1)]
        );
        assert_eq!(meets(2), [Meet::Receive(1, 3), Meet::All, Meet::Send(1, 1), Meet::Receive(1, 1)]);
        let (program, _) = of_rank(&planned, 2);
        assert_eq!(program.streams[0].iter().filter(|of| of.action.is_call()).count(), 3);
        assert_eq!(program.files, planned.program.files);
    }

    #[test]
    fn ranks_meet_in_the_calls_that_they_make_together() {
        let text = r#"
iotrail_workload = 1
[[group]]
name = "all"
ranks = "0.."
[[file]]
name = "f"
class = "shared"
  [[file.session]]
  name = "s"
  mode = "rw create"
  layer = "collective"
  requests = { write = 1, stat = 1 }
  size = "1 B"
  offset = { rank = "1 B" }
  slack = "5 ns"
[program]
steps = [{ barrier = "all" }, { session = "f/s" }]
"#;
        let planned = planned(&Model::parse(text).unwrap(), 2, 0).unwrap();
        let interfaces = |program: &Program| {
            let opens = program.streams[0].iter().filter_map(|operation| match operation.action {
                Action::Open { mode, .. } => Some(mode.interface),
                _ => None,
            });
            opens.collect::<Vec<_>>()
        };
        let (program, meets) = of_rank(&planned, 0);
        // The barrier that is a step of its own stays.
        assert_eq!(meets, [Meet::All]);
        assert_eq!(interfaces(&program), [Interface::Collective]);
        let calls: Vec<Operation> =
            program.streams[0].iter().copied().filter(|operation| operation.action.is_call()).collect();
        assert_eq!(calls.len(), 4);
        assert!(calls.iter().all(|call| call.think_ns == 5), "time passes before calls");
        assert!(
            calls.iter().any(|call| matches!(call.action, Action::WriteAt(_, 0, 1))),
            "also where the file stands"
        );
        // Ranks of which others know nothing meet, and make calls alone.
        let mut with_others = planned;
        with_others.program.streams.push(Stream::new());
        let (program, meets) = of_rank(&with_others, 0);
        assert_eq!((interfaces(&program), meets.len()), (vec![Interface::MpiIo], 2 * 4));
    }
}
