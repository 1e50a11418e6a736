//! An oracle at the level of bytes: random schedules of several processes and descriptions are executed as recorded and as advised;
//! every byte that is read, and the file at the end, must be the same.

use iotrail_advise::{
    Access, Description, DescriptionId, Edge, FileAccesses, Kind, ProcessEdges, Rules, Run, Shape,
};
use iotrail_model::{CallId, CaseId, Pid, Tid};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What a schedule does at a step.
#[derive(Clone, Copy, Debug)]
enum Op {
    Read {
        offset: u64,
        length: u64,
    },
    Write {
        offset: u64,
        length: u64,
    },
    /// To the end of the file, wherever that is.
    Append {
        length: u64,
    },
    Truncate {
        length: u64,
    },
    /// A write of which was not seen where it went: a clone, a copy, a call whose end is missing.
    Unseen {
        offset: u64,
        length: u64,
    },
}

/// An operation of a description.
#[derive(Clone, Copy, Debug)]
struct Step {
    description: usize,
    op: Op,
    /// How long before and after its effect it is seen to begin and end.
    before: i64,
    after: i64,
    /// Of a write: whether it is on storage before it returns.
    syncs: bool,
}

/// What happened: each operation at its place, what was read, the file.
#[derive(Clone, Debug, Default)]
struct Outcome {
    file: Vec<u8>,
    reads: BTreeMap<usize, Vec<u8>>,
    /// At which step each synchronous write was on storage.
    durable: BTreeMap<usize, usize>,
}

#[derive(Clone, Copy, Debug)]
enum Effect {
    Read { offset: u64, length: u64 },
    Write { offset: u64, length: u64 },
    Append { length: u64 },
    Truncate { length: u64 },
}

impl Outcome {
    fn perform(&mut self, step: usize, effect: Effect) {
        let byte = (step as u8).wrapping_mul(7).wrapping_add(1);
        match effect {
            Effect::Read { offset, length } => {
                let end = (offset + length).min(self.file.len() as u64) as usize;
                let start = (offset as usize).min(end);
                self.reads.insert(step, self.file[start..end].to_vec());
            }
            Effect::Write { offset, length } => {
                let end = (offset + length) as usize;
                if self.file.len() < end {
                    self.file.resize(end, 0);
                }
                self.file[offset as usize..end].fill(byte);
            }
            Effect::Append { length } => {
                let end = self.file.len() + length as usize;
                self.file.resize(end, byte);
            }
            Effect::Truncate { length } => self.file.resize(length as usize, 0),
        }
    }
}

fn effect(op: Op) -> Effect {
    match op {
        Op::Read { offset, length } => Effect::Read { offset, length },
        Op::Write { offset, length } => Effect::Write { offset, length },
        Op::Append { length } => Effect::Append { length },
        Op::Truncate { length } => Effect::Truncate { length },
        Op::Unseen { offset, length } => Effect::Write { offset, length },
    }
}

/// Descriptions whose number is odd append; of two descriptions each process has one, the third is shared by nobody.
fn appends(description: usize) -> bool {
    description % 2 == 1
}

/// What a tracer would have recorded: places from what really happened, times with some slack.
fn recorded(initial: usize, steps: &[Step]) -> (Outcome, FileAccesses, Vec<Description>) {
    let mut outcome = Outcome { file: vec![0xAA; initial], ..Outcome::default() };
    let mut accesses = Vec::new();
    let mut free: BTreeMap<usize, i64> = BTreeMap::new();
    for (index, step) in steps.iter().enumerate() {
        let moment = index as i64 * 10;
        // A thread does one thing after the other.
        let start =
            (moment - step.before).max(free.get(&step.description).copied().unwrap_or(i64::MIN)).min(moment);
        let next = steps[index + 1..].iter().position(|other| other.description == step.description);
        let limit = next.map_or(i64::MAX, |next| (index + 1 + next) as i64 * 10);
        let end = (moment + step.after).min(limit);
        free.insert(step.description, end);
        let size = outcome.file.len() as u64;
        outcome.perform(index, effect(step.op));
        if is_durable(step) {
            outcome.durable.insert(index, index);
        }
        let (kind, low, high) = match step.op {
            Op::Read { offset, .. } => (Kind::Read, offset, offset + outcome.reads[&index].len() as u64),
            Op::Write { offset, length } => (Kind::Write, offset, offset + length),
            Op::Append { length } => (Kind::Write, size, size + length),
            Op::Truncate { length } => (Kind::Write, length, u64::MAX),
            Op::Unseen { .. } => (Kind::UnknownWrite, 0, u64::MAX),
        };
        accesses.push(Access {
            start,
            end,
            low,
            high,
            seq: index as u64,
            description: DescriptionId(step.description as u32),
            tid: Tid(step.description as u32 + 1),
            pid: Pid(step.description as u32 + 1),
            call: CallId(0),
            kind,
            mergeable: matches!(step.op, Op::Read { .. } | Op::Write { .. } | Op::Append { .. })
                && low < high,
            syncs: is_durable(step),
            timed: true,
        });
    }
    accesses.sort_by_key(|access| (access.start, access.seq));
    let descriptions = (0..4)
        .map(|number| Description {
            case: CaseId(0),
            pid: Pid(number as u32 + 1),
            appends: appends(number),
            syncs: false,
        })
        .collect();
    (outcome, FileAccesses { accesses, ..FileAccesses::default() }, descriptions)
}

fn is_durable(step: &Step) -> bool {
    step.syncs && matches!(step.op, Op::Write { .. } | Op::Append { .. })
}

/// In which order the members of an irregular run are done: the advice is to sort them, or to submit them together.
#[derive(Clone, Copy, Debug)]
enum Order {
    AsRecorded,
    ByOffset,
    Backwards,
}

impl Order {
    fn sort(self, file: &FileAccesses, run: &[u32]) -> Vec<u32> {
        let access = |at: &u32| &file.accesses[*at as usize];
        let mut run = run.to_vec();
        if run.windows(2).all(|pair| access(&pair[0]).high == access(&pair[1]).low) {
            return run;
        }
        match self {
            Self::AsRecorded => {}
            Self::ByOffset => run.sort_by_key(|at| access(at).low),
            Self::Backwards => run.reverse(),
        }
        run
    }
}

/// Executes the steps with runs merged: reads at their first member, writes at their last.
fn advised(initial: usize, steps: &[Step], file: &FileAccesses, runs: &[Vec<u32>], order: Order) -> Outcome {
    let seq = |at: u32| file.accesses[at as usize].seq as usize;
    let (mut at_step, mut moved): (BTreeMap<usize, Vec<u32>>, BTreeSet<usize>) = Default::default();
    for run in runs {
        let reads = file.accesses[run[0] as usize].kind == Kind::Read;
        let index = seq(if reads { run[0] } else { run[run.len() - 1] });
        at_step.insert(index, run.clone());
        moved.extend(run.iter().map(|member| seq(*member)));
    }
    let mut outcome = Outcome { file: vec![0xAA; initial], ..Outcome::default() };
    for (at, step) in steps.iter().enumerate() {
        if let Some(run) = at_step.get(&at) {
            let durable = run.iter().any(|member| is_durable(&steps[seq(*member)]));
            for member in &order.sort(file, run) {
                if durable {
                    outcome.durable.insert(seq(*member), at);
                }
                let access = &file.accesses[*member as usize];
                let merged = match steps[seq(*member)].op {
                    // The advised call asks for what the recorded one got.
                    Op::Read { .. } => Effect::Read { offset: access.low, length: access.bytes() },
                    op => effect(op),
                };
                outcome.perform(seq(*member), merged);
            }
        } else if !moved.contains(&at) {
            outcome.perform(at, effect(step.op));
            if is_durable(step) {
                outcome.durable.insert(at, at);
            }
        }
    }
    outcome
}

fn step() -> impl Strategy<Value = Step> {
    // One description does most, so that its runs are long.
    let description = prop::sample::select(vec![0_usize, 0, 0, 0, 1, 2, 2, 3]);
    (description, 0_u8..12, 0_u64..40, 1_u64..9, 0_i64..25, (0_i64..25, 0_u8..16)).prop_map(
        |(description, choice, offset, length, before, (after, syncs))| {
            let op = match choice {
                0..=3 => Op::Read { offset, length },
                4..=8 if appends(description) => Op::Append { length },
                4..=8 => Op::Write { offset, length },
                9 => Op::Unseen { offset, length },
                10 => Op::Truncate { length: offset },
                _ => Op::Read { offset, length: 1 },
            };
            Step { description, op, before, after, syncs: syncs == 0 }
        },
    )
}

/// Schedules in which neighbours often go on where they stopped, as programs do.
fn schedule() -> impl Strategy<Value = (usize, Vec<Step>)> {
    (0_usize..30, prop::collection::vec((step(), any::<bool>()), 2..32)).prop_map(|(initial, mut steps)| {
        let mut next: BTreeMap<usize, u64> = BTreeMap::new();
        for (step, goes_on) in &mut steps {
            let place = next.entry(step.description).or_default();
            if let Op::Read { offset, length } | Op::Write { offset, length } = &mut step.op {
                if *goes_on {
                    *offset = *place;
                }
                *place = (*offset + *length) % 40;
            }
        }
        (initial, steps.into_iter().map(|(step, _)| step).collect())
    })
}

fn members(runs: &[Run]) -> Vec<Vec<u32>> {
    runs.iter().map(|run| run.members.clone()).collect()
}

fn is_same(
    initial: usize,
    steps: &[Step],
    file: &FileAccesses,
    original: &Outcome,
    runs: &[Vec<u32>],
) -> bool {
    is_same_in(initial, steps, file, original, runs, Order::AsRecorded)
}

/// The same bytes in the end, the same bytes read, and what was on storage at a time is there by then.
fn is_same_in(
    initial: usize,
    steps: &[Step],
    file: &FileAccesses,
    original: &Outcome,
    runs: &[Vec<u32>],
    order: Order,
) -> bool {
    let advised = advised(initial, steps, file, runs, order);
    let late = |(write, moment): (&usize, &usize)| advised.durable.get(write).is_none_or(|at| at > moment);
    advised.file == original.file && advised.reads == original.reads && !original.durable.iter().any(late)
}

/// Cases of a test; `IOTRAIL_ORACLE` sets another number.
fn cases(usual: u32) -> ProptestConfig {
    let number = std::env::var("IOTRAIL_ORACLE").ok().and_then(|word| word.parse().ok());
    ProptestConfig { cases: number.unwrap_or(usual), max_shrink_iters: 20_000, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn what_is_advised_changes_no_byte((initial, steps) in schedule()) {
        let (original, file, descriptions) = recorded(initial, &steps);
        let found = file.runs(&descriptions, &ProcessEdges::default(), true);
        // Each run by itself, and all together.
        for run in &found.runs {
            let one = [run.members.clone()];
            for order in [Order::ByOffset, Order::Backwards] {
                let same = is_same_in(initial, &steps, &file, &original, &one, order);
                prop_assert!(same, "{:?} {:?}\n{:#?}", order, run, file.accesses);
            }
        }
        for order in [Order::ByOffset, Order::Backwards] {
            let same = is_same_in(initial, &steps, &file, &original, &members(&found.runs), order);
            prop_assert!(same, "{:?} {:#?}", order, found.runs);
        }
    }

    #[test]
    fn a_pair_that_is_called_possible_is((initial, steps) in schedule()) {
        let (original, file, descriptions) = recorded(initial, &steps);
        for pair in file.pairs(&descriptions, Rules::Corrected) {
            let possible = [1, 2].contains(&(pair.category as u8));
            // An appended pair lands where the file ends, of which the table does not know.
            let access = &file.accesses[pair.first as usize];
            if possible && !(access.kind == Kind::Write && appends(access.description.0 as usize)) {
                let one = [vec![pair.first, pair.second]];
                // Pairs are the article's, which knows of no storage.
                let steps: Vec<Step> = steps.iter().map(|step| Step { syncs: false, ..*step }).collect();
                let original = Outcome { durable: BTreeMap::new(), ..original.clone() };
                prop_assert!(is_same(initial, &steps, &file, &original, &one), "{:?}\n{:#?}", pair, file.accesses);
            }
        }
    }

    #[test]
    fn an_edge_keeps_writes_apart((initial, steps) in schedule(), at in 0_i64..24) {
        let (_, mut file, descriptions) = recorded(initial, &steps);
        let edge = Edge {
            start: at * 10 + 5,
            kind: iotrail_advise::EdgeKind::Sync,
            pid: Pid(9),
            call: CallId(0),
        };
        file.edges = vec![edge];
        file.accesses.iter_mut().for_each(|access| access.syncs = false);
        let found = file.runs(&descriptions, &ProcessEdges::default(), true);
        for run in found.runs {
            let [first, last] = [run.members[0], run.members[run.members.len() - 1]].map(|at| file.accesses[at as usize]);
            let crosses = first.kind == Kind::Write && first.start < edge.start && edge.start < last.start;
            prop_assert!(!crosses, "{first:?} {last:?}");
        }
    }
}

/// All sequences of neighbours of one description that are of one shape and safe, found by trying.
fn best_by_trying(initial: usize, steps: &[Step], file: &FileAccesses, original: &Outcome) -> usize {
    let mut saved = 0;
    for description in 0..4_u32 {
        let own: Vec<u32> = (0..file.accesses.len() as u32)
            .filter(|at| {
                let access = &file.accesses[*at as usize];
                access.description.0 == description && access.low < access.high
            })
            .collect();
        // The most calls that can be saved in the first accesses of the description.
        let mut best = vec![0; own.len() + 1];
        for end in 1..=own.len() {
            best[end] = best[end - 1];
            for start in (end.saturating_sub(5)..end.saturating_sub(1)).rev() {
                let run = &own[start..end];
                if is_of_one_shape(file, run) && is_same(initial, steps, file, original, &[run.to_vec()]) {
                    best[end] = best[end].max(best[start] + run.len() - 1);
                }
            }
        }
        saved += best[own.len()];
    }
    saved
}

fn is_of_one_shape(file: &FileAccesses, run: &[u32]) -> bool {
    let access = |at: &u32| &file.accesses[*at as usize];
    let shapes: BTreeSet<Shape> = run
        .windows(2)
        .map(|pair| {
            let (a, b) = (access(&pair[0]), access(&pair[1]));
            match a.high == b.low {
                true => Shape::Adjacent,
                false if a.bytes() == b.bytes() && b.low > a.high => {
                    Shape::Strided { size: a.bytes(), stride: b.low - a.low }
                }
                false => Shape::Scattered,
            }
        })
        .collect();
    shapes.len() == 1 && run.iter().all(|at| access(at).mergeable && access(at).kind == access(&run[0]).kind)
}

/// Of what trying every run of at most five calls finds to change no byte in this one execution, how much is advised. What is
/// advised must be safe in every order that the times allow, and whatever bytes are written, so that it is not all.
#[test]
fn most_of_what_can_be_merged_is_advised() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut advised, mut possible) = (0, 0);
    for _ in 0..400 {
        let (initial, mut steps) = schedule().new_tree(&mut runner).expect("a schedule").current();
        // Without slack in the times, the order is known.
        steps.iter_mut().for_each(|step| (step.before, step.after) = (0, 1));
        let (original, file, descriptions) = recorded(initial, &steps);
        let found = file.runs(&descriptions, &ProcessEdges::default(), true);
        advised += found.runs.iter().map(|run| run.members.len() - 1).sum::<usize>();
        possible += best_by_trying(initial, &steps, &file, &original);
    }
    eprintln!("recall: {advised} of {possible} calls ({:.3})", advised as f64 / possible as f64);
    assert!(advised * 100 >= possible * 65, "{advised} of {possible}");
}
