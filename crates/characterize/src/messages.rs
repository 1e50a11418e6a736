//! Messages that order what ranks do to files: who gave them to whom, and what pattern of ranks that is.
//!
//! Source: section 5 of the definitions.

use crate::kin::Order;
use crate::knowledge::{Extent, Given, ordering};
use crate::pipes::matched;
use crate::told::{Half, Moment, Rank, Rooted};
use iotrail_model::FileId;
use iotrail_workload::{Group, MessageHalf};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// Messages between ranks, of each of which both sides are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageSources {
    /// Messages of MPI between two ranks.
    pub mpi: u64,
    /// Collective calls of MPI that have a root, for each of the other ranks.
    pub rooted: u64,
    /// Reads from pipes.
    pub pipes: u64,
    /// Processes that were made, or whose end was noticed.
    pub processes: u64,
}

impl MessageSources {
    /// All of them.
    #[must_use]
    pub const fn all(&self) -> u64 {
        self.mpi + self.rooted + self.pipes + self.processes
    }
}

/// Messages between ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageFigures {
    /// Those of which both sides are known, by how they were sent.
    pub seen: MessageSources,
    /// Of them those that say more than others and than barriers do of the order of requests.
    pub ordering: u64,
    /// Whether the model has these.
    pub kept: bool,
    /// Whether their pattern is one of all ranks, the first one and all others, so that it holds for other numbers of ranks, too.
    pub scales: bool,
    /// Halves whose other half is not known.
    pub unmatched: u64,
    /// Collective calls of kinds whose order is not modelled: those that do not block, scans, those of neighbours.
    pub collective: u64,
    /// Messages in communicators other than that of all ranks.
    pub elsewhere: u64,
}

/// A rank was at a moment before another one was at one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Message {
    gives: Moment,
    gets: Moment,
}

/// Messages that order requests, by who gives and who gets them: later ones of two ranks are later for both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Messages {
    of_pairs: BTreeMap<(u32, u32), Vec<Message>>,
    pub(crate) figures: MessageFigures,
}

/// Half of a message, where a rank does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Requests and barriers before it.
    pub(crate) position: usize,
    pub(crate) barriers: usize,
    pub(crate) half: MessageHalf,
    pub(crate) to: Relation,
}

/// Who the other one of a message is, so that it is the same for many ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Relation {
    /// All other ranks.
    All,
    /// The rank of that number, with which all others exchange messages.
    Rank(u32),
    /// The rank that comes so much later.
    Shift(i32),
    /// The same, counted round.
    Around(i32),
}

/// How a message was sent.
type Source = fn(&mut MessageSources) -> &mut u64;

/// A rank, and its collective calls with a root.
type OfRank<'a> = (u32, Vec<&'a Rooted>);
/// So many bytes that a rank put into a pipe, or took out, at a moment.
type Moved = (i64, (u32, Moment));

/// All messages of which both sides are known.
#[derive(Default)]
struct Found {
    given: Vec<Given>,
    figures: MessageFigures,
}

impl Found {
    fn add(&mut self, source: Source, (giver, getter): (u32, u32), gives: Moment, gets: Moment) {
        if gives.time > gets.time {
            self.figures.unmatched += 2;
            return;
        }
        *source(&mut self.figures.seen) += 1;
        if giver != getter {
            self.given.push(Given { giver, getter, gives, gets });
        }
    }

    /// Messages of two ranks with one tag do not overtake each other (MPI 4.1, section 3.5).
    fn match_messages(&mut self, ranks: &[Rank]) {
        let mut given: HashMap<(u32, u32), Vec<Option<Half>>> = HashMap::new();
        for (rank, told) in (0..).zip(ranks) {
            for half in &told.given {
                given.entry((rank, half.peer)).or_default().push(Some(*half));
            }
        }
        // Where the first one stands that nobody got yet, by tag.
        let mut next: HashMap<(u32, u32, Option<i32>), usize> = HashMap::new();
        for (rank, told) in (0..).zip(ranks) {
            for half in &told.got {
                let Some(of_pair) = given.get_mut(&(half.peer, rank)) else {
                    self.figures.unmatched += 1;
                    continue;
                };
                let from = next.entry((half.peer, rank, half.tag)).or_default();
                let is_it = |given: &Option<Half>| {
                    given.is_some_and(|given| half.tag.is_none() || given.tag == half.tag)
                };
                match of_pair[*from..].iter().position(is_it) {
                    Some(at) => {
                        *from += at + 1;
                        if let Some(given) = of_pair[*from - 1].take() {
                            self.add(|seen| &mut seen.mpi, (half.peer, rank), given.moment, half.moment);
                        }
                    }
                    None => self.figures.unmatched += 1,
                }
            }
        }
        let mut left: BTreeMap<u32, Vec<(u32, Half)>> = BTreeMap::new();
        for ((giver, getter), halves) in given {
            left.entry(getter).or_default().extend(halves.into_iter().flatten().map(|half| (giver, half)));
        }
        self.match_left(ranks, left);
    }

    /// Of receives whose sender nobody recorded each gets the first message that is left and was given before.
    fn match_left(&mut self, ranks: &[Rank], mut left: BTreeMap<u32, Vec<(u32, Half)>>) {
        for (rank, told) in (0..).zip(ranks) {
            let halves = left.entry(rank).or_default();
            halves.sort_by_key(|(giver, half)| (half.moment.time, *giver));
            let mut left: VecDeque<(u32, Half)> = halves.drain(..).collect();
            for (tag, moment) in &told.from_anybody {
                let is_it = |(_, half): &(u32, Half)| {
                    half.moment.time <= moment.time && (tag.is_none() || half.tag == *tag)
                };
                match left.iter().take(LOOKED_AT).position(is_it).and_then(|at| left.remove(at)) {
                    Some((giver, half)) => {
                        self.add(|seen| &mut seen.mpi, (giver, rank), half.moment, *moment);
                    }
                    None => self.figures.unmatched += 1,
                }
            }
            self.figures.unmatched += left.len() as u64;
        }
        let of_no_rank = left.range(ranks.len() as u32..).map(|(_, halves)| halves.len() as u64);
        self.figures.unmatched += of_no_rank.sum::<u64>();
    }

    /// The calls of all ranks that have the same number among those of one root.
    fn match_rooted(&mut self, ranks: &[Rank]) {
        let mut of_roots: BTreeMap<(u32, bool), Vec<OfRank<'_>>> = BTreeMap::new();
        for (rank, told) in (0..).zip(ranks) {
            let mut own: BTreeMap<(u32, bool), Vec<&Rooted>> = BTreeMap::new();
            for call in &told.rooted {
                own.entry((call.root, call.from_root)).or_default().push(call);
            }
            own.into_iter().for_each(|(key, calls)| of_roots.entry(key).or_default().push((rank, calls)));
        }
        for ((root, from_root), of_ranks) in of_roots {
            let of_root = of_ranks.iter().find(|(rank, _)| *rank == root).map(|(_, calls)| calls.clone());
            for (rank, calls) in of_ranks.iter().filter(|(rank, _)| *rank != root) {
                for (own, of_root) in calls.iter().zip(of_root.iter().flatten()) {
                    match from_root {
                        true => self.add(|seen| &mut seen.rooted, (root, *rank), of_root.begins, own.ends),
                        false => self.add(|seen| &mut seen.rooted, (*rank, root), own.begins, of_root.ends),
                    }
                }
            }
        }
    }

    /// What is taken out of a pipe was put into it before, in the same order.
    fn match_pipes(&mut self, ranks: &[Rank]) {
        let mut pipes: BTreeMap<FileId, [Vec<Moved>; 2]> = BTreeMap::new();
        for (rank, told) in (0..).zip(ranks) {
            for (side, all) in [&told.into_pipes, &told.out_of_pipes].into_iter().enumerate() {
                for one in all {
                    pipes.entry(one.pipe).or_default()[side].push((one.bytes, (rank, one.moment)));
                }
            }
        }
        for mut sides in pipes.into_values() {
            sides.iter_mut().for_each(|side| side.sort_by_key(|(_, (_, moment))| moment.time));
            let [put, taken] = &sides;
            for (given, &(rank, moment)) in matched(put, taken) {
                match given {
                    Some(&(writer, wrote)) => self.add(|seen| &mut seen.pipes, (writer, rank), wrote, moment),
                    None => self.figures.unmatched += 1,
                }
            }
        }
    }
}

impl Messages {
    /// Those of ranks that do so much, and what else is known of their order.
    pub(crate) fn of(ranks: &[Rank], orders: Vec<Order>, extents: &[Extent]) -> Self {
        let mut found = Found::default();
        found.figures.elsewhere = ranks.iter().map(|rank| rank.elsewhere).sum();
        found.figures.collective = ranks.iter().map(|rank| rank.collective).sum();
        orders
            .into_iter()
            .for_each(|(pair, gives, gets)| found.add(|seen| &mut seen.processes, pair, gives, gets));
        found.match_messages(ranks);
        found.match_rooted(ranks);
        found.match_pipes(ranks);
        let kept = ordering(found.given, extents);
        let mut messages = Self { figures: found.figures, ..Self::default() };
        messages.figures.ordering = kept.len() as u64;
        for one in kept {
            let of_pair = messages.of_pairs.entry((one.giver, one.getter)).or_default();
            of_pair.push(Message { gives: one.gives, gets: one.gets });
        }
        messages
    }
    /// Whether messages say, one after the other, that what a rank did up to a request came before a request of another rank.
    pub(crate) fn order(&self, (giver, last): (u32, usize), (getter, first): (u32, usize)) -> bool {
        // Of each rank the first request that is known to come later.
        let mut later = BTreeMap::from([(giver, last + 1)]);
        let mut open = vec![giver];
        while let Some(giver) = open.pop() {
            let from = later.get(&giver).copied().unwrap_or(usize::MAX);
            for ((_, other), messages) in self.of_pairs.range((giver, 0)..=(giver, u32::MAX)) {
                let next = messages.partition_point(|message| message.gives.position < from);
                let Some(gets) = messages.get(next).map(|message| message.gets.position) else { continue };
                let known = later.entry(*other).or_insert(usize::MAX);
                if gets < *known {
                    *known = gets;
                    open.push(*other);
                }
            }
        }
        later.get(&getter).is_some_and(|later| *later <= first)
    }

    /// What each rank among so many does, in order.
    pub(crate) fn places(&self, ranks: u32) -> Vec<Vec<Place>> {
        let mut own: Vec<Vec<(Moment, MessageHalf, u32)>> = vec![Vec::new(); ranks as usize];
        for ((giver, getter), messages) in &self.of_pairs {
            for message in messages {
                own[*giver as usize].push((message.gives, MessageHalf::Send, *getter));
                own[*getter as usize].push((message.gets, MessageHalf::Receive, *giver));
            }
        }
        own.iter_mut().for_each(|own| own.sort_by_key(|(moment, half, other)| (*moment, *half, *other)));
        let runs: Vec<Vec<Run<'_>>> = own.iter().map(|own| runs(own)).collect();
        let relations = Relations::of(&self.of_pairs, &runs, ranks);
        (0..).zip(&runs).map(|(rank, runs)| relations.places(rank, runs)).collect()
    }
}

/// So many messages that are left are looked at for one that fits.
const LOOKED_AT: usize = 1 << 10;

/// Halves of one kind that follow each other and have nothing between them.
type Run<'a> = &'a [(Moment, MessageHalf, u32)];

fn runs(own: &[(Moment, MessageHalf, u32)]) -> Vec<Run<'_>> {
    own.chunk_by(|(one, half, _), (other, next, _)| {
        (one.position, one.barriers, half) == (other.position, other.barriers, next)
    })
    .collect()
}

/// Which relations there are between ranks.
struct Relations {
    ranks: u32,
    /// Ranks that exchange messages with all others.
    centres: BTreeSet<u32>,
    /// Shifts by which all ranks are related, counted round, upwards.
    rounds: BTreeSet<i64>,
}

/// Of fewer ranks nobody is said to exchange messages with all others.
const MIN_RANKS: u32 = 3;

impl Relations {
    fn of(pairs: &BTreeMap<(u32, u32), Vec<Message>>, runs: &[Vec<Run<'_>>], ranks: u32) -> Self {
        let with_all = |runs: &Vec<Run<'_>>| ranks >= MIN_RANKS && runs.iter().any(|run| is_all(run, ranks));
        let centres = (0..).zip(runs).filter(|(_, runs)| with_all(runs)).map(|(rank, _)| rank);
        let mut centres: BTreeSet<u32> = centres.collect();
        // Of three ranks the one in the middle has all others as neighbours, and so have all of a ring.
        if ranks == MIN_RANKS && centres != BTreeSet::from([0]) {
            centres.clear();
        }
        let mut of_shifts: BTreeMap<i64, BTreeSet<u32>> = BTreeMap::new();
        for (giver, getter) in pairs.keys() {
            let shift = (i64::from(*getter) - i64::from(*giver)).rem_euclid(i64::from(ranks));
            of_shifts.entry(shift).or_default().insert(*giver);
        }
        let all = |(_, givers): &(i64, BTreeSet<u32>)| givers.len() == ranks as usize && ranks >= MIN_RANKS;
        let rounds = of_shifts.into_iter().filter(all).map(|(shift, _)| shift).collect();
        Self { ranks, centres, rounds }
    }

    fn places(&self, rank: u32, runs: &[Run<'_>]) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for run in runs {
            let Some(&(Moment { position, barriers, .. }, half, _)) = run.first() else { continue };
            let place = |to| Place { position, barriers, half, to };
            if self.centres.contains(&rank) && is_all(run, self.ranks) {
                places.push(place(Relation::All));
                continue;
            }
            places.extend(run.iter().map(|(.., other)| place(self.relation(rank, *other, half))));
        }
        places
    }

    fn relation(&self, rank: u32, other: u32, half: MessageHalf) -> Relation {
        if self.centres.contains(&other) && !self.centres.contains(&rank) {
            return Relation::Rank(other);
        }
        let shift = i64::from(other) - i64::from(rank);
        let (sign, ranks) = (if half == MessageHalf::Send { 1 } else { -1 }, i64::from(self.ranks));
        // As who gives sees it.
        let round = (sign * shift).rem_euclid(ranks);
        if !self.rounds.contains(&round) {
            return Relation::Shift(shift as i32);
        }
        let shorter = if 2 * round > ranks { round - ranks } else { round };
        Relation::Around((sign * shorter) as i32)
    }
}

/// Whether these are one with each of all other ranks.
fn is_all(run: &[(Moment, MessageHalf, u32)], ranks: u32) -> bool {
    let others: BTreeSet<u32> = run.iter().map(|(.., other)| *other).collect();
    others.len() == run.len() && run.len() + 1 == ranks as usize
}

/// Groups split so that the messages of the representative are those of all members, between the same requests, but for partners that a member does not have. What the
/// representative does last, a member need not do: nobody waits for what is not given, and what nobody gets is given in vain.
pub(crate) fn alike(groups: &[Group], places: &[Vec<Place>], ranks: u32) -> Vec<Group> {
    let number = |rank: usize| places[rank].len();
    let mut split = Vec::new();
    for group in groups {
        let mut left = group.members.clone();
        while let Some(most) = left.iter().map(|rank| number(*rank)).max() {
            let has_most = |rank: &usize| number(*rank) == most && left.contains(rank);
            let own = Some(group.representative).filter(has_most);
            let Some(representative) = own.or_else(|| left.iter().copied().find(has_most)) else { break };
            let is_alike = |member: &usize| {
                let has_partner = |place: &&Place| place.to.is_there(*member as u32, ranks);
                let mut of_group = places[representative].iter().filter(has_partner);
                let is_next = |own: &Place| of_group.next().is_some_and(|other| own.what() == other.what());
                places[*member].iter().all(is_next)
            };
            let (members, others) = left.into_iter().partition(is_alike);
            split.push(Group { representative, members });
            left = others;
        }
    }
    split
}

impl Place {
    const fn what(&self) -> (usize, usize, MessageHalf, Relation) {
        (self.position, self.barriers, self.half, self.to)
    }
}

impl Relation {
    /// Whether a rank among so many has such a partner.
    fn is_there(self, rank: u32, ranks: u32) -> bool {
        match self {
            Self::Shift(shift) => rank.checked_add_signed(shift).is_some_and(|other| other < ranks),
            Self::All | Self::Rank(_) | Self::Around(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::told::Piped;
    use MessageHalf::{Receive, Send};

    fn at(position: usize) -> Moment {
        Moment { position, barriers: 0, time: position as i64 * 10 }
    }

    fn extents(ranks: usize) -> Vec<Extent> {
        vec![Extent { requests: 100, ..Extent::default() }; ranks]
    }

    /// Messages of pairs of ranks: given before a request, and got before one.
    fn messages(all: &[((u32, u32), usize, usize)], ranks: usize) -> Messages {
        let orders = all.iter().map(|(pair, gives, gets)| (*pair, at(*gives), at(*gets))).collect();
        Messages::of(&[], orders, &extents(ranks))
    }

    fn relations(all: &[((u32, u32), usize, usize)], ranks: usize) -> Vec<Vec<(MessageHalf, Relation)>> {
        let places = messages(all, ranks).places(ranks as u32);
        places.iter().map(|own| own.iter().map(|place| (place.half, place.to)).collect()).collect()
    }

    #[test]
    fn what_others_say_as_well_is_left_out() {
        let found = messages(&[((0, 1), 2, 9), ((0, 1), 4, 7), ((0, 1), 5, 12), ((0, 1), 5, 13)], 2);
        let kept: Vec<(usize, usize)> =
            found.of_pairs[&(0, 1)].iter().map(|one| (one.gives.position, one.gets.position)).collect();
        assert_eq!(kept, [(4, 7), (5, 12)]);
        assert_eq!((found.figures.seen.all(), found.figures.ordering), (4, 2));
        assert!(found.order((0, 3), (1, 7)) && !found.order((0, 3), (1, 6)) && !found.order((0, 4), (1, 11)));
        let idle = messages(&[((0, 1), 0, 9), ((0, 1), 9, 100)], 2);
        assert_eq!((idle.figures.seen.all(), idle.figures.ordering), (2, 0), "before or after all requests");
    }

    #[test]
    fn barriers_say_it_as_well() {
        let moment = |position, barriers| Moment { position, barriers, time: position as i64 };
        let orders = vec![((0, 1), moment(3, 0), moment(5, 1)), ((0, 1), moment(6, 1), moment(8, 1))];
        let extents = vec![Extent { requests: 100, barriers: vec![4], inferred: false }; 2];
        assert_eq!(Messages::of(&[], orders, &extents).figures.ordering, 1);
    }

    #[test]
    fn what_is_got_before_it_is_given_is_not_that_message() {
        let found = messages(&[((0, 1), 9, 2)], 2);
        assert_eq!((found.figures.seen.all(), found.figures.unmatched), (0, 2));
    }

    #[test]
    fn messages_say_it_one_after_the_other() {
        let found = messages(&[((0, 1), 3, 4), ((1, 2), 5, 6), ((1, 2), 8, 20)], 3);
        assert!(found.order((0, 2), (2, 6)), "by way of rank 1");
        assert!(!found.order((0, 2), (2, 5)));
        assert!(!found.order((0, 3), (2, 99)), "given before it");
        assert!(found.order((1, 7), (2, 20)) && !found.order((2, 1), (0, 99)));
    }

    #[test]
    fn a_ring_goes_round() {
        let ring = relations(&[((0, 1), 1, 1), ((1, 2), 2, 2), ((2, 3), 3, 3), ((3, 0), 4, 4)], 4);
        let (send, receive) = ((Send, Relation::Around(1)), (Receive, Relation::Around(-1)));
        assert_eq!(
            ring,
            [vec![send, receive], vec![receive, send], vec![receive, send], vec![receive, send]]
        );
    }

    #[test]
    fn neighbours_at_the_ends_have_one() {
        let chain = relations(&[((0, 1), 1, 1), ((1, 2), 2, 2), ((2, 3), 3, 3)], 4);
        assert_eq!(chain[0], [(Send, Relation::Shift(1))]);
        assert_eq!(chain[1], [(Receive, Relation::Shift(-1)), (Send, Relation::Shift(1))]);
        assert_eq!(chain[3], [(Receive, Relation::Shift(-1))]);
    }

    #[test]
    fn one_in_the_middle_of_all_is_named() {
        let star = relations(&[((0, 1), 1, 1), ((0, 2), 1, 1), ((0, 3), 1, 1), ((2, 0), 3, 5)], 4);
        assert_eq!(star[0], [(Send, Relation::All), (Receive, Relation::Shift(2))]);
        assert_eq!(star[1], [(Receive, Relation::Rank(0))]);
        assert_eq!(star[2], [(Receive, Relation::Rank(0)), (Send, Relation::Rank(0))]);
    }

    /// A pool of workers: who takes what they leave in a pipe takes several results of one of them.
    #[test]
    fn who_hears_of_one_rank_twice_waits_for_it_twice() {
        let pool =
            [((0, 1), 1, 1), ((0, 2), 1, 1), ((1, 0), 2, 5), ((2, 0), 2, 5), ((2, 0), 3, 5), ((1, 0), 4, 5)];
        let all = relations(&pool, 3);
        let (send, receive) = ((Send, Relation::Rank(0)), (Receive, Relation::Rank(0)));
        assert_eq!(all[0].iter().filter(|(half, _)| *half == Receive).count(), 4);
        assert_eq!(all[1], [receive, send, send]);
        assert_eq!(all[2], [receive, send, send]);
    }

    #[test]
    fn members_may_lack_partners_and_what_comes_last() {
        let place = |half, to| Place { position: 1, barriers: 0, half, to };
        let (left, right) = (Relation::Shift(-1), Relation::Shift(1));
        let places = [
            vec![place(Receive, right)],
            vec![place(Receive, left), place(Receive, right), place(Send, left)],
            vec![place(Receive, left), place(Send, left)],
            vec![place(Receive, left)],
            vec![place(Send, left)],
        ];
        let group = Group { representative: 0, members: vec![0, 1, 2, 3, 4] };
        let split: Vec<(usize, Vec<usize>)> = alike(&[group], &places, 4)
            .into_iter()
            .map(|group| (group.representative, group.members))
            .collect();
        // Rank 0 has nobody before it, rank 3 nobody behind it and no message at the end.
        assert_eq!(split, [(1, vec![0, 1, 3]), (2, vec![2]), (4, vec![4])]);
    }

    fn half(peer: u32, tag: Option<i32>, position: usize) -> Half {
        Half { peer, tag, moment: at(position) }
    }

    #[test]
    fn messages_of_a_tag_arrive_in_the_order_in_which_they_were_given() {
        let one = Rank {
            given: vec![half(1, Some(7), 1), half(1, Some(8), 2), half(1, Some(7), 3)],
            ..Rank::default()
        };
        let got = vec![half(0, Some(8), 4), half(0, Some(7), 5), half(0, None, 6), half(0, Some(9), 7)];
        let other = Rank { got, ..Rank::default() };
        let found = Messages::of(&[one, other], Vec::new(), &extents(2));
        let kept: Vec<(usize, usize)> =
            found.of_pairs[&(0, 1)].iter().map(|one| (one.gives.position, one.gets.position)).collect();
        assert_eq!(kept, [(2, 4), (3, 6)], "that given at 1 and got at 5 says less than the first one");
        assert_eq!((found.figures.seen.all(), found.figures.unmatched), (3, 1));
    }

    #[test]
    fn bytes_come_out_of_a_pipe_in_the_order_in_which_they_went_in() {
        let piped = |bytes, position| Piped { pipe: FileId(3), bytes, moment: at(position) };
        let writer = Rank { into_pipes: vec![piped(10, 1), piped(10, 5)], ..Rank::default() };
        let reader = Rank { out_of_pipes: vec![piped(4, 2), piped(12, 7), piped(9, 8)], ..Rank::default() };
        let found = Messages::of(&[writer, reader], Vec::new(), &extents(2));
        let kept: Vec<(usize, usize)> =
            found.of_pairs[&(0, 1)].iter().map(|one| (one.gives.position, one.gets.position)).collect();
        assert_eq!(kept, [(1, 2), (5, 7)]);
        assert_eq!(found.figures.unmatched, 1, "more came out than went in");
    }
}
