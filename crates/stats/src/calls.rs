//! Table 1: call statistics (Dun et al., "ParaTrac", table 4), and the latency of each call (figures 5 and 6).

use crate::call::Kinds;
use crate::part::{Context, Part, RowFacts};
use crate::result::{CallRow, ClassCallRow, Distribution, Quantity};
use crate::values::{Sorted, Values};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::Class;
use iotrail_model::{CallId, EventBatch};
use iotrail_trail::Columns;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Sums up calls by group and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    kinds: Arc<Kinds>,
    sums: HashMap<(u32, CallId, Option<Class>), Sums, RandomState>,
}

impl Calls {
    pub(crate) fn new(kinds: Arc<Kinds>) -> Self {
        Self { kinds, sums: HashMap::default() }
    }
}

#[derive(Clone, Debug, Default)]
struct Sums {
    count: u64,
    failures: u64,
    bytes: u64,
    durations: Values,
}

/// What [`Calls`] makes.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallTables {
    pub(crate) all: Vec<CallRow>,
    pub(crate) by_class: Vec<ClassCallRow>,
    /// By slot.
    pub(crate) by_group: Vec<Vec<CallRow>>,
    pub(crate) latency: Vec<Distribution>,
}

impl Part for Calls {
    type Boundary = ();
    type Closed = ();
    type Table = CallTables;

    fn columns() -> Columns {
        Columns::DUR | Columns::SIZE | crate::call::columns()
    }

    fn add(&mut self, batch: &EventBatch, facts: &RowFacts, context: &Context<'_>) {
        for row in (0..batch.len).filter(|row| facts.selected[*row]) {
            let class = self.kinds.class(batch, row, facts.process[row], context.processes);
            let sums = self.sums.entry((facts.slot[row], batch.call[row], class)).or_default();
            sums.count += 1;
            sums.failures += u64::from(!batch.errno[row].is_null());
            let known = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
            sums.bytes = sums.bytes.saturating_add(known(batch.size[row].get()).unwrap_or_default());
            if let Some(nanos) = known(batch.dur[row].get().map(|nanos| nanos.0)) {
                sums.durations.push(nanos);
            }
        }
    }

    fn merge(&mut self, other: Self) {
        for (key, sums) in other.sums {
            self.sums.entry(key).or_default().merge(sums);
        }
    }

    fn close((): &mut (), (): ()) {}

    fn finish(self, (): (), context: &Context<'_>) -> CallTables {
        let mut by_slot: Vec<BTreeMap<CallId, Sums>> = vec![BTreeMap::new(); context.slots()];
        let mut all: BTreeMap<CallId, Sums> = BTreeMap::new();
        let mut classes: BTreeMap<(CallId, Option<Class>), Sums> = BTreeMap::new();
        for ((slot, call, class), sums) in self.sums {
            all.entry(call).or_default().merge(sums.clone());
            classes.entry((call, class)).or_default().merge(sums.clone());
            by_slot[slot as usize].entry(call).or_default().merge(sums);
        }
        let name = |call: CallId| context.log.names().call(call);
        let by_group = by_slot
            .into_iter()
            .map(|calls| table(calls, name).into_iter().map(|(_, row, _)| row).collect())
            .collect();
        let by_class = table(classes, |(call, _)| name(call)).into_iter().map(|((call, class), row, _)| {
            let request = self.kinds.classes.is_request(call);
            let waits = !request && class.is_some_and(Class::is_wait);
            ClassCallRow { class: class.map(Class::name), waits, request, row }
        });
        let by_class = by_class.collect();
        let (all, latency) = table(all, name).into_iter().map(|(_, row, latency)| (row, latency)).unzip();
        let latency: Vec<Distribution> = latency;
        CallTables {
            all,
            by_class,
            by_group,
            latency: latency.into_iter().filter(|series| series.count > 0).collect(),
        }
    }
}

impl Sums {
    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.failures += other.failures;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.durations.merge(other.durations);
    }
}

/// The rows, most time first, each with the distribution of its durations.
fn table<'a, K: Copy>(
    calls: BTreeMap<K, Sums>,
    name: impl Fn(K) -> &'a str,
) -> Vec<(K, CallRow, Distribution)> {
    let count: u64 = calls.values().map(|sums| sums.count).sum();
    let nanos: u128 = calls.values().map(|sums| sums.durations.sum()).sum();
    let mut rows: Vec<_> = calls
        .into_iter()
        .map(|(call, mut sums)| {
            let series = name(call).to_owned();
            let durations = std::mem::take(&mut sums.durations).settled();
            let row = row(&series, &sums, &durations, count, nanos);
            (call, row, Distribution::new(Quantity::Latency, series, &durations))
        })
        .collect();
    rows.sort_by(|(_, a, _), (_, b, _)| {
        (b.total_ns, b.count).cmp(&(a.total_ns, a.count)).then_with(|| a.call.cmp(&b.call))
    });
    rows
}

fn row(call: &str, sums: &Sums, durations: &Sorted, count: u64, nanos: u128) -> CallRow {
    let figure = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let [p50, p95, p99] = durations.percentiles([50, 95, 99]).map(|value| value.map(figure));
    CallRow {
        call: call.to_owned(),
        count: sums.count,
        count_share: sums.count as f64 / count as f64,
        failures: sums.failures,
        total_ns: (durations.count() > 0).then(|| u64::try_from(durations.sum()).unwrap_or(u64::MAX)),
        total_share: (nanos > 0 && durations.count() > 0).then(|| durations.sum() as f64 / nanos as f64),
        timed: durations.count(),
        mean_ns: durations.mean(),
        sd_ns: durations.deviation(),
        min_ns: durations.bounds().map(|(min, _)| figure(min)),
        p50_ns: p50,
        p95_ns: p95,
        p99_ns: p99,
        max_ns: durations.bounds().map(|(_, max)| figure(max)),
        bytes: sums.bytes,
    }
}
