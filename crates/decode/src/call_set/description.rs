//! What a set of calls sees of a program and what not.

use crate::Abi;
use crate::numbers;
use iotrail_model::Note;
use iotrail_model::calls::{CallKind, Family, TABLE};
use iotrail_model::notes::{CallsRecorded, FamilyShare};
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

pub(super) fn note(words: &str, chosen: &[bool], all: bool) -> Note {
    let partly = shares(chosen).filter(|share| (1..share.total).contains(&share.seen));
    let partly = partly.map(|share| FamilyShare {
        family: share.family.name().to_owned(),
        calls: share.seen as u64,
        of: share.total as u64,
    });
    let without = shares(chosen).filter(|share| share.seen == 0).map(|share| share.family.name().to_owned());
    let advised =
        TABLE.iter().zip(chosen).any(|(spec, chosen)| *chosen && spec.kind == CallKind::AdviseMemory);
    Note::CallsRecorded(CallsRecorded {
        asked: words.to_owned(),
        calls: numbers(words, chosen).calls.into(),
        of: shares(chosen).map(|share| share.total as u64).sum(),
        machine: NATIVE.1.to_owned(),
        without: without.collect(),
        partly: partly.collect(),
        memory_of_files_only: !all && advised,
    })
}
