//! What can go wrong with a query.

use datafusion::error::DataFusionError;
use iotrail_trail::TrailError;

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqlError {
    /// The text is no SQL, names what is not there, or failed while it ran.
    #[error("{}", explain(.0))]
    Query(Box<DataFusionError>),
    /// A statement that does more than ask.
    #[error(
        "`{what}` is not allowed: queries only read the trails that were given. SELECT, WITH, VALUES, EXPLAIN, \
         DESCRIBE, SHOW TABLES and SHOW COLUMNS are"
    )]
    NotAllowed {
        /// The words that the statement begins with.
        what: String,
    },
    /// A trail cannot be opened or read.
    #[error("{0}")]
    Trail(#[from] TrailError),
    /// There is no thread to run on.
    #[error("cannot start the engine: {0}")]
    Engine(std::io::Error),
    /// The user does not want to wait any longer.
    #[error("interrupted")]
    Interrupted,
    /// The answer cannot be written.
    #[error(transparent)]
    Write(#[from] std::io::Error),
}

impl From<DataFusionError> for SqlError {
    fn from(error: DataFusionError) -> Self {
        Self::Query(Box::new(error))
    }
}

impl From<datafusion::arrow::error::ArrowError> for SqlError {
    fn from(error: datafusion::arrow::error::ArrowError) -> Self {
        Self::Query(Box::new(error.into()))
    }
}

/// The engine's message without the names of its parts.
fn explain(error: &DataFusionError) -> String {
    match error.find_root() {
        DataFusionError::External(inner) => inner.to_string(),
        DataFusionError::ResourcesExhausted(why) => {
            format!("the query needs more memory than it may have (--memory): {why}")
        }
        root => {
            let text = root.strip_backtrace();
            let text = ["Error during planning: ", "Execution error: ", "Schema error: ", "SQL error: "]
                .into_iter()
                .fold(text.as_str(), |text, head| text.strip_prefix(head).unwrap_or(text))
                .to_owned();
            let parser = text.strip_prefix("ParserError(\"").and_then(|rest| rest.strip_suffix("\")"));
            parser.unwrap_or(&text).to_owned()
        }
    }
}
