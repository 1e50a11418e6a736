//! The loop: a thread stops, what it does is told to the resolver, it goes on.
//!
//! A call stops twice: where the filter selects it, and where it returns. A call that returned is told before its thread
//! goes on: what a program knows to be done is kept, whenever the recorder is killed. The order of what is told is the order
//! of the stops, with two exceptions: a new thread is held until it is known who made it, and a call that another
//! thread's stop overtakes is announced before that.
//!
//! What the loop holds has owners: [`crate::reports`] (what comes next), [`crate::threads`] (who is followed, and where each is),
//! [`crate::emitter`] (what the resolver is told), [`crate::names`], [`crate::fd_probe`] and [`crate::sent_descriptors`] (what
//! the kernel is asked), [`crate::requests`] (asynchronous I/O), [`crate::cores`] and [`crate::cost`]. What a stop means is
//! decided above: [`crate::calls`], [`crate::mpi_calls`], [`crate::lifecycle`], [`crate::job_control`], [`crate::attach`].

use crate::clock::Clock;
use crate::cores::CorePlacement;
use crate::cost::Cost;
use crate::emitter::Emitter;
use crate::fd_probe::FdProbe;
use crate::gathering::Gathering;
use crate::mpi::MpiCalls;
use crate::names::Names;
use crate::orphans::Orphans;
use crate::outcome::End;
use crate::plan::Wait;
use crate::proc::{Accounts, EnvSelection};
use crate::reports::Reports;
use crate::requests::{Delivery, Requests};
use crate::selection::Chooser;
use crate::sent_descriptors::SentDescriptors;
use crate::signals::Signals;
use crate::store::Store;
use crate::tally::Tally;
use crate::threads::Threads;
use iotrail_decode::{CallSet, Decoder};
use iotrail_model::{Pid, Tid};
use iotrail_ptrace::{Going, Signal, Spawned, Stopped, Tracer};
use std::io;

/// How the loop is to trace.
#[derive(Debug)]
pub(crate) struct Mode {
    /// Whether threads run freely up to a call that the filter selects.
    pub(crate) filtered: bool,
    pub(crate) wait: Wait,
    /// The process that was started; `None` if the recorder attached to running ones.
    pub(crate) main: Option<Pid>,
    /// Seconds of CPU time after which the kernel kills the recorder.
    pub(crate) cpu_limit: Option<u64>,
}

/// What turns registers into calls, and which of them are followed.
pub(crate) struct Decoding {
    pub(crate) calls: CallSet,
    pub(crate) decoder: Decoder,
    /// Without a filter every call stops, wanted or not.
    pub(crate) chooser: Option<Chooser>,
}

/// Everything that the loop holds.
pub(crate) struct Recording<'s, 'm, S> {
    pub(crate) reports: Reports,
    pub(crate) threads: Threads,
    pub(crate) emitter: Emitter<'s, S>,
    pub(crate) decoding: Decoding,
    pub(crate) names: Names,
    pub(crate) fd_probe: FdProbe,
    pub(crate) sent: SentDescriptors,
    pub(crate) requests: Requests,
    pub(crate) mpi: MpiCalls,
    pub(crate) signals: Signals<'m>,
    pub(crate) gathering: Gathering,
    pub(crate) orphans: Orphans,
    pub(crate) accounts: Accounts,
    pub(crate) cores: CorePlacement,
    pub(crate) cost: Cost,
    pub(crate) tally: Tally,
    pub(crate) mode: Mode,
    pub(crate) env: EnvSelection,
    pub(crate) clock: Clock,
    pub(crate) spawned: Option<Spawned>,
    pub(crate) end: Option<End>,
}

/// What a recording starts with.
pub(crate) struct Parts<'s, 'm, S> {
    pub(crate) emitter: Emitter<'s, S>,
    pub(crate) signals: Signals<'m>,
    pub(crate) mode: Mode,
    pub(crate) calls: CallSet,
    pub(crate) env: EnvSelection,
    pub(crate) clock: Clock,
}

impl<'s, 'm, S: Store> Recording<'s, 'm, S> {
    pub(crate) fn new(tracer: Tracer, parts: Parts<'s, 'm, S>) -> Self {
        let Parts { emitter, signals, mode, calls, env, clock } = parts;
        let names = Names::new(&calls);
        let chooser = (!mode.filtered).then(|| Chooser::new(&calls));
        Self {
            reports: Reports::new(tracer, clock),
            threads: Threads::default(),
            emitter,
            decoding: Decoding { calls, decoder: Decoder::new(), chooser },
            names,
            fd_probe: FdProbe::default(),
            sent: SentDescriptors::default(),
            requests: Requests::new(),
            mpi: MpiCalls::default(),
            signals,
            gathering: Gathering::default(),
            orphans: Orphans::default(),
            accounts: Accounts::new(),
            cores: CorePlacement::default(),
            cost: Cost::new(),
            tally: Tally::default(),
            mode,
            env,
            clock,
            spawned: None,
            end: None,
        }
    }

    /// Lets a thread run to its next stop of interest.
    pub(crate) fn go_on(&self, stop: Stopped, signal: Option<Signal>) -> io::Result<()> {
        let in_call = self
            .threads
            .get(stop.tid())
            .is_some_and(|thread| thread.call.is_some() || thread.returning || thread.cores.is_some());
        let going = if in_call || !self.mode.filtered { Going::ToCall } else { Going::Freely };
        stop.resume(going, signal)
    }

    /// Announces the call that another thread is in, before `tid` has something to say.
    #[inline]
    pub(crate) fn overtakes(&mut self, tid: Tid) {
        self.emitter.overtakes(tid, &mut self.threads);
    }

    /// What asynchronous I/O is told with.
    pub(crate) fn delivery(&mut self) -> (&mut Requests, Delivery<'_, 's, S>) {
        (&mut self.requests, Delivery { names: &mut self.names, emitter: &mut self.emitter })
    }
}

/// Whether a request failed because the thread was killed.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    const ESRCH: i32 = 3;
    error.raw_os_error() == Some(ESRCH)
}
