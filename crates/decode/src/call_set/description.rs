//! What a set of calls sees of a program and what not.

use crate::Abi;
use crate::numbers;
use iotrail_model::calls::{CallKind, Family, TABLE};
use iotrail_model::recording_coverage::Selection;

/// The architecture that recordings are made on.
const NATIVE: (Abi, &str) =
    if cfg!(target_arch = "aarch64") { (Abi::Aarch64, "arm64") } else { (Abi::X86_64, "x86-64") };

/// How many calls of a family there are.
struct Share {
    family: Family,
    seen: usize,
    total: usize,
}

/// The shares of all families in the calls that have a number here.
fn shares(chosen: &[bool]) -> impl Iterator<Item = Share> {
    let rows = || numbers::plans(NATIVE.0).iter().flatten().map(|plan| plan.call.index());
    Family::ALL.into_iter().map(move |family| {
        let of_family = || rows().filter(|row| TABLE[*row].family == family);
        let seen = of_family().filter(|row| chosen[*row]).count();
        Share { family, seen, total: of_family().count() }
    })
}

pub(super) fn numbers(words: &str, chosen: &[bool]) -> Selection {
    let without = shares(chosen).filter(|share| share.seen == 0).map(|share| share.family.name().to_owned());
    Selection {
        asked: words.to_owned(),
        calls: shares(chosen).map(|share| share.seen as u32).sum(),
        without: without.collect(),
    }
}

/// `data: 18 of 383 calls of x86-64; not captured: wait, …; in part: memory 5 of 20, ...`
pub(super) fn sentence(words: &str, chosen: &[bool], all: bool) -> String {
    let total: usize = shares(chosen).map(|share| share.total).sum();
    let seen = numbers(words, chosen).calls;
    let absent = shares(chosen).filter(|share| share.seen == 0).map(|share| share.family.name().to_owned());
    let partial = shares(chosen).filter(|share| (1..share.total).contains(&share.seen));
    let partial = partial.map(|share| format!("{} {} of {}", share.family.name(), share.seen, share.total));
    let mut text = format!("{words}: {seen} of {total} calls of {}", NATIVE.1);
    let lists = [("not captured", absent.collect()), ("in part", partial.collect::<Vec<_>>())];
    for (title, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        text.push_str(&format!("; {title}: {}", list.join(", ")));
    }
    if !all && TABLE.iter().zip(chosen).any(|(spec, chosen)| *chosen && spec.kind == CallKind::AdviseMemory) {
        text.push_str("; of mmap mappings of files, of madvise what can cause I/O");
    }
    text
}
