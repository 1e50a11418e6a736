//! From the sessions of all ranks to a model: its files, its kinds of sessions, the order that all ranks share.

use crate::CharacterizeError;
use crate::laws::{Place, law};
use crate::names::{Kinds, Naming, common_directory, kept, word};
use crate::sessions::{Execution, RankSessions, Shape};
use crate::streams::Streams;
use iotrail_trail::EventLog;
use iotrail_workload::{
    Class, Group, Model, ModelFile, ModelSession, PathElement, ProgramStep, RankGroup, RequestKind, Sharing,
    Step, path,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Most kinds of files, and of sessions, of a model.
const MOST: usize = 1 << 11;
/// More shapes of sessions of one class and mode are represented by so many.
const SHAPES: usize = 64;
/// A longer program is written as how often each session occurs between barriers.
const LONG: usize = 400;
/// Programs of groups that have more steps are not aligned: the largest group's is that of all.
const ALIGNED: usize = 20_000;

/// A model, and how it says what was recorded.
#[derive(Debug)]
pub(crate) struct Modelled {
    pub(crate) model: Model,
    /// Of each rank, of each execution: file and session of the model.
    pub(crate) sessions: Vec<Vec<(usize, usize)>>,
    /// Executions whose transfers follow no law.
    pub(crate) lawless: u64,
    /// Executions that are represented by others of their kind.
    pub(crate) represented: u64,
    /// Whether the order between sessions is kept.
    pub(crate) ordered: bool,
    /// Steps of ranks that are no range.
    pub(crate) of_no_range: u64,
}

/// The model of what ranks did.
pub(crate) fn model(
    log: &EventLog,
    streams: &Streams,
    kinds: &Kinds,
    ranks: &[RankSessions],
    groups: &[Group],
    naming: Naming,
) -> Result<Modelled, CharacterizeError> {
    let mut shapes = Shapes::of(ranks);
    let represented = shapes.represent();
    let files = Files::new(log, streams, kinds, ranks, &shapes, naming);
    let (files_of_model, numbers, lawless) = files.modelled(ranks, &shapes, streams);
    if files_of_model.len() > MOST || shapes.kept.len() > MOST {
        return Err(CharacterizeError::TooMany(files_of_model.len().max(shapes.kept.len()), MOST));
    }
    let of_execution =
        |execution: &Execution| numbers[&(files.of_kind[&execution.kind], shapes.number(execution))];
    let sessions: Vec<Vec<(usize, usize)>> =
        ranks.iter().map(|rank| rank.executions.iter().map(of_execution).collect()).collect();
    let mut program = Program { groups: Vec::new(), of_no_range: 0, ranks: streams.ranks.len() as u32 };
    let elements = aligned(streams, ranks, &sessions, groups);
    let atoms: Vec<ProgramStep> =
        elements.iter().filter_map(|element| program.step(element, groups, &files_of_model)).collect();
    let mut steps = fold(atoms.clone());
    let ordered = length(&steps) <= LONG;
    if !ordered {
        steps = fold(unordered(atoms));
    }
    if program.groups.is_empty() {
        program.group(&(0..program.ranks).collect());
    }
    let model = Model { groups: program.groups, files: files_of_model, steps };
    Ok(Modelled { model, sessions, lawless, represented, ordered, of_no_range: program.of_no_range })
}

/// The shapes of all sessions.
struct Shapes {
    /// How often each occurs.
    counts: BTreeMap<Shape, u64>,
    /// What represents each; its index in `kept`.
    kept: Vec<Shape>,
    of: HashMap<Shape, usize>,
}

impl Shapes {
    fn of(ranks: &[RankSessions]) -> Self {
        let mut counts: BTreeMap<Shape, u64> = BTreeMap::new();
        for execution in ranks.iter().flat_map(|rank| &rank.executions) {
            *counts.entry(execution.shape.clone()).or_default() += 1;
        }
        Self { counts, kept: Vec::new(), of: HashMap::new() }
    }

    /// Chooses what represents the shapes of each class and mode: themselves if they are few, else of each of equally
    /// many the one whose bytes are nearest to their mean. Answers how many executions others represent.
    fn represent(&mut self) -> u64 {
        let mut alike: BTreeMap<(usize, [bool; 5]), Vec<Counted<'_>>> = BTreeMap::new();
        for (shape, count) in &self.counts {
            alike.entry((shape.class, shape.mode)).or_default().push((shape, *count));
        }
        let mut represented = 0;
        for mut shapes in alike.into_values() {
            shapes.sort_by_key(|(shape, _)| shape.bytes());
            let pieces = if shapes.len() > SHAPES {
                pieces(&shapes)
            } else {
                shapes.iter().map(std::slice::from_ref).collect()
            };
            for piece in pieces {
                let chosen = nearest_to_mean(piece);
                let number = self.kept.len();
                self.kept.push(piece[chosen].0.clone());
                for (at, (shape, count)) in piece.iter().enumerate() {
                    represented += if at == chosen { 0 } else { *count };
                    self.of.insert((*shape).clone(), number);
                }
            }
        }
        represented
    }

    fn number(&self, execution: &Execution) -> usize {
        self.of.get(&execution.shape).copied().unwrap_or_default()
    }
}

/// A shape, and how many executions have it.
type Counted<'a> = (&'a Shape, u64);

/// At most [`SHAPES`] pieces with about equally many executions.
fn pieces<'a, 'b>(shapes: &'b [Counted<'a>]) -> Vec<&'b [Counted<'a>]> {
    let all: u64 = shapes.iter().map(|(_, count)| count).sum();
    let (mut before, mut begin, mut pieces) = (0, 0, Vec::new());
    for (at, (_, count)) in shapes.iter().enumerate() {
        before += count;
        let wanted = all * (pieces.len() as u64 + 1) / SHAPES as u64;
        if before >= wanted && before > 0 {
            pieces.push(&shapes[begin..=at]);
            begin = at + 1;
        }
    }
    if begin < shapes.len() {
        pieces.push(&shapes[begin..]);
    }
    pieces
}

fn nearest_to_mean(shapes: &[Counted<'_>]) -> usize {
    let all: u64 = shapes.iter().map(|(_, count)| count).sum();
    let sum: u128 = shapes.iter().map(|(shape, count)| u128::from(shape.bytes()) * u128::from(*count)).sum();
    let mean = u64::try_from(sum / u128::from(all.max(1))).unwrap_or(u64::MAX);
    let distance = |at: &usize| shapes[*at].0.bytes().abs_diff(mean);
    (0..shapes.len()).min_by_key(distance).unwrap_or_default()
}

/// The files of a model: kinds of files that are of one class and used alike are one, with a running number.
struct Files {
    /// Of each kind of file its place in `kinds`.
    of_kind: HashMap<usize, usize>,
    /// The kinds that each file of the model stands for.
    kinds: Vec<Vec<usize>>,
    names: Vec<String>,
    sharing: Vec<Sharing>,
    counts: Vec<u64>,
    sizes: Vec<u64>,
}

impl Files {
    fn new(
        log: &EventLog,
        streams: &Streams,
        kinds: &Kinds,
        ranks: &[RankSessions],
        shapes: &Shapes,
        naming: Naming,
    ) -> Self {
        let mut used: BTreeMap<usize, BTreeMap<usize, Vec<(usize, usize)>>> = BTreeMap::new();
        for (rank, sessions) in ranks.iter().enumerate() {
            for execution in &sessions.executions {
                let shape = shapes.number(execution);
                let of_rank = used.entry(execution.kind).or_default().entry(rank).or_default();
                of_rank.push((shape, execution.file));
            }
        }
        let mut files = Self {
            of_kind: HashMap::new(),
            kinds: Vec::new(),
            names: Vec::new(),
            sharing: Vec::new(),
            counts: Vec::new(),
            sizes: Vec::new(),
        };
        let mut alike: BTreeMap<_, usize> = BTreeMap::new();
        for (kind, by_rank) in &used {
            let class = &kinds.kinds[*kind].classed.class;
            let profile: Vec<(usize, Vec<usize>)> = match class {
                Class::Private => vec![(*kind, Vec::new())],
                _ => by_rank
                    .iter()
                    .map(|(rank, all)| (*rank, all.iter().map(|(shape, _)| *shape).collect()))
                    .collect(),
            };
            let at = *alike.entry((class.clone(), profile)).or_insert_with(|| {
                files.kinds.push(Vec::new());
                files.kinds.len() - 1
            });
            files.kinds[at].push(*kind);
            files.of_kind.insert(*kind, at);
        }
        let path =
            |file: usize| &*log.names().paths[log.distinct_files()[streams.files[file].index()].path.index()];
        let paths = (0..streams.files.len())
            .filter(|file| files.of_kind.contains_key(&kinds.of_file[*file]))
            .map(path);
        let directory = common_directory(paths);
        let mut ends = vec![0; files.kinds.len()];
        for (file, end) in streams.ends.iter().enumerate() {
            if let Some(at) = files.of_kind.get(&kinds.of_file[file]) {
                ends[*at] = ends[*at].max(*end);
            }
        }
        for (at, end) in ends.into_iter().enumerate() {
            let first = files.kinds[at][0];
            let classed = &kinds.kinds[first].classed;
            let sharing = match classed.class {
                Class::Root => Sharing::Root,
                Class::Private => Sharing::Private,
                Class::Shared | Class::Exclusive(_) | Class::Subset(_) => Sharing::Shared,
            };
            let own = |all: &Vec<(usize, usize)>| {
                all.iter().map(|(_, file)| file).collect::<BTreeSet<_>>().len() as u64
            };
            let count = match sharing {
                Sharing::Private => used[&first].values().map(own).max().unwrap_or(1),
                Sharing::Root | Sharing::Shared => files.kinds[at].len() as u64,
            };
            let of_file = |all: &Vec<(usize, usize)>| {
                all.first().is_some_and(|(shape, _)| reads_first(&shapes.kept[*shape]))
            };
            let read_first = used[&first].values().any(of_file);
            let name = match naming {
                Naming::Anonymous => format!("{}-{}", word(&classed.class), at + 1),
                Naming::Keep => kept(&classed.name, &directory),
            };
            let marks = [(sharing == Sharing::Private, "%r"), (count > 1, "%i")];
            let missing = marks.iter().filter(|(needed, mark)| *needed && !name.contains(mark));
            let name = missing.fold(name.clone(), |name, (_, mark)| format!("{name}.{mark}"));
            let name = if sharing == Sharing::Private { name } else { name.replace("%r", "0") };
            let name = if count > 1 { name } else { name.replace("%i", "0") };
            files.names.push(name);
            files.sharing.push(sharing);
            files.counts.push(count);
            files.sizes.push(if read_first { end } else { 0 });
        }
        files.make_unique();
        files
    }

    /// Names that others have already, or that are directories of others, get a number.
    fn make_unique(&mut self) {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for (at, name) in self.names.iter_mut().enumerate() {
            let clashes = |name: &str| {
                name.is_empty()
                    || seen.iter().any(|other| {
                        other == name
                            || other.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
                            || name.strip_prefix(&**other).is_some_and(|rest| rest.starts_with('/'))
                    })
            };
            if clashes(name) {
                *name = format!("file-{}-{}", at + 1, name.replace('/', "_"));
            }
            seen.insert(name.clone());
        }
    }

    /// Files with their sessions; the place of each file and shape in them; executions that follow no law.
    #[expect(clippy::type_complexity, reason = "three answers of one look")]
    fn modelled(
        &self,
        ranks: &[RankSessions],
        shapes: &Shapes,
        streams: &Streams,
    ) -> (Vec<ModelFile>, HashMap<(usize, usize), (usize, usize)>, u64) {
        let mut executions: BTreeMap<(usize, usize), Vec<(u32, u64, &Execution)>> = BTreeMap::new();
        for (rank, sessions) in (0..).zip(ranks) {
            let mut again: HashMap<(usize, usize), u64> = HashMap::new();
            for execution in &sessions.executions {
                let key = (self.of_kind[&execution.kind], shapes.number(execution));
                let number = again.entry(key).or_default();
                executions.entry(key).or_default().push((rank, *number, execution));
                *number += 1;
            }
        }
        let mut files: Vec<ModelFile> = (0..self.kinds.len())
            .map(|at| ModelFile {
                name: self.names[at].clone(),
                count: self.counts[at],
                class: self.sharing[at],
                size: self.sizes[at],
                sessions: Vec::new(),
            })
            .collect();
        let (mut numbers, mut lawless) = (HashMap::new(), 0);
        for ((file, shape), executions) in executions {
            let kept = &shapes.kept[shape];
            let places: Vec<Place<'_>> = executions
                .iter()
                .map(|(rank, again, execution)| (*rank, *again, &execution.transfers[..]))
                .collect();
            let (offset, holds) = law(&places, kept.mode().append, streams.ranks.len() as u32);
            lawless += if holds { 0 } else { executions.len() as u64 };
            let (slack, requests) =
                executions.iter().fold((0_u64, 0_u64), |(slack, requests), (_, _, execution)| {
                    (slack.saturating_add(execution.slack.0), requests + execution.slack.1)
                });
            let (sizes, write_sizes) = sizes(kept);
            let sessions = &mut files[file].sessions;
            numbers.insert((file, shape), (file, sessions.len()));
            sessions.push(ModelSession {
                name: format!("{}-{}", purpose(kept), sessions.len() + 1),
                mode: kept.mode(),
                requests: kept.requests.clone(),
                sizes,
                write_sizes,
                runs: kept.runs.clone(),
                offset,
                slack: slack / requests.max(1),
            });
        }
        (files, numbers, lawless)
    }
}

/// Sizes of transfers, and those of writes where reads have others.
fn sizes(shape: &Shape) -> (BTreeMap<u64, u64>, BTreeMap<u64, u64>) {
    let of = |kind| {
        let sizes = shape.sizes.get(&kind).cloned().unwrap_or_default();
        if sizes.len() == 1 { sizes.into_keys().map(|size| (size, 1)).collect() } else { sizes }
    };
    let (reads, writes): (BTreeMap<u64, u64>, BTreeMap<u64, u64>) =
        (of(RequestKind::Read), of(RequestKind::Write));
    match (reads.is_empty(), reads == writes) {
        (true, _) => (writes, BTreeMap::new()),
        (_, true) => (reads, BTreeMap::new()),
        _ => (reads, writes),
    }
}

fn reads_first(shape: &Shape) -> bool {
    let [read, _, create, truncate, _] = shape.mode;
    read && !create && !truncate && shape.requests.contains_key(&RequestKind::Read)
}

fn purpose(shape: &Shape) -> &'static str {
    use RequestKind::{Read, Write};
    match (shape.requests.contains_key(&Read), shape.requests.contains_key(&Write)) {
        (true, true) => "update",
        (true, false) => "read",
        (false, true) => "write",
        (false, false) => "sync",
    }
}

/// A step of a rank: a session of a file, or a barrier.
type Atom = Step<(usize, usize)>;

/// The steps of all groups in one order.
fn aligned(
    streams: &Streams,
    ranks: &[RankSessions],
    sessions: &[Vec<(usize, usize)>],
    groups: &[Group],
) -> Vec<PathElement<(usize, usize)>> {
    let of_rank = |rank: usize| -> Vec<Atom> {
        let mut barriers = streams.ranks[rank].barriers.iter().peekable();
        let mut steps = Vec::new();
        for (execution, session) in ranks[rank].executions.iter().zip(&sessions[rank]) {
            while barriers.next_if(|barrier| **barrier <= execution.first).is_some() {
                steps.push(Step::Sync((0, 0)));
            }
            steps.push(Step::Request(*session));
        }
        steps.extend(barriers.map(|_| Step::Sync((0, 0))));
        steps
    };
    let representatives: Vec<Vec<Atom>> = groups.iter().map(|group| of_rank(group.representative)).collect();
    let steps: Vec<&[Atom]> = representatives.iter().map(Vec::as_slice).collect();
    if steps.iter().map(|steps| steps.len()).sum::<usize>() <= ALIGNED {
        return path(&steps).elements().to_vec();
    }
    let largest = (0..groups.len()).max_by_key(|group| groups[*group].members.len()).unwrap_or_default();
    let all: BTreeSet<usize> = (0..groups.len()).collect();
    let alone = path(&[steps[largest]]);
    alone.elements().iter().map(|element| PathElement { groups: all.clone(), ..element.clone() }).collect()
}

/// The program while it is made.
struct Program {
    groups: Vec<RankGroup>,
    of_no_range: u64,
    ranks: u32,
}

impl Program {
    fn step(
        &mut self,
        element: &PathElement<(usize, usize)>,
        groups: &[Group],
        files: &[ModelFile],
    ) -> Option<ProgramStep> {
        let members: BTreeSet<u32> = element
            .groups
            .iter()
            .flat_map(|group| groups[*group].members.iter().map(|rank| *rank as u32))
            .collect();
        match element.step {
            Step::Request((file, session)) => {
                let all = members.len() == self.ranks as usize || files[file].class == Sharing::Root;
                let ranks = if all { None } else { Some(self.group(&members)?) };
                Some(ProgramStep::Session { file, session, ranks })
            }
            Step::Sync(_) if self.ranks > 1 => Some(ProgramStep::Barrier(self.group(&members)?)),
            Step::Sync(_) => None,
        }
    }

    /// The index of the group of these ranks; NULL if they are no range.
    fn group(&mut self, members: &BTreeSet<u32>) -> Option<usize> {
        let (first, last) = (*members.first()?, *members.last()?);
        if (last - first) as usize + 1 != members.len() {
            self.of_no_range += 1;
            return None;
        }
        let open = last + 1 == self.ranks && (last > first || first > 0 || self.ranks == 1);
        let bound = if open { None } else { Some(last) };
        if let Some(known) = self.groups.iter().position(|group| (group.first, group.last) == (first, bound))
        {
            return Some(known);
        }
        let name = match (first, bound) {
            (0, None) => "all".to_owned(),
            (0, Some(0)) => "root".to_owned(),
            (1, None) => "others".to_owned(),
            (first, None) => format!("from-{first}"),
            (first, Some(last)) if first == last => format!("rank-{first}"),
            (first, Some(last)) => format!("ranks-{first}-{last}"),
        };
        self.groups.push(RankGroup { name, first, last: bound });
        Some(self.groups.len() - 1)
    }
}

/// How many lines of a program these steps are.
fn length(steps: &[ProgramStep]) -> usize {
    steps
        .iter()
        .map(|step| if let ProgramStep::Repeat(_, inner) = step { 1 + length(inner) } else { 1 })
        .sum()
}

/// How often each session occurs between barriers, in the order of their first occurrences.
fn unordered(steps: Vec<ProgramStep>) -> Vec<ProgramStep> {
    let mut out: Vec<ProgramStep> = Vec::new();
    let mut between: Vec<(ProgramStep, u64)> = Vec::new();
    let flush = |between: &mut Vec<(ProgramStep, u64)>, out: &mut Vec<ProgramStep>| {
        for (step, times) in between.drain(..) {
            out.push(if times > 1 { ProgramStep::Repeat(times, vec![step]) } else { step });
        }
    };
    let mut places: HashMap<(usize, usize, Option<usize>), usize> = HashMap::new();
    for step in steps {
        match step {
            ProgramStep::Session { file, session, ranks } => {
                let at = *places.entry((file, session, ranks)).or_insert_with(|| {
                    between.push((step, 0));
                    between.len() - 1
                });
                between[at].1 += 1;
            }
            step => {
                flush(&mut between, &mut out);
                places.clear();
                out.push(step);
            }
        }
    }
    flush(&mut between, &mut out);
    out
}

/// Longest body of a loop that is looked for.
const LONGEST_BODY: usize = 64;
/// Deepest nesting of loops.
const DEEPEST: usize = 8;

/// Steps that follow each other several times become loops, the shortest bodies first.
fn fold(mut steps: Vec<ProgramStep>) -> Vec<ProgramStep> {
    for _ in 0..DEEPEST {
        let before = steps.len();
        for body in 1..=LONGEST_BODY.min(before / 2) {
            steps = folded(&steps, body);
        }
        if steps.len() == before {
            break;
        }
    }
    steps
}

/// The same with loops around bodies of that length.
fn folded(steps: &[ProgramStep], body: usize) -> Vec<ProgramStep> {
    let mut out = Vec::with_capacity(steps.len());
    let mut at = 0;
    while at < steps.len() {
        let times = repeats(&steps[at..], body);
        if times > 1 {
            let inner = steps[at..at + body].to_vec();
            out.push(match &inner[..] {
                [ProgramStep::Repeat(inner_times, inner)] => {
                    ProgramStep::Repeat(inner_times.saturating_mul(times as u64), inner.clone())
                }
                _ => ProgramStep::Repeat(times as u64, inner),
            });
            at += body * times;
        } else {
            out.push(steps[at].clone());
            at += 1;
        }
    }
    out
}

/// How often the first steps follow each other.
fn repeats(steps: &[ProgramStep], body: usize) -> usize {
    let Some(first) = steps.get(..body) else { return 0 };
    steps.chunks(body).take_while(|chunk| *chunk == first).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(file: usize) -> ProgramStep {
        ProgramStep::Session { file, session: 0, ranks: None }
    }

    #[test]
    fn loops_and_loops_in_loops_are_found() {
        let inner = [session(0), session(0), session(0), ProgramStep::Barrier(0)];
        let all: Vec<ProgramStep> = std::iter::repeat_n(inner, 5).flatten().chain([session(1)]).collect();
        let expected = vec![
            ProgramStep::Repeat(5, vec![ProgramStep::Repeat(3, vec![session(0)]), ProgramStep::Barrier(0)]),
            session(1),
        ];
        assert_eq!(fold(all), expected);
        assert_eq!(fold(vec![session(0), session(1)]), [session(0), session(1)]);
    }

    #[test]
    fn without_order_each_session_is_counted_between_barriers() {
        let steps = vec![session(0), session(1), session(0), ProgramStep::Barrier(0), session(0)];
        let expected =
            [ProgramStep::Repeat(2, vec![session(0)]), session(1), ProgramStep::Barrier(0), session(0)];
        assert_eq!(unordered(steps), expected);
    }

    #[test]
    fn groups_of_ranks_grow_with_the_last_rank() {
        let mut program = Program { groups: Vec::new(), of_no_range: 0, ranks: 4 };
        let named = |program: &Program, at: Option<usize>| at.map(|at| program.groups[at].name.clone());
        for (members, name) in [
            (vec![0, 1, 2, 3], Some("all")),
            (vec![0], Some("root")),
            (vec![1, 2, 3], Some("others")),
            (vec![2, 3], Some("from-2")),
            (vec![1, 2], Some("ranks-1-2")),
            (vec![0, 2], None),
        ] {
            let at = program.group(&members.into_iter().collect());
            assert_eq!(named(&program, at).as_deref(), name);
        }
        assert_eq!(program.of_no_range, 1);
    }
}
