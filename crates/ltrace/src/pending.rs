//! Calls that were entered and have not returned.

use iotrail_model::{Layer, Timestamp};

/// A call that was entered and has not returned.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) layer: Layer,
    /// As ltrace has it.
    pub(crate) name: Vec<u8>,
    /// Arguments as printed so far.
    pub(crate) arguments: Vec<u8>,
    pub(crate) start: Timestamp,
    /// The file that it opens, until that is opened.
    pub(crate) opens: Option<Vec<u8>>,
    /// Whether it never returns.
    pub(crate) never: bool,
}

/// The calls that a thread is in, the innermost last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stack(pub(crate) Vec<Pending>);

impl Stack {
    /// The thread enters a call; gives the outermost that it is in if those are too many.
    pub(crate) fn push(&mut self, pending: Pending, most: usize) -> Option<Pending> {
        let outermost = (self.0.len() >= most).then(|| self.0.remove(0));
        self.0.push(pending);
        outermost
    }

    /// The call that returns, and those in it that it left otherwise than by returning.
    pub(crate) fn returns(&mut self, layer: Layer, name: &[u8]) -> Option<(Pending, Vec<Pending>)> {
        let index = self.0.iter().rposition(|pending| pending.layer == layer && pending.name == name)?;
        let left = self.0.split_off(index + 1);
        self.0.pop().map(|pending| (pending, left))
    }

    /// The function of a library in which a system call is made.
    pub(crate) fn function(&mut self) -> Option<&mut Pending> {
        self.0.last_mut().filter(|pending| pending.layer > Layer::Syscall)
    }
}
