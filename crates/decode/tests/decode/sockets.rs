//! Socket addresses.

use crate::support::{HERE, NOWHERE, World, halves, native, returned};
use iotrail_decode::Abi;

const IPV4: [u8; 16] = [2, 0, 0, 80, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];

fn connect(address: &[u8], length: u64) -> String {
    let shown = native("connect", &[4, HERE, length], &World::with(HERE, address));
    let address =
        shown.strip_prefix("connect(fd 4, ").and_then(|rest| rest.strip_suffix(&format!(", {length})")));
    address.unwrap_or(&shown).to_owned()
}

#[test]
fn internet_addresses_are_shown_as_strace_shows_them() {
    assert_eq!(
        connect(&IPV4, 16),
        r#"{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}"#
    );
    let mut address = vec![10, 0, 1, 187, 0, 0, 0, 7, 0xfe, 0x80];
    address.resize(24, 0);
    address[23] = 1;
    assert_eq!(
        connect(&address, 24),
        r#"{sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(7), inet_pton(AF_INET6, "fe80::1", &sin6_addr)}"#
    );
    address.extend_from_slice(&halves(&[3]));
    assert!(connect(&address, 28).ends_with("&sin6_addr), sin6_scope_id=3}"));
}

#[test]
fn local_addresses_are_paths_or_abstract_names() {
    assert_eq!(connect(b"\x01\0/tmp/a \"b\n\0rest", 16), r#"{sa_family=AF_UNIX, sun_path="/tmp/a \"b\012"}"#);
    assert_eq!(connect(b"\x01\0/tmp/a", 8), r#"{sa_family=AF_UNIX, sun_path="/tmp/a"}"#);
    assert_eq!(connect(b"\x01\0\0hidden\0x", 11), r#"{sa_family=AF_UNIX, sun_path=@"hidden\000x"}"#);
    assert_eq!(connect(b"\x01\0", 2), "{sa_family=AF_UNIX}");
}

#[test]
fn other_addresses_show_their_family() {
    let netlink = [&[16, 0, 0, 0][..], &halves(&[12, 3])].concat();
    assert_eq!(connect(&netlink, 12), "{sa_family=AF_NETLINK, nl_pid=12, nl_groups=0x000003}");
    assert_eq!(connect(&[77, 0, 1, 2], 4), "{sa_family=0x4d}");
    assert_eq!(connect(&IPV4, 4), "{sa_family=AF_INET}");
}

#[test]
fn addresses_that_cannot_be_read_are_opaque() {
    let world = World::with(HERE, &IPV4);
    assert_eq!(native("bind", &[4, NOWHERE, 16], &world), "bind(fd 4, ?, 16)");
    assert_eq!(native("bind", &[4, 0, 16], &world), "bind(fd 4, NULL, 16)");
    assert_eq!(native("bind", &[4, HERE, 1], &world), "bind(fd 4, ?, 1)");
    assert_eq!(native("bind", &[4, HERE, 100], &world), "bind(fd 4, ?, 100)");
}

#[test]
fn peers_are_known_when_the_call_has_returned() {
    let mut world = World::with(HERE, &IPV4);
    world.plant(HERE + 64, &halves(&[16]));
    let peer = r#"{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}"#;
    let accept = |args: &[u64]| returned(Abi::X86_64, "accept4", args, 7, &world);
    let length = HERE + 64;
    assert_eq!(
        accept(&[3, HERE, length, 0x8_0000]),
        format!("accept4(fd 3, {peer}, {length}, SOCK_CLOEXEC) = 7")
    );
    assert_eq!(accept(&[3, 0, 0, 0]), "accept4(fd 3, NULL, 0, 0) = 7");
    assert_eq!(
        returned(Abi::X86_64, "recvfrom", &[3, 1, 10, 0, HERE, length], 5, &world),
        format!("recvfrom(fd 3, ?, 10, 0, {peer}, {length}) = 5")
    );
}
