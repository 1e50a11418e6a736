//! Both ends of a connected socket of a traced process.
//!
//! The program need not ask for the addresses of its sockets, so they are asked for here: of a copy of its descriptor
//! (`pidfd_getfd`, since Linux 5.6), which is closed at once. A local socket has no address that tells it from others of the same
//! server; its peer's inode comes from `sock_diag` (`man 7 sock_diag`), which answers for the network namespace that the
//! recorder is in. The kernel answers a request while it is sent, so nothing here waits. Names have the form of strace's `-yy`.

use super::taskstats::attribute;
use iotrail_model::Pid;
use rustix::fd::OwnedFd;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType, getpeername,
    getsockname, ipproto, recv, sendto, socket_with, sockopt,
};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::net::SocketAddr;

const HEADER: usize = 16;
/// Header and `struct unix_diag_msg`.
const HEADERS: usize = HEADER + 16;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const AF_UNIX: u8 = 1;
const UDIAG_SHOW_PEER: u32 = 4;
const UNIX_DIAG_PEER: u16 = 2;

/// The name of a connected socket: `TCP:[127.0.0.1:80->127.0.0.1:9]`, `UNIX-STREAM:[8->7,"/run/x"]`. `None` if it is not
/// connected, if it may not be looked at, or if there is no such name for it.
pub(crate) fn ends(process: Pid, fd: i32) -> Option<Vec<u8>> {
    let process = rustix::process::Pid::from_raw(i32::try_from(process.0).ok()?)?;
    let process = pidfd_open(process, PidfdFlags::empty()).ok()?;
    name(&pidfd_getfd(process, fd, PidfdGetfdFlags::empty()).ok()?)
}

fn name(socket: &OwnedFd) -> Option<Vec<u8>> {
    let own = getsockname(socket).ok()?;
    let kind = sockopt::socket_type(socket).ok()?;
    if own.address_family() == AddressFamily::UNIX {
        return local(socket, kind, &own);
    }
    let peer = SocketAddr::try_from(getpeername(socket).ok()??).ok()?;
    let own = SocketAddr::try_from(own).ok()?;
    let protocol = match (kind, sockopt::socket_protocol(socket).ok()?) {
        (SocketType::STREAM, Some(ipproto::TCP)) => "TCP",
        (SocketType::DGRAM, Some(ipproto::UDP)) => "UDP",
        _ => return None,
    };
    let version = if own.is_ipv6() { "v6" } else { "" };
    Some(format!("{protocol}{version}:[{}->{}]", text(own), text(peer)).into_bytes())
}

/// Without the scope of a link-local address, which names of sockets do not have.
fn text(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => address.to_string(),
        SocketAddr::V6(address) => format!("[{}]:{}", address.ip(), address.port()),
    }
}

fn local(socket: &OwnedFd, kind: SocketType, own: &SocketAddrAny) -> Option<Vec<u8>> {
    let prefix = match kind {
        SocketType::STREAM => "UNIX-STREAM",
        SocketType::SEQPACKET => "UNIX-SEQPACKET",
        _ => return None,
    };
    let inode = u32::try_from(rustix::fs::fstat(socket).ok()?.st_ino).ok()?;
    let mut name = format!("{prefix}:[{inode}->{}", peer_of(inode)?).into_bytes();
    let own = SocketAddrUnix::try_from(own.clone()).ok()?;
    let (mark, address) = match (own.path_bytes(), own.abstract_name()) {
        (Some(path), _) => ("", path),
        (None, Some(address)) => ("@", address),
        (None, None) => ("", &b""[..]),
    };
    if !address.is_empty() {
        name.extend_from_slice(format!(",{mark}\"").as_bytes());
        name.extend_from_slice(address);
        name.push(b'"');
    }
    name.push(b']');
    Some(name)
}

/// The inode of the peer of a local socket.
fn peer_of(inode: u32) -> Option<u32> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let protocol = Some(netlink::SOCK_DIAG);
    let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol).ok()?;
    sendto(&kernel, &request(inode), SendFlags::empty(), &SocketAddrNetlink::new(0, 0)).ok()?;
    let mut buffer = [0; 512];
    let (length, _) = recv(&kernel, &mut buffer[..], RecvFlags::DONTWAIT).ok()?;
    peer_in(buffer.get(..length)?)
}

fn request(inode: u32) -> Vec<u8> {
    const LENGTH: u32 = 40;
    let mut message = Vec::with_capacity(LENGTH as usize);
    message.extend(LENGTH.to_ne_bytes());
    message.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    // Sequence, and the port of the sender, which the kernel fills in.
    message.extend([0; 8]);
    message.extend([AF_UNIX, 0, 0, 0]);
    message.extend(u32::MAX.to_ne_bytes());
    message.extend(inode.to_ne_bytes());
    message.extend(UDIAG_SHOW_PEER.to_ne_bytes());
    // No cookie.
    message.extend([0xff; 8]);
    message
}

/// The peer in an answer; none in an error, and if the other end is closed.
fn peer_in(answer: &[u8]) -> Option<u32> {
    if answer.get(4..6)? != SOCK_DIAG_BY_FAMILY.to_ne_bytes() {
        return None;
    }
    let peer = attribute(answer.get(HEADERS..)?, UNIX_DIAG_PEER)?.get(..4)?;
    peer.try_into().ok().map(u32::from_ne_bytes).filter(|peer| *peer != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::{UnixListener, UnixStream};

    fn of(socket: &impl AsRawFd) -> Option<String> {
        ends(Pid(std::process::id()), socket.as_raw_fd()).map(|name| String::from_utf8(name).unwrap())
    }

    #[test]
    fn the_names_of_both_ends_of_a_connection_mirror_each_other() {
        let server = TcpListener::bind("0.0.0.0:0").unwrap();
        let client = TcpStream::connect(("127.0.0.1", server.local_addr().unwrap().port())).unwrap();
        let accepted = server.accept().unwrap().0;
        let (one, other) = (client.local_addr().unwrap(), client.peer_addr().unwrap());
        assert_eq!(of(&client), Some(format!("TCP:[{one}->{other}]")));
        assert_eq!(of(&accepted), Some(format!("TCP:[{other}->{one}]")));
        assert_eq!((of(&server), of(&UdpSocket::bind("127.0.0.1:0").unwrap())), (None, None));
    }

    #[test]
    fn a_local_socket_tells_its_peer() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("listening");
        let server = UnixListener::bind(&path).unwrap();
        let client = UnixStream::connect(&path).unwrap();
        let accepted = server.accept().unwrap().0;
        let inode = |socket: &UnixStream| rustix::fs::fstat(socket).unwrap().st_ino;
        let (one, other) = (inode(&client), inode(&accepted));
        if of(&client).is_none() {
            eprintln!("NOT TESTED: the kernel does not tell the peers of local sockets here");
            return;
        }
        assert_eq!(of(&client), Some(format!("UNIX-STREAM:[{one}->{other}]")));
        assert_eq!(of(&accepted), Some(format!("UNIX-STREAM:[{other}->{one},{path:?}]")));
        assert_eq!(of(&server), None);
        drop(client);
        assert_eq!(of(&accepted), None, "nobody is at the other end any more");
    }

    #[test]
    fn errors_and_cut_answers_tell_nothing() {
        let mut answer = vec![0; HEADERS];
        answer[4] = SOCK_DIAG_BY_FAMILY as u8;
        assert_eq!(peer_in(&answer), None);
        answer.extend([8, 0, UNIX_DIAG_PEER as u8, 0, 7, 0, 0, 0]);
        assert_eq!(peer_in(&answer), Some(7));
        for length in 0..answer.len() {
            assert_eq!(peer_in(&answer[..length]), None, "{length}");
        }
        answer[4] = 2;
        assert_eq!(peer_in(&answer), None);
    }
}
