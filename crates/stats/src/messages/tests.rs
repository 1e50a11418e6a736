use super::*;
use iotrail_model::{CaseId, CaseName, Event, Nullable};
use iotrail_query::{QuerySpec, SelectSpec};
use iotrail_trail::memory::MemoryLog;

const ONE: NonZeroUsize = NonZeroUsize::MIN;

fn case(number: u32, rank: Option<u32>) -> Case {
    let name = CaseName { rid: rank.map(|rank| rank.to_string()), ..CaseName::default() };
    Case { id: CaseId(number), name, ..Case::default() }
}

/// Calls of MPI: case, name, communicator, peer, tag, bytes sent.
type Call = (u32, &'static str, Option<i32>, Option<i32>, Option<i32>, Option<i64>);

fn log(calls: &[Call], failing: bool) -> EventLog {
    let cases = vec![case(0, Some(0)), case(1, Some(1)), case(2, Some(2)), case(3, None)];
    let mut log = MemoryLog::new(cases).row_group_rows(2);
    for (seq, &(case, name, comm, peer, tag, sent)) in (0..).zip(calls) {
        let errno = if failing { log.errno("MPI_ERR_6") } else { Nullable::NULL };
        let (comm, peer, tag, sent) = (comm.into(), peer.into(), tag.into(), sent.into());
        let (case, call) = (CaseId(case), log.call(name));
        log.push(Event {
            case,
            seq,
            call,
            layer: Layer::Mpi,
            errno,
            comm,
            peer,
            tag,
            sent,
            ..Event::default()
        });
    }
    log.build()
}

fn found(log: &EventLog) -> Messages {
    let select = SelectSpec { layer: vec!["mpi".to_owned()], ..SelectSpec::default() };
    let query = Query::new(QuerySpec { select, ..QuerySpec::default() }, log).unwrap();
    messages(log, &query, ONE).unwrap()
}

const CALLS: [Call; 12] = [
    (0, "MPI_Send", Some(0), Some(1), Some(7), Some(100)),
    (0, "MPI_Isend", Some(0), Some(1), Some(8), Some(50)),
    (1, "MPI_Sendrecv", Some(0), Some(2), Some(0), Some(30)),
    (2, "MPI_Send", Some(0), Some(0), Some(0), Some(20)),
    // What was received was sent by somebody else.
    (1, "MPI_Recv", Some(0), Some(0), Some(7), None),
    // To nobody.
    (1, "MPI_Send", Some(0), Some(-2), Some(7), Some(4)),
    // In a communicator whose ranks are not known; of a process without a rank; into a window.
    (1, "MPI_Send", Some(3), Some(0), Some(7), Some(9)),
    (3, "MPI_Send", Some(0), Some(0), Some(7), Some(8)),
    (2, "MPI_Put", None, Some(1), None, Some(6)),
    (0, "MPI_Reduce", Some(0), Some(2), None, Some(64)),
    (1, "MPI_Alltoallv", Some(0), None, None, None),
    (0, "MPI_Barrier", Some(0), None, None, None),
];

#[test]
fn messages_are_counted_by_sender_and_receiver_and_nothing_else_is() {
    let found = found(&log(&CALLS, false));
    let pairs: Vec<_> =
        found.pairs.iter().map(|row| (row.from, row.to, row.traffic.messages, row.traffic.bytes)).collect();
    assert_eq!(pairs, [(0, 1, 2, 150), (1, 2, 1, 30), (2, 0, 1, 20)]);
    assert_eq!((found.ranks, found.total), (3, Traffic { messages: 4, bytes: 200 }));
    let ranks: Vec<_> = found
        .by_rank
        .iter()
        .map(|row| (row.rank, row.partners, row.sent.bytes, row.received.bytes))
        .collect();
    assert_eq!(ranks, [(0, 2, 150, 20), (1, 2, 30, 150), (2, 2, 20, 30)]);
    let of = |traffic: Traffic| (traffic.messages, traffic.bytes);
    assert_eq!(
        [of(found.other_communicators), of(found.unknown_senders), of(found.one_sided)],
        [(1, 9), (1, 8), (1, 6)]
    );
    let collectives: Vec<_> = found
        .collectives
        .iter()
        .map(|row| (row.call.as_str(), row.ranks, row.calls, row.sent, row.unknown))
        .collect();
    assert_eq!(collectives, [("MPI_Reduce", 1, 1, 64, 0), ("MPI_Alltoallv", 1, 1, 0, 1)]);
    assert_eq!(found.patterns.len(), 1);
    assert_eq!((found.patterns[0].to.as_str(), found.patterns[0].pairs), ("rank + 1", 3));
}

#[test]
fn what_failed_moved_nothing() {
    let found = found(&log(&CALLS, true));
    assert_eq!((found.pairs.len(), found.collectives.len(), found.one_sided.messages), (0, 0, 0));
}

#[test]
fn who_answers_is_one_partner() {
    let calls: [Call; 2] = [
        (0, "MPI_Send", Some(0), Some(1), Some(7), Some(1)),
        (1, "MPI_Send", Some(0), Some(0), Some(7), Some(1)),
    ];
    let ranks = found(&log(&calls, false)).by_rank;
    assert_eq!(ranks.iter().map(|row| row.partners).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn messages_in_communicators_that_were_made_are_those_of_the_ranks_of_the_run() {
    const MADE: [Call; 8] = [
        // Ranks 0 and 2, and rank 1 alone.
        (0, "MPI_Comm_split", Some(0), Some(0), Some(0), None),
        (1, "MPI_Comm_split", Some(0), Some(1), Some(0), None),
        (2, "MPI_Comm_split", Some(0), Some(0), Some(1), None),
        (2, "MPI_Send", Some(2), Some(0), Some(7), Some(9)),
        (0, "MPI_Send", Some(2), Some(1), Some(7), Some(5)),
        (1, "MPI_Send", Some(2), Some(0), Some(7), Some(3)),
        (1, "MPI_Send", Some(1), Some(0), Some(7), Some(2)),
        (1, "MPI_Send", Some(3), Some(0), Some(7), Some(1)),
    ];
    let found = found(&log(&MADE, false));
    let pairs: Vec<_> = found.pairs.iter().map(|pair| (pair.from, pair.to, pair.traffic.bytes)).collect();
    assert_eq!(pairs, [(0, 2, 5), (1, 1, 5), (2, 0, 9)]);
    assert_eq!(found.other_communicators, Traffic { messages: 1, bytes: 1 });
    assert!(found.collectives.is_empty(), "{:?}", found.collectives);
}
