//! What must be followed so that wanted events are right.

use super::groups::{is_life, takes_descriptor};
use iotrail_model::calls::{ArgKind, CallSpec, Family, Makes, TABLE, Transfer};

/// The rows at which threads must stop so that those in `chosen` can be understood.
pub(super) fn followed(chosen: &[bool]) -> Vec<bool> {
    let wanted = |test: fn(&CallSpec) -> bool| {
        TABLE.iter().zip(chosen).any(|(spec, chosen)| *chosen && !is_life(spec) && test(spec))
    };
    let (names, moves) = (wanted(|spec| takes_descriptor(spec) || takes_path(spec)), wanted(uses_cursor));
    let requests = wanted(is_request);
    let rows = TABLE.iter().zip(chosen).map(|(spec, chosen)| {
        *chosen
            || is_life(spec)
            || changes_tracing(spec)
            || (names && gives_names(spec))
            || (moves && (uses_cursor(spec) || sends_descriptors(spec)))
            || (requests && submits(spec))
    });
    rows.collect()
}

fn takes_path(spec: &CallSpec) -> bool {
    spec.args.contains(&ArgKind::Path)
}

/// Decides what a descriptor or a relative path stands for.
fn gives_names(spec: &CallSpec) -> bool {
    const OTHERS: [&str; 10] = [
        "close",
        "close_range",
        "fcntl",
        "fcntl64",
        "chdir",
        "fchdir",
        "chroot",
        "pivot_root",
        "unshare",
        "setns",
    ];
    spec.makes == Makes::Descriptor || spec.args.contains(&ArgKind::FdPair) || OTHERS.contains(&spec.name)
}

/// Reads or writes at the cursor of a file, or moves it.
fn uses_cursor(spec: &CallSpec) -> bool {
    const AT_OFFSETS: [&str; 6] = ["pread64", "pread", "pwrite64", "pwrite", "preadv", "pwritev"];
    const SEEKS: [&str; 3] = ["lseek", "llseek", "_llseek"];
    let transfers = spec.family == Family::Data && spec.transfer != Transfer::None;
    (transfers && !AT_OFFSETS.contains(&spec.name)) || SEEKS.contains(&spec.name)
}

/// Sends descriptors to somebody who moves the cursors of their files.
fn sends_descriptors(spec: &CallSpec) -> bool {
    matches!(spec.name, "sendmsg" | "sendmmsg")
}

/// A request that a program hands to the kernel in memory.
fn is_request(spec: &CallSpec) -> bool {
    (spec.name.starts_with("io_uring_") || spec.name.starts_with("aio_")) && !submits(spec)
}

/// Submits requests, collects their completions, or shows where the queues lie.
fn submits(spec: &CallSpec) -> bool {
    const RINGS: [&str; 5] = ["io_uring_setup", "io_uring_enter", "io_uring_register", "mmap", "mmap2"];
    RINGS.contains(&spec.name) || (spec.family == Family::Async && spec.name.starts_with("io_"))
}

/// Interferes with the recording itself.
fn changes_tracing(spec: &CallSpec) -> bool {
    matches!(spec.name, "ptrace" | "seccomp" | "prctl")
}
