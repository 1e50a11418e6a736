//! The engine with the tables and functions of one event log, and with nothing else.
//!
//! A query, and the trails, may come from others. So the engine is put together without what could reach a file: no object
//! store (the registry is empty and stays so), no file formats, no factories of tables, no tables by path or URL. The only
//! files that are read are those that the log has opened and checked, the only ones that are written are the
//! engine's own temporary ones when a sort or a join needs more memory than it may have.

use crate::dfg_tables::{DfgFunction, Part};
use crate::error::SqlError;
use crate::events_table::EventsTable;
use crate::{functions, log_tables, statement};
use datafusion::catalog::TableProvider;
use datafusion::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::SessionStateDefaults;
use datafusion::execution::object_store::ObjectStoreRegistry;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::object_store::ObjectStore;
use datafusion::prelude::{DataFrame, SQLOptions, SessionConfig, SessionContext};
use datafusion::sql::parser::Statement;
use iotrail_dfg::DfgOptions;
use iotrail_stats::ProfileTable;
use iotrail_stats::sql::sql;
use iotrail_trail::{EventLog, position_sql};
use std::num::NonZeroUsize;
use std::sync::Arc;
use url::Url;

/// How much a query may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of memory for sorting, grouping and joining.
    pub memory: usize,
    /// Threads that compute. With one, which is enough for most questions as reading has a thread of its own, rows come
    /// in the same order each time.
    pub threads: NonZeroUsize,
}

/// Tables and functions of one event log, ready for queries.
pub struct Session {
    context: SessionContext,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Session {
    /// The session of a log: its tables, and a view `stat_...` for each table of `iotrail stats`.
    ///
    /// # Errors
    /// If the engine refuses a table or a function, which would be a fault of this crate.
    pub async fn new(log: EventLog, limits: Limits) -> Result<Self, SqlError> {
        let context = SessionContext::new_with_state(state(limits)?);
        let log = Arc::new(log);
        context.register_table("events", events_view(&context, &log)?)?;
        context.register_table("cases", Arc::new(log_tables::cases(Arc::clone(&log))))?;
        context.register_table("processes", Arc::new(log_tables::processes(Arc::clone(&log))))?;
        context.register_table("files", Arc::new(log_tables::files(Arc::clone(&log))))?;
        context.register_table("runs", Arc::new(log_tables::runs(Arc::clone(&log))))?;
        functions::all().into_iter().for_each(|function| context.register_udf(function));
        let options = DfgOptions { threads: limits.threads, ..DfgOptions::default() };
        for (name, part) in [("dfg", Part::Edges), ("dfg_nodes", Part::Nodes)] {
            let log = Arc::clone(&log);
            context.register_udtf(name, Arc::new(DfgFunction { log, options, part }));
        }
        for table in ProfileTable::ALL {
            // A view that the engine refuses is missing; it does not take the tables with it. A test asks for each.
            if let Ok(rows) = context.sql(&sql(table)).await {
                let name = format!("stat_{}", table.name().replace('-', "_"));
                context.register_table(name, rows.into_view())?;
            }
        }
        Ok(Self { context })
    }

    /// Starts a statement; the rows come with the stream.
    ///
    /// # Errors
    /// If the statement does more than ask, or names what is not there.
    pub async fn run(&self, statement: Statement) -> Result<SendableRecordBatchStream, SqlError> {
        let plan = self.context.state().statement_to_plan(statement).await?;
        let only_ask =
            SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
        only_ask.verify_plan(&plan)?;
        Ok(self.context.execute_logical_plan(plan).await?.execute_stream().await?)
    }

    /// Reads a text of statements, all of which are allowed.
    ///
    /// # Errors
    /// If the text is no SQL, or a statement does more than ask.
    pub fn parse(&self, text: &str) -> Result<Vec<Statement>, SqlError> {
        statement::parse(text)
    }

    /// Names of the tables and views with those of their columns.
    ///
    /// # Errors
    /// If a view cannot be planned.
    pub async fn tables(&self) -> Result<Vec<(String, Vec<String>)>, SqlError> {
        let schema = self.context.catalog("datafusion").and_then(|catalog| catalog.schema("public"));
        let mut tables = Vec::new();
        for name in schema.iter().flat_map(|schema| schema.table_names()) {
            let provider = self.context.table_provider(&name).await?;
            let columns = provider.schema().fields().iter().map(|field| field.name().clone()).collect();
            tables.push((name, columns));
        }
        tables.sort();
        Ok(tables)
    }

    /// Names of all functions.
    #[must_use]
    pub fn functions(&self) -> Vec<String> {
        let state = self.context.state();
        let mut names: Vec<String> = state.scalar_functions().keys().cloned().collect();
        names.extend(state.aggregate_functions().keys().cloned());
        names.extend(state.window_functions().keys().cloned());
        names.extend(state.table_functions().keys().cloned());
        names.sort();
        names.dedup();
        names
    }
}

/// The table of events and, behind its columns, where transfers and seeks began and led.
fn events_view(context: &SessionContext, log: &Arc<EventLog>) -> Result<Arc<dyn TableProvider>> {
    let rows = context.read_table(Arc::new(EventsTable::new(Arc::clone(log))))?;
    let with_position = |rows: DataFrame, (name, value): (&str, String)| {
        let value = context.parse_sql_expr(&value, rows.schema())?;
        rows.with_column(name, value)
    };
    Ok(position_sql().into_iter().try_fold(rows, with_position)?.into_view())
}

fn state(limits: Limits) -> Result<SessionState> {
    let config = SessionConfig::new()
        .with_target_partitions(limits.threads.get())
        .with_information_schema(true)
        .with_create_default_catalog_and_schema(true);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_limit(limits.memory, 1.0)
        .with_object_store_registry(Arc::new(NoStores))
        .build_arc()?;
    let table_functions = SessionStateDefaults::default_table_functions();
    Ok(SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_expr_planners(SessionStateDefaults::default_expr_planners())
        .with_scalar_functions(SessionStateDefaults::default_scalar_functions())
        .with_higher_order_functions(SessionStateDefaults::default_higher_order_functions())
        .with_aggregate_functions(SessionStateDefaults::default_aggregate_functions())
        .with_window_functions(SessionStateDefaults::default_window_functions())
        .with_table_functions(
            table_functions.into_iter().map(|function| (function.name().to_owned(), function)).collect(),
        )
        .build())
}

/// A registry that has no store and takes none.
#[derive(Debug)]
struct NoStores;

impl ObjectStoreRegistry for NoStores {
    fn register_store(&self, _url: &Url, _store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        None
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        datafusion::common::plan_err!(
            "{url} is out of reach: queries read the trails that were given and no other file"
        )
    }
}
