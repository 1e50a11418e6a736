//! From event logs to models of workloads: what each rank did to files, groups of ranks that do alike, what is measured of their
//! sessions, and the program of sessions and barriers that a model file holds.
//!
//! Source: He, Du, Narasimhamurthy, PIONEER, sections V-A to V-C; definitions: docs/workload.md.

mod after;
mod apart;
mod clocks;
mod cost;
mod cuts;
mod ends;
mod fit;
mod gather;
mod kin;
mod knowledge;
mod laws;
mod levels;
mod likeness;
mod lives;
mod messages;
mod mpi_io;
mod names;
mod own;
mod paper;
mod pauses;
mod pipes;
mod places;
mod portrait;
mod program;
mod result;
mod runs;
mod sessions;
mod streams;
mod told;
mod validate;
mod ways;

pub use after::WaitFigures;
pub use clocks::Disagreement;
pub use gather::LeftOut;
pub use levels::LevelFigures;
pub use likeness::{CloneSource, Curve, Likeness, NothingToShow, OverTime, Shares, Side, likeness};
pub use messages::{MessageFigures, MessageSources};
pub use names::{Classing, Naming};
pub use portrait::{Deed, PathFile, PathPicture, PathRequest, Portrait};
pub use program::Level;
pub use result::{
    Characterization, ClassFigures, Confirmation, Figures, Fit, GroupFigures, NotKept, Options, Quantiles,
    RankedBy, Tokens, characterize, confirm,
};
pub use streams::Ranking;
pub use validate::{Figure, Judged, Sample, VERDICTS, Validation, validate};

use iotrail_model::units;

/// Why a log cannot be characterised.
#[derive(Debug, thiserror::Error)]
pub enum CharacterizeError {
    /// It cannot be read.
    #[error(transparent)]
    Trail(#[from] iotrail_trail::TrailError),
    /// The selection makes no sense.
    #[error(transparent)]
    Query(#[from] iotrail_query::QueryError),
    /// Nobody touched a file of the program's own.
    #[error("no call on a file of the program's own is selected: {}", left_out(.0))]
    Nothing(LeftOut),
    /// More files than a model may have.
    #[error("{0} kinds of files and sessions, at most {1} fit a model; select fewer files")]
    TooMany(usize, usize),
}

/// What there is in place of calls on files of the program.
fn left_out(found: &LeftOut) -> String {
    let all = [
        (found.on_system_files, "on files of the system"),
        (found.on_no_file, "on what is no file"),
        (
            found.on_unnamed_files,
            "on files whose names are not known, cut by the tracer or opened before it began",
        ),
        (found.unfinished, "whose end was not seen"),
    ];
    let there = all.iter().filter(|(number, _)| *number > 0);
    let there: Vec<String> =
        there.map(|(number, what)| format!("{} {what}", units::counted(*number, "call", "calls"))).collect();
    match there.is_empty() {
        true => "there is no call on files at all".to_owned(),
        false => there.join("; "),
    }
}
