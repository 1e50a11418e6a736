//! 32-bit programs: other numbers, registers and layouts.

use crate::support::{HERE, NOWHERE, World, entered, halves, returned, words};
use iotrail_decode::Abi;

fn i386(name: &str, args: &[u64], world: &World) -> String {
    entered(Abi::I386, name, args, world)
}

#[test]
fn numbers_of_64_bits_come_in_two_registers() {
    let nothing = World::default();
    let (low, high) = (7, 1);
    let offset = (1_i64 << 32) + 7;
    assert_eq!(
        i386("pread64", &[3, HERE, 10, low, high], &nothing),
        format!("pread64(fd 3, ?, 10, {offset})")
    );
    assert_eq!(i386("ftruncate64", &[3, low, high], &nothing), format!("ftruncate64(fd 3, {offset})"));
    assert_eq!(i386("truncate64", &[0, low, high], &nothing), format!("truncate64(NULL, {offset})"));
    assert_eq!(i386("readahead", &[3, low, high, 9], &nothing), format!("readahead(fd 3, {offset}, 9)"));
    assert_eq!(
        i386("fadvise64", &[3, low, high, 9, 4], &nothing),
        format!("fadvise64(fd 3, {offset}, 9, POSIX_FADV_DONTNEED)")
    );
    assert_eq!(
        i386("fadvise64_64", &[3, low, high, 9, 0, 3], &nothing),
        format!("fadvise64_64(fd 3, {offset}, 9, POSIX_FADV_WILLNEED)")
    );
    assert_eq!(
        i386("sync_file_range", &[3, low, high, 9, 0, 2], &nothing),
        format!("sync_file_range(fd 3, {offset}, 9, SYNC_FILE_RANGE_WRITE)")
    );
    assert_eq!(
        i386("fallocate", &[3, 1, low, high, 9, 0], &nothing),
        format!("fallocate(fd 3, FALLOC_FL_KEEP_SIZE, {offset}, 9)")
    );
    assert_eq!(i386("ftruncate", &[3, 0xffff_fff0], &nothing), "ftruncate(fd 3, -16)");
    assert_eq!(
        i386("mmap2", &[0, 10, 1, 1, 3, 0xfff0_0000], &nothing),
        "mmap2(0, 10, PROT_READ, MAP_SHARED, fd 3, 17587891077120)"
    );
}

#[test]
fn upper_halves_of_registers_do_not_count() {
    let garbage = 0xdead_beef_0000_0000;
    assert_eq!(i386("read", &[garbage | 3, HERE, garbage | 10], &World::default()), "read(fd 3, ?, 10)");
}

#[test]
fn positions_are_put_together_and_read_back() {
    let world = World::with(HERE, &words(&[(5 << 32) + 9]));
    assert_eq!(
        returned(Abi::I386, "_llseek", &[3, 5, 9, HERE, 0], 0, &world),
        "_llseek(fd 3, 21474836489, 21474836489, SEEK_SET) = 0"
    );
}

#[test]
fn structures_have_narrow_words() {
    let mut world = World::with(HERE, &halves(&[1, 100, 2, 28]));
    for abi in [Abi::I386, Abi::X32] {
        assert_eq!(entered(abi, "readv", &[3, HERE, 2], &world), "readv(fd 3, 128 B, 2)");
    }
    assert_eq!(i386("preadv", &[3, HERE, 1, 7, 1], &world), "preadv(fd 3, 100 B, 1, 4294967303)");
    assert_eq!(
        i386("preadv2", &[3, HERE, 1, 7, 1, 16], &world),
        "preadv2(fd 3, 100 B, 1, 4294967303, RWF_APPEND)"
    );
    assert_eq!(
        entered(Abi::X32, "preadv2", &[3, HERE, 1, 7, 16], &world),
        "preadv2(fd 3, 100 B, 1, 7, RWF_APPEND)"
    );
    world.plant(HERE + 64, &halves(&[0, 0, HERE as u32, 2, 0, 0, 0]));
    assert_eq!(i386("recvmsg", &[3, HERE + 64, 0], &world), "recvmsg(fd 3, 128 B, 0)");
    world.plant(HERE + 128, &halves(&[HERE as u32 + 200, 0])).plant(HERE + 200, b"ls\0");
    assert_eq!(i386("execve", &[HERE + 200, HERE + 128, 0], &world), "execve(\"ls\", [\"ls\"], 0)");
    assert_eq!(i386("sendfile", &[4, 3, HERE + 4, 10], &world), "sendfile(fd 4, fd 3, 100, 10)");
}

#[test]
fn locks_have_three_layouts() {
    let lock = |bytes: &[u8]| World::with(HERE, bytes);
    let text = "{l_type=F_WRLCK, l_whence=SEEK_CUR, l_start=-5, l_len=10}";
    let small = [&halves(&[0x0001_0001, -5_i32 as u32, 10, 77])[..]].concat();
    assert_eq!(i386("fcntl64", &[3, 6, HERE], &lock(&small)), format!("fcntl64(fd 3, F_SETLK, {text})"));
    let packed = [&halves(&[0x0001_0001])[..], &words(&[-5_i64 as u64, 10]), &halves(&[77])].concat();
    assert_eq!(i386("fcntl64", &[3, 13, HERE], &lock(&packed)), format!("fcntl64(fd 3, F_SETLK64, {text})"));
    assert_eq!(
        i386("fcntl64", &[3, 37, HERE], &lock(&packed)),
        format!("fcntl64(fd 3, F_OFD_SETLK, {text})")
    );
    let wide = words(&[0x0001_0001, -5_i64 as u64, 10, 77]);
    assert_eq!(
        entered(Abi::X32, "fcntl", &[3, 6, HERE], &lock(&wide)),
        format!("fcntl(fd 3, F_SETLK, {text})")
    );
    assert!(
        returned(Abi::I386, "fcntl64", &[3, 12, HERE], 0, &lock(&packed))
            .contains("l_len=10, l_pid=77}) = 0")
    );
}

#[test]
fn socketcall_stands_for_calls_on_sockets() {
    let address = HERE as u32 + 64;
    let mut world = World::with(HERE, &halves(&[4, address, 16, 1]));
    world.plant(HERE + 64, &[2, 0, 0, 80, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(
        i386("socketcall", &[3, HERE], &world),
        r#"connect(fd 4, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16)"#
    );
    let pair = World::with(HERE, &halves(&[1, 1, 0, HERE as u32 + 32, 5, 6, 7, 8, 20, 21]));
    assert_eq!(
        returned(Abi::I386, "socketcall", &[8, HERE], 0, &pair),
        "socketpair(AF_UNIX, SOCK_STREAM, 0, [20, 21]) = 0"
    );
    assert_eq!(i386("socketcall", &[10, HERE], &world), "recv(fd 4, ?, 16, MSG_OOB)");
}

#[test]
fn what_cannot_be_decoded_exactly_is_opaque_and_said() {
    let nothing = World::default();
    assert_eq!(i386("socketcall", &[3, NOWHERE], &nothing), "connect(?, ?, ?) (undecoded)");
    assert_eq!(i386("socketcall", &[99, HERE], &nothing), "socketcall(?, ?) (undecoded)");
    assert_eq!(i386("ipc", &[21, 1, 2, 3, 4, 5], &nothing), "shmat(?, ?, ?) (undecoded)");
    assert_eq!(i386("ipc", &[77], &nothing), "ipc(?, ?, ?, ?, ?, ?) (undecoded)");
    assert_eq!(i386("mmap", &[NOWHERE], &nothing), "mmap(?, ?, ?, ?, ?, ?) (undecoded)");
    assert_eq!(i386("select", &[HERE], &nothing), "select(?, ?, ?, ?, ?) (undecoded)");
}

#[test]
fn old_mappings_have_their_arguments_in_memory() {
    let world = World::with(HERE, &halves(&[0, 8192, 1, 2, 3, 4096]));
    assert_eq!(i386("mmap", &[HERE], &world), "mmap(0, 8192, PROT_READ, MAP_PRIVATE, fd 3, 4096)");
}
