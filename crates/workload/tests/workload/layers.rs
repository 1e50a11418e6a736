//! Sessions that are done with calls of MPI-IO, alone or by all ranks together.

use iotrail_workload::{Action, KnobError, Knobs, Model, SessionLayer, Synthetic, TEMPLATES, synthesise};
use std::ops::ControlFlow;

fn template(name: &str) -> Model {
    let (.., text) = TEMPLATES.iter().find(|(known, ..)| *known == name).expect("a template");
    Model::parse(text).expect("a model")
}

fn steps(model: &Model, rank: u32, ranks: u32) -> Vec<Synthetic> {
    let mut all = Vec::new();
    let ended = synthesise(model, (rank, ranks), 0, &mut |step| {
        all.push(step);
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(ended, ControlFlow::Continue(()));
    all
}

/// Two writes of each rank, which takes 1 ms before each request, and a look at the size.
const TOGETHER: &str = r#"
iotrail_workload = 1
ranks = 3
[[group]]
name = "all"
ranks = "0.."
[[group]]
name = "root"
ranks = "0"
[[group]]
name = "others"
ranks = "1.."
[[file]]
name = "f"
class = "shared"
  [[file.session]]
  name = "s"
  mode = "rw create"
  layer = "collective"
  requests = { write = 2, stat = 1 }
  size = "1 KiB"
  offset = { rank = "1 KiB", step = "1 KiB * ranks" }
  slack = "1 ms"
  [[file.session]]
  name = "one"
  mode = "rw create"
  layer = "collective"
  requests = { write = 1, stat = 1 }
  size = "1 KiB"
[program]
steps = [{ session = "f/s" }]
"#;

#[test]
fn all_ranks_meet_before_each_call_that_they_make_together() {
    let model = Model::parse(TOGETHER).expect("a model");
    let own = steps(&model, 1, 3);
    let words: Vec<(&str, u64)> = own
        .iter()
        .map(|step| match step.action {
            Action::Barrier(0) => ("meet", step.slack),
            Action::Open { .. } => ("open", step.slack),
            Action::Transfer { .. } => ("write", step.slack),
            Action::Request(_) => ("stat", step.slack),
            _ => ("close", step.slack),
        })
        .collect();
    let alone: Vec<&str> = words.iter().map(|(word, _)| *word).filter(|word| *word != "meet").collect();
    assert_eq!(alone, ["open", "write", "write", "stat", "close"]);
    let behind: Vec<&str> =
        words.windows(2).filter(|pair| pair[0].0 == "meet").map(|pair| pair[1].0).collect();
    assert_eq!(behind, ["open", "write", "write", "close"], "the size is asked for alone");
    // Time passes before ranks meet, and not between that and the call.
    let time =
        |of: fn(&str) -> bool| words.iter().filter(|(word, _)| of(word)).map(|(_, slack)| slack).sum::<u64>();
    assert_eq!(time(|word| word == "open" || word == "write" || word == "close"), 0);
    assert_eq!(time(|_| true), 1_000_000 * own.iter().filter(|step| step.slack > 0).count() as u64);
    assert_eq!(model.totals(5).map(|totals| totals.barriers), Ok(4));
    assert_eq!(
        template("shared-collective").totals(4).map(|totals| (totals.sessions, totals.barriers)),
        Ok((8, 36))
    );
    assert_eq!(Model::parse(&model.to_string()), Ok(model));
}

#[test]
fn two_sessions_of_ranks_meet_in_the_same_calls_or_are_apart() {
    let with = |steps: &str| {
        Model::parse(&TOGETHER.replace("steps = [{ session = \"f/s\" }]", &format!("steps = [{steps}]")))
            .expect("a model")
    };
    let apart = |model: &Model, ranks| model.apart(ranks, 0).map(|apart| apart.to_string());
    let split = with(r#"{ session = "f/s", ranks = "root" }, { session = "f/s", ranks = "others" }"#);
    assert_eq!(apart(&split, 4), None);
    assert_eq!(split.totals(4).map(|totals| totals.barriers), Ok(4), "no meeting counts twice");
    let uneven = with(r#"{ session = "f/s", ranks = "root" }, { session = "f/one", ranks = "others" }"#);
    assert_eq!(
        apart(&uneven, 2).as_deref(),
        Some(
            "of the calls that all ranks make together, rank 0 makes a write of `f` as number 3, rank 1 closes `f`"
        )
    );
    let alone = with(r#"{ session = "f/s", ranks = "root" }"#);
    assert!(
        apart(&alone, 2)
            .is_some_and(|why| why.ends_with("rank 0 opens `f` (rw create) as number 1, rank 1 ends"))
    );
    assert_eq!(apart(&alone, 1), None);
    // Of six transfers that are dealt each of four ranks gets one or two.
    let mut dealt = with(r#"{ session = "f/s" }"#);
    dealt.strong = true;
    assert_eq!((apart(&dealt, 3), apart(&dealt, 2)), (None, None));
    assert!(apart(&dealt, 4).is_some());
}

#[test]
fn what_cannot_be_done_together_is_refused_with_its_line() {
    for (from, to, expected) in [
        (
            "\"collective\"",
            "\"hdf5\"",
            "line 19, column 11: `hdf5` is not a layer; expected posix, mpi-io or collective",
        ),
        ("\"rw create\"", "\"rw append\"", "a session of MPI-IO appends"),
        (
            "name = \"f\"\nclass = \"shared\"",
            "name = \"f.%r\"\nclass = \"private\"",
            "a collective session of a file that is not shared",
        ),
        ("ranks = \"0..\"", "ranks = \"0..7\"", "a collective session without a group of all ranks"),
        ("[program]\nsteps = [{ session = \"f/s\" }]", "", "a session of MPI-IO in an order that is drawn"),
    ] {
        let text = TOGETHER.replacen(from, to, 1);
        assert_ne!(text, TOGETHER, "{from}");
        let error = Model::parse(&text).expect_err(from).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_knob_changes_the_layer_and_nothing_else() {
    let knobs = |text: &str| {
        let mut knobs = Knobs::default();
        knobs.set(text).expect("a knob");
        knobs
    };
    let strided = template("shared-strided");
    let together = knobs("layer=collective").apply(&strided).expect("possible");
    assert!(together.files[0].sessions.iter().all(|session| session.layer == SessionLayer::Collective));
    let bytes = |model: &Model| {
        let own = (0..3).flat_map(|rank| steps(model, rank, 3));
        own.filter_map(|step| match step.action {
            Action::Transfer { kind, offset, size } => Some((kind, offset, size)),
            _ => None,
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(bytes(&together), bytes(&strided));
    assert_eq!(knobs("layer=posix").apply(&together), Ok(strided));
    // A file of each rank is nobody else's.
    let alone = knobs("layer=collective").apply(&template("checkpoint")).expect("possible");
    assert!(alone.files[0].sessions.iter().all(|session| session.layer == SessionLayer::MpiIo));
    let private = knobs("sharing=private").apply(&together).expect("possible");
    assert!(private.files[0].sessions.iter().all(|session| session.layer == SessionLayer::MpiIo));
    assert!(matches!(knobs("layer=mpi-io").apply(&template("log")), Err(KnobError::NotOfLayer(..))));
    assert!(matches!(Knobs::default().set("layer=hdf5"), Err(KnobError::NotAKnob(_))));
}
