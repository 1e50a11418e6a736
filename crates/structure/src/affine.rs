//! Values that follow from where they stand: in which iteration of which loop, on which rank.
//!
//! Source: Scala-H-Trace, section 3.1, whose (start, stride, count) of offsets are such values.

/// `constant + sum of coefficients . indices`, exactly.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Affine {
    /// The value where all indices are 0.
    pub constant: i64,
    /// One for each index.
    pub coefficients: Vec<i64>,
}

impl Affine {
    /// The function that gives each value at its indices; NULL if there is none of 64-bit integers, or if no two
    /// values tell one of its coefficients apart from the others. Indices of nested loops in the order of execution
    /// always do. An index that never changes has the coefficient 0.
    #[must_use]
    pub fn through<'a>(mut points: impl Iterator<Item = (&'a [u32], i64)> + Clone) -> Option<Self> {
        let (first, value) = points.clone().next()?;
        let known = solve(&points, first.len())?;
        let coefficients = known.into_iter().map(Option::unwrap_or_default).collect();
        let mut affine = Self { constant: 0, coefficients };
        affine.constant = i64::try_from(i128::from(value).checked_sub(affine.exact(first)?)?).ok()?;
        points.all(|(indices, value)| affine.at(indices) == Some(value)).then_some(affine)
    }

    /// The value at these indices; NULL if it does not fit 64 bits or the number of indices is not that of coefficients.
    #[must_use]
    pub fn at(&self, indices: &[u32]) -> Option<i64> {
        i64::try_from(self.exact(indices)?).ok()
    }

    fn exact(&self, indices: &[u32]) -> Option<i128> {
        let products =
            self.coefficients.iter().zip(indices).map(|(&c, &index)| i128::from(c) * i128::from(index));
        let mut sums = products.chain([i128::from(self.constant)]);
        (indices.len() == self.coefficients.len()).then(|| sums.try_fold(0_i128, i128::checked_add))?
    }
}

/// Coefficients from neighbours that differ in one index of which none is known; NULL: the index never changes.
fn solve<'a>(
    points: &(impl Iterator<Item = (&'a [u32], i64)> + Clone),
    indices: usize,
) -> Option<Vec<Option<i64>>> {
    let mut known: Vec<Option<i64>> = vec![None; indices];
    for _ in 0..indices {
        let before = known.iter().flatten().count();
        for (one, next) in points.clone().zip(points.clone().skip(1)) {
            step(&mut known, one, next)?;
        }
        if known.iter().flatten().count() == before {
            break;
        }
    }
    Some(known)
}

/// NULL: two points contradict each other, or a coefficient is no integer of 64 bits.
fn step(known: &mut [Option<i64>], one: (&[u32], i64), next: (&[u32], i64)) -> Option<()> {
    if one.0.len() != known.len() || next.0.len() != known.len() {
        return None;
    }
    let mut rest = i128::from(next.1) - i128::from(one.1);
    let mut unknown = None;
    for (index, coefficient) in known.iter().enumerate() {
        let difference = i128::from(next.0[index]) - i128::from(one.0[index]);
        match coefficient {
            _ if difference == 0 => {}
            Some(coefficient) => rest = rest.checked_sub(i128::from(*coefficient) * difference)?,
            None if unknown.is_some() => return Some(()),
            None => unknown = Some((index, difference)),
        }
    }
    let Some((index, difference)) = unknown else { return (rest == 0).then_some(()) };
    known[index] = Some(i64::try_from(rest / difference).ok().filter(|_| rest % difference == 0)?);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn through(points: &[(Vec<u32>, i64)]) -> Option<Affine> {
        Affine::through(points.iter().map(|(indices, value)| (&indices[..], *value)))
    }

    fn nested(ranks: u32, steps: u32) -> impl Iterator<Item = Vec<u32>> {
        (0..ranks).flat_map(move |rank| (0..steps).map(move |step| vec![rank, step]))
    }

    #[test]
    fn offsets_of_checkpoints_follow_rank_and_step() {
        let points: Vec<_> = nested(6, 3)
            .map(|at| (at.clone(), 24_576 * i64::from(at[1]) + 4_096 * i64::from(at[0])))
            .collect();
        let offsets = Affine { constant: 0, coefficients: vec![4_096, 24_576] };
        assert_eq!(through(&points), Some(offsets.clone()));
        assert_eq!(
            (0..3).map(|step| offsets.at(&[2, step])).collect::<Vec<_>>(),
            [8_192, 32_768, 57_344].map(Some)
        );
        assert_eq!(offsets.at(&[3, 0]), Some(12_288));
    }

    #[test]
    fn what_is_no_such_function_has_none() {
        let squares: Vec<_> = (0..4).map(|index| (vec![index], i64::from(index * index))).collect();
        assert_eq!(through(&squares), None);
        let far = [(vec![0], i64::MIN), (vec![1], i64::MAX)];
        assert_eq!(through(&far), None);
        assert_eq!(through(&[(vec![0], 1), (vec![2], 2)]), None);
        assert_eq!(through(&[(vec![0], 1), (vec![0, 1], 2)]), None);
        assert_eq!(through(&[]), None);
    }

    proptest! {
        #[test]
        fn a_function_is_found_again(
            constant in -1_000_000_i64..1_000_000, rank in -9_000_i64..9_000, step in -9_000_i64..9_000,
            ranks in 2_u32..5, steps in 2_u32..6,
        ) {
            let affine = Affine { constant, coefficients: vec![rank, step] };
            let points: Vec<_> =
                nested(ranks, steps).map(|at| (at.clone(), affine.at(&at).expect("a value"))).collect();
            prop_assert_eq!(through(&points), Some(affine));
        }

        #[test]
        fn what_is_found_gives_every_value(values in prop::collection::vec(-3_i64..3, 1..5)) {
            let points: Vec<_> = (0..).zip(&values).map(|(index, &value)| (vec![index], value)).collect();
            if let Some(affine) = through(&points) {
                prop_assert!(points.iter().all(|(at, value)| affine.at(at) == Some(*value)));
            }
        }
    }
}
