//! A model of a workload as a job file of fio, and what of it is lost.

use iotrail_workload::{
    Mode, Model, ModelFile, ModelSession, OffsetLaw, ProgramStep, RequestKind, Sharing, Stride,
};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// A job file, and what it does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioJob {
    /// The text of the job file, which begins with what is lost.
    pub text: String,
    /// What is lost, in sentences with the share of requests or bytes that each concerns.
    pub losses: Vec<String>,
}

/// What is done in all with a session: by a rank.
struct Job<'a> {
    name: String,
    file: &'a ModelFile,
    session: &'a ModelSession,
    /// How often a rank does it.
    times: u64,
    /// How many ranks do.
    ranks: u32,
}

/// The job file for so many ranks: a section for each session, one after the other; each rank is a process.
#[must_use]
pub fn fio_job(model: &Model, ranks: u32) -> FioJob {
    let mut times = Times::default();
    times.add(model, &model.steps, 1);
    let mut losses = Losses::default();
    let mut sections = String::new();
    for (file, session) in times.order {
        let number = times.of[&(file, session)];
        let model_file = &model.files[file];
        let of_file = &model_file.sessions[session];
        let all = if model_file.class == Sharing::Root { 1 } else { ranks };
        let name = format!("{}-{}", model_file.name.replace(['/', '%'], "_"), of_file.name);
        let job = Job { name, file: model_file, session: of_file, times: number, ranks: all };
        // Writing to a string cannot fail.
        let _ = job.write(&mut sections, ranks, &mut losses);
    }
    losses.of_program(times.other, times.barriers);
    let losses = losses.sentences();
    let mut text = "# A model of a workload as a job of fio. Lost in it:\n".to_owned();
    losses.iter().for_each(|loss| text.push_str(&format!("# - {loss}\n")));
    text.push_str("# fio --create_only=1 FILE makes the files that are read; fio FILE runs it, in the current directory.\n");
    text.push_str("[global]\nioengine=psync\nfallocate=none\nallow_file_create=1\ninvalidate=0\n\n");
    FioJob { text: text + &sections, losses }
}

/// How often a rank does each session.
#[derive(Default)]
struct Times {
    of: BTreeMap<(usize, usize), u64>,
    order: Vec<(usize, usize)>,
    /// Calls that name files.
    other: u64,
    barriers: u64,
}

impl Times {
    fn add(&mut self, model: &Model, steps: &[ProgramStep], times: u64) {
        let mut parts: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for step in steps {
            match step {
                ProgramStep::Repeat(more, steps) => self.add(model, steps, times.saturating_mul(*more)),
                ProgramStep::Session { file, session, .. } => self.session((*file, *session), times),
                ProgramStep::Part { file, session, steps, .. } => {
                    *parts.entry((*file, *session)).or_default() += steps;
                }
                ProgramStep::Call { .. } => self.other += times,
                ProgramStep::Barrier(_) => self.barriers += times,
            }
        }
        for ((file, session), steps) in parts {
            let counted = model.files[file].sessions[session].counted();
            self.session((file, session), times.saturating_mul(steps).div_ceil(counted));
        }
    }

    fn session(&mut self, key: (usize, usize), times: u64) {
        let all = self.of.entry(key).or_insert_with(|| {
            self.order.push(key);
            0
        });
        *all = all.saturating_add(times);
    }
}

/// What is lost, in requests of all ranks.
#[derive(Default)]
struct Losses {
    transfers: u64,
    /// By what is lost, the transfers that it concerns.
    of_transfers: BTreeMap<&'static str, u64>,
    sentences: Vec<String>,
    syncs: u64,
}

impl Losses {
    fn of_program(&mut self, calls: u64, barriers: u64) {
        if calls > 0 {
            self.sentences.push(format!("calls that name files: {calls} of a rank"));
        }
        if barriers > 0 {
            self.sentences
                .push(format!("barriers: {barriers}; sections wait for each other, requests do not"));
        }
        if self.syncs > 0 {
            self.sentences.push(format!("stat and truncate through descriptors: {} requests", self.syncs));
        }
    }

    fn sentences(self) -> Vec<String> {
        let order = "the order between files: each session is a section of its own".to_owned();
        let share = |count: u64| count as f64 * 100.0 / self.transfers.max(1) as f64;
        let of_transfers = self.of_transfers.iter();
        let lost =
            of_transfers.map(|(what, count)| format!("{what}: {:.1} % of the transfers", share(*count)));
        std::iter::once(order).chain(lost).chain(self.sentences.iter().cloned()).collect()
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
}

impl Job<'_> {
    fn count(&self, kind: RequestKind) -> u64 {
        self.session.requests.get(&kind).copied().unwrap_or_default()
    }

    fn write(&self, out: &mut String, ranks: u32, losses: &mut Losses) -> fmt::Result {
        let (reads, writes) = (self.count(RequestKind::Read), self.count(RequestKind::Write));
        let transfers = (reads + writes).saturating_mul(self.times).saturating_mul(u64::from(self.ranks));
        let other = self.count(RequestKind::Stat) + self.count(RequestKind::Truncate);
        losses.syncs += other.saturating_mul(self.times).saturating_mul(u64::from(self.ranks));
        losses.transfers += transfers;
        if transfers == 0 {
            *losses.of_transfers.entry("sessions without transfers").or_default() += 0;
            return Ok(());
        }
        let mut lose = |what| *losses.of_transfers.entry(what).or_default() += transfers;
        let layout = self.layout(ranks, &mut lose);
        let per_loop = (reads + writes).saturating_mul(self.times / layout.loops.max(1));
        let largest =
            self.session.sizes.keys().chain(self.session.write_sizes.keys()).max().copied().unwrap_or(1);
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
        writeln!(out, "rw={direction}{skip}")?;
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
        let size = end.max(self.file.size).saturating_mul(self.file.count);
        writeln!(out, "size={size}\nnumber_ios={per_loop}")?;
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

    fn layout(&self, ranks: u32, lose: &mut impl FnMut(&'static str)) -> Layout {
        let appends = self.session.mode.append;
        let alone = |start, rank, skip, loops| Layout { start, rank, skip, loops };
        if self.session.write_offset.is_some() {
            lose("laws of offsets: transfers follow each other");
            return alone(0, 0, 0, self.times);
        }
        match self.session.offset {
            // Of many files each is done once.
            OffsetLaw::Sequential if appends || self.file.count > 1 => alone(0, 0, 0, 1),
            OffsetLaw::Sequential => alone(0, 0, 0, self.times),
            OffsetLaw::Affine { start, rank, step, again, every, shift, .. } => {
                let size = self.session.sizes.keys().next().copied().unwrap_or(1);
                let transfers = self.session.requests.iter().filter(|(kind, _)| kind.is_transfer());
                let transfers: u64 = transfers.map(|(_, count)| count).sum();
                let one_size = self.session.sizes.len() == 1 && self.session.write_sizes.is_empty();
                let step = if transfers > 1 { step.at(ranks) } else { again.at(ranks) };
                let goes_on = again.at(ranks) == step.saturating_mul(transfers);
                let again_same = again == Stride::default();
                if !one_size || every > 0 || shift != 0 || step < size || !(goes_on || again_same) {
                    lose("laws of offsets: transfers follow each other");
                    return alone(start, rank, 0, self.times);
                }
                alone(start, rank, step - size, if goes_on { 1 } else { self.times })
            }
        }
    }

    fn write_sizes(&self, out: &mut String, lose: &mut impl FnMut(&'static str)) -> fmt::Result {
        let (reads, writes) =
            (self.session.sizes_of(RequestKind::Read), self.session.sizes_of(RequestKind::Write));
        if reads.len() == 1 && writes.len() == 1 {
            let first = |sizes: &BTreeMap<u64, u64>| sizes.keys().next().copied().unwrap_or(1);
            return writeln!(out, "bs={},{}", first(reads), first(writes));
        }
        lose("the order of sizes, and their shares in less than a percent");
        writeln!(out, "bssplit={},{}", split(reads), split(writes))
    }

    fn write_syncs(&self, out: &mut String, writes: u64, lose: &mut impl FnMut(&'static str)) -> fmt::Result {
        for (kind, word) in [(RequestKind::Fsync, "fsync"), (RequestKind::Fdatasync, "fdatasync")] {
            let syncs = self.count(kind);
            if syncs > 0 && writes >= syncs {
                if !writes.is_multiple_of(syncs) {
                    lose("the exact number of syncs");
                }
                writeln!(out, "{word}={}", writes / syncs)?;
            } else if syncs > 0 {
                lose("syncs that follow no write");
            }
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
            "fsync=16",
        ] {
            assert!(section.lines().any(|found| found == line), "{line}: {section}");
        }
        assert_eq!(job.losses.len(), 2, "{:?}", job.losses);
        assert!(job.losses[1].starts_with("barriers: 5;"), "{:?}", job.losses);
    }

    #[test]
    fn shares_of_sizes_are_a_hundred_in_all() {
        assert_eq!(split(&BTreeMap::from([(10, 1), (20, 1), (30, 1)])), "10/33:20/33:30/34");
    }
}
