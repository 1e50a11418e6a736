//! Distinct texts of any number in bounded memory, each with a value of fixed size.
//!
//! A set that has grown too large goes to disk as a sorted run; at the end the runs and what is left are read as one
//! sorted stream. Of a text that several runs hold, the value of the latest counts.

use crate::error::TrailError;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Sorted runs on disk: each text as its length (4 bytes, little-endian), its bytes, and `N` bytes of value.
#[derive(Debug)]
pub(crate) struct TextRuns<const N: usize> {
    directory: PathBuf,
    /// The beginning of the runs' names.
    name: String,
    runs: Vec<PathBuf>,
}

/// A text, the run it is from, and its value.
type Next<const N: usize> = (Vec<u8>, Reverse<usize>, [u8; N]);
/// A text and its value.
pub(crate) type Entry<const N: usize> = (Vec<u8>, [u8; N]);

impl<const N: usize> TextRuns<N> {
    pub(crate) fn new(directory: &Path, name: String) -> Self {
        Self { directory: directory.to_owned(), name, runs: Vec::new() }
    }

    /// Writes entries with distinct texts as a run.
    pub(crate) fn spill<'a>(
        &mut self,
        entries: impl Iterator<Item = (&'a [u8], [u8; N])>,
    ) -> Result<(), TrailError> {
        let path = self.directory.join(format!("{}-{}.run", self.name, self.runs.len()));
        let file = File::create_new(&path).map_err(TrailError::io("create", &path))?;
        write_run(BufWriter::new(file), &sorted(entries)).map_err(TrailError::io("write", &path))?;
        self.runs.push(path);
        Ok(())
    }

    /// Everything as one sorted stream without repetitions: the runs and `rest`, which is latest.
    pub(crate) fn finish<'a>(
        mut self,
        rest: impl Iterator<Item = (&'a [u8], [u8; N])>,
    ) -> Result<SortedTexts<N>, TrailError> {
        if self.runs.is_empty() {
            let rest = sorted(rest).into_iter().map(|(text, value)| (text.to_vec(), value));
            return SortedTexts::of(vec![Run::Memory(rest.collect::<Vec<_>>().into_iter())]);
        }
        self.spill(rest)?;
        SortedTexts::of(self.runs.iter().map(|path| Run::open(path)).collect::<Result<_, _>>()?)
    }
}

fn sorted<'a, const N: usize>(
    entries: impl Iterator<Item = (&'a [u8], [u8; N])>,
) -> Vec<(&'a [u8], [u8; N])> {
    let mut entries: Vec<_> = entries.collect();
    entries.sort_unstable_by_key(|(text, _)| *text);
    entries
}

fn write_run<const N: usize>(mut file: BufWriter<File>, entries: &[(&[u8], [u8; N])]) -> io::Result<()> {
    for (text, value) in entries {
        file.write_all(&(text.len() as u32).to_le_bytes())?;
        file.write_all(text)?;
        file.write_all(value)?;
    }
    file.flush()
}

/// A sorted stream of distinct texts; the runs it reads are removed when it ends.
pub(crate) struct SortedTexts<const N: usize> {
    runs: Vec<Run<N>>,
    /// The next entry of each run; of equal texts the latest run's comes first.
    heap: BinaryHeap<Reverse<Next<N>>>,
}

impl<const N: usize> SortedTexts<N> {
    fn of(runs: Vec<Run<N>>) -> Result<Self, TrailError> {
        let mut texts = Self { heap: BinaryHeap::with_capacity(runs.len()), runs };
        (0..texts.runs.len()).try_for_each(|number| texts.refill(number))?;
        Ok(texts)
    }

    fn refill(&mut self, number: usize) -> Result<(), TrailError> {
        let next = self.runs[number].next()?;
        self.heap.extend(next.map(|(text, value)| Reverse((text, Reverse(number), value))));
        Ok(())
    }

    pub(crate) fn next(&mut self) -> Result<Option<Entry<N>>, TrailError> {
        let Some(Reverse((text, Reverse(number), value))) = self.heap.pop() else { return Ok(None) };
        self.refill(number)?;
        while let Some(Reverse((same, Reverse(number), _))) = self.heap.peek()
            && *same == text
        {
            let number = *number;
            self.heap.pop();
            self.refill(number)?;
        }
        Ok(Some((text, value)))
    }

    /// The next entry if it comes before `text`; without one in any case.
    pub(crate) fn next_before(&mut self, text: Option<&[u8]>) -> Result<Option<Entry<N>>, TrailError> {
        let Some(Reverse((first, ..))) = self.heap.peek() else { return Ok(None) };
        if text.is_none_or(|text| first.as_slice() < text) { self.next() } else { Ok(None) }
    }

    /// The value of `text`. Texts must be asked for in ascending order: what comes before is dropped.
    pub(crate) fn value_of(&mut self, text: &[u8]) -> Result<Option<[u8; N]>, TrailError> {
        while self.heap.peek().is_some_and(|Reverse((first, ..))| first.as_slice() < text) {
            self.next()?;
        }
        match self.heap.peek() {
            Some(Reverse((first, ..))) if first == text => Ok(self.next()?.map(|(_, value)| value)),
            _ => Ok(None),
        }
    }

    /// Removes the runs.
    pub(crate) fn remove(self) -> Result<(), TrailError> {
        self.runs.into_iter().try_for_each(|run| match run {
            Run::Memory(_) => Ok(()),
            Run::File { path, .. } => fs::remove_file(&path).map_err(TrailError::io("remove", &path)),
        })
    }
}

enum Run<const N: usize> {
    Memory(std::vec::IntoIter<Entry<N>>),
    File { path: PathBuf, file: BufReader<File> },
}

impl<const N: usize> Run<N> {
    fn open(path: &Path) -> Result<Self, TrailError> {
        let file = File::open(path).map_err(TrailError::io("read", path))?;
        Ok(Self::File { path: path.to_owned(), file: BufReader::new(file) })
    }

    fn next(&mut self) -> Result<Option<Entry<N>>, TrailError> {
        match self {
            Self::Memory(entries) => Ok(entries.next()),
            Self::File { path, file } => read_entry(file).map_err(TrailError::io("read", path)),
        }
    }
}

fn read_entry<const N: usize>(file: &mut impl Read) -> io::Result<Option<Entry<N>>> {
    let mut length = [0; 4];
    match file.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        outcome => outcome?,
    }
    let mut text = vec![0; u32::from_le_bytes(length) as usize];
    let mut value = [0; N];
    file.read_exact(&mut text)?;
    file.read_exact(&mut value)?;
    Ok(Some((text, value)))
}
