//! Decimal numbers with units, exactly: sizes, spans, shares.

/// Billionths: what decimal numbers are counted in, so that nothing is rounded.
pub const UNIT: i128 = 1_000_000_000;

/// A decimal number in billionths, and what follows it; `None` if the text does not begin with one.
#[must_use]
pub fn decimal(text: &str) -> Option<(i128, &str)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let (mut value, mut rest) = (text[..whole].parse::<u64>().ok().map(i128::from)? * UNIT, &text[whole..]);
    if let Some(after) = rest.strip_prefix('.') {
        let places = digits(after);
        if places == 0 || places > 9 {
            return None;
        }
        value += after[..places].parse::<i128>().ok()? * 10_i128.pow(9 - places as u32);
        rest = &after[places..];
    }
    Some((value, rest))
}

/// Bytes: `4096`, `4kB`, `1.5MiB`.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn bytes(text: &str) -> Result<i64, String> {
    let (value, unit) = decimal(text).ok_or("no number")?;
    let factor: i128 = match unit {
        "" | "B" => 1,
        "kB" | "KB" => 1000,
        "MB" => 1000_i128.pow(2),
        "GB" => 1000_i128.pow(3),
        "TB" => 1000_i128.pow(4),
        "KiB" => 1024,
        "MiB" => 1024_i128.pow(2),
        "GiB" => 1024_i128.pow(3),
        "TiB" => 1024_i128.pow(4),
        _ => return Err(format!("unknown unit `{}`", crate::text::printable(unit))),
    };
    let scaled = value.checked_mul(factor).ok_or("more than any file holds")?;
    if scaled % UNIT != 0 {
        return Err("not a whole number of bytes".to_owned());
    }
    i64::try_from(scaled / UNIT).map_err(|_| "more than any file holds".to_owned())
}

/// A span in nanoseconds: `10ms`, `1.5s`, `2min`.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn span(text: &str) -> Result<i64, String> {
    let (value, unit) = decimal(text).ok_or("no number")?;
    let nanos: i128 = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1000,
        "ms" => 1_000_000,
        "s" => UNIT,
        "min" | "m" => 60 * UNIT,
        "h" => 3600 * UNIT,
        "d" => 86_400 * UNIT,
        "" => return Err("a number without a unit".to_owned()),
        _ => return Err(format!("unknown unit `{}`", crate::text::printable(unit))),
    };
    let scaled = value.checked_mul(nanos).ok_or("too long")?;
    i64::try_from(scaled / UNIT).map_err(|_| "too long".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_exact() {
        for (text, value) in [
            ("0", 0),
            ("4096", 4096),
            ("4KiB", 4096),
            ("1.5MiB", 1_572_864),
            ("0.001kB", 1),
            ("2GB", 2_000_000_000),
        ] {
            assert_eq!(bytes(text), Ok(value));
        }
        for text in [
            "",
            "x",
            "-1",
            "1.",
            "1.5",
            "1K",
            "1 kB",
            "99999999999TB",
            "9999999999999999999TiB",
            "999999999999999999999",
        ] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn spans_are_exact() {
        assert_eq!(span("1.5s"), Ok(1_500_000_000));
        assert_eq!(span("0.1us"), Ok(100));
        assert_eq!(span("2min"), Ok(120_000_000_000));
        for text in ["1", "s", "1x", "99999999999d", "18446744073709551615d"] {
            assert!(span(text).is_err(), "{text}");
        }
    }
}
