//! What a mapping does to a log: each activity with the paths behind it, and the rest that is not mapped.

use crate::classified::ActivityId;
use crate::error::QueryError;
use crate::pass::{Asks, Pass, Rows, scan};
use crate::query::Query;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::text::printable;
use iotrail_model::units::count;
use iotrail_model::{CallId, Names, Nullable, PathId};
use iotrail_trail::{Columns, EventLog};
use serde::Serialize;
use std::fmt;
use std::num::NonZeroUsize;

/// What `--map-explain` shows. All lists are sorted: most events first, then by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The mapping as the user wrote it.
    pub mapping: String,
    /// Selected events.
    pub events: u64,
    /// Those with an activity.
    pub mapped: u64,
    /// The rest of the selected events.
    pub unmapped: u64,
    /// Events that were not selected.
    pub unselected: u64,
    /// Each activity.
    pub activities: Vec<Explained>,
    /// What is not mapped.
    pub rest: Rest,
}

/// An activity and what is behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// Name of the activity.
    pub activity: String,
    /// Number of events.
    pub events: u64,
    /// Number of distinct calls and paths.
    pub distinct: u64,
    /// The most frequent ones.
    pub behind: Vec<CallOnPath>,
}

/// What is not mapped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rest {
    /// Number of distinct calls and paths.
    pub distinct: u64,
    /// The most frequent ones.
    pub behind: Vec<CallOnPath>,
}

/// A call on a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CallOnPath {
    /// Name of the call.
    pub call: String,
    /// The exact path, NULL if there is none.
    pub path: Option<String>,
    /// Number of events.
    pub events: u64,
}

type Counts = HashMap<(ActivityId, CallId, Nullable<PathId>), u64, RandomState>;

impl Query {
    /// Explains the mapping over `log`, with at most `limit` paths of each activity and of the rest.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn explain(
        &self,
        log: &EventLog,
        threads: NonZeroUsize,
        limit: usize,
    ) -> Result<Explanation, QueryError> {
        let counts = scan(log, Some(self), threads, &Tally)?;
        Ok(self.explanation(&counts, log.names(), limit))
    }

    fn explanation(&self, counts: &Counts, names: &Names, limit: usize) -> Explanation {
        let mut explanation = Explanation { mapping: self.mapping().to_owned(), ..Explanation::default() };
        let mut behind: HashMap<ActivityId, Vec<CallOnPath>, RandomState> = HashMap::default();
        for (&(activity, call, path), &events) in counts {
            match activity {
                ActivityId::UNSELECTED => explanation.unselected += events,
                _ => {
                    let path = names.path(path).map(str::to_owned);
                    let row = CallOnPath { call: names.call(call).to_owned(), path, events };
                    behind.entry(activity).or_default().push(row);
                }
            }
        }
        let activities = self.activities();
        for (activity, rows) in behind {
            let events: u64 = rows.iter().map(|row| row.events).sum();
            let (distinct, behind) = most_frequent(rows, limit);
            match activity.index().and_then(|index| activities.get(index)) {
                Some(name) => {
                    explanation.mapped += events;
                    explanation.activities.push(Explained {
                        activity: name.to_string(),
                        events,
                        distinct,
                        behind,
                    });
                }
                None => {
                    explanation.unmapped += events;
                    explanation.rest = Rest { distinct, behind };
                }
            }
        }
        explanation.events = explanation.mapped + explanation.unmapped;
        explanation
            .activities
            .sort_by(|a, b| b.events.cmp(&a.events).then_with(|| a.activity.cmp(&b.activity)));
        explanation
    }
}

/// Counts calls and paths by activity.
struct Tally;

impl Pass for Tally {
    type Sums = Counts;
    type Boundary = ();
    type Closed = ();
    type Output = Counts;

    fn columns(&self) -> Columns {
        Columns::CALL | Columns::PATH
    }

    fn asks(&self) -> Asks {
        Asks { whole_log: true, ..Asks::ACTIVITIES }
    }

    fn sums(&self) -> Counts {
        Counts::default()
    }

    fn closed(&self) {}

    fn add(&self, counts: &mut Counts, rows: &Rows<'_>) {
        let calls = rows.batch.call.iter().zip(&rows.batch.path);
        for (activity, (call, path)) in rows.classified.activity.iter().zip(calls) {
            *counts.entry((*activity, *call, *path)).or_default() += 1;
        }
    }

    fn merge(&self, counts: &mut Counts, other: Counts) {
        other.into_iter().for_each(|(key, events)| *counts.entry(key).or_default() += events);
    }

    fn close(&self, (): &mut (), (): ()) {}

    fn finish(&self, counts: Counts, (): ()) -> Counts {
        counts
    }
}

fn most_frequent(mut rows: Vec<CallOnPath>, limit: usize) -> (u64, Vec<CallOnPath>) {
    rows.sort_by(|a, b| b.events.cmp(&a.events).then_with(|| a.cmp(b)));
    let distinct = rows.len() as u64;
    rows.truncate(limit);
    (distinct, rows)
}

impl fmt::Display for Explanation {
    /// The text for people; what comes from the trace is escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let activities = match self.activities.len() {
            1 => "1 activity".to_owned(),
            many => format!("{} activities", count(many as u64)),
        };
        let (map, mapped) = (printable(&self.mapping), events(self.mapped));
        writeln!(f, "mapping {map}: {activities} of {mapped}; {} selected", events(self.events))?;
        for explained in &self.activities {
            writeln!(f, "\n{}  ({})", printable(&explained.activity), events(explained.events))?;
            write_behind(f, &explained.behind, explained.distinct)?;
        }
        if self.unmapped > 0 {
            writeln!(f, "\nnot mapped  ({})", events(self.unmapped))?;
            write_behind(f, &self.rest.behind, self.rest.distinct)?;
        }
        Ok(())
    }
}

fn events(number: u64) -> String {
    format!("{} event{}", count(number), if number == 1 { "" } else { "s" })
}

fn write_behind(f: &mut fmt::Formatter<'_>, behind: &[CallOnPath], distinct: u64) -> fmt::Result {
    for row in behind {
        let path = row.path.as_deref().map(printable).unwrap_or_default();
        let line = format!("{:>11}  {} {path}", count(row.events), printable(&row.call));
        writeln!(f, "{}", line.trim_end())?;
    }
    match distinct.saturating_sub(behind.len() as u64) {
        0 => Ok(()),
        more => writeln!(f, "{:>11}  … {} more", "", count(more)),
    }
}
