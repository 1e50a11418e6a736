//! Human units. Exact values belong in JSON; these are for labels, tables and summaries.

/// `1.50 GB`: decimal units with three significant digits.
#[must_use]
pub fn bytes(value: f64) -> String {
    scaled(value, &["B", "kB", "MB", "GB", "TB", "PB", "EB"])
}

/// `1.50 GB/s`.
#[must_use]
pub fn rate(bytes_per_second: f64) -> String {
    format!("{}/s", bytes(bytes_per_second))
}

/// `12.3 ms`, `4 min 05 s`, `2 h 03 min`: three significant digits or two units. Negative spans keep their sign.
#[must_use]
pub fn duration(nanos: f64) -> String {
    let magnitude = nanos.abs();
    let sign = if nanos < 0.0 { "-" } else { "" };
    let seconds = (magnitude / 1e9).round() as u64;
    match seconds {
        0..100 => {
            let (divisor, unit) = match magnitude {
                m if m < 999.5 => (1.0, "ns"),
                m if m < 999.5e3 => (1e3, "us"),
                m if m < 999.5e6 => (1e6, "ms"),
                _ => (1e9, "s"),
            };
            format!("{sign}{} {unit}", significant(magnitude / divisor, divisor == 1.0))
        }
        100..3600 => format!("{sign}{} min {:02} s", seconds / 60, seconds % 60),
        3600..172_800 => format!("{sign}{} h {:02} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{sign}{} d {:02} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// A figure, `–` where it is unknown.
pub fn or_dash<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), show)
}

/// `1,234,567`.
#[must_use]
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 event`, `1,234 events`.
#[must_use]
pub fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// `12.3 %` of a share between 0 and 1; `<0.1 %` for what would round to nothing.
#[must_use]
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p > 0.0 && p < 0.05 => "<0.1 %".to_owned(),
        p if p > 99.95 && p < 100.0 => ">99.9 %".to_owned(),
        p => format!("{p:.1} %"),
    }
}

fn scaled(value: f64, units: &[&str]) -> String {
    let mut scaled = value;
    let mut unit = 0;
    while scaled.abs() >= 999.5 && unit + 1 < units.len() {
        scaled /= 1000.0;
        unit += 1;
    }
    format!("{} {}", significant(scaled, unit == 0 && value.fract() == 0.0), units[unit])
}

fn significant(value: f64, whole: bool) -> String {
    match value.abs() {
        _ if whole => format!("{value:.0}"),
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v > 0.0 && v < 0.005 => "<0.01".to_owned(),
        _ => format!("{value:.2}"),
    }
}

/// A sum of durations, `–` where none is known.
#[must_use]
pub fn duration_or_dash(nanos: Option<u64>) -> String {
    or_dash(nanos, |nanos| duration(nanos as f64))
}

/// `× 40`, `× 1.50`, `× 0.025`
#[must_use]
pub fn ratio(value: f64) -> String {
    match value {
        v if v >= 99.5 => format!("× {}", count(v.round() as u64)),
        v if v >= 9.95 => format!("× {v:.1}"),
        v if v >= 0.995 => format!("× {v:.2}"),
        v if v > 0.0 && v < 0.0005 => "× <0.001".to_owned(),
        v => format!("× {v:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_significant_digits() {
        assert_eq!(bytes(0.0), "0 B");
        assert_eq!(bytes(999.0), "999 B");
        assert_eq!(bytes(1000.0), "1.00 kB");
        assert_eq!(bytes(999_900.0), "1.00 MB");
        assert_eq!(bytes(15_300_000.0), "15.3 MB");
        assert_eq!(rate(2.5e9), "2.50 GB/s");
        assert_eq!((rate(0.0007), rate(0.006)), ("<0.01 B/s".to_owned(), "0.01 B/s".to_owned()));
        assert_eq!(ratio(0.0002), "× <0.001");
    }

    #[test]
    fn durations_read_well_at_every_scale() {
        let cases = [(0.0, "0 ns"), (999.0, "999 ns"), (1_500.0, "1.50 us"), (12_345_678.0, "12.3 ms")];
        for (nanos, text) in cases.into_iter().chain([
            (65e9, "65.0 s"),
            (125e9, "2 min 05 s"),
            (7_380e9, "2 h 03 min"),
            (-1_500.0, "-1.50 us"),
            (99.6e9, "1 min 40 s"),
        ]) {
            assert_eq!(duration(nanos), text);
        }
    }

    #[test]
    fn counts_and_shares() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(percent(0.123), "12.3 %");
        assert_eq!(percent(0.0001), "<0.1 %");
        assert_eq!(percent(0.99999), ">99.9 %");
    }
}
