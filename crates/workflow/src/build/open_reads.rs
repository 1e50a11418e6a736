//! Reads of pipes and sockets of which no row of their row group tells the end.

use super::record::Record;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{CaseId, EventBatch, Tid, Timestamp};
use iotrail_query::ProcessTable;
use iotrail_trail::{Columns, EventLog, TrailError};
use std::num::NonZeroUsize;

/// The last call of a thread in a row group, if it read from a channel and its duration is not known.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenRead {
    pub(super) case: CaseId,
    pub(super) tid: Tid,
    /// Number of its row.
    pub(super) seq: u64,
    pub(super) record: Record,
}

/// When a row begins; rows of one time by their numbers.
type Sign = (Timestamp, u64);

/// The records of the reads. Each takes effect with the next call of its thread, at the end of its process if there is none, and
/// else at the `end` of all.
pub(super) fn close(
    log: &EventLog,
    processes: &ProcessTable,
    open: Vec<OpenRead>,
    end: Option<Timestamp>,
    threads: NonZeroUsize,
) -> Result<Vec<Record>, TrailError> {
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let first = first_calls(log, &open, threads)?;
    let record = |OpenRead { case, tid, seq, record }: OpenRead| {
        let signs = first.get(&(case, tid)).map(Vec::as_slice).unwrap_or_default();
        let next = signs.get(signs.partition_point(|sign| *sign <= (record.first, seq)));
        let at = next.map(|(start, _)| *start).or(processes.get(record.process).end).or(end);
        Record { at: at.unwrap_or(record.at).max(record.at), ..record }
    };
    Ok(open.into_iter().map(record).collect())
}

type Signs = HashMap<(CaseId, Tid), Vec<Sign>, RandomState>;

/// The first call in each row group of the threads that read, sorted.
fn first_calls(log: &EventLog, open: &[OpenRead], threads: NonZeroUsize) -> Result<Signs, TrailError> {
    let mut signs: Signs = open.iter().map(|read| ((read.case, read.tid), Vec::new())).collect();
    if log.row_groups() < 2 {
        return Ok(signs);
    }
    let columns = Columns::CASE | Columns::TID | Columns::SEQ | Columns::START;
    let look = |(): &mut (), _: usize, batch: &EventBatch| {
        let mut first: HashMap<(CaseId, Tid), Sign, RandomState> = HashMap::default();
        for row in 0..batch.len {
            let thread = (batch.case[row], batch.tid[row]);
            if signs.contains_key(&thread) {
                first.entry(thread).or_insert((batch.start[row], batch.seq[row]));
            }
        }
        first
    };
    for (thread, sign) in log.scan(columns, threads, || (), look)?.into_iter().flatten() {
        signs.entry(thread).or_default().push(sign);
    }
    signs.values_mut().for_each(|signs| signs.sort_unstable());
    Ok(signs)
}
