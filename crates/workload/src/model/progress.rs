//! Whether all ranks of a program come to its end: nobody waits for what never comes.

use super::{Action, MessageHalf, Model, synthesise};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

/// Where a rank goes on only together with others.
#[derive(Clone, Copy, Debug)]
enum Meeting {
    Barrier(usize),
    Gives(u32),
    /// From whom, and which of those.
    Gets(u32, u64),
    /// It has ended one more execution of a session.
    Ends(usize, usize),
    After {
        rank: u32,
        session: (usize, usize),
        execution: u64,
    },
}

impl Model {
    /// A rank among so many that waits for ever; NULL if all come to the end.
    #[must_use]
    pub fn stuck(&self, ranks: u32, seed: u64) -> Option<u32> {
        let meetings: Vec<Vec<Meeting>> = (0..ranks).map(|rank| self.meetings((rank, ranks), seed)).collect();
        let mut progress = Progress::new(self, ranks, &meetings);
        while progress.sweep(&meetings) {}
        let ends = progress.next.iter().zip(&meetings);
        (0..).zip(ends).find(|(_, (next, meetings))| **next < meetings.len()).map(|(rank, _)| rank)
    }

    fn meetings(&self, rank: (u32, u32), seed: u64) -> Vec<Meeting> {
        let follows = self.has_waits();
        let mut meetings = Vec::new();
        let ended = synthesise(self, rank, seed, &mut |step| {
            meetings.extend(match step.action {
                Action::Barrier(group) => Some(Meeting::Barrier(group)),
                Action::Message { half: MessageHalf::Send, rank, .. } => Some(Meeting::Gives(rank)),
                Action::Message { half: MessageHalf::Receive, rank, number } => {
                    Some(Meeting::Gets(rank, number))
                }
                Action::After { rank, file, session, execution } => {
                    Some(Meeting::After { rank, session: (file, session), execution })
                }
                Action::Close => {
                    step.of.filter(|_| follows).map(|(file, session)| Meeting::Ends(file, session))
                }
                _ => None,
            });
            ControlFlow::<()>::Continue(())
        });
        debug_assert_eq!(ended, ControlFlow::Continue(()));
        meetings
    }
}

/// How far ranks are.
struct Progress<'a> {
    model: &'a Model,
    /// Of each rank which of its meetings comes next.
    next: Vec<usize>,
    given: HashMap<(u32, u32), u64>,
    /// What is given in all: more is not waited for.
    all: HashMap<(u32, u32), u64>,
    ended: BTreeMap<(u32, usize, usize), u64>,
}

impl<'a> Progress<'a> {
    fn new(model: &'a Model, ranks: u32, meetings: &[Vec<Meeting>]) -> Self {
        let mut all = HashMap::new();
        for (rank, own) in (0..).zip(meetings) {
            for meeting in own {
                if let Meeting::Gives(to) = meeting {
                    *all.entry((rank, *to)).or_insert(0) += 1;
                }
            }
        }
        let next = vec![0; ranks as usize];
        Self { model, next, given: HashMap::new(), all, ended: BTreeMap::new() }
    }

    /// Lets each rank go on as far as it can. Answers whether one did.
    fn sweep(&mut self, meetings: &[Vec<Meeting>]) -> bool {
        let mut moved = false;
        for (rank, own) in (0..).zip(meetings) {
            while let Some(meeting) = own.get(self.next[rank as usize])
                && self.passes(rank, *meeting)
            {
                self.next[rank as usize] += 1;
                moved = true;
            }
        }
        moved | self.pass_barriers(meetings)
    }

    fn passes(&mut self, rank: u32, meeting: Meeting) -> bool {
        match meeting {
            Meeting::Barrier(_) => false,
            Meeting::Gives(to) => {
                *self.given.entry((rank, to)).or_insert(0) += 1;
                true
            }
            Meeting::Gets(from, number) => {
                let of = |counts: &HashMap<(u32, u32), u64>| {
                    counts.get(&(from, rank)).copied().unwrap_or_default()
                };
                number < of(&self.given) || number >= of(&self.all)
            }
            Meeting::Ends(file, session) => {
                *self.ended.entry((rank, file, session)).or_insert(0) += 1;
                true
            }
            Meeting::After { rank, session: (file, session), execution } => {
                self.ended.get(&(rank, file, session)).is_some_and(|ended| *ended > execution)
            }
        }
    }

    fn pass_barriers(&mut self, meetings: &[Vec<Meeting>]) -> bool {
        let ranks = self.next.len() as u32;
        let mut moved = false;
        for (number, group) in self.model.groups.iter().enumerate() {
            let members = || (0..ranks).filter(|rank| group.contains(*rank)).map(|rank| rank as usize);
            let is_there = |rank: usize| matches!(meetings[rank].get(self.next[rank]), Some(Meeting::Barrier(of)) if *of == number);
            if members().next().is_some() && members().all(is_there) {
                members().for_each(|rank| self.next[rank] += 1);
                moved = true;
            }
        }
        moved
    }
}
