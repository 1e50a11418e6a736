//! Names that hold the rank, and classes of files by the ranks that use them.
//!
//! Source: PIONEER, section II-A; subsets and files of one rank are beyond it.

use iotrail_structure::{Hole, NamePattern, padding};
use std::collections::{BTreeMap, BTreeSet};

/// So many ranks must agree that a number in a name is the rank.
const MIN_RANKS: usize = 3;

/// A file of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIndex(pub u32);

/// A file, and who uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accessed {
    /// Its name, in bytes.
    pub name: Vec<u8>,
    /// The ranks that use it.
    pub ranks: BTreeSet<u32>,
}

/// Who uses the files of a class.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Rank 0 alone.
    Root,
    /// All ranks.
    Shared,
    /// Each rank its own one, whose name holds the rank.
    Private,
    /// One rank, not the root.
    Exclusive(u32),
    /// Some ranks.
    Subset(BTreeSet<u32>),
}

/// A part of the name of a class of files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamePart {
    /// Bytes.
    Literal(Vec<u8>),
    /// The rank, padded with zeros to a width.
    Rank(u32),
    /// A running number, in as many digits as it has.
    Number,
}

/// A class of files with one form of name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassedFile {
    /// Who uses them.
    pub class: Class,
    /// What they are called.
    pub name: Vec<NamePart>,
    /// Whether only two ranks agree about the number that is taken for the rank.
    pub assumed: bool,
}

/// The class of each of `files` in a recording of so many ranks. In one of a single rank all files are the root's.
#[must_use]
pub fn classes(files: &[Accessed], ranks: u32) -> Vec<ClassedFile> {
    let named: Vec<(NamePattern, Vec<Hole>)> = files.iter().map(|file| NamePattern::of(&file.name)).collect();
    let mut alike: BTreeMap<&[Vec<u8>], Vec<usize>> = BTreeMap::new();
    for (at, _) in files.iter().enumerate().filter(|(_, file)| file.ranks.len() == 1) {
        alike.entry(named[at].0.literals()).or_default().push(at);
    }
    let mut classed: Vec<Option<ClassedFile>> = vec![None; files.len()];
    for (literals, members) in alike {
        let own: Vec<Own<'_>> = members.iter().map(|&at| Own::of(&files[at], &named[at].1)).collect();
        if let Some(private) = private(literals, &own) {
            members.iter().for_each(|&at| classed[at] = Some(private.clone()));
        }
    }
    let plain = |file: &Accessed| ClassedFile {
        class: class(&file.ranks, ranks),
        name: vec![NamePart::Literal(file.name.clone())],
        assumed: false,
    };
    files.iter().zip(classed).map(|(file, classed)| classed.unwrap_or_else(|| plain(file))).collect()
}

/// A file that one rank uses.
struct Own<'a> {
    rank: u32,
    holes: &'a [Hole],
}

impl<'a> Own<'a> {
    fn of(file: &Accessed, holes: &'a [Hole]) -> Self {
        Self { rank: file.ranks.first().copied().unwrap_or_default(), holes }
    }
}

/// The class of files that are called alike and have one user each, if a number in their names is the rank.
fn private(literals: &[Vec<u8>], files: &[Own<'_>]) -> Option<ClassedFile> {
    let ranks: BTreeSet<u32> = files.iter().map(|file| file.rank).collect();
    let column = |hole: usize| -> Vec<Hole> { files.iter().map(|file| file.holes[hole]).collect() };
    let holes = literals.len().checked_sub(1)?;
    let rank_widths: Vec<Option<u32>> = (0..holes)
        .map(|hole| {
            let is_rank = files.iter().all(|file| file.holes[hole].value == u64::from(file.rank));
            padding(&column(hole)).filter(|_| is_rank)
        })
        .collect();
    if ranks.len() < 2 || rank_widths.iter().all(Option::is_none) {
        return None;
    }
    let mut name = Vec::new();
    push_literal(&mut name, &literals[0]);
    for (hole, width) in rank_widths.into_iter().enumerate() {
        let constant = column(hole).windows(2).all(|pair| pair[0] == pair[1]);
        match width {
            Some(width) => name.push(NamePart::Rank(width)),
            None if constant => push_literal(&mut name, &digits(files[0].holes[hole])),
            None => name.push(NamePart::Number),
        }
        push_literal(&mut name, &literals[hole + 1]);
    }
    Some(ClassedFile { class: Class::Private, name, assumed: ranks.len() < MIN_RANKS })
}

fn digits(hole: Hole) -> Vec<u8> {
    format!("{:0width$}", hole.value, width = hole.digits as usize).into_bytes()
}

fn push_literal(name: &mut Vec<NamePart>, literal: &[u8]) {
    match name.last_mut() {
        _ if literal.is_empty() => {}
        Some(NamePart::Literal(last)) => last.extend_from_slice(literal),
        _ => name.push(NamePart::Literal(literal.to_vec())),
    }
}

fn class(users: &BTreeSet<u32>, ranks: u32) -> Class {
    match users.first() {
        Some(0) if users.len() == 1 => Class::Root,
        Some(&rank) if users.len() == 1 => Class::Exclusive(rank),
        _ if users.len() == ranks as usize => Class::Shared,
        _ => Class::Subset(users.clone()),
    }
}
