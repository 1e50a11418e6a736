//! Call sites: the stacks from which a thread calls MPI, each with a number.
//!
//! A stack is unwound once. Where its return addresses lie is remembered, and a call that finds the same addresses at the same places
//! comes from the same site: comparing them takes some nanoseconds.

use crate::fold::Folded;
use crate::modules::{Module, module_of};
use crate::symbol::Symbol;
use crate::unwind::{DEEPEST, Stack, read};
use iotrail_mpi_abi::Record;
use iotrail_mpi_abi::frames::{FramesWriter, MOST_FRAMES, RawFrame};
use std::ops::Range;

/// Layouts that are remembered, a power of two. Others take the place of older ones.
const LAYOUTS: usize = 1024;
/// Places in which a layout may be.
const WAYS: usize = 8;
/// Sites that get a number. Calls from others have none.
pub(crate) const MOST_SITES: usize = 1024;
/// Places of the table that finds them, a power of two.
const PLACES: usize = 2 * MOST_SITES;

/// Where the return addresses of a stack lay, and which site that is.
#[repr(C)]
struct Layout {
    /// Where the stack of the call began: 0 if nothing is remembered here.
    position: usize,
    length: usize,
    site: Site,
    /// From `position` on.
    slots: [u32; DEEPEST],
    addresses: [usize; DEEPEST],
}

/// What a call is told to come from.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Site {
    /// No frame of the program.
    None,
    /// There was no number left.
    Unnumbered,
    /// A number, from 1.
    Number(u32),
}

/// The sites of a thread. Zeros are a table without sites.
#[repr(C)]
pub(crate) struct Sites {
    layouts: [Layout; LAYOUTS],
    /// Numbers of `known`, by the hash of what they stand for; 0 is none.
    places: [u32; PLACES],
    known: [Folded; MOST_SITES],
    /// How many of them there are.
    count: usize,
    /// Frames that are told of each.
    depth: usize,
    /// The first and the last address of this library.
    own: (usize, usize),
    /// Which of several layouts goes next.
    turn: usize,
    stack: Stack,
}

impl Sites {
    /// Begins a table of zeros.
    pub(crate) fn begin(&mut self, depth: usize) {
        self.depth = depth.min(MOST_FRAMES);
        let own = module_of(module_of as *const () as usize).map_or(0..0, |module| module.range());
        self.own = (own.start, own.end);
    }

    /// The site of the present call of `symbol`. `position` is where the frame of the caller of this function lies, always at the same
    /// distance from that of the wrapper. The frames of a new site are told in records.
    #[inline]
    pub(crate) fn site(
        &mut self,
        symbol: &Symbol,
        position: usize,
        push: impl FnMut(&[u8; Record::BYTES]),
    ) -> Site {
        let distance = symbol.return_slot();
        if distance != 0 {
            // SAFETY: in the frame of the wrapper, which has not returned.
            let address = unsafe { read(position + distance) };
            let places = ways(position, address);
            if let Some(layout) = places.map(|at| &self.layouts[at]).find(|layout| layout.is_at(position)) {
                return layout.site;
            }
        }
        self.unwind(symbol, position, push)
    }

    #[cold]
    fn unwind(&mut self, symbol: &Symbol, position: usize, push: impl FnMut(&[u8; Record::BYTES])) -> Site {
        self.stack.unwind(self.own.0..self.own.1, position);
        let site = self.numbered(push);
        self.remember(symbol, position, site);
        site
    }

    /// The number of the stack that was unwound, a new one if it has none.
    fn numbered(&mut self, push: impl FnMut(&[u8; Record::BYTES])) -> Site {
        let addresses = self.stack.addresses();
        let folded = Folded::of(&addresses[of_program(addresses)], self.depth);
        if folded.addresses().is_empty() {
            return Site::None;
        }
        let first = hash(folded.addresses()) % PLACES;
        let places = (0..PLACES).map(|step| (first + step) % PLACES);
        for place in places {
            let Some(number) = (self.places[place] as usize).checked_sub(1) else {
                if self.count == MOST_SITES {
                    return Site::Unnumbered;
                }
                tell(folded.addresses(), push);
                self.known[self.count] = folded;
                self.count += 1;
                self.places[place] = self.count as u32;
                return Site::Number(self.count as u32);
            };
            if self.known[number].addresses() == folded.addresses() {
                return Site::Number(number as u32 + 1);
            }
        }
        Site::Unnumbered
    }

    /// Remembers where the addresses lie, if that is known.
    fn remember(&mut self, symbol: &Symbol, position: usize, site: Site) {
        let (addresses, Some(slots)) = (self.stack.addresses(), self.stack.slots()) else { return };
        let [first, ..] = slots else { return };
        let is_near = |slot: &usize| slot.checked_sub(position).is_some_and(|d| u32::try_from(d).is_ok());
        if !slots.iter().all(is_near) {
            return;
        }
        symbol.has_return_slot(first - position);
        let free = ways(position, addresses[0]).find(|at| self.layouts[*at].position == 0);
        self.turn = self.turn.wrapping_add(1);
        let at = free.or_else(|| ways(position, addresses[0]).nth(self.turn % WAYS));
        let Some(layout) = at.map(|at| &mut self.layouts[at]) else { return };
        (layout.position, layout.length, layout.site) = (position, addresses.len(), site);
        layout.addresses[..addresses.len()].copy_from_slice(addresses);
        for (own, slot) in layout.slots.iter_mut().zip(slots) {
            *own = (slot - position) as u32;
        }
    }
}

impl Layout {
    /// Whether the stack above `position` has the same return addresses at the same places.
    #[inline]
    fn is_at(&self, position: usize) -> bool {
        let slots = self.slots[..self.length].iter().zip(&self.addresses[..self.length]);
        // SAFETY: these places were part of a stack that began here. From the caller outwards each function has its frame where it had
        // it then, as long as the addresses are the same; behind the first that differs nothing is looked at.
        self.position == position
            && slots.into_iter().all(|(slot, address)| unsafe { read(position + *slot as usize) } == *address)
    }
}

/// Places of a layout that begins there and returns to this address.
#[inline]
fn ways(position: usize, address: usize) -> impl Iterator<Item = usize> {
    let first = hash(&[position, address]);
    (0..WAYS).map(move |step| (first + step) % LAYOUTS)
}

#[inline]
fn hash(words: &[usize]) -> usize {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = words.iter().fold(0, |state: u64, word| {
        let product = u128::from(state ^ *word as u64) * u128::from(MULTIPLIER);
        product as u64 ^ (product >> 64) as u64
    });
    (mixed >> 16) as usize
}

/// Tells the frames of a site.
fn tell(addresses: &[usize], push: impl FnMut(&[u8; Record::BYTES])) {
    let mut writer = FramesWriter::new(push);
    for address in addresses {
        let module = module_of(*address);
        writer.add(&RawFrame {
            address: (*address).wrapping_sub(module.map_or(0, |module| module.base)) as u64,
            build_id: module.map_or(&[], |module| module.build_id),
            module: module.map_or(b"?", |module| module.path),
        });
    }
    writer.finish();
}

/// Which of these frames are the program's: neither those in which a library of MPI calls itself, nor those that call `main`, or the
/// first function of a thread.
fn of_program(addresses: &[usize]) -> Range<usize> {
    let is = |address: &usize, what: fn(&Module<'_>) -> bool| {
        module_of(*address).is_some_and(|module| what(&module))
    };
    let first = addresses.iter().take_while(|address| is(address, |module| module.is_of_mpi())).count();
    let starts = match addresses {
        [.., caller, start]
            if is(caller, |module| module.is_of_c()) && is(start, |module| module.is_program()) =>
        {
            1
        }
        _ => 0,
    };
    let rest = &addresses[..addresses.len() - starts];
    let of_c = rest.iter().rev().take_while(|address| is(address, |module| module.is_of_c())).count();
    first..(rest.len() - of_c).max(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    static SYMBOL: Symbol = Symbol::new(c"MPI_Send");

    struct Told {
        sites: Box<Sites>,
        records: usize,
    }

    impl Told {
        fn new(depth: usize) -> Self {
            // SAFETY: zeros are a table without sites.
            let mut sites = unsafe { Box::<Sites>::new_zeroed().assume_init() };
            sites.begin(depth);
            // The tests are in one module with what they try.
            sites.own = (0, 0);
            Self { sites, records: 0 }
        }

        #[inline(never)]
        fn call(&mut self, symbol: &Symbol) -> Site {
            let position = (&raw const self).addr();
            self.sites.site(symbol, position, |_| self.records += 1)
        }
    }

    #[inline(never)]
    fn one(told: &mut Told) -> Site {
        std::hint::black_box(told.call(&SYMBOL))
    }

    #[inline(never)]
    fn other(told: &mut Told) -> Site {
        std::hint::black_box(told.call(&SYMBOL))
    }

    #[inline(never)]
    fn deep(told: &mut Told, depth: usize) -> Site {
        std::hint::black_box(if depth == 0 { told.call(&SYMBOL) } else { deep(told, depth - 1) })
    }

    #[test]
    fn a_site_is_told_once_and_known_again() {
        let mut told = Told::new(16);
        let sites: Vec<Site> = (0..10).map(|_| one(&mut told)).collect();
        assert!(
            matches!(sites[0], Site::Number(1)) && sites.iter().all(|site| *site == sites[0]),
            "{sites:?}"
        );
        let records = told.records;
        assert!(records > 0);
        assert_ne!(other(&mut told), sites[0]);
        assert!(told.records > records);
        let remembered = told.sites.layouts.iter().filter(|layout| layout.position != 0).count();
        assert_eq!(remembered, 2, "each was unwound once");
    }

    #[test]
    fn recursion_is_one_site_where_it_is_at_least_two_calls_deep() {
        let mut told = Told::new(64);
        let deeper: Vec<Site> = (3..9).map(|depth| deep(&mut told, depth)).collect();
        assert!(deeper.iter().all(|site| *site == deeper[0]), "{deeper:?}");
        assert!(matches!(deep(&mut told, 500), Site::Number(_)));
    }

    #[test]
    fn when_there_are_too_many_sites_the_others_have_no_number() {
        let mut told = Told::new(16);
        let known = [0, MOST_SITES].map(|count| {
            told.sites.count = count.max(told.sites.count);
            one(&mut told)
        });
        assert_eq!(known, [Site::Number(1); 2]);
        assert_eq!(other(&mut told), Site::Unnumbered);
    }

    #[test]
    fn stacks_that_end_in_a_thread_are_followed_to_its_first_function() {
        let own = std::thread::spawn(|| {
            let mut told = Told::new(64);
            [0; 3].map(|_| one(&mut told))
        });
        assert_eq!(own.join().unwrap(), [Site::Number(1); 3]);
    }
}
