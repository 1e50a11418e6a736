//! A database under construction: all of it in one transaction, under a temporary name beside its target.

use crate::error::SqliteError;
use crate::{event_table, log_tables, names};
use iotrail_model::Case;
use iotrail_trail::{Columns, EventLog, file_beside};
use rusqlite::{Connection, params_from_iter};
use std::path::Path;

const SCHEMA: &str = include_str!("schema.sql");
/// Made when all rows are there, which is quicker than to keep them sorted meanwhile.
const INDICES: &str = include_str!("indices.sql");
/// The version of this schema, `PRAGMA user_version`.
const SCHEMA_VERSION: i64 = 2;

/// Writes a log as a database to `target`, which appears when it is complete and replaces a file of that name; answers
/// the number of events. `progress` hears how many events of how many are written.
///
/// # Errors
/// If the log cannot be read or the database cannot be written.
pub fn export(log: &EventLog, target: &Path, progress: &dyn Fn(u64, u64)) -> Result<u64, SqliteError> {
    if target.metadata().is_ok_and(|meta| !meta.is_file()) {
        return Err(SqliteError::Special { path: target.to_owned() });
    }
    let target = target.canonicalize().unwrap_or_else(|_| target.to_owned());
    let io = |source| SqliteError::Io { path: target.clone(), source };
    let temporary = file_beside(&target).map_err(io)?.into_temp_path();
    let events = fill(&temporary, log, progress).map_err(|error| error.of(&target))?;
    temporary.persist(&target).map_err(|error| io(error.error))?;
    Ok(events)
}

/// What stopped the work, before it is known as whose fault.
enum Stop {
    Database(rusqlite::Error),
    Trail(iotrail_trail::TrailError),
}

impl Stop {
    fn of(self, target: &Path) -> SqliteError {
        match self {
            Self::Database(source) => SqliteError::Database { path: target.to_owned(), source },
            Self::Trail(error) => SqliteError::Trail(error),
        }
    }
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<iotrail_trail::TrailError> for Stop {
    fn from(error: iotrail_trail::TrailError) -> Self {
        Self::Trail(error)
    }
}

fn fill(file: &Path, log: &EventLog, progress: &dyn Fn(u64, u64)) -> Result<u64, Stop> {
    let mut database = Connection::open(file)?;
    // A database that is not finished is thrown away, so nothing protects it from a crash.
    database.pragma_update(None, "journal_mode", "OFF")?;
    database.pragma_update(None, "synchronous", "OFF")?;
    database.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    let transaction = database.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    transaction.execute_batch(&event_table::schema())?;
    log_tables::runs(&transaction, log)?;
    log_tables::cases(&transaction, log)?;
    let mut processes = log.processes()?;
    for process in &mut processes {
        if !log.cases().get(process.case.index()).is_none_or(Case::has_times) {
            (process.start, process.end) = (None, None);
        }
    }
    log_tables::processes(&transaction, &processes)?;
    log_tables::files(&transaction, log.files())?;
    log_tables::distinct_files(&transaction, log.distinct_files())?;
    names::write(&transaction, log)?;
    let events = events(&transaction, log, progress)?;
    transaction.execute_batch(INDICES)?;
    transaction.commit()?;
    database.close().map_err(|(_, error)| error)?;
    Ok(events)
}

fn events(database: &Connection, log: &EventLog, progress: &dyn Fn(u64, u64)) -> Result<u64, Stop> {
    let mut insert = database.prepare(&event_table::insert())?;
    let (mut done, total) = (0, log.rows());
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, Columns::ALL)?;
        for row in 0..batch.len {
            let row = batch.event(row);
            let timed = log.cases().get(row.case.index()).is_none_or(Case::has_times);
            insert.execute(params_from_iter(row.values().map(|value| event_table::value(value, timed))))?;
        }
        done += batch.len as u64;
        progress(done, total);
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::{CaseId, Event, Nullable, Pid, Process, Timestamp, Usage};
    use iotrail_trail::memory::{MemoryLog, small_trail};

    fn database(log: &EventLog) -> (tempfile::TempDir, Connection) {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("t.db");
        export(log, &target, &|_, _| ()).unwrap();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "nothing temporary is left");
        let database = Connection::open(&target).unwrap();
        (directory, database)
    }

    fn number(database: &Connection, query: &str) -> Option<i64> {
        database.query_row(query, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn every_event_comes_back_with_its_names() {
        let directory = tempfile::tempdir().unwrap();
        let trail = directory.path().join("t.trail");
        small_trail(&trail).unwrap();
        let log = EventLog::open(&[trail]).unwrap();
        let (_guard, database) = database(&log);
        let mut select =
            database.prepare("SELECT case_id, seq, pid, call, start, dur, path, size, errno, flags, layer FROM events ORDER BY case_id, start, seq").unwrap();
        let mut rows = select.query([]).unwrap();
        let batch = log.read(0, Columns::ALL).unwrap();
        let names = log.names();
        for index in 0..batch.len {
            let (event, row) = (batch.event(index), rows.next().unwrap().unwrap());
            let text = |column: usize| row.get::<_, Option<String>>(column).unwrap();
            assert_eq!(row.get::<_, u32>(0).unwrap(), event.case.0);
            assert_eq!(row.get::<_, i64>(1).unwrap() as u64, event.seq);
            assert_eq!(row.get::<_, u32>(2).unwrap(), event.pid.0);
            assert_eq!(text(3).as_deref(), Some(names.call(event.call)));
            assert_eq!(row.get::<_, i64>(4).unwrap(), event.start.0);
            assert_eq!(row.get::<_, Option<i64>>(5).unwrap(), event.dur.get().map(|span| span.0));
            assert_eq!(text(6).as_deref(), names.path(event.path));
            assert_eq!(row.get::<_, Option<i64>>(7).unwrap(), event.size.get());
            assert_eq!(text(8).as_deref(), names.errno(event.errno));
            assert_eq!(text(9).as_deref(), names.flags(event.flags));
            assert_eq!(text(10).as_deref(), Some(event.layer.name()));
        }
        assert!(rows.next().unwrap().is_none());
        assert_eq!(number(&database, "SELECT count(*) FROM processes"), Some(3));
        assert_eq!(number(&database, "SELECT count(*) FROM cases JOIN runs USING (run)"), Some(2));
        assert_eq!(number(&database, "SELECT events FROM runs"), Some(40));
        let sound: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
    }

    #[test]
    fn hostile_names_are_values_and_unknown_is_null() {
        let path = "/x'); DROP TABLE cases; --\u{1b}[2J\n\"";
        let mut log = MemoryLog::new(vec![Case::default()]);
        let (call, file) = (log.call("read'"), log.path(path));
        log.push(Event { call, path: file, start: Timestamp(1), size: Nullable::NULL, ..Event::default() });
        let usage = Usage { storage_read: Some(u64::MAX), ..Usage::default() };
        let env = vec!["A=\"1\"".to_owned()];
        log.push_process(Process { case: CaseId(0), pid: Pid(1), usage, env, ..Process::default() });
        let (_guard, database) = database(&log.build());
        let found: (String, String, Option<i64>) = database
            .query_row("SELECT path, call, size FROM events", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .unwrap();
        assert_eq!(found, (path.to_owned(), "read'".to_owned(), None));
        let process: (Option<i64>, String, String) = database
            .query_row("SELECT user, storage_read, env ->> 0 FROM processes", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .unwrap();
        assert_eq!(process, (None, u64::MAX.to_string(), "A=\"1\"".to_owned()));
        assert_eq!(number(&database, "SELECT count(*) FROM cases"), Some(1));
    }

    #[test]
    fn a_directory_is_no_target_and_an_old_file_is_replaced() {
        let log = MemoryLog::new(vec![Case::default()]).build();
        let directory = tempfile::tempdir().unwrap();
        let error = export(&log, directory.path(), &|_, _| ()).unwrap_err();
        assert!(matches!(error, SqliteError::Special { .. }), "{error}");
        let target = directory.path().join("old");
        std::fs::write(&target, "old").unwrap();
        assert_eq!(export(&log, &target, &|_, _| ()).unwrap(), 0);
        assert!(std::fs::read(&target).unwrap().starts_with(b"SQLite format 3"));
    }
}
