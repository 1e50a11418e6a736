//! What files are called in a model.

use crate::streams::Streams;
use iotrail_trail::EventLog;
use iotrail_workload::{Accessed, Class, ClassedFile, NamePart, classes};
use std::collections::{BTreeMap, BTreeSet};

/// What names of files become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// `shared-1`, `private-2.%r`: no word of a path.
    #[default]
    Anonymous,
    /// Paths from the directory on that all files are in, with the characters that a model may have.
    Keep,
}

/// A kind of files of a recording: of one class, and with one form of name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileKind {
    pub(crate) classed: ClassedFile,
}

/// The kind of each file, and all kinds in the order of their first files.
#[derive(Debug)]
pub(crate) struct Kinds {
    pub(crate) of_file: Vec<usize>,
    pub(crate) kinds: Vec<FileKind>,
}

/// Classes of files by the ranks that use them.
pub(crate) fn kinds(log: &EventLog, streams: &Streams) -> Kinds {
    let mut users: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); streams.files.len()];
    for (rank, stream) in (0..).zip(&streams.ranks) {
        for request in &stream.requests {
            users[request.file.0 as usize].insert(rank);
        }
    }
    let accessed: Vec<Accessed> = streams
        .files
        .iter()
        .zip(users)
        .map(|(file, ranks)| {
            let path = log.distinct_files()[file.index()].path;
            Accessed { name: log.names().paths[path.index()].as_bytes().to_vec(), ranks }
        })
        .collect();
    let classed = classes(&accessed, streams.ranks.len() as u32);
    let mut numbers: BTreeMap<ClassedFile, usize> = BTreeMap::new();
    let mut kinds = Vec::new();
    let of_file = classed.into_iter().map(|classed| {
        *numbers.entry(classed).or_insert_with_key(|classed| {
            kinds.push(FileKind { classed: classed.clone() });
            kinds.len() - 1
        })
    });
    let of_file = of_file.collect();
    Kinds { of_file, kinds }
}

/// The word for a class in names.
pub(crate) fn word(class: &Class) -> &'static str {
    match class {
        Class::Root => "root",
        Class::Shared => "shared",
        Class::Private => "private",
        Class::Exclusive(_) => "exclusive",
        Class::Subset(_) => "subset",
    }
}

/// The name of a file from the directory on that all are in.
pub(crate) fn kept(name: &[NamePart], directory: &str) -> String {
    let text = name.iter().map(|part| match part {
        NamePart::Literal(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        NamePart::Rank(_) => "%r".to_owned(),
        NamePart::Number => "%i".to_owned(),
    });
    let text = text.collect::<String>();
    let rest = text.strip_prefix(directory).unwrap_or(&text).trim_start_matches('/');
    let allowed = |character: char| character.is_ascii_alphanumeric() || "-_./%".contains(character);
    let clean: String =
        rest.chars().map(|character| if allowed(character) { character } else { '_' }).collect();
    let parts = clean.split('/').filter(|part| !matches!(*part, "" | "." | ".."));
    parts.map(|part| part.trim_start_matches('.')).collect::<Vec<_>>().join("/")
}

/// The directory that all these paths are in.
pub(crate) fn common_directory<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    let directory = |path: &'a str| path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let common = |one: &'a str, other: &'a str| {
        let same = one.split('/').zip(other.split('/')).take_while(|(one, other)| one == other);
        let len: usize = same.map(|(part, _)| part.len() + 1).sum();
        &one[..len.saturating_sub(1).min(one.len())]
    };
    paths.map(directory).reduce(common).unwrap_or_default().to_owned()
}
