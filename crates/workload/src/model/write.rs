//! Models as text, in one form: equal models have equal text.

use super::quantity::{BY_RANKS, TIMES, bytes_text, time_text};
use super::write_statistics::{share_text, write_path_barrier, write_statistics};
use super::{
    DrawnPlaces, FileKind, Mode, Model, ModelFile, ModelSession, OffsetLaw, Partner, PlaceRun, ProgramStep,
    Ratio, RequestKind, SessionLayer, Sharing, Stride, VERSION,
};
use std::collections::BTreeMap;
use std::fmt;

impl fmt::Display for Model {
    /// The text of the model file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "iotrail_workload = {VERSION}")?;
        if let Some(ranks) = self.ranks {
            writeln!(f, "ranks = {ranks}")?;
        }
        if self.strong {
            writeln!(f, "scaling = \"strong\"")?;
        }
        for group in &self.groups {
            let ranks = match group.last {
                None => format!("{}..", group.first),
                Some(last) if last == group.first => last.to_string(),
                Some(last) => format!("{}..{last}", group.first),
            };
            writeln!(f, "\n[[group]]\nname = {}\nranks = \"{ranks}\"", quoted(&group.name))?;
        }
        self.files.iter().try_for_each(|file| write_file(f, self, file))?;
        if let Some(path) = &self.path {
            return path.iter().try_for_each(|barrier| write_path_barrier(f, self, barrier));
        }
        write!(f, "\n[program]\nsteps = ")?;
        self.write_steps(f, &self.steps)?;
        writeln!(f)
    }
}

impl Model {
    fn write_steps(&self, f: &mut fmt::Formatter<'_>, steps: &[ProgramStep]) -> fmt::Result {
        write!(f, "[")?;
        for (at, step) in steps.iter().enumerate() {
            write!(f, "{}", if at == 0 { "" } else { ", " })?;
            match step {
                ProgramStep::Repeat(times, steps) => {
                    write!(f, "{{ repeat = {times}, steps = ")?;
                    self.write_steps(f, steps)?;
                }
                ProgramStep::Session { file, session, ranks } => {
                    self.write_session_name(f, *file, *session)?;
                    self.write_ranks(f, *ranks)?;
                }
                ProgramStep::Part { file, session, ranks, steps } => {
                    self.write_session_name(f, *file, *session)?;
                    write!(f, ", next = {steps}")?;
                    self.write_ranks(f, *ranks)?;
                }
                ProgramStep::Call { call, file, ranks, to } => {
                    let name = quoted(&self.files[*file].name);
                    write!(f, "{{ call = \"{}\", file = {name}", call.word())?;
                    if let Some(to) = to {
                        write!(f, ", to = {}", quoted(&self.files[*to].name))?;
                    }
                    self.write_ranks(f, *ranks)?;
                }
                ProgramStep::After { file, session, of, ranks } => {
                    let file = &self.files[*file];
                    let name = quoted(&format!("{}/{}", file.name, file.sessions[*session].name));
                    write!(f, "{{ after = {name}")?;
                    self.write_partner(f, "of", *of)?;
                    self.write_ranks(f, *ranks)?;
                }
                ProgramStep::Message { half, partner, ranks } => {
                    let (word, of_group) = half.words();
                    write!(f, "{{ message = \"{word}\"")?;
                    self.write_partner(f, of_group, *partner)?;
                    self.write_ranks(f, *ranks)?;
                }
                ProgramStep::Pause { ns, ranks } => {
                    write!(f, "{{ pause = \"{}\"", time_text(*ns))?;
                    self.write_ranks(f, *ranks)?;
                }
                ProgramStep::Barrier(group) => {
                    write!(f, "{{ barrier = {}", quoted(&self.groups[*group].name))?
                }
            }
            write!(f, " }}")?;
        }
        write!(f, "]")
    }

    fn write_session_name(&self, f: &mut fmt::Formatter<'_>, file: usize, session: usize) -> fmt::Result {
        let file = &self.files[file];
        write!(f, "{{ session = {}", quoted(&format!("{}/{}", file.name, file.sessions[session].name)))
    }

    fn write_partner(&self, f: &mut fmt::Formatter<'_>, of_group: &str, partner: Partner) -> fmt::Result {
        match partner {
            Partner::Group(group) => write!(f, ", {of_group} = {}", quoted(&self.groups[group].name)),
            Partner::Shift(shift) => write!(f, ", by = {shift}"),
            Partner::Around(shift) => write!(f, ", around = {shift}"),
        }
    }

    fn write_ranks(&self, f: &mut fmt::Formatter<'_>, ranks: Option<usize>) -> fmt::Result {
        match ranks {
            Some(group) => write!(f, ", ranks = {}", quoted(&self.groups[group].name)),
            None => Ok(()),
        }
    }
}

fn write_file(f: &mut fmt::Formatter<'_>, model: &Model, file: &ModelFile) -> fmt::Result {
    let class = match file.class {
        Sharing::Root => "root",
        Sharing::Shared => "shared",
        Sharing::Private => "private",
    };
    writeln!(f, "\n[[file]]\nname = {}\nclass = \"{class}\"", quoted(&file.name))?;
    if file.count > 1 {
        writeln!(f, "count = {}", file.count)?;
    }
    match file.kind {
        FileKind::File => {}
        FileKind::Directory => writeln!(f, "kind = \"directory\"")?,
        FileKind::Absent => writeln!(f, "kind = \"absent\"")?,
    }
    if !file.lengths.is_empty() {
        writeln!(f, "size = [{}]", file.lengths.iter().map(run_text).collect::<Vec<_>>().join(", "))?;
    } else if file.size > 0 {
        writeln!(f, "size = \"{}\"", bytes_text(file.size))?;
    }
    if file.present {
        writeln!(f, "present = true")?;
    }
    match &file.call_slack[..] {
        [] => {}
        [one] => writeln!(f, "call_slack = \"{}\"", time_text(*one))?,
        all => {
            let times = all.iter().map(|ns| format!("\"{}\"", time_text(*ns)));
            writeln!(f, "call_slack = [{}]", times.collect::<Vec<_>>().join(", "))?;
        }
    }
    if file.filled {
        writeln!(f, "filled = true")?;
    }
    for (key, ratio) in [("times", file.times), ("call_times", file.call_times)] {
        if ratio != Ratio::ONE {
            writeln!(f, "{key} = \"{ratio}\"")?;
        }
    }
    file.sessions.iter().try_for_each(|session| write_session(f, session))?;
    file.statistics.iter().try_for_each(|statistics| write_statistics(f, model, statistics))
}

/// Sizes in their order, or with weights.
fn write_sizes(
    f: &mut fmt::Formatter<'_>,
    key: &str,
    sizes: &BTreeMap<u64, u64>,
    runs: &[(u64, u64)],
) -> fmt::Result {
    if runs.len() > 1 {
        return writeln!(f, "{key} = [{}]", runs.iter().map(run_text).collect::<Vec<_>>().join(", "));
    }
    write_weighted(f, key, sizes, bytes_text)
}

fn write_session(f: &mut fmt::Formatter<'_>, session: &ModelSession) -> fmt::Result {
    let requests = session.requests.iter().map(|(kind, count)| format!("{} = {count}", kind.word()));
    writeln!(f, "\n[[file.session]]\nname = {}\nmode = \"{}\"", quoted(&session.name), session.mode)?;
    if session.layer != SessionLayer::System {
        writeln!(f, "layer = \"{}\"", session.layer.word())?;
    }
    writeln!(f, "requests = {{ {} }}", requests.collect::<Vec<_>>().join(", "))?;
    write_sizes(f, "size", &session.sizes, &session.runs)?;
    write_sizes(f, "write_size", &session.write_sizes, &session.write_runs)?;
    if !session.order.is_empty() {
        let run = |(kind, count): &(RequestKind, u64)| match count {
            1 => format!("\"{}\"", kind.word()),
            count => format!("\"{count}{TIMES}{}\"", kind.word()),
        };
        writeln!(f, "order = [{}]", session.order.iter().map(run).collect::<Vec<_>>().join(", "))?;
    }
    write_law(f, "offset", &session.offset)?;
    if let Some(law) = &session.write_offset {
        write_law(f, "write_offset", law)?;
    }
    if let Some(length) = session.length {
        writeln!(f, "length = \"{}\"", stride_text(length))?;
    }
    if session.random > 0 {
        writeln!(f, "random = \"{}\"", share_text(session.random))?;
    }
    write_weighted(f, "slack", &session.slack, time_text)?;
    if session.duration > 0 {
        writeln!(f, "duration = \"{}\"", time_text(session.duration))?;
    }
    if session.counted > 0 {
        writeln!(f, "counted = {}", session.counted)?;
    }
    Ok(())
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}",
            if !self.write {
                "ro"
            } else if self.read {
                "rw"
            } else {
                "wo"
            }
        )?;
        let flags = [(self.create, " create"), (self.truncate, " truncate"), (self.append, " append")];
        flags.iter().filter(|(set, _)| *set).try_for_each(|(_, word)| write!(f, "{word}"))
    }
}

fn write_law(f: &mut fmt::Formatter<'_>, key: &str, law: &OffsetLaw) -> fmt::Result {
    match law {
        OffsetLaw::Sequential => writeln!(f, "{key} = \"sequential\""),
        OffsetLaw::Runs(runs) => {
            writeln!(f, "{key} = [{}]", runs.iter().map(place_run_text).collect::<Vec<_>>().join(", "))
        }
        OffsetLaw::Drawn { places, sequential, end, rank, written } => {
            let (places, align) = drawn_text(places);
            let sequential = match sequential {
                0 => String::new(),
                share => format!(", sequential = \"{}\"", share_text(*share)),
            };
            let end = if *end > 0 { format!(", end = \"{}\"", bytes_text(*end)) } else { String::new() };
            let rank = if *rank > 0 { format!(", rank = \"{}\"", bytes_text(*rank)) } else { String::new() };
            let written = if *written { ", written = true" } else { "" };
            writeln!(f, "{key} = {{ drawn = {places}{align}{sequential}{end}{rank}{written} }}")
        }
        &OffsetLaw::Affine { start, rank, step, again, every, jump, shift } => {
            let strides = [("step", step), ("again", again), ("jump", jump)];
            let strides = strides.iter().filter(|(word, stride)| *word == "step" || stride.bytes != 0);
            let strides = strides.map(|(word, stride)| (*word, stride_text(*stride)));
            let shown = [("start", bytes_text(start)), ("rank", bytes_text(rank))].into_iter().chain(strides);
            let mut shown: Vec<String> = shown.map(|(word, bytes)| format!("{word} = \"{bytes}\"")).collect();
            if every > 0 {
                shown.push(format!("every = {every}"));
            }
            if shift != 0 {
                shown.push(format!("shift = {shift}"));
            }
            writeln!(f, "{key} = {{ {} }}", shown.join(", "))
        }
    }
}

/// Places that are drawn, and what they are multiples of, as they are written.
fn drawn_text(places: &DrawnPlaces) -> (String, String) {
    match places {
        DrawnPlaces::Of(weights) => {
            let all = weights.iter().map(|(place, weight)| format!("\"{}\" = {weight}", bytes_text(*place)));
            (format!("{{ {} }}", all.collect::<Vec<_>>().join(", ")), String::new())
        }
        DrawnPlaces::Between { bounds, align } => {
            let all = bounds.iter().map(|bound| format!("\"{}\"", bytes_text(*bound)));
            let align =
                if *align > 1 { format!(", align = \"{}\"", bytes_text(*align)) } else { String::new() };
            (format!("[{}]", all.collect::<Vec<_>>().join(", ")), align)
        }
    }
}

/// Values with their weights.
pub(super) fn write_weighted(
    f: &mut fmt::Formatter<'_>,
    key: &str,
    weights: &BTreeMap<u64, u64>,
    text: fn(u64) -> String,
) -> fmt::Result {
    let all = weights.iter().map(|(&value, &count)| format!("\"{}\" = {count}", text(value)));
    match weights.first_key_value() {
        None => Ok(()),
        Some((&value, 1)) if weights.len() == 1 => writeln!(f, "{key} = \"{}\"", text(value)),
        Some(_) => writeln!(f, "{key} = {{ {} }}", all.collect::<Vec<_>>().join(", ")),
    }
}

fn run_text((size, count): &(u64, u64)) -> String {
    match count {
        1 => format!("\"{}\"", bytes_text(*size)),
        count => format!("\"{count}{TIMES}{}\"", bytes_text(*size)),
    }
}

fn place_run_text(run: &PlaceRun) -> String {
    if run.is_fixed() {
        return run_text(&(run.start, run.count));
    }
    let mut shown = vec![format!("start = \"{}\"", bytes_text(run.start))];
    let bytes = [("behind", run.behind), ("rank", run.rank)].into_iter().filter(|(_, bytes)| *bytes > 0);
    shown.extend(bytes.map(|(key, bytes)| format!("{key} = \"{}\"", bytes_text(bytes))));
    let strides = [("again", Some(run.again).filter(|again| again.bytes != 0)), ("step", run.step)];
    let strides = strides.into_iter().filter_map(|(key, stride)| Some((key, stride?)));
    shown.extend(strides.map(|(key, stride)| format!("{key} = \"{}\"", stride_text(stride))));
    let numbers = [("shift", i64::from(run.shift), 0), ("count", run.count as i64, 1)];
    let numbers = numbers.into_iter().filter(|(_, number, usual)| number != usual);
    shown.extend(numbers.map(|(key, number, _)| format!("{key} = {number}")));
    format!("{{ {} }}", shown.join(", "))
}

fn stride_text(stride: Stride) -> String {
    let sign = if stride.bytes < 0 { "-" } else { "" };
    let by_ranks = if stride.by_ranks { BY_RANKS } else { "" };
    format!("{sign}{}{by_ranks}", bytes_text(stride.bytes.unsigned_abs()))
}

/// A basic string of TOML.
pub(super) fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|character| match character {
        '"' | '\\' => format!("\\{character}"),
        _ if character.is_control() => format!("\\u{:04x}", u32::from(character)),
        _ => character.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}
