//! Which messages tell their getters of requests that they do not know to be done yet.
//!
//! Source: vector clocks (C. Fidge 1988, F. Mattern 1989): of each rank how many requests are done as far as another one knows. A message that
//! tells nothing new orders nothing; without it the same is known everywhere.

use crate::told::Moment;
use std::collections::HashMap;

/// A message that one rank gives another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) giver: u32,
    pub(crate) getter: u32,
    pub(crate) gives: Moment,
    pub(crate) gets: Moment,
}

/// What a rank does: how many requests, and before which of them it meets all others in a barrier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) requests: usize,
    pub(crate) barriers: Vec<usize>,
    /// Whether nobody recorded these barriers, so that messages do not tell how many were before them.
    pub(crate) inferred: bool,
}

impl Extent {
    /// A moment with the barriers before it. Of an inferred one at the same request nobody knows which came first: the message did.
    fn placed(&self, moment: Moment) -> Moment {
        let before = || self.barriers.partition_point(|barrier| *barrier < moment.position);
        Moment { barriers: if self.inferred { before() } else { moment.barriers }, ..moment }
    }
}

/// The messages that order requests, in the order in which they are got.
pub(crate) fn ordering(mut messages: Vec<Given>, ranks: &[Extent]) -> Vec<Given> {
    for one in &mut messages {
        one.gives = ranks[one.giver as usize].placed(one.gives);
        one.gets = ranks[one.getter as usize].placed(one.gets);
    }
    messages.sort_by_key(|one| (one.gets.time, one.gives.time, one.giver, one.getter));
    awaited(telling(messages, ranks), ranks)
}

/// Of each rank how many of its requests are known to be done.
struct Clocks<'a> {
    ranks: &'a [Extent],
    known: Vec<Vec<usize>>,
}

impl Clocks<'_> {
    /// What a rank knows at a moment: what it was told, and what each rank did before the last barrier.
    fn at(&mut self, rank: u32, moment: Moment) -> &mut Vec<usize> {
        let known = &mut self.known[rank as usize];
        if let Some(last) = moment.barriers.checked_sub(1) {
            for (known, extent) in known.iter_mut().zip(self.ranks) {
                *known = (*known).max(extent.barriers.get(last).copied().unwrap_or_default());
            }
        }
        known
    }
}

fn telling(messages: Vec<Given>, ranks: &[Extent]) -> Vec<Given> {
    let mut clocks = Clocks { ranks, known: vec![vec![0; ranks.len()]; ranks.len()] };
    // What is given at a time is given before something is got then: a message is got when it is given at the earliest.
    let gives = messages.iter().enumerate().map(|(at, one)| (one.gives.time, false, at));
    let gets = messages.iter().enumerate().map(|(at, one)| (one.gets.time, true, at));
    let mut events: Vec<(i64, bool, usize)> = gives.chain(gets).collect();
    events.sort_unstable();
    let mut under_way: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut tells = vec![false; messages.len()];
    for (_, is_got, at) in events {
        let one = messages[at];
        if !is_got {
            let mut told = clocks.at(one.giver, one.gives).clone();
            told[one.giver as usize] = one.gives.position;
            under_way.insert(at, told);
            continue;
        }
        let told = under_way.remove(&at).unwrap_or_default();
        let known = clocks.at(one.getter, one.gets);
        for (rank, (known, told)) in known.iter_mut().zip(&told).enumerate() {
            if rank != one.getter as usize && *told > *known {
                *known = *told;
                tells[at] = true;
            }
        }
    }
    messages.into_iter().zip(tells).filter(|(_, tells)| *tells).map(|(one, _)| one).collect()
}

/// Those before a request of the getter, or before a message of it that is before one: none of them behind a barrier, which tells it as well.
fn awaited(messages: Vec<Given>, ranks: &[Extent]) -> Vec<Given> {
    // Of each rank and number of barriers the last moment at which it gives a message that is awaited.
    let mut gives_until: HashMap<(u32, usize), i64> = HashMap::new();
    let mut kept: Vec<Given> = Vec::with_capacity(messages.len());
    for one in messages.into_iter().rev() {
        let extent = &ranks[one.getter as usize];
        let until = extent.barriers.get(one.gets.barriers).copied().unwrap_or(extent.requests);
        let passes_on =
            gives_until.get(&(one.getter, one.gets.barriers)).is_some_and(|at| *at >= one.gets.time);
        if one.gets.position < until || passes_on {
            let last = gives_until.entry((one.giver, one.gives.barriers)).or_insert(i64::MIN);
            *last = (*last).max(one.gives.time);
            kept.push(one);
        }
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(position: usize, time: i64) -> Moment {
        Moment { position, barriers: 0, time }
    }

    fn given(giver: u32, getter: u32, gives: Moment, gets: Moment) -> Given {
        Given { giver, getter, gives, gets }
    }

    fn pairs(messages: &[Given], ranks: &[Extent]) -> Vec<(u32, u32, i64)> {
        let kept = ordering(messages.to_vec(), ranks);
        kept.iter().map(|one| (one.giver, one.getter, one.gives.time)).collect()
    }

    fn ranks(requests: &[usize]) -> Vec<Extent> {
        requests.iter().map(|requests| Extent { requests: *requests, ..Extent::default() }).collect()
    }

    /// A rank that makes no request before it passes on, or none at all.
    #[test]
    fn what_is_passed_on_is_kept() {
        let chain = [given(0, 1, at(1, 10), at(0, 20)), given(1, 2, at(0, 30), at(0, 40))];
        assert_eq!(pairs(&chain, &ranks(&[1, 0, 1])), [(0, 1, 10), (1, 2, 30)]);
        assert_eq!(pairs(&chain, &ranks(&[1, 0, 0])), [], "nobody does anything behind it");
        assert_eq!(pairs(&chain, &ranks(&[1, 1, 0])), [(0, 1, 10)]);
    }

    /// Rank 0 gives a message, hears of rank 2 and gives another one, all between the same two requests.
    #[test]
    fn what_is_heard_between_two_messages_is_told_by_the_second() {
        let messages = [
            given(0, 1, at(1, 10), at(0, 15)),
            given(2, 0, at(1, 12), at(1, 20)),
            given(0, 1, at(1, 30), at(0, 40)),
            given(0, 1, at(1, 50), at(0, 60)),
        ];
        assert_eq!(pairs(&messages, &ranks(&[2, 1, 1])), [(0, 1, 10), (2, 0, 12), (0, 1, 30)]);
    }

    #[test]
    fn what_is_told_by_another_one_is_nothing_new() {
        let messages = [
            given(0, 1, at(1, 10), at(0, 20)),
            given(1, 2, at(0, 30), at(0, 40)),
            given(0, 2, at(1, 10), at(0, 45)),
        ];
        assert_eq!(pairs(&messages, &ranks(&[1, 1, 1])), [(0, 1, 10), (1, 2, 30)]);
    }

    #[test]
    fn barriers_tell_what_was_done_before_them() {
        let with_barrier = |requests| Extent { requests, barriers: vec![2], inferred: false };
        let behind = Moment { position: 2, barriers: 1, time: 90 };
        let before = [given(0, 1, at(1, 10), at(2, 20))];
        assert_eq!(
            pairs(&before, &[with_barrier(4), with_barrier(4)]),
            [],
            "got before the barrier, no request between"
        );
        let across = [given(0, 1, at(1, 10), behind)];
        assert_eq!(pairs(&across, &[with_barrier(4), with_barrier(4)]), []);
        let inferred = |requests| Extent { inferred: true, ..with_barrier(requests) };
        let unplaced = [given(0, 1, at(1, 10), at(3, 20)), given(0, 1, at(3, 30), at(3, 40))];
        assert_eq!(pairs(&unplaced, &[inferred(4), inferred(4)]), [(0, 1, 30)]);
        let late = [given(0, 1, Moment { position: 3, ..behind }, Moment { time: 95, ..behind })];
        assert_eq!(pairs(&late, &[with_barrier(4), with_barrier(4)]), [(0, 1, 90)]);
    }

    /// Steps of ranks in one order of time: a request, a barrier of all, or a message with a delay.
    fn random_run(seed: u64, ranks: u32) -> (Vec<Given>, Vec<Extent>) {
        let mut state = seed;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut extents = vec![Extent::default(); ranks as usize];
        let mut messages: Vec<Given> = Vec::new();
        let mut under_way: Vec<(i64, u32, u32, Moment)> = Vec::new();
        for time in 0..120 {
            let arrived: Vec<_> = under_way.extract_if(.., |(due, ..)| *due <= time).collect();
            for (_, giver, getter, gives) in arrived {
                let gets = moment(&extents, getter, 10 * time);
                messages.push(Given { giver, getter, gives, gets });
            }
            let rank = draw(u64::from(ranks)) as u32;
            match draw(8) {
                0..3 => extents[rank as usize].requests += 1,
                3 if time % 5 == 0 => {
                    extents.iter_mut().for_each(|extent| extent.barriers.push(extent.requests));
                }
                _ => {
                    let other = (rank + 1 + draw(u64::from(ranks) - 1) as u32) % ranks;
                    let due = time + 1 + draw(6) as i64;
                    under_way.push((due, rank, other, moment(&extents, rank, 10 * time + 5)));
                }
            }
        }
        (messages, extents)
    }

    fn moment(extents: &[Extent], rank: u32, time: i64) -> Moment {
        let extent = &extents[rank as usize];
        Moment { position: extent.requests, barriers: extent.barriers.len(), time }
    }

    /// Which requests come before which, as pairs of rank and number, by the messages, barriers and the order of each rank.
    fn before(messages: &[Given], extents: &[Extent]) -> Vec<((usize, usize), Vec<usize>)> {
        // Of each rank what it does in order: requests, barriers, and both sides of messages, by place and time.
        let mut events: Vec<(i64, u8, usize)> = Vec::new();
        events.extend(messages.iter().enumerate().map(|(at, one)| (one.gets.time, 0, at)));
        events.extend(messages.iter().enumerate().map(|(at, one)| (one.gives.time, 1, at)));
        events.sort_unstable();
        let mut known = vec![vec![0; extents.len()]; extents.len()];
        let mut told: HashMap<usize, Vec<usize>> = HashMap::new();
        // What is known when each request begins: after the last message that is got before it, and the last barrier.
        let mut learned: Vec<Vec<(usize, usize, Vec<usize>)>> = vec![Vec::new(); extents.len()];
        let with_barriers = |known: &mut Vec<usize>, barriers: usize| {
            for (known, extent) in known.iter_mut().zip(extents) {
                let last = barriers.checked_sub(1).and_then(|last| extent.barriers.get(last));
                *known = (*known).max(last.copied().unwrap_or_default());
            }
        };
        for (_, kind, at) in events {
            let one = messages[at];
            if kind == 1 {
                let mut own = known[one.giver as usize].clone();
                with_barriers(&mut own, one.gives.barriers);
                own[one.giver as usize] = one.gives.position;
                told.insert(at, own);
            } else {
                let rank = one.getter as usize;
                let heard = told.remove(&at).expect("given before it is got");
                known[rank].iter_mut().zip(&heard).for_each(|(known, heard)| *known = (*known).max(*heard));
                learned[rank].push((one.gets.position, one.gets.barriers, known[rank].clone()));
            }
        }
        let mut found = Vec::new();
        for (rank, extent) in extents.iter().enumerate() {
            for request in 0..extent.requests {
                let mut own = vec![0; extents.len()];
                for (position, _, known) in &learned[rank] {
                    if *position <= request {
                        own.iter_mut().zip(known).for_each(|(own, known)| *own = (*own).max(*known));
                    }
                }
                with_barriers(&mut own, extent.barriers.partition_point(|barrier| *barrier <= request));
                own[rank] = request;
                found.push(((rank, request), own));
            }
        }
        found
    }

    /// Without the messages that are left out every request comes after the same ones.
    #[test]
    fn what_is_left_out_changes_no_order_of_requests() {
        let (mut all, mut kept) = (0, 0);
        for seed in 0..300 {
            let (messages, extents) = random_run(seed, 2 + (seed % 4) as u32);
            let ordering = ordering(messages.clone(), &extents);
            assert_eq!(before(&ordering, &extents), before(&messages, &extents), "seed {seed}");
            (all, kept) = (all + messages.len(), kept + ordering.len());
        }
        assert!(kept > 0 && kept < all, "{kept} of {all}");
    }
}
