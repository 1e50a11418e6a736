//! The tables, views and functions.

use crate::util::{Dir, succeeds};
use iotrail_trail::{POSITION_COLUMNS, Table, schema};

#[test]
fn tables_have_the_columns_of_the_format_and_all_rows() {
    let dir = Dir::small();
    for (table, rows) in
        [(Table::Events, "40"), (Table::Cases, "2"), (Table::Processes, "3"), (Table::Files, "5")]
    {
        let name = table.name();
        assert_eq!(dir.rows(&format!("SELECT count(*) FROM {name}")), [rows], "{name}");
        let text = succeeds(&dir.sql(&["t.trail", &format!("SELECT * FROM {name} LIMIT 0"), "--csv"]));
        let mut columns: Vec<String> = schema(table).iter().map(|column| column.name.to_owned()).collect();
        columns.extend((table == Table::Cases).then(|| "run".to_owned()));
        columns.extend(POSITION_COLUMNS.map(str::to_owned).into_iter().filter(|_| table == Table::Events));
        assert_eq!(text, columns.join(",") + "\n", "{name}");
        assert_eq!(dir.rows(&format!("SELECT * FROM {name}")).len().to_string(), rows);
    }
}

#[test]
fn runs_say_what_trail_json_says() {
    let rows = Dir::small()
        .rows("SELECT run, trail, source, cases, processes, events, bytes_read, first_case FROM runs");
    assert_eq!(rows, ["0,t,strace,2,3,40,2000,0"]);
}

#[test]
fn several_trails_are_one_log() {
    let dir = Dir::small();
    iotrail_trail::memory::small_trail(&dir.path("u.trail")).expect("a trail");
    let query =
        "SELECT case_id, run, count(*) AS n FROM events JOIN cases USING (case_id) GROUP BY ALL ORDER BY 1";
    let text = succeeds(&dir.sql(&["t.trail", "u.trail", query, "--csv"]));
    assert_eq!(text, "case_id,run,n\n0,0,20\n1,0,20\n2,1,20\n3,1,20\n");
    let paths = succeeds(&dir.sql(&["t.trail", "u.trail", "SELECT count(*) FROM files", "--csv"]));
    assert_eq!(paths.lines().nth(1), Some("5"), "a path is one file of the log");
}

#[test]
fn conditions_columns_and_their_order_are_those_of_the_query() {
    let dir = Dir::small();
    let last = dir.rows("SELECT size, call, case_id FROM events WHERE seq = 39");
    assert_eq!(last, ["100,read,1"]);
    assert_eq!(dir.rows("SELECT count(*) FROM events WHERE case_id = 1"), ["20"]);
    assert_eq!(dir.rows("SELECT count(*) FROM events WHERE case_id = 7"), ["0"]);
    assert_eq!(dir.rows("SELECT count(*) FROM events WHERE start < '1970-01-01T00:00:01.000010Z'"), ["10"]);
    assert_eq!(dir.rows("SELECT count(*) FROM events WHERE start < '1960-01-01'"), ["0"]);
    assert_eq!(
        dir.rows("SELECT errno, count(*) FROM events GROUP BY errno ORDER BY 2"),
        ["ENOENT,10", ",30"]
    );
}

#[test]
fn positions_are_where_transfers_began_and_ended() {
    let dir = Dir::small();
    let query = "SELECT offset_before, offset_after FROM events WHERE size > 0 ORDER BY seq LIMIT 2";
    assert_eq!(
        dir.rows(query),
        dir.rows("SELECT \"offset\", \"offset\" + size FROM events WHERE size > 0 ORDER BY seq LIMIT 2")
    );
    assert_eq!(dir.rows("SELECT count(*) FROM events WHERE call = 'close' AND offset_before >= 0"), ["0"]);
}

#[test]
fn functions_are_those_of_the_mapping() {
    let dir = Dir::small();
    let row = dir.rows(
        "SELECT activity('read', '/usr/lib/a/b'), activity('call', 'read', '/x'), activity('template', 'write', '/a/out.0001.dat'), \
         dir('/usr/lib/a'), dir('/usr/lib/a', 1), template('/a/rank7'), ext('/a/libc.so.6'), ext('/a/b'), \
         canonical('pipe:[77]'), activity('brk', NULL), activity('read', NULL)",
    );
    assert_eq!(row, ["read:/usr/lib,read,write:/a/out.{}.dat,/usr/lib,/usr,/a/rank{},.so,,pipe,,read:?"]);
    let groups =
        dir.rows("SELECT activity('file', call, path) AS a, count(*) FROM events GROUP BY a ORDER BY a");
    assert_eq!(groups.len(), 10);
    assert_eq!(groups[0], "openat:/data/0,4");
}

#[test]
fn the_same_question_has_the_same_answer_to_the_byte() {
    let dir = Dir::small();
    let ask = || {
        succeeds(&dir.sql(&["t.trail", "SELECT path, avg(dur), count(*) FROM events GROUP BY path", "--csv"]))
    };
    let first = ask();
    (0..3).for_each(|_| assert_eq!(ask(), first));
}

#[test]
fn what_there_is_can_be_listed() {
    let dir = Dir::small();
    let tables = dir.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'");
    for table in ["cases", "events", "files", "processes", "runs"] {
        assert!(tables.iter().any(|name| name == table), "{table}");
    }
    for table in iotrail_stats::ProfileTable::ALL {
        let name = format!("stat_{}", table.name().replace('-', "_"));
        assert!(tables.contains(&name), "{name}");
        dir.rows(&format!("SELECT * FROM {name}"));
    }
    assert!(dir.rows("DESCRIBE events").iter().any(|row| row.starts_with("errno,")));
    assert!(!dir.rows("SHOW TABLES").is_empty());
    assert!(!dir.rows("SHOW COLUMNS FROM cases").is_empty());
    assert!(!dir.rows("EXPLAIN SELECT * FROM events").is_empty());
}
