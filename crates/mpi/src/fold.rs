//! Stacks in which recursion is kept once.

use iotrail_mpi_abi::frames::MOST_FRAMES;

/// The addresses of a stack, innermost first. A block of them that is repeated directly after itself is kept once.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Folded {
    length: usize,
    addresses: [usize; MOST_FRAMES],
}

impl Folded {
    /// An empty stack.
    pub(crate) const fn new() -> Self {
        Self { length: 0, addresses: [0; MOST_FRAMES] }
    }

    /// The stack of these addresses; those behind the first `most` that are left, or the last that there is room for, are left out.
    pub(crate) fn of(addresses: &[usize], most: usize) -> Self {
        let mut folded = Self::new();
        for address in addresses {
            if folded.length == MOST_FRAMES.min(most) {
                break;
            }
            folded.push(*address);
        }
        folded
    }

    /// The addresses that are left.
    pub(crate) fn addresses(&self) -> &[usize] {
        &self.addresses[..self.length]
    }

    fn push(&mut self, address: usize) {
        self.addresses[self.length] = address;
        self.length += 1;
        let repeats = |block: &usize| {
            let (before, last) = self.addresses[..self.length].split_at(self.length - block);
            before.ends_with(last)
        };
        if let Some(block) = (1..=self.length / 2).find(repeats) {
            self.length -= block;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        let addresses: Vec<usize> = text.bytes().map(usize::from).collect();
        Folded::of(&addresses, MOST_FRAMES)
            .addresses()
            .iter()
            .map(|address| char::from(*address as u8))
            .collect()
    }

    #[test]
    fn a_block_that_is_repeated_directly_after_itself_is_kept_once() {
        assert_eq!(folded("abc"), "abc");
        assert_eq!(folded("saaaam"), "sam");
        assert_eq!(folded("sababababm"), "sabm");
        assert_eq!(folded("sabcabcabcm"), "sabcm");
        assert_eq!(folded("aabaab"), "ab", "blocks of folded blocks");
        assert_eq!(folded("abcb"), "abcb", "what comes again later is no repetition");
        assert_eq!(folded(""), "");
    }

    #[test]
    fn stacks_of_any_depth_fit() {
        let addresses: Vec<usize> = (0..3 * MOST_FRAMES).collect();
        assert_eq!(Folded::of(&addresses, MOST_FRAMES).addresses(), &addresses[..MOST_FRAMES]);
        assert_eq!(Folded::of(&[7, 7, 8, 9], 2).addresses(), [7, 8]);
        assert_eq!(folded(&"x".repeat(1000)), "x");
    }
}
