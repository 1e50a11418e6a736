//! What people see of a structure: its loops and calls with counts, files, bytes and times.

use crate::drawn::{DrawnColumn, drawn_of};
use crate::error::CompressError;
use crate::events::Events;
use hashbrown::HashSet;
use iotrail_model::{Event, PathId, Site};
use iotrail_structure::{ItemId, RankList, Repeats, Walker};
use iotrail_structure_file::{Document, FixedCounts};
use serde::Serialize;

/// Which part of a structure is outlined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutlineOptions {
    /// Lines of this rank only.
    pub rank: Option<u32>,
    /// The loop or call of this number, and what is inside.
    pub item: Option<u32>,
}

/// A structure as a tree of loops and calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outline {
    /// The trails that it is of.
    pub trails: Vec<String>,
    /// Events of the lines that are outlined.
    pub events: u64,
    /// Items of the whole structure.
    pub items: usize,
    /// How exact times are, in percent.
    pub time_precision: u8,
    /// How exact counts, sizes and offsets are, in percent.
    pub precision: u8,
    /// Why counts, partners and tags are exact at that precision, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed_counts: Option<&'static str>,
    /// Time in the outlined calls that are in no other, in ns.
    pub time_ns: i64,
    /// The lines: one for each thread.
    pub lines: Vec<OutlineLine>,
    /// The outermost items.
    pub body: Vec<OutlineItem>,
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OutlineLine {
    /// Its number, from 0.
    pub line: u32,
    /// Its rank, or the number of its process.
    pub rank: u32,
    /// The case of its events, as `cid/host/rid`.
    pub case: String,
    /// Its process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// The last program that the process executed.
    pub program: Option<String>,
    /// Number of its events.
    pub events: u32,
}

/// How often an item is executed each time that what it is in is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The smallest count.
    pub min: u32,
    /// The largest.
    pub max: u32,
    /// All executions.
    pub sum: u64,
}

/// A loop or a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OutlineItem {
    /// Its number in the structure.
    pub item: u32,
    /// How often it is executed.
    pub count: Counts,
    /// The lines that execute it: first (number, stride)...
    pub lines: String,
    /// Whether these are all lines.
    pub all_lines: bool,
    /// The call; NULL of a loop.
    pub call: Option<OutlineCall>,
    /// Time in its calls, in ns, without that of calls inside of others.
    pub time_ns: i64,
    /// Its part of the time of all.
    pub share: f64,
    /// What is drawn of it: its values here are such as were recorded, their numbers and sums exact.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drawn: Vec<DrawnColumn>,
    /// The body of a loop, or the calls inside of a call.
    pub body: Vec<Self>,
}

/// What all executions of a call tell together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OutlineCall {
    /// Its name.
    pub name: String,
    /// The interface at which it was seen.
    pub layer: &'static str,
    /// How it fails.
    pub errno: Option<String>,
    /// With which flags.
    pub flags: Option<String>,
    /// Where it is called from: the caller first, then who called that.
    #[serde(skip_serializing_if = "Site::is_empty")]
    pub site: Site,
    /// What it acts on: a group of files, or a program that starts up.
    pub role: Option<String>,
    /// Different paths.
    pub paths: usize,
    /// What they have in common: `/data/ck-*.h5`.
    pub pattern: Option<String>,
    /// Bytes that were moved, in all.
    pub bytes: i64,
    /// The fewest bytes of a call.
    pub min_bytes: Option<i64>,
    /// The most.
    pub max_bytes: Option<i64>,
    /// Calls that moved bytes from where the one before on the same open file ended.
    pub sequential: u64,
    /// Calls of which the offset is known.
    pub with_offset: u64,
}

/// What is gathered of an item.
#[derive(Clone, Debug, Default)]
struct Gathered {
    count: Option<Counts>,
    lines: Vec<u32>,
    time: i64,
    paths: HashSet<PathId>,
    call: OutlineCall,
}

impl Outline {
    /// The outline of a structure.
    ///
    /// # Errors
    /// The structure contradicts itself.
    pub fn of(document: &Document, options: OutlineOptions) -> Result<Self, CompressError> {
        let items = document.structure.items().len();
        let mut gathered = vec![Gathered::default(); items];
        let chosen: Vec<u32> = (0..)
            .zip(&document.lines)
            .filter(|(_, line)| options.rank.is_none_or(|rank| line.rank == rank))
            .map(|(number, _)| number)
            .collect();
        let mut events = Events::new(document, 0);
        let mut walker = document.structure.walker(0, document.events());
        // What is drawn for a line depends on those before.
        let is_drawn = !document.structure.drawn().is_empty();
        let mut others = if is_drawn { gathered.clone() } else { Vec::new() };
        for line in 0..document.lines.len() as u32 {
            if chosen.binary_search(&line).is_ok() {
                gather(document, (&mut events, &mut walker), line, &mut gathered)?;
            } else if is_drawn {
                gather(document, (&mut events, &mut walker), line, &mut others)?;
            }
        }
        let all = RankList::new(chosen.iter().copied());
        let builder = Builder { document, gathered: &gathered, all };
        let roots =
            options.item.map_or_else(|| document.structure.root().to_vec(), |item| vec![ItemId(item)]);
        let roots: Vec<ItemId> = roots.into_iter().filter(|item| (item.0 as usize) < items).collect();
        let mut body: Vec<OutlineItem> = roots.into_iter().filter_map(|item| builder.item(item)).collect();
        let time_ns = body.iter().map(|item| item.time_ns).fold(0, i64::saturating_add);
        body.iter_mut().for_each(|item| item.give_shares(time_ns));
        let lines: Vec<OutlineLine> = chosen.iter().map(|&line| of_line(document, line)).collect();
        Ok(Self {
            events: lines.iter().map(|line| u64::from(line.events)).sum(),
            time_ns,
            lines,
            body,
            ..Self::about(document)
        })
    }
}

impl Outline {
    /// Leaves the calls of these layers, and the loops that hold such: calls within a call that goes stand in its place.
    pub fn select(&mut self, is_wanted: &impl Fn(&str) -> bool) {
        self.body = selected(std::mem::take(&mut self.body), is_wanted);
    }
}

fn selected(items: Vec<OutlineItem>, is_wanted: &impl Fn(&str) -> bool) -> Vec<OutlineItem> {
    let mut all = Vec::new();
    for mut item in items {
        item.body = selected(item.body, is_wanted);
        match &item.call {
            Some(call) if !is_wanted(call.layer) => all.append(&mut item.body),
            None if item.body.is_empty() => {}
            _ => all.push(item),
        }
    }
    all
}

impl Outline {
    /// The outline of a structure without its loops and calls; in a time that does not depend on iterations, unless every time
    /// is kept.
    ///
    /// # Errors
    /// The structure contradicts itself.
    pub fn summary(document: &Document) -> Result<Self, CompressError> {
        if document.about.has_every_time() || document.times.len() != document.structure.items().len() {
            return Ok(Self { body: Vec::new(), ..Self::of(document, OutlineOptions::default())? });
        }
        let mut waiting: Vec<ItemId> = document.structure.root().to_vec();
        let mut time = 0_i128;
        while let Some(item) = waiting.pop() {
            match &document.structure.items()[item.0 as usize].what {
                Repeats::Loop(body) => waiting.extend(body),
                Repeats::Event { .. } => {
                    time = time.saturating_add(document.times[item.0 as usize].durations.sum());
                }
            }
        }
        let time_ns = i64::try_from(time).unwrap_or(i64::MAX);
        let lines = (0..document.lines.len() as u32).map(|line| of_line(document, line)).collect();
        Ok(Self { time_ns, lines, ..Self::about(document) })
    }

    fn about(document: &Document) -> Self {
        Self {
            trails: document.about.trails.clone(),
            events: document.events(),
            items: document.structure.items().len(),
            time_precision: document.about.time_precision,
            precision: document.about.value_precision().percent(),
            fixed_counts: document.about.fixed_counts.map(FixedCounts::words),
            ..Self::default()
        }
    }
}

fn gather(
    document: &Document,
    (events, walker): (&mut Events<'_>, &mut Walker<'_>),
    line: u32,
    gathered: &mut [Gathered],
) -> Result<(), CompressError> {
    events.line(line, &mut |expanded| {
        let of_item = &mut gathered[expanded.item.0 as usize];
        of_item.add(&expanded.event);
        if expanded.is_sequential {
            of_item.call.sequential += 1;
        }
        Ok(())
    })?;
    let root = document.structure.root();
    let mut counted = |item: ItemId, count: u32| {
        // A line that never executes an outermost item has no part in it.
        if count > 0 || !root.contains(&item) {
            gathered[item.0 as usize].count(line, count);
        }
    };
    walker.walk(line, &mut counted, &mut |_| Ok::<_, CompressError>(()))
}

fn of_line(document: &Document, number: u32) -> OutlineLine {
    let line = &document.lines[number as usize];
    let images = document.processes.iter().filter(|image| (image.case, image.pid) == (line.case, line.pid));
    let program = images.filter_map(|image| image.exe.as_deref()).next_back();
    let case = document.cases.get(line.case.index());
    OutlineLine {
        line: number,
        rank: line.rank,
        case: case.map(|case| case.name.to_string()).unwrap_or_default(),
        pid: line.pid.0,
        tid: line.tid.0,
        program: program.map(str::to_owned),
        events: line.events,
    }
}

impl Gathered {
    fn count(&mut self, line: u32, count: u32) {
        let known = self.count.get_or_insert(Counts { min: count, max: count, sum: 0 });
        (known.min, known.max) = (known.min.min(count), known.max.max(count));
        known.sum += u64::from(count);
        if count > 0 && self.lines.last() != Some(&line) {
            self.lines.push(line);
        }
    }

    fn add(&mut self, event: &Event) {
        let call = &mut self.call;
        self.time = self.time.saturating_add(event.dur.get().map_or(0, |span| span.0));
        self.paths.extend(event.path.get());
        call.with_offset += u64::from(!event.offset.is_null());
        if let Some(size) = event.size.get() {
            call.bytes = call.bytes.saturating_add(size);
            call.min_bytes = Some(call.min_bytes.map_or(size, |min| min.min(size)));
            call.max_bytes = Some(call.max_bytes.map_or(size, |max| max.max(size)));
        }
    }
}

struct Builder<'a> {
    document: &'a Document,
    gathered: &'a [Gathered],
    all: RankList,
}

impl Builder<'_> {
    /// NULL: no line of those outlined executes it.
    fn item(&self, id: ItemId) -> Option<OutlineItem> {
        let gathered = &self.gathered[id.0 as usize];
        let count = gathered.count.filter(|count| count.sum > 0)?;
        let (call, inside, is_loop) = match &self.document.structure.items()[id.0 as usize].what {
            Repeats::Loop(body) => (None, body, true),
            Repeats::Event { key, children, .. } => (Some(self.call(key.0, gathered)), children, false),
        };
        let body: Vec<OutlineItem> = inside.iter().filter_map(|&item| self.item(item)).collect();
        let inner = body.iter().map(|item| item.time_ns).fold(0, i64::saturating_add);
        let lines = RankList::new(gathered.lines.iter().copied());
        Some(OutlineItem {
            item: id.0,
            count,
            all_lines: lines == self.all,
            lines: lines.to_string(),
            call,
            time_ns: if is_loop { inner } else { gathered.time },
            share: 0.0,
            drawn: drawn_of(self.document, id),
            body,
        })
    }

    fn call(&self, key: u32, gathered: &Gathered) -> OutlineCall {
        let (key, names) = (&self.document.keys[key as usize], &self.document.names);
        let paths: Vec<&str> = gathered.paths.iter().map(|path| &*names.paths[path.index()]).collect();
        OutlineCall {
            name: names.call(key.call).to_owned(),
            layer: key.layer.name(),
            errno: names.errno(key.errno).map(str::to_owned),
            flags: names.flags(key.flags).map(str::to_owned),
            site: key.site.get().map(|site| self.document.sites[site.index()].clone()).unwrap_or_default(),
            role: key.role.map(|role| self.document.roles[role as usize].to_string()),
            paths: paths.len(),
            pattern: pattern(&paths),
            ..gathered.call.clone()
        }
    }
}

impl OutlineItem {
    fn give_shares(&mut self, of: i64) {
        self.share = if of == 0 { 0.0 } else { self.time_ns as f64 / of as f64 };
        self.body.iter_mut().for_each(|item| item.give_shares(of));
    }
}

/// What texts have in common at both ends, with `*` for the rest; NULL of none.
fn pattern(texts: &[&str]) -> Option<String> {
    let (first, others) = texts.split_first()?;
    let before =
        |text: &&str| first.chars().zip(text.chars()).take_while(|(one, other)| one == other).count();
    let start = others.iter().map(before).min().unwrap_or_else(|| first.chars().count());
    let rest = |text: &str| text.chars().skip(start).collect::<Vec<char>>();
    let of_first = rest(first);
    let behind = |text: &&str| {
        of_first.iter().rev().zip(rest(text).iter().rev()).take_while(|(one, other)| one == other).count()
    };
    let end = others.iter().map(behind).min().unwrap_or(0);
    let prefix: String = first.chars().take(start).collect();
    let suffix: String = of_first[of_first.len() - end..].iter().collect();
    Some(if others.is_empty() { prefix } else { format!("{prefix}*{suffix}") })
}
#[cfg(test)]
mod tests {
    use super::pattern;

    #[test]
    fn paths_are_called_by_what_they_have_in_common() {
        assert_eq!(pattern(&["/d/ck-01.h5", "/d/ck-11.h5"]).as_deref(), Some("/d/ck-*1.h5"));
        assert_eq!(pattern(&["/a", "/a/b", "/a/c"]).as_deref(), Some("/a*"));
        assert_eq!(pattern(&["/ä", "/ö"]).as_deref(), Some("/*"));
        assert_eq!((pattern(&["/a"]).as_deref(), pattern(&[])), (Some("/a"), None));
    }
}
