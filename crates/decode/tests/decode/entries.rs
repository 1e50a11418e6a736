//! Arguments that are there when a call is entered.

use crate::support::{HERE, NOWHERE, World, enter, entered, native, words};
use iotrail_decode::{Abi, Memory, Registers};
use iotrail_decode::{Decoder, Special};
use std::cell::RefCell;

const CWD: u64 = -100_i32 as u32 as u64;

#[test]
fn numbers_descriptors_and_symbols_come_from_registers() {
    let nothing = World::default();
    assert_eq!(native("read", &[3, HERE, 4096], &nothing), "read(fd 3, ?, 4096)");
    assert_eq!(native("pread64", &[3, HERE, 512, 1 << 40], &nothing), "pread64(fd 3, ?, 512, 1099511627776)");
    assert_eq!(native("lseek", &[3, u64::MAX, 2], &nothing), "lseek(fd 3, -1, SEEK_END)");
    assert_eq!(native("close", &[u64::from(u32::MAX)], &nothing), "close(fd -1)");
    assert_eq!(native("flock", &[4, 6], &nothing), "flock(fd 4, LOCK_EX|LOCK_NB)");
    assert_eq!(native("sync", &[], &nothing), "sync()");
    assert_eq!(native("exit_group", &[0xffff_ffff], &nothing), "exit_group(-1)");
    assert_eq!(
        native("mmap", &[0, 8192, 3, 2, 5, 4096], &nothing),
        "mmap(0, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE, fd 5, 4096)"
    );
    assert_eq!(native("madvise", &[4096, 8192, 3], &nothing), "madvise(4096, 8192, MADV_WILLNEED)");
    assert_eq!(
        native("fallocate", &[3, 3, 10, 20], &nothing),
        "fallocate(fd 3, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 10, 20)"
    );
    assert_eq!(
        native("close_range", &[3, 0xffff_ffff, 4], &nothing),
        "close_range(3, 4294967295, CLOSE_RANGE_CLOEXEC)"
    );
    assert_eq!(native("fcntl", &[3, 2, 1], &nothing), "fcntl(fd 3, F_SETFD, 1)");
    assert_eq!(native("ioctl", &[1, 0x5401, HERE], &nothing), format!("ioctl(fd 1, TCGETS, {HERE})"));
    assert_eq!(
        native("ioctl", &[1, 0xc004_5301, 0], &nothing),
        "ioctl(fd 1, _IOC(_IOC_READ|_IOC_WRITE, 0x53, 0x1, 0x4), 0)"
    );
}

#[test]
fn offsets_of_vectored_calls_stand_before_flags_in_another_register() {
    let world = World::with(HERE, &words(&[1, 100, 2, 28]));
    assert_eq!(
        native("preadv2", &[3, HERE, 2, 4096, 0, 8], &world),
        "preadv2(fd 3, 128 B, 2, 4096, RWF_NOWAIT)"
    );
    assert_eq!(native("pwritev", &[3, HERE, 1, 7], &world), "pwritev(fd 3, 100 B, 1, 7)");
}

#[test]
fn symbols_show_what_has_no_name() {
    let world = World::with(HERE, b"f\0");
    let open = |flags| native("openat", &[CWD, HERE, flags, 0o644], &world);
    assert_eq!(open(0), "openat(cwd, \"f\", O_RDONLY, 420)");
    assert_eq!(open(0x80241), "openat(cwd, \"f\", O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 420)");
    assert_eq!(open(0x101002), "openat(cwd, \"f\", O_RDWR|O_SYNC, 420)");
    assert_eq!(open(0x410002), "openat(cwd, \"f\", O_RDWR|O_TMPFILE, 420)");
    assert_eq!(open(0x4000_0000), "openat(cwd, \"f\", O_RDONLY|0x40000000, 420)");
    assert_eq!(native("msync", &[0, 1, 8], &world), "msync(0, 1, 8)");
    assert_eq!(native("msync", &[0, 1, 0], &world), "msync(0, 1, 0)");
    assert_eq!(native("chmod", &[HERE, 0o644], &world), "chmod(\"f\", 420)");
    assert_eq!(native("access", &[HERE, 0], &world), "access(\"f\", F_OK)");
    assert_eq!(
        native("statx", &[CWD, HERE, 0x100, 0, 0], &world),
        "statx(cwd, \"f\", AT_STATX_SYNC_AS_STAT|AT_SYMLINK_NOFOLLOW, 0, 0)"
    );
    assert_eq!(native("mknod", &[HERE, 0o010_644, 0], &world), "mknod(\"f\", S_IFIFO|0644, 0)");
}

#[test]
fn segments_of_shared_memory_show_flags_and_permissions() {
    let get = |flags| native("shmget", &[1, 4096, flags], &World::default());
    assert_eq!(get(0o1600), "shmget(1, 4096, IPC_CREAT|0600)");
    assert_eq!(get(0o3007), "shmget(1, 4096, IPC_CREAT|IPC_EXCL|007)");
    assert_eq!(get(0o600), "shmget(1, 4096, 384)");
}

#[test]
fn symbols_of_arm_have_numbers_of_their_own() {
    let world = World::with(HERE, b"f\0");
    assert_eq!(
        entered(Abi::Aarch64, "openat", &[CWD, HERE, 0x4000 | 0x2_0000 | 0x8_0000], &world),
        "openat(cwd, \"f\", O_RDONLY|O_LARGEFILE|O_CLOEXEC|O_DIRECTORY, 0)"
    );
    assert_eq!(
        entered(Abi::Aarch64, "openat", &[CWD, HERE, 0x8000 | 0x1_0000], &world),
        "openat(cwd, \"f\", O_RDONLY|O_DIRECT|O_NOFOLLOW, 0)"
    );
}

#[test]
fn paths_are_read_to_their_end_across_pages() {
    let page = 0x7000_0000;
    let mut world = World::with(page + 4090, b"/etc/p");
    world.plant(page + 4096, b"asswd\0rest");
    assert_eq!(native("unlink", &[page + 4090], &world), "unlink(\"/etc/passwd\")");
    assert_eq!(native("rename", &[page + 4090, 0], &world), "rename(\"/etc/passwd\", NULL)");
    assert_eq!(native("unlink", &[page + 4090], &World::with(page + 4090, b"/etc/p")), "unlink(?)");
    assert_eq!(native("unlink", &[NOWHERE], &world), "unlink(?)");
    assert_eq!(native("unlink", &[u64::MAX], &world), "unlink(?)");
    assert_eq!(native("symlink", &[page + 4096, page + 4091], &world), "symlink(\"asswd\", \"etc/passwd\")");
}

#[test]
fn paths_end_where_the_kernel_stops_reading() {
    let mut longest = vec![b'a'; 4095];
    longest.push(0);
    let shown = native("unlink", &[HERE + 5], &World::with(HERE + 5, &longest));
    assert!(shown.ends_with("aaa\")"), "a path of 4095 bytes is complete");
    let shown = native("unlink", &[HERE], &World::with(HERE, &[b'a'; 9000]));
    assert_eq!(shown, "unlink(\"aaaa\"... of 4096)");
}

#[test]
fn structures_become_text() {
    let how = words(&[0x8_0042, 0o644, 0xc]);
    assert_eq!(
        native("openat2", &[CWD, HERE + 64, HERE, 24], World::with(HERE, &how).plant(HERE + 64, b"x\0")),
        "openat2(cwd, \"x\", {flags=O_RDWR|O_CREAT|O_CLOEXEC, mode=0644, \
         resolve=RESOLVE_NO_SYMLINKS|RESOLVE_BENEATH}, 24)"
    );
    let how = World::with(HERE, &words(&[0, 0, 0]));
    assert_eq!(
        native("openat2", &[CWD, 0, HERE, 24], &how),
        "openat2(cwd, NULL, {flags=O_RDONLY, resolve=0}, 24)"
    );
    assert_eq!(native("openat2", &[CWD, 0, HERE, 8], &how), "openat2(cwd, NULL, ?, 8)");
    let clone = words(&[0x4100, 0, 0, 0, 17, 0x5000, 0x2000, 0]);
    assert_eq!(
        native("clone3", &[HERE, 88], &World::with(HERE, &clone)),
        "clone3({flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD, stack=0x5000, stack_size=0x2000}, 88)"
    );
    assert_eq!(native("clone3", &[NOWHERE, 88], &how), "clone3(?, 88)");
}

#[test]
fn clone_has_its_flags_second_everywhere() {
    let nothing = World::default();
    for abi in [Abi::X86_64, Abi::I386, Abi::X32, Abi::Aarch64] {
        assert_eq!(
            entered(abi, "clone", &[0x120_0011, 0, 0, 0, 0], &nothing),
            "clone(0, CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, 0, 0, 0)"
        );
    }
    assert_eq!(native("clone", &[0x11], &nothing), "clone(0, SIGCHLD, 0, 0, 0)");
}

#[test]
fn locks_become_text() {
    let mut lock = words(&[0x0002_0001, 5, 10, 77]);
    lock.truncate(32);
    let world = World::with(HERE, &lock);
    assert_eq!(
        native("fcntl", &[3, 6, HERE], &world),
        "fcntl(fd 3, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_END, l_start=5, l_len=10})"
    );
    assert_eq!(
        native("fcntl", &[3, 37, HERE], &world),
        "fcntl(fd 3, F_OFD_SETLK, {l_type=F_WRLCK, l_whence=SEEK_END, l_start=5, l_len=10})"
    );
    assert_eq!(native("fcntl", &[3, 5, HERE], &world), "fcntl(fd 3, F_GETLK, ?)");
    assert_eq!(native("fcntl", &[3, 7, 0], &world), "fcntl(fd 3, F_SETLKW, NULL)");
    assert_eq!(native("fcntl", &[3, 7, NOWHERE], &world), "fcntl(fd 3, F_SETLKW, ?)");
    let odd = World::with(HERE, &words(&[0x0007_0009, -3_i64 as u64, 0, 0]));
    assert_eq!(
        native("fcntl", &[3, 6, HERE], &odd),
        "fcntl(fd 3, F_SETLK, {l_type=0x9, l_whence=0x7, l_start=-3, l_len=0})"
    );
}

#[test]
fn copies_look_at_the_offsets_behind_their_pointers() {
    let world = World::with(HERE, &words(&[100, 200]));
    assert_eq!(
        native("copy_file_range", &[3, HERE, 4, HERE + 8, 50, 0], &world),
        "copy_file_range(fd 3, 100, fd 4, 200, 50, 0)"
    );
    assert_eq!(
        native("splice", &[3, 0, 4, NOWHERE, 50, 3], &world),
        "splice(fd 3, NULL, fd 4, ?, 50, SPLICE_F_MOVE|SPLICE_F_NONBLOCK)"
    );
    assert_eq!(native("sendfile", &[4, 3, HERE, 50], &world), "sendfile(fd 4, fd 3, 100, 50)");
}

#[test]
fn vectors_are_added_up_to_the_length_that_the_kernel_takes() {
    let vector: Vec<u64> = (0..1024).flat_map(|_| [HERE, 3]).collect();
    let world = World::with(HERE, &words(&vector));
    assert_eq!(native("readv", &[3, HERE, 1024], &world), "readv(fd 3, 3072 B, 1024)");
    assert_eq!(native("readv", &[3, HERE, 1025], &world), "readv(fd 3, ?, 1025)");
    assert_eq!(native("readv", &[3, HERE, 0], &world), "readv(fd 3, 0 B, 0)");
    assert_eq!(native("readv", &[3, NOWHERE, 2], &world), "readv(fd 3, ?, 2)");
    assert_eq!(native("readv", &[3, 0, 2], &world), "readv(fd 3, NULL, 2)");
    let huge = World::with(HERE, &words(&[0, u64::MAX, 0, u64::MAX]));
    assert_eq!(native("writev", &[3, HERE, 2], &huge), format!("writev(fd 3, {} B, 2)", u64::MAX));
}

#[test]
fn argument_vectors_are_kept_up_to_a_bound() {
    let mut world = World::with(HERE, &words(&[HERE + 100, HERE + 103, HERE + 104, 0]));
    world.plant(HERE + 100, b"ls\0\0-l\0").plant(HERE + 200, b"/bin/ls\0");
    assert_eq!(
        native("execve", &[HERE + 200, HERE, 5], &world),
        "execve(\"/bin/ls\", [\"ls\", \"\", \"-l\"], 5)"
    );
    assert_eq!(native("execve", &[HERE + 200, 0, 5], &world), "execve(\"/bin/ls\", NULL, 5)");
    world.plant(HERE, &words(&[HERE + 100, HERE + 103, HERE + 104, NOWHERE]));
    assert_eq!(
        native("execve", &[HERE + 200, HERE, 5], &world),
        "execve(\"/bin/ls\", [\"ls\", \"\", \"-l\", \"...\"], 5)"
    );
    let endless = World::with(HERE, &words(&[HERE; 100_000]));
    let shown = native("execve", &[HERE, HERE, 5], &endless);
    assert!(shown.len() < 1_000_000 && shown.contains("\"...\"]"));
    let none = World::with(HERE, &words(&[0]));
    assert_eq!(native("execve", &[0, HERE, 5], &none), "execve(NULL, [\"\"], 5)");
}

#[test]
fn numbers_without_a_name_become_events_with_one() {
    let registers = Registers { abi: Abi::X86_64, number: 0x1d6, args: [1; 6] };
    let entry = Decoder::new().entry(&registers, &World::default());
    assert!(entry.undecoded() && entry.call().is_none());
    assert_eq!(crate::support::show(&entry), "syscall_0x1d6() (undecoded)");
    let unknown = Registers { abi: Abi::Unknown(7), number: 3, args: [1; 6] };
    assert_eq!(
        crate::support::show(&Decoder::new().entry(&unknown, &World::default())),
        "syscall_0x3() (undecoded)"
    );
}

#[test]
fn calls_that_matter_to_tracers_are_marked() {
    let special = |name, args: &[u64]| enter(Abi::X86_64, name, args, &World::default()).effects().special;
    assert_eq!(special("execve", &[]), Special::Exec);
    assert_eq!(special("clone3", &[]), Special::Spawn);
    assert_eq!(special("io_uring_enter", &[]), Special::RingEnter);
    assert_eq!(special("io_pgetevents", &[]), Special::AioGetEvents);
    assert_eq!(special("prctl", &[22]), Special::Filter);
    assert_eq!(special("prctl", &[15]), Special::None);
    assert_eq!(special("ptrace", &[]), Special::Trace);
    assert_eq!(special("read", &[]), Special::None);
}

#[test]
fn buffers_of_data_are_never_read() {
    #[derive(Default)]
    struct Watched(RefCell<Vec<u64>>);
    impl Memory for Watched {
        fn read(&self, address: u64, _: &mut [u8]) -> usize {
            self.0.borrow_mut().push(address);
            0
        }
    }
    let (memory, mut decoder) = (Watched::default(), Decoder::new());
    for name in
        ["read", "write", "pread64", "pwrite64", "getdents64", "readlink", "getrandom", "sendto", "recvfrom"]
    {
        let args = [3, HERE, 100, 0, 0, 0];
        let registers =
            Registers { abi: Abi::X86_64, number: crate::support::number(Abi::X86_64, name), args };
        let mut entry = decoder.entry(&registers, &memory);
        entry.exit(iotrail_decode::Returned::Value(100), &memory);
    }
    assert!(!memory.0.borrow().contains(&HERE));
}
