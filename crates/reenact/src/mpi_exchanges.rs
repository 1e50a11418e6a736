//! From whom exchanges (`MPI_Sendrecv`) get their messages, which recordings do not tell: from who sent a message of the recorded size that no receive names,
//! with the tag that the exchange sends with rather than with another one, by an exchange rather than by a send, and before others.

use crate::mpi_calls::MpiCall;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Who sends what: communicator, sender, receiver, tag.
pub(crate) type Way = (u32, u32, i32, i32);

/// A message that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) start: i64,
    pub(crate) bytes: u64,
    /// Whether it was sent by an exchange.
    pub(crate) exchanged: bool,
}

/// A call that exchanges messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    /// Communicator and rank in it.
    pub(crate) member: (u32, u32),
    /// Its index in the calls.
    pub(crate) call: usize,
    /// Bytes that it got, if that is known.
    pub(crate) received: Option<u64>,
    /// The tag of what it sends.
    pub(crate) tag: i32,
}

/// The messages and exchanges of all ranks.
#[derive(Debug, Default)]
pub(crate) struct Exchanges {
    pub(crate) sent: HashMap<Way, Vec<Sent>>,
    /// Receives that name sender and tag.
    pub(crate) receives: HashMap<Way, usize>,
    pub(crate) exchanges: Vec<Exchange>,
}

/// Messages that exchanges may get, the last one first.
struct Pool {
    from: u32,
    tag: i32,
    left: Vec<Sent>,
    /// How many of them exchanges get.
    free: usize,
}

impl Exchanges {
    /// Sets from whom all exchanges get their messages.
    pub(crate) fn find(self, calls: &mut [MpiCall]) {
        let mut pools = self.pools();
        let mut exchanges = self.exchanges;
        exchanges.sort_unstable_by_key(|exchange| (exchange.member, exchange.call));
        for exchange in exchanges {
            let Ok(to) = i32::try_from(exchange.member.1) else { continue };
            let Some(pools) = pools.get_mut(&(exchange.member.0, to)) else { continue };
            if let Some((sender, sent_tag)) = take(pools, &exchange)
                && let Some(MpiCall::Exchange { from, .. }) = calls.get_mut(exchange.call)
            {
                *from = (sender as i32, sent_tag);
            }
        }
    }

    /// By communicator and receiver.
    fn pools(&self) -> HashMap<(u32, i32), Vec<Pool>> {
        let mut pools: HashMap<(u32, i32), Vec<Pool>> = HashMap::new();
        let mut ways: Vec<_> = self.sent.iter().collect();
        ways.sort_unstable_by_key(|(way, _)| **way);
        for (&(group, from, to, tag), sent) in ways {
            let named = self.receives.get(&(group, from, to, tag)).copied().unwrap_or_default();
            let mut left = sent.clone();
            left.sort_by_key(|sent| Reverse(sent.start));
            let free = left.len().saturating_sub(named);
            if free > 0 {
                pools.entry((group, to)).or_default().push(Pool { from, tag, left, free });
            }
        }
        pools
    }
}

/// Takes the message of an exchange: sender and tag.
fn take(pools: &mut Vec<Pool>, exchange: &Exchange) -> Option<(u32, i32)> {
    let order = |pool: &Pool| {
        let next = pool.left.last()?;
        let is_other = exchange.received.is_some_and(|received| received != next.bytes);
        Some((is_other, pool.tag != exchange.tag, !next.exchanged, next.start))
    };
    let place = (0..pools.len())
        .filter(|place| order(&pools[*place]).is_some())
        .min_by_key(|place| order(&pools[*place]))?;
    let pool = pools.get_mut(place)?;
    // One that got nothing had no partner.
    if exchange.received == Some(0) && pool.left.last().is_none_or(|next| next.bytes > 0) {
        return None;
    }
    pool.left.pop();
    pool.free -= 1;
    let found = (pool.from, pool.tag);
    if pool.free == 0 || pool.left.is_empty() {
        pools.remove(place);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanges_get_messages_of_their_size_and_tag_or_none() {
        let mut all = Exchanges::default();
        let sent = |start, bytes| Sent { start, bytes, exchanged: true };
        all.sent.insert((0, 1, 0, 8), vec![sent(5, 64), sent(1, 64)]);
        all.sent.insert((0, 2, 0, 9), vec![sent(0, 64), sent(9, 32)]);
        all.sent.insert((0, 3, 0, 9), vec![sent(2, 7)]);
        all.receives.insert((0, 3, 0, 9), 1);
        let wanted = [(Some(64), 8), (Some(0), 3), (Some(64), 9), (None, 9), (Some(64), 9)];
        let mut calls = Vec::new();
        for (call, (received, tag)) in wanted.into_iter().enumerate() {
            all.exchanges.push(Exchange { member: (0, 0), call, received, tag });
            calls.push(MpiCall::Exchange { comm: 0, bytes: 1, to: (1, tag), from: (-2, -1) });
        }
        all.find(&mut calls);
        let from = calls.iter().map(|call| match call {
            MpiCall::Exchange { from, .. } => *from,
            _ => (0, 0),
        });
        assert_eq!(from.collect::<Vec<_>>(), [(1, 8), (-2, -1), (2, 9), (2, 9), (1, 8)]);
    }
}
