//! What `iotrail compare` prints in a terminal: the verdict, where the difference of the elapsed time comes from, and the activities
//! whose I/O differs, one row for each.
//!
//! The kind of a change is a word and what stands the test has a sign (`*`), so that nothing depends on colour.

use crate::compare_verdict::{about_chance, number, p, verdict_line};
use crate::hints::Hint;
use crate::table::{Align, Style, Table, wrap};
use crate::why_summary::phrase;
use iotrail_dfg::comparison::Unit;
use iotrail_dfg::{ActivityChange, ChangeKind, Comparison};
use iotrail_model::text::printable;
use iotrail_model::{text, units};
use iotrail_workflow::change::{ElapsedCause, ElapsedChange, Verdict};
use iotrail_workflow::why::result::Piece;

/// What changed between two sides.
#[derive(Clone, Copy, Debug)]
pub struct Changes<'a> {
    /// The figures of runs.
    pub verdict: &'a Verdict,
    /// The elapsed time.
    pub elapsed: Option<&'a ElapsedChange>,
    /// Activities and transitions.
    pub comparison: &'a Comparison,
}

/// The summary of `changes`; tables have at most `limit` rows. It ends in a line break.
#[must_use]
pub fn compare_summary(changes: &Changes<'_>, limit: usize, style: Style) -> String {
    let comparison = changes.comparison;
    let paragraph = |text: &str| wrap(&printable(text), style.width.max(20)).join("\n");
    let verdict = style.bold(&paragraph(&verdict_line(changes.verdict, comparison)));
    let chance = style.dim(&paragraph(&about_chance(changes.verdict, comparison)));
    let mut sections = vec![format!("{verdict}\n{chance}\n")];
    sections.extend(changes.elapsed.and_then(|elapsed| causes(elapsed, comparison, limit, style)));
    sections.extend(activities(comparison, limit, style));
    let notes: Vec<String> =
        notes(comparison, style).iter().map(|note| style.dim(&paragraph(note))).collect();
    if !notes.is_empty() {
        sections.push(format!("{}\n", notes.join("\n")));
    }
    sections.join("\n")
}

fn causes(elapsed: &ElapsedChange, comparison: &Comparison, limit: usize, style: Style) -> Option<String> {
    if elapsed.causes.is_empty() {
        return None;
    }
    let (a, b) = (text::shown(&comparison.a, 16), text::shown(&comparison.b, 16));
    let mut table = Table::new()
        .figures("difference", Align::Right)
        .figures(&a, Align::Right)
        .figures(&b, Align::Right)
        .names("what took the time")
        .optional("calls", Align::Right);
    let time = |nanos: i64| if nanos == 0 { "–".to_owned() } else { units::duration(nanos as f64) };
    for cause in elapsed.causes.iter().take(limit) {
        let calls = cause.calls_b - cause.calls_a;
        table.row([
            signed(cause.difference_ns as f64, units::duration),
            time(cause.a_ns),
            time(cause.b_ns),
            phrase(&piece(cause), None),
            if calls == 0.0 { String::new() } else { signed(calls, number) },
        ]);
    }
    let rest = elapsed.causes.get(limit..).unwrap_or_default();
    if !rest.is_empty() {
        let sum = |of: fn(&ElapsedCause) -> i64| rest.iter().map(of).sum::<i64>();
        table.row([
            signed(sum(|cause| cause.difference_ns) as f64, units::duration),
            time(sum(|cause| cause.a_ns)),
            time(sum(|cause| cause.b_ns)),
            units::counted(rest.len() as u64, "smaller difference", "smaller differences") + &more(style),
            String::new(),
        ]);
    }
    let of = if elapsed.slowest_rank { " of the slowest rank" } else { "" };
    let title = format!(
        "Where the difference of the elapsed time{of} comes from ({} in all)",
        signed(elapsed.difference_ns as f64, units::duration)
    );
    Some(format!("{}\n{}", style.bold(&title), table.render(style)))
}

/// How to see more rows.
fn more(style: Style) -> String {
    style.hints.of(Hint::MorePieces).map(|how| format!(" ({how})")).unwrap_or_default()
}

fn piece(cause: &ElapsedCause) -> Piece {
    Piece {
        kind: cause.kind,
        program: cause.program.clone(),
        call: cause.call.clone(),
        only_call: cause.only_call,
        path: cause.path.as_deref().map(|path| path.strip_prefix("./").unwrap_or(path).to_owned()),
        files: cause.files,
        ..Piece::default()
    }
}

/// What is said where nothing differs.
const NOTHING: &str =
    "No activity differs: both sides make the same calls, of the same sizes, in the same time.\n";

fn activities(comparison: &Comparison, limit: usize, style: Style) -> Option<String> {
    let per = match comparison.per {
        Unit::Run => "per run",
        Unit::Rank => "per rank",
    };
    let title = style.bold(&format!("Activities by difference of I/O time {per}"));
    if comparison.activities.is_empty() {
        return Some(format!("{title}\n{NOTHING}"));
    }
    let (a, b) = (text::shown(&comparison.a, 16), text::shown(&comparison.b, 16));
    let tested = comparison.activities.iter().any(|row| row.p_value.is_some());
    let mut table = Table::new()
        .figures("", Align::Left)
        .figures("difference", Align::Right)
        .figures(&a, Align::Right)
        .figures(&b, Align::Right)
        .names("activity")
        .figures("what changed", Align::Left)
        .optional(if tested { "p" } else { "" }, Align::Right);
    for row in comparison.activities.iter().take(limit) {
        table.row([
            if row.significant == Some(true) { "*" } else { " " }.to_owned(),
            units::or_dash(row.difference_ns, |nanos| signed(nanos, units::duration)),
            units::or_dash(row.io_a_ns, units::duration),
            units::or_dash(row.io_b_ns, units::duration),
            row.activity.to_string(),
            what_changed(row),
            row.p_value.map(p).unwrap_or_default(),
        ]);
    }
    let rest = comparison.activities.get(limit..).unwrap_or_default();
    let more = match rest.len() {
        0 => String::new(),
        hidden => {
            let time: f64 = rest.iter().filter_map(|row| row.difference_ns).sum();
            let number = units::counted(hidden as u64, "more activity", "more activities");
            style.dim(&format!("… {number}, {} together{}\n", signed(time, units::duration), more(style)))
        }
    };
    Some(format!("{title}\n{}{more}", table.render(style)))
}

/// The cause first: `3,000 more calls, each 2.1x slower`.
#[must_use]
pub fn what_changed(row: &ActivityChange) -> String {
    let count = || {
        let by = row.count.difference().unwrap_or(0.0);
        let calls = if by.abs() == 1.0 { "call" } else { "calls" };
        format!("{} {} {calls}", number(by.abs()), if by < 0.0 { "fewer" } else { "more" })
    };
    let count = (row.count.a != row.count.b).then(count);
    let times = |ratio: Option<f64>, more: &str, less: &str| {
        let ratio = ratio.filter(|ratio| *ratio > 0.0)?;
        let (factor, word) = if ratio < 1.0 { (1.0 / ratio, less) } else { (ratio, more) };
        Some(if factor >= 2.0 {
            format!("{factor:.1}x {word}")
        } else {
            format!("{:.0} % {word}", (ratio - 1.0).abs() * 100.0)
        })
    };
    let apart = |trend: i8, text: Option<String>| text.filter(|_| trend != 0);
    let duration = times(row.duration_ns.ratio(), "slower", "faster");
    let size = times(row.bytes.ratio(), "larger", "smaller");
    let (slow, large) =
        (apart(row.duration_ns.trend(), duration.clone()), apart(row.bytes.trend(), size.clone()));
    let far = row.gap_ns.ratio().is_some_and(|ratio| !(0.5..2.0).contains(&ratio));
    let gap = apart(i8::from(far), times(row.gap_ns.ratio(), "longer", "shorter"))
        .map(|gap| format!("gaps before {gap}"));
    let each = |text: Option<String>| text.map(|text| format!("each {text}"));
    // Of an activity with other calls, too, what is told goes with the I/O time beside it.
    let with_others =
        row.difference_ns.zip(row.duration_ns.difference()).is_some_and(|(io, all)| io * all < 0.0);
    let io = || {
        let ratio = row.io_a_ns.zip(row.io_b_ns).map(|(a, b)| b / a).filter(|ratio| ratio.is_finite());
        times(ratio, "slower", "faster").map(|text| format!("I/O {text}, other calls not"))
    };
    let parts: Vec<Option<String>> = match row.cause {
        ChangeKind::New => vec![Some(format!("new: {}", calls(row.count.b)))],
        ChangeKind::Gone => vec![Some(format!("gone: {}", calls(row.count.a)))],
        ChangeKind::More | ChangeKind::Fewer => vec![count, each(slow), each(large), gap],
        ChangeKind::Slower | ChangeKind::Faster if with_others && count.is_none() => {
            vec![io(), each(large), gap]
        }
        ChangeKind::Slower | ChangeKind::Faster => vec![each(duration), count, each(large), gap],
        ChangeKind::Larger | ChangeKind::Smaller => vec![each(size), slow, count, gap],
    };
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "little".to_owned() } else { parts.join(", ") }
}

fn calls(count: Option<f64>) -> String {
    let count = count.unwrap_or(0.0);
    format!("{} {}", number(count), if count == 1.0 { "call" } else { "calls" })
}

pub(crate) fn signed(value: f64, show: impl Fn(f64) -> String) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    if value == 0.0 { show(0.0) } else { format!("{sign}{}", show(value.abs())) }
}

fn notes(comparison: &Comparison, style: Style) -> Vec<String> {
    let mut notes = Vec::new();
    if comparison.per == Unit::Rank {
        notes.push("Activities are per rank, because runs have different numbers of ranks.".to_owned());
    }
    if !comparison.dfg.selection.is_empty() {
        notes.push(format!(
            "Calls, bytes and activities are those of the selection ({}); the elapsed time is that of whole runs.",
            comparison.dfg.selection
        ));
    }
    if comparison.is_mostly_exclusive() {
        let how = style.hints.of(Hint::MapPaths).map(|how| format!(" ({how})")).unwrap_or_default();
        notes.push(format!(
            "Most activities are on one side only: the sides use different paths. Map them to one name to see what became slower or faster{how}."
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_dfg::Pair;

    #[test]
    fn what_is_told_of_an_activity_goes_with_its_io_time() {
        let row = |io: (f64, f64), all: (f64, f64)| ActivityChange {
            activity: "startup".into(),
            cause: ChangeKind::Slower,
            io_a_ns: Some(io.0),
            io_b_ns: Some(io.1),
            difference_ns: Some(io.1 - io.0),
            count: Pair { a: Some(17.0), b: Some(17.0) },
            duration_ns: Pair { a: Some(all.0), b: Some(all.1) },
            bytes: Pair::default(),
            gap_ns: Pair::default(),
            p_value: None,
            q_value: None,
            significant: None,
        };
        let told = |io, all| what_changed(&row(io, all).with_cause());
        assert_eq!(told((100.0, 149.0), (100.0, 97.0)), "I/O 49 % slower, other calls not");
        assert_eq!(told((100.0, 149.0), (100.0, 120.0)), "each 20 % slower");
        assert_eq!(told((100.0, 90.0), (100.0, 97.0)), "each 3 % faster");
    }
}
