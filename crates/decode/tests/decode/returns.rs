//! What calls store for their callers, and what they do.

use crate::support::{HERE, NOWHERE, World, enter, halves, native, returned, show, words};
use iotrail_decode::{Abi, Returned};

const NATIVE: Abi = Abi::X86_64;

#[test]
fn nothing_is_known_of_what_a_call_stores_before_it_returns() {
    let world = World::with(HERE, &halves(&[3, 4]));
    assert_eq!(native("pipe2", &[HERE, 0x8_0000], &world), "pipe2(?, O_CLOEXEC)");
    assert_eq!(native("getcwd", &[HERE, 100], &world), "getcwd(?, 100)");
}

#[test]
fn what_a_call_stored_is_read_when_it_has_returned() {
    let pair = World::with(HERE, &halves(&[3, 4]));
    assert_eq!(returned(NATIVE, "pipe2", &[HERE, 0x8_0000], 0, &pair), "pipe2([3, 4], O_CLOEXEC) = 0");
    assert_eq!(
        returned(NATIVE, "socketpair", &[1, 0x8_0001, 0, HERE], 0, &pair),
        "socketpair(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0, [3, 4]) = 0"
    );
    let directory = World::with(HERE, b"/home/me\0garbage");
    assert_eq!(returned(NATIVE, "getcwd", &[HERE, 100], 9, &directory), "getcwd(\"/home/me\", 100) = 9");
    assert_eq!(returned(NATIVE, "getcwd", &[NOWHERE, 100], 9, &directory), "getcwd(?, 100) = 9");
    let mut lock = words(&[2, 0, 0, 0]);
    lock[24] = 9;
    assert_eq!(
        returned(NATIVE, "fcntl", &[3, 5, HERE], 0, &World::with(HERE, &lock)),
        "fcntl(fd 3, F_GETLK, {l_type=F_UNLCK, l_whence=SEEK_SET, l_start=0, l_len=0, l_pid=9}) = 0"
    );
}

#[test]
fn failed_calls_store_nothing() {
    let world = World::with(HERE, &halves(&[3, 4]));
    let mut entry = enter(NATIVE, "pipe2", &[HERE, 0], &world);
    entry.exit(Returned::Error(24), &world);
    assert_eq!(show(&entry), "pipe2(?, 0) = EMFILE");
    assert_eq!(entry.effects().made, [None, None]);
    let mut entry = enter(NATIVE, "close", &[9], &world);
    entry.exit(Returned::Error(9999), &world);
    assert_eq!(show(&entry), "close(fd 9) = EUNKNOWN");
}

#[test]
fn made_descriptors_are_told() {
    let world = World::with(HERE, &halves(&[3, 4]));
    let made = |name, args: &[u64], value| {
        let mut entry = enter(NATIVE, name, args, &world);
        entry.exit(Returned::Value(value), &world);
        entry.effects().made
    };
    assert_eq!(made("openat", &[0, HERE, 0, 0], 7), [Some(7), None]);
    assert_eq!(made("pipe", &[HERE], 0), [Some(3), Some(4)]);
    assert_eq!(made("dup2", &[1, 9], 9), [Some(9), None]);
    assert_eq!(made("fcntl", &[1, 1030, 10], 10), [Some(10), None]);
    assert_eq!(made("fcntl", &[1, 1, 0], 1), [None, None]);
    assert_eq!(made("read", &[1, HERE, 7], 7), [None, None]);
}

/// Headers with one buffer of 50 bytes each and ancillary data at `HERE + 1024`.
fn messages(control: &[u8]) -> World {
    let header = words(&[0, 0, HERE + 512, 1, HERE + 1024, control.len() as u64, 0]);
    let mut array = [&header[..], &words(&[30])].concat();
    array.extend_from_slice(&[&header[..], &words(&[12])].concat());
    let mut world = World::with(HERE, &array);
    world.plant(HERE + 512, &words(&[HERE, 50])).plant(HERE + 1024, control);
    world
}

/// A control message.
fn control(level: u32, kind: u32, data: &[u32]) -> Vec<u8> {
    let mut bytes = words(&[16 + 4 * data.len() as u64]);
    bytes.extend_from_slice(&halves(&[level, kind]));
    bytes.extend_from_slice(&halves(data));
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

#[test]
fn descriptors_come_with_messages() {
    let world = messages(&[control(1, 2, &[1, 2, 3]), control(1, 1, &[7, 9, 8])].concat());
    let mut entry = enter(NATIVE, "recvmsg", &[5, HERE, 0x4000_0000], &world);
    assert_eq!(show(&entry), "recvmsg(fd 5, 50 B, MSG_CMSG_CLOEXEC)");
    entry.exit(Returned::Value(30), &world);
    assert_eq!(entry.effects().received, [7, 9, 8]);
    let mut sent = enter(NATIVE, "sendmsg", &[5, HERE, 0], &world);
    sent.exit(Returned::Value(30), &world);
    assert!(sent.effects().received.is_empty());
}

#[test]
fn several_messages_are_added_up() {
    let world = messages(&control(1, 1, &[7]));
    let mut entry = enter(NATIVE, "recvmmsg", &[5, HERE, 2, 0, 0], &world);
    entry.exit(Returned::Value(2), &world);
    assert_eq!(show(&entry), "recvmmsg(fd 5, 42 B, 2, 0, 0) = 2");
    assert_eq!(entry.effects().received, [7, 7]);
    assert_eq!(returned(NATIVE, "sendmmsg", &[5, HERE, 9, 0], 1, &world), "sendmmsg(fd 5, 30 B, 9, 0) = 1");
}

#[test]
fn broken_ancillary_data_ends_the_search() {
    let mut endless = control(1, 1, &[7]);
    endless[0] = 0;
    let mut overlong = control(1, 1, &[7]);
    overlong[0] = 200;
    for bytes in [&endless, &overlong, &vec![0xff; 64]] {
        let world = messages(bytes);
        let mut entry = enter(NATIVE, "recvmsg", &[5, HERE, 0], &world);
        entry.exit(Returned::Value(1), &world);
        assert!(entry.effects().received.is_empty());
    }
}
