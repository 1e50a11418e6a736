//! Lines that are sent together.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Lines that are sent together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    points: u64,
}

impl Batch {
    pub(crate) fn push(&mut self, line: &str) {
        self.bytes.extend_from_slice(line.as_bytes());
        self.bytes.push(b'\n');
        self.points += 1;
    }

    pub(crate) const fn points(&self) -> u64 {
        self.points
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// What is sent.
    pub(crate) fn body(&self, gzip: bool) -> Vec<u8> {
        let compressed = || {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&self.bytes)?;
            encoder.finish()
        };
        let compressed = if gzip { compressed().ok() } else { None };
        compressed.unwrap_or_else(|| self.bytes.clone())
    }

    /// Two batches of half the points; nothing if there is only one.
    pub(crate) fn halves(&self) -> Option<[Self; 2]> {
        let first = self.points / 2;
        let end = end_of_lines(&self.bytes, first)?;
        let (left, right) = self.bytes.split_at(end);
        Some([
            Self { bytes: left.to_vec(), points: first },
            Self { bytes: right.to_vec(), points: self.points - first },
        ])
    }
}

/// Where the line after the first `lines` begins, if both sides hold lines.
fn end_of_lines(bytes: &[u8], lines: u64) -> Option<usize> {
    let last = usize::try_from(lines.checked_sub(1)?).ok()?;
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    ends.map(|(at, _)| at + 1).nth(last).filter(|end| *end < bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_hold_all_lines() {
        let mut batch = Batch::default();
        ["a", "bb", "ccc"].iter().for_each(|line| batch.push(line));
        let [left, right] = batch.halves().unwrap();
        assert_eq!((left.body(false), left.points()), (b"a\n".to_vec(), 1));
        assert_eq!((right.body(false), right.points()), (b"bb\nccc\n".to_vec(), 2));
        assert!(left.halves().is_none() && Batch::default().halves().is_none());
    }
}
