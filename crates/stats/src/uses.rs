//! What was done to a file, or through an open file description: figures that add up.

use crate::access::Access;
use crate::byte_ranges::ByteRanges;
use crate::call::Call;
use crate::file_uses::FileUse;
use crate::size_histogram::SizeHistogram;
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::calls::Class;
use iotrail_model::{CaseId, ErrnoId};
use iotrail_query::ProcessId;

/// What was done to something, without what its bytes tell.
#[derive(Default)]
pub(crate) struct Use {
    calls: u64,
    failures: HashMap<ErrnoId, u64, RandomState>,
    opens: u64,
    reads: Moves,
    writes: Moves,
    times: Times,
    processes: HashSet<Option<ProcessId>, RandomState>,
    ranks: HashSet<CaseId, RandomState>,
    span: Option<(i64, i64)>,
}

/// Transfers in one direction.
#[derive(Default)]
struct Moves {
    count: u64,
    bytes: u64,
    sizes: SizeHistogram,
}

/// Sums of times by what they count as.
#[derive(Default)]
struct Times {
    data: u64,
    sync: u64,
    metadata: u64,
    wait: u64,
    /// Requests in flight, whatever they do.
    requests: u64,
    /// Whether a call tells its time.
    known: bool,
}

impl Use {
    pub(crate) fn add(&mut self, call: &Call, opens: bool) {
        self.seen(call);
        self.opens += u64::from(opens && !call.failed());
        if let Some(nanos) = call.event.dur.get() {
            self.times.add(call, u64::try_from(nanos.0).unwrap_or_default());
        }
        let Some(moved) = call.moved else { return };
        if moved.read {
            self.reads.add(call, moved.bytes);
        }
        if moved.written && !call.is_copy() {
            self.writes.add(call, moved.bytes);
        }
    }

    /// Adds a call that names this file second, after another one, whose its time is, or once more. A copy writes into it.
    pub(crate) fn add_second(&mut self, call: &Call, once_more: bool) {
        if !once_more {
            self.seen(call);
        }
        if let Some(moved) = call.moved.filter(|_| call.is_copy()) {
            self.writes.add(call, moved.bytes);
        }
    }

    fn seen(&mut self, call: &Call) {
        self.calls += 1;
        if let Some(errno) = call.event.errno.get() {
            *self.failures.entry(errno).or_default() += 1;
        }
        self.processes.insert(call.process);
        self.ranks.insert(call.event.case);
        let start = call.event.start.0;
        let end = start.saturating_add(call.event.dur.get().map_or(0, |nanos| nanos.0.max(0)));
        self.include((start, end));
    }

    fn include(&mut self, other: (i64, i64)) {
        self.span = Some(self.span.map_or(other, |span| (span.0.min(other.0), span.1.max(other.1))));
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.calls += other.calls;
        for (errno, count) in other.failures {
            *self.failures.entry(errno).or_default() += count;
        }
        self.opens += other.opens;
        self.reads.merge(&other.reads);
        self.writes.merge(&other.writes);
        self.times.merge(&other.times);
        self.processes.extend(other.processes);
        self.ranks.extend(other.ranks);
        other.span.into_iter().for_each(|span| self.include(span));
    }

    pub(crate) fn row(
        self,
        errno: impl Fn(ErrnoId) -> String,
        mut access: Access,
        ranges: [Option<ByteRanges>; 2],
    ) -> FileUse {
        let [ranges_read, ranges_written] = ranges;
        let pattern = access.row(String::new());
        let time = |nanos| self.times.known.then_some(nanos);
        let Times { data, sync, metadata, wait, requests, .. } = self.times;
        FileUse {
            calls: self.calls,
            failures: self.failures.values().sum(),
            errors: self.failures.into_iter().map(|(id, count)| (errno(id), count)).collect(),
            opens: self.opens,
            reads: self.reads.count,
            writes: self.writes.count,
            bytes_read: self.reads.bytes,
            bytes_written: self.writes.bytes,
            io_ns: time(data.saturating_add(sync).saturating_add(metadata)),
            data_ns: time(data),
            sync_ns: time(sync),
            metadata_ns: time(metadata),
            wait_ns: time(wait),
            request_ns: time(requests),
            consecutive: pattern.consecutive,
            sequential: pattern.sequential,
            random: pattern.random,
            common_size: pattern.common_size,
            common_share: pattern.common_share,
            unique_read: pattern.unique_read,
            unique_written: pattern.unique_written,
            reread: pattern.reread,
            overwritten: pattern.overwritten,
            ranges_read,
            ranges_written,
            read_sizes: self.reads.sizes.bins(),
            write_sizes: self.writes.sizes.bins(),
            processes: self.processes.len() as u64,
            ranks: self.ranks.len() as u64,
            first_ns: self.span.map(|span| span.0),
            last_ns: self.span.map(|span| span.1),
        }
    }
}

impl Moves {
    fn add(&mut self, call: &Call, bytes: u64) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.sizes.count(call.requested().unwrap_or(bytes));
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sizes.merge(&other.sizes);
    }
}

impl Times {
    fn add(&mut self, call: &Call, nanos: u64) {
        self.known |= call.is_request || call.class.is_some();
        let sum = match call.class {
            _ if call.is_request => &mut self.requests,
            Some(Class::Data) => &mut self.data,
            Some(Class::Sync) => &mut self.sync,
            Some(Class::Metadata) => &mut self.metadata,
            Some(Class::Wait | Class::Sleep | Class::Transfer) => &mut self.wait,
            Some(Class::Process | Class::Memory) | None => return,
        };
        *sum = sum.saturating_add(nanos);
    }

    fn merge(&mut self, other: &Self) {
        self.known |= other.known;
        self.data = self.data.saturating_add(other.data);
        self.sync = self.sync.saturating_add(other.sync);
        self.metadata = self.metadata.saturating_add(other.metadata);
        self.wait = self.wait.saturating_add(other.wait);
        self.requests = self.requests.saturating_add(other.requests);
    }
}
