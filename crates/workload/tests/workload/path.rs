use iotrail_workload::{Path, Step, path};
use proptest::prelude::*;

fn steps(text: &str) -> Vec<Step<char>> {
    let step = |step: char| if step == '|' { Step::Sync(step) } else { Step::Request(step) };
    text.chars().map(step).collect()
}

fn aligned(representatives: &[&str]) -> Path<char> {
    let steps: Vec<_> = representatives.iter().map(|text| steps(text)).collect();
    path(&steps.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn text(path: &Path<char>) -> String {
    let letter = |step: &Step<char>| match step {
        Step::Request(letter) | Step::Sync(letter) => *letter,
    };
    path.elements().iter().map(|element| letter(&element.step)).collect()
}

fn of_group(path: &Path<char>, group: usize) -> Vec<Step<char>> {
    path.elements()
        .iter()
        .filter(|element| element.groups.contains(&group))
        .map(|element| element.step)
        .collect()
}

#[test]
fn the_example_has_13_requests_of_which_the_fifth_is_the_roots() {
    let path = aligned(&["orOWsrwcxC|ore", "orOWrwcxC|ore"]);
    assert_eq!(text(&path), "orOWsrwcxC|ore");
    assert_eq!(path.positions(0).collect::<Vec<_>>(), (1..=13).collect::<Vec<_>>());
    assert_eq!(path.positions(1).collect::<Vec<_>>(), [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13]);
    assert_eq!(path.elements()[10].position, None);
}

#[test]
fn what_one_group_alone_does_follows_the_common_step_root_first() {
    let path = aligned(&["abxd", "abyd", "azd"]);
    assert_eq!(text(&path), "abxyzd");
    assert_eq!(path.elements()[5].groups.len(), 3);
}

#[test]
fn nothing_is_aligned_across_the_same_synchronisation() {
    assert_eq!(text(&aligned(&["ab|c", "c|ab"])), "abc|cab");
    // With other synchronisation there is nothing to keep apart.
    assert_eq!(text(&aligned(&["ab|c", "abc"])), "ab|c");
}

/// Length of the longest common subsequence, by its definition.
fn common(one: &[Step<char>], other: &[Step<char>]) -> usize {
    let mut row = vec![0; other.len() + 1];
    for step in one {
        let mut diagonal = 0;
        for (at, other) in other.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if step == other { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row[other.len()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    #[test]
    fn representatives_come_back_and_what_they_share_is_longest(one in "[abc]{0,16}", other in "[abcd]{0,16}") {
        let path = aligned(&[&one, &other]);
        prop_assert_eq!(of_group(&path, 0), steps(&one));
        prop_assert_eq!(of_group(&path, 1), steps(&other));
        let shared = path.elements().iter().filter(|element| element.groups.len() == 2).count();
        prop_assert_eq!(shared, common(&steps(&one), &steps(&other)));
    }

    #[test]
    fn so_do_three_with_synchronisation(one in "[ab|]{0,9}", other in "[ab|]{0,9}", third in "[ab|]{0,9}") {
        let path = aligned(&[&one, &other, &third]);
        for (group, text) in [one, other, third].iter().enumerate() {
            prop_assert_eq!(of_group(&path, group), steps(text));
        }
    }
}
