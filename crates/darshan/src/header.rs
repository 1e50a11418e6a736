//! What a log says of its job.

use iotrail_model::{Nanos, Timestamp};
use std::collections::BTreeSet;

/// What a log says of its job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    /// When it began; the text has whole seconds.
    pub(crate) start: Option<Timestamp>,
    /// The program: what comes before the first space of its command line, in which Darshan keeps no borders of arguments.
    pub(crate) exe: Option<String>,
    /// The modules of traces whose data it announces.
    pub(crate) announced: BTreeSet<String>,
}

impl Header {
    /// Takes a line about the job.
    pub(crate) fn take(&mut self, key: &[u8], value: &[u8]) {
        match key {
            b"start_time" => {
                let seconds = std::str::from_utf8(value).ok().and_then(|value| value.parse::<i64>().ok());
                let nanos = seconds.filter(|seconds| *seconds > 0).and_then(|s| s.checked_mul(1_000_000_000));
                self.start = nanos.map(Timestamp);
            }
            b"exe" => {
                let exe = value.split(|byte| *byte == b' ').next().filter(|exe| !exe.is_empty());
                self.exe = exe.map(|exe| iotrail_model::text::path_to_text(exe).into_owned());
            }
            _ => {
                let module = key.strip_suffix(b" module").filter(|module| module.starts_with(b"DXT_"));
                self.announced.extend(module.map(|module| String::from_utf8_lossy(module).into_owned()));
            }
        }
    }

    /// The time that is `since` after the start of the job.
    pub(crate) fn at(&self, since: Nanos) -> Timestamp {
        Timestamp(self.start.unwrap_or_default().0.saturating_add(since.0))
    }
}
