use iotrail_workload::{Distribution, merge};
use proptest::prelude::*;

/// Requests by letter, holes as `.`.
fn text(wanted: &[(u64, char)], holes: usize) -> String {
    merge(wanted, holes).into_iter().map(|request| request.map_or('.', |at| wanted[at].1)).collect()
}

const WANTED: [(u64, char); 6] = [(1, 'A'), (4, 'A'), (6, 'A'), (2, 'B'), (4, 'B'), (5, 'B')];

fn gaps(positions: &[i64]) -> Vec<i64> {
    positions.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn a_position_that_is_taken_moves_to_the_next_free_one() {
    let merged = merge(&WANTED, 1);
    assert_eq!(text(&WANTED, 1), "AB.ABBA");
    let positions = |requests: std::ops::Range<usize>| -> Vec<i64> {
        let position = |at| merged.iter().position(|found| *found == Some(at)).map_or(0, |at| at as i64 + 1);
        requests.map(position).collect()
    };
    let realised: Distribution = gaps(&positions(0..3)).into_iter().chain(gaps(&positions(3..6))).collect();
    assert_eq!(realised, [3, 3, 3, 1].into_iter().collect());
    let wanted: Distribution = gaps(&[1, 4, 6]).into_iter().chain(gaps(&[2, 4, 5])).collect();
    assert_eq!(wanted.kolmogorov_smirnov(&realised), Some(0.5));
}

#[test]
fn holes_are_dropped_and_inserted_evenly() {
    assert_eq!(text(&WANTED, 0), "ABABBA");
    assert_eq!(text(&[(4, 'A'), (8, 'A')], 3), "..A.A");
    assert_eq!(text(&[(1, 'A'), (2, 'A'), (3, 'A'), (4, 'A')], 2), "A.AA.A");
    assert_eq!(text(&[], 2), "..");
    assert_eq!(text(&[(u64::MAX, 'A'), (u64::MAX, 'B')], 2), "..AB");
}

proptest! {
    #[test]
    fn order_is_kept_and_nothing_is_lost(
        gaps in prop::collection::vec(prop::collection::vec(1_u64..6, 0..8), 0..5), holes in 0_usize..30,
    ) {
        let mut wanted = Vec::new();
        for (file, gaps) in gaps.iter().enumerate() {
            let mut position = 0;
            wanted.extend(gaps.iter().map(|gap| {
                position += gap;
                (position, file)
            }));
        }
        let merged = merge(&wanted, holes);
        prop_assert_eq!(merged.len(), wanted.len() + holes);
        for file in 0..gaps.len() {
            let of_file = merged.iter().flatten().copied().filter(|&at| wanted[at].1 == file);
            let expected = (0..wanted.len()).filter(|&at| wanted[at].1 == file);
            prop_assert_eq!(of_file.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }
}
