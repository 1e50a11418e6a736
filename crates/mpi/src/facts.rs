//! What a call is about: found out before it is made, and after it has returned.

use crate::arguments::{
    Arguments, Handle, STATUS_BYTES, byte_at, bytes_of, first_of, is_inter, own_position, rank_in, read,
    size_of,
};
use crate::hook::Language;
use iotrail_mpi_abi::{NONE, Record, Shape};

/// What is known before the call.
pub(crate) fn before(arguments: &Arguments<'_>, record: &mut Record) {
    let roles = arguments.roles;
    let comm = arguments.handle(roles.comm, Handle::Communicator);
    record.comm = comm.map_or(0, |comm| arguments.constants.communicator(comm));
    if roles.name == NONE {
        record.file = arguments.handle(roles.file, Handle::File).unwrap_or(0) as u64;
    }
    let rank = |place| arguments.int(place).map(|rank| arguments.constants.rank(rank));
    record.peer = rank(roles.dest).or_else(|| rank(roles.source)).or_else(|| rank(roles.root));
    record.tag = arguments.int(roles.tag).map(|tag| arguments.constants.tag(tag));
    match roles.shape {
        Shape::Send | Shape::Exchange | Shape::Put => record.sent = sends(arguments),
        Shape::Get => record.received = sends(arguments),
        Shape::File => of_file(arguments, record),
        Shape::Other | Shape::Receive | Shape::Probe => {}
        _ => {
            if let Some(comm) = comm.filter(|comm| !is_inter(*comm)) {
                of_collective(arguments, comm, record);
            }
        }
    }
}

fn sends(arguments: &Arguments<'_>) -> Option<i64> {
    arguments.bytes(arguments.roles.send_count, arguments.roles.send_type)
}

fn receives(arguments: &Arguments<'_>) -> Option<i64> {
    arguments.bytes(arguments.roles.receive_count, arguments.roles.receive_type)
}

/// What this rank gives to the others and gets from them. Arguments that mean something at the root alone are not looked at
/// elsewhere, and what is said to lie in place has no count and no type.
fn of_collective(arguments: &Arguments<'_>, comm: usize, record: &mut Record) {
    let roles = arguments.roles;
    let is_root = || arguments.int(roles.root) == rank_in(comm);
    let each = |bytes: Option<i64>| bytes?.checked_mul(i64::from(size_of(comm)?));
    let is_in_place = |place| {
        let address = arguments.address(place).filter(|_| arguments.language == Language::C);
        address.is_none_or(|address| arguments.constants.is_in_place(address))
    };
    let (gives, gets) = (!is_in_place(roles.send_buffer), !is_in_place(roles.receive_buffer));
    let sent = || gives.then(|| sends(arguments)).flatten();
    let received = || gets.then(|| receives(arguments)).flatten();
    match roles.shape {
        Shape::Broadcast if is_root() => record.sent = sends(arguments),
        Shape::Broadcast => record.received = sends(arguments),
        Shape::Reduce => {
            record.sent = sends(arguments);
            record.received = is_root().then(|| sends(arguments)).flatten();
        }
        Shape::Allreduce => (record.sent, record.received) = (sends(arguments), sends(arguments)),
        Shape::Gather => {
            record.sent = sent();
            record.received = is_root().then(|| each(received())).flatten();
        }
        Shape::Allgather => (record.sent, record.received) = (sent(), each(received())),
        Shape::Scatter => {
            record.sent = is_root().then(|| each(sent())).flatten();
            record.received = received();
        }
        Shape::Alltoall => (record.sent, record.received) = (each(sent()), each(received())),
        Shape::Alltoallv => {
            let ranks = size_of(comm).and_then(|ranks| usize::try_from(ranks).ok());
            let sum = |counts, datatype| arguments.bytes_of_all(counts, ranks?, datatype);
            record.sent = gives.then(|| sum(roles.send_counts, roles.send_type)).flatten();
            record.received = gets.then(|| sum(roles.receive_counts, roles.receive_type)).flatten();
        }
        _ => {}
    }
}

/// Where in its file a transfer begins, and how much it asks for.
fn of_file(arguments: &Arguments<'_>, record: &mut Record) {
    let roles = arguments.roles;
    record.requested = sends(arguments);
    let Some(file) = arguments.handle(roles.file, Handle::File) else { return };
    let position = if roles.at_own_position { own_position(file) } else { arguments.offset(roles.offset) };
    record.offset = position.and_then(|position| byte_at(file, position));
}

/// A status of our own in place of one that the caller does not want.
pub(crate) fn substitute_status(arguments: &mut Arguments<'_>, own: &mut [u64; STATUS_BYTES / 8]) {
    let place = arguments.roles.status;
    if arguments.language == Language::C
        && matches!(arguments.roles.shape, Shape::Receive | Shape::Exchange | Shape::File)
        && let Some(status) = arguments.values.get_mut(usize::from(place))
        && arguments.constants.ignores_status(*status)
    {
        *status = own.as_mut_ptr() as usize;
    }
}

/// What is known after a call that succeeded.
pub(crate) fn after(arguments: &Arguments<'_>, record: &mut Record) {
    let roles = arguments.roles;
    if roles.name != NONE {
        let stored = arguments.address(roles.file).filter(|_| arguments.language == Language::C);
        let file = match stored {
            Some(address) => arguments.stored(address, Handle::File),
            None => arguments.handle(roles.file, Handle::File),
        };
        record.file = file.unwrap_or(0) as u64;
    }
    if roles.new_comm != NONE {
        of_new_communicator(arguments, record);
    }
    let status = arguments.address(roles.status).filter(|_| arguments.language == Language::C);
    let Some(status) = status.filter(|status| !arguments.constants.ignores_status(*status)) else { return };
    match roles.shape {
        Shape::Receive => {
            record.received = of_status(arguments, status, roles.receive_type);
            of_message(arguments, status, record);
        }
        Shape::Exchange => record.received = of_status(arguments, status, roles.receive_type),
        Shape::File => record.size = of_status(arguments, status, roles.send_type),
        _ => {}
    }
}

/// Which communicator was made: the rank of `MPI_COMM_WORLD` that is its first, and the own rank in it.
fn of_new_communicator(arguments: &Arguments<'_>, record: &mut Record) {
    let (roles, constants) = (arguments.roles, arguments.constants);
    let stored = arguments.address(roles.new_comm).filter(|_| arguments.language == Language::C);
    let made = match stored {
        Some(address) => arguments.stored(address, Handle::Communicator),
        None => arguments.handle(roles.new_comm, Handle::Communicator),
    };
    (record.peer, record.tag) = (None, None);
    let Some(made) = made.filter(|made| constants.is_communicator(*made)) else { return };
    record.file = made as u64;
    // One that is being made is not asked.
    if !roles.makes_later && !is_inter(made) {
        record.peer = first_of(made, constants.world());
        record.tag = rank_in(made);
    }
}

fn of_status(arguments: &Arguments<'_>, status: usize, datatype: u8) -> Option<i64> {
    bytes_of(status, arguments.handle(datatype, Handle::Datatype)?)
}

/// Who sent what was received.
fn of_message(arguments: &Arguments<'_>, status: usize, record: &mut Record) {
    let (source, tag) = arguments.constants.source_and_tag();
    // SAFETY: a status that the library has filled holds both.
    let (source, tag) = unsafe { (read::<i32>(status + source), read::<i32>(status + tag)) };
    record.peer = source.map(|rank| arguments.constants.rank(rank));
    record.tag = tag.map(|tag| arguments.constants.tag(tag));
}
