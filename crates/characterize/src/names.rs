//! What files are called in a model.

use crate::lives::named;
use crate::own;
use crate::streams::{StreamFile, Streams};
use iotrail_trail::EventLog;
use iotrail_workload::{Accessed, Class, ClassedFile, FileKind, NamePart, Sharing, classes};
use std::collections::{BTreeMap, BTreeSet};

/// What names of files become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// `shared-1`, `private-2.%r`: no word of a path.
    #[default]
    Anonymous,
    /// Paths from the directory on that all files are in, with the characters that a model may have.
    Keep,
    /// The same, in which each part is a number that follows from it: equal parts are equal numbers.
    Hash,
}

/// Which classes files have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Classing {
    /// Those of the root, of all ranks, of each rank, of one other rank, of some ranks.
    #[default]
    Fine,
    /// Those of PIONEER alone: of the root, shared, private.
    Paper,
}

/// A kind of files of a recording: of one class, with one form of name, and used in one way (see `ways`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KindOfFile {
    pub(crate) classed: ClassedFile,
    pub(crate) what: FileKind,
    /// Number of its class; private files have one for each form of name.
    pub(crate) class: usize,
}

/// The kind of each file, and all kinds: in the order of their first files, then those that are used in further ways.
#[derive(Debug)]
pub(crate) struct Kinds {
    pub(crate) of_file: Vec<usize>,
    /// Of each file the first one that has its name (see `lives`).
    pub(crate) named: Vec<usize>,
    pub(crate) kinds: Vec<KindOfFile>,
}

/// Classes of files by the ranks that use them.
pub(crate) fn kinds(log: &EventLog, streams: &Streams, (classing, naming): (Classing, Naming)) -> Kinds {
    let mut users: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); streams.frame.files.len()];
    for (rank, requests) in (0..).zip(&streams.requests) {
        for request in requests {
            users[request.file.0 as usize].insert(rank);
        }
    }
    let named = named(log, streams);
    share_names(streams, &named, &mut users);
    let accessed: Vec<Accessed> = streams
        .frame
        .files
        .iter()
        .zip(users)
        .map(|(file, ranks)| {
            let name = path(log, *file).map_or(Vec::new(), |path| path.as_bytes().to_vec());
            Accessed { name, ranks }
        })
        .collect();
    let classed = classes(&accessed, streams.requests.len() as u32);
    let mut numbers: BTreeMap<(ClassedFile, u8), usize> = BTreeMap::new();
    let mut kinds = Vec::new();
    let mut numbers_of_classes: BTreeMap<(Class, Option<Vec<NamePart>>, u8), usize> = BTreeMap::new();
    let of_file = classed.into_iter().zip(&streams.frame.files).map(|(mut classed, file)| {
        if classing == Classing::Paper {
            classed.class = match classed.class {
                Class::Subset(_) => Class::Shared,
                Class::Exclusive(_) => Class::Private,
                class => class,
            };
        }
        let what = match file {
            StreamFile { file: None, .. } => FileKind::Absent,
            StreamFile { is_directory: true, .. } => FileKind::Directory,
            StreamFile { .. } => FileKind::File,
        };
        *numbers.entry((classed, what as u8)).or_insert_with_key(|(classed, _)| {
            let form = (classed.class == Class::Private).then(|| classed.name.clone());
            let next = numbers_of_classes.len();
            let class = (classed.class.clone(), form, what as u8);
            let class = *numbers_of_classes.entry(class).or_insert(next);
            kinds.push(KindOfFile { classed: classed.clone(), what, class });
            kinds.len() - 1
        })
    });
    let of_file = of_file.collect();
    let mut kinds = Kinds { of_file, named, kinds };
    own::join(&mut kinds, streams, naming);
    kinds
}

/// Who gives a file a name uses it. Files that get or lose a name that others have, too, one after the other, are used by who uses any of them.
fn share_names(streams: &Streams, named: &[usize], users: &mut [BTreeSet<u32>]) {
    let mut of_names: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    for (rank, (renames, requests)) in (0..).zip(streams.frame.renames.iter().zip(&streams.requests)) {
        for (at, to) in renames {
            for file in [to.0, requests[*at].file.0] {
                of_names.entry(named[file as usize]).or_default().insert(rank);
            }
        }
    }
    for (name, users) in named.iter().zip(&*users) {
        if let Some(all) = of_names.get_mut(name) {
            all.extend(users);
        }
    }
    for (name, users) in named.iter().zip(users) {
        if let Some(all) = of_names.get(name) {
            users.clone_from(all);
        }
    }
}

/// The path of a file; NULL for what is not there.
pub(crate) fn path(log: &EventLog, file: StreamFile) -> Option<&str> {
    let path = file.path.unwrap_or(log.distinct_files()[file.file?.index()].path);
    Some(&log.names().paths[path.index()])
}

/// Who uses the files of a class, as a model has it.
pub(crate) const fn sharing(class: &Class) -> Sharing {
    match class {
        Class::Root => Sharing::Root,
        Class::Private => Sharing::Private,
        Class::Shared | Class::Exclusive(_) | Class::Subset(_) => Sharing::Shared,
    }
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

/// Longest part of a name.
const LONGEST_PART: usize = 100;

/// The name of a file from the directory on that all are in, of characters that any file system has.
pub(crate) fn kept(name: &[NamePart], directory: &str) -> String {
    let allowed = |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
    let clean = |text: &str| -> String {
        text.chars().map(|character| if allowed(character) { character } else { '_' }).collect()
    };
    let text = name.iter().map(|part| match part {
        NamePart::Literal(bytes) => clean(&String::from_utf8_lossy(bytes)),
        NamePart::Rank(_) => "%r".to_owned(),
        NamePart::Number => "%i".to_owned(),
    });
    let text = text.collect::<String>();
    let rest = text.strip_prefix(&clean(directory)).unwrap_or(&text);
    let part = |part: &str| -> String { part.trim_start_matches('.').chars().take(LONGEST_PART).collect() };
    rest.split('/').map(part).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

/// A name whose parts are numbers that follow from them; what stands for ranks and numbers of files is kept.
pub(crate) fn hashed(name: &str) -> String {
    // FNV-1a (Fowler, Noll, Vo).
    let hash = |part: &str| {
        part.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    };
    let marks = |part: &str| -> String {
        let found = ["%r", "%i"].into_iter().filter(|mark| part.contains(mark));
        found.map(|mark| format!(".{mark}")).collect()
    };
    let part = |part: &str| format!("h{:012x}{}", hash(part) & 0xffff_ffff_ffff, marks(part));
    name.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(text: &str) -> NamePart {
        NamePart::Literal(text.as_bytes().to_vec())
    }

    #[test]
    fn names_are_kept_as_far_as_any_file_system_has_them() {
        let name = [literal("/data/a b/.x/100%.ü\n"), NamePart::Rank(1), literal("-"), NamePart::Number];
        assert_eq!(kept(&name, "/data"), "a_b/x/100_.__%r-%i");
        assert_eq!(kept(&[literal("/data/../%r")], "/data"), "_r");
        assert_eq!(kept(&[literal(&"l".repeat(300))], ""), "l".repeat(100));
    }

    #[test]
    fn hashes_of_equal_parts_are_equal_and_ranks_stay() {
        let (one, other) = (hashed("out/ckpt.%r.%i"), hashed("out/log"));
        assert_eq!(one.split('/').next(), other.split('/').next());
        assert!(one.ends_with(".%r.%i") && !one.contains("ckpt") && !other.contains("log"), "{one} {other}");
    }
}
