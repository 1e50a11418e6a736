//! From registers and memory to raw calls.
//!
//! A decoder is handed the registers of a thread that stopped in a call and makes an [`Entry`] of it, which the exit of
//! the call completes. The call table ([`iotrail_model::calls`]) says what each argument is; this module adds what the
//! table leaves out because it differs between architectures: numbers, registers, widths, layouts of structures and
//! the names of constants. Buffers of data are never read. Operations that the kernel does later, io_uring's and aio's, are read from the
//! memory where programs ask for them ([`asynchronous`]).
//!
//! Nothing here knows who stopped the thread: what it sees are [`Registers`] and [`Memory`].

mod address;
pub mod asynchronous;
mod call_set;
mod decoder;
mod effects;
mod entry;
mod exit;
mod layout;
mod mirrored;
mod multiplexer;
mod numbers;
mod plan;
mod rights;
mod signals;
mod stored;
mod strings;
mod structures;
mod symbols;
mod tracee;
mod vectors;

pub use call_set::{CallSet, Condition, UnknownCall};
pub use decoder::Decoder;
pub use effects::{Effects, Special};
pub use entry::{Entry, GivenBase, GivenPath, View};
pub use iotrail_model::errors::{error_name, restarts};
pub(crate) use mirrored::{flag_text, open_how_text, socket_name_text};
pub use numbers::call_of;
pub use signals::signal_name;
pub use tracee::{Abi, Memory, Registers, Returned};
