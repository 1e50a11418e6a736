//! What a set of calls sees of a program and what not, in words.

use super::groups::FAMILIES;
use crate::decode::numbers;
use crate::tracee::Abi;
use iotrail_model::calls::TABLE;

/// The architecture that recordings are made on.
const NATIVE: (Abi, &str) =
    if cfg!(target_arch = "aarch64") { (Abi::Aarch64, "arm64") } else { (Abi::X86_64, "x86-64") };

/// `io: 240 of 383 calls of x86-64; not captured: wait; in part: memory 7 of 22, ...`
pub(super) fn of(words: &str, chosen: &[bool]) -> String {
    let (abi, name) = NATIVE;
    let calls: Vec<usize> = numbers::plans(abi).iter().flatten().map(|plan| plan.call.index()).collect();
    let captured = calls.iter().filter(|row| chosen[**row]).count();
    let mut text = format!("{words}: {captured} of {} calls of {name}", calls.len());
    let (mut absent, mut partial) = (Vec::new(), Vec::new());
    for family in FAMILIES {
        let of_family = || calls.iter().filter(|row| TABLE[**row].family == family);
        let (seen, total) = (of_family().filter(|row| chosen[**row]).count(), of_family().count());
        match seen {
            0 if total > 0 => absent.push(family.name().to_owned()),
            seen if seen < total => partial.push(format!("{} {seen} of {total}", family.name())),
            _ => {}
        }
    }
    for (title, list) in [("not captured", absent), ("in part", partial)] {
        if !list.is_empty() {
            text.push_str(&format!("; {title}: {}", list.join(", ")));
        }
    }
    text
}
