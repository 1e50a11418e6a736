//! The piece of a text that is in memory: whole lines are consumed at its front, bytes arrive at its end.
//!
//! It grows only while one logical line does not fit. A line may have any length (strace prints a buffer of 1 GB as a
//! line of up to 4 GB when asked to), memory may not: of a line longer than [`Limits::line`] the middle is dropped.
//! That is the middle of the one thing that can be so long, a quoted string. strace escapes zero bytes in it, so a line that is so
//! long and has them is of something else, and may never end (`/dev/zero`); neither does one beyond [`LONGEST`].

use std::io::{self, Read};

/// No line of strace is longer.
const LONGEST: u64 = 5 << 30;

/// Sizes of a window.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes read at a time.
    pub chunk: usize,
    /// A line longer than this loses its middle.
    pub line: usize,
}

impl Limits {
    /// For one text at a time.
    pub const LARGE: Self = Self { chunk: 256 << 10, line: 16 << 20 };

    /// For many texts at once.
    pub const SMALL: Self = Self { chunk: 16 << 10, line: 1 << 20 };
}

/// The piece of a text that is in memory: whole lines are consumed at its front, bytes arrive at its end.
#[derive(Debug)]
pub struct Window {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    dropped: u64,
    cuts: u64,
    cutting: bool,
    /// Bytes that the present line lost.
    lost: u64,
    has_new_line: bool,
    is_endless: bool,
    limits: Limits,
}

impl Window {
    /// With nothing in it.
    #[must_use]
    pub const fn new(limits: Limits) -> Self {
        Self {
            bytes: Vec::new(),
            start: 0,
            end: 0,
            ended: false,
            dropped: 0,
            cuts: 0,
            cutting: false,
            lost: 0,
            has_new_line: false,
            is_endless: false,
            limits,
        }
    }

    /// The bytes that were not consumed.
    pub fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Whether nothing comes behind the unread bytes.
    pub const fn ended(&self) -> bool {
        self.ended
    }

    /// Nothing comes any more.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Whether the latest bytes end a line.
    pub const fn has_new_line(&self) -> bool {
        self.has_new_line
    }

    /// Whether the present line is of no text, or longer than any.
    pub const fn is_endless(&self) -> bool {
        self.is_endless
    }

    /// How many lines lost their middle, and how many bytes that were.
    pub const fn dropped(&self) -> (u64, u64) {
        (self.cuts, self.dropped)
    }

    /// The first `count` unread bytes are done.
    pub fn consume(&mut self, count: usize) {
        self.start += count.min(self.end - self.start);
        self.cutting &= count == 0;
        if !self.cutting {
            self.lost = 0;
        }
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Reads once, at most a chunk; makes room first. Returns the number of bytes read.
    pub fn fill(&mut self, reader: &mut dyn Read) -> io::Result<usize> {
        self.make_room();
        let limit = self.bytes.len().min(self.end + self.limits.chunk);
        loop {
            match reader.read(&mut self.bytes[self.end..limit]) {
                Ok(count) => {
                    self.has_new_line = self.bytes[self.end..self.end + count].contains(&b'\n');
                    self.end += count;
                    self.ended = count == 0;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn make_room(&mut self) {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == 0 && self.bytes.len() > 4 * self.limits.chunk {
            // A long line is over.
            self.bytes = Vec::new();
        }
        if self.end >= self.limits.line {
            self.drop_middle();
        }
        let chunk = self.limits.chunk;
        if self.bytes.len() < self.end + chunk / 2 {
            let wanted = (self.end + chunk).max(2 * self.end).min(self.limits.line + chunk);
            self.bytes.resize(wanted.max(self.end + chunk), 0);
        }
    }

    /// Keeps an eighth of the line at either end. Neither cut may split an escape (`\"` must stay one), so both are
    /// moved to a place behind something that is no backslash.
    fn drop_middle(&mut self) {
        let keep = self.limits.line / 8;
        let line = &self.bytes[..self.end];
        let splits = |at: &usize| line[at - 1] != b'\\';
        let head = (1..=keep).rev().find(splits).unwrap_or(keep);
        let tail = (line.len() - keep..line.len()).find(splits).unwrap_or(line.len() - keep);
        self.lost += (tail - head) as u64;
        self.is_endless |= self.lost > LONGEST || line[head..tail].contains(&0);
        self.bytes.copy_within(tail..self.end, head);
        self.cuts += u64::from(!self.cutting);
        self.cutting = true;
        self.dropped += (tail - head) as u64;
        self.end -= tail - head;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TINY: Limits = Limits { chunk: 8, line: 160 };

    /// Consumes whole lines and returns them.
    fn lines(window: &mut Window, mut reader: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        while !window.ended() {
            window.fill(&mut reader).expect("memory");
            while let Some(end) = window.unread().iter().position(|byte| *byte == b'\n') {
                lines.push(String::from_utf8_lossy(&window.unread()[..end]).into_owned());
                window.consume(end + 1);
            }
        }
        lines.push(String::from_utf8_lossy(window.unread()).into_owned());
        lines
    }

    #[test]
    fn a_line_that_is_too_long_keeps_both_ends() {
        let long = format!("write(1, \"{}\", 999) = 999\nexit\n", "\\\"".repeat(500));
        let mut window = Window::new(TINY);
        let lines = lines(&mut window, long.as_bytes());
        assert_eq!(lines.len(), 3);
        assert!(lines[0].starts_with("write(") && lines[0].ends_with(" = 999"), "{lines:?}");
        let quotes = lines[0].replace("\\\"", "").matches('"').count();
        assert_eq!(quotes, 2, "an escaped quote was split: {lines:?}");
        assert_eq!(&lines[1..], ["exit", ""]);
        let (cuts, dropped) = window.dropped();
        assert_eq!(cuts, 1);
        assert_eq!(dropped as usize, long.len() - "\nexit\n".len() - lines[0].len());
        assert!(window.bytes.len() <= TINY.line + 2 * TINY.chunk);
    }

    #[test]
    fn a_long_line_of_zeros_has_no_end() {
        let mut window = Window::new(TINY);
        let zeros = [b"1 read(3, \"abc\\0\\0".as_slice(), &[0; 300]].concat();
        let mut read = 0;
        let mut reader = zeros.chain(io::repeat(0));
        while !window.is_endless() {
            read += window.fill(&mut reader).expect("memory");
            assert!(read < 1000);
        }
        let mut window = Window::new(TINY);
        lines(&mut window, "1 write(1, \"abcdefgh\\0\", 8) = 8 ".repeat(99).as_bytes());
        assert!(!window.is_endless());
    }

    proptest! {
        #[test]
        fn shorter_lines_come_through_unchanged(texts in prop::collection::vec("[a-c\\\\\"]{0,50}", 0..20)) {
            let text = texts.iter().map(|line| format!("{line}\n")).collect::<String>();
            let mut window = Window::new(TINY);
            let mut got = lines(&mut window, text.as_bytes());
            prop_assert_eq!(got.pop(), Some(String::new()));
            prop_assert_eq!(got, texts);
            prop_assert_eq!(window.dropped(), (0, 0));
        }
    }
}
