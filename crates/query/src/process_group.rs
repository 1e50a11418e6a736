//! Groups of processes: the phases of a workflow (Dun et al., "ParaTrac", section 6.3, where a phase is a program).
//!
//! | by | a process belongs to |
//! |---|---|
//! | `exe` | the base name of its last executable |
//! | `job` | the executable of the process, directly below the first process of the recording, that it descends from |
//! | `cid`, `host`, `rank`, `label` | the attribute of its case |
//! | `user` | the environment variable `USER`, else `LOGNAME`, of itself or its nearest ancestor that has one |
//! | `env:NAME` | the value of `NAME`, of itself or its nearest ancestor that has one |
//! | `cmd~REGEX` | the first capture group, or the whole match, in its command line with blanks between the words |
//! | a file | the first fitting `[[process]]` rule of a rules file, see [`crate::process_rules`] |
//!
//! A process of which that is unknown belongs to no group; whoever shows groups shows it as [`NO_GROUP`].

use crate::attribute::Attribute;
use crate::classified::GroupId;
use crate::error::QueryError;
use crate::group::regex_problem;
use crate::preset::base;
use crate::process_rules::{ProcessRules, Subject};
use crate::process_table::{ProcessId, ProcessTable};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{CaseId, Pid, Process, Timestamp};
use iotrail_trail::EventLog;
use regex::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The name under which processes of no group are shown.
pub const NO_GROUP: &str = "(none)";

/// The words for all groupings, for messages.
pub const NAMES: &str = "exe, job, host, cid, rank, label, user, env:NAME, cmd~REGEX, or the name of a rules file with [[process]] rules";

const OPTION: &str = "by";
const REGEX_LIMIT: usize = 1 << 20;

/// How processes are divided.
#[derive(Clone, Debug)]
pub enum ProcessGroupBy {
    /// By the base name of the executable.
    Exe,
    /// By the executable of the job: the process below the first process that it descends from.
    Job,
    /// By an attribute of the case.
    Case(Attribute),
    /// By the user.
    User,
    /// By a recorded environment variable.
    Env(String),
    /// By what an expression finds in the command line.
    Cmd(Regex),
    /// By the rules of a file.
    Rules(ProcessRules),
}

/// The groups of a log's processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessGroups {
    /// Names by [`GroupId`], the first to start first.
    pub names: Vec<String>,
    /// The group of each process, by [`ProcessId`].
    pub of_process: Vec<Option<GroupId>>,
    /// If groups are of jobs, the process that each belongs to, by [`ProcessId`]: itself, or the ancestor that is the job.
    pub job_of: Option<Vec<ProcessId>>,
}

impl ProcessGroups {
    /// Whether a process counts as a job: if groups are of jobs only the topmost of each, else every process.
    #[must_use]
    pub fn is_job(&self, process: ProcessId) -> bool {
        self.job_of.as_ref().is_none_or(|jobs| jobs.get(process.index()) == Some(&process))
    }

    /// The group of a process.
    #[must_use]
    pub fn of(&self, process: ProcessId) -> Option<GroupId> {
        self.of_process.get(process.index()).copied().flatten()
    }

    /// The name of a group, [`NO_GROUP`] for none.
    #[must_use]
    pub fn name(&self, group: Option<GroupId>) -> &str {
        group.and_then(|group| self.names.get(group.0 as usize)).map_or(NO_GROUP, String::as_str)
    }

    /// Groups of the names that processes have, numbered in the order in which their first processes start.
    fn new(names: &[Option<Cow<'_, str>>], processes: &ProcessTable) -> Self {
        let mut by_start: Vec<usize> = (0..names.len()).collect();
        // Unknown starts last; processes are sorted by case first, so the number alone is no order of time.
        by_start.sort_by_key(|at| processes.all()[*at].start.map_or((true, 0), |start| (false, start.0)));
        let mut ids: HashMap<&str, GroupId, RandomState> = HashMap::default();
        let mut groups = Self { of_process: vec![None; names.len()], ..Self::default() };
        for at in by_start {
            let Some(name) = names[at].as_deref() else { continue };
            let id = *ids.entry(name).or_insert_with(|| {
                groups.names.push(name.to_owned());
                GroupId(groups.names.len() as u32 - 1)
            });
            groups.of_process[at] = Some(id);
        }
        groups
    }
}

impl ProcessGroupBy {
    /// The grouping that `word` names.
    ///
    /// # Errors
    /// If it names none, and no rules file that can be read and understood.
    pub fn parse(word: &str) -> Result<Self, QueryError> {
        Ok(match word {
            "exe" => Self::Exe,
            "job" => Self::Job,
            "user" => Self::User,
            "cid" => Self::Case(Attribute::Cid),
            "host" => Self::Case(Attribute::Host),
            "rank" | "rid" => Self::Case(Attribute::Rid),
            "label" => Self::Case(Attribute::Label),
            _ => match (word.strip_prefix("env:"), word.strip_prefix("cmd~")) {
                (Some(name), _) => Self::Env(variable(word, name)?),
                (_, Some(expression)) => Self::Cmd(expression_of(word, expression)?),
                _ => Self::Rules(file(word)?),
            },
        })
    }

    /// Divides the processes of `log`, whose process table is `processes`.
    #[must_use]
    pub fn divide(&self, log: &EventLog, processes: &ProcessTable) -> ProcessGroups {
        let mut job_of = None;
        let names: Vec<Option<Cow<'_, str>>> = match self {
            Self::Exe => {
                named(processes, |process| executable(processes.last_image(process)).map(Cow::Borrowed))
            }
            Self::Job => {
                let jobs = job_of.insert(jobs(processes));
                named(processes, |process| {
                    executable(processes.last_image(jobs[process.index()])).map(Cow::Borrowed)
                })
            }
            Self::Case(attribute) => named(processes, |process| {
                let case = log.cases().get(processes.get(process).case.index())?;
                attribute.of(case, "").map(Cow::Borrowed)
            }),
            Self::User => {
                let (user, login) = (inherited(processes, "USER"), inherited(processes, "LOGNAME"));
                named(processes, |process| {
                    user[process.index()].or(login[process.index()]).map(Cow::Borrowed)
                })
            }
            Self::Env(name) => {
                let values = inherited(processes, name);
                named(processes, |process| values[process.index()].map(Cow::Borrowed))
            }
            Self::Cmd(regex) => {
                named(processes, |process| found(regex, &command_line(processes.last_image(process))?))
            }
            Self::Rules(rules) => {
                let environments = rules.needs_environment().then(|| environments(processes));
                named(processes, |process| {
                    let image = processes.last_image(process);
                    let command = command_line(image);
                    rules
                        .group(&Subject {
                            exe: image.exe.as_deref(),
                            command: command.as_deref(),
                            environment: environments.as_ref().map_or(&[][..], |all| &all[process.index()]),
                            cwd: image.cwd.as_deref(),
                            case: log.cases().get(image.case.index())?,
                        })
                        .map(Cow::Owned)
                })
            }
        };
        ProcessGroups { job_of, ..ProcessGroups::new(&names, processes) }
    }
}

fn named<'a>(
    processes: &ProcessTable,
    name: impl Fn(ProcessId) -> Option<Cow<'a, str>>,
) -> Vec<Option<Cow<'a, str>>> {
    (0..processes.all().len()).map(|at| name(ProcessId(at as u32)).filter(|name| !name.is_empty())).collect()
}

/// What a process is called: the base name of its executable, else of the first word of its command line.
#[must_use]
pub fn executable(image: &Process) -> Option<&str> {
    let first_word = || image.cmdline.as_deref()?.split('\0').next();
    image.exe.as_deref().or_else(first_word).map(base).filter(|name| !name.is_empty())
}

/// What a process was called at that time, by what it had executed last.
#[must_use]
pub fn program_at(processes: &ProcessTable, case: CaseId, pid: Pid, at: Timestamp) -> Option<&str> {
    let images = processes.images(processes.find(case, pid, at)?);
    let began = |image: &&Process| image.start.is_none_or(|start| start <= at);
    executable(images.iter().rev().find(began).or(images.first())?)
}

/// The command line with blanks between the words.
#[must_use]
pub fn command_line(image: &Process) -> Option<String> {
    image.cmdline.as_deref().map(|line| line.trim_end_matches('\0').replace('\0', " "))
}

/// The job of each process: itself if nobody recorded made it or its parent, else its parent's.
fn jobs(processes: &ProcessTable) -> Vec<ProcessId> {
    let mut jobs: Vec<ProcessId> = Vec::with_capacity(processes.all().len());
    for (index, process) in processes.all().iter().enumerate() {
        // A parent has a smaller number than its children.
        let job = process.parent.filter(|parent| processes.get(*parent).parent.is_some());
        jobs.push(job.map_or(ProcessId(index as u32), |parent| jobs[parent.index()]));
    }
    jobs
}

/// The value of a variable in each process, its own or that of the nearest ancestor that has one.
fn inherited<'a>(processes: &'a ProcessTable, name: &str) -> Vec<Option<&'a str>> {
    let mut values: Vec<Option<&str>> = Vec::with_capacity(processes.all().len());
    for (index, process) in processes.all().iter().enumerate() {
        let own =
            processes.images(ProcessId(index as u32)).iter().rev().find_map(|image| {
                image.env.iter().find_map(|entry| entry.strip_prefix(name)?.strip_prefix('='))
            });
        values.push(own.or_else(|| values[process.parent?.index()]));
    }
    values
}

/// All variables of each process, `NAME=value`, sorted, with those of its ancestors that it has not itself.
fn environments(processes: &ProcessTable) -> Vec<Rc<[&str]>> {
    let kept = |entry: &&String| !entry.starts_with(iotrail_model::ENVIRONMENT_DIGEST);
    let mut all: Vec<Rc<[&str]>> = Vec::with_capacity(processes.all().len());
    for (index, process) in processes.all().iter().enumerate() {
        let above = process.parent.map(|parent| Rc::clone(&all[parent.index()])).unwrap_or_default();
        let images = processes.images(ProcessId(index as u32));
        if images.iter().all(|image| image.env.iter().filter(kept).count() == 0) {
            all.push(above);
            continue;
        }
        let entries = above
            .iter()
            .copied()
            .chain(images.iter().flat_map(|image| &image.env).filter(kept).map(String::as_str));
        let latest: BTreeMap<&str, &str> =
            entries.map(|entry| (entry.split('=').next().unwrap_or(entry), entry)).collect();
        all.push(latest.into_values().collect());
    }
    all
}

/// The first capture group that took part, else the whole match.
fn found(regex: &Regex, line: &str) -> Option<Cow<'static, str>> {
    let captures = regex.captures(line)?;
    let group = captures.iter().skip(1).flatten().next().or_else(|| captures.get(0))?;
    Some(Cow::Owned(group.as_str().to_owned()))
}

fn variable(word: &str, name: &str) -> Result<String, QueryError> {
    if name.is_empty() || name.contains('=') {
        let allowed = "write env:NAME, the name of an environment variable that was recorded";
        return Err(QueryError::word(OPTION, word, "that is not the name of a variable", allowed));
    }
    Ok(name.to_owned())
}

fn expression_of(word: &str, expression: &str) -> Result<Regex, QueryError> {
    RegexBuilder::new(expression).size_limit(REGEX_LIMIT).dfa_size_limit(REGEX_LIMIT).build().map_err(
        |error| {
            let allowed = "write cmd~ and a regular expression, whose first group names the group";
            QueryError::word(OPTION, word, regex_problem(&error), allowed)
        },
    )
}

fn file(word: &str) -> Result<ProcessRules, QueryError> {
    if !std::path::Path::new(word).exists() {
        let allowed = format!("write one of {NAMES}");
        return Err(QueryError::word(
            OPTION,
            word,
            "that is neither a grouping of processes nor a file",
            allowed,
        ));
    }
    ProcessRules::load(word)
}
