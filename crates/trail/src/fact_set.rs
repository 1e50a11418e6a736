//! What is known of files beside their names, by name and file; the latest word counts.
//!
//! Facts may come before or after the rows that mention their path, and for paths that no row of the part mentions; so
//! they are kept apart from the rows' paths and meet them at the end, when both are sorted.

use crate::error::TrailError;
use crate::name_pairs::{key, of_key};
use crate::text_runs::{SortedTexts, TextRuns};
use iotrail_model::text::path_to_text;
use iotrail_model::{FileFacts, FileKind, Interner, NamedFile};
use std::path::Path;

/// Bits, device, inode, size, birth, kind.
const BYTES: usize = 1 + 8 + 8 + 8 + 8 + 1 + 1;

/// What is there, in the first byte.
mod has {
    pub(super) const FACTS: u8 = 1;
    pub(super) const SIZE: u8 = 2;
    pub(super) const BIRTH: u8 = 4;
    pub(super) const GONE: u8 = 8;
}

/// Facts of any number of files in bounded memory.
#[derive(Debug)]
pub(crate) struct FactSet {
    texts: Interner,
    facts: Vec<NamedFile>,
    runs: TextRuns<BYTES>,
    /// Bytes held in memory before they go to disk.
    limit: usize,
}

impl FactSet {
    pub(crate) fn new(directory: &Path, part: u32, limit: usize) -> Self {
        let runs = TextRuns::new(directory, format!("facts-{part:04}"));
        Self { texts: Interner::new(), facts: Vec::new(), runs, limit }
    }

    pub(crate) fn push(&mut self, path: &[u8], named: NamedFile) -> Result<(), TrailError> {
        let id = self.texts.intern(&key(path_to_text(path).as_bytes(), named.file)) as usize;
        match self.facts.get_mut(id) {
            Some(known) => {
                *known =
                    NamedFile { facts: named.facts.or(known.facts), kind: named.kind.or(known.kind), ..named }
            }
            None => self.facts.push(named),
        }
        if self.texts.memory() + self.facts.capacity() * size_of::<NamedFile>() > self.limit {
            self.runs.spill(self.texts.iter().zip(self.facts.iter().map(encode)))?;
            (self.texts, self.facts) = (Interner::new(), Vec::new());
        }
        Ok(())
    }

    /// The facts, to be asked for in the order of the keys.
    pub(crate) fn finish(self) -> Result<SortedFacts, TrailError> {
        self.runs.finish(self.texts.iter().zip(self.facts.iter().map(encode))).map(SortedFacts)
    }
}

/// Facts sorted by name and file.
pub(crate) struct SortedFacts(SortedTexts<BYTES>);

impl SortedFacts {
    /// What is known under the key of a name and a file; keys must be asked for in ascending order.
    pub(crate) fn of(&mut self, key: &[u8]) -> Result<Option<NamedFile>, TrailError> {
        let known = self.0.value_of(key)?.map(|bytes| decode(&bytes));
        Ok(known.map(|known| NamedFile { file: of_key(key).1, ..known }))
    }

    /// The next facts whose key comes before `key`, or at all.
    pub(crate) fn before(&mut self, key: Option<&[u8]>) -> Result<Option<(Vec<u8>, NamedFile)>, TrailError> {
        let entry = self.0.next_before(key)?;
        Ok(entry.map(|(key, bytes)| {
            let file = of_key(&key).1;
            (key, NamedFile { file, ..decode(&bytes) })
        }))
    }

    pub(crate) fn remove(self) -> Result<(), TrailError> {
        self.0.remove()
    }
}

fn encode(named: &NamedFile) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    let number = |kind: Option<FileKind>| {
        FileKind::ALL.iter().position(|known| Some(*known) == kind).map_or(0, |kind| kind as u8 + 1)
    };
    bytes[0] = bit(named.gone, has::GONE);
    bytes[34] = number(named.kind);
    let Some(facts) = &named.facts else { return bytes };
    bytes[0] |= has::FACTS | bit(facts.size.is_some(), has::SIZE) | bit(facts.birth.is_some(), has::BIRTH);
    bytes[1..9].copy_from_slice(&facts.device.to_le_bytes());
    bytes[9..17].copy_from_slice(&facts.inode.to_le_bytes());
    bytes[17..25].copy_from_slice(&facts.size.unwrap_or_default().to_le_bytes());
    bytes[25..33].copy_from_slice(&facts.birth.unwrap_or_default().to_le_bytes());
    bytes[33] = number(facts.kind);
    bytes
}

fn decode(bytes: &[u8; BYTES]) -> NamedFile {
    let number = |first: usize| {
        let mut eight = [0; 8];
        eight.copy_from_slice(&bytes[first..first + 8]);
        u64::from_le_bytes(eight)
    };
    let has = |bit: u8| bytes[0] & bit != 0;
    let kind =
        |number: u8| usize::from(number).checked_sub(1).and_then(|kind| FileKind::ALL.get(kind).copied());
    let facts = FileFacts {
        device: number(1),
        inode: number(9),
        size: has(has::SIZE).then(|| number(17) as i64),
        kind: kind(bytes[33]),
        birth: has(has::BIRTH).then(|| number(25) as i64),
    };
    NamedFile {
        gone: has(has::GONE),
        facts: has(has::FACTS).then_some(facts),
        kind: kind(bytes[34]),
        ..NamedFile::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::FileId;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn facts() -> impl Strategy<Value = FileFacts> {
        let kind = prop::option::of(prop::sample::select(&FileKind::ALL[..]));
        let time = || prop::option::of(any::<i64>());
        (any::<u64>(), any::<u64>(), time(), kind, time())
            .prop_map(|(device, inode, size, kind, birth)| FileFacts { device, inode, size, kind, birth })
    }

    fn named() -> impl Strategy<Value = NamedFile> {
        (prop::option::of(0_u32..2), any::<bool>(), facts()).prop_map(|(file, gone, facts)| NamedFile {
            kind: Some(FileKind::Pipe),
            file: file.map(FileId).into(),
            gone,
            facts: Some(facts),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn the_latest_facts_of_a_name_count(pushed in prop::collection::vec((0_u8..9, named()), 0..60), limit in 1_usize..900) {
            let directory = tempfile::tempdir().unwrap();
            let mut set = FactSet::new(directory.path(), 0, limit);
            let mut expected = BTreeMap::new();
            for (path, named) in pushed {
                set.push(&[b'/', path], named).unwrap();
                expected.insert(key(path_to_text(&[b'/', path]).as_bytes(), named.file), named);
            }
            let mut sorted = set.finish().unwrap();
            for (key, named) in expected.iter().step_by(2) {
                prop_assert_eq!(sorted.of(key).unwrap(), Some(*named));
            }
            prop_assert_eq!(sorted.of(b"~").unwrap(), None);
            sorted.remove().unwrap();
            prop_assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        }

        #[test]
        fn a_word_on_the_name_keeps_what_is_known_of_the_file(facts in facts()) {
            let directory = tempfile::tempdir().unwrap();
            let mut set = FactSet::new(directory.path(), 0, 1 << 20);
            set.push(b"/a", NamedFile::from(&facts)).unwrap();
            set.push(b"/a", NamedFile { gone: true, ..NamedFile::default() }).unwrap();
            let found = set.finish().unwrap().of(&key(b"/a", NamedFile::default().file)).unwrap();
            prop_assert_eq!(found, Some(NamedFile { gone: true, ..NamedFile::from(&facts) }));
        }
    }
}
