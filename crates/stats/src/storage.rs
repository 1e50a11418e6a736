//! What the file system fetched from storage, or sends there, for processes: counters of the kernel (`/proc/PID/io`).
//!
//! Calls say what was asked of the kernel; these say what it could not serve from the page cache. They are of whole
//! processes, whichever calls are selected, and count pages of mapped files and reading ahead, too.

use iotrail_model::{Nanos, Process};

/// Counters of some processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Storage {
    /// Bytes fetched; NULL if nobody tells.
    pub(crate) read: Option<u64>,
    /// Bytes sent.
    pub(crate) written: Option<u64>,
    /// Processes of which an image does not tell both.
    pub(crate) unknown: u64,
    /// CPU time; NULL if nobody tells.
    pub(crate) cpu: Option<u64>,
    /// Bytes that the processes read from files, and those of them that needed no storage.
    from_files: u64,
    cached: u64,
}

impl Storage {
    /// Adds a process with all its images, which read so many bytes from files. What storage gave beyond that, for mapped files or ahead,
    /// takes nothing from what the page cache gave to others.
    pub(crate) fn add(&mut self, images: &[Process], from_files: u64) {
        let mut fetched = None;
        images.iter().for_each(|image| more(&mut fetched, image.usage.storage_read));
        self.from_files = self.from_files.saturating_add(from_files);
        self.cached = self.cached.saturating_add(from_files.saturating_sub(fetched.unwrap_or_default()));
        let known = |time: Option<Nanos>| time.and_then(|Nanos(time)| u64::try_from(time).ok());
        for usage in images.iter().map(|image| &image.usage) {
            more(&mut self.read, usage.storage_read);
            more(&mut self.written, usage.storage_written);
            more(&mut self.cpu, known(usage.user));
            more(&mut self.cpu, known(usage.system));
        }
        let is_known =
            |image: &Process| image.usage.storage_read.is_some() && image.usage.storage_written.is_some();
        self.unknown += u64::from(!images.iter().all(is_known));
    }

    /// The share of the bytes read from files that came from the page cache.
    pub(crate) fn page_cache_hit(&self) -> Option<f64> {
        let is_known = self.read.is_some() && self.unknown == 0 && self.from_files > 0;
        is_known.then(|| self.cached as f64 / self.from_files as f64)
    }
}

fn more(sum: &mut Option<u64>, amount: Option<u64>) {
    if let Some(amount) = amount {
        *sum = Some(sum.unwrap_or_default().saturating_add(amount));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::Usage;

    fn image(read: Option<u64>, user: Option<i64>) -> Process {
        let usage = Usage {
            storage_read: read,
            storage_written: read.map(|_| 0),
            user: user.map(Nanos),
            ..Usage::default()
        };
        Process { usage, ..Process::default() }
    }

    #[test]
    fn the_page_cache_serves_what_storage_did_not() {
        let of = |from_files| {
            let mut storage = Storage::default();
            storage.add(&[image(Some(100), Some(7)), image(Some(150), None)], from_files);
            storage
        };
        let storage = of(1000);
        assert_eq!((storage.read, storage.cpu, storage.unknown), (Some(250), Some(7), 0));
        assert_eq!(storage.page_cache_hit(), Some(0.75));
        assert_eq!(of(200).page_cache_hit(), Some(0.0), "reading ahead fetches more than was asked for");
        assert_eq!(of(0).page_cache_hit(), None);
    }

    #[test]
    fn the_share_of_several_processes_is_that_of_their_bytes() {
        let mut storage = Storage::default();
        storage.add(&[image(Some(0), None)], 900);
        storage.add(&[image(Some(5_000), None)], 100);
        assert_eq!(storage.page_cache_hit(), Some(0.9), "what one reads ahead is not what the other read");
    }

    #[test]
    fn what_one_process_does_not_tell_leaves_the_share_unknown() {
        let mut storage = Storage::default();
        assert_eq!((storage.read, storage.written, storage.cpu), (None, None, None));
        storage.add(&[image(None, None)], 10);
        storage.add(&[image(Some(5), None)], 10);
        assert_eq!((storage.read, storage.unknown, storage.page_cache_hit()), (Some(5), 1, None));
    }
}
