//! When operations begin if they take as long as they did.

use crate::Planned;
use iotrail_replay::Action;
use std::collections::HashMap;

/// Of each operation of each stream the time from the common begin to its own, in ns: pauses and durations add up, and at a barrier all wait
/// for the last one. What follows a wait that never ends is left out.
#[must_use]
pub fn schedule(planned: &Planned) -> Vec<Vec<u64>> {
    let program = &planned.program;
    let mut going = Going {
        starts: program.streams.iter().map(|stream| Vec::with_capacity(stream.len())).collect(),
        clocks: vec![0; program.streams.len()],
        events: vec![None; program.events],
        waiting: HashMap::new(),
        arrived: vec![0; program.groups.len()],
        ready: (0..program.streams.len()).rev().collect(),
    };
    while let Some(stream) = going.ready.pop() {
        going.go(planned, stream);
    }
    going.starts
}

/// How far streams are.
struct Going {
    starts: Vec<Vec<u64>>,
    /// When the last operation of each stream ended.
    clocks: Vec<u64>,
    /// When events were set.
    events: Vec<Option<u64>>,
    /// Streams that wait for an event.
    waiting: HashMap<usize, Vec<usize>>,
    /// How many streams are at the barrier of each group.
    arrived: Vec<usize>,
    /// Streams that can go on.
    ready: Vec<usize>,
}

impl Going {
    /// Lets a stream go on until it waits.
    fn go(&mut self, planned: &Planned, stream: usize) {
        let own = &planned.program.streams[stream];
        while let Some(operation) = own.get(self.starts[stream].len()) {
            let start = self.clocks[stream].saturating_add(operation.think_ns);
            let start = match operation.action {
                Action::Barrier(group) => {
                    // Time that passes before ranks meet.
                    self.clocks[stream] = start;
                    if self.meet(planned, (group, stream)) {
                        continue;
                    }
                    return;
                }
                Action::Await(event) => match self.events.get(event).copied().flatten() {
                    Some(set) => start.max(set),
                    None => {
                        self.waiting.entry(event).or_default().push(stream);
                        return;
                    }
                },
                Action::NotBefore(ns) => start.max(ns),
                _ => start,
            };
            if let Action::Signal(event) = operation.action
                && let Some(set) = self.events.get_mut(event)
            {
                *set = Some(start);
                self.ready.extend(self.waiting.remove(&event).into_iter().flatten());
            }
            let took = planned.durations[stream][self.starts[stream].len()];
            self.clocks[stream] = start.saturating_add(took);
            self.starts[stream].push(start);
        }
    }

    /// A stream is at a barrier. Answers whether it is the last one: then all go on.
    fn meet(&mut self, planned: &Planned, (group, stream): (usize, usize)) -> bool {
        let members = planned.program.groups.get(group).map_or(&[][..], Vec::as_slice);
        let Some(arrived) = self.arrived.get_mut(group).filter(|_| !members.is_empty()) else { return false };
        *arrived += 1;
        if *arrived < members.len() {
            return false;
        }
        *arrived = 0;
        let last = members.iter().map(|member| self.clocks[*member]).max().unwrap_or_default();
        for member in members {
            self.clocks[*member] = last;
            self.starts[*member].push(last);
        }
        self.ready.extend(members.iter().filter(|member| **member != stream));
        true
    }
}

impl Planned {
    /// The same, whose operations have in place of the time before them the time at which they begin.
    #[must_use]
    pub fn due(mut self) -> Self {
        let starts = schedule(&self);
        for (stream, starts) in self.program.streams.iter_mut().zip(starts) {
            for (operation, start) in stream.iter_mut().zip(starts) {
                let is_alone = matches!(operation.action, Action::NotBefore(_));
                operation.think_ns = if operation.action.is_call() || is_alone { start } else { 0 };
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_replay::{Expected, Operation, Program};

    #[test]
    fn time_passes_before_ranks_meet() {
        let meet =
            |think_ns| vec![Operation { think_ns, action: Action::Barrier(0), expected: Expected::Success }];
        let program =
            Program { streams: vec![meet(20), meet(5)], groups: vec![vec![0, 1]], ..Program::default() };
        let planned = Planned { program, durations: vec![vec![0], vec![0]] };
        assert_eq!(schedule(&planned), [[20], [20]]);
    }

    #[test]
    fn a_pause_at_the_end_lasts() {
        let pause = Operation { think_ns: 9, action: Action::NotBefore(0), expected: Expected::Success };
        let program = Program { streams: vec![vec![pause, pause]], ..Program::default() };
        let due = Planned { program, durations: vec![vec![0, 0]] }.due();
        assert_eq!(due.program.streams[0].iter().map(|of| of.think_ns).collect::<Vec<_>>(), [9, 18]);
    }

    #[test]
    fn at_a_barrier_all_begin_when_the_last_one_came() {
        let operation = |think_ns, action| Operation { think_ns, action, expected: Expected::Success };
        let stream = |think| {
            vec![
                operation(think, Action::Stat(0)),
                operation(0, Action::Barrier(0)),
                operation(5, Action::Stat(0)),
            ]
        };
        let program = Program {
            streams: vec![stream(10), stream(100)],
            groups: vec![vec![0, 1]],
            ..Program::default()
        };
        let planned = Planned { program, durations: vec![vec![7, 0, 7], vec![7, 0, 7]] };
        assert_eq!(schedule(&planned), [[10, 107, 112], [100, 107, 112]]);
        let due: Vec<u64> =
            planned.due().program.streams[0].iter().map(|operation| operation.think_ns).collect();
        assert_eq!(due, [10, 0, 112]);
    }
}
