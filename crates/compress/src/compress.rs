//! From a log to its structure.

use crate::cells::Cells;
use crate::coarsen::{coarsen, has_fixed_counts, smaller};
use crate::columns::{DUR, Numbers, OF_EXECUTION, SEQ, START};
use crate::error::CompressError;
use crate::events::files_of_paths;
use crate::foresight::{Foresight, Threads};
use crate::lines::{LineEvent, LineEvents, Thread, lines, renumber};
use crate::naming::Naming;
use crate::roles::Roles;
use crate::sequences::{SequenceBuilder, nesting};
use crate::stage::{Stage, Step};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::mpi::{self, Role, role};
use iotrail_model::{Cell, EnvironmentDigests, Event, Names, Process};
use iotrail_structure::{Key, KeyId, Order, Precision, Structure, Tree, Value, Visit, build};
use iotrail_structure_file::{About, CallKey, Document, ItemTimes, Line};
use iotrail_trail::{Columns, EventLog};

/// How a structure is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressOptions {
    /// How exact times are; at the largest precision every one is kept.
    pub time_precision: Precision,
    /// Most buckets of a histogram; NULL: any number.
    pub buckets: Option<u32>,
    /// How exact counts, sizes and offsets are.
    pub precision: Precision,
}

/// Forms of the columns of an item.
const FORMS: [u8; OF_EXECUTION.len()] = {
    let (mut forms, mut index) = ([0; OF_EXECUTION.len()], 0);
    while index < forms.len() {
        forms[index] = OF_EXECUTION[index].1;
        index += 1;
    }
    forms
};

/// The structure of a log; `step` is told how far it is.
///
/// # Errors
/// The log cannot be read, or has more events than a structure holds.
pub fn compress(
    log: &EventLog,
    options: &CompressOptions,
    step: Step<'_>,
) -> Result<Document, CompressError> {
    let mut events: HashMap<Thread, Vec<LineEvent>, RandomState> = HashMap::default();
    let query = Roles::query(log)?;
    let mut roles = Roles::new(&query);
    let mut read = 0;
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, Columns::ALL)?;
        for (row, role) in roles.of(&batch).enumerate() {
            let event = batch.event(row);
            events.entry((event.case, event.pid, event.tid)).or_default().push(LineEvent { event, role });
        }
        read += batch.len as u64;
        step(Stage::Reading, read);
    }
    let mut naming = Naming::new(log);
    let mut lines = lines(log.cases(), events);
    for event in lines.iter_mut().flat_map(|line| &mut line.events) {
        event.event = naming.event(&event.event);
    }
    let (names, files, sites) = naming.finish();
    let roles = Roles::names(&query);
    let about = About {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        trails: log.trails().iter().map(|trail| trail.name()).collect(),
        capture: log.trails().first().map(|trail| trail.meta().capture.clone()).unwrap_or_default(),
        coverage: log.coverage(),
        time_precision: options.time_precision.percent(),
        buckets: options.buckets,
        columns: OF_EXECUTION.len(),
        precision: None,
        fixed_counts: None,
        reordered: false,
    };
    let (cases, mut processes) = (log.cases().to_vec(), log.processes()?);
    number_environments(&mut processes);
    let empty = Document { about, names, roles, sites, cases, processes, files, ..Document::default() };
    let order = if options.precision == Precision::LEAST { Order::Loose } else { Order::Exact };
    let spare = (order == Order::Loose && empty.names.calls.iter().any(|call| mpi::is_message(call)))
        .then(|| lines.clone());
    let document = with_structure(empty, lines, order, step)?;
    let is_unsafe = document.about.reordered && has_fixed_counts(&document);
    let document = match spare.filter(|_| is_unsafe) {
        // Who receives must come by the places of the calls in the order in which all do.
        Some(lines) => with_structure(document, lines, Order::Exact, step)?,
        None => document,
    };
    match document.about.reordered {
        false => smaller(document, options.precision, step),
        // The order of calls is not that which was recorded, whatever the size.
        true => coarsen(document, options.precision, step),
    }
}

/// Numbers instead of digests of environments, of which only says something which are the same.
fn number_environments(processes: &mut [Process]) {
    let mut digests = EnvironmentDigests::default();
    for entry in processes.iter_mut().flat_map(|process| &mut process.env) {
        if let Some(numbered) = digests.numbered(entry) {
            *entry = numbered;
        }
    }
}

/// The document with the structure of these lines in place of its own.
fn with_structure(
    document: Document,
    lines: Vec<LineEvents>,
    order: Order,
    step: Step<'_>,
) -> Result<Document, CompressError> {
    let of_paths = files_of_paths(&document.names, &document.files);
    let every_time = document.about.has_every_time();
    let collected = Collected::of(lines, &document.names, &of_paths, (every_time, order), step)?;
    let structure = collected.structure(step);
    let times = if every_time { Vec::new() } else { collected.times(&document.about) };
    let Collected { keys, lines, is_reordered: reordered, .. } = collected;
    let about = About { reordered, ..document.about };
    Ok(Document { about, keys, lines, structure, times, ..document })
}

/// The events of all lines as keys and values.
struct Collected {
    keys: Vec<CallKey>,
    lines: Vec<Line>,
    sequences: SequenceBuilder,
    tree: Tree,
    /// Whether calls stand in the tree in another order than they were made.
    is_reordered: bool,
    /// By column of items, then by form.
    cells: Vec<Vec<Cells>>,
    /// Gap and duration of each row, where they are not among the cells.
    times: Vec<(Option<i64>, Option<i64>)>,
}

impl Collected {
    fn of(
        mut lines: Vec<LineEvents>,
        names: &Names,
        of_paths: &HashMap<i64, i64, RandomState>,
        (every_time, order): (bool, Order),
        step: Step<'_>,
    ) -> Result<Self, CompressError> {
        let mut ids: HashMap<CallKey, KeyId, RandomState> = HashMap::default();
        let mut keys = Vec::new();
        let mut key = |&LineEvent { event, role }: &LineEvent| {
            let Event { layer, call, errno, flags, site, .. } = event;
            let key = CallKey { layer, call, errno, flags, role, site };
            *ids.entry(key).or_insert_with(|| {
                keys.push(key);
                KeyId(keys.len() as u32 - 1)
            })
        };
        let of_lines: Vec<Vec<KeyId>> =
            lines.iter().map(|line| line.events.iter().map(&mut key).collect()).collect();
        let members = members(&lines, &of_lines, &keys, names);
        let cells = FORMS.iter().map(|&forms| (0..forms).map(|_| Cells::default()).collect()).collect();
        let mut sequences = SequenceBuilder::new(members);
        let mut first = 0;
        for (line, keys) in lines.iter().zip(&of_lines) {
            sequences.add(keys, &nesting(&line.events), first)?;
            first += line.events.len();
        }
        let tree = build(&sequences.sequences, order, &mut |done| step(Stage::Loops, done));
        let (nesting, is_reordered) = in_order_of(&tree, &mut sequences, &mut lines);
        if !every_time {
            renumber(&mut lines);
        }
        let mut collected =
            Self { keys, lines: Vec::new(), sequences, tree, is_reordered, cells, times: Vec::new() };
        let threads = Threads::of(lines.iter().map(|of_line| &of_line.line));
        let mut first = 0;
        for (LineEvents { line, events }, inside) in lines.into_iter().zip(nesting) {
            let mut foresight = Foresight::new(&line, of_paths, &threads);
            for (number, (LineEvent { event, .. }, inside)) in events.iter().zip(inside).enumerate() {
                collected.add(first + number, event, inside, &foresight, every_time);
                foresight.follow(&event.numbers(), event.dur.number(), inside);
            }
            first += events.len();
            step(Stage::Changes, first as u64);
            collected.lines.push(line);
        }
        Ok(collected)
    }

    fn add(&mut self, row: usize, event: &Event, inside: usize, foresight: &Foresight<'_>, every_time: bool) {
        let numbers = event.numbers();
        let left = |column: usize, form, known: &Numbers| {
            let number = numbers[column]?;
            Some(number.wrapping_sub(foresight.of(column, form, known, inside).unwrap_or(0)))
        };
        for ((column, forms), cells) in OF_EXECUTION.into_iter().zip(&mut self.cells) {
            for (form, cells) in (0..forms).zip(cells) {
                let value = match column {
                    _ if every_time => left(column, form, &numbers),
                    // Histograms count them; what stays is whether the end was seen.
                    START | SEQ => None,
                    DUR => event.dur.get().map(|_| 0),
                    _ => left(column, form, &numbers),
                };
                cells.set(row, value);
            }
        }
        if !every_time {
            self.times.push((left(START, 0, &numbers), event.dur.number()));
        }
    }

    fn structure(&self, step: Step<'_>) -> Structure {
        let value = |event: u32, column: usize, form: u8| -> Value {
            let row = self.sequences.rows[event as usize];
            self.cells[column][usize::from(form)].get(row as usize)
        };
        let step = &mut |done| step(Stage::Columns, done);
        Structure::new(&self.tree, self.lines.len() as u32, &FORMS, value, step)
    }

    /// Times of each item of the structure, whose items have the numbers that they have in the tree.
    fn times(&self, about: &About) -> Vec<ItemTimes> {
        let mut times = vec![ItemTimes::new(about.resolution()); self.tree.len()];
        let walker = self.tree.walker();
        let mut rows = self.times.iter();
        for line in 0..self.lines.len() as u32 {
            let mut first = true;
            walker.walk(line, &mut |Visit { item, entered, .. }| {
                let of_item = &mut times[item.0 as usize];
                let &(gap, duration) = rows.next().unwrap_or(&(None, None));
                if !std::mem::take(&mut first) {
                    of_item.add_gap(entered, gap.unwrap_or(0), line, about.resolution());
                }
                if let Some(duration) = duration {
                    of_item.durations.add(duration, line);
                }
            });
        }
        times
    }
}

/// Puts the events of lines in the order in which a tree is walked, which is that of their calls in an exact one; how many calls
/// are around each, and whether that changed the order.
fn in_order_of(
    tree: &Tree,
    sequences: &mut SequenceBuilder,
    lines: &mut [LineEvents],
) -> (Vec<Vec<usize>>, bool) {
    let (mut nesting, mut first, mut is_reordered) = (Vec::new(), 0, false);
    let walker = tree.walker();
    for (number, line) in (0..).zip(lines) {
        let (mut events, mut insides) = (Vec::new(), Vec::new());
        let rows = &mut sequences.rows;
        walker.walk(number, &mut |visit| {
            let row = &mut rows[visit.event.0 as usize];
            let place = (first + events.len()) as u32;
            is_reordered |= *row != place;
            events.push(line.events[std::mem::replace(row, place) as usize - first]);
            insides.push(visit.inside);
        });
        first += events.len();
        line.events = events;
        nesting.push(insides);
    }
    (nesting, is_reordered)
}

/// How many ranks the largest communicator of each key has, if its calls are collective. Only the size of
/// `MPI_COMM_WORLD` is known; of all others it is 1.
fn members(lines: &[LineEvents], of_lines: &[Vec<KeyId>], keys: &[CallKey], names: &Names) -> Vec<Key> {
    let mut ranks: Vec<u32> = lines.iter().map(|line| line.line.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let collective = |key: &CallKey| role(names.call(key.call)) == Role::Synchronises;
    let mut members: Vec<Key> =
        keys.iter().map(|key| Key { members: collective(key).then_some(1) }).collect();
    for (line, keys) in lines.iter().zip(of_lines) {
        for (LineEvent { event, .. }, key) in line.events.iter().zip(keys) {
            let known = &mut members[key.0 as usize].members;
            if event.comm.get() == Some(0) {
                *known = known.map(|known| known.max(ranks.len() as u32));
            }
        }
    }
    members
}
