//! What an importer of a format provides.

use crate::input::TraceFile;
use crate::intake::{Intake, Taker};
use crate::options::ImportOptions;
use crate::plan::Job;
use crate::probe::{Content, Probe};
use crate::reader::TraceReader;
use crate::rows::Rows;
use iotrail_model::Dictionaries;
use std::fmt::Debug;

/// A format of traces.
pub trait Format: Debug + Sync {
    /// Its name: a word of `--format`, and the source that trails state.
    fn name(&self) -> &'static str;

    /// What its files hold, in words: `strace output`.
    fn what(&self) -> &'static str;

    /// How files of it are made.
    fn advice(&self) -> &'static str;

    /// What to do with a file that is no trace, but begins like something of which this format can be made.
    fn advice_on(&self, _head: &str) -> Option<&'static str> {
        None
    }

    /// Whether a text that begins like this is of this format. The first format that says so is asked for the rest; the last one is
    /// asked if none does.
    fn recognises(&self, head: &[u8]) -> bool;

    /// Looks at a file, which `reader` has begun to read, as far as a plan of the import needs it.
    fn probe(
        &self,
        _file: &TraceFile,
        _reader: TraceReader,
        _options: &ImportOptions,
        _names: &mut Dictionaries,
    ) -> Probe {
        Probe::of(Content::Trace)
    }

    /// What it delivers.
    fn door(&self) -> Door<'_>;
}

/// The two ways from a file to the rows of a trail.
#[derive(Clone, Copy)]
pub enum Door<'a> {
    /// Calls with their arguments as seen: a resolver finds paths, offsets, processes.
    Calls(&'a dyn RawCalls),
    /// Events whose paths are known.
    Events(&'a dyn Events),
}

/// Reads files as raw calls.
pub trait RawCalls: Sync {
    /// Reads the files of a job; the first of them on from where `opened` is, if it was opened before. False if no more is taken.
    fn read(
        &self,
        job: &Job,
        opened: Option<TraceReader>,
        intake: &mut Intake<'_, '_, dyn Taker + '_>,
    ) -> bool;
}

/// Reads files as events.
pub trait Events: Sync {
    /// As [`RawCalls::read`].
    fn read(&self, job: &Job, opened: Option<TraceReader>, intake: &mut Intake<'_, '_, Rows>) -> bool;
}
