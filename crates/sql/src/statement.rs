//! What may be asked.
//!
//! Trails come from others, and so may a query. The engine could also write and read files (`COPY`, `CREATE EXTERNAL
//! TABLE`) and change its own settings (`SET`, for instance where it spills to). So there is a list of what is allowed, and
//! nothing else passes; that the engine has no way to files at all (see [`crate::session`]) is the second fence.

use crate::error::SqlError;
use datafusion::sql::parser::{DFParser, Statement};
use datafusion::sql::sqlparser::ast::Statement as Ast;
use datafusion::sql::sqlparser::dialect::GenericDialect;

/// The statements of a text, all of which are allowed.
///
/// # Errors
/// If the text is no SQL, or a statement does more than ask.
pub(crate) fn parse(text: &str) -> Result<Vec<Statement>, SqlError> {
    let statements = DFParser::parse_sql_with_dialect(text, &GenericDialect {})?;
    statements.iter().try_for_each(allowed)?;
    Ok(statements.into())
}

fn allowed(statement: &Statement) -> Result<(), SqlError> {
    match statement {
        Statement::Explain(explain) => allowed(&explain.statement),
        Statement::Statement(ast) if only_asks(ast) => Ok(()),
        other => Err(SqlError::NotAllowed { what: first_words(&other.to_string()) }),
    }
}

fn only_asks(ast: &Ast) -> bool {
    match ast {
        Ast::Query(_) | Ast::ExplainTable { .. } | Ast::ShowTables { .. } | Ast::ShowColumns { .. } => true,
        Ast::Explain { statement, .. } => only_asks(statement),
        _ => false,
    }
}

/// Enough of a statement to recognise it.
fn first_words(statement: &str) -> String {
    let words: Vec<&str> = statement.split_whitespace().take(3).collect();
    iotrail_model::text::printable(&words.join(" ")).chars().take(60).collect()
}
