//! What is wrong with the words of the command line, beyond what their parser sees: exit status 2 as for its own errors.

use crate::help;
use iotrail_draw::DrawError;
use iotrail_export::ExportError;
use iotrail_query::QueryError;
use iotrail_stats::StatsError;
use std::error::Error;
use std::fmt;

/// Words that ask for what does not exist.
#[derive(Debug)]
struct UsageError(String);

impl fmt::Display for UsageError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Error for UsageError {}

/// How the command called `name` is used: `Usage: iotrail dfg [OPTIONS] <TRAIL>...`.
pub(crate) fn of(name: &str) -> String {
    let mut command = help::subcommand(name).unwrap_or_else(help::command);
    command.render_usage().to_string()
}

/// The error of a wrong usage.
pub(crate) fn wrong(message: impl Into<String>) -> anyhow::Error {
    UsageError(message.into()).into()
}

/// Whether the user asked for something that does not exist, whatever the data are.
pub(crate) fn is_wrong(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<UsageError>()
            || cause.downcast_ref::<QueryError>().is_some_and(QueryError::is_usage)
            || matches!(cause.downcast_ref(), Some(DrawError::NoPicture(_)))
            || matches!(
                cause.downcast_ref(),
                Some(ExportError::UnknownFormat { .. } | ExportError::UnknownEnding { .. })
            )
            || matches!(cause.downcast_ref(), Some(StatsError::Table(_)))
    })
}
