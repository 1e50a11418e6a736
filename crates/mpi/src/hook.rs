//! What happens at a call of the program.

use crate::abi::Constants;
use crate::arguments::{Arguments, STATUS_BYTES, error_class, read};
use crate::facts;
use crate::producer::Producer;
use crate::requests;
use crate::roles;
use crate::symbol::{Symbol, invoke};
use iotrail_mpi_abi::{NONE, Record, RecordKind};
use std::cell::Cell;
use std::ffi::{CStr, c_char};

/// The language whose conventions a call follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    /// All arguments by reference, handles are numbers.
    Fortran,
}

/// The name of a file is not longer.
const MOST_NAME: usize = 4096;

thread_local! {
    /// Where the stack stands of the call that the thread is in, if that is told; 0 if it is in none.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// Leaves the call, also when an error handler throws.
struct Inside;

impl Inside {
    /// Enters a call whose stack stands there, unless it is made within one that is told. An error handler that jumps out of its call
    /// never leaves it: the next one stands no deeper than that.
    fn enter(stack: usize) -> Option<Self> {
        let outer = INSIDE.get();
        (outer == 0 || stack >= outer).then(|| {
            INSIDE.set(stack);
            Self
        })
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(0);
    }
}

/// Calls a function of MPI and tells of it.
///
/// # Safety
/// The arguments must be those of the function of that number, in that language.
pub(crate) unsafe fn call(symbol: &Symbol, function: u16, language: Language, values: &mut [usize]) -> usize {
    let address = symbol.address();
    if address.is_null() {
        lacks(symbol);
    }
    let mut record = Record { function, ..Record::default() };
    let stack = (&raw const record).addr();
    let Some(inside) = Inside::enter(stack) else {
        // SAFETY: as the caller promises.
        return unsafe { invoke(address, values) };
    };
    let Some(producer) = Producer::of_this_thread() else {
        drop(inside);
        // SAFETY: as the caller promises.
        return unsafe { invoke(address, values) };
    };
    let mut arguments = Arguments { constants: Constants::get(), roles: roles(function), language, values };
    record.site = producer.site(symbol, stack);
    if arguments.roles.name != NONE {
        tell_name(producer, &arguments);
    }
    facts::before(&arguments, &mut record);
    requests::tell_given(producer, &arguments);
    let mut status = [0_u64; STATUS_BYTES / 8];
    facts::substitute_status(&mut arguments, &mut status);
    record.start = now();
    producer.push(&record.to_bytes());
    // SAFETY: as the caller promises.
    let returned = unsafe { invoke(address, arguments.values) };
    record.end = now();
    record.kind = RecordKind::Returned;
    record.returned = result(&arguments, returned);
    if record.returned == 0 {
        facts::after(&arguments, &mut record);
        requests::after(producer, &arguments, &mut record);
    }
    producer.push(&record.to_bytes());
    returned
}

/// Ends the program as the dynamic linker ends one that calls a function which no library has.
#[cold]
fn lacks(symbol: &Symbol) -> ! {
    for part in [
        b"iotrail: symbol lookup error: the MPI library lacks what the program found here in its place: ",
        symbol.name().to_bytes(),
        b"\n",
    ] as [&[u8]; 3]
    {
        // SAFETY: writes bytes that are there.
        unsafe { libc::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
    }
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(127) }
}

/// The class of the error; 0 is success. Fortran stores the code where its argument behind the others says.
fn result(arguments: &Arguments<'_>, returned: usize) -> i32 {
    if !arguments.roles.has_error {
        return 0;
    }
    let code = match (arguments.language, arguments.error_address()) {
        (Language::C, _) => returned as i32,
        // SAFETY: NULL, or where the error code is stored.
        (Language::Fortran, Some(address)) => unsafe { read(address) }.unwrap_or(0),
        (Language::Fortran, None) => 0,
    };
    if code == 0 { 0 } else { error_class(code).unwrap_or(code) }
}

/// Tells the name of the file that is to be opened.
fn tell_name(producer: &Producer, arguments: &Arguments<'_>) {
    let Some(address) = arguments.address(arguments.roles.name).filter(|address| *address != 0) else {
        return;
    };
    let name = match arguments.language {
        // SAFETY: C ends names with NUL.
        Language::C => unsafe { CStr::from_ptr(address as *const c_char) }.to_bytes(),
        Language::Fortran => {
            let length = arguments.text_length().filter(|length| *length <= MOST_NAME).unwrap_or(0);
            // SAFETY: Fortran tells the length of a text behind the other arguments.
            unsafe { std::slice::from_raw_parts(address as *const u8, length) }.trim_ascii_end()
        }
    };
    for piece in Record::of_text(&name[..name.len().min(MOST_NAME)]) {
        producer.push(&piece);
    }
}

/// Nanoseconds of the monotonic clock.
fn now() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: stores the time there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
