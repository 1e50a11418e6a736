//! What could be done with fewer calls, in a terminal.

use crate::table::{Align, Block, Style, Table, wrap};
use iotrail_advise::{Advice, Confidence, Finding, Habit, Severity};
use iotrail_model::text::{printable, shown};
use iotrail_model::units;

/// The advice with at most `top` findings in full.
#[must_use]
pub fn advice_summary(advice: &Advice, top: usize, style: Style) -> String {
    let mut out = style.bold(&headline(advice));
    out.push('\n');
    for (number, finding) in advice.findings.iter().take(top).enumerate() {
        out.push('\n');
        out.push_str(&entry(number + 1, finding, style));
    }
    let hidden = advice.findings.get(top..).unwrap_or_default();
    if !hidden.is_empty() {
        let calls = hidden.iter().map(|finding| finding.saved_calls).sum();
        out.push_str(&format!(
            "\n… {} more, which would save {}\n",
            units::counted(hidden.len() as u64, "finding", "findings"),
            units::counted(calls, "call", "calls")
        ));
    }
    for (number, habit) in advice.habits.iter().take(top).enumerate() {
        out.push('\n');
        out.push_str(&habit_entry(advice.findings.len().min(top) + number + 1, habit, style));
    }
    if let Some(more) = advice.habits.len().checked_sub(top).filter(|more| *more > 0) {
        out.push_str(&format!("\n… {} more\n", units::counted(more as u64, "habit", "habits")));
    }
    out.push('\n');
    out.push_str(&pairs(advice).render(style));
    out.push('\n');
    out.push_str(&looked(advice).render(style));
    out
}

fn headline(advice: &Advice) -> String {
    let saved: u64 = advice.findings.iter().map(|finding| finding.saved_calls).sum();
    if saved == 0 {
        let transfers = units::counted(advice.looked.transfers, "transfer", "transfers");
        return format!("No accesses to merge in {transfers} from and to files");
    }
    let time: u64 = advice.findings.iter().filter_map(|finding| finding.saved_ns).sum();
    let known = advice.findings.iter().any(|finding| finding.saved_ns.is_some());
    let time = if known { format!(" and about {}", units::duration(time as f64)) } else { String::new() };
    let all = units::counted(advice.looked.transfers, "transfer", "transfers");
    format!("Merging adjacent and regular accesses saves {} of {all}{time}", units::count(saved))
}

fn entry(number: usize, finding: &Finding, style: Style) -> String {
    let verb = if finding.rule == "merge-writes" { "writes" } else { "reads" };
    let who = match finding.processes {
        1 => shown(&finding.program, 32),
        many => format!("{} ({} processes)", shown(&finding.program, 32), units::count(many)),
    };
    let file = match finding.files {
        1 => printable(&finding.file).into_owned(),
        many => format!("{} ({} files of that name)", printable(&finding.file), units::count(many)),
    };
    let title = format!(
        "{number}. {file}: {} {verb} by {who} could be {}",
        units::count(finding.calls),
        units::count(finding.calls_after)
    );
    let mut block = Block::new();
    let time = units::duration_or_dash(finding.saved_ns);
    let of = finding
        .time_ns
        .map_or_else(String::new, |all| format!(" of {} in these calls", units::duration(all as f64)));
    let share = finding
        .share
        .map_or_else(String::new, |share| format!(", {} of the elapsed time", units::percent(share)));
    block.entry(
        "saves",
        format!("{}, about {time}{of}{share}", units::counted(finding.saved_calls, "call", "calls")),
    );
    let runs = units::counted(finding.runs, "run", "runs");
    block.entry(
        "found",
        format!(
            "{runs} of {} accesses, usually {} a call and {} a run",
            finding.shape,
            units::bytes(finding.call_bytes as f64),
            units::bytes(finding.run_bytes as f64)
        ),
    );
    block.entry("do", finding.fix.clone());
    let sure = match finding.confidence {
        Confidence::High => "high: nobody else used the file",
        Confidence::Medium => "medium: others used the file, but not these bytes at these times",
        Confidence::Low => "low: several threads or processes share the open file",
    };
    block.entry("confidence", sure);
    let example = &finding.example;
    block.entry(
        "example",
        format!(
            "{} of process {} from offset {}: seq {} to {} of {}",
            units::counted(example.calls, "call", "calls"),
            example.pid,
            units::count(example.offset),
            example.first,
            example.last,
            shown(&example.case, 40)
        ),
    );
    if !finding.stops.is_empty() {
        let stops: Vec<String> = finding
            .stops
            .iter()
            .map(|(word, number)| format!("{} × {}", units::count(*number), stop(word)))
            .collect();
        block.entry("not merged", stops.join(", "));
    }
    let title: Vec<String> = wrap(&title, style.width).iter().map(|line| style.bold(line)).collect();
    format!("{}\n{}", title.join("\n"), block.render(style))
}

/// A habit of a program that costs time.
fn habit_entry(number: usize, habit: &Habit, style: Style) -> String {
    let who = match habit.processes {
        1 => shown(&habit.program, 32),
        many => format!("{} ({} processes)", shown(&habit.program, 32), units::count(many)),
    };
    let title = format!("{number}. {}: {} by {who}", printable(&habit.file), what(habit));
    let mut block = Block::new();
    let share = habit
        .share
        .map_or_else(String::new, |share| format!(", {} of the elapsed time", units::percent(share)));
    let severity = match habit.severity {
        Severity::High => "high",
        Severity::Medium => "medium",
        Severity::Low => "low",
    };
    block.entry(
        "saves",
        format!(
            "{}, about {}{share} (severity {severity})",
            units::counted(habit.saved_calls, "call", "calls"),
            units::duration_or_dash(habit.saved_ns)
        ),
    );
    block.entry("do", habit.fix);
    block.entry("if", habit.assumes);
    let example = &habit.example;
    block.entry(
        "example",
        format!("process {} from seq {} of {}", example.pid, example.first, shown(&example.case, 40)),
    );
    block.entry("rule", habit.rule);
    let title: Vec<String> = wrap(&title, style.width).iter().map(|line| style.bold(line)).collect();
    format!("{}\n{}", title.join("\n"), block.render(style))
}

/// What the calls of a habit do.
fn what(habit: &Habit) -> String {
    let (calls, amount) = (units::count(habit.calls), habit.amount);
    match habit.rule {
        "reopen" => format!("{} opens of the same file", units::count(amount)),
        "failed-lookups" => format!("{calls} lookups of {} names that are not there", units::count(amount)),
        "seek-read" => format!("{} seeks before a read or write", units::count(amount)),
        "sync-each-write" => {
            format!("{calls} syncs of {} each", units::bytes(amount as f64 / habit.calls.max(1) as f64))
        }
        "read-again" => format!("{} read again", units::bytes(amount as f64)),
        other => format!("{calls} calls ({other})"),
    }
}

/// What is in the way, in words.
fn stop(word: &str) -> &str {
    match word {
        "mixed" => "reads and writes take turns",
        "parallel" => "another thread or process goes on",
        "conflict" => "somebody else uses the bytes",
        "unknown" => "something with an unknown effect comes between",
        "sync" => "forced to storage in between",
        "close" => "closed in between",
        "resize" => "resized in between",
        "name" => "a name is made, changed or removed in between",
        "overlap" => "the program overwrites bytes of its own",
        "lock" => "locked in between",
        "send" => "the process sends a message in between",
        "process" => "a process starts or ends in between",
        other => other,
    }
}

fn pairs(advice: &Advice) -> Table {
    let pairs = advice.pairs;
    let all = (pairs.impossible + pairs.easy + pairs.possible + pairs.unknown).max(1);
    let mut table = Table::new()
        .names("pairs of accesses")
        .figures("number", Align::Right)
        .figures("share", Align::Right);
    for (name, number) in [
        ("1 mergeable, nothing in between", pairs.easy),
        ("2 mergeable, although calls come between", pairs.possible),
        ("0 not mergeable", pairs.impossible),
        ("3 unknown", pairs.unknown),
    ] {
        table.row([name.to_owned(), units::count(number), units::percent(number as f64 / all as f64)]);
    }
    table
}

fn looked(advice: &Advice) -> Block {
    let looked = &advice.looked;
    let mut block = Block::new();
    block.entry(
        "looked at",
        format!(
            "{} of {} from and to {}",
            units::count(looked.mergeable),
            units::counted(looked.transfers, "transfer", "transfers"),
            units::counted(looked.files, "file", "files")
        ),
    );
    for (number, why) in [
        (looked.without_offset, "whose offset is unknown"),
        (looked.without_description, "whose open file description is unknown"),
    ] {
        if number > 0 {
            block.entry("left out", format!("{} {why}", units::counted(number, "transfer", "transfers")));
        }
    }
    if looked.several_clocks > 0 {
        let files = units::counted(looked.several_clocks, "file is", "files are");
        block.entry(
            "clocks",
            format!(
                "{files} used from several hosts or traces: what may have been at the same time counts so"
            ),
        );
    }
    if advice.tracing_ns > 0 {
        block.entry(
            "tracing",
            format!("{} a call is taken out of all times", units::duration(advice.tracing_ns as f64)),
        );
    }
    block
}
