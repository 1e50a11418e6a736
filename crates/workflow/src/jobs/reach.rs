//! Whether a job waits for another one, be it for one that waits for it.

use std::collections::BTreeSet;

/// Whether `job` waits for `other`, as far as a search tells that looks at so many jobs; `needs` gives what a job waits for directly.
pub(crate) fn reaches<I>(needs: impl Fn(u32) -> I, job: u32, other: u32, most: usize) -> bool
where
    I: IntoIterator<Item = u32>,
{
    let mut known: BTreeSet<u32> = BTreeSet::from([job]);
    let mut open = vec![job];
    while let Some(next) = open.pop() {
        for needed in needs(next) {
            if needed == other {
                return true;
            }
            if known.len() < most && known.insert(needed) {
                open.push(needed);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_waits_for_what_those_wait_for_that_it_waits_for() {
        let needs = [vec![], vec![0], vec![1, 0], vec![]];
        let found = |job, other| reaches(|job| needs[job as usize].iter().copied(), job, other, 10);
        assert!(found(1, 0) && found(2, 0) && found(2, 1));
        assert!(!found(0, 1) && !found(3, 0) && !found(2, 3) && !found(2, 2));
        let ring = |job: u32| [(job + 1) % 5];
        assert!(reaches(ring, 2, 1, 4) && !reaches(ring, 2, 7, 9));
        assert!(!reaches(ring, 2, 1, 3), "it is too far");
    }
}
