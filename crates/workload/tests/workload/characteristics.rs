//! The example of section 2 of the definitions.

use iotrail_model::Nullable;
use iotrail_model::calls::CallKind;
use iotrail_workload::{
    CallForm, Characteristics, Distribution, FileIndex, Pairs, Placed, Request, SessionLayer, Variant,
    characteristics,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const IN: FileIndex = FileIndex(0);
const OUT: FileIndex = FileIndex(1);
const LOG: FileIndex = FileIndex(2);

fn placed(position: u64, name: &str, kind: CallKind, file: FileIndex, open: Option<u64>) -> Placed {
    let request = Request {
        form: Arc::new(CallForm {
            name: Arc::from(name.trim_end_matches(".s")),
            kind,
            mode: None,
            layer: SessionLayer::System,
        }),
        seek: name.ends_with(".s"),
        clamped: false,
        file,
        open: open.into(),
        offset: Nullable::NULL,
        size: Nullable::NULL,
        slack_ns: Nullable::NULL,
        start: 0,
        end: Nullable::NULL,
    };
    Placed { position, request }
}

fn open(position: u64, file: FileIndex, open: u64, mode: &str) -> Placed {
    let mut placed = placed(position, "openat", CallKind::Open, file, Some(open));
    Arc::make_mut(&mut placed.request.form).mode = Some(Arc::from(mode));
    placed
}

fn close(position: u64, file: FileIndex, open: u64) -> Placed {
    placed(position, "close", CallKind::Close, file, Some(open))
}

fn transfer(position: u64, name: &str, file: FileIndex, open: u64, offset: i64, size: i64) -> Placed {
    let kind = if name.starts_with("read") { CallKind::Read } else { CallKind::Write };
    let mut placed = placed(position, name, kind, file, Some(open));
    (placed.request.offset, placed.request.size) = (Nullable::some(offset), Nullable::some(size));
    placed
}

fn root() -> Vec<Placed> {
    vec![
        open(1, IN, 1, "ro"),
        transfer(2, "read", IN, 1, 0, 4096),
        open(3, OUT, 2, "wo"),
        transfer(4, "write", OUT, 2, 0, 1000),
        placed(5, "stat", CallKind::Stat, LOG, None),
        transfer(6, "read", IN, 1, 4096, 4096),
        transfer(7, "write", OUT, 2, 1000, 1000),
        close(8, IN, 1),
        transfer(9, "write.s", OUT, 2, 4000, 500),
        close(10, OUT, 2),
        open(11, OUT, 3, "ro"),
        transfer(12, "read", OUT, 3, 0, 2000),
        close(13, OUT, 3),
    ]
}

fn of(requests: &[Placed]) -> BTreeMap<FileIndex, Characteristics> {
    characteristics(requests, |file| file)
}

fn values(values: &[i64]) -> Distribution {
    values.iter().copied().collect()
}

fn variants(counts: &[(&str, u64)]) -> BTreeMap<Variant, u64> {
    let variant = |name: &str| Variant {
        operation: Arc::from(name.trim_end_matches(".s")),
        seek: name.ends_with(".s"),
    };
    counts.iter().map(|(name, count)| (variant(name), *count)).collect()
}

#[test]
fn the_file_that_is_read() {
    let found = &of(&root())[&IN];
    assert_eq!(found.files, values(&[1]));
    assert_eq!(found.sessions, values(&[1]));
    assert_eq!(found.first_gap, values(&[1]));
    assert_eq!(found.session_gap, Distribution::default());
    assert_eq!(found.depth, values(&[3]));
    assert_eq!(found.request_gap, values(&[1, 4, 2]));
    assert_eq!(found.pairs.consecutive_share(), Some(1.0));
    assert_eq!(found.file_size, Some(8192));
    assert_eq!(found.unclosed, 0);
}

#[test]
fn the_file_that_is_written_and_read() {
    let found = &of(&root())[&OUT];
    assert_eq!(found.sessions, values(&[2]));
    assert_eq!((&found.first_gap, &found.session_gap), (&values(&[3]), &values(&[1])));
    assert_eq!(found.depth, values(&[4, 2]));
    assert_eq!(found.request_gap, values(&[1, 3, 2, 1, 1, 1]));
    assert_eq!(found.pairs, Pairs { all: 2, consecutive: 1, sequential: 2 });
    assert_eq!((found.pairs.consecutive_share(), found.pairs.sequential_share()), (Some(0.5), Some(1.0)));
    assert_eq!(found.file_size, Some(4500));
    let offsets: Vec<(String, Distribution)> =
        found.offsets.iter().map(|(variant, offsets)| (variant.to_string(), offsets.clone())).collect();
    let of = |variant: &str, offsets: &[i64]| (variant.to_owned(), values(offsets));
    assert_eq!(offsets, [of("read", &[0]), of("write", &[0, 1000]), of("write.s", &[4000])]);
    assert_eq!(found.in_sessions, variants(&[("write", 2), ("write.s", 1), ("read", 1)]));
    assert_eq!(found.modes, BTreeMap::from([(Arc::from("wo"), 1), (Arc::from("ro"), 1)]));
}

#[test]
fn requests_without_a_description_are_outside_of_sessions() {
    let found = &of(&root())[&LOG];
    assert_eq!(found.outside, variants(&[("stat", 1)]));
    assert_eq!((&found.files, &found.sessions), (&values(&[1]), &values(&[0])));
    assert_eq!(found.file_size, None);
}

#[test]
fn a_session_without_open_or_close_has_what_was_seen() {
    let requests = [transfer(4, "read", IN, 9, 0, 10), transfer(6, "read", IN, 9, 10, 10)];
    let found = &of(&requests)[&IN];
    assert_eq!((&found.first_gap, &found.modes), (&Distribution::default(), &BTreeMap::new()));
    assert_eq!((&found.depth, &found.request_gap, found.unclosed), (&values(&[2]), &values(&[2]), 1));
    assert_eq!(found.in_sessions, variants(&[("read", 2)]));
}

#[test]
fn sessions_that_overlap_have_a_negative_gap() {
    let requests = [open(1, IN, 1, "ro"), open(2, IN, 2, "ro"), close(3, IN, 2), close(7, IN, 1)];
    assert_eq!(of(&requests)[&IN].session_gap, values(&[2 - 7]));
}

#[test]
fn a_duplicate_ends_no_session() {
    let requests = [
        open(1, IN, 1, "ro"),
        placed(2, "dup", CallKind::Duplicate, IN, Some(1)),
        close(3, IN, 1),
        transfer(4, "read", IN, 1, 0, 8),
        close(5, IN, 1),
    ];
    let found = &of(&requests)[&IN];
    assert_eq!((&found.depth, found.unclosed), (&values(&[4]), 0));
}

#[test]
fn an_unknown_place_is_in_no_pair_and_tells_no_size() {
    let mut requests = root();
    requests[1].request.offset = Nullable::NULL;
    let found = &of(&requests)[&IN];
    assert_eq!((found.pairs.consecutive_share(), found.file_size), (None, Some(8192)));
    requests[5].request.offset = Nullable::some(i64::MAX);
    assert_eq!(of(&requests)[&IN].file_size, None);
}

#[test]
fn ranks_merge() {
    let mut requests = root();
    (requests[1].request.slack_ns, requests[1].request.clamped) = (Nullable::some(0), true);
    let one = &of(&requests)[&IN];
    let mut both = one.clone();
    both.merge(one);
    assert_eq!((both.depth, both.pairs.all, both.file_size), (values(&[3, 3]), 2, Some(8192)));
    assert_eq!((both.slack, both.slack_clamped), (values(&[0, 0]), 2));
}

proptest! {
    #[test]
    fn gaps_of_a_session_sum_up_to_its_length(gaps in prop::collection::vec(1_u64..9, 1..20), first in 1_u64..9) {
        let mut requests = vec![open(first, IN, 1, "ro")];
        let mut position = first;
        for gap in &gaps {
            position += gap;
            requests.push(transfer(position, "read", IN, 1, 0, 1));
        }
        let found = &of(&requests)[&IN];
        let sum: i64 = found.request_gap.counts().map(|(value, times)| value * times as i64).sum();
        prop_assert_eq!(sum as u64, position - first);
        prop_assert_eq!(found.depth.max(), Some(gaps.len() as i64));
    }
}
