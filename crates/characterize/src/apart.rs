//! Ranks of a group that behave alike and yet do not the same, where a model can have both.

use crate::program::Target;
use iotrail_workload::Group;
use std::collections::BTreeMap;

/// Ranks of a group are taken apart if all that they do apart is no more steps than these, and they are no more ranges of ranks.
const MOST_STEPS: usize = 64;
const MOST_RANGES: usize = 16;

/// The groups, of which those are divided in which
/// - the first rank does another thing than all others, which are several and do one thing, however alike: it writes what they have no part in;
/// - ranks do the same with the same files, except that their sessions differ, in sizes or numbers of requests.
pub(crate) fn divided(groups: &[Group], targets: &[Vec<Target>]) -> Vec<Group> {
    groups.iter().flat_map(|group| parts(group, targets)).collect()
}

fn parts(group: &Group, targets: &[Vec<Target>]) -> Vec<Group> {
    let mut of_targets: BTreeMap<&[Target], Vec<usize>> = BTreeMap::new();
    for member in &group.members {
        of_targets.entry(&targets[*member]).or_default().push(*member);
    }
    let first_apart = group.members.first() == Some(&0)
        && group.members.len() > 2
        && of_targets.len() == 2
        && of_targets.get(&targets[0][..]).is_some_and(|members| members.len() == 1);
    if of_targets.len() < 2 || !first_apart && !differ_in_sessions(&of_targets) {
        return vec![group.clone()];
    }
    let mut parts: Vec<Group> =
        of_targets.into_values().map(|members| Group { representative: members[0], members }).collect();
    parts.sort_by_key(|part| part.members[0]);
    parts
}

fn differ_in_sessions(of_targets: &BTreeMap<&[Target], Vec<usize>>) -> bool {
    let steps: usize = of_targets.keys().map(|targets| targets.len()).sum();
    let ranges = |members: &Vec<usize>| members.chunk_by(|one, next| one + 1 == *next).count();
    let ranges: usize = of_targets.values().map(ranges).sum();
    let Some(first) = of_targets.keys().next() else { return false };
    let is_like_first = |other: &&[Target]| {
        let alike = |(one, other): (&Target, &Target)| match (one, other) {
            (Target::Session(file, _), Target::Session(other, _)) => file == other,
            (one, other) => one == other,
        };
        first.len() == other.len() && first.iter().zip(*other).all(alike)
    };
    steps <= MOST_STEPS && ranges <= MOST_RANGES && of_targets.keys().all(is_like_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(targets: &[&[Target]]) -> Vec<Vec<usize>> {
        let targets: Vec<Vec<Target>> = targets.iter().map(|own| own.to_vec()).collect();
        let group = Group { members: (0..targets.len()).collect(), representative: 1 };
        divided(&[group], &targets).into_iter().map(|group| group.members).collect()
    }

    const fn session(number: usize) -> Target {
        Target::Session(0, number)
    }

    #[test]
    fn ranks_whose_sessions_differ_are_apart() {
        assert_eq!(members(&[&[session(0)], &[session(0)]]), [[0, 1]]);
        assert_eq!(members(&[&[session(0)], &[session(1)], &[session(1)]]), [vec![0], vec![1, 2]]);
        let [one, two] = [[session(0), session(2)], [session(1), session(2)]];
        assert_eq!(members(&[&one, &one, &two, &two]), [[0, 1], [2, 3]]);
        assert_eq!(members(&[&one, &two, &one, &two]), [[0, 2], [1, 3]]);
        let many: Vec<&[Target]> =
            (0..20).map(|rank| if rank % 2 == 0 { &one[..] } else { &two[..] }).collect();
        assert_eq!(members(&many).len(), 1, "no neighbours");
    }

    #[test]
    fn other_steps_and_long_programs_stay_together() {
        let [one, two] = [vec![session(0); 2], vec![session(0)]];
        assert_eq!(members(&[&one, &one, &two, &two]), [[0, 1, 2, 3]]);
        assert_eq!(members(&[&two, &one, &one]), [vec![0], vec![1, 2]], "the first rank");
        let [one, two] = [0, 1].map(|number| vec![session(number); 40]);
        assert_eq!(members(&[&one, &one, &two, &two]), [[0, 1, 2, 3]]);
    }
}
