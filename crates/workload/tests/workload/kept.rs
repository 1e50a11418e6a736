//! What models keep beside numbers: names that files get, sizes in turn, places towards the begin of a file.

use iotrail_workload::{Action, Knobs, Model, NameCall, OffsetLaw, synthesise};
use std::ops::ControlFlow;

const MODEL: &str = r#"
iotrail_workload = 1

[[file]]
name = "new.%i"
class = "root"
count = 2

[[file.session]]
name = "write"
mode = "wo create"
requests = { write = 1 }
size = "8 B"

[[file]]
name = "result"
class = "root"

[program]
steps = [{ repeat = 3, steps = [{ session = "new.%i/write" }, { repeat = 2, steps = [{ call = "stat", file = "new.%i" }] }, { call = "rename", file = "new.%i", to = "result" }, { call = "stat", file = "result" }] }]
"#;

/// Call, file, its number, and the file whose name it gets.
type Call = (NameCall, usize, u64, Option<(usize, u64)>);

fn calls(model: &Model) -> Vec<Call> {
    let mut calls = Vec::new();
    let ended = synthesise(model, (0, 1), 0, &mut |step| {
        if let Action::Call { call, file, number, to } = step.action {
            calls.push((call, file, number, to));
        }
        ControlFlow::<()>::Continue(())
    });
    assert!(ended.is_continue());
    calls
}

#[test]
fn a_file_gets_the_name_of_another_one() {
    let model = Model::parse(MODEL).unwrap();
    assert_eq!(Model::parse(&model.to_string()).unwrap(), model);
    assert!(!model.is_there(1), "what gets its name by a call is not there before");
    let (stat, rename) = (NameCall::Stat, NameCall::Rename);
    let round = |number| {
        [
            (stat, 0, number, None),
            (stat, 0, number, None),
            (rename, 0, number, Some((1, 0))),
            (stat, 1, 0, None),
        ]
    };
    let found = calls(&model);
    assert_eq!(
        found,
        [round(0), round(1), round(0)].concat(),
        "what is not made yet, or gone, is not asked for"
    );
    let renamed: Vec<u64> =
        found.iter().filter(|(call, ..)| *call == rename).map(|(.., number, _)| *number).collect();
    assert_eq!(renamed, [0, 1, 0]);
}

#[test]
fn names_are_given_by_renames_alone() {
    for (from, to, problem) in [
        (
            "call = \"rename\", file = \"new.%i\", to = \"result\"",
            "call = \"rename\", file = \"new.%i\", to = \"results\"",
            "no file is called `results`",
        ),
        (
            "call = \"stat\", file = \"result\"",
            "call = \"stat\", file = \"result\", to = \"result\"",
            "`stat` does not give files the name of `result`",
        ),
    ] {
        let error = Model::parse(&MODEL.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.starts_with("line 20, ") && error.contains(problem), "{error}");
    }
}

/// A session that transfers, with this in the model.
fn session(requests: &str, rest: &str) -> String {
    format!(
        "iotrail_workload = 1\n[[file]]\nname = \"f\"\nclass = \"root\"\n[[file.session]]\nname = \"s\"\nmode = \"rw create\"\n\
         requests = {{ {requests} }}\n{rest}\n[program]\nsteps = [{{ session = \"f/s\" }}]\n"
    )
}

fn transfers(text: &str) -> Vec<(u64, u64)> {
    let model = Model::parse(text).expect("a model");
    assert_eq!(Model::parse(&model.to_string()), Ok(model.clone()));
    let mut found = Vec::new();
    let ended = synthesise(&model, (0, 1), 0, &mut |step| {
        if let Action::Transfer { offset, size, .. } = step.action {
            found.push((offset, size));
        }
        ControlFlow::<()>::Continue(())
    });
    assert!(ended.is_continue());
    found
}

#[test]
fn sizes_in_order_come_again_and_again() {
    let text = session("write = 5", "size = [\"1 B\", \"10 B\"]");
    assert_eq!(transfers(&text), [(0, 1), (1, 10), (11, 1), (12, 10), (22, 1)]);
    let totals = Model::parse(&text).unwrap().totals(1).unwrap();
    assert_eq!(totals.bytes_written, 23);
}

#[test]
fn transfers_may_go_towards_the_begin() {
    let text =
        session("read = 3", "size = \"10 B\"\noffset = { start = \"20 B\", rank = 0, step = \"-10 B\" }");
    assert_eq!(transfers(&text), [(20, 10), (10, 10), (0, 10)]);
}

#[test]
fn a_wrong_law_is_named_by_its_key_and_its_line() {
    for (law, place, problem) in [
        ("{ start = \"20 X\" }", "line 10, column 12", "`start` of `offset`: found `20 X`"),
        ("{ start = 0, step = \"- 4 B\" }", "line 10, column 23", "`step` of `offset`: found `- 4 B`"),
        ("{ steps = 4 }", "line 10, column 12", "`steps` of `offset`: found 4"),
        ("{ drawn = [\"8 B\", \"0 B\"] }", "line 10, column 12", "`drawn` of `offset`"),
        ("{ drawn = [0, 8], sequential = 2 }", "line 10, column 28", "`sequential` of `offset`: found 2"),
        ("\"anywhere\"", "line 10, column 10", "`offset` is not a law of offsets"),
    ] {
        let text = session("read = 3", &format!("size = \"10 B\"\noffset = {law}"));
        let error = Model::parse(&text).unwrap_err().to_string();
        assert!(error.starts_with(place) && error.contains(problem), "{law}: {error}");
    }
}

#[test]
fn files_of_all_ranks_have_names_of_their_own_and_keep_them() {
    let private =
        MODEL.replace("new.%i", "w%r.%i").replace("\"root\"", "\"private\"").replace("result", "r.%r");
    let mut knobs = Knobs::default();
    knobs.set("sharing=shared").unwrap();
    let shared = knobs.apply(&Model::parse(&private).unwrap()).unwrap();
    assert_eq!(shared.files[0].name, "w-all.%i");
    assert!(calls(&shared).iter().all(|(.., to)| to.is_none()), "only the first rank would find it");
    let drawn = "offset = { drawn = [\"0 B\", \"80 B\"], align = \"8 B\" }";
    let text = session("read = 3", &format!("size = \"8 B\"\n{drawn}"));
    let private =
        text.replace("\"f\"", "\"f.%r\"").replace("\"root\"", "\"private\"").replace("f/s", "f.%r/s");
    let shared = knobs.apply(&Model::parse(&private).unwrap()).unwrap();
    assert!(
        matches!(shared.files[0].sessions[0].offset, OffsetLaw::Drawn { rank, .. } if rank > 0),
        "{shared}"
    );
}
