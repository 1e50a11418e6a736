//! Names of files as literals and holes, so that `ck-0003` and `ck-0007` are one pattern with a number each.
//!
//! Source: Scala-H-Trace, section 3.1. Each name comes back byte for byte.

/// Most digits of a number that fits 64 bits; longer runs of digits are literal.
const MAX_DIGITS: usize = 18;

/// What is between the holes of a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamePattern {
    /// One more than there are holes; may be empty.
    literals: Vec<Vec<u8>>,
}

/// A run of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hole {
    /// As a number.
    pub value: u64,
    /// With leading zeros.
    pub digits: u32,
}

impl NamePattern {
    /// Takes a name apart.
    #[must_use]
    pub fn of(name: &[u8]) -> (Self, Vec<Hole>) {
        let (mut literals, mut holes) = (vec![Vec::new()], Vec::new());
        for part in name.chunk_by(|one, next| one.is_ascii_digit() == next.is_ascii_digit()) {
            match hole(part) {
                Some(hole) => {
                    holes.push(hole);
                    literals.push(Vec::new());
                }
                None => literals.last_mut().into_iter().for_each(|last| last.extend_from_slice(part)),
            }
        }
        (Self { literals }, holes)
    }

    /// Number of holes.
    #[must_use]
    pub fn holes(&self) -> usize {
        self.literals.len() - 1
    }

    /// The literals, of which there is one more than holes.
    #[must_use]
    pub fn literals(&self) -> &[Vec<u8>] {
        &self.literals
    }

    /// The name with these holes; NULL if their number is another.
    #[must_use]
    pub fn name(&self, holes: &[Hole]) -> Option<Vec<u8>> {
        let (first, rest) = self.literals.split_first()?;
        let mut name = first.clone();
        for (hole, literal) in holes.iter().zip(rest) {
            name.extend_from_slice(hole.text().as_bytes());
            name.extend_from_slice(literal);
        }
        (holes.len() == rest.len()).then_some(name)
    }
}

impl Hole {
    fn text(self) -> String {
        format!("{:0width$}", self.value, width = self.digits.min(MAX_DIGITS as u32) as usize)
    }
}

/// The width to which all of these numbers are padded with zeros, 0 where none is; NULL if no one width gives all of
/// them back.
#[must_use]
pub fn padding(holes: &[Hole]) -> Option<u32> {
    let padded = |hole: &&Hole| hole.digits > natural(hole.value);
    let width = holes.iter().filter(padded).map(|hole| hole.digits).max().unwrap_or(0);
    holes.iter().all(|hole| natural(hole.value).max(width) == hole.digits).then_some(width)
}

/// Digits of a number without leading zeros.
fn natural(value: u64) -> u32 {
    value.checked_ilog10().map_or(1, |log| log + 1)
}

fn hole(part: &[u8]) -> Option<Hole> {
    if !part.first()?.is_ascii_digit() || part.len() > MAX_DIGITS {
        return None;
    }
    let value = part.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
    Some(Hole { value, digits: part.len() as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_checkpoints_have_one_pattern() {
        let names = [&b"/out/ck-0003"[..], b"/out/ck-0007", b"/out/ck-12345"].map(NamePattern::of);
        assert!(names.iter().all(|(pattern, _)| *pattern == names[0].0));
        let holes: Vec<Hole> = names.iter().flat_map(|(_, holes)| holes.clone()).collect();
        assert_eq!(holes.iter().map(|hole| hole.value).collect::<Vec<_>>(), [3, 7, 12_345]);
        assert_eq!(padding(&holes), Some(4));
    }

    #[test]
    fn a_width_that_does_not_give_all_back_is_none() {
        let holes = |names: &[&str]| -> Vec<Hole> {
            names.iter().flat_map(|name| NamePattern::of(name.as_bytes()).1).collect()
        };
        assert_eq!(padding(&holes(&["9", "10", "0"])), Some(0));
        assert_eq!(padding(&holes(&["09", "10"])), Some(2));
        assert_eq!(padding(&holes(&["09", "1"])), None);
        assert_eq!(padding(&holes(&["09", "010"])), None);
    }

    proptest! {
        #[test]
        fn a_name_comes_back_byte_for_byte(name in "[0a.\\x80/]{0,12}[0-9]{0,22}x?") {
            let (pattern, holes) = NamePattern::of(name.as_bytes());
            prop_assert_eq!(pattern.holes(), holes.len());
            prop_assert_eq!(pattern.name(&holes), Some(name.into_bytes()));
            prop_assert_eq!(pattern.name(&[holes, vec![Hole { value: 1, digits: 1 }]].concat()), None);
        }

        #[test]
        fn the_padding_gives_every_number_back(texts in prop::collection::vec("[0-2]{1,3}", 1..4)) {
            let holes: Vec<Hole> = texts.iter().flat_map(|text| NamePattern::of(text.as_bytes()).1).collect();
            if let Some(width) = padding(&holes) {
                for (hole, text) in holes.iter().zip(&texts) {
                    prop_assert_eq!(&format!("{:0width$}", hole.value, width = width as usize), text);
                }
            }
        }
    }
}
