//! Sessions that take locks.

use iotrail_workload::{
    Action, KnobError, Knobs, Model, ModelSession, RequestKind, Synthetic, locks_fit, synthesise,
};
use proptest::prelude::*;
use std::ops::ControlFlow;

/// A counter of all ranks.
const COUNTER: &str = r#"
iotrail_workload = 1
ranks = 2
[[file]]
name = "counter"
class = "shared"
  [[file.session]]
  name = "s"
  mode = "rw create"
  requests = { lock = 3, read = 3, write = 6, unlock = 3 }
  order = ["lock", "read", "2 * write", "unlock"]
  size = "8 B"
  offset = { start = "0 B" }
[program]
steps = [{ session = "counter/s" }]
"#;

fn kinds(model: &Model) -> Vec<RequestKind> {
    let mut all = Vec::new();
    let ended = synthesise(model, (1, 2), 0, &mut |Synthetic { action, .. }| {
        all.extend(match action {
            Action::Transfer { kind, .. } | Action::Request(kind) => Some(kind),
            _ => None,
        });
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(ended, ControlFlow::Continue(()));
    all
}

#[test]
fn an_order_is_done_as_often_as_there_are_requests() {
    use RequestKind::{Lock, Read, Unlock, Write};
    let model = Model::parse(COUNTER).expect("a model");
    assert_eq!(kinds(&model), [Lock, Read, Write, Write, Unlock].repeat(3));
    assert_eq!(model.files[0].sessions[0].order.len(), 4);
    assert_eq!(Model::parse(&model.to_string()), Ok(model.clone()));
    let knobs = |text: &str| {
        let mut knobs = Knobs::default();
        knobs.set(text).expect("a knob");
        knobs
    };
    let more = knobs("requests=4").apply(&model).expect("a whole factor");
    assert_eq!(kinds(&more), [Lock, Read, Write, Write, Unlock].repeat(12));
    assert_eq!(knobs("requests=0.5").apply(&model), Err(KnobError::Locks("s".to_owned())));
    assert_eq!(knobs("reads=0.5").apply(&model), Err(KnobError::Locks("s".to_owned())));
    assert!(matches!(knobs("layer=mpi-io").apply(&model), Err(KnobError::NotOfLayer(..))));
    assert_eq!(model.dealt_with_locks(), None);
    let dealt = Model { strong: true, ..model };
    assert_eq!(dealt.dealt_with_locks(), Some("s"));
}

#[test]
fn locks_that_are_not_taken_and_released_in_turn_are_refused() {
    for (from, to, expected) in [
        ("order = [\"lock\", \"read\"", "order = [\"read\", \"lock\"", None),
        ("unlock = 3", "unlock = 2", Some("these are not the requests of the session")),
        ("\"2 * write\", \"unlock\"]", "\"unlock\", \"2 * write\"]", None),
        (
            "\"lock\", \"read\", \"2 * write\", \"unlock\"]",
            "\"unlock\", \"read\", \"2 * write\", \"lock\"]",
            Some("a lock is taken that is held"),
        ),
        (", unlock = 3", "", Some("these are not the requests of the session")),
        ("mode =", "layer = \"mpi-io\"\n  mode =", Some("a session of MPI-IO takes locks")),
    ] {
        let text = COUNTER.replacen(from, to, 1);
        assert_ne!(text, COUNTER);
        match (Model::parse(&text), expected) {
            (Ok(_), None) => {}
            (Err(error), Some(expected)) => assert!(error.to_string().contains(expected), "{error}"),
            (found, expected) => panic!("{found:?}, not {expected:?}"),
        }
    }
    // Kept to the end of the session, but not from one round to the next.
    let once = COUNTER.replace("lock = 3, read = 3, write = 6, unlock = 3", "lock = 1, read = 1, write = 2");
    let once = once.replace(", \"unlock\"]", "]");
    assert!(Model::parse(&once).is_ok());
    let twice = once.replace("lock = 1, read = 1, write = 2", "lock = 2, read = 2, write = 4");
    assert!(Model::parse(&twice).expect_err("held").to_string().contains("a lock is taken that is held"));
}

#[test]
fn a_lock_that_is_held_while_ranks_meet_is_waited_for_for_ever() {
    let model = |steps: &str, kind: &str| {
        let text = COUNTER
            .replace("lock = 3, read = 3, write = 6, unlock = 3", &format!("{kind} = 1, read = 1, write = 2"))
            .replace(
                "[\"lock\", \"read\", \"2 * write\", \"unlock\"]",
                &format!("[\"{kind}\", \"read\", \"2 * write\"]"),
            )
            .replace("[[file]]", "[[group]]\nname = \"all\"\nranks = \"0..\"\n[[file]]")
            .replace("[{ session = \"counter/s\" }]", &format!("[{steps}]"));
        Model::parse(&text).expect("a model")
    };
    let across =
        r#"{ session = "counter/s", next = 3 }, { barrier = "all" }, { session = "counter/s", next = 2 }"#;
    let stuck = |model: &Model, ranks| model.stuck(ranks, 0).map(|stuck| stuck.to_string());
    let exclusive = model(across, "lock");
    assert_eq!(
        stuck(&exclusive, 2).as_deref(),
        Some(
            "rank 0 waits for rank 1 in a barrier of all, rank 1 waits for the lock of counter that rank 0 has"
        )
    );
    assert_eq!(stuck(&exclusive, 1), None);
    assert_eq!(stuck(&model(across, "lock-shared"), 3), None);
    let within = r#"{ session = "counter/s" }, { barrier = "all" }, { session = "counter/s" }"#;
    assert_eq!(stuck(&model(within, "lock"), 3), None);
    // Two files in opposite orders, and one file twice.
    let two = r#"
iotrail_workload = 1
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
name = "a"
class = "shared"
[[file.session]]
name = "s"
mode = "rw create"
requests = { lock = 1, write = 1, unlock = 1 }
order = ["lock", "write", "unlock"]
size = "8 B"
[[file.session]]
name = "t"
mode = "rw create"
requests = { lock = 1, unlock = 1 }
order = ["lock", "unlock"]
[[file]]
name = "b"
class = "shared"
[[file.session]]
name = "s"
mode = "rw create"
requests = { lock = 1, write = 1, unlock = 1 }
order = ["lock", "write", "unlock"]
size = "8 B"
[program]
steps = [STEPS]
"#;
    let two = |steps: &str| Model::parse(&two.replace("STEPS", steps)).expect("a model");
    let opposite = r#"{ session = "a/s", next = 2, ranks = "root" }, { session = "b/s", next = 2, ranks = "others" }, { barrier = "all" },
        { session = "b/s", ranks = "root" }, { session = "a/s", ranks = "others" }"#;
    assert!(
        stuck(&two(&opposite.replace('\n', "")), 2)
            .is_some_and(|why| why.contains("the lock of b that rank 1 has"))
    );
    let twice = r#"{ session = "a/s", next = 2 }, { session = "a/t" }"#;
    assert_eq!(stuck(&two(twice), 1).as_deref(), Some("rank 0 waits for the lock of a that rank 0 has"));
    // The first rank may hold it as long as no other one wants it before they meet.
    let of_first = r#"{ session = "counter/s", next = 3, ranks = "root" }, { barrier = "all" }, { session = "counter/s", next = 2, ranks = "root" }, { session = "counter/s", ranks = "others" }"#;
    let groups =
        "[[group]]\nname = \"root\"\nranks = \"0\"\n[[group]]\nname = \"others\"\nranks = \"1..\"\n[[group]]";
    let text = model(within, "lock").to_string().replacen("[[group]]", groups, 1);
    let text = format!("{}steps = [{of_first}]\n", text.split("steps = ").next().expect("a begin"));
    assert_eq!(stuck(&Model::parse(&text).expect("a model"), 3), None);
}

proptest! {
    /// The order of requests is what it was made of, so often as it is done.
    #[test]
    fn an_order_says_what_was_done(words in prop::collection::vec(0_usize..3, 1..12), times in 1_usize..5) {
        use RequestKind::{Fsync, Read, Write};
        let kinds = words.iter().map(|word| [Read, Write, Fsync][*word]).collect::<Vec<_>>().repeat(times);
        let order = ModelSession::order_of(&kinds);
        let count = |kind| kinds.iter().filter(|other| **other == kind).count();
        let requests: Vec<String> = [("read", Read), ("write", Write), ("fsync", Fsync)]
            .into_iter()
            .filter(|(_, kind)| count(*kind) > 0)
            .map(|(word, kind)| format!("{word} = {}", count(kind)))
            .collect();
        let runs: Vec<String> =
            order.iter().map(|(kind, count)| format!("\"{count} * {}\"", kind.word())).collect();
        let runs = if runs.is_empty() { String::new() } else { format!("order = [{}]\n", runs.join(", ")) };
        let size = if count(Read) + count(Write) > 0 { "size = \"1 B\"\n" } else { "" };
        let text = format!(
            "iotrail_workload = 1\n[[file]]\nname = \"f\"\nclass = \"shared\"\n[[file.session]]\nname = \"s\"\nmode = \"rw\"\n\
             requests = {{ {} }}\n{size}{runs}[program]\nsteps = [{{ session = \"f/s\" }}]\n",
            requests.join(", ")
        );
        let model = Model::parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(super::locks::kinds(&model), kinds);
    }

    #[test]
    fn locks_fit_if_none_is_held_twice(words in prop::collection::vec(0_usize..4, 0..12)) {
        use RequestKind::{Lock, LockShared, Read, Unlock};
        let kinds: Vec<RequestKind> = words.iter().map(|word| [Lock, LockShared, Read, Unlock][*word]).collect();
        let of_locks: Vec<bool> =
            kinds.iter().filter(|kind| **kind != Read).map(|kind| *kind != Unlock).collect();
        let turns = of_locks.iter().enumerate().all(|(at, takes)| *takes == (at % 2 == 0));
        prop_assert_eq!(locks_fit(kinds), turns);
    }
}
