//! A model of a workload as logs of I/O that fio replays, version 3: one for each rank, with the order of its requests, their places and
//! their times; and the job file that replays them.
//!
//! Source: fio, HOWTO, "Trace file format v3".

use crate::fio::OF_MPI;
use crate::losses::{Amount, Losses};
use iotrail_generate::{Planned, schedule};
use iotrail_model::units;
use iotrail_replay::{Action, Expected, Interface, OpenMode, OpenNumber, Operation};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// Logs for fio, and what they do not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioReplay {
    /// The job file, which begins with what is lost.
    pub job: String,
    /// Name and text of the log of each rank; the job file names them.
    pub logs: Vec<(String, String)>,
    /// What is lost, in sentences with shares of requests, bytes and time.
    pub losses: Vec<String>,
}

/// The logs of a planned program; those of rank r are called `NAME.rank-r.iolog`.
#[must_use]
pub fn fio_iolog(planned: &Planned, name: &str) -> FioReplay {
    let starts = schedule(planned);
    let mut order: Vec<(u64, usize, usize)> = Vec::new();
    for (rank, starts) in starts.iter().enumerate() {
        order.extend(starts.iter().enumerate().map(|(at, start)| (*start, rank, at)));
    }
    order.sort_unstable();
    let mut writing = Writing::new(planned);
    for (start, rank, at) in order {
        let operation = planned.program.streams[rank][at];
        let time_ns = operation.think_ns.saturating_add(planned.durations[rank][at]);
        let amount = Amount { requests: 1, bytes: operation.action.bytes(), time_ns };
        writing.operation((rank, start), operation, amount);
    }
    let made = writing.logs.iter().map(RankLog::text);
    let logs: Vec<(String, String)> =
        made.enumerate().map(|(rank, text)| (format!("{name}.rank-{rank}.iolog"), text)).collect();
    let losses = writing.losses();
    FioReplay { job: job(planned, &writing, &logs, &losses), logs, losses }
}

fn job(planned: &Planned, writing: &Writing<'_>, logs: &[(String, String)], losses: &[String]) -> String {
    let mut text = "# A model of a workload, to be replayed by fio (3.31 or later). Lost in it:\n".to_owned();
    losses.iter().for_each(|loss| text.push_str(&format!("# - {loss}\n")));
    let directories: BTreeSet<&str> = writing.directories();
    if !directories.is_empty() {
        let all: Vec<&str> = directories.into_iter().collect();
        text.push_str(&format!("# First: mkdir -p {}\n", all.join(" ")));
    }
    text.push_str(
        "# In the directory of the logs: fio FILE. Its sections \"files\" make what is there beforehand.\n",
    );
    text.push_str("[global]\nioengine=psync\nfallocate=none\nallow_file_create=1\ninvalidate=0\n");
    let mut sizes: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for file in planned.program.files.iter().filter(|file| !file.directory) {
        if let Some(size) = file.size.filter(|size| *size > 0) {
            sizes.entry(size).or_default().push(&file.name);
        }
    }
    for (size, names) in sizes {
        for names in names.chunks(64) {
            let names = names.join(":");
            text.push_str(&format!(
                "\n[files]\nrw=read\nfilename={names}\nfilesize={size}\nbs={}\ncreate_only=1\n",
                size.min(4096)
            ));
        }
    }
    for (rank, (name, _)) in logs.iter().enumerate().filter(|(rank, _)| !writing.logs[*rank].lines.is_empty())
    {
        let wait = if rank == 0 { "stonewall\n" } else { "" };
        text.push_str(&format!("\n[rank-{rank}]\n{wait}read_iolog={name}\n"));
    }
    text
}

/// The log of a rank.
#[derive(Default)]
struct RankLog {
    files: BTreeSet<String>,
    lines: String,
    /// How often it has each file open.
    open: HashMap<usize, u64>,
}

impl RankLog {
    fn text(&self) -> String {
        let mut text = "fio version 3 iolog\n".to_owned();
        self.files.iter().for_each(|file| text.push_str(&format!("0 {file} add\n")));
        text + &self.lines
    }
}

/// An open file description.
#[derive(Clone, Copy)]
struct Opened {
    file: usize,
    cursor: u64,
    appends: bool,
    of_mpi: bool,
}

/// Logs while they are written: operations of all ranks in the order of their times.
struct Writing<'a> {
    planned: &'a Planned,
    logs: Vec<RankLog>,
    opened: HashMap<(usize, OpenNumber), Opened>,
    /// How long each file is.
    ends: Vec<u64>,
    /// Under which name each file began; fio does not rename it.
    first_names: Vec<usize>,
    /// Of the first rank.
    barriers: u64,
    /// Waits of all ranks for single ones.
    waits: u64,
    losses: Losses,
}

impl<'a> Writing<'a> {
    fn new(planned: &'a Planned) -> Self {
        let files = &planned.program.files;
        Self {
            planned,
            logs: planned.program.streams.iter().map(|_| RankLog::default()).collect(),
            opened: HashMap::new(),
            ends: files.iter().map(|file| file.size.unwrap_or_default()).collect(),
            first_names: (0..files.len()).collect(),
            barriers: 0,
            waits: 0,
            losses: Losses::default(),
        }
    }

    fn operation(&mut self, (rank, start): (usize, u64), operation: Operation, amount: Amount) {
        if !operation.action.is_call() {
            self.barriers += u64::from(rank == 0 && matches!(operation.action, Action::Barrier(_)));
            self.waits += u64::from(matches!(operation.action, Action::Await(_)));
            return;
        }
        self.losses.add(amount);
        if matches!(operation.expected, Expected::Error(_)) {
            return self.losses.lose(NAMED, amount);
        }
        let at = (rank, start);
        match operation.action {
            Action::Open { file, open, mode } => self.open(at, (file, open, mode), amount),
            Action::Close(open) => self.close(at, open),
            Action::Read(open, bytes) => self.transfer(at, (open, None, bytes), false, amount),
            Action::ReadAt(open, offset, bytes) => {
                self.transfer(at, (open, Some(offset), bytes), false, amount)
            }
            Action::Write(open, bytes) => self.transfer(at, (open, None, bytes), true, amount),
            Action::WriteAt(open, offset, bytes) => {
                self.transfer(at, (open, Some(offset), bytes), true, amount)
            }
            Action::Sync(open) => self.sync(at, open, "sync"),
            Action::SyncData(open) => self.sync(at, open, "datasync"),
            Action::Rename(from, to) | Action::Link(from, to) => {
                self.first_names[to] = self.first_names[from];
                self.losses.lose(NAMED, amount);
            }
            Action::StatOpen(_) | Action::Truncate(..) => self.losses.lose(THROUGH_DESCRIPTORS, amount),
            Action::Lock { .. } | Action::Unlock(_) => self.losses.lose("locks", amount),
            _ => self.losses.lose(NAMED, amount),
        }
    }

    fn name(&self, file: usize) -> &'a str {
        self.planned.program.files.get(file).map_or("", |file| file.name.as_str())
    }

    fn line(&mut self, (rank, start): (usize, u64), file: usize, action: &str) {
        let name = self.name(file);
        let log = &mut self.logs[rank];
        // Writing to a string cannot fail.
        let _ = writeln!(log.lines, "{} {name} {action}", start / 1_000);
    }

    fn open(&mut self, at: (usize, u64), (file, open, mode): (usize, OpenNumber, OpenMode), amount: Amount) {
        let file = self.first_names[file];
        if mode.truncate && self.ends[file] > 0 {
            self.losses.lose("files are not emptied when they are opened", amount);
            self.ends[file] = 0;
        }
        let of_mpi = mode.interface != Interface::System;
        if of_mpi {
            self.losses.lose(OF_MPI, amount);
        }
        self.opened.insert((at.0, open), Opened { file, cursor: 0, appends: mode.append, of_mpi });
        let name = self.name(file).to_owned();
        let log = &mut self.logs[at.0];
        log.files.insert(name);
        let times = log.open.entry(file).or_default();
        *times += 1;
        if *times == 1 {
            self.line(at, file, "open");
        } else {
            self.losses.lose("opens and closes of files that the rank has open already", amount.plus(amount));
        }
    }

    fn close(&mut self, at: (usize, u64), open: OpenNumber) {
        let Some(Opened { file, .. }) = self.opened.remove(&(at.0, open)) else { return };
        let times = self.logs[at.0].open.entry(file).or_default();
        *times = times.saturating_sub(1);
        if *times == 0 {
            self.line(at, file, "close");
        }
    }

    fn transfer(
        &mut self,
        at: (usize, u64),
        (open, offset, bytes): (OpenNumber, Option<u64>, u64),
        writes: bool,
        amount: Amount,
    ) {
        let Some(opened) = self.opened.get_mut(&(at.0, open)) else { return };
        if opened.of_mpi {
            self.losses.lose(OF_MPI, amount);
        }
        let file = opened.file;
        let end = self.ends[file];
        let begin = if writes && opened.appends { end } else { offset.unwrap_or(opened.cursor) };
        // What fio gets less of than it asks for is an error to it.
        let length = if writes { bytes } else { bytes.min(end.saturating_sub(begin)) };
        if offset.is_none() {
            opened.cursor = begin.saturating_add(length);
        }
        if writes {
            self.ends[file] = end.max(begin.saturating_add(bytes));
        } else if length < bytes {
            let lost = Amount { bytes: bytes - length, ..amount };
            self.losses.lose("reads that reach the end of a file ask for what there is", lost);
        }
        if length > 0 {
            let action = if writes { "write" } else { "read" };
            self.line(at, file, &format!("{action} {begin} {length}"));
        }
    }

    fn sync(&mut self, at: (usize, u64), open: OpenNumber, action: &str) {
        if let Some(Opened { file, .. }) = self.opened.get(&(at.0, open)) {
            self.line(at, *file, &format!("{action} 0 0"));
        }
    }

    fn losses(&self) -> Vec<String> {
        let mut losses = self.losses.clone();
        if self.logs.len() > 1 {
            let counted = [
                (self.barriers, "barrier", "barriers"),
                (self.waits, "message or wait for a single rank", "messages and waits for single ranks"),
            ];
            let counted = counted.into_iter().filter(|(number, ..)| *number > 0);
            let lost: Vec<String> =
                counted.map(|(number, one, many)| units::counted(number, one, many)).collect();
            let lost = if lost.is_empty() { String::new() } else { format!("; lost: {}", lost.join(", ")) };
            losses.lose(
                &format!("ranks do not wait for each other, they keep their times{lost}"),
                Amount::default(),
            );
        }
        losses.lose("modes: every file is opened for reading, or for both", Amount::default());
        losses.sentences()
    }

    /// Directories that must be there: fio makes none.
    fn directories(&self) -> BTreeSet<&'a str> {
        let files = &self.planned.program.files;
        let outer = |name: &'a str| name.rsplit_once('/').map(|(outer, _)| outer);
        files
            .iter()
            .filter_map(|file| if file.directory { Some(file.name.as_str()) } else { outer(&file.name) })
            .collect()
    }
}

const NAMED: &str = "calls that name files, and opens that fail";
const THROUGH_DESCRIPTORS: &str = "stat and truncate through descriptors";

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_generate::planned;
    use iotrail_workload::Model;

    const MODEL: &str = r#"
iotrail_workload = 1

[[group]]
name = "all"
ranks = "0.."

[[file]]
name = "in/a"
class = "shared"
size = 6000

[[file.session]]
name = "read"
mode = "ro"
requests = { read = 2 }
size = "4 KiB"
offset = "sequential"
slack = "1 ms"
duration = "2 us"

[[file]]
name = "log"
class = "root"

[[file.session]]
name = "say"
mode = "wo create append"
requests = { write = 1, fsync = 1 }
size = "10 B"
offset = "sequential"

[program]
steps = [
  { session = "in/a/read" },
  { barrier = "all" },
  { repeat = 2, steps = [{ session = "log/say" }] },
  { call = "stat", file = "log", ranks = "all" },
]
"#;

    #[test]
    fn each_rank_has_its_requests_in_order_with_places_and_times() {
        let model = Model::parse(MODEL).unwrap();
        let replay = fio_iolog(&planned(&model, 2, 0).unwrap(), "app");
        let expected = "fio version 3 iolog\n0 in/a add\n0 log add\n1000 in/a open\n2002 in/a read 0 4096\n\
                        3004 in/a read 4096 1904\n4006 in/a close\n4008 log open\n4008 log write 0 10\n\
                        4008 log sync 0 0\n4008 log close\n4008 log open\n4008 log write 10 10\n4008 log sync 0 0\n\
                        4008 log close\n";
        assert_eq!(replay.logs[0], ("app.rank-0.iolog".to_owned(), expected.to_owned()));
        assert!(replay.logs[1].1.ends_with("4006 in/a close\n"), "{}", replay.logs[1].1);
        assert!(replay.job.contains("# First: mkdir -p in\n"), "{}", replay.job);
        assert!(replay.job.contains("filename=in/a\nfilesize=6000\n"), "{}", replay.job);
        assert!(replay.job.contains("[rank-0]\nstonewall\nread_iolog=app.rank-0.iolog\n"), "{}", replay.job);
        assert_eq!(
            replay.losses,
            [
                "reads that reach the end of a file ask for what there is: 11.8 % of the requests, 26.7 % of the bytes, 25.0 % of the time",
                "calls that name files, and opens that fail: 5.9 % of the requests, 0 % of the bytes, 0 % of the time",
                "ranks do not wait for each other, they keep their times; lost: 1 barrier",
                "modes: every file is opened for reading, or for both",
            ]
        );
    }
}
