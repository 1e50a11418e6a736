//! Symbols of calls on sockets.

use super::others::counted;
use super::{Name, Set, bits, push};
use crate::stored::{ByteRange, Stored};
use std::io::Write as _;

counted! { FAMILY_NAMES: "AF_"
    UNSPEC UNIX INET AX25 IPX APPLETALK NETROM BRIDGE ATMPVC X25 INET6 ROSE DECnet NETBEUI SECURITY KEY NETLINK PACKET
    ASH ECONET ATMSVC RDS SNA IRDA PPPOX WANPIPE LLC IB MPLS CAN TIPC BLUETOOTH IUCV RXRPC ISDN PHONET IEEE802154 CAIF
    ALG NFC VSOCK KCM QIPCRTR SMC XDP MCTP
}

/// Address families.
pub(crate) static FAMILIES: &[Name] = FAMILY_NAMES;

static TYPES: &[Name] = &[
    (1, "SOCK_STREAM"),
    (2, "SOCK_DGRAM"),
    (3, "SOCK_RAW"),
    (4, "SOCK_RDM"),
    (5, "SOCK_SEQPACKET"),
    (6, "SOCK_DCCP"),
    (10, "SOCK_PACKET"),
];

const FLAG_BITS: &[Name] = &[(0x8_0000, "SOCK_CLOEXEC"), (0x800, "SOCK_NONBLOCK")];

pub(super) static FLAGS: Set = bits(FLAG_BITS);

/// `SOCK_STREAM|SOCK_CLOEXEC`
pub(super) fn write_type(value: u64, bytes: &mut Vec<u8>) -> Stored {
    const TYPE_MASK: u64 = 0xf;
    let start = bytes.len();
    let mut rest = value;
    if let Some((number, name)) = TYPES.iter().find(|(number, _)| *number == value & TYPE_MASK) {
        push(name, start, bytes);
        rest &= !number;
    }
    for (bit, name) in FLAG_BITS.iter().filter(|(bit, _)| value & bit != 0) {
        push(name, start, bytes);
        rest &= !bit;
    }
    if bytes.len() == start {
        return Stored::Int(value as i64);
    }
    if rest != 0 {
        let _ = write!(bytes, "|{rest:#x}");
    }
    Stored::Symbols(ByteRange::since(start, bytes))
}

pub(super) static MESSAGE: Set = bits(&[
    (1, "MSG_OOB"),
    (2, "MSG_PEEK"),
    (4, "MSG_DONTROUTE"),
    (8, "MSG_CTRUNC"),
    (0x10, "MSG_PROBE"),
    (0x20, "MSG_TRUNC"),
    (0x40, "MSG_DONTWAIT"),
    (0x80, "MSG_EOR"),
    (0x100, "MSG_WAITALL"),
    (0x200, "MSG_FIN"),
    (0x400, "MSG_SYN"),
    (0x800, "MSG_CONFIRM"),
    (0x1000, "MSG_RST"),
    (0x2000, "MSG_ERRQUEUE"),
    (0x4000, "MSG_NOSIGNAL"),
    (0x8000, "MSG_MORE"),
    (0x1_0000, "MSG_WAITFORONE"),
    (0x2_0000, "MSG_SENDPAGE_NOTLAST"),
    (0x4_0000, "MSG_BATCH"),
    (0x8_0000, "MSG_NO_SHARED_FRAGS"),
    (0x400_0000, "MSG_ZEROCOPY"),
    (0x2000_0000, "MSG_FASTOPEN"),
    (0x4000_0000, "MSG_CMSG_CLOEXEC"),
    (0x8000_0000, "MSG_CMSG_COMPAT"),
]);

counted! { SHUTDOWN: "SHUT_" RD WR RDWR }

pub(super) static LEVELS: &[Name] = &[
    (0, "SOL_IP"),
    (1, "SOL_SOCKET"),
    (6, "SOL_TCP"),
    (17, "SOL_UDP"),
    (40, "AF_VSOCK"),
    (41, "SOL_IPV6"),
    (58, "SOL_ICMPV6"),
    (132, "SOL_SCTP"),
    (136, "SOL_UDPLITE"),
    (255, "SOL_RAW"),
    (256, "SOL_IPX"),
    (263, "SOL_PACKET"),
    (270, "SOL_NETLINK"),
    (271, "SOL_TIPC"),
    (279, "SOL_ALG"),
    (282, "SOL_TLS"),
];

/// The options of a level.
pub(super) fn options(level: u64) -> &'static [Name] {
    match level {
        0 => IP,
        1 => SOCKET,
        6 => TCP,
        17 => UDP,
        41 => IPV6,
        _ => &[],
    }
}

static SOCKET: &[Name] = &[
    (1, "SO_DEBUG"),
    (2, "SO_REUSEADDR"),
    (3, "SO_TYPE"),
    (4, "SO_ERROR"),
    (5, "SO_DONTROUTE"),
    (6, "SO_BROADCAST"),
    (7, "SO_SNDBUF"),
    (8, "SO_RCVBUF"),
    (9, "SO_KEEPALIVE"),
    (10, "SO_OOBINLINE"),
    (11, "SO_NO_CHECK"),
    (12, "SO_PRIORITY"),
    (13, "SO_LINGER"),
    (14, "SO_BSDCOMPAT"),
    (15, "SO_REUSEPORT"),
    (16, "SO_PASSCRED"),
    (17, "SO_PEERCRED"),
    (18, "SO_RCVLOWAT"),
    (19, "SO_SNDLOWAT"),
    (20, "SO_RCVTIMEO_OLD"),
    (21, "SO_SNDTIMEO_OLD"),
    (25, "SO_BINDTODEVICE"),
    (27, "SO_DETACH_FILTER"),
    (28, "SO_PEERNAME"),
    (29, "SO_TIMESTAMP_OLD"),
    (30, "SO_ACCEPTCONN"),
    (31, "SO_PEERSEC"),
    (32, "SO_SNDBUFFORCE"),
    (33, "SO_RCVBUFFORCE"),
    (34, "SO_PASSSEC"),
    (35, "SO_TIMESTAMPNS_OLD"),
    (36, "SO_MARK"),
    (37, "SO_TIMESTAMPING_OLD"),
    (38, "SO_PROTOCOL"),
    (39, "SO_DOMAIN"),
    (40, "SO_RXQ_OVFL"),
    (42, "SO_PEEK_OFF"),
    (44, "SO_LOCK_FILTER"),
    (46, "SO_BUSY_POLL"),
    (47, "SO_MAX_PACING_RATE"),
    (49, "SO_INCOMING_CPU"),
    (50, "SO_ATTACH_BPF"),
    (55, "SO_MEMINFO"),
    (56, "SO_INCOMING_NAPI_ID"),
    (57, "SO_COOKIE"),
    (59, "SO_PEERGROUPS"),
    (60, "SO_ZEROCOPY"),
    (61, "SO_TXTIME"),
    (62, "SO_BINDTOIFINDEX"),
    (63, "SO_TIMESTAMP_NEW"),
    (64, "SO_TIMESTAMPNS_NEW"),
    (65, "SO_TIMESTAMPING_NEW"),
    (66, "SO_RCVTIMEO_NEW"),
    (67, "SO_SNDTIMEO_NEW"),
    (69, "SO_PREFER_BUSY_POLL"),
    (71, "SO_NETNS_COOKIE"),
    (75, "SO_RCVMARK"),
    (76, "SO_PASSPIDFD"),
    (77, "SO_PEERPIDFD"),
];

static TCP: &[Name] = &[
    (1, "TCP_NODELAY"),
    (2, "TCP_MAXSEG"),
    (3, "TCP_CORK"),
    (4, "TCP_KEEPIDLE"),
    (5, "TCP_KEEPINTVL"),
    (6, "TCP_KEEPCNT"),
    (7, "TCP_SYNCNT"),
    (8, "TCP_LINGER2"),
    (9, "TCP_DEFER_ACCEPT"),
    (10, "TCP_WINDOW_CLAMP"),
    (11, "TCP_INFO"),
    (12, "TCP_QUICKACK"),
    (13, "TCP_CONGESTION"),
    (14, "TCP_MD5SIG"),
    (18, "TCP_USER_TIMEOUT"),
    (23, "TCP_FASTOPEN"),
    (25, "TCP_NOTSENT_LOWAT"),
    (30, "TCP_FASTOPEN_CONNECT"),
    (31, "TCP_ULP"),
    (35, "TCP_ZEROCOPY_RECEIVE"),
    (36, "TCP_INQ"),
];

static UDP: &[Name] = &[
    (1, "UDP_CORK"),
    (100, "UDP_ENCAP"),
    (101, "UDP_NO_CHECK6_TX"),
    (102, "UDP_NO_CHECK6_RX"),
    (103, "UDP_SEGMENT"),
    (104, "UDP_GRO"),
];

static IP: &[Name] = &[
    (1, "IP_TOS"),
    (2, "IP_TTL"),
    (3, "IP_HDRINCL"),
    (4, "IP_OPTIONS"),
    (8, "IP_PKTINFO"),
    (10, "IP_MTU_DISCOVER"),
    (11, "IP_RECVERR"),
    (12, "IP_RECVTTL"),
    (13, "IP_RECVTOS"),
    (14, "IP_MTU"),
    (15, "IP_FREEBIND"),
    (19, "IP_TRANSPARENT"),
    (20, "IP_ORIGDSTADDR"),
    (21, "IP_MINTTL"),
    (24, "IP_BIND_ADDRESS_NO_PORT"),
    (32, "IP_MULTICAST_IF"),
    (33, "IP_MULTICAST_TTL"),
    (34, "IP_MULTICAST_LOOP"),
    (35, "IP_ADD_MEMBERSHIP"),
    (36, "IP_DROP_MEMBERSHIP"),
    (49, "IP_MULTICAST_ALL"),
    (50, "IP_UNICAST_IF"),
];

static IPV6: &[Name] = &[
    (1, "IPV6_ADDRFORM"),
    (7, "IPV6_CHECKSUM"),
    (16, "IPV6_UNICAST_HOPS"),
    (17, "IPV6_MULTICAST_IF"),
    (18, "IPV6_MULTICAST_HOPS"),
    (19, "IPV6_MULTICAST_LOOP"),
    (20, "IPV6_ADD_MEMBERSHIP"),
    (21, "IPV6_DROP_MEMBERSHIP"),
    (23, "IPV6_MTU_DISCOVER"),
    (24, "IPV6_MTU"),
    (25, "IPV6_RECVERR"),
    (26, "IPV6_V6ONLY"),
    (29, "IPV6_MULTICAST_ALL"),
    (49, "IPV6_RECVPKTINFO"),
    (50, "IPV6_PKTINFO"),
    (51, "IPV6_RECVHOPLIMIT"),
    (52, "IPV6_HOPLIMIT"),
    (62, "IPV6_DONTFRAG"),
    (66, "IPV6_RECVTCLASS"),
    (67, "IPV6_TCLASS"),
    (70, "IPV6_AUTOFLOWLABEL"),
    (74, "IPV6_ORIGDSTADDR"),
    (75, "IPV6_TRANSPARENT"),
    (76, "IPV6_UNICAST_IF"),
    (78, "IPV6_FREEBIND"),
];
