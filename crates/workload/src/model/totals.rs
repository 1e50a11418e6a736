//! What a model comes to at a number of ranks, without carrying it out.

use super::synthesis::{OF_CALLS, stratified};
use super::{
    CALLS, FileKind, MessageHalf, Model, ModelFile, ModelSession, NameCall, ProgramStep, RequestKind,
    SessionLayer, Sharing,
};
use std::collections::BTreeMap;
use thiserror::Error;

/// Sums over all ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Distinct files that are used.
    pub files: u64,
    /// Sessions.
    pub sessions: u64,
    /// Of them those that are done with calls of MPI-IO.
    pub mpi_io_sessions: u64,
    /// Of these those that all ranks do together.
    pub collective_sessions: u64,
    /// Requests in sessions, without open and close.
    pub requests: BTreeMap<RequestKind, u64>,
    /// Bytes to read.
    pub bytes_read: u64,
    /// Bytes to write.
    pub bytes_written: u64,
    /// Calls that name a file.
    pub calls: u64,
    /// Times that a group synchronises.
    pub barriers: u64,
    /// Messages that are given to ranks.
    pub messages_sent: u64,
    /// Messages that ranks wait for.
    pub messages_received: u64,
    /// Waits for sessions of single ranks, at most.
    pub waits: u64,
}

/// What is used how often, by how many ranks: session or call by its number.
type Used = BTreeMap<(usize, usize), (u64, u64)>;

/// How often steps occur, by file, session or call, and group of ranks.
type Steps = BTreeMap<(usize, usize, Option<usize>), u64>;

/// Adds how often sessions and calls occur, and parts of sessions.
fn add_steps(steps: &[ProgramStep], times: u64, all: (&mut Steps, &mut Steps, &mut u64)) -> Option<()> {
    let (sessions, parts, barriers) = all;
    let add = |steps: &mut Steps, key, times| {
        let all = steps.entry(key).or_default();
        *all = all.checked_add(times)?;
        Some(())
    };
    for step in steps.iter().filter(|_| times > 0) {
        match step {
            ProgramStep::Repeat(more, steps) => {
                add_steps(steps, times.checked_mul(*more)?, (&mut *sessions, &mut *parts, &mut *barriers))?;
            }
            ProgramStep::After { .. } | ProgramStep::Message { .. } | ProgramStep::Pause { .. } => {}
            ProgramStep::Barrier(_) => *barriers = barriers.checked_add(times)?,
            ProgramStep::Session { file, session, ranks } => add(sessions, (*file, *session, *ranks), times)?,
            ProgramStep::Part { file, session, ranks, steps } => {
                add(parts, (*file, *session, *ranks), times.checked_mul(*steps)?)?;
            }
            ProgramStep::Call { call, file, ranks, .. } => {
                add(sessions, (*file, OF_CALLS - *call as usize, *ranks), times)?;
            }
        }
    }
    Some(())
}

/// The call of a step that is no session.
fn call_of(number: usize) -> Option<NameCall> {
    let number = OF_CALLS.checked_sub(number)?;
    CALLS.iter().map(|(_, call)| *call).find(|call| *call as usize == number)
}

/// A total does not fit 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the totals of the model do not fit 64 bits at {0} ranks; use fewer ranks, repetitions or bytes")]
pub struct TooMuch(pub u32);

impl Model {
    /// What is done by so many ranks.
    ///
    /// # Errors
    /// If a sum does not fit 64 bits.
    pub fn totals(&self, ranks: u32) -> Result<Totals, TooMuch> {
        self.totals_of(ranks, 0)
    }

    /// The same with a seed, on which the totals of a path that is drawn depend.
    ///
    /// # Errors
    /// If a sum does not fit 64 bits.
    pub fn totals_of(&self, ranks: u32, seed: u64) -> Result<Totals, TooMuch> {
        if self.path.is_some() {
            return self.drawn_totals(ranks, seed);
        }
        let mut totals = Totals::default();
        let mut used = Used::new();
        let steps = self.counted_steps(&mut totals.barriers).ok_or(TooMuch(ranks))?;
        for (step, times) in steps {
            self.add_step(step, times, ranks, (&mut totals, &mut used)).ok_or(TooMuch(ranks))?;
        }
        for (half, number) in [
            (Some(MessageHalf::Send), &mut totals.messages_sent),
            (Some(MessageHalf::Receive), &mut totals.messages_received),
            (None, &mut totals.waits),
        ] {
            *number = self.meetings(&self.steps, half, ranks).ok_or(TooMuch(ranks))?;
        }
        let mut files = vec![0; self.files.len()];
        for ((file, _), (times, users)) in used {
            let model = &self.files[file];
            let owners = if model.class == Sharing::Private { users } else { users.min(1) };
            files[file] = times.min(model.count).saturating_mul(owners).max(files[file]);
        }
        totals.files = files.into_iter().fold(0, u64::saturating_add);
        Ok(totals)
    }

    /// How many halves of messages so many ranks do, or how often they wait for sessions of others; NULL if that does not fit.
    fn meetings(&self, steps: &[ProgramStep], wanted: Option<MessageHalf>, ranks: u32) -> Option<u64> {
        steps.iter().try_fold(0_u64, |sum, step| {
            let (partner, group) = match step {
                ProgramStep::Repeat(times, steps) => {
                    return sum.checked_add(self.meetings(steps, wanted, ranks)?.checked_mul(*times)?);
                }
                ProgramStep::Message { half, partner, ranks } if Some(*half) == wanted => (partner, ranks),
                ProgramStep::After { of, ranks, .. } if wanted.is_none() => (of, ranks),
                _ => return Some(sum),
            };
            let group = group.map(|group| &self.groups[group]);
            let own = (0..ranks).filter(|rank| group.is_none_or(|group| group.contains(*rank)));
            sum.checked_add(own.map(|rank| u64::from(partner.count(&self.groups, rank, ranks))).sum())
        })
    }

    /// How many of so many ranks do a session of a file.
    fn users(&self, file: &ModelFile, group: Option<usize>, ranks: u32) -> u32 {
        let group = group.map(|group| &self.groups[group]);
        match file.class {
            Sharing::Root => u32::from(ranks > 0 && group.is_none_or(|group| group.contains(0))),
            Sharing::Shared | Sharing::Private => group.map_or(ranks, |group| group.size(ranks)),
        }
    }

    /// How often each session and call occurs in the program; NULL if a count does not fit.
    fn counted_steps(&self, barriers: &mut u64) -> Option<Steps> {
        let (mut steps, mut parts) = (Steps::new(), Steps::new());
        add_steps(&self.steps, 1, (&mut steps, &mut parts, barriers))?;
        for (step, parts) in parts {
            let (file, session, _) = step;
            let times = steps.entry(step).or_default();
            *times = times.checked_add(parts.div_ceil(self.files[file].sessions[session].counted()))?;
        }
        Some(steps)
    }

    /// Adds a step that occurs so often.
    fn add_step(
        &self,
        (file, number, group): (usize, usize, Option<usize>),
        times: u64,
        ranks: u32,
        (totals, used): (&mut Totals, &mut Used),
    ) -> Option<()> {
        let model = &self.files[file];
        let Some(call) = call_of(number) else {
            let times = model.times.of(times)?;
            return self.add_session((file, number, group), times, ranks, (totals, used));
        };
        let times = model.times_of(call).of(times)?;
        let users = u64::from(self.users(model, group, ranks));
        totals.calls = totals.calls.checked_add(times.checked_mul(users)?)?;
        if model.kind != FileKind::Absent {
            let (all, most) = used.entry((file, number)).or_default();
            (*all, *most) = (all.checked_add(times)?, (*most).max(users));
        }
        Some(())
    }

    fn add_session(
        &self,
        (file, session, group): (usize, usize, Option<usize>),
        times: u64,
        ranks: u32,
        (totals, used): (&mut Totals, &mut Used),
    ) -> Option<()> {
        let model = &self.files[file];
        let users = u64::from(self.users(model, group, ranks));
        let dealt = self.ranks.filter(|_| self.is_dealt(file) && users > 0);
        let transferring = dealt.map_or(users, |base| u64::from(self.users(model, group, base)));
        let (all, most) = used.entry((file, session)).or_default();
        (*all, *most) = (all.checked_add(times)?, (*most).max(users));
        let session = &model.sessions[session];
        // All ranks meet where the first one does.
        if group.is_none_or(|group| self.groups[group].contains(0)) {
            totals.barriers = totals.barriers.checked_add(times.checked_mul(session.meetings())?)?;
        }
        totals.add(session, times.checked_mul(users)?, times.checked_mul(transferring)?)
    }
}

impl Totals {
    /// Adds those of another model.
    pub fn merge(&mut self, other: &Self) {
        for (kind, count) in &other.requests {
            let all = self.requests.entry(*kind).or_default();
            *all = all.saturating_add(*count);
        }
        for (all, more) in [
            (&mut self.files, other.files),
            (&mut self.sessions, other.sessions),
            (&mut self.mpi_io_sessions, other.mpi_io_sessions),
            (&mut self.collective_sessions, other.collective_sessions),
            (&mut self.bytes_read, other.bytes_read),
            (&mut self.bytes_written, other.bytes_written),
            (&mut self.calls, other.calls),
            (&mut self.barriers, other.barriers),
            (&mut self.messages_sent, other.messages_sent),
            (&mut self.messages_received, other.messages_received),
            (&mut self.waits, other.waits),
        ] {
            *all = all.saturating_add(more);
        }
    }

    /// Adds so many sessions, and the transfers of so many.
    fn add(&mut self, session: &ModelSession, times: u64, transferring: u64) -> Option<()> {
        self.sessions = self.sessions.checked_add(times)?;
        if session.layer != SessionLayer::System {
            self.mpi_io_sessions = self.mpi_io_sessions.saturating_add(times);
        }
        if session.layer == SessionLayer::Collective {
            self.collective_sessions = self.collective_sessions.saturating_add(times);
        }
        for (&kind, &count) in &session.requests {
            let times = if kind.is_transfer() { transferring } else { times };
            let requests = self.requests.entry(kind).or_default();
            *requests = requests.checked_add(count.checked_mul(times)?)?;
            let bytes = match kind {
                RequestKind::Read => &mut self.bytes_read,
                RequestKind::Write => &mut self.bytes_written,
                _ => continue,
            };
            for (size, draws) in stratified(session.sizes_of(kind), count) {
                *bytes = bytes.checked_add(size.checked_mul(draws)?.checked_mul(times)?)?;
            }
        }
        Some(())
    }
}
