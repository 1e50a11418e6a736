//! The small tables: `runs`, `cases`, `processes`, `files`.

use crate::value::{maybe_unsigned, unsigned};
use iotrail_model::{Case, FileRow, Process};
use iotrail_trail::{DistinctFile, EventLog};
use rusqlite::types::Value;
use rusqlite::{Connection, Result, params};

pub(crate) fn runs(database: &Connection, log: &EventLog) -> Result<()> {
    let mut insert = database.prepare("INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?;
    for (run, trail) in log.trails().iter().enumerate() {
        let meta = trail.meta();
        let timed = trail.cases().iter().all(Case::has_times);
        insert.execute(params![
            run as i64,
            trail.name(),
            meta.capture.source,
            meta.capture.command,
            meta.capture.host,
            meta.tool_version,
            meta.totals.start.filter(|_| timed),
            meta.totals.end.filter(|_| timed),
            unsigned(meta.totals.events),
            unsigned(meta.coverage.lost),
        ])?;
    }
    Ok(())
}

pub(crate) fn cases(database: &Connection, log: &EventLog) -> Result<()> {
    let mut insert =
        database.prepare("INSERT INTO cases VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?;
    for case in log.cases() {
        let Case { id, name, label, clock, source, interleaved, resolution, numbered_with } = case;
        let clock = clock.name();
        insert.execute(params![
            id.0,
            log.trail_number(*id) as i64,
            name.cid,
            name.host,
            name.rid,
            label,
            clock,
            source,
            interleaved,
            resolution.known(),
            numbered_with.map(|with| with.0)
        ])?;
    }
    Ok(())
}

pub(crate) fn processes(database: &Connection, processes: &[Process]) -> Result<()> {
    let places: Vec<String> = (1..=25).map(|place| format!("?{place}")).collect();
    let mut insert = database.prepare(&format!("INSERT INTO processes VALUES ({})", places.join(", ")))?;
    for process in processes {
        insert.execute(rusqlite::params_from_iter(process_values(process)))?;
    }
    Ok(())
}

fn process_values(process: &Process) -> [Value; 25] {
    let usage = &process.usage;
    let text = |value: &Option<String>| value.clone().map_or(Value::Null, Value::Text);
    let number = |value: Option<i64>| value.map_or(Value::Null, Value::Integer);
    let env = serde_json::Value::from(process.env.clone());
    [
        Value::Integer(process.case.0.into()),
        Value::Integer(process.pid.0.into()),
        number(process.ppid.map(|pid| pid.0.into())),
        number(process.start.map(|time| time.0)),
        number(process.end.map(|time| time.0)),
        number(process.exit_code.map(i64::from)),
        text(&process.signal),
        text(&process.exe),
        text(&process.cmdline),
        text(&process.cwd),
        Value::Integer(process.threads.into()),
        number(usage.user.map(|span| span.0)),
        number(usage.system.map(|span| span.0)),
        Value::Integer(process.bytes_read),
        Value::Integer(process.bytes_written),
        Value::Text(env.to_string()),
        maybe_unsigned(usage.minor_faults),
        maybe_unsigned(usage.major_faults),
        maybe_unsigned(usage.max_memory),
        maybe_unsigned(usage.storage_read),
        maybe_unsigned(usage.storage_written),
        maybe_unsigned(usage.voluntary_switches),
        maybe_unsigned(usage.involuntary_switches),
        number(usage.io_delay.map(|span| span.0)),
        number(process.cmdline_cut.map(i64::from)),
    ]
}

pub(crate) fn files(database: &Connection, files: &[FileRow]) -> Result<()> {
    let mut insert = database.prepare("INSERT INTO files VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    for (id, file) in files.iter().enumerate() {
        let FileRow { path, canonical, kind, device, inode, size, .. } = file;
        let (device, inode) = (maybe_unsigned(*device), maybe_unsigned(*inode));
        insert.execute(params![id as i64, path, canonical, kind, device, inode, size])?;
    }
    Ok(())
}

/// The files behind the names; `path_id` is the row of a name in `files`.
pub(crate) fn distinct_files(database: &Connection, files: &[DistinctFile]) -> Result<()> {
    let mut insert = database.prepare("INSERT INTO distinct_files VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    let mut name = database.prepare("INSERT INTO file_names VALUES (?1, ?2, ?3)")?;
    for (id, file) in files.iter().enumerate() {
        let (device, inode) = (maybe_unsigned(file.device), maybe_unsigned(file.inode));
        insert.execute(params![id as i64, file.path.0, file.kind, device, inode, file.birth, file.size])?;
        for known in &file.names {
            name.execute(params![id as i64, known.path.0, known.gone])?;
        }
    }
    Ok(())
}
