//! Requests: which a call makes, which it is given, and which of these it has completed.

use crate::arguments::Arguments;
use crate::hook::Language;
use crate::producer::Producer;
use iotrail_mpi_abi::{Completed, NONE, Record, RequestUse};

/// Requests of one call that are told; of more, those behind are not.
const MOST: usize = 1 << 20;

/// Tells the requests that a call is given, before it forgets those that it completes.
pub(crate) fn tell_given(producer: &Producer, arguments: &Arguments<'_>) {
    if !arguments.roles.requests.takes() {
        return;
    }
    let Some((address, count)) = given(arguments) else { return };
    for piece in Record::of_handles(count, |place| arguments.request(address, place)) {
        producer.push(&piece);
    }
}

/// Where the requests are that a call is given, and how many.
fn given(arguments: &Arguments<'_>) -> Option<(usize, usize)> {
    let roles = arguments.roles;
    let place = if roles.request_array == NONE { roles.request } else { roles.request_array };
    let address = arguments.address(place).filter(|address| *address != 0)?;
    let count = if roles.request_array == NONE { 1 } else { arguments.int(roles.request_count)? };
    Some((address, usize::try_from(count).unwrap_or(0).min(MOST)))
}

/// What a call that succeeded has made or completed.
pub(crate) fn after(producer: &Producer, arguments: &Arguments<'_>, record: &mut Record) {
    let roles = arguments.roles;
    match roles.requests {
        RequestUse::Makes | RequestUse::MakesPersistent => {
            let address = arguments.address(roles.request).filter(|address| *address != 0);
            record.request = address.map_or(0, |address| arguments.request(address, 0));
        }
        RequestUse::Completes => record.completed = completed(producer, arguments),
        RequestUse::Starts | RequestUse::Frees | RequestUse::Names | RequestUse::None => {}
    }
}

fn completed(producer: &Producer, arguments: &Arguments<'_>) -> Completed {
    let roles = arguments.roles;
    if roles.flag != NONE && arguments.stored_int(roles.flag, 0) == Some(0) {
        return Completed::None;
    }
    // Fortran counts from 1.
    let first = i32::from(arguments.language == Language::Fortran);
    let place = |role, at| {
        let place = arguments.stored_int(role, at)?.checked_sub(first)?;
        u32::try_from(place).ok()
    };
    if roles.completed != NONE {
        return place(roles.completed, 0).map_or(Completed::None, Completed::One);
    }
    if roles.completed_array == NONE {
        return Completed::All;
    }
    let count = arguments.stored_int(roles.completed_count, 0).and_then(|count| usize::try_from(count).ok());
    let Some(count) = count else { return Completed::None };
    let of = |at| place(roles.completed_array, at).unwrap_or(u32::MAX);
    for piece in Record::of_places(count.min(MOST), of) {
        producer.push(&piece);
    }
    Completed::Listed
}
