//! Models of what the processes of a program do to files.
//!
//! Pure: requests of streams in, groups, paths and characteristics out; no trails, no files, no printing. A *stream* is a
//! thread of a rank, a *request* a call about a file, a *session* one open file description from its open to its last
//! close.
//!
//! Source: He, Du, Narasimhamurthy, PIONEER: a solution to parallel I/O workload characterization and generation.

mod characteristics;
mod distribution;
mod file_class;
mod groups;
mod merge;
mod mix;
mod model;
mod path;
mod profile;
mod random;
mod requests;
mod series;
mod session;
mod templates;
mod validation;

pub use characteristics::{Characteristics, Pairs, Placed, characteristics};
pub use distribution::Distribution;
pub use file_class::{Accessed, Class, ClassedFile, FileIndex, NamePart, classes};
pub use groups::{Behaviour, Group, groups};
pub use merge::merge;
pub use mix::{share, total_variation};
pub use model::{
    Action, Apart, DrawnPlaces, FileKind, Knob, KnobError, Knobs, MessageHalf, Mode, Model, ModelError,
    ModelFile, ModelSession, NameCall, OffsetLaw, Partner, PathBarrier, PlaceRun, ProgramStep, RankGroup,
    Ratio, RequestKind, SessionLayer, ShareKnob, Sharing, Statistics, Stride, Stuck, Synthetic, TooMuch,
    Totals, VERSION, common_divisor, locks_fit, repeats_after, synthesise, takes_locks,
};
pub use path::{Path, PathElement, Step, path};
pub use profile::{ClassProfile, Distance, Profile};
pub use requests::{Call, CallForm, Request, Slack, Variant, requests};
pub use series::{Moment, Series, bin_width, series_distance};
pub use session::{Session, sessions};
pub use templates::TEMPLATES;
pub use validation::{Comparison, Runs, RunsError, Verdict, compare};
