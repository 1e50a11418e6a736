//! Sorts and writes the row groups of the main run of a part, on a thread of its own if there is a core for it.
//!
//! That costs about half of what comes before it. The other thread gets the rows, and copies of the names that they use as these
//! are learnt, so that both go on without a lock. At most one row group waits beside the one that is encoded. What is written does
//! not depend on who writes it.

use crate::error::TrailError;
use crate::event_file::EventFile;
use crate::meta::Written;
use crate::own_names::OwnNames;
use crate::rows::sort;
use iotrail_model::{EventBatch, NameKind};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// See the [module](self).
pub(crate) enum GroupWriter {
    /// The thread that asks for it writes.
    Here(Box<EventFile>),
    /// Another one does.
    Apart(Apart),
}

/// The other thread.
pub(crate) struct Apart {
    /// Gone once the thread was told to end.
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<Result<EventFile, TrailError>>>,
    /// How many names of each column it was told.
    told: [usize; NameKind::ALL.len()],
    /// Whether the paths that it was told have lost their meaning.
    forget_paths: bool,
}

/// A row group to write.
struct Job {
    rows: EventBatch,
    forget_paths: bool,
    /// Names of each column that are new, in the order of their ids.
    names: [Vec<Box<[u8]>>; NameKind::ALL.len()],
}

impl GroupWriter {
    /// Writes to a new file at `path`, on a thread of its own if `apart`.
    pub(crate) fn create(path: &Path, apart: bool) -> Result<Self, TrailError> {
        let file = EventFile::create(path)?;
        if !apart {
            return Ok(Self::Here(Box::new(file)));
        }
        let (jobs, todo) = sync_channel(1);
        let thread = std::thread::Builder::new().name("encode".to_owned());
        let thread = thread.spawn(move || work(file, &todo)).map_err(TrailError::io("write", path))?;
        let told = [0; NameKind::ALL.len()];
        Ok(Self::Apart(Apart { jobs: Some(jobs), thread: Some(thread), told, forget_paths: false }))
    }

    /// Sorts rows and writes them as one row group, now or soon. What `batch` holds afterwards means nothing.
    pub(crate) fn write(&mut self, batch: &mut EventBatch, names: &OwnNames) -> Result<(), TrailError> {
        match self {
            Self::Here(file) => write_sorted(file, batch, names),
            Self::Apart(apart) => apart.write(batch, names),
        }
    }

    /// The paths are numbered anew from here on.
    pub(crate) fn forget_paths(&mut self) {
        if let Self::Apart(apart) = self {
            apart.forget_paths = true;
            apart.told[NameKind::Path as usize] = 0;
        }
    }

    /// Writes the footer; `None` if the other thread has failed, and its error is told already.
    pub(crate) fn finish(self) -> Result<Option<Written>, TrailError> {
        match self {
            Self::Here(file) => file.finish().map(Some),
            Self::Apart(mut apart) => apart.join()?.map(EventFile::finish).transpose(),
        }
    }
}

impl Apart {
    fn write(&mut self, batch: &mut EventBatch, names: &OwnNames) -> Result<(), TrailError> {
        let told = self.told;
        let new = NameKind::ALL.map(|column| {
            let names = names.column(column);
            (told[column as usize]..names.len()).map(|id| names.text(id as u32).into()).collect()
        });
        self.told = NameKind::ALL.map(|column| names.column(column).len());
        let forget_paths = std::mem::take(&mut self.forget_paths);
        let rows = std::mem::take(batch);
        let job = Job { rows, forget_paths, names: new };
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        // It takes no more only if it has failed.
        if sent { Ok(()) } else { self.join().map(drop) }
    }

    /// Lets the thread end; what it wrote to, unless it was told to end before.
    fn join(&mut self) -> Result<Option<EventFile>, TrailError> {
        self.jobs = None;
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(None),
            Some(Ok(result)) => result.map(Some),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for Apart {
    /// A part that is given up removes its files next.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write_sorted(file: &mut EventFile, batch: &mut EventBatch, names: &OwnNames) -> Result<(), TrailError> {
    sort(batch);
    file.write(batch, 0..batch.len, names)
}

fn work(mut file: EventFile, todo: &Receiver<Job>) -> Result<EventFile, TrailError> {
    let mut names = OwnNames::default();
    for mut job in todo {
        if job.forget_paths {
            names.paths.clear();
        }
        for (column, new) in NameKind::ALL.into_iter().zip(&job.names) {
            let own = names.column_mut(column);
            for name in new {
                own.intern_bytes(name);
            }
        }
        write_sorted(&mut file, &mut job.rows, &names)?;
    }
    Ok(file)
}
