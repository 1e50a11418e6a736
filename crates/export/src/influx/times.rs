//! Times that no two points of a series share.

/// The times of a series, whose points come in the order of time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    last: Option<i64>,
}

impl Times {
    /// `wanted`, or the next time after that of the point before.
    pub(crate) fn next(&mut self, wanted: i64) -> i64 {
        let free = self.last.map_or(wanted, |last| wanted.max(last.saturating_add(1)));
        self.last = Some(free);
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_are_moved_to_the_next_free_one() {
        let mut times = Times::default();
        assert_eq!([-5, 3, 3, 3, 4, 9].map(|wanted| times.next(wanted)), [-5, 3, 4, 5, 6, 9]);
    }
}
