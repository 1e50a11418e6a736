//! Which names of an event log are one file.
//!
//! Each resolver numbers the files that it sees; here the numbers of several become one. Files of one host are the same if
//! device, inode and time of birth say so. Where no birth is known an inode number may have been given twice, so the name
//! must agree as well; across hosts, whose device numbers mean nothing to each other, name and inode must. What nobody
//! looked at is known by its name, unless that would join two files that one resolver tells apart: a file that replaced another
//! of its name has the name of both. Calls of which it is not known what their path denoted belong to the first file of that
//! name; without one, the name itself is the file, as in trails that have no numbers.

use hashbrown::HashMap;
use iotrail_model::{CaseId, FileId, FileKind, FileRow, Nullable, PathId};
use std::hash::Hash;

/// A file of a log, whatever its names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DistinctFile {
    /// The name to call it by: one that it still had at the end, the shortest of these.
    pub path: PathId,
    /// All names, that one first.
    pub names: Vec<FileName>,
    /// Whether it has a number; else its name alone tells it from others.
    pub numbered: bool,
    /// What it is.
    pub kind: Option<String>,
    /// Device number.
    pub device: Option<u64>,
    /// Inode number.
    pub inode: Option<u64>,
    /// When it was made, in ns since 1970-01-01 UTC.
    pub birth: Option<i64>,
    /// Size in bytes when last seen.
    pub size: Option<i64>,
    /// The case whose calls numbered it first, where that is known.
    pub case: Option<CaseId>,
}

impl DistinctFile {
    /// Whether it is a file in the sense of analyses, one that holds bytes at offsets: a regular file or a block device. NULL
    /// where its kind is unknown.
    #[must_use]
    pub fn holds_bytes(&self) -> Option<bool> {
        let kind = self.kind.as_deref()?;
        Some([FileKind::File, FileKind::Block].iter().any(|known| known.name() == kind))
    }
}

/// A name of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileName {
    /// One of the file's names.
    pub path: PathId,
    /// Whether the file had lost it at the end; unknown where nobody followed names.
    pub gone: Option<bool>,
    /// Whether somebody looked at the file under this name.
    pub looked_at: bool,
    /// Its size in bytes then.
    pub size: Option<i64>,
}

impl FileName {
    fn of(path: PathId, row: &FileRow) -> Self {
        Self { path, gone: row.gone, looked_at: row.device.is_some(), size: row.size }
    }
}

/// Who gave the numbers of a trail.
pub(crate) type Space = (u32, Numbering);

/// Who gave numbers to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Numbering {
    /// Whoever knew which files of the whole trail are one: no two of its numbers are.
    Trail,
    /// A case, of several that share their numbers the first.
    Case(u32),
    /// An unknown case of a part.
    Part(u32),
}

/// A row of a table `files` with ids of the log.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) space: Space,
    /// The part that the row is of, over all trails.
    pub(crate) part: usize,
    /// The host that the numbers of devices are of.
    pub(crate) host: u32,
    pub(crate) path: PathId,
    pub(crate) row: FileRow,
}

/// The files of a log.
#[derive(Debug, Default)]
pub(crate) struct Identities {
    pub(crate) files: Vec<DistinctFile>,
    /// The file that a path means where nothing better is known.
    of_path: Vec<FileId>,
    /// From a part's numbers to the log's.
    parts: Vec<PartFiles>,
    /// Whether each name is a file.
    by_names: bool,
}

impl Identities {
    /// Finds the files behind `names`, which are in the order of the trails and their parts; `paths` are the log's.
    pub(crate) fn of(mut names: Vec<Name>, paths: &[impl AsRef<str>], parts: usize) -> Self {
        // What has no number comes last, by name: it belongs to the first file of its name.
        names.sort_by_cached_key(|name| {
            let unnumbered = name.row.file.is_none().then(|| paths[name.path.index()].as_ref());
            (unnumbered, name.space, name.row.file, name.part)
        });
        let numbered = Numbered::of(&names);
        let mut identities = Self {
            files: vec![DistinctFile { numbered: true, ..DistinctFile::default() }; numbered.count],
            of_path: vec![Nullable::<FileId>::NULL.raw(); paths.len()],
            parts: vec![PartFiles::default(); parts],
            by_names: false,
        };
        let mut labels: Vec<Vec<FileName>> = vec![Vec::new(); numbered.count];
        for (name, file) in names.iter().zip(&numbered.files) {
            let file = match file {
                Some(file) => *file,
                None => match identities.of_path[name.path.index()] {
                    known if known != Nullable::<FileId>::NULL.raw() => known,
                    _ => identities.add(&mut labels),
                },
            };
            let first = &mut identities.of_path[name.path.index()];
            if *first == Nullable::<FileId>::NULL.raw() {
                *first = file;
            }
            if let Some(number) = name.row.file {
                identities.parts[name.part].insert(number, file);
            }
            identities.files[file.index()].learn(&name.row);
            labels[file.index()].push(FileName::of(name.path, &name.row));
        }
        for (file, names) in identities.files.iter_mut().zip(labels) {
            file.name(names, paths);
        }
        identities
    }

    /// Each name is a file of its own; `rows` are what is known under each path.
    pub(crate) fn of_names(known: &Self, rows: &[FileRow]) -> Self {
        let gone = |path: PathId| {
            let file = &known.files[known.of_path(path).index()];
            file.names.iter().find(|name| name.path == path).and_then(|name| name.gone)
        };
        let file = |(path, row): (usize, &FileRow)| {
            let path = PathId::from_index(path);
            let mut file = DistinctFile { path, numbered: row.file.is_some(), ..DistinctFile::default() };
            file.learn(row);
            file.names.push(FileName { gone: gone(path), ..FileName::of(path, row) });
            file
        };
        Self {
            files: rows.iter().enumerate().map(file).collect(),
            of_path: (0..rows.len()).map(FileId::from_index).collect(),
            parts: Vec::new(),
            by_names: true,
        }
    }

    fn add(&mut self, labels: &mut Vec<Vec<FileName>>) -> FileId {
        self.files.push(DistinctFile::default());
        labels.push(Vec::new());
        FileId::from_index(self.files.len() - 1)
    }

    /// Replaces the numbers of a part in `files` by the log's; where there is none, `by_path` says whether the path decides; without a
    /// path there is no file. Answers a number that the part's table `files` does not have.
    pub(crate) fn translate(
        &self,
        part: usize,
        files: &mut [Nullable<FileId>],
        paths: &[Nullable<PathId>],
        by_path: ByPath,
    ) -> Result<(), u32> {
        let known = self.parts.get(part);
        let mut last = (Nullable::NULL, Nullable::NULL);
        for (file, path) in files.iter_mut().zip(paths) {
            *file = match file.get() {
                _ if path.is_null() => Nullable::NULL,
                None if by_path == ByPath::Never => Nullable::NULL,
                None => path.get().map(|path| self.of_path[path.index()]).into(),
                Some(_) if self.by_names => path.get().map(|path| self.of_path[path.index()]).into(),
                Some(_) if *file == last.0 => last.1,
                Some(number) => {
                    let found = known.and_then(|known| known.get(number)).ok_or(number.0)?;
                    last = (*file, Nullable::some(found));
                    last.1
                }
            };
        }
        Ok(())
    }

    /// The file that a path means where nothing better is known.
    pub(crate) fn of_path(&self, path: PathId) -> FileId {
        self.of_path[path.index()]
    }
}

/// Whether a path tells the file of an event that has no number of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByPath {
    Always,
    Never,
}

/// The files behind a part's numbers. These mostly follow one another; those that lie far beyond the others are hashed.
#[derive(Clone, Debug, Default)]
struct PartFiles {
    dense: Vec<Nullable<FileId>>,
    rest: HashMap<u32, FileId>,
}

const DENSE: usize = 1 << 12;

impl PartFiles {
    fn insert(&mut self, number: u32, file: FileId) {
        let index = number as usize;
        if index >= self.dense.len() + DENSE {
            self.rest.insert(number, file);
            return;
        }
        if index >= self.dense.len() {
            self.dense.resize(index + 1, Nullable::NULL);
        }
        self.dense[index] = Nullable::some(file);
    }

    #[inline]
    fn get(&self, number: FileId) -> Option<FileId> {
        let dense = self.dense.get(number.index()).and_then(|file| file.get());
        dense.or_else(|| self.rest.get(&number.0).copied())
    }
}

impl DistinctFile {
    fn learn(&mut self, row: &FileRow) {
        self.case = self.case.or(row.case);
        if self.device.is_none() && row.device.is_some() {
            (self.device, self.inode, self.kind) = (row.device, row.inode, row.kind.clone());
        }
        self.birth = row.birth.or(self.birth);
        // A name that is gone tells nothing newer than one that is there.
        if row.gone != Some(true) || self.size.is_none() {
            self.size = row.size.or(self.size);
        }
        if self.kind.is_none() {
            self.kind.clone_from(&row.kind);
        }
    }

    /// Takes the names of all rows; the last one that tells knows whether a name is gone.
    fn name(&mut self, mut names: Vec<FileName>, paths: &[impl AsRef<str>]) {
        names.sort_by_key(|name| name.path);
        names.dedup_by(|later, known| {
            let same = later.path == known.path;
            known.gone = if same { later.gone.or(known.gone) } else { known.gone };
            if same && !known.looked_at {
                (known.looked_at, known.size) = (later.looked_at, later.size);
            }
            same
        });
        names.sort_by_key(|name| {
            let text = paths[name.path.index()].as_ref();
            (name.gone.unwrap_or_default(), text.chars().count(), text)
        });
        self.path = names.first().map(|name| name.path).unwrap_or_default();
        self.names = names;
    }
}

/// The files of names that have a number.
struct Numbered {
    /// How many there are.
    count: usize,
    /// The file of each name; `None` without a number.
    files: Vec<Option<FileId>>,
}

impl Numbered {
    fn of(names: &[Name]) -> Self {
        let mut sets = Sets::default();
        let mut last = None;
        let places: Vec<Option<u32>> = names
            .iter()
            .map(|name| {
                let number = (name.space, name.row.file?);
                if last != Some(number) {
                    last = Some(number);
                    sets.add(name.space);
                }
                Some(sets.above.len() as u32 - 1)
            })
            .collect();
        unite(names, &places, &mut sets);
        let mut numbers: HashMap<u32, FileId> = HashMap::new();
        let files = places
            .iter()
            .map(|place| {
                let root = sets.root((*place)?);
                let next = FileId::from_index(numbers.len());
                Some(*numbers.entry(root).or_insert(next))
            })
            .collect();
        Self { count: numbers.len(), files }
    }
}

/// Joins what is the same file under several numbers.
fn unite(names: &[Name], places: &[Option<u32>], sets: &mut Sets) {
    let removed = removed(names, places);
    unite_by_birth(names, places, &removed, sets);
    unite_by_inode(names, places, &removed, sets);
    unite_by_names(names, places, &looked_at(names, places), sets);
}

/// Joins what has one inode and birth on a host. Births are coarse: a file that was made at once with the inode of one that was removed is
/// another, as whoever numbered both knows. Of several numberings names tell: what one saw removed is what another one saw only if both
/// called it by one name.
fn unite_by_birth(names: &[Name], places: &[Option<u32>], removed: &[bool], sets: &mut Sets) {
    let born = || {
        names.iter().zip(places).filter_map(|(name, place)| {
            let FileRow { device, inode, birth, .. } = name.row;
            Some(((name.host, device?, inode?, birth?), name, (*place)?))
        })
    };
    let mut numbered = HashMap::new();
    for (key, name, place) in born() {
        let last = numbered.insert((key, name.space), place);
        if let Some(last) = last.filter(|last| !removed[*last as usize]) {
            sets.unite(last, place);
        }
    }
    let is_removed = |place: u32| removed[place as usize];
    unite_neighbours(born().map(|(key, name, place)| ((key, name.path, is_removed(place)), place)), sets);
    unite_neighbours(born().map(|(key, name, place)| ((key, name.path), place)), sets);
    let present = born().filter(|(_, _, place)| !is_removed(*place));
    unite_neighbours(present.map(|(key, _, place)| (key, place)), sets);
}

/// Joins each number with the one before it of the same key, unless somebody told them apart.
fn unite_neighbours<K: Eq + Hash>(numbers: impl Iterator<Item = (K, u32)>, sets: &mut Sets) {
    let mut last = HashMap::new();
    for (key, place) in numbers {
        if let Some(last) = last.insert(key, place) {
            sets.unite_unless_told_apart(last, place);
        }
    }
}

/// Joins what has one inode where no birth is known, and what has one name and inode on several hosts.
fn unite_by_inode(names: &[Name], places: &[Option<u32>], removed: &[bool], sets: &mut Sets) {
    let mut inodes = HashMap::new();
    let mut present = HashMap::new();
    let mut shared = HashMap::new();
    for (name, index) in names.iter().zip(places) {
        let FileRow { device: Some(device), inode: Some(inode), birth, .. } = name.row else { continue };
        let Some(index) = *index else { continue };
        if birth.is_none() {
            let last = inodes.insert((name.host, device, inode, name.path), (name.space, index));
            if let Some((_, other)) = last.filter(|(space, _)| *space != name.space) {
                sets.unite(other, index);
            }
            // What is there at the same time with one inode is one file.
            if !removed[index as usize] {
                let last = present.insert((name.host, device, inode, name.space), index);
                last.into_iter().for_each(|other| sets.unite(other, index));
            }
        }
        let last = shared.insert((name.path, inode, birth), (name.host, index));
        if let Some((_, other)) = last.filter(|(host, _)| *host != name.host) {
            sets.unite(other, index);
        }
    }
}

/// Joins what is known by name alone, whatever parts its rows are in.
fn unite_by_names(names: &[Name], places: &[Option<u32>], looked_at: &[bool], sets: &mut Sets) {
    let mut rows: Vec<(u32, PathId, Space)> = names
        .iter()
        .zip(places)
        .filter_map(|(name, place)| Some(((*place)?, name.path, name.space)))
        .collect();
    rows.sort_unstable();
    let mut paths: HashMap<PathId, Seen> = HashMap::new();
    for (place, path, space) in rows {
        let seen = paths.entry(path).or_insert(Seen { place, joined: space });
        let is_first_of_space = seen.joined != space;
        seen.joined = space;
        if is_first_of_space && !(looked_at[place as usize] && looked_at[seen.place as usize]) {
            sets.unite_unless_told_apart(seen.place, place);
        }
    }
}

/// The first file of a path.
struct Seen {
    place: u32,
    /// The last space whose first file of the path was compared with it.
    joined: Space,
}

/// Of which numbers somebody looked at the file.
fn looked_at(names: &[Name], places: &[Option<u32>]) -> Vec<bool> {
    let count = places.iter().flatten().max().map_or(0, |last| *last as usize + 1);
    let mut known = vec![false; count];
    for (name, index) in names.iter().zip(places) {
        if let Some(index) = index {
            known[*index as usize] |= name.row.inode.is_some();
        }
    }
    known
}

/// Which numbers are those of files that lost all their names.
fn removed(names: &[Name], places: &[Option<u32>]) -> Vec<bool> {
    let mut last: HashMap<(u32, PathId), bool> = HashMap::new();
    for (name, index) in names.iter().zip(places) {
        if let Some(index) = index {
            last.insert((*index, name.path), name.row.gone.unwrap_or_default());
        }
    }
    let count = places.iter().flatten().max().map_or(0, |last| *last as usize + 1);
    let mut removed = vec![true; count];
    for ((index, _), gone) in last {
        removed[index as usize] &= gone;
    }
    removed
}

/// Disjoint sets of numbers.
#[derive(Default)]
struct Sets {
    above: Vec<u32>,
    /// Of each root, who gave the numbers of the set, sorted.
    spaces: Vec<Vec<Space>>,
}

impl Sets {
    fn add(&mut self, space: Space) {
        self.above.push(self.above.len() as u32);
        self.spaces.push(vec![space]);
    }

    fn root(&mut self, mut of: u32) -> u32 {
        while self.above[of as usize] != of {
            let above = self.above[self.above[of as usize] as usize];
            self.above[of as usize] = above;
            of = above;
        }
        of
    }

    fn unite(&mut self, one: u32, other: u32) {
        let (one, other) = (self.root(one), self.root(other));
        if one == other || self.share(one, other, |space| space.1 == Numbering::Trail) {
            return;
        }
        let (root, below) = (one.min(other), one.max(other));
        self.above[below as usize] = root;
        let more = std::mem::take(&mut self.spaces[below as usize]);
        let spaces = &mut self.spaces[root as usize];
        for space in more {
            if let Err(index) = spaces.binary_search(&space) {
                spaces.insert(index, space);
            }
        }
    }

    /// Whether the sets of two roots have numbers of one such space.
    fn share(&self, one: u32, other: u32, such: impl Fn(&Space) -> bool) -> bool {
        let (one, other) = (&self.spaces[one as usize], &self.spaces[other as usize]);
        let (few, many) = if one.len() < other.len() { (one, other) } else { (other, one) };
        few.iter().any(|space| such(space) && many.binary_search(space).is_ok())
    }

    /// Joins them if nobody gave both a number; says whether they are one now.
    fn unite_unless_told_apart(&mut self, one: u32, other: u32) -> bool {
        let is_one = self.root(one) == self.root(other) || !self.are_told_apart(one, other);
        if is_one {
            self.unite(one, other);
        }
        is_one
    }

    /// Whether somebody gave both a number and told them apart by that.
    fn are_told_apart(&mut self, one: u32, other: u32) -> bool {
        let (one, other) = (self.root(one), self.root(other));
        self.share(one, other, |_| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PATHS: [&str; 4] = ["/a.tmp", "/b", "/longer", "/c"];

    fn name(case: u32, host: u32, path: usize, file: Option<u32>, inode: Option<(u64, Option<i64>)>) -> Name {
        let row = FileRow {
            path: PATHS[path].into(),
            file,
            device: inode.map(|_| 8),
            inode: inode.map(|(inode, _)| inode),
            birth: inode.and_then(|(_, birth)| birth),
            gone: file.map(|_| false),
            ..FileRow::default()
        };
        Name {
            space: (0, Numbering::Case(case)),
            part: case as usize,
            host,
            path: PathId::from_index(path),
            row,
        }
    }

    fn groups(names: Vec<Name>) -> Vec<Vec<&'static str>> {
        let identities = Identities::of(names, &PATHS, 8);
        let texts = |file: &DistinctFile| file.names.iter().map(|name| PATHS[name.path.index()]).collect();
        identities.files.iter().map(texts).collect()
    }

    #[test]
    fn numbers_of_one_resolver_are_files_and_equal_births_join_them() {
        let names =
            vec![name(0, 0, 0, Some(0), None), name(0, 0, 1, Some(0), None), name(0, 0, 1, Some(1), None)];
        assert_eq!(groups(names), [vec!["/b", "/a.tmp"], vec!["/b"]]);
        let born = Some((5, Some(99)));
        let names = vec![
            name(0, 0, 0, Some(0), born),
            name(0, 0, 3, Some(1), born),
            name(0, 0, 1, Some(2), Some((5, Some(98)))),
        ];
        assert_eq!(groups(names), [vec!["/c", "/a.tmp"], vec!["/b"]]);
    }

    #[test]
    fn what_is_one_file_in_a_whole_trail_is_settled() {
        let born = Some((5, Some(99)));
        let settled = |mut name: Name| {
            name.space.1 = Numbering::Trail;
            name
        };
        let of_trail = || vec![settled(name(0, 0, 0, Some(0), born)), settled(name(1, 0, 1, Some(1), born))];
        assert_eq!(groups(of_trail()).len(), 2);
        // Another trail has seen one of them.
        let mut other = name(2, 0, 1, Some(0), born);
        other.space.0 = 1;
        assert_eq!(groups([of_trail(), vec![other]].concat()), [vec!["/a.tmp"], vec!["/b"]]);
    }

    #[test]
    fn names_do_not_join_what_a_resolver_tells_apart() {
        // Each run reads the old /b, writes /a.tmp and renames it to /b.
        let first = || vec![name(0, 0, 0, Some(0), None), name(0, 0, 1, Some(0), None)];
        let second = |inode: Option<(u64, Option<i64>)>| {
            let made = inode.map(|(inode, birth)| (inode + 1, birth));
            vec![name(1, 0, 1, Some(0), inode), name(1, 0, 0, Some(1), made), name(1, 0, 1, Some(1), made)]
        };
        for inode in [None, Some((5, Some(99)))] {
            let of_both = groups([first(), second(inode)].concat());
            assert_eq!(of_both.len(), 2, "{of_both:?}");
        }
    }

    #[test]
    fn several_recorders_agree_by_inode_and_birth_or_by_name() {
        let born = Some((5, Some(99)));
        assert_eq!(groups(vec![name(0, 0, 0, Some(0), born), name(1, 0, 1, Some(0), born)]).len(), 1);
        // Births are coarse: what was removed and what was made at once with its inode are two files.
        let mut gone = name(0, 0, 0, Some(0), born);
        gone.row.gone = Some(true);
        assert_eq!(groups(vec![gone, name(0, 0, 0, Some(1), born)]).len(), 2);
        // On another host the device says nothing, so the name must agree.
        assert_eq!(groups(vec![name(0, 0, 0, Some(0), born), name(1, 1, 1, Some(0), born)]).len(), 2);
        assert_eq!(groups(vec![name(0, 0, 1, Some(0), born), name(1, 1, 1, Some(0), born)]).len(), 1);
        // Local files of one name on two hosts.
        assert_eq!(
            groups(vec![name(0, 0, 1, Some(0), born), name(1, 1, 1, Some(0), Some((6, None)))]).len(),
            2
        );
        // Nobody looked.
        assert_eq!(groups(vec![name(0, 0, 1, Some(0), None), name(1, 0, 1, Some(0), None)]).len(), 1);
        // Without a birth the inode may have been given again.
        let inode = Some((5, None));
        assert_eq!(groups(vec![name(0, 0, 0, Some(0), inode), name(1, 0, 1, Some(0), inode)]).len(), 2);
        assert_eq!(groups(vec![name(0, 0, 1, Some(0), inode), name(1, 0, 1, Some(3), inode)]).len(), 1);
        // Two names that are there at the same time.
        let names = || vec![name(0, 0, 0, Some(0), inode), name(0, 0, 1, Some(1), inode)];
        assert_eq!(groups(names()).len(), 1);
        let mut reused = names();
        reused[0].row.gone = Some(true);
        assert_eq!(groups(reused).len(), 2);
    }

    /// MPI libraries make a file and remove it right before they make the one that all ranks use: with its inode, in the same tick.
    #[test]
    fn what_one_recorder_removed_is_not_what_the_others_use() {
        let born = Some((5, Some(99)));
        let mut probe = name(1, 0, 0, Some(340), born);
        probe.row.gone = Some(true);
        let shared = |case: u32, number| name(case, 0, 1, Some(number), born);
        let names = vec![shared(0, 346), probe.clone(), shared(1, 341), shared(2, 342), shared(3, 346)];
        assert_eq!(groups(names), [vec!["/b"], vec!["/a.tmp"]]);
        // What one made and removed, another one may have read in between.
        assert_eq!(groups(vec![probe.clone(), name(2, 0, 0, Some(7), born)]).len(), 1);
        // What one removed is not what another one makes under another name.
        assert_eq!(groups(vec![probe, shared(0, 7)]), [vec!["/b"], vec!["/a.tmp"]]);
    }

    #[test]
    fn names_without_a_number_are_the_first_file_of_that_name_or_a_file_themselves() {
        let names = vec![name(0, 0, 1, None, None), name(1, 0, 1, Some(4), None), name(0, 0, 2, None, None)];
        let identities = Identities::of(names, &PATHS, 2);
        let some = |path: usize| Nullable::some(PathId::from_index(path));
        let mut files = vec![Nullable::NULL, Nullable::some(FileId(4)), Nullable::NULL, Nullable::NULL];
        identities
            .translate(1, &mut files, &[some(1), some(1), some(2), Nullable::NULL], ByPath::Always)
            .unwrap();
        assert_eq!(files[0], files[1]);
        assert!(!files[2].is_null() && files[2] != files[1]);
        assert!(files[3].is_null());
        assert_eq!(
            identities.translate(1, &mut [Nullable::some(FileId(9))], &[some(1)], ByPath::Always),
            Err(9)
        );
    }

    /// The file of each row.
    fn meanings(names: &[Name], parts: usize) -> Vec<u32> {
        let identities = Identities::of(names.to_vec(), &PATHS, parts);
        let meaning = |name: &Name| {
            let mut files = [name.row.file.map(FileId).into()];
            identities
                .translate(name.part, &mut files, &[Nullable::some(name.path)], ByPath::Always)
                .unwrap();
            files[0].get().unwrap().0
        };
        names.iter().map(meaning).collect()
    }

    /// Whether the same rows are of one file in both.
    fn agree(one: &[u32], other: &[u32]) -> bool {
        let pairs: HashMap<u32, u32> = one.iter().copied().zip(other.iter().copied()).collect();
        let back: HashMap<u32, u32> = other.iter().copied().zip(one.iter().copied()).collect();
        let mut rows = one.iter().zip(other);
        rows.all(|(a, b)| pairs.get(a) == Some(b) && back.get(b) == Some(a))
    }

    proptest! {
        #[test]
        fn files_do_not_depend_on_how_a_log_is_cut_into_parts_and_numbered(
            rows in prop::collection::btree_map(
                (0..2_u32, prop::option::of(0..4_u32), 0..PATHS.len()),
                (any::<bool>(), any::<bool>(), 0..3_usize),
                0..14,
            ),
            // A number is of one inode, which not every row tells.
            inodes in prop::array::uniform8(prop::option::of((0..3_u64, prop::option::of(0..2_i64)))),
            gap in 1..5_u32,
        ) {
            let row = |part: usize, gap: u32| {
                let rows = rows.iter().map(move |((case, file, path), (looked, gone, cut))| {
                    let number = file.map(|file| file * gap);
                    let inode = file.filter(|_| *looked).and_then(|file| inodes[(case * 4 + file) as usize]);
                    let mut name = name(*case, 0, *path, number, inode);
                    name.row.gone = file.map(|_| *gone);
                    name.part = *case as usize * 3 + cut * part;
                    name
                });
                rows.collect::<Vec<_>>()
            };
            let (whole, cut) = (meanings(&row(0, 1), 6), meanings(&row(1, gap), 6));
            prop_assert!(agree(&whole, &cut), "{whole:?} {cut:?}");
        }
    }
}
