//! One process of a parallel program works while all others wait for it.

use super::Rule;
use super::habit::{Context, ProcessHabit, Saved, Seen, Tally};
use super::waits::{Phase, Waits, WaitsOf, phases};
use std::sync::Arc;

/// A phase lasts so long at least, in ns.
pub(crate) const PHASE: i64 = 10_000_000;
/// All phases of a process together, in ns and in a hundred of the time that the processes share.
const MUCH: u64 = 50_000_000;
const SHARE: u64 = 10;

#[derive(Default)]
pub(crate) struct SerialPhase(Waits);

impl Rule for SerialPhase {
    fn see(&mut self, call: &Seen) {
        self.0.see(call);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let groups = self.0.groups(log).into_iter();
        let found = groups.flat_map(|(group, span)| {
            let phases = phases(&group, span, PHASE);
            let together = span.1.saturating_sub(span.0).unsigned_abs();
            let found = group.iter().enumerate().filter_map(|(who, of)| {
                let own: Vec<Phase> = phases.iter().filter(|phase| phase.who == who).copied().collect();
                habit(log, of, &own, together, group.len() as u64)
            });
            found.collect::<Vec<_>>()
        });
        found.collect()
    }
}

fn habit(log: &Context, of: &WaitsOf, phases: &[Phase], together: u64, members: u64) -> Option<ProcessHabit> {
    let process = of.first.process?;
    let time: u64 = phases.iter().map(|phase| phase.to.abs_diff(phase.from)).fold(0, u64::saturating_add);
    if time < MUCH || time.saturating_mul(100) < together.saturating_mul(SHARE) {
        return None;
    }
    let on_path = phases.iter().map(|phase| log.path.of_process(process, (phase.from, phase.to)));
    let on_path = on_path.fold(0, u64::saturating_add);
    // What one does, all could do together.
    let saved = Saved { calls: 0, timed: 0, time: Some(time), on_path }.fraction(members - 1, members);
    Some(ProcessHabit {
        rule: "serial-phase",
        file: Arc::from(log.program(process)),
        tally: Tally { first: of.first, calls: phases.len() as u64, saved, amount: time },
        places: Vec::new(),
        fix: "divide what this process does alone among all: let each read, write or compute its part (MPI: MPI_File_read_at_all instead of read and MPI_Bcast or MPI_Scatter, MPI_Reduce_scatter instead of MPI_Gather and a loop); or give the others their next work before it begins",
        assumes: "what it does can be divided, or done beside other work",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::habit::First;
    use crate::rules::waits::Wait;

    fn member(waits: &[(i64, i64)]) -> WaitsOf {
        let waits = waits.iter().map(|&(from, to)| Wait { from, to, on_path: 0 }).collect();
        WaitsOf { first: First::default(), waits, io: 0, calls: 0 }
    }

    #[test]
    fn a_phase_is_when_all_others_wait() {
        let members = [&[(0, 30), (60, 90)][..], &[(0, 50)], &[(20, 40), (60, 100)]].map(member);
        let members: Vec<&WaitsOf> = members.iter().collect();
        // From 20 all wait; from 30 only the first does not; from 60 only the second.
        let expected = [
            Phase { who: 2, from: 0, to: 20 },
            Phase { who: 0, from: 30, to: 40 },
            Phase { who: 1, from: 60, to: 90 },
        ];
        assert_eq!(phases(&members, (0, 100), 1), expected);
        assert_eq!(phases(&members, (0, 100), 15), [expected[0], expected[2]]);
    }
}
