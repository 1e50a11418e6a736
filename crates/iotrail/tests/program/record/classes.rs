//! One test for each class of calls.

use crate::record::program::record;
use crate::record::truth::compare;

fn is_found_exactly(program: &str, compiler: &[&str]) {
    if let Some(recorded) = record(program, compiler, &[]) {
        compare(recorded);
    }
}

#[test]
fn transfers_cursors_and_copies_are_found_exactly() {
    is_found_exactly("transfers", &[]);
}

#[test]
fn calls_on_names_are_found_exactly() {
    is_found_exactly("names", &[]);
}

#[test]
fn syncs_locks_and_mappings_are_found_exactly() {
    is_found_exactly("storage", &[]);
}

#[test]
fn threads_and_processes_are_found_exactly() {
    is_found_exactly("population", &[]);
}

#[test]
fn pipes_sockets_and_what_has_only_a_name_are_found_exactly() {
    is_found_exactly("channels", &[]);
}

#[test]
fn linux_aio_is_found_exactly() {
    is_found_exactly("aio", &[]);
}

#[test]
fn io_uring_is_found_exactly() {
    is_found_exactly("uring", &[]);
}

#[test]
fn static_programs_are_recorded_like_others() {
    for program in ["transfers", "population"] {
        is_found_exactly(program, &["-static"]);
    }
}

#[test]
fn on_one_core_the_same_is_found() {
    if let Some(recorded) = record("population", &[], &["--placement", "same"]) {
        compare(recorded);
    }
}

#[test]
fn what_the_kernel_fetches_by_itself_is_not_seen_and_said_so() {
    let Some(recorded) = record("polled", &[], &[]) else { return };
    assert_eq!(recorded.info["coverage"]["recording"]["polled_rings"], 1);
    compare(recorded);
}

#[test]
fn requests_are_of_the_family_of_the_calls_that_they_mirror() {
    let Some(recorded) = record("uring", &[], &["--calls", "data"]) else { return };
    let named = |call: &str, name: &str| {
        recorded
            .rows
            .iter()
            .any(|row| row.call == call && row.path.as_ref().is_some_and(|path| path.ends_with(name)))
    };
    assert!(named("io_uring_read", "/ring") && named("io_uring_read_fixed", "/fixed"));
    assert!(recorded.rows.iter().all(|row| !row.call.starts_with("io_uring_openat") && row.call != "openat"));
}
