//! From the sessions of all ranks to a model: its files, its kinds of sessions, the order that all ranks share.

use crate::CharacterizeError;
use crate::after::{WaitFigures, waits, with_waits};
use crate::apart::divided;
use crate::cuts;
use crate::laws::{self, Kept, Known, Laws};
use crate::messages::{Place, Relation, alike};
use crate::names::{Kinds, Naming, hashed, kept, path as path_of, sharing, word};
use crate::pauses::{GroupPauses, of_groups, with_pauses};
use crate::sessions::{Execution, RankSessions, Shape};
use crate::streams::Frame;
use iotrail_model::places::common_directory;
use iotrail_trail::EventLog;
use iotrail_workload::{
    Class, FileIndex, FileKind, Group, MessageHalf, Model, ModelFile, ModelSession, NameCall, Partner,
    PathElement, ProgramStep, RankGroup, Ratio, RequestKind, SessionLayer, Sharing, Step, path,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Most kinds of files, and of sessions, of a model.
const MOST: usize = 1 << 11;
/// More shapes of sessions of one class and mode are represented by so many.
const SHAPES: usize = 64;
/// Programs of groups that have more steps are not aligned: the largest group's is that of all.
const ALIGNED: usize = 20_000;

/// Executions whose places are in no law.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WithoutLaw {
    /// They follow none, and are drawn.
    pub(crate) drawn: u64,
    /// They follow one in another order, which is drawn.
    pub(crate) shuffled: u64,
}

/// A model, and how it says what was recorded.
#[derive(Debug)]
pub(crate) struct Modelled {
    pub(crate) model: Model,
    /// Of each rank what each execution is in the model.
    pub(crate) targets: Vec<Vec<Target>>,
    /// Executions that overlap others of the same session, of all ranks: they are done as a whole.
    pub(crate) overlapping: u64,
    pub(crate) without_law: WithoutLaw,
    /// Executions that are represented by others of their kind.
    pub(crate) represented: u64,
    /// Whether the order between sessions is kept.
    pub(crate) ordered: bool,
    /// Steps of ranks that are no range.
    pub(crate) of_no_range: u64,
}

/// What an execution is in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Target {
    /// Indices of file and session.
    Session(usize, usize),
    /// Index of the file, and of the one whose name it gives it.
    Call(usize, NameCall, Option<usize>),
}

impl Target {
    pub(crate) const fn file(self) -> usize {
        let (Self::Session(file, _) | Self::Call(file, ..)) = self;
        file
    }
}

/// How much of the order of a recording a model has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The first one that comes near enough; if none does, all of the order if the program is short enough, else that of barriers.
    #[default]
    Auto,
    /// None: a path is drawn from distributions (algorithm 1).
    Paper,
    /// How often each session occurs between barriers.
    Joint,
    /// All of it.
    Program,
}

/// The program of a recording, of which models are made.
pub(crate) struct Programmed {
    modelled: Modelled,
    atoms: Vec<(ProgramStep, bool)>,
    /// Of each kind of wait for another rank how often ranks need it, and whether the program has it.
    pub(crate) waits: Vec<WaitFigures>,
    /// Whether it has the messages that order requests.
    pub(crate) has_messages: bool,
    pauses: Vec<GroupPauses>,
}

/// What ranks did, as a program.
pub(crate) fn programmed(
    log: &EventLog,
    frame: &Frame,
    kinds: &Kinds,
    ranks: &[RankSessions],
    groups: &[Group],
    naming: Naming,
) -> Result<Programmed, CharacterizeError> {
    let mut shapes = Shapes::of(ranks);
    let represented = shapes.represent();
    let files = Files::new(log, frame, kinds, ranks, &shapes, naming);
    let (files_of_model, numbers, without_law) = files.modelled(ranks, (&shapes, kinds), frame);
    if files_of_model.len() > MOST || shapes.kept.len() > MOST {
        return Err(CharacterizeError::TooMany(files_of_model.len().max(shapes.kept.len()), MOST));
    }
    let of_execution = |execution: &Execution| {
        let target = numbers[&(files.of_kind[&execution.kind], shapes.number(execution))];
        let to = || Some(files.of_kind[&kinds.of_file[execution.to?]]);
        if let Target::Call(file, call, _) = target { Target::Call(file, call, to()) } else { target }
    };
    let targets: Vec<Vec<Target>> =
        ranks.iter().map(|rank| rank.executions.iter().map(of_execution).collect()).collect();
    let of_all = OfRanks { frame, ranks, targets: &targets };
    let places = frame.messages.places(frame.ranks() as u32);
    let with_messages = places.iter().any(|places| !places.is_empty());
    let apart = divided(groups, &targets);
    let with_messages = with_messages.then(|| of_all.ordered(&apart, &places, &files_of_model)).flatten();
    let has_messages = with_messages.is_some();
    let ordered = match with_messages {
        Some(ordered) => ordered,
        None => of_all.drafted(&apart, &[], &files_of_model).0,
    };
    let Ordered { mut program, atoms, waits, overlapping } = ordered;
    let slack = |target: Target| match target {
        Target::Session(file, session) => files_of_model[file].sessions[session].mean_slack(),
        Target::Call(file, ..) => files_of_model[file].mean_call_slack(),
    };
    let pauses = of_groups(&apart, (&frame.pauses, &targets), (&mut program, slack));
    let model = Model {
        ranks: Some(frame.ranks() as u32),
        strong: false,
        groups: program.groups,
        files: files_of_model,
        steps: Vec::new(),
        path: None,
    };
    let of_no_range = program.of_no_range;
    let modelled =
        Modelled { model, targets, overlapping, without_law, represented, ordered: false, of_no_range };
    Ok(Programmed { modelled, atoms, waits, has_messages, pauses })
}

/// What all ranks did.
struct OfRanks<'a> {
    frame: &'a Frame,
    ranks: &'a [RankSessions],
    targets: &'a [Vec<Target>],
}

/// The steps of a program in order, and what was found of waits.
struct Ordered {
    program: Program,
    atoms: Vec<(ProgramStep, bool)>,
    waits: Vec<WaitFigures>,
    overlapping: u64,
}

impl OfRanks<'_> {
    /// The program with messages; NULL if nobody can say who does what, or ranks would wait for ever.
    fn ordered(&self, groups: &[Group], messages: &[Vec<Place>], files: &[ModelFile]) -> Option<Ordered> {
        let count = self.frame.ranks() as u32;
        let groups = alike(groups, messages, count);
        let (ordered, is_aligned) = self.drafted(&groups, messages, files);
        let model = Model {
            ranks: Some(count),
            strong: false,
            groups: ordered.program.groups.clone(),
            files: files.to_vec(),
            steps: ordered.atoms.iter().map(|(step, _)| step.clone()).collect(),
            path: None,
        };
        let is_whole = is_aligned && ordered.program.of_no_range == 0;
        (is_whole && model.stuck(count, 0).is_none()).then_some(ordered)
    }

    /// The program of the groups, and whether all of them are in it.
    fn drafted(&self, groups: &[Group], messages: &[Vec<Place>], files: &[ModelFile]) -> (Ordered, bool) {
        let mut program = Program::of(self.frame.ranks() as u32);
        let (elements, overlapping, is_aligned) = self.aligned(groups, messages);
        let atoms: Vec<(ProgramStep, bool)> =
            elements.iter().flat_map(|element| program.steps(element, groups, files)).collect();
        if program.groups.is_empty() {
            program.group(&(0..program.ranks).collect());
        }
        let known = (!messages.is_empty()).then_some(&self.frame.messages);
        let found = waits((self.frame, known), self.ranks, self.targets);
        let (atoms, waits) = with_waits(atoms, &found, &mut program, files);
        (Ordered { program, atoms, waits, overlapping }, is_aligned)
    }

    /// The steps of all groups in one order; how many sessions of the ranks overlap others of the same kind; whether all groups are in it.
    fn aligned(&self, groups: &[Group], messages: &[Vec<Place>]) -> (Vec<PathElement<Piece>>, u64, bool) {
        let of_rank = |rank: usize| {
            let messages = messages.get(rank).map_or(&[][..], Vec::as_slice);
            let barriers = explicit(&self.frame.barriers[rank], &self.ranks[rank].executions);
            let meetings = meetings(&barriers, messages);
            atoms(&meetings, &self.ranks[rank].executions, &self.targets[rank])
        };
        let of_ranks: Vec<(Vec<Atom>, u64)> = (0..self.ranks.len()).map(of_rank).collect();
        let overlapping = of_ranks.iter().map(|(_, overlapping)| overlapping).sum();
        let of_rank = |rank: usize| of_ranks[rank].0.clone();
        let representatives: Vec<Vec<Atom>> =
            groups.iter().map(|group| of_rank(group.representative)).collect();
        let steps: Vec<&[Atom]> = representatives.iter().map(Vec::as_slice).collect();
        if steps.iter().map(|steps| steps.len()).sum::<usize>() <= ALIGNED {
            return (path(&steps).elements().to_vec(), overlapping, true);
        }
        let largest = (0..groups.len()).max_by_key(|group| groups[*group].members.len()).unwrap_or_default();
        let all: BTreeSet<usize> = (0..groups.len()).collect();
        let alone = path(&[steps[largest]]);
        let of_all = |element: &PathElement<Piece>| PathElement { groups: all.clone(), ..element.clone() };
        (alone.elements().iter().map(of_all).collect(), overlapping, groups.len() == 1)
    }
}

impl Programmed {
    /// Executions whose transfers follow no law.
    pub(crate) const fn drawn(&self) -> u64 {
        self.modelled.without_law.drawn
    }

    /// Whether messages are those of all ranks, the first one, or all others.
    pub(crate) fn messages_scale(&self) -> bool {
        let groups = &self.modelled.model.groups;
        let scales =
            |group: usize| matches!((groups[group].first, groups[group].last), (0 | 1, None) | (0, Some(0)));
        self.atoms.iter().all(|(step, _)| match step {
            ProgramStep::Message { ranks, .. } => ranks.is_none_or(scales),
            _ => true,
        })
    }

    /// Whether sessions go on behind barriers: done where they begin, requests of them would come before these.
    pub(crate) fn has_parts_across_barriers(&self) -> bool {
        let steps = || self.atoms.iter().map(|(step, _)| step);
        steps().any(|step| matches!(step, ProgramStep::Part { .. }))
            && steps().any(|step| matches!(step, ProgramStep::Barrier(_)))
    }

    /// Whether any session is done with calls of MPI-IO.
    pub(crate) fn has_mpi_io(&self) -> bool {
        self.modelled.model.has_mpi_io()
    }

    /// Whether a session gives a file a length that other sessions use.
    pub(crate) fn cuts_what_others_use(&self) -> bool {
        let cuts = |file: &ModelFile| file.sessions.iter().any(|session| session.length.is_some());
        self.modelled.model.files.iter().any(|file| file.sessions.len() > 1 && cuts(file))
    }

    /// Whether places are drawn in parts of ranks, or in what is written.
    pub(crate) fn has_kept_draws(&self) -> bool {
        self.modelled.model.has_kept_draws()
    }

    /// Whether ranks of the recording do not make calls together that they would have to.
    pub(crate) fn is_apart(&self) -> bool {
        let model = self.program().0.model;
        let ranks = model.ranks.unwrap_or_default();
        model.has_collective() && (model.group_of_all().is_none() || model.apart(ranks, 0).is_some())
    }

    /// The model with all of the order, and how many lines that is.
    pub(crate) fn program(&self) -> (Modelled, usize) {
        let steps = fold(self.atoms.iter().map(|(step, _)| step.clone()).collect());
        let length = length(&steps);
        (self.with(steps, true), length)
    }

    /// The model with the order of barriers. Sessions are done where they begin: waits for single ranks would say nothing of their parts.
    pub(crate) fn joint(&self) -> Modelled {
        let of_single =
            |step: &ProgramStep| matches!(step, ProgramStep::After { .. } | ProgramStep::Message { .. });
        let atoms = self.atoms.iter().filter(|(step, _)| !of_single(step));
        let files = &self.modelled.model.files;
        self.with(fold(unordered(atoms.cloned().collect(), files)), false)
    }

    fn with(&self, steps: Vec<ProgramStep>, ordered: bool) -> Modelled {
        let steps = with_pauses(steps, &self.pauses, &self.modelled.model);
        let model = Model { steps, ..self.modelled.model.clone() };
        Modelled { model, ordered, targets: self.modelled.targets.clone(), ..self.modelled }
    }
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
        let mut alike: BTreeMap<(usize, Option<NameCall>, [bool; 5]), Vec<Counted<'_>>> = BTreeMap::new();
        for (shape, count) in &self.counts {
            alike.entry((shape.class, shape.call, shape.mode)).or_default().push((shape, *count));
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

/// Stands for the shape of what gives a file its name by renaming another one.
const RENAMED: usize = usize::MAX;

/// The files of a model: kinds of files that are of one class and used alike are one, with a running number.
struct Files {
    /// Of each kind of file its place in `kinds`.
    of_kind: HashMap<usize, usize>,
    /// The kinds that each file of the model stands for.
    kinds: Vec<Vec<usize>>,
    names: Vec<String>,
    sharing: Vec<Sharing>,
    counts: Vec<u64>,
    what: Vec<FileKind>,
    sizes: Vec<u64>,
    lengths: Vec<Vec<(u64, u64)>>,
    present: Vec<bool>,
}

impl Files {
    fn new(
        log: &EventLog,
        frame: &Frame,
        kinds: &Kinds,
        ranks: &[RankSessions],
        shapes: &Shapes,
        naming: Naming,
    ) -> Self {
        let mut used = Uses::new();
        let mut firsts: BTreeMap<usize, (i64, usize)> = BTreeMap::new();
        for (rank, sessions) in ranks.iter().enumerate() {
            for execution in &sessions.executions {
                let shape = shapes.number(execution);
                let of_rank = used.entry(execution.kind).or_default().entry(rank).or_default();
                of_rank.push((shape, execution.file));
                let first = firsts.entry(execution.kind).or_insert((execution.start, shape));
                *first = (*first).min((execution.start, shape));
                if let Some(to) = execution.to {
                    let kind = kinds.of_file[to];
                    used.entry(kind).or_default().entry(rank).or_default().push((RENAMED, to));
                    let first = firsts.entry(kind).or_insert((execution.start, RENAMED));
                    *first = (*first).min((execution.start, RENAMED));
                }
            }
        }
        let mut files = Self {
            of_kind: HashMap::new(),
            kinds: Vec::new(),
            names: Vec::new(),
            sharing: Vec::new(),
            counts: Vec::new(),
            what: Vec::new(),
            sizes: Vec::new(),
            lengths: Vec::new(),
            present: Vec::new(),
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
        let paths = (0..frame.files.len())
            .filter(|file| files.of_kind.contains_key(&kinds.of_file[*file]))
            .filter_map(|file| path_of(log, frame.files[file]));
        let directory = common_directory(paths);
        let of_files = ends_before(frame, ranks, |file| {
            let first = firsts.get(&kinds.of_file[file]);
            first.and_then(|(_, shape)| shapes.kept.get(*shape)?.call)
        });
        let mut ends = vec![0; files.kinds.len()];
        for (file, end) in of_files.iter().enumerate() {
            if let Some(at) = files.of_kind.get(&kinds.of_file[file]) {
                ends[*at] = ends[*at].max(*end);
            }
        }
        for (at, end) in ends.into_iter().enumerate() {
            let first = files.kinds[at][0];
            let (classed, what) = (&kinds.kinds[first].classed, kinds.kinds[first].what);
            let sharing = sharing(&classed.class);
            let names = |all: &mut dyn Iterator<Item = &(usize, usize)>| {
                all.map(|(_, file)| kinds.named[*file]).collect::<BTreeSet<_>>().len() as u64
            };
            let count = match sharing {
                Sharing::Private => {
                    used[&first].values().map(|all| names(&mut all.iter())).max().unwrap_or(1)
                }
                Sharing::Root | Sharing::Shared => {
                    names(&mut files.kinds[at].iter().flat_map(|kind| used[kind].values().flatten()))
                }
            };
            let is_there = shapes.kept.get(firsts[&first].1).is_some_and(needs_file);
            let name = match naming {
                _ if what == FileKind::Absent => format!("absent-{}", at + 1),
                Naming::Anonymous if what == FileKind::Directory => format!("directory-{}", at + 1),
                Naming::Anonymous => format!("{}-{}", word(&classed.class), at + 1),
                Naming::Keep => kept(&classed.name, directory),
                Naming::Hash => hashed(&kept(&classed.name, directory)),
            };
            let marks = [(sharing == Sharing::Private, "%r"), (count > 1, "%i")];
            let missing = marks.iter().filter(|(needed, mark)| *needed && !name.contains(mark));
            let name = missing.fold(name.clone(), |name, (_, mark)| format!("{name}.{mark}"));
            let name = if sharing == Sharing::Private { name } else { name.replace("%r", "0") };
            let name = if count > 1 { name } else { name.replace("%i", "0") };
            files.names.push(name);
            files.sharing.push(sharing);
            files.counts.push(count);
            files.what.push(what);
            let holds = is_there && what == FileKind::File;
            files.sizes.push(if holds { end } else { 0 });
            let lengths =
                || lengths((&used, &of_files), &files.kinds[at], (sharing, count, end), kinds, frame.ranks());
            files.lengths.push(if holds { in_turn(&lengths()) } else { Vec::new() });
            let is_made = |kind: &usize| {
                let makes =
                    |shape: &Shape| shape.mode().create || shape.call == Some(NameCall::MakeDirectory);
                let mut all = used[kind].values().flatten();
                all.any(|(shape, _)| shapes.kept.get(*shape).is_none_or(makes))
            };
            files.present.push(is_there && end == 0 && what != FileKind::Absent && is_made(&first));
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

    /// Times before the calls that name the files of each kind, in the order in which ranks make them.
    fn slack_of_calls(&self, ranks: &[RankSessions]) -> BTreeMap<usize, Vec<u64>> {
        let mut of_files: BTreeMap<usize, Vec<Vec<u64>>> = BTreeMap::new();
        for (rank, sessions) in ranks.iter().enumerate() {
            for execution in sessions.executions.iter().filter(|execution| execution.shape.call.is_some()) {
                let of_ranks = of_files.entry(self.of_kind[&execution.kind]).or_default();
                of_ranks.resize(rank + 1, Vec::new());
                of_ranks[rank].extend(execution.slack.iter().map(|slack| slack.get().unwrap_or_default()));
            }
        }
        of_files.into_iter().map(|(file, of_ranks)| (file, of_calls(&of_ranks))).collect()
    }

    /// Files with their sessions; the place of each file and shape in them; executions that follow no law.
    #[expect(clippy::type_complexity, reason = "three answers of one look")]
    fn modelled(
        &self,
        ranks: &[RankSessions],
        (shapes, kinds): (&Shapes, &Kinds),
        frame: &Frame,
    ) -> (Vec<ModelFile>, HashMap<(usize, usize), Target>, WithoutLaw) {
        let mut executions: BTreeMap<(usize, usize), Vec<(u32, u64, &Execution)>> = BTreeMap::new();
        for (rank, sessions) in (0..).zip(ranks) {
            let mut again: HashMap<((usize, usize), usize), u64> = HashMap::new();
            for execution in &sessions.executions {
                let key = (self.of_kind[&execution.kind], shapes.number(execution));
                let number = again.entry((key, kinds.named[execution.file])).or_default();
                executions.entry(key).or_default().push((rank, *number, execution));
                *number += 1;
            }
        }
        let mut files: Vec<ModelFile> = (0..self.kinds.len())
            .map(|at| ModelFile {
                name: self.names[at].clone(),
                count: self.counts[at],
                class: self.sharing[at],
                kind: self.what[at],
                size: self.sizes[at],
                lengths: self.lengths[at].clone(),
                present: self.present[at],
                call_slack: Vec::new(),
                times: Ratio::ONE,
                call_times: Ratio::ONE,
                filled: false,
                sessions: Vec::new(),
                statistics: Vec::new(),
            })
            .collect();
        let (mut numbers, mut without_law) = (HashMap::new(), WithoutLaw::default());
        let few = executions.len() <= DRAWN;
        let count = frame.ranks() as u32;
        let executions: Vec<_> = executions.into_iter().collect();
        let mut laws = executions.chunk_by(|one, other| one.0.0 == other.0.0).flat_map(|of_file| {
            let sessions = of_file.iter().filter(|((_, shape), _)| shapes.kept[*shape].call.is_none());
            let placed = sessions.map(|((_, shape), all)| placed(&shapes.kept[*shape], all, count));
            laws::of_file(&placed.collect::<Vec<_>>())
        });
        for ((file, shape), executions) in &executions {
            let (file, shape) = (*file, *shape);
            let kept = &shapes.kept[shape];
            let slack: Vec<u64> = executions
                .iter()
                .flat_map(|(.., execution)| execution.slack.iter().filter_map(|slack| slack.get()))
                .collect();
            if let Some(call) = kept.call {
                numbers.insert((file, shape), Target::Call(file, call, None));
                continue;
            }
            let Some(Laws { offset, write_offset, random, kept: places }) = laws.next() else { continue };
            match places {
                Kept::Exactly => {}
                Kept::Shuffled => without_law.shuffled += executions.len() as u64,
                Kept::Drawn => without_law.drawn += executions.len() as u64,
            }
            let took = executions.iter().fold((0_u64, 0_u64), |(time, requests), (.., execution)| {
                (time.saturating_add(execution.took.0), requests + execution.took.1)
            });
            let [(sizes, runs), (write_sizes, write_runs)] = sizes(kept);
            let sessions = &mut files[file].sessions;
            numbers.insert((file, shape), Target::Session(file, sessions.len()));
            sessions.push(ModelSession {
                name: format!("{}-{}", purpose(kept), sessions.len() + 1),
                mode: kept.mode(),
                layer: kept.layer,
                requests: kept.requests.clone(),
                sizes,
                write_sizes,
                runs,
                write_runs,
                offset,
                write_offset,
                length: cuts::of_all(executions),
                order: kept.order.clone(),
                random,
                slack: times(slack, few),
                duration: took.0 / took.1.max(1),
                counted: 0,
            });
        }
        files.iter_mut().for_each(|file| cuts::grow(file, count));
        for (file, slack) in self.slack_of_calls(ranks) {
            files[file].call_slack = slack;
        }
        (files, numbers, without_law)
    }
}

/// The places of all executions of a session, of a recording of so many ranks.
fn placed<'a>(shape: &Shape, all: &[(u32, u64, &'a Execution)], ranks: u32) -> (Vec<laws::Place<'a>>, Known) {
    let places = all.iter().map(|(rank, again, one)| (*rank, *again, &one.transfers[..])).collect();
    let (append, sizes) = (shape.mode().append, shape.has_sizes_in_order());
    (places, Known { append, sizes, ranks, part: None })
}

/// Times before the calls of ranks, in their order: the means of all ranks if these make equally many, few calls; else those of all of them in turn.
fn of_calls(of_ranks: &[Vec<u64>]) -> Vec<u64> {
    let own: Vec<&Vec<u64>> = of_ranks.iter().filter(|own| !own.is_empty()).collect();
    let count = own.first().map_or(0, |own| own.len());
    let times: Vec<u64> = if count <= IN_TURN && own.iter().all(|own| own.len() == count) {
        let at = |at: usize| rounded(mean(&own.iter().map(|own| own[at]).collect::<Vec<u64>>()));
        (0..count).map(at).collect()
    } else {
        let mut all: Vec<u64> = own.into_iter().flatten().copied().collect();
        all.sort_unstable();
        shuffled_means(&all).into_iter().map(rounded).collect()
    };
    match times.iter().all(|ns| Some(ns) == times.first()) {
        true => times.into_iter().take(1).filter(|ns| *ns > 0).collect(),
        false => times,
    }
}

/// Of models with more sessions each has the mean of its slack alone.
const DRAWN: usize = 24;
/// As many slices of a distribution of slack are kept, by their means.
const SLICES: usize = 16;

/// Times with weights: all if there are few or one, else the means of equally many slices.
fn times(mut slack: Vec<u64>, drawn: bool) -> BTreeMap<u64, u64> {
    if !drawn || slack.len() < 2 * SLICES {
        let mean = mean(&slack);
        return if mean > 0 { BTreeMap::from([(mean, 1)]) } else { BTreeMap::new() };
    }
    slack.sort_unstable();
    let mut times = BTreeMap::new();
    for time in slice_means(&slack, SLICES) {
        *times.entry(rounded(time)).or_default() += 1;
    }
    match times.first_key_value() {
        Some((0, _)) if times.len() == 1 => BTreeMap::new(),
        Some((time, _)) if times.len() == 1 => BTreeMap::from([(*time, 1)]),
        _ => times,
    }
}

/// The means of so many slices of equally many of these values in ascending order.
fn slice_means(sorted: &[u64], slices: usize) -> Vec<u64> {
    let bound = |slice: usize| sorted.len() * slice / slices;
    (0..slices).map(|slice| mean(&sorted[bound(slice)..bound(slice + 1)])).collect()
}

fn mean(values: &[u64]) -> u64 {
    let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
    u64::try_from(sum / values.len().max(1) as u128).unwrap_or(u64::MAX)
}

/// To four digits.
fn rounded(value: u64) -> u64 {
    let unit = 10_u64.pow(value.checked_ilog10().unwrap_or(0).saturating_sub(3));
    (value + unit / 2) / unit * unit
}

/// Sizes with weights, and runs of them in their order.
type Sizes = (BTreeMap<u64, u64>, Vec<(u64, u64)>);

/// Sizes of transfers, and those of writes where reads have others.
fn sizes(shape: &Shape) -> [Sizes; 2] {
    let of = |kind| -> Sizes {
        let sizes = shape.sizes.get(&kind).cloned().unwrap_or_default();
        let sizes = if sizes.len() == 1 { sizes.into_keys().map(|size| (size, 1)).collect() } else { sizes };
        (sizes, shape.runs.get(&kind).cloned().unwrap_or_default())
    };
    let (reads, writes) = (of(RequestKind::Read), of(RequestKind::Write));
    // Sizes in order are of reads, or of writes.
    match (reads.0.is_empty(), reads == writes && reads.1.is_empty()) {
        (true, _) => [writes, Sizes::default()],
        (_, true) => [reads, Sizes::default()],
        _ => [reads, writes],
    }
}

/// How many bytes each file, if it was there before, held then: up to the furthest transfer, without what was appended; of one that gets another name
/// first (`first_call` tells), up to that by any of its names.
fn ends_before(
    frame: &Frame,
    ranks: &[RankSessions],
    first_call: impl Fn(usize) -> Option<NameCall>,
) -> Vec<u64> {
    let mut ends = frame.ends.clone();
    let executions = || ranks.iter().flat_map(|rank| &rank.executions);
    let mut last_reads: HashMap<usize, i64> = HashMap::new();
    for one in executions().filter(|one| one.shape.requests.contains_key(&RequestKind::Read)) {
        let last = last_reads.entry(one.file).or_insert(one.start);
        *last = (*last).max(one.start);
    }
    // Where writes that append began is known, or what was read behind them is that much longer.
    for one in executions().filter(|one| one.shape.mode().append) {
        let writes = one.transfers.iter().filter(|transfer| transfer.kind == RequestKind::Write);
        let end = &mut ends[one.file];
        for write in writes {
            match write.offset.get() {
                Some(begin) => *end = (*end).min(begin),
                None if last_reads.get(&one.file).is_some_and(|read| one.start <= *read) => {
                    *end = end.saturating_sub(write.size);
                }
                None => {}
            }
        }
    }
    let mut of_all_names: HashMap<FileIndex, u64> = HashMap::new();
    for (file, end) in frame.files.iter().zip(&ends) {
        let of_all = of_all_names.entry(file.same).or_default();
        *of_all = (*of_all).max(*end);
    }
    for (file, end) in ends.iter_mut().enumerate() {
        if matches!(first_call(file), Some(NameCall::Rename | NameCall::Link)) {
            *end = of_all_names[&frame.files[file].same];
        }
    }
    ends
}

/// What is done with the files of each kind by each rank, in order: shape and file.
type Uses = BTreeMap<usize, BTreeMap<usize, Vec<(usize, usize)>>>;

/// Lengths of the files of a model in their turn, of private ones rank by rank, whose longest has `end` bytes.
fn lengths(
    (used, ends): (&Uses, &[u64]),
    members: &[usize],
    (sharing, count, end): (Sharing, u64, u64),
    kinds: &Kinds,
    ranks: usize,
) -> Vec<u64> {
    let own = |used: &[(usize, usize)]| {
        let mut seen = BTreeSet::new();
        let first = used.iter().filter(|(_, file)| seen.insert(kinds.named[*file]));
        first.map(|(_, file)| ends[*file]).collect::<Vec<u64>>()
    };
    if sharing != Sharing::Private {
        let of_kind = |kind: &usize| used[kind].values().flat_map(|used| own(used)).max().unwrap_or(end);
        return members.iter().map(of_kind).collect();
    }
    let padded = |rank| {
        let mut all = used[&members[0]].get(&rank).map_or(Vec::new(), |used| own(used));
        all.resize(count as usize, all.last().copied().unwrap_or(end));
        all
    };
    let ranks = if ranks * count as usize <= MOST_LENGTHS { ranks } else { 1 };
    (0..ranks).flat_map(padded).collect()
}

/// Of more values in turn so many stand for all.
const IN_TURN: usize = 64;
/// Of more private files only those of the first rank.
const MOST_LENGTHS: usize = 1 << 20;
/// How far apart neighbours of these come: nearly all of them lie between two that are alike.
const APART: usize = 37;

/// Lengths of files in their order, as runs, if they differ; of many the means of equally many, in turn.
fn in_turn(lengths: &[u64]) -> Vec<(u64, u64)> {
    let runs: Vec<(u64, u64)> =
        lengths.chunk_by(|one, next| one == next).map(|run| (run[0], run.len() as u64)).collect();
    if runs.len() <= IN_TURN {
        return if runs.len() > 1 { runs } else { Vec::new() };
    }
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    shuffled_means(&sorted).into_iter().map(|mean| (mean, 1)).collect()
}

/// The means of equally many of these values in ascending order, in an order in which they are mixed.
fn shuffled_means(sorted: &[u64]) -> Vec<u64> {
    let count = sorted.len().min(IN_TURN);
    // All numbers of slices occur if it is no divisor of theirs.
    let apart = if count == APART { 1 } else { APART };
    let means = slice_means(sorted, count);
    (0..count).map(|turn| means[turn * apart % count]).collect()
}

/// Whether what is done needs the file to be there.
fn needs_file(shape: &Shape) -> bool {
    match shape.call {
        Some(call) => call != NameCall::MakeDirectory,
        None => !shape.mode().create,
    }
}

fn purpose(shape: &Shape) -> &'static str {
    use RequestKind::{Read, Write};
    match (shape.requests.contains_key(&Read), shape.requests.contains_key(&Write)) {
        (true, true) => "update",
        (true, false) => "read",
        (false, true) => "write",
        (false, false) if shape.requests.is_empty() => "open",
        (false, false) => "sync",
    }
}

/// What a rank does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    /// A session as a whole, a call, or so many steps of a session, the first ones or others.
    Requests(Target, Option<(u64, bool)>),
    /// It waits for all others, or gives or gets a message.
    Meeting(Option<(MessageHalf, Relation)>),
}

/// A step of a rank: requests, or messages; or a barrier.
type Atom = Step<Piece>;

/// Where a rank meets others: before which request, in a barrier or with a message.
type Meetings = Vec<(usize, Option<(MessageHalf, Relation)>)>;

/// The barriers of a rank that are not part of calls that all ranks make together.
fn explicit(barriers: &[usize], executions: &[Execution]) -> Vec<usize> {
    let mut together: HashMap<usize, usize> = HashMap::new();
    for place in executions.iter().flat_map(Execution::meetings) {
        *together.entry(place).or_default() += 1;
    }
    let mut all = barriers.to_vec();
    all.retain(|barrier| match together.get_mut(barrier) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    });
    all
}

/// Barriers of a rank and its messages, in order.
fn meetings(barriers: &[usize], messages: &[Place]) -> Meetings {
    let mut messages = messages.iter().peekable();
    let mut meetings = Meetings::new();
    for (number, barrier) in barriers.iter().enumerate() {
        while let Some(message) = messages.next_if(|message| message.barriers <= number) {
            meetings.push((message.position, Some((message.half, message.to))));
        }
        meetings.push((*barrier, None));
    }
    meetings.extend(messages.map(|message| (message.position, Some((message.half, message.to)))));
    meetings
}

/// The steps of a rank in order; how many of its sessions overlap others of the same kind.
fn atoms(meetings: &Meetings, executions: &[Execution], targets: &[Target]) -> (Vec<Atom>, u64) {
    let whole = overlapping(executions, targets);
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (number, execution) in executions.iter().enumerate() {
        let all = if whole[number] { &execution.positions[..1] } else { &execution.positions[..] };
        places.extend(all.iter().map(|position| (*position as usize, number)));
    }
    // Of an execution the open and the first request may be at one place.
    places.sort();
    let mut steps: Vec<Atom> = Vec::new();
    let mut meetings = meetings.iter().peekable();
    let mut done = vec![0_u64; executions.len()];
    let mut at = 0;
    while let Some(&(position, number)) = places.get(at) {
        while let Some((_, meeting)) = meetings.next_if(|(before, _)| *before <= position) {
            steps.push(met(*meeting));
        }
        let until = meetings.peek().map_or(usize::MAX, |(before, _)| *before);
        let same = |place: &&(usize, usize)| place.1 == number && (place.0 < until || place.0 == position);
        let count = places[at..].iter().take_while(same).count();
        let all = executions[number].positions.len();
        let piece =
            if whole[number] || count == all { None } else { Some((count as u64, done[number] == 0)) };
        steps.push(Step::Request(Piece::Requests(targets[number], piece)));
        done[number] += count as u64;
        at += count;
    }
    steps.extend(meetings.map(|(_, meeting)| met(*meeting)));
    (steps, whole.iter().filter(|whole| **whole).count() as u64)
}

/// Nothing is aligned across barriers, which all ranks have; messages are aligned like requests.
const fn met(meeting: Option<(MessageHalf, Relation)>) -> Atom {
    let piece = Piece::Meeting(meeting);
    if meeting.is_none() { Step::Sync(piece) } else { Step::Request(piece) }
}

/// Which executions are open while another one of the same session is.
fn overlapping(executions: &[Execution], targets: &[Target]) -> Vec<bool> {
    let mut overlap = vec![false; executions.len()];
    let mut open: HashMap<Target, (usize, usize)> = HashMap::new();
    for (number, execution) in
        executions.iter().enumerate().filter(|(_, execution)| execution.shape.call.is_none())
    {
        let last = execution.positions.last().map_or(0, |position| *position as usize);
        match open.get_mut(&targets[number]) {
            Some((until, holder)) if *until > execution.first => {
                (overlap[number], overlap[*holder]) = (true, true);
                if last > *until {
                    (*until, *holder) = (last, number);
                }
            }
            _ => {
                open.insert(targets[number], (last, number));
            }
        }
    }
    overlap
}

/// A step of ranks in more ranges than these is left out.
const MOST_RANGES: usize = 64;

/// Ranks that follow each other, in ascending order.
pub(crate) fn ranges(members: &BTreeSet<u32>) -> Vec<BTreeSet<u32>> {
    let members: Vec<u32> = members.iter().copied().collect();
    members.chunk_by(|one, next| one + 1 == *next).map(|range| range.iter().copied().collect()).collect()
}

/// The program while it is made.
pub(crate) struct Program {
    pub(crate) groups: Vec<RankGroup>,
    of_no_range: u64,
    ranks: u32,
}

impl Program {
    pub(crate) const fn of(ranks: u32) -> Self {
        Self { groups: Vec::new(), of_no_range: 0, ranks }
    }

    pub(crate) const fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The steps of an element, one for each range of ranks that does it, and whether they begin what they are a part of.
    fn steps(
        &mut self,
        element: &PathElement<Piece>,
        groups: &[Group],
        files: &[ModelFile],
    ) -> Vec<(ProgramStep, bool)> {
        let members = element.groups.iter().flat_map(|group| &groups[*group].members);
        let members: BTreeSet<u32> = members.map(|rank| *rank as u32).collect();
        let of_root = matches!(
            element.step,
            Step::Request(Piece::Requests(target, _)) if files[target.file()].class == Sharing::Root
        );
        let is_barrier = matches!(element.step, Step::Sync(_));
        let is_one = members.len() == self.ranks as usize || of_root || is_barrier;
        let ranges = if is_one { vec![members] } else { ranges(&members) };
        if ranges.len() > MOST_RANGES {
            self.of_no_range += 1;
            return Vec::new();
        }
        let all = |range: &BTreeSet<u32>| range.len() == self.ranks as usize || of_root;
        let ranges: Vec<(bool, BTreeSet<u32>)> =
            ranges.into_iter().map(|range| (all(&range), range)).collect();
        let step = |(all, range): &(bool, BTreeSet<u32>)| {
            let group = if *all && !is_barrier { None } else { Some(self.group(range)?) };
            self.step(element.step, group)
        };
        ranges.iter().filter_map(step).collect()
    }

    /// A step of the ranks of a group, and whether it begins what it is a part of; NULL is the group of all that use a file.
    fn step(&mut self, step: Atom, ranks: Option<usize>) -> Option<(ProgramStep, bool)> {
        Some(match step {
            Step::Request(Piece::Requests(Target::Call(file, call, to), _)) => {
                (ProgramStep::Call { call, file, ranks, to }, true)
            }
            Step::Request(Piece::Requests(Target::Session(file, session), None)) => {
                (ProgramStep::Session { file, session, ranks }, true)
            }
            Step::Request(Piece::Requests(Target::Session(file, session), Some((steps, first)))) => {
                (ProgramStep::Part { file, session, ranks, steps }, first)
            }
            Step::Request(Piece::Meeting(Some((half, relation)))) => {
                (ProgramStep::Message { half, partner: self.partner(relation)?, ranks }, true)
            }
            Step::Request(Piece::Meeting(None)) | Step::Sync(_) => {
                (ProgramStep::Barrier(ranks.filter(|_| self.ranks > 1)?), true)
            }
        })
    }

    fn partner(&mut self, relation: Relation) -> Option<Partner> {
        Some(match relation {
            Relation::All => Partner::Group(self.group(&(0..self.ranks).collect())?),
            Relation::Rank(rank) => Partner::Group(self.group(&BTreeSet::from([rank]))?),
            Relation::Shift(shift) => Partner::Shift(shift),
            Relation::Around(shift) => Partner::Around(shift),
        })
    }

    /// The index of the group of these ranks; NULL if they are no range.
    pub(crate) fn group(&mut self, members: &BTreeSet<u32>) -> Option<usize> {
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

/// Between which calls that make, take or change names the steps of files are: those of a file whose name is used again stay between them.
struct Epochs {
    /// Of each file how many such calls came before; NULL where there is one for each file of the name at most.
    of_file: Vec<Option<u64>>,
}

impl Epochs {
    fn of(steps: &[(ProgramStep, bool)], files: &[ModelFile]) -> Self {
        let mut calls = vec![0_u64; files.len()];
        let changed = steps.iter().flat_map(|(step, _)| Self::changed(step, files));
        changed.for_each(|file| calls[file] += 1);
        let again =
            |(calls, file): (&u64, &ModelFile)| *calls > 0 && (file.count <= 1 || *calls > file.count);
        let of_file = calls.iter().zip(files).map(|of| again(of).then_some(0)).collect();
        Self { of_file }
    }

    /// The files whose names a step changes.
    fn changed(step: &ProgramStep, files: &[ModelFile]) -> impl Iterator<Item = usize> {
        let both = match *step {
            ProgramStep::Call { call, file, to, .. }
                if call.changes_names() && files[file].kind != FileKind::Absent =>
            {
                [Some(file), to]
            }
            _ => [None; 2],
        };
        both.into_iter().flatten()
    }

    /// The same where a file and the one whose name it gets are.
    fn at(&self, target: Target) -> [Option<u64>; 2] {
        let to = if let Target::Call(.., to) = target { to } else { None };
        [Some(target.file()), to].map(|file| self.of_file[file?])
    }

    fn pass(&mut self, step: &ProgramStep, files: &[ModelFile]) {
        for file in Self::changed(step, files) {
            self.of_file[file] = self.of_file[file].map(|epoch| epoch + 1);
        }
    }
}

/// How often each session occurs between barriers, in the order of their first occurrences; what is done in parts is done where it begins. In sessions
/// that all ranks do together they meet, too.
fn unordered(steps: Vec<(ProgramStep, bool)>, files: &[ModelFile]) -> Vec<ProgramStep> {
    let meets = |file: usize, session: usize| files[file].sessions[session].layer == SessionLayer::Collective;
    let mut epochs = Epochs::of(&steps, files);
    let mut out: Vec<ProgramStep> = Vec::new();
    let mut between: Vec<(ProgramStep, u64)> = Vec::new();
    let flush = |between: &mut Vec<(ProgramStep, u64)>, out: &mut Vec<ProgramStep>| {
        for (step, times) in between.drain(..) {
            out.push(if times > 1 { ProgramStep::Repeat(times, vec![step]) } else { step });
        }
    };
    let mut places = HashMap::new();
    for (step, begins) in steps {
        let (target, step) = match step {
            ProgramStep::Part { .. } if !begins => continue,
            ProgramStep::Session { file, session, ranks }
            | ProgramStep::Part { file, session, ranks, .. }
                if meets(file, session) =>
            {
                flush(&mut between, &mut out);
                places.clear();
                out.push(ProgramStep::Session { file, session, ranks });
                continue;
            }
            ProgramStep::Session { file, session, ranks }
            | ProgramStep::Part { file, session, ranks, .. } => {
                let step = ProgramStep::Session { file, session, ranks };
                ((Target::Session(file, session), ranks), step)
            }
            ProgramStep::Call { call, file, ranks, to } => ((Target::Call(file, call, to), ranks), step),
            step => {
                flush(&mut between, &mut out);
                places.clear();
                out.push(step);
                continue;
            }
        };
        let at = epochs.at(target.0);
        epochs.pass(&step, files);
        let at = *places.entry((target, at)).or_insert_with(|| {
            between.push((step, 0));
            between.len() - 1
        });
        between[at].1 += 1;
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
    use iotrail_workload::{Mode, OffsetLaw};

    fn file(layer: SessionLayer) -> ModelFile {
        let session = ModelSession {
            name: "s".to_owned(),
            mode: Mode { read: false, write: true, create: true, truncate: false, append: false },
            layer,
            requests: BTreeMap::new(),
            sizes: BTreeMap::new(),
            write_sizes: BTreeMap::new(),
            runs: Vec::new(),
            write_runs: Vec::new(),
            length: None,
            offset: OffsetLaw::Sequential,
            random: 0,
            write_offset: None,
            order: Vec::new(),
            slack: BTreeMap::new(),
            duration: 0,
            counted: 0,
        };
        ModelFile {
            name: "f".to_owned(),
            count: 1,
            class: Sharing::Shared,
            kind: FileKind::File,
            size: 0,
            lengths: Vec::new(),
            present: false,
            call_slack: Vec::new(),
            times: Ratio::ONE,
            call_times: Ratio::ONE,
            filled: false,
            sessions: vec![session],
            statistics: Vec::new(),
        }
    }

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
        let files = [file(SessionLayer::System), file(SessionLayer::System)];
        let begun = |steps: &[ProgramStep]| steps.iter().map(|step| (step.clone(), true)).collect();
        assert_eq!(unordered(begun(&steps), &files), expected);
        let apart = unordered(begun(&steps), &[file(SessionLayer::System), file(SessionLayer::Collective)]);
        assert_eq!(apart, steps, "nothing crosses a session in which ranks meet");
        let part = ProgramStep::Part { file: 0, session: 0, ranks: None, steps: 3 };
        assert_eq!(
            unordered(vec![(part.clone(), true), (session(1), true), (part, false)], &files),
            [session(0), session(1)]
        );
    }

    #[test]
    fn steps_stay_between_calls_that_change_a_name_that_is_used_again() {
        let files = [file(SessionLayer::System), file(SessionLayer::System)];
        let rename = ProgramStep::Call { call: NameCall::Rename, file: 0, ranks: None, to: Some(1) };
        let steps = [session(0), rename, session(1)];
        let twice: Vec<ProgramStep> = steps.iter().chain(&steps).cloned().collect();
        let begun = |steps: &[ProgramStep]| steps.iter().map(|step| (step.clone(), true)).collect();
        assert_eq!(unordered(begun(&twice), &files), twice);
        let two = files.map(|file| ModelFile { count: 2, ..file });
        let counted: Vec<ProgramStep> =
            steps.into_iter().map(|step| ProgramStep::Repeat(2, vec![step])).collect();
        assert_eq!(unordered(begun(&twice), &two), counted, "each file is renamed once");
    }

    #[test]
    fn groups_of_ranks_grow_with_the_last_rank() {
        let mut program = Program::of(4);
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
