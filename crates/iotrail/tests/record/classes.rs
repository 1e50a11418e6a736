//! One test for each class of calls.

use crate::program::record;
use crate::truth::compare;

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
    if let Some(recorded) = record("population", &[], &["--same-core"]) {
        compare(recorded);
    }
}
