//! Records a command without keeping anything, and says what that cost: the tracer alone.
//!
//! `record_speed [--print] [--placement auto|same|free] [--wait-main] [--calls SET] COMMAND ARGS…`

#![allow(clippy::print_stderr, clippy::expect_used, reason = "a tool for developers")]

use iotrail_model::{Dictionaries, Event, Process};
use iotrail_record::proc::EnvSelection;
use iotrail_record::{CallSet, Limits, Placement, RecordPlan, Store, StoreError, Target, Wait, record};
use std::process::ExitCode;
use std::time::Instant;

#[derive(Default)]
struct Nothing {
    print: bool,
    events: u64,
}

impl Store for Nothing {
    fn event(&mut self, event: &Event, names: &Dictionaries) -> Result<(), StoreError> {
        self.events += 1;
        if self.print {
            let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let path = event.path.get().map(|id| name(names.paths.get(id.0)));
            let errno = event.errno.get().map(|id| name(names.errnos.get(id.0)));
            eprintln!(
                "{} {} {} fd={:?} path={path:?} offset={:?} size={:?} ret={:?} errno={errno:?} dur={:?}",
                event.pid,
                event.tid,
                name(names.calls.get(event.call.0)),
                event.fd,
                event.offset,
                event.size,
                event.ret,
                event.dur
            );
        }
        Ok(())
    }

    fn process(&mut self, process: &Process) -> Result<(), StoreError> {
        if self.print {
            eprintln!("{process:?}");
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        0
    }
}

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1).peekable();
    let mut plan = RecordPlan {
        target: Target::Command(Vec::new()),
        calls: CallSet::parse("io").expect("a set"),
        wait: Wait::All,
        placement: Placement::Auto,
        env: EnvSelection::none(),
        limits: Limits::default(),
        mpi: None,
    };
    let mut store = Nothing::default();
    while let Some(option) = words.next_if(|word| word.to_string_lossy().starts_with("--")) {
        match option.to_string_lossy().as_ref() {
            "--print" => store.print = true,
            "--placement" => {
                let word = words.next().expect("a placement");
                plan.placement = word.to_string_lossy().parse().expect("a placement");
            }
            "--wait-main" => plan.wait = Wait::Main,
            "--calls" => {
                let set = words.next().expect("a set");
                plan.calls = CallSet::parse(&set.to_string_lossy()).expect("a set");
            }
            other => {
                eprintln!("unknown option {other}");
                return ExitCode::from(2);
            }
        }
    }
    plan.target = Target::Command(words.collect());
    let begin = Instant::now();
    match record(&plan, &mut store) {
        Ok(outcome) => {
            let cost =
                outcome.coverage.recording.as_ref().map(|recording| recording.cost).unwrap_or_default();
            eprintln!(
                "{:?}: {} events, {} stops, {} calls, {:.3} s, tracer {:.3} s CPU; {}",
                outcome.end,
                store.events,
                cost.stops,
                cost.calls,
                begin.elapsed().as_secs_f64(),
                cost.cpu.0 as f64 / 1e9,
                outcome.coverage.recording.as_ref().map(|r| r.in_one_line()).unwrap_or_default()
            );
            ExitCode::from(outcome.end.exit_status())
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(error.exit_status())
        }
    }
}
