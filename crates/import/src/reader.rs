//! Reads the text of one trace file, whatever it is stored as.
//!
//! A read error ends the text but not the import: what came before is used, and the error is reported.
//! A regular file may be parked (closed and later opened again where it was left), so that thousands of files can be
//! read in turns with few open at once.

use crate::compression::{Compression, MAGIC_BYTES};
use crate::input::{Origin, TraceFile, reason};
use crate::pipe::Pipe;
use crate::window::{Limits, Window};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes that a decoder reads at a time.
const PACKED_CHUNK: usize = 64 << 10;

/// Why a text ended before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// It could not be opened.
    Open(String),
    /// Reading failed after this many bytes of text.
    Read(u64, String),
    /// The compressed data are damaged or end early after this many bytes of text.
    Damaged(u64, String),
    /// After this many bytes of text comes a line that has no end, or is of no text.
    Endless(u64),
    /// It is packed with something we do not unpack: what, and what does.
    Foreign(&'static str, &'static str),
}

/// The text of one trace file. Trouble ends it and is no error; a regular file may be parked, closed until it goes on.
pub struct TraceReader {
    origin: Origin,
    text: Option<Box<dyn Read + Send>>,
    /// What is unread.
    pub window: Window,
    offset: u64,
    stored: Arc<AtomicU64>,
    reported: u64,
    read_error: Option<ReadError>,
    cancel: Arc<AtomicBool>,
    given_up: Arc<AtomicBool>,
}

impl TraceReader {
    /// A reader at the start of `file`, which is opened when it is first read.
    pub fn new(file: &TraceFile, limits: Limits, cancel: &Arc<AtomicBool>) -> Self {
        Self {
            origin: file.origin.clone(),
            text: None,
            window: Window::new(limits),
            offset: 0,
            stored: Arc::default(),
            reported: 0,
            read_error: None,
            cancel: Arc::clone(cancel),
            given_up: Arc::default(),
        }
    }

    /// Reads on. At the end, and after a read error, the window says that it has ended.
    pub fn fill(&mut self) {
        if self.window.ended() {
            return;
        }
        match self.try_fill() {
            Ok(count) => self.offset += count as u64,
            Err(read_error) => {
                self.window.end();
                self.read_error = Some(read_error);
            }
        }
        if self.window.ended() {
            self.text = None;
        }
    }

    /// Closes the file until it is read again. Pipes stay open.
    pub fn park(&mut self) {
        if matches!(self.origin, Origin::File(..)) {
            self.text = None;
        }
    }

    /// Whether it holds an open file.
    pub const fn is_open(&self) -> bool {
        self.text.is_some()
    }

    /// Why the text ended early, if it did.
    pub const fn read_error(&self) -> Option<&ReadError> {
        self.read_error.as_ref()
    }

    /// Whether it is a pipe that a cancellation ended before its end.
    pub fn has_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Bytes of text read so far.
    pub const fn text_bytes(&self) -> u64 {
        self.offset
    }

    /// Bytes read so far, as stored.
    pub fn stored_bytes(&self) -> u64 {
        self.stored.load(Ordering::Relaxed)
    }

    /// Bytes read since this was last asked, as stored.
    pub fn take_progress(&mut self) -> u64 {
        let stored = self.stored_bytes();
        stored - std::mem::replace(&mut self.reported, stored)
    }

    fn try_fill(&mut self) -> Result<usize, ReadError> {
        let mut text = match self.text.take() {
            Some(text) => text,
            None => self.open()?,
        };
        let count = self.window.fill(&mut *text).map_err(|error| read_error(&error, self.offset))?;
        self.text = Some(text);
        if self.window.is_endless() {
            return Err(ReadError::Endless(self.offset));
        }
        Ok(count)
    }

    fn open(&self) -> Result<Box<dyn Read + Send>, ReadError> {
        let cannot = |error: io::Error| ReadError::Open(reason(&error));
        match &self.origin {
            Origin::File(path, _) => self.open_file(File::open(path).map_err(cannot)?),
            Origin::Pipe(path) => {
                self.open_pipe(Pipe::open(path, &self.cancel, &self.given_up).map_err(cannot)?)
            }
            Origin::Stdin => self.open_pipe(Pipe::stdin(&self.cancel, &self.given_up).map_err(cannot)?),
        }
    }

    fn open_file(&self, mut file: File) -> Result<Box<dyn Read + Send>, ReadError> {
        let failed = |error: io::Error| read_error(&error, self.offset);
        let compression = compression(&read_head(&mut file).map_err(failed)?)?;
        let start = if compression == Compression::Plain { self.offset } else { 0 };
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        let mut text = self.decode(compression, file, start).map_err(failed)?;
        if compression != Compression::Plain {
            io::copy(&mut Read::take(&mut text, self.offset), &mut io::sink()).map_err(failed)?;
        }
        Ok(text)
    }

    fn open_pipe(&self, mut pipe: Pipe) -> Result<Box<dyn Read + Send>, ReadError> {
        let failed = |error: io::Error| read_error(&error, 0);
        let head = read_head(&mut pipe).map_err(failed)?;
        self.decode(compression(&head)?, io::Cursor::new(head).chain(pipe), 0).map_err(failed)
    }

    fn decode(
        &self,
        compression: Compression,
        raw: impl Read + Send + 'static,
        position: u64,
    ) -> io::Result<Box<dyn Read + Send>> {
        let counted = Counted { raw, position, furthest: Arc::clone(&self.stored) };
        match compression {
            Compression::Plain => Ok(Box::new(counted)),
            _ => compression.open(BufReader::with_capacity(PACKED_CHUNK, counted)),
        }
    }
}

fn read_head(raw: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(MAGIC_BYTES);
    raw.take(MAGIC_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn compression(head: &[u8]) -> Result<Compression, ReadError> {
    match Compression::detect(head) {
        Compression::Foreign(what, tool) => Err(ReadError::Foreign(what, tool)),
        known => Ok(known),
    }
}

/// Errors of the system carry its number, errors of a decoder do not.
fn read_error(error: &io::Error, offset: u64) -> ReadError {
    match error.raw_os_error() {
        Some(_) => ReadError::Read(offset, reason(error)),
        None => ReadError::Damaged(offset, error.to_string()),
    }
}

/// Remembers how far a file was read.
struct Counted<R> {
    raw: R,
    position: u64,
    furthest: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.raw.read(buffer)?;
        self.position += count as u64;
        self.furthest.fetch_max(self.position, Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::tests::gzip;
    use std::path::Path;

    const TINY: Limits = Limits { chunk: 64, line: 1 << 20 };

    fn file(path: &Path, bytes: &[u8]) -> TraceFile {
        std::fs::write(path, bytes).expect("a file");
        TraceFile { origin: Origin::File(path.into(), bytes.len() as u64), name: "f".to_owned(), named: true }
    }

    fn read_all(reader: &mut TraceReader, park: bool) -> Vec<u8> {
        let mut text = Vec::new();
        while !reader.window.ended() {
            reader.fill();
            text.extend_from_slice(reader.window.unread());
            reader.window.consume(usize::MAX);
            if park {
                reader.park();
            }
        }
        text
    }

    #[test]
    fn a_parked_file_goes_on_where_it_was_left() {
        let dir = tempfile::tempdir().expect("a directory");
        let text: Vec<u8> = (0..200).flat_map(|line| format!("line {line}\n").into_bytes()).collect();
        for (name, stored) in [("plain", text.clone()), ("packed", gzip(&text))] {
            let file = file(&dir.path().join(name), &stored);
            let mut reader = TraceReader::new(&file, TINY, &Arc::default());
            assert_eq!(read_all(&mut reader, true), text, "{name}");
            assert_eq!(reader.read_error(), None);
            assert_eq!(
                (reader.text_bytes(), reader.stored_bytes()),
                (text.len() as u64, stored.len() as u64)
            );
            assert_eq!((reader.take_progress(), reader.take_progress()), (stored.len() as u64, 0));
        }
    }

    #[test]
    fn a_text_without_end_ends_at_once_and_what_came_before_is_used() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("sparse");
        let mut sparse = file(&path, b"1 close(3) = 0\n");
        File::options().write(true).open(&path).and_then(|file| file.set_len(64 << 30)).expect("a hole");
        let zeros = Path::new("/dev/zero").into();
        let mut zeros = TraceFile { origin: Origin::Pipe(zeros), name: "zeros".to_owned(), named: true };
        for (file, expected) in [(&mut sparse, "1 close(3) = 0\n"), (&mut zeros, "")] {
            let mut reader = TraceReader::new(file, Limits::LARGE, &Arc::default());
            let mut text = Vec::new();
            while !reader.window.ended() {
                reader.fill();
                if reader.window.has_new_line() {
                    let end = reader.window.unread().iter().rposition(|byte| *byte == b'\n').unwrap_or(0) + 1;
                    text.extend_from_slice(&reader.window.unread()[..end]);
                    reader.window.consume(end);
                }
            }
            assert_eq!(String::from_utf8_lossy(&text), expected);
            assert!(matches!(reader.read_error(), Some(ReadError::Endless(read)) if *read < 20 << 20));
        }
    }

    #[test]
    fn trouble_ends_the_text_and_is_kept() {
        let dir = tempfile::tempdir().expect("a directory");
        let read_error = |file: &TraceFile| {
            let mut reader = TraceReader::new(file, TINY, &Arc::default());
            let text = read_all(&mut reader, false);
            (text, reader.read_error().cloned())
        };
        let at = |path: &Path| TraceFile {
            origin: Origin::File(path.into(), 1),
            name: "x".to_owned(),
            named: true,
        };
        let missing = at(Path::new("/nonexistent/x"));
        assert_eq!(read_error(&missing).1, Some(ReadError::Open("No such file or directory".to_owned())));
        let directory = at(dir.path());
        assert_eq!(read_error(&directory).1, Some(ReadError::Read(0, "Is a directory".to_owned())));
        let bzip2 = file(&dir.path().join("x.bz2"), b"BZh91AY&SY");
        assert_eq!(read_error(&bzip2).1, Some(ReadError::Foreign("bzip2", "bunzip2")));
        let packed = gzip(b"abc\n");
        let (text, damage) = read_error(&file(&dir.path().join("x.gz"), &packed[..packed.len() - 3]));
        assert_eq!(text, b"abc\n");
        assert!(matches!(damage, Some(ReadError::Damaged(4, _))), "{damage:?}");
    }
}
