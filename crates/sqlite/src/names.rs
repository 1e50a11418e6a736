//! Texts that repeat: each has a number, which is its id in the log.

use iotrail_model::Layer;
use iotrail_trail::EventLog;
use rusqlite::{Connection, Result, params};
use std::sync::Arc;

pub(crate) fn write(database: &Connection, log: &EventLog) -> Result<()> {
    let names = log.names();
    texts(database, "INSERT INTO calls VALUES (?1, ?2)", &names.calls)?;
    texts(database, "INSERT INTO errnos VALUES (?1, ?2)", &names.errnos)?;
    texts(database, "INSERT INTO flag_texts VALUES (?1, ?2)", &names.flags)?;
    let mut insert = database.prepare("INSERT INTO layers VALUES (?1, ?2)")?;
    for layer in Layer::ALL {
        insert.execute(params![layer as i64, layer.name()])?;
    }
    Ok(())
}

fn texts(database: &Connection, insert: &str, texts: &[Arc<str>]) -> Result<()> {
    let mut insert = database.prepare(insert)?;
    for (id, text) in texts.iter().enumerate() {
        insert.execute(params![id as i64, &**text])?;
    }
    Ok(())
}
