//! What the points of trails are made of, and what a link to their dashboards selects.

use crate::{logs, ui::Ui};
use anyhow::Context;
use iotrail_advise::{Advice, AdviseOptions, advise};
use iotrail_export::grafana::Selected;
use iotrail_export::influx::{Source, heaviest_file};
use iotrail_model::threads::one_per_core;
use iotrail_query::{ProcessTable, Query, QuerySpec};
use iotrail_stats::{RowBy, UsedFile, file_uses};
use iotrail_trail::{EventLog, Trail};
use std::path::PathBuf;

/// A log and what was found in it.
pub(super) struct Analysed {
    log: EventLog,
    processes: ProcessTable,
    files: Vec<UsedFile>,
    advice: Advice,
    job: String,
}

impl Analysed {
    /// Reads trails; their points are of `job`, else of the names of the trails.
    pub(super) fn of(trails: &[PathBuf], job: Option<&str>, ui: &Ui) -> anyhow::Result<Self> {
        let log = logs::open(trails, ui)?;
        let query = Query::new(QuerySpec::default(), &log)?;
        let (processes, threads) = (ProcessTable::of_log(&log)?, one_per_core());
        let files = file_uses(&log, &query, &processes, RowBy::Path, threads)?.rows;
        let options = AdviseOptions::new(threads);
        let advice = advise(&log, &query, &options)?;
        let names = || log.trails().iter().map(Trail::name).collect::<Vec<_>>().join("+");
        let job = job.map_or_else(names, str::to_owned);
        Ok(Self { log, processes, files, advice, job })
    }

    pub(super) fn source(&self) -> Source<'_> {
        let Self { log, processes, files, advice, job } = self;
        Source { log, processes, files, advice, job }
    }

    pub(super) fn job(&self) -> &str {
        &self.job
    }

    /// Number of calls.
    pub(super) fn calls(&self) -> u64 {
        self.log.rows()
    }

    /// The heaviest file over the time of the points.
    pub(super) fn selected(&self, span: Option<(i64, i64)>) -> anyhow::Result<Selected<'_>> {
        let layers = self.log.layers();
        let layer = layers.first().context("the trails hold no calls")?.name();
        Ok(Selected {
            job: &self.job,
            layer,
            file: heaviest_file(&self.files),
            span: span.unwrap_or_default(),
        })
    }
}
