//! What stands in front of a line: thread, time stamps, call number, instruction pointer.
//!
//! strace and ltrace print, each only if asked to: `[pid N<comm>] ` or `N<comm> `, `[security context] `, the time of day or
//! the seconds since the epoch, the difference to the line before (`(+     0.000123) ` behind a time, bare without
//! one), `[ 257] ` (call number), `[00007f...] ` (instruction pointer). A bare number is told apart by its size: no
//! process id is above 2^22, no clock of a machine that runs strace 5 stands before 1973.

use crate::timeline::{Absolute, SECOND, Stamp};
use iotrail_model::Tid;
use memchr::memchr;

/// The kernel's limit of process ids.
const PID_MAX: u64 = 1 << 22;
/// Nanoseconds of the last of so many digits behind the point.
const NANOS_OF_DIGIT: [u64; 10] =
    [1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1000, 100, 10, 1];
/// Numbers of so many digits are below 2^64.
const SAFE_DIGITS: usize = 19;
/// Seconds since the epoch below this are no time of day that a trace can have.
const FIRST_UNIX_SECOND: u64 = 100_000_000;

/// What stood in front of a line, and the line behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefix<'a> {
    /// Thread that the line names; none if it names none.
    pub tid: Option<Tid>,
    /// Name of the thread's command, as printed.
    pub comm: Option<&'a [u8]>,
    /// Its time stamps.
    pub stamp: Stamp,
    /// The line behind it.
    pub rest: &'a [u8],
}

impl<'a> Prefix<'a> {
    /// Takes off whatever stands in front of a line. Never fails: what is no prefix is the line.
    #[inline]
    #[must_use]
    pub fn read(line: &'a [u8]) -> Self {
        // Some editors and terminals on other systems begin a text with the mark of UTF-8.
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let mut prefix = Self { rest: line, ..Self::default() };
        match line.first() {
            Some(b'[') => prefix.bracketed_thread(),
            Some(b'0'..=b'9') => prefix.bare_thread(),
            _ => {}
        }
        prefix.stamps_and_brackets();
        prefix
    }

    /// `[pid 12345<comm>] `
    fn bracketed_thread(&mut self) {
        let Some(rest) = self.rest.strip_prefix(b"[pid ") else { return };
        let Some((pid, length)) = digits(trim_start(rest)) else { return };
        let rest = &trim_start(rest)[length..];
        let Some((comm, rest)) = comm(rest, b"] ") else { return };
        if pid <= PID_MAX {
            *self = Self { tid: Some(Tid(pid as u32)), comm, rest: trim_start(rest), ..*self };
        }
    }

    /// `12345<comm> ` or `123   `
    #[inline]
    fn bare_thread(&mut self) {
        let Some((pid, length)) = digits(self.rest) else { return };
        let rest = &self.rest[length..];
        match rest.first() {
            Some(b' ') if pid <= PID_MAX => *self = Self { tid: Some(Tid(pid as u32)), rest, ..*self },
            Some(b'<') if pid <= PID_MAX => {
                if let Some((comm, rest)) = comm(rest, b" ") {
                    *self = Self { tid: Some(Tid(pid as u32)), comm, rest, ..*self };
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn stamps_and_brackets(&mut self) {
        loop {
            let rest = trim_start(self.rest);
            let taken = match rest.first() {
                Some(b'0'..=b'9') => self.stamp(rest),
                Some(b'(') => self.difference(rest),
                Some(b'[') => behind_bracket(rest),
                _ => None,
            };
            match taken {
                Some(behind) => self.rest = behind,
                None => {
                    if self.tid.is_some() || self.stamp != Stamp::default() {
                        self.rest = rest;
                    }
                    return;
                }
            }
        }
    }

    /// `12:34:56.123456 `, `1700000000.123456 ` or `0.000123 `
    #[inline]
    fn stamp(&mut self, text: &'a [u8]) -> Option<&'a [u8]> {
        match usual_time(text) {
            Some((time, behind)) => {
                self.stamp.absolute = Some(Absolute::TimeOfDay(time));
                self.stamp.fine = true;
                self.printed_to(1000);
                Some(behind)
            }
            None => self.any_stamp(text),
        }
    }

    fn any_stamp(&mut self, text: &'a [u8]) -> Option<&'a [u8]> {
        let (whole, length) = digits(text)?;
        if let [b':', m1, m2, b':', s1, s2, rest @ ..] = &text[length..] {
            let (fraction, rest, unit) = fraction(rest)?;
            let seconds = whole.min(1 << 20) * 3600 + two_digits(*m1, *m2)? * 60 + two_digits(*s1, *s2)?;
            self.stamp.absolute = Some(Absolute::TimeOfDay(nanos(seconds, fraction)?));
            self.stamp.fine = unit < SECOND;
            self.printed_to(unit);
            return behind_space(rest);
        }
        let (fraction, rest, unit) = fraction(&text[length..])?;
        let rest = behind_space(rest)?;
        // A number that is too large for a thread, with the time behind it, is no time.
        if unit == SECOND && matches!(rest.first(), Some(b'0'..=b'9')) {
            return None;
        }
        self.printed_to(unit);
        if whole >= FIRST_UNIX_SECOND {
            self.stamp.absolute = Some(Absolute::Utc(nanos(whole, fraction)?));
            self.stamp.fine = unit < SECOND;
        } else {
            self.stamp.delta = Some(nanos(whole, fraction)?);
        }
        Some(rest)
    }

    /// `(+     0.000123) `
    fn difference(&mut self, text: &'a [u8]) -> Option<&'a [u8]> {
        let text = trim_start(text.strip_prefix(b"(+")?);
        let (whole, length) = digits(text)?;
        let (fraction, rest, unit) = fraction(&text[length..])?;
        self.stamp.delta = Some(nanos(whole, fraction)?);
        let rest = behind_space(rest.strip_prefix(b")")?)?;
        self.printed_to(unit);
        Some(rest)
    }

    /// A stamp has this unit: of several the finest counts.
    fn printed_to(&mut self, unit: i64) {
        self.stamp.unit = if self.stamp.unit == 0 { unit } else { self.stamp.unit.min(unit) };
    }
}

/// The name behind a thread id, if there is one, and what follows behind `end`.
fn comm<'a>(text: &'a [u8], end: &[u8]) -> Option<(Option<&'a [u8]>, &'a [u8])> {
    if text.first() != Some(&b'<') {
        return Some((None, text.strip_prefix(end)?));
    }
    let mut from = 1;
    loop {
        let close = from + memchr(b'>', &text[from..])?;
        if let Some(rest) = text[close + 1..].strip_prefix(end) {
            return Some((Some(&text[1..close]), rest));
        }
        from = close + 1;
    }
}

/// What stands behind `[...] `.
fn behind_bracket(text: &[u8]) -> Option<&[u8]> {
    let close = memchr(b']', text)?;
    let inner = &text[1..close];
    if inner.starts_with(b" Process ") || inner.contains(&b'"') || inner.contains(&b'[') {
        return None;
    }
    behind_space(&text[close + 1..])
}

/// Nanoseconds since midnight in `12:34:56.123456 `, as strace prints them unless it is asked for others, and what follows.
#[inline]
fn usual_time(text: &[u8]) -> Option<(i64, &[u8])> {
    let ([h1, h2, b':', m1, m2, b':', s1, s2, b'.'], rest) = text.split_first_chunk()? else { return None };
    let eight = *rest.first_chunk()?;
    if leading_digits(eight) != 6 || eight[6] != b' ' {
        return None;
    }
    let seconds = two_digits(*h1, *h2)? * 3600 + two_digits(*m1, *m2)? * 60 + two_digits(*s1, *s2)?;
    let micros = seconds * 1_000_000 + number_of(eight, 6);
    Some((micros as i64 * 1000, &rest[7..]))
}

fn behind_space(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b" ")
}

/// The digits at the start of `text` as a number, and how many there are.
#[inline]
#[must_use]
pub fn digits(text: &[u8]) -> Option<(u64, usize)> {
    if let Some(eight) = text.first_chunk() {
        let length = leading_digits(*eight);
        if length < eight.len() {
            return (length > 0).then(|| (number_of(*eight, length), length));
        }
    }
    many_digits(text)
}

/// The same, digit by digit.
fn many_digits(text: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    let mut length = 0;
    while let Some(digit @ b'0'..=b'9') = text.get(length) {
        let digit = u64::from(digit - b'0');
        value = match length < SAFE_DIGITS {
            true => value * 10 + digit,
            false => value.checked_mul(10)?.checked_add(digit)?,
        };
        length += 1;
    }
    (length > 0).then_some((value, length))
}

/// How many bytes in front are digits. Both sums have the highest bit of a byte set if it is none, and only from the first
/// such byte on they may err.
#[inline]
fn leading_digits(eight: [u8; 8]) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let bytes = u64::from_le_bytes(eight);
    let none = (bytes.wrapping_add(0x46 * EACH) | bytes.wrapping_sub(0x30 * EACH)) & (0x80 * EACH);
    none.trailing_zeros() as usize / 8
}

/// The number of the first `length` bytes, 1 to 8 digits: neighbours are joined to pairs, then these, then those.
#[inline]
fn number_of(eight: [u8; 8], length: usize) -> u64 {
    let digits = (u64::from_le_bytes(eight) & 0x0f0f_0f0f_0f0f_0f0f) << (64 - 8 * length);
    let pairs = (digits.wrapping_mul(10) + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff
}

/// The nanoseconds in `.123456`, what follows, and those of a unit of the last digit: a second without a fraction.
#[inline]
fn fraction(text: &[u8]) -> Option<(u64, &[u8], i64)> {
    if text.first() != Some(&b'.') {
        return Some((0, text, SECOND));
    }
    let (value, length) = digits(&text[1..])?;
    let scale = *NANOS_OF_DIGIT.get(length)?;
    Some((value * scale, &text[1 + length..], scale as i64))
}

fn two_digits(tens: u8, ones: u8) -> Option<u64> {
    (tens.is_ascii_digit() && ones.is_ascii_digit())
        .then(|| u64::from(tens - b'0') * 10 + u64::from(ones - b'0'))
}

/// Nanoseconds; `None` if they are more than a time has, which no clock gives.
fn nanos(seconds: u64, fraction: u64) -> Option<i64> {
    i64::try_from(seconds.checked_mul(1_000_000_000)?.checked_add(fraction)?).ok()
}

/// The nanoseconds in `0.000012`: a duration as printed.
#[inline]
#[must_use]
pub fn duration(text: &[u8]) -> Option<i64> {
    let (whole, length) = digits(text)?;
    let (fraction, rest, _) = fraction(&text[length..])?;
    if rest.is_empty() { nanos(whole, fraction) } else { None }
}

/// `text` without spaces at its start.
#[inline]
#[must_use]
pub fn trim_start(text: &[u8]) -> &[u8] {
    let spaces = text.iter().take_while(|&&byte| byte == b' ').count();
    &text[spaces..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(line: &str) -> (Option<u32>, Option<Absolute>, Option<i64>, String) {
        let prefix = Prefix::read(line.as_bytes());
        let rest = String::from_utf8_lossy(prefix.rest).into_owned();
        (prefix.tid.map(|tid| tid.0), prefix.stamp.absolute, prefix.stamp.delta, rest)
    }

    #[test]
    fn a_time_stamp_that_no_clock_gives_is_none() {
        let (_, absolute, _, rest) = read("7 9795352833.123456 close(3) = 0");
        assert_eq!((absolute, rest.as_str()), (None, "9795352833.123456 close(3) = 0"));
        assert_eq!(duration(b"9795352833.5"), None);
    }

    #[test]
    fn every_combination_of_prefixes_is_taken_off() {
        let day = |seconds: i64, nanos: i64| Some(Absolute::TimeOfDay(seconds * 1_000_000_000 + nanos));
        let unix = |seconds: i64, nanos: i64| Some(Absolute::Utc(seconds * 1_000_000_000 + nanos));
        for (prefix, tid, absolute, delta) in [
            ("", None, None, None),
            ("[pid 12345] ", Some(12345), None, None),
            ("[pid    12] ", Some(12), None, None),
            ("[pid 12<a ] b>] ", Some(12), None, None),
            ("12345 ", Some(12345), None, None),
            ("12    ", Some(12), None, None),
            ("12<sh> ", Some(12), None, None),
            ("12<a b\\76> ", Some(12), None, None),
            ("10:11:12 ", None, day(36672, 0), None),
            ("10:11:12.000005 ", None, day(36672, 5000), None),
            ("10:11:12.005 ", None, day(36672, 5_000_000), None),
            ("10:11:12.123456789 ", None, day(36672, 123_456_789), None),
            ("1700000000.000001 ", None, unix(1_700_000_000, 1000), None),
            ("1700000000 ", None, unix(1_700_000_000, 0), None),
            ("12345 1700000000 ", Some(12345), unix(1_700_000_000, 0), None),
            ("     0.000123 ", None, None, Some(123_000)),
            ("     3 ", None, None, Some(3_000_000_000)),
            ("12345      3 ", Some(12345), None, Some(3_000_000_000)),
            ("12345      0.000123 ", Some(12345), None, Some(123_000)),
            ("12345 10:11:12 (+     0.000123) ", Some(12345), day(36672, 0), Some(123_000)),
            ("12345 1700000000 (+     0) ", Some(12345), unix(1_700_000_000, 0), Some(0)),
            ("12345 10:11:12 [ 257] [00007f4cfbe6de67] ", Some(12345), day(36672, 0), None),
            ("[ 231] [????????????????] ", None, None, None),
            (
                "12345 [unconfined_u:unconfined_r:t:s0-s0:c0.c1023] 10:11:12 ",
                Some(12345),
                day(36672, 0),
                None,
            ),
        ] {
            for rest in ["read(3, \"\", 5) = 0", "<... read resumed>) = 0", "--- SIGCHLD {} ---"] {
                assert_eq!(read(&format!("{prefix}{rest}")), (tid, absolute, delta, rest.into()), "{prefix}");
            }
        }
    }

    proptest! {
        #[test]
        fn usual_times_are_read_as_all_others(text in "[0-9]{1,3}:[0-9]{2}:[0-9:]{1,2}[.0-9]{0,2}[0-9]{4,7}[ .]{0,2}[a-z0-9(]{0,9}") {
            let (mut quick, mut slow) = (Prefix::default(), Prefix::default());
            prop_assert_eq!(quick.stamp(text.as_bytes()), slow.any_stamp(text.as_bytes()));
            prop_assert!(quick == slow || quick.stamp(text.as_bytes()).is_none());
        }
    }

    #[test]
    fn the_mark_of_utf_8_is_no_part_of_a_line() {
        assert_eq!(read("\u{feff}7 10:00:00 close(3) = 0"), read("7 10:00:00 close(3) = 0"));
        assert_eq!(read("\u{feff}close(3) = 0").3, "close(3) = 0");
    }

    #[test]
    fn what_is_no_prefix_stays() {
        for line in [
            "[ Process PID=7 runs in 32 bit mode. ]",
            "99999999999999999999999 x",
            " > /lib/x.so(f+0x1) [0x2]",
            "10:1x",
            "4294967298 10:00:05.000000 read(3) = 0",
        ] {
            assert_eq!(read(line).3, line);
        }
    }

    proptest! {
        #[test]
        fn eight_digits_at_once_are_those_one_by_one(text in "[0-9]{0,22}[0-9:a/\\xff]{0,9}", garbage: [u8; 8], length in 0..=7_usize) {
            prop_assert_eq!(digits(text.as_bytes()), many_digits(text.as_bytes()));
            let mixed = [&b"4815162"[..length], &garbage].concat();
            prop_assert_eq!(digits(&mixed), many_digits(&mixed));
            prop_assert_eq!(many_digits(text.as_bytes()).map(|(value, _)| value),
                text.split(|letter: char| !letter.is_ascii_digit()).next().and_then(|whole| whole.parse().ok()));
        }
    }

    #[test]
    fn durations_have_any_precision() {
        assert_eq!(duration(b"0"), Some(0));
        assert_eq!(duration(b"1.5"), Some(1_500_000_000));
        assert_eq!(duration(b"0.000012"), Some(12_000));
        assert_eq!(duration(b"0.000000012"), Some(12));
        assert_eq!(duration(b"char 1:3"), None);
    }
}
