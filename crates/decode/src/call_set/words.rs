//! Reads a list of calls.

use super::groups::{self, is_life};
use crate::Abi;
use crate::{multiplexer, numbers};
use iotrail_model::CallId;
use iotrail_model::calls::{self, Group, TABLE};
use std::collections::BTreeSet;

/// A word in a list of calls that is neither a call nor a group of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCall {
    /// The word that names no call, family or set.
    pub word: String,
    /// What may have been meant.
    pub hint: Option<String>,
}

impl std::error::Error for UnknownCall {}

impl std::fmt::Display for UnknownCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is neither a system call nor a group of them", self.word)?;
        f.write_str(if self.hint.is_some() { "; did you mean " } else { ". " })?;
        if let Some(hint) = &self.hint {
            write!(f, "`{hint}`? ")?;
        }
        write!(f, "Groups are {}", Group::names().collect::<Vec<_>>().join(", "))
    }
}

/// What a list chooses.
pub(super) struct Choice {
    pub(super) chosen: Vec<bool>,
    pub(super) unnamed: bool,
    pub(super) all: bool,
}

/// Reads a list; a list that begins by taking out takes out of `io`.
pub(super) fn read(words: &str) -> Result<Choice, UnknownCall> {
    let words = words.strip_prefix("trace=").unwrap_or(words);
    let mut choice = Choice { chosen: TABLE.iter().map(is_life).collect(), unnamed: false, all: false };
    if words.starts_with('!') {
        choice.take(Group::Io, true);
    }
    let mut words = words.split(',').map(str::trim).filter(|word| !word.is_empty()).peekable();
    if words.peek().is_none() {
        return Err(UnknownCall { word: String::new(), hint: None });
    }
    for word in words {
        let (name, wanted) = word.strip_prefix('!').map_or((word, true), |name| (name, false));
        if let Some(group) = Group::named(name.strip_prefix('%').unwrap_or(name)) {
            choice.take(group, wanted);
        } else {
            choice.take_call(name, wanted)?;
        }
    }
    Ok(choice)
}

impl Choice {
    fn take(&mut self, group: Group, wanted: bool) {
        let rows = groups::rows(group).into_iter().zip(TABLE);
        for (place, (in_group, spec)) in self.chosen.iter_mut().zip(rows) {
            if in_group && (wanted || !is_life(spec)) {
                *place = wanted;
            }
        }
        if matches!(group, Group::Io | Group::All) {
            self.unnamed = wanted;
        }
        if group == Group::All {
            self.all = wanted;
        }
    }

    fn take_call(&mut self, name: &str, wanted: bool) -> Result<(), UnknownCall> {
        let known = known_calls();
        match calls::id(calls::kernel_name(name)).map(CallId::index) {
            Some(row) if known.contains(&row) => {
                self.chosen[row] = wanted;
                Ok(())
            }
            _ => Err(UnknownCall { word: name.to_owned(), hint: hint(name, &known) }),
        }
    }
}

/// Rows of calls that can occur: those with a number, those that others stand for, and requests to io_uring and AIO.
fn known_calls() -> BTreeSet<usize> {
    let abis = [Abi::X86_64, Abi::I386, Abi::Aarch64];
    let numbered = abis.into_iter().flat_map(numbers::plans).flatten().map(|plan| plan.call);
    let multiplexed = multiplexer::stood_for().map(|plan| plan.call);
    let requests = TABLE.iter().enumerate().filter(|(_, spec)| spec.request.is_some()).map(|(row, _)| row);
    numbered.chain(multiplexed).map(CallId::index).chain(requests).collect()
}

/// The group or call whose name is nearest to `word`, if it is near.
fn hint(word: &str, known: &BTreeSet<usize>) -> Option<String> {
    const FAR: usize = 3;
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    let names = known.iter().map(|row| TABLE[*row].name).chain(Group::names());
    let near = names.map(|name| (distance(word.as_bytes(), name.as_bytes()), name));
    let (_, name) = near.filter(|(distance, name)| *distance < FAR.min(name.len())).min()?;
    Some(name.to_owned())
}

/// How many bytes must be added, removed or replaced to make one word of the other (Levenshtein).
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, byte) in one.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, candidate) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(byte != candidate);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}
