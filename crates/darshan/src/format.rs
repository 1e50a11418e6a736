//! Which files are Darshan's, and what a plan must know of them.

use crate::binary;
use crate::line::{Line, MAGIC};
use crate::log;
use hashbrown::HashSet;
use iotrail_import::{
    Content, Door, Events, Format, ImportOptions, Intake, Job, Probe, Rows, TraceFile, TraceReader, lines,
};
use iotrail_model::Dictionaries;
use std::sync::atomic::Ordering;

/// Logs of Darshan, and the text of `darshan-dxt-parser`.
#[derive(Clone, Copy, Debug, Default)]
pub struct DarshanDxt;

impl Format for DarshanDxt {
    fn name(&self) -> &'static str {
        "darshan-dxt"
    }

    fn what(&self) -> &'static str {
        "text of darshan-dxt-parser"
    }

    fn advice(&self) -> &'static str {
        "record with DXT_ENABLE_IO_TRACE=1 and make text with: darshan-dxt-parser --show-incomplete LOG.darshan > LOG.txt"
    }

    /// A log itself begins with its version in eight bytes; not all versions are known.
    fn advice_on(&self, head: &str) -> Option<&'static str> {
        let version = head.get(..8)?.trim_end_matches('\0');
        let is_version = version.len() < 8
            && version.split_once('.').is_some_and(|(major, minor)| {
                [major, minor]
                    .iter()
                    .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
            });
        is_version.then_some(
            "a log of Darshan? Make text of it: darshan-dxt-parser --show-incomplete LOG.darshan > LOG.txt",
        )
    }

    /// The text may come behind warnings that the parser printed to the same file.
    fn recognises(&self, head: &[u8]) -> bool {
        binary::is_log(head) || head.split(|byte| *byte == b'\n').any(|line| line.starts_with(MAGIC))
    }

    /// Counts the ranks, because each is a case.
    fn probe(
        &self,
        _file: &TraceFile,
        mut reader: TraceReader,
        options: &ImportOptions,
        _names: &mut Dictionaries,
    ) -> Probe {
        if binary::is_log(reader.window.unread()) {
            return probe_log(reader, options);
        }
        let (mut ranks, mut known, mut binary) = (HashSet::new(), false, false);
        loop {
            let (text, ended) = (reader.window.unread(), reader.window.ended());
            binary |= text.contains(&0);
            let done = lines(text, ended, |line| {
                if line.first() == Some(&b'#') {
                    match Line::read(line) {
                        Line::Rank { rank, .. } => known |= ranks.insert(rank),
                        _ => known |= line.starts_with(MAGIC),
                    }
                }
            });
            reader.window.consume(done);
            if ended || options.cancel.load(Ordering::Relaxed) {
                break;
            }
            reader.fill();
        }
        let content = match (known, reader.read_error(), binary) {
            (true, ..) => Content::Trace,
            (false, Some(read_error), _) => Content::Unreadable(read_error.clone()),
            (false, None, true) => Content::Binary,
            (false, None, false) => Content::Text,
        };
        let mut probe = Probe::of(content);
        probe.cases = u32::try_from(ranks.len()).unwrap_or(u32::MAX);
        probe
    }

    fn door(&self) -> Door<'_> {
        Door::Events(self)
    }
}

/// Counts the ranks of a log.
fn probe_log(mut reader: TraceReader, options: &ImportOptions) -> Probe {
    let (mut log, mut ranks) = (Vec::new(), HashSet::new());
    while binary::collect(&mut reader.window, &mut log) && !options.cancel.load(Ordering::Relaxed) {
        reader.fill();
    }
    let known = binary::lines(&log, |line| {
        if let Line::Rank { rank, .. } = Line::read(line) {
            ranks.insert(rank);
        }
    });
    let mut probe = Probe::of(if known.is_some() { Content::Trace } else { Content::Binary });
    probe.cases = u32::try_from(ranks.len()).unwrap_or(u32::MAX);
    probe
}

impl Events for DarshanDxt {
    fn read(&self, job: &Job, opened: Option<TraceReader>, intake: &mut Intake<'_, '_, Rows>) -> bool {
        job.iter()
            .zip(std::iter::once(opened).chain(std::iter::repeat_with(|| None)))
            .all(|(file, opened)| log::read(file, opened, intake))
    }
}
