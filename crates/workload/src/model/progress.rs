//! Whether all ranks of a program come to its end: nobody waits for what never comes.

use super::{Action, MessageHalf, Model, RequestKind, Sharing, Synthetic, synthesise};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
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
    /// It takes a lock, which others may have at the same time if it is shared.
    Locks(Locked, bool),
    Unlocks(Locked),
    After {
        rank: u32,
        session: (usize, usize),
        execution: u64,
    },
}

/// A shared file that is locked: its index, and which of the files of that name.
type Locked = (usize, u64);

/// Ranks that wait for each other for ever: each with what it waits for, from the first one on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck(Vec<(u32, String)>);

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (rank, awaited)) in self.0.iter().enumerate() {
            write!(f, "{}rank {rank} waits for {awaited}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl Model {
    /// Ranks among so many that wait for ever; NULL if all come to the end.
    #[must_use]
    pub fn stuck(&self, ranks: u32, seed: u64) -> Option<Stuck> {
        let meetings: Vec<Vec<Meeting>> =
            (0..ranks).map(|rank| self.meetings_of((rank, ranks), seed)).collect();
        let mut progress = Progress::new(self, ranks, &meetings);
        progress.go(&meetings);
        let waits = |rank: &u32| progress.next[*rank as usize] < meetings[*rank as usize].len();
        let (mut chain, mut rank) = (Vec::new(), (0..ranks).find(waits)?);
        while !chain.iter().any(|(known, _)| *known == rank) && chain.len() < SHOWN {
            let (other, awaited) = progress.awaited(rank, &meetings);
            chain.push((rank, awaited));
            rank = other;
        }
        Some(Stuck(chain))
    }

    fn meetings_of(&self, rank: (u32, u32), seed: u64) -> Vec<Meeting> {
        let follows = self.has_waits();
        let mut meetings = Vec::new();
        let mut locks = Locks { model: self, open: HashMap::new(), held: HashSet::new() };
        let ended = synthesise(self, rank, seed, &mut |step| {
            locks.follow(&step, &mut meetings);
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

/// The locks of shared files that a rank holds.
struct Locks<'a> {
    model: &'a Model,
    /// What is open.
    open: HashMap<u32, Locked>,
    /// Open files whose lock it has.
    held: HashSet<u32>,
}

impl Locks<'_> {
    /// A lock within which the rank meets nobody, and that it takes with no other, holds nobody up for ever: it is no meeting.
    fn follow(&mut self, step: &Synthetic, meetings: &mut Vec<Meeting>) {
        let open = step.open;
        match step.action {
            Action::Open { file, number, .. } if self.model.files[file].class == Sharing::Shared => {
                self.open.insert(open, (file, number));
            }
            Action::Request(kind @ (RequestKind::Lock | RequestKind::LockShared)) => {
                if let Some(locked) = self.open.get(&open).copied() {
                    self.held.insert(open);
                    meetings.push(Meeting::Locks(locked, kind == RequestKind::LockShared));
                }
            }
            Action::Request(RequestKind::Unlock) | Action::Close if self.held.remove(&open) => {
                let Some(locked) = self.open.get(&open).copied() else { return };
                match meetings.last() {
                    Some(Meeting::Locks(last, _)) if *last == locked && self.held.is_empty() => {
                        meetings.pop();
                    }
                    _ => meetings.push(Meeting::Unlocks(locked)),
                }
            }
            _ => {}
        }
        if step.action == Action::Close {
            self.open.remove(&open);
        }
    }
}

/// A longer chain of ranks that wait for each other is cut.
const SHOWN: usize = 8;

/// How far ranks are.
struct Progress<'a> {
    model: &'a Model,
    /// Of each rank which of its meetings comes next.
    next: Vec<usize>,
    given: HashMap<(u32, u32), u64>,
    /// What is given in all: more is not waited for.
    all: HashMap<(u32, u32), u64>,
    ended: BTreeMap<(u32, usize, usize), u64>,
    /// Who has locks, and whether others may have them, too.
    locks: HashMap<Locked, (Vec<u32>, bool)>,
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
        Self { model, next, given: HashMap::new(), all, ended: BTreeMap::new(), locks: HashMap::new() }
    }

    /// Lets all ranks go on as far as they can.
    fn go(&mut self, meetings: &[Vec<Meeting>]) {
        let mut ready: Vec<u32> = (0..self.next.len() as u32).rev().collect();
        // Ranks that wait for something of each rank, and how many are at a barrier of each group.
        let mut waiting: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut locked_out: HashMap<Locked, Vec<u32>> = HashMap::new();
        let groups = self.model.groups.len();
        let sizes: Vec<usize> = (0..groups).map(|group| self.members(group).count()).collect();
        let mut arrived = vec![0; groups];
        while let Some(rank) = ready.pop() {
            while let Some(meeting) = meetings[rank as usize].get(self.next[rank as usize]).copied() {
                if let Meeting::Barrier(group) = meeting {
                    arrived[group] += 1;
                    if arrived[group] < sizes[group] {
                        break;
                    }
                    arrived[group] = 0;
                    let members: Vec<u32> = self.members(group).collect();
                    members.iter().for_each(|member| self.next[*member as usize] += 1);
                    ready.extend(members.into_iter().filter(|member| *member != rank));
                    continue;
                }
                if !self.passes(rank, meeting) {
                    if let Meeting::Gets(from, _) | Meeting::After { rank: from, .. } = meeting {
                        waiting.entry(from).or_default().push(rank);
                    }
                    if let Meeting::Locks(locked, _) = meeting {
                        locked_out.entry(locked).or_default().push(rank);
                    }
                    break;
                }
                self.next[rank as usize] += 1;
                if matches!(meeting, Meeting::Gives(_) | Meeting::Ends(..)) {
                    ready.extend(waiting.remove(&rank).into_iter().flatten());
                }
                if let Meeting::Unlocks(locked) = meeting {
                    ready.extend(locked_out.remove(&locked).into_iter().flatten());
                }
            }
        }
    }

    fn members(&self, group: usize) -> impl Iterator<Item = u32> {
        let of = &self.model.groups[group];
        (0..self.next.len() as u32).filter(|rank| of.contains(*rank))
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
            Meeting::Locks(locked, shared) => {
                let (holders, all_shared) = self.locks.entry(locked).or_insert((Vec::new(), true));
                let free = holders.is_empty() || shared && *all_shared;
                if free {
                    holders.push(rank);
                    *all_shared = shared;
                }
                free
            }
            Meeting::Unlocks(locked) => {
                if let Some((holders, _)) = self.locks.get_mut(&locked) {
                    holders.retain(|holder| *holder != rank);
                }
                true
            }
            Meeting::After { rank, session: (file, session), execution } => {
                self.ended.get(&(rank, file, session)).is_some_and(|ended| *ended > execution)
            }
        }
    }

    /// For whom a rank waits, and what for.
    fn awaited(&self, rank: u32, meetings: &[Vec<Meeting>]) -> (u32, String) {
        let next = |rank: u32| meetings[rank as usize].get(self.next[rank as usize]);
        match next(rank) {
            Some(Meeting::Gets(from, number)) => (*from, format!("message {} of rank {from}", number + 1)),
            Some(Meeting::After { rank: other, session: (file, session), execution }) => {
                let file = &self.model.files[*file];
                let session = &file.sessions[*session].name;
                (*other, format!("execution {} of {}/{session} by rank {other}", execution + 1, file.name))
            }
            Some(Meeting::Locks(locked, _)) => {
                let holder = self.locks.get(locked).and_then(|(holders, _)| holders.first());
                let other = holder.copied().unwrap_or(rank);
                (other, format!("the lock of {} that rank {other} has", self.model.files[locked.0].name))
            }
            Some(Meeting::Barrier(group)) => {
                let of = &self.model.groups[*group];
                let is_there = |other: u32| matches!(next(other), Some(Meeting::Barrier(of)) if of == group);
                let ranks = self.next.len() as u32;
                let other = (0..ranks).find(|other| of.contains(*other) && !is_there(*other)).unwrap_or(rank);
                (other, format!("rank {other} in a barrier of {}", of.name))
            }
            _ => (rank, "nobody".to_owned()),
        }
    }
}
