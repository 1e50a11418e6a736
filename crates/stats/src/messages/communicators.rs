//! Which communicators the processes of a log made, and which of them are the same.
//!
//! Each process numbers the communicators that it makes one after the other (docs/mpi.md). All members of a communicator make others from it in the
//! same order; so one is told by the one that it was made from, how many were made of that before, and its first rank.

use iotrail_model::{CaseId, Pid};
use std::collections::HashMap;

/// The number of `MPI_COMM_WORLD` in each process.
pub const WORLD: i32 = 0;
/// The number of `MPI_COMM_SELF`.
pub const SELF: i32 = 1;

/// A communicator as one process has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The same for all its members.
    pub group: u32,
    /// The rank of the process.
    pub rank: u32,
}

/// A call that makes a communicator, as it is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Who has the same is in the same communicator; none if the process is in none.
    pub color: Option<i32>,
    /// The rank in it.
    pub key: i32,
    /// Its number in the process.
    pub number: i32,
}

/// A process.
pub type ProcessKey = (CaseId, Pid);

/// Who makes a communicator, and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Makes {
    /// All ranks of another one.
    All,
    /// All ranks of another one, and its ranks are not known.
    Unknown,
    /// Some ranks of another one, or others.
    Some,
}

impl Makes {
    /// What the call of that name makes; none if it makes no communicator.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            "MPI_Comm_split"
            | "MPI_Comm_split_type"
            | "MPI_Comm_dup"
            | "MPI_Comm_dup_with_info"
            | "MPI_Comm_create"
            | "MPI_Cart_create"
            | "MPI_Cart_sub"
            | "MPI_Graph_create"
            | "MPI_Dist_graph_create"
            | "MPI_Dist_graph_create_adjacent" => Self::All,
            "MPI_Comm_idup"
            | "MPI_Comm_idup_with_info"
            | "MPI_Intercomm_create"
            | "MPI_Intercomm_create_from_groups" => Self::Unknown,
            "MPI_Comm_create_group" | "MPI_Comm_create_from_group" | "MPI_Intercomm_merge" => Self::Some,
            _ => return None,
        })
    }
}

/// A call that makes a communicator, as recorded.
#[derive(Clone, Copy, Debug)]
pub struct Creation {
    /// The number of the call in its case.
    pub seq: u64,
    /// The number of the communicator that it is made from.
    pub parent: Option<i32>,
    /// Who makes it.
    pub how: Makes,
    /// The first of its ranks, as a rank of `MPI_COMM_WORLD`, and the own rank in it; none if the process is in none, or nothing is known.
    pub first_and_own: Option<(i32, u32)>,
}

impl Creation {
    /// Of the columns of an event that did not fail.
    #[must_use]
    pub fn new(seq: u64, parent: Option<i32>, how: Makes, peer: Option<i32>, tag: Option<i32>) -> Self {
        let own = tag.and_then(|rank| u32::try_from(rank).ok());
        Self { seq, parent, how, first_and_own: peer.filter(|first| *first >= 0).zip(own) }
    }
}

/// What tells a communicator: the one that it was made from, how many were made of that before, its first rank.
type Identity = (u32, u32, i32);

/// The communicators of all processes.
#[derive(Debug, Default)]
pub struct Communicators {
    creations: HashMap<ProcessKey, Vec<Creation>>,
    members: HashMap<(ProcessKey, i32), Member>,
    splits: HashMap<(CaseId, u64), Split>,
    groups: HashMap<Identity, u32>,
    sizes: Vec<u32>,
}

/// What stands in place of the one that it was made from.
const NONE: u32 = u32::MAX;

impl Communicators {
    /// Notes a call of a process that makes a communicator.
    pub fn add(&mut self, process: ProcessKey, creation: Creation) {
        self.creations.entry(process).or_default().push(creation);
    }

    /// Adds what another one noted.
    pub fn merge(&mut self, other: Self) {
        for (process, creations) in other.creations {
            self.creations.entry(process).or_default().extend(creations);
        }
    }

    /// All are known: those of processes with these ranks.
    pub fn finish(&mut self, ranks: u32, processes: &HashMap<ProcessKey, u32>) {
        self.group((NONE, 0, 0));
        self.sizes[0] = ranks;
        let mut sorted: Vec<_> = processes.iter().map(|(process, rank)| (*process, *rank)).collect();
        sorted.sort_unstable_by_key(|(process, rank)| (*rank, process.0, process.1.0));
        for (process, rank) in sorted {
            self.members.insert((process, WORLD), Member { group: 0, rank });
            let own = self.group((NONE, 1, rank as i32));
            self.sizes[own as usize] = 1;
            self.members.insert((process, SELF), Member { group: own, rank: 0 });
            let mut creations = self.creations.remove(&process).unwrap_or_default();
            creations.sort_by_key(|creation| creation.seq);
            self.of_process(process, &creations);
        }
    }

    fn of_process(&mut self, process: ProcessKey, creations: &[Creation]) {
        let mut next = SELF + 1;
        let mut made_of: HashMap<u32, u32> = HashMap::new();
        for creation in creations {
            let is_numbered = creation.first_and_own.is_some() || creation.how == Makes::Unknown;
            let number = if is_numbered { next } else { -1 };
            next += i32::from(is_numbered);
            let parent = creation.parent.and_then(|parent| self.members.get(&(process, parent))).copied();
            let Some(parent) = parent.filter(|_| creation.how != Makes::Some) else { continue };
            let before = made_of.entry(parent.group).or_default();
            let identity = (parent.group, *before);
            *before += 1;
            if creation.how != Makes::All {
                continue;
            }
            let split = Split {
                color: creation.first_and_own.map(|(first, _)| first),
                key: creation.first_and_own.map_or(0, |(_, own)| own as i32),
                number,
            };
            self.splits.insert((process.0, creation.seq), split);
            if let Some((first, rank)) = creation.first_and_own {
                let group = self.group((identity.0, identity.1, first));
                self.sizes[group as usize] += 1;
                self.members.insert((process, number), Member { group, rank });
            }
        }
    }

    fn group(&mut self, identity: Identity) -> u32 {
        let next = self.groups.len() as u32;
        let group = *self.groups.entry(identity).or_insert(next);
        if group == next {
            self.sizes.push(0);
        }
        group
    }

    /// A communicator of a process; none if it is not known.
    #[must_use]
    pub fn member(&self, process: ProcessKey, number: i32) -> Option<Member> {
        self.members.get(&(process, number)).copied()
    }

    /// All that are known: process, number, and what it is.
    pub fn members(&self) -> impl Iterator<Item = (ProcessKey, i32, Member)> {
        self.members.iter().map(|((process, number), member)| (*process, *number, *member))
    }

    /// Its ranks.
    #[must_use]
    pub fn size(&self, member: Member) -> u32 {
        self.sizes.get(member.group as usize).copied().unwrap_or(1).max(1)
    }

    /// How the communicator is made again that the call of that number of a case made.
    #[must_use]
    pub fn split(&self, case: CaseId, seq: u64) -> Option<Split> {
        self.splits.get(&(case, seq)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(case: u32) -> ProcessKey {
        (CaseId(case), Pid(case))
    }

    #[test]
    fn members_tell_the_same_communicator_whatever_its_number_is() {
        let mut all = Communicators::default();
        let mut add = |case: u32, seq, comm, how, made: Option<(i32, i32)>| {
            let (first, own) = made.unzip();
            all.add(process(case), Creation::new(seq, Some(comm), how, first, own));
        };
        // Ranks 0 and 2 are one half, 1 is the other; then 0 and 1 get one that 2 is not in.
        for (rank, half, both) in [(0, (0, 0), Some((0, 0))), (1, (1, 0), Some((0, 1))), (2, (0, 1), None)] {
            if rank == 1 {
                add(1, 1, SELF, Makes::All, Some((1, 0)));
            }
            add(rank, 2, WORLD, Makes::All, Some(half));
            add(rank, 3, WORLD, Makes::All, both);
            add(rank, 4, WORLD, Makes::Unknown, None);
        }
        all.finish(3, &(0..3).map(|rank| (process(rank), rank)).collect());
        let member = |rank, number| all.member(process(rank), number);
        let group = |rank, number| member(rank, number).map(|found| found.group);
        assert_eq!(group(0, 2), group(2, 2));
        assert_eq!(group(0, 3), group(1, 4));
        assert_ne!(group(1, 2), group(1, 3));
        assert_eq!(member(0, 2).map(|found| all.size(found)), Some(2));
        assert_eq!((member(2, 3), member(0, 4), member(1, 5)), (None, None, None), "not known");
        let none = Split { color: None, key: 0, number: -1 };
        assert_eq!(all.split(CaseId(2), 3), Some(none));
        assert_eq!(all.split(CaseId(1), 3), Some(Split { color: Some(0), key: 1, number: 4 }));
    }

    #[test]
    fn calls_make_what_their_names_tell() {
        assert_eq!(Makes::of("MPI_Cart_sub"), Some(Makes::All));
        assert_eq!((Makes::of("MPI_Comm_idup"), Makes::of("MPI_Comm_free")), (Some(Makes::Unknown), None));
    }
}
