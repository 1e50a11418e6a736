//! What an export does not have of a model of a workload, as shares of its requests, bytes and time.

use iotrail_workload::{ModelSession, RequestKind};

/// So much of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    /// Calls, opens and closes among them.
    pub(crate) requests: u64,
    /// Bytes that they move.
    pub(crate) bytes: u64,
    /// Time that they take and that passes before them, in ns.
    pub(crate) time_ns: u64,
}

impl Amount {
    /// So many requests, of which nothing else is known.
    pub(crate) fn requests(requests: u64) -> Self {
        Self { requests, ..Self::default() }
    }

    /// One execution of a session.
    pub(crate) fn of_session(session: &ModelSession) -> Self {
        let bytes = |kind: RequestKind| {
            let count = session.requests.get(&kind).copied().unwrap_or_default();
            let sizes = session.sizes_of(kind);
            let weights: u128 = sizes.values().map(|weight| u128::from(*weight)).sum();
            let sum: u128 = sizes.iter().map(|(size, weight)| u128::from(*size) * u128::from(*weight)).sum();
            u64::try_from(sum * u128::from(count) / weights.max(1)).unwrap_or(u64::MAX)
        };
        let each = session.duration.saturating_add(session.mean_slack());
        Self {
            requests: session.steps(),
            bytes: bytes(RequestKind::Read).saturating_add(bytes(RequestKind::Write)),
            time_ns: each.saturating_mul(session.steps()),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            bytes: self.bytes.saturating_add(other.bytes),
            time_ns: self.time_ns.saturating_add(other.time_ns),
        }
    }

    pub(crate) fn times(self, times: u64) -> Self {
        Self {
            requests: self.requests.saturating_mul(times),
            bytes: self.bytes.saturating_mul(times),
            time_ns: self.time_ns.saturating_mul(times),
        }
    }
}

/// What is lost, in the order in which it was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses {
    all: Amount,
    lost: Vec<(String, Amount)>,
}

impl Losses {
    /// The workload has so much more.
    pub(crate) fn add(&mut self, amount: Amount) {
        self.all = self.all.plus(amount);
    }

    /// Something of so much of the workload is lost.
    pub(crate) fn lose(&mut self, what: &str, amount: Amount) {
        match self.lost.iter_mut().find(|(known, _)| known == what) {
            Some((_, sum)) => *sum = sum.plus(amount),
            None => self.lost.push((what.to_owned(), amount)),
        }
    }

    /// All of it, each with its share.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let sentence = |(what, amount): &(String, Amount)| {
            let share = |part: u64, all: u64| match (part, all) {
                (0, _) | (_, 0) => "0 %".to_owned(),
                (part, all) => match part as f64 * 100.0 / all as f64 {
                    share if share < 0.1 => "below 0.1 %".to_owned(),
                    share => format!("{share:.1} %"),
                },
            };
            if *amount == Amount::default() {
                return what.clone();
            }
            let requests = share(amount.requests, self.all.requests);
            let bytes = share(amount.bytes, self.all.bytes);
            let time = share(amount.time_ns, self.all.time_ns);
            format!("{what}: {requests} of the requests, {bytes} of the bytes, {time} of the time")
        };
        self.lost.iter().map(sentence).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_one_kind_are_one_sentence_with_its_shares() {
        let mut losses = Losses::default();
        losses.add(Amount { requests: 200, bytes: 1_000, time_ns: 50 });
        losses.lose("order", Amount { requests: 1, bytes: 0, time_ns: 25 });
        losses.lose("order", Amount { requests: 1, bytes: 1_000, time_ns: 0 });
        losses.lose("barriers: 3", Amount::default());
        assert_eq!(
            losses.sentences(),
            ["order: 1.0 % of the requests, 100.0 % of the bytes, 50.0 % of the time", "barriers: 3"]
        );
    }
}
