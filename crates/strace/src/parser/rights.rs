//! Descriptors that a message takes or brings along: `{cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[3</a>, 4]}`.

use super::arguments::target;
use super::escape::Scratch;
use super::scan::{angle_end, number};
use super::sink::{Out, Sink};
use iotrail_model::Tid;
use iotrail_model::raw::{RawItem, Target};
use memchr::memmem;

/// Reports the descriptors that a call sends. If they cannot be told, all of the thread's are taken to be sent.
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
            for (fd, target) in received(&text[at..], scratch).unwrap_or_default() {
                out.emit(RawItem::Received { tid, fd, target });
            }
        }
    }
}

fn emit_rights(tid: Tid, text: &[u8], out: &mut Out<'_, impl Sink>) {
    for at in memmem::find_iter(text, b"SCM_RIGHTS") {
        match descriptors(&text[at..]) {
            Some(sent) => sent.into_iter().for_each(|fd| out.emit(RawItem::Sent { tid, fd })),
            None => out.emit(RawItem::Escaped { tid, table: false }),
        }
    }
}

const LIST: &[u8] = b"SCM_RIGHTS, cmsg_data=[";

/// The numbers in the list behind `SCM_RIGHTS`; `None` if not all of them are there.
fn descriptors(text: &[u8]) -> Option<Vec<i32>> {
    numbers(text).map(|numbers| numbers.into_iter().map(|(fd, _)| fd).collect())
}

/// The same with what strace says of each.
fn received<'s>(text: &'s [u8], scratch: &mut Scratch<'s>) -> Option<Vec<(i32, Option<Target<'s>>)>> {
    let found = numbers(text)?.into_iter();
    Some(found.map(|(fd, behind)| (fd, target(text, behind, scratch).and_then(|(name, _)| name))).collect())
}

/// The numbers, and where each ends.
fn numbers(text: &[u8]) -> Option<Vec<(i32, usize)>> {
    let mut rest = text.strip_prefix(LIST)?;
    let mut found = Vec::new();
    loop {
        let (fd, length) = number(rest)?;
        found.push((i32::try_from(fd).ok()?, text.len() - rest.len() + length));
        let behind = match rest.get(length)? {
            b'<' => angle_end(rest, length)?,
            _ => length,
        };
        let end = rest.get(behind..)?;
        match end.strip_prefix(b"(deleted)").unwrap_or(end) {
            [b']', ..] => return Some(found),
            [b',', b' ', next @ ..] => rest = next,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sent_descriptors_are_read() {
        let of = |list: &str| descriptors(format!("SCM_RIGHTS, cmsg_data={list}}}").as_bytes());
        assert_eq!(of("[3]"), Some(vec![3]));
        assert_eq!(of("[3, 12]"), Some(vec![3, 12]));
        assert_eq!(of("[3</a],b>, 4<pipe:[7]>]"), Some(vec![3, 4]));
        assert_eq!(of("[3</a>(deleted), 4</b>(deleted)]"), Some(vec![3, 4]));
        assert_eq!(of("[3, ...]"), None);
        assert_eq!(of("[3"), None);
        assert_eq!(of("0x7f00"), None);
    }
}
