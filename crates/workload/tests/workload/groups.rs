use iotrail_workload::{Behaviour, Distribution, Group, groups, total_variation};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Table I of the paper: operations of four children and of the root.
const TABLE: [[u64; 5]; 14] = [
    [195, 195, 195, 195, 257],
    [82, 79, 76, 77, 126],
    [10737, 10309, 10522, 10306, 11907],
    [9905, 9889, 9891, 9887, 21995],
    [56, 56, 56, 56, 101],
    [102, 102, 96, 96, 334],
    [4, 4, 4, 4, 5],
    [18724; 5],
    [9362; 5],
    [9362; 5],
    [18724; 5],
    [2; 5],
    [73; 5],
    [56188; 5],
];

fn column(stream: usize) -> BTreeMap<usize, u64> {
    TABLE.iter().map(|row| row[stream]).enumerate().collect()
}

fn mix(counts: &[u64]) -> Behaviour<usize, usize> {
    Behaviour { mix: counts.iter().copied().enumerate().collect(), reuse: BTreeMap::new() }
}

fn members(groups: &[Group]) -> Vec<&[usize]> {
    groups.iter().map(|group| group.members.as_slice()).collect()
}

#[test]
fn children_of_table_1_are_one_group_and_the_root_is_another() {
    for one in 0..4 {
        let from_root = total_variation(&column(one), &column(4));
        assert!((0.0775..0.0815).contains(&from_root), "{from_root}");
        // 0.003 in the three digits of the definitions.
        (0..4).for_each(|other| assert!(total_variation(&column(one), &column(other)) < 0.0035));
    }
    let streams: Vec<Behaviour<usize, usize>> =
        (0..5).map(|stream| Behaviour { mix: column(stream), reuse: BTreeMap::new() }).collect();
    assert_eq!(members(&groups(&streams)), [&[0, 1, 2, 3][..], &[4]]);
}

#[test]
fn the_distance_between_successive_reads_is_what_lies_between() {
    // The example of section 2: open read open write stat read write close write.s close open read close.
    let behaviour = Behaviour::of("orowsrwcwcorc".chars().map(|operation| (operation, operation)));
    assert_eq!(behaviour.reuse[&'r'], [3, 5].into_iter().collect::<Distribution>());
}

#[test]
fn linkage_is_complete() {
    // Neighbours are 0.04 apart, the ends 0.08.
    let streams = [mix(&[50, 50]), mix(&[54, 46]), mix(&[58, 42])];
    let groups = groups(&streams);
    assert_eq!(groups.len(), 2);
    assert!(!members(&groups).contains(&&[0, 1, 2][..]));
}

#[test]
fn the_representative_is_the_one_in_the_middle() {
    let streams = [mix(&[100, 100]), mix(&[104, 96]), mix(&[102, 98])];
    assert_eq!(groups(&streams), [Group { members: vec![0, 1, 2], representative: 2 }]);
    assert_eq!(groups::<u8, u8>(&[]), []);
}

#[test]
fn many_streams_with_one_behaviour_weigh_as_many() {
    let mut streams = vec![mix(&[100, 100]), mix(&[102, 98])];
    streams.extend((0..5000).map(|_| mix(&[104, 96])));
    assert_eq!(groups(&streams), [Group { members: (0..5002).collect(), representative: 2 }]);
}

#[test]
fn streams_with_one_mix_and_another_order_are_two_groups() {
    let in_turns = Behaviour::of((0..20).map(|at| (at % 2, at % 2)));
    let in_blocks = Behaviour::of((0..20).map(|at| (at / 10, at / 10)));
    assert_eq!(groups(&[in_turns, in_blocks]).len(), 2);
    // With less than eight distances order tells nothing.
    let in_turns = Behaviour::of((0..16).map(|at| (at % 2, at % 2)));
    let in_blocks = Behaviour::of((0..16).map(|at| (at / 8, at / 8)));
    assert_eq!(groups(&[in_turns, in_blocks]).len(), 1);
}

proptest! {
    #[test]
    fn groups_are_a_partition_in_which_all_are_near(
        streams in prop::collection::vec(prop::collection::vec(1_u64..12, 3), 0..12),
    ) {
        let streams: Vec<_> = streams.iter().map(|counts| mix(counts)).collect();
        let groups = groups(&streams);
        let mut all: Vec<usize> = groups.iter().flat_map(|group| group.members.clone()).collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..streams.len()).collect::<Vec<_>>());
        let near = |one: usize, other: usize| total_variation(&streams[one].mix, &streams[other].mix) <= 0.05;
        for group in &groups {
            prop_assert!(group.members.contains(&group.representative));
            prop_assert!(group.members.iter().all(|&one| group.members.iter().all(|&other| near(one, other))));
        }
        for (at, group) in groups.iter().enumerate() {
            for other in &groups[at + 1..] {
                let joinable = group.members.iter().all(|&one| other.members.iter().all(|&two| near(one, two)));
                prop_assert!(!joinable, "{:?} and {:?} could be one", group, other);
            }
        }
    }
}
