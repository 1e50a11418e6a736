//! The small tables of a log: `cases`, `processes`, `files` as the trail has them, and `runs`, what each `trail.json` says.

use crate::batches::{batches, schema};
use crate::lazy_table::LazyTable;
use datafusion::arrow::array::{
    ArrayRef, Int64Array, StringArray, TimestampNanosecondArray, UInt32Array, UInt64Array,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::{DataFusionError, Result};
use iotrail_model::CaseId;
use iotrail_trail::{EventLog, Table, Trail, TrailError, TrailMeta};
use std::sync::Arc;

/// The table `processes`.
pub(crate) fn processes(log: Arc<EventLog>) -> LazyTable {
    LazyTable::new(schema(Table::Processes), move || batches(&log.processes().map_err(external)?))
}

/// The table `files`: a path that several parts mention has one row.
pub(crate) fn files(log: Arc<EventLog>) -> LazyTable {
    LazyTable::new(schema(Table::Files), move || batches(&log.file_names()))
}

/// The table `cases` with, as its last column, the run that each is of.
pub(crate) fn cases(log: Arc<EventLog>) -> LazyTable {
    let mut fields: Vec<_> = schema(Table::Cases).fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new("run", DataType::UInt32, false)));
    let schema = Arc::new(Schema::new(fields));
    LazyTable::new(Arc::clone(&schema), move || {
        let mut run = runs_of_cases(&log).into_iter();
        let with_run = |batch: RecordBatch| {
            let runs: ArrayRef = Arc::new(UInt32Array::from_iter_values(run.by_ref().take(batch.num_rows())));
            let columns = batch.columns().iter().cloned().chain([runs]).collect();
            Ok(RecordBatch::try_new(Arc::clone(&schema), columns)?)
        };
        batches(log.cases())?.into_iter().map(with_run).collect()
    })
}

fn runs_of_cases(log: &EventLog) -> Vec<u32> {
    log.cases().iter().map(|case| log.trail_number(case.id) as u32).collect()
}

/// The table `runs`: one row for each trail.
pub(crate) fn runs(log: Arc<EventLog>) -> LazyTable {
    let schema = runs_schema();
    LazyTable::new(Arc::clone(&schema), move || Ok(vec![runs_batch(&log, &schema)?]))
}

fn runs_schema() -> SchemaRef {
    let text = |name: &str, nullable| Field::new(name, DataType::Utf8, nullable);
    let count = |name: &str| Field::new(name, DataType::UInt64, false);
    let time = |name: &str| {
        let utc = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
        Field::new(name, utc, true)
    };
    Arc::new(Schema::new(vec![
        Field::new("run", DataType::UInt32, false),
        text("trail", false),
        text("source", false),
        text("command", true),
        text("host", true),
        text("tool_version", false),
        time("start"),
        time("end"),
        Field::new("first_case", DataType::UInt32, true),
        count("cases"),
        count("processes"),
        count("threads"),
        count("events"),
        Field::new("bytes_read", DataType::Int64, false),
        Field::new("bytes_written", DataType::Int64, false),
        count("lost"),
    ]))
}

fn runs_batch(log: &EventLog, schema: &SchemaRef) -> Result<RecordBatch> {
    let trails = log.trails();
    let metas = || trails.iter().map(Trail::meta);
    let texts = |value: fn(&TrailMeta) -> &str| -> ArrayRef {
        Arc::new(metas().map(|meta| Some(value(meta))).collect::<StringArray>())
    };
    let optional_texts = |value: fn(&TrailMeta) -> Option<&str>| -> ArrayRef {
        Arc::new(metas().map(value).collect::<StringArray>())
    };
    let counts = |value: fn(&TrailMeta) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(metas().map(value)))
    };
    let bytes = |value: fn(&TrailMeta) -> i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(metas().map(value)))
    };
    let times = |value: fn(&TrailMeta) -> Option<i64>| -> ArrayRef {
        Arc::new(metas().map(value).collect::<TimestampNanosecondArray>().with_timezone("UTC"))
    };
    let names: StringArray = trails.iter().map(|trail| Some(trail.name())).collect();
    let columns = vec![
        Arc::new(UInt32Array::from_iter_values(0..trails.len() as u32)) as ArrayRef,
        Arc::new(names),
        texts(|meta| &meta.capture.source),
        optional_texts(|meta| meta.capture.command.as_deref()),
        optional_texts(|meta| meta.capture.host.as_deref()),
        texts(|meta| &meta.tool_version),
        times(|meta| meta.totals.start),
        times(|meta| meta.totals.end),
        Arc::new(first_cases(log)),
        counts(|meta| meta.totals.cases),
        counts(|meta| meta.totals.processes),
        counts(|meta| meta.totals.threads),
        counts(|meta| meta.totals.events),
        bytes(|meta| meta.totals.bytes_read),
        bytes(|meta| meta.totals.bytes_written),
        counts(|meta| meta.coverage.lost),
    ];
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}

/// The id of each trail's first case in the log, NULL for a trail without cases.
fn first_cases(log: &EventLog) -> UInt32Array {
    let mut next = 0;
    let first = |trail: &Trail| {
        let first = next;
        next += trail.cases().len() as u32;
        log.cases().get(CaseId(first).index()).filter(|_| next > first).map(|case| case.id.0)
    };
    log.trails().iter().map(first).collect()
}

fn external(error: TrailError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
