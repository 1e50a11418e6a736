//! A model of a workload as a program in C, with MPI or without.

use iotrail_workload::{
    DrawnPlaces, FileKind, MessageHalf, Mode, Model, ModelSession, NameCall, OffsetLaw, Partner, PlaceRun,
    ProgramStep, RequestKind, SessionLayer, Sharing, Stride,
};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// What is the same in all programs.
const FRAME: &str = include_str!("c_program.c");

/// Before this line of it stand the tables of the model.
const TABLES: &str = "static int rank, ranks = 1, asap;";

/// The program of a model. Where sizes of transfers are drawn, they are in the order of their values.
#[must_use]
pub fn c_program(model: &Model) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_program(&mut text, model);
    text
}

fn write_program(out: &mut String, model: &Model) -> fmt::Result {
    let (head, frame) = FRAME.split_once(TABLES).unwrap_or((FRAME, ""));
    out.push_str(head);
    write_files(out, model)?;
    let numbers = write_sessions(out, model)?;
    write!(out, "{TABLES}{frame}")?;
    let sessions = numbers.len().max(1);
    let files = model.files.len().max(1);
    writeln!(out, "\nstatic void program(void)\n{{\n\tstatic u64 times[{sessions}];")?;
    writeln!(out, "\tstatic struct running running[{sessions}];")?;
    writeln!(out, "\tstatic u64 calls[{files}][NAME_CALLS];")?;
    write_steps(out, model, &model.steps, &numbers, 1)?;
    for number in 0..numbers.len() {
        writeln!(out, "\tfinish(&session_{number}, &running[{number}], &times[{number}]);")?;
    }
    writeln!(out, "\t(void)times, (void)running, (void)calls;\n}}")?;
    let (before, behind) = match model.has_messages() {
        true => ("\tcount_messages();\n", "\ttake_messages_left();\n"),
        false => ("", ""),
    };
    writeln!(out, "\nstatic void begin_program(void)\n{{\n{before}}}")?;
    writeln!(out, "\nstatic void end_program(void)\n{{\n{behind}}}")
}

fn write_files(out: &mut String, model: &Model) -> fmt::Result {
    writeln!(out, "static const struct group groups[] = {{")?;
    for group in &model.groups {
        let last = group.last.map_or(-1, i64::from);
        writeln!(out, "\t{{ {}, {last} }},", group.first)?;
    }
    if model.groups.is_empty() {
        writeln!(out, "\t{{ 0, -1 }},")?;
    }
    writeln!(out, "}};\n")?;
    let differing = || model.files.iter().enumerate().filter(|(_, file)| !file.lengths.is_empty());
    for (at, file) in differing() {
        writeln!(
            out,
            "static const struct size lengths_{at}[] = {};",
            table(&mut file.lengths.iter().copied())
        )?;
    }
    for (at, file) in model.files.iter().enumerate().filter(|(_, file)| !file.call_slack.is_empty()) {
        let times: Vec<String> = file.call_slack.iter().map(|ns| format!("{ns}ULL")).collect();
        writeln!(out, "static const u64 slack_{at}[] = {{ {} }};", times.join(", "))?;
    }
    writeln!(out, "static const struct file files[] = {{")?;
    for (at, file) in model.files.iter().enumerate() {
        let class = match file.class {
            Sharing::Root => "ROOT",
            Sharing::Shared => "SHARED",
            Sharing::Private => "PRIVATE",
        };
        let kind = match file.kind {
            FileKind::File => "PLAIN",
            FileKind::Directory => "DIRECTORY",
            FileKind::Absent => "ABSENT",
        };
        let (name, present) = (literal(&file.name), u8::from(file.present));
        let (count, size) = (file.count, file.size);
        let slack = if file.call_slack.is_empty() { "0".to_owned() } else { format!("slack_{at}") };
        let lengths = if file.lengths.is_empty() { "0".to_owned() } else { format!("lengths_{at}") };
        let (growth, ranks) = (model.growth(at), model.ranks.unwrap_or_default());
        writeln!(
            out,
            "\t{{ {name}, {class}, {count}, {size}ULL, {lengths}, {kind}, {present}, {slack}, {}, {growth}ULL, {ranks} }},",
            file.call_slack.len()
        )?;
    }
    let made = (0..model.files.len()).map(|file| model.makes(file));
    let made: Vec<String> = made.map(|made| u8::from(made).to_string()).collect();
    writeln!(
        out,
        "}};\n\n/* Whether a session makes each of them. */\nstatic const int made[] = {{ {} }};\n",
        made.join(", ")
    )?;
    let sizes = model
        .files
        .iter()
        .flat_map(|file| &file.sessions)
        .flat_map(|session| session.sizes.keys().chain(session.write_sizes.keys()));
    writeln!(
        out,
        "static const u64 LARGEST = {}ULL;\n",
        sizes.copied().max().unwrap_or_default().max(1 << 16)
    )
}

/// Tables of all sessions; their numbers by file and session.
fn write_sessions(out: &mut String, model: &Model) -> Result<BTreeMap<(usize, usize), usize>, fmt::Error> {
    let mut numbers = BTreeMap::new();
    for (at, file) in model.files.iter().enumerate() {
        for (session, of_file) in file.sessions.iter().enumerate() {
            let number = numbers.len();
            numbers.insert((at, session), number);
            write_session(out, at, number, of_file)?;
        }
    }
    Ok(numbers)
}

/// Sizes with weights, or runs of them, up to an end.
fn table(sizes: &mut dyn Iterator<Item = (u64, u64)>) -> String {
    let all = sizes.map(|(bytes, weight)| format!("{{ {bytes}ULL, {weight} }}, ")).collect::<String>();
    format!("{{ {all}{{ 0, 0 }} }}")
}

fn write_session(out: &mut String, file: usize, number: usize, session: &ModelSession) -> fmt::Result {
    use RequestKind::{Fdatasync, Fsync, Lock, LockShared, Read, Stat, Truncate, Unlock, Write};
    for (word, kind) in [("reads", Read), ("writes", Write)] {
        let sizes = match session.runs_of(kind) {
            [] => table(&mut session.sizes_of(kind).iter().map(|(bytes, weight)| (*bytes, *weight))),
            runs => table(&mut runs.iter().copied()),
        };
        writeln!(out, "static const struct size {word}_{number}[] = {sizes};")?;
    }
    let kinds = [Lock, LockShared, Read, Write, Fsync, Fdatasync, Stat, Truncate, Unlock];
    let counts = kinds.map(|kind| session.requests.get(&kind).copied().unwrap_or_default().to_string());
    let laws = [Some(&session.offset), session.write_offset.as_ref()];
    for (law, word) in laws.into_iter().zip(["places", "write_places"]) {
        let places = law.map(places).unwrap_or_default();
        writeln!(out, "static const struct size {word}_{number}[] = {};", table(&mut places.into_iter()))?;
        if let Some(OffsetLaw::Runs(runs)) = law {
            let runs = runs.iter().map(place_run).collect::<String>();
            writeln!(
                out,
                "static const struct place_run runs_of_{word}_{number}[] = {{ {runs}{{ 0, 0, 0, {{ 0, 0 }}, {{ 0, 0 }}, 0, 0, 0 }} }};"
            )?;
        }
    }
    let moved = if exchanges_in_c(session) { session.random } else { 0 };
    let order: Vec<String> =
        session.order.iter().map(|(kind, count)| format!("{{ {}, {count} }}", kinds_word(*kind))).collect();
    let order = [&order[..], &["{ KINDS, 0 }".to_owned()]].concat().join(", ");
    writeln!(out, "static const struct run order_{number}[] = {{ {order} }};")?;
    writeln!(
        out,
        "static const struct session session_{number} = {{\n\t{file}, {}, {}, {{ {} }}, {{ reads_{number}, writes_{number} }}, order_{number}, {{ {} }}, {}ULL,\n\t\
         {}, {}, {{ {},\n\t{} }}\n}};\n",
        flags(session.mode),
        layer_word(session.layer),
        counts.join(", "),
        [Read, Write].map(|kind| u8::from(!session.runs_of(kind).is_empty()).to_string()).join(", "),
        session.mean_slack(),
        session.length.map_or_else(|| stride(Stride::fixed(-1)), stride),
        u8::from(session.write_offset.is_some()),
        law(&session.offset, &format!("places_{number}"), moved),
        law(
            session.write_offset.as_ref().unwrap_or(&OffsetLaw::Sequential),
            &format!("write_places_{number}"),
            if session.write_offset.is_some() { moved } else { 0 },
        ),
    )
}

/// Whether the program lets transfers change their places with each other: it does where each law is of requests of one kind and one size.
#[must_use]
pub fn exchanges_in_c(session: &ModelSession) -> bool {
    let of_one_size = session.sizes.len() <= 1 && session.write_sizes.len() <= 1;
    let has = |kind| session.requests.contains_key(&kind);
    let of_one_kind = session.write_offset.is_some() || !has(RequestKind::Read) || !has(RequestKind::Write);
    let is_law = |law: &OffsetLaw| matches!(law, OffsetLaw::Sequential | OffsetLaw::Affine { .. });
    of_one_size && of_one_kind && is_law(&session.offset) && session.write_offset.as_ref().is_none_or(is_law)
}

/// Places of a law with their weights.
fn places(law: &OffsetLaw) -> Vec<(u64, u64)> {
    match law {
        OffsetLaw::Sequential | OffsetLaw::Affine { .. } | OffsetLaw::Runs(_) => Vec::new(),
        OffsetLaw::Drawn { places: DrawnPlaces::Of(weights), .. } => {
            weights.iter().map(|(place, weight)| (*place, *weight)).collect()
        }
        OffsetLaw::Drawn { places: DrawnPlaces::Between { bounds, .. }, .. } => {
            bounds.iter().map(|bound| (*bound, 1)).collect()
        }
    }
}

fn stride(stride: Stride) -> String {
    format!("{{ {}LL, {} }}", stride.bytes, u8::from(stride.by_ranks))
}

fn place_run(run: &PlaceRun) -> String {
    let strides = [run.again, run.step.unwrap_or_default()].map(stride).join(", ");
    let steps = u8::from(run.step.is_some());
    let PlaceRun { start, behind, rank, shift, count, .. } = run;
    format!("{{ {start}ULL, {behind}ULL, {rank}ULL, {strides}, {steps}, {shift}, {count} }}, ")
}

fn law(law: &OffsetLaw, places: &str, moved: u64) -> String {
    let runs = if matches!(law, OffsetLaw::Runs(_)) { format!("runs_of_{places}") } else { "0".to_owned() };
    let laid = |word: &str, rank: u64, rest: &str| {
        format!(
            "{{ {word}, 0, {rank}ULL, 0, {{ 0, 0 }}, {{ 0, 0 }}, {{ 0, 0 }}, 0, {runs}, {places}, {rest}, {moved} }}"
        )
    };
    match law {
        OffsetLaw::Sequential => laid("FOLLOWING", 0, "0, 0, 0, 0"),
        &OffsetLaw::Affine { start, rank, step, again, every, jump, shift } => {
            let strides = [step, jump, again].map(stride).join(", ");
            format!(
                "{{ BY_LAW, {start}ULL, {rank}ULL, {every}, {strides}, {shift}, {runs}, {places}, 0, 0, 0, 0, {moved} }}"
            )
        }
        OffsetLaw::Runs(_) => laid("IN_RUNS", 0, "0, 0, 0, 0"),
        OffsetLaw::Drawn { places: drawn, sequential, end, rank, written } => {
            let (word, align) = match drawn {
                DrawnPlaces::Of(_) => ("DRAWN", 0),
                DrawnPlaces::Between { align, .. } => ("DRAWN_BETWEEN", *align),
            };
            laid(word, *rank, &format!("{align}ULL, {sequential}, {end}ULL, {}", u8::from(*written)))
        }
    }
}

fn kinds_word(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Read => "READ",
        RequestKind::Write => "WRITE",
        RequestKind::Fsync => "FSYNC",
        RequestKind::Fdatasync => "FDATASYNC",
        RequestKind::Stat => "STAT",
        RequestKind::Truncate => "TRUNCATE",
        RequestKind::Lock => "LOCK",
        RequestKind::LockShared => "LOCK_SHARED",
        RequestKind::Unlock => "UNLOCK",
    }
}

const fn layer_word(layer: SessionLayer) -> &'static str {
    match layer {
        SessionLayer::System => "OF_SYSTEM",
        SessionLayer::MpiIo => "OF_RANK",
        SessionLayer::Collective => "OF_ALL",
    }
}

fn flags(mode: Mode) -> String {
    let access = match (mode.read, mode.write) {
        (true, true) => "O_RDWR",
        (false, true) => "O_WRONLY",
        (_, false) => "O_RDONLY",
    };
    let rest = [(mode.create, " | O_CREAT"), (mode.truncate, " | O_TRUNC"), (mode.append, " | O_APPEND")];
    rest.iter().filter(|(set, _)| *set).fold(access.to_owned(), |all, (_, flag)| all + flag)
}

fn write_steps(
    out: &mut String,
    model: &Model,
    steps: &[ProgramStep],
    numbers: &BTreeMap<(usize, usize), usize>,
    depth: usize,
) -> fmt::Result {
    let tabs = "\t".repeat(depth);
    for step in steps {
        match step {
            ProgramStep::Repeat(times, steps) => {
                writeln!(out, "{tabs}for (u64 i{depth} = 0; i{depth} < {times}ULL; i{depth}++) {{")?;
                write_steps(out, model, steps, numbers, depth + 1)?;
                writeln!(out, "{tabs}}}")?;
            }
            ProgramStep::Session { file, session, ranks } => {
                let number = numbers.get(&(*file, *session)).copied().unwrap_or_default();
                writeln!(out, "{tabs}{}", condition(*file, *ranks))?;
                writeln!(out, "{tabs}\trun(&session_{number}, &running[{number}], &times[{number}]);")?;
            }
            ProgramStep::Part { file, session, ranks, steps } => {
                let number = numbers.get(&(*file, *session)).copied().unwrap_or_default();
                let all = model.files[*file].sessions[*session].counted();
                writeln!(out, "{tabs}{}", condition(*file, *ranks))?;
                writeln!(
                    out,
                    "{tabs}\tpart(&session_{number}, &running[{number}], &times[{number}], {all}ULL, {steps}ULL);"
                )?;
            }
            ProgramStep::Call { call, file, ranks, to } => {
                let word = match call {
                    NameCall::Open => "OPEN_NAME",
                    NameCall::Stat => "STAT_NAME",
                    NameCall::Unlink => "UNLINK_NAME",
                    NameCall::Rename => "RENAME_NAME",
                    NameCall::Link => "LINK_NAME",
                    NameCall::MakeDirectory => "MKDIR_NAME",
                    NameCall::RemoveDirectory => "RMDIR_NAME",
                    NameCall::List => "READDIR_NAME",
                };
                writeln!(out, "{tabs}{}", condition(*file, *ranks))?;
                writeln!(out, "{tabs}\tcall({word}, {file}, {}, calls);", index_or_none(*to))?;
            }
            ProgramStep::Barrier(group) => writeln!(out, "{tabs}barrier({group});")?,
            ProgramStep::Pause { ns, ranks } => {
                let condition = ranks.map(|group| format!("if (in({group})) ")).unwrap_or_default();
                writeln!(out, "{tabs}{condition}pause_for({ns}ULL);")?;
            }
            ProgramStep::Message { half, partner, ranks } => {
                let condition = ranks.map(|group| format!("if (in({group})) ")).unwrap_or_default();
                let (half, partner) = (half_word(*half), partner_words(*partner));
                writeln!(out, "{tabs}{condition}message({half}, {partner});")?;
            }
            // Models that wait for the ends of sessions are refused before.
            ProgramStep::After { .. } => {}
        }
    }
    Ok(())
}

/// An index, or below 0 for none.
fn index_or_none(index: Option<usize>) -> i64 {
    index.and_then(|index| i64::try_from(index).ok()).unwrap_or(-1)
}

const fn half_word(half: MessageHalf) -> &'static str {
    match half {
        MessageHalf::Send => "SEND",
        MessageHalf::Receive => "RECEIVE",
    }
}

fn partner_words(partner: Partner) -> String {
    match partner {
        Partner::Group(group) => format!("GROUP, {group}"),
        Partner::Shift(shift) => format!("SHIFT, {shift}"),
        Partner::Around(shift) => format!("AROUND, {shift}"),
    }
}

/// Of the ranks that do it.
fn condition(file: usize, ranks: Option<usize>) -> String {
    let group = ranks.map(|group| format!(" && in({group})")).unwrap_or_default();
    format!("if ((rank == 0 || files[{file}].class != ROOT){group})")
}

/// A string of C, in which what is not plain is written as octal numbers.
fn literal(text: &str) -> String {
    let escaped = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'?' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_workload::TEMPLATES;
    use std::process::Command;

    /// Every template is compiled without a warning, and does what the model comes to.
    #[test]
    fn programs_of_templates_are_compiled_and_run() {
        let directory = tempfile::tempdir().unwrap();
        for (name, _, text) in TEMPLATES {
            let (source, program) = (directory.path().join(format!("{name}.c")), directory.path().join(name));
            let files = directory.path().join(format!("{name}.files"));
            std::fs::write(&source, c_program(&Model::parse(text).unwrap())).unwrap();
            std::fs::create_dir(&files).unwrap();
            let warnings = ["-O1", "-DSERIAL", "-Wall", "-Wextra", "-Werror"];
            let compiled = Command::new("cc").args(warnings).arg("-o").arg(&program).arg(&source).output();
            let Ok(compiled) = compiled else {
                eprintln!("NOT TESTED: there is no cc");
                return;
            };
            assert!(compiled.status.success(), "{name}: {}", String::from_utf8_lossy(&compiled.stderr));
            assert!(Command::new(&program).arg("-a").arg(&files).status().unwrap().success(), "{name}");
            let expected: &[(&str, u64)] = match name {
                "checkpoint" => &[("checkpoint.0", 16 << 20)],
                "shared-strided" => &[("shared", 4 << 20)],
                "shared-collective" => &[("shared", 16 << 20)],
                "loader" => &[("samples/0/0", 100 << 10), ("samples/0/199", 100 << 10)],
                "log" => &[("log", 60_000)],
                // It removes what it makes.
                "metadata" => &[],
                other => panic!("what does {other} leave?"),
            };
            assert_eq!(std::fs::read_dir(&files).unwrap().count() == 0, expected.is_empty(), "{name}");
            for (file, size) in expected {
                assert_eq!(std::fs::metadata(files.join(file)).unwrap().len(), *size, "{file}");
            }
        }
    }

    #[test]
    fn names_are_literals_whatever_is_in_them() {
        assert_eq!(literal("a\"b\\c??/ü\n"), "\"a\\\"b\\\\c\\?\\?/\\303\\274\\012\"");
    }
}
