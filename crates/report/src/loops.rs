//! The loops of structures, what is drawn of them, and who sends to whom.

use crate::data::Bounded;
use crate::error::ReportError;
use iotrail_compress::{DrawnColumn, Outline, OutlineItem, OutlineOptions};
use iotrail_model::Layer;
use iotrail_query::{Query, QuerySpec, SelectSpec};
use iotrail_stats::messages::{Messages, PatternRow, messages};
use iotrail_structure_file::Document;
use iotrail_terminal::outline::precision;
use iotrail_trail::EventLog;
use serde::Serialize;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// Loops and calls of a structure that the page holds.
const MOST_ROWS: usize = 300;
/// Cells of the matrix in a row; of more ranks a cell is a sum.
const MOST_CELLS: usize = 64;
/// Rules of who sends to whom.
const MOST_RULES: usize = 8;

/// What the structures among the inputs of a page have that trails do not.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Structured {
    /// The structures.
    pub structures: Vec<PageStructure>,
    /// Who sends to whom; NULL if nobody does.
    pub matrix: Option<PageMatrix>,
}

/// A structure.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageStructure {
    /// Its name.
    pub name: String,
    /// How exact it is, in words; NULL: exact.
    pub precision: Option<String>,
    /// Why its counts are exact all the same.
    pub fixed_counts: Option<&'static str>,
    /// Whether times are drawn.
    pub drawn_times: bool,
    /// Loops and calls, each before those inside.
    pub rows: Bounded<PageLoop>,
}

/// A loop or a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageLoop {
    /// How deep it is.
    pub depth: usize,
    /// Its number in the structure.
    pub item: u32,
    /// The call; NULL of a loop.
    pub call: Option<String>,
    /// How often it is executed each time: from, to; and in all.
    pub count: (u32, u32, u64),
    /// The threads that execute it, if not all do.
    pub threads: Option<String>,
    /// Time in its calls.
    pub time_ns: i64,
    /// Its part of the time of all.
    pub share: f64,
    /// Bytes of all calls, of the smallest and the largest; NULL if it moves none.
    pub bytes: Option<(i64, i64, i64)>,
    /// Its files: what their names have in common, and how many there are.
    pub files: Option<(String, usize)>,
    /// What is drawn of it.
    pub drawn: Vec<DrawnColumn>,
}

/// Who sends to whom.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageMatrix {
    /// Number of ranks.
    pub ranks: u32,
    /// Ranks of a cell, in both directions.
    pub together: u32,
    /// Messages and bytes of all.
    pub total: (u64, u64),
    /// Row (sender), column (receiver), messages, bytes.
    pub cells: Vec<(u32, u32, u64, u64)>,
    /// Rule, pairs, messages, bytes.
    pub rules: Vec<(String, u64, u64, u64)>,
}

impl Structured {
    /// The structures by name, and the messages of the log that they are read as.
    ///
    /// # Errors
    /// A structure contradicts itself, or the log cannot be read.
    pub fn of(
        structures: &[(String, Document)],
        log: &EventLog,
        threads: NonZeroUsize,
    ) -> Result<Option<Self>, ReportError> {
        if structures.is_empty() {
            return Ok(None);
        }
        let page = |(name, document): &(String, Document)| {
            Ok::<_, ReportError>(page_structure(name, &Outline::of(document, OutlineOptions::default())?))
        };
        let structures = structures.iter().map(page).collect::<Result<_, _>>()?;
        let mut matrix = None;
        if log.layers().contains(&Layer::Mpi) {
            let select = SelectSpec { layer: vec![Layer::Mpi.name().to_owned()], ..SelectSpec::default() };
            let query = Query::new(QuerySpec { select, ..QuerySpec::default() }, log)?;
            matrix = Some(messages(log, &query, threads)?).filter(|found| found.total.messages > 0);
        }
        Ok(Some(Self { structures, matrix: matrix.as_ref().map(page_matrix) }))
    }
}

fn page_structure(name: &str, outline: &Outline) -> PageStructure {
    let mut rows = Bounded::default();
    outline.body.iter().for_each(|item| add(item, 0, &mut rows));
    PageStructure {
        name: name.to_owned(),
        precision: (outline.precision < 100).then(|| precision(outline)),
        fixed_counts: outline.fixed_counts,
        drawn_times: outline.time_precision < 100,
        rows,
    }
}

fn add(item: &OutlineItem, depth: usize, rows: &mut Bounded<PageLoop>) {
    if rows.list.len() < MOST_ROWS {
        rows.list.push(row(item, depth));
    } else {
        rows.more += 1;
    }
    item.body.iter().for_each(|inner| add(inner, depth + 1, rows));
}

fn row(item: &OutlineItem, depth: usize) -> PageLoop {
    let call = item.call.as_ref();
    let files = call.and_then(|call| Some((call.pattern.clone()?, call.paths)));
    let name = call.map(|call| {
        let errno = call.errno.as_ref().map(|errno| format!(" = {errno}")).unwrap_or_default();
        format!("{}{errno}", call.name)
    });
    PageLoop {
        depth,
        item: item.item,
        call: name,
        count: (item.count.min, item.count.max, item.count.sum),
        threads: (!item.all_lines).then(|| item.lines.clone()),
        time_ns: item.time_ns,
        share: item.share,
        bytes: call.and_then(|call| Some((call.bytes, call.min_bytes?, call.max_bytes?))),
        files,
        drawn: item.drawn.clone(),
    }
}

fn page_matrix(found: &Messages) -> PageMatrix {
    let together = (found.ranks as usize).div_ceil(MOST_CELLS).max(1) as u32;
    let mut cells = BTreeMap::<(u32, u32), (u64, u64)>::new();
    for pair in &found.pairs {
        let (messages, bytes) = cells.entry((pair.from / together, pair.to / together)).or_default();
        *messages += pair.traffic.messages;
        *bytes = bytes.saturating_add(pair.traffic.bytes);
    }
    let rule = |row: &PatternRow| (row.to.clone(), row.pairs, row.traffic.messages, row.traffic.bytes);
    PageMatrix {
        ranks: found.ranks,
        together,
        total: (found.total.messages, found.total.bytes),
        cells: cells.into_iter().map(|((from, to), (messages, bytes))| (from, to, messages, bytes)).collect(),
        rules: found.patterns.iter().take(MOST_RULES).map(rule).collect(),
    }
}
