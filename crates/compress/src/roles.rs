//! What calls act on, by which loops are told apart.
//!
//! The stack of a call would tell in which loop it is; a system call that was recorded without one is told by the group of
//! files that the mapping `auto` puts its file in, and by the program that is starting up. Names are no part of it: they
//! change in loops.

use iotrail_model::EventBatch;
use iotrail_query::{AUTO, Classified, Classifier, Query, QueryError, QuerySpec, SelectSpec};
use iotrail_trail::EventLog;
use std::sync::Arc;

/// Reads the roles of batches.
#[derive(Debug)]
pub(crate) struct Roles {
    classifier: Classifier,
    classified: Classified,
}

impl Roles {
    /// All events of a log with their activities.
    pub(crate) fn query(log: &EventLog) -> Result<Query, QueryError> {
        let select = SelectSpec { layer: vec!["all".to_owned()], ..SelectSpec::default() };
        Query::new(QuerySpec { map: Some(AUTO.to_owned()), select, ..QuerySpec::default() }, log)
    }

    pub(crate) fn new(query: &Query) -> Self {
        Self { classifier: query.worker(), classified: Classified::default() }
    }

    /// The role of each row.
    pub(crate) fn of<'a>(&'a mut self, batch: &EventBatch) -> impl Iterator<Item = Option<u32>> + use<'a> {
        self.classifier.classify(batch, &mut self.classified);
        self.classified.activity.iter().map(|activity| activity.index().map(|index| index as u32))
    }

    /// The texts of all roles.
    pub(crate) fn names(query: &Query) -> Vec<Arc<str>> {
        query.activities()
    }
}
