//! Signals that end the program: commands that come to a good end all the same, and directories that do not outlive it.

use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Signals that come together within this time are one wish.
const ONE_WISH: Duration = Duration::from_millis(400);
/// How often a directory is removed in which others may still be writing.
const ATTEMPTS: usize = 50;

/// Whether the command ends by itself when a signal arrives.
static CANCELS: AtomicBool = AtomicBool::new(false);
/// Whether a signal is ending the program.
static ENDING: AtomicBool = AtomicBool::new(false);
/// What goes then; `None` while nobody watches.
static DIRECTORIES: Mutex<Option<Vec<PathBuf>>> = Mutex::new(None);

/// Set by the first SIGINT, SIGTERM or, unless that is ignored, SIGHUP. A later one ends the program as usual, if it comes 0.4 s after it or later: who
/// signals a process and its group, as `timeout` does, means it once.
///
/// # Errors
/// If signals cannot be watched.
pub fn cancelled_by_signal() -> io::Result<Arc<AtomicBool>> {
    CANCELS.store(true, Ordering::Relaxed);
    let (cancel, impatient) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    for signal in ending() {
        flag::register_conditional_default(signal, Arc::clone(&impatient))?;
        flag::register(signal, Arc::clone(&cancel))?;
    }
    let first = Arc::clone(&cancel);
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        while !first.load(Ordering::Relaxed) {
            std::thread::sleep(ONE_WISH / 4);
        }
        std::thread::sleep(ONE_WISH);
        impatient.store(true, Ordering::Relaxed);
    })?;
    Ok(cancel)
}

/// Signals do not end the program as long as this is there, unless the command ends by itself then ([`cancelled_by_signal()`]).
#[must_use]
pub struct Postponed(MutexGuard<'static, Option<Vec<PathBuf>>>);

/// Postpones the end of the program, so that what is made meanwhile can be named before it comes.
///
/// # Errors
/// If signals cannot be watched.
pub fn postpone() -> io::Result<Postponed> {
    let mut directories = DIRECTORIES.lock().unwrap_or_else(PoisonError::into_inner);
    if directories.is_none() {
        watch()?;
    }
    directories.get_or_insert_default();
    Ok(Postponed(directories))
}

impl Postponed {
    /// Removes `directory` if a signal ends the program from now on.
    pub fn remove_at_end(mut self, directory: &Path) {
        self.0.get_or_insert_default().push(directory.to_owned());
    }
}

/// Comes back unless a signal is ending the program: what went wrong then is that directories went.
pub fn let_end() {
    while ENDING.load(Ordering::Relaxed) {
        std::thread::park();
    }
}

fn watch() -> io::Result<()> {
    let (mut arrivals, wake) = UnixStream::pair()?;
    let last = Arc::new(AtomicUsize::new(0));
    for signal in ending() {
        flag::register_usize(signal, Arc::clone(&last), signal as usize)?;
        low_level::pipe::register(signal, wake.try_clone()?)?;
    }
    std::thread::Builder::new().name("cleaner".to_owned()).spawn(move || {
        while arrivals.read_exact(&mut [0]).is_ok() {
            if !CANCELS.load(Ordering::Relaxed) {
                ENDING.store(true, Ordering::Relaxed);
                remove_all();
                // Does not come back for these signals.
                let _ = low_level::emulate_default_handler(last.load(Ordering::Relaxed) as i32);
            }
        }
    })?;
    Ok(())
}

fn remove_all() {
    let directories = DIRECTORIES.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
    for directory in directories {
        let gone = |_: &usize| {
            // What cannot be removed is removed by the next program that makes such a directory.
            let _ = std::fs::remove_dir_all(&directory);
            directory.symlink_metadata().is_err()
        };
        let _ = (0..ATTEMPTS).find(gone);
    }
}

/// The signals that end programs.
fn ending() -> impl Iterator<Item = i32> {
    [SIGINT, SIGTERM].into_iter().chain(heeds_hangup().then_some(SIGHUP))
}

/// Whether the program ends with its terminal: who starts it by `nohup` wants it to go on.
fn heeds_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 0)
}
