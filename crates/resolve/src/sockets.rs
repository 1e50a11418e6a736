//! Names of sockets, from what connect, bind and accept say.
//!
//! A tracer that names a socket at every call (strace `-y`, `-yy`) is believed. Otherwise a socket is `socket`, or `socket:[7]`
//! once its inode is known, until an address is given to it. From then on its name has the form of strace's `-yy`:
//!
//! | after | name |
//! |---|---|
//! | bind, getsockname | `TCP:[127.0.0.1:80]`, `UNIX-STREAM:[7,"/run/x"]` |
//! | connect | `TCP:[7->127.0.0.1:80]`, `UNIX-STREAM:[7->"/run/x"]`; with its own address, if it has one |
//! | accept | `TCP:[127.0.0.1:80->127.0.0.1:9]`, `UNIX-STREAM:[8,"/run/x"]` (the listener's address: the peer has none) |
//!
//! A recorder tells both ends where the kernel tells it: `TCP:[127.0.0.1:9->127.0.0.1:80]` after connect,
//! `UNIX-STREAM:[8->7,"/run/x"]` after accept (7 is the peer).
//!
//! The number stands there only if the inode is known. An address whose port the kernel chooses (0) names nothing.
//! Addresses are read as strace prints them (`man 7 ip`, `man 7 unix`).

use crate::operands::FdArg;
use crate::symbols::field;
use iotrail_model::raw::Arg;

/// Which protocol a socket speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// It is no socket, or its making was not seen.
    #[default]
    Unknown,
    Tcp,
    TcpV6,
    Udp,
    UdpV6,
    UnixStream,
    UnixDatagram,
    UnixPacket,
}

impl Protocol {
    /// By domain and type, the first two arguments of socket().
    pub(crate) fn of(flags: [Option<&Arg<'_>>; 2]) -> Self {
        let is = |arg: Option<&Arg<'_>>, name: &[u8], number: i64| match arg {
            Some(Arg::Int(value)) => value & 0xf == number,
            Some(Arg::Symbols(text) | Arg::Text(text)) => {
                text.split(|byte| *byte == b'|').any(|word| word == name)
            }
            _ => false,
        };
        let [domain, kind] = flags;
        let stream = is(kind, b"SOCK_STREAM", 1);
        let datagram = is(kind, b"SOCK_DGRAM", 2);
        let (unix, v4, v6) =
            (is(domain, b"AF_UNIX", 1), is(domain, b"AF_INET", 2), is(domain, b"AF_INET6", 10));
        match (unix, v4, v6) {
            (true, ..) if stream => Self::UnixStream,
            (true, ..) if datagram => Self::UnixDatagram,
            (true, ..) if is(kind, b"SOCK_SEQPACKET", 5) => Self::UnixPacket,
            (_, true, _) if stream => Self::Tcp,
            (_, true, _) if datagram => Self::Udp,
            (.., true) if stream => Self::TcpV6,
            (.., true) if datagram => Self::UdpV6,
            _ => Self::Unknown,
        }
    }

    fn name(self) -> Option<&'static str> {
        match self {
            Self::Unknown => None,
            Self::Tcp => Some("TCP"),
            Self::TcpV6 => Some("TCPv6"),
            Self::Udp => Some("UDP"),
            Self::UdpV6 => Some("UDPv6"),
            Self::UnixStream => Some("UNIX-STREAM"),
            Self::UnixDatagram => Some("UNIX"),
            Self::UnixPacket => Some("UNIX-SEQPACKET"),
        }
    }
}

/// A socket address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    File(Vec<u8>),
    /// Anything else, as text: `127.0.0.1:80`, `[::1]:80`, `@"name"`.
    Other(Vec<u8>),
}

impl Address {
    /// Reads `{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}` and its like.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        match field(text, b"sa_family")? {
            b"AF_UNIX" | b"AF_LOCAL" => unix(text),
            b"AF_INET" => internet(text, b"inet_addr(\"", ["", ""]),
            b"AF_INET6" => internet(text, b"inet_pton(AF_INET6, \"", ["[", "]"]),
            _ => None,
        }
    }

    fn push_to(&self, name: &mut Vec<u8>) {
        match self {
            Self::File(path) => {
                name.push(b'"');
                name.extend_from_slice(path);
                name.push(b'"');
            }
            Self::Other(text) => name.extend_from_slice(text),
        }
    }
}

fn unix(text: &[u8]) -> Option<Address> {
    const FIELD: &[u8] = b"sun_path=";
    let value = &text[memchr::memmem::find(text, FIELD)? + FIELD.len()..];
    match value.strip_prefix(b"@") {
        Some(quoted) => {
            let mut name = b"@\"".to_vec();
            name.extend_from_slice(&unquoted(quoted)?);
            name.push(b'"');
            Some(Address::Other(name))
        }
        None => unquoted(value).filter(|path| !path.is_empty()).map(Address::File),
    }
}

fn internet(text: &[u8], before: &[u8], brackets: [&str; 2]) -> Option<Address> {
    let between = |before: &[u8], after: u8| {
        let rest = &text[memchr::memmem::find(text, before)? + before.len()..];
        rest.get(..memchr::memchr(after, rest)?).filter(|value| !value.is_empty())
    };
    let port = between(b"port=htons(", b')').filter(|port| *port != b"0")?;
    let address = between(before, b'"')?;
    let [open, close] = brackets;
    Some(Address::Other([open.as_bytes(), address, close.as_bytes(), b":", port].concat()))
}

/// The text between double quotes, C escapes undone.
fn unquoted(text: &[u8]) -> Option<Vec<u8>> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut out = Vec::new();
    loop {
        match rest {
            [b'"', ..] => return Some(out),
            [b'\\', escape, tail @ ..] => {
                let (byte, used) = unescaped(*escape, tail);
                out.push(byte);
                rest = &tail[used..];
            }
            [byte, tail @ ..] => {
                out.push(*byte);
                rest = tail;
            }
            [] => return None,
        }
    }
}

/// The byte that a backslash and `escape` stand for, and how many bytes of `tail` belong to it.
fn unescaped(escape: u8, tail: &[u8]) -> (u8, usize) {
    let digits = |tail: &[u8], radix: u32, limit: usize| {
        let digits = tail.iter().take(limit).map_while(|byte| char::from(*byte).to_digit(radix));
        digits.fold((0_u32, 0), |(value, count), digit| (value * radix + digit, count + 1))
    };
    match escape {
        b'n' => (b'\n', 0),
        b't' => (b'\t', 0),
        b'r' => (b'\r', 0),
        b'v' => (0x0b, 0),
        b'f' => (0x0c, 0),
        b'x' => {
            let (value, used) = digits(tail, 16, 2);
            (value as u8, used)
        }
        b'0'..=b'7' => {
            let (value, used) = digits(tail, 8, 2);
            let first = u32::from(escape - b'0') * 8_u32.pow(used as u32);
            ((first + value) as u8, used)
        }
        other => (other, 0),
    }
}

/// What an address was given for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    /// The socket's own address.
    Own,
    /// That of the other end.
    Peer,
}

/// The name of a socket that was called `present` and of which an address is known now; `None` if that says no more.
pub(crate) fn name(protocol: Protocol, present: &[u8], given: Given, address: &Address) -> Option<Vec<u8>> {
    let prefix = prefix(protocol)?;
    let own = own_address(&prefix, present);
    let mut name = prefix.clone();
    match (given, address, own) {
        (Given::Own, ..) if is_connected(present) => return None,
        (Given::Own, Address::Other(_), _) => {}
        (Given::Own, Address::File(_), _) => name.extend_from_slice(&numbered(present)),
        (Given::Peer, _, Some(own)) => {
            name.extend_from_slice(own);
            name.extend_from_slice(b"->");
        }
        (Given::Peer, _, None) => {
            name.extend_from_slice(inode(present));
            name.extend_from_slice(b"->");
        }
    }
    address.push_to(&mut name);
    name.push(b']');
    Some(name)
}

/// The name of what a listener called `listener` accepted from `peer`, called `present` up to now.
pub(crate) fn accepted(
    protocol: Protocol,
    listener: &[u8],
    present: &[u8],
    peer: Option<&Address>,
) -> Option<Vec<u8>> {
    let prefix = prefix(protocol)?;
    let own = own_address(&prefix, listener).filter(|_| !is_connected(listener));
    let own = own.map(|own| own.strip_prefix(numbered(listener).as_slice()).unwrap_or(own));
    match (own, peer) {
        (Some(own), None) => Some([&prefix, numbered(present).as_slice(), own, b"]"].concat()),
        (own, Some(peer)) => {
            let mut name = [&prefix, own.unwrap_or_default(), b"->"].concat();
            peer.push_to(&mut name);
            name.push(b']');
            Some(name)
        }
        (None, None) => None,
    }
}

fn prefix(protocol: Protocol) -> Option<Vec<u8>> {
    Some([protocol.name()?.as_bytes(), b":["].concat())
}

/// A socket's own address, perhaps behind its inode, as its name shows it.
fn own_address<'a>(prefix: &[u8], name: &'a [u8]) -> Option<&'a [u8]> {
    let inner = name.strip_prefix(prefix)?.strip_suffix(b"]")?;
    let own = memchr::memmem::find(inner, b"->").map_or(inner, |arrow| &inner[..arrow]);
    Some(own).filter(|own| own.iter().any(|byte| !byte.is_ascii_digit()))
}

fn is_connected(name: &[u8]) -> bool {
    memchr::memmem::find(name, b"->").is_some()
}

/// Whether the name of a socket tells it and who is at its other end: `TCP:[127.0.0.1:80->127.0.0.1:9]`,
/// `UNIX-STREAM:[8->7,"/run/x"]`.
pub(crate) fn tells_both_ends(name: &[u8]) -> bool {
    let Some(bracket) = name.iter().position(|byte| *byte == b'[') else { return false };
    let inner = &name[bracket + 1..];
    let is_told = match inode(name) {
        b"" => memchr::memmem::find(inner, b"->").is_some_and(|arrow| arrow > 0),
        own => inner[own.len()..].strip_prefix(b"->").is_some_and(|peer| {
            let digits = peer.iter().take_while(|byte| byte.is_ascii_digit()).count();
            digits > 0 && matches!(peer.get(digits), Some(b']' | b','))
        }),
    };
    is_told && is_socket_name(name)
}

/// Whether a name may give way to one made from an address: it says less, or was made from another.
pub(crate) fn gives_way(name: &[u8], fd: Option<FdArg<'_>>) -> bool {
    let named_by_tracer = fd.is_some_and(|(_, hint)| hint.is_some());
    !named_by_tracer && (name == b"socket" || is_socket_name(name))
}

/// Whether an address is none, by which a socket parts with its peer.
pub(crate) fn is_none(text: &[u8]) -> bool {
    field(text, b"sa_family") == Some(b"AF_UNSPEC")
}

/// Whether descriptors may come with messages on a socket of that name.
pub(crate) fn carries_descriptors(protocol: Protocol, name: &[u8]) -> bool {
    const OTHERS: [&[u8]; 4] = [b"TCP", b"UDP", b"NETLINK", b"RAW"];
    match protocol {
        Protocol::UnixStream | Protocol::UnixDatagram | Protocol::UnixPacket => true,
        Protocol::Tcp | Protocol::TcpV6 | Protocol::Udp | Protocol::UdpV6 => false,
        Protocol::Unknown => !OTHERS.iter().any(|other| name.starts_with(other)),
    }
}

/// What a socket is called that has, or had, the peer in its name, if another one is not known; `None` if there is none in it, or it
/// cannot change.
pub(crate) fn without_peer(name: &[u8]) -> Option<Vec<u8>> {
    let may_change = name.starts_with(b"UDP") || name.starts_with(b"UNIX:[");
    (may_change && is_connected(name)).then(|| match inode(name) {
        b"" => b"socket".to_vec(),
        inode => [b"socket:[", inode, b"]"].concat(),
    })
}

/// The inode that a name shows, with a comma behind it if there is one.
fn numbered(name: &[u8]) -> Vec<u8> {
    match inode(name) {
        b"" => Vec::new(),
        inode => [inode, b","].concat(),
    }
}

/// The inode in `socket:[7]`, `TCP:[7->…]`, `UNIX:[7,…]`.
fn inode(name: &[u8]) -> &[u8] {
    let inner = name.iter().position(|byte| *byte == b'[').map_or(&[][..], |at| &name[at + 1..]);
    let digits = inner.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match inner.get(digits) {
        Some(b']' | b',' | b'-') => &inner[..digits],
        _ => &[],
    }
}

/// Sockets get a longer name as they are bound and connected.
pub(crate) fn is_socket_name(name: &[u8]) -> bool {
    const PREFIXES: [&[u8]; 6] = [b"socket:", b"TCP", b"UDP", b"UNIX", b"NETLINK", b"RAW"];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(address: Option<Address>) -> Option<String> {
        let mut name = Vec::new();
        address?.push_to(&mut name);
        String::from_utf8(name).ok()
    }

    #[test]
    fn addresses_are_read_as_strace_prints_them() {
        for (printed, expected) in [
            (r#"{sa_family=AF_UNIX, sun_path="/run/a, \"b\"}\303\251"}"#, Some("\"/run/a, \"b\"}é\"")),
            (r#"{sa_family=AF_UNIX, sun_path=@"abs"}"#, Some("@\"abs\"")),
            (
                r#"{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}"#,
                Some("127.0.0.1:80"),
            ),
            (
                r#"{sa_family=AF_INET6, sin6_port=htons(9), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}"#,
                Some("[::1]:9"),
            ),
            (r#"{sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr("0.0.0.0")}"#, None),
            ("{sa_family=AF_UNIX}", None),
            (r#"{sa_family=AF_UNIX, sun_path="/cut"#, None),
            ("{sa_family=AF_NETLINK, nl_pid=0}", None),
            ("", None),
        ] {
            assert_eq!(text(Address::parse(printed.as_bytes())).as_deref(), expected, "{printed}");
        }
    }

    #[test]
    fn names_that_tell_both_ends_are_told_from_those_that_tell_one() {
        for name in ["TCP:[127.0.0.1:80->127.0.0.1:9]", "UNIX-STREAM:[8->7,\"/run/x\"]", "UNIX-STREAM:[7->8]"]
        {
            assert!(tells_both_ends(name.as_bytes()), "{name}");
        }
        for name in [
            "TCP:[7->127.0.0.1:80]",
            "UNIX-STREAM:[7->\"/run/x\"]",
            "UNIX-STREAM:[7,\"a->b\"]",
            "socket:[7]",
            "socket",
            "/a[b->c]",
            "TCP:[->127.0.0.1:80]",
        ] {
            assert!(!tells_both_ends(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn inodes_stay_in_names() {
        assert_eq!(inode(b"socket:[77]"), b"77");
        assert_eq!(inode(b"TCP:[77->127.0.0.1:80]"), b"77");
        assert_eq!(inode(b"TCP:[127.0.0.1:80]"), b"");
        assert_eq!(inode(b"socket"), b"");
    }
}
