use super::*;
use crate::tree::Counts;
use proptest::prelude::*;

/// An item in a loop: how often each rank goes round.
fn positions(iterations: &[u32]) -> Positions {
    let mut counts = Counts::default();
    (0..).zip(iterations).for_each(|(rank, &count)| counts.push(rank, count));
    Positions::root(iterations.len() as u32).inside(&counts)
}

/// The column of these values by rank.
fn column(ranks: &[Vec<Value>]) -> Column {
    let iterations: Vec<u32> = ranks.iter().map(|values| values.len() as u32).collect();
    let all = ranks.concat();
    Column::of(&positions(&iterations), |execution| all[execution])
}

fn read(column: &Column, rank: u32, count: u32) -> Vec<Option<Value>> {
    let mut reader = column.reader(rank);
    (0..count).map(|index| reader.as_mut().and_then(|reader| reader.next(&[index]))).collect()
}

/// Per rank: ranks, strides, values.
fn shown(column: &Column) -> Vec<String> {
    let class = |Class { ranks, strides, values }: &Class| {
        let values = match values {
            Values::Null => "NULL".to_owned(),
            Values::Affine(affine) => format!("{} + {:?}", affine.constant, affine.coefficients),
            Values::Sequence(folded) => format!("{:?}", unfold(folded).collect::<Vec<_>>()),
        };
        format!("{ranks}: {strides:?} {values}")
    };
    column.classes().iter().map(class).collect()
}

#[test]
fn offsets_of_a_block_of_a_grid_follow_from_row_and_column() {
    let inner = [5_i64, 6, 9, 10];
    let offset = |rank: i64, step: i64| Some(1_000 * (rank / 4) + 10 * (rank % 4) + 7 * step);
    let of_rank = |rank: i64| match inner.contains(&rank) {
        true => (0..3).map(|step| offset(rank, step)).collect(),
        false => vec![],
    };
    let column = column(&(0..16).map(of_rank).collect::<Vec<_>>());
    assert_eq!(shown(&column), ["5 (2,4)(2,1): [1000, 10] 1010 + [7]"]);
    assert_eq!(read(&column, 10, 3), [2_020, 2_027, 2_034].map(|value| Some(Some(value))));
    assert_eq!(read(&column, 7, 1), [None]);
}

#[test]
fn ranks_with_other_constants_are_classes() {
    let values = [3_i64, 3, 8, 3, 9].map(|value| vec![Some(value); 2]);
    assert_eq!(shown(&column(&values)), ["0 (2,1), 3: [] 3 + [0]", "2: [] 8 + [0]", "4: [] 9 + [0]"]);
}

#[test]
fn what_follows_from_nothing_is_kept_as_it_is() {
    let values = [vec![Some(1), None, Some(5)], vec![None, None], vec![Some(1), None, Some(5)]];
    let column = column(&values);
    assert_eq!(shown(&column), ["0 (2,2): [] [Some(1), None, Some(5)]", "1: [] NULL"]);
    assert_eq!(read(&column, 0, 4), [Some(Some(1)), Some(None), Some(Some(5)), None]);
}

#[test]
fn the_ends_of_64_bits_come_back() {
    let values = [vec![Some(i64::MIN)], vec![Some(i64::MAX)], vec![Some(i64::MIN), Some(i64::MAX)]];
    let column = column(&values);
    let read = |rank| read(&column, rank, values[rank as usize].len() as u32);
    let expected = |rank: usize| values[rank].iter().map(|&value| Some(value)).collect::<Vec<_>>();
    (0..3).for_each(|rank| assert_eq!(read(rank), expected(rank as usize)));
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![4 => (0_i64..3).prop_map(Some), 1 => Just(None), 1 => any::<i64>().prop_map(Some)]
}

fn ranks() -> impl Strategy<Value = Vec<Vec<Value>>> {
    let affine = (-3_i64..3, -3_i64..3, -3_i64..3);
    let regular = (affine, prop::collection::vec(0_usize..4, 0..9)).prop_map(|((a, b, c), counts)| {
        let of_rank = |(rank, &count): (i64, &usize)| {
            (0..count as i64).map(|step| Some(a + b * rank + c * step)).collect()
        };
        (0..).zip(&counts).map(of_rank).collect()
    });
    prop_oneof![regular, prop::collection::vec(prop::collection::vec(value(), 0..4), 0..9)]
}

proptest! {
    #[test]
    fn columns_give_their_values_back(ranks in ranks()) {
        let column = column(&ranks);
        for (rank, values) in (0..).zip(&ranks) {
            let expected: Vec<_> = values.iter().map(|&value| Some(value)).collect();
            prop_assert_eq!(read(&column, rank, values.len() as u32), expected);
        }
    }

    #[test]
    fn any_grouping_of_ranks_merges_to_the_same_column(
        ranks in ranks(), groups in prop::collection::vec(0_usize..4, 9), order in Just([0, 1, 2, 3]).prop_shuffle(),
    ) {
        let group = |number: usize| {
            let kept = |(values, &group): (&Vec<Value>, &usize)| {
                if group == number { values.clone() } else { vec![] }
            };
            column(&ranks.iter().zip(&groups).map(kept).collect::<Vec<_>>())
        };
        let parts = order.map(group);
        let from_left = parts.iter().fold(Column::default(), |all, part| all.merge(part));
        let in_pairs = parts[0].merge(&parts[1]).merge(&parts[2].merge(&parts[3]));
        prop_assert_eq!(&from_left, &column(&ranks));
        prop_assert_eq!(&in_pairs, &column(&ranks));
    }
}
