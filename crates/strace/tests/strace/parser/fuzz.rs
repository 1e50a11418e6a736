//! Broken input: nothing panics, every line is counted once, pieces do not matter.

use crate::parser::support::{parse, parse_in_pieces};
use proptest::prelude::*;

const REAL: &[&[u8]] = &[
    include_bytes!("../../../../../tests/fixtures/strace/hand-hostile.st"),
    include_bytes!("../../../../../tests/fixtures/strace/hand-messages.st"),
    include_bytes!("../../../../../tests/fixtures/strace/hand-order.st"),
    include_bytes!("../../../../../tests/fixtures/strace/hand-strace-6.16.st"),
    include_bytes!("../../../../../tests/fixtures/strace/hand-strace-5.0.st"),
    include_bytes!("../../../../../tests/fixtures/strace/vectors.st"),
    include_bytes!("../../../../../tests/fixtures/strace/verbose-consts.st"),
    include_bytes!("../../../../../tests/fixtures/strace/terminal-Y.st"),
    include_bytes!("../../../../../tests/fixtures/strace/c.st"),
];

#[derive(Clone, Debug)]
enum Change {
    Set(usize, u8),
    Cut(usize, usize),
    Copy(usize, usize, usize),
    Swap(usize, usize),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let place = 0_usize..8192;
    let byte = prop_oneof![
        any::<u8>(),
        prop::sample::select(&b"\"\\<>()[]{},=?/*| \n\r\x1b-+.0123456789NULLAT_"[..])
    ];
    prop::collection::vec(
        prop_oneof![
            (place.clone(), byte).prop_map(|(at, byte)| Change::Set(at, byte)),
            (place.clone(), 1_usize..60).prop_map(|(at, length)| Change::Cut(at, length)),
            (place.clone(), 1_usize..60, place.clone())
                .prop_map(|(from, length, to)| Change::Copy(from, length, to)),
            (place.clone(), place).prop_map(|(a, b)| Change::Swap(a, b)),
        ],
        1..12,
    )
}

fn change(input: &mut Vec<u8>, change: &Change) {
    let length = input.len();
    if length == 0 {
        return;
    }
    match *change {
        Change::Set(at, byte) => input[at % length] = byte,
        Change::Cut(at, count) => {
            let at = at % length;
            input.drain(at..(at + count).min(length));
        }
        Change::Copy(from, count, to) => {
            let from = from % length;
            let piece = input[from..(from + count).min(length)].to_vec();
            let to = to % length;
            input.splice(to..to, piece);
        }
        Change::Swap(a, b) => input.swap(a % length, b % length),
    }
}

fn count_lines(input: &[u8]) -> u64 {
    let ends = input.iter().filter(|&&byte| byte == b'\n').count();
    (ends + usize::from(!input.is_empty() && !input.ends_with(b"\n"))) as u64
}

fn holds(input: &[u8], piece: usize) -> Result<(), TestCaseError> {
    let parsed = parse(input);
    prop_assert_eq!(parsed.coverage.lines.total, count_lines(input));
    prop_assert_eq!(parsed.coverage.lines.sum(), parsed.coverage.lines.total);
    prop_assert_eq!(parse_in_pieces(input, piece), parsed);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn arbitrary_bytes_are_counted(input in prop::collection::vec(any::<u8>(), 0..400), piece in 1_usize..50) {
        holds(&input, piece)?;
    }

    #[test]
    fn bytes_that_look_like_traces_are_counted(
        input in prop::collection::vec(prop::sample::select(&b"read(3</>\"\\,=?[]{}<.> \n0-+*|:x;)NULL"[..]), 0..400),
        piece in 1_usize..50,
    ) {
        holds(&input, piece)?;
    }

    #[test]
    fn damaged_traces_are_counted(which in 0..REAL.len(), changes in changes(), piece in 1_usize..3000) {
        let mut input = REAL[which].to_vec();
        changes.iter().for_each(|one| change(&mut input, one));
        holds(&input, piece)?;
    }
}
