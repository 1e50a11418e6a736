//! A model of distributions, from which paths are drawn, and the recorded paths in the words of a model.
//!
//! Source: PIONEER, table III and algorithm 1; definitions: docs/workload.md.

use crate::names::{Kinds, sharing, word};
use crate::program::{Modelled, Program, Target, WithoutLaw};
use crate::sessions::{Execution, RankSessions};
use crate::streams::Frame;
use iotrail_workload::{
    Action, Class, FileKind, Group, Model, ModelFile, PathBarrier, Profile, Ratio, Sharing, Synthetic,
};
use std::collections::BTreeMap;

/// The whole of a path, as barriers of a model count.
const WHOLE: u64 = 1_000_000;
/// More places of barriers are represented by so many.
const PLACES: usize = 64;

/// Classes of a model whose paths are drawn.
pub(crate) struct PaperClasses {
    /// Of each kind of file its class.
    pub(crate) of_kind: Vec<usize>,
    /// Of each file the first one that has its name.
    named: Vec<usize>,
    classes: Vec<(Sharing, FileKind)>,
}

impl PaperClasses {
    /// The classes of the paper (root, shared, private), apart for files, directories and what is not there.
    pub(crate) fn of(kinds: &Kinds) -> Self {
        let mut classes: Vec<(Sharing, FileKind)> = Vec::new();
        let of_kind = kinds.kinds.iter().map(|kind| {
            let sharing = match kind.classed.class {
                Class::Exclusive(_) => Sharing::Private,
                ref class => sharing(class),
            };
            let class = (sharing, kind.what);
            classes.iter().position(|known| *known == class).unwrap_or_else(|| {
                classes.push(class);
                classes.len() - 1
            })
        });
        let of_kind = of_kind.collect();
        Self { of_kind, named: kinds.named.clone(), classes }
    }

    /// The classes that validations tell apart: exclusive files are no private ones, and those of some ranks no shared ones.
    pub(crate) fn of_validation(kinds: &Kinds) -> Self {
        let mut words: Vec<(&str, FileKind)> = Vec::new();
        let of_kind = kinds.kinds.iter().map(|kind| {
            let class = (word(&kind.classed.class), kind.what);
            words.iter().position(|known| *known == class).unwrap_or_else(|| {
                words.push(class);
                words.len() - 1
            })
        });
        Self { of_kind: of_kind.collect(), named: kinds.named.clone(), classes: Vec::new() }
    }

    fn file(&self, class: usize, profile: &Profile) -> ModelFile {
        let (class_of, kind) = self.classes[class];
        let count = profile.most_files(class).max(1);
        let base = match class_of {
            Sharing::Root => word(&Class::Root),
            Sharing::Shared => word(&Class::Shared),
            Sharing::Private => word(&Class::Private),
        };
        let what = match kind {
            FileKind::File => "",
            FileKind::Directory => "-directory",
            FileKind::Absent => "-absent",
        };
        let rank = if class_of == Sharing::Private { ".%r" } else { "" };
        let number = if count > 1 { ".%i" } else { "" };
        ModelFile {
            name: format!("{base}{what}{rank}{number}"),
            count,
            class: class_of,
            kind,
            size: 0,
            lengths: Vec::new(),
            present: false,
            call_slack: Vec::new(),
            times: Ratio::ONE,
            call_times: Ratio::ONE,
            filled: false,
            sessions: Vec::new(),
            statistics: Vec::new(),
        }
    }
}

/// The steps of a rank as a model has them: of a class of files a recorded one is the number.
pub(crate) fn recorded(rank: &RankSessions, classes: &PaperClasses) -> Vec<Synthetic> {
    let mut places: Vec<(u32, usize, usize)> = Vec::new();
    for (number, execution) in rank.executions.iter().enumerate() {
        let all = execution.positions.iter().enumerate().map(|(at, position)| (*position, number, at));
        // A path that is drawn takes no locks.
        let is_lock = |at: usize| {
            at.checked_sub(1).and_then(|at| execution.kinds.get(at)).is_some_and(|kind| kind.is_of_lock())
        };
        places.extend(all.filter(|(.., at)| execution.shape.call.is_some() || !is_lock(*at)));
    }
    places.sort_unstable();
    let mut transfers: Vec<usize> = vec![0; rank.executions.len()];
    let step = |(_, number, at): (u32, usize, usize)| {
        let execution = &rank.executions[number];
        let file = classes.of_kind[execution.kind];
        let name = classes.named[execution.file] as u64;
        let action = action(execution, at, (file, name), &mut transfers[number]);
        let unseen = usize::from(!execution.opened && execution.shape.call.is_none());
        let slack = at.checked_sub(unseen).and_then(|at| execution.slack.get(at)?.get()).unwrap_or_default();
        Synthetic {
            action,
            slack,
            duration: execution.took.0 / execution.took.1.max(1),
            of: Some((file, 0)),
            open: number as u32,
        }
    };
    places.into_iter().map(step).collect()
}

fn action(execution: &Execution, at: usize, (file, number): (usize, u64), transfers: &mut usize) -> Action {
    if let Some(call) = execution.shape.call {
        return Action::Call { call, file, number, to: None };
    }
    let Some(kind) = at.checked_sub(1).and_then(|at| execution.kinds.get(at)).copied() else {
        return if at == 0 {
            Action::Open { file, number, mode: execution.shape.mode() }
        } else {
            Action::Close
        };
    };
    if !kind.is_transfer() {
        return Action::Request(kind);
    }
    let transfer = execution.transfers.get(*transfers).copied();
    *transfers += 1;
    let (offset, size) = transfer.map_or((0, 0), |of| (of.offset.get().unwrap_or_default(), of.size));
    Action::Transfer { kind, offset, size }
}

/// What is measured of all ranks.
pub(crate) fn measured(ranks: &[RankSessions], groups: &[Group], classes: &PaperClasses) -> Profile {
    let mut profile = Profile::default();
    for (group, of) in groups.iter().enumerate() {
        for rank in &of.members {
            profile.add_rank(group, &recorded(&ranks[*rank], classes), |class| class);
        }
    }
    profile
}

/// A model from which paths are drawn. Where groups are no ranges of ranks, all ranks are one; answers how many groups these were beside it.
pub(crate) fn paper(
    frame: &Frame,
    ranks: &[RankSessions],
    groups: &[Group],
    classes: &PaperClasses,
    measured: &Profile,
) -> Modelled {
    let count = ranks.len() as u32;
    let mut program = Program::of(count);
    let members = |group: &Group| group.members.iter().map(|rank| *rank as u32).collect();
    let ranges: Vec<Option<usize>> = groups.iter().map(|group| program.group(&members(group))).collect();
    let of_no_range = ranges.iter().filter(|range| range.is_none()).count() as u64;
    let everybody = Group { representative: 0, members: (0..ranks.len()).collect() };
    let joined = if of_no_range > 0 {
        program = Program::of(count);
        program.group(&members(&everybody));
        let all = std::slice::from_ref(&everybody);
        (all, vec![Some(0)], Some(self::measured(ranks, all, classes)))
    } else {
        (groups, ranges, None)
    };
    let (groups, ranges, own) = joined;
    let profile = own.as_ref().unwrap_or(measured);
    let mut files: Vec<ModelFile> =
        (0..classes.classes.len()).map(|class| classes.file(class, profile)).collect();
    for (group, class) in profile.keys() {
        let file = &mut files[class];
        let doing = groups[group].members.len();
        let ranks = ranges[group].filter(|_| file.class != Sharing::Root && groups.len() > 1);
        file.statistics.push(profile.statistics((group, class), doing as u64, file.class, ranks));
    }
    let path = barriers(frame, ranks, groups, &mut program);
    let mut model = Model {
        ranks: Some(count),
        strong: false,
        groups: program.groups,
        files,
        steps: Vec::new(),
        path: Some(path),
    };
    for file in 0..model.files.len() {
        let read_before = model.files[file].kind == FileKind::File && model.is_there(file);
        if read_before {
            model.files[file].size = profile.file_size(file);
        }
    }
    let target = |execution: &Execution| {
        let file = classes.of_kind[execution.kind];
        execution.shape.call.map_or(Target::Session(file, 0), |call| Target::Call(file, call, None))
    };
    let targets = ranks.iter().map(|rank| rank.executions.iter().map(target).collect()).collect();
    Modelled {
        model,
        targets,
        overlapping: 0,
        without_law: WithoutLaw::default(),
        represented: 0,
        ordered: false,
        of_no_range,
    }
}

/// Where the ranks wait for each other: after which shares of the path of a rank of the largest group.
fn barriers(
    frame: &Frame,
    ranks: &[RankSessions],
    groups: &[Group],
    program: &mut Program,
) -> Vec<PathBarrier> {
    let largest =
        groups.iter().max_by_key(|group| (group.members.len(), std::cmp::Reverse(group.representative)));
    let Some(rank) = largest.map(|group| group.representative).filter(|_| ranks.len() > 1) else {
        return Vec::new();
    };
    let mut positions: Vec<u32> =
        ranks[rank].executions.iter().flat_map(|execution| execution.positions.iter().copied()).collect();
    positions.sort_unstable();
    let all = positions.len().max(1) as u64;
    let before = |barrier: usize| positions.partition_point(|position| (*position as usize) < barrier) as u64;
    let shares: Vec<u64> =
        frame.barriers[rank].iter().map(|barrier| (before(*barrier) * WHOLE + all / 2) / all).collect();
    let Some(group) = program.group(&(0..ranks.len() as u32).collect()).filter(|_| !shares.is_empty()) else {
        return Vec::new();
    };
    vec![PathBarrier { group, at: places(&shares) }]
}

/// Shares with how often each is there; of more than [`PLACES`] the means of slices.
fn places(shares: &[u64]) -> BTreeMap<u64, u64> {
    let mut at: BTreeMap<u64, u64> = BTreeMap::new();
    shares.iter().for_each(|share| *at.entry(*share).or_default() += 1);
    if at.len() <= PLACES {
        return at;
    }
    let bound = |place: usize| shares.len() * place / PLACES;
    let mut means = BTreeMap::new();
    for place in 0..PLACES {
        let slice = &shares[bound(place)..bound(place + 1)];
        let mean = slice.iter().sum::<u64>() / slice.len().max(1) as u64;
        *means.entry(mean).or_default() += slice.len() as u64;
    }
    means
}

/// What is measured of a model at its number of ranks; `class` is that of a file of the model.
pub(crate) fn made(model: &Model, groups: &[Group], class: impl Fn(usize) -> usize) -> Profile {
    let mut profile = Profile::default();
    let ranks: usize = groups.iter().map(|group| group.members.len()).sum();
    let mut steps = Vec::new();
    for (group, of) in groups.iter().enumerate() {
        for rank in &of.members {
            steps.clear();
            let ended = iotrail_workload::synthesise(model, (*rank as u32, ranks as u32), 0, &mut |step| {
                steps.push(step);
                std::ops::ControlFlow::<()>::Continue(())
            });
            debug_assert!(ended.is_continue());
            profile.add_rank(group, &steps, &class);
        }
    }
    profile
}
