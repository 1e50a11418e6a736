//! An aggregated graph as jobs: each vertex of processes is one that stands for its members. It describes, nothing runs.

use iotrail_workflow::jobs::{Job, JobFile, JobId, Jobs};
use iotrail_workflow::{FileVertex, Graph, Relation, Vertex};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The vertices of processes as jobs.
pub(crate) fn describe(graph: &Graph) -> Jobs {
    let mut number_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut jobs: Vec<Job> = Vec::new();
    for (index, vertex) in graph.vertices.iter().enumerate() {
        if let Some(process) = vertex.process() {
            number_of.insert(index, jobs.len());
            jobs.push(Job {
                name: vertex.label.clone(),
                processes: vec![process.process],
                host: process.host.clone(),
                start: process.start,
                end: process.end,
                members: vertex.members,
                ..Job::default()
            });
        }
    }
    let mut writers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut readers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut needs: BTreeSet<(usize, usize)> = BTreeSet::new();
    for edge in &graph.edges {
        let (from, to) = (edge.from.index(), edge.to.index());
        match (number_of.get(&from), number_of.get(&to)) {
            (Some(&job), None) => {
                let file = file(&graph.vertices[to], edge.read.bytes, edge.written.bytes);
                jobs[job].outputs.extend(file);
                writers.entry(to).or_default().push(job);
            }
            (None, Some(&job)) => {
                let file = file(&graph.vertices[from], edge.read.bytes, edge.written.bytes);
                jobs[job].inputs.extend(file);
                readers.entry(from).or_default().push(job);
            }
            (Some(&before), Some(&after)) if edge.relation == Relation::Continue => {
                needs.insert((after, before));
            }
            _ => {}
        }
    }
    for (file, writers) in &writers {
        for reader in readers.get(file).into_iter().flatten() {
            needs.extend(writers.iter().filter(|writer| *writer != reader).map(|writer| (*reader, *writer)));
        }
    }
    for (job, needed) in needs {
        // An aggregated graph may have cycles; only what comes later needs what is earlier.
        if needed < job {
            jobs[job].needs.push(JobId(needed as u32));
        }
    }
    Jobs { jobs, aggregated: true, span: graph.span, ..Jobs::default() }
}

fn file(vertex: &Vertex, read: u64, written: u64) -> Option<JobFile> {
    let FileVertex { path, size, .. } = vertex.file()?;
    let path = if vertex.members > 1 { Arc::clone(&vertex.label) } else { Arc::clone(path) };
    Some(JobFile {
        path,
        size: *size,
        read,
        written,
        only: true,
        stays: true,
        updated: false,
        older: false,
        link: false,
        timed: false,
    })
}
