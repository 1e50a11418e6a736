//! What sockets are called.

use crate::script::{Script, fd, hint, symbols, value};
use iotrail_model::FileKind;
use iotrail_model::raw::{Arg, Return};

const LOCAL: &str = r#"{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}"#;
const PEER: &str = r#"{sa_family=AF_INET, sin_port=htons(4711), sin_addr=inet_addr("10.0.0.7")}"#;
const FILE: &str = r#"{sa_family=AF_UNIX, sun_path="run/x"}"#;

impl Script {
    fn socket(self, domain: &str, kind: &str, number: i64) -> Self {
        self.call("socket", &[symbols(domain), symbols(kind), Arg::Int(0)], value(number))
    }

    fn on(self, call: &str, number: i32, address: &str, ret: Return<'_>) -> Self {
        self.call(call, &[fd(number), Arg::Text(address.as_bytes()), Arg::Int(16)], ret)
    }
}

#[test]
fn a_connected_socket_is_called_after_its_peer() {
    let script = Script::new().socket("AF_INET", "SOCK_STREAM|SOCK_CLOEXEC", 3);
    assert_eq!(script.path(), Some("socket"));
    let script = script.on("connect", 3, PEER, value(0));
    assert_eq!((script.path(), script.path2()), (Some("TCP:[->10.0.0.7:4711]"), None));
    assert_eq!(script.read(3, 1).path(), Some("TCP:[->10.0.0.7:4711]"));
    let script =
        Script::new().socket("AF_INET", "SOCK_STREAM|SOCK_NONBLOCK", 3).file(3, 77, FileKind::Socket);
    let script = script.on("connect", 3, PEER, Return::Failed(b"EINPROGRESS")).write(3, 1);
    assert_eq!(script.path(), Some("TCP:[77->10.0.0.7:4711]"));
    let named = Return::Value(3, hint("socket:[78]"));
    let args = [symbols("AF_INET6"), symbols("SOCK_DGRAM"), Arg::Int(0)];
    let script = Script::new().call("socket", &args, named).on("connect", 3, PEER, value(0));
    assert_eq!(script.path(), Some("UDPv6:[78->10.0.0.7:4711]"));
}

#[test]
fn a_socket_may_tell_which_address_it_was_given() {
    let any = r#"{sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr("127.0.0.1")}"#;
    let script = Script::new().socket("AF_INET", "SOCK_STREAM", 3).on("bind", 3, any, value(0));
    let script = script.on("getsockname", 3, LOCAL, value(0));
    assert_eq!((script.path(), script.path2()), (Some("TCP:[127.0.0.1:80]"), None));
    let script = script.on("connect", 3, PEER, value(0)).on("getsockname", 3, LOCAL, value(0));
    assert_eq!(script.path(), Some("TCP:[127.0.0.1:80->10.0.0.7:4711]"));
}

#[test]
fn an_accepted_socket_has_two_ends() {
    let script = Script::new().socket("AF_INET", "SOCK_STREAM", 3).on("bind", 3, LOCAL, value(0));
    assert_eq!(script.path(), Some("TCP:[127.0.0.1:80]"));
    let script = script.on("accept4", 3, PEER, value(5));
    assert_eq!((script.path(), script.last().fd), (Some("TCP:[127.0.0.1:80->10.0.0.7:4711]"), Some(5)));
    assert_eq!(script.read(5, 1).path(), Some("TCP:[127.0.0.1:80->10.0.0.7:4711]"));
}

#[test]
fn sockets_in_the_file_system_are_files() {
    let script = Script::new().chdir("/w").socket("AF_UNIX", "SOCK_STREAM", 3).file(3, 9, FileKind::Socket);
    let script = script.on("bind", 3, FILE, value(0));
    assert_eq!((script.path(), script.path2()), (Some("UNIX-STREAM:[9,\"run/x\"]"), Some("/w/run/x")));
    let script = script.on("accept", 3, "{sa_family=AF_UNIX}", value(4));
    assert_eq!((script.path(), script.path2()), (Some("UNIX-STREAM:[\"run/x\"]"), None));
    let named = Return::Value(5, hint("socket:[11]"));
    let script = script.on("accept", 3, "{sa_family=AF_UNIX}", named);
    assert_eq!(script.path(), Some("UNIX-STREAM:[11,\"run/x\"]"));
    let script = script.socket("AF_UNIX", "SOCK_STREAM", 6).on("connect", 6, FILE, Return::Failed(b"ENOENT"));
    assert_eq!((script.path(), script.path2()), (Some("socket"), Some("/w/run/x")));
    let script = script.on("connect", 6, FILE, value(0));
    assert_eq!(script.path(), Some("UNIX-STREAM:[->\"run/x\"]"));
    assert_eq!(script.summary().relative_paths, 0);
}

#[test]
fn what_the_tracer_calls_a_socket_stays() {
    let args = [Arg::Fd(3, hint("socket:[7]")), Arg::Text(PEER.as_bytes()), Arg::Int(16)];
    let script = Script::new().socket("AF_INET", "SOCK_STREAM", 3).call("connect", &args, value(0));
    assert_eq!(script.path(), Some("socket:[7]"));
    let accepted = Return::Value(5, hint("TCP:[a->b]"));
    let listener = [Arg::Fd(3, hint("TCP:[a]")), Arg::Text(PEER.as_bytes()), Arg::Int(16)];
    let script = script.call("accept", &listener, accepted).read(5, 1);
    assert_eq!(script.path(), Some("TCP:[a->b]"));
}

#[test]
fn an_address_that_says_nothing_names_nothing() {
    let any = r#"{sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr("0.0.0.0")}"#;
    let script = Script::new().socket("AF_INET", "SOCK_DGRAM", 3).on("bind", 3, any, value(0));
    assert_eq!(script.path(), Some("socket"));
    let script = script.on("connect", 3, "{sa_family=AF_UNSPEC}", value(0)).on("connect", 9, PEER, value(0));
    assert_eq!(script.path(), None);
    let script = Script::new().socket("AF_INET", "SOCK_RAW", 3).on("connect", 3, PEER, value(0));
    assert_eq!(script.path(), Some("socket"));
}

#[test]
fn a_tracer_may_name_the_peer_before() {
    let before = "UDP:[127.0.0.1:9->127.0.0.1:80]";
    let named = |name: &'static str| Arg::Fd(3, hint(name));
    let script = Script::new().of_trace().socket("AF_INET", "SOCK_DGRAM", 3);
    let script = script.call("write", &[named(before), Arg::Opaque], value(1));
    let script = script.call("connect", &[named(before), Arg::Text(PEER.as_bytes())], value(0));
    assert_eq!(script.path(), Some("UDP:[127.0.0.1:9->10.0.0.7:4711]"));
    let script = script.call("write", &[named(before), Arg::Opaque], value(1));
    assert_eq!(script.path(), Some("UDP:[127.0.0.1:9->10.0.0.7:4711]"));
    let by_now = "UDP:[10.0.0.1:9->10.0.0.7:4711]";
    let script = script.call("write", &[named(by_now), Arg::Opaque], value(1));
    assert_eq!(script.path(), Some(by_now));
    let none = "{sa_family=AF_UNSPEC, sa_data=\"\\0\"}";
    let script = script.call("connect", &[named(by_now), Arg::Text(none.as_bytes())], value(0));
    assert_eq!(script.path(), Some("socket"));
    let script = script.call("write", &[named(by_now), Arg::Opaque], value(1));
    assert_eq!(script.path(), Some("socket"), "it has parted with its peer");
}
