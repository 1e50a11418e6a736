//! The stack of the calling thread, by what compilers tell exceptions of it (`.eh_frame`): it needs no frame pointers.

use std::ffi::{c_int, c_void};
use std::ops::Range;

/// Stacks are followed this far.
pub(crate) const DEEPEST: usize = 256;
const WORD: usize = size_of::<usize>();

/// What `_Unwind_Backtrace` is to do after a frame.
const GO_ON: c_int = 0;
/// Any other number ends it.
const END: c_int = 5;

unsafe extern "C" {
    fn _Unwind_Backtrace(
        step: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIPInfo(context: *mut c_void, is_before: *mut c_int) -> usize;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

/// Return addresses from the caller of this library outwards.
#[repr(C)]
pub(crate) struct Stack {
    length: usize,
    addresses: [usize; DEEPEST],
    /// Where on the stack each lies.
    slots: [usize; DEEPEST],
    /// Whether one of them was not found there.
    has_lost_slots: bool,
}

/// What a step is given.
struct Walk<'a> {
    stack: &'a mut Stack,
    /// Addresses of this library, whose frames are not the program's.
    own: Range<usize>,
    /// A place in the frame of one of its functions: what lies below is its, too.
    position: usize,
}

impl Stack {
    /// The return addresses.
    pub(crate) fn addresses(&self) -> &[usize] {
        &self.addresses[..self.length]
    }

    /// Where each lies; `None` if that is not known of all.
    pub(crate) fn slots(&self) -> Option<&[usize]> {
        (!self.has_lost_slots).then(|| &self.slots[..self.length])
    }

    /// Replaces the stack by that of the calling thread outside of this library.
    pub(crate) fn unwind(&mut self, own: Range<usize>, position: usize) {
        (self.length, self.has_lost_slots) = (0, false);
        let mut walk = Walk { stack: self, own, position };
        // SAFETY: `step` gets the walk that lives until the call returns.
        unsafe { _Unwind_Backtrace(step, (&raw mut walk).cast()) };
    }

    fn push(&mut self, address: usize, slot: Option<usize>) -> bool {
        if self.length == DEEPEST {
            return false;
        }
        self.has_lost_slots |= slot.is_none();
        self.addresses[self.length] = address;
        self.slots[self.length] = slot.unwrap_or(0);
        self.length += 1;
        true
    }
}

/// Takes one frame.
unsafe extern "C" fn step(context: *mut c_void, argument: *mut c_void) -> c_int {
    // SAFETY: what `unwind` handed over.
    let walk = unsafe { &mut *argument.cast::<Walk<'_>>() };
    let mut is_before = 0;
    // SAFETY: the context of this step.
    let (address, end) = unsafe { (_Unwind_GetIPInfo(context, &raw mut is_before), _Unwind_GetCFA(context)) };
    let is_own = walk.stack.length == 0 && (end <= walk.position || walk.own.contains(&address));
    let goes_on = address != 0
        && (is_own
            || match is_before {
                0 => walk.stack.push(address, slot_of(address, end)),
                // A signal came before this instruction: no call returns there, and below it there may be no stack.
                _ => walk.stack.push(address + 1, None),
            });
    if goes_on { GO_ON } else { END }
}

/// Where a return address lies, if that is where the frame of the function ends that will return there.
fn slot_of(address: usize, end: usize) -> Option<usize> {
    let slot = end.checked_sub(WORD).filter(|slot| slot.is_multiple_of(WORD))?;
    // SAFETY: the unwinder has read the frame that ends there.
    (unsafe { read(slot) } == address).then_some(slot)
}

/// The word there.
///
/// # Safety
/// It must be mapped and aligned.
#[inline]
pub(crate) unsafe fn read(slot: usize) -> usize {
    // SAFETY: as the caller promises. Others may write there meanwhile only if it is no slot any more.
    unsafe { (slot as *const usize).read_volatile() }
}
