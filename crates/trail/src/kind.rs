//! What a path is, as far as its name tells.

use iotrail_model::canonical::canonical;

/// The kind of what is called `path`; `None` if the name does not tell.
///
/// A trace shows names only. What lies under `/dev` is told by the kernel's fixed device names; anything else there
/// (`/dev/shm/x`) may be a file.
pub(crate) fn kind_of(path: &str) -> Option<&'static str> {
    if path.starts_with("pipe:[") {
        return Some("pipe");
    }
    if path.starts_with("anon_inode:") {
        return Some("anon");
    }
    if path.starts_with("socket:[") || canonical(path).starts_with("socket:") && path.ends_with(']') {
        return Some("socket");
    }
    path.strip_prefix("/dev/").and_then(device_kind)
}

fn device_kind(name: &str) -> Option<&'static str> {
    const CHARACTER: [&str; 10] =
        ["null", "zero", "full", "random", "urandom", "tty", "console", "ptmx", "kmsg", "fuse"];
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    let disk = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_lowercase()))
    };
    if CHARACTER.contains(&name) || numbered("tty") || numbered("ttyS") || numbered("pts/") {
        Some("char")
    } else if numbered("nvme") && name.contains('n') && name[4..].contains('n')
        || ["loop", "dm-", "md", "sr"].into_iter().any(numbered)
        || ["sd", "vd", "xvd", "hd"].into_iter().any(disk) && !name.contains('/')
    {
        Some("block")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::kind_of;

    #[test]
    fn names_that_tell_what_they_are() {
        for (path, kind) in [
            ("pipe:[7]", Some("pipe")),
            ("socket:[9]", Some("socket")),
            ("TCP:[127.0.0.1:80->127.0.0.1:9]", Some("socket")),
            ("UNIX-SEQPACKET:[7->\"/run/x\"]", Some("socket")),
            ("NETLINK:[ROUTE:77]", Some("socket")),
            ("anon_inode:[eventfd]", Some("anon")),
            ("/dev/null", Some("char")),
            ("/dev/pts/3", Some("char")),
            ("/dev/sda1", Some("block")),
            ("/dev/nvme0n1", Some("block")),
            ("/dev/nvme0", None),
            ("/dev/shm/data", None),
            ("/home/pipe:[7]", None),
            ("", None),
        ] {
            assert_eq!(kind_of(path), kind, "{path}");
        }
    }
}
