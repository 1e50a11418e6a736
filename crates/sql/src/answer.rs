//! A statement at work: it computes in threads of its own and can be ended at any moment.

use crate::error::SqlError;
use crate::session::Session;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::sql::parser::Statement;
use futures::StreamExt;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// Batches that may wait to be written.
const WAITING: usize = 4;

/// Ends the statement that is at work, from any thread.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Mutex<Option<AbortHandle>>>);

impl Interrupt {
    /// Ends it; answers whether there was one.
    pub fn interrupt(&self) -> bool {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        running.is_some_and(|task| {
            task.abort();
            true
        })
    }

    fn set(&self, task: Option<AbortHandle>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = task;
    }
}

enum Message {
    Schema(SchemaRef),
    Rows(RecordBatch),
    End(Result<(), SqlError>),
}

/// The rows of a statement, batch by batch.
#[derive(Debug)]
pub struct Answer {
    schema: SchemaRef,
    /// What came after the schema: a query that fails before its first row has no answer at all.
    first: Option<Message>,
    messages: mpsc::Receiver<Message>,
    interrupt: Interrupt,
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Message")
    }
}

impl Answer {
    /// Starts a statement.
    ///
    /// # Errors
    /// If it does more than ask, names what is not there, or is interrupted.
    pub fn start(
        runtime: &Runtime,
        session: &Arc<Session>,
        statement: Statement,
        interrupt: &Interrupt,
    ) -> Result<Self, SqlError> {
        let (out, mut messages) = mpsc::channel(WAITING);
        let task = runtime.spawn(work(Arc::clone(session), statement, out));
        interrupt.set(Some(task.abort_handle()));
        let (head, first) = (messages.blocking_recv(), messages.blocking_recv());
        match (head, first) {
            (Some(Message::End(Err(error))), _) | (_, Some(Message::End(Err(error)))) => Err(error),
            (Some(Message::Schema(schema)), Some(first)) => {
                Ok(Self { schema, first: Some(first), messages, interrupt: interrupt.clone() })
            }
            _ => Err(SqlError::Interrupted),
        }
    }

    /// Columns and types.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next rows, `None` after the last.
    ///
    /// # Errors
    /// If the statement fails or is interrupted.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, SqlError> {
        match self.first.take().or_else(|| self.messages.blocking_recv()) {
            Some(Message::Rows(batch)) => Ok(Some(batch)),
            Some(Message::End(end)) => end.map(|()| None),
            // A task that goes without a word was aborted.
            Some(Message::Schema(_)) | None => Err(SqlError::Interrupted),
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.interrupt.interrupt();
    }
}

async fn work(session: Arc<Session>, statement: Statement, out: mpsc::Sender<Message>) {
    let end = deliver(&session, statement, &out).await;
    // Nobody may be listening any more.
    let _ = out.send(Message::End(end)).await;
}

async fn deliver(
    session: &Session,
    statement: Statement,
    out: &mpsc::Sender<Message>,
) -> Result<(), SqlError> {
    let mut rows = session.run(statement).await?;
    if out.send(Message::Schema(rows.schema())).await.is_err() {
        return Ok(());
    }
    while let Some(batch) = rows.next().await {
        if out.send(Message::Rows(batch?)).await.is_err() {
            break;
        }
    }
    Ok(())
}
