//! A recorder's share of a trail, from its first event to its Parquet files.

use crate::error::TrailError;
use crate::meta::{Capture, Totals};
use crate::recording::Progress;
use iotrail_model::{CaseName, Coverage};
use iotrail_spool::SpoolWriter;
use std::num::NonZeroUsize;
use std::path::Path;

/// Which trail a recorder contributes to, and as what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinOptions {
    /// What the recorders of one run have in common: the launcher's job and step.
    pub run: Option<String>,
    /// The rank of the program in its run.
    pub rank: Option<u32>,
    /// The number of ranks of the run.
    pub world: Option<u32>,
    /// Replace a trail of another run. Of several ranks only the first one replaces; the others join it.
    pub overwrite: bool,
    /// How the events are captured; `command` and `host` are those of this recorder.
    pub capture: Capture,
    /// The recorded command line; empty if processes were attached to.
    pub command: Vec<String>,
    /// The name of the case.
    pub case: CaseName,
    /// Free text by which runs are told apart.
    pub label: Option<String>,
}

/// A recorder's share of a trail. Dropped before [`Recording::finish`], its spool stays, as if it had been killed.
#[derive(Debug)]
pub struct Recording {
    writer: SpoolWriter,
}

impl Recording {
    /// Makes the trail `target`, or joins it if recorders of the same run made it: the same `run`, or, where the launcher
    /// names none, the same command and number of ranks without this rank.
    ///
    /// # Errors
    /// Another trail, or something that is no trail, is there; the directory cannot be written; another recorder holds
    /// the trail's lock for too long.
    pub fn join(target: &Path, options: JoinOptions) -> Result<Self, TrailError> {
        let _ = (target, options);
        Err(TrailError::NotATrail { path: target.to_owned(), why: String::new() })
    }

    /// Takes the events. Give the spool the coverage statement now and then: it is what is known if the recorder is killed.
    pub fn writer(&mut self) -> &mut SpoolWriter {
        &mut self.writer
    }

    /// Makes Parquet files of the spool with `threads` threads, adds them to the trail, and removes the spool. Answers
    /// what this recorder added. `interleaved` says whether two processes of the case ran at the same time.
    ///
    /// # Errors
    /// The disk is full or the trail was removed. Unless the message says otherwise the spool is complete, and
    /// [`crate::recover`] finishes it when there is space, or elsewhere.
    pub fn finish(
        self,
        coverage: &Coverage,
        interleaved: bool,
        threads: NonZeroUsize,
        progress: Progress<'_>,
    ) -> Result<Totals, TrailError> {
        let _ = (coverage, interleaved, threads, progress);
        Ok(Totals::default())
    }

    /// Takes the recording back as if it had never begun: the command could not be started. A trail that holds nothing
    /// else is removed.
    ///
    /// # Errors
    /// Its files cannot be removed.
    pub fn abandon(self) -> Result<(), TrailError> {
        Ok(())
    }
}
