//! What is measured of the sessions of files.
//!
//! Source: PIONEER, table III and section IV; the symbols are the paper's.

use crate::distribution::Distribution;
use crate::file_class::FileIndex;
use crate::requests::{Request, Variant};
use crate::session::{Session, sessions};
use iotrail_model::calls::CallKind;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A request and where it is in the path.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The paper's *gsid*: position among the requests of the path, from 1; ascending in a rank.
    pub position: u64,
    /// The request.
    pub request: Request,
}

/// Consecutive transfers of a session whose places are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pairs {
    /// All.
    pub all: u64,
    /// Of them those where the second begins where the first ends.
    pub consecutive: u64,
    /// Of them those where it begins there or behind.
    pub sequential: u64,
}

impl Pairs {
    /// SEQ, the share of consecutive ones; NULL if there is none.
    #[must_use]
    pub fn consecutive_share(self) -> Option<f64> {
        (self.all > 0).then(|| self.consecutive as f64 / self.all as f64)
    }

    /// The share of sequential ones; NULL if there is none.
    #[must_use]
    pub fn sequential_share(self) -> Option<f64> {
        (self.all > 0).then(|| self.sequential as f64 / self.all as f64)
    }

    fn of(session: &Session<'_>) -> Self {
        let data: Vec<&Request> = session.data().map(|placed| &placed.request).collect();
        let steps = data.windows(2).filter_map(|pair| Some((pair[0].end_offset()?, pair[1].offset.get()?)));
        steps.fold(Self::default(), |pairs, (end, next)| Self {
            all: pairs.all + 1,
            consecutive: pairs.consecutive + u64::from(next == end),
            sequential: pairs.sequential + u64::from(next >= end),
        })
    }

    fn plus(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            consecutive: self.consecutive + other.consecutive,
            sequential: self.sequential + other.sequential,
        }
    }
}

/// What is measured of the files of a class in a group of streams.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Characteristics {
    /// Files of each rank.
    pub files: Distribution,
    /// OT: sessions of a file.
    pub sessions: Distribution,
    /// D: requests of a session after its open, the close included.
    pub depth: Distribution,
    /// ISG₀: position of the first open of a file.
    pub first_gap: Distribution,
    /// ISG: from the last request of a session to the open of the next one of the file; below 0 where they overlap.
    pub session_gap: Distribution,
    /// IRG: from a request of a session to the next.
    pub request_gap: Distribution,
    /// RT1: variants in sessions, without open and close.
    pub in_sessions: BTreeMap<Variant, u64>,
    /// RT2: variants outside of sessions.
    pub outside: BTreeMap<Variant, u64>,
    /// AM: flags of opens. Sessions whose open was not seen have none.
    pub modes: BTreeMap<Arc<str>, u64>,
    /// SIZE: bytes that transfers ask to move, by variant.
    pub sizes: BTreeMap<Variant, Distribution>,
    /// OFF: where transfers begin, in bytes, by variant; those whose place is not known have none.
    pub offsets: BTreeMap<Variant, Distribution>,
    /// SEQ, over all sessions.
    pub pairs: Pairs,
    /// FS: the end of the furthest transfer of a file, in bytes; NULL if no place is known.
    pub file_size: Option<i64>,
    /// ST: slack before requests, in ns.
    pub slack: Distribution,
    /// How many of them were clamped.
    pub slack_clamped: u64,
    /// Sessions whose end was not seen.
    pub unclosed: u64,
}

impl Characteristics {
    /// Adds what another rank does to files of the class.
    pub fn merge(&mut self, other: &Self) {
        self.files.merge(&other.files);
        self.sessions.merge(&other.sessions);
        self.depth.merge(&other.depth);
        self.first_gap.merge(&other.first_gap);
        self.session_gap.merge(&other.session_gap);
        self.request_gap.merge(&other.request_gap);
        merge_mix(&mut self.in_sessions, &other.in_sessions);
        merge_mix(&mut self.outside, &other.outside);
        merge_mix(&mut self.modes, &other.modes);
        for (variant, sizes) in &other.sizes {
            self.sizes.entry(variant.clone()).or_default().merge(sizes);
        }
        for (variant, offsets) in &other.offsets {
            self.offsets.entry(variant.clone()).or_default().merge(offsets);
        }
        self.pairs = self.pairs.plus(other.pairs);
        self.file_size = self.file_size.max(other.file_size);
        self.slack.merge(&other.slack);
        self.slack_clamped += other.slack_clamped;
        self.unclosed += other.unclosed;
    }

    fn add_request(&mut self, request: &Request) {
        self.file_size = self.file_size.max(request.end_offset().filter(|_| request.is_data()));
        if let Some(size) = request.size.get().filter(|_| request.is_data()) {
            self.sizes.entry(request.variant()).or_default().add(size);
        }
        if let Some(offset) = request.offset.get().filter(|_| request.is_data()) {
            self.offsets.entry(request.variant()).or_default().add(offset);
        }
        if let Some(slack) = request.slack() {
            self.slack.add(slack.ns);
            self.slack_clamped += u64::from(slack.clamped);
        }
        if request.open.is_null() {
            *self.outside.entry(request.variant()).or_default() += 1;
        }
    }

    fn add_session(&mut self, session: &Session<'_>) {
        self.depth.add(session.requests.len() as i64);
        self.pairs = self.pairs.plus(Pairs::of(session));
        // What closes a directory whose entries were read is a part of that.
        let lists = session.requests.iter().any(|placed| placed.request.kind() == CallKind::List);
        self.unclosed += u64::from(!session.closed && !lists);
        if let Some(mode) = &session.mode {
            *self.modes.entry(Arc::clone(mode)).or_default() += 1;
        }
        let inner = session.requests.len() - usize::from(session.closed);
        for placed in &session.requests[..inner] {
            *self.in_sessions.entry(placed.request.variant()).or_default() += 1;
        }
        let mut before = session.opened;
        for placed in &session.requests {
            if let Some(before) = before {
                self.request_gap.add(gap(before, placed.position));
            }
            before = Some(placed.position);
        }
    }

    /// Adds the sessions of one file, in the order of their opens.
    fn add_file<'a>(&mut self, sessions: &[&Session<'a>]) {
        self.sessions.add(sessions.len() as i64);
        if let Some(opened) = sessions.first().and_then(|session| session.opened) {
            self.first_gap.add(gap(0, opened));
        }
        for pair in sessions.windows(2) {
            if let (Some(last), Some(opened)) = (pair[0].last(), pair[1].opened) {
                self.session_gap.add(gap(last, opened));
            }
        }
    }
}

/// What is measured of the requests of one rank, by what `class` calls their files. Results of ranks
/// [merge](Characteristics::merge).
#[must_use]
pub fn characteristics<C: Ord>(
    requests: &[Placed],
    class: impl Fn(FileIndex) -> C,
) -> BTreeMap<C, Characteristics> {
    let mut classes: BTreeMap<C, Characteristics> = BTreeMap::new();
    let mut files: BTreeMap<FileIndex, Vec<&Session<'_>>> = BTreeMap::new();
    let sessions = sessions(requests);
    for session in &sessions {
        files.entry(session.file).or_default().push(session);
        classes.entry(class(session.file)).or_default().add_session(session);
    }
    for placed in requests {
        files.entry(placed.request.file).or_default();
        classes.entry(class(placed.request.file)).or_default().add_request(&placed.request);
    }
    let mut counts: BTreeMap<C, i64> = BTreeMap::new();
    for (file, sessions) in files {
        *counts.entry(class(file)).or_default() += 1;
        classes.entry(class(file)).or_default().add_file(&sessions);
    }
    for (class, files) in counts {
        classes.entry(class).or_default().files.add(files);
    }
    classes
}

/// Gaps are positions of paths that lie in memory, so they fit.
fn gap(from: u64, to: u64) -> i64 {
    to as i64 - from as i64
}

fn merge_mix<K: Ord + Clone>(mix: &mut BTreeMap<K, u64>, other: &BTreeMap<K, u64>) {
    for (key, count) in other {
        *mix.entry(key.clone()).or_default() += count;
    }
}
