//! Files and programs of jobs as Pegasus knows them, for its YAML and its older XML.

use crate::escape::{Base, argument};
use crate::runnable::words;
use iotrail_workflow::jobs::{Job, JobFile, Jobs};
use std::collections::{BTreeMap, BTreeSet};

/// A file of a job by its logical name.
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) lfn: String,
    pub(crate) input: bool,
    pub(crate) stage_out: bool,
    pub(crate) size: Option<i64>,
}

/// A job in the terms of Pegasus.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) transformation: String,
    /// Words as a shell would write them, because the planner reads them like one.
    pub(crate) arguments: Vec<String>,
    pub(crate) uses: Vec<Use>,
    pub(crate) parents: Vec<String>,
}

/// All that Pegasus is told.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) tasks: Vec<Task>,
    /// Name of each transformation and its program.
    pub(crate) transformations: BTreeMap<String, Option<String>>,
    /// Logical and real name of each file that nobody makes.
    pub(crate) replicas: BTreeMap<String, String>,
}

/// Letters, digits, `_`, `-` and `.` only: what a name of a transformation may consist of.
fn identifier(text: &str) -> String {
    let safe: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' }).collect();
    if safe.is_empty() { "job".to_owned() } else { safe }
}

pub(crate) fn id(number: usize) -> String {
    format!("ID{:07}", number + 1)
}

/// The jobs as a plan.
pub(crate) fn plan(jobs: &Jobs) -> Plan {
    let base = Base::of(jobs);
    let mut plan = Plan::default();
    let made: BTreeSet<&str> =
        jobs.jobs.iter().flat_map(|job| &job.outputs).map(|file| &*file.path).collect();
    for (number, job) in jobs.jobs.iter().enumerate() {
        let mut words = words(job, jobs, |_| false).unwrap_or_default().into_iter();
        let program = words.next();
        let transformation = named(&mut plan.transformations, job, program);
        for file in job.inputs.iter().filter(|file| !made.contains(&*file.path)) {
            plan.replicas.insert(base.relative(&file.path), file.path.to_string());
        }
        plan.tasks.push(Task {
            id: id(number),
            transformation,
            arguments: words.map(|word| argument(&word)).collect(),
            uses: uses(job, &base),
            parents: job.needs.iter().map(|needed| id(needed.index())).collect(),
        });
    }
    plan
}

/// The name of the job's program; a number behind it where another program has the name.
fn named(names: &mut BTreeMap<String, Option<String>>, job: &Job, program: Option<String>) -> String {
    let name = identifier(&job.name);
    let mut candidate = name.clone();
    for number in 2.. {
        match names.get(&candidate) {
            None => break,
            Some(known) if *known == program => break,
            Some(_) => candidate = format!("{name}-{number}"),
        }
    }
    names.entry(candidate.clone()).or_insert(program);
    candidate
}

fn uses(job: &Job, base: &Base) -> Vec<Use> {
    let made: BTreeSet<&str> = job.outputs.iter().map(|file| &*file.path).collect();
    let one = |file: &JobFile, input| Use {
        lfn: base.relative(&file.path),
        input,
        stage_out: !input && file.stays,
        size: file.size.filter(|size| *size >= 0),
    };
    // A file that is changed in place is an output; Pegasus knows each file of a job once.
    let inputs = job.inputs.iter().filter(|file| !made.contains(&*file.path)).map(|file| one(file, true));
    inputs.chain(job.outputs.iter().map(|file| one(file, false))).collect()
}
