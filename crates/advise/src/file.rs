//! All accesses to one file, and what orders them.

use crate::access::{Access, Description, DescriptionId, Edge, Kind};
use crate::conflicts::{Question, Span, latest};
use crate::contention::Contention;
use crate::pairs::{self, Pair, Rules};
use crate::runs::{self, Runs};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::Pid;

/// Everything that is known of the accesses to one file. Times of all of them can be compared.
#[derive(Clone, Debug, Default)]
pub struct FileAccesses {
    /// The accesses, sorted by (start, seq).
    pub accesses: Vec<Access>,
    /// What happened to the file that orders writes, sorted.
    pub edges: Vec<Edge>,
    /// What happened to one description, sorted.
    pub edges_of_descriptions: HashMap<DescriptionId, Vec<Edge>, RandomState>,
    /// By how much clocks of the accessing hosts may differ, in ns.
    pub skew: i64,
}

impl FileAccesses {
    /// The runs of all descriptions; with `ordered` edges keep writes in their order.
    #[must_use]
    pub fn runs(&self, descriptions: &[Description], processes: &ProcessEdges, ordered: bool) -> Runs {
        runs::runs(&mut Looking::new(self, descriptions), processes, ordered)
    }

    /// The pairs of all descriptions.
    #[must_use]
    pub fn pairs(&self, descriptions: &[Description], rules: Rules) -> Vec<Pair> {
        pairs::pairs(&Looking::new(self, descriptions), rules)
    }
}

/// Of each access the first byte from which on it changes what others see: a write behind the end of the file makes zeros of what
/// lies before it.
pub(crate) fn visible_from(accesses: &[Access], skew: i64) -> Vec<u64> {
    let mut extent = Extent { skew: skew.saturating_mul(2), ..Extent::default() };
    let mut by_end: Vec<u32> = (0..accesses.len() as u32).collect();
    by_end.sort_by_key(|at| accesses[*at as usize].end);
    let mut over = by_end.into_iter().peekable();
    let cutting: Vec<i64> =
        accesses.iter().filter(|access| cuts(access)).map(|access| access.start).collect();
    let from = |(at, access): (usize, &Access)| {
        let begin = access.start.saturating_sub(extent.skew);
        while let Some(at) = over.next_if(|at| accesses[*at as usize].end < begin) {
            extent.ended(at, &accesses[at as usize]);
        }
        // What may be cut at the same time, by others.
        let until = cutting.partition_point(|start| *start <= access.end.saturating_add(extent.skew));
        let since = cutting.partition_point(|start| *start < begin);
        let visible = match access.kind {
            Kind::Write if until - since > usize::from(cuts(access)) => 0,
            Kind::Write => access.low.min(extent.known),
            _ => access.low,
        };
        extent.begins(at as u32, access);
        visible
    };
    accesses.iter().enumerate().map(from).collect()
}

/// Whether the file may be shorter after it.
fn cuts(access: &Access) -> bool {
    access.kind == Kind::UnknownWrite || access.kind == Kind::Write && access.high == u64::MAX
}

/// How long a file is at least: up to the highest byte that an access which was over had moved, or as long as it was made. What may
/// have cut it makes it unknown.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    known: u64,
    /// When all that may have cut it were over.
    cut_until: Option<i64>,
    /// The last one of them that began, if all others were over by then.
    last_cut: Option<u32>,
    /// By how much times may differ.
    skew: i64,
}

impl Extent {
    fn is_cut_until(&self, moment: i64) -> bool {
        self.cut_until.is_some_and(|cut| cut.saturating_add(self.skew) > moment)
    }

    fn begins(&mut self, at: u32, access: &Access) {
        if cuts(access) {
            self.known = 0;
            self.last_cut = (!self.is_cut_until(access.start.saturating_sub(1))).then_some(at);
            self.cut_until = self.cut_until.max(Some(access.end));
        }
    }

    fn ended(&mut self, at: u32, access: &Access) {
        let moved = matches!(access.kind, Kind::Read | Kind::Write)
            && access.low < access.high
            && access.high < u64::MAX;
        if moved && !self.is_cut_until(access.start) {
            self.known = self.known.max(access.high);
        }
        if access.kind == Kind::Write && access.high == u64::MAX && self.last_cut == Some(at) {
            self.known = self.known.max(access.low);
        }
    }
}

/// A direction of time: forwards one finds what came before, backwards what comes after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Time {
    Forwards,
    Backwards,
}

/// What the accesses of a file have in their way.
pub(crate) struct Looking<'a> {
    pub(crate) file: &'a FileAccesses,
    pub(crate) descriptions: &'a [Description],
    visible_from: Vec<u64>,
    /// When the effect of each access is there at the latest: of a write that a run defers, at the end of the run.
    there_by: Vec<i64>,
    contention: Contention,
}

fn appends(descriptions: &[Description], access: &Access) -> bool {
    access.kind == Kind::Write
        && descriptions.get(access.description.0 as usize).is_some_and(|open| open.appends)
}

/// A question of one access about others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    /// Who asks: an index into the accesses.
    pub(crate) by: u32,
    /// Bytes.
    pub(crate) low: u64,
    /// Bytes.
    pub(crate) high: u64,
    /// Forwards: who began by then; backwards: who ended then or later.
    pub(crate) moment: i64,
}

impl<'a> Looking<'a> {
    pub(crate) fn new(file: &'a FileAccesses, descriptions: &'a [Description]) -> Self {
        let there_by = file.accesses.iter().map(|access| access.end).collect();
        let visible_from = visible_from(&file.accesses, file.skew);
        let contention =
            Contention::of(&file.accesses, &visible_from, |access| appends(descriptions, access));
        Self { file, descriptions, visible_from, there_by, contention }
    }

    /// These writes are done with the last of them.
    pub(crate) fn defer(&mut self, members: &[u32]) {
        let end = members.last().map_or(i64::MIN, |last| self.access(*last).end);
        members.iter().for_each(|at| self.there_by[*at as usize] = end);
    }

    pub(crate) fn access(&self, at: u32) -> &Access {
        &self.file.accesses[at as usize]
    }

    /// Whether an access goes to the end of the file wherever that is.
    pub(crate) fn appends(&self, access: &Access) -> bool {
        appends(self.descriptions, access)
    }

    /// Whether a write is on storage before it returns.
    pub(crate) fn syncs(&self, access: &Access) -> bool {
        let opened = || self.descriptions.get(access.description.0 as usize).is_some_and(|open| open.syncs);
        access.kind == Kind::Write && (access.syncs || opened())
    }

    /// The bytes of a write that readers see changing.
    pub(crate) fn visible(&self, at: u32) -> (u64, u64) {
        (self.visible_from[at as usize], self.access(at).high)
    }

    /// Of each asker the access of another description, among those for which `takes`, that began by its moment, touches its bytes
    /// and ended last.
    pub(crate) fn before(&self, takes: Takes, asks: &[Ask]) -> Vec<Option<u32>> {
        self.look(Time::Forwards, takes, asks, &|_| true)
    }

    /// As [`Self::before`], where each asks about no bytes but its own and those that it is seen to change.
    pub(crate) fn before_own(&self, takes: Takes, asks: &[Ask]) -> Vec<Option<u32>> {
        self.contended(asks, |asks, is_taken| self.look(Time::Forwards, takes, asks, is_taken))
    }

    /// Of each asker the access of another description that ended then or later, touches its bytes and began first; in the same way.
    pub(crate) fn after_own(&self, takes: Takes, asks: &[Ask]) -> Vec<Option<u32>> {
        self.contended(asks, |asks, is_taken| self.look(Time::Backwards, takes, asks, is_taken))
    }

    /// Asks only for those who can have somebody in their way, and only about those who can be in it.
    fn contended(
        &self,
        asks: &[Ask],
        look: impl Fn(&[Ask], &dyn Fn(u32) -> bool) -> Vec<Option<u32>>,
    ) -> Vec<Option<u32>> {
        let is_taken = |at: u32| self.contention.is_contended(at);
        if self.contention.wide {
            return look(asks, &is_taken);
        }
        let (places, some): (Vec<usize>, Vec<Ask>) =
            asks.iter().copied().enumerate().filter(|(_, ask)| is_taken(ask.by)).unzip();
        let mut answers = vec![None; asks.len()];
        let found = look(&some, &is_taken);
        places.into_iter().zip(found).for_each(|(index, answer)| answers[index] = answer);
        answers
    }

    fn look(
        &self,
        time: Time,
        takes: Takes,
        asks: &[Ask],
        is_taken: &dyn Fn(u32) -> bool,
    ) -> Vec<Option<u32>> {
        let all = 0..self.file.accesses.len() as u32;
        let taken: Vec<u32> = all.filter(|at| takes.takes(self.access(*at)) && is_taken(*at)).collect();
        let owners = taken.iter().map(|at| self.access(*at).description);
        let alone = owners.clone().next().filter(|first| owners.clone().all(|owner| owner == *first));
        // Most files are accessed through one description at a time, which is in nobody's way.
        if taken.is_empty()
            || alone.is_some_and(|owner| {
                owner != DescriptionId::NONE
                    && asks.iter().all(|ask| self.access(ask.by).description == owner)
            })
        {
            return vec![None; asks.len()];
        }
        let spans: Vec<Span> = taken.iter().map(|at| self.span(*at, takes, time)).collect();
        let questions: Vec<Question> = asks
            .iter()
            .map(|ask| Question {
                // What touches the moment may be on either side of it.
                before: if time == Time::Forwards { ask.moment } else { ask.moment.saturating_neg() }
                    .saturating_add(1),
                low: ask.low,
                high: ask.high,
                owner: self.access(ask.by).description,
            })
            .collect();
        let answers = latest(&spans, &questions);
        answers.into_iter().map(|found| found.map(|index| taken[index as usize])).collect()
    }

    /// The bytes of an access that count.
    pub(crate) fn bytes(&self, at: u32, takes: Takes) -> (u64, u64) {
        let access = self.access(at);
        match takes {
            Takes::Everything | Takes::Unknown | Takes::UnknownWrites | Takes::AnyWrite => (0, u64::MAX),
            // Where it lands depends on what the others did to the end of the file.
            _ if self.appends(access) => (0, u64::MAX),
            Takes::VisibleWrites => self.visible(at),
            Takes::Reads | Takes::Writes | Takes::Seeks => (access.low, access.high),
        }
    }

    /// Whether an access is through another description than that of `by`; nobody's own is foreign to all.
    pub(crate) fn is_foreign(&self, at: u32, by: u32) -> bool {
        let owner = self.access(at).description;
        owner == DescriptionId::NONE || owner != self.access(by).description
    }

    fn span(&self, at: u32, takes: Takes, time: Time) -> Span {
        let access = self.access(at);
        let (start, end) = self.time(at);
        let (low, high) = self.bytes(at, takes);
        let (start, end) = match time {
            Time::Forwards => (start, end),
            Time::Backwards => (end.saturating_neg(), start.saturating_neg()),
        };
        Span { start, end, low, high, owner: access.description }
    }

    /// When an access may have its effect, by any clock.
    pub(crate) fn time(&self, at: u32) -> (i64, i64) {
        let (start, end) = (self.access(at).start, self.there_by[at as usize]);
        (start.saturating_sub(self.file.skew), end.saturating_add(self.file.skew))
    }
}

/// Which accesses are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// All, whatever bytes they touch.
    Everything,
    /// Reads of the bytes.
    Reads,
    /// Writes to the bytes.
    Writes,
    /// Writes after which the bytes read differently.
    VisibleWrites,
    /// Writes, whatever bytes they touch.
    AnyWrite,
    /// Seeks to the bytes.
    Seeks,
    /// What may read or write any byte.
    Unknown,
    /// What may write any byte.
    UnknownWrites,
}

impl Takes {
    pub(crate) fn takes(self, access: &Access) -> bool {
        match self {
            Self::Everything => true,
            Self::Reads => access.kind == Kind::Read,
            Self::Writes | Self::VisibleWrites | Self::AnyWrite => access.kind == Kind::Write,
            Self::Seeks => access.kind == Kind::Seek,
            Self::Unknown => access.kind.is_unknown(),
            Self::UnknownWrites => access.kind == Kind::UnknownWrite,
        }
    }
}

/// Edges of each process.
pub type ProcessEdges = HashMap<(iotrail_model::CaseId, Pid), Vec<Edge>, RandomState>;

/// The first edge from a moment on.
pub(crate) fn next_edge(edges: &[Edge], from: i64) -> Option<Edge> {
    edges.get(edges.partition_point(|edge| edge.start < from)).copied()
}
