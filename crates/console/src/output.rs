//! Data: everything that goes to stdout or into a file the user named.

use anyhow::{bail, ensure};
use iotrail_model::text::printable;
use iotrail_structure_file::{MAGIC, is_structure};
use iotrail_trail::{file_beside, outside_of_trails};
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Writes data to `target`, `-` for stdout. A file appears whole or not at all: it is written under a temporary name beside
/// its place and renamed. What is not a regular file (a FIFO, `/dev/stdout`) is written to directly, and a link to a file stays
/// one. Files and pipes get the exact bytes; on a terminal everything that would steer it is shown as an escape.
pub fn write(target: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    stream(target, |out| Ok(out.write_all(bytes)?))
}

/// Lets `fill` write data to `target` with the care of [`write()`] and without holding the whole in memory.
pub fn stream<T>(target: &Path, fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>) -> anyhow::Result<T> {
    open(target, |out, terminal| {
        if !terminal {
            return fill(out);
        }
        let mut shown = Shown { out, line: Vec::new() };
        let result = fill(&mut shown)?;
        shown.end()?;
        Ok(result)
    })
}

/// Writes text that was made for reading to `target`, as it is: names in it are escaped, and it may be coloured.
pub fn text(target: &Path, text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    stream_text(target, |out| Ok(out.write_all(text.as_ref())?))
}

/// Lets `fill` write such text.
pub fn stream_text<T>(
    target: &Path,
    fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    open(target, |out, _| fill(out))
}

/// Opens `target`; `fill` is told whether it is a terminal.
fn open<T>(target: &Path, fill: impl FnOnce(&mut dyn Write, bool) -> anyhow::Result<T>) -> anyhow::Result<T> {
    if target == Path::new("-") {
        let terminal = io::stdout().is_terminal();
        return through(io::stdout().lock(), |out| fill(out, terminal))
            .map_err(|error| named(error, "to stdout"));
    }
    if is_special(target) {
        let file = OpenOptions::new().write(true).open(target);
        let written = file.map_err(anyhow::Error::from).and_then(|file| {
            let terminal = file.is_terminal();
            through(file, |out| fill(out, terminal))
        });
        return written.map_err(|error| named(error, &target.display().to_string()));
    }
    let mut files = Files::default();
    let result = files.prepare(target, |out| fill(out, false))?;
    files.publish()?;
    Ok(result)
}

/// Writes a structure, the only thing that may take the place of one, if it is to `replace` it.
///
/// # Errors
/// It cannot be written, or lies in a trail; one that is not to be replaced is there.
pub fn structure(target: &Path, bytes: &[u8], replace: bool) -> anyhow::Result<()> {
    debug_assert!(is_structure(bytes));
    if target == Path::new("-") || is_special(target) {
        return write(target, bytes);
    }
    ensure!(replace || !holds_structure(target), "{} exists already; --force replaces it", target.display());
    let mut files = Files { replaces_structures: true, ..Files::default() };
    files.write(target, bytes)?;
    files.publish().map(|_| ())
}

/// Whether an output may have the place `target`: a recording is not replaced by what is made of it.
///
/// # Errors
/// `target` lies in a trail, or is a structure.
pub fn spares_recordings(target: &Path) -> anyhow::Result<()> {
    let place = target.canonicalize().unwrap_or_else(|_| target.to_owned());
    outside_of_trails(&place)?;
    if holds_structure(&place) {
        bail!("it is a structure, the recording of a program, and would be lost: write to another name");
    }
    Ok(())
}

/// Whether a file is a structure.
fn holds_structure(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    // A FIFO is not opened: nobody may ever write to it.
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && is_structure(&start)
}

/// Whether an output would replace what it is made of.
///
/// # Errors
/// `target` and `input` are one file.
pub fn spares_input(target: &Path, input: &Path) -> anyhow::Result<()> {
    let same = target.canonicalize().ok().is_some_and(|place| input.canonicalize().ok() == Some(place));
    ensure!(
        !same || is_special(target),
        "{}: it is the input, which would be lost: write to another name",
        target.display()
    );
    Ok(())
}

/// Files that appear together: all of them with their whole content, or none.
#[derive(Debug, Default)]
pub struct Files {
    prepared: Vec<Prepared>,
    named: Vec<PathBuf>,
    replaces_structures: bool,
}

/// A file that lacks only its name.
#[derive(Debug)]
struct Prepared {
    file: NamedTempFile,
    place: PathBuf,
    target: PathBuf,
}

impl Files {
    /// Writes `bytes` for the file `target`. To stdout, or to what is not a regular file, they go at once.
    pub fn write(&mut self, target: &Path, bytes: &[u8]) -> anyhow::Result<()> {
        self.stream(target, |out| Ok(out.write_all(bytes)?))
    }

    /// Lets `fill` write, as [`stream()`] does.
    pub fn stream<T>(
        &mut self,
        target: &Path,
        fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        if target == Path::new("-") {
            return stream(target, fill);
        }
        self.named.push(target.to_owned());
        if is_special(target) { stream(target, fill) } else { self.prepare(target, fill) }
    }

    fn prepare<T>(
        &mut self,
        target: &Path,
        fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let write = || {
            // A link stays one.
            let place = target.canonicalize().unwrap_or_else(|_| target.to_owned());
            if self.replaces_structures {
                outside_of_trails(&place)?
            } else {
                spares_recordings(&place)?
            }
            let mut file = file_beside(&place)?;
            let result = through(file.as_file_mut(), fill)?;
            self.prepared.push(Prepared { file, place, target: target.to_owned() });
            anyhow::Ok(result)
        };
        write().map_err(|error| named(error, &target.display().to_string()))
    }

    /// Gives the files their names; answers these in the order of writing. If one cannot have its own, those that were not there
    /// before go again.
    pub fn publish(self) -> anyhow::Result<Vec<PathBuf>> {
        let mut new = Vec::new();
        for Prepared { file, place, target } in self.prepared {
            let is_new = place.symlink_metadata().is_err();
            if let Err(error) = file.persist(&place) {
                for path in new {
                    // What cannot be removed is a whole file all the same.
                    let _ = std::fs::remove_file(path);
                }
                return Err(named(error.error.into(), &target.display().to_string()));
            }
            if is_new {
                new.push(place);
            }
        }
        Ok(self.named)
    }
}

/// Lines for a terminal.
struct Shown<W> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Shown<W> {
    /// Writes what has no line end yet.
    fn end(&mut self) -> io::Result<()> {
        // A tab does no harm.
        for (index, part) in self.line.split(|byte| *byte == b'\t').enumerate() {
            if index > 0 {
                self.out.write_all(b"\t")?;
            }
            self.out.write_all(printable(&String::from_utf8_lossy(part)).as_bytes())?;
        }
        self.line.clear();
        Ok(())
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            match part.strip_suffix(b"\n") {
                None => self.line.extend_from_slice(part),
                Some(rest) => {
                    self.line.extend_from_slice(rest);
                    self.end()?;
                    self.out.write_all(b"\n")?;
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn through<T>(out: impl Write, fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    let result = fill(&mut out)?;
    out.flush()?;
    Ok(result)
}

/// Says where writing failed. Errors that `fill` met elsewhere, in a trail that it reads, name their own place.
fn named(error: anyhow::Error, place: &str) -> anyhow::Error {
    if error.is::<io::Error>() { error.context(format!("cannot write {place}")) } else { error }
}

/// Writes data to stdout.
pub fn stdout(bytes: &[u8]) -> anyhow::Result<()> {
    write(Path::new("-"), bytes)
}

/// A value as JSON and a line end.
pub fn json_document(value: &impl serde::Serialize) -> anyhow::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
}

/// Writes a value as JSON and a line end to stdout.
pub fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    stdout(&json_document(value)?)
}

/// Whether something that is not a regular file stands at `target`: a FIFO, a device.
fn is_special(target: &Path) -> bool {
    target.metadata().is_ok_and(|meta| !meta.is_file())
}

/// Whether the reader of our stdout went away, which is not an error (`iotrail events T | head`).
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_appear_together_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let names = || {
            let mut names: Vec<_> = std::fs::read_dir(directory.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        let mut files = Files::default();
        files.write(&path("a"), b"first").unwrap();
        assert!(!path("a").exists(), "not before all are there");
        assert!(files.stream(&path("b"), |_| -> anyhow::Result<()> { anyhow::bail!("full") }).is_err());
        drop(files);
        assert!(names().is_empty());

        std::fs::write(path("old"), "old").unwrap();
        let mut files = Files::default();
        for name in ["a", "old", "late"] {
            files.write(&path(name), b"new").unwrap();
        }
        // The last one cannot have its name any more.
        std::fs::create_dir(path("late")).unwrap();
        assert!(files.publish().unwrap_err().to_string().contains("late"));
        assert_eq!(names(), ["late", "old"]);

        let mut files = Files::default();
        files.write(&path("a"), b"1").unwrap();
        files.write(&path("old"), b"2").unwrap();
        assert_eq!(files.publish().unwrap(), [path("a"), path("old")]);
        assert_eq!(std::fs::read(path("old")).unwrap(), b"2");
    }

    #[test]
    fn a_terminal_is_shown_what_would_steer_it() {
        let mut shown = Shown { out: Vec::new(), line: Vec::new() };
        for byte in "\ta,\u{1b}[31mred\n\n\u{9b}ö".bytes() {
            shown.write_all(&[byte]).unwrap();
        }
        shown.end().unwrap();
        assert_eq!(String::from_utf8(shown.out).unwrap(), "\ta,\\u{1b}[31mred\n\n\\u{9b}ö");
    }
}
