//! WfCommons' WfFormat 1.5: a workflow and how it was executed, as JSON.
//!
//! Names of files are ids of letters, digits, `-`, `_` and `.` there; every other character becomes `_`, and a number is
//! put behind where two names would become one.

use crate::error::ExportError;
use crate::escape::{Base, program};
use crate::uses::id;
use iotrail_model::Nanos;
use iotrail_workflow::jobs::{Job, JobFile, Jobs};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The ids of files.
#[derive(Default)]
struct Ids {
    of_path: BTreeMap<String, String>,
    taken: BTreeSet<String>,
    sizes: BTreeMap<String, i64>,
}

impl Ids {
    fn id(&mut self, file: &JobFile, base: &Base) -> String {
        let path = base.relative(&file.path);
        if let Some(id) = self.of_path.get(&path) {
            return id.clone();
        }
        let safe: String = path
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' })
            .collect();
        let mut id = safe.clone();
        let mut number = 2;
        while !self.taken.insert(id.clone()) {
            id = format!("{safe}.{number}");
            number += 1;
        }
        // The format knows no unknown size: what was moved at most is the best guess.
        let moved = i64::try_from(file.read.max(file.written)).unwrap_or(i64::MAX);
        self.sizes.insert(id.clone(), file.size.unwrap_or(moved).max(0));
        self.of_path.insert(path, id.clone());
        id
    }
}

fn seconds(nanos: Nanos) -> f64 {
    nanos.0 as f64 / 1e9
}

/// The jobs as an instance.
pub(crate) fn document(jobs: &Jobs, title: &str) -> Result<String, ExportError> {
    if jobs.jobs.is_empty() {
        let why = "no job is in it; take the selection back, or name the managers with --manager".to_owned();
        return Err(ExportError::CannotHold { format: "wfformat", why });
    }
    let (base, mut ids) = (Base::of(jobs), Ids::default());
    let mut children: Vec<Vec<String>> = vec![Vec::new(); jobs.jobs.len()];
    for (number, job) in jobs.jobs.iter().enumerate() {
        job.needs.iter().for_each(|needed| children[needed.index()].push(id(number)));
    }
    let mut tasks = Vec::with_capacity(jobs.jobs.len());
    for (number, job) in jobs.jobs.iter().enumerate() {
        let mut files = |files: &[JobFile]| files.iter().map(|file| ids.id(file, &base)).collect::<Vec<_>>();
        let (inputs, outputs) = (files(&job.inputs), files(&job.outputs));
        tasks.push(json!({
            "name": if job.name.is_empty() { "job" } else { &*job.name },
            "id": id(number),
            "parents": job.needs.iter().map(|needed| id(needed.index())).collect::<Vec<_>>(),
            "children": children[number],
            "inputFiles": inputs,
            "outputFiles": outputs,
        }));
    }
    let files: Vec<Value> =
        ids.sizes.iter().map(|(id, size)| json!({ "id": id, "sizeInBytes": size })).collect();
    let mut workflow = Map::new();
    workflow.insert("specification".to_owned(), json!({ "tasks": tasks, "files": files }));
    if let Some(execution) = execution(jobs) {
        workflow.insert("execution".to_owned(), execution);
    }
    let issues = jobs.issues.iter().map(|issue| issue.message());
    let remarks: Vec<String> = jobs.environment_remark().into_iter().chain(issues).collect();
    let mut document = Map::new();
    document.insert("name".to_owned(), json!(if title.is_empty() { "workflow" } else { title }));
    if !remarks.is_empty() {
        document.insert("description".to_owned(), json!(remarks.join("\n")));
    }
    document.insert("schemaVersion".to_owned(), json!("1.5"));
    document.insert("workflow".to_owned(), Value::Object(workflow));
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}

/// The execution, if it is known when it was and how long each job took.
fn execution(jobs: &Jobs) -> Option<Value> {
    let (start, end) = jobs.span?;
    let mut hosts = BTreeSet::new();
    let mut tasks = Vec::new();
    for (number, job) in jobs.jobs.iter().enumerate() {
        let Some(span) = job.span() else { continue };
        hosts.extend(job.host.as_deref());
        tasks.push(task(number, job, span, jobs));
    }
    if tasks.is_empty() {
        return None;
    }
    let mut execution = Map::new();
    execution.insert("makespanInSeconds".to_owned(), json!(seconds(end - start)));
    execution.insert("executedAt".to_owned(), json!(start.to_rfc3339()));
    execution.insert("tasks".to_owned(), Value::Array(tasks));
    if !hosts.is_empty() {
        let machines: Vec<Value> = hosts.iter().map(|host| json!({ "nodeName": host })).collect();
        execution.insert("machines".to_owned(), Value::Array(machines));
    }
    Some(Value::Object(execution))
}

fn task(number: usize, job: &Job, span: Nanos, jobs: &Jobs) -> Value {
    let mut task = Map::new();
    let mut put = |key: &str, value: Value| drop(task.insert(key.to_owned(), value));
    put("id", json!(id(number)));
    put("runtimeInSeconds", json!(seconds(span)));
    if let Some(words) = program(job, jobs)
        && let Some((program, arguments)) = words.split_first()
    {
        put("command", json!({ "program": program, "arguments": arguments }));
    }
    if let Some(cpu) = job.cpu.filter(|_| span.0 > 0) {
        put("avgCPU", json!(cpu.0 as f64 * 100.0 / span.0 as f64));
    }
    put("readBytes", json!(job.read));
    put("writtenBytes", json!(job.written));
    if let Some(memory) = job.memory {
        put("memoryInBytes", json!(memory));
    }
    if let Some(host) = &job.host {
        put("machine", json!(host));
    }
    Value::Object(task)
}
