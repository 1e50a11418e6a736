//! `dfg('MAP')` and `dfg_nodes('MAP')`: the Directly-Follows Graph of the log as tables of its edges and its nodes.

use crate::lazy_table::LazyTable;
use datafusion::arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::plan_err;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::Expr;
use datafusion::scalar::ScalarValue;
use iotrail_dfg::result::{Edge, Node};
use iotrail_dfg::{Dfg, DfgOptions, synthesize};
use iotrail_query::{Preset, Query, QuerySpec};
use iotrail_trail::EventLog;
use std::sync::Arc;

/// Which part of the graph a function answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// One row for each relation.
    Edges,
    /// One row for each activity.
    Nodes,
}

/// The table function.
#[derive(Debug)]
pub(crate) struct DfgFunction {
    pub(crate) log: Arc<EventLog>,
    pub(crate) options: DfgOptions,
    pub(crate) part: Part,
}

impl TableFunctionImpl for DfgFunction {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let map = mapping(args.exprs())?;
        let (log, options, part) = (Arc::clone(&self.log), self.options, self.part);
        let schema = match part {
            Part::Edges => edges_schema(),
            Part::Nodes => nodes_schema(),
        };
        Ok(Arc::new(LazyTable::new(Arc::clone(&schema), move || {
            let spec = QuerySpec { map: Some(map.to_string()), ..QuerySpec::default() };
            let query = Query::new(spec, &log).map_err(external)?;
            let dfg: Dfg = synthesize(&log, &query, &options).map_err(external)?;
            let columns = match part {
                Part::Edges => edges(&dfg.edges),
                Part::Nodes => nodes(&dfg.nodes),
            };
            Ok(vec![RecordBatch::try_new(Arc::clone(&schema), columns)?])
        })))
    }
}

/// The mapping that is asked for. Only those that need no file: a query must not make us read one.
fn mapping(arguments: &[Expr]) -> Result<Preset> {
    match arguments {
        [] => Ok(Preset::default()),
        [Expr::Literal(ScalarValue::Utf8(Some(word)), _)] => crate::functions::preset(word),
        _ => plan_err!(
            "dfg() takes one argument, a mapping such as 'dir2', 'file', 'call', 'template' or 'ext'"
        ),
    }
}

fn external(error: impl std::error::Error + Send + Sync + 'static) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

fn fields(fields: &[(&str, DataType, bool)]) -> SchemaRef {
    let field = |(name, kind, nullable): &(&str, DataType, bool)| Field::new(*name, kind.clone(), *nullable);
    Arc::new(Schema::new(fields.iter().map(field).collect::<Vec<_>>()))
}

fn edges_schema() -> SchemaRef {
    use DataType::{Float64, Int64, UInt64, Utf8};
    fields(&[
        ("source", Utf8, false),
        ("target", Utf8, false),
        ("count", UInt64, false),
        ("cases", UInt64, false),
        ("gap_mean", Float64, true),
        ("gap_p50", Int64, true),
        ("gap_p95", Int64, true),
        ("gap_sum", Int64, true),
    ])
}

fn nodes_schema() -> SchemaRef {
    use DataType::{Float64, Int64, UInt64, Utf8};
    fields(&[
        ("activity", Utf8, false),
        ("count", UInt64, false),
        ("cases", UInt64, false),
        ("failures", UInt64, false),
        ("files", UInt64, false),
        ("duration", UInt64, true),
        ("relative_duration", Float64, true),
        ("bytes", UInt64, false),
        ("data_rate", Float64, true),
        ("max_concurrency", UInt64, true),
        ("duration_mean", Float64, true),
        ("duration_p50", Int64, true),
        ("duration_p95", Int64, true),
        ("duration_p99", Int64, true),
        ("duration_max", Int64, true),
    ])
}

fn texts<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn counts(values: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(values))
}

fn maybe_counts(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    Arc::new(values.collect::<UInt64Array>())
}

fn numbers(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.collect::<Int64Array>())
}

fn figures(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(values.collect::<Float64Array>())
}

fn edges(rows: &[Edge]) -> Vec<ArrayRef> {
    vec![
        texts(rows.iter().map(|edge| &*edge.from)),
        texts(rows.iter().map(|edge| &*edge.to)),
        counts(rows.iter().map(|edge| edge.count)),
        counts(rows.iter().map(|edge| edge.cases)),
        figures(rows.iter().map(|edge| edge.gap_ns.mean)),
        numbers(rows.iter().map(|edge| edge.gap_ns.p50)),
        numbers(rows.iter().map(|edge| edge.gap_ns.p95)),
        numbers(rows.iter().map(|edge| edge.gap_ns.sum)),
    ]
}

fn nodes(rows: &[Node]) -> Vec<ArrayRef> {
    vec![
        texts(rows.iter().map(|node| &*node.activity)),
        counts(rows.iter().map(|node| node.count)),
        counts(rows.iter().map(|node| node.cases)),
        counts(rows.iter().map(|node| node.failures)),
        counts(rows.iter().map(|node| node.files)),
        maybe_counts(rows.iter().map(|node| node.duration_ns)),
        figures(rows.iter().map(|node| node.relative_duration)),
        counts(rows.iter().map(|node| node.bytes)),
        figures(rows.iter().map(|node| node.data_rate)),
        maybe_counts(rows.iter().map(|node| node.max_concurrency)),
        figures(rows.iter().map(|node| node.duration.mean)),
        numbers(rows.iter().map(|node| node.duration.p50)),
        numbers(rows.iter().map(|node| node.duration.p95)),
        numbers(rows.iter().map(|node| node.duration.p99)),
        numbers(rows.iter().map(|node| node.duration.max)),
    ]
}
