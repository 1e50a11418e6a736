//! One recording from its plan to its outcome.

use crate::clock::Clock;
use crate::command::Command;
use crate::emitter::Emitter;
use crate::error::RecordError;
use crate::filter::Filter;
use crate::outcome::{End, Outcome};
use crate::placement::Placed;
use crate::plan::{RecordPlan, Target, Wait};
use crate::proc::own_umask;
use crate::recording::{Mode, Parts, Recording};
use crate::selection::{Needs, filter};
use crate::signals::Signals;
use crate::store::Store;
use iotrail_kernel::cpu_limit::lift_cpu_limit;
use iotrail_model::recording_coverage::count;
use iotrail_model::{Coverage, Note, Pid, RecordingCoverage};
use iotrail_ptrace::{Messenger, Options, Spawn, Takes, Tracer};

/// Makes a recording: returns when the program has ended, or was left running.
///
/// The calling thread traces; it must have no children of its own. A process makes one recording at a time.
///
/// # Errors
/// The program could not be started or attached to. What goes wrong later is in the coverage statement.
pub fn record<S: Store>(plan: &RecordPlan, store: &mut S) -> Result<Outcome, RecordError> {
    let command = match &plan.target {
        Target::Command(words) => Some(Command::find(words)?),
        Target::Attach(pids) if pids.is_empty() => return Err(RecordError::NoCommand),
        Target::Attach(_) => None,
    };
    let takes = if command.is_some() { Takes::Heeded } else { Takes::All };
    let messenger = Messenger::install(takes).map_err(RecordError::Signals)?;
    let filtered = command.is_some() && plan.wait == Wait::All;
    let clock = Clock::start();
    let parts = Parts {
        emitter: Emitter::new(Filter::new(store, plan.calls.clone(), plan.limits)),
        signals: Signals::new(&messenger),
        mode: Mode { filtered, wait: plan.wait, main: None, cpu_limit: None },
        calls: plan.calls.clone(),
        env: plan.env.clone(),
        clock,
    };
    let mut recording = Recording::new(Tracer::new(), parts);
    let started = clock.now();
    recording.reports.foreign_children = own_children();
    recording.mode.cpu_limit = lift_cpu_limit();
    recording.cost.calibrate(&recording.reports.tracer);
    if command.is_some() {
        recording.signals.watch_group();
        let placed = Placed::start(plan.placement, !filtered, clock.now()).map_err(RecordError::Affinity)?;
        messenger.ring_at_rest(placed.bell());
        recording.cores.begin(placed);
        recording.signals.settle();
    }
    match (&command, &plan.target) {
        (Some(command), _) => recording.launch(command, plan, &messenger)?,
        (None, Target::Attach(pids)) => {
            pids.iter().try_for_each(|pid| recording.attach(*pid))?;
            recording.emitter.filter.begun();
        }
        (None, Target::Command(_)) => return Err(RecordError::NoCommand),
    }
    if let Err(error) = recording.run() {
        // Without its tracer the program would fail at the first call that the filter selects.
        if let Some(main) = recording.mode.main.filter(|_| recording.mode.filtered) {
            messenger.kill(main.0);
        }
        return Err(error);
    }
    recording.cores.end();
    if let (Some(command), None) = (command, recording.end)
        && let Some(failure) = recording.spawned.as_mut().and_then(|spawned| spawned.failure())
    {
        return Err(RecordError::of_launch(failure, command.path));
    }
    let coverage = recording.coverage();
    recording.name_sites();
    Ok(Outcome {
        end: recording.end.unwrap_or(End::Detached),
        coverage,
        started,
        ended: clock.now(),
        interleaved: recording.emitter.interleaved(),
    })
}

impl<S: Store> Recording<'_, '_, S> {
    fn launch(
        &mut self,
        command: &Command,
        plan: &RecordPlan,
        messenger: &Messenger,
    ) -> Result<(), RecordError> {
        let places = self.cores.concerns_calls();
        let needs = Needs { cores: places, announcements: plan.mpi.is_some() };
        let filter = self.mode.filtered.then(|| filter(&plan.calls, needs)).transpose()?;
        let variables = match &plan.mpi {
            Some(mpi) => self.mpi.begin(mpi).map_err(RecordError::Mpi)?,
            None => Vec::new(),
        };
        // Files that are there and files that the program makes then have been made at different times, as file systems note them.
        iotrail_kernel::next_tick();
        let launch = Spawn {
            program: &command.program,
            args: &command.args,
            variables: &variables,
            filter: filter.as_ref(),
            options: Options { die_with_tracer: filter.is_some() },
        };
        let spawned = launch
            .start(&self.reports.tracer, messenger)
            .map_err(|error| RecordError::of_launch(error, command.path.clone()))?;
        let tid = spawned.tid();
        self.mode.main = Some(Pid(tid.0));
        self.threads.belongs(tid, Pid(tid.0)).started = false;
        self.spawned = Some(spawned);
        Ok(())
    }

    /// Finds out which lines of which sources the call sites are, and keeps that.
    fn name_sites(&mut self) {
        let sites = self.mpi.sites.named();
        for (number, site) in sites {
            // What is not kept is not known.
            self.emitter.filter.site(number, &site);
        }
    }

    /// What was seen and what not, so far.
    pub(crate) fn coverage(&self) -> Coverage {
        let tally = &self.tally;
        let requests = self.requests.tally();
        let mut lost = self.emitter.filter.lost.clone();
        count(&mut lost, "io_uring entries that could not be read", requests.unread_entries);
        count(&mut lost, "records of MPI calls for which there was no room", self.mpi.dropped());
        count(&mut lost, "damaged records of MPI calls", self.mpi.damaged());
        let recording = RecordingCoverage {
            recorders: 1,
            selections: [self.decoding.calls.selection()].into(),
            events: self.emitter.filter.events,
            mapped_files: self.emitter.file_mappings(),
            escaped: tally.escaped.clone(),
            left_running: tally.left_running,
            left_at: tally.left_at,
            lost,
            polled_rings: requests.polled_rings,
            other_ring_entries: requests.other_entries.clone(),
            left_out: self.emitter.filter.left_out.clone(),
            unfinished: self.emitter.unfinished + requests.unfinished,
            not_decoded: tally.not_decoded.clone(),
            filtering_themselves: tally.filtering_before + tally.filtering.len() as u64,
            tracing_others: tally.tracing_before + tally.tracing.len() as u64,
            without_privileges: tally.without_privileges.clone(),
            cut_command_lines: tally.cut_command_lines,
            unnamed_descriptors: tally.unnamed_descriptors,
            unreadable_paths: self.names.tally.unreadable,
            unresolved_paths: self.names.tally.unresolved,
            foreign_names: self.names.tally.foreign,
            umasks: self.mode.main.and_then(|_| own_umask()).into_iter().collect(),
            cost: self.cost.of(tally.stops, tally.calls),
            ..RecordingCoverage::default()
        };
        let troubles = tally
            .troubles
            .iter()
            .map(|(error, times)| Note::ResumeRefused { error: error.clone(), times: *times });
        let mut coverage = Coverage {
            interrupted: self.emitter.interrupted,
            relative_paths: self.emitter.relative_paths(),
            ..Coverage::of_recording(recording)
        };
        let sample = self.emitter.filter.sample().map(|each| Note::Sampled { each });
        let limit = self.mode.cpu_limit.map(|seconds| Note::CpuLimit { seconds });
        let paths = self.emitter.long_names();
        let long_names = (paths > 0).then_some(Note::LongNames { paths });
        let calls = self.emitter.uncertain_calls();
        let uncertain = (calls > 0).then_some(Note::UncertainDescriptors { calls });
        coverage.notes.extend(uncertain);
        let without_mpi = self.mpi.is_silent().then_some(Note::NoMpiCalls);
        coverage.notes.extend(without_mpi);
        let siteless = self.mpi.siteless();
        coverage.notes.extend((siteless > 0).then_some(Note::CallsWithoutSite { calls: siteless }));
        coverage.notes.extend(
            troubles.chain([self.decoding.calls.note()]).chain(long_names).chain(sample).chain(limit),
        );
        coverage
    }
}

/// Whether this thread has children that it did not make: an exec keeps them. They are not waited for. Where the kernel does
/// not list children, it may have some.
fn own_children() -> bool {
    std::fs::read("/proc/thread-self/children").map_or(true, |children| !children.is_empty())
}
