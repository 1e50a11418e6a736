//! What is measured of paths, recorded ones and those of a model, and how far they are from each other.
//!
//! Source: PIONEER, table III; distances: section 7 of the definitions.

use crate::distribution::Distribution;
use crate::mix::total_variation;
use crate::model::{Action, Mode, NameCall, RequestKind, Sharing, Statistics, Synthetic, common_divisor};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What is measured of the files of a class in a group.
#[derive(Clone, Debug, Default)]
pub struct ClassProfile {
    files: Distribution,
    sessions: Distribution,
    depth: Distribution,
    first_gap: Distribution,
    session_gap: Distribution,
    request_gap: Distribution,
    modes: BTreeMap<Mode, u64>,
    requests: BTreeMap<RequestKind, u64>,
    calls: BTreeMap<NameCall, u64>,
    sizes: BTreeMap<RequestKind, Distribution>,
    /// Transfers that follow another one of the session, and of them those that begin where it ended.
    pairs: [u64; 2],
    /// Where transfers begin that do not.
    offsets: BTreeMap<RequestKind, Distribution>,
    file_size: u64,
    slack: Distribution,
    /// Sum of the durations, and their number.
    took: (u64, u64),
    bytes: u64,
}

/// What is measured of paths, by group and class.
#[derive(Clone, Debug, Default)]
pub struct Profile(BTreeMap<(usize, usize), ClassProfile>);

/// A session while its path is read.
struct Open {
    class: usize,
    file: (usize, u64),
    last: u64,
    depth: i64,
    /// Where the last transfer ended.
    end: Option<u64>,
    append: bool,
}

/// A file while its path is read.
#[derive(Default)]
struct FileSoFar {
    sessions: i64,
    last: u64,
}

impl Profile {
    /// Adds what a rank of a group does; `class` is that of a file by its index.
    pub fn add_rank(&mut self, group: usize, steps: &[Synthetic], class: impl Fn(usize) -> usize) {
        let mut open: HashMap<u32, Open> = HashMap::new();
        let mut files: BTreeMap<(usize, u64), FileSoFar> = BTreeMap::new();
        let mut position = 0;
        let mut before = 0_u64;
        for step in steps {
            if step.action == Action::Pause {
                continue;
            }
            if step.action.is_no_request() {
                before = before.saturating_add(step.slack);
                continue;
            }
            // Time before ranks meet to make a request together is time before it.
            let slack = step.slack.saturating_add(std::mem::take(&mut before));
            let step = &Synthetic { slack, ..*step };
            position += 1;
            match step.action {
                Action::Open { file, number, mode } => {
                    let class = class(file);
                    let so_far = files.entry((file, number)).or_default();
                    let of = self.class(group, class, (position, step));
                    *of.modes.entry(mode).or_default() += 1;
                    match so_far.sessions {
                        0 => of.first_gap.add(position as i64),
                        _ => of.session_gap.add(position as i64 - so_far.last as i64),
                    }
                    so_far.sessions += 1;
                    so_far.last = position;
                    let session = Open {
                        class,
                        file: (file, number),
                        last: position,
                        depth: 0,
                        end: None,
                        append: mode.append,
                    };
                    open.insert(step.open, session);
                }
                // Links are of two files: none is drawn.
                Action::Call { call: NameCall::Link, .. } => {}
                Action::Call { call, file, number, .. } => {
                    files.entry((file, number)).or_default();
                    *self.class(group, class(file), (position, step)).calls.entry(call).or_default() += 1;
                }
                Action::Pause | Action::Barrier(_) | Action::After { .. } | Action::Message { .. } => {}
                Action::Transfer { .. } | Action::Request(_) | Action::Close => {
                    let Some(session) = open.get_mut(&step.open) else { continue };
                    let of = self.class(group, session.class, (position, step));
                    of.request_gap.add(position as i64 - session.last as i64);
                    session.last = position;
                    session.depth += 1;
                    files.entry(session.file).or_default().last = position;
                    of.request(step.action, session);
                    if step.action == Action::Close {
                        of.depth.add(session.depth);
                        open.remove(&step.open);
                    }
                }
            }
        }
        self.add_files(group, &files, class);
    }

    /// Adds a step of a rank, of which the first has no slack: what came before it is not known of a recording.
    fn class(
        &mut self,
        group: usize,
        class: usize,
        (position, step): (u64, &Synthetic),
    ) -> &mut ClassProfile {
        let of = self.0.entry((group, class)).or_default();
        if position > 1 {
            of.slack.add(i64::try_from(step.slack).unwrap_or(i64::MAX));
        }
        of.took = (of.took.0.saturating_add(step.duration), of.took.1 + 1);
        of
    }

    fn add_files(
        &mut self,
        group: usize,
        files: &BTreeMap<(usize, u64), FileSoFar>,
        class: impl Fn(usize) -> usize,
    ) {
        let mut counts: BTreeMap<usize, i64> = BTreeMap::new();
        for ((file, _), so_far) in files {
            let class = class(*file);
            *counts.entry(class).or_default() += 1;
            self.0.entry((group, class)).or_default().sessions.add(so_far.sessions);
        }
        for (class, count) in counts {
            self.0.entry((group, class)).or_default().files.add(count);
        }
    }

    /// Groups and classes that do something.
    pub fn keys(&self) -> impl Iterator<Item = (usize, usize)> {
        self.0.keys().copied()
    }

    /// The end of the furthest transfer of a class, of all groups.
    #[must_use]
    pub fn file_size(&self, class: usize) -> u64 {
        self.0
            .iter()
            .filter(|((_, of), _)| *of == class)
            .map(|(_, of)| of.file_size)
            .max()
            .unwrap_or_default()
    }

    /// Most files of a rank in a class.
    #[must_use]
    pub fn most_files(&self, class: usize) -> u64 {
        let most = self.0.iter().filter(|((_, of), _)| *of == class).filter_map(|(_, of)| of.files.max());
        most.max().map_or(0, |most| most.max(0) as u64)
    }

    /// The distributions from which paths of a group of so many ranks are drawn.
    #[must_use]
    pub fn statistics(
        &self,
        key: (usize, usize),
        members: u64,
        sharing: Sharing,
        ranks: Option<usize>,
    ) -> Statistics {
        let Some(of) = self.0.get(&key) else { return Statistics::default() };
        let mut files = of.files.clone();
        let doing = if sharing == Sharing::Root { 1 } else { members.max(1) };
        files.add_times(0, doing.saturating_sub(files.total()));
        let per_rank = |total: &u64| ((2 * total + doing) / (2 * doing)).max(1);
        let values =
            |map: &BTreeMap<RequestKind, Distribution>, kind| map.get(&kind).map(weights).unwrap_or_default();
        let (sizes, write_sizes) = of_kinds(|kind| values(&of.sizes, kind));
        let (offsets, write_offsets) = of_kinds(|kind| values(&of.offsets, kind));
        let no_slack = of.slack.max().unwrap_or_default() == 0;
        Statistics {
            ranks,
            files: weights(&files),
            sessions: weights(&of.sessions),
            depth: weights(&of.depth),
            first_gap: weights(&of.first_gap),
            session_gap: shares(of.session_gap.counts()),
            request_gap: weights(&of.request_gap),
            modes: shares(of.modes.iter().map(|(mode, count)| (*mode, *count))),
            requests: shares(of.requests.iter().map(|(kind, count)| (*kind, *count))),
            calls: of.calls.iter().map(|(call, total)| (*call, per_rank(total))).collect(),
            sizes,
            write_sizes,
            pairs: of.pairs,
            offsets,
            write_offsets,
            file_size: of.file_size,
            slack: if no_slack { BTreeMap::new() } else { weights(&of.slack) },
            duration: of.took.0 / of.took.1.max(1),
        }
    }

    /// How far the figures of another path are from these, as shares.
    #[must_use]
    pub fn distances(&self, other: &Self) -> Vec<Distance> {
        let none = ClassProfile::default();
        let keys: BTreeSet<(usize, usize)> = self.keys().chain(other.keys()).collect();
        let mut worst: BTreeMap<&'static str, Distance> = BTreeMap::new();
        for key in keys {
            let (one, two) = (self.0.get(&key).unwrap_or(&none), other.0.get(&key).unwrap_or(&none));
            for distance in one.distances(two) {
                let known = worst.entry(distance.figure).or_insert(distance);
                if distance.distance > known.distance {
                    *known = distance;
                }
            }
        }
        worst.into_values().collect()
    }
}

impl ClassProfile {
    fn request(&mut self, action: Action, session: &mut Open) {
        let kind = match action {
            Action::Transfer { kind, .. } | Action::Request(kind) => kind,
            _ => return,
        };
        *self.requests.entry(kind).or_default() += 1;
        let Action::Transfer { offset, size, .. } = action else { return };
        self.sizes.entry(kind).or_default().add(size as i64);
        self.bytes = self.bytes.saturating_add(size);
        self.file_size = self.file_size.max(offset.saturating_add(size));
        let follows = session.append || session.end == Some(offset);
        if session.end.is_some() {
            self.pairs = [self.pairs[0] + 1, self.pairs[1] + u64::from(follows)];
        }
        if !follows {
            self.offsets.entry(kind).or_default().add(offset as i64);
        }
        session.end = Some(offset.saturating_add(size));
    }

    fn distances(&self, other: &Self) -> Vec<Distance> {
        let of_kinds = |one: &BTreeMap<RequestKind, Distribution>,
                        two: &BTreeMap<RequestKind, Distribution>| {
            let none = Distribution::default();
            let kinds: BTreeSet<RequestKind> = one.keys().chain(two.keys()).copied().collect();
            let all = kinds
                .iter()
                .map(|kind| apart(one.get(kind).unwrap_or(&none), two.get(kind).unwrap_or(&none)));
            all.fold(0.0, f64::max)
        };
        let seq = |[all, consecutive]: [u64; 2]| if all > 0 { consecutive as f64 / all as f64 } else { 1.0 };
        let total = |map: &BTreeMap<NameCall, u64>| map.values().sum::<u64>() as f64;
        let counts = |of: &Self| of.took.1 as f64;
        let of = |figure, distance, tolerance| Distance { figure, distance, tolerance };
        vec![
            of("files", apart(&self.files, &other.files), TOLERANCE),
            of("sessions", apart(&self.sessions, &other.sessions), TOLERANCE),
            of("depth", apart(&self.depth, &other.depth), TOLERANCE),
            of("first_gap", apart(&self.first_gap, &other.first_gap), TOLERANCE),
            of("session_gap", apart(&self.session_gap, &other.session_gap), TOLERANCE),
            of("request_gap", apart(&self.request_gap, &other.request_gap), TOLERANCE),
            of("in_sessions", total_variation(&self.requests, &other.requests), MIX_TOLERANCE),
            of(
                "outside",
                total_variation(&self.calls, &other.calls)
                    .max(relative(total(&self.calls), total(&other.calls))),
                MIX_TOLERANCE,
            ),
            of("modes", total_variation(&self.modes, &other.modes), MIX_TOLERANCE),
            of("sizes", of_kinds(&self.sizes, &other.sizes), TOLERANCE),
            of("consecutive", (seq(self.pairs) - seq(other.pairs)).abs(), MIX_TOLERANCE),
            of("offsets", of_kinds(&self.offsets, &other.offsets), TOLERANCE),
            of("file_size", relative(self.file_size as f64, other.file_size as f64), TOLERANCE),
            of(
                "slack",
                relative(self.slack.mean().unwrap_or(0.0), other.slack.mean().unwrap_or(0.0)),
                TOLERANCE,
            ),
            of("requests", relative(counts(self), counts(other)), TOLERANCE),
            of("bytes", relative(self.bytes as f64, other.bytes as f64), TOLERANCE),
        ]
    }
}

/// Distance of totals and distributions that is none.
const TOLERANCE: f64 = 0.05;
/// The same of mixes.
const MIX_TOLERANCE: f64 = 0.01;

/// How far a figure of a path is from that of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Which, by its word in results.
    pub figure: &'static str,
    /// Of totals the difference, of distributions that of Wasserstein, both as shares of the mean; of mixes the total variation.
    pub distance: f64,
    /// At most so much is none.
    pub tolerance: f64,
}

impl Distance {
    /// Whether it is none.
    #[must_use]
    pub fn is_within(&self) -> bool {
        self.distance <= self.tolerance
    }

    /// As a share of what is none.
    #[must_use]
    pub fn excess(&self) -> f64 {
        self.distance / self.tolerance.max(f64::MIN_POSITIVE)
    }
}

/// Wasserstein's distance as a share of the mean of the first one; 1 if only one of them has values.
fn apart(one: &Distribution, two: &Distribution) -> f64 {
    match one.wasserstein(two) {
        None => f64::from(u8::from(one.total() != two.total())),
        Some(0.0) => 0.0,
        Some(distance) => {
            let sum: f64 =
                one.counts().map(|(value, times)| value.unsigned_abs() as f64 * times as f64).sum();
            distance / (sum / one.total().max(1) as f64).max(f64::MIN_POSITIVE)
        }
    }
}

fn relative(one: f64, two: f64) -> f64 {
    if one == two { 0.0 } else { (one - two).abs() / one.abs().max(f64::MIN_POSITIVE) }
}

/// More distinct values than these are represented by [`QUANTILES`].
const DISTINCT: usize = 64;
/// Values that are equally probable.
const QUANTILES: u64 = 256;
/// Largest count of a value in a model file.
const MOST: u64 = 1 << 20;

/// Values that are not negative, with their weights: all if there are few, else the means of equally probable slices, the first and last of
/// which are the extremes.
fn weights(of: &Distribution) -> BTreeMap<u64, u64> {
    let counts = of.counts().map(|(value, times)| (value.max(0) as u64, times));
    if of.counts().nth(DISTINCT).is_none() {
        return shares(counts);
    }
    let (mut sums, mut before) = (vec![(0_u128, 0_u128); QUANTILES as usize], 0_u128);
    let total = u128::from(of.total());
    for (value, times) in counts {
        let (mut from, until) = (before, before + u128::from(times));
        while from < until {
            let slice = from * u128::from(QUANTILES) / total;
            let behind = ((slice + 1) * total).div_ceil(u128::from(QUANTILES)).min(until);
            let (sum, number) = &mut sums[slice as usize];
            *sum += u128::from(value) * (behind - from);
            *number += behind - from;
            from = behind;
        }
        before = until;
    }
    let means = sums.iter().filter(|(_, number)| *number > 0).map(|(sum, number)| (sum / number) as u64);
    let mut means: Vec<u64> = means.collect();
    let extreme = |value: Option<i64>| value.map_or(0, |value| value.max(0) as u64);
    if let [first, .., last] = &mut means[..] {
        (*first, *last) = (extreme(of.min()), extreme(of.max()));
    }
    let mut weights = BTreeMap::new();
    means.into_iter().for_each(|value| *weights.entry(value).or_default() += 1);
    weights
}

/// Counts without common divisor, none larger than a model file has.
fn shares<K: Ord>(counts: impl Iterator<Item = (K, u64)>) -> BTreeMap<K, u64> {
    let mut shares: BTreeMap<K, u64> = BTreeMap::new();
    for (value, count) in counts {
        *shares.entry(value).or_default() += count;
    }
    let divisor = shares.values().copied().fold(0, common_divisor).max(1);
    let largest = shares.values().copied().max().unwrap_or_default() / divisor;
    let unit = largest.div_ceil(MOST).max(1);
    shares.values_mut().for_each(|count| *count = (*count / divisor / unit).max(1));
    shares
}

/// What is the case for reads, and for writes if that is something else.
fn of_kinds(of: impl Fn(RequestKind) -> BTreeMap<u64, u64>) -> (BTreeMap<u64, u64>, BTreeMap<u64, u64>) {
    let (reads, writes) = (of(RequestKind::Read), of(RequestKind::Write));
    match (reads.is_empty(), reads == writes) {
        (true, _) => (writes, BTreeMap::new()),
        (_, true) => (reads, BTreeMap::new()),
        _ => (reads, writes),
    }
}
