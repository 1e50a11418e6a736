//! The sentence for each fact. It names no option of a program: what to do about a fact the program adds that is used.

use super::{CallsRecorded, Note};
use crate::text::printable;
use crate::time::Nanos;
use crate::units::{self, count, counted};
use std::fmt::{Display, Formatter, Result};

impl Display for Note {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Said { text } => f.write_str(text),
            Self::FilesWithoutTimes { files } => {
                write!(f, "{} without time stamps (option -ttt): only the order of calls is known", n_files(*files))
            }
            Self::FilesWithRelativeTimes { files } => {
                write!(f, "{} with relative time stamps only (option -r): they start at 0", n_files(*files))
            }
            Self::FilesWithoutDate { files } => {
                write!(f, "{} with times of day but no date (option -ttt of strace has it)", n_files(*files))
            }
            Self::CoarseTimes { unit } => write!(
                f,
                "Time stamps are multiples of {}: times that follow from them are right to that, shorter ones than {} are unknown, and so are gaps between calls, what ran at the same time and critical paths (strace -ttt tells them)",
                duration(*unit),
                duration(Nanos(unit.0.saturating_mul(2)))
            ),
            Self::FilesWithoutDurations { files } => {
                write!(f, "{} without durations (option -T)", n_files(*files))
            }
            Self::FilesWithoutEvents { files } => write!(f, "{} held no events", n_files(*files)),
            Self::FilesDamaged { files } => {
                write!(f, "{} with damaged or incomplete compressed data: the rest is lost", n_files(*files))
            }
            Self::FilesUnreadable { files } => write!(f, "{} could not be read to the end", n_files(*files)),
            Self::FilesCut { files: 1, first, line } => write!(f, "{first} ends in the middle of line {line}"),
            Self::FilesCut { files, first, line } => write!(
                f,
                "{} files end in the middle of a line, the first of them {first} in line {line}",
                count(*files)
            ),
            Self::FilesWithoutLineEnd { files } => {
                write!(f, "{} without a line end: the last value in it may lack digits", n_files(*files))
            }
            Self::LongLines { lines: 1, bytes } => {
                write!(f, "1 line was so long that {} bytes in its middle were not looked at", count(*bytes))
            }
            Self::LongLines { lines, bytes } => write!(
                f,
                "{} lines were so long that {} bytes in their middle were not looked at",
                count(*lines),
                count(*bytes)
            ),
            Self::ThreadsWithoutProcess { threads: 1 } => {
                f.write_str("1 thread whose process is unknown: it counts as a process")
            }
            Self::ThreadsWithoutProcess { threads } => {
                write!(f, "{} threads whose process is unknown: each counts as a process", count(*threads))
            }
            Self::FilesMapped { files } => write!(
                f,
                "{} mapped to memory: reads and writes through memory are not in a trace",
                counted(*files, "file was", "files were")
            ),
            Self::AsynchronousRequests { requests } => {
                let requests = match requests {
                    0 => "requests without a call".to_owned(),
                    number => counted(*number, "request", "requests"),
                };
                write!(
                    f,
                    "io_uring or aio were used ({requests}): what such requests read and wrote is not in a trace"
                )
            }
            Self::ClockSetBack { times, largest } => {
                let by = duration(*largest);
                let by = match times {
                    1 => format!("by {by} or more"),
                    _ => format!("{} times, once by {by} or more", count(*times)),
                };
                write!(
                    f,
                    "the clock was set back {by}: later times are shifted so that calls keep their order"
                )
            }
            Self::PresumedRestarts { calls: 1 } => f.write_str(
                "1 interrupted call counts as restarted because its thread made it again, but returns from signal handlers (rt_sigreturn) were not traced: it may have failed with EINTR",
            ),
            Self::PresumedRestarts { calls } => write!(
                f,
                "{} interrupted calls count as restarted because their threads made them again, but returns from signal handlers (rt_sigreturn) were not traced: they may have failed with EINTR",
                count(*calls)
            ),
            Self::RootsChanged { .. } => {
                f.write_str("processes changed their root directory: later paths are as they saw them")
            }
            Self::LongNames { paths: 1 } => {
                f.write_str("1 path is unknown: its directory lies too deep to keep its name")
            }
            Self::LongNames { paths } => write!(
                f,
                "{} paths are unknown: their directories lie too deep to keep their names",
                count(*paths)
            ),
            Self::UnclearMounts { calls } => write!(
                f,
                "{} not followed: names below may be those of other files than the numbers of files say",
                counted(*calls, "call changed mounts in a way that is", "calls changed mounts in ways that are")
            ),
            Self::UncertainDescriptors { calls } => write!(
                f,
                "{} that another thread opened, closed or replaced meanwhile, or at a time that cannot be compared: which file it was is unknown, but for what the trace itself says",
                counted(*calls, "call uses a descriptor", "calls use descriptors")
            ),
            Self::ImportCancelled => f.write_str("the import was cancelled before the end of its inputs"),
            Self::ClocksDiffer => f.write_str("clocks differ between files: their times cannot be compared"),
            Self::InputLeftOut { file, more, partly, why } => {
                let what = if *partly { "not imported to its end" } else { "not imported" };
                let more = if *more > 0 { format!(" and {} more", count(*more)) } else { String::new() };
                write!(f, "{}{more}: {what}: {why}", printable(file))
            }
            Self::InputsLeftOut { more } => {
                write!(f, "{} not imported", counted(*more, "more input is", "more inputs are"))
            }
            Self::CallTableSkipped => f.write_str("a table of call counts (strace -c or -C) was skipped"),
            Self::NoMpiCalls => f.write_str(
                "No MPI call was seen: the program makes none, is linked statically, or gained privileges when it was started",
            ),
            Self::CallsWithoutSite { calls } => write!(
                f,
                "{} made from so many places of the program that the place is not told",
                counted(*calls, "MPI call was", "MPI calls were")
            ),
            Self::FunctionsOnly => f.write_str(
                "a trace of ltrace holds functions of libraries without their system calls (-S): which files they act on, offsets, bytes of streams, errors and new processes are not in it",
            ),
            Self::DxtTransfersOnly => f.write_str(
                "Darshan DXT holds reads and writes only: opens, closes, metadata, mapped memory and what programs do to standard streams are not in it",
            ),
            Self::DxtUnit { unit } => write!(
                f,
                "the text of Darshan DXT has times in units of {}: the duration of a shorter call is 0",
                duration(*unit)
            ),
            Self::DxtStartInSeconds => f.write_str(
                "times of Darshan DXT count from the start of the job, which its text tells to a second: logs of several jobs are right to that among each other",
            ),
            Self::DxtModuleIncomplete { module } => write!(
                f,
                "{module} is incomplete: Darshan ran out of memory for it, later transfers are missing (DARSHAN_MODMEM)"
            ),
            Self::DxtDisabled { file } => {
                write!(f, "{file} is of a job that recorded no DXT traces (set DXT_ENABLE_IO_TRACE=1 for it)")
            }
            Self::DxtTextCut { file, modules } if modules.is_empty() => {
                write!(f, "{file} ends in its header: make the text again (darshan-dxt-parser)")
            }
            Self::DxtTextCut { file, modules } => write!(
                f,
                "{file} ends before the data of {}, which its header announces: make the text again (darshan-dxt-parser)",
                modules.join(" and ")
            ),
            Self::Unfinished => f.write_str("this trail is not finished"),
            Self::RecordingLeftOut { case: Some(case), why } => {
                write!(f, "{case}: not taken from the unfinished trail; {why}")
            }
            Self::RecordingLeftOut { case: None, why } => {
                write!(f, "not taken from the unfinished trail: {why}")
            }
            Self::FromSpool { case, host, pid, events, why } => write!(
                f,
                "{case}: {} out of the spool of process {pid} on {host}; {why}",
                counted(*events, "event", "events")
            ),
            Self::LossesUnreadable { case } => {
                write!(f, "{case}: its file `losses` is damaged: whether more events are missing is unknown")
            }
            Self::SpoolDamaged { file, byte, what } => write!(f, "{file}: byte {byte}: {what}"),
            Self::CallsRecorded(calls) => calls_recorded(calls, f),
            Self::ResumeRefused { error, times } => {
                write!(f, "the kernel refused to go on with a stopped thread {times} times: {error}")
            }
            Self::Sampled { each } => sampled(*each, f),
            Self::CpuLimit { seconds } => write!(
                f,
                "the recorder itself may use {seconds} s of CPU time (ulimit -t) and is killed with the program then"
            ),
            Self::CasesWithoutTimes { cases } => write!(
                f,
                "{} no time stamps: no gaps, no span and no part in max concurrency",
                counted(*cases, "case has", "cases have")
            ),
            Self::CasesWithRelativeTimes { cases } => write!(
                f,
                "{} times since their own start only: max concurrency across cases compares unrelated clocks",
                counted(*cases, "case has", "cases have")
            ),
            Self::CaseScattered { case } => write!(
                f,
                "case {case}: its rows are not consecutive, and each stretch of them counts as a trace of its own"
            ),
            Self::Redacted => {
                f.write_str("redacted: names of files, hosts and commands are not those of the recording")
            }
            Self::RedactedByRules { renamed, paths } => write!(
                f,
                "redacted by rules alone: {} of {} renamed, and what no rule names is as it was recorded",
                count(*renamed),
                counted(*paths, "path", "paths")
            ),
            Self::RedactedTexts { notes, examples } => write!(
                f,
                "redacted: removed {} and {} of unparsed lines",
                counted(*notes, "note", "notes"),
                counted(*examples, "example", "examples")
            ),
        }
    }
}

fn n_files(number: u64) -> String {
    counted(number, "file", "files")
}

fn duration(span: Nanos) -> String {
    units::duration(span.0 as f64)
}

/// `data: 18 of 383 calls of x86-64; not captured: wait, …; in part: memory 5 of 20, ...`
fn calls_recorded(calls: &CallsRecorded, f: &mut Formatter<'_>) -> Result {
    write!(f, "{}: {} of {} calls of {}", calls.asked, calls.calls, calls.of, calls.machine)?;
    if !calls.without.is_empty() {
        write!(f, "; not captured: {}", calls.without.join(", "))?;
    }
    let partly = calls.partly.iter().map(|share| format!("{} {} of {}", share.family, share.calls, share.of));
    let partly: Vec<String> = partly.collect();
    if !partly.is_empty() {
        write!(f, "; in part: {}", partly.join(", "))?;
    }
    if calls.memory_of_files_only {
        f.write_str("; of mmap mappings of files, of madvise what can cause I/O")?;
    }
    Ok(())
}

/// What a sample says of all transfers, and how exactly.
fn sampled(each: u64, f: &mut Formatter<'_>) -> Result {
    let share_left_out = 1.0 - 1.0 / each.max(1) as f64;
    write!(
        f,
        "1 in {each} data transfers is recorded, drawn at random: counts and bytes of any n recorded transfers times {each} estimate those \
         of all, with a standard error of {:.2}/sqrt(n) of the count (n = 100: {:.0} %)",
        share_left_out.sqrt(),
        share_left_out.sqrt() * 10.0
    )
}
