//! taskstats over generic netlink: how long a process waited for storage.
//!
//! The messages are those of `linux/netlink.h`, `linux/genetlink.h` and `linux/taskstats.h`: a header of 16 bytes, one of
//! 4, and attributes (length, type, value, padded to 4 bytes). The kernel answers a request while it is sent, so an
//! answer is there at once or never, and nothing here waits.

use iotrail_model::{Nanos, Pid};
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};
use std::os::fd::OwnedFd;

const HEADERS: usize = 20;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const GENL_ID_CTRL: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const TASKSTATS_CMD_GET: u8 = 1;
const TASKSTATS_CMD_ATTR_TGID: u16 = 2;
const TASKSTATS_TYPE_STATS: u16 = 3;
const TASKSTATS_TYPE_AGGR_TGID: u16 = 5;
/// Of `struct taskstats`, in all versions: `blkio_delay_total`.
const BLKIO_DELAY_TOTAL: usize = 40;
/// Marks of nested attributes and byte order, no part of the type.
const NLA_TYPE: u16 = 0x3fff;

/// A socket on which the kernel answers.
#[derive(Debug)]
pub(crate) struct Taskstats {
    socket: OwnedFd,
    family: u16,
    sequence: u32,
}

impl Taskstats {
    /// Asks for the answers once; `None` if the kernel does not count delays or does not tell us.
    pub(crate) fn open() -> Option<Self> {
        if std::fs::read("/proc/sys/kernel/task_delayacct").is_ok_and(|on| on.trim_ascii() == b"0") {
            return None;
        }
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let protocol = Some(netlink::GENERIC);
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol).ok()?;
        let mut opened = Self { socket, family: GENL_ID_CTRL, sequence: 0 };
        let answer = opened.ask(CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, b"TASKSTATS\0")?;
        opened.family = attribute(&answer, CTRL_ATTR_FAMILY_ID).and_then(two_bytes)?;
        opened.io_delay(Pid(std::process::id())).map(|_| opened)
    }

    /// How long the threads of process `pid` waited for storage in all, those included that have ended.
    pub(crate) fn io_delay(&mut self, pid: Pid) -> Option<Nanos> {
        let answer = self.ask(TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_TGID, &pid.0.to_ne_bytes())?;
        delay(&answer)
    }

    /// The attributes of the answer to a request with one attribute.
    fn ask(&mut self, command: u8, kind: u16, value: &[u8]) -> Option<Vec<u8>> {
        self.sequence = self.sequence.wrapping_add(1);
        let message = request(self.family, self.sequence, command, kind, value);
        sendto(&self.socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0)).ok()?;
        let mut buffer = [0; 4096];
        loop {
            let (length, _) = recv(&self.socket, &mut buffer[..], RecvFlags::DONTWAIT).ok()?;
            match answer(buffer.get(..length)?, self.sequence) {
                Answer::Attributes(attributes) => return Some(attributes.to_vec()),
                Answer::Refused => return None,
                Answer::Other => {}
            }
        }
    }
}

fn request(family: u16, sequence: u32, command: u8, kind: u16, value: &[u8]) -> Vec<u8> {
    let attribute = (4 + value.len()) as u16;
    let length = HEADERS + usize::from(attribute).next_multiple_of(4);
    let mut message = Vec::with_capacity(length);
    message.extend((length as u32).to_ne_bytes());
    message.extend(family.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    message.extend(sequence.to_ne_bytes());
    // The port of the sender is filled in by the kernel; the version of both families' commands is 1.
    message.extend(0_u32.to_ne_bytes());
    message.extend([command, 1, 0, 0]);
    message.extend(attribute.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(value);
    message.resize(length, 0);
    message
}

/// What a message is to the request `sequence`.
#[derive(Debug, PartialEq, Eq)]
enum Answer<'a> {
    Attributes(&'a [u8]),
    Refused,
    Other,
}

fn answer(message: &[u8], sequence: u32) -> Answer<'_> {
    let of_request = message.get(8..12) == Some(&sequence.to_ne_bytes()[..]);
    match message.get(4..6).and_then(two_bytes) {
        Some(_) if !of_request => Answer::Other,
        Some(NLMSG_ERROR) | None => Answer::Refused,
        Some(_) => message.get(HEADERS..).map_or(Answer::Refused, Answer::Attributes),
    }
}

/// The delay in the attributes of an answer.
fn delay(answer: &[u8]) -> Option<Nanos> {
    let stats = attribute(attribute(answer, TASKSTATS_TYPE_AGGR_TGID)?, TASKSTATS_TYPE_STATS)?;
    let bytes = stats.get(BLKIO_DELAY_TOTAL..BLKIO_DELAY_TOTAL + 8)?;
    i64::try_from(u64::from_ne_bytes(bytes.try_into().ok()?)).ok().map(Nanos)
}

/// The value of the first attribute of that type.
pub(super) fn attribute(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(two_bytes(attributes.get(..2)?)?);
        let kind = two_bytes(attributes.get(2..4)?)? & NLA_TYPE;
        let value = attributes.get(4..length)?;
        if kind == wanted {
            return Some(value);
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

fn two_bytes(bytes: &[u8]) -> Option<u16> {
    bytes.get(..2)?.try_into().ok().map(u16::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = [&((4 + value.len()) as u16).to_ne_bytes(), &kind.to_ne_bytes(), value].concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn a_request_asks_for_the_family_by_its_name() {
        let message = request(GENL_ID_CTRL, 7, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, b"TASKSTATS\0");
        assert_eq!(message.len(), 36);
        assert_eq!(message[..4], 36_u32.to_ne_bytes());
        assert_eq!(attribute(&message[HEADERS..], CTRL_ATTR_FAMILY_NAME), Some(&b"TASKSTATS\0"[..]));
    }

    #[test]
    fn the_delay_is_found_in_the_nested_answer() {
        let mut stats = vec![0; 400];
        stats[BLKIO_DELAY_TOTAL..BLKIO_DELAY_TOTAL + 8].copy_from_slice(&1_234_567_u64.to_ne_bytes());
        let nested =
            [packed(2, &9_u32.to_ne_bytes()), packed(6, b""), packed(TASKSTATS_TYPE_STATS, &stats)].concat();
        let answer = [packed(9, b"x"), packed(TASKSTATS_TYPE_AGGR_TGID | 0x8000, &nested)].concat();
        assert_eq!(delay(&answer), Some(Nanos(1_234_567)));
        assert_eq!(delay(&answer[..answer.len() - 380]), None);
    }

    #[test]
    fn refusals_and_answers_to_others_are_told_apart() {
        let mut message = request(NLMSG_ERROR, 3, 0, 0, b"");
        assert_eq!(answer(&message, 3), Answer::Refused);
        assert_eq!(answer(&message, 4), Answer::Other);
        message[4] = 99;
        assert!(matches!(answer(&message, 3), Answer::Attributes(_)));
        assert_eq!(answer(b"", 3), Answer::Refused);
    }

    #[test]
    fn the_kernel_understands_the_request() {
        match Taskstats::open() {
            Some(mut taskstats) => {
                let own = taskstats.io_delay(Pid(std::process::id()));
                assert!(own.is_some_and(|delay| delay.0 >= 0));
                assert_eq!(taskstats.io_delay(Pid(u32::MAX >> 4)), None);
            }
            None => eprintln!("NOT TESTED: delay accounting is off here, or CAP_NET_ADMIN is missing"),
        }
    }

    proptest! {
        #[test]
        fn no_message_makes_it_panic_or_spin(message in prop::collection::vec(any::<u8>(), 0..100)) {
            answer(&message, 1);
            delay(&message);
            attribute(&message, 3);
        }
    }
}
