//! The SQL behind each table of a profile: a second, independent way to the same figures.
//!
//! The dialect is what `iotrail sql` (DataFusion) and DuckDB have in common. Tables are those of a trail: `events`, `cases`,
//! `processes`, `files`. Groups are programs (`--by exe`), nothing is selected away. Percentiles are by nearest rank, the
//! smallest value whose place in the order is at least that share of all places, so no dialect's own function is needed.

use crate::table::ProfileTable;
use iotrail_model::calls::{CallSpec, TABLE, Transfer};

/// The queries behind `table`, with a comment that says what they do not cover.
#[must_use]
pub fn script(table: ProfileTable) -> String {
    let note = match table {
        ProfileTable::Phases => "-- Without the modes of files and processes, mappings and the page cache.\n",
        ProfileTable::Distributions => "-- Without the groups of files.\n",
        ProfileTable::Files => {
            "-- Without the order of accesses, their usual size and what was moved again. In the Parquet\n-- files themselves each trace has its own numbers of files.\n"
        }
        ProfileTable::Processes => {
            "-- Without the order of accesses, their usual size and what was moved again.\n"
        }
        ProfileTable::Throughput => {
            "-- In bins of a second; the profile chooses bins by the length of the log.\n"
        }
        ProfileTable::Calls | ProfileTable::GroupCalls => "",
    };
    let all = "-- Over all layers: of a log with several, read `events WHERE layer = 'syscall'` in place of `events`.\n";
    let layer = table.layer("that of the calls");
    format!("-- {} (layer: {layer})\n{all}{note}{};\n", table.name(), sql(table))
}

/// The query behind `table`; its columns are named as in the profile.
#[must_use]
pub fn sql(table: ProfileTable) -> String {
    match table {
        ProfileTable::Calls => calls("events", ""),
        ProfileTable::GroupCalls => format!("WITH {}\n{}", rows(), calls("grouped", "\"group\", ")),
        ProfileTable::Phases => format!("WITH {},\n{PHASES}", rows()),
        ProfileTable::Distributions => format!("WITH {},\n{DISTRIBUTIONS}", rows()),
        ProfileTable::Files => files(),
        ProfileTable::Processes => format!("WITH {}\n{PROCESSES}", rows()),
        ProfileTable::Throughput => format!("WITH {}\n{THROUGHPUT}", rows()),
    }
}

/// Statistics of calls of `table`; `group` is empty or names a column and ends with a comma.
fn calls(table: &str, group: &str) -> String {
    let window = if group.is_empty() { "()" } else { "(PARTITION BY \"group\")" };
    format!(
        "SELECT {group}call, count(*) AS count,
  count(*) * 1.0 / sum(count(*)) OVER {window} AS count_share,
  count(errno) AS failures,
  sum(dur) AS total_ns,
  sum(dur) * 1.0 / sum(sum(dur)) OVER {window} AS total_share,
  count(dur) AS timed, avg(dur) AS mean_ns, stddev_pop(dur) AS sd_ns, min(dur) AS min_ns,
  min(CASE WHEN place * 100 >= known * 50 THEN dur END) AS p50_ns,
  min(CASE WHEN place * 100 >= known * 95 THEN dur END) AS p95_ns,
  min(CASE WHEN place * 100 >= known * 99 THEN dur END) AS p99_ns,
  max(dur) AS max_ns,
  coalesce(sum(size), 0) AS bytes
FROM (
  SELECT {group}call, errno, dur, size,
    row_number() OVER (PARTITION BY {group}call ORDER BY dur NULLS LAST) AS place,
    count(dur) OVER (PARTITION BY {group}call) AS known
  FROM {table}
) AS ranked
GROUP BY {group}call
ORDER BY {group}total_ns DESC NULLS LAST, count DESC, call"
    )
}

/// Processes from birth to death, and events with their process, its group, and what they read and wrote. Where each thread has
/// a trace of its own, the process of an event is in another case of the same command and host.
fn rows() -> String {
    let (reads, writes) =
        (names(&[Transfer::Read, Transfer::Copy]), names(&[Transfer::Write, Transfer::Copy]));
    let requests = quoted(CallSpec::is_request);
    format!(
        "images AS (
  SELECT *, lag(CASE WHEN \"end\" IS NOT NULL AND exit_code IS NULL AND signal IS NULL THEN 0 ELSE 1 END, 1, 1)
    OVER (PARTITION BY case_id, pid ORDER BY start) AS begins
  FROM processes
),
chains AS (
  SELECT *, sum(begins) OVER (PARTITION BY case_id, pid ORDER BY start ROWS UNBOUNDED PRECEDING) AS life
  FROM images
),
ordered AS (
  SELECT *, row_number() OVER (PARTITION BY case_id, pid, life ORDER BY start DESC) AS from_last FROM chains
),
lives AS (
  SELECT case_id, pid, life, min(start) AS birth,
    max(CASE WHEN from_last = 1 AND (exit_code IS NOT NULL OR signal IS NOT NULL) THEN \"end\" END) AS death,
    coalesce(max(CASE WHEN from_last = 1 THEN regexp_replace(exe, '.*/', '') END), '(none)') AS \"group\",
    sum(storage_read) AS storage_read, sum(storage_written) AS storage_written, sum(\"user\" + \"system\") AS cpu_ns
  FROM ordered GROUP BY case_id, pid, life
),
spans AS (
  SELECT *, lead(birth) OVER (PARTITION BY case_id, pid ORDER BY life) AS next FROM lives
),
own AS (
  SELECT DISTINCT case_id, pid FROM processes
),
homes AS (
  SELECT c.cid, c.host, o.pid, min(o.case_id) AS home FROM own AS o JOIN cases AS c ON c.case_id = o.case_id
  GROUP BY c.cid, c.host, o.pid
),
placed AS (
  SELECT e.*, CASE WHEN o.pid IS NULL THEN coalesce(h.home, e.case_id) ELSE e.case_id END AS home
  FROM events AS e LEFT JOIN own AS o ON o.case_id = e.case_id AND o.pid = e.pid
  JOIN cases AS c ON c.case_id = e.case_id
  LEFT JOIN homes AS h ON h.pid = e.pid AND coalesce(h.cid, '') = coalesce(c.cid, '')
    AND coalesce(h.host, '') = coalesce(c.host, '')
),
grouped AS (
  SELECT e.home AS case_id, e.pid, s.life, coalesce(s.\"group\", '(none)') AS \"group\",
    e.call, e.start, e.dur, e.size, e.errno, e.call IN ({requests}) AS is_request,
    CASE WHEN e.call IN ({reads}) THEN coalesce(e.size, 0) ELSE 0 END AS bytes_read,
    CASE WHEN e.call IN ({writes}) THEN coalesce(e.size, 0) ELSE 0 END AS bytes_written
  FROM placed AS e LEFT JOIN spans AS s ON e.home = s.case_id AND e.pid = s.pid
    AND (s.life = 1 OR e.start >= s.birth) AND (s.next IS NULL OR e.start < s.next)
)"
    )
}

const PHASES: &str = "called AS (
  SELECT \"group\", count(*) AS calls, sum(bytes_read) AS bytes_read, sum(bytes_written) AS bytes_written,
    sum(CASE WHEN is_request THEN 0 * dur ELSE dur END) AS call_ns, sum(CASE WHEN is_request THEN dur ELSE 0 * dur END) AS request_ns
  FROM grouped GROUP BY \"group\"
),
lived AS (
  SELECT \"group\", count(*) AS jobs, sum(storage_read) AS storage_read, sum(storage_written) AS storage_written,
    sum(cpu_ns) AS cpu_ns, min(birth) AS first
  FROM lives GROUP BY \"group\"
)
SELECT coalesce(lived.\"group\", called.\"group\") AS \"group\", coalesce(jobs, 0) AS jobs, coalesce(calls, 0) AS calls,
  coalesce(bytes_read, 0) AS bytes_read, coalesce(bytes_written, 0) AS bytes_written,
  storage_read, storage_written, call_ns, request_ns, cpu_ns
FROM lived FULL JOIN called ON lived.\"group\" = called.\"group\"
ORDER BY first, 1";

const DISTRIBUTIONS: &str = "moved AS (
  SELECT case_id, pid, life, sum(bytes_read) AS bytes_read, sum(bytes_written) AS bytes_written
  FROM grouped GROUP BY case_id, pid, life
),
totals AS (
  SELECT lives.*, coalesce(bytes_read, 0) AS bytes_read, coalesce(bytes_written, 0) AS bytes_written
  FROM lives LEFT JOIN moved ON lives.case_id = moved.case_id AND lives.pid = moved.pid AND lives.life = moved.life
),
vals AS (
  SELECT 'latency' AS quantity, call AS series, dur AS value FROM events WHERE dur IS NOT NULL
  UNION ALL SELECT 'read-length', \"group\", bytes_read FROM grouped WHERE bytes_read > 0
  UNION ALL SELECT 'write-length', \"group\", bytes_written FROM grouped WHERE bytes_written > 0
  UNION ALL SELECT 'process-read', \"group\", bytes_read FROM totals
  UNION ALL SELECT 'process-written', \"group\", bytes_written FROM totals
),
counted AS (
  SELECT quantity, series, value, count(*) AS count FROM vals GROUP BY quantity, series, value
)
SELECT quantity, series, value,
  sum(count) OVER (PARTITION BY quantity, series ORDER BY value ROWS UNBOUNDED PRECEDING) AS not_larger
FROM counted ORDER BY quantity, series, value";

const PROCESSES: &str = "SELECT * FROM (
SELECT case_id, pid, life, \"group\",
  sum(CASE WHEN bytes_read > 0 THEN 1 ELSE 0 END) AS reads,
  sum(CASE WHEN bytes_written > 0 THEN 1 ELSE 0 END) AS writes,
  sum(bytes_read) AS bytes_read, sum(bytes_written) AS bytes_written
FROM grouped WHERE life IS NOT NULL
GROUP BY case_id, pid, life, \"group\"
) AS moved WHERE bytes_read + bytes_written > 0 ORDER BY bytes_read + bytes_written DESC, case_id, pid, life";

const THROUGHPUT: &str =
    "SELECT \"group\", date_trunc('second', CAST(start AS TIMESTAMP WITH TIME ZONE)) AS bin,
  sum(bytes_read) AS bytes_read, sum(bytes_written) AS bytes_written, count(*) AS calls
FROM grouped GROUP BY \"group\", date_trunc('second', CAST(start AS TIMESTAMP WITH TIME ZONE))
ORDER BY \"group\", bin";

/// Bytes by file, which is called by the shortest of the names that it kept: what a copy between descriptors writes goes to
/// its second file.
fn files() -> String {
    let (reads, writes) = (names(&[Transfer::Read, Transfer::Copy]), names(&[Transfer::Write]));
    let copies = names(&[Transfer::Copy]);
    format!(
        "WITH labels AS (
  SELECT file, path FROM (
    SELECT file, path, kind, row_number() OVER (
      PARTITION BY file ORDER BY coalesce(gone, false), character_length(path), path) AS place
    FROM files WHERE kind IN ('file', 'block') OR (kind IS NULL AND (path LIKE '/%'
        OR path NOT IN ('', 'pipe', 'pipe:', 'socket', 'socket:') AND path NOT LIKE 'anon_inode:%'
        AND path NOT LIKE 'memfd:%' AND path NOT LIKE 'pid:%' AND path NOT LIKE '%:[%]'))
  ) AS numbered WHERE place = 1
)
SELECT * FROM (
SELECT min(path) AS path, sum(reads) AS reads, sum(writes) AS writes,
  sum(bytes_read) AS bytes_read, sum(bytes_written) AS bytes_written
FROM (
  SELECT file, 1 AS reads, 0 AS writes, size AS bytes_read, 0 AS bytes_written
  FROM events WHERE size > 0 AND call IN ({reads})
  UNION ALL SELECT file, 0, 1, 0, size FROM events WHERE size > 0 AND call IN ({writes})
  UNION ALL SELECT file2, 0, 1, 0, size FROM events WHERE size > 0 AND call IN ({copies})
) AS accesses JOIN labels USING (file)
GROUP BY file
) AS moved ORDER BY bytes_read + bytes_written DESC, path"
    )
}

/// The names of the calls that move data so, as a list of texts.
fn names(transfers: &[Transfer]) -> String {
    quoted(|spec| transfers.contains(&spec.transfer))
}

/// The names of calls as a list of texts.
fn quoted(is_meant: impl Fn(&CallSpec) -> bool) -> String {
    let calls = TABLE.iter().filter(|spec| is_meant(spec));
    calls.map(|spec| format!("'{}'", spec.name)).collect::<Vec<_>>().join(", ")
}
