//! The small tables of a spool.

use crate::error::SpoolError;
use crate::visit::Visit;
use iotrail_model::{Coverage, Dictionaries, Event, Pid, Process, Timestamp};
use std::collections::BTreeMap;

/// Process rows and the coverage statement, as far as the writer came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// Process rows: the final ones, and of images that were not seen to end what was known when they began.
    pub processes: BTreeMap<(Pid, Option<Timestamp>), Process>,
    /// Rows among them that are not final.
    pub unfinished: usize,
    /// The latest coverage statement.
    pub coverage: Option<Coverage>,
}

/// Collects [`Tables`].
#[derive(Debug, Default)]
pub(crate) struct Collector {
    /// Rows and whether each is final.
    processes: BTreeMap<(Pid, Option<Timestamp>), (Process, bool)>,
    coverage: Option<Coverage>,
}

impl Collector {
    pub(crate) fn tables(self) -> Tables {
        let unfinished = self.processes.values().filter(|(_, is_final)| !is_final).count();
        let processes = self.processes.into_iter().map(|(key, (process, _))| (key, process)).collect();
        Tables { processes, unfinished, coverage: self.coverage }
    }
}

impl Visit for Collector {
    type Error = SpoolError;

    fn event(&mut self, _event: &Event, _names: &Dictionaries) -> Result<(), SpoolError> {
        Ok(())
    }

    fn process(&mut self, process: Process) -> Result<(), SpoolError> {
        self.processes.insert((process.pid, process.start), (process, true));
        Ok(())
    }

    fn image(&mut self, process: Process) -> Result<(), SpoolError> {
        self.processes.insert((process.pid, process.start), (process, false));
        Ok(())
    }

    fn coverage(&mut self, coverage: Coverage) -> Result<(), SpoolError> {
        self.coverage = Some(coverage);
        Ok(())
    }
}
