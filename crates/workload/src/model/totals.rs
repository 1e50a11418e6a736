//! What a model comes to at a number of ranks, without carrying it out.

use super::synthesis::stratified;
use super::{FileKind, Model, ModelFile, ModelSession, ProgramStep, RequestKind, Sharing};
use std::collections::BTreeMap;
use thiserror::Error;

/// Sums over all ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Distinct files that are used.
    pub files: u64,
    /// Sessions.
    pub sessions: u64,
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
}

/// What is used how often, by how many ranks: session or call by its number.
type Used = BTreeMap<(usize, usize), (u64, u64)>;

/// Steps of sessions that are done in parts, by file, session and group of ranks.
type Parts = BTreeMap<(usize, usize, Option<usize>), u64>;

/// A total does not fit 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the totals of the model do not fit 64 bits at {0} ranks")]
pub struct TooMuch(pub u32);

impl Model {
    /// What is done by so many ranks.
    ///
    /// # Errors
    /// If a sum does not fit 64 bits.
    pub fn totals(&self, ranks: u32) -> Result<Totals, TooMuch> {
        let mut totals = Totals::default();
        let (mut used, mut parts) = (Used::new(), Parts::new());
        self.add_steps(&self.steps, 1, ranks, (&mut totals, &mut used, &mut parts)).ok_or(TooMuch(ranks))?;
        for ((file, session, group), steps) in parts {
            let times = steps.div_ceil(self.files[file].sessions[session].counted());
            let place = (file, session, group);
            self.add_session(place, times, ranks, (&mut totals, &mut used)).ok_or(TooMuch(ranks))?;
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

    /// How many of so many ranks do a session of a file.
    fn users(&self, file: &ModelFile, group: Option<usize>, ranks: u32) -> u32 {
        let group = group.map(|group| &self.groups[group]);
        match file.class {
            Sharing::Root => u32::from(ranks > 0 && group.is_none_or(|group| group.contains(0))),
            Sharing::Shared | Sharing::Private => group.map_or(ranks, |group| group.size(ranks)),
        }
    }

    fn add_steps(
        &self,
        steps: &[ProgramStep],
        times: u64,
        ranks: u32,
        (totals, used, parts): (&mut Totals, &mut Used, &mut Parts),
    ) -> Option<()> {
        for step in steps.iter().filter(|_| times > 0) {
            match step {
                ProgramStep::Repeat(more, steps) => {
                    self.add_steps(steps, times.checked_mul(*more)?, ranks, (totals, used, parts))?;
                }
                ProgramStep::Barrier(_) => totals.barriers = totals.barriers.checked_add(times)?,
                ProgramStep::Session { file, session, ranks: group } => {
                    self.add_session((*file, *session, *group), times, ranks, (totals, used))?;
                }
                ProgramStep::Part { file, session, ranks: group, steps } => {
                    let all = parts.entry((*file, *session, *group)).or_default();
                    *all = all.checked_add(times.checked_mul(*steps)?)?;
                }
                ProgramStep::Call { call, file, ranks: group } => {
                    let users = u64::from(self.users(&self.files[*file], *group, ranks));
                    totals.calls = totals.calls.checked_add(times.checked_mul(users)?)?;
                    if self.files[*file].kind != FileKind::Absent {
                        let (all, most) = used.entry((*file, usize::MAX - *call as usize)).or_default();
                        (*all, *most) = (all.checked_add(times)?, (*most).max(users));
                    }
                }
            }
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
        totals.add(&model.sessions[session], times.checked_mul(users)?, times.checked_mul(transferring)?)
    }
}

impl Totals {
    /// Adds so many sessions, and the transfers of so many.
    fn add(&mut self, session: &ModelSession, times: u64, transferring: u64) -> Option<()> {
        self.sessions = self.sessions.checked_add(times)?;
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
