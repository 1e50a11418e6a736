//! From whom exchanges (`MPI_Sendrecv`) get their messages where the bytes of messages are drawn, so that sizes do not tell it.
//!
//! The calls of all ranks are gone through as the ranks would make them, in turns of one call that waits. An exchange gets what was sent to
//! its rank so far and no receive names: with the tag that it sends with, or with one with which the rank makes no exchange; by an exchange
//! rather than by a send, and before others. So none waits for what is sent only when it is over. Where all wait, an exchange gets nothing, of
//! a rank that makes more of them than it gets messages: its partner is nobody (`MPI_PROC_NULL`).

use crate::mpi_calls::MpiCall;
use crate::mpi_exchanges::Way;
use iotrail_model::{CaseId, Tid};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// What a thread does that others wait for, or that waits for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Send(Way),
    /// Waits for a message of that way.
    Receive(Way),
    /// Sends, and waits for a message to the sender; the index of the call.
    Exchange(Way, usize),
    /// Waits for so many ranks of a communicator.
    Meet(u32, u32),
}

/// What all threads do, each in its order.
#[derive(Debug, Default)]
pub(crate) struct Partners(BTreeMap<(CaseId, Tid), Vec<Act>>);

/// Messages of one sender with one tag that are there.
#[derive(Debug, Default)]
struct Pool {
    /// Which one it is of all, and whether an exchange sent it.
    there: VecDeque<(u64, bool)>,
    /// How many of all that are sent exchanges get.
    free: usize,
}

/// Messages to a rank.
#[derive(Debug, Default)]
struct Inbox {
    /// By sender and tag.
    pools: BTreeMap<(u32, i32), Pool>,
    /// The tags of its exchanges.
    tags: BTreeSet<i32>,
    /// How many exchanges it has still to make.
    exchanges: usize,
}

/// Where ranks meet.
#[derive(Debug, Default)]
struct Meeting {
    come: u32,
    /// How often all had come.
    over: u64,
}

struct Lane {
    acts: Vec<Act>,
    next: usize,
    /// What the next act waits for is under way: the message is sent, or the rank is where others are to come, for that time.
    begun: Option<u64>,
}

struct Walk {
    lanes: Vec<Lane>,
    /// By communicator and receiver.
    inboxes: HashMap<(u32, i32), Inbox>,
    meetings: HashMap<u32, Meeting>,
    sent: u64,
    /// Calls, senders and tags.
    found: Vec<(usize, (u32, i32))>,
}

impl Partners {
    pub(crate) fn add(&mut self, thread: (CaseId, Tid), act: Act) {
        self.0.entry(thread).or_default().push(act);
    }

    /// Sets from whom all exchanges get their messages; `named` receives get so many of each way.
    pub(crate) fn find(self, named: &HashMap<Way, usize>, calls: &mut [MpiCall]) {
        let mut inboxes: HashMap<(u32, i32), Inbox> = HashMap::new();
        for act in self.0.values().flatten() {
            if let Act::Send(way) | Act::Exchange(way, _) = *act {
                let (group, from, to, tag) = way;
                inboxes.entry((group, to)).or_default().pools.entry((from, tag)).or_default().free += 1;
            }
            if let Act::Exchange((group, own, _, tag), _) = *act {
                let inbox = inboxes.entry((group, own as i32)).or_default();
                inbox.tags.insert(tag);
                inbox.exchanges += 1;
            }
        }
        for (&(group, from, to, tag), count) in named {
            let inbox = inboxes.get_mut(&(group, to));
            if let Some(pool) = inbox.and_then(|inbox| inbox.pools.get_mut(&(from, tag))) {
                pool.free = pool.free.saturating_sub(*count);
            }
        }
        let lanes = self.0.into_values().map(|acts| Lane { acts, next: 0, begun: None }).collect();
        let mut walk = Walk { lanes, inboxes, meetings: HashMap::new(), sent: 0, found: Vec::new() };
        walk.walk();
        for (call, (sender, tag)) in walk.found {
            if let Some(MpiCall::Exchange { from, .. }) = calls.get_mut(call) {
                *from = (sender as i32, tag);
            }
        }
    }
}

impl Walk {
    fn walk(&mut self) {
        while self.lanes.iter().any(|lane| lane.next < lane.acts.len()) {
            let mut moved = false;
            for lane in 0..self.lanes.len() {
                moved |= self.turn(lane);
            }
            if !moved {
                self.release();
            }
        }
    }

    /// All sends up to the next call that waits, and that call, if it need not wait any more. Whether anything was done.
    fn turn(&mut self, lane: usize) -> bool {
        let mut moved = false;
        while let Some(act) = self.waits(lane) {
            let begun = self.lanes[lane].begun;
            if begun.is_none() {
                self.lanes[lane].begun = Some(self.begin(act));
                moved = true;
            }
            if !self.is_over(act, self.lanes[lane].begun.unwrap_or_default()) {
                return moved;
            }
            self.pass(lane);
            moved = true;
            if !matches!(act, Act::Send(_)) {
                break;
            }
        }
        moved
    }

    fn pass(&mut self, lane: usize) {
        if let Some(Act::Exchange((group, own, ..), _)) = self.waits(lane)
            && let Some(inbox) = self.inboxes.get_mut(&(group, own as i32))
        {
            inbox.exchanges -= 1;
        }
        self.lanes[lane].next += 1;
        self.lanes[lane].begun = None;
    }

    fn begin(&mut self, act: Act) -> u64 {
        match act {
            Act::Send(way) => self.send(way, false),
            Act::Exchange(way, _) => self.send(way, true),
            Act::Receive(_) => 0,
            Act::Meet(group, size) => {
                let meeting = self.meetings.entry(group).or_default();
                let time = meeting.over;
                meeting.come += 1;
                if meeting.come >= size {
                    *meeting = Meeting { come: 0, over: time + 1 };
                }
                time
            }
        }
    }

    fn send(&mut self, (group, from, to, tag): Way, exchanged: bool) -> u64 {
        let pool = self.inboxes.entry((group, to)).or_default().pools.entry((from, tag)).or_default();
        pool.there.push_back((self.sent, exchanged));
        self.sent += 1;
        0
    }

    fn is_over(&mut self, act: Act, begun: u64) -> bool {
        match act {
            Act::Send(_) => true,
            Act::Receive((group, from, to, tag)) => {
                let inbox = self.inboxes.get_mut(&(group, to));
                let pool = inbox.and_then(|inbox| inbox.pools.get_mut(&(from, tag)));
                pool.is_some_and(|pool| pool.there.pop_front().is_some())
            }
            Act::Exchange((group, own, _, tag), call) => {
                let Some(inbox) = self.inboxes.get_mut(&(group, own as i32)) else { return true };
                if inbox.fitting(tag).all(|(_, pool)| pool.free == 0) {
                    return true;
                }
                let found = inbox.take(tag);
                self.found.extend(found.map(|found| (call, found)));
                found.is_some()
            }
            Act::Meet(group, _) => self.meetings.get(&group).is_none_or(|meeting| meeting.over > begun),
        }
    }

    /// All wait: an exchange gets nothing, or, if there is none, somebody goes on.
    fn release(&mut self) {
        let surplus = |lane: usize| match self.waits(lane)? {
            Act::Exchange((group, own, ..), _) => {
                let inbox = self.inboxes.get(&(group, own as i32))?;
                let free: usize = inbox.pools.values().map(|pool| pool.free).sum();
                Some((true, inbox.exchanges as i64 - free as i64))
            }
            _ => Some((false, 0)),
        };
        let all = (0..self.lanes.len()).rev().filter_map(|lane| Some((surplus(lane)?, lane)));
        if let Some((_, lane)) = all.max_by_key(|(surplus, _)| *surplus) {
            self.pass(lane);
        }
    }

    /// The act of a thread that comes next.
    fn waits(&self, lane: usize) -> Option<Act> {
        self.lanes[lane].acts.get(self.lanes[lane].next).copied()
    }
}

impl Inbox {
    /// What an exchange with that tag may get.
    fn fitting(&self, own_tag: i32) -> impl Iterator<Item = (&(u32, i32), &Pool)> {
        self.pools.iter().filter(move |((_, tag), _)| *tag == own_tag || !self.tags.contains(tag))
    }

    /// Takes the message of an exchange with that tag: sender and tag.
    fn take(&mut self, own_tag: i32) -> Option<(u32, i32)> {
        let order = |(of, pool): (&(u32, i32), &Pool)| {
            let &(number, exchanged) = pool.there.front().filter(|_| pool.free > 0)?;
            Some(((of.1 != own_tag, !exchanged, number), *of))
        };
        let (_, found) = self.fitting(own_tag).filter_map(order).min()?;
        let pool = self.pools.get_mut(&found)?;
        pool.there.pop_front();
        pool.free -= 1;
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lanes: &[&[Act]], named: &[(Way, usize)]) -> Vec<(i32, i32)> {
        let mut partners = Partners::default();
        let mut calls = Vec::new();
        for (lane, acts) in lanes.iter().enumerate() {
            for act in *acts {
                let act = match *act {
                    Act::Exchange(way, _) => {
                        calls.push(MpiCall::Exchange {
                            comm: 0,
                            bytes: 1,
                            to: (way.2, way.3),
                            from: (-2, -1),
                        });
                        Act::Exchange(way, calls.len() - 1)
                    }
                    act => act,
                };
                partners.add((CaseId(0), Tid(lane as u32)), act);
            }
        }
        partners.find(&named.iter().copied().collect(), &mut calls);
        let from = |call| if let MpiCall::Exchange { from, .. } = call { from } else { (-9, -9) };
        calls.into_iter().map(from).collect()
    }

    fn exchange(from: u32, to: i32, tag: i32) -> Act {
        Act::Exchange((0, from, to, tag), 0)
    }

    #[test]
    fn rings_in_both_directions_with_one_tag_get_what_was_sent_in_each() {
        let lane =
            |rank: u32| [exchange(rank, (rank as i32 + 1) % 3, 7), exchange(rank, (rank as i32 + 2) % 3, 7)];
        let lanes = [lane(0), lane(1), lane(2)];
        let expected = [(2, 7), (1, 7), (0, 7), (2, 7), (1, 7), (0, 7)];
        assert_eq!(found(&[&lanes[0], &lanes[1], &lanes[2]], &[]), expected);
    }

    #[test]
    fn the_ends_of_a_chain_have_one_partner() {
        // To the right, where the last one sends to nobody, then to the left with another tag.
        let lanes = [
            [exchange(0, 1, 2), exchange(0, -2, 3)],
            [exchange(1, 2, 2), exchange(1, 0, 3)],
            [exchange(2, -2, 2), exchange(2, 1, 3)],
        ];
        let nobody = (-2, -1);
        let expected = [nobody, (1, 3), (0, 2), (2, 3), (1, 2), nobody];
        assert_eq!(found(&[&lanes[0], &lanes[1], &lanes[2]], &[]), expected);
        // With one tag for all, step after step: each message is received.
        let steps = lanes.map(|lane| {
            lane.map(|act| match act {
                Act::Exchange((group, from, to, _), call) => Act::Exchange((group, from, to, 9), call),
                act => act,
            })
            .repeat(20)
        });
        let all = found(&[&steps[0], &steps[1], &steps[2]], &[]);
        assert_eq!(all.iter().filter(|from| **from != nobody).count(), 80);
        assert!(all[40..80].iter().all(|from| *from != nobody));
    }

    #[test]
    fn messages_that_receives_name_stay_theirs_and_barriers_keep_ranks_together() {
        let way = (0, 1, 0, 5);
        let lanes: [&[Act]; 2] = [
            &[Act::Receive(way), Act::Meet(0, 2), exchange(0, 1, 5)],
            &[Act::Send(way), Act::Meet(0, 2), exchange(1, 0, 5)],
        ];
        assert_eq!(found(&lanes, &[(way, 1)]), [(1, 5), (0, 5)]);
    }

    #[test]
    fn who_waits_for_what_never_comes_goes_on() {
        let lanes: [&[Act]; 2] =
            [&[Act::Receive((0, 1, 0, 1)), Act::Meet(3, 2), exchange(0, 1, 1)], &[exchange(1, -2, 1)]];
        assert_eq!(found(&lanes, &[]), [(-2, -1), (-2, -1)]);
    }
}
