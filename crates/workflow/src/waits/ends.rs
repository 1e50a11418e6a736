//! Which channels of a log belong together: a pipe is one thing to both its users, a socket has another one at its end.
//!
//! | name of a socket | told |
//! |---|---|
//! | `TCP:[127.0.0.1:80->10.0.0.7:4711]` | both ends, by their addresses; IPv4 within IPv6 (`::ffff:127.0.0.1`) is IPv4 |
//! | `UNIX-STREAM:[8->7,"/run/x"]` | both ends, by their inodes |
//! | `socket:[7]`, `UNIX-STREAM:[7->"/run/x"]`, `TCP:[7->127.0.0.1:80]` | the inode of this end |
//! | `TCP:[127.0.0.1:80]`, `socket`, `pipe` | nothing that tells it from others |
//!
//! What told one end, an inode, may be told of the other by a name of that one, or by the call that made both (`socketpair`).
//! Several names of one socket are one channel.
//!
//! Data that are written to a socket arrive at the other one: each direction of a connection is called by the end that sends,
//! whose name reads `from->to`.

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::PathId;
use iotrail_trail::EventLog;
use std::borrow::Cow;

/// The channels of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Channels {
    /// By path, the channel that it names.
    of_paths: HashMap<PathId, PathId, RandomState>,
    /// The other end of each socket of which that is known.
    peers: HashMap<PathId, PathId, RandomState>,
    /// Channels that have another end which is not they themselves: sockets, and pipes that cannot be told apart.
    two_ended: HashSet<PathId, RandomState>,
    /// The name of each channel that says most.
    names: HashMap<PathId, (PathId, Box<str>), RandomState>,
}

impl Channels {
    /// The channels among the paths of a log.
    pub(crate) fn of(log: &EventLog) -> Self {
        let names = log.names().paths.iter().enumerate();
        let named = names.filter_map(|(id, path)| {
            let row = log.files().get(id)?;
            Some((PathId::from_index(id), &**path, row.kind.as_deref()?))
        });
        Self::named(named)
    }

    fn named<'a>(paths: impl Iterator<Item = (PathId, &'a str, &'a str)>) -> Self {
        let mut channels = Self::default();
        let mut of_ends: HashMap<End<'a>, PathId, RandomState> = HashMap::default();
        let mut pairs = Vec::new();
        for (id, path, kind) in paths {
            let own = match kind {
                "pipe" if path.starts_with('/') || path.contains('[') => {
                    channels.of_paths.insert(id, id);
                    continue;
                }
                "pipe" => None,
                "socket" => {
                    let (own, peer) = ends(path);
                    pairs.extend(own.clone().zip(peer));
                    own
                }
                _ => continue,
            };
            let channel = own.map_or(id, |own| *of_ends.entry(own).or_insert(id));
            channels.of_paths.insert(id, channel);
            let says = |name: &str| (ends(name).1.is_some(), name.len());
            let known = channels.names.entry(channel).or_insert_with(|| (id, path.into()));
            if says(path) > says(&known.1) {
                *known = (id, path.into());
            }
            channels.two_ended.insert(channel);
        }
        for (own, peer) in pairs {
            if let (Some(own), Some(peer)) = (of_ends.get(&own), of_ends.get(&peer)) {
                channels.join(*own, *peer);
            }
        }
        channels
    }

    /// The channel that a path names, if it is one.
    pub(crate) fn of_path(&self, path: PathId) -> Option<PathId> {
        self.of_paths.get(&path).copied()
    }

    /// Two sockets are connected.
    pub(crate) fn join(&mut self, one: PathId, other: PathId) {
        if one != other {
            self.peers.insert(one, other);
            self.peers.insert(other, one);
        }
    }

    /// The direction of a connection that data take which are written to this path: its name where both ends are known, else
    /// the path.
    pub(crate) fn sends(&self, path: PathId) -> PathId {
        let own = self.of_path(path).filter(|own| self.peers.contains_key(own));
        own.map_or(path, |own| self.names[&own].0)
    }

    /// The direction of a connection from which data come that are read from this path.
    pub(crate) fn receives(&self, path: PathId) -> PathId {
        let peer = self.of_path(path).and_then(|own| self.peers.get(&own));
        peer.map_or(path, |peer| self.names[peer].0)
    }

    /// Whether a path is that of a socket whose other end is known.
    pub(crate) fn is_connected(&self, path: PathId) -> bool {
        self.of_path(path).is_some_and(|own| self.peers.contains_key(&own))
    }

    /// What to call the direction of a connection whose name does not tell where it leads.
    pub(crate) fn label(&self, path: PathId) -> Option<String> {
        let own = self.of_path(path)?;
        let [own, peer] = [own, *self.peers.get(&own)?].map(|end| &*self.names[&end].1);
        let (Some(End::Inode(from)), None) = ends(own) else { return None };
        let (Some(End::Inode(to)), _) = ends(peer) else { return None };
        let kind = own.split(":[").next().unwrap_or_default();
        Some(format!("{kind}:[{from}->{to}]"))
    }

    /// What those use who are at the other end of a channel; `None` if that is not known.
    pub(crate) fn far_end(&self, channel: PathId) -> Option<PathId> {
        match self.peers.get(&channel) {
            Some(peer) => Some(*peer),
            None => Some(channel).filter(|channel| !self.two_ended.contains(channel)),
        }
    }
}

/// What tells one end of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum End<'a> {
    Inode(&'a str),
    /// Protocol, own address, address of the peer.
    Addresses(&'a str, Cow<'a, str>, Cow<'a, str>),
}

/// What the name of a socket tells of it and of its other end.
fn ends(name: &str) -> (Option<End<'_>>, Option<End<'_>>) {
    let Some((protocol, inner)) = name.strip_suffix(']').and_then(|name| name.split_once(":[")) else {
        return (None, None);
    };
    let is_inode = |(_, rest): &(&str, &str)| is_over(rest) || rest.starts_with("->");
    if let Some((own, rest)) = number(inner).filter(is_inode) {
        let peer = rest.strip_prefix("->").and_then(number).filter(|(_, rest)| is_over(rest));
        return (Some(End::Inode(own)), peer.map(|(peer, _)| End::Inode(peer)));
    }
    let protocol = match protocol {
        "TCP" | "TCPv6" => "TCP",
        "UDP" | "UDPv6" => "UDP",
        _ => return (None, None),
    };
    match inner.split_once("->").map(|(own, peer)| (plain(own), plain(peer))) {
        Some((own, peer)) if !own.is_empty() => (
            Some(End::Addresses(protocol, own.clone(), peer.clone())),
            Some(End::Addresses(protocol, peer, own)),
        ),
        _ => (None, None),
    }
}

/// The digits that a text begins with, and what follows them.
fn number(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| text.split_at(digits))
}

/// Whether nothing follows an inode but perhaps the socket's own address.
fn is_over(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(',')
}

/// An address; IPv4 within IPv6 as IPv4.
fn plain(address: &str) -> Cow<'_, str> {
    let within = address.strip_prefix("[::ffff:").and_then(|rest| rest.split_once("]:"));
    match within.filter(|(host, _)| host.contains('.')) {
        Some((host, port)) => Cow::Owned(format!("{host}:{port}")),
        None => Cow::Borrowed(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The channels of sockets, and of pipes, with these names.
    fn channels(names: &[&str]) -> Channels {
        let kind =
            |name: &str| if name.starts_with("pipe") || name.starts_with('/') { "pipe" } else { "socket" };
        let paths = names.iter().enumerate().map(|(id, name)| (PathId::from_index(id), *name, kind(name)));
        Channels::named(paths)
    }

    /// The place of the other end of the first name.
    fn far_end(names: &[&str]) -> Option<usize> {
        let channels = channels(names);
        let first = channels.of_path(PathId(0)).unwrap();
        channels.far_end(first).map(PathId::index)
    }

    #[test]
    fn names_that_tell_both_ends_are_joined() {
        for names in [
            ["TCP:[127.0.0.1:80->10.0.0.7:4711]", "TCP:[10.0.0.7:4711->127.0.0.1:80]"],
            ["TCP:[127.0.0.1:9->127.0.0.1:80]", "TCPv6:[[::ffff:127.0.0.1]:80->[::ffff:127.0.0.1]:9]"],
            ["TCPv6:[[::1]:80->[::1]:9]", "TCPv6:[[::1]:9->[::1]:80]"],
            ["UDP:[127.0.0.1:80->127.0.0.1:9]", "UDP:[127.0.0.1:9->127.0.0.1:80]"],
            ["UNIX-STREAM:[7->8]", "UNIX-STREAM:[8->7,\"/run/x\"]"],
            ["UNIX-STREAM:[7->\"/run/x\"]", "UNIX-STREAM:[8->7,@\"x\"]"],
            ["UNIX-STREAM:[8->7,\"/run/->9]\"]", "socket:[7]"],
        ] {
            assert_eq!(far_end(&names), Some(1), "{names:?}");
            assert_eq!(far_end(&[names[1], names[0]]), Some(1), "{names:?}");
        }
    }

    #[test]
    fn what_has_no_known_other_end_has_none() {
        for names in [
            ["TCP:[127.0.0.1:80->10.0.0.7:4711]", "TCP:[10.0.0.7:4712->127.0.0.1:80]"],
            ["TCP:[7->127.0.0.1:80]", "TCP:[127.0.0.1:80->7]"],
            ["TCP:[127.0.0.1:80->127.0.0.1:9]", "UDP:[127.0.0.1:9->127.0.0.1:80]"],
            ["socket:[7]", "socket:[8]"],
            ["UNIX-STREAM:[7,\"/run/x\"]", "UNIX-STREAM:[8->\"/run/x\"]"],
            ["UNIX-STREAM:[7->\"8]\"]", "UNIX-STREAM:[8]"],
            ["socket", "socket:[7]"],
            ["TCP:[->127.0.0.1:80]", "TCP:[127.0.0.1:80->]"],
            ["pipe", "pipe:[7]"],
        ] {
            assert_eq!(far_end(&names), None, "{names:?}");
        }
    }

    #[test]
    fn a_pipe_is_its_own_other_end_and_the_names_of_one_socket_are_one_channel() {
        assert_eq!(far_end(&["pipe:[7]"]), Some(0));
        assert_eq!(far_end(&["/tmp/fifo"]), Some(0));
        let mut channels = channels(&["socket:[7]", "UNIX-STREAM:[7->\"x\"]", "socket:[8]"]);
        assert_eq!(channels.of_path(PathId(1)), Some(PathId(0)));
        channels.join(PathId(0), PathId(2));
        assert_eq!(channels.far_end(PathId(2)), Some(PathId(0)));
    }

    #[test]
    fn each_direction_of_a_connection_is_called_by_the_end_that_sends() {
        let tcp = channels(&["TCP:[1.1.1.1:80->1.1.1.1:9]", "TCP:[1.1.1.1:9->1.1.1.1:80]", "socket:[7]"]);
        assert_eq!([tcp.sends(PathId(0)), tcp.receives(PathId(1))], [PathId(0); 2]);
        assert_eq!([tcp.sends(PathId(1)), tcp.receives(PathId(0))], [PathId(1); 2]);
        assert_eq!([tcp.sends(PathId(2)), tcp.receives(PathId(2))], [PathId(2); 2], "its peer is not known");
        assert_eq!(tcp.label(PathId(0)), None, "the name tells both ends");
        let mut pair = channels(&["socket:[7]", "socket:[8]"]);
        pair.join(PathId(0), PathId(1));
        assert_eq!([pair.sends(PathId(1)), pair.receives(PathId(0))], [PathId(1); 2]);
        assert_eq!(pair.label(PathId(1)).as_deref(), Some("socket:[8->7]"));
        let local =
            channels(&["socket:[7]", "UNIX-STREAM:[7->8]", "socket:[8]", "UNIX-STREAM:[8->7,\"/x\"]"]);
        assert_eq!([local.sends(PathId(0)), local.receives(PathId(2))], [PathId(1); 2]);
        assert_eq!(local.receives(PathId(1)), PathId(3));
    }
}
