//! What an experiment says of a piece of advice.

use crate::result::Item;
use serde::{Deserialize, Serialize};

/// A piece of advice that was put to the test: what it estimated, and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// Name of the rule.
    pub rule: String,
    /// The file.
    pub file: String,
    /// Base name of the executable.
    pub program: String,
    /// How the ranges lie, of runs.
    pub shape: Option<String>,
    /// Calls that the advice is about.
    pub calls: u64,
    /// Calls less.
    pub saved_calls: u64,
    /// Estimated time that the advice saves, in ns.
    pub saved_ns: Option<u64>,
    /// The part of it that explains the elapsed time.
    pub at_stake_ns: Option<u64>,
    /// What was measured; NULL if that was not possible.
    pub measured: Option<Measured>,
    /// Why nothing was measured.
    pub reason: Option<String>,
}

/// The calls of the program on the file, as recorded and as advised, executed in turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// How often each form was executed.
    pub runs: u64,
    /// Calls as recorded, with the opens and closes of the file.
    pub calls_recorded: u64,
    /// Calls as advised.
    pub calls_advised: u64,
    /// Those of them that move several buffers (`readv`, `writev`).
    #[serde(default)]
    pub vectored_calls: u64,
    /// Threads that issued the calls.
    #[serde(default = "one")]
    pub threads: u64,
    /// How often, as recorded, one of them waited for a call of another.
    #[serde(default)]
    pub waits: u64,
    /// What became of the time between calls: `keep` or `drop`.
    #[serde(default = "dropped")]
    pub think: String,
    /// Calls of the program on the file that were left out because there were too many.
    pub left_out: u64,
    /// Calls of the program on the file that scratch files cannot stand for.
    #[serde(default)]
    pub not_issued: u64,
    /// Median time of the calls as recorded, in ns.
    pub recorded_ns: u64,
    /// Median time of the calls as advised, in ns.
    pub advised_ns: u64,
    /// `recorded_ns / advised_ns`: more than 1 if the advice helps.
    pub ratio: f64,
    /// The smallest ratio of a run as recorded and the one as advised that followed.
    pub ratio_min: f64,
    /// The largest.
    pub ratio_max: f64,
    /// What was done about the page cache before each run: `cold` or `warm`.
    pub cache: String,
    /// Whether the files were opened with `O_DIRECT`.
    #[serde(default)]
    pub direct: bool,
    /// Where the scratch files were.
    pub directory: String,
    /// Calls of a run as recorded that returned something else than in the recording: the most of any run.
    pub differences_recorded: u64,
    /// Calls of a run as advised that did not return what the advice needs: the most of any run.
    pub differences_advised: u64,
}

/// Measurements of before had one thread.
const fn one() -> u64 {
    1
}

fn dropped() -> String {
    "drop".to_owned()
}

impl Proof {
    /// A proof without a result.
    #[must_use]
    pub fn of(item: Item<'_>) -> Self {
        Self {
            rule: item.rule().to_owned(),
            file: item.file().to_owned(),
            program: item.program().to_owned(),
            shape: item.shape().map(str::to_owned),
            calls: item.calls(),
            saved_calls: item.saved_calls(),
            saved_ns: item.saved_ns(),
            at_stake_ns: item.at_stake_ns(),
            measured: None,
            reason: None,
        }
    }

    /// Whether it is of that advice, as far as rule, file, program and numbers of calls tell.
    #[must_use]
    pub fn is_of(&self, item: Item<'_>) -> bool {
        (self.rule.as_str(), self.file.as_str(), self.program.as_str(), self.shape.as_deref())
            == (item.rule(), item.file(), item.program(), item.shape())
            && (self.calls, self.saved_calls) == (item.calls(), item.saved_calls())
    }
}
