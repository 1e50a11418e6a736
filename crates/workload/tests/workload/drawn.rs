//! Paths that are drawn from distributions: algorithm 1.

use iotrail_workload::{
    Action, FileKind, Mode, Model, ModelFile, NameCall, PathBarrier, Profile, RankGroup, Ratio, RequestKind,
    Sharing, Statistics, Synthetic, synthesise,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;

/// Two classes, as the worked example of algorithm 1 has them: A wants 1, 4, 6 and B 2, 4, 5.
const EXAMPLE: &str = r#"
iotrail_workload = 1
[[group]]
name = "all"
ranks = "0.."
[[file]]
name = "a.%r"
class = "private"
  [[file.statistics]]
  files = 1
  sessions = 1
  depth = 2
  first_gap = 1
  request_gap = { "3" = 1, "2" = 1 }
  modes = { "wo create" = 1 }
  requests = { write = 1 }
  size = "1 KiB"
  offset = 0
[[file]]
name = "log"
class = "root"
  [[file.statistics]]
  calls = { stat = 1 }
[[barrier]]
ranks = "all"
at = { "0.5" = 1, "1" = 1 }
"#;

fn steps(model: &Model, rank: u32, ranks: u32, seed: u64) -> Vec<Synthetic> {
    let mut steps = Vec::new();
    let ended = synthesise(model, (rank, ranks), seed, &mut |step| {
        steps.push(step);
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(ended, ControlFlow::Continue(()));
    steps
}

fn letters(steps: &[Synthetic]) -> String {
    let letter = |step: &Synthetic| match step.action {
        Action::Open { .. } => 'o',
        Action::Transfer { kind: RequestKind::Read, .. } => 'r',
        Action::Transfer { .. } => 'w',
        Action::Request(_) => 's',
        Action::Close => 'c',
        Action::Call { .. } => 'n',
        Action::Pause => '-',
        Action::Barrier(_) => '|',
        Action::After { .. } => 'a',
        Action::Message { .. } => 'm',
    };
    steps.iter().map(letter).collect()
}

#[test]
fn sessions_are_drawn_merged_and_calls_fill_the_holes() {
    let model = Model::parse(EXAMPLE).expect("a model");
    assert_eq!(letters(&steps(&model, 1, 4, 0)), "ow|c|");
    let root = letters(&steps(&model, 0, 4, 0));
    assert_eq!(root.len(), 6, "{root}");
    assert!(root.contains('n') && root.ends_with('|'), "{root}");
    let totals = model.totals(4).expect("small");
    assert_eq!((totals.files, totals.sessions, totals.calls, totals.barriers), (5, 4, 1, 2));
    assert_eq!(totals.bytes_written, 4 << 10);
    assert_eq!(Model::parse(&model.to_string()), Ok(model));
}

#[test]
fn without_program_sessions_that_are_given_are_done_once_on_each_file() {
    let text = r#"
iotrail_workload = 1
[[file]]
name = "in.%i"
class = "shared"
count = 2
size = "8 KiB"
  [[file.session]]
  name = "read"
  mode = "ro"
  requests = { read = 2 }
  size = "4 KiB"
"#;
    let model = Model::parse(text).expect("a model");
    let steps = steps(&model, 0, 1, 0);
    assert_eq!(letters(&steps), "oorrrrcc", "the sessions of two files, merged by position");
    let opens: BTreeSet<u32> = steps.iter().map(|step| step.open).collect();
    assert_eq!(opens.len(), 2);
    assert_eq!(model.totals(1).map(|totals| totals.bytes_read), Ok(16 << 10));
}

#[test]
fn what_only_a_drawn_path_has_is_refused_beside_a_program() {
    let error = |text: String| Model::parse(&text).expect_err("not a model").to_string();
    let program = error(format!("{EXAMPLE}\n[program]\nsteps = []\n"));
    assert!(program.contains("line 24") && program.contains("beside [program]"), "{program}");
    let no_modes = error(EXAMPLE.replace("modes = { \"wo create\" = 1 }", ""));
    assert!(no_modes.contains("sessions without modes; add modes"), "{no_modes}");
    let share = error(EXAMPLE.replace("\"0.5\"", "\"1.5\""));
    assert!(share.contains("`1.5` is not a share of a path"), "{share}");
    let strong = error(
        EXAMPLE.replace("iotrail_workload = 1", "iotrail_workload = 1\nranks = 4\nscaling = \"strong\""),
    );
    assert!(strong.contains("strong scaling of a path that is drawn"), "{strong}");
    let group = error(EXAMPLE.replace("ranks = \"all\"", "ranks = \"some\""));
    assert!(group.contains("no group is called `some`"), "{group}");
    let call = error(EXAMPLE.replace("calls = { stat = 1 }", "calls = { mkdir = 1 }"));
    assert!(call.contains("`mkdir` is not a call on such a file"), "{call}");
}

/// A small generator for models.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn weights(&mut self, least: u64, most: u64) -> BTreeMap<u64, u64> {
        (0..=self.below(3)).map(|_| (least + self.below(most - least + 1), 1 + self.below(3))).collect()
    }

    fn mode(&mut self) -> Mode {
        let (read, write) = [(true, false), (false, true), (true, true)][self.below(3) as usize];
        let truncate = write && self.below(4) == 0;
        Mode { read, write, create: self.below(2) == 0, truncate, append: write && self.below(4) == 0 }
    }

    fn statistics(&mut self, kind: FileKind) -> Statistics {
        let calls = [
            NameCall::Open,
            NameCall::Stat,
            NameCall::Unlink,
            NameCall::Rename,
            NameCall::MakeDirectory,
            NameCall::RemoveDirectory,
            NameCall::List,
        ];
        let calls = calls.into_iter().filter(|call| call.takes(kind));
        let calls = calls.map(|call| (call, self.below(4))).filter(|(_, count)| *count > 0).collect();
        let files = self.weights(0, 3);
        if kind != FileKind::File {
            return Statistics { files, calls, ..Statistics::default() };
        }
        let kinds = [RequestKind::Read, RequestKind::Write, RequestKind::Fsync, RequestKind::Stat];
        let consecutive = self.below(5);
        Statistics {
            ranks: [None, Some(0), Some(1)][self.below(3) as usize],
            files,
            sessions: self.weights(0, 3),
            depth: self.weights(1, 5),
            first_gap: self.weights(1, 6),
            session_gap: (0..2).map(|_| (self.below(12) as i64 - 8, 1)).collect(),
            request_gap: self.weights(1, 4),
            modes: (0..2).map(|_| (self.mode(), 1)).collect(),
            requests: kinds.into_iter().map(|kind| (kind, 1 + self.below(3))).collect(),
            calls,
            sizes: self.weights(1, 5000),
            write_sizes: BTreeMap::new(),
            pairs: [4, consecutive.min(4)],
            offsets: self.weights(0, 9000),
            write_offsets: BTreeMap::new(),
            file_size: 4096,
            slack: self.weights(1, 50),
            duration: 3,
        }
    }

    fn model(&mut self) -> Model {
        let sharing = [Sharing::Root, Sharing::Shared, Sharing::Private];
        let kinds = [FileKind::File, FileKind::File, FileKind::Directory, FileKind::Absent];
        let files = (0..=self.below(3)).map(|number| {
            let (class, kind) = (sharing[self.below(3) as usize], kinds[self.below(4) as usize]);
            let rank = if class == Sharing::Private { ".%r" } else { "" };
            ModelFile {
                name: format!("f{number}{rank}.%i"),
                count: 3,
                class,
                kind,
                size: 0,
                lengths: Vec::new(),
                present: false,
                call_slack: Vec::new(),
                times: Ratio::ONE,
                call_times: Ratio::ONE,
                filled: false,
                sessions: Vec::new(),
                statistics: (0..=self.below(2)).map(|_| self.statistics(kind)).collect(),
            }
        });
        let files = files.collect();
        let group = |name: &str, first, last| RankGroup { name: name.to_owned(), first, last };
        let at = (0..self.below(3)).map(|_| (self.below(1_000_001), 1 + self.below(2)));
        let at: BTreeMap<u64, u64> = at.collect();
        Model {
            ranks: Some(3),
            strong: false,
            groups: vec![group("all", 0, None), group("others", 1, None)],
            files,
            steps: Vec::new(),
            path: Some(if at.is_empty() { Vec::new() } else { vec![PathBarrier { group: 0, at }] }),
        }
    }
}

/// What a file is while a path is followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Missing,
    There,
    Gone,
}

/// Follows a path of a rank; each call finds what it needs (definitions, section 3).
fn check_dependencies(model: &Model, steps: &[Synthetic]) {
    let mut files: HashMap<(usize, u64), State> = HashMap::new();
    let mut open: HashMap<u32, (usize, Mode)> = HashMap::new();
    let first = |file: usize| if model.is_there(file) { State::There } else { State::Missing };
    for step in steps {
        match step.action {
            Action::Open { file, number, mode } => {
                let state = files.entry((file, number)).or_insert_with(|| first(file));
                assert!(
                    *state == State::There || *state == State::Missing && mode.create,
                    "{step:?}: {state:?}"
                );
                *state = State::There;
                assert!(open.insert(step.open, (file, mode)).is_none(), "{step:?} is open");
            }
            Action::Transfer { kind, offset, size } => {
                let (file, mode) = open[&step.open];
                assert!(if kind == RequestKind::Read { mode.read } else { mode.write }, "{step:?}");
                if kind == RequestKind::Read {
                    let all = model.files[file].statistics.iter().map(|of| of.file_size).max();
                    assert!(offset + size <= all.unwrap_or_default(), "{step:?} reads behind the end");
                }
            }
            Action::Request(_) => assert!(open.contains_key(&step.open), "{step:?}"),
            Action::Close => assert!(open.remove(&step.open).is_some(), "{step:?}"),
            Action::Pause | Action::Barrier(_) | Action::After { .. } | Action::Message { .. } => {}
            Action::Call { call, file, number, .. } => {
                let kind = model.files[file].kind;
                assert!(call.takes(kind), "{step:?}");
                if kind == FileKind::Absent {
                    continue;
                }
                let state = files.entry((file, number)).or_insert_with(|| first(file));
                let makes = call == NameCall::MakeDirectory;
                assert_eq!(*state, if makes { State::Missing } else { State::There }, "{step:?}");
                *state = match call {
                    NameCall::Unlink | NameCall::Rename | NameCall::RemoveDirectory => State::Gone,
                    _ => State::There,
                };
            }
        }
    }
    assert!(open.is_empty(), "all are closed");
}

#[test]
fn hard_dependencies_hold_in_the_paths_of_random_models() {
    let mut numbers = Numbers(7);
    let mut seen = BTreeMap::new();
    for seed in 0..100_000 {
        let model = numbers.model();
        let rank = (seed % 3) as u32;
        let steps = steps(&model, rank, 3, seed);
        check_dependencies(&model, &steps);
        let barriers: u64 = model.path.iter().flatten().flat_map(|barrier| barrier.at.values()).sum();
        let made = steps.iter().filter(|step| matches!(step.action, Action::Barrier(_))).count();
        assert_eq!(made as u64, barriers);
        for letter in letters(&steps).chars() {
            *seen.entry(letter).or_insert(0_u64) += 1;
        }
    }
    assert!(seen.len() == 7 && seen.values().all(|count| *count > 10_000), "{seen:?}");
}

proptest! {
    #[test]
    fn the_text_of_a_model_of_distributions_is_the_model(seed: u64) {
        let model = Numbers(seed).model();
        let text = model.to_string();
        let read = Model::parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(read.to_string(), text);
        prop_assert_eq!(steps(&read, 1, 3, seed), steps(&model, 1, 3, seed));
    }

    #[test]
    fn more_ranks_change_no_draw_of_the_others(seed: u64, rank in 0_u32..3) {
        let model = Numbers(seed).model();
        prop_assert_eq!(steps(&model, rank, 3, seed), steps(&model, rank, 9, seed));
    }
}

/// A path of constants is drawn as it was: what is measured of it gives the distributions back.
#[test]
fn what_is_measured_of_a_drawn_path_gives_the_model_back() {
    let text = EXAMPLE.replace("request_gap = { \"3\" = 1, \"2\" = 1 }", "request_gap = 1").replace(
        "[[file]]\nname = \"log\"\nclass = \"root\"\n  [[file.statistics]]\n  calls = { stat = 1 }\n",
        "",
    );
    let model = Model::parse(&text).expect("a model");
    let mut profile = Profile::default();
    for rank in 0..4 {
        profile.add_rank(0, &steps(&model, rank, 4, 3), |file| file);
    }
    let again = profile.statistics((0, 0), 4, Sharing::Private, None);
    let mut expected = model.files[0].statistics[0].clone();
    expected.file_size = 1024;
    assert_eq!(again, expected);
    assert!(profile.distances(&profile).iter().all(|distance| distance.distance == 0.0));
    let mut other = Profile::default();
    other.add_rank(0, &steps(&model, 0, 4, 3), |file| file);
    let far: Vec<_> =
        profile.distances(&other).into_iter().filter(|distance| !distance.is_within()).collect();
    assert_eq!(far.iter().map(|distance| distance.figure).collect::<Vec<_>>(), ["bytes", "requests"]);
}
