//! Things that several owners share: threads share descriptor tables, directories and address spaces, children copy them.

/// Things by number, each with the number of its owners.
#[derive(Debug)]
pub(crate) struct Owned<T> {
    slots: Vec<Option<(T, u32)>>,
    free: Vec<u32>,
}

impl<T> Default for Owned<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T: Clone> Owned<T> {
    /// A new thing with one owner.
    pub(crate) fn add(&mut self, thing: T) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = Some((thing, 1));
                index
            }
            None => {
                self.slots.push(Some((thing, 1)));
                (self.slots.len() - 1) as u32
            }
        }
    }

    /// Whether a thing has several owners.
    #[inline]
    pub(crate) fn is_shared(&self, index: u32) -> bool {
        matches!(self.slots[index as usize], Some((_, 2..)))
    }

    /// One more owner of the same thing.
    pub(crate) fn share(&mut self, index: u32) {
        if let Some((_, owners)) = &mut self.slots[index as usize] {
            *owners += 1;
        }
    }

    /// A thing of one's own that starts out the same.
    pub(crate) fn copy(&mut self, index: u32) -> u32 {
        match &self.slots[index as usize] {
            Some((thing, _)) => {
                let thing = thing.clone();
                self.add(thing)
            }
            None => index,
        }
    }

    /// One owner less; gives what the last one leaves.
    pub(crate) fn release(&mut self, index: u32) -> Option<T> {
        let (_, owners) = self.slots[index as usize].as_mut()?;
        *owners -= 1;
        if *owners > 0 {
            return None;
        }
        self.free.push(index);
        self.slots[index as usize].take().map(|(thing, _)| thing)
    }

    /// The thing for an owner who wants it alone: itself or a copy.
    pub(crate) fn unshare(&mut self, index: u32) -> u32 {
        match &self.slots[index as usize] {
            Some((_, owners)) if *owners > 1 => {
                let copy = self.copy(index);
                self.release(index);
                copy
            }
            _ => index,
        }
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        self.slots[index as usize].as_ref().map(|(thing, _)| thing)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.slots[index as usize].as_mut().map(|(thing, _)| thing)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flatten().map(|(thing, _)| thing)
    }

    /// All of them, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().flatten().map(|(thing, _)| thing)
    }
}
