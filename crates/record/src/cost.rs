//! What tracing costs.

use iotrail_model::Nanos;
use iotrail_model::recording_coverage::TracerCost;
use iotrail_ptrace::{CallCost, Tracer, call_cost};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Measures what tracing costs the program and this thread.
#[derive(Debug)]
pub(crate) struct Cost {
    /// What a stopped call costs on this machine, if it was measured.
    of_call: Option<CallCost>,
    /// CPU time of this thread when the recording began.
    cpu: Nanos,
}

impl Cost {
    pub(crate) fn new() -> Self {
        Self { of_call: None, cpu: cpu_time() }
    }

    /// Measures what a stopped call costs here. Without the answer the recording is as good.
    pub(crate) fn calibrate(&mut self, tracer: &Tracer) {
        self.of_call = call_cost(tracer).ok();
    }

    /// The cost of so many stops and calls, so far.
    pub(crate) fn of(&self, stops: u64, calls: u64) -> TracerCost {
        let mut cost =
            TracerCost { stops, calls, cpu: Nanos(cpu_time().0 - self.cpu.0), ..TracerCost::default() };
        if let Some(measured) = self.of_call {
            cost.calibrate(nanos(measured.added), nanos(measured.inside));
            measured.apart.into_iter().for_each(|apart| cost.calibrate_apart(nanos(apart)));
        }
        cost
    }
}

fn nanos(span: Duration) -> Nanos {
    Nanos(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX))
}

/// CPU time of this thread.
fn cpu_time() -> Nanos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Nanos(time.tv_sec * 1_000_000_000 + time.tv_nsec)
}
