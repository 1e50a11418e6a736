//! Which events are one sequence, and in which order sequences stand.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{Case, CaseId, Event, Pid, Tid};
use iotrail_structure_file::{Line, rank};

/// A thread of a process of a case.
pub(crate) type Thread = (CaseId, Pid, Tid);

/// An event and what it acts on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineEvent {
    pub(crate) event: Event,
    pub(crate) role: Option<u32>,
}

/// The events of a line, in the order of its calls.
#[derive(Clone, Debug)]
pub(crate) struct LineEvents {
    pub(crate) line: Line,
    pub(crate) events: Vec<LineEvent>,
}

/// Events by line. Lines stand in the order of ranks, then of the starts of their processes, then of their own.
pub(crate) fn lines(cases: &[Case], events: HashMap<Thread, Vec<LineEvent>, RandomState>) -> Vec<LineEvents> {
    let mut starts = HashMap::new();
    for (&(case, pid, _), events) in &events {
        for LineEvent { event, .. } in events {
            let first = starts.entry((case, pid)).or_insert((event.start, event.seq));
            *first = (*first).min((event.start, event.seq));
        }
    }
    let mut all: Vec<(Thread, Vec<LineEvent>)> = events.into_iter().collect();
    all.iter_mut()
        .for_each(|(_, events)| events.sort_by_key(|LineEvent { event, .. }| (event.start, event.seq)));
    all.sort_by_cached_key(|((case, pid, tid), events)| {
        let first = events.first().map(|LineEvent { event, .. }| (event.start, event.seq));
        let rank = rank(&cases[case.index()]).map_or((true, 0), |rank| (false, rank));
        (rank, *case, starts[&(*case, *pid)], *pid, first, *tid)
    });
    let (mut processes, mut last) = (0, None);
    let line = |((case, pid, tid), events): (Thread, Vec<LineEvent>)| {
        if last.replace((case, pid)) != Some((case, pid)) {
            processes += 1;
        }
        let rank = rank(&cases[case.index()]).unwrap_or(processes - 1);
        let start = events.first().map(|first| first.event.start).unwrap_or_default();
        LineEvents { line: Line { case, pid, tid, rank, start, events: events.len() as u32 }, events }
    };
    all.into_iter().map(line).collect()
}

/// Numbers the events of each case line by line, as they are numbered when nothing tells how threads interleave.
pub(crate) fn renumber(lines: &mut [LineEvents]) {
    let of_lines = || lines.iter().flat_map(|line| &line.events).map(|of_line| of_line.event);
    let enclosing = of_lines().filter_map(|event| Some(((event.case, event.parent.get()?), None)));
    let mut numbers: HashMap<(CaseId, u64), Option<u64>, RandomState> = enclosing.collect();
    let mut next: HashMap<CaseId, u64> = HashMap::new();
    for LineEvent { event, .. } in lines.iter_mut().flat_map(|line| &mut line.events) {
        let next = next.entry(event.case).or_default();
        if let Some(number) = numbers.get_mut(&(event.case, event.seq)) {
            *number = Some(*next);
        }
        event.seq = *next;
        *next += 1;
    }
    for LineEvent { event, .. } in lines.iter_mut().flat_map(|line| &mut line.events) {
        let parent = event.parent.get().and_then(|parent| numbers.get(&(event.case, parent)).copied()?);
        event.parent = parent.into();
    }
}
