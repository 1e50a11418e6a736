use iotrail_workload::{
    Action, DrawnPlaces, FileKind, KnobError, Knobs, MessageHalf, Mode, Model, ModelFile, ModelSession,
    NameCall, OffsetLaw, PlaceRun, ProgramStep, RankGroup, Ratio, RequestKind, SessionLayer, Sharing, Stride,
    Synthetic, TooMuch, Totals, synthesise,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Ranks of a run.
const RANKS: u32 = 4;

/// The example of section 6 of the definitions.
const CHECKPOINT: &str = r#"
iotrail_workload = 1
[[group]]
name = "all"
ranks = "0.."
[[file]]
name = "ckpt.%r"
class = "private"
  [[file.session]]
  name = "dump"
  mode = "wo create"
  requests = { write = 16, fsync = 1 }
  size = { "64 KiB" = 15, "1 KiB" = 1 }
  offset = "sequential"
  slack = "200 us"
[program]
steps = [{ repeat = 10, steps = [{ session = "ckpt.%r/dump" }, { barrier = "all" }] }]
"#;

fn checkpoint() -> Model {
    Model::parse(CHECKPOINT).expect("a model")
}

/// The steps of a rank.
fn steps(model: &Model, rank: u32, seed: u64) -> Vec<Synthetic> {
    steps_of(model, (rank, RANKS), seed)
}

/// The steps of a rank of so many.
fn steps_of(model: &Model, rank: (u32, u32), seed: u64) -> Vec<Synthetic> {
    let mut steps = Vec::new();
    let ended = synthesise(model, rank, seed, &mut |step| {
        steps.push(step);
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(ended, ControlFlow::Continue(()));
    steps
}

fn transfers(steps: &[Synthetic]) -> Vec<(u64, u64)> {
    let transfer = |step: &Synthetic| match step.action {
        Action::Transfer { offset, size, .. } => Some((offset, size)),
        _ => None,
    };
    steps.iter().filter_map(transfer).collect()
}

fn knobs(texts: &[&str]) -> Knobs {
    let mut knobs = Knobs::default();
    texts.iter().for_each(|text| knobs.set(text).expect("a knob"));
    knobs
}

/// What is wrong with the example if `from` is `to`.
fn error(from: &str, to: &str) -> String {
    assert!(CHECKPOINT.contains(from), "{from}");
    Model::parse(&CHECKPOINT.replace(from, to)).expect_err(to).to_string()
}

#[test]
fn the_example_writes_39_362_560_bytes_at_4_ranks() {
    let totals = Totals {
        files: 4,
        sessions: 40,
        mpi_io_sessions: 0,
        collective_sessions: 0,
        requests: BTreeMap::from([(RequestKind::Write, 640), (RequestKind::Fsync, 40)]),
        bytes_read: 0,
        bytes_written: 39_362_560,
        calls: 0,
        barriers: 10,
        messages_sent: 0,
        messages_received: 0,
        waits: 0,
    };
    assert_eq!(checkpoint().totals(4), Ok(totals));
}

#[test]
fn a_rank_does_what_the_totals_count() {
    let steps = steps(&checkpoint(), 3, 7);
    assert_eq!(steps.len(), 10 * (1 + 16 + 1 + 1 + 1));
    assert_eq!(transfers(&steps).iter().map(|(_, size)| size).sum::<u64>(), 39_362_560 / 4);
    assert_eq!(steps[17].action, Action::Request(RequestKind::Fsync));
    assert_eq!((steps[18].action, steps[19].action), (Action::Close, Action::Barrier(0)));
    assert_eq!((steps[1].slack, steps[19].slack), (200_000, 0));
    let session = &transfers(&steps)[..16];
    assert!(session.windows(2).all(|pair| pair[0].0 + pair[0].1 == pair[1].0), "{session:?}");
}

#[test]
fn requests_are_spread_evenly() {
    let model = CHECKPOINT.replace("write = 16, fsync = 1", "write = 6, fsync = 3");
    let steps = steps(&Model::parse(&model).expect("a model"), 0, 0);
    let letters = steps[1..10].iter().map(|step| match step.action {
        Action::Transfer { .. } => 'w',
        _ => 's',
    });
    assert_eq!(letters.collect::<String>(), "wwswwswws");
}

#[test]
fn offsets_follow_rank_and_transfer() {
    let strided = CHECKPOINT
        .replace("\"sequential\"", "{ start = 512, rank = \"256 KiB\", step = \"1 MiB\" }")
        .replace("%r", "all")
        .replace("private", "shared");
    let model = Model::parse(&strided).expect("a model");
    let offsets: Vec<u64> =
        transfers(&steps(&model, 3, 0)).iter().take(3).map(|(offset, _)| *offset).collect();
    assert_eq!(offsets, [0, 1, 2].map(|step| 512 + 3 * (256 << 10) + step * (1 << 20)));
}

#[test]
fn the_seed_changes_the_order_of_sizes_and_nothing_else() {
    let model = checkpoint();
    let sorted = |seed| {
        let mut sizes: Vec<u64> =
            transfers(&steps(&model, 0, seed)).into_iter().map(|(_, size)| size).collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(steps(&model, 0, 1), steps(&model, 0, 1));
    assert_ne!(steps(&model, 0, 1), steps(&model, 0, 2));
    assert_ne!(transfers(&steps(&model, 0, 1)), transfers(&steps(&model, 1, 1)));
    assert_eq!(sorted(1), sorted(2));
}

#[test]
fn files_of_the_root_are_used_by_rank_0_alone() {
    let model = Model::parse(&CHECKPOINT.replace("%r", "log").replace("private", "root")).expect("a model");
    assert_eq!(transfers(&steps(&model, 1, 0)), []);
    assert_eq!(steps(&model, 1, 0).len(), 10);
    assert_eq!(model.totals(9).map(|totals| (totals.files, totals.sessions)), Ok((1, 10)));
}

#[test]
fn what_breaks_ends_a_loop_that_is_too_long() {
    let long = CHECKPOINT.replace("repeat = 10", "repeat = 1_000_000_000_000");
    let model = Model::parse(&long).expect("a model");
    let mut count = 0;
    let ended = synthesise(&model, (0, RANKS), 0, &mut |_| {
        count += 1;
        if count == 100 { ControlFlow::Break("enough") } else { ControlFlow::Continue(()) }
    });
    assert_eq!((ended, count), (ControlFlow::Break("enough"), 100));
    assert_eq!(model.totals(1_000_000_000), Err(TooMuch(1_000_000_000)));
}

#[test]
fn loops_of_other_ranks_are_not_gone_through() {
    let long = CHECKPOINT
        .replace("%r", "log")
        .replace("private", "root")
        .replace(", { barrier = \"all\" }", "")
        .replace("repeat = 10", "repeat = 1_000_000_000_000");
    assert_eq!(steps(&Model::parse(&long).expect("a model"), 1, 0), []);
}

#[test]
fn errors_name_place_and_remedy() {
    let errors = [
        error("iotrail_workload = 1", "iotrail_workload = 2\nlater = true"),
        error("iotrail_workload = 1", ""),
        error("class = ", "klass = "),
        error("%r", "0"),
        error("\"private\"", "\"shared\""),
        error("\"ckpt.%r\"", "\"/etc/%r\""),
        error("\"ckpt.%r\"", "\"../%r\""),
        error("wo create", "wo rw"),
        error("write = 16", "write = -1"),
        error("write = 16", "read = 16"),
        error("\"64 KiB\"", "\"64 KB\""),
        error("= 15", "= 0.9"),
        error("size = {", "# size = {"),
        error("\"sequential\"", "\"backwards\""),
        error("200 us", "200"),
        error("%r/dump", "%r/load"),
        error("{ barrier = \"all\" }", "{ barrier = \"some\" }"),
        error("{ barrier = \"all\" }", "{ barrier = \"all\", repeat = 2 }"),
        error("ranks = \"0..\"", "ranks = \"3..1\""),
    ];
    for message in &errors {
        assert!(message.starts_with("line ") && message.contains("; "), "{message}");
    }
    assert_eq!(
        errors[0],
        "line 2, column 20: version 2 of model files is not known; expected iotrail_workload = 1; a newer iotrail may have \
         written the file"
    );
    assert_eq!(
        errors[3],
        "line 7, column 8: all ranks have the private file `ckpt.0`; expected `%r` for the rank in the name of a private file"
    );
    assert!(errors[2].contains("unknown field `klass`"), "{}", errors[2]);
    assert!(errors[10].contains("`64 KB` is not a size"), "{}", errors[10]);
}

/// Whether a model may have files of these names.
fn is_allowed(names: &[&str]) -> bool {
    let class = |name: &str| if name.contains("%r") { "private" } else { "shared" };
    let file = |name: &&str| format!("[[file]]\nname = \"{name}\"\nclass = \"{}\"\n", class(name));
    let files: String = names.iter().map(file).collect();
    match Model::parse(&format!("iotrail_workload = 1\n{files}[program]\nsteps = []")) {
        Ok(_) => true,
        Err(error) => !error.to_string().contains("may be one file"),
    }
}

#[test]
fn names_that_may_meet_are_refused() {
    for names in [["ck.%r", "ck.0"], ["a%r", "a1%r"], ["d/x", "d"], ["d%r", "d1/x"], ["%r/x", "7"]] {
        assert!(!is_allowed(&names), "{names:?}");
        assert!(!is_allowed(&[names[1], names[0]]), "{names:?}");
    }
    for names in
        [["ck.%r", "ck."], ["step1.%r", "step2.%r"], ["d1/%r", "d2/%r"], ["d/x", "d/y"], ["in", "out.%r"]]
    {
        assert!(is_allowed(&names), "{names:?}");
    }
    let many: String = (0..5000).map(|at| format!("[[file]]\nname = \"{at}\"\nclass = \"root\"\n")).collect();
    let many = Model::parse(&format!("iotrail_workload = 1\n{many}[program]\nsteps = []"));
    assert!(many.expect_err("many").to_string().contains("more than 4,096"));
}

#[test]
fn deep_nesting_and_huge_files_are_refused() {
    let nested = format!("steps = [{}{}]", "{ repeat = 1, steps = [".repeat(20), "]}".repeat(20));
    let steps = &CHECKPOINT[CHECKPOINT.find("steps = [").expect("steps")..];
    assert!(error(steps, &nested).contains("deeper than 16"), "{}", error(steps, &nested));
    let huge = format!("{CHECKPOINT}#{}", "x".repeat(1 << 20));
    assert!(Model::parse(&huge).expect_err("huge").to_string().contains("larger than 1 MiB"));
}

#[test]
fn a_factor_of_size_changes_bytes_and_offsets() {
    let model = knobs(&["size=0.25"]).apply(&checkpoint()).expect("whole");
    assert_eq!(model.totals(4).map(|totals| totals.bytes_written), Ok(39_362_560 / 4));
    assert_eq!(knobs(&["size=0.3"]).apply(&checkpoint()), Err(KnobError::NotWhole(1024)));
}

#[test]
fn factors_multiply_before_they_apply() {
    let there_and_back =
        knobs(&["size=0.3", "size=10", "size=0.5", "slack=0.001", "slack=1000", "requests=4"]);
    let at_once = knobs(&["size=1.5", "requests=4"]);
    assert_eq!(there_and_back.apply(&checkpoint()), at_once.apply(&checkpoint()));
}

#[test]
fn what_a_knob_cannot_do_is_refused() {
    for text in
        ["size", "size=", "size=-1", "size=0", "size=1e3", "weight=2", "size=.5", "size=9999999999999999999"]
    {
        assert!(matches!(Knobs::default().set(text), Err(KnobError::NotAKnob(_))), "{text}");
    }
    assert_eq!(knobs(&["requests=0.01"]).apply(&checkpoint()), Err(KnobError::Empty("dump".to_owned())));
    assert_eq!(knobs(&["slack=99999999999999999"]).apply(&checkpoint()), Err(KnobError::TooLarge(200_000)));
}

fn stride((bytes, by_ranks): (i64, bool)) -> Stride {
    Stride { bytes, by_ranks: by_ranks && bytes > 0 }
}

fn place_run() -> impl Strategy<Value = PlaceRun> {
    let parts = (0_u64..9000, 0_u64..3, 0_u64..900);
    let strides = ((-50_i64..50, any::<bool>()), prop::option::of((1_i64..5000, any::<bool>())));
    (parts, strides, 1_u64..5).prop_map(|((start, behind, rank), (again, step), count)| PlaceRun {
        start,
        behind,
        rank,
        again: stride(again),
        step: step.map(stride),
        shift: count as i32 - 2,
        count,
    })
}

fn session() -> impl Strategy<Value = ModelSession> {
    let strides = ((-5000_i64..5000, any::<bool>()), (-1_i64..3, any::<bool>()), (0_i64..9, any::<bool>()));
    let laws = prop_oneof![
        Just(OffsetLaw::Sequential),
        (0_u64..9, 0_u64..5000, 0_u64..3, strides).prop_map(|(start, rank, every, (step, again, jump))| {
            let (step, again, jump) = (stride(step), stride(again), stride(jump));
            OffsetLaw::Affine { start, rank, step, again, every, jump, shift: every as i32 - 1 }
        }),
        prop::collection::vec(place_run(), 1..5).prop_map(OffsetLaw::Runs),
        (prop::collection::btree_map(0_u64..9000, 1_u64..9, 1..4), 0_u64..=1_000_000).prop_map(
            |(weights, sequential)| OffsetLaw::Drawn {
                places: DrawnPlaces::Of(weights),
                sequential,
                end: sequential % 2 * 9000,
                rank: sequential % 3 * 4096,
                written: sequential % 5 == 0,
            }
        ),
        (prop::collection::vec(0_u64..9000, 2..5), 1_u64..600, 0_u64..=1_000_000).prop_map(
            |(mut bounds, align, sequential)| {
                bounds.sort_unstable();
                OffsetLaw::Drawn {
                    places: DrawnPlaces::Between { bounds, align },
                    sequential,
                    end: 0,
                    rank: align,
                    written: false,
                }
            }
        ),
    ];
    let sizes = prop::collection::btree_map(0_u64..5000, 1_u64..9, 1..4);
    let write_sizes = prop::collection::btree_map(0_u64..5000, 1_u64..9, 0..3);
    (1_u64..20, 1_u64..20, (sizes, write_sizes), laws, 0_u64..3_000_000, any::<[bool; 3]>()).prop_map(
        |(reads, syncs, (sizes, write_sizes), offset, slack, [create, truncate, append])| {
            let write_sizes_empty = write_sizes.is_empty();
            ModelSession {
                name: "s \"\\\u{7f}\n".to_owned(),
                mode: Mode { read: true, write: true, create, truncate, append },
                layer: if append || slack % 5 == 0 { SessionLayer::System } else { SessionLayer::Collective },
                requests: [
                    (RequestKind::Read, reads),
                    (RequestKind::Write, if write_sizes.is_empty() { 0 } else { syncs }),
                    (RequestKind::Fdatasync, syncs),
                ]
                .into_iter()
                .filter(|(_, count)| *count > 0)
                .collect(),
                sizes,
                write_sizes,
                runs: Vec::new(),
                write_runs: Vec::new(),
                length: (slack % 2 == 0).then(|| stride((reads as i64, create))),
                random: (slack % 3) * 250_000,
                write_offset: (slack % 2 == 0 && !write_sizes_empty).then_some(offset.clone()),
                order: if syncs > 1 && write_sizes_empty {
                    vec![(RequestKind::Fdatasync, syncs), (RequestKind::Read, reads)]
                } else {
                    Vec::new()
                },
                offset,
                slack: if slack > 0 { BTreeMap::from([(slack, 1), (slack + 7, 3)]) } else { BTreeMap::new() },
                duration: slack / 2,
                counted: slack % 3,
            }
        },
    )
}

fn models() -> impl Strategy<Value = Model> {
    let sharing = prop_oneof![Just(Sharing::Root), Just(Sharing::Shared), Just(Sharing::Private)];
    let some = (proptest::option::of(1_u32..5), proptest::option::of(Just(0_usize)), 1_u64..4);
    (session(), sharing, 0_u64..9000, 0_u64..5, some).prop_map(
        |(mut session, class, size, times, (last, ranks, count))| {
            if class != Sharing::Shared {
                session.layer = session.layer.min(SessionLayer::MpiIo);
            }
            let name = if class == Sharing::Private { "d\"é/%r".to_owned() } else { "d/f".to_owned() };
            let name = if count > 1 { format!("{name}.%i") } else { name };
            let barrier = ProgramStep::Barrier(0);
            Model {
                groups: vec![
                    RankGroup { name: "g".to_owned(), first: 1, last },
                    RankGroup { name: "all".to_owned(), first: 0, last: None },
                ],
                ranks: last,
                strong: false,
                files: vec![ModelFile {
                    name,
                    class,
                    kind: FileKind::File,
                    count,
                    size,
                    lengths: if size > 1 { vec![(size, times + 1), (size / 2, 1)] } else { Vec::new() },
                    present: size % 2 == 1,
                    call_slack: if size > 3 {
                        vec![size, 0, size / 2]
                    } else if size > 0 {
                        vec![size]
                    } else {
                        Vec::new()
                    },
                    times: Ratio::reduced(times + 1, 2).expect("a ratio"),
                    call_times: Ratio::reduced(size + 1, 3).expect("a ratio"),
                    filled: times == 3,
                    sessions: vec![session],
                    statistics: Vec::new(),
                }],
                path: None,
                steps: vec![
                    ProgramStep::Repeat(
                        times,
                        vec![ProgramStep::Session { file: 0, session: 0, ranks }, barrier.clone()],
                    ),
                    ProgramStep::Part { file: 0, session: 0, ranks, steps: count },
                    ProgramStep::Call { call: NameCall::Stat, file: 0, ranks: None, to: None },
                    barrier,
                    ProgramStep::Pause { ns: size, ranks },
                ],
            }
        },
    )
}

proptest! {
    #[test]
    fn the_text_of_a_model_is_the_model(model in models()) {
        let text = model.to_string();
        prop_assert_eq!(Model::parse(&text).map_err(|error| format!("{error}\n{text}")), Ok(model));
    }

    #[test]
    fn a_knob_at_1_is_the_identity(model in models()) {
        let turned = knobs(&["size=1", "requests=1.0", "slack=1.00,files=1,metadata=1", "burst=1.0"]).apply(&model);
        prop_assert_eq!(turned, Ok(model));
    }

    #[test]
    fn totals_are_the_sums_over_ranks(model in models(), ranks in 1_u32..5, seed: u64) {
        let totals = model.totals(ranks).expect("small");
        let all: Vec<Synthetic> = (0..ranks).flat_map(|rank| steps(&model, rank, seed)).collect();
        let bytes: u64 = transfers(&all).iter().map(|(_, size)| size).sum();
        prop_assert_eq!(totals.bytes_read + totals.bytes_written, bytes);
        let opens = all.iter().filter(|step| matches!(step.action, Action::Open { .. })).count() as u64;
        prop_assert_eq!(totals.sessions, opens);
        let calls = all.iter().filter(|step| matches!(step.action, Action::Call { .. })).count() as u64;
        prop_assert_eq!(totals.calls, calls);
        let others = totals.requests.get(&RequestKind::Fdatasync).copied().unwrap_or(0);
        let requests = all.iter().filter(|step| matches!(step.action, Action::Request(_))).count() as u64;
        prop_assert_eq!(others, requests);
    }

    #[test]
    fn hostile_text_is_refused_with_a_place(at in 0_usize..700, instead in "[\\PC\n]{0,9}", cut in 0_usize..9) {
        let at = at.min(CHECKPOINT.len());
        let end = (at + cut).min(CHECKPOINT.len());
        let text = format!("{}{instead}{}", &CHECKPOINT[..at], &CHECKPOINT[end..]);
        match Model::parse(&text) {
            Ok(model) => prop_assert_eq!(Model::parse(&model.to_string()), Ok(model)),
            Err(error) => prop_assert!(error.line >= 1 && error.line <= text.matches('\n').count() + 1),
        }
    }
}

/// The layout of section 4 of the definitions: IOR with transfers of 64 KiB, blocks of 256 KiB and two segments.
#[test]
fn interleaved_strides_grow_with_the_ranks() {
    let text = CHECKPOINT
        .replace(
            "offset = \"sequential\"",
            "offset = { rank = \"256 KiB\", step = \"64 KiB\", again = \"256 KiB * ranks\" }",
        )
        .replace("size = { \"64 KiB\" = 15, \"1 KiB\" = 1 }", "size = \"64 KiB\"")
        .replace("write = 16, fsync = 1", "write = 4");
    let model = Model::parse(&text).expect("a model");
    assert_eq!(transfers_at(&model, 5, 8)[4 + 2], 3456 << 10, "segment 1, transfer 2 of rank 5 of 8");
    let at_once = text
        .replace("again = \"256 KiB * ranks\"", "every = 4, jump = \"256 KiB * ranks\"")
        .replace("write = 4", "write = 8");
    let at_once = Model::parse(&at_once).expect("a model");
    assert_eq!(transfers_at(&at_once, 5, 8)[4 + 2], 3456 << 10, "both segments in one session");
    assert_eq!(Model::parse(&model.to_string()), Ok(model));
}

#[test]
fn sizes_in_order_are_kept_in_order() {
    let text = CHECKPOINT
        .replace("{ \"64 KiB\" = 15, \"1 KiB\" = 1 }", "[\"2 * 64 KiB\", \"1 KiB\", \"13 * 64 KiB\"]");
    let model = Model::parse(&text).expect("a model");
    assert_eq!(Model::parse(&model.to_string()), Ok(model.clone()));
    let places = transfers(&steps(&model, 0, 7));
    assert_eq!(places[..4], [(0, 65_536), (65_536, 65_536), (131_072, 1_024), (132_096, 65_536)]);
    assert_eq!(model.totals(4).map(|totals| totals.bytes_written), Ok(39_362_560));
    let fewer = knobs(&["requests=0.5"]).apply(&model).expect("a model");
    assert_eq!(transfers(&steps(&fewer, 0, 7)).len(), 8 * 10, "in the order of the first ones");
    assert!(
        error("size = { \"64 KiB\" = 15, \"1 KiB\" = 1 }", "size = [\"17 * 1 KiB\"]")
            .contains("17 sizes in order")
    );
    assert!(
        error("size = { \"64 KiB\" = 15, \"1 KiB\" = 1 }", "size = [\"x\"]").contains("not a list of sizes")
    );
}

/// Where the transfers of a rank of so many begin.
fn transfers_at(model: &Model, rank: u32, ranks: u32) -> Vec<u64> {
    let mut offsets = Vec::new();
    let ended = synthesise(model, (rank, ranks), 0, &mut |step| {
        if let Action::Transfer { offset, .. } = step.action {
            offsets.push(offset);
        }
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(ended, ControlFlow::Continue(()));
    offsets
}

#[test]
fn files_of_a_running_number_are_counted_over_all_steps() {
    let text = CHECKPOINT
        .replace("name = \"ckpt.%r\"\nclass = \"private\"", "name = \"f.%i\"\nclass = \"shared\"\ncount = 7")
        .replace("ckpt.%r/dump", "f.%i/dump")
        .replace(
            "steps = [{ repeat = 10,",
            "steps = [{ session = \"f.%i/dump\" }, { session = \"f.%i/dump\" }, { repeat = 3,",
        );
    let model = Model::parse(&text).expect("a model");
    assert_eq!(model.totals(4).map(|totals| (totals.files, totals.sessions)), Ok((5, 20)));
    let text = text.replace("repeat = 3", "repeat = 300");
    let model = Model::parse(&text).expect("a model");
    assert_eq!(model.totals(4).map(|totals| totals.files), Ok(7));
}

#[test]
fn sessions_in_parts_and_calls_are_in_the_order_of_the_program() {
    let text = CHECKPOINT
        .replace("%r", "all")
        .replace("private", "shared")
        .replace("write = 16, fsync = 1", "write = 2, stat = 1")
        .replace("{ \"64 KiB\" = 15, \"1 KiB\" = 1 }", "1000")
        .replace(
            "steps = [{ repeat = 10, steps = [{ session = \"ckpt.all/dump\" }, { barrier = \"all\" }] }]",
            "steps = [{ session = \"ckpt.all/dump\", next = 2 }, { call = \"stat\", file = \"ckpt.all\" }, \
             { repeat = 5, steps = [{ session = \"ckpt.all/dump\", next = 1 }, { barrier = \"all\" }] }]",
        );
    let model = Model::parse(&text).expect("a model");
    assert_eq!(Model::parse(&model.to_string()), Ok(model.clone()));
    let letters = |model: &Model| -> String {
        let letter = |step: &Synthetic| match step.action {
            Action::Open { .. } => 'o',
            Action::Transfer { .. } => 'w',
            Action::Request(_) => 'f',
            Action::Close => 'c',
            Action::Call { .. } => 's',
            Action::Pause => '-',
            Action::Barrier(_) => '|',
            Action::After { .. } => 'a',
            Action::Message { .. } => 'm',
        };
        steps(model, 1, 0).iter().map(letter).collect()
    };
    assert_eq!(letters(&model), "owsw|f|c|o|w|wfc", "what is not over at the end is ended");
    let totals = model.totals(4).expect("small");
    assert_eq!((totals.sessions, totals.calls, totals.barriers), (8, 4, 5));
    let longer = knobs(&["requests=2"]).apply(&model).expect("a model");
    assert_eq!(letters(&longer), "owwsf|ww|fc|o|ww|fwwfc", "parts grow with their sessions");
}

#[test]
fn ranks_pause_for_a_time_that_slack_changes() {
    let steps_text =
        "steps = [{ repeat = 10, steps = [{ session = \"ckpt.%r/dump\" }, { barrier = \"all\" }] }]";
    let with = |pause: &str| {
        CHECKPOINT.replace(steps_text, &format!("steps = [{pause}, {{ session = \"ckpt.%r/dump\" }}]"))
    };
    let model = Model::parse(&with("{ pause = \"3 ms\", ranks = \"all\" }")).expect("a model");
    assert_eq!(Model::parse(&model.to_string()), Ok(model.clone()));
    let first = |model: &Model| steps(model, 1, 0).first().map(|step| (step.action, step.slack));
    assert_eq!(first(&model), Some((Action::Pause, 3_000_000)));
    let faster = knobs(&["slack=0.5"]).apply(&model).expect("a model");
    assert_eq!(first(&faster), Some((Action::Pause, 1_500_000)));
    assert_eq!(model.totals(4).expect("small").sessions, 4, "a pause is no session");
    for (pause, wrong) in [
        ("{ pause = \"3 km\" }", "this is not a time"),
        ("{ pause = \"3 ms\", barrier = \"all\" }", "this is not a step"),
        ("{ pause = \"3 ms\", ranks = \"nobody\" }", "no group is called"),
    ] {
        let error = Model::parse(&with(pause)).expect_err(pause).to_string();
        assert!(error.contains(wrong), "{error}");
    }
}

#[test]
fn transfers_of_shared_files_are_dealt_to_any_number_of_ranks() {
    let text = |offset: &str| {
        CHECKPOINT
            .replace("iotrail_workload = 1", "iotrail_workload = 1\nranks = 3\nscaling = \"strong\"")
            .replace("%r", "all")
            .replace("private", "shared")
            .replace("write = 16, fsync = 1", "write = 4, fsync = 1")
            .replace("{ \"64 KiB\" = 15, \"1 KiB\" = 1 }", "100")
            .replace("repeat = 10", "repeat = 2")
            .replace("\"sequential\"", offset)
    };
    for (offset, first_of_1) in [
        ("{ rank = 400, step = 100, again = 5000 }", 200),
        ("{ rank = 100, step = \"100 B * ranks\", again = 5000 }", 100),
    ] {
        let model = Model::parse(&text(offset)).expect("a model");
        let all = |ranks: u32| -> Vec<u64> {
            let mut all: Vec<u64> = (0..ranks).flat_map(|rank| transfers_at(&model, rank, ranks)).collect();
            all.sort_unstable();
            all
        };
        let recorded = all(3);
        assert_eq!(recorded.len(), 24);
        for ranks in [1, 2, 5, 12, 30] {
            assert_eq!(all(ranks), recorded, "{ranks} ranks touch the same bytes");
            let totals = model.totals(ranks).expect("small");
            assert_eq!((totals.bytes_written, totals.sessions), (2400, u64::from(ranks) * 2));
        }
        assert_eq!(transfers_at(&model, 1, 6)[0], first_of_1);
    }
}

#[test]
fn reads_and_writes_have_laws_and_an_order_of_their_own() {
    let text = CHECKPOINT
        .replace("%r", "all")
        .replace("private", "shared")
        .replace("wo create", "rw create")
        .replace(
            "requests = { write = 16, fsync = 1 }",
            "requests = { write = 2, read = 2 }\n  order = [\"2 * write\", \"2 * read\"]",
        )
        .replace("{ \"64 KiB\" = 15, \"1 KiB\" = 1 }", "10");
    let text = text
        .replace("\"sequential\"", "{ rank = 10, step = \"10 B * ranks\", shift = 1 }\n  write_offset = { rank = 10, step = \"10 B * ranks\" }");
    let model = Model::parse(&text).expect("a model");
    assert_eq!(Model::parse(&model.to_string()), Ok(model.clone()));
    assert_eq!(transfers_at(&model, 3, 4)[..4], [30, 70, 0, 40]);
}

/// Each rank gives a message to the one that comes next, and waits for one from the one before.
#[test]
fn ranks_give_messages_and_wait_for_them() {
    let halves = |steps: &str, ranks: u32| -> Vec<String> {
        let text = CHECKPOINT.replace("{ barrier = \"all\" }", steps);
        let model = Model::parse(&text).expect("a model");
        assert_eq!(Model::parse(&model.to_string()).as_ref(), Ok(&model));
        assert_eq!(model.stuck(ranks, 0), None, "{steps}");
        let of_rank = |rank: u32| -> String {
            let half = |step: &Synthetic| match step.action {
                Action::Message { half: MessageHalf::Send, rank, number } => format!("+{rank}.{number} "),
                Action::Message { half: MessageHalf::Receive, rank, number } => format!("-{rank}.{number} "),
                _ => String::new(),
            };
            let all: String = steps_of(&model, (rank, ranks), 0).iter().map(half).collect();
            all.trim_end().split_inclusive(' ').take(4).collect::<String>().trim_end().to_owned()
        };
        (0..ranks).map(of_rank).collect()
    };
    let around = "{ message = \"send\", around = 1 }, { message = \"receive\", around = -1 }";
    assert_eq!(halves(around, 3), ["+1.0 -2.0 +1.1 -2.1", "+2.0 -0.0 +2.1 -0.1", "+0.0 -1.0 +0.1 -1.1"]);
    let by = "{ message = \"send\", by = 1 }, { message = \"receive\", by = -1 }";
    assert_eq!(halves(by, 2), ["+1.0 +1.1 +1.2 +1.3", "-0.0 -0.1 -0.2 -0.3"], "the ends have one neighbour");
    let star =
        "{ message = \"send\", to = \"all\", ranks = \"all\" }, { message = \"receive\", from = \"all\" }";
    assert_eq!(halves(star, 3)[1], "+0.0 +2.0 -0.0 -2.0");
    let model = Model::parse(&CHECKPOINT.replace("{ barrier = \"all\" }", star)).expect("a model");
    let totals = model.totals(3).expect("small");
    assert_eq!(
        (totals.messages_sent, totals.messages_received),
        (60, 60),
        "10 rounds of 3 ranks with 2 others"
    );
}

#[test]
fn half_a_message_has_one_partner() {
    for (bad, says) in [
        ("{ message = \"tell\", to = \"all\" }", "`tell` is no half of a message; expected send or receive"),
        ("{ message = \"send\" }", "the message has no partner; expected one of to = \"GROUP\", by = 1 and"),
        ("{ message = \"receive\", from = \"all\", by = 1 }", "two partners; expected one of from"),
        ("{ message = \"send\", from = \"all\" }", "a send has `to`, not `from`; expected one of to"),
        ("{ message = \"send\", by = 1, barrier = \"all\" }", "this is not a step"),
        ("{ message = \"send\", of = \"all\" }", "this is not a step"),
        ("{ to = \"all\" }", "this is not a step"),
        ("{ after = \"ckpt.%r/dump\", by = -1, from = \"all\" }", "this is not a step"),
        ("{ message = \"send\", to = \"some\" }", "no group is called `some`"),
        ("{ message = \"send\", around = 0 }", "the rank that comes 0 later"),
    ] {
        let text = CHECKPOINT.replace("{ barrier = \"all\" }", bad);
        let error = Model::parse(&text).expect_err(bad).to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// What nobody does is passed by as a whole, however often it is repeated.
#[test]
fn loops_of_nobody_end_at_once() {
    let repeated = |steps: &str| {
        let text = CHECKPOINT
            .replace("[[file]]", "[[group]]\nname = \"far\"\nranks = \"9\"\n[[file]]")
            .replace("{ barrier = \"all\" }", "{ after = \"ckpt.%r/dump\", by = -1 }")
            .replace(
                "steps = [{ repeat = 10",
                &format!("steps = [{{ repeat = 1000000000000, steps = [{steps}] }}, {{ repeat = 10"),
            );
        Model::parse(&text).expect("a model")
    };
    for nobody in [
        "{ message = \"send\", to = \"far\" }",
        "{ message = \"receive\", by = 99 }",
        "{ session = \"ckpt.%r/dump\", ranks = \"far\" }, { session = \"ckpt.%r/dump\", next = 2, ranks = \"far\" }",
        "{ after = \"ckpt.%r/dump\", of = \"far\" }",
    ] {
        let model = repeated(nobody);
        assert_eq!(model.stuck(3, 0), None, "{nobody}");
        let totals = model.totals(3).expect("small");
        assert_eq!((totals.sessions, totals.messages_sent, totals.waits), (30, 0, 20), "{nobody}");
    }
    let waits = repeated("{ after = \"ckpt.%r/dump\", of = \"all\" }").totals(3).expect("it fits");
    assert_eq!(waits.waits, 6_000_000_000_020, "counted, so that it is refused");
}

#[test]
fn who_waits_for_ever_is_found() {
    let stuck = |steps: &str| {
        let model = Model::parse(&CHECKPOINT.replace("{ barrier = \"all\" }", steps)).expect("a model");
        model.stuck(3, 0).map(|stuck| stuck.to_string())
    };
    let waits = "{ message = \"receive\", around = -1 }";
    let tells = "{ message = \"send\", around = 1 }";
    let circle = "rank 0 waits for message 1 of rank 2, rank 2 waits for message 1 of rank 1, rank 1 waits for message 1 of rank 0";
    assert_eq!(stuck(&format!("{waits}, {tells}")).as_deref(), Some(circle));
    assert_eq!(stuck(&format!("{tells}, {waits}")), None);
    assert_eq!(stuck(waits), None, "what nobody gives is not waited for");
    let others = "{ message = \"receive\", by = -1 }, { barrier = \"all\" }, { message = \"send\", by = 1 }";
    let at_barrier = "rank 0 waits for rank 1 in a barrier of all, rank 1 waits for message 1 of rank 0";
    assert_eq!(stuck(others).as_deref(), Some(at_barrier));
    assert_eq!(stuck("{ barrier = \"all\" }, { after = \"ckpt.%r/dump\", of = \"all\" }"), None);
}

/// Ranks wait for what others did before, in the order of the program.
#[test]
fn a_rank_waits_for_the_sessions_of_others_that_come_before() {
    let waits = |step: &str, ranks: u32| -> Vec<Vec<(u32, u64)>> {
        let text = CHECKPOINT.replace("{ barrier = \"all\" }", step);
        let model = Model::parse(&text).expect("a model");
        assert_eq!(Model::parse(&model.to_string()).as_ref(), Ok(&model));
        let of_rank = |rank: u32| -> Vec<(u32, u64)> {
            let mut found = Vec::new();
            let ended = synthesise(&model, (rank, ranks), 0, &mut |step| {
                if let Action::After { rank, file: 0, session: 0, execution } = step.action {
                    found.push((rank, execution));
                }
                ControlFlow::<()>::Continue(())
            });
            assert_eq!(ended, ControlFlow::Continue(()));
            found
        };
        (0..ranks).map(of_rank).collect()
    };
    let before: Vec<(u32, u64)> = (0..10).map(|execution| (0, execution)).collect();
    let ring = waits("{ after = \"ckpt.%r/dump\", by = -1 }", 2);
    assert_eq!(ring, [Vec::new(), before.clone()], "the first one has none before it");
    let around = waits("{ after = \"ckpt.%r/dump\", around = -1 }", 2);
    assert_eq!(around, [before.iter().map(|(_, execution)| (1, *execution)).collect(), before.clone()]);
    let turns = "{ after = \"ckpt.%r/dump\", around = -1 }, { session = \"ckpt.%r/dump\" }";
    let turns = waits(&format!("{turns}, {{ barrier = \"all\" }}"), 3);
    assert_eq!(turns[2][..2], [(1, 1), (1, 3)], "the one before has had its turn");
    assert_eq!(turns[0][..2], [(2, 0), (2, 2)], "the last one had it in the round before");
    let all = waits("{ after = \"ckpt.%r/dump\", of = \"all\" }", 3);
    assert_eq!(all[1][..4], [(0, 0), (2, 0), (0, 1), (2, 1)]);
    let step = "{ after = \"ckpt.%r/dump\", of = \"all\" }";
    for (bad, says) in [
        ("{ after = \"ckpt.%r/load\", of = \"all\" }", "no session is called"),
        ("{ after = \"ckpt.%r/dump\" }", "nobody is waited for; add of"),
        ("{ after = \"ckpt.%r/dump\", by = 0 }", "the rank that comes 0 later"),
        ("{ after = \"ckpt.%r/dump\", by = 1, barrier = \"all\" }", "this is not a step"),
        ("{ barrier = \"all\", by = 1 }", "this is not a step"),
    ] {
        let text = CHECKPOINT.replace("{ barrier = \"all\" }", step).replace(step, bad);
        let error = Model::parse(&text).expect_err(bad).to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// A token goes backwards through many ranks, round after round: each of them is looked at when it is its turn.
#[test]
fn long_chains_of_waits_are_gone_through_once() {
    let back = "{ message = \"receive\", around = 1, ranks = \"others\" }, { message = \"send\", around = -1 }, { message = \"receive\", around = 1, ranks = \"root\" }, { barrier = \"all\" }";
    let text = CHECKPOINT
        .replace("[[file]]", "[[group]]\nname = \"others\"\nranks = \"1..\"\n[[group]]\nname = \"root\"\nranks = \"0\"\n[[file]]")
        .replace("repeat = 10", "repeat = 40")
        .replace("{ barrier = \"all\" }", back);
    let model = Model::parse(&text).expect("a model");
    assert_eq!(model.stuck(1000, 0), None);
}
