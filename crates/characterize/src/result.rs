//! What is answered, and how it is found.

use crate::CharacterizeError;
use crate::after::WaitFigures;
use crate::clocks::Disagreement;
use crate::cost::TracerCost;
use crate::gather::{Gathering, LeftOut};
use crate::levels::{LevelFigures, Recording, chosen};
use crate::messages::MessageFigures;
use crate::names::{Classing, Kinds, Naming, kinds, sharing, word};
use crate::program::{Level, programmed};
use crate::sessions::{RankSessions, sessions};
use crate::streams::{Frame, Ranking, Streams, ranked_by, streams};
use crate::ways::split;
use iotrail_model::{CaseId, Layer};
use iotrail_query::{ProcessTable, Query, scan};
use iotrail_trail::EventLog;
use iotrail_workload::{
    Action, Behaviour, Characteristics, Distribution, FileIndex, Group, Model, Placed, Request, Variant,
    characteristics, groups, synthesise,
};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

pub use crate::fit::Fit;

/// What a rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RankedBy {
    /// A recorded case whose name has its number.
    Case,
    /// A process that makes requests, in the order in which they were started.
    Process,
    /// A thread that a process started.
    Thread,
}

/// What is measured of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantiles {
    /// Number of values.
    pub count: u64,
    /// Smallest.
    pub min: i64,
    /// The lower one of two in the middle.
    pub median: i64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Largest.
    pub max: i64,
}

impl Quantiles {
    /// NULL if there is no value.
    fn of(distribution: &Distribution) -> Option<Self> {
        let half = distribution.total().div_ceil(2);
        let mut before = 0;
        let median = distribution.counts().find(|(_, times)| {
            before += times;
            before >= half
        });
        Some(Self {
            count: distribution.total(),
            min: distribution.min()?,
            median: median?.0,
            mean: distribution.mean()?,
            max: distribution.max()?,
        })
    }
}

/// Ranks that do alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupFigures {
    /// Its ranks, ascending.
    pub ranks: Vec<usize>,
    /// The rank that stands for it.
    pub representative: usize,
    /// Requests of that rank.
    pub requests: u64,
    /// Of them those that move data.
    pub data_requests: u64,
    /// How often that rank makes each variant of a request.
    pub variants: BTreeMap<String, u64>,
}

/// What is measured of the files of a class in a group (table III).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassFigures {
    /// Index of the group.
    pub group: usize,
    /// `root`, `shared`, `private`, `exclusive` or `subset`.
    pub class: &'static str,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// The figures of table III, by their symbols.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// OS: files of a rank.
    pub files: Option<Quantiles>,
    /// OT: sessions of a file.
    pub sessions: Option<Quantiles>,
    /// D: requests of a session after its open.
    pub depth: Option<Quantiles>,
    /// ISG₀: position of the first open of a file.
    pub first_gap: Option<Quantiles>,
    /// ISG: from the last request of a session to the next open of the file.
    pub session_gap: Option<Quantiles>,
    /// IRG: from a request of a session to the next.
    pub request_gap: Option<Quantiles>,
    /// RT1: variants in sessions, without open and close.
    pub in_sessions: BTreeMap<String, u64>,
    /// RT2: variants outside of sessions.
    pub outside: BTreeMap<String, u64>,
    /// AM: flags of opens.
    pub modes: BTreeMap<String, u64>,
    /// SIZE: bytes asked for, by variant.
    pub sizes: BTreeMap<String, Quantiles>,
    /// OFF: where transfers begin, in bytes, by variant. What follows a law has it in the model.
    pub offsets: BTreeMap<String, Quantiles>,
    /// SEQ: share of transfers that begin where the one before ended.
    pub consecutive: Option<f64>,
    /// Share of those that begin there or behind.
    pub sequential: Option<f64>,
    /// FS: bytes to the end of the furthest transfer.
    pub file_size: Option<i64>,
    /// ST: time before requests that no wait explains, in ns.
    pub slack_ns: Option<Quantiles>,
    /// How often that was below 0, and is 0 here.
    pub slack_clamped: u64,
    /// Sessions whose end was not seen.
    pub unclosed: u64,
}

impl Figures {
    fn of(measured: &Characteristics) -> Self {
        let mix = |mix: &BTreeMap<Variant, u64>| {
            mix.iter().map(|(variant, count)| (variant.to_string(), *count)).collect()
        };
        let quantiles = |of: &BTreeMap<Variant, Distribution>| {
            let all = of.iter();
            all.filter_map(|(variant, of)| Some((variant.to_string(), Quantiles::of(of)?))).collect()
        };
        Self {
            files: Quantiles::of(&measured.files),
            sessions: Quantiles::of(&measured.sessions),
            depth: Quantiles::of(&measured.depth),
            first_gap: Quantiles::of(&measured.first_gap),
            session_gap: Quantiles::of(&measured.session_gap),
            request_gap: Quantiles::of(&measured.request_gap),
            in_sessions: mix(&measured.in_sessions),
            outside: mix(&measured.outside),
            modes: measured.modes.iter().map(|(mode, count)| (mode.to_string(), *count)).collect(),
            sizes: quantiles(&measured.sizes),
            offsets: quantiles(&measured.offsets),
            consecutive: measured.pairs.consecutive_share(),
            sequential: measured.pairs.sequential_share(),
            file_size: measured.file_size,
            slack_ns: Quantiles::of(&measured.slack),
            slack_clamped: measured.slack_clamped,
            unclosed: measured.unclosed,
        }
    }
}

/// Synchronisation that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Whether calls of MPI were recorded.
    pub mpi_recorded: bool,
    /// Barriers of a rank that nobody recorded and that the times of the ranks show.
    pub inferred: u64,
    /// Collective calls of all ranks, of one rank (the largest number).
    pub barriers: u64,
    /// Collective calls of other communicators, which the model does not have.
    pub other_collectives: u64,
    /// Messages between ranks.
    pub messages: MessageFigures,
    /// Where ranks read what others wrote, or open what others made, and no barrier is between.
    pub after: Vec<WaitFigures>,
    /// Two ranks whose clocks contradict barriers; NULL if none does.
    pub clocks: Option<Disagreement>,
}

/// What a model does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NotKept {
    /// Requests for which a model has no word, by call.
    pub requests: BTreeMap<String, u64>,
    /// Locks that are taken or released, not in turn or in an order of more runs than a model keeps.
    pub locks: u64,
    /// Sessions that were open while others of the same kind were: a model does one after the other.
    pub overlapping_sessions: u64,
    /// Sessions whose places follow no law: they are drawn.
    pub sessions_without_law: u64,
    /// Sessions that have the places of a law, but not its order: that is drawn.
    pub sessions_in_other_order: u64,
    /// Transfers whose places the recording does not have.
    pub unplaced_transfers: u64,
    /// Sessions that a similar one stands for.
    pub represented_sessions: u64,
    /// Whether the order between sessions of one stretch between barriers is kept.
    pub order_kept: bool,
    /// Steps of ranks that are no range.
    pub steps_of_no_range: u64,
    /// Ranks several threads of which make requests: their requests are in the order of their starts.
    pub threaded_ranks: u64,
    /// Names in which two ranks only agree that a number is the rank.
    pub assumed_names: u64,
}

/// What the ranks of a recording do to files, and a model of it.
#[derive(Clone, Debug, Serialize)]
pub struct Characterization {
    /// Name and version of this form.
    pub format: &'static str,
    /// Number of ranks.
    pub ranks: usize,
    /// What a rank is.
    pub ranked_by: RankedBy,
    /// Requests on files of the program, of all ranks.
    pub requests: u64,
    /// Calls that are none.
    pub left_out: LeftOut,
    /// Ranks that do alike.
    pub groups: Vec<GroupFigures>,
    /// What is measured.
    pub classes: Vec<ClassFigures>,
    /// Synchronisation.
    pub tokens: Tokens,
    /// What the model does not have.
    pub not_kept: NotKept,
    /// The model beside the recording.
    pub fit: Fit,
    /// Levels of models beside the recording.
    pub levels: Vec<LevelFigures>,
    /// Further recordings beside the model.
    pub confirmations: Vec<Confirmation>,
    /// The model.
    #[serde(serialize_with = "as_text")]
    pub model: Model,
}

fn as_text<S: serde::Serializer>(model: &Model, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(model)
}

/// What makes a model of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What files are called.
    pub naming: Naming,
    /// Which classes they have.
    pub classing: Classing,
    /// How much of the order is kept.
    pub level: Level,
    /// What is a rank.
    pub ranking: Ranking,
}

/// A recording as a model sees it.
pub(crate) struct Recorded {
    pub(crate) streams: Streams,
    pub(crate) kinds: Kinds,
}

impl Recorded {
    pub(crate) fn of(
        log: &EventLog,
        query: &Query,
        options: Options,
        threads: NonZeroUsize,
    ) -> Result<Self, CharacterizeError> {
        let processes = ProcessTable::of_log(log)?;
        // What the program asks MPI-IO for are its requests, and not the system calls that come of it.
        let query = &query.or_layers(&[Layer::Syscall, Layer::Mpiio], log)?;
        let by = ranked_by(log, query, options.ranking);
        let mut gathered = scan(log, Some(query), threads, &Gathering::new(log, &processes, by))?;
        if by == RankedBy::Case {
            let cases = (0..).map(CaseId).zip(&mut gathered.rows);
            cases.filter(|(case, _)| !query.may_select_case(*case)).for_each(|(_, rows)| rows.clear());
        }
        let streams = streams(log, gathered, (by, &processes), &TracerCost::of(log)?);
        let kinds = kinds(log, &streams, (options.classing, options.naming));
        if streams.requests.iter().all(Vec::is_empty) {
            return Err(CharacterizeError::Nothing(streams.frame.left_out));
        }
        Ok(Self { streams, kinds })
    }

    /// The sessions of all ranks, in place of the requests, which need not be in memory any more.
    fn into_sessions(self) -> InSessions {
        let Streams { requests, frame } = self.streams;
        let of_ranks = requests.into_iter().zip(&frame.renames);
        let mut kinds = self.kinds;
        let mut ranks: Vec<RankSessions> =
            of_ranks.map(|(requests, renames)| sessions(&requests, renames, &kinds)).collect();
        split(&mut kinds, &mut ranks);
        InSessions { ranks, frame, kinds }
    }
}

/// A recording whose requests are in sessions.
struct InSessions {
    ranks: Vec<RankSessions>,
    frame: Frame,
    kinds: Kinds,
}

impl InSessions {
    /// How many of its transfers a model has at its number of ranks, at the same place: rank, class of file, kind, offset and size.
    fn confirms(&self, model: &Model) -> Confirmation {
        let mut places = HashMap::new();
        let ranks = self.ranks.len() as u32;
        let mut transfers = 0;
        for (rank, sessions) in (0..).zip(&self.ranks) {
            for execution in &sessions.executions {
                let class = sharing(&self.kinds.kinds[execution.kind].classed.class);
                for transfer in &*execution.transfers {
                    let offset =
                        transfer.offset.get().filter(|_| !execution.shape.mode().append).unwrap_or_default();
                    let place = (rank, class, transfer.kind, offset, transfer.size);
                    *places.entry(place).or_insert(0_u64) += 1;
                    transfers += 1;
                }
            }
        }
        let (mut exact, mut modelled) = (0, 0);
        for rank in 0..ranks {
            let mut appends: HashMap<u32, bool> = HashMap::new();
            let ended = synthesise(model, (rank, ranks), 0, &mut |step| {
                if let Action::Open { mode, .. } = step.action {
                    appends.insert(step.open, mode.append);
                }
                if let (Action::Transfer { kind, offset, size }, Some((file, _))) = (step.action, step.of) {
                    modelled += 1;
                    let file = &model.files[file];
                    let offset = if appends.get(&step.open) == Some(&true) { 0 } else { offset };
                    if let Some(left) = places.get_mut(&(rank, file.class, kind, offset, size))
                        && *left > 0
                    {
                        *left -= 1;
                        exact += 1;
                    }
                }
                ControlFlow::<()>::Continue(())
            });
            debug_assert_eq!(ended, ControlFlow::Continue(()));
        }
        Confirmation { ranks: ranks as usize, transfers: [transfers, modelled], exact_transfers: exact }
    }
}

/// A further recording beside the model of the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Confirmation {
    /// Number of its ranks: if that of the first one, it is a repetition; else its places confirm the laws or refute them.
    pub ranks: usize,
    /// Transfers that were recorded, and that the model has at that number of ranks.
    pub transfers: [u64; 2],
    /// Of them those of the same rank, class of file, kind, offset and size.
    pub exact_transfers: u64,
}

impl Confirmation {
    /// Whether the model has every transfer that was recorded, and no other.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.exact_transfers == self.transfers[0] && self.exact_transfers == self.transfers[1]
    }
}

/// How far a model of a recording is from another one.
///
/// # Errors
/// If the log cannot be read, or nothing on files of the program is selected.
pub fn confirm(
    model: &Model,
    log: &EventLog,
    query: &Query,
    options: Options,
    threads: NonZeroUsize,
) -> Result<Confirmation, CharacterizeError> {
    Ok(Recorded::of(log, query, options, threads)?.into_sessions().confirms(model))
}

/// Characterises what `query` selects of a log. Takes about 85 bytes of memory for each request.
///
/// # Errors
/// If the log cannot be read, or nothing on files of the program is selected.
pub fn characterize(
    log: &EventLog,
    query: &Query,
    options: Options,
    threads: NonZeroUsize,
) -> Result<Characterization, CharacterizeError> {
    let recorded = Recorded::of(log, query, options, threads)?;
    let groups = grouped(&recorded.streams, &recorded.kinds);
    let classes = classes(&recorded.streams, &recorded.kinds, &groups);
    let of_groups = groups.iter().map(|group| group_figures(group, &recorded.streams)).collect();
    let in_all = recorded.streams.requests.iter().map(|requests| requests.len() as u64).sum();
    let InSessions { mut ranks, frame, kinds } = recorded.into_sessions();
    let of = |ranks: &[RankSessions]| programmed(log, &frame, &kinds, ranks, &groups, options.naming);
    let mut programmed = of(&ranks)?;
    if programmed.is_apart() {
        let all = ranks.iter_mut().flat_map(|rank| &mut rank.executions);
        all.for_each(|execution| execution.shape.make_alone());
        programmed = of(&ranks)?;
    }
    let barriers = frame.barriers.iter().map(|barriers| barriers.len() as u64);
    let recording = Recording {
        frame: &frame,
        kinds: &kinds,
        ranks: &ranks,
        groups: &groups,
        barriers: barriers.clone().sum(),
    };
    let (modelled, fit, levels) = chosen(&recording, &programmed, options.naming, options.level);
    let mut requests: BTreeMap<String, u64> = BTreeMap::new();
    for (name, count) in ranks.iter().flat_map(|rank| &rank.other) {
        *requests.entry(name.clone()).or_default() += count;
    }
    let not_kept = NotKept {
        requests,
        locks: ranks.iter().map(|rank| rank.locks_left_out).sum(),
        overlapping_sessions: modelled.overlapping,
        sessions_without_law: modelled.without_law.drawn,
        sessions_in_other_order: modelled.without_law.shuffled,
        unplaced_transfers: unplaced(&ranks),
        represented_sessions: modelled.represented,
        order_kept: modelled.ordered,
        steps_of_no_range: modelled.of_no_range,
        threaded_ranks: frame.threaded,
        assumed_names: kinds.kinds.iter().filter(|kind| kind.classed.assumed).count() as u64,
    };
    Ok(Characterization {
        format: "iotrail-characterization/1",
        ranks: frame.ranks(),
        ranked_by: frame.by,
        requests: in_all,
        left_out: frame.left_out,
        classes,
        groups: of_groups,
        tokens: Tokens {
            mpi_recorded: frame.has_mpi,
            inferred: frame.inferred,
            barriers: barriers.max().unwrap_or_default(),
            other_collectives: frame.other_collectives,
            messages: MessageFigures {
                kept: modelled.model.has_messages(),
                scales: programmed.messages_scale(),
                ..frame.messages.figures
            },
            after: programmed.waits,
            clocks: frame.clocks,
        },
        not_kept,
        fit,
        levels,
        confirmations: Vec::new(),
        model: modelled.model,
    })
}

/// Transfers whose places are not known; where appended bytes lie is nobody's choice.
fn unplaced(ranks: &[RankSessions]) -> u64 {
    let executions = ranks.iter().flat_map(|rank| &rank.executions);
    let transfers = executions.filter(|one| !one.shape.mode().append).flat_map(|one| &*one.transfers);
    transfers.filter(|transfer| transfer.offset.is_null()).count() as u64
}

/// Groups of ranks by the mix and the reuse of their requests.
pub(crate) fn grouped(streams: &Streams, kinds: &Kinds) -> Vec<Group> {
    let behaviour = |requests: &Vec<Request>| {
        let class = |request: &Request| &kinds.kinds[kinds.of_file[request.file.0 as usize]].classed.class;
        let request =
            |request: &Request| ((request.variant(), class(request).clone()), Arc::clone(&request.form.name));
        Behaviour::of(requests.iter().map(request))
    };
    let behaviours: Vec<_> = streams.requests.iter().map(behaviour).collect();
    groups(&behaviours)
}

pub(crate) fn group_figures(group: &Group, streams: &Streams) -> GroupFigures {
    let requests = &streams.requests[group.representative];
    let mut variants: BTreeMap<Variant, u64> = BTreeMap::new();
    for request in requests {
        *variants.entry(request.variant()).or_default() += 1;
    }
    GroupFigures {
        representative: group.representative,
        requests: requests.len() as u64,
        data_requests: requests.iter().filter(|request| request.is_data()).count() as u64,
        variants: variants.into_iter().map(|(variant, count)| (variant.to_string(), count)).collect(),
        ranks: group.members.clone(),
    }
}

/// What is measured, by group and class. Positions are those in the rank's own requests.
fn classes(streams: &Streams, kinds: &Kinds, groups: &[Group]) -> Vec<ClassFigures> {
    let class = |file: FileIndex| word(&kinds.kinds[kinds.of_file[file.0 as usize]].classed.class);
    let mut figures = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        let mut sums: BTreeMap<&'static str, Characteristics> = BTreeMap::new();
        for rank in &group.members {
            let requests = streams.requests[*rank].iter().cloned();
            let placed: Vec<Placed> =
                (1..).zip(requests).map(|(position, request)| Placed { position, request }).collect();
            for (class, measured) in characteristics(&placed, class) {
                sums.entry(class).or_default().merge(&measured);
            }
        }
        figures.extend(sums.iter().map(|(class, sum)| ClassFigures {
            group: number,
            class,
            figures: Figures::of(sum),
        }));
    }
    figures
}
