//! Descriptors that go or came with a message (`SCM_RIGHTS`).

use super::layout::{Layout, u32_at};
use super::vectors::Header;
use crate::Memory;

/// Ancillary data looked at; the kernel passes at most 253 descriptors with a message.
const MAX_CONTROL: usize = 4096;
const SOL_SOCKET: u32 = 1;
const SCM_RIGHTS: u32 = 1;

/// Appends the descriptors in the ancillary data of a message. `false` if not all of it was looked at.
pub(super) fn push(header: &Header, layout: Layout, memory: &impl Memory, rights: &mut Vec<i32>) -> bool {
    if header.control == 0 || header.control_length == 0 {
        return true;
    }
    let mut bytes = [0; MAX_CONTROL];
    let wanted = usize::try_from(header.control_length).map_or(MAX_CONTROL, |length| length.min(MAX_CONTROL));
    let read = memory.read(header.control, &mut bytes[..wanted]).min(wanted);
    push_rights(&bytes[..read], layout, rights);
    read as u64 == header.control_length
}

/// Walks through control messages: length, level, type, data, padding to a word.
fn push_rights(bytes: &[u8], layout: Layout, rights: &mut Vec<i32>) {
    let (word, mut rest) = (layout.word(), bytes);
    let head = word + 8;
    while rest.len() >= head {
        let Ok(length) = usize::try_from(layout.pointer(rest, 0)) else { return };
        if length < head || length > rest.len() {
            return;
        }
        if (u32_at(rest, word), u32_at(rest, word + 4)) == (SOL_SOCKET, SCM_RIGHTS) {
            rights.extend(rest[head..length].chunks_exact(4).map(|fd| u32_at(fd, 0) as i32));
        }
        rest = rest.get(length.next_multiple_of(word)..).unwrap_or_default();
    }
}
