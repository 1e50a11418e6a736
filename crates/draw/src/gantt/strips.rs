//! Spans of one lane: side by side where they overlap, and how many there are at once.

/// More strips than that become one area of how many there are.
pub(super) const MOST_STRIPS: usize = 6;

/// A strip for each span, so that those of one strip do not overlap, and how many strips that takes.
pub(super) fn pack(spans: &[(i64, i64)]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|index| spans[*index]);
    let mut free: Vec<i64> = Vec::new();
    let mut strips = vec![0; spans.len()];
    for index in order {
        let (start, end) = spans[index];
        // Only the first few matter: whoever needs more strips gets none.
        let strip = free.iter().take(MOST_STRIPS + 1).position(|busy| *busy <= start);
        strips[index] = strip.unwrap_or_else(|| {
            free.push(i64::MIN);
            free.len() - 1
        });
        free[strips[index]] = end.max(start.saturating_add(1));
    }
    (strips, free.len())
}

/// How many spans there are from each moment at which that changes.
pub(super) fn changes(spans: impl Iterator<Item = (i64, i64)>) -> Vec<(i64, i64)> {
    let mut moments: Vec<(i64, i64)> = spans.flat_map(|(start, end)| [(start, 1), (end, -1)]).collect();
    moments.sort_unstable();
    let mut running = 0;
    let mut changes: Vec<(i64, i64)> = Vec::new();
    for (moment, by) in moments {
        running += by;
        match changes.last_mut() {
            Some(last) if last.0 == moment => last.1 = running,
            _ => changes.push((moment, running)),
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_overlap_are_in_different_strips() {
        let (strips, count) = pack(&[(0, 10), (5, 15), (10, 20), (15, 16)]);
        assert_eq!((strips, count), (vec![0, 1, 0, 1], 2));
    }

    #[test]
    fn what_ends_when_another_begins_is_not_counted_twice() {
        assert_eq!(
            changes([(0, 10), (10, 20), (5, 12)].into_iter()),
            [(0, 1), (5, 2), (10, 2), (12, 1), (20, 0)]
        );
    }
}
