//! Descriptors that a message takes or brings along: `{cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[3</a>, 4]}`.

use super::arguments::target;
use super::escape::Scratch;
use super::scan::{angle_end, number};
use super::sink::{Out, Sink};
use iotrail_model::Tid;
use iotrail_model::raw::RawItem;
use memchr::memmem;

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
        for at in memmem::find_iter(text, b"SCM_RIGHTS") {
            let Listed { numbers, is_whole } = listed(&text[at..]);
            for (fd, behind) in numbers {
                let target = target(&text[at..], behind, scratch).and_then(|(target, _)| target);
                out.emit(RawItem::Received { tid, fd, target });
            }
            if !is_whole {
                out.emit(RawItem::CameUnseen { tid });
            }
        }
    }
}

fn emit_rights(tid: Tid, text: &[u8], out: &mut Out<'_, impl Sink>) {
    for at in memmem::find_iter(text, b"SCM_RIGHTS") {
        let Listed { numbers, is_whole } = listed(&text[at..]);
        numbers.into_iter().for_each(|(fd, _)| out.emit(RawItem::Sent { tid, fd }));
        if !is_whole {
            out.emit(RawItem::Escaped { tid, table: false });
        }
    }
}

const LIST: &[u8] = b"SCM_RIGHTS, cmsg_data=[";

/// The list behind `SCM_RIGHTS`. With `-s` strace cuts it as it cuts texts: `[3</a>, ...]`.
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
    fn sent_descriptors_are_read() {
        let of = |list: &str| {
            let Listed { numbers, is_whole } = listed(format!("SCM_RIGHTS, cmsg_data={list}}}").as_bytes());
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
