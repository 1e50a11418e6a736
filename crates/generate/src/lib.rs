//! From a model of a workload to a program that the engine of replay executes: a stream for each rank.
//!
//! Source: PIONEER, sections V-D and V-E; definitions: docs/workload.md.

use iotrail_replay::{Action, Expected, OpenMode, OpenNumber, Operation, Program, ScratchFile, Stream};
use iotrail_workload::{Action as Step, Mode, Model, RequestKind, Sharing, Synthetic, TooMuch, synthesise};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Most operations of all ranks: 56 bytes of memory each.
pub const MAX_OPERATIONS: u64 = 20_000_000;
/// Most files.
pub const MAX_FILES: u64 = 1_000_000;
/// Most ranks: each is a thread.
pub const MAX_RANKS: u32 = 4096;

/// Why a model is not generated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// Its totals do not fit.
    #[error(transparent)]
    TooMuch(#[from] TooMuch),
    /// It is larger than what is held in memory.
    #[error("{0} {1} at {2} ranks, at most {3} are generated; choose fewer ranks or a smaller model")]
    TooMany(u64, &'static str, u32, u64),
}

/// The program of so many ranks.
///
/// # Errors
/// If it is too large.
pub fn program(model: &Model, ranks: u32, seed: u64) -> Result<Program, GenerateError> {
    let totals = model.totals(ranks)?;
    let requests = totals.requests.values().copied().fold(0, u64::saturating_add);
    let barriers = totals.barriers.saturating_mul(u64::from(ranks));
    let operations = requests.saturating_add(totals.sessions.saturating_mul(2)).saturating_add(barriers);
    for (number, what, most) in [
        (u64::from(ranks), "ranks", u64::from(MAX_RANKS)),
        (operations, "operations", MAX_OPERATIONS),
        (totals.files, "files", MAX_FILES),
    ] {
        if number > most {
            return Err(GenerateError::TooMany(number, what, ranks, most));
        }
    }
    let groups = model
        .groups
        .iter()
        .map(|group| (0..ranks).filter(|rank| group.contains(*rank)).map(|rank| rank as usize).collect());
    let mut files = Files { model, numbers: HashMap::new(), files: Vec::new() };
    let streams = (0..ranks).map(|rank| stream(model, (rank, ranks), seed, &mut files)).collect();
    Ok(Program { streams, groups: groups.collect(), files: files.files, events: 0 })
}

/// The files of a program, in the order of their first opens.
struct Files<'a> {
    model: &'a Model,
    numbers: HashMap<(usize, Option<u32>, u64), usize>,
    files: Vec<ScratchFile>,
}

impl Files<'_> {
    fn number(&mut self, file: usize, rank: u32, number: u64) -> usize {
        let model = &self.model.files[file];
        let owner = (model.class == Sharing::Private).then_some(rank);
        *self.numbers.entry((file, owner, number)).or_insert_with(|| {
            let is_made = model.sessions.iter().any(|session| session.mode.create);
            let size = (model.size > 0 || !is_made).then_some(model.size);
            self.files.push(ScratchFile { name: model.instance(rank, number), size, directory: false });
            self.files.len() - 1
        })
    }
}

const OPEN: OpenNumber = OpenNumber(0);

/// What a rank does.
fn stream(model: &Model, (rank, ranks): (u32, u32), seed: u64, files: &mut Files<'_>) -> Stream {
    let mut stream = Stream::new();
    let (mut cursor, mut appends) = (0, false);
    let ended = synthesise(model, (rank, ranks), seed, &mut |Synthetic { action, slack }| {
        let action = match action {
            Step::Open { file, number, mode } => {
                (cursor, appends) = (0, mode.append);
                Action::Open { file: files.number(file, rank, number), open: OPEN, mode: open_mode(mode) }
            }
            Step::Transfer { kind, offset, size } => {
                let follows = offset == cursor || appends && kind == RequestKind::Write;
                if follows {
                    cursor = offset.saturating_add(size);
                }
                match (kind, follows) {
                    (RequestKind::Read, true) => Action::Read(OPEN, size),
                    (RequestKind::Read, false) => Action::ReadAt(OPEN, offset, size),
                    (_, true) => Action::Write(OPEN, size),
                    (_, false) => Action::WriteAt(OPEN, offset, size),
                }
            }
            Step::Request(RequestKind::Fdatasync) => Action::SyncData(OPEN),
            Step::Request(_) => Action::Sync(OPEN),
            Step::Close => Action::Close(OPEN),
            Step::Barrier(group) => Action::Barrier(group),
        };
        stream.push(Operation { think_ns: slack, action, expected: Expected::Success });
        ControlFlow::<()>::Continue(())
    });
    debug_assert_eq!(ended, ControlFlow::Continue(()));
    stream
}

fn open_mode(mode: Mode) -> OpenMode {
    OpenMode {
        read: mode.read,
        write: mode.write,
        create: mode.create,
        truncate: mode.truncate,
        append: mode.append,
        ..OpenMode::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_replay::{Cache, Plan, Sandbox, Think, execute};
    use iotrail_workload::TEMPLATES;
    use std::sync::atomic::AtomicBool;

    fn template(name: &str) -> Model {
        let (.., text) = TEMPLATES.iter().find(|(known, ..)| *known == name).unwrap();
        Model::parse(text).unwrap()
    }

    #[test]
    fn the_program_of_a_checkpoint_is_that_of_the_definitions() {
        let program = program(&template("checkpoint"), 4, 0).unwrap();
        assert_eq!((program.streams.len(), program.files.len(), program.groups.len()), (4, 4, 1));
        let names: Vec<&str> = program.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["checkpoint.0", "checkpoint.1", "checkpoint.2", "checkpoint.3"]);
        let kinds = |wanted: fn(&Action) -> bool| {
            program.streams.iter().flatten().filter(|operation| wanted(&operation.action)).count()
        };
        assert_eq!(kinds(|action| matches!(action, Action::Write(OPEN, 1_048_576))), 4 * 5 * 16);
        assert_eq!(kinds(|action| matches!(action, Action::Barrier(0))), 4 * 5);
        assert_eq!(kinds(|action| matches!(action, Action::Sync(_))), 4 * 5);
    }

    #[test]
    fn every_template_is_executed_without_an_error() {
        let parent = tempfile::tempdir().unwrap();
        let go = AtomicBool::new(false);
        for (name, ..) in TEMPLATES {
            let plan = Plan::new(program(&template(name), 3, 1).unwrap()).unwrap();
            let sandbox = Sandbox::new(&parent.path().join(name), &plan).unwrap();
            sandbox.prepare(&plan, Cache::Warm, false, &go).unwrap();
            let outcome = execute(&plan, &sandbox, Think::Dropped, &go);
            assert_eq!(outcome.differences, 0, "{name}");
            drop(sandbox);
            assert!(!parent.path().join(name).exists(), "{name}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let many = program(&template("checkpoint"), MAX_RANKS + 1, 0);
        assert_eq!(many, Err(GenerateError::TooMany(4097, "ranks", 4097, 4096)));
        let long = template("log").to_string().replace("repeat = 500", "repeat = 1000000000");
        let long = program(&Model::parse(&long).unwrap(), 2, 0);
        assert!(matches!(long, Err(GenerateError::TooMany(_, "operations", 2, _))));
    }
}
