//! What ranks do to files, and a model of it, as text.

use crate::table::{Align, Block, Style, Table, wrap};
use iotrail_characterize::{
    Characterization, ClassFigures, Fit, GroupFigures, Level, LevelFigures, MessageFigures, Quantiles,
    RankedBy, VERDICTS, Validation,
};
use iotrail_model::units;
use iotrail_workload::{Model, RequestKind, Totals};
use std::collections::BTreeMap;

/// The whole characterisation.
#[must_use]
pub fn characterization(found: &Characterization, style: Style) -> String {
    let mut text = summary(found).render(style);
    text.push('\n');
    text.push_str(&groups(&found.groups).render(style));
    text.push_str(&more(found.groups.len(), style));
    text.push('\n');
    text.push_str(&classes(&found.classes).render(style));
    text.push_str(&more(found.classes.len(), style));
    text.push('\n');
    text.push_str(&fit(&found.fit).render(style));
    text.push('\n');
    text.push_str(&levels(found).render(style));
    if !found.confirmations.is_empty() {
        text.push('\n');
        text.push_str(&confirmations(found).render(style));
    }
    let said = not_kept(found);
    if !said.is_empty() {
        text.push_str(&format!("\n{}\n", style.bold("Not in the model:")));
        for sentence in said {
            let mut lines = wrap(&sentence, style.width.saturating_sub(2)).into_iter();
            text.push_str(&lines.next().map(|line| format!("- {line}\n")).unwrap_or_default());
            text.extend(lines.map(|line| format!("  {line}\n")));
        }
    }
    text
}

/// Rows of a table.
const SHOWN: usize = 20;

/// What a table leaves out.
fn more(rows: usize, style: Style) -> String {
    let more = rows.saturating_sub(SHOWN);
    if more > 0 { style.dim(&format!("{} more rows\n", units::count(more as u64))) } else { String::new() }
}

fn summary(found: &Characterization) -> Block {
    let mut block = Block::new();
    let by = match found.ranked_by {
        RankedBy::Case => "recorded ranks",
        RankedBy::Process => "processes, in the order in which they were started",
        RankedBy::Thread => "threads",
    };
    block.entry("ranks", format!("{} ({by})", units::count(found.ranks as u64)));
    let left = &found.left_out;
    block.entry(
        "requests",
        format!(
            "{} on files of the program; left out: {} on files of the system, {} on what is no file{}",
            units::count(found.requests),
            units::count(left.on_system_files),
            units::count(left.on_no_file),
            if left.under_mpi_io > 0 {
                format!(", {} made by MPI-IO for these", units::count(left.under_mpi_io))
            } else {
                String::new()
            } + &if left.outside_mpi > 0 {
                format!(", {} before and after MPI", units::count(left.outside_mpi))
            } else {
                String::new()
            },
        ),
    );
    let tokens = &found.tokens;
    block.entry(
        "barriers",
        match (tokens.mpi_recorded, found.ranks) {
            (_, 1) => "none, one rank".to_owned(),
            (true, _) => format!(
                "{} of a rank (collective calls of MPI that need all ranks)",
                units::count(tokens.barriers)
            ),
            (false, _) if tokens.inferred > 0 => format!(
                "{} of a rank, inferred from its times: no calls of MPI were recorded",
                units::count(tokens.inferred)
            ),
            (false, _) => "unknown: no calls of MPI were recorded".to_owned(),
        },
    );
    if let Some(messages) = messages(&tokens.messages, found.ranks) {
        block.entry("messages", messages);
    }
    for wait in &tokens.after {
        let kept = if wait.kept { "" } else { "; not in the model" };
        block.entry(
            "wait",
            format!(
                "{} before {}: {} {} read or opened what another rank had written or made there{kept}",
                wait.after,
                wait.before,
                units::count(wait.seen),
                if wait.seen == 1 { "session" } else { "sessions" },
            ),
        );
    }
    block
}

/// NULL if there are none.
fn messages(found: &MessageFigures, ranks: usize) -> Option<String> {
    let counted = [
        (found.unmatched, "without a known counterpart"),
        (found.elsewhere, "in other communicators"),
        (found.collective, "collective calls of other kinds (non-blocking, scans)"),
    ];
    let counted = counted.into_iter().filter(|(number, _)| *number > 0);
    let left: Vec<String> =
        counted.map(|(number, what)| format!("{} {what}", units::count(number))).collect();
    if found.seen.all() == 0 && left.is_empty() {
        return None;
    }
    let ordering = units::count(found.ordering);
    let kept = match (found.ordering, found.kept) {
        (0, _) => "none orders requests that barriers do not order".to_owned(),
        (_, true) if !found.scales => {
            format!(
                "{ordering} order requests and are in the model; their pattern holds for {ranks} ranks only"
            )
        }
        (_, true) => format!("{ordering} order requests and are in the model"),
        (_, false) => format!("{ordering} order requests, but are not in the model"),
    };
    let left = if left.is_empty() { String::new() } else { format!("; left out: {}", left.join(", ")) };
    let sources = [
        (found.seen.mpi, "MPI"),
        (found.seen.rooted, "from or to a root"),
        (found.seen.pipes, "through pipes"),
        (found.seen.processes, "starts and ends of processes"),
    ];
    let sources = sources.into_iter().filter(|(number, _)| *number > 0);
    let sources: Vec<String> =
        sources.map(|(number, what)| format!("{} {what}", units::count(number))).collect();
    let sources = if sources.is_empty() { "0".to_owned() } else { sources.join(", ") };
    Some(format!("{sources}; {kept}{left}"))
}

fn groups(groups: &[GroupFigures]) -> Table {
    let mut table = Table::new()
        .figures("group", Align::Right)
        .figures("ranks", Align::Left)
        .figures("requests", Align::Right)
        .figures("data", Align::Right)
        .names("of the representative");
    for (number, group) in groups.iter().take(SHOWN).enumerate() {
        let mut variants: Vec<(&String, &u64)> = group.variants.iter().collect();
        variants.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
        let shown: Vec<String> = variants
            .iter()
            .take(6)
            .map(|(name, count)| format!("{name} {}", units::count(**count)))
            .collect();
        table.row([
            number.to_string(),
            ranks(&group.ranks),
            units::count(group.requests),
            units::percent(group.data_requests as f64 / group.requests.max(1) as f64),
            shown.join(", "),
        ]);
    }
    table
}

/// Ranks as ranges: `0, 2-5`.
fn ranks(ranks: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for rank in ranks {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *rank => *last = *rank,
            _ => ranges.push((*rank, *rank)),
        }
    }
    let shown = |(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(shown).collect::<Vec<_>>().join(", ")
}

fn classes(classes: &[ClassFigures]) -> Table {
    let mut table = Table::new()
        .figures("group", Align::Right)
        .figures("files", Align::Left)
        .figures("of a rank", Align::Right)
        .figures("sessions of a file", Align::Right)
        .figures("requests of a session", Align::Right)
        .figures("size", Align::Right)
        .figures("sequential", Align::Right)
        .optional("file size", Align::Right)
        .optional("slack", Align::Right);
    let number = |quantiles: &Option<Quantiles>| range(quantiles, &|value| units::count(value.max(0) as u64));
    for class in classes.iter().take(SHOWN) {
        let figures = &class.figures;
        let sizes = figures.sizes.values().copied().reduce(joined);
        let bytes = |value: i64| units::bytes(value as f64);
        table.row([
            class.group.to_string(),
            class.class.to_owned(),
            number(&figures.files),
            number(&figures.sessions),
            number(&figures.depth),
            range(&sizes, &bytes),
            figures.sequential.map_or_else(|| "–".to_owned(), units::percent),
            figures.file_size.map_or_else(|| "–".to_owned(), bytes),
            figures.slack_ns.map_or_else(|| "–".to_owned(), |slack| units::duration(slack.median as f64)),
        ]);
    }
    table
}

/// The extremes of both.
fn joined(one: Quantiles, other: Quantiles) -> Quantiles {
    Quantiles { min: one.min.min(other.min), max: one.max.max(other.max), ..one }
}

fn range(quantiles: &Option<Quantiles>, shown: &dyn Fn(i64) -> String) -> String {
    match quantiles {
        None => "–".to_owned(),
        Some(quantiles) if quantiles.min == quantiles.max => shown(quantiles.min),
        Some(quantiles) => format!("{} to {}", shown(quantiles.min), shown(quantiles.max)),
    }
}

fn fit(fit: &Fit) -> Table {
    let mut table = Table::new()
        .figures("", Align::Left)
        .figures("recorded", Align::Right)
        .figures("model", Align::Right);
    let counts = [
        ("sessions", fit.sessions),
        ("reads", fit.reads),
        ("writes", fit.writes),
        ("syncs", fit.syncs),
        ("other calls", fit.metadata),
        ("barriers", fit.barriers),
    ];
    for (name, [recorded, model]) in counts {
        table.row([name.to_owned(), units::count(recorded), units::count(model)]);
    }
    for (name, [recorded, model]) in
        [("bytes to read", fit.bytes_read), ("bytes to write", fit.bytes_written)]
    {
        table.row([name.to_owned(), units::bytes(recorded as f64), units::bytes(model as f64)]);
    }
    if let Some(share) = fit.exact_share() {
        let cells = ["same rank, file, offset, size".to_owned(), "100 %".to_owned(), units::percent(share)];
        table.row(cells);
    }
    table
}

/// Levels of models, how large and how far from the recording each is.
fn levels(found: &Characterization) -> Table {
    let mut table = Table::new()
        .figures("level", Align::Left)
        .figures("model", Align::Right)
        .figures("error", Align::Right)
        .figures("of", Align::Left)
        .figures("", Align::Left);
    for level in &found.levels {
        let word = match level.level {
            Level::Paper => "paper",
            Level::Joint => "joint",
            Level::Program => "program",
            Level::Auto => "auto",
        };
        let verdict = match (level.within, level.chosen) {
            (true, true) => "near enough, this model",
            (true, false) => "near enough",
            (false, true) => "this model",
            (false, false) => "",
        };
        table.row([
            word.to_owned(),
            units::bytes(level.model_bytes as f64),
            if level.distance.is_finite() { units::percent(level.distance) } else { "–".to_owned() },
            worst_figure(level),
            verdict.to_owned(),
        ]);
    }
    table
}

/// The figure of a level that is farthest from the recording.
fn worst_figure(level: &LevelFigures) -> String {
    let name = level.worst.replace('_', " ");
    match level.distance {
        0.0 => String::new(),
        // The recording has 0, so there is no share of it.
        distance if distance.is_infinite() => format!("{name}, which the recording has none of"),
        _ => name,
    }
}

/// Further recordings beside the model.
fn confirmations(found: &Characterization) -> Table {
    let mut table = Table::new()
        .figures("further recordings, ranks", Align::Right)
        .figures("transfers", Align::Right)
        .figures("model", Align::Right)
        .figures("at the same place", Align::Right)
        .figures("", Align::Left);
    for other in &found.confirmations {
        let verdict = match (other.ranks == found.ranks, other.is_exact()) {
            (true, true) => "a repetition: the same",
            (true, false) => "a repetition: differs",
            (false, true) => "laws confirmed",
            (false, false) => "laws refuted",
        };
        let [recorded, model] = other.transfers;
        table.row([
            units::count(other.ranks as u64),
            units::count(recorded),
            units::count(model),
            units::count(other.exact_transfers),
            verdict.to_owned(),
        ]);
    }
    table
}

/// What a model does not have, in sentences.
fn not_kept(found: &Characterization) -> Vec<String> {
    let lost = &found.not_kept;
    let mut said = Vec::new();
    let mut say = |count: u64, one: &str, more: &str, rest: &str| {
        if count > 0 {
            said.push(format!("{} {rest}", units::counted(count, one, more)));
        }
    };
    let other: u64 = lost.requests.values().sum();
    say(other, "request", "requests", &format!("that a model has no word for ({})", most(&lost.requests)));
    say(
        lost.overlapping_sessions,
        "session",
        "sessions",
        "that overlap others of the same kind: a model does one after the other",
    );
    say(lost.sessions_without_law, "session", "sessions", "whose offsets follow no law: they are drawn");
    say(
        lost.sessions_in_other_order,
        "session",
        "sessions",
        "that go through places in an order of their own: the order is drawn",
    );
    say(
        lost.unplaced_transfers,
        "transfer",
        "transfers",
        "whose offset the recording does not have: they follow each other",
    );
    say(lost.represented_sessions, "session", "sessions", "of many shapes, which similar ones stand for");
    say(lost.steps_of_no_range, "step", "steps", "of ranks that are no range");
    say(
        lost.threaded_ranks,
        "rank makes",
        "ranks make",
        "requests from several threads: in the model they are in the order of their starts",
    );
    say(
        lost.assumed_names,
        "file name",
        "file names",
        "in which a number is taken for the rank because two ranks agree; record three or more to be sure",
    );
    say(
        found.left_out.mapped,
        "mapping",
        "mappings",
        "of files to memory: what is read and written there is in no trail",
    );
    say(
        found.left_out.on_unnamed_files,
        "call",
        "calls",
        "on files whose names are not known: cut by the tracer, or of descriptors that nobody saw being opened",
    );
    say(
        lost.locks,
        "lock or release",
        "locks and releases",
        "of sessions that do not take and release them in turn, or in too long an order: the clone locks nothing there",
    );
    say(found.left_out.unfinished, "call", "calls", "whose end was not seen");
    say(
        found.tokens.other_collectives,
        "collective call",
        "collective calls",
        "of communicators of some ranks",
    );
    match found.levels.iter().find(|level| level.chosen).map(|level| level.level) {
        Some(Level::Paper) => said.push(
            "the order of requests and the places of ranks: a path is drawn from distributions".to_owned(),
        ),
        _ if !lost.order_kept => said.push("the order of sessions between barriers".to_owned()),
        _ => {}
    }
    said
}

fn most(counts: &BTreeMap<String, u64>) -> String {
    let mut all: Vec<(&String, &u64)> = counts.iter().collect();
    all.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
    let mut shown: Vec<String> =
        all.iter().take(5).map(|(name, count)| format!("{name} {}", units::count(**count))).collect();
    if all.len() > 5 {
        shown.push(format!("{} others", all.len() - 5));
    }
    shown.join(", ")
}

/// A clone beside the program, the verdict first.
#[must_use]
pub fn validation(found: &Validation, style: Style) -> String {
    let counts = VERDICTS.iter().rev().filter_map(|(_, word)| {
        let count = found.figures.iter().filter(|figure| figure.verdict == *word).count();
        (count > 0).then(|| format!("{} {word}", units::count(count as u64)))
    });
    let mut text = format!(
        "{}: {}; {} of the program, {} of the clone\n\n",
        style.bold(found.verdict),
        counts.collect::<Vec<_>>().join(", "),
        units::counted(found.program_runs as u64, "run", "runs"),
        units::counted(found.clone_runs as u64, "run", "runs"),
    );
    let mut table = Table::new()
        .figures("files", Align::Left)
        .figures("figure", Align::Left)
        .figures("program", Align::Right)
        .figures("clone", Align::Right)
        .figures("distance", Align::Right)
        .figures("noise", Align::Right)
        .figures("p", Align::Right)
        .figures("verdict", Align::Left);
    for figure in &found.figures {
        table.row([
            figure.class.clone(),
            figure.name.to_owned(),
            mean(figure.program),
            mean(figure.clone),
            units::percent(figure.distance),
            units::percent(figure.noise),
            format!("{:.2}", figure.p_value),
            figure.verdict.to_owned(),
        ]);
    }
    text.push_str(&table.render(style));
    text
}

/// The mean of runs.
fn mean(range: Option<[f64; 3]>) -> String {
    match range {
        None => "–".to_owned(),
        Some([_, mean, _]) if mean.fract() == 0.0 && mean < 1e6 => format!("{mean:.0}"),
        Some([_, mean, _]) if mean < 10.0 => format!("{mean:.3}"),
        Some([_, mean, _]) => units::count(mean.round() as u64),
    }
}

/// What a model comes to at a number of ranks.
#[must_use]
pub fn model_totals(model: &Model, ranks: u32, totals: &Totals, style: Style) -> String {
    let mut block = Block::new();
    let of = |kind| units::count(totals.requests.get(&kind).copied().unwrap_or_default());
    block.entry("ranks", units::count(u64::from(ranks)));
    block.entry(
        "files",
        format!("{} ({} kinds)", units::count(totals.files), units::count(model.files.len() as u64)),
    );
    let of_mpi = match [totals.mpi_io_sessions, totals.collective_sessions] {
        [0, _] => String::new(),
        [some, 0] => format!(", {} of them by MPI-IO", units::count(some)),
        [some, all] => {
            format!(", {} of them by MPI-IO, {} by all ranks together", units::count(some), units::count(all))
        }
    };
    block.entry("sessions", format!("{}{of_mpi}", units::count(totals.sessions)));
    block.entry("reads", format!("{} of {}", of(RequestKind::Read), units::bytes(totals.bytes_read as f64)));
    block.entry(
        "writes",
        format!("{} of {}", of(RequestKind::Write), units::bytes(totals.bytes_written as f64)),
    );
    block.entry(
        "syncs",
        format!("{} fsync, {} fdatasync", of(RequestKind::Fsync), of(RequestKind::Fdatasync)),
    );
    let other = [
        RequestKind::Stat,
        RequestKind::Truncate,
        RequestKind::Lock,
        RequestKind::LockShared,
        RequestKind::Unlock,
    ];
    let other = other.iter().filter_map(|kind| totals.requests.get(kind)).sum::<u64>();
    block.entry("other calls", units::count(other.saturating_add(totals.calls)));
    block.entry("barriers", units::count(totals.barriers));
    if totals.messages_sent.max(totals.messages_received) > 0 {
        let (given, got) = (units::count(totals.messages_sent), units::count(totals.messages_received));
        let unsent = totals.messages_received.saturating_sub(totals.messages_sent);
        let unsent = match unsent {
            0 => String::new(),
            number => format!(" ({} of them without a send: they do not wait)", units::count(number)),
        };
        block.entry("messages", format!("{given} sent, {got} received{unsent}"));
    }
    block.render(style)
}
