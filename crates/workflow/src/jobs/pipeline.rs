//! Jobs that must run together: `a | b | c` whose processes talk through a pipe is one job.

use super::divide::Division;
use super::launch::Launches;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::PathId;
use iotrail_query::{LifeId, Lives};

/// Heads of jobs that run together.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// In the order of the pipeline.
    pub(crate) heads: Vec<LifeId>,
    /// Why it is no pipeline that can be written down.
    pub(crate) why_not: Option<String>,
    /// Whether one end of it is connected to the manager by a pipe.
    pub(crate) to_manager: bool,
}

/// The groups, and which each process belongs to.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    /// Sorted by the start of their first process.
    pub(crate) groups: Vec<Group>,
    /// For each process its group; `None` for managers.
    pub(crate) of_life: Vec<Option<u32>>,
}

#[derive(Debug, Default)]
struct Ends {
    writers: Vec<u32>,
    readers: Vec<u32>,
}

/// Merges jobs whose standard output and input are one pipe.
pub(crate) fn merge(lives: &Lives, launches: &Launches, division: &Division) -> Merged {
    let ends = ends(launches, division);
    let mut of_head: Vec<u32> = (0..division.heads.len() as u32).collect();
    for end in ends.values().filter(|ends| !ends.writers.is_empty() && !ends.readers.is_empty()) {
        let mut all = end.writers.iter().chain(&end.readers).map(|&head| root(&of_head, head));
        let Some(first) = all.next() else { continue };
        for other in all.collect::<Vec<_>>() {
            let (low, high) = (root(&of_head, first), root(&of_head, other));
            of_head[low.max(high) as usize] = low.min(high);
        }
    }
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); of_head.len()];
    for head in 0..of_head.len() as u32 {
        members[root(&of_head, head) as usize].push(head);
    }
    let mut merged = Merged { groups: Vec::new(), of_life: vec![None; lives.all().len()] };
    let mut group_of_head = vec![0_u32; of_head.len()];
    for heads in members.into_iter().filter(|heads| !heads.is_empty()) {
        for &head in &heads {
            group_of_head[head as usize] = merged.groups.len() as u32;
        }
        merged.groups.push(group(launches, division, &heads, &ends));
    }
    for (place, head) in division.of_life.iter().enumerate() {
        merged.of_life[place] = head.map(|head| group_of_head[head as usize]);
    }
    merged
}

fn root(of_head: &[u32], mut head: u32) -> u32 {
    while of_head[head as usize] != head {
        head = of_head[head as usize];
    }
    head
}

/// Which heads have each pipe as standard output and as standard input.
fn ends(launches: &Launches, division: &Division) -> HashMap<PathId, Ends, RandomState> {
    let mut ends: HashMap<PathId, Ends, RandomState> = HashMap::default();
    for (head, &life) in division.heads.iter().enumerate() {
        let (input, output) = (launches.pipe(life, 0), launches.pipe(life, 1));
        if input.is_some() && input == output {
            continue;
        }
        if let Some(pipe) = output {
            ends.entry(pipe).or_default().writers.push(head as u32);
        }
        if let Some(pipe) = input {
            ends.entry(pipe).or_default().readers.push(head as u32);
        }
    }
    ends
}

fn group(
    launches: &Launches,
    division: &Division,
    heads: &[u32],
    ends: &HashMap<PathId, Ends, RandomState>,
) -> Group {
    let life = |head: u32| division.heads[head as usize];
    let mut group = Group { heads: heads.iter().map(|&head| life(head)).collect(), ..Group::default() };
    let pipes = |head: u32| [launches.pipe(life(head), 1), launches.pipe(life(head), 0)];
    for pipe in heads.iter().flat_map(|&head| pipes(head)).flatten() {
        let Some(ends) = ends.get(&pipe) else { continue };
        match (ends.writers.len(), ends.readers.len()) {
            (1, 1) => {}
            (0, _) | (_, 0) => group.to_manager |= launches.carried.contains(&pipe),
            _ => group.why_not = Some("several commands share one end of a pipe".to_owned()),
        }
    }
    if heads.len() < 2 || group.why_not.is_some() {
        return group;
    }
    let next = |head: u32| {
        let ends = ends.get(&launches.pipe(life(head), 1)?)?;
        ends.readers.first().copied()
    };
    let is_read = |head: u32| {
        launches
            .pipe(life(head), 0)
            .and_then(|pipe| ends.get(&pipe))
            .is_some_and(|ends| !ends.writers.is_empty())
    };
    let mut chain = Vec::new();
    let mut at = heads.iter().copied().find(|&head| !is_read(head));
    while let Some(head) = at.filter(|_| chain.len() < heads.len()) {
        chain.push(life(head));
        at = next(head);
    }
    if chain.len() == heads.len() {
        group.heads = chain;
    } else {
        group.why_not = Some("the pipes between its commands are no chain".to_owned());
    }
    group
}
