//! A small table that is made when a query first looks at it, in memory.

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use std::sync::{Arc, Mutex, PoisonError};

/// What makes the rows.
pub(crate) type Make = dyn Fn() -> Result<Vec<RecordBatch>> + Send + Sync;

/// A table whose rows come from a function.
#[derive(Clone)]
pub(crate) struct LazyTable {
    schema: SchemaRef,
    make: Arc<Make>,
    made: Arc<Mutex<Option<Vec<RecordBatch>>>>,
}

impl std::fmt::Debug for LazyTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LazyTable").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl LazyTable {
    pub(crate) fn new(
        schema: SchemaRef,
        make: impl Fn() -> Result<Vec<RecordBatch>> + Send + Sync + 'static,
    ) -> Self {
        Self { schema, make: Arc::new(make), made: Arc::default() }
    }

    fn rows(&self) -> Result<Vec<RecordBatch>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rows) = &*made {
            return Ok(rows.clone());
        }
        let rows = (self.make)()?;
        *made = Some(rows.clone());
        Ok(rows)
    }
}

#[async_trait]
impl TableProvider for LazyTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let partition: Arc<dyn PartitionStream> = Arc::new(self.clone());
        let schema = Arc::clone(&self.schema);
        let scan = StreamingTableExec::try_new(schema, vec![partition], projection, [], false, limit)?;
        Ok(Arc::new(scan))
    }
}

impl PartitionStream for LazyTable {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut stream = RecordBatchReceiverStreamBuilder::new(Arc::clone(&self.schema), 2);
        let (table, out) = (self.clone(), stream.tx());
        stream.spawn_blocking(move || {
            for batch in table.rows()? {
                if out.blocking_send(Ok(batch)).is_err() {
                    break;
                }
            }
            Ok(())
        });
        stream.build()
    }
}
