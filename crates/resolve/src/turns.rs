//! Whether processes of a case ran at the same time.
//!
//! A parent that forks, waits and goes on after its child gives A B B A: nested, one after the other. A B A B does
//! not: somebody made a call, let another make one, and made one again in between. The processes that have run and are not
//! known to be through form a stack; when one below the top makes a call, those above it are taken to be through, and if one of
//! them makes one after all, two ran at the same time.

use hashbrown::HashMap;
use iotrail_model::Pid;

type Ranks = HashMap<Pid, Rank, foldhash::fast::FixedState>;

/// The order in which the processes of one case ran.
#[derive(Debug)]
pub(crate) enum Turns {
    /// Each ran within or after the others.
    Nested {
        /// Those not known to be through, the last process on top. One that ended leaves a gap, never on top.
        stack: Vec<Option<Pid>>,
        /// Every process that ran and has not ended.
        ranks: Ranks,
    },
    /// Two ran at the same time.
    Interleaved,
}

/// What is known of a process that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    /// Its index in the stack.
    At(usize),
    /// It is taken to be through.
    Through,
}

impl Default for Turns {
    fn default() -> Self {
        Self::Nested { stack: Vec::new(), ranks: Ranks::default() }
    }
}

impl Turns {
    /// `pid` made a call.
    #[inline]
    pub(crate) fn runs(&mut self, pid: Pid) {
        if let Self::Nested { stack, .. } = self
            && stack.last() != Some(&Some(pid))
        {
            self.takes_over(pid);
        }
    }

    /// Each process is pushed once and popped once, so that the cost does not depend on how many there are.
    fn takes_over(&mut self, pid: Pid) {
        let Self::Nested { stack, ranks } = self else { return };
        match ranks.get(&pid).copied() {
            Some(Rank::Through) => *self = Self::Interleaved,
            Some(Rank::At(index)) => {
                for above in stack.drain(index + 1..).flatten() {
                    ranks.insert(above, Rank::Through);
                }
            }
            None => {
                ranks.insert(pid, Rank::At(stack.len()));
                stack.push(Some(pid));
            }
        }
    }

    /// `pid` ended; the same number may come again as another process.
    pub(crate) fn ends(&mut self, pid: Pid) {
        let Self::Nested { stack, ranks } = self else { return };
        if let Some(Rank::At(index)) = ranks.remove(&pid) {
            stack[index] = None;
            while stack.last() == Some(&None) {
                stack.pop();
            }
        }
    }

    pub(crate) fn interleaved(&self) -> bool {
        matches!(self, Self::Interleaved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interleaved(order: &str) -> bool {
        let mut turns = Turns::default();
        for process in order.chars() {
            match process.is_ascii_lowercase() {
                true => turns.ends(Pid(u32::from(process.to_ascii_uppercase()))),
                false => turns.runs(Pid(u32::from(process))),
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
    fn who_ends_in_the_middle_leaves_the_others_in_their_order() {
        assert!(!interleaved("ABCbCA"));
        assert!(!interleaved("ABCbcA"));
        assert!(interleaved("ABCbAC"));
        assert!(!interleaved("ABCbBA"));
    }

    #[test]
    fn a_million_processes_that_never_end_cost_no_more_each_than_a_few() {
        let mut turns = Turns::default();
        (0..1_000_000).for_each(|pid| turns.runs(Pid(pid)));
        (0..1_000_000).step_by(2).for_each(|pid| turns.ends(Pid(pid)));
        turns.runs(Pid(1));
        assert!(!turns.interleaved());
        turns.runs(Pid(3));
        assert!(turns.interleaved());
    }

    #[test]
    fn a_number_used_again_is_another_process() {
        assert!(!interleaved("ABbAB"));
        assert!(!interleaved("ABAbB"));
    }
}
