//! Ltrace as a format of traces: which files are its own, and how they are read.

use crate::names::is_of_library;
use crate::parser::Parser;
use iotrail_import::{
    Door, FileReport, Format, Intake, Job, Limits, PlannedFile, Prefix, RawCalls, Taker, Text, TraceReader,
};
use iotrail_model::Coverage;

/// What ltrace prints.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ltrace;

impl Format for Ltrace {
    fn name(&self) -> &'static str {
        "ltrace"
    }

    fn what(&self) -> &'static str {
        "ltrace output"
    }

    fn advice(&self) -> &'static str {
        "record with: ltrace -S -f -ttt -T -s 4096 -o FILE COMMAND"
    }

    /// By what strace never prints: `SYS_read(`, `+++ exited (status 0) +++`, functions of the C library.
    fn recognises(&self, head: &[u8]) -> bool {
        head.split(|byte| *byte == b'\n').any(|line| is_of_ltrace(Prefix::read(line).rest))
    }

    fn door(&self) -> Door<'_> {
        Door::Calls(self)
    }
}

fn is_of_ltrace(rest: &[u8]) -> bool {
    let word = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_@>-".contains(byte)).count();
    let (name, calls) = (&rest[..word], rest.get(word) == Some(&b'('));
    let name = name.strip_suffix(b"@SYS").map_or(name, |_| b"SYS_x");
    rest.starts_with(b"+++ exited (status ") || calls && (name.starts_with(b"SYS_") || is_of_library(name))
}

impl RawCalls for Ltrace {
    fn read(
        &self,
        job: &Job,
        opened: Option<TraceReader>,
        intake: &mut Intake<'_, '_, dyn Taker + '_>,
    ) -> bool {
        let mut opened = opened;
        job.iter().all(|file| read(file, opened.take(), intake))
    }
}

/// Reads a file. False if no more is taken.
fn read(
    file: &PlannedFile,
    opened: Option<TraceReader>,
    intake: &mut Intake<'_, '_, dyn Taker + '_>,
) -> bool {
    let mut text = Text::new(file, Limits::LARGE, opened, intake.context);
    let mut parser = Parser::new(file.file.name.clone(), file.date);
    loop {
        let (to, names) = (&mut *intake.to, &mut *intake.names);
        let sink =
            &mut |item: iotrail_model::raw::RawItem<'_>, names: &mut _| to.item(file.case, &item, names);
        let more = text.chunk(|text, ended| parser.parse(text, ended, names, sink));
        if !intake.to.pause(intake.names) {
            return false;
        }
        if !more {
            break;
        }
    }
    let case = intake.case(file, file.case, file.name.clone(), parser.clock(), parser.resolution());
    let report = FileReport {
        cases: vec![case],
        coverage: parser.coverage(),
        understood: understood(parser.coverage()),
        clock: parser.clock(),
        resolution: parser.resolution(),
        clock_steps: Default::default(),
        ending: parser.ending(),
        presumed_restarts: 0,
    };
    intake.end_of(&text, report);
    true
}

/// Whether ltrace wrote any of these lines.
fn understood(coverage: &Coverage) -> bool {
    let lines = &coverage.lines;
    lines.event + lines.unfinished + lines.resumed + lines.exit > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strace_never_prints_is_of_ltrace() {
        let recognises = |line: &str| Ltrace.recognises(line.as_bytes());
        assert!(recognises("17732 1795371798.210698 pthread_create(0x7ffd, 0, 0x55a2, 1) = 0 <0.000691>"));
        assert!(recognises("17737 1795371798.214530 sprintf( <unfinished ...>"));
        assert!(recognises("SYS_read(3, nil, 5) = 0") && recognises("strlen(\"a\") = 1"));
        assert!(!recognises(
            "17737 1795371798.214530 openat(AT_FDCWD, \"strlen(x)\", O_RDONLY) = 3 <0.000010>"
        ));
        assert!(!recognises("memfd_create(\"x\", 0) = 3") && !recognises("semget(1, 2, 3) = 4"));
    }
}
