//! One thread's side of a query: batches in, activities and cases out.
//!
//! f is evaluated once for each distinct (call, path), and class of cases and failure if rules look at these. The cache is
//! the thread's own, so that a row costs one look-up and no lock.

use crate::case_by::CaseBy;
use crate::classified::{ActivityId, CaseKey, Classified};
use crate::mapping::Mapping;
use crate::query::Plan;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{CaseId, EventBatch, Pid};
use std::sync::Arc;

/// Cached values at which a cache starts anew; a rule that tells 10,000 ranks apart must not fill the memory.
const LARGEST_CACHE: usize = 1 << 20;

/// (call, path) and (class of the case, failed).
type Key = (u64, u32);

fn key(call: u32, path: u32) -> u64 {
    u64::from(call) << 32 | u64::from(path)
}

/// Activities that [`ByCall`] holds at most: 4 MB.
const LARGEST_TABLE: usize = 1 << 20;

/// Activities by call and path, for mappings that look at nothing else: two loads instead of a hash, as long as there is room.
#[derive(Debug, Default)]
struct ByCall {
    /// By call, then by path; the first one is that without a path.
    paths: Vec<Vec<ActivityId>>,
    held: usize,
}

impl ByCall {
    /// What is not known yet.
    const UNKNOWN: ActivityId = ActivityId::UNSELECTED;

    #[inline]
    fn get(&self, call: u32, path: u32) -> ActivityId {
        let known = self.paths.get(call as usize).and_then(|paths| paths.get(path.wrapping_add(1) as usize));
        known.copied().unwrap_or(Self::UNKNOWN)
    }

    fn set(&mut self, call: u32, path: u32, activity: ActivityId) {
        let (call, index) = (call as usize, path.wrapping_add(1) as usize);
        if call >= LARGEST_TABLE || index >= LARGEST_TABLE {
            return;
        }
        if call >= self.paths.len() {
            self.paths.resize(call + 1, Vec::new());
        }
        let paths = &mut self.paths[call];
        if index >= paths.len() {
            let wanted = (index + 1).next_power_of_two();
            if self.held + wanted - paths.len() > LARGEST_TABLE {
                return;
            }
            self.held += wanted - paths.len();
            paths.resize(wanted, Self::UNKNOWN);
        }
        paths[index] = activity;
    }
}

/// Classifies batches in one thread.
#[derive(Debug)]
pub struct Classifier {
    plan: Arc<Plan>,
    cache: HashMap<Key, ActivityId, RandomState>,
    by_call: ByCall,
    /// Activities of start-ups, by program.
    by_program: HashMap<u32, ActivityId, RandomState>,
    mask: Vec<bool>,
    sees_failure: bool,
    sees_case: bool,
}

impl Classifier {
    pub(crate) fn new(plan: Arc<Plan>) -> Self {
        Self {
            sees_failure: plan.mapping.sees_failure(),
            sees_case: !plan.mapping.attributes().is_empty(),
            cache: HashMap::default(),
            by_call: ByCall::default(),
            by_program: HashMap::default(),
            mask: Vec::new(),
            plan,
        }
    }

    /// Sets `out` to the activity and the case of each row of `batch`, which must hold the columns of the query.
    pub fn classify(&mut self, batch: &EventBatch, out: &mut Classified) {
        out.reset(batch);
        self.keys(batch, &mut out.key);
        if self.sees_failure || self.sees_case {
            self.activities(batch, &mut out.activity, context);
        } else {
            self.by_call_and_path(batch, &mut out.activity);
        }
        if matches!(self.plan.mapping, Mapping::Auto(_)) {
            self.startups(batch, &mut out.activity);
        }
        let filter = &self.plan.filter;
        if !filter.is_everything() {
            filter.mask(batch, &mut self.mask);
            for (activity, selected) in out.activity.iter_mut().zip(&self.mask) {
                if !selected {
                    *activity = ActivityId::UNSELECTED;
                }
            }
        }
    }

    /// Sets `selected` to whether each row of `batch` is selected; no row is mapped.
    pub fn select(&self, batch: &EventBatch, selected: &mut Vec<bool>) {
        self.plan.filter.mask(batch, selected);
    }

    fn keys(&self, batch: &EventBatch, keys: &mut Vec<CaseKey>) {
        let cases = batch.case.iter();
        match self.plan.case_by {
            CaseBy::Rank => keys.extend(cases.map(|case| CaseKey::new(*case, 0))),
            CaseBy::Pid if self.plan.reused.is_empty() => {
                keys.extend(cases.zip(&batch.pid).map(|(case, pid)| CaseKey::new(*case, pid.0)));
            }
            CaseBy::Tid if self.plan.reused.is_empty() => {
                keys.extend(cases.zip(&batch.tid).map(|(case, tid)| CaseKey::new(*case, tid.0)));
            }
            CaseBy::Pid => keys.extend(self.parts(batch, batch.pid.iter().copied())),
            // The first thread of a process has its number.
            CaseBy::Tid => keys.extend(self.parts(batch, batch.tid.iter().map(|tid| Pid(tid.0)))),
            CaseBy::Exec => {
                let rows = cases.zip(&batch.pid).zip(&batch.start);
                keys.extend(rows.map(|((case, pid), start)| {
                    CaseKey::new(*case, self.plan.images.find(*case, *pid, *start))
                }));
            }
        }
    }

    /// The parts of cases that processes with these numbers are.
    fn parts<'a>(
        &'a self,
        batch: &'a EventBatch,
        numbers: impl Iterator<Item = Pid> + 'a,
    ) -> impl Iterator<Item = CaseKey> + 'a {
        let rows = batch.case.iter().zip(numbers).zip(&batch.start);
        rows.map(|((case, number), start)| CaseKey::new(*case, self.plan.reused.part(*case, number, *start)))
    }

    fn activities(
        &mut self,
        batch: &EventBatch,
        activities: &mut Vec<ActivityId>,
        context: impl Fn(&Self, &EventBatch, usize) -> u32,
    ) {
        debug_assert!(batch.call.len() == batch.len && batch.path.len() == batch.len);
        for (row, (call, path)) in batch.call.iter().zip(&batch.path).enumerate() {
            let key = (key(call.0, path.raw().0), context(self, batch, row));
            activities.push(self.find(key, batch, row));
        }
    }

    fn by_call_and_path(&mut self, batch: &EventBatch, activities: &mut Vec<ActivityId>) {
        for (row, (call, path)) in batch.call.iter().zip(&batch.path).enumerate() {
            let (call, path) = (call.0, path.raw().0);
            let known = self.by_call.get(call, path);
            activities.push(if known == ByCall::UNKNOWN {
                let activity = self.find((key(call, path), 0), batch, row);
                self.by_call.set(call, path, activity);
                activity
            } else {
                known
            });
        }
    }

    /// Sets the activities of mapped rows in the start-up of a program.
    fn startups(&mut self, batch: &EventBatch, activities: &mut [ActivityId]) {
        let Mapping::Auto(auto) = &self.plan.mapping else { return };
        let rows = batch.case.iter().zip(&batch.pid).zip(&batch.start);
        for (activity, ((case, pid), start)) in activities.iter_mut().zip(rows) {
            if *activity == ActivityId::UNMAPPED {
                continue;
            }
            if let Some(program) = auto.startup(*case, *pid, *start) {
                let known = self.by_program.entry(program);
                let name = || self.plan.activities.id(&auto.startup_activity(program));
                *activity = *known.or_insert_with(name);
            }
        }
    }

    fn find(&mut self, key: Key, batch: &EventBatch, row: usize) -> ActivityId {
        match self.cache.get(&key) {
            Some(activity) => *activity,
            None => self.evaluate(key, batch.case.get(row).copied().unwrap_or_default()),
        }
    }

    #[cold]
    fn evaluate(&mut self, key: Key, case: CaseId) -> ActivityId {
        let ((call, path), failed) = (((key.0 >> 32) as u32, key.0 as u32), key.1 & 1 == 1);
        let name = self.plan.map(call, path, case, failed);
        let activity = name.map_or(ActivityId::UNMAPPED, |name| self.plan.activities.id(&name));
        if self.cache.len() >= LARGEST_CACHE {
            self.cache.clear();
        }
        self.cache.insert(key, activity);
        activity
    }
}

/// What beside call and path the mapping looks at.
fn context(classifier: &Classifier, batch: &EventBatch, row: usize) -> u32 {
    let failed = classifier.sees_failure && batch.errno.get(row).is_some_and(|errno| !errno.is_null());
    let class = match batch.case.get(row) {
        Some(case) if classifier.sees_case => {
            classifier.plan.classes.get(case.index()).copied().unwrap_or_default()
        }
        _ => 0,
    };
    class << 1 | u32::from(failed)
}
