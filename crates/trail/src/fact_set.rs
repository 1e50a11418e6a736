//! What is known of files beside their names, by path; the latest word counts.
//!
//! Facts may come before or after the rows that mention their path, and for paths that no row of the part mentions; so
//! they are kept apart from the rows' paths and meet them at the end, when both are sorted.

use crate::error::TrailError;
use crate::text_runs::{SortedTexts, TextRuns};
use iotrail_model::text::path_to_text;
use iotrail_model::{FileFacts, FileKind, Interner};
use std::path::Path;

/// Device, inode, whether there is a size, size, kind.
const BYTES: usize = 8 + 8 + 1 + 8 + 1;

/// Facts of any number of files in bounded memory.
#[derive(Debug)]
pub(crate) struct FactSet {
    texts: Interner,
    facts: Vec<FileFacts>,
    runs: TextRuns<BYTES>,
    /// Bytes held in memory before they go to disk.
    limit: usize,
}

impl FactSet {
    pub(crate) fn new(directory: &Path, part: u32, limit: usize) -> Self {
        let runs = TextRuns::new(directory, format!("facts-{part:04}"));
        Self { texts: Interner::new(), facts: Vec::new(), runs, limit }
    }

    pub(crate) fn push(&mut self, path: &[u8], facts: &FileFacts) -> Result<(), TrailError> {
        let id = self.texts.intern(path_to_text(path).as_bytes()) as usize;
        match self.facts.get_mut(id) {
            Some(known) => *known = *facts,
            None => self.facts.push(*facts),
        }
        if self.texts.memory() + self.facts.capacity() * size_of::<FileFacts>() > self.limit {
            self.runs.spill(self.texts.iter().zip(self.facts.iter().map(encode)))?;
            (self.texts, self.facts) = (Interner::new(), Vec::new());
        }
        Ok(())
    }

    /// The facts, to be asked for in the order of the paths.
    pub(crate) fn finish(self) -> Result<SortedFacts, TrailError> {
        self.runs.finish(self.texts.iter().zip(self.facts.iter().map(encode))).map(SortedFacts)
    }
}

/// Facts sorted by path.
pub(crate) struct SortedFacts(SortedTexts<BYTES>);

impl SortedFacts {
    /// What is known of `path`; paths must be asked for in ascending order.
    pub(crate) fn of(&mut self, path: &[u8]) -> Result<Option<FileFacts>, TrailError> {
        Ok(self.0.value_of(path)?.map(|bytes| decode(&bytes)))
    }

    pub(crate) fn remove(self) -> Result<(), TrailError> {
        self.0.remove()
    }
}

fn encode(facts: &FileFacts) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..8].copy_from_slice(&facts.device.to_le_bytes());
    bytes[8..16].copy_from_slice(&facts.inode.to_le_bytes());
    bytes[16] = u8::from(facts.size.is_some());
    bytes[17..25].copy_from_slice(&facts.size.unwrap_or_default().to_le_bytes());
    let kind = FileKind::ALL.iter().position(|kind| Some(*kind) == facts.kind);
    bytes[25] = kind.map_or(0, |kind| kind as u8 + 1);
    bytes
}

fn decode(bytes: &[u8; BYTES]) -> FileFacts {
    let number = |first: usize| {
        let mut eight = [0; 8];
        eight.copy_from_slice(&bytes[first..first + 8]);
        u64::from_le_bytes(eight)
    };
    FileFacts {
        device: number(0),
        inode: number(8),
        size: (bytes[16] != 0).then(|| number(17) as i64),
        kind: usize::from(bytes[25]).checked_sub(1).and_then(|kind| FileKind::ALL.get(kind).copied()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn facts() -> impl Strategy<Value = FileFacts> {
        let kind = prop::option::of(prop::sample::select(&FileKind::ALL[..]));
        (any::<u64>(), any::<u64>(), prop::option::of(any::<i64>()), kind)
            .prop_map(|(device, inode, size, kind)| FileFacts { device, inode, size, kind })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn the_latest_facts_of_a_path_count(pushed in prop::collection::vec((0_u8..9, facts()), 0..60), limit in 1_usize..900) {
            let directory = tempfile::tempdir().unwrap();
            let mut set = FactSet::new(directory.path(), 0, limit);
            for (path, facts) in &pushed {
                set.push(&[b'/', *path], facts).unwrap();
            }
            let expected: BTreeMap<u8, FileFacts> = pushed.into_iter().collect();
            let mut sorted = set.finish().unwrap();
            for path in (0..9).step_by(2) {
                let text = path_to_text(&[b'/', path]).into_owned();
                prop_assert_eq!(sorted.of(text.as_bytes()).unwrap(), expected.get(&path).copied());
            }
            sorted.remove().unwrap();
            prop_assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        }
    }
}
