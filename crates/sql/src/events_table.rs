//! The table `events`, streamed from the row groups of the trails.
//!
//! Only the columns of a query are decoded, and of the row groups only those whose bounds of case and start do not
//! contradict its conditions. The files are those that were opened and checked with the log: a query cannot name one.

use crate::batches::{event_batches, schema};
use crate::row_groups::RowGroups;
use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::DFSchema;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType, utils::conjunction};
use datafusion::physical_optimizer::pruning::PruningPredicateBuilder;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use iotrail_trail::{Columns, EventLog, Table};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Batches that may wait for the query, of each partition.
const WAITING: usize = 4;

/// The table `events` of a log.
#[derive(Debug)]
pub(crate) struct EventsTable {
    log: Arc<EventLog>,
    schema: SchemaRef,
}

impl EventsTable {
    pub(crate) fn new(log: Arc<EventLog>) -> Self {
        Self { log, schema: schema(Table::Events) }
    }

    /// The row groups that may hold rows for which all `filters` are true.
    fn wanted(&self, state: &dyn Session, filters: &[Expr]) -> Vec<usize> {
        let all: Vec<usize> = (0..self.log.row_groups()).collect();
        // A condition that cannot be judged by bounds prunes nothing; the engine applies all conditions to the rows anyway.
        match self.prune(state, filters) {
            Some(may_match) => all.into_iter().filter(|at| may_match.get(*at) != Some(&false)).collect(),
            None => all,
        }
    }

    fn prune(&self, state: &dyn Session, filters: &[Expr]) -> Option<Vec<bool>> {
        let condition = conjunction(filters.iter().cloned())?;
        let names = DFSchema::try_from(Arc::clone(&self.schema)).ok()?;
        let condition = state.create_physical_expr(condition, &names).ok()?;
        let predicate = PruningPredicateBuilder::new()
            .with_file_schema(Arc::clone(&self.schema))
            .try_build(condition)
            .ok()?;
        predicate.prune(&RowGroups(&self.log)).ok()
    }
}

#[async_trait]
impl TableProvider for EventsTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        let asked = projection.unwrap_or(&all);
        let read = Arc::new(Projection::new(asked, &self.schema)?);
        let wanted = self.wanted(state, filters);
        let partitions = share(&wanted, state.config().target_partitions());
        let streams = partitions.into_iter().map(|row_groups| -> Arc<dyn PartitionStream> {
            Arc::new(Share { log: Arc::clone(&self.log), row_groups, read: Arc::clone(&read) })
        });
        let order = read.places_of(asked);
        let limit = limit.filter(|_| filters.is_empty());
        let schema = Arc::clone(&read.schema);
        Ok(Arc::new(StreamingTableExec::try_new(schema, streams.collect(), Some(&order), [], false, limit)?))
    }
}

/// Consecutive row groups for each of at most `count` partitions, at least one.
fn share(row_groups: &[usize], count: usize) -> Vec<Vec<usize>> {
    let each = row_groups.len().div_ceil(count.max(1)).max(1);
    if row_groups.is_empty() {
        return vec![Vec::new()];
    }
    row_groups.chunks(each).map(<[usize]>::to_vec).collect()
}

/// The columns that are read, in the order of the table.
#[derive(Debug)]
struct Projection {
    columns: Columns,
    places: Vec<usize>,
    schema: SchemaRef,
}

impl Projection {
    fn new(asked: &[usize], table: &SchemaRef) -> Result<Self> {
        let mut places = asked.to_vec();
        places.sort_unstable();
        places.dedup();
        let schema = Arc::new(table.project(&places)?);
        Ok(Self { columns: places.iter().copied().collect(), places, schema })
    }

    /// Where the asked columns are among those that are read.
    fn places_of(&self, asked: &[usize]) -> Vec<usize> {
        asked.iter().filter_map(|column| self.places.binary_search(column).ok()).collect()
    }
}

/// One partition's share of the row groups.
#[derive(Debug)]
struct Share {
    log: Arc<EventLog>,
    row_groups: Vec<usize>,
    read: Arc<Projection>,
}

impl PartitionStream for Share {
    fn schema(&self) -> &SchemaRef {
        &self.read.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut stream = RecordBatchReceiverStreamBuilder::new(Arc::clone(&self.read.schema), WAITING);
        let (log, row_groups, columns) = (Arc::clone(&self.log), self.row_groups.clone(), self.read.columns);
        let out = stream.tx();
        stream.spawn_blocking(move || {
            for row_group in row_groups {
                event_batches(&log, row_group, columns, |batch| match out.blocking_send(Ok(batch)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                })?;
                if out.is_closed() {
                    break;
                }
            }
            Ok(())
        });
        stream.build()
    }
}
