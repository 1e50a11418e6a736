//! A model of a workload as a job file of fio, and what of it is lost.

use crate::losses::{Amount, Losses};
use iotrail_workload::{
    DrawnPlaces, Mode, Model, ModelFile, ModelSession, OffsetLaw, ProgramStep, RequestKind, SessionLayer,
    Sharing, Stride,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

/// A job file, and what it does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioJob {
    /// The text of the job file, which begins with what is lost.
    pub text: String,
    /// What is lost, in sentences with shares of requests, bytes and time.
    pub losses: Vec<String>,
}

/// What is done in all with a session: by a rank.
struct Job<'a> {
    name: String,
    file: &'a ModelFile,
    session: &'a ModelSession,
    /// How often a rank does it.
    times: u64,
    /// How many ranks do, and which is the first of them.
    ranks: u32,
    first: u32,
}

/// The job file for so many ranks: a section for each session, one after the other; each rank is a process.
#[must_use]
pub fn fio_job(model: &Model, ranks: u32) -> FioJob {
    let mut times = Times { ranks, ..Times::default() };
    times.add(model, &model.steps, 1);
    let mut losses = Losses::default();
    let mut sections = String::new();
    let mut in_sections = Amount::default();
    for (file, session, group) in times.order {
        let number = times.of[&(file, session, group)];
        let model_file = &model.files[file];
        let of_file = &model_file.sessions[session];
        let (first, members) = members(model, file, group, ranks);
        if members == 0 {
            continue;
        }
        let name = format!("{}-{}", model_file.name.replace(['/', '%'], "_"), of_file.name);
        let job = Job { name, file: model_file, session: of_file, times: number, ranks: members, first };
        losses.add(job.amount());
        in_sections = in_sections.plus(job.amount());
        if of_file.layer != SessionLayer::System {
            losses.lose(OF_MPI, job.amount());
        }
        // Writing to a string cannot fail.
        let _ = job.write(&mut sections, ranks, &mut losses);
    }
    losses.add(times.calls);
    if times.calls.requests > 0 {
        losses.lose("calls that name files", times.calls);
    }
    if times.of.len() > 1 {
        losses.lose(ORDER, in_sections);
    }
    if times.barriers > 0 {
        let barriers = times.barriers;
        losses.lose(
            &format!("barriers: {barriers}; sections wait for each other, requests do not"),
            Amount::default(),
        );
    }
    if times.waits > 0 {
        let waits = times.waits;
        losses.lose(&format!("messages, and waits for single ranks: {waits}"), Amount::default());
    }
    if times.pauses > 0 {
        let amount = Amount { time_ns: times.pauses, ..Amount::default() };
        losses.lose("pauses before first requests and after last ones", amount);
    }
    let losses = losses.sentences();
    let mut text = "# A model of a workload as a job of fio. Lost in it:\n".to_owned();
    losses.iter().for_each(|loss| text.push_str(&format!("# - {loss}\n")));
    let directories = directories(model, ranks);
    if !directories.is_empty() {
        let all: Vec<String> = directories.into_iter().collect();
        text.push_str(&format!("# First: mkdir -p {}\n", all.join(" ")));
    }
    text.push_str("# fio --create_only=1 FILE makes the files that are read; fio FILE runs it, in the current directory.\n");
    text.push_str("[global]\nioengine=psync\nfallocate=none\nallow_file_create=1\ninvalidate=0\n\n");
    FioJob { text: text + &sections, losses }
}

/// The first of the ranks that do something to a file, and their number.
fn members(model: &Model, file: usize, group: Option<usize>, ranks: u32) -> (u32, u32) {
    let (first, size) = group.map_or((0, ranks), |group| {
        let group = &model.groups[group];
        (group.first, group.size(ranks))
    });
    match model.files[file].class {
        Sharing::Root if first == 0 => (0, size.min(1)),
        Sharing::Root => (0, 0),
        Sharing::Shared | Sharing::Private => (first, size),
    }
}

/// Directories that must be there: fio makes none.
fn directories(model: &Model, ranks: u32) -> BTreeSet<String> {
    let of_file = |file: &ModelFile| {
        let owners = if file.class == Sharing::Private { ranks } else { 1 };
        let names = (0..owners).map(|rank| file.instance(rank, 0));
        names.filter_map(|name| Some(name.rsplit_once('/')?.0.to_owned())).collect::<Vec<_>>()
    };
    model.files.iter().filter(|file| !file.sessions.is_empty()).flat_map(of_file).collect()
}

/// A file, a session of it and the group that does it, as indices.
type Used = (usize, usize, Option<usize>);

/// How often a rank does each session.
#[derive(Default)]
struct Times {
    of: BTreeMap<Used, u64>,
    order: Vec<Used>,
    ranks: u32,
    /// Calls that name files, of all ranks.
    calls: Amount,
    barriers: u64,
    /// Steps in which ranks wait for single ones, or tell them.
    waits: u64,
    /// Time before first requests and after last ones, of all ranks, in ns.
    pauses: u64,
}

/// What all forms of fio lose.
pub(crate) const OF_MPI: &str = "calls of MPI-IO, in place of which fio makes system calls";
const ORDER: &str = "the order between files: each session is a section of its own";

impl Times {
    fn add(&mut self, model: &Model, steps: &[ProgramStep], times: u64) {
        let mut parts: BTreeMap<Used, u64> = BTreeMap::new();
        for step in steps {
            match step {
                ProgramStep::Repeat(more, steps) => self.add(model, steps, times.saturating_mul(*more)),
                ProgramStep::Session { file, session, ranks } => {
                    self.session((*file, *session, *ranks), times);
                }
                ProgramStep::Part { file, session, ranks, steps } => {
                    *parts.entry((*file, *session, *ranks)).or_default() += steps;
                }
                ProgramStep::Call { file, ranks, .. } => {
                    let (_, members) = members(model, *file, *ranks, self.ranks);
                    let time_ns = model.files[*file].mean_call_slack();
                    let one = Amount { requests: 1, time_ns, ..Amount::default() };
                    self.calls = self.calls.plus(one.times(times.saturating_mul(members.into())));
                }
                ProgramStep::Barrier(_) => self.barriers += times,
                ProgramStep::After { .. } | ProgramStep::Message { .. } => self.waits += times,
                ProgramStep::Pause { ns, ranks } => {
                    let is_of = |rank: &u32| ranks.is_none_or(|group| model.groups[group].contains(*rank));
                    let members = (0..self.ranks).filter(is_of).count() as u64;
                    self.pauses =
                        self.pauses.saturating_add(ns.saturating_mul(times).saturating_mul(members));
                }
            }
        }
        for ((file, session, group), steps) in parts {
            let counted = model.files[file].sessions[session].counted();
            self.session((file, session, group), times.saturating_mul(steps).div_ceil(counted));
        }
    }

    fn session(&mut self, key: Used, times: u64) {
        let all = self.of.entry(key).or_insert_with(|| {
            self.order.push(key);
            0
        });
        *all = all.saturating_add(times);
    }
}

/// Where the transfers of a job lie.
struct Layout {
    start: u64,
    /// From rank to rank.
    rank: u64,
    /// Bytes that are left out between transfers.
    skip: u64,
    /// The job is done so often, each time from its begin on.
    loops: u64,
    /// How transfers are at random places; NULL if they are not.
    scattered: Option<Scattered>,
}

/// Transfers at random places.
struct Scattered {
    start: u64,
    /// Bytes from there on in which those of a process are.
    extent: u64,
    align: u64,
    /// How many in a hundred do not follow the one before.
    percent: u64,
    /// Whether places may come again.
    repeats: bool,
    /// Whether all places are as likely.
    is_even: bool,
}

impl Scattered {
    fn of(places: &DrawnPlaces, sequential: u64, largest: u64) -> Self {
        let (start, end, align, is_even) = match places {
            DrawnPlaces::Of(weights) => {
                let ends = [weights.keys().next(), weights.keys().next_back()].map(|place| place.copied());
                let [first, last] = ends.map(Option::unwrap_or_default);
                let even = weights.values().collect::<BTreeSet<_>>().len() == 1;
                let gaps: BTreeSet<u64> =
                    weights.keys().zip(weights.keys().skip(1)).map(|(one, next)| next - one).collect();
                let align = gaps.first().copied().unwrap_or(largest);
                (first, last.saturating_add(largest), align, even && gaps.len() <= 1)
            }
            DrawnPlaces::Between { bounds, align } => {
                let [first, last] = [bounds.first(), bounds.last()].map(|bound| bound.copied().unwrap_or(0));
                let end = last.saturating_sub((*align).max(1)).saturating_add(largest).max(last);
                (first, end, *align, bounds.len() == 2)
            }
        };
        let percent = 100 - (sequential * 100 + 500_000) / 1_000_000;
        Self { start, extent: end - start, align, percent, repeats: true, is_even }
    }

    /// Each place once, a share of them out of turn.
    fn in_other_order(random: u64, extent: u64) -> Self {
        let percent = (random * 100 / 1_000_000).max(1);
        Self { start: 0, extent, align: 0, percent, repeats: false, is_even: true }
    }

    fn write(&self, out: &mut String, direction: &str) -> fmt::Result {
        writeln!(out, "rw=rand{direction}")?;
        if self.percent < 100 {
            writeln!(out, "percentage_random={}", self.percent)?;
        }
        if self.align > 1 {
            writeln!(out, "blockalign={}", self.align)?;
        }
        if self.repeats { writeln!(out, "norandommap=1") } else { Ok(()) }
    }
}

impl Job<'_> {
    /// All that is done with the session.
    fn amount(&self) -> Amount {
        Amount::of_session(self.session).times(self.times.saturating_mul(u64::from(self.ranks)))
    }

    /// So many of the requests of each execution, without their bytes.
    fn of_requests(&self, number: u64) -> Amount {
        let time_ns = self.session.duration.saturating_add(self.session.mean_slack());
        let times = number.saturating_mul(self.times).saturating_mul(u64::from(self.ranks));
        Amount { requests: 1, bytes: 0, time_ns }.times(times)
    }

    fn count(&self, kind: RequestKind) -> u64 {
        self.session.requests.get(&kind).copied().unwrap_or_default()
    }

    fn write(&self, out: &mut String, ranks: u32, losses: &mut Losses) -> fmt::Result {
        let (reads, writes) = (self.count(RequestKind::Read), self.count(RequestKind::Write));
        let other = self.count(RequestKind::Stat) + self.count(RequestKind::Truncate);
        if reads + writes == 0 {
            losses.lose("sessions without transfers", self.amount());
            return Ok(());
        }
        let locks: u64 =
            self.session.requests.iter().filter(|(kind, _)| kind.is_of_lock()).map(|(_, count)| count).sum();
        if locks > 0 {
            losses.lose("locks", self.of_requests(locks));
        }
        if other > 0 {
            losses.lose("stat and truncate through descriptors", self.of_requests(other));
        }
        let concerned = Amount { bytes: self.amount().bytes, ..self.of_requests(reads + writes) };
        let mut lose = |what: &str| losses.lose(what, concerned);
        let mut layout = self.layout(ranks, &mut lose);
        if self.session.random > 0 && layout.scattered.is_none() {
            lose("the order of places: fio draws its own");
            if layout.skip == 0 && !self.session.mode.append {
                let span = self.largest().saturating_mul(reads + writes);
                layout.scattered = Some(Scattered::in_other_order(self.session.random, span));
            }
        }
        layout.start = layout.start.saturating_add(layout.rank.saturating_mul(self.first.into()));
        if self.first > 0 && self.file.class == Sharing::Private {
            lose("numbers of ranks in names: fio counts from 0");
        }
        let per_loop = (reads + writes).saturating_mul(self.times / layout.loops.max(1));
        let largest = self.largest();
        writeln!(out, "[{}]\nstonewall\nnumjobs={}", self.name, self.ranks)?;
        let private = self.file.name.replace("%r", "$jobnum").replace("%i", "$filenum");
        if self.file.class == Sharing::Private || self.file.count > 1 {
            writeln!(out, "filename_format={private}\nnrfiles={}", self.file.count)?;
            if self.file.count > 1 {
                writeln!(out, "file_service_type=sequential")?;
            }
        } else {
            writeln!(out, "filename={}", self.file.name)?;
        }
        let direction = match (reads > 0, writes > 0) {
            (true, true) => "rw",
            (true, false) => "read",
            (false, _) => "write",
        };
        let skip = if layout.skip > 0 { format!(":{}", layout.skip) } else { String::new() };
        match &layout.scattered {
            None => writeln!(out, "rw={direction}{skip}")?,
            Some(scattered) => scattered.write(out, direction)?,
        }
        if reads > 0 && writes > 0 {
            lose("the order of reads and writes of a session: only their share is kept");
            writeln!(out, "rwmixread={}", reads * 100 / (reads + writes))?;
        }
        self.write_sizes(out, &mut lose)?;
        let step = largest.saturating_add(layout.skip);
        let end = layout
            .start
            .saturating_add(layout.rank.saturating_mul(u64::from(self.ranks.saturating_sub(1))))
            .saturating_add(step.saturating_mul(per_loop));
        if !self.file.lengths.is_empty() {
            lose("the lengths of files: all have the largest");
        }
        let whole = end.max(self.file.size);
        let size = layout.scattered.as_ref().map_or(whole, |scattered| scattered.extent);
        let size = size.saturating_mul(self.file.count);
        writeln!(out, "size={size}\nnumber_ios={per_loop}")?;
        if layout.scattered.is_some() {
            // Else it ends when it has moved as many bytes as the file has.
            writeln!(out, "io_size={}", largest.saturating_mul(per_loop))?;
        }
        if layout.start > 0 || layout.rank > 0 {
            writeln!(out, "offset={}\noffset_increment={}", layout.start, layout.rank)?;
        }
        if layout.loops > 1 {
            writeln!(out, "loops={}", layout.loops)?;
        }
        self.write_syncs(out, writes, &mut lose)?;
        self.write_mode(out)?;
        if self.session.mean_slack() >= 1000 {
            if self.session.slack.len() > 1 {
                lose("the distribution of the time before requests: only its mean is kept");
            }
            writeln!(out, "thinktime={}", self.session.mean_slack() / 1000)?;
        }
        writeln!(out)
    }

    fn largest(&self) -> u64 {
        self.session.sizes.keys().chain(self.session.write_sizes.keys()).max().copied().unwrap_or(1)
    }

    fn layout(&self, ranks: u32, lose: &mut impl FnMut(&str)) -> Layout {
        let appends = self.session.mode.append;
        let alone = |start, rank, skip, loops| Layout { start, rank, skip, loops, scattered: None };
        let law = match (&self.session.offset, &self.session.write_offset) {
            (offset, None) => offset,
            (drawn @ OffsetLaw::Drawn { .. }, Some(_)) | (_, Some(drawn @ OffsetLaw::Drawn { .. })) => {
                lose("laws of reads and of writes: fio has one of both");
                drawn
            }
            (_, Some(_)) => {
                lose("laws of offsets: transfers follow each other");
                return alone(0, 0, 0, self.times);
            }
        };
        match law {
            OffsetLaw::Runs(_) => {
                lose("places in a list: transfers follow each other");
                alone(0, 0, 0, self.times)
            }
            OffsetLaw::Drawn { places, sequential, rank, written, .. } => {
                let scattered = Scattered::of(places, *sequential, self.largest());
                if scattered.percent == 0 {
                    lose("where sessions begin: all of them do at the first place");
                    return alone(scattered.start, *rank, 0, self.times);
                }
                if !scattered.is_even {
                    lose("the distribution of places: fio draws them evenly");
                }
                if *written {
                    lose("that reads find what the session has written before");
                }
                let start = scattered.start;
                Layout { scattered: Some(scattered), ..alone(start, *rank, 0, 1) }
            }
            // Of many files each is done once.
            OffsetLaw::Sequential if appends || self.file.count > 1 => alone(0, 0, 0, 1),
            OffsetLaw::Sequential => alone(0, 0, 0, self.times),
            &OffsetLaw::Affine { start, rank, step, again, every, shift, .. } => {
                let size = self.session.sizes.keys().next().copied().unwrap_or(1);
                let transfers = self.session.requests.iter().filter(|(kind, _)| kind.is_transfer());
                let transfers: u64 = transfers.map(|(_, count)| count).sum();
                let one_size = self.session.sizes.len() == 1 && self.session.write_sizes.is_empty();
                let of_stride = if transfers > 1 { step.at(ranks) } else { again.at(ranks) };
                // Towards the begin of the file fio goes with other words.
                let step = u64::try_from(of_stride).unwrap_or(0);
                let goes_on = u64::try_from(again.at(ranks)) == Ok(step.saturating_mul(transfers));
                let again_same = again == Stride::default();
                if !one_size || every > 0 || shift != 0 || step < size || !(goes_on || again_same) {
                    lose("laws of offsets: transfers follow each other");
                    return alone(start, rank, 0, self.times);
                }
                alone(start, rank, step - size, if goes_on { 1 } else { self.times })
            }
        }
    }

    fn write_sizes(&self, out: &mut String, lose: &mut impl FnMut(&str)) -> fmt::Result {
        let (reads, writes) =
            (self.session.sizes_of(RequestKind::Read), self.session.sizes_of(RequestKind::Write));
        if reads.len() == 1 && writes.len() == 1 {
            let first = |sizes: &BTreeMap<u64, u64>| sizes.keys().next().copied().unwrap_or(1);
            return writeln!(out, "bs={},{}", first(reads), first(writes));
        }
        lose("the order of sizes, and their shares in less than a percent");
        writeln!(out, "bssplit={},{}", split(reads), split(writes))
    }

    fn write_syncs(&self, out: &mut String, writes: u64, lose: &mut impl FnMut(&str)) -> fmt::Result {
        for (kind, word) in [(RequestKind::Fsync, "fsync"), (RequestKind::Fdatasync, "fdatasync")] {
            let syncs = self.count(kind);
            if syncs == 0 {
                continue;
            }
            if writes < syncs {
                lose("syncs that follow no write");
                continue;
            }
            if !writes.is_multiple_of(syncs) {
                lose("the exact number of syncs");
            }
            // fio syncs before the next write, so not after the last one.
            if syncs > 1 {
                writeln!(out, "{word}={}", writes / syncs)?;
            }
            if kind == RequestKind::Fdatasync {
                lose("the last fdatasync of a session is an fsync");
            }
            writeln!(out, "end_fsync=1")?;
        }
        Ok(())
    }

    fn write_mode(&self, out: &mut String) -> fmt::Result {
        let Mode { append, .. } = self.session.mode;
        if append { writeln!(out, "file_append=1") } else { Ok(()) }
    }
}

/// Sizes with their shares in percent, which sum up to 100.
fn split(sizes: &BTreeMap<u64, u64>) -> String {
    let all: u64 = sizes.values().sum::<u64>().max(1);
    let mut left = 100;
    let last = sizes.len().saturating_sub(1);
    let parts = sizes.iter().enumerate().map(|(at, (size, count))| {
        let share = if at == last { left } else { (count * 100 / all).min(left) };
        left -= share;
        format!("{size}/{share}")
    });
    parts.collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_workload::TEMPLATES;

    #[test]
    fn the_job_of_a_checkpoint_has_its_parameters_and_says_what_is_lost() {
        let (.., text) = TEMPLATES.iter().find(|(name, ..)| *name == "checkpoint").unwrap();
        let job = fio_job(&Model::parse(text).unwrap(), 4);
        let section = job.text.split("[checkpoint._r-").nth(1).unwrap();
        for line in [
            "numjobs=4",
            "filename_format=checkpoint.$jobnum",
            "rw=write",
            "bs=1048576,1048576",
            "number_ios=16",
            "loops=5",
            "end_fsync=1",
        ] {
            assert!(section.lines().any(|found| found == line), "{line}: {section}");
        }
        assert_eq!(job.losses, ["barriers: 5; sections wait for each other, requests do not"]);
    }

    #[test]
    fn a_group_of_ranks_is_as_many_processes_from_its_first_place_on() {
        let text = "iotrail_workload = 1\n[[group]]\nname = \"others\"\nranks = \"1..\"\n[[file]]\nname = \"d/f\"\nclass = \"shared\"\n\
                    [[file.session]]\nname = \"w\"\nmode = \"wo create\"\nrequests = { write = 4, fsync = 2 }\nsize = \"4 KiB\"\n\
                    offset = { start = 0, rank = \"16 KiB\", step = \"4 KiB\" }\n\
                    [program]\nsteps = [{ session = \"d/f/w\", ranks = \"others\" }]\n";
        let job = fio_job(&Model::parse(text).unwrap(), 4);
        for line in [
            "numjobs=3",
            "offset=16384",
            "offset_increment=16384",
            "fsync=2",
            "end_fsync=1",
            "# First: mkdir -p d",
        ] {
            assert!(job.text.lines().any(|found| found == line), "{line}: {}", job.text);
        }
        assert!(job.losses.is_empty(), "{:?}", job.losses);
    }

    #[test]
    fn places_that_are_drawn_are_random_ones() {
        let job = |offset: &str| {
            let text = format!(
                "iotrail_workload = 1\n[[file]]\nname = \"f\"\nclass = \"shared\"\nsize = \"4 MiB\"\n[[file.session]]\nname = \"r\"\nmode = \"ro\"\n\
                 requests = {{ read = 100 }}\nsize = \"4 KiB\"\n{offset}\n[program]\nsteps = [{{ session = \"f/r\" }}]\n"
            );
            fio_job(&Model::parse(&text).unwrap(), 1)
        };
        let has = |job: &FioJob, lines: &[&str]| {
            for line in lines {
                assert!(job.text.lines().any(|found| found == *line), "{line}: {}", job.text);
            }
        };
        let even =
            job("offset = { drawn = [\"64 KiB\", \"1088 KiB\"], align = \"4 KiB\", sequential = \"0.25\" }");
        has(
            &even,
            &[
                "rw=randread",
                "percentage_random=75",
                "blockalign=4096",
                "norandommap=1",
                "offset=65536",
                "size=1048576",
            ],
        );
        assert!(even.losses.is_empty(), "{:?}", even.losses);
        let uneven = job("offset = { drawn = { \"0 B\" = 9, \"8 KiB\" = 1 } }");
        has(&uneven, &["rw=randread", "size=12288"]);
        assert!(uneven.losses[0].starts_with("the distribution of places: fio draws them evenly"));
        let begins = job("offset = { drawn = { \"64 KiB\" = 1, \"1 MiB\" = 1 }, sequential = \"1.0\" }");
        has(&begins, &["rw=read", "offset=65536"]);
        assert!(begins.losses[0].starts_with("where sessions begin"), "{:?}", begins.losses);
        let shuffled = job("random = \"1.0\"");
        has(&shuffled, &["rw=randread"]);
        assert!(!shuffled.text.contains("norandommap") && !shuffled.text.contains("percentage_random"));
        let listed = job("offset = [\"99 * 512 B\", \"0 B\"]");
        has(&listed, &["rw=read"]);
        assert!(listed.losses[0].starts_with("places in a list"));
    }

    #[test]
    fn shares_of_sizes_are_a_hundred_in_all() {
        assert_eq!(split(&BTreeMap::from([(10, 1), (20, 1), (30, 1)])), "10/33:20/33:30/34");
    }
}
