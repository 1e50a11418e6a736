//! Which open file descriptions may be one and the same.
//!
//! Of descriptors that were open before the trace began, or that came from elsewhere, nobody says which share a
//! description (`2>&1` does). A move of one makes the cursors unknown of all that may be the same: those of the same file,
//! as far as files are known, and else any.

/// How many families are told apart; later files belong to [`Kin::ANYBODY`].
const MAX_KIN: usize = 65_536;

/// A family of descriptions of unseen opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kin(u32);

impl Kin {
    /// It may be any other.
    pub(crate) const ANYBODY: Self = Self(0);
}

/// How often cursors of unseen openings were moved.
#[derive(Debug, Default)]
pub(crate) struct UnseenMoves {
    all: u64,
    anybody: u64,
    families: Vec<u64>,
}

impl UnseenMoves {
    /// One of these kin was moved.
    pub(crate) fn count(&mut self, kin: Kin) {
        self.all += 1;
        match kin.0.checked_sub(1).and_then(|place| self.families.get_mut(place as usize)) {
            Some(moves) => *moves += 1,
            None => self.anybody += 1,
        }
    }

    /// A number that stands still as long as none was moved that may be of these kin.
    #[inline]
    pub(crate) fn epoch(&self, kin: Kin) -> u64 {
        match kin.0.checked_sub(1).and_then(|place| self.families.get(place as usize)) {
            Some(moves) => self.anybody + moves,
            None => self.all,
        }
    }

    /// A family of its own.
    pub(crate) fn new_kin(&mut self) -> Kin {
        if self.families.len() >= MAX_KIN {
            return Kin::ANYBODY;
        }
        self.families.push(0);
        Kin(self.families.len() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_do_not_move_each_other_but_anybody_moves_all() {
        let mut moves = UnseenMoves::default();
        let (first, second) = (moves.new_kin(), moves.new_kin());
        let epochs = |moves: &UnseenMoves| [Kin::ANYBODY, first, second].map(|kin| moves.epoch(kin));
        let before = epochs(&moves);
        moves.count(first);
        let after = epochs(&moves);
        assert!(after[0] != before[0] && after[1] != before[1] && after[2] == before[2]);
        moves.count(Kin::ANYBODY);
        assert!(epochs(&moves).iter().zip(&after).all(|(now, before)| now != before));
    }
}
