//! What the parameters of a function mean.

use crate::functions::{Function, functions};

/// The place of a parameter that a function does not have.
pub const NONE: u8 = u8::MAX;

/// What a function moves, and between whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Nothing that can be told from its parameters.
    #[default]
    Other,
    /// To one rank.
    Send,
    /// From one rank.
    Receive,
    /// To one rank and from one rank.
    Exchange,
    /// It asks for a message, which stays where it is.
    Probe,
    /// From the root to all.
    Broadcast,
    /// From all to the root, one value of them all.
    Reduce,
    /// From all to all, one value.
    Allreduce,
    /// From all to the root, side by side.
    Gather,
    /// From all to all, side by side.
    Allgather,
    /// From the root to all, a part to each.
    Scatter,
    /// From all to all, a part to each.
    Alltoall,
    /// The same with parts of different sizes.
    Alltoallv,
    /// Into the memory of another rank.
    Put,
    /// Out of the memory of another rank.
    Get,
    /// From or to a file.
    File,
}

/// What a function does to requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestUse {
    /// Nothing, or nothing that is told.
    #[default]
    None,
    /// It makes one, which goes on.
    Makes,
    /// It makes one that can be started often.
    MakesPersistent,
    /// It starts such requests.
    Starts,
    /// It completes some of them (`MPI_Wait`, `MPI_Test` and their variants).
    Completes,
    /// It gives one back.
    Frees,
    /// It is about one (`MPI_Cancel`).
    Names,
}

impl RequestUse {
    /// What the function of that name does; nothing, if there is none.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let function = functions().find(|function| function.name == name);
        function.map_or(Self::None, |function| Roles::of(&function).requests)
    }

    /// Whether a function is given requests.
    #[must_use]
    pub const fn takes(self) -> bool {
        matches!(self, Self::Starts | Self::Completes | Self::Frees | Self::Names)
    }
}

/// Places of the parameters of a function, counted from 0; [`NONE`] if it has no such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// What it moves.
    pub shape: Shape,
    /// Whether counts are `MPI_Count` (`_c`) and not `int`.
    pub large: bool,
    /// Whether communicator or file are given by reference, because the call takes them away.
    pub by_reference: bool,
    /// The communicator.
    pub comm: u8,
    /// Where the communicator is stored that it makes.
    pub new_comm: u8,
    /// The file; of `MPI_File_open` where its handle is stored.
    pub file: u8,
    /// The rank that is sent to, or whose memory is accessed.
    pub dest: u8,
    /// The rank that is received from.
    pub source: u8,
    /// The root.
    pub root: u8,
    /// The tag; of an exchange that of what is sent.
    pub tag: u8,
    /// The memory that is sent.
    pub send_buffer: u8,
    /// How many elements are sent, and of which type.
    pub send_count: u8,
    /// The type of what is sent.
    pub send_type: u8,
    /// The memory that is received into.
    pub receive_buffer: u8,
    /// How many elements are received, at most.
    pub receive_count: u8,
    /// The type of what is received.
    pub receive_type: u8,
    /// How many elements are sent to each rank.
    pub send_counts: u8,
    /// How many are received from each.
    pub receive_counts: u8,
    /// Where the status is stored.
    pub status: u8,
    /// The offset in a file, in units of its view.
    pub offset: u8,
    /// The name of a file.
    pub name: u8,
    /// What it does to requests.
    pub requests: RequestUse,
    /// Where its request is stored.
    pub request: u8,
    /// Where its requests are, if it has many, and how many.
    pub request_array: u8,
    /// How many these are.
    pub request_count: u8,
    /// Where is stored whether any is over.
    pub flag: u8,
    /// Where the place of the one that is over is stored.
    pub completed: u8,
    /// Where is stored how many are over.
    pub completed_count: u8,
    /// Where their places are stored.
    pub completed_array: u8,
    /// Whether it answers an error code; in Fortran that is an argument behind the others.
    pub has_error: bool,
    /// Whether the communicator that it makes is ready only when its request is over.
    pub makes_later: bool,
    /// Whether the transfer is at the process's own position in the file.
    pub at_own_position: bool,
}

impl Roles {
    /// What follows from name and parameters of a function.
    #[must_use]
    pub fn of(function: &Function) -> Self {
        let base = function.name.trim_start_matches("MPI_");
        let (base, large) = base.strip_suffix("_c").map_or((base, false), |base| (base, true));
        let shape = shape(base, &function.parameters);
        let place = |names: &[&str]| {
            let found =
                names.iter().find_map(|name| function.parameters.iter().position(|other| other == name));
            found.and_then(|place| u8::try_from(place).ok()).unwrap_or(NONE)
        };
        let is_file = shape == Shape::File;
        let is_explicit = base.contains("_at");
        let is_shared = base.contains("shared") || base.contains("ordered");
        Self {
            shape,
            large,
            by_reference: base.ends_with("_free") || base.ends_with("_disconnect") || base == "File_close",
            comm: place(&["comm", "comm_old"]),
            new_comm: place(&NEW_COMMUNICATORS),
            file: place(&["fh"]),
            dest: place(&["dest", "target_rank"]),
            source: place(&["source"]),
            root: place(&["root"]),
            tag: place(&["sendtag", "tag"]),
            send_buffer: place(&["sendbuf", "origin_addr", "buf", "buffer"]),
            send_count: place(&["sendcount", "origin_count", "count"]),
            send_type: place(&["sendtype", "origin_datatype", "datatype"]),
            receive_buffer: place(&["recvbuf"]),
            receive_count: place(&["recvcount", "count"]),
            receive_type: place(&["recvtype", "datatype"]),
            send_counts: place(&["sendcounts"]),
            receive_counts: place(&["recvcounts"]),
            status: place(&["status"]),
            offset: if is_file && is_explicit { place(&["offset"]) } else { NONE },
            name: if base == "File_open" { place(&["filename"]) } else { NONE },
            requests: request_use(base, &function.parameters),
            request: place(&["request"]),
            request_array: place(&["array_of_requests"]),
            request_count: place(&["count", "incount"]),
            flag: place(&["flag"]),
            completed: place(&["indx"]),
            completed_count: place(&["outcount"]),
            completed_array: place(&["array_of_indices"]),
            has_error: !matches!(base, "Aint_add" | "Aint_diff" | "Pcontrol"),
            makes_later: base.starts_with("Comm_idup"),
            at_own_position: is_file && !is_explicit && !is_shared,
        }
    }
}

/// What the standard calls parameters where new communicators are stored.
const NEW_COMMUNICATORS: [&str; 6] =
    ["newcomm", "comm_cart", "comm_graph", "comm_dist_graph", "newintracomm", "newintercomm"];

/// What a function does to requests, by its name without `MPI_` and `_c`.
fn request_use(base: &str, parameters: &[&str]) -> RequestUse {
    match base {
        "Start" | "Startall" => RequestUse::Starts,
        "Wait" | "Waitall" | "Waitany" | "Waitsome" | "Test" | "Testall" | "Testany" | "Testsome" => {
            RequestUse::Completes
        }
        "Request_free" => RequestUse::Frees,
        "Cancel" => RequestUse::Names,
        "Request_get_status" | "Grequest_complete" => RequestUse::None,
        // What is ready, and what has arrived, is told of parts of requests.
        _ if base.starts_with("Pready") || base == "Parrived" => RequestUse::None,
        _ if !parameters.contains(&"request") => RequestUse::None,
        _ if base.ends_with("_init") => RequestUse::MakesPersistent,
        _ => RequestUse::Makes,
    }
}

/// What a function moves, by its name without `MPI_` and `_c`.
///
/// What can be started often moves, each time, what its first part says.
fn shape(base: &str, parameters: &[&str]) -> Shape {
    match base.strip_suffix("_init").unwrap_or(base) {
        "Send" | "Bsend" | "Ssend" | "Rsend" | "Isend" | "Ibsend" | "Issend" | "Irsend" => Shape::Send,
        "Recv" | "Irecv" | "Mrecv" | "Imrecv" => Shape::Receive,
        "Sendrecv" | "Isendrecv" | "Sendrecv_replace" | "Isendrecv_replace" => Shape::Exchange,
        "Probe" | "Iprobe" | "Mprobe" | "Improbe" => Shape::Probe,
        "Bcast" | "Ibcast" => Shape::Broadcast,
        "Reduce" | "Ireduce" => Shape::Reduce,
        "Allreduce" | "Iallreduce" | "Scan" | "Iscan" | "Exscan" | "Iexscan" => Shape::Allreduce,
        "Gather" | "Igather" | "Gatherv" | "Igatherv" => Shape::Gather,
        "Allgather" | "Iallgather" | "Allgatherv" | "Iallgatherv" => Shape::Allgather,
        "Scatter" | "Iscatter" | "Scatterv" | "Iscatterv" => Shape::Scatter,
        "Alltoall" | "Ialltoall" => Shape::Alltoall,
        "Alltoallv" | "Ialltoallv" => Shape::Alltoallv,
        "Put" | "Rput" | "Accumulate" | "Raccumulate" => Shape::Put,
        "Get" | "Rget" => Shape::Get,
        _ if base.starts_with("File_") && parameters.contains(&"datatype") && parameters.contains(&"buf") => {
            Shape::File
        }
        _ => Shape::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(name: &str) -> Roles {
        Roles::of(&functions().find(|function| function.name == name).unwrap())
    }

    #[test]
    fn parameters_have_the_roles_of_the_standard() {
        let receive = roles("MPI_Recv");
        assert_eq!(
            (receive.shape, receive.source, receive.tag, receive.comm, receive.status),
            (Shape::Receive, 3, 4, 5, 6)
        );
        let exchange = roles("MPI_Sendrecv");
        assert_eq!((exchange.dest, exchange.source, exchange.tag), (3, 8, 4));
        assert_eq!((exchange.send_count, exchange.receive_count), (1, 6));
        let gather = roles("MPI_Gatherv");
        assert_eq!((gather.send_count, gather.receive_count, gather.root), (1, NONE, 7));
        let at = roles("MPI_File_write_at_all_c");
        assert_eq!(
            (at.shape, at.file, at.offset, at.large, at.at_own_position),
            (Shape::File, 0, 1, true, false)
        );
        assert!(roles("MPI_File_iread").at_own_position && !roles("MPI_File_read_shared").at_own_position);
        assert_eq!((roles("MPI_File_open").file, roles("MPI_File_open").name), (4, 1));
        assert_eq!(roles("MPI_File_seek").shape, Shape::Other);
        let cart = roles("MPI_Cart_create");
        assert_eq!((cart.comm, cart.new_comm, roles("MPI_Send").new_comm), (0, 5, NONE));
        assert_eq!(roles("MPI_Alltoallv").shape, Shape::Alltoallv);
        assert_eq!((roles("MPI_Alltoallv").send_counts, roles("MPI_Ialltoallv").receive_counts), (1, 5));
        assert!(roles("MPI_Comm_free").by_reference && roles("MPI_File_close").by_reference);
    }

    #[test]
    fn requests_are_made_started_and_completed() {
        let some = roles("MPI_Testsome");
        assert_eq!((some.requests, some.request_array, some.request_count), (RequestUse::Completes, 1, 0));
        assert_eq!((some.completed_count, some.completed_array, some.flag), (2, 3, NONE));
        assert_eq!(
            (roles("MPI_Ssend_init").shape, roles("MPI_Psend_init").shape),
            (Shape::Send, Shape::Other)
        );
        let any = roles("MPI_Testany");
        assert_eq!((any.completed, any.flag, any.request), (2, 3, NONE));
        assert_eq!(roles("MPI_File_iread_at").requests, RequestUse::Makes);
        assert_eq!(roles("MPI_Bcast_init_c").requests, RequestUse::MakesPersistent);
        assert_eq!(roles("MPI_Precv_init").requests, RequestUse::MakesPersistent);
        assert_eq!(roles("MPI_Pready").requests, RequestUse::None);
        for function in functions() {
            let roles = Roles::of(&function);
            let has = roles.request != NONE
                || roles.requests.takes() && roles.request_array != NONE && roles.request_count != NONE;
            assert!(roles.requests == RequestUse::None || has, "{}", function.name);
        }
    }

    #[test]
    fn every_transfer_has_what_its_shape_needs() {
        for function in functions() {
            let roles = Roles::of(&function);
            let has = |places: &[u8]| assert!(!places.contains(&NONE), "{}: {roles:?}", function.name);
            match roles.shape {
                Shape::Other => {}
                Shape::Send => has(&[roles.dest, roles.tag, roles.comm, roles.send_count, roles.send_type]),
                Shape::Receive => has(&[roles.receive_count, roles.receive_type]),
                Shape::Exchange => has(&[roles.dest, roles.source, roles.send_count, roles.send_type]),
                Shape::Probe => has(&[roles.source, roles.tag, roles.comm, roles.status]),
                Shape::Broadcast | Shape::Reduce => has(&[roles.root, roles.send_count, roles.send_type]),
                Shape::Gather => has(&[roles.root, roles.send_count, roles.send_type]),
                Shape::Allreduce | Shape::Allgather | Shape::Alltoall => {
                    has(&[roles.send_count, roles.send_type])
                }
                Shape::Alltoallv => {
                    has(&[roles.send_counts, roles.send_type, roles.receive_counts, roles.receive_type]);
                }
                Shape::Scatter => has(&[roles.root, roles.receive_count, roles.receive_type]),
                Shape::Put | Shape::Get => has(&[roles.dest, roles.send_count, roles.send_type]),
                Shape::File => has(&[roles.file, roles.send_count, roles.send_type]),
            }
        }
    }
}
