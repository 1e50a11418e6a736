//! W3C PROV-JSON: processes are activities, versions of files are entities.
//!
//! Reads are `used`, writes and creations `wasGeneratedBy`, forks `wasStartedBy`, a next version `wasDerivedFrom` the one
//! before, a later part of a process `wasInformedBy` the earlier one. Several versions of one file are `specializationOf` it.

use crate::error::ExportError;
use crate::figures::{self, Value};
use crate::workflow::WriteOptions;
use iotrail_model::Timestamp;
use iotrail_workflow::{Edge, Graph, Relation, Vertex, VertexId};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// What names of this document are relative to.
const NAMESPACE: &str = "https://github.com/iotrail/iotrail#";

type Section = Map<String, Json>;

/// The workflow as PROV-JSON.
pub(crate) fn document(graph: &Graph, _options: &WriteOptions) -> Result<String, ExportError> {
    let mut sections: BTreeMap<&str, Section> = BTreeMap::new();
    for (index, vertex) in graph.vertices.iter().enumerate() {
        let section = if vertex.process().is_some() { "activity" } else { "entity" };
        let id = name(VertexId(index as u32), graph);
        sections.entry(section).or_default().insert(id, attributes(graph, vertex));
    }
    specializations(graph, &mut sections);
    for (index, edge) in graph.edges.iter().enumerate() {
        for (section, relation) in relations(graph, edge) {
            let id = format!("_:{section}{index}");
            sections.entry(section).or_default().insert(id, relation);
        }
    }
    let mut document = Map::from_iter([("prefix".to_owned(), json!({ "iotrail": NAMESPACE }))]);
    document.extend(sections.into_iter().map(|(name, section)| (name.to_owned(), Json::Object(section))));
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn name(id: VertexId, graph: &Graph) -> String {
    let kind = if graph.vertex(id).process().is_some() { "process" } else { "file" };
    format!("iotrail:{kind}{}", id.0)
}

fn attributes(graph: &Graph, vertex: &Vertex) -> Json {
    let mut attributes = Section::new();
    for (name, value) in figures::of_vertex(graph, vertex) {
        let (name, value) = match (name.as_str(), value) {
            ("label", Value::Text(text)) => ("prov:label".to_owned(), json!(text)),
            ("start_ns", Value::Whole(at)) => ("prov:startTime".to_owned(), json!(time(Timestamp(at)))),
            ("end_ns", Value::Whole(at)) => ("prov:endTime".to_owned(), json!(time(Timestamp(at)))),
            (_, Value::Text(text)) => (format!("iotrail:{name}"), json!(text)),
            (_, Value::Whole(number)) => (format!("iotrail:{name}"), typed(number)),
            (_, Value::Real(number)) => (format!("iotrail:{name}"), json!(number)),
            (_, Value::Bool(truth)) => (format!("iotrail:{name}"), json!(truth)),
        };
        attributes.insert(name, value);
    }
    Json::Object(attributes)
}

/// Whole numbers may exceed what readers take a JSON number for.
fn typed(number: i64) -> Json {
    json!({ "$": number.to_string(), "type": "xsd:long" })
}

fn time(at: Timestamp) -> String {
    at.to_rfc3339()
}

/// The whole file behind its versions, where there are several.
fn specializations(graph: &Graph, sections: &mut BTreeMap<&str, Section>) {
    let mut versions: BTreeMap<&str, Vec<VertexId>> = BTreeMap::new();
    for (index, vertex) in graph.vertices.iter().enumerate() {
        if let Some(file) = vertex.file() {
            versions.entry(&file.path).or_default().push(VertexId(index as u32));
        }
    }
    let several = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
    for (number, (path, versions)) in several.enumerate() {
        let whole = format!("iotrail:path{number}");
        let entity = json!({ "prov:label": path, "iotrail:path": path });
        sections.entry("entity").or_default().insert(whole.clone(), entity);
        for version in versions {
            let relation =
                json!({ "prov:specificEntity": name(version, graph), "prov:generalEntity": whole.clone() });
            let id = format!("_:specializationOf{}", version.0);
            sections.entry("specializationOf").or_default().insert(id, relation);
        }
    }
}

/// The relations that an edge stands for: a process that read and wrote one version of a file used and generated it.
fn relations(graph: &Graph, edge: &Edge) -> Vec<(&'static str, Json)> {
    let (from, to) = (name(edge.from, graph), name(edge.to, graph));
    let used = |process: &str, file: &str| {
        let mut relation = json!({ "prov:activity": process, "prov:entity": file });
        if edge.relation == Relation::Read {
            put_time(&mut relation, edge.first);
        }
        relation["iotrail:bytes"] = typed(i64::try_from(edge.read.bytes).unwrap_or(i64::MAX));
        ("used", relation)
    };
    match edge.relation {
        Relation::Fork => {
            let mut relation = json!({ "prov:activity": to, "prov:starter": from });
            put_time(&mut relation, edge.first);
            vec![("wasStartedBy", relation)]
        }
        Relation::Continue => vec![("wasInformedBy", json!({ "prov:informed": to, "prov:informant": from }))],
        Relation::Next => {
            vec![("wasDerivedFrom", json!({ "prov:generatedEntity": to, "prov:usedEntity": from }))]
        }
        Relation::Read | Relation::Map => vec![used(&to, &from)],
        Relation::Create | Relation::Write => {
            let mut relation = json!({ "prov:entity": to, "prov:activity": from });
            put_time(&mut relation, edge.last);
            relation["iotrail:bytes"] = typed(i64::try_from(edge.written.bytes).unwrap_or(i64::MAX));
            relation["iotrail:relation"] = json!(edge.relation.name());
            let also_read = (edge.read.calls > 0).then(|| used(&from, &to));
            [("wasGeneratedBy", relation)].into_iter().chain(also_read).collect()
        }
    }
}

fn put_time(relation: &mut Json, at: Option<Timestamp>) {
    if let Some(at) = at {
        relation["prov:time"] = json!(time(at));
    }
}
