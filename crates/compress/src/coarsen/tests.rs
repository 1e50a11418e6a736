//! Laws of precision: totals are exact, values are near, space never grows, names stay.

use super::gather::ByLine;
use super::{coarsen, draws_messages, quantities};
use crate::{CompressOptions, Outline, OutlineItem, OutlineOptions, compress, each_event, each_placed_event};
use iotrail_model::{Case, CaseId, CaseName, Event, Layer, Nanos, Nullable, Pid, Tid, Timestamp};
use iotrail_structure::{Distribution, Precision, Resolution};
use iotrail_structure_file::Document;
use iotrail_trail::EventLog;
use iotrail_trail::memory::MemoryLog;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn options(percent: u64) -> CompressOptions {
    let time_precision = Precision::new(95).expect("a precision");
    CompressOptions {
        time_precision,
        buckets: Some(16),
        precision: Precision::new(percent).expect("a precision"),
    }
}

/// What a rank does in a time step: exchanges, each with bytes and distance of the partner; bytes that are read.
type Step = (Vec<(u16, u8)>, Vec<u32>);

/// Ranks with their time steps, of which each ends with a collective call; if `common`, all do what the first does.
fn log(ranks: &[Vec<Step>], common: bool, row_group: usize) -> EventLog {
    let case = |rank: usize| Case {
        id: CaseId(rank as u32),
        name: CaseName { rid: Some(rank.to_string()), ..CaseName::default() },
        ..Case::default()
    };
    let mut log = MemoryLog::new((0..ranks.len()).map(case).collect()).row_group_rows(row_group);
    let steps = ranks.iter().map(Vec::len).min().unwrap_or(0);
    for rank in 0..ranks.len() as u32 {
        let (mut seq, mut at) = (0, 1_000);
        let mut push = |log: &mut MemoryLog, name: &str, rest: Event| {
            at += 100 + i64::from(rank);
            let layer = if name.starts_with("MPI") { Layer::Mpi } else { Layer::Syscall };
            let (pid, tid, call) = (Pid(rank + 1), Tid(rank + 1), log.call(name));
            let (start, dur) = (Timestamp(at), Nullable::some(Nanos(at % 90)));
            log.push(Event { case: CaseId(rank), seq, pid, tid, layer, call, start, dur, ..rest });
            seq += 1;
        };
        for step in 0..steps {
            let (exchanges, reads) = &ranks[if common { 0 } else { rank as usize }][step];
            for &(bytes, distance) in exchanges {
                let peer = (rank as i32 + i32::from(distance)).rem_euclid(ranks.len() as i32);
                let message = Event {
                    comm: Nullable::some(0),
                    peer: Nullable::some(peer),
                    tag: Nullable::some(i32::from(distance)),
                    ..Event::default()
                };
                let sent = Event { sent: Nullable::some(i64::from(bytes)), ..message };
                push(&mut log, "MPI_Irecv", Event { received: Nullable::some(i64::from(bytes)), ..message });
                push(&mut log, "MPI_Isend", sent);
            }
            for &size in reads {
                // A new open file for some reads, of one of three names: what is foreseen of a read depends on what was opened last.
                let (fd, path) =
                    (Nullable::some(3 + (size % 2) as i32), log.path(&format!("/data/{}", size % 3)));
                if size % 4 > 1 {
                    let opened =
                        Event { path, ret: Nullable::some(i64::from(3 + size % 2)), ..Event::default() };
                    push(&mut log, "openat", opened);
                }
                let requested = Nullable::some(i64::from(size));
                let size = Nullable::some(i64::from(size - size % 7));
                push(&mut log, "read", Event { fd, path, requested, size, ret: size, ..Event::default() });
            }
            push(
                &mut log,
                "MPI_Allreduce",
                Event { comm: Nullable::some(0), sent: Nullable::some(8), ..Event::default() },
            );
        }
    }
    log.build()
}

fn programs() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let bytes = prop_oneof![90_u16..120, any::<u16>()];
    let exchanges = prop::collection::vec((bytes, 0..4_u8), 0..6);
    let reads = prop::collection::vec(prop_oneof![Just(4096_u32), 1..9000_u32], 0..5);
    let steps = prop::collection::vec((exchanges, reads), 1..9);
    prop::collection::vec(steps, 1..4)
}

fn events(document: &Document, seed: u64) -> Vec<(u32, Event)> {
    let mut events = Vec::new();
    let every = each_event(document, seed, &mut |line, event| {
        events.push((line, *event));
        Ok(())
    });
    every.expect("a sound structure");
    events
}

/// Of one call: executions; number, sum, smallest and largest of requested, size, sent, received.
type Totals = BTreeMap<(String, bool), (u64, [Option<(u64, i64, i64, i64)>; 4])>;

fn totals(document: &Document) -> Totals {
    let mut totals = Totals::new();
    for (_, event) in events(document, 1) {
        let name = document.names.call(event.call).to_owned();
        let (calls, columns) = totals.entry((name, event.errno.is_null())).or_default();
        *calls += 1;
        let values = [event.requested, event.size, event.sent, event.received];
        for (total, value) in columns.iter_mut().zip(values) {
            let Some(value) = value.get() else { continue };
            let (count, sum, min, max) = total.unwrap_or((0, 0, i64::MAX, i64::MIN));
            *total = Some((count + 1, sum + value, min.min(value), max.max(value)));
        }
    }
    totals
}

fn every_item<'a>(items: &'a [OutlineItem], visit: &mut impl FnMut(&'a OutlineItem)) {
    for item in items {
        visit(item);
        every_item(&item.body, visit);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn totals_are_exact_values_are_near_and_space_never_grows(
        ranks in programs(), common in any::<bool>(), mut percents in prop::collection::vec(1..100_u64, 1..4),
    ) {
        let exact = compress(&log(&ranks, common, 50), &options(100), &mut |_, _| {}).expect("a structure");
        let expected = totals(&exact);
        percents.extend([99, 95, 80]);
        percents.sort_unstable();
        let mut weight = exact.structure.weight();
        for percent in percents.into_iter().rev() {
            let precision = Precision::new(percent).expect("a precision");
            let document = coarsen(exact.clone(), precision, &mut |_, _| {}).expect("a structure");
            let read = Document::of_bytes(&document.to_bytes().expect("bytes")).expect("a document");
            prop_assert_eq!(&read, &document);
            prop_assert_eq!(totals(&document), expected.clone(), "{}", percent);
            prop_assert!(document.structure.weight() <= weight, "{}: {} > {}", percent, document.structure.weight(), weight);
            weight = document.structure.weight();
            let outline = Outline::of(&document, OutlineOptions::default()).expect("an outline");
            every_item(&outline.body, &mut |item| for drawn in &item.drawn {
                let error = drawn.error_percent.expect("quantities");
                assert!(error <= (100 - percent) as f64 + 1e-9, "{percent}: {drawn:?}");
            });
            // Names are exact: the same partners, tags and files as often as recorded; messages on each rank, whereas how often a rank reads may be drawn.
            let names = |document: &Document| {
                let rank = |line: u32, event: &Event| event.peer.get().map(|_| line);
                let mut names: Vec<_> = events(document, 3).into_iter()
                    .map(|(line, event)| (rank(line, &event), event.call, event.peer, event.tag, event.comm, event.fd, event.path)).collect();
                names.sort();
                names
            };
            prop_assert_eq!(names(&document), names(&exact));
        }
    }

    #[test]
    fn at_precision_0_totals_are_exact_and_the_tree_is_small(ranks in programs(), common in any::<bool>()) {
        let log = log(&ranks, common, 50);
        let exact = compress(&log, &options(100), &mut |_, _| {}).expect("a structure");
        let document = compress(&log, &options(0), &mut |_, _| {}).expect("a structure");
        prop_assert_eq!(totals(&document), totals(&exact));
        let again = coarsen(exact.clone(), Precision::LEAST, &mut |_, _| {}).expect("a structure");
        prop_assert_eq!(totals(&again), totals(&exact));
        let read = Document::of_bytes(&document.to_bytes().expect("bytes")).expect("a document");
        prop_assert_eq!(read, document);
    }

    #[test]
    fn how_a_log_is_divided_and_when_it_is_coarsened_gives_the_same_bytes(
        ranks in programs(), row_group in 1..40_usize, percent in 1..100_u64, seed in any::<u64>(),
    ) {
        let of = |row_group, percent| {
            compress(&log(&ranks, false, row_group), &options(percent), &mut |_, _| {}).expect("a structure")
        };
        let whole = of(1_000, percent);
        prop_assert_eq!(whole.to_bytes().expect("bytes"), of(row_group, percent).to_bytes().expect("bytes"));
        let later = super::smaller(of(1_000, 100), Precision::new(percent).expect("a precision"), &mut |_, _| {}).expect("a structure");
        prop_assert_eq!(whole.to_bytes().expect("bytes"), later.to_bytes().expect("bytes"));
        prop_assert_eq!(events(&whole, seed), events(&later, seed));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_counted_by_walking_the_tree_is_what_its_events_tell(ranks in programs(), common in any::<bool>()) {
        let document = compress(&log(&ranks, common, 50), &options(100), &mut |_, _| {}).expect("a structure");
        let mut expected: BTreeMap<_, u64> = BTreeMap::new();
        for (_, event) in events(&document, 0).into_iter().filter(|(_, event)| event.layer == Layer::Mpi) {
            let narrow = |value: Option<i32>| value.map(i64::from);
            let told = [narrow(event.comm.get()), narrow(event.peer.get()), narrow(event.tag.get()), event.sent.get(), event.received.get()];
            *expected.entry((event.case.0, event.call.0, told)).or_default() += 1;
        }
        let calls = crate::counted_calls(&document);
        if let Some(calls) = calls {
            let mut found: BTreeMap<_, u64> = BTreeMap::new();
            calls.iter().for_each(|one| *found.entry((one.case.0, one.call.0, one.told)).or_default() += one.times);
            prop_assert_eq!(found, expected);
        }
        let outline = Outline::of(&document, OutlineOptions::default()).expect("an outline");
        prop_assert_eq!(Outline::summary(&document).expect("a summary"), Outline { body: Vec::new(), ..outline });
    }
}

#[test]
fn a_regular_exchange_is_counted_without_executing_it() {
    let steps: Vec<Step> = vec![(vec![(4096, 1), (4096, 3)], Vec::new()); 50];
    let document = compress(&log(&[steps.clone(), steps], false, 50), &options(100), &mut |_, _| {})
        .expect("a structure");
    let calls = crate::counted_calls(&document).expect("nothing is drawn");
    let sends = calls.iter().filter(|one| document.names.call(one.call) == "MPI_Isend");
    // To both partners, whether these are two items or one with two repetitions.
    let mut told: Vec<_> = sends.map(|one| (one.case.0, one.told[2], one.times)).collect();
    told.sort_unstable();
    assert_eq!(told, [(0, Some(1), 50), (0, Some(3), 50), (1, Some(1), 50), (1, Some(3), 50)]);
}

#[test]
fn five_and_six_exchanges_are_one_cluster_at_90() {
    let counts =
        ByLine((0..6).map(|line| (line, [5, 5, 6].repeat(4).into_iter().map(Some).collect())).collect());
    let resolution = Resolution { level: 3, buckets: Some(16) };
    let at = |percent| {
        quantities(&counts, 2, Precision::new(percent).expect("a precision"), resolution, None)
            .expect("clusters")
            .1
    };
    let values = |distribution: &Distribution| match distribution {
        Distribution::Quantities(quantities) => quantities.values().cloned(),
        Distribution::Names(_) => None,
    };
    let drawn = at(90);
    assert!(drawn.common);
    assert_eq!(
        drawn.distributions.iter().map(values).collect::<Vec<_>>(),
        [Some(BTreeMap::from([(5, 8), (6, 4)]))]
    );
    assert_eq!(at(95).distributions.len(), 2);
}

#[test]
fn counts_around_a_collective_call_are_drawn_only_if_all_ranks_have_the_same() {
    let step = |count: usize| (vec![(100, 1); count], Vec::new());
    let counts = [5, 9, 6, 8, 7, 5, 6, 6, 9, 8, 5, 7, 9, 9, 5];
    let one: Vec<Step> = counts.iter().map(|&count| step(count)).collect();
    let other: Vec<Step> = counts.iter().rev().map(|&count| step(count)).collect();
    let at = |log: &EventLog, percent| {
        let exact = compress(log, &options(100), &mut |_, _| {}).expect("a structure");
        coarsen(exact, Precision::new(percent).expect("a precision"), &mut |_, _| {}).expect("a structure")
    };
    let drawn_counts = |ranks: &[Vec<Step>], percent| {
        let document = at(&log(ranks, false, 50), percent);
        document
            .structure
            .drawn()
            .iter()
            .filter(|((_, column), _)| *column == 0)
            .map(|(_, drawn)| drawn.common)
            .collect::<Vec<_>>()
    };
    assert_eq!(drawn_counts(&[one.clone(), one.clone()], 60), [true]);
    assert!(drawn_counts(&[one.clone(), one.clone()], 100).is_empty());
    assert_eq!(drawn_counts(&[one.clone(), other.clone()], 60), [false]);
    // A rank more time steps: its collective calls are others' too, so nothing is drawn that could make ranks wait.
    let mut longer = other;
    longer.truncate(7);
    let text = [one, longer];
    let document = at(&uneven(&text), 60);
    assert_eq!(
        document.about.fixed_counts.map(|fixed| fixed.words()),
        Some("ranks make a collective call a different number of times")
    );
    assert!(document.structure.drawn().keys().all(|&(_, column)| column != 0));
}

/// Ranks with different numbers of time steps.
fn uneven(ranks: &[Vec<Step>]) -> EventLog {
    let names = |(exchanges, _): &Step| vec!["MPI_Send"; exchanges.len()].into_iter().chain(["MPI_Barrier"]);
    let ranks: Vec<Vec<&str>> = ranks.iter().map(|steps| steps.iter().flat_map(names).collect()).collect();
    of_calls(&ranks)
}

/// Ranks that make these calls of MPI.
fn of_calls(ranks: &[Vec<&str>]) -> EventLog {
    let case = |rank: usize| Case {
        id: CaseId(rank as u32),
        name: CaseName { rid: Some(rank.to_string()), ..CaseName::default() },
        ..Case::default()
    };
    let mut log = MemoryLog::new((0..ranks.len()).map(case).collect());
    for (rank, names) in (0..).zip(ranks) {
        for (seq, name) in (0..).zip(names) {
            let (case, pid, tid) = (CaseId(rank), Pid(rank + 1), Tid(rank + 1));
            let (call, start) = (log.call(name), Timestamp(seq as i64 * 10));
            log.push(Event { case, seq, pid, tid, layer: Layer::Mpi, call, start, ..Event::default() });
        }
    }
    log.build()
}

#[test]
fn messages_change_places_only_where_all_ranks_make_all_collective_calls() {
    let least = CompressOptions { precision: Precision::LEAST, ..options(100) };
    let made = |ranks: &[Vec<&str>]| {
        let document = compress(&of_calls(ranks), &least, &mut |_, _| {}).expect("a structure");
        let mut names: Vec<Vec<String>> = vec![Vec::new(); ranks.len()];
        each_placed_event(&document, 0, &mut |line, event, _| {
            names[line as usize].push(document.names.call(event.call).to_owned());
            Ok(())
        })
        .expect("events");
        (document.about.reordered, draws_messages(&document), names)
    };
    let ranks = || [vec!["MPI_Send", "MPI_Recv", "MPI_Barrier"], vec!["MPI_Recv", "MPI_Send", "MPI_Barrier"]];
    let (reordered, draws, names) = made(&ranks());
    assert!(reordered && draws && names != ranks(), "{names:?}");
    // The last call is that of one rank, on a communicator of its own.
    let mut ranks = ranks();
    ranks[1].push("MPI_Barrier");
    let (reordered, draws, names) = made(&ranks);
    assert!(!reordered && !draws, "{names:?}");
    assert_eq!(names, ranks);
}
