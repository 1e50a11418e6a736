//! A query as the user writes it: raw words, nothing checked. [`crate::Query::new`] makes the checked plan.

use crate::group::Groups;

/// The words of a query. The default is the paper's mapping of all events, the default cases and no groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuerySpec {
    /// `--map`: `auto`, a preset (`dir2`, `dirN`, `file`, `call`, `template`, `ext`) or the name of a rules file; `None` is `dir2`.
    pub map: Option<String>,
    /// Which events are analysed.
    pub select: SelectSpec,
    /// What a case is: `rank`, `pid`, `tid` or `exec`. With `None`, one of these words in [`SelectSpec::case`] decides (on the
    /// command line both are `--case`), and without one [`crate::CaseBy::choose`].
    pub case_by: Option<String>,
    /// `--by`: an attribute or rules, see [`crate::group`]; `None` makes no groups.
    pub group_by: Option<String>,
    /// `--groups`: the groups that come first, in this order; the very first is the baseline of comparisons.
    pub groups_first: Vec<String>,
    /// Groups that somebody made who knows more than words say; they take the place of [`Self::group_by`].
    pub groups: Option<Groups>,
    /// `--var NAME=PATH`: site variables; they win over those of the rules file.
    pub variables: Vec<String>,
    /// A configuration file whose `[variables]` count where neither `--var` nor the rules file names them.
    pub config: Option<String>,
}

/// The words of a selection. An event is selected if it meets every condition that is given; within one list, one match is
/// enough. Each word of a list may itself be a list separated by commas, except path patterns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectSpec {
    /// `--layer`: `syscall`, `posix`, `libc`, `mpiio`, `mpi` or `all`; if none is named, the lowest that the log has.
    pub layer: Vec<String>,
    /// `--call`: names or globs (`read,p*`).
    pub call: Vec<String>,
    /// `--not-call`.
    pub not_call: Vec<String>,
    /// `--path`: globs, matched against the exact path, its canonical name and that with site variables.
    pub path: Vec<String>,
    /// `--not-path`.
    pub not_path: Vec<String>,
    /// `--case`: globs of case names (`a/host1/*`) or of an attribute (`cid=a`); also the word that says what a case is.
    pub case: Vec<String>,
    /// `--not-case`.
    pub not_case: Vec<String>,
    /// `--pid`: numbers or ranges (`77`, `100-200`).
    pub pid: Vec<String>,
    /// `--not-pid`.
    pub not_pid: Vec<String>,
    /// `--since`: events that start then or later.
    pub since: Option<String>,
    /// `--until`: events that start before then.
    pub until: Option<String>,
    /// `--min-size`: transfers of at least so many bytes; never a call whose size is NULL.
    pub min_size: Option<String>,
    /// `--max-size`: transfers of at most so many bytes; never a call whose size is NULL.
    pub max_size: Option<String>,
    /// `--failed`: `Some(true)` selects failed calls, `Some(false)` (`--no-failed`) all others.
    pub failed: Option<bool>,
}
