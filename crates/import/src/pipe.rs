//! A stream that somebody else may still be writing: standard input, a FIFO, a process substitution.
//!
//! Ctrl-C reaches the writer and us alike. The writer's last words are still wanted, so a cancelled stream is read on
//! while something comes, for a little while.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a silent stream asks whether it was cancelled.
const PATIENCE: Duration = Duration::from_millis(200);

/// How long a cancelled stream is read on at most.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// See the [module](self).
pub(crate) struct Pipe {
    file: File,
    cancel: Arc<AtomicBool>,
    cancelled: Option<Instant>,
    given_up: Arc<AtomicBool>,
}

impl Pipe {
    /// Opens a pipe by name; `given_up` is set when a cancellation ends it before its end.
    pub(crate) fn open(
        path: &Path,
        cancel: &Arc<AtomicBool>,
        given_up: &Arc<AtomicBool>,
    ) -> io::Result<Self> {
        // Without waiting for a writer, who may never come: that is waited for like what it writes.
        let file =
            rustix::fs::open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self::new(file.into(), cancel, given_up))
    }

    /// As [`Self::open`].
    pub(crate) fn stdin(cancel: &Arc<AtomicBool>, given_up: &Arc<AtomicBool>) -> io::Result<Self> {
        Ok(Self::new(io::stdin().as_fd().try_clone_to_owned()?.into(), cancel, given_up))
    }

    fn new(file: File, cancel: &Arc<AtomicBool>, given_up: &Arc<AtomicBool>) -> Self {
        Self { file, cancel: Arc::clone(cancel), cancelled: None, given_up: Arc::clone(given_up) }
    }

    /// Waits until there is something to read; false if the wait is over because of a cancellation.
    fn wait(&mut self) -> io::Result<bool> {
        loop {
            if self.cancelled.is_none() && self.cancel.load(Ordering::Relaxed) {
                self.cancelled = Some(Instant::now());
            }
            if self.cancelled.is_some_and(|since| since.elapsed() > LAST_WORDS) {
                return Ok(false);
            }
            let timeout = Timespec { tv_sec: 0, tv_nsec: PATIENCE.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&timeout)) {
                Ok(0) if self.cancelled.is_some() => return Ok(false),
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(true),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.wait()? {
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
        self.given_up.store(true, Ordering::Relaxed);
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_cancelled_pipe_gives_what_was_written_and_ends() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(b"last words").expect("written");
        let cancel = Arc::new(AtomicBool::new(true));
        let given_up = Arc::default();
        let mut pipe = Pipe::new(File::from(std::os::fd::OwnedFd::from(reader)), &cancel, &given_up);
        let mut text = String::new();
        pipe.read_to_string(&mut text).expect("read");
        assert_eq!(text, "last words");
        assert!(given_up.load(Ordering::Relaxed));
        drop(writer);
    }

    #[test]
    fn a_fifo_without_a_writer_can_be_given_up() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, Mode::RWXU, 0)
            .expect("a FIFO");
        let (cancel, given_up) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let mut pipe = Pipe::open(&path, &cancel, &given_up).expect("open");
        cancel.store(true, Ordering::Relaxed);
        assert_eq!(pipe.read(&mut [0; 9]).expect("read"), 0);
        assert!(given_up.load(Ordering::Relaxed));
    }

    #[test]
    fn a_fifo_whose_writer_comes_later_is_read_to_its_end() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, Mode::RWXU, 0)
            .expect("a FIFO");
        let mut pipe = Pipe::open(&path, &Arc::default(), &Arc::default()).expect("open");
        let writer = std::thread::spawn(move || std::fs::write(path, "all of it"));
        let mut text = String::new();
        pipe.read_to_string(&mut text).expect("read");
        assert_eq!(text, "all of it");
        writer.join().expect("joined").expect("written");
    }
}
