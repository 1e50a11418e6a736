//! Processes that begin when others have made them, and go on when others have ended.
//!
//! Source: section 5 of the definitions (spawn, join). A process that makes no requests is no rank: what it knows of the order of others, also by
//! pipes, it passes on.

use crate::gather::{Row, What};
use crate::pipes::matched;
use crate::told::{Moment, Told};
use iotrail_model::{FileId, Pid, Timestamp};
use iotrail_query::{ProcessId, ProcessTable};
use iotrail_workload::Request;
use std::collections::{BTreeMap, HashMap};

/// A process noticed that another one had ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Join {
    parent: ProcessId,
    child: ProcessId,
    /// In ns.
    at: i64,
}

/// A process took out of a pipe what another one had put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piped {
    giver: ProcessId,
    getter: ProcessId,
    /// In ns: when the one began to write, and the other one had read.
    wrote: i64,
    read: i64,
}

/// What processes give each other by pipes.
pub(crate) fn piped(lists: &[Vec<Row>]) -> Vec<Piped> {
    type Part = (ProcessId, i64);
    let mut pipes: BTreeMap<FileId, [Vec<(i64, Part)>; 2]> = BTreeMap::new();
    for (process, rows) in (0..).map(ProcessId).zip(lists) {
        for row in rows {
            let What::Tells(Told::Pipe { pipe, bytes, into }) = row.what else { continue };
            let at = if into { row.start } else { row.end.get().unwrap_or(row.start) };
            pipes.entry(pipe).or_default()[usize::from(!into)].push((bytes, (process, at)));
        }
    }
    let mut found = Vec::new();
    for mut sides in pipes.into_values() {
        sides.iter_mut().for_each(|side| side.sort_by_key(|(_, (_, at))| *at));
        let [put, taken] = &sides;
        for (given, &(getter, read)) in matched(put, taken) {
            let given = given.filter(|(giver, wrote)| *giver != getter && *wrote <= read);
            found.extend(given.map(|&(giver, wrote)| Piped { giver, getter, wrote, read }));
        }
    }
    found
}

/// A rank was at a moment before another one was at one: who gives, who gets, and when.
pub(crate) type Order = ((u32, u32), Moment, Moment);

/// The ends of processes that others noticed, of the rows of each process.
pub(crate) fn joins(lists: &[Vec<Row>], processes: &ProcessTable) -> Vec<Join> {
    let mut found = Vec::new();
    for (parent, rows) in (0..).map(ProcessId).zip(lists) {
        for row in rows {
            let (What::Tells(Told::Child(pid)), Some(at)) = (row.what, row.end.get()) else { continue };
            let child = processes.find(row.case, Pid(pid), Timestamp(at));
            found.extend(child.filter(|child| *child != parent).map(|child| Join { parent, child, at }));
        }
    }
    found
}

/// What a process knows to have been done: a rank up to a moment.
#[derive(Clone, Copy)]
struct Known {
    rank: u32,
    until: Moment,
    /// Where the process stood when it heard of it.
    heard: usize,
}

impl Known {
    /// Whether others say the same, or more.
    fn is_said_by(&self, others: &[Self]) -> bool {
        others.iter().any(|other| other.rank == self.rank && other.until.position >= self.until.position)
    }
}

/// What happens to two processes.
enum Event {
    Begins(ProcessId),
    Ended(Join),
    /// The message of that number is given, or got.
    Gives(usize),
    Gets(usize),
}

/// What processes know of each other because they make each other and wait for each other, or give what they know to such as make no requests, by
/// pipes: those between ranks are messages of their own.
pub(crate) fn orders(
    processes: &ProcessTable,
    (joins, piped): (&[Join], &[Piped]),
    ranks: &HashMap<ProcessId, u32>,
    requests: &[Vec<Request>],
) -> Vec<Order> {
    let mut events: Vec<(i64, Event)> = joins.iter().map(|join| (join.at, Event::Ended(*join))).collect();
    for (id, process) in (0..).map(ProcessId).zip(processes.all()) {
        events.extend(process.start.map(|start| (start.0, Event::Begins(id))));
    }
    let is_rank = |process| ranks.contains_key(&process);
    let passed_on = |(_, one): &(usize, &Piped)| !is_rank(one.giver) || !is_rank(one.getter);
    for (at, one) in piped.iter().enumerate().filter(passed_on) {
        events.extend([(one.wrote, Event::Gives(at)), (one.read, Event::Gets(at))]);
    }
    // Of an end and a begin at one time the end comes first: who waited went on then. What is given comes before it is got.
    events.sort_by_key(|(at, event)| {
        let turn = match event {
            Event::Ended(_) => 0,
            Event::Gives(_) => 1,
            Event::Gets(_) => 2,
            Event::Begins(_) => 3,
        };
        (*at, turn)
    });
    let mut given: HashMap<usize, Vec<Known>> = HashMap::new();
    let mut kin = Kin { ranks, requests, known: HashMap::new(), begun: HashMap::new(), found: Vec::new() };
    for (at, event) in events {
        match event {
            Event::Begins(child) => {
                if let Some(parent) = processes.get(child).parent {
                    kin.begin(parent, child, at);
                }
            }
            Event::Ended(join) => kin.end(join),
            Event::Gives(message) => {
                let Piped { giver, wrote, .. } = piped[message];
                given.insert(message, kin.told(giver, wrote));
            }
            Event::Gets(message) => {
                let Piped { getter, read, .. } = piped[message];
                kin.hear(getter, &given.remove(&message).unwrap_or_default(), read);
            }
        }
    }
    kin.found
}

struct Kin<'a> {
    ranks: &'a HashMap<ProcessId, u32>,
    requests: &'a [Vec<Request>],
    /// What each process knows, beside what it did itself.
    known: HashMap<ProcessId, Vec<Known>>,
    /// What each process knew when it began.
    begun: HashMap<ProcessId, Vec<Known>>,
    found: Vec<Order>,
}

impl Kin<'_> {
    /// Where a rank stands at a time.
    fn moment(&self, rank: u32, time: i64) -> Moment {
        let own = &self.requests[rank as usize];
        Moment { position: own.partition_point(|request| request.start < time), barriers: 0, time }
    }

    /// What a process tells at a time: what it did, and what it heard since.
    fn told(&self, process: ProcessId, time: i64) -> Vec<Known> {
        let own = self.ranks.get(&process).map(|rank| (*rank, self.moment(*rank, time)));
        let position = own.map_or(0, |(_, moment)| moment.position);
        let heard = self.known.get(&process).into_iter().flatten();
        let mut told: Vec<Known> = heard.filter(|known| known.heard == position).copied().collect();
        told.extend(own.map(|(rank, until)| Known { rank, until, heard: 0 }));
        told
    }

    /// A process knows from now on what another one told it.
    fn hear(&mut self, process: ProcessId, told: &[Known], time: i64) {
        let own = self.ranks.get(&process).copied();
        let moment = own.map(|rank| self.moment(rank, time));
        let others = told.iter().filter(|known| Some(known.rank) != own);
        if let (Some(rank), Some(moment)) = (own, moment) {
            self.found.extend(others.clone().map(|known| ((known.rank, rank), known.until, moment)));
        }
        let heard = moment.map_or(0, |moment| moment.position);
        let news: Vec<Known> = others.map(|known| Known { heard, ..*known }).collect();
        let known = self.known.entry(process).or_default();
        known.retain(|known| !known.is_said_by(&news));
        known.extend(news);
    }

    fn begin(&mut self, parent: ProcessId, child: ProcessId, at: i64) {
        let told = self.told(parent, at);
        self.hear(child, &told, at);
        self.begun.insert(child, told);
    }

    fn end(&mut self, join: Join) {
        let told = self.told(join.child, join.at);
        // What a rank knew when it began is said by its own end.
        if let (Some(begun), true) = (self.begun.get(&join.child), self.ranks.contains_key(&join.child)) {
            self.known.entry(join.parent).or_default().retain(|known| !known.is_said_by(begun));
        }
        self.hear(join.parent, &told, join.at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::calls::CallKind;
    use iotrail_model::{CaseId, Nullable, Process};
    use iotrail_workload::{CallForm, FileIndex, SessionLayer};
    use std::sync::Arc;

    fn process(pid: u32, parent: u32, start: i64) -> Process {
        let ppid = (parent > 0).then_some(Pid(parent));
        Process { case: CaseId(0), pid: Pid(pid), ppid, start: Some(Timestamp(start)), ..Process::default() }
    }

    fn request(start: i64) -> Request {
        Request {
            form: Arc::new(CallForm {
                name: "write".into(),
                kind: CallKind::Write,
                mode: None,
                layer: SessionLayer::System,
            }),
            seek: false,
            clamped: false,
            file: FileIndex(0),
            open: Nullable::NULL,
            offset: Nullable::NULL,
            size: Nullable::NULL,
            slack_ns: Nullable::NULL,
            start,
            end: Nullable::some(start + 1),
        }
    }

    /// Who is known to have come before whom, of processes 1, 2, ... with the given ranks and times of requests.
    fn found(
        all: &[Process],
        joins: &[(u32, u32, i64)],
        ranks: &[(u32, &[i64])],
    ) -> Vec<(u32, u32, usize, usize)> {
        found_with_pipes(all, (joins, &[]), ranks)
    }

    /// A process puts something into a pipe, which another one takes out: both, and when.
    type Pipe = (u32, u32, i64, i64);

    fn found_with_pipes(
        all: &[Process],
        (joins, pipes): (&[(u32, u32, i64)], &[Pipe]),
        ranks: &[(u32, &[i64])],
    ) -> Vec<(u32, u32, usize, usize)> {
        let table = ProcessTable::new(all.to_vec());
        let id = |pid: u32| table.find(CaseId(0), Pid(pid), Timestamp(i64::MAX)).unwrap();
        let joins: Vec<Join> = joins
            .iter()
            .map(|(parent, child, at)| Join { parent: id(*parent), child: id(*child), at: *at })
            .collect();
        let numbers = (0..).zip(ranks).map(|(rank, (pid, _))| (id(*pid), rank)).collect();
        let requests: Vec<Vec<Request>> =
            ranks.iter().map(|(_, times)| times.iter().map(|time| request(*time)).collect()).collect();
        let piped: Vec<Piped> = pipes
            .iter()
            .map(|(giver, getter, wrote, read)| Piped {
                giver: id(*giver),
                getter: id(*getter),
                wrote: *wrote,
                read: *read,
            })
            .collect();
        let orders = orders(&table, (&joins, &piped), &numbers, &requests);
        let mut orders: Vec<_> = orders
            .iter()
            .map(|((giver, getter), gives, gets)| (*giver, *getter, gives.position, gets.position))
            .collect();
        orders.sort_unstable();
        orders
    }

    /// `a; b; c`: the shell makes no request, so that each begins when the one before has ended.
    #[test]
    fn what_a_shell_runs_one_after_the_other_is_a_chain() {
        let all = [process(1, 0, 0), process(2, 1, 10), process(3, 1, 20), process(4, 1, 30)];
        let joins = [(1, 2, 19), (1, 3, 29), (1, 4, 39)];
        let ranks: [(u32, &[i64]); 3] = [(2, &[11, 12]), (3, &[21]), (4, &[31])];
        assert_eq!(found(&all, &joins, &ranks), [(0, 1, 2, 0), (1, 2, 1, 0)]);
    }

    /// `a & b & wait; c`.
    #[test]
    fn what_is_waited_for_together_comes_before_what_follows() {
        let all = [process(1, 0, 0), process(2, 1, 10), process(3, 1, 11), process(4, 1, 30)];
        let joins = [(1, 2, 20), (1, 3, 21)];
        let ranks: [(u32, &[i64]); 3] = [(2, &[12]), (3, &[13]), (4, &[31])];
        assert_eq!(found(&all, &joins, &ranks), [(0, 2, 1, 0), (1, 2, 1, 0)]);
    }

    /// A script that does something itself between two commands.
    #[test]
    fn a_parent_that_makes_requests_is_in_between() {
        let all = [process(1, 0, 0), process(2, 1, 10), process(3, 1, 30)];
        let ranks: [(u32, &[i64]); 3] = [(1, &[5, 25]), (2, &[12]), (3, &[31])];
        let chain = [(0, 1, 1, 0), (0, 2, 2, 0), (1, 0, 1, 1)];
        assert_eq!(found(&all, &[(1, 2, 20)], &ranks), chain);
        let nothing_between: [(u32, &[i64]); 3] = [(1, &[5]), (2, &[12]), (3, &[31])];
        let direct = [(0, 1, 1, 0), (0, 2, 1, 0), (1, 0, 1, 1), (1, 2, 1, 0)];
        assert_eq!(found(&all, &[(1, 2, 20)], &nothing_between), direct, "what it heard it passes on");
    }

    /// `ls | xargs gzip`: xargs makes no request, and passes on to what it starts that the list was written.
    #[test]
    fn what_comes_by_a_pipe_is_passed_on() {
        let all = [process(1, 0, 0), process(2, 1, 10), process(3, 1, 11), process(4, 3, 30)];
        let ranks: [(u32, &[i64]); 2] = [(2, &[12, 13, 25]), (4, &[31])];
        let pipes = [(2, 3, 20, 21)];
        assert_eq!(found_with_pipes(&all, (&[], &pipes), &ranks), [(0, 1, 2, 0)]);
        assert_eq!(found(&all, &[], &ranks), []);
        let ranks: [(u32, &[i64]); 3] = [(2, &[12]), (3, &[22]), (4, &[31])];
        let by_ranks = [(1, 2, 1, 0)];
        assert_eq!(found_with_pipes(&all, (&[], &pipes), &ranks), by_ranks, "a message of its own");
    }
}
