//! Socket addresses as text: `{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}`.

use super::layout::{u16_at, u32_at};
use super::stored::{ByteRange, Stored};
use super::symbols::FAMILIES;
use crate::Memory;
use std::io::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The longest address (`struct sockaddr_storage`).
const MAX_ADDRESS: usize = 128;
const AF_UNIX: u16 = 1;
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;
const AF_NETLINK: u16 = 16;

/// The address of `length` bytes at `address`.
pub(super) fn socket(address: u64, length: u64, memory: &impl Memory, bytes: &mut Vec<u8>) -> Stored {
    if address == 0 {
        return Stored::Null;
    }
    let mut buffer = [0; MAX_ADDRESS];
    let length = usize::try_from(length & 0xffff_ffff).map_or(MAX_ADDRESS, |length| length.min(MAX_ADDRESS));
    if length < 2 || memory.read(address, &mut buffer[..length]) < length {
        return Stored::Opaque;
    }
    let start = bytes.len();
    push_address(&buffer[..length], bytes);
    Stored::Text(ByteRange::since(start, bytes))
}

fn push_address(address: &[u8], bytes: &mut Vec<u8>) {
    let family = u16_at(address, 0);
    match FAMILIES.get(usize::from(family)) {
        Some((_, name)) => drop(write!(bytes, "{{sa_family={name}")),
        None => drop(write!(bytes, "{{sa_family={family:#x}")),
    }
    match family {
        AF_UNIX => push_unix(&address[2..], bytes),
        AF_INET if address.len() >= 8 => push_internet(address, bytes),
        AF_INET6 if address.len() >= 24 => push_internet6(address, bytes),
        AF_NETLINK if address.len() >= 12 => {
            let _ = write!(bytes, ", nl_pid={}, nl_groups={:#08x}", u32_at(address, 4), u32_at(address, 8));
        }
        _ => {}
    }
    bytes.push(b'}');
}

fn port(address: &[u8]) -> u16 {
    u16::from_be(u16_at(address, 2))
}

fn push_internet(address: &[u8], bytes: &mut Vec<u8>) {
    let ip = Ipv4Addr::from_bits(u32::from_be(u32_at(address, 4)));
    let _ = write!(bytes, ", sin_port=htons({}), sin_addr=inet_addr(\"{ip}\")", port(address));
}

fn push_internet6(address: &[u8], bytes: &mut Vec<u8>) {
    let mut octets = [0; 16];
    octets.copy_from_slice(&address[8..24]);
    let (ip, flow) = (Ipv6Addr::from(octets), u32::from_be(u32_at(address, 4)));
    let _ = write!(bytes, ", sin6_port=htons({}), sin6_flowinfo=htonl({flow})", port(address));
    let _ = write!(bytes, ", inet_pton(AF_INET6, \"{ip}\", &sin6_addr)");
    if address.len() >= 28 {
        let _ = write!(bytes, ", sin6_scope_id={}", u32_at(address, 24));
    }
}

/// A path ends at its first NUL; an abstract name begins with one and takes all bytes.
fn push_unix(path: &[u8], bytes: &mut Vec<u8>) {
    let (mark, name) = match path {
        [] => return,
        [0, name @ ..] => ("@", name),
        path => ("", path.split(|byte| *byte == 0).next().unwrap_or(path)),
    };
    let _ = write!(bytes, ", sun_path={mark}\"");
    for byte in name {
        match byte {
            b'"' | b'\\' => bytes.extend_from_slice(&[b'\\', *byte]),
            b' '..=b'~' => bytes.push(*byte),
            _ => drop(write!(bytes, "\\{byte:03o}")),
        }
    }
    bytes.push(b'"');
}
