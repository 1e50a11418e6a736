//! `iotrail sql` finds its program, `iotrail export sqlite` writes what SQLite reads.

use crate::cli::util::{Dir, LS};
use std::os::unix::fs::PermissionsExt;

#[test]
fn sql_becomes_the_program_in_the_path_with_all_arguments() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("bin")).expect("a directory");
    dir.write("bin/iotrail-sql", "#!/bin/sh\nfor word; do echo \"<$word>\"; done; exit 7\n");
    let program = dir.path("bin/iotrail-sql");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    std::fs::copy(env!("CARGO_BIN_EXE_iotrail"), dir.path("iotrail"))
        .expect("a copy, beside which there is no other");
    let said = dir.shell(
        "PATH=\"$PWD/bin:$PATH\" ./iotrail -q sql --csv t.trail 'SELECT 1' -o x --json; echo \"status $?\"",
    );
    assert_eq!(
        said.succeeds().text(),
        "<--quiet>\n<--csv>\n<t.trail>\n<SELECT 1>\n<-o>\n<x>\n<--json>\nstatus 7\n"
    );
}

#[test]
fn without_the_program_sql_says_how_to_get_it() {
    let dir = Dir::new();
    std::fs::copy(env!("CARGO_BIN_EXE_iotrail"), dir.path("iotrail"))
        .expect("a copy, beside which there is no other");
    let said = dir.shell("PATH=/nowhere ./iotrail sql t.trail 'SELECT 1'").fails();
    assert!(said.contains("`make sql`") && said.contains("cargo install --path crates/sql"), "{said}");
}

#[test]
#[cfg(feature = "sqlite")]
fn export_sqlite_writes_a_database() {
    let dir = Dir::new();
    dir.command(["import", "-q", "-o", "t.trail", "-"]).input(LS).run().succeeds();
    dir.run(["export", "sqlite", "t.trail", "-o", "t.db", "-q"]).succeeds();
    let bytes = std::fs::read(dir.path("t.db")).expect("a file");
    assert!(bytes.starts_with(b"SQLite format 3"));
    let said = dir.run(["export", "sqlite", "t.trail", "-o", "/dev/null"]).fails();
    assert!(said.contains("is not a regular file"), "{said}");
}

#[test]
#[cfg(not(feature = "sqlite"))]
fn a_build_without_sqlite_says_which_has_it() {
    let dir = Dir::new();
    dir.command(["import", "-q", "-o", "t.trail", "-"]).input(LS).run().succeeds();
    let said = dir.run(["export", "sqlite", "t.trail", "-o", "t.db"]).fails();
    assert!(said.contains("make build FEATURES=sqlite"), "{said}");
    assert_eq!(dir.names(), ["t.trail"]);
}
