//! What an expression can ask of a vertex.

use super::totals::Totals;
use crate::graph::{Facts, Graph, VertexId};
use crate::ops::aggregate::variable;
use iotrail_model::FileKind;
use iotrail_query::preset::base;
use std::borrow::Cow;

/// The names of the attributes, for messages.
pub const NAMES: &str = "kind, key, label, exe, cmd, path, host, cid, phase, env:NAME, pid, bytes, calls, time, readers, writers, degree, version, members";

/// Words for kinds of vertices.
pub(super) const KINDS: [&str; 8] =
    ["process", "file", "directory", "pipe", "socket", "char", "block", "anon"];

/// An attribute of a vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Attribute {
    Kind,
    Key,
    Label,
    Exe,
    Cmd,
    Path,
    Host,
    Cid,
    Phase,
    Env(String),
    Pid,
    Bytes,
    Calls,
    Time,
    Readers,
    Writers,
    Degree,
    Version,
    Members,
}

/// How the values of an attribute are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueType {
    Text,
    Path,
    Count,
    Bytes,
    Span,
}

impl Attribute {
    /// The attribute of that name; variables are no single names.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "kind" => Self::Kind,
            "key" => Self::Key,
            "label" => Self::Label,
            "exe" => Self::Exe,
            "cmd" => Self::Cmd,
            "path" => Self::Path,
            "host" => Self::Host,
            "cid" => Self::Cid,
            "phase" => Self::Phase,
            "pid" => Self::Pid,
            "bytes" => Self::Bytes,
            "calls" => Self::Calls,
            "time" => Self::Time,
            "readers" => Self::Readers,
            "writers" => Self::Writers,
            "degree" => Self::Degree,
            "version" => Self::Version,
            "members" => Self::Members,
            _ => return None,
        })
    }

    pub(super) fn value_type(&self) -> ValueType {
        match self {
            Self::Kind | Self::Label | Self::Cmd | Self::Host | Self::Cid | Self::Phase | Self::Env(_) => {
                ValueType::Text
            }
            Self::Key | Self::Exe | Self::Path => ValueType::Path,
            Self::Bytes => ValueType::Bytes,
            Self::Time => ValueType::Span,
            Self::Pid
            | Self::Calls
            | Self::Readers
            | Self::Writers
            | Self::Degree
            | Self::Version
            | Self::Members => ValueType::Count,
        }
    }

    /// The texts that a vertex has: of a path its other names too, of an executable the path and its base name.
    pub(super) fn texts<'a>(&self, graph: &'a Graph, id: VertexId) -> Vec<Cow<'a, str>> {
        let vertex = graph.vertex(id);
        let one = |text: Option<&'a str>| text.map(Cow::Borrowed).into_iter().collect();
        match (self, &vertex.facts) {
            (Self::Key, _) => one(Some(&vertex.key)),
            (Self::Label, _) => one(Some(&vertex.label)),
            (Self::Phase, _) => {
                one(vertex.phase.and_then(|phase| graph.phases.get(phase as usize)).map(|name| &**name))
            }
            (Self::Kind, Facts::Process(_)) => one(Some("process")),
            (Self::Kind, Facts::File(file)) => {
                let own = file.kind.filter(|kind| *kind != FileKind::File).map(FileKind::name);
                [Some("file"), own].into_iter().flatten().map(Cow::Borrowed).collect()
            }
            (Self::Exe, Facts::Process(process)) => {
                let exe = process.exe.as_deref();
                exe.into_iter().chain(exe.map(base)).map(Cow::Borrowed).collect()
            }
            (Self::Cmd, Facts::Process(process)) => {
                let words = process.cmdline.as_deref();
                words
                    .map(|words| Cow::Owned(words.trim_end_matches('\0').replace('\0', " ")))
                    .into_iter()
                    .collect()
            }
            (Self::Host, Facts::Process(process)) => one(process.host.as_deref()),
            (Self::Cid, Facts::Process(process)) => one(process.case.split('/').next()),
            (Self::Env(name), Facts::Process(process)) => one(variable(process, name)),
            (Self::Path, Facts::File(file)) => {
                [&file.path].into_iter().chain(&file.names).map(|path| Cow::Borrowed(&**path)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The number that a vertex has; time in ns.
    pub(super) fn number(&self, graph: &Graph, totals: &Totals, id: VertexId) -> Option<i64> {
        let vertex = graph.vertex(id);
        let total = totals.of(id);
        Some(match (self, &vertex.facts) {
            (Self::Bytes, _) => clamp(total.bytes),
            (Self::Calls, _) => clamp(total.calls),
            (Self::Degree, _) => clamp(total.degree),
            (Self::Members, _) => i64::from(vertex.members),
            (Self::Time, Facts::Process(_)) => return vertex.time.map(|time| time.0),
            (Self::Pid, Facts::Process(process)) => i64::from(process.pid),
            (Self::Readers, Facts::File(file)) => i64::from(file.readers),
            (Self::Writers, Facts::File(file)) => i64::from(file.writers),
            (Self::Version, Facts::File(file)) => i64::from(file.version),
            _ => return None,
        })
    }
}

fn clamp(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
