//! The marks by which strace tells halves of calls from whole ones.

use super::scan::trim_end;
use memchr::{memchr, memmem};

const UNFINISHED: &[u8] = b"<unfinished ...>";
/// Instead of a second half: the thread is no longer traced.
pub(super) const DETACHED: &[u8] = b"<detached ...>";
/// Instead of a second half: the thread called exec and takes the place of its leader.
const RENAMED: &[u8] = b"<pid changed to ";

/// The first half of a call, if the line is one: it was interrupted, or its thread was detached or changed its id.
#[inline]
pub(super) fn first_half(text: &[u8]) -> Option<&[u8]> {
    if !text.ends_with(b"...>") {
        return None;
    }
    let half = text
        .strip_suffix(UNFINISHED)
        .or_else(|| text.strip_suffix(DETACHED))
        .or_else(|| memmem::rfind(text, RENAMED).map(|mark| &text[..mark]))?;
    Some(without_space(half))
}

/// Whether a first half is one because its thread goes on under another id, and in another file if each has one.
#[inline]
pub(super) fn is_renamed(half: &[u8]) -> bool {
    !half.ends_with(UNFINISHED) && !half.ends_with(DETACHED) && memmem::rfind(half, RENAMED).is_some()
}

/// What is known of a call during which its thread ended: `read(0,  <unfinished ...>) = ?`.
#[inline]
pub(super) fn cut_by_death(text: &[u8]) -> Option<&[u8]> {
    let call = trim_end(text.strip_suffix(b"= ?")?).strip_suffix(b")")?;
    let half = call.strip_suffix(UNFINISHED)?;
    Some(without_space(half))
}

/// A half without the space that strace prints before a mark.
#[inline]
fn without_space(half: &[u8]) -> &[u8] {
    half.strip_suffix(b" ").unwrap_or(half)
}

/// The name and the rest in `<... name resumed>rest`.
#[inline]
pub(super) fn resumed_name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_prefix(b"<... ")?;
    let end = memchr(b' ', text)?;
    let rest = text[end..].strip_prefix(b" resumed>")?;
    Some((&text[..end], rest))
}
