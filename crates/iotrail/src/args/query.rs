//! Which events, what they are called, where they belong: the words of a query.

use iotrail_query::{AUTO, ProcessGroupBy, ProcessGroups, ProcessTable, QuerySpec, SelectSpec};
use iotrail_trail::EventLog;
use std::path::PathBuf;

const SELECTION: &str = "Selection";
const MEANING: &str = "Activities and cases";

/// Conditions on events; an event must meet all that are given, and one word of each list.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = SELECTION)]
pub(crate) struct Selection {
    /// Interfaces whose calls count, comma-separated: `syscall`, `posix`, `libc`, `mpiio`, `mpi`, or `all`. Default: the lowest in
    /// the trail, so that nothing is counted twice; `events` prints all.
    #[arg(long, value_name = "LAYER")]
    layer: Vec<String>,

    /// Calls by name or glob: `read,p*`.
    #[arg(long, value_name = "CALL")]
    call: Vec<String>,

    /// Calls to leave out.
    #[arg(long, value_name = "CALL")]
    not_call: Vec<String>,

    /// Paths by glob, exact or canonical: `'/scratch/**'`.
    #[arg(long, value_name = "GLOB")]
    path: Vec<String>,

    /// Paths to leave out.
    #[arg(long, value_name = "GLOB")]
    not_path: Vec<String>,

    /// Cases by name (`a/host1/*`) or attribute (`cid=a`). The words `rank`, `pid`, `tid` and `exec` set what a case is instead:
    /// the recorded rank, or each process, thread or executed program in it.
    #[arg(long, value_name = "CASE")]
    case: Vec<String>,

    /// Cases to leave out.
    #[arg(long, value_name = "CASE")]
    not_case: Vec<String>,

    /// Processes by id or range: `77,100-200`.
    #[arg(long, value_name = "PID")]
    pid: Vec<String>,

    /// Processes to leave out.
    #[arg(long, value_name = "PID")]
    not_pid: Vec<String>,

    /// Calls that start at this time or later: RFC 3339, time of day, or from the start of the trail: `+1.5s`, `50%`.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,

    /// Calls that start before this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: Option<String>,

    /// Transfers of at least N bytes: `4KiB`. 0 selects all transfers, those of 0 bytes (end of file) included, and no other call.
    #[arg(long, value_name = "BYTES")]
    min_size: Option<String>,

    /// Transfers of at most N bytes, those of 0 bytes (end of file) included, and no other call.
    #[arg(long, value_name = "BYTES")]
    max_size: Option<String>,

    /// Only calls that failed.
    #[arg(long)]
    failed: bool,

    /// Only calls that succeeded.
    #[arg(long, conflicts_with = "failed", visible_alias = "ok")]
    no_failed: bool,
}

impl Selection {
    pub(crate) fn spec(&self) -> SelectSpec {
        SelectSpec {
            layer: self.layer.clone(),
            call: self.call.clone(),
            not_call: self.not_call.clone(),
            path: self.path.clone(),
            not_path: self.not_path.clone(),
            case: self.case.clone(),
            not_case: self.not_case.clone(),
            pid: self.pid.clone(),
            not_pid: self.not_pid.clone(),
            since: self.since.clone(),
            until: self.until.clone(),
            min_size: self.min_size.clone(),
            max_size: self.max_size.clone(),
            failed: if self.failed { Some(true) } else { self.no_failed.then_some(false) },
        }
    }
}

/// What an activity is.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = MEANING)]
pub(crate) struct Mapping {
    /// What an activity is: `auto` (the call and the part of the file tree in which the program does its I/O; the start of each program
    /// is one activity), `dir2` (the call and the top two directories), `dirN`, `file`, `call`, `template`, `ext`, or a TOML file of
    /// rules. Default: `auto`.
    #[arg(short, long, value_name = "PRESET|FILE")]
    map: Option<String>,

    /// A site variable that shortens paths first: `SCRATCH=/p/scratch/me`.
    #[arg(long, value_name = "NAME=PATH")]
    var: Vec<String>,

    /// A TOML file with site variables for every run. Default: `iotrail/config.toml` in $XDG_CONFIG_HOME or ~/.config, if there is one.
    #[arg(long, value_name = "FILE", env = "IOTRAIL_CONFIG")]
    config: Option<PathBuf>,
}

impl Mapping {
    fn spec(&self, select: SelectSpec) -> QuerySpec {
        let config = self.config.clone().or_else(default_config);
        QuerySpec {
            map: self.map.clone(),
            select,
            variables: self.var.clone(),
            config: config.map(|path| path.display().to_string()),
            ..QuerySpec::default()
        }
    }
}

/// What an activity, a case and a group is.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = MEANING)]
pub(crate) struct Grouping {
    #[command(flatten)]
    mapping: Mapping,

    /// Groups of cases: `cid`, `host`, `rid`, `label`, `trail`, or rules such as `cid=a;cid=b`.
    #[arg(long, value_name = "GROUPS")]
    by: Option<String>,
}

/// A whole query.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Query {
    #[command(flatten)]
    meaning: Grouping,

    #[command(flatten)]
    selection: Selection,
}

impl Query {
    pub(crate) fn spec(&self) -> QuerySpec {
        let mut spec = self.meaning.mapping.spec(self.selection.spec());
        spec.map.get_or_insert_with(|| AUTO.to_owned());
        QuerySpec { group_by: self.meaning.by.clone(), ..spec }
    }

    pub(crate) fn is_grouped(&self) -> bool {
        self.meaning.by.is_some()
    }
}

/// How processes are grouped.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Phases {
    /// Groups of processes: `exe` (the last program of each), `job` (its top-level ancestor below the root process), `host`, `cid`,
    /// `rank`, `label`, `user`, `env:NAME`, `cmd~REGEX`, or a TOML file with `[[process]]` rules.
    #[arg(long, value_name = "GROUP", default_value = "exe", help_heading = MEANING)]
    pub(crate) phases: String,
}

impl Phases {
    pub(crate) fn parse(&self) -> anyhow::Result<ProcessGroupBy> {
        Ok(ProcessGroupBy::parse(&self.phases)?)
    }
}

/// A query about groups of processes.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ProcessQuery {
    #[command(flatten)]
    phases: Phases,

    #[command(flatten)]
    mapping: Mapping,

    #[command(flatten)]
    selection: Selection,
}

impl ProcessQuery {
    pub(crate) fn spec(&self) -> QuerySpec {
        self.mapping.spec(self.selection.spec())
    }

    /// The grouping as written.
    pub(crate) fn phases(&self) -> &str {
        &self.phases.phases
    }

    pub(crate) fn groups(&self, log: &EventLog, processes: &ProcessTable) -> anyhow::Result<ProcessGroups> {
        Ok(self.phases.parse()?.divide(log, processes))
    }
}

/// The user's configuration, if there is one.
fn default_config() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let directory = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(directory.join("iotrail/config.toml")).filter(|file| file.is_file())
}
