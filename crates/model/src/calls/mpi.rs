//! Calls of MPI that order the ranks of a program.

use super::CallKind;

/// What a call means for all ranks of its communicator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// MPI may be used from its end on.
    Begins,
    /// MPI is used no more from its start on.
    Ends,
    /// No rank returns before all have called it: what each gives, all get.
    Synchronises,
    /// No rank returns before the root has called it: all get what it gives.
    FromRoot,
    /// The root does not return before all have called it: it gets what each gives.
    ToRoot,
    /// None of these.
    #[default]
    Other,
}

/// Collective calls whose result needs all ranks (MPI 4.1, chapters 6 and 14).
const ALL_TO_ALL: [&str; 25] = [
    "MPI_Barrier",
    "MPI_Allreduce",
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Alltoall",
    "MPI_Alltoallv",
    "MPI_Alltoallw",
    "MPI_Reduce_scatter",
    "MPI_Reduce_scatter_block",
    "MPI_Comm_dup",
    "MPI_Comm_split",
    "MPI_Comm_create",
    "MPI_File_open",
    "MPI_File_close",
    "MPI_File_set_size",
    "MPI_File_preallocate",
    "MPI_File_sync",
    "MPI_File_set_view",
    "MPI_File_read_all",
    "MPI_File_read_at_all",
    "MPI_File_read_ordered",
    "MPI_File_write_all",
    "MPI_File_write_at_all",
    "MPI_File_write_ordered",
    "MPI_Win_fence",
];

/// What the call of that name means.
#[must_use]
pub fn role(name: &str) -> Role {
    match name {
        "MPI_Init" | "MPI_Init_thread" => Role::Begins,
        "MPI_Finalize" => Role::Ends,
        "MPI_Bcast" | "MPI_Scatter" | "MPI_Scatterv" => Role::FromRoot,
        "MPI_Reduce" | "MPI_Gather" | "MPI_Gatherv" => Role::ToRoot,
        _ if ALL_TO_ALL.contains(&name) => Role::Synchronises,
        _ => Role::Other,
    }
}

/// What names of collective calls that move data of other ranks have in common.
const EXCHANGES: [&str; 6] = ["bcast", "reduce", "gather", "scatter", "alltoall", "scan"];

/// Whether all ranks of a communicator give and get data in the call of that name, whatever is known of it. Who makes a persistent
/// request moves nothing.
#[must_use]
pub fn exchanges(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("mpi_")
        && !name.starts_with("mpi_file_")
        && !name.trim_end_matches("_c").ends_with("_init")
        && EXCHANGES.iter().any(|part| name.contains(part))
}

/// What names of calls for messages between two ranks have in common.
const MESSAGES: [&str; 3] = ["send", "recv", "probe"];

/// Whether the call of that name is one message, or half of one.
#[must_use]
pub fn is_message(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.starts_with("mpi_") && !exchanges(name) && MESSAGES.iter().any(|part| lower.contains(part))
}

/// Which way a message goes between a rank and its partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the partner.
    To,
    /// From the partner.
    From,
    /// Both, or neither.
    Both,
}

/// Which way the message of a call of that name goes.
#[must_use]
pub fn way(name: &str) -> Way {
    let lower = name.to_ascii_lowercase();
    match (is_message(name), lower.contains("send"), lower.contains("recv") || lower.contains("probe")) {
        (true, true, false) => Way::To,
        (true, false, true) => Way::From,
        _ => Way::Both,
    }
}

/// What a call of MPI-IO is to transfers that all ranks make together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Together {
    /// None, or made by one rank alone.
    #[default]
    No,
    /// Moves data of all ranks.
    Moves,
    /// Says which bytes of the file a rank sees from now on.
    SetsView,
}

/// What the call of that name is to transfers that all ranks make together.
#[must_use]
pub fn together(name: &str) -> Together {
    match name {
        "MPI_File_set_view" => Together::SetsView,
        _ if name.ends_with("_all") && name.starts_with("MPI_File_") => Together::Moves,
        _ => Together::No,
    }
}

/// What a call of MPI-IO does to a file.
#[must_use]
pub fn file_call(name: &str) -> CallKind {
    let Some(call) = name.strip_prefix("MPI_File_") else { return CallKind::Other };
    // Calls of large counts.
    match call.strip_suffix("_c").unwrap_or(call) {
        "open" => CallKind::Open,
        "close" => CallKind::Close,
        "delete" => CallKind::Unlink,
        "sync" => CallKind::Sync,
        "set_size" => CallKind::Truncate,
        "get_size" => CallKind::Stat,
        // The transfer was begun by another call.
        call if call.ends_with("_end") => CallKind::Other,
        call if call.starts_with("read") || call.starts_with("iread") => CallKind::Read,
        call if call.starts_with("write") || call.starts_with("iwrite") => CallKind::Write,
        _ => CallKind::Other,
    }
}

/// Whether all ranks that opened a file make a call on it together, whether or not they wait for each other.
#[must_use]
pub fn is_of_all(name: &str) -> bool {
    let call = name.strip_suffix("_c").unwrap_or(name);
    let call = call.strip_suffix("_begin").unwrap_or(call);
    role(name) == Role::Synchronises || call.ends_with("_all") || call.ends_with("_ordered")
}

/// Whether several ranks make a call together.
#[must_use]
pub fn is_collective(name: &str) -> bool {
    let communicators =
        ["MPI_Comm_dup", "MPI_Comm_idup", "MPI_Comm_split", "MPI_Comm_create", "MPI_Comm_free"];
    let topologies = ["MPI_Cart_create", "MPI_Cart_sub", "MPI_Graph_create", "MPI_Dist_graph_create"];
    let others = ["MPI_Ibarrier", "MPI_Intercomm_", "MPI_Comm_spawn", "MPI_Comm_accept", "MPI_Comm_connect"];
    role(name) != Role::Other
        || exchanges(name)
        || together(name) != Together::No
        || communicators.iter().chain(&topologies).chain(&others).any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_mpi_io_do_what_system_calls_do() {
        for (name, kind) in [
            ("MPI_File_open", CallKind::Open),
            ("MPI_File_write_at_all", CallKind::Write),
            ("MPI_File_iread_at_c", CallKind::Read),
            ("MPI_File_read_all_begin", CallKind::Read),
            ("MPI_File_read_all_end", CallKind::Other),
            ("MPI_File_set_size", CallKind::Truncate),
            ("MPI_File_set_view", CallKind::Other),
            ("MPI_Send", CallKind::Other),
            ("read", CallKind::Other),
        ] {
            assert_eq!(file_call(name), kind, "{name}");
        }
        for name in
            ["MPI_File_close", "MPI_File_read_all_begin", "MPI_File_iwrite_at_all", "MPI_File_write_at_all_c"]
        {
            assert!(is_of_all(name), "{name}");
        }
        for name in ["MPI_File_write_at", "MPI_File_iread", "MPI_File_read_all_end", "MPI_File_get_size"] {
            assert!(!is_of_all(name), "{name}");
        }
    }

    #[test]
    fn messages_go_to_a_partner_or_come_from_it_or_both() {
        let ways = ["MPI_Ssend", "MPI_Irecv", "MPI_Mprobe", "MPI_Sendrecv", "MPI_Bcast"].map(way);
        assert_eq!(ways, [Way::To, Way::From, Way::From, Way::Both, Way::Both]);
    }

    #[test]
    fn collective_calls_that_move_data_are_known_by_name() {
        for name in ["MPI_Ialltoallv", "MPI_Bcast", "MPI_Neighbor_allgather_c", "MPI_Exscan"] {
            assert!(exchanges(name), "{name}");
        }
        for name in ["MPI_Barrier", "MPI_Comm_split", "MPI_Send", "MPI_File_write_all", "scandir"] {
            assert!(!exchanges(name), "{name}");
        }
    }

    #[test]
    fn messages_between_two_ranks_are_known_by_name() {
        for name in ["MPI_Send", "MPI_Irecv", "MPI_Sendrecv_replace", "MPI_Mprobe", "MPI_Psend_init"] {
            assert!(is_message(name), "{name}");
        }
        for name in ["MPI_Barrier", "MPI_Allreduce", "MPI_Wait", "sendto", "recvmsg"] {
            assert!(!is_message(name), "{name}");
        }
    }

    #[test]
    fn messages_and_requests_synchronise_nobody_else() {
        assert_eq!(role("MPI_Barrier"), Role::Synchronises);
        assert_eq!(role("MPI_File_write_at_all"), Role::Synchronises);
        assert_eq!(role("MPI_Init_thread"), Role::Begins);
        assert_eq!(role("MPI_Bcast"), Role::FromRoot);
        assert_eq!(role("MPI_Gatherv"), Role::ToRoot);
        for name in ["MPI_Send", "MPI_File_write_at", "MPI_Ibarrier", "MPI_Ibcast", "read"] {
            assert_eq!(role(name), Role::Other, "{name}");
        }
    }
}
