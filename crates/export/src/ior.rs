//! A model of a workload as command lines of IOR, if it is one: one group of ranks, one size of transfers, one file or one for each rank.
//!
//! In a shared file, transfer t of block r of segment s lies at s·n·b + r·b + t·x for n ranks, blocks of b bytes and transfers of x bytes.
//! Source: IOR, user guide, "Options" and "IOR's file layout".

use crate::losses::{Amount, Losses};
use iotrail_workload::{Action, Model, RequestKind, SessionLayer, Sharing, Synthetic, synthesise};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Most steps of all ranks that are compared with IOR's layout.
const MAX_STEPS: u64 = 4_000_000;

/// Command lines for IOR, and what they do not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IorRuns {
    /// A script of the shell, which begins with what is lost.
    pub text: String,
    /// What is lost, in sentences with shares of requests, bytes and time.
    pub losses: Vec<String>,
}

/// Why a model is no run of IOR.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("IOR cannot do what the model does: {0}")]
pub struct NotIor(String);

fn refuse<T>(why: impl Into<String>) -> Result<T, NotIor> {
    Err(NotIor(why.into()))
}

/// The command lines for so many ranks.
///
/// # Errors
/// With the reason, if IOR has no such layout or order.
pub fn ior_runs(model: &Model, ranks: u32) -> Result<IorRuns, NotIor> {
    let file = only_file(model)?;
    let totals = model.totals(ranks).map_err(|error| NotIor(error.to_string()))?;
    let steps =
        totals.requests.values().copied().fold(totals.sessions.saturating_mul(2), u64::saturating_add);
    if steps > MAX_STEPS {
        return refuse(format!(
            "{steps} requests are more than the {MAX_STEPS} that are compared; choose fewer ranks"
        ));
    }
    let mut losses = Losses::default();
    let mut all = Vec::new();
    for rank in 0..ranks {
        all.push(executions(model, (rank, ranks), &mut losses)?);
    }
    let first = &all[0];
    if let Some(rank) = all.iter().position(|other| !alike(first, other)) {
        return refuse(format!(
            "rank {rank} does something else than rank 0, and IOR lets all ranks do the same"
        ));
    }
    let plan = Plan::of(&all, &mut losses)?;
    let private = model.files[file].class == Sharing::Private;
    let layouts = layouts(&all, &plan, private)?;
    Ok(written(model, file, ranks, (&plan, &layouts, private), losses))
}

/// The one file with transfers.
fn only_file(model: &Model) -> Result<usize, NotIor> {
    let moves = |kind: &RequestKind| kind.is_transfer();
    let used: Vec<usize> = (0..model.files.len())
        .filter(|file| model.files[*file].sessions.iter().any(|session| session.requests.keys().any(moves)))
        .collect();
    let [file] = used[..] else {
        let names: Vec<&str> = used.iter().map(|file| model.files[*file].name.as_str()).collect();
        return refuse(match names.len() {
            0 => "it moves no bytes".to_owned(),
            number => format!("it uses {number} kinds of files ({}), and IOR one", names.join(", ")),
        });
    };
    let found = &model.files[file];
    if found.class == Sharing::Root {
        return refuse(format!("only rank 0 uses {:?}, and IOR lets all ranks do the same", found.name));
    }
    let layers: BTreeSet<SessionLayer> = found.sessions.iter().map(|session| session.layer).collect();
    if layers.len() > 1 {
        let words: Vec<&str> = layers.iter().map(|layer| layer.word()).collect();
        return refuse(format!(
            "it uses {:?} by several layers ({}), and IOR by one",
            found.name,
            words.join(", ")
        ));
    }
    if found.count > 1 {
        return refuse(format!(
            "{} files of each rank are called {:?}, and IOR has one",
            found.count, found.name
        ));
    }
    Ok(file)
}

/// What is done from an open to its close.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Execution {
    kind: RequestKind,
    /// Offset and size.
    transfers: Vec<(u64, u64)>,
    synced: bool,
    time: Amount,
}

/// The executions of a rank.
fn executions(model: &Model, place: (u32, u32), losses: &mut Losses) -> Result<Vec<Execution>, NotIor> {
    let mut found: Vec<Execution> = Vec::new();
    let mut open: Option<Building> = None;
    let walked = synthesise(model, place, 0, &mut |step| match add(step, &mut open, &mut found, losses) {
        Ok(()) => ControlFlow::Continue(()),
        Err(why) => ControlFlow::Break(why),
    });
    match walked {
        ControlFlow::Break(why) => Err(why),
        ControlFlow::Continue(()) => Ok(found),
    }
}

/// An execution that is not over.
#[derive(Default)]
struct Building {
    kinds: Vec<RequestKind>,
    transfers: Vec<(u64, u64)>,
    appends: bool,
    time: Amount,
    /// A sync after the last transfer.
    synced: bool,
    /// Syncs before.
    early: u64,
}

const IN_BETWEEN: &str = "syncs between transfers, stat and truncate";
const NAMED: &str = "calls that name files, and sessions without transfers";
const WAITS: &str = "messages, and waits for single ranks";
const SLACK: &str = "the time before requests";

fn add(
    step: Synthetic,
    open: &mut Option<Building>,
    found: &mut Vec<Execution>,
    losses: &mut Losses,
) -> Result<(), NotIor> {
    let bytes = if let Action::Transfer { size, .. } = step.action { size } else { 0 };
    let amount = Amount { requests: 1, bytes, time_ns: step.slack.saturating_add(step.duration) };
    if !step.action.is_no_request() {
        losses.add(amount);
    }
    if step.slack > 0 {
        losses.lose(SLACK, Amount { time_ns: step.slack, ..Amount::default() });
    }
    match (step.action, open.as_mut()) {
        (Action::Open { .. }, Some(_)) => return refuse("a rank has several files open at a time"),
        (Action::Open { mode, .. }, None) => {
            *open = Some(Building { appends: mode.append, time: amount, ..Building::default() });
        }
        (Action::Transfer { kind, offset, size }, Some(building)) => {
            building.kinds.push(kind);
            building.transfers.push((offset, size));
            building.early += u64::from(building.synced);
            building.synced = false;
            building.time = building.time.plus(amount);
        }
        (Action::Request(RequestKind::Fsync | RequestKind::Fdatasync), Some(building)) => {
            building.early += u64::from(building.synced);
            building.synced = true;
        }
        (Action::Request(kind), _) if kind.is_of_lock() => losses.lose("locks", amount),
        (Action::Request(_), _) => losses.lose(IN_BETWEEN, amount),
        (Action::Close, Some(_)) => {
            let Some(building) = open.take() else { return Ok(()) };
            losses.lose_if(building.early, IN_BETWEEN);
            match building.kinds.first() {
                None => losses.lose(NAMED, building.time.plus(amount)),
                Some(kind) if building.kinds.iter().any(|other| other != kind) => {
                    return refuse("a session reads and writes, and IOR does one after the other");
                }
                Some(_) if building.appends => return refuse("it appends, and IOR writes at places"),
                Some(kind) => found.push(Execution {
                    kind: *kind,
                    transfers: building.transfers,
                    synced: building.synced,
                    time: building.time.plus(amount),
                }),
            }
        }
        (Action::Call { .. }, _) => losses.lose(NAMED, amount),
        (Action::After { .. } | Action::Message { .. }, _) => losses.lose(WAITS, Amount::default()),
        (Action::Pause | Action::Barrier(_) | Action::Close | Action::Transfer { .. }, _) => {}
    }
    Ok(())
}

impl Losses {
    fn lose_if(&mut self, number: u64, what: &str) {
        if number > 0 {
            self.lose(what, Amount::requests(number));
        }
    }
}

/// Whether two ranks make the same kinds of transfers, as many and as large.
fn alike(one: &[Execution], other: &[Execution]) -> bool {
    let same = |(one, other): (&Execution, &Execution)| {
        let sizes =
            |execution: &Execution| execution.transfers.iter().map(|(_, size)| *size).collect::<Vec<_>>();
        one.kind == other.kind && one.synced == other.synced && sizes(one) == sizes(other)
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}

/// A run of IOR: which executions it is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Phase {
    /// Indices of executions whose transfers follow each other.
    executions: Vec<usize>,
    kind: RequestKind,
}

/// Runs of IOR: all phases of one, so many times.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Plan {
    /// Of each line its phases, a writing one before a reading one, and how often it is repeated.
    lines: Vec<(Vec<Phase>, u64)>,
}

impl Plan {
    fn of(ranks: &[Vec<Execution>], losses: &mut Losses) -> Result<Self, NotIor> {
        let all = ranks.first().map_or(&[][..], Vec::as_slice);
        let Some(first) = all.first() else { return refuse("it moves no bytes") };
        let period = match all.iter().position(|other| other.kind != first.kind) {
            Some(1) if first.kind == RequestKind::Write => 2,
            _ => 1,
        };
        let places = |execution: &Execution| (execution.kind, execution.transfers.clone());
        let repeats = |period: usize| {
            let repeats = |all: &Vec<Execution>| {
                all.iter().enumerate().all(|(at, other)| places(other) == places(&all[at % period]))
            };
            all.len().is_multiple_of(period) && ranks.iter().all(repeats)
        };
        if repeats(period) {
            let phase = |at: usize| Phase { executions: vec![at], kind: all[at].kind };
            return Ok(Self { lines: vec![((0..period).map(phase).collect(), (all.len() / period) as u64)] });
        }
        // Else what follows each other is one phase, and each phase a line of its own, a writing and a reading one together.
        let mut phases: Vec<Phase> = Vec::new();
        for (at, execution) in all.iter().enumerate() {
            match phases.last_mut() {
                Some(last) if last.kind == execution.kind => last.executions.push(at),
                _ => phases.push(Phase { executions: vec![at], kind: execution.kind }),
            }
        }
        let merged: u64 = phases.iter().map(|phase| phase.executions.len() as u64 - 1).sum();
        if merged > 0 {
            losses.lose(
                "opens and closes of sessions that go on where the one before ended",
                Amount::requests(2 * merged),
            );
        }
        let mut lines: Vec<(Vec<Phase>, u64)> = Vec::new();
        for phase in phases {
            match lines.last_mut() {
                Some((before, _))
                    if phase.kind == RequestKind::Read
                        && before.len() == 1
                        && before[0].kind == RequestKind::Write =>
                {
                    before.push(phase);
                }
                _ => lines.push((vec![phase], 1)),
            }
        }
        if lines.len() > 2 {
            return refuse("it writes and reads in turns, at other places each time");
        }
        Ok(Self { lines })
    }
}

/// Where the transfers of a line lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    block: u64,
    transfer: u64,
    segments: u64,
    /// Each rank reads what the rank so much later wrote.
    shift: u32,
}

/// The layout of each line.
fn layouts(all: &[Vec<Execution>], plan: &Plan, private: bool) -> Result<Vec<Layout>, NotIor> {
    plan.lines
        .iter()
        .map(|(phases, _)| {
            let mut layout: Option<Layout> = None;
            for phase in phases {
                let found = fit(all, phase, private)?;
                layout = Some(match layout {
                    None => found,
                    Some(before) if (Layout { shift: 0, ..found }) == before => found,
                    Some(_) => return refuse("it reads in other blocks than it writes"),
                });
            }
            layout.map_or_else(|| refuse("it moves no bytes"), Ok)
        })
        .collect()
}

fn fit(all: &[Vec<Execution>], phase: &Phase, private: bool) -> Result<Layout, NotIor> {
    let of_rank = |executions: &Vec<Execution>| -> Vec<(u64, u64)> {
        phase.executions.iter().flat_map(|at| executions[*at].transfers.iter().copied()).collect()
    };
    let transfers: Vec<Vec<(u64, u64)>> = all.iter().map(of_rank).collect();
    let size = transfers[0][0].1;
    if let Some((_, other)) = transfers.iter().flatten().find(|(_, other)| *other != size) {
        return refuse(format!("transfers have {size} and {other} bytes, and IOR has one size"));
    }
    let number = transfers[0].len() as u64;
    if private {
        let follow = |own: &Vec<(u64, u64)>| (0..).zip(own).all(|(at, (offset, _))| *offset == at * size);
        return match transfers.iter().all(follow) {
            true => Ok(Layout { block: size * number, transfer: size, segments: 1, shift: 0 }),
            false => {
                refuse("the files of ranks are not filled from their begin on, one transfer after the other")
            }
        };
    }
    let ranks = transfers.len() as u64;
    let run = (1..).zip(transfers[0].windows(2)).find(|(_, pair)| pair[1].0 != pair[0].0 + size);
    let in_block = run.map_or(number, |(at, _)| at);
    let layout = Layout { block: size * in_block, transfer: size, segments: number / in_block, shift: 0 };
    let shifted = |shift: u64| {
        (0..).zip(&transfers).all(|(rank, own)| {
            (0..).zip(own).all(|(at, (offset, _))| {
                let (segment, within) = (at / in_block, at % in_block);
                let rank = (rank + shift) % ranks;
                *offset == (segment * ranks + rank) * layout.block + within * size
            })
        })
    };
    match (0..ranks).find(|shift| number.is_multiple_of(in_block) && shifted(*shift)) {
        Some(shift) => Ok(Layout { shift: shift as u32, ..layout }),
        None if transfers.iter().all(|own| *own == transfers[0]) && ranks > 1 => {
            refuse("all ranks access the same places, and IOR gives each rank its own")
        }
        None => refuse("its places are not those of blocks in segments"),
    }
}

fn written(
    model: &Model,
    file: usize,
    ranks: u32,
    (plan, layouts, private): (&Plan, &[Layout], bool),
    mut losses: Losses,
) -> IorRuns {
    let model_file = &model.files[file];
    let mut lines = String::new();
    let name = model_file.name.replace("%r", "").trim_end_matches(['.', '-', '_', '/']).replace("%i", "0");
    let name = if name.is_empty() { "file".to_owned() } else { name };
    for ((phases, times), layout) in plan.lines.iter().zip(layouts) {
        let kinds: Vec<RequestKind> = phases.iter().map(|phase| phase.kind).collect();
        let line = |words: &str, times: u64| {
            let Layout { block, transfer, segments, .. } = layout;
            let each = if private { " -F" } else { "" };
            let layer = match model_file.sessions.first().map(|session| session.layer).unwrap_or_default() {
                SessionLayer::System => "POSIX",
                SessionLayer::MpiIo => "MPIIO",
                SessionLayer::Collective => "MPIIO -c",
            };
            format!(
                "mpirun -n {ranks} ior -a {layer} -b {block} -t {transfer} -s {segments}{each} {words} -k -i {times} -o {name}\n"
            )
        };
        let mut words = Vec::new();
        if kinds.contains(&RequestKind::Write) {
            words.push("-w");
            if model_file.sessions.iter().any(|session| {
                session.requests.contains_key(&RequestKind::Fsync)
                    || session.requests.contains_key(&RequestKind::Fdatasync)
            }) {
                words.push("-e");
            }
        } else if model_file.size > 0 || model_file.present || !model.makes(file) {
            lines.push_str("# What is read must be there:\n");
            lines.push_str(&line("-w", 1));
        }
        if kinds.contains(&RequestKind::Read) {
            words.push("-r");
        }
        let shift = format!("-C -Q {}", layout.shift);
        if layout.shift > 0 {
            words.push(&shift);
            losses.lose(
                "IOR counts the shift in nodes: it is that of ranks where each node has one",
                Amount::default(),
            );
        }
        lines.push_str(&line(&words.join(" "), *times));
    }
    if private {
        losses.lose("names: IOR numbers the files of ranks with eight digits", Amount::default());
    }
    losses.lose(
        "barriers: IOR lets all ranks wait before and after each phase, and nowhere else",
        Amount::default(),
    );
    let losses = losses.sentences();
    let mut text = "# A model of a workload as runs of IOR. Lost in it:\n".to_owned();
    losses.iter().for_each(|loss| text.push_str(&format!("# - {loss}\n")));
    IorRuns { text: text + &lines, losses }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(files: &str, steps: &str) -> Model {
        let group = "[[group]]\nname = \"all\"\nranks = \"0..\"\n";
        Model::parse(&format!("iotrail_workload = 1\n{group}{files}[program]\nsteps = [{steps}]\n")).unwrap()
    }

    fn file(class: &str, sessions: &[(&str, &str, &str, &str)]) -> String {
        let name = if class == "private" { "f.%r" } else { "f" };
        let mut text = format!("[[file]]\nname = \"{name}\"\nclass = \"{class}\"\n");
        for (name, mode, requests, offset) in sessions {
            text.push_str(&format!(
                "[[file.session]]\nname = \"{name}\"\nmode = \"{mode}\"\nrequests = {{ {requests} }}\nsize = \"64 KiB\"\noffset = {offset}\n"
            ));
        }
        text
    }

    /// The words of the last line, without `mpirun`.
    fn words(model: &Model, ranks: u32) -> String {
        let found = ior_runs(model, ranks).unwrap().text;
        found.lines().last().unwrap().split_once(" ior ").unwrap().1.to_owned()
    }

    #[test]
    fn a_law_of_blocks_in_segments_is_one_of_ior() {
        // The example of the law: IOR -t 64k -b 256k -s 2, read by the next rank.
        let law = |shift: &str| {
            format!(
                "{{ start = 0, rank = \"256 KiB\", step = \"64 KiB\", every = 4, jump = \"256 KiB * ranks\"{shift} }}"
            )
        };
        let sessions = [
            ("w", "wo create", "write = 8, fsync = 1", law("")),
            ("r", "ro", "read = 8", law(", shift = 1")),
        ];
        let sessions: Vec<(&str, &str, &str, &str)> = sessions
            .iter()
            .map(|(name, mode, requests, law)| (*name, *mode, *requests, law.as_str()))
            .collect();
        let steps =
            "{ repeat = 3, steps = [{ session = \"f/w\" }, { barrier = \"all\" }, { session = \"f/r\" }] }";
        for ranks in [2, 4, 8] {
            let found = words(&model(&file("shared", &sessions), steps), ranks);
            assert_eq!(found, "-a POSIX -b 262144 -t 65536 -s 2 -w -e -r -C -Q 1 -k -i 3 -o f");
        }
        let of_layer = |layer: &str| {
            file("shared", &sessions).replace("mode =", &format!("layer = \"{layer}\"\nmode ="))
        };
        for (layer, expected) in [("mpi-io", "-a MPIIO -b"), ("collective", "-a MPIIO -c -b")] {
            assert!(words(&model(&of_layer(layer), steps), 4).starts_with(expected), "{layer}");
        }
        let mixed = model(&of_layer("mpi-io").replacen("mpi-io", "posix", 1), steps);
        assert!(ior_runs(&mixed, 4).unwrap_err().to_string().contains("several layers (posix, mpi-io)"));
    }

    #[test]
    fn interleaved_places_are_blocks_of_one_transfer() {
        let law = "{ start = 0, rank = \"64 KiB\", step = \"64 KiB * ranks\" }";
        let found = words(
            &model(&file("shared", &[("w", "wo create", "write = 5", law)]), "{ session = \"f/w\" }"),
            3,
        );
        assert_eq!(found, "-a POSIX -b 65536 -t 65536 -s 5 -w -k -i 1 -o f");
        let again =
            "{ start = 0, rank = \"64 KiB\", step = \"64 KiB * ranks\", again = \"320 KiB * ranks\" }";
        let repeated = "{ repeat = 4, steps = [{ session = \"f/w\" }] }";
        let model = model(&file("shared", &[("w", "wo create", "write = 5", again)]), repeated);
        assert_eq!(words(&model, 3), "-a POSIX -b 65536 -t 65536 -s 20 -w -k -i 1 -o f");
        let losses = ior_runs(&model, 3).unwrap().losses;
        assert!(losses[0].starts_with("opens and closes of sessions that go on"), "{losses:?}");
    }

    #[test]
    fn a_file_of_each_rank_is_one_block() {
        let sessions = [("w", "wo create", "write = 4", "\"sequential\"")];
        let found = words(
            &model(&file("private", &sessions), "{ repeat = 2, steps = [{ session = \"f.%r/w\" }] }"),
            2,
        );
        assert_eq!(found, "-a POSIX -b 262144 -t 65536 -s 1 -F -w -k -i 2 -o f");
    }

    #[test]
    fn what_ior_does_not_do_is_refused_with_the_reason() {
        let refused = |files: &str, steps: &str| ior_runs(&model(files, steps), 3).unwrap_err().to_string();
        let write = |offset| file("shared", &[("w", "wo create", "write = 4", offset)]);
        let once = "{ session = \"f/w\" }";
        assert!(refused(&write("\"sequential\""), once).contains("all ranks access the same places"));
        assert!(
            refused(&write("{ start = 7, rank = \"1 MiB\", step = \"64 KiB\" }"), once)
                .contains("blocks in segments")
        );
        assert!(
            refused(&file("root", &[("w", "wo create", "write = 4", "\"sequential\"")]), once)
                .contains("only rank 0")
        );
        let appends = file("private", &[("w", "wo create append", "write = 4", "\"sequential\"")]);
        assert!(refused(&appends, "{ session = \"f.%r/w\" }").contains("it appends"));
        let both = format!(
            "{}{}",
            write("\"sequential\""),
            file("private", &[("w", "wo create", "write = 4", "\"sequential\"")])
        );
        assert!(refused(&both, once).contains("2 kinds of files (f, f.%r)"));
        let mixed = file("private", &[("w", "rw create", "write = 4, read = 4", "\"sequential\"")]);
        assert!(refused(&mixed, "{ session = \"f.%r/w\" }").contains("reads and writes"));
    }
}
