//! When calls are of interest only with certain arguments.

use iotrail_model::CallId;
use iotrail_model::calls::{CallKind, spec};

/// When a call in the set is of interest: `args[argument] & mask == value`, or not, if `negated`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Place of the register.
    pub argument: u8,
    /// Bits to look at.
    pub mask: u64,
    /// What they must be.
    pub value: u64,
    /// Whether they must be anything else.
    pub negated: bool,
}

const fn equal(argument: u8, mask: u64, value: u64) -> Condition {
    Condition { argument, mask, value, negated: false }
}

const ALL_BITS: u64 = 0xffff_ffff;
const MAP_FIXED: u64 = 0x10;
const MAP_ANONYMOUS: u64 = 0x20;
const PR_SET_SECCOMP: u64 = 22;

/// Mappings of files, and those of memory that may take the place of one.
static MAPPING: [Condition; 2] = [equal(3, MAP_ANONYMOUS, 0), equal(3, MAP_FIXED, MAP_FIXED)];
/// A program that filters its own calls.
static FILTER: [Condition; 1] = [equal(0, ALL_BITS, PR_SET_SECCOMP)];
/// Advice that can lead to I/O on mapped files: `MADV_NORMAL` to `MADV_WILLNEED`, `MADV_REMOVE`, `MADV_COLD` to
/// `MADV_POPULATE_WRITE`. All other is about memory alone, and frequent in allocators.
static ADVICE: [Condition; 3] =
    [equal(2, ALL_BITS & !3, 0), equal(2, ALL_BITS, 9), equal(2, ALL_BITS & !3, 20)];

/// When the call must stop; any of these.
pub(super) fn of(call: CallId, chosen: bool) -> &'static [Condition] {
    match spec(call).map(|spec| spec.kind).unwrap_or_default() {
        CallKind::Map => &MAPPING,
        CallKind::AdviseMemory => &ADVICE,
        CallKind::ProcessControl if !chosen => &FILTER,
        _ => &[],
    }
}
