//! Traces with their repeated parts folded: `a a a b c b c` is `a ×3 (b c) ×2`.

use serde::{Serialize, Serializer};

/// The longest repeated part that is looked for.
const LONGEST_LOOP: usize = 12;

/// A piece of a folded trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token<T> {
    /// An activity, so many times in a row.
    One(T, u64),
    /// A sequence, so many times in a row.
    Loop(Vec<Token<T>>, u64),
}

impl<T: Serialize> Serialize for Token<T> {
    /// `[name, times]` or `[[tokens], times]`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(name, times) => (name, times).serialize(serializer),
            Self::Loop(tokens, times) => (tokens, times).serialize(serializer),
        }
    }
}

/// Folds runs of equal activities, then repeated sequences of up to [`LONGEST_LOOP`] tokens, shortest first,
/// until nothing folds any more.
pub(crate) fn fold<T: PartialEq + Clone>(trace: &[T]) -> Vec<Token<T>> {
    let mut tokens: Vec<Token<T>> = Vec::new();
    for activity in trace {
        match tokens.last_mut() {
            Some(Token::One(last, times)) if last == activity => *times += 1,
            _ => tokens.push(Token::One(activity.clone(), 1)),
        }
    }
    loop {
        let folded = (2..=LONGEST_LOOP).fold(tokens.clone(), |tokens, length| fold_loops(&tokens, length));
        if folded.len() == tokens.len() {
            return folded;
        }
        tokens = folded;
    }
}

fn fold_loops<T: PartialEq + Clone>(tokens: &[Token<T>], length: usize) -> Vec<Token<T>> {
    let mut folded = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while rest.len() >= length {
        let (body, _) = rest.split_at(length);
        let times = rest.chunks_exact(length).take_while(|chunk| *chunk == body).count();
        if times > 1 {
            folded.push(Token::Loop(body.to_vec(), times as u64));
            rest = &rest[times * length..];
        } else {
            folded.push(rest[0].clone());
            rest = &rest[1..];
        }
    }
    folded.extend_from_slice(rest);
    folded
}

#[cfg(test)]
mod tests {
    use super::*;
    use Token::{Loop, One};

    fn unfold(tokens: &[Token<char>]) -> String {
        let text = |token: &Token<char>| match token {
            One(name, times) => name.to_string().repeat(*times as usize),
            Loop(body, times) => unfold(body).repeat(*times as usize),
        };
        tokens.iter().map(text).collect()
    }

    #[test]
    fn runs_and_loops_are_folded() {
        let trace: Vec<char> = "aaabcbcd".chars().collect();
        assert_eq!(fold(&trace), [One('a', 3), Loop(vec![One('b', 1), One('c', 1)], 2), One('d', 1)]);
    }

    #[test]
    fn loops_are_folded_within_loops() {
        let trace: Vec<char> = "ababcababc".chars().collect();
        let inner = Loop(vec![One('a', 1), One('b', 1)], 2);
        assert_eq!(fold(&trace), [Loop(vec![inner, One('c', 1)], 2)]);
    }

    #[test]
    fn folding_loses_nothing() {
        for text in ["", "a", "abab", "aabaab", "abcabcabcab", "xyxyzxyxyzzz", "abacabadabacaba"] {
            let trace: Vec<char> = text.chars().collect();
            assert_eq!(unfold(&fold(&trace)), text);
        }
    }
}
