//! Whether processes of a case ran at the same time.
//!
//! A parent that forks, waits and goes on after its child gives A B B A: nested, one after the other. A B A B does
//! not: somebody spoke, let another speak, and spoke again in between. The processes that have spoken and are not
//! known to be through form a stack; when one below the top speaks, those above it are taken to be through, and if one of
//! them speaks after all, two ran at the same time.

use hashbrown::HashSet;
use iotrail_model::Pid;

/// The order in which the processes of one case spoke.
#[derive(Debug)]
pub(crate) enum Turns {
    /// Each spoke within or after the others.
    Nested {
        /// Those not known to be through, the last speaker on top.
        stack: Vec<Pid>,
        /// Those taken to be through that have not ended.
        through: HashSet<Pid, foldhash::fast::FixedState>,
    },
    /// Two ran at the same time.
    Interleaved,
}

impl Default for Turns {
    fn default() -> Self {
        Self::Nested { stack: Vec::new(), through: HashSet::default() }
    }
}

impl Turns {
    /// `pid` made a call.
    #[inline]
    pub(crate) fn speaks(&mut self, pid: Pid) {
        if let Self::Nested { stack, .. } = self
            && stack.last() != Some(&pid)
        {
            self.takes_over(pid);
        }
    }

    fn takes_over(&mut self, pid: Pid) {
        let Self::Nested { stack, through } = self else { return };
        if through.contains(&pid) {
            *self = Self::Interleaved;
        } else if let Some(place) = stack.iter().rposition(|other| *other == pid) {
            through.extend(stack.drain(place + 1..));
        } else {
            stack.push(pid);
        }
    }

    /// `pid` ended; the same number may come again as another process.
    pub(crate) fn ends(&mut self, pid: Pid) {
        if let Self::Nested { stack, through } = self {
            stack.retain(|other| *other != pid);
            through.remove(&pid);
        }
    }

    pub(crate) fn interleaved(&self) -> bool {
        matches!(self, Self::Interleaved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interleaved(speakers: &str) -> bool {
        let mut turns = Turns::default();
        for speaker in speakers.chars() {
            match speaker.is_ascii_lowercase() {
                true => turns.ends(Pid(u32::from(speaker.to_ascii_uppercase()))),
                false => turns.speaks(Pid(u32::from(speaker))),
            }
        }
        turns.interleaved()
    }

    #[test]
    fn children_within_their_parents_are_not_concurrent() {
        assert!(!interleaved("AABBBAA"));
        assert!(!interleaved("ABCCBAADDA"));
        assert!(!interleaved("ABBbCCcA"));
    }

    #[test]
    fn taking_turns_is_concurrent() {
        assert!(interleaved("ABAB"));
        assert!(interleaved("ABCBC"));
        assert!(interleaved("AABBCAAC"));
    }

    #[test]
    fn a_number_used_again_is_another_process() {
        assert!(!interleaved("ABbAB"));
        assert!(!interleaved("ABAbB"));
    }
}
