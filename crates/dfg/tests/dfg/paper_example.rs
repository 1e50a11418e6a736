//! The worked example of Sankaran et al. (figures 1 to 3, equations 3 to 5): `ls` and `ls -l`, three processes each.

use iotrail_dfg::{ConcurrencyRule, Dfg, Labels, Partial, Plan};
use iotrail_model::{CaseId, Event, EventBatch, Nanos, Nullable, Timestamp};
use iotrail_query::{ActivityId, CaseKey, Classified, GroupId};
use std::num::NonZeroUsize;
use std::sync::Arc;

const LS: [(&str, usize); 4] = [
    ("read:/usr/lib", 3),
    ("read:/proc/filesystems", 2),
    ("read:/etc/locale.alias", 2),
    ("write:/dev/pts", 1),
];
const LS_L: [(&str, usize); 9] = [
    ("read:/usr/lib", 3),
    ("read:/proc/filesystems", 2),
    ("read:/etc/locale.alias", 2),
    ("read:/etc/nsswitch.conf", 2),
    ("read:/etc/passwd", 1),
    ("read:/etc/group", 1),
    ("write:/dev/pts", 1),
    ("read:/usr/lib", 2),
    ("write:/dev/pts", 3),
];

fn steps(runs: &[(&'static str, usize)]) -> Vec<&'static str> {
    runs.iter().flat_map(|&(activity, times)| std::iter::repeat_n(activity, times)).collect()
}

fn example() -> Dfg {
    let (mut activities, mut batch, mut classified) =
        (Vec::<Arc<str>>::new(), EventBatch::default(), Classified::default());
    let traces = [steps(&LS), steps(&LS), steps(&LS), steps(&LS_L), steps(&LS_L), steps(&LS_L)];
    for (case, trace) in traces.into_iter().enumerate() {
        let case = CaseId::from_index(case);
        for (index, activity) in trace.into_iter().enumerate() {
            let number = activities.iter().position(|known| **known == *activity).unwrap_or_else(|| {
                activities.push(activity.into());
                activities.len() - 1
            });
            batch.push(&Event {
                case,
                start: Timestamp(1_000 * index as i64 + 10 * i64::from(case.0)),
                dur: Nullable::some(Nanos(100)),
                size: Nullable::some(832),
                ..Event::default()
            });
            classified.activity.push(ActivityId(number as u32));
            classified.key.push(CaseKey::new(case, 0));
        }
    }
    let groups = ["a".into(), "b".into()];
    let plan = Arc::new(Plan::grouped(6, 2, |case| Some(GroupId(case.0 / 3))));
    let case_names = ["a9042", "a9043", "a9045", "b9157", "b9158", "b9160"];
    let case_name = |key: CaseKey| case_names[key.case().index()].to_owned();
    let labels = Labels { activities: &activities, groups: &groups, case_name: &case_name };
    Partial::of(&batch, &classified, &plan).finish(&labels, ConcurrencyRule::Exact, NonZeroUsize::MIN)
}

#[test]
fn each_command_is_one_variant_of_multiplicity_three() {
    let dfg = example();
    let with_ends = |runs| [vec!["●"], steps(runs), vec!["■"]].concat();
    assert_eq!((dfg.cases, dfg.variants.len()), (6, 2));
    let mut variants = dfg.variants;
    variants.sort_by_key(|variant| variant.length);
    assert_eq!((variants[0].count, &variants[0].trace[..]), (3, &with_ends(&LS).map_strings()[..]));
    assert_eq!((variants[1].count, &variants[1].trace[..]), (3, &with_ends(&LS_L).map_strings()[..]));
    assert_eq!(variants[0].cases, ["a9042", "a9043", "a9045"]);
    assert_eq!(variants[1].cases, ["b9157", "b9158", "b9160"]);
}

#[test]
fn the_relations_are_those_of_figure_3() {
    let mut edges: Vec<(Arc<str>, Arc<str>, u64)> =
        example().edges.into_iter().map(|edge| (edge.from, edge.to, edge.count)).collect();
    edges.sort();
    let lib = "read:/usr/lib";
    let (proc, locale) = ("read:/proc/filesystems", "read:/etc/locale.alias");
    let (nss, passwd, group, tty) =
        ("read:/etc/nsswitch.conf", "read:/etc/passwd", "read:/etc/group", "write:/dev/pts");
    let mut expected = [
        ("●", lib, 6),
        (lib, lib, 15),
        (lib, proc, 6),
        (proc, proc, 6),
        (proc, locale, 6),
        (locale, locale, 6),
        (locale, tty, 3),
        (locale, nss, 3),
        (nss, nss, 3),
        (nss, passwd, 3),
        (passwd, group, 3),
        (group, tty, 3),
        (tty, lib, 3),
        (lib, tty, 3),
        (tty, tty, 6),
        (tty, "■", 6),
    ]
    .map(|(from, to, count)| (from.into(), to.into(), count));
    expected.sort();
    assert_eq!(edges, expected);
}

#[test]
fn one_relation_is_exclusive_to_ls_and_all_about_users_to_ls_l() {
    let dfg = example();
    let only = |group: &str| {
        let edges = dfg
            .edges
            .iter()
            .filter(move |edge| edge.groups.values().len() == 1 && edge.groups.get(group).is_some());
        edges.map(|edge| (edge.from.clone(), edge.to.clone(), edge.count)).collect::<Vec<_>>()
    };
    assert_eq!(only("a"), [("read:/etc/locale.alias".into(), "write:/dev/pts".into(), 3)]);
    assert_eq!(only("b").len(), 8);
    let mut nodes: Vec<&str> =
        dfg.nodes.iter().filter(|node| node.groups.get("a").is_none()).map(|node| &*node.activity).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, ["read:/etc/group", "read:/etc/nsswitch.conf", "read:/etc/passwd"]);
}

#[test]
fn the_statistics_are_those_worked_out_by_hand() {
    let dfg = example();
    assert_eq!(dfg.events.mapped, 3 * 8 + 3 * 17);
    let lib = dfg.nodes.iter().find(|node| &*node.activity == "read:/usr/lib").unwrap();
    // 3 x 3 in ls, 3 x 5 in ls -l, 100 ns and 832 bytes each.
    assert_eq!((lib.count, lib.cases, lib.duration_ns, lib.bytes), (24, 6, Some(2_400), 24 * 832));
    assert_eq!(lib.relative_duration, Some(24.0 / 75.0));
    assert_eq!(lib.data_rate, Some(832.0 / 100e-9));
    // Six processes start 10 ns apart and each read lasts 100 ns.
    assert_eq!(lib.max_concurrency, Some(6));
    let follows_itself =
        dfg.edges.iter().find(|edge| edge.from == lib.activity && edge.to == lib.activity).unwrap();
    assert_eq!(follows_itself.gap_ns.p50, Some(900));
    assert_eq!(follows_itself.gap_ns.sum, Some(15 * 900));
}

trait MapStrings {
    fn map_strings(self) -> Vec<Arc<str>>;
}

impl MapStrings for Vec<&str> {
    fn map_strings(self) -> Vec<Arc<str>> {
        self.into_iter().map(Into::into).collect()
    }
}
