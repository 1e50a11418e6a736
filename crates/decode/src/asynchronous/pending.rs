//! Operations that were asked for and not yet seen to complete.

use super::request::Request;
use hashbrown::HashMap;
use iotrail_model::Pid;
use std::collections::{BTreeMap, VecDeque};

/// More are not remembered: entries whose success is not reported (`IOSQE_CQE_SKIP_SUCCESS`) never complete.
const MOST: usize = 1 << 16;

/// A queue in which requests are found by their key. Of several with one key nobody can say which completes: the oldest comes first, and
/// all of them are unsure.
#[derive(Debug, Default)]
pub(super) struct Pending {
    requests: BTreeMap<u64, Request>,
    by_key: HashMap<u64, VecDeque<u64>>,
}

impl Pending {
    /// Adds a request with a serial larger than all before; gives the oldest if there are too many.
    pub(super) fn push(&mut self, request: Request) -> Option<Request> {
        self.by_key.entry(request.key).or_default().push_back(request.serial);
        self.requests.insert(request.serial, request);
        if self.requests.len() <= MOST {
            return None;
        }
        let oldest = self.requests.first_key_value().map(|(serial, _)| *serial)?;
        self.remove(oldest)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Takes out the oldest with that key.
    pub(super) fn take(&mut self, key: u64) -> Option<Request> {
        let serials = self.by_key.get(&key)?;
        let first = *serials.front()?;
        if serials.len() > 1 {
            for serial in serials {
                self.requests.entry(*serial).and_modify(|request| request.unsure = true);
            }
        }
        self.remove(first)
    }

    /// Those with that key, oldest first.
    pub(super) fn of_key(&self, key: u64) -> impl Iterator<Item = &Request> {
        let serials = self.by_key.get(&key).into_iter().flatten();
        serials.filter_map(|serial| self.requests.get(serial))
    }

    /// Takes out those of one process.
    pub(super) fn take_of(&mut self, pid: Pid) -> Vec<Request> {
        let of = |request: &&Request| request.pid == pid;
        let serials: Vec<u64> = self.requests.values().filter(of).map(|request| request.serial).collect();
        serials.into_iter().filter_map(|serial| self.remove(serial)).collect()
    }

    /// Takes out all, oldest first.
    pub(super) fn drain(&mut self) -> Vec<Request> {
        self.by_key.clear();
        std::mem::take(&mut self.requests).into_values().collect()
    }

    /// Takes out the request of that serial.
    pub(super) fn remove(&mut self, serial: u64) -> Option<Request> {
        let request = self.requests.remove(&serial)?;
        if let Some(queue) = self.by_key.get_mut(&request.key) {
            queue.retain(|other| *other != serial);
            if queue.is_empty() {
                self.by_key.remove(&request.key);
            }
        }
        Some(request)
    }
}
