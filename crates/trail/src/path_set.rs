//! The distinct paths of a part, of any number, in bounded memory.

use crate::error::TrailError;
use crate::own_names::OwnDictionary;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Sorted runs of paths on disk: each path as its length (4 bytes, little-endian) and its bytes.
#[derive(Debug)]
pub(crate) struct PathSet {
    directory: PathBuf,
    part: u32,
    runs: Vec<PathBuf>,
}

impl PathSet {
    pub(crate) fn new(directory: &Path, part: u32) -> Self {
        Self { directory: directory.to_owned(), part, runs: Vec::new() }
    }

    /// Writes the paths of a dictionary as a run.
    pub(crate) fn spill(&mut self, paths: &OwnDictionary) -> Result<(), TrailError> {
        let path = self.directory.join(format!("paths-{:04}-{}.run", self.part, self.runs.len()));
        let file = File::create_new(&path).map_err(TrailError::io("create", &path))?;
        write_run(BufWriter::new(file), paths).map_err(TrailError::io("write", &path))?;
        self.runs.push(path);
        Ok(())
    }

    /// Hands every distinct path on, sorted: those of the runs and of `paths`.
    pub(crate) fn finish(
        mut self,
        paths: &OwnDictionary,
        mut take: impl FnMut(String) -> Result<(), TrailError>,
    ) -> Result<(), TrailError> {
        if self.runs.is_empty() {
            return sorted(paths).into_iter().try_for_each(|text| take(as_string(text)));
        }
        self.spill(paths)?;
        let mut readers = self.runs.iter().map(|path| Run::open(path)).collect::<Result<Vec<_>, _>>()?;
        let mut heap = BinaryHeap::new();
        for (number, reader) in readers.iter_mut().enumerate() {
            heap.extend(reader.next()?.map(|text| Reverse((text, number))));
        }
        let mut last = None;
        while let Some(Reverse((text, number))) = heap.pop() {
            heap.extend(readers[number].next()?.map(|text| Reverse((text, number))));
            if last.as_ref() != Some(&text) {
                take(as_string(&text))?;
                last = Some(text);
            }
        }
        self.runs.iter().try_for_each(|path| fs::remove_file(path).map_err(TrailError::io("remove", path)))
    }
}

/// Dictionaries of a part hold texts.
fn as_string(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

fn sorted(paths: &OwnDictionary) -> Vec<&[u8]> {
    let mut texts: Vec<&[u8]> = paths.iter().collect();
    texts.sort_unstable();
    texts
}

fn write_run(mut file: BufWriter<File>, paths: &OwnDictionary) -> io::Result<()> {
    for text in sorted(paths) {
        file.write_all(&(text.len() as u32).to_le_bytes())?;
        file.write_all(text)?;
    }
    file.flush()
}

struct Run {
    path: PathBuf,
    file: BufReader<File>,
}

impl Run {
    fn open(path: &Path) -> Result<Self, TrailError> {
        let file = File::open(path).map_err(TrailError::io("read", path))?;
        Ok(Self { path: path.to_owned(), file: BufReader::new(file) })
    }

    fn next(&mut self) -> Result<Option<Vec<u8>>, TrailError> {
        let mut length = [0; 4];
        match self.file.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            outcome => outcome.map_err(TrailError::io("read", &self.path))?,
        }
        let mut text = vec![0; u32::from_le_bytes(length) as usize];
        self.file.read_exact(&mut text).map_err(TrailError::io("read", &self.path))?;
        Ok(Some(text))
    }
}
