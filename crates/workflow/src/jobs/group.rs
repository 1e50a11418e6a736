//! Jobs that must run together: commands that talk through a pipe, or go on where another left an open file.

use super::divide::Division;
use super::programs::{FileOpenId, Handle, ProgramId, Programs};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::PathId;
use iotrail_query::ProcessTable;
use std::collections::{BTreeMap, BTreeSet};

/// What a descriptor of a command shall be when it runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum DescriptorTarget {
    /// An open file; commands of a group that have the same share it.
    File(FileOpenId),
    /// A pipe between commands of a group.
    Pipe(PathId),
    /// Nothing comes of it: `/dev/null`.
    Null,
    /// Closed.
    Closed,
}

/// Descriptors that a command needs; the others are those of whoever runs it.
pub(crate) type Needed = BTreeMap<i32, DescriptorTarget>;

/// Commands with their descriptors, and which must run together.
#[derive(Debug, Default)]
pub(crate) struct Together {
    /// For each head what it needs.
    pub(crate) needed: Vec<Needed>,
    /// For each head the group that it is in, an index into `groups`.
    pub(crate) of_head: Vec<u32>,
    /// Heads of each group, sorted.
    pub(crate) groups: Vec<Vec<u32>>,
    /// For each open the head whose action it is, where a manager opened the file for it.
    pub(crate) opened_for: HashMap<FileOpenId, u32, RandomState>,
    /// Heads of which one end of a pipe leads to a manager.
    pub(crate) to_manager: BTreeSet<u32>,
}

/// Descriptors that a shell's syntax has a digit for.
const DIGITS: std::ops::RangeInclusive<i32> = 0..=9;

/// Which heads use a pipe or an open file, and which merely have it.
#[derive(Debug, Default)]
struct Holders {
    held: Vec<(u32, i32)>,
    users: BTreeSet<u32>,
}

/// Finds what must run together; `joined` are sets of heads that must in any case.
pub(crate) fn together(
    programs: &Programs,
    processes: &ProcessTable,
    division: &Division,
    joined: &[Vec<u32>],
) -> Together {
    let count = division.heads.len();
    let mut together = Together { needed: vec![Needed::new(); count], ..Together::default() };
    let mut union = Union((0..count as u32).collect());
    let (files, pipes) = holders(programs, processes, division, &mut together);
    for (open, holders) in &files {
        let alone = holders.held.iter().map(|(head, _)| *head).collect::<BTreeSet<u32>>();
        let mut users = if alone.len() == 1 { alone } else { holders.users.clone() };
        if users.is_empty() {
            users.extend(holders.held.first().map(|(head, _)| *head));
        }
        union.join(&users);
        together.opened_for.extend(users.first().map(|first| (*open, *first)));
        give(&mut together.needed, holders, &users, DescriptorTarget::File(*open));
    }
    for (pipe, holders) in &pipes {
        let users = pipe_users(programs, division, *pipe, holders, &mut together.to_manager);
        union.join(&users);
        give(&mut together.needed, holders, &users, DescriptorTarget::Pipe(*pipe));
    }
    for heads in joined {
        union.join(&heads.iter().copied().collect());
    }
    let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
    for head in 0..count as u32 {
        let root = union.root(head);
        let number = *numbers.entry(root).or_insert_with(|| {
            together.groups.push(Vec::new());
            together.groups.len() as u32 - 1
        });
        together.of_head.push(number);
        together.groups[number as usize].push(head);
    }
    together
}

fn give(needed: &mut [Needed], holders: &Holders, users: &BTreeSet<u32>, wanted: DescriptorTarget) {
    for (head, fd) in &holders.held {
        let wanted = if users.contains(head) { wanted } else { DescriptorTarget::Null };
        needed[*head as usize].insert(*fd, wanted);
    }
}

type ByOpen = BTreeMap<FileOpenId, Holders>;
type ByPipe = BTreeMap<PathId, Holders>;

fn holders(
    programs: &Programs,
    processes: &ProcessTable,
    division: &Division,
    together: &mut Together,
) -> (ByOpen, ByPipe) {
    let head_of = |program: &ProgramId| division.of_program[program.index()];
    let (mut files, mut pipes) = (ByOpen::new(), ByPipe::new());
    for (number, head) in division.heads.iter().enumerate() {
        let number = number as u32;
        let line = programs.image(programs.get(*head), processes).cmdline.as_deref().unwrap_or_default();
        for (fd, handle) in &programs.get(*head).table {
            let standard = (0..=2).contains(fd) || names(line, *fd);
            match handle {
                Handle::File(open) => {
                    let used =
                        programs.opening(*open).used_by.iter().any(|user| head_of(user) == Some(number));
                    if standard || used {
                        files.entry(*open).or_default().held.push((number, *fd));
                    }
                    if used {
                        files.entry(*open).or_default().users.insert(number);
                    }
                }
                Handle::Pipe(pipe) => {
                    let traffic = &programs.pipes[pipe];
                    let used = traffic
                        .readers
                        .iter()
                        .chain(&traffic.writers)
                        .any(|user| head_of(user) == Some(number));
                    if standard || used && DIGITS.contains(fd) {
                        pipes.entry(*pipe).or_default().held.push((number, *fd));
                    }
                }
                Handle::Closed => {
                    together.needed[number as usize].insert(*fd, DescriptorTarget::Closed);
                }
            }
        }
    }
    (files, pipes)
}

/// Whether a command line names a descriptor, as `/dev/fd/3` or `/proc/self/fd/3`.
fn names(line: &str, fd: i32) -> bool {
    let number = fd.to_string();
    line.split("/fd/").skip(1).any(|rest| {
        rest.strip_prefix(&*number).is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
    })
}

/// The commands between which data goes through a pipe.
fn pipe_users(
    programs: &Programs,
    division: &Division,
    pipe: PathId,
    holders: &Holders,
    to_manager: &mut BTreeSet<u32>,
) -> BTreeSet<u32> {
    let traffic = &programs.pipes[&pipe];
    let heads = |users: &BTreeSet<ProgramId>| -> BTreeSet<u32> {
        users.iter().filter_map(|user| division.of_program[user.index()]).collect()
    };
    let by_manager =
        |users: &BTreeSet<ProgramId>| users.iter().any(|user| division.of_program[user.index()].is_none());
    let (mut writers, mut readers) = (heads(&traffic.writers), heads(&traffic.readers));
    let held = |end: bool| -> BTreeSet<u32> {
        let of_end = holders.held.iter().filter(|(_, fd)| (*fd == 0) == end);
        of_end.map(|(head, _)| *head).collect()
    };
    if readers.is_empty() && !by_manager(&traffic.readers) {
        readers = Some(held(true)).filter(|held| held.len() == 1).unwrap_or_default();
    }
    if writers.is_empty() && !by_manager(&traffic.writers) {
        writers = Some(held(false)).filter(|held| held.len() == 1).unwrap_or_default();
    }
    if readers.is_empty() || writers.is_empty() {
        if by_manager(&traffic.readers) || by_manager(&traffic.writers) {
            to_manager.extend(writers.iter().chain(&readers));
        }
        return BTreeSet::new();
    }
    writers.extend(readers);
    writers
}

/// Sets of heads that are joined.
struct Union(Vec<u32>);

impl Union {
    fn root(&self, mut at: u32) -> u32 {
        while self.0[at as usize] != at {
            at = self.0[at as usize];
        }
        at
    }

    fn join(&mut self, heads: &BTreeSet<u32>) {
        let Some(first) = heads.first() else { return };
        for other in heads {
            let (a, b) = (self.root(*first), self.root(*other));
            self.0[a.max(b) as usize] = a.min(b);
        }
    }
}
