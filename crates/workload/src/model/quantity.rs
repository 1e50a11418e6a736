//! Bytes and times as text: a whole number and a unit, in which nothing is lost.

const BYTES: [(&str, u64); 5] =
    [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];
const TIME_UNITS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];

/// What is expected where bytes are.
pub(super) const BYTES_EXPECTED: &str =
    "expected bytes as in 4096 or \"64 KiB\" (B, KiB, MiB, GiB, TiB), at most 8 EiB";

/// What is expected where a time is.
pub(super) const TIME_EXPECTED: &str = "expected a time as in \"200 us\" (s, ms, us, ns), at most 292 years";

/// What stands between the number and the size of a run of transfers.
pub(super) const TIMES: &str = " * ";
/// What follows the bytes of a stride of all ranks together.
pub(super) const BY_RANKS: &str = " * ranks";

/// Bytes of a text; NULL if it is none.
pub(super) fn bytes(text: &str) -> Option<u64> {
    parse(text, &BYTES).or_else(|| text.parse().ok().filter(|&value| fits(value)))
}

/// Nanoseconds of a text; NULL if it is none.
pub(super) fn time(text: &str) -> Option<u64> {
    parse(text, &TIME_UNITS)
}

/// Text of bytes, in the largest unit of which they are a multiple.
pub(super) fn bytes_text(value: u64) -> String {
    text(value, &BYTES)
}

/// Text of nanoseconds.
pub(super) fn time_text(value: u64) -> String {
    text(value, &TIME_UNITS)
}

fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start_matches(' '))?;
    number.parse::<u64>().ok()?.checked_mul(*factor).filter(|&value| fits(value))
}

fn fits(value: u64) -> bool {
    i64::try_from(value).is_ok()
}

fn text(value: u64, units: &[(&str, u64)]) -> String {
    let fitting = units.iter().find(|(_, factor)| value > 0 && value.is_multiple_of(*factor));
    let (unit, factor) = fitting.or(units.last()).copied().unwrap_or(("", 1));
    format!("{} {unit}", value / factor)
}
