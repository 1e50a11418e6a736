//! Charts, Gantt charts and workflow pictures of good and of nasty data.

#![allow(
    clippy::unwrap_used,
    unreachable_pub,
    reason = "a test fails by panicking; used by tests and an example"
)]

use iotrail_draw::chart::{self, Axis, Chart, Line, Marks, Over, Plot, Unit};
use iotrail_draw::flow::{self, EdgeWidth, FlowView, Highlight};
use iotrail_draw::gantt::{self, Gantt, GanttRow};
use iotrail_draw::scene::Scene;
use iotrail_draw::{Direction, Scale};
use iotrail_model::{FileKind, Nanos};
use iotrail_stats::Profile;
use iotrail_stats::result::{Distribution, Quantity, Series, Throughput};
use iotrail_workflow::graph::{
    Edge, EdgeId, Facts, FileVertex, Graph, ProcessVertex, Relation, Transfer, Vertex, VertexId,
};

/// Names as nobody would choose them.
pub const HOSTILE: [&str; 8] = [
    "<script>alert(1)</script>",
    "two\nlines\tand \u{1b}[31mred",
    "\u{202e}desrever",
    "a very long name that goes on and on and on, as names of generated programs do in the morning and at night.bin",
    "",
    "\"quoted\" & 'single'",
    "日本語のプログラム",
    "x",
];

/// Numbers without a pattern, the same every time.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }

    /// Near `middle`, by a factor of up to about ten either way.
    pub fn near(&mut self, middle: f64) -> i64 {
        let sum: f64 = (0..4).map(|_| self.below(1000) as f64 / 1000.0 - 0.5).sum();
        (middle * 10_f64.powf(sum)) as i64
    }
}

pub fn distribution(quantity: Quantity, series: &str, mut values: Vec<i64>) -> Distribution {
    values.sort_unstable();
    let mut steps: Vec<(i64, u64)> = Vec::new();
    for (value, below) in values.iter().zip(1..) {
        match steps.last_mut() {
            Some(last) if last.0 == *value => last.1 = below,
            _ => steps.push((*value, below)),
        }
    }
    let sum = values.iter().map(|value| (*value).max(0) as u128).sum();
    Distribution { quantity, series: series.to_owned(), count: values.len() as u64, sum, steps, error: 0.0 }
}

fn bins(dice: &mut Dice, count: usize, most: u64) -> Vec<u64> {
    (0..count).map(|bin| if bin % 7 == 3 { 0 } else { dice.below(most) }).collect()
}

/// A profile of `calls` calls and `groups` groups.
pub fn profile(names: &[&str], bins_of_time: usize, ranks: usize) -> Profile {
    let mut dice = Dice::new(7);
    let mut distributions = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let middle = 800.0 * 4_f64.powi((index % 5) as i32);
        distributions.push(distribution(
            Quantity::Latency,
            name,
            (0..800).map(|_| dice.near(middle)).collect(),
        ));
        let sizes = [0, 512, 2880, 4096, 8192, 65_536];
        distributions.push(distribution(
            Quantity::ReadLength,
            name,
            (0..400).map(|_| sizes[dice.below(2 + index as u64 % 5) as usize]).collect(),
        ));
        distributions.push(distribution(
            Quantity::Lifetime,
            name,
            (0..20 + index).map(|_| dice.near(2e9)).collect(),
        ));
    }
    let series = |name: &str, dice: &mut Dice| Series {
        name: name.to_owned(),
        read: bins(dice, bins_of_time, 4_000_000),
        written: bins(dice, bins_of_time, 900_000),
        calls: bins(dice, bins_of_time, 3000),
    };
    Profile {
        sources: vec!["T.trail".to_owned()],
        by: "exe".to_owned(),
        groups: names.iter().map(|name| (*name).to_owned()).collect(),
        distributions,
        throughput: Throughput {
            origin_ns: Some(1_700_000_000_000_000_000),
            bin_ns: Some(250_000_000),
            groups: names.iter().map(|name| series(name, &mut dice)).collect(),
            ranks: (0..ranks).map(|rank| series(&format!("host/{rank}"), &mut dice)).collect(),
        },
        ..Profile::default()
    }
}

fn charts(profile: &Profile, plot: &str) -> Scene {
    let plot: Plot = plot.parse().unwrap();
    chart::sheet("Profile", &chart::of_profile(profile, plot))
}

/// Charts that no profile asks for.
fn lines() -> Vec<(&'static str, Chart)> {
    let axis = |label: &str, unit| Axis { label: label.to_owned(), unit, scale: Scale::Linear };
    let over = |series: usize, bins: usize| Over {
        value: axis("processes at once", Unit::Count),
        bin: 36e12,
        numbered: false,
        rows: "host".to_owned(),
        series: (0..series)
            .map(|index| Line {
                name: HOSTILE[index % 8].to_owned(),
                values: (0..bins).map(|bin| ((bin * (index + 3)) % 17) as f64).collect(),
            })
            .collect(),
    };
    let chart = |over| Chart {
        title: HOSTILE[3].repeat(3),
        notes: vec![HOSTILE[0].repeat(20)],
        x: axis("time since the start", Unit::Nanoseconds),
        marks: Marks::Lines(over),
    };
    vec![("few", chart(over(3, 40))), ("many", chart(over(30, 700))), ("none", chart(over(0, 0)))]
}

const SECOND: i64 = 1_000_000_000;

fn process(
    label: &str,
    group: usize,
    parent: Option<usize>,
    depth: usize,
    start: i64,
    length: Option<i64>,
) -> GanttRow {
    GanttRow {
        label: label.to_owned(),
        detail: format!("{label} --option 'a b' /data/{start}"),
        group: Some(group),
        start: Some(start),
        end: length.map(|length| start + length),
        depth,
        parent,
        failed: false,
        count: 1,
    }
}

/// A workflow like Montage, with `jobs` fits of two steps each.
pub fn montage(jobs: usize) -> Gantt {
    let mut dice = Dice::new(3);
    let groups =
        ["make", "sh", "mProjectPP", "mDiffFit", "mConcatFit", "mBackground", "mAdd", "mShrink", "mViewer"];
    let mut rows = vec![process("make", 0, None, 0, 0, Some(60 * SECOND))];
    let mut clock = 0;
    for job in 0..jobs {
        let length = dice.near(8e8);
        rows.push(process("mProjectPP", 2, Some(0), 1, clock, Some(length)));
        clock += if job % 2 == 0 { length / 3 } else { length };
    }
    for job in 0..jobs {
        let length = dice.near(3e8);
        rows.push(process("mDiffFit", 3, Some(0), 1, clock, Some(length)));
        let parent = rows.len() - 1;
        rows.push(process("mDiff", 3, Some(parent), 2, clock + length / 10, Some(length / 2)));
        rows.push(GanttRow {
            failed: job % 9 == 4,
            ..process("mFitplane", 3, Some(parent), 2, clock + length * 2 / 3, Some(length / 4))
        });
        clock += if job % 3 == 0 { length } else { length / 4 };
    }
    for (index, label) in ["mConcatFit", "mBackground", "mAdd", "mShrink"].iter().enumerate() {
        rows.push(process(label, 4 + index, Some(0), 1, clock, Some(2 * SECOND)));
        clock += 2 * SECOND;
    }
    rows.push(process("mViewer", 8, Some(0), 1, clock, None));
    Gantt {
        title: "Processes of T.trail over time".to_owned(),
        notes: vec!["Groups by exe. Layer: processes.".to_owned()],
        groups: groups.map(str::to_owned).to_vec(),
        span: Some((0, clock + 3 * SECOND)),
        rows,
    }
}

fn gantts() -> Vec<(&'static str, Gantt)> {
    let hostile = Gantt {
        title: HOSTILE[0].to_owned(),
        notes: vec![HOSTILE[1].to_owned()],
        groups: HOSTILE.map(str::to_owned).to_vec(),
        span: None,
        rows: (0..8)
            .map(|index| GanttRow {
                failed: index % 3 == 0,
                ..process(
                    HOSTILE[index],
                    index,
                    index.checked_sub(1),
                    index,
                    i64::MIN + index as i64,
                    Some(5),
                )
            })
            .chain([GanttRow::default(), GanttRow { parent: Some(700), end: Some(3), ..GanttRow::default() }])
            .collect(),
    };
    let crowd = Gantt {
        title: "A crowd".to_owned(),
        rows: std::iter::once(process("mpirun", 0, None, 0, 0, Some(100)))
            .chain((0..400).map(|rank| process("rank", 1, Some(0), 1, rank % 13, Some(60 + rank % 29))))
            .collect(),
        groups: vec!["mpirun".to_owned(), "rank".to_owned()],
        ..Gantt::default()
    };
    let one = Gantt { rows: vec![process("true", 0, None, 0, 5, Some(0))], ..Gantt::default() };
    vec![
        ("few", montage(7)),
        ("many", montage(63)),
        ("hostile", hostile),
        ("crowd", crowd),
        ("one", one),
        ("empty", Gantt::default()),
    ]
}

/// A graph that is written down vertex by vertex.
#[derive(Default)]
pub struct Sketch {
    pub graph: Graph,
}

impl Sketch {
    fn vertex(&mut self, label: &str, phase: usize, members: u32, time: i64, facts: Facts) -> VertexId {
        let key = format!("{label}#{}", self.graph.vertices.len()).into();
        let phase = Some(phase as u32);
        self.graph.vertices.push(Vertex {
            key,
            label: label.into(),
            phase,
            members,
            time: Some(Nanos(time)),
            facts,
        });
        VertexId(self.graph.vertices.len() as u32 - 1)
    }

    pub fn process(&mut self, label: &str, phase: usize, members: u32, time: i64) -> VertexId {
        let cmdline = format!("/usr/bin/{label}\0-n\0a b\0/data/region.hdr\0");
        let facts =
            ProcessVertex { pid: 4711, part: 1, cmdline: Some(cmdline.into()), ..ProcessVertex::default() };
        self.vertex(label, phase, members, time, Facts::Process(facts))
    }

    pub fn file(&mut self, path: &str, phase: usize, members: u32, size: i64) -> VertexId {
        let facts = FileVertex {
            path: path.into(),
            kind: Some(FileKind::File),
            file: self.graph.vertices.len() as u32,
            version: 1,
            last: true,
            size: Some(size),
            ..FileVertex::default()
        };
        let name = path.rsplit('/').next().unwrap();
        self.vertex(name, phase, members, 0, Facts::File(facts))
    }

    pub fn edge(&mut self, from: VertexId, to: VertexId, relation: Relation, bytes: u64) -> EdgeId {
        let moved =
            Transfer { bytes, calls: 1 + bytes / 4096, elapsed: Some(Nanos(bytes as i64 * 3 + 1000)) };
        let (read, written) = match relation {
            Relation::Read => (moved, Transfer::default()),
            Relation::Create | Relation::Write => (Transfer::default(), moved),
            _ => (Transfer::default(), Transfer::default()),
        };
        self.graph.edges.push(Edge {
            from,
            to,
            relation,
            read,
            written,
            first: None,
            last: None,
            members: 1,
        });
        EdgeId(self.graph.edges.len() as u32 - 1)
    }
}

/// Montage, aggregated, and its critical path.
pub fn mosaic() -> (Graph, Highlight) {
    let mut sketch = Sketch::default();
    let phases =
        ["make", "mProjectPP", "mDiffFit", "mConcatFit", "mBgModel", "mBackground", "mAdd", "mShrink"];
    sketch.graph.phases = phases.iter().map(|phase| (*phase).into()).collect();
    sketch.graph.history = vec!["aggregate processes by exe, files by template".to_owned()];
    sketch.graph.left_out.vertices = vec![("system files".to_owned(), 1234)];
    let make = sketch.process("make", 0, 1, 61_000_000_000);
    let mut path = Highlight { name: "Critical path, 58.2 s".to_owned(), ..Highlight::default() };
    let mut before = sketch.file("/data/raw/2mass-*.fits", 1, 10, 0);
    let stages = [
        (1, "proj_*.fits", 10, 24_000_000_u64),
        (2, "fit_*.txt", 17, 8_000_000),
        (3, "fits.tbl", 1, 3000),
        (4, "corrections.tbl", 1, 700),
        (5, "corr_*.fits", 10, 24_000_000),
        (6, "mosaic.fits", 1, 31_000_000),
        (7, "mosaic_small.fits", 1, 400_000),
    ];
    for (phase, product, members, bytes) in stages {
        let process = sketch.process(phases[phase], phase, members, 4_000_000_000 + bytes as i64 * 20);
        let file = sketch.file(&format!("/data/{product}"), phase, members, bytes as i64);
        sketch.edge(make, process, Relation::Fork, 0);
        let read = sketch.edge(before, process, Relation::Read, bytes * 3 / 2);
        let made = sketch.edge(
            process,
            file,
            if phase % 3 == 0 { Relation::Write } else { Relation::Create },
            bytes,
        );
        path.vertices.extend([process, file]);
        path.edges.extend([read, made]);
        before = file;
    }
    let projected = VertexId(3);
    let background = VertexId(10);
    sketch.edge(projected, background, Relation::Read, 24_000_000);
    let next = sketch.file("/data/corr_*.fits", 5, 10, 24_000_000);
    sketch.edge(VertexId(11), next, Relation::Next, 0);
    sketch.edge(background, next, Relation::Write, 1000);
    (sketch.graph, path)
}

/// Processes in layers, each with files of its own.
pub fn layers(processes: usize) -> Graph {
    let mut dice = Dice::new(5);
    let mut sketch = Sketch::default();
    sketch.graph.phases = (0..12).map(|phase| format!("phase{phase}").into()).collect();
    let mut files = vec![sketch.file("/in/start", 0, 1, 100)];
    for index in 0..processes {
        let process = sketch.process("step", index % 12, 1, dice.near(1e9));
        for _ in 0..2 {
            let from = files[dice.below(files.len() as u64) as usize];
            sketch.edge(from, process, Relation::Read, dice.near(1e6) as u64);
        }
        let file = sketch.file(&format!("/out/file{index}.dat"), index % 12, 1, 5);
        sketch.edge(process, file, Relation::Create, dice.near(1e6) as u64);
        files.push(file);
    }
    sketch.graph
}

/// Hostile names, a loop, a cycle, every relation.
pub fn tangle() -> Graph {
    let mut sketch = Sketch::default();
    sketch.graph.phases = HOSTILE.iter().map(|name| (*name).into()).collect();
    sketch.graph.notes = vec![HOSTILE[1].to_owned()];
    let processes: Vec<VertexId> =
        (0..8).map(|index| sketch.process(HOSTILE[index], index, 1 + index as u32, 5)).collect();
    let files: Vec<VertexId> = (0..8).map(|index| sketch.file(HOSTILE[index], index, 1, i64::MAX)).collect();
    for (index, relation) in Relation::ALL.into_iter().enumerate() {
        sketch.edge(processes[index], files[index + 1], relation, u64::MAX / 7);
        sketch.edge(files[index], processes[index + 1], Relation::Read, index as u64);
    }
    sketch.edge(files[1], processes[0], Relation::Map, 0);
    sketch.edge(processes[0], processes[0], Relation::Fork, 0);
    sketch.graph
}

fn flows() -> Vec<(&'static str, Scene)> {
    let (mosaic, path) = mosaic();
    let title = "Workflow of T.trail".to_owned();
    let view = FlowView { title, ..FlowView::default() };
    let critical = FlowView { highlight: Some(path), ..view.clone() };
    let slow =
        FlowView { width: EdgeWidth::InverseRate, direction: Some(Direction::Right), ..critical.clone() };
    let pictures: [(&str, Graph, &FlowView); 6] = [
        ("mosaic", mosaic.clone(), &critical),
        ("mosaic-right", mosaic, &slow),
        ("layers", layers(30), &view),
        ("large", layers(600), &view),
        ("tangle", tangle(), &view),
        ("empty", Graph::default(), &view),
    ];
    pictures.into_iter().map(|(name, graph, view)| (name, flow::scene(&graph, view).unwrap())).collect()
}

/// Every picture with its name.
pub fn all() -> Vec<(String, Scene)> {
    let names = ["mProjectPP", "mDiff", "mFitplane", "mBackground", "mAdd"];
    let forty: Vec<String> = (0..40).map(|index| format!("call{index}")).collect();
    let forty: Vec<&str> = forty.iter().map(String::as_str).collect();
    let one = Profile {
        distributions: vec![
            distribution(Quantity::Latency, "read", vec![4096]),
            distribution(Quantity::ReadLength, "all equal", vec![4096; 50]),
            distribution(Quantity::WriteLength, "zero", vec![0; 5]),
            distribution(Quantity::ProcessRead, "huge", vec![-3, 0, 1, 1_000_000, i64::MAX]),
            distribution(
                Quantity::ProcessWritten,
                "nearly equal",
                vec![1_000_000_000_000, 1_000_000_000_001],
            ),
        ],
        throughput: Throughput {
            origin_ns: Some(0),
            bin_ns: Some(1),
            groups: vec![Series { name: "one".to_owned(), read: vec![1], written: vec![], calls: vec![1] }],
            ranks: vec![Series { name: "one".to_owned(), read: vec![1], written: vec![0], calls: vec![1] }],
        },
        ..Profile::default()
    };
    let profiles = [
        ("good", profile(&names, 240, 16)),
        ("forty", profile(&forty, 600, 200)),
        ("hostile", profile(&HOSTILE, 30, 3)),
        ("edge", one),
        ("empty", Profile::default()),
    ];
    let mut all = Vec::new();
    for (name, profile) in &profiles {
        for plot in ["ecdf", "histogram", "box", "bytes", "calls", "heat"] {
            all.push((format!("{name}-{plot}"), charts(profile, plot)));
        }
    }
    all.extend(lines().into_iter().map(|(name, chart)| (format!("lines-{name}"), chart::scene(&chart))));
    all.extend(gantts().iter().map(|(name, gantt)| (format!("gantt-{name}"), gantt::scene(gantt))));
    all.extend(flows().into_iter().map(|(name, scene)| (format!("flow-{name}"), scene)));
    all
}
