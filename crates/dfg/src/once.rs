//! Each number once, round by round, without clearing anything in between.

/// Which numbers came in the round that goes on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Once {
    /// By number, the latest round in which it came.
    latest: Vec<u64>,
    round: u64,
}

impl Once {
    /// From now on no number has come.
    pub(crate) fn begin(&mut self) {
        self.round += 1;
    }

    /// Whether the number comes for the first time in this round.
    #[inline]
    pub(crate) fn is_first(&mut self, number: usize) -> bool {
        if number >= self.latest.len() {
            self.latest.resize(number + 1, 0);
        }
        std::mem::replace(&mut self.latest[number], self.round) != self.round
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_first_once_a_round() {
        let mut once = Once::default();
        for _ in 0..2 {
            once.begin();
            assert_eq!([3, 0, 3, 9, 0].map(|number| once.is_first(number)), [true, true, false, true, false]);
        }
    }
}
