//! What answers look like.

use crate::util::{Dir, fails, succeeds};
use std::process::Stdio;

const VALUES: &str = "SELECT * FROM (VALUES (1, 'a', CAST(NULL AS TEXT)), (2, 'b,\"c\"', '')) AS t(n, text, other) \
                      ORDER BY n";

#[test]
fn a_table_for_reading() {
    let text = succeeds(&Dir::small().sql(&["t.trail", VALUES]));
    assert_eq!(text, "n  text   other\n1  a      NULL\n2  b,\"c\"\n");
}

#[test]
fn csv_tells_null_from_an_empty_text() {
    let text = succeeds(&Dir::small().sql(&["t.trail", VALUES, "--csv"]));
    assert_eq!(text, "n,text,other\n1,a,\n2,\"b,\"\"c\"\"\",\"\"\n");
}

#[test]
fn json_lines_state_null() {
    let text = succeeds(&Dir::small().sql(&["t.trail", VALUES, "--json"]));
    assert_eq!(
        text,
        "{\"n\":1,\"text\":\"a\",\"other\":null}\n{\"n\":2,\"text\":\"b,\\\"c\\\"\",\"other\":\"\"}\n"
    );
}

#[test]
fn columns_of_the_same_name_are_told_apart() {
    let query = "SELECT a.pid, b.pid FROM processes a JOIN processes b USING (case_id) WHERE a.pid = 10 AND b.pid = 11";
    let text = succeeds(&Dir::small().sql(&["t.trail", query, "--json"]));
    assert_eq!(text, "{\"pid\":10,\"pid_2\":11}\n");
}

#[test]
fn the_name_of_a_file_says_its_form() {
    let dir = Dir::small();
    for (file, begin) in
        [("x.csv", "n,text"), ("x.jsonl", "{\"n\":1"), ("x.parquet", "PAR1"), ("x.txt", "n  text")]
    {
        succeeds(&dir.sql(&["t.trail", VALUES, "-o", file]));
        let bytes = std::fs::read(dir.path(file)).expect("a file");
        assert!(bytes.starts_with(begin.as_bytes()), "{file}");
    }
    assert_eq!(dir.names(), ["t.trail", "x.csv", "x.jsonl", "x.parquet", "x.txt"]);
}

#[test]
fn parquet_holds_what_the_query_answered() {
    use datafusion::arrow::util::pretty::pretty_format_batches;
    use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let dir = Dir::small();
    let query = "SELECT call, size, start FROM events WHERE size IS NOT NULL ORDER BY start LIMIT 1";
    succeeds(&dir.sql(&["t.trail", query, "-o", "x.parquet"]));
    let file = std::fs::File::open(dir.path("x.parquet")).expect("a file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet").build().expect("rows");
    let batches: Vec<_> = reader.collect::<Result<_, _>>().expect("rows");
    let table = pretty_format_batches(&batches).expect("a table").to_string();
    assert!(table.contains("| read | 100  | 1970-01-01T00:00:01.000002Z |"), "{table}");
}

#[test]
fn a_failed_query_leaves_no_file_and_an_old_one_as_it_was() {
    let dir = Dir::small();
    std::fs::write(dir.path("x.csv"), "old").expect("a file");
    fails(&dir.sql(&["t.trail", "SELECT 1 / (count(*) - 40) FROM events", "-o", "x.csv"]));
    assert_eq!(std::fs::read_to_string(dir.path("x.csv")).expect("a file"), "old");
    assert_eq!(dir.names(), ["t.trail", "x.csv"]);
}

#[test]
fn several_statements_come_one_after_another() {
    let dir = Dir::small();
    let text = succeeds(&dir.sql(&["t.trail", "SELECT 1 AS a; SELECT 2 AS b;", "--csv"]));
    assert_eq!(text, "a\n1\n\nb\n2\n");
    let said = fails(&dir.sql(&["t.trail", "SELECT 1; SELECT 2", "-o", "x.parquet"]));
    assert!(said.contains("2 statements do not fit into one Parquet file"), "{said}");
}

#[test]
fn statements_come_from_a_file_or_from_stdin() {
    use std::io::Write;
    let dir = Dir::small();
    std::fs::write(dir.path("q.sql"), "-- a question\nSELECT count(*) AS n\nFROM events;\n").expect("a file");
    assert_eq!(succeeds(&dir.sql(&["t.trail", "-f", "q.sql", "--csv"])), "n\n40\n");
    let mut command = dir.command(&["t.trail", "--csv"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program runs");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(b"SELECT count(*) AS n FROM cases").expect("the program reads");
    drop(pipe);
    let output = child.wait_with_output().expect("an end");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "n\n2\n");
}

#[test]
fn long_answers_are_counted_where_they_are_not_shown() {
    let text =
        succeeds(&Dir::small().sql(&["t.trail", "SELECT seq FROM events ORDER BY seq", "--rows", "2"]));
    assert!(text.starts_with("seq\n  0\n  1\n... and 38 more rows"), "{text}");
}

#[test]
fn errors_say_what_is_wrong() {
    let dir = Dir::small();
    for (query, said) in [
        ("SELEC 1", "SELEC"),
        ("SELECT nonsense FROM events", "nonsense"),
        ("SELECT * FROM nothing", "nothing"),
        ("SELECT dir(1, 2, 3)", "dir(path) or dir(path, levels)"),
        ("SELECT activity('dirx', call, path) FROM events", "`dirx` is not a mapping that a query can use"),
    ] {
        let error = dir.refused(query);
        assert!(error.contains(said), "{query}: {error}");
    }
    let error = fails(&dir.sql(&["t.trail", ";"]));
    assert!(error.contains("there is no statement to run"), "{error}");
    let error = fails(&dir.sql(&["none.trail", "SELECT 1"]));
    assert!(error.contains("none.trail"), "{error}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let dir = Dir::small();
    let query = "SELECT * FROM generate_series(1, 100000000)";
    let mut child = dir
        .command(&["t.trail", query, "--csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[allow(clippy::zombie_processes, reason = "the loop goes on until it has waited")]
fn an_interrupted_query_ends_at_once_and_leaves_nothing() {
    let dir = Dir::small();
    let query =
        "SELECT sum(a.value * b.value) FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b";
    // Its first row is written before the long query begins, so the signal finds it at work.
    let query = format!("SELECT 'begun' AS a; {query}");
    let mut command = dir.command(&["t.trail", &query, "--csv", "-o", "x.csv"]);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it runs");
    let pid = child.id().to_string();
    // Signals before it listens would end it by default; it listens once the temporary output file is there.
    let mut ended = None;
    while ended.is_none() {
        if dir.names().iter().any(|name| name.starts_with(".iotrail-")) {
            let kill = std::process::Command::new("kill").args(["-s", "INT", &pid]).status().expect("kill");
            assert!(kill.success());
        }
        std::thread::yield_now();
        ended = child.try_wait().expect("a status");
    }
    assert_eq!(ended.and_then(|status| status.code()), Some(130));
}
