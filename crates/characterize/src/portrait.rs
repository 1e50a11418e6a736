//! A recorded run as pictures show it: its figures, its groups, what their representatives do in order, and when.
//!
//! Source: PIONEER, figure 2 (sessions over the path) and section VI-B (series over time).

use crate::CharacterizeError;
use crate::names::{Kinds, path, word};
use crate::result::{GroupFigures, Options, Recorded, group_figures, grouped};
use crate::streams::Streams;
use crate::validate::{Sample, comparable_requests};
use iotrail_model::calls::CallKind;
use iotrail_query::Query;
use iotrail_trail::EventLog;
use iotrail_workload::{FileIndex, Moment, Request};
use serde::Serialize;
use std::collections::HashMap;
use std::num::NonZeroUsize;

/// Requests of a path that are shown.
const SHOWN_REQUESTS: usize = 600;
/// Files of a path that have a row of their own.
const SHOWN_FILES: usize = 40;

/// What a request does, as pictures of paths tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// Opens a file.
    Open,
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Closes it.
    Close,
    /// Something else through an open file.
    Other,
    /// A call that names a file.
    Named,
}

/// A file of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathFile {
    /// Its path, below the directory that all files of the path have in common.
    pub name: String,
    /// Class: `root`, `shared`, `private`, `exclusive` or `subset`.
    pub class: &'static str,
}

/// A request of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PathRequest {
    /// Index of its file; NULL for a file that has no row.
    pub file: Option<usize>,
    /// What it does.
    pub deed: Deed,
    /// Number of its session within the path, from 0; NULL if it is in none.
    pub session: Option<usize>,
}

/// What the representative of a group does, in order (figure 2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathPicture {
    /// The rank that stands for the group.
    pub rank: usize,
    /// Its requests in all.
    pub requests_in_all: u64,
    /// Its files in the order of their first uses, those whose requests are listed.
    pub files: Vec<PathFile>,
    /// Its first requests; their places are 1, 2, and so on.
    pub requests: Vec<PathRequest>,
}

/// A recorded run.
#[derive(Clone, Debug)]
pub struct Portrait {
    pub(crate) sample: Sample,
    pub(crate) groups: Vec<GroupFigures>,
    pub(crate) paths: Vec<PathPicture>,
    pub(crate) moments: Vec<Moment>,
    pub(crate) span_ns: i64,
    ranks: u32,
}

impl Portrait {
    /// What is shown of a recorded run.
    ///
    /// # Errors
    /// If the log cannot be read, or nothing on files of the program is selected.
    pub fn of(
        log: &EventLog,
        query: &Query,
        options: Options,
        threads: NonZeroUsize,
    ) -> Result<Self, CharacterizeError> {
        let recorded = Recorded::of(log, query, options, threads)?;
        let sample = Sample::measured(&recorded);
        let Recorded { streams, kinds } = recorded;
        let groups = grouped(&streams, &kinds);
        let paths = groups.iter().map(|group| picture(log, &streams, &kinds, group.representative)).collect();
        let (moments, span_ns) = moments(&streams, &kinds);
        let ranks = u32::try_from(streams.requests.len()).unwrap_or(u32::MAX);
        let groups = groups.iter().map(|group| group_figures(group, &streams)).collect();
        Ok(Self { sample, groups, paths, moments, span_ns, ranks })
    }

    /// Number of its ranks.
    #[must_use]
    pub const fn ranks(&self) -> u32 {
        self.ranks
    }
}

/// When all ranks made requests that a model has words for, from the first of them on; and how long that took.
fn moments(streams: &Streams, kinds: &Kinds) -> (Vec<Moment>, i64) {
    let requests: Vec<Request> =
        streams.requests.iter().flat_map(|requests| comparable_requests(requests, kinds)).collect();
    let begin = requests.iter().map(|request| request.start).min().unwrap_or_default();
    let moment = |request: &Request| Moment {
        start: request.start.saturating_sub(begin),
        end: request.end.get().unwrap_or(request.start).saturating_sub(begin),
        bytes: request
            .size
            .get()
            .filter(|_| request.is_data())
            .and_then(|size| u64::try_from(size).ok())
            .unwrap_or_default(),
        is_data: request.is_data(),
    };
    let moments: Vec<Moment> = requests.iter().map(moment).collect();
    let end = moments.iter().map(|moment| moment.end).max().unwrap_or_default();
    (moments, end)
}

fn picture(log: &EventLog, streams: &Streams, kinds: &Kinds, rank: usize) -> PathPicture {
    let all: Vec<Request> = comparable_requests(&streams.requests[rank], kinds);
    let (mut rows, mut of_file) = (Vec::new(), HashMap::new());
    let mut sessions: HashMap<u64, usize> = HashMap::new();
    let mut begun = 0;
    let requests = all.iter().take(SHOWN_REQUESTS).map(|request| {
        let file = *of_file.entry(request.file).or_insert_with(|| {
            (rows.len() < SHOWN_FILES).then(|| {
                rows.push(request.file);
                rows.len() - 1
            })
        });
        let session = request.open.get().map(|open| {
            if request.kind().opens_file() || !sessions.contains_key(&open) {
                sessions.insert(open, begun);
                begun += 1;
            }
            sessions[&open]
        });
        PathRequest { file, deed: deed(request), session }
    });
    let requests = requests.collect();
    let class = |file: FileIndex| word(&kinds.kinds[kinds.of_file[file.0 as usize]].classed.class);
    let names: Vec<&str> =
        rows.iter().map(|file| path(log, streams.frame.files[file.0 as usize]).unwrap_or("?")).collect();
    let files =
        below(&names).into_iter().zip(&rows).map(|(name, file)| PathFile { name, class: class(*file) });
    PathPicture { rank, requests_in_all: all.len() as u64, files: files.collect(), requests }
}

fn deed(request: &Request) -> Deed {
    match request.kind() {
        CallKind::Read => Deed::Read,
        CallKind::Write => Deed::Write,
        kind if !request.open.is_null() && kind.opens_file() => Deed::Open,
        CallKind::Close => Deed::Close,
        _ if !request.open.is_null() => Deed::Other,
        _ => Deed::Named,
    }
}

/// Paths without the directories that all of them have in common.
fn below(paths: &[&str]) -> Vec<String> {
    let directory = |path: &str| path.rfind('/').map_or(0, |slash| slash + 1);
    let mut common = paths.first().map_or("", |path| &path[..directory(path)]);
    for path in paths {
        while !path.starts_with(common) {
            common = common.trim_end_matches('/');
            common = &common[..directory(common)];
        }
    }
    paths.iter().map(|path| path[common.len()..].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_below_the_directory_in_common() {
        assert_eq!(below(&["/a/b/x", "/a/bc/y", "/a/b/c/z"]), ["b/x", "bc/y", "b/c/z"]);
        assert_eq!(below(&["/a/x"]), ["x"]);
        assert_eq!(below(&["/a/x", "?"]), ["/a/x", "?"]);
        assert!(below(&[]).is_empty());
    }
}
