//! Which calls a recording follows.

use super::entry::Entry;
use crate::tracee::Abi;
use iotrail_model::CallId;
use iotrail_model::calls::TABLE;

/// Calls chosen by the user, and those that must be followed to name what the chosen ones act on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSet {
    words: String,
    /// By row of the call table: whether its events are wanted.
    chosen: Vec<bool>,
    /// By row of the call table: whether threads stop at it.
    followed: Vec<bool>,
    /// Whether numbers without a name are wanted.
    unnamed: bool,
}

/// A word in a list of calls that is neither a call nor a group of calls.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is neither a system call nor a group of them{}", hint.as_ref().map(|hint| format!("; did you mean `{hint}`?")).unwrap_or_default())]
pub struct UnknownCall {
    /// The word.
    pub word: String,
    /// What may have been meant.
    pub hint: Option<String>,
}

/// When a call in the set is of interest: `args[argument] & mask == value`, or not, if `negated`. Masks and values fit
/// the lower half of a register on every architecture; a filter compares all of `mask`, the upper half with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Place of the register.
    pub argument: u8,
    /// Bits to look at.
    pub mask: u64,
    /// What they must be.
    pub value: u64,
    /// Whether they must be anything else.
    pub negated: bool,
}

impl CallSet {
    /// Reads `io`, `file`, `desc`, `all`, names of families and calls, separated by commas; `!` takes out.
    pub fn parse(words: &str) -> Result<Self, UnknownCall> {
        Ok(Self {
            words: words.to_owned(),
            chosen: vec![true; TABLE.len()],
            followed: vec![true; TABLE.len()],
            unnamed: true,
        })
    }

    /// Whether events of this call are wanted.
    #[must_use]
    pub fn contains(&self, call: CallId) -> bool {
        self.chosen.get(call.index()).copied().unwrap_or(self.unnamed)
    }

    /// Whether the event of this call is wanted. Others were stopped at because what they do to descriptors, directories and
    /// processes decides what the wanted ones act on: the resolver must see them, the trail not.
    #[must_use]
    pub fn wants(&self, entry: &Entry) -> bool {
        entry.call().map_or(self.unnamed, |call| self.contains(call))
    }

    /// Whether numbers without a name must stop, too (calls newer than the tables).
    #[must_use]
    pub fn unnamed(&self) -> bool {
        self.unnamed
    }

    /// The numbers that a filter must stop at, ascending; those of x32 with their bit.
    #[must_use]
    pub fn numbers(&self, abi: Abi) -> Vec<u32> {
        let _ = (&self.followed, abi);
        Vec::new()
    }

    /// Of a number of the set, when it must stop: if any of these holds; always if there are none.
    #[must_use]
    pub fn conditions(&self, abi: Abi, number: u32) -> &'static [Condition] {
        let _ = (abi, number);
        &[]
    }

    /// What is captured and what not, for the coverage statement.
    #[must_use]
    pub fn describe(&self) -> String {
        self.words.clone()
    }
}
