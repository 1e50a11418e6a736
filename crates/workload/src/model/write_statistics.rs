//! Statistics and barriers of paths that are drawn, as text.

use super::drawn::WHOLE;
use super::quantity::{bytes_text, time_text};
use super::write::{quoted, write_weighted};
use super::{Model, PathBarrier, Statistics};
use std::collections::BTreeMap;
use std::fmt;

pub(super) fn write_statistics(f: &mut fmt::Formatter<'_>, model: &Model, of: &Statistics) -> fmt::Result {
    writeln!(f, "\n[[file.statistics]]")?;
    if let Some(group) = of.ranks {
        writeln!(f, "ranks = {}", quoted(&model.groups[group].name))?;
    }
    for (key, values) in [("files", &of.files), ("sessions", &of.sessions), ("depth", &of.depth)] {
        write_numbers(f, key, values)?;
    }
    write_numbers(f, "first_gap", &of.first_gap)?;
    write_numbers(f, "session_gap", &of.session_gap)?;
    write_numbers(f, "request_gap", &of.request_gap)?;
    write_words(f, "modes", of.modes.iter().map(|(mode, count)| (quoted(&mode.to_string()), *count)))?;
    write_words(f, "requests", of.requests.iter().map(|(kind, count)| (kind.word().to_owned(), *count)))?;
    write_words(f, "calls", of.calls.iter().map(|(call, count)| (call.word().to_owned(), *count)))?;
    write_weighted(f, "size", &of.sizes, bytes_text)?;
    write_weighted(f, "write_size", &of.write_sizes, bytes_text)?;
    let [all, consecutive] = of.pairs;
    if all > 0 {
        writeln!(f, "consecutive = \"{consecutive} of {all}\"")?;
    }
    write_weighted(f, "offset", &of.offsets, bytes_text)?;
    write_weighted(f, "write_offset", &of.write_offsets, bytes_text)?;
    if of.file_size > 0 {
        writeln!(f, "file_size = \"{}\"", bytes_text(of.file_size))?;
    }
    write_weighted(f, "slack", &of.slack, time_text)?;
    if of.duration > 0 {
        writeln!(f, "duration = \"{}\"", time_text(of.duration))?;
    }
    Ok(())
}

pub(super) fn write_path_barrier(
    f: &mut fmt::Formatter<'_>,
    model: &Model,
    barrier: &PathBarrier,
) -> fmt::Result {
    let at = barrier.at.iter().map(|(at, times)| format!("\"{}\" = {times}", share_text(*at)));
    let (ranks, at) = (quoted(&model.groups[barrier.group].name), at.collect::<Vec<_>>().join(", "));
    writeln!(f, "\n[[barrier]]\nranks = {ranks}\nat = {{ {at} }}")
}

fn write_numbers<N: fmt::Display + Copy + Ord>(
    f: &mut fmt::Formatter<'_>,
    key: &str,
    values: &BTreeMap<N, u64>,
) -> fmt::Result {
    match values.first_key_value() {
        None => Ok(()),
        Some((value, 1)) if values.len() == 1 => writeln!(f, "{key} = {value}"),
        Some(_) => write_words(f, key, values.iter().map(|(value, count)| (format!("\"{value}\""), *count))),
    }
}

fn write_words(
    f: &mut fmt::Formatter<'_>,
    key: &str,
    words: impl Iterator<Item = (String, u64)>,
) -> fmt::Result {
    let all: Vec<String> = words.map(|(word, count)| format!("{word} = {count}")).collect();
    if all.is_empty() { Ok(()) } else { writeln!(f, "{key} = {{ {} }}", all.join(", ")) }
}

/// Of millionths a share.
pub(super) fn share_text(share: u64) -> String {
    let text = format!("{}.{:06}", share / WHOLE, share % WHOLE);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
