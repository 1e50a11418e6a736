//! When operations begin if they take as long as they did.

use crate::Planned;
use iotrail_replay::Action;

/// Of each operation of each stream the time from the common begin to its own, in ns: pauses and durations add up, and at a barrier all wait
/// for the last one. What follows a wait that never ends is left out.
#[must_use]
pub fn schedule(planned: &Planned) -> Vec<Vec<u64>> {
    let program = &planned.program;
    let mut starts: Vec<Vec<u64>> =
        program.streams.iter().map(|stream| Vec::with_capacity(stream.len())).collect();
    let mut clocks = vec![0_u64; program.streams.len()];
    let mut events: Vec<Option<u64>> = vec![None; program.events];
    loop {
        let mut passed = false;
        for (stream, (starts, clock)) in starts.iter_mut().zip(&mut clocks).enumerate() {
            while let Some(operation) = program.streams[stream].get(starts.len())
                && !matches!(operation.action, Action::Barrier(_))
            {
                let start = clock.saturating_add(operation.think_ns);
                let start = match operation.action {
                    Action::Await(event) => match events.get(event).copied().flatten() {
                        Some(set) => start.max(set),
                        None => break,
                    },
                    _ => start,
                };
                if let Action::Signal(event) = operation.action
                    && let Some(event) = events.get_mut(event)
                {
                    (*event, passed) = (Some(start), true);
                }
                let start = if let Action::NotBefore(ns) = operation.action { start.max(ns) } else { start };
                *clock = start.saturating_add(planned.durations[stream][starts.len()]);
                starts.push(start);
            }
        }
        if passed {
            continue;
        }
        let waits = |stream: &usize| {
            let next = program.streams[*stream].get(starts[*stream].len());
            next.and_then(|operation| match operation.action {
                Action::Barrier(group) => Some(group),
                _ => None,
            })
        };
        let ready = |(group, members): &(usize, &Vec<usize>)| {
            !members.is_empty() && members.iter().all(|stream| waits(stream) == Some(*group))
        };
        let Some((_, members)) = program.groups.iter().enumerate().find(ready) else { return starts };
        let last = members.iter().map(|stream| clocks[*stream]).max().unwrap_or_default();
        for stream in members {
            clocks[*stream] = last;
            starts[*stream].push(last);
        }
    }
}

impl Planned {
    /// The same, whose operations have in place of the time before them the time at which they begin.
    #[must_use]
    pub fn due(mut self) -> Self {
        let starts = schedule(&self);
        for (stream, starts) in self.program.streams.iter_mut().zip(starts) {
            for (operation, start) in stream.iter_mut().zip(starts) {
                operation.think_ns = if operation.action.is_call() { start } else { 0 };
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
