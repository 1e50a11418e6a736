//! Which mapped file a call on memory acts on.

use crate::script::{CWD, Script, fd, path, symbols, value};
use iotrail_model::raw::{Arg, Return};

const BASE: i64 = 0x7f00_0000_0000;
const PAGE: i64 = 4096;
const THREAD: &str = "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD";

impl Script {
    /// Maps `pages` pages of descriptor `file` to page `at`, beginning with page `from` of the file.
    fn map(self, file: i32, at: i64, pages: i64, from: i64) -> Self {
        let flags = [symbols("PROT_READ"), symbols("MAP_SHARED|MAP_FIXED")];
        let args =
            [place(at), Arg::Int(pages * PAGE - 7), flags[0], flags[1], fd(file), Arg::Int(from * PAGE)];
        self.call("mmap", &args, value(BASE + at * PAGE))
    }

    fn map_anonymous(self, at: i64, pages: i64) -> Self {
        let flags = [symbols("PROT_READ"), symbols("MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS")];
        let args = [place(at), Arg::Int(pages * PAGE), flags[0], flags[1], fd(-1), Arg::Int(0)];
        self.call("mmap", &args, value(BASE + at * PAGE))
    }

    fn unmap(self, at: i64, pages: i64) -> Self {
        self.call("munmap", &[place(at), Arg::Int(pages * PAGE)], value(0))
    }

    fn remap(self, at: i64, pages: i64, to: i64, new_pages: i64, flags: &str) -> Self {
        let args = [place(at), Arg::Int(pages * PAGE), Arg::Int(new_pages * PAGE), symbols(flags), place(to)];
        self.call("mremap", &args, value(BASE + to * PAGE))
    }

    /// Path and page of the file that msync finds at page `at`.
    fn at(self, at: i64, pages: i64, expected: Option<(&str, i64)>) -> Self {
        let script = self.call("msync", &[place(at), Arg::Int(pages * PAGE), symbols("MS_SYNC")], value(0));
        let found = script.path().zip(script.offset().map(|offset| offset / PAGE));
        assert_eq!(found, expected);
        script
    }
}

fn place(page: i64) -> Arg<'static> {
    Arg::Int(BASE + page * PAGE)
}

#[test]
fn calls_on_memory_name_the_file_that_is_mapped_there() {
    let script = Script::new().open("/a", 3).map(3, 0, 10, 5).close(3).open("/b", 3);
    let script = script.at(2, 1, Some(("/a", 7))).at(20, 5, None);
    let advice = [place(1), Arg::Int(PAGE), symbols("MADV_WILLNEED")];
    let script = script.call("madvise", &advice, value(0));
    assert_eq!((script.path(), script.offset()), (Some("/a"), Some(6 * PAGE)));
    assert_eq!((script.last().requested, script.last().size, script.last().fd), (None, None, None));
    assert_eq!(script.last().flags.as_deref(), Some("MADV_WILLNEED"));
    let script = script.unmap(0, 4);
    assert_eq!((script.path(), script.offset()), (Some("/a"), Some(5 * PAGE)));
    let script = script.at(2, 1, None).at(2, 3, Some(("/a", 9))).at(9, 1, Some(("/a", 14))).at(10, 1, None);
    assert_eq!(script.summary().file_mappings, 1);
}

#[test]
fn the_memory_of_a_ring_is_no_file() {
    let setup = [Arg::Int(8), Arg::Null];
    let script = Script::new().call("io_uring_setup", &setup, value(3)).map(3, 0, 2, 0);
    assert_eq!(script.path(), Some("anon_inode:[io_uring]"));
    assert_eq!(script.summary().file_mappings, 0);
}

#[test]
fn mapping_tells_file_and_offset_and_moves_no_bytes() {
    let script = Script::new().open("/a", 3).map(3, 0, 2, 3);
    assert_eq!((script.path(), script.offset(), script.last().fd), (Some("/a"), Some(3 * PAGE), Some(3)));
    assert_eq!((script.last().requested, script.last().size), (None, None));
}

#[test]
fn anonymous_memory_has_neither_path_nor_offset() {
    let script = Script::new().open("/a", 3).map(3, 0, 10, 0).map_anonymous(4, 2);
    assert_eq!((script.path(), script.offset()), (None, None));
    let script = script.at(4, 2, None).at(4, 3, Some(("/a", 6))).at(0, 10, Some(("/a", 0)));
    let flags = [symbols("PROT_READ"), symbols("MAP_PRIVATE|MAP_ANONYMOUS")];
    let odd = [Arg::Null, Arg::Int(PAGE), flags[0], flags[1], fd(3), Arg::Int(PAGE)];
    let script = script.call("mmap", &odd, value(BASE));
    assert_eq!((script.path(), script.offset()), (None, None));
    assert_eq!(script.at(0, 1, None).summary().file_mappings, 1);
}

#[test]
fn a_mapping_over_another_hides_it() {
    let script = Script::new().open("/a", 3).open("/b", 4).map(3, 0, 10, 0).map(4, 3, 2, 100);
    let script = script.at(2, 1, Some(("/a", 2))).at(3, 1, Some(("/b", 100))).at(4, 1, Some(("/b", 101)));
    script.at(5, 1, Some(("/a", 5)));
}

#[test]
fn a_failed_call_changes_nothing() {
    let failed = Return::Failed(b"EINVAL");
    let script = Script::new().open("/a", 3).map(3, 0, 4, 0);
    let script = script.call("munmap", &[place(0), Arg::Int(PAGE)], failed);
    assert_eq!(script.path(), Some("/a"));
    script.at(0, 1, Some(("/a", 0)));
}

#[test]
fn moved_mappings_keep_their_file() {
    let script = Script::new().open("/a", 3).map(3, 0, 4, 10).remap(0, 4, 100, 8, "MREMAP_MAYMOVE");
    assert_eq!((script.path(), script.offset()), (Some("/a"), Some(10 * PAGE)));
    let script = script.at(0, 4, None).at(107, 1, Some(("/a", 17))).at(108, 1, None);
    let script = script.remap(100, 8, 100, 2, "0").at(101, 1, Some(("/a", 11))).at(102, 1, None);
    let script = script.remap(100, 2, 200, 2, "MREMAP_MAYMOVE|MREMAP_DONTUNMAP");
    let script = script.at(100, 1, Some(("/a", 10))).at(200, 1, Some(("/a", 10)));
    let script = script.remap(101, 0, 300, 3, "MREMAP_MAYMOVE");
    script.at(302, 1, Some(("/a", 13))).at(101, 1, Some(("/a", 11)));
}

#[test]
fn threads_and_vforked_children_share_memory_and_others_copy_it() {
    let script = Script::new().open("/a", 3).map(3, 0, 4, 0).clone(THREAD, 101).by(101).unmap(0, 1);
    let script = script.by(100).at(0, 1, None).entered("vfork", &[]).created(102).by(102).unmap(1, 1);
    let script = script.exec("/bin/x", "x").at(2, 1, None).by(100).call("vfork", &[], value(102));
    let script = script.at(1, 1, None).at(2, 1, Some(("/a", 2))).fork(103).by(103).unmap(2, 1).at(2, 1, None);
    script.by(100).at(2, 1, Some(("/a", 2)));
}

#[test]
fn memory_freed_in_flight_may_be_used_at_once() {
    let script = Script::new().open("/a", 3).open("/b", 4).map(3, 0, 4, 0).clone(THREAD, 101);
    let args = [place(0), Arg::Int(4 * PAGE)];
    let script =
        script.entered("munmap", &args).by(101).map(4, 0, 1, 0).by(100).call("munmap", &args, value(0));
    assert_eq!((script.path(), script.offset()), (Some("/a"), Some(0)));
    script.at(0, 1, Some(("/b", 0))).at(1, 3, None);
}

#[test]
fn mapped_files_keep_their_names_when_names_are_forgotten() {
    let mut script = Script::new().open("/a", 3).map(3, 0, 4, 0).close(3);
    for number in 0..3000 {
        script = script.call("openat", &[CWD, path(&format!("/x{number}"))], value(5)).close(5);
    }
    script.rotate().at(1, 1, Some(("/a", 1)));
}

#[test]
fn hostile_ranges_are_survived() {
    let numbers = [Arg::Int(-1), Arg::Int(i64::MIN), Arg::Int(i64::MAX), Arg::Int(0), Arg::Null, Arg::Opaque];
    let mut script = Script::new().open("/a", 3).map(3, 0, 4, 0);
    for first in numbers {
        for second in numbers {
            script = script.call("munmap", &[first, second], Return::Failed(b"EINVAL"));
            let mapped = [first, second, Arg::Null, Arg::Null, fd(3), Arg::Int(i64::MAX)];
            script = script.call("mmap", &mapped, value(i64::MAX)).call(
                "mremap",
                &[first, second, second],
                value(9),
            );
            script = script.call("munmap", &[first, second], value(0));
        }
    }
    assert_eq!(script.events().len(), 2 + 36 * 4);
}
