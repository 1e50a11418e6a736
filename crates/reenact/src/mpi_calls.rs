//! Calls of MPI as they are made again.

use iotrail_model::Event;
use iotrail_mpi_abi::RequestUse;
use iotrail_mpi_run::{Collective, SendMode, Transfer};
use iotrail_stats::messages::communicators::Makes;

/// A call of MPI that is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MpiCall {
    /// A message to a rank; `begin` if its end is waited for later.
    Send {
        /// The number of the communicator.
        comm: i32,
        /// How.
        mode: SendMode,
        /// Whether it goes on after the call.
        begin: bool,
        /// Whether nobody waits for its end (`MPI_Bsend`).
        buffered: bool,
        /// Its bytes.
        bytes: u64,
        /// To whom.
        peer: i32,
        /// With which tag.
        tag: i32,
    },
    /// A message from a rank.
    Receive {
        /// The number of the communicator.
        comm: i32,
        /// Whether it goes on after the call.
        begin: bool,
        /// From whom.
        peer: i32,
        /// With which tag.
        tag: i32,
    },
    /// `MPI_Sendrecv`.
    Exchange {
        /// The number of the communicator.
        comm: i32,
        /// Bytes that are sent.
        bytes: u64,
        /// To whom, with which tag.
        to: (i32, i32),
        /// From whom, with which tag.
        from: (i32, i32),
    },
    /// Waits for a message.
    Probe {
        /// The number of the communicator.
        comm: i32,
        /// From whom.
        peer: i32,
        /// With which tag.
        tag: i32,
    },
    /// What all ranks of a communicator do together.
    Collective {
        /// Its number.
        comm: i32,
        /// What.
        call: Collective,
        /// Whether it goes on after the call.
        begin: bool,
        /// Bytes of a rank's part.
        bytes: u64,
        /// The root.
        root: i32,
    },
    /// Waits for requests.
    Wait(Wanted),
    /// Waits for those that these calls began: where they stand in the list of waited ones, and how many.
    WaitFor {
        /// The place of the first.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Asks whether requests are over.
    Test,
    /// Opens the file of that name.
    Open {
        /// The number of the communicator.
        comm: i32,
        /// The name.
        file: usize,
    },
    /// Makes a communicator.
    Split {
        /// The number of the one that it is made from.
        comm: i32,
        /// Who has the same is in the same communicator; none if the rank is in none.
        color: Option<i32>,
        /// The rank in it.
        key: i32,
        /// The number that it gets.
        number: i32,
    },
    /// Gives a communicator back.
    Free(i32),
    /// Reads or writes it.
    Transfer {
        /// The name.
        file: usize,
        /// How.
        how: Transfer,
        /// Whether it goes on after the call.
        begin: bool,
        /// Where, if that is known.
        offset: Option<u64>,
        /// Its bytes.
        bytes: u64,
    },
    /// Forces it to storage.
    Sync(usize),
    /// Closes it.
    Close(usize),
}

/// Which requests are waited for, where the recording does not tell which they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The oldest one.
    One,
    /// Any.
    Any,
    /// All.
    All,
}

/// What a recorded call is, as far as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Begins,
    Ends,
    Send(SendMode, bool),
    Buffered,
    Receive(bool),
    Exchange,
    Probe,
    Collective(Collective, bool),
    Wait(Wanted),
    Test,
    /// It makes a persistent request, of which each start is the other call.
    Prepares,
    /// It starts such requests.
    Starts,
    Open,
    Transfer(Transfer, bool),
    Sync,
    Close,
    Makes(Makes),
    Frees,
    /// It cannot be left out alone: other calls depend on it.
    Refused,
    /// It is about the process itself, or asks something: nothing is missed without it.
    Local,
    /// It is left out.
    Other,
}

/// What a call is.
pub(crate) fn known(name: &str) -> Known {
    let base = name.trim_start_matches("MPI_");
    let base = base.strip_suffix("_c").unwrap_or(base);
    if let Some(file) = base.strip_prefix("File_") {
        return of_file(file);
    }
    if let Some(makes) = Makes::of(name) {
        return Known::Makes(makes);
    }
    match base {
        "Init" | "Init_thread" => Known::Begins,
        "Finalize" => Known::Ends,
        "Send" | "Rsend" => Known::Send(SendMode::Standard, false),
        "Ssend" => Known::Send(SendMode::Synchronous, false),
        "Isend" | "Irsend" | "Ibsend" => Known::Send(SendMode::Standard, true),
        "Issend" => Known::Send(SendMode::Synchronous, true),
        "Bsend" => Known::Buffered,
        "Recv" => Known::Receive(false),
        "Irecv" => Known::Receive(true),
        "Sendrecv" | "Sendrecv_replace" => Known::Exchange,
        "Probe" => Known::Probe,
        "Wait" => Known::Wait(Wanted::One),
        "Waitany" | "Waitsome" => Known::Wait(Wanted::Any),
        "Waitall" => Known::Wait(Wanted::All),
        "Test" | "Testall" | "Testany" | "Testsome" => Known::Test,
        "Comm_free" | "Comm_disconnect" => Known::Frees,
        "Start" | "Startall" => Known::Starts,
        "Cancel"
        | "Mprobe"
        | "Improbe"
        | "Mrecv"
        | "Imrecv"
        | "Isendrecv"
        | "Isendrecv_replace"
        | "Comm_spawn"
        | "Comm_spawn_multiple"
        | "Comm_connect"
        | "Comm_accept" => Known::Refused,
        "Iprobe" | "Comm_rank" | "Comm_size" | "Comm_group" | "Comm_compare" | "Comm_set_name"
        | "Comm_get_name" | "Cart_coords" | "Cart_rank" | "Cart_shift" | "Cart_get" | "Cartdim_get"
        | "Dims_create" | "Get_count" | "Get_elements" | "Get_processor_name" | "Initialized"
        | "Finalized" | "Buffer_attach" | "Buffer_detach" | "Request_free" | "Request_get_status"
        | "Error_class" | "Error_string" => Known::Local,
        _ if base.starts_with("Type_") || base.starts_with("Info_") || base.starts_with("Group_") => {
            Known::Local
        }
        _ if base.ends_with("_init") => Known::Prepares,
        _ => collective(base).map_or(Known::Other, |(call, begin)| Known::Collective(call, begin)),
    }
}

/// What a start of a persistent request is that the call of that name made; none of one that is not made again.
pub(crate) fn started(name: &str) -> Option<Known> {
    let name = name.strip_suffix("_c").unwrap_or(name).strip_suffix("_init")?;
    match known(name) {
        Known::Send(mode, _) => Some(Known::Send(mode, true)),
        Known::Buffered => Some(Known::Buffered),
        Known::Receive(_) => Some(Known::Receive(true)),
        Known::Collective(call, _) => Some(Known::Collective(call, true)),
        _ => None,
    }
}

/// Whether a call that succeeded begins a request, which later calls name by its age.
pub(crate) fn begins_request(name: &str) -> bool {
    RequestUse::of(name) == RequestUse::Makes
}

fn collective(base: &str) -> Option<(Collective, bool)> {
    let of = |name: &str| {
        Some(match name {
            "barrier" => Collective::Barrier,
            "bcast" => Collective::Broadcast,
            "reduce" => Collective::Reduce,
            "allreduce" => Collective::Allreduce,
            "scan" => Collective::Scan,
            "exscan" => Collective::Exscan,
            "gather" => Collective::Gather,
            "gatherv" => Collective::GatherVarying,
            "allgather" => Collective::Allgather,
            "allgatherv" => Collective::AllgatherVarying,
            "scatter" => Collective::Scatter,
            "scatterv" => Collective::ScatterVarying,
            "alltoall" => Collective::Alltoall,
            "alltoallv" => Collective::AlltoallVarying,
            _ => return None,
        })
    };
    let lower = base.to_ascii_lowercase();
    of(&lower).map(|call| (call, false)).or_else(|| Some((of(lower.strip_prefix('i')?)?, true)))
}

fn of_file(base: &str) -> Known {
    match base {
        "open" => return Known::Open,
        "close" => return Known::Close,
        "sync" => return Known::Sync,
        // Where transfers are is recorded with them.
        "seek" | "get_position" | "get_byte_offset" | "get_size" | "get_view" | "get_info" => {
            return Known::Local;
        }
        _ => {}
    }
    let (base, begin) = match base.strip_prefix('i') {
        Some(rest) => (rest, true),
        None => (base, false),
    };
    let (writes, rest) = match (base.strip_prefix("write"), base.strip_prefix("read")) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => return Known::Other,
    };
    let (at, all) = match rest {
        "" => (false, false),
        "_all" => (false, true),
        "_at" => (true, false),
        "_at_all" => (true, true),
        _ => return Known::Other,
    };
    // What all ranks begin together is not made so that it goes on.
    Known::Transfer(Transfer { writes, at, all }, begin && !all)
}

/// The bytes of a rank's part in a collective call of so many ranks.
pub(crate) fn part(call: Collective, event: &Event, ranks: u64) -> u64 {
    let number = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
    let (sent, received) = (number(event.sent.get()), number(event.received.get()));
    let ranks = ranks.max(1);
    let bytes = match call {
        Collective::Barrier => None,
        Collective::Broadcast | Collective::Reduce => sent.or(received),
        Collective::Allreduce | Collective::Scan | Collective::Exscan => sent,
        Collective::Gather | Collective::Allgather => sent.or_else(|| Some(received? / ranks)),
        Collective::Scatter => received.or_else(|| Some(sent? / ranks)),
        Collective::Alltoall => Some(sent.or(received).unwrap_or_default() / ranks),
        Collective::GatherVarying | Collective::AllgatherVarying | Collective::AlltoallVarying => sent,
        Collective::ScatterVarying => received,
    };
    bytes.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_their_names() {
        assert_eq!(known("MPI_Isend_c"), Known::Send(SendMode::Standard, true));
        assert_eq!(known("MPI_Iallgatherv"), Known::Collective(Collective::AllgatherVarying, true));
        assert_eq!(known("MPI_Bcast"), Known::Collective(Collective::Broadcast, false));
        let how = Transfer { writes: true, at: true, all: true };
        assert_eq!(known("MPI_File_write_at_all"), Known::Transfer(how, false));
        assert_eq!(known("MPI_File_write_shared"), Known::Other);
        assert_eq!(known("MPI_Ialltoallv"), Known::Collective(Collective::AlltoallVarying, true));
        assert_eq!(known("MPI_Alltoallw"), Known::Other);
        assert_eq!(known("MPI_Cart_sub"), Known::Makes(Makes::All));
        assert_eq!((known("MPI_Startall"), known("MPI_Cancel")), (Known::Starts, Known::Refused));
        assert_eq!(known("MPI_Send_init_c"), Known::Prepares);
        assert_eq!(started("MPI_Ssend_init"), Some(Known::Send(SendMode::Synchronous, true)));
        assert_eq!(started("MPI_Bcast_init_c"), Some(Known::Collective(Collective::Broadcast, true)));
        assert_eq!((started("MPI_Psend_init"), started("MPI_Send")), (None, None));
        assert!(begins_request("MPI_File_iwrite_at") && begins_request("MPI_Comm_idup"));
        assert!(!begins_request("MPI_Send_init") && !begins_request("MPI_Wait"));
    }

    #[test]
    fn parts_are_those_of_one_rank() {
        let event = |sent: Option<i64>, received: Option<i64>| Event {
            sent: sent.into(),
            received: received.into(),
            ..Event::default()
        };
        assert_eq!(part(Collective::Alltoall, &event(Some(40), Some(40)), 4), 10);
        assert_eq!(part(Collective::Gather, &event(None, Some(40)), 4), 10, "in place");
        assert_eq!(part(Collective::Broadcast, &event(None, Some(7)), 4), 7);
        assert_eq!(part(Collective::ScatterVarying, &event(None, None), 4), 0);
    }
}
