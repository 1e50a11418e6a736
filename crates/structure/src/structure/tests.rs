use super::*;
use crate::tree::{EventId, Key, Order, Sequences, build};
use crate::{Affine, Class, Distribution, Quantities, RankList, Resolution, Values};
use proptest::prelude::*;

type Event = (KeyId, Vec<Value>, usize);

fn walked(structure: &Structure, rank: u32) -> Vec<Event> {
    let mut events = Vec::new();
    let visited = structure.walk(rank, &mut |Execution { key, values, inside, .. }| {
        events.push((key, values.to_vec(), inside));
        Ok::<_, StructureError>(())
    });
    assert_eq!(visited, Ok(()));
    events
}

fn key(letter: char) -> KeyId {
    KeyId(letter as u32)
}

/// The tree of the events of each rank, none called inside another.
fn tree_of(ranks: &[Vec<(char, Value)>]) -> Tree {
    let members = |letter: u8| letter.is_ascii_uppercase().then_some(ranks.len() as u32);
    let mut sequences = Sequences::new((0..128).map(|letter| Key { members: members(letter) }).collect());
    for rank in ranks {
        sequences.sequence(rank.iter().map(|&(letter, _)| key(letter))).expect("keys");
    }
    build(&sequences, Order::Exact, &mut |_| {})
}

/// The events of each rank with one value.
fn structure_of(ranks: &[Vec<(char, Value)>]) -> Structure {
    let (tree, values) = (tree_of(ranks), ranks.concat());
    Structure::new(&tree, ranks.len() as u32, &[1], |event, _, _| values[event as usize].1, &mut |_| {})
}

/// The example of the paper's I/O kernel: exchanges with neighbours, a checkpoint after every fourth of 12 steps; the
/// value is the offset.
fn time_steps(ranks: u32) -> Vec<Vec<(char, Value)>> {
    let step = |rank: i64, step: i64| {
        let exchange = [('i', None), ('s', None), ('w', None)].repeat([5, 5, 6][step as usize % 3]);
        let offset = 24_576 * (step / 4) + 4_096 * rank;
        let write = (step % 4 == 3).then_some(('W', Some(offset)));
        [exchange, vec![('A', None)], write.into_iter().collect()].concat()
    };
    (0..i64::from(ranks)).map(|rank| (0..12).flat_map(|t| step(rank, t)).collect()).collect()
}

#[test]
fn checkpoints_of_all_ranks_are_one_item_whose_offset_follows_from_rank_and_step() {
    let ranks = time_steps(6);
    let structure = structure_of(&ranks);
    assert_eq!(structure.items().len(), 8);
    let writes = structure.items().iter().find_map(|item| match &item.what {
        Repeats::Event { key: found, columns, .. } if *found == key('W') => Some(columns[0].column.classes()),
        _ => None,
    });
    let [Class { ranks: list, strides, values }] = writes.expect("writes") else { panic!("one class") };
    assert_eq!((list.to_string(), &strides[..]), ("0 (6,1)".to_owned(), &[4_096][..]));
    assert_eq!(*values, Values::Affine(Affine { constant: 0, coefficients: vec![24_576, 0] }));
    let expected: Vec<Event> =
        ranks[5].iter().map(|&(letter, value)| (key(letter), vec![value], 0)).collect();
    assert_eq!(walked(&structure, 5), expected);
}

#[test]
fn a_structure_does_not_grow_with_ranks() {
    let shape = |structure: &Structure| -> Vec<usize> {
        let classes = |item: &Repeated| match &item.what {
            Repeats::Event { columns, .. } => item.counts.classes().len() + columns[0].column.classes().len(),
            Repeats::Loop(_) => item.counts.classes().len(),
        };
        structure.items().iter().map(classes).collect()
    };
    assert_eq!(shape(&structure_of(&time_steps(6))), shape(&structure_of(&time_steps(96))));
}

#[test]
fn calls_inside_of_calls_come_back_inside() {
    let mut sequences = Sequences::new(vec![Key::default(); 2]);
    sequences.sequence([KeyId(0); 3]).expect("a sequence");
    sequences.children(EventId(0), [KeyId(1)]).expect("children");
    sequences.children(EventId(2), [KeyId(1); 2]).expect("children");
    let tree = build(&sequences, Order::Exact, &mut |_| {});
    let square = |event: u32, _, _| Some(i64::from(event).pow(2));
    let structure = Structure::new(&tree, 1, &[1], square, &mut |_| {});
    let expected = [(0, 0, 0), (1, 9, 1), (0, 1, 0), (0, 4, 0), (1, 16, 1), (1, 25, 1)];
    let expected = expected.map(|(key, value, inside)| (KeyId(key), vec![Some(value)], inside));
    assert_eq!(walked(&structure, 0), expected);
}

#[test]
fn a_count_or_a_value_that_is_missing_is_an_error() {
    let whole = structure_of(&[vec![('a', Some(1)), ('b', Some(2))]]);
    let mut visit = |_: Execution<'_>| Ok::<_, StructureError>(());
    assert_eq!(whole.walk(1, &mut visit), Err(StructureError::Count { rank: 1, item: 0 }));
    let mut without_values = whole.clone();
    if let Repeats::Event { columns, .. } = &mut without_values.items[1].what {
        columns[0].column = Column::default();
    }
    let missing = StructureError::Value { rank: 0, item: 1, column: 0 };
    assert_eq!(without_values.walk(0, &mut visit), Err(missing));
}

#[test]
fn of_several_forms_the_one_that_takes_the_least_space_is_kept() {
    let mut sequences = Sequences::new(vec![Key::default()]);
    sequences.sequence([KeyId(0); 9]).expect("a sequence");
    let values = |event: u32, _, form| Some(if form == 0 { i64::from(event).pow(2) } else { 7 });
    let structure =
        Structure::new(&build(&sequences, Order::Exact, &mut |_| {}), 1, &[2], values, &mut |_| {});
    let Repeats::Event { columns, .. } = &structure.items()[0].what else { panic!("an event") };
    assert_eq!((columns[0].form, walked(&structure, 0).len()), (1, 9));
}

#[test]
fn loops_are_entered_once_for_all_their_iterations() {
    let structure = structure_of(&time_steps(1));
    let mut of_first = BTreeMap::new();
    let visited = structure.walk(0, &mut |Execution { key: found, entered, .. }| {
        *of_first.entry(entered).or_insert(0) += u32::from(found == key('i'));
        Ok::<_, StructureError>(())
    });
    assert_eq!(visited, Ok(()));
    assert_eq!(of_first, [(0, 52), (1, 9), (2, 2), (3, 1)].into());
}

#[test]
fn a_loop_that_does_nothing_is_an_error() {
    let counts = |count: i64| Column::of(&Positions::root(1), |_| Some(count));
    let items = vec![Repeated { counts: counts(1_000_000), what: Repeats::Loop(vec![]) }];
    let walked = Structure::of_parts(items, vec![ItemId(0)], DrawnColumns::new())
        .walk(0, &mut |_: Execution<'_>| Ok::<_, StructureError>(()));
    assert_eq!(walked, Err(StructureError::Empty { rank: 0, item: 0 }));
}

/// A loop of so many iterations in which nothing is drawn, and an event before it.
fn idle_loop(count: i64, events: i64) -> Structure {
    let values = |constant, depth| Values::Affine(Affine { constant, coefficients: vec![0; depth] });
    let ranks = std::sync::Arc::new(RankList::new([0]));
    let column = |constant, depth| {
        Column::of_classes(vec![Class {
            ranks: std::sync::Arc::clone(&ranks),
            strides: Vec::new(),
            values: values(constant, depth),
        }])
    };
    let event = || Repeats::Event { key: KeyId(0), columns: Vec::new(), children: Vec::new() };
    let items = vec![
        Repeated { counts: column(0, 1), what: event() },
        Repeated { counts: column(count, 0), what: Repeats::Loop(vec![ItemId(0)]) },
        Repeated { counts: column(events, 0), what: event() },
    ];
    let zeros = Quantities::of_values(
        Resolution { level: 3, buckets: Some(16) },
        [(0, count.max(1) as u64)].into(),
        (0, 0),
    );
    let distributions = vec![Distribution::Quantities(zeros.expect("zeros"))];
    let drawn = Drawn { common: false, draw: 0, distributions };
    Structure::of_parts(items, vec![ItemId(2), ItemId(1)], [((0, 0), drawn)].into())
}

#[test]
fn draws_may_leave_some_iterations_without_events() {
    let walked = |count, events| {
        let structure = idle_loop(count, events);
        let mut walker = structure.walker(0, u64::MAX);
        walker.walk(0, &mut |_, _| {}, &mut |_| Ok::<_, StructureError>(()))
    };
    assert_eq!(walked(60_000, 1), Ok(()));
    assert_eq!(walked(u32::MAX.into(), 1), Err(StructureError::Idle { item: 1 }));
    assert_eq!(walked(100_000, 1_000), Ok(()), "64 for each event");
    let mut fixed = idle_loop(u32::MAX.into(), 1);
    fixed.drawn = std::mem::take(&mut fixed.drawn).into_values().map(|drawn| ((2, 0), drawn)).collect();
    let Repeated { counts, .. } = &mut fixed.items[2];
    *counts = Column::of(&Positions::root(1), |_| Some(0));
    let walked = fixed.walk(0, &mut |_: Execution<'_>| Ok::<_, StructureError>(()));
    assert_eq!(walked, Err(StructureError::Empty { rank: 0, item: 1 }), "nothing in it is drawn");
}

#[test]
fn readers_are_made_of_what_is_executed() {
    let structure = idle_loop(0, 0);
    let mut walker = structure.walker(0, 0);
    for rank in [0, 0] {
        let walked = walker.walk(rank, &mut |_, _| {}, &mut |_| Ok::<_, StructureError>(()));
        assert_eq!((walked, &walker.begun[..]), (Ok(()), &[2, 1][..]));
        assert!(walker.readers.iter().flatten().all(|reader| reader.columns.is_none()));
    }
}

fn program() -> impl Strategy<Value = Vec<Vec<(char, Value)>>> {
    let letters = "[abcA]{0,3}";
    let body = letters.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0_usize..4).prop_map(|(body, count)| body.repeat(count)),
            prop::collection::vec(inner, 0..4).prop_map(|parts| parts.concat()),
        ]
    });
    let left_out = prop::collection::vec(0_usize..60, 0..4);
    (body, left_out, 0_i64..4, 1_i64..9, 1_i64..9).prop_map(|(body, left_out, constant, every, modulus)| {
        let value = |rank: i64, place: i64| match place % every {
            0 => None,
            _ => Some(constant * rank + place % modulus),
        };
        let rank = |(rank, left_out): (i64, &usize)| {
            let kept = body.chars().take(200).enumerate().filter(|(place, _)| place != left_out);
            kept.map(|(place, letter)| (letter, value(rank, place as i64))).collect()
        };
        (0..).zip(&left_out).map(rank).collect()
    })
}

proptest! {
    #[test]
    fn walking_gives_every_event_back(ranks in program()) {
        let structure = structure_of(&ranks);
        for (rank, events) in (0..).zip(&ranks) {
            let expected: Vec<Event> = events.iter().map(|&(letter, value)| (key(letter), vec![value], 0)).collect();
            prop_assert_eq!(walked(&structure, rank), expected);
        }
    }

    #[test]
    fn a_tree_is_walked_as_its_structure(ranks in program()) {
        let (tree, structure) = (tree_of(&ranks), structure_of(&ranks));
        let walker = tree.walker();
        for rank in 0..ranks.len() as u32 {
            let (mut of_tree, mut of_structure) = (Vec::new(), Vec::new());
            walker.walk(rank, &mut |visit| of_tree.push((visit.item, visit.inside, visit.entered)));
            let visited = structure.walk(rank, &mut |Execution { item, inside, entered, .. }| {
                of_structure.push((item, inside, entered));
                Ok::<_, StructureError>(())
            });
            prop_assert_eq!(visited, Ok(()));
            prop_assert_eq!(of_tree, of_structure);
        }
    }
}
