//! Graphs for tests and the gallery: the paper's example counted from its traces, and random graphs that look like
//! traces of real programs. No randomness but a fixed generator.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotrail_dfg::result::{
    Bin, DurationStats, END, Edge, EdgeInGroup, EventCounts, GapStats, Group, Node, NodeInGroup, START,
    SizeStats, Span, Variant,
};
use iotrail_dfg::{ByGroup, Dfg};
use std::collections::BTreeMap;

/// A trace: its case, its group, and its events as activity, nanoseconds, bytes.
pub(crate) struct Trace {
    pub(crate) case: String,
    pub(crate) group: &'static str,
    pub(crate) events: Vec<(String, u64, Option<u64>)>,
}

#[derive(Default)]
struct Tally {
    count: u64,
    cases: Vec<usize>,
    durations: Vec<u64>,
    sizes: Vec<u64>,
    rates: Vec<f64>,
    groups: BTreeMap<String, (u64, Vec<usize>, u64, u64)>,
}

/// The graph of `traces`; every event starts 1 us after the end of the one before.
pub(crate) fn of_traces(sources: &[&str], traces: &[Trace]) -> Dfg {
    let mut nodes: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut edges: BTreeMap<(&str, &str), Tally> = BTreeMap::new();
    let mut variants: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (case, trace) in traces.iter().enumerate() {
        let mut before = START;
        if !groups.iter().any(|group| group.name == trace.group) {
            groups.push(Group { name: trace.group.to_owned(), ..Group::default() });
        }
        let group = groups.iter_mut().find(|group| group.name == trace.group).unwrap();
        group.cases += 1;
        for (activity, duration, size) in &trace.events {
            group.events += 1;
            *group.duration_ns.get_or_insert(0) += duration;
            group.bytes += size.unwrap_or(0);
            let node = nodes.entry(activity).or_default();
            node.take(case, trace.group, *duration, *size);
            edges.entry((before, activity)).or_default().take(case, trace.group, 0, None);
            before = activity;
        }
        edges.entry((before, END)).or_default().take(case, trace.group, 0, None);
        let names = trace.events.iter().map(|event| event.0.clone());
        let names: Vec<String> =
            [START.to_owned()].into_iter().chain(names).chain([END.to_owned()]).collect();
        variants.entry(names).or_default().push(trace.case.clone());
    }
    let mapped: u64 = nodes.values().map(|node| node.count).sum();
    let duration: u64 = nodes.values().flat_map(|node| &node.durations).sum();
    let bytes: u64 = nodes.values().flat_map(|node| &node.sizes).sum();
    let grouped = groups.len() > 1;
    let mut variants: Vec<Variant> = (variants.into_iter())
        .map(|(trace, cases)| Variant {
            count: cases.len() as u64,
            length: trace.len() as u64 - 2,
            cases,
            trace: trace.into_iter().map(Into::into).collect(),
            truncated: false,
        })
        .collect();
    variants.sort_by(|a, b| b.count.cmp(&a.count).then(a.trace.cmp(&b.trace)));
    let mut dfg = Dfg {
        format: "iotrail-dfg/1".to_owned(),
        sources: sources.iter().map(|source| (*source).to_owned()).collect(),
        mapping: "dir2".to_owned(),
        case_by: "rank".to_owned(),
        max_concurrency_rule: "exact".to_owned(),
        events: EventCounts { total: mapped, mapped, unmapped: 0, unmapped_ns: None },
        cases: traces.len() as u64,
        span: Span { start_ns: Some(0), end_ns: Some((duration + 1000 * mapped) as i64) },
        duration_ns: Some(duration),
        bytes,
        groups: if grouped { groups } else { Vec::new() },
        variants,
        nodes: nodes.into_iter().map(|(name, tally)| tally.node(name, duration, grouped)).collect(),
        edges: edges.into_iter().map(|((from, to), tally)| tally.edge(from, to, grouped)).collect(),
        quantile_exact_limit: 4096,
        quantile_relative_error: 0.01,
        ..Dfg::default()
    };
    sort(&mut dfg);
    dfg
}

fn sort(dfg: &mut Dfg) {
    dfg.nodes.sort_by(|a, b| b.duration_ns.cmp(&a.duration_ns).then(a.activity.cmp(&b.activity)));
    dfg.edges.sort_by(|a, b| b.count.cmp(&a.count).then((&a.from, &a.to).cmp(&(&b.from, &b.to))));
}

impl Tally {
    fn take(&mut self, case: usize, group: &str, duration: u64, size: Option<u64>) {
        self.count += 1;
        self.cases.push(case);
        self.durations.push(duration);
        self.sizes.extend(size);
        if let Some(size) = size.filter(|_| duration > 0) {
            self.rates.push(size as f64 * 1e9 / duration as f64);
        }
        let own = self.groups.entry(group.to_owned()).or_default();
        own.0 += 1;
        own.1.push(case);
        own.2 += duration;
        own.3 += size.unwrap_or(0);
    }

    fn node(mut self, name: &str, total: u64, grouped: bool) -> Node {
        self.durations.sort_unstable();
        self.sizes.sort_unstable();
        let duration_ns: u64 = self.durations.iter().sum();
        let rank = |values: &[u64], share: f64| {
            let index = ((values.len() as f64 * share).ceil() as usize).max(1);
            values.get(index - 1).map(|value| *value as i64)
        };
        let mean = |values: &[u64]| {
            (!values.is_empty()).then(|| values.iter().sum::<u64>() as f64 / values.len() as f64)
        };
        let groups = self.groups.iter().map(|(name, (count, cases, duration_ns, bytes))| {
            let figures = NodeInGroup {
                count: *count,
                cases: distinct(cases.clone()),
                duration_ns: Some(*duration_ns),
                bytes: *bytes,
                ..NodeInGroup::default()
            };
            (name.as_str().into(), figures)
        });
        Node {
            activity: name.into(),
            count: self.count,
            cases: distinct(self.cases),
            failures: 0,
            files: 1,
            duration_ns: Some(duration_ns),
            wait_ns: Some(0),
            request_ns: Some(0),
            relative_duration: Some(duration_ns as f64 / total.max(1) as f64),
            bytes: self.sizes.iter().sum(),
            data_rate: (!self.rates.is_empty())
                .then(|| self.rates.iter().sum::<f64>() / self.rates.len() as f64),
            max_concurrency: Some(1),
            duration: DurationStats {
                mean: mean(&self.durations),
                p50: rank(&self.durations, 0.5),
                p95: rank(&self.durations, 0.95),
                p99: rank(&self.durations, 0.99),
                max: rank(&self.durations, 1.0),
            },
            size: SizeStats {
                mean: mean(&self.sizes),
                p50: rank(&self.sizes, 0.5),
                p95: rank(&self.sizes, 0.95),
                max: rank(&self.sizes, 1.0),
            },
            duration_histogram: vec![Bin { from: 1024, to: 2048, count: self.count }],
            size_histogram: Vec::new(),
            groups: if grouped { groups.collect() } else { ByGroup::default() },
        }
    }

    fn edge(self, from: &str, to: &str, grouped: bool) -> Edge {
        let groups = self.groups.iter().map(|(name, (count, cases, ..))| {
            (
                name.as_str().into(),
                EdgeInGroup {
                    count: *count,
                    cases: distinct(cases.clone()),
                    gap_sum_ns: Some(1000 * *count as i64),
                },
            )
        });
        let inner = from != START && to != END;
        Edge {
            from: from.into(),
            to: to.into(),
            count: self.count,
            cases: distinct(self.cases),
            gap_ns: GapStats {
                mean: inner.then_some(1000.0),
                p50: inner.then_some(1000),
                p95: inner.then_some(1000),
                sum: inner.then_some(1000 * self.count as i64),
            },
            groups: if grouped { groups.collect() } else { ByGroup::default() },
        }
    }
}

fn distinct(mut cases: Vec<usize>) -> u64 {
    cases.sort_unstable();
    cases.dedup();
    cases.len() as u64
}

/// The paper's example: `ls` and `ls -l`, three processes each, reads and writes by call and top two directories.
pub(crate) fn paper() -> Dfg {
    let read = |path: &str, duration, size| (format!("read:{path}"), duration, Some(size));
    let write = |duration, size| ("write:/dev/pts".to_owned(), duration, Some(size));
    let beginning = |process: u64| {
        let slow = 20 * process;
        vec![
            read("/usr/lib", 203_000 + slow, 832),
            read("/usr/lib", 79_000 + slow, 832),
            read("/usr/lib", 87_000, 832),
            read("/proc/filesystems", 52_000, 478),
            read("/proc/filesystems", 40_000, 0),
            read("/etc/locale.alias", 41_000, 2996),
            read("/etc/locale.alias", 44_000, 0),
        ]
    };
    let mut traces = Vec::new();
    for process in 0..3 {
        let mut events = beginning(process);
        events.push(write(111_000, 50));
        traces.push(Trace { case: format!("a_host1_{}", 9042 + process), group: "ls", events });
    }
    for process in 0..3 {
        let mut events = beginning(process);
        events.extend([
            read("/etc/nsswitch.conf", 95_000, 542),
            read("/etc/nsswitch.conf", 37_000, 0),
            read("/etc/passwd", 86_000, 1612),
            read("/etc/group", 61_000, 872),
            write(74_000, 9),
            read("/usr/lib", 78_000, 2298),
            read("/usr/lib", 38_000, 1449),
            write(75_000, 74),
            write(74_000, 53),
            write(74_000, 65),
        ]);
        traces.push(Trace { case: format!("b_host1_{}", 9157 + process), group: "ls -l", events });
    }
    of_traces(&["ls", "ls-l"], &traces)
}

/// A fixed generator (Knuth's MMIX constants), so that every run draws the same graphs.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }

    /// Many small values, few large ones.
    pub(crate) fn heavy(&mut self, limit: u64) -> u64 {
        let share = (self.below(1 << 20) as f64 + 1.0) / f64::from(1 << 20);
        (limit as f64 * share.powi(5)) as u64 + 1
    }
}

const CALLS: [&str; 8] =
    ["read", "openat", "write", "newfstatat", "pread64", "lseek", "getdents64", "unlink"];
const PLACES: [&str; 10] = [
    "/usr/lib",
    "/usr/include",
    "/home/user",
    "/tmp/cc.o",
    "/usr/share",
    "/etc/ld.so.cache",
    "/proc/self",
    "/build/project/src/main/components",
    "/scratch/project_462000123/simulation/run_000017/checkpoint",
    "/dev/null",
];

/// `activities` activities and exactly `transitions` transitions (if that many fit): a chain with repetitions, jumps
/// ahead and back, heavy-tailed counts; two groups if `grouped`.
pub(crate) fn random(activities: usize, transitions: usize, seed: u64, grouped: bool) -> Dfg {
    let mut random = Random(seed);
    let names: Vec<String> = (0..activities)
        .map(|index| {
            let place = PLACES[(index / CALLS.len()) % PLACES.len()];
            format!(
                "{}:{place}{}",
                CALLS[index % CALLS.len()],
                if index >= 80 { format!("/{index}") } else { String::new() }
            )
        })
        .collect();
    let mut pairs: Vec<(usize, usize)> =
        (1..activities).map(|to| (to - 1 - random.below(to.min(3) as u64) as usize, to)).collect();
    let room = activities * activities;
    while pairs.len() + 2 < transitions.min(room) {
        let from = random.below(activities as u64) as usize;
        let near = transitions < activities * 5 && random.below(10) < 8;
        let reach = if near { 4 } else { activities as u64 };
        let to = (from + activities - 2 + random.below(reach + 2) as usize) % activities;
        if !pairs.contains(&(from, to)) {
            pairs.push((from, to));
        }
    }
    let mut dfg = Dfg {
        format: "iotrail-dfg/1".to_owned(),
        sources: vec!["make".to_owned()],
        mapping: "dir2".to_owned(),
        case_by: "pid".to_owned(),
        max_concurrency_rule: "exact".to_owned(),
        cases: 5671,
        ..Dfg::default()
    };
    if grouped {
        dfg.groups = ["ssf", "fpp"]
            .map(|name| Group { name: name.to_owned(), cases: 2835, ..Group::default() })
            .to_vec();
    }
    for name in &names {
        dfg.nodes.push(random_node(name, &mut random, grouped));
    }
    let first = (START, names.first().map_or(END, String::as_str));
    let last = (names.last().map_or(START, String::as_str), END);
    let inner = pairs.iter().map(|(from, to)| (names[*from].as_str(), names[*to].as_str()));
    for (from, to) in [first, last].into_iter().chain(inner) {
        let count = random.heavy(200_000);
        let groups = if grouped { split(count, &mut random) } else { Vec::new() };
        let groups = groups
            .into_iter()
            .map(|(name, count)| (name.into(), EdgeInGroup { count, cases: 1, gap_sum_ns: None }));
        let groups = groups.collect();
        dfg.edges.push(Edge {
            from: from.into(),
            to: to.into(),
            count,
            cases: 1 + count / 7,
            gap_ns: GapStats::default(),
            groups,
        });
    }
    dfg.events.mapped = dfg.nodes.iter().map(|node| node.count).sum();
    dfg.events.total = dfg.events.mapped;
    let all: u64 = dfg.nodes.iter().filter_map(|node| node.duration_ns).sum();
    dfg.duration_ns = Some(all);
    dfg.bytes = dfg.nodes.iter().map(|node| node.bytes).sum();
    for node in &mut dfg.nodes {
        node.relative_duration = node.duration_ns.map(|nanos| nanos as f64 / all as f64);
    }
    sort(&mut dfg);
    dfg
}

fn random_node(name: &str, random: &mut Random, grouped: bool) -> Node {
    let count = random.heavy(300_000);
    let duration_ns = count * random.heavy(2_000_000);
    let moves = name.starts_with("read") || name.starts_with("write") || name.starts_with("pread");
    let bytes = if moves { count * random.heavy(1 << 20) } else { 0 };
    let groups = if grouped { split(count, random) } else { Vec::new() };
    let groups = groups.into_iter().map(|(group, count)| {
        let duration_ns = duration_ns / 2 * (1 + random.heavy(30)) / 16;
        (
            group.into(),
            NodeInGroup {
                count,
                cases: 1,
                duration_ns: Some(duration_ns),
                bytes: bytes / 2,
                ..NodeInGroup::default()
            },
        )
    });
    Node {
        activity: name.into(),
        count,
        cases: 1 + count / 50,
        files: 1 + count / 9,
        groups: groups.collect(),
        duration_ns: Some(duration_ns),
        bytes,
        data_rate: moves.then(|| bytes as f64 * 1e9 / duration_ns.max(1) as f64),
        max_concurrency: Some(1 + random.below(16)),
        size: SizeStats { max: moves.then_some(1), ..SizeStats::default() },
        duration: DurationStats { mean: Some(1.0), p50: Some(1), p95: Some(2), p99: Some(3), max: Some(4) },
        ..Node::default()
    }
}

fn split(count: u64, random: &mut Random) -> Vec<(String, u64)> {
    let (a, b) = ("ssf".to_owned(), "fpp".to_owned());
    match random.below(5) {
        0 => vec![(a, count)],
        1 => vec![(b, count)],
        _ => vec![(a, count / 2 + 1), (b, count / 2 + 1)],
    }
}

/// Names that somebody chose to break a format.
pub(crate) fn hostile() -> Dfg {
    let names = [
        "read:<script>alert(1)</script>".to_owned(),
        "read:]]><x>&amp;&lt;".to_owned(),
        "write:\"quoted\" 'single' `back` \\N\\l\\G\\".to_owned(),
        "write:line\nbreak\r\ttab".to_owned(),
        "read:--> end %% comment <!-- x -->".to_owned(),
        "read:\u{202e}txt.exe\u{200b}\u{feff}\u{2066}".to_owned(),
        "openat:;=,|{}[]()<>#35;".to_owned(),
        "=HYPERLINK(\"http://x\",1)+cmd|' /C calc'!A0".to_owned(),
        format!("read:/{}", "long/".repeat(800)),
        "read:\u{1b}[31mred\u{7f}\u{85}\u{0}".to_owned(),
        "read:/中文/数据/файл/é/😀".to_owned(),
        "end".to_owned(),
        "graph".to_owned(),
        String::new(),
        ":".to_owned(),
    ];
    let event = |name: &String| (name.clone(), 1000, Some(10));
    let forward = Trace {
        case: "a<b>\"&\n".to_owned(),
        group: "<a>\"&\n\u{202e}",
        events: names.iter().map(event).collect(),
    };
    let backward = Trace {
        case: "b".to_owned(),
        group: "b,\"c\"",
        events: names.iter().rev().skip(1).map(event).collect(),
    };
    of_traces(&["<evil>&\n\"trail\"", "--> x"], &[forward, backward])
}
