//! Things that several owners share: threads share descriptor tables, directories and address spaces, children copy them.

/// Things by number, each with the number of its owners.
#[derive(Debug)]
pub(crate) struct Owned<T> {
    places: Vec<Option<(T, u32)>>,
    free: Vec<u32>,
}

impl<T> Default for Owned<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T: Clone> Owned<T> {
    /// A new thing with one owner.
    pub(crate) fn add(&mut self, thing: T) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = Some((thing, 1));
                place
            }
            None => {
                self.places.push(Some((thing, 1)));
                (self.places.len() - 1) as u32
            }
        }
    }

    /// One more owner of the same thing.
    pub(crate) fn share(&mut self, place: u32) {
        if let Some((_, owners)) = &mut self.places[place as usize] {
            *owners += 1;
        }
    }

    /// A thing of one's own that starts out the same.
    pub(crate) fn copy(&mut self, place: u32) -> u32 {
        match &self.places[place as usize] {
            Some((thing, _)) => {
                let thing = thing.clone();
                self.add(thing)
            }
            None => place,
        }
    }

    /// One owner less; gives what the last one leaves.
    pub(crate) fn release(&mut self, place: u32) -> Option<T> {
        let (_, owners) = self.places[place as usize].as_mut()?;
        *owners -= 1;
        if *owners > 0 {
            return None;
        }
        self.free.push(place);
        self.places[place as usize].take().map(|(thing, _)| thing)
    }

    /// The thing for an owner who wants it alone: itself or a copy.
    pub(crate) fn unshare(&mut self, place: u32) -> u32 {
        match &self.places[place as usize] {
            Some((_, owners)) if *owners > 1 => {
                let copy = self.copy(place);
                self.release(place);
                copy
            }
            _ => place,
        }
    }

    #[inline]
    pub(crate) fn get(&self, place: u32) -> Option<&T> {
        self.places[place as usize].as_ref().map(|(thing, _)| thing)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, place: u32) -> Option<&mut T> {
        self.places[place as usize].as_mut().map(|(thing, _)| thing)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().flatten().map(|(thing, _)| thing)
    }

    /// All of them, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().flatten().map(|(thing, _)| thing)
    }
}
