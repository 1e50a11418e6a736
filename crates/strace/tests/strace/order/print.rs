//! Prints what a tracer saw as strace does.

use crate::order::world::{Random, Seen, Sight, Truth};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Stamps {
    #[default]
    None,
    /// `-r`
    Differences,
    /// `-t`
    Seconds,
    /// `-tt`
    Micros,
    /// `--absolute-timestamps=format:unix,precision:ms`
    Millis,
    /// `-ttt`
    Utc,
    /// `--absolute-timestamps=format:unix`
    UtcSeconds,
}

/// The options of strace.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    pub(crate) stamps: Stamps,
    /// `-T`
    pub(crate) durations: bool,
    /// `-ff`
    pub(crate) own_files: bool,
    /// `-qq`: no notices of ends.
    pub(crate) quiet: bool,
}

/// What was printed.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    /// By name.
    pub(crate) files: BTreeMap<String, String>,
    /// Calls marked as unfinished for ever.
    pub(crate) incomplete: u64,
}

pub(crate) fn print(truth: &Truth, style: Style, random: &mut Random) -> Printed {
    let mut printer =
        Printer { style, random, calls: BTreeMap::new(), outputs: BTreeMap::new(), incomplete: 0 };
    for seen in &truth.seen {
        printer.sight(seen);
    }
    for tid in printer.outputs.keys().copied().collect::<Vec<_>>() {
        printer.interrupt(tid);
    }
    let name = |tid: &u32| if style.own_files { format!("t.{tid}") } else { "run.st".to_owned() };
    let files = printer.outputs.iter().map(|(tid, output)| (name(tid), output.text.clone())).collect();
    Printed { files, incomplete: printer.incomplete + printer.calls.len() as u64 }
}

/// A file that is written.
#[derive(Default)]
struct Output {
    text: String,
    /// The thread whose line has no end yet.
    open: Option<u32>,
    /// The time of the line before.
    last: Option<i64>,
}

struct Call {
    name: &'static str,
    args: String,
    entered: i64,
}

struct Printer<'r> {
    style: Style,
    random: &'r mut Random,
    /// Those in flight, by thread.
    calls: BTreeMap<u32, Call>,
    /// By thread, or one.
    outputs: BTreeMap<u32, Output>,
    incomplete: u64,
}

impl Printer<'_> {
    fn output(&mut self, tid: u32) -> &mut Output {
        self.outputs.entry(if self.style.own_files { tid } else { 0 }).or_default()
    }

    /// Ends the line that another thread left open.
    fn interrupt(&mut self, tid: u32) {
        let output = self.output(tid);
        if output.open.take().is_some() {
            output.text += " <unfinished ...>\n";
        }
    }

    /// What stands in front of a line.
    fn prefix(&mut self, tid: u32, seen: &Seen) {
        let Style { stamps, own_files, .. } = self.style;
        let output = self.output(tid);
        if !own_files {
            output.text += &format!("{tid:<5} ");
        }
        let clock = seen.clock;
        let (seconds, nanos) = (clock.div_euclid(1_000_000_000), clock.rem_euclid(1_000_000_000));
        let day = seconds.rem_euclid(86_400);
        let time = format!("{:02}:{:02}:{:02}", day / 3600, day / 60 % 60, day % 60);
        output.text += &match stamps {
            Stamps::None => String::new(),
            Stamps::Differences => {
                let micros = output.last.map_or(0, |last| (seen.steady - last) / 1000);
                format!("     {}.{:06} ", micros / 1_000_000, micros % 1_000_000)
            }
            Stamps::Seconds => format!("{time} "),
            Stamps::Micros => format!("{time}.{:06} ", nanos / 1000),
            Stamps::Millis => format!("{seconds}.{:03} ", nanos / 1_000_000),
            Stamps::Utc => format!("{seconds}.{:06} ", nanos / 1000),
            Stamps::UtcSeconds => format!("{seconds} "),
        };
        output.last = Some(seen.steady);
    }

    fn line(&mut self, tid: u32, seen: &Seen, text: &str) {
        self.interrupt(tid);
        self.prefix(tid, seen);
        let output = self.output(tid);
        output.text += text;
        output.text.push('\n');
    }

    /// Goes on with the call of a thread, on its line or on a new one.
    fn resume(&mut self, tid: u32, name: &str, seen: &Seen) {
        if self.output(tid).open != Some(tid) {
            self.interrupt(tid);
            self.prefix(tid, seen);
            self.output(tid).text += &format!("<... {name} resumed>");
        }
        self.output(tid).open = None;
    }

    fn sight(&mut self, seen: &Seen) {
        match &seen.sight {
            Sight::Enter { tid, name, args } => {
                self.interrupt(*tid);
                self.prefix(*tid, seen);
                let output = self.output(*tid);
                output.text += &format!("{name}({args}");
                output.open = Some(*tid);
                self.calls.insert(*tid, Call { name, args: args.clone(), entered: seen.steady });
            }
            Sight::Return { tid, args, value } => {
                let Some(call) = self.calls.remove(tid) else { return };
                self.resume(*tid, call.name, seen);
                let micros = (seen.steady - call.entered) / 1000;
                let dur = match self.style.durations {
                    true => format!(" <{}.{:06}>", micros / 1_000_000, micros % 1_000_000),
                    false => String::new(),
                };
                self.output(*tid).text += &format!("{args}) = {value}{dur}\n");
            }
            Sight::Cut { tid } => {
                let Some(call) = self.calls.remove(tid) else { return };
                self.resume(*tid, call.name, seen);
                let marked = call.args.ends_with(", ") || self.random.one_in(2);
                self.incomplete += u64::from(marked);
                self.output(*tid).text += if marked { " <unfinished ...>) = ?\n" } else { ") = ?\n" };
            }
            Sight::Exit { tid, name, status } => {
                self.line(*tid, seen, &format!("{name}({status}) = ?"));
            }
            Sight::Gone { tid, how } if !self.style.quiet => {
                self.line(*tid, seen, &format!("+++ {how} +++"));
            }
            Sight::Gone { .. } => {}
            Sight::Superseded { tid, by } => self.superseded(*tid, *by, seen),
        }
    }

    fn superseded(&mut self, tid: u32, by: u32, seen: &Seen) {
        let output = self.output(by);
        if output.open == Some(by) {
            output.open = None;
            output.text += &format!(" <pid changed to {tid} ...>\n");
        }
        self.line(tid, seen, &format!("+++ superseded by execve in pid {by} +++"));
        if let Some(call) = self.calls.remove(&by) {
            self.calls.insert(tid, call);
        }
    }
}
