//! What the points of a case have in common.

use crate::influx::line::push_tag;
use iotrail_model::{Case, CaseId};
use iotrail_trail::EventLog;
use std::collections::HashMap;

/// Tags by case.
#[derive(Debug)]
pub(crate) struct Tags {
    /// Those of the whole log.
    job: String,
    cases: Vec<String>,
}

impl Tags {
    /// Cases that have the same name, in several trails, get a number, so that each has series of its own.
    pub(crate) fn new(log: &EventLog, job: &str) -> Self {
        let mut common = String::new();
        push_tag(&mut common, "job", job);
        let mut seen = HashMap::<_, u32>::new();
        let mut tags = |case: &Case| {
            let number = seen.entry(case.name.clone()).or_default();
            *number += 1;
            let mut tags = common.clone();
            push_tag(&mut tags, "case", case.name.cid.as_deref().unwrap_or_default());
            push_tag(&mut tags, "host", case.name.host.as_deref().unwrap_or_default());
            push_tag(&mut tags, "rank", case.name.rid.as_deref().unwrap_or_default());
            if *number > 1 {
                push_tag(&mut tags, "part", &number.to_string());
            }
            tags
        };
        let cases = log.cases().iter().map(&mut tags).collect();
        Self { job: common, cases }
    }

    /// Measurement and tags of a whole log.
    pub(crate) fn of_job(&self, measurement: &str) -> String {
        format!("{measurement}{}", self.job)
    }

    /// Measurement and tags of a case.
    pub(crate) fn of_case(&self, measurement: &str, case: CaseId) -> String {
        format!("{measurement}{}", self.cases.get(case.index()).unwrap_or(&self.job))
    }
}
