//! How much memory a query may use.

/// Half of the machine's memory, or a gigabyte if the system does not tell.
pub(crate) fn default() -> usize {
    let total = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    total.map_or(1 << 30, |bytes| bytes / 2)
}

fn total(meminfo: &str) -> Option<usize> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

/// Parses `512MiB`, `2G`, `100000`.
pub(crate) fn parse(word: &str) -> Result<usize, String> {
    let digits = word.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let unit: usize = match word[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return Err(format!("`{word}` is not a number of bytes such as 512MiB or 2GB")),
    };
    let number: usize =
        digits.parse().map_err(|_| format!("`{word}` is not a number of bytes such as 512MiB"))?;
    number
        .checked_mul(unit)
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| format!("{word} is too much or nothing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(parse("512MiB"), Ok(512 << 20));
        assert_eq!(parse("2g"), Ok(2 << 30));
        assert_eq!(parse("3MB"), Ok(3_000_000));
        for wrong in ["", "MiB", "-1", "1x", "0", "99999999999999999999", "99999999999T"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(total("MemTotal:       2048 kB\nMemFree: 1 kB\n"), Some(2048 * 1024));
        assert_eq!(total("nothing"), None);
    }
}
