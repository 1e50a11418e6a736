//! What could be done with fewer calls, in a terminal.

use crate::table::{Align, Block, Style, Table, wrap};
use iotrail_advise::{Advice, Confidence, Finding, Habit, Item, Measured, Place, Proof, stop_in_words};
use iotrail_model::text::{printable, shown};
use iotrail_model::units;

/// The advice with at most `top` findings in full.
#[must_use]
pub fn advice_summary(advice: &Advice, top: usize, style: Style) -> String {
    let mut out = style.bold(&headline(advice));
    out.push('\n');
    let items = advice.items();
    for (number, item) in items.iter().take(top).enumerate() {
        out.push('\n');
        out.push_str(&match item {
            Item::Finding(finding) => entry(number + 1, finding, advice.proof(*item), style),
            Item::Habit(habit) => habit_entry(number + 1, habit, advice.proof(*item), style),
        });
    }
    let hidden = items.get(top..).unwrap_or_default();
    if !hidden.is_empty() {
        let calls = hidden.iter().map(|item| item.own_saved_calls()).fold(0, u64::saturating_add);
        out.push_str(&format!(
            "\n… {} more, which would save {}\n",
            units::counted(hidden.len() as u64, "finding", "findings"),
            units::counted(calls, "call", "calls")
        ));
    }
    out.push('\n');
    out.push_str(&pairs(advice).render(style));
    out.push('\n');
    out.push_str(&looked(advice).render(style));
    out
}

fn headline(advice: &Advice) -> String {
    let items = advice.items();
    let transfers = units::counted(advice.looked.transfers, "transfer", "transfers");
    if items.is_empty() && advice.accepted > 0 {
        let accepted = units::counted(advice.accepted, "finding is", "findings are");
        return format!("Nothing new: {accepted} accepted in the baseline");
    }
    if items.is_empty() {
        let unknown = match advice.looked.without_offset {
            0 => String::new(),
            some => format!(
                " (of {} it is not known where in the file; appended writes are such)",
                units::count(some)
            ),
        };
        return format!(
            "Nothing to advise: no accesses to merge in {transfers}{unknown}, and no habit of any rule"
        );
    }
    let number = units::counted(items.len() as u64, "finding", "findings");
    let calls = items.iter().map(|item| item.own_saved_calls()).fold(0, u64::saturating_add);
    let saved = units::counted(calls, "call", "calls");
    match items.first().and_then(|item| item.at_stake_ns()) {
        Some(0) => format!("{number}, which would save {saved} but none of the elapsed time"),
        Some(time) => {
            format!(
                "{number}, which would save {saved}; at stake with the first: {}",
                units::duration(time as f64)
            )
        }
        None => format!("{number}, which would save {saved}"),
    }
}

fn entry(number: usize, finding: &Finding, proof: Option<&Proof>, style: Style) -> String {
    let title = format!("{number}. {}", printable(&Item::Finding(finding).title()));
    let mut block = Block::new();
    block.entry("at stake", at_stake(Item::Finding(finding)));
    let time = units::duration_or_dash(finding.saved_ns);
    let of = finding
        .time_ns
        .map_or_else(String::new, |all| format!(" of {} in these calls", units::duration(all as f64)));
    block.entry(
        "saves",
        format!("{}, about {time}{of}", units::counted(finding.saved_calls, "call", "calls")),
    );
    measured(&mut block, proof);
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
    block.entry("rule", finding.rule);
    if !finding.stops.is_empty() {
        let stops: Vec<String> = finding
            .stops
            .iter()
            .map(|(word, number)| format!("{} × {}", units::count(*number), stop_in_words(word)))
            .collect();
        block.entry("not merged", stops.join(", "));
    }
    let title: Vec<String> = wrap(&title, style.width).iter().map(|line| style.bold(line)).collect();
    format!("{}\n{}", title.join("\n"), block.render(style))
}

/// A habit of a program that costs time.
fn habit_entry(number: usize, habit: &Habit, proof: Option<&Proof>, style: Style) -> String {
    let title = format!("{number}. {}", printable(&Item::Habit(habit).title()));
    let mut block = Block::new();
    block.entry("at stake", at_stake(Item::Habit(habit)));
    let saved = match habit.saved_calls {
        0 => String::new(),
        calls => format!("{}, ", units::counted(calls, "call", "calls")),
    };
    if let Some(time) = habit.saved_ns {
        block.entry("saves", format!("{saved}about {} in all", units::duration(time as f64)));
    }
    measured(&mut block, proof);
    if !habit.places.is_empty() {
        let place = |place: &Place| format!("{} in {}", units::count(place.calls), printable(&place.file));
        let places: Vec<String> = habit.places.iter().map(place).collect();
        let named = habit.places.iter().map(|place| place.calls).fold(0, u64::saturating_add);
        let more = habit.calls.saturating_sub(named);
        let rest = if more > 0 { format!(", {} elsewhere", units::count(more)) } else { String::new() };
        block.entry("where", format!("{}{rest}", places.join(", ")));
    }
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

/// What an experiment said.
fn measured(block: &mut Block, proof: Option<&Proof>) {
    let Some(proof) = proof else { return };
    if let Some(reason) = &proof.reason {
        block.entry("measured", format!("no: {}", printable(reason)));
    }
    let Some(measured) = &proof.measured else { return };
    let form = |calls, time| {
        format!("{} in {}", units::counted(calls, "call", "calls"), units::duration(time as f64))
    };
    block.entry(
        "measured",
        format!(
            "{:.2} times as fast ({:.2} to {:.2} in {} runs, {} cache{}{}{}): {} as recorded, {} as advised; in {}",
            measured.ratio,
            measured.ratio_min,
            measured.ratio_max,
            measured.runs,
            printable(&measured.cache),
            if measured.direct { ", O_DIRECT" } else { "" },
            threads(measured),
            if measured.think == "keep" { ", time between calls kept" } else { "" },
            form(measured.calls_recorded, measured.recorded_ns),
            form(measured.calls_advised, measured.advised_ns),
            printable(&measured.directory)
        ),
    );
    if measured.vectored_calls > 0 {
        let calls = units::counted(measured.vectored_calls, "call", "calls");
        block.entry(
            "vectored",
            format!("{calls} as advised, with a buffer for each call that was merged and each gap"),
        );
    }
    if measured.left_out > 0 {
        let calls = units::counted(measured.left_out, "further call", "further calls");
        block.entry("left out", format!("{calls} on the file"));
    }
    if measured.not_issued > 0 {
        let calls = units::counted(measured.not_issued, "call", "calls");
        block.entry("not issued", format!("{calls} on the file that scratch files cannot stand for"));
    }
    let differences = (measured.differences_recorded, measured.differences_advised);
    if differences != (0, 0) {
        let (recorded, advised) = differences;
        block.entry(
            "differences",
            format!(
                "{} as recorded and {} as advised returned another result than expected",
                units::counted(recorded, "call", "calls"),
                units::count(advised)
            ),
        );
    }
}

/// How many threads issued the calls, if several did.
fn threads(measured: &Measured) -> String {
    match measured.threads {
        0 | 1 => String::new(),
        threads => format!(", {} threads", units::count(threads)),
    }
}

/// Time off the elapsed time, and how severe that is.
fn at_stake(item: Item<'_>) -> String {
    let severity = item.severity().name();
    match (item.at_stake_ns(), item.share()) {
        (Some(0), _) if item.saved_ns() == Some(0) => {
            "nothing: these calls take no longer than moving their bytes does".to_owned()
        }
        (Some(0), _) => {
            "nothing: no other thread waits for it, the elapsed time would stay the same".to_owned()
        }
        (Some(time), Some(share)) => format!(
            "about {}, {} of the elapsed time (severity {severity})",
            units::duration(time as f64),
            units::percent(share)
        ),
        _ => format!("time unknown (severity {severity})"),
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
    if advice.accepted > 0 {
        let findings = units::counted(advice.accepted, "finding", "findings");
        block.entry("accepted", format!("{findings} of the baseline, not shown"));
    }
    if advice.tracing_ns > 0 {
        block.entry(
            "tracing",
            format!("{} a call is taken out of all times", units::duration(advice.tracing_ns as f64)),
        );
    }
    block
}
