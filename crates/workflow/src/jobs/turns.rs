//! Who wrote something last, and who read it since: which job must therefore wait for which.

use foldhash::fast::RandomState;
use hashbrown::HashSet;
use iotrail_model::Timestamp;

/// (job, job that it needs).
pub(crate) type Needs = HashSet<(u32, u32), RandomState>;

/// Who wrote a name or a file last, and who read it since.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    /// With the time of its last writing.
    writer: Option<(u32, Timestamp)>,
    /// With the time of each one's last reading.
    readers: Vec<(u32, Timestamp)>,
}

impl Turns {
    pub(crate) fn writer(&self) -> Option<u32> {
        self.writer.map(|(job, _)| job)
    }

    /// The job needs who wrote it; each needs the other if that one goes on writing.
    pub(crate) fn read(&mut self, job: u32, span: (Timestamp, Timestamp), needs: &mut Needs) {
        if let Some((writer, last)) = self.writer {
            if writer == job {
                return;
            }
            needs.insert((job, writer));
            if last > span.0 {
                needs.insert((writer, job));
            }
        }
        match self.readers.last_mut().filter(|(other, _)| *other == job) {
            Some((_, last)) => *last = (*last).max(span.1),
            None => self.readers.push((job, span.1)),
        }
    }

    /// The job is the last writer from now on and needs all who wrote or read what was there; who wrote it before.
    pub(crate) fn write(&mut self, job: u32, span: (Timestamp, Timestamp), needs: &mut Needs) -> Option<u32> {
        let previous = self.writer;
        let since =
            previous.filter(|(writer, _)| *writer == job).map_or(span.1, |(_, last)| last.max(span.1));
        self.writer = Some((job, since));
        for (other, last) in
            previous.into_iter().chain(self.readers.drain(..)).filter(|(other, _)| *other != job)
        {
            needs.insert((job, other));
            if last > span.0 {
                needs.insert((other, job));
            }
        }
        previous.map(|(writer, _)| writer)
    }
}
