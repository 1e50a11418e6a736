//! Whether streams that wait for each other all come to their ends.

use crate::plan::PlanError;
use crate::program::{Action, Operation, Program, Stream};

/// An operation that waits for other streams, or that they wait for, and its place in the stream.
#[derive(Clone, Copy)]
enum Meet {
    Group(usize),
    Set(usize),
    Wait(usize),
}

fn meets(stream: &Stream) -> Vec<(usize, Meet)> {
    let meet = |(at, operation): (usize, &Operation)| {
        let meet = match operation.action {
            Action::Barrier(group) => Meet::Group(group),
            Action::Signal(event) | Action::Share { event, .. } => Meet::Set(event),
            Action::Await(event) | Action::Inherit { event, .. } => Meet::Wait(event),
            _ => return None,
        };
        Some((at, meet))
    };
    stream.iter().enumerate().filter_map(meet).collect()
}

/// Whether all streams come through all barriers, and each event is set once and before all wait for it.
pub(crate) fn check_waiting(program: &Program) -> Result<(), PlanError> {
    let streams: Vec<Vec<(usize, Meet)>> = program.streams.iter().map(meets).collect();
    check_indices(program, &streams)?;
    Walk::new(program, &streams).walk()
}

fn check_indices(program: &Program, streams: &[Vec<(usize, Meet)>]) -> Result<(), PlanError> {
    let mut setters = vec![0; program.events];
    let all = || {
        streams.iter().enumerate().flat_map(|(stream, meets)| meets.iter().map(move |meet| (stream, meet)))
    };
    for (_, (_, meet)) in all() {
        if let Meet::Set(event) = meet
            && let Some(setters) = setters.get_mut(*event)
        {
            *setters += 1;
        }
    }
    for (stream, (at, meet)) in all() {
        match meet {
            Meet::Group(group) => {
                if !program.groups.get(*group).is_some_and(|members| members.contains(&stream)) {
                    return Err(PlanError::NoGroup(stream + 1, at + 1, *group));
                }
            }
            Meet::Set(event) | Meet::Wait(event) => {
                let setters = setters.get(*event).copied().unwrap_or_default();
                if setters != 1 {
                    return Err(PlanError::Event(stream + 1, at + 1, *event, setters));
                }
            }
        }
    }
    Ok(())
}

/// The streams as they would be executed.
struct Walk<'a> {
    program: &'a Program,
    streams: &'a [Vec<(usize, Meet)>],
    /// What of each stream comes next.
    next: Vec<usize>,
    is_set: Vec<bool>,
    waiting: Vec<Vec<usize>>,
    /// Streams that may go on.
    ready: Vec<usize>,
}

impl<'a> Walk<'a> {
    fn new(program: &'a Program, streams: &'a [Vec<(usize, Meet)>]) -> Self {
        Self {
            program,
            streams,
            next: vec![0; streams.len()],
            is_set: vec![false; program.events],
            waiting: vec![Vec::new(); program.events],
            ready: (0..streams.len()).collect(),
        }
    }

    fn walk(mut self) -> Result<(), PlanError> {
        while let Some(stream) = self.ready.pop() {
            while self.pass(stream) {}
        }
        let stuck = (0..self.streams.len()).find_map(|stream| Some((stream, self.meet(stream)?)));
        if let Some(circle) = stuck.and_then(|(stream, _)| self.circle(stream)) {
            return Err(PlanError::Circle(circle));
        }
        match stuck {
            None => Ok(()),
            Some((stream, (at, Meet::Group(group)))) => Err(PlanError::Deadlock(stream + 1, at + 1, group)),
            Some((stream, (at, Meet::Set(event) | Meet::Wait(event)))) => {
                Err(PlanError::Never(stream + 1, at + 1, event))
            }
        }
    }

    /// From a stream that waits along those for which it, and each of them, waits, if that ends where it was before; in words.
    fn circle(&self, from: usize) -> Option<String> {
        let mut way: Vec<(usize, usize, Meet)> = Vec::new();
        let mut stream = from;
        loop {
            if let Some(begin) = way.iter().position(|(known, ..)| *known == stream) {
                let words = way[begin..].iter().map(|(stream, at, meet)| {
                    let what = match meet {
                        Meet::Group(group) => format!("the barrier of group {group}"),
                        Meet::Set(event) | Meet::Wait(event) => format!("event {event}"),
                    };
                    format!("stream {}, operation {}, waits for {what}", stream + 1, at + 1)
                });
                return Some(format!("{} of stream {}", words.collect::<Vec<_>>().join(" of "), stream + 1));
            }
            let (at, meet) = self.meet(stream)?;
            way.push((stream, at, meet));
            stream = self.awaited(stream, meet)?;
        }
    }

    /// A stream that has not done what another one waits for.
    fn awaited(&self, stream: usize, meet: Meet) -> Option<usize> {
        match meet {
            Meet::Set(_) => None,
            Meet::Group(group) => {
                let is_here = |member: &&usize| matches!(self.meet(**member), Some((_, Meet::Group(next))) if next == group);
                self.program.groups[group]
                    .iter()
                    .find(|member| **member != stream && !is_here(member))
                    .copied()
            }
            Meet::Wait(event) => (0..self.streams.len()).find(|other| {
                let left = self.streams[*other].get(self.next[*other]..).unwrap_or_default();
                left.iter().any(|(_, meet)| matches!(meet, Meet::Set(set) if *set == event))
            }),
        }
    }

    fn meet(&self, stream: usize) -> Option<(usize, Meet)> {
        self.streams.get(stream)?.get(self.next[stream]).copied()
    }

    /// Lets a stream do what comes next; false if it waits, or is at its end.
    fn pass(&mut self, stream: usize) -> bool {
        match self.meet(stream) {
            None => false,
            Some((_, Meet::Set(event))) => {
                self.next[stream] += 1;
                self.is_set[event] = true;
                self.ready.append(&mut self.waiting[event]);
                true
            }
            Some((_, Meet::Wait(event))) if self.is_set[event] => {
                self.next[stream] += 1;
                true
            }
            Some((_, Meet::Wait(event))) => {
                self.waiting[event].push(stream);
                false
            }
            Some((_, Meet::Group(group))) => self.pass_group(group),
        }
    }

    fn pass_group(&mut self, group: usize) -> bool {
        let members = &self.program.groups[group];
        let is_here =
            |member: &usize| matches!(self.meet(*member), Some((_, Meet::Group(next))) if next == group);
        let all_here = members.iter().all(is_here);
        if all_here {
            for member in members {
                self.next[*member] += 1;
                self.ready.push(*member);
            }
        }
        all_here
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::program::{Expected, OpenMode, OpenNumber, ScratchFile};

    fn says(events: usize, streams: &[&[Action]]) -> String {
        let operation =
            |action: &Action| Operation { think_ns: 0, action: *action, expected: Expected::Success };
        let program = Program {
            files: vec![ScratchFile { name: "f".to_owned(), size: Some(100), directory: false }],
            streams: streams.iter().map(|actions| actions.iter().map(operation).collect()).collect(),
            groups: Vec::new(),
            events,
        };
        Plan::new(program).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn events_are_set_once_and_before_all_wait_for_them() {
        let (set, wait) = (Action::Signal, Action::Await);
        assert_eq!(says(2, &[&[set(0), wait(1)], &[wait(0), set(1)]]), "");
        assert_eq!(says(1, &[&[set(0)], &[wait(0)], &[wait(0), wait(0)]]), "");
        assert_eq!(
            says(2, &[&[wait(1), set(0)], &[wait(0), set(1)]]),
            "streams wait for each other in a circle: stream 1, operation 1, waits for event 1 of stream 2, operation 1, waits for event 0 of stream 1"
        );
        assert_eq!(
            says(1, &[&[wait(0)]]),
            "stream 1, operation 1: event 0 is set by 0 operations, expected 1"
        );
        assert_eq!(
            says(1, &[&[set(0)], &[set(0)]]),
            "stream 1, operation 1: event 0 is set by 2 operations, expected 1"
        );
        assert_eq!(
            says(1, &[&[set(1)]]),
            "stream 1, operation 1: event 1 is set by 0 operations, expected 1"
        );
    }

    #[test]
    fn only_what_is_shared_is_inherited() {
        let (own, theirs) = (OpenNumber(0), OpenNumber(5));
        let open = Action::Open { file: 0, open: own, mode: OpenMode { write: true, ..OpenMode::default() } };
        let share = Action::Share { open: own, event: 0 };
        let inherit = Action::Inherit { open: theirs, event: 0 };
        let other: &[Action] = &[inherit, Action::Write(theirs, 7), Action::Close(theirs)];
        assert_eq!(says(1, &[&[open, share, Action::Close(own)], other]), "");
        assert_eq!(
            says(1, &[&[open, Action::Signal(0)], other]),
            "stream 2, operation 1: no description comes with event 0"
        );
        assert_eq!(says(1, &[&[share], other]), "stream 1, operation 1: description 0 is not open");
        assert_eq!(
            says(1, &[&[open, share], &[inherit, Action::Write(own, 7)]]),
            "stream 2, operation 2: description 0 is not open"
        );
    }
}
