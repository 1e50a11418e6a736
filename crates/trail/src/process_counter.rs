//! How many processes and threads there were.
//!
//! A process is what was forked, whatever it executed later; a number used again is another process. The table `processes` has a
//! row for each executable image, and a row that neither exited nor was killed was replaced by the next one of its number.
//! A thread that calls exec goes on in the next image, which counts it again.

use iotrail_model::{CaseId, Pid, Process, Timestamp};

/// The images of all processes.
#[derive(Debug, Default)]
pub(crate) struct ProcessCounter(Vec<Image>);

/// What counting must know of an image.
#[derive(Clone, Copy, Debug)]
struct Image {
    process: (CaseId, Pid),
    start: Option<Timestamp>,
    replaced: bool,
    threads: u32,
}

/// How many there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) processes: u64,
    pub(crate) threads: u64,
}

impl ProcessCounter {
    /// Adds a row of the table `processes`; those of one number in the order in which they ended.
    pub(crate) fn add(&mut self, row: &Process) {
        let (process, replaced) = ((row.case, row.pid), row.is_replaced());
        // Somebody ran it, even if nobody counted.
        self.0.push(Image { process, start: row.start, replaced, threads: row.threads.max(1) });
    }

    /// Adds the images of another part.
    pub(crate) fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The numbers that processes had.
    pub(crate) fn processes(&self) -> hashbrown::HashSet<(CaseId, Pid)> {
        self.0.iter().map(|image| image.process).collect()
    }

    pub(crate) fn counts(mut self) -> Counts {
        self.0.sort_by_key(|image| (image.process, image.start));
        let mut counts = Counts::default();
        let mut last: Option<Image> = None;
        for image in self.0 {
            let goes_on = last.is_some_and(|last| last.replaced && last.process == image.process);
            counts.processes += u64::from(!goes_on);
            counts.threads += u64::from(image.threads) - u64::from(goes_on);
            last = Some(image);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_used_again_is_another_process_and_an_exec_is_none() {
        let image = |pid: u32, start: i64, exit_code: Option<i32>, threads: u32| Process {
            pid: Pid(pid),
            start: Some(Timestamp(start)),
            end: Some(Timestamp(start + 1)),
            exit_code,
            threads,
            ..Process::default()
        };
        let mut processes = ProcessCounter::default();
        // It executes two programs, the first of which has three threads; then its number is another's, that is killed, and a third's.
        processes.add(&image(7, 10, None, 1));
        processes.add(&image(7, 20, None, 3));
        processes.add(&image(7, 30, Some(0), 1));
        processes.add(&Process { signal: Some("SIGKILL".to_owned()), ..image(7, 40, None, 2) });
        processes.add(&Process { end: None, ..image(7, 50, None, 0) });
        processes.add(&image(8, 15, Some(1), 1));
        assert_eq!(processes.counts(), Counts { processes: 4, threads: 3 + 2 + 1 + 1 });
    }
}
