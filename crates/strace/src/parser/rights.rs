//! Descriptors that a message takes or brings along: `{cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[3</a>, 4]}`.

use super::arguments::target;
use super::escape::Scratch;
use super::scan::{angle_end, field, number, structure};
use super::sink::{Out, Sink};
use iotrail_model::Tid;
use iotrail_model::raw::RawItem;

/// Reports the descriptors that a call sends. If not all of them can be told, any of the thread's may have been sent too.
#[inline]
pub(super) fn emit_sent(name: &[u8], tid: Tid, text: &[u8], out: &mut Out<'_, impl Sink>) {
    if name.starts_with(b"sendm") {
        emit_rights(tid, text, out);
    }
}

/// Reports the descriptors that a call received.
#[inline]
pub(super) fn emit_received<'s>(
    name: &[u8],
    tid: Tid,
    text: &'s [u8],
    scratch: &mut Scratch<'s>,
    out: &mut Out<'_, impl Sink>,
) {
    if name.starts_with(b"recvm") {
        for rights in rights(text) {
            let Listed { numbers, is_whole } = listed(rights);
            for (fd, behind) in numbers {
                let target = target(rights, behind, scratch).and_then(|(target, _)| target);
                out.emit(RawItem::Received { tid, fd, target });
            }
            if !is_whole {
                out.emit(RawItem::CameUnseen { tid });
            }
        }
    }
}

fn emit_rights(tid: Tid, text: &[u8], out: &mut Out<'_, impl Sink>) {
    for rights in rights(text) {
        let Listed { numbers, is_whole } = listed(rights);
        numbers.into_iter().for_each(|(fd, _)| out.emit(RawItem::Sent { tid, fd }));
        if !is_whole {
            out.emit(RawItem::Escaped { tid, table: false });
        }
    }
}

/// What stands behind the type of each control message that has descriptors: `SCM_RIGHTS`; with `-X raw` its number, with `-X verbose`
/// both.
fn rights(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    const TYPE: &[u8] = b"cmsg_type=";
    structure(text).flatten().filter_map(|at| {
        let value = field(text, at, TYPE)?;
        let of_socket = || text[..at].ends_with(b"cmsg_level=0x1, ");
        let named = value.strip_prefix(b"SCM_RIGHTS").or_else(|| value.strip_prefix(b"0x1 /* SCM_RIGHTS */"));
        named.or_else(|| value.strip_prefix(b"0x1").filter(|rest| rest.starts_with(b",") && of_socket()))
    })
}

const LIST: &[u8] = b", cmsg_data=[";

/// The list behind the type of a control message. With `-s` strace cuts it as it cuts texts: `[3</a>, ...]`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Listed {
    /// The numbers that are there, and where each ends.
    numbers: Vec<(i32, usize)>,
    /// Whether that is all of them.
    is_whole: bool,
}

fn listed(text: &[u8]) -> Listed {
    let mut listed = Listed::default();
    listed.is_whole = numbers(text, &mut listed.numbers).is_some();
    listed
}

/// Puts the numbers into `found`; `None` if not all of them are there.
fn numbers(text: &[u8], found: &mut Vec<(i32, usize)>) -> Option<()> {
    let mut rest = text.strip_prefix(LIST)?;
    loop {
        let (fd, length) = number(rest)?;
        let behind = match rest.get(length)? {
            b'<' => angle_end(rest, length)?,
            _ => length,
        };
        let end = rest.get(behind..)?;
        let next = match end.strip_prefix(b"(deleted)").unwrap_or(end) {
            [b']', ..] => None,
            [b',', b' ', next @ ..] => Some(next),
            _ => return None,
        };
        found.push((i32::try_from(fd).ok()?, text.len() - rest.len() + length));
        let Some(next) = next else { return Some(()) };
        rest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_found_however_constants_are_printed() {
        let found =
            |text: &str| rights(text.as_bytes()).map(|rest| listed(rest).numbers.len()).collect::<Vec<_>>();
        assert_eq!(found("[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[3]}]"), [1]);
        assert_eq!(found("[{cmsg_len=24, cmsg_level=0x1, cmsg_type=0x1, cmsg_data=[27, 28]}]"), [2]);
        let verbose = "cmsg_level=0x1 /* SOL_SOCKET */, cmsg_type=0x1 /* SCM_RIGHTS */, cmsg_data=[7]";
        assert_eq!(found(verbose), [1]);
        assert!(found("[{cmsg_len=24, cmsg_level=0x1, cmsg_type=0x2, cmsg_data={pid=1}}]").is_empty());
        assert!(found("[{cmsg_len=24, cmsg_level=0x29, cmsg_type=0x1, cmsg_data=[1]}]").is_empty());
        assert!(found("[{cmsg_len=24, cmsg_level=0x1, cmsg_type=0x13, cmsg_data=[1]}]").is_empty());
    }

    #[test]
    fn what_is_sent_and_names_of_files_hold_no_descriptors() {
        let sent = br#"{iov_base="{cmsg_type=SCM_RIGHTS, cmsg_data=[7]", iov_len=40}"#;
        let named =
            b"{cmsg_level=SOL_SOCKET, cmsg_type=0x2, cmsg_data=[3</a, cmsg_type=SCM_RIGHTS, cmsg_data=[7]>]}";
        assert_eq!([rights(sent).count(), rights(named).count()], [0, 0]);
    }

    #[test]
    fn sent_descriptors_are_read() {
        let of = |list: &str| {
            let Listed { numbers, is_whole } = listed(format!(", cmsg_data={list}}}").as_bytes());
            (numbers.into_iter().map(|(fd, _)| fd).collect::<Vec<_>>(), is_whole)
        };
        assert_eq!(of("[3]"), (vec![3], true));
        assert_eq!(of("[3, 12]"), (vec![3, 12], true));
        assert_eq!(of("[3</a],b>, 4<pipe:[7]>]"), (vec![3, 4], true));
        assert_eq!(of("[3</a>(deleted), 4</b>(deleted)]"), (vec![3, 4], true));
        assert_eq!(of("[3</a>, ...]"), (vec![3], false));
        assert_eq!(of("[...]"), (vec![], false));
        assert_eq!(of("[3"), (vec![], false));
        assert_eq!(of("0x7f00"), (vec![], false));
    }
}
