//! Reports on synthetic logs, for looking at the page and for its browser tests.
//!
//! `cargo run -p iotrail-report --example sample_report -- KIND FILE`, KIND one of `paper`, `runs`, `workflow`, `hostile`, `large`, `empty`.

use iotrail_model::Note;
use iotrail_model::calls::Transfer;
use iotrail_model::recording_coverage::{Selection, TracerCost, count_text};
use iotrail_model::{
    CallId, Case, CaseId, CaseName, Clock, Coverage, Event, Nanos, Nullable, Pid, Process, RecordingCoverage,
    Tid, Timestamp,
};
use iotrail_query::{Query, QuerySpec};
use iotrail_report::{ReportOptions, report};
use iotrail_trail::EventLog;
use iotrail_trail::memory::MemoryLog;
use std::collections::BTreeSet;

/// 2026-11-21, a morning.
const MORNING: i64 = 1_795_248_000_000_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, file] = &arguments[..] else { return Err("usage: sample_report KIND FILE".into()) };
    let (log, group_by, title) = match kind.as_str() {
        "paper" => (paper(), Some("cid"), "ls and ls -l"),
        "runs" => (runs(16, 3), Some("cid"), "One shared file against one file for each process"),
        "workflow" => (workflow(40), None, "A mosaic of forty images"),
        "hostile" => (hostile(), None, "</title><script>alert(1)</script>\u{202e}gpj"),
        "large" => (large(1_200_000), None, "A million events"),
        "empty" => (MemoryLog::new(Vec::new()).build(), None, "Nothing"),
        other => {
            return Err(
                format!("`{other}` is not one of paper, runs, workflow, hostile, large, empty").into()
            );
        }
    };
    let map = (kind == "runs" || kind == "large").then(|| "dir3".to_owned());
    let spec = QuerySpec { group_by: group_by.map(str::to_owned), map, ..QuerySpec::default() };
    let query = Query::new(spec, &log)?;
    let options = ReportOptions {
        title: Some(title.to_owned()),
        command: format!("iotrail report {kind}.trail -o report.html"),
        ..ReportOptions::default()
    };
    std::fs::write(file, report(&log, &query, &options)?)?;
    Ok(())
}

/// Builds logs; times and sizes come from a generator with a fixed seed.
struct Builder {
    log: MemoryLog,
    seed: u64,
    seq: u64,
}

impl Builder {
    fn new(cases: Vec<Case>, coverage: Coverage) -> Self {
        Self { log: MemoryLog::new(cases).coverage(coverage), seed: 7, seq: 0 }
    }

    fn random(&mut self, below: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) % below.max(1)
    }

    /// One call; answers when it ended.
    fn call(
        &mut self,
        who: (u32, u32),
        name: &str,
        path: Option<&str>,
        at: i64,
        dur: i64,
        size: Option<i64>,
    ) -> i64 {
        let call: CallId = self.log.call(name);
        let path = path.map_or(Nullable::NULL, |path| self.log.path(path));
        self.seq += 1;
        self.log.push(Event {
            case: CaseId(who.0),
            seq: self.seq,
            pid: Pid(who.1),
            tid: Tid(who.1),
            call,
            start: Timestamp(at),
            dur: Nullable::some(Nanos(dur)),
            path,
            requested: size.into(),
            size: size.into(),
            ret: size.or(Some(0)).into(),
            ..Event::default()
        });
        at + dur
    }

    fn failed(&mut self, who: (u32, u32), name: &str, path: &str, at: i64) -> i64 {
        let (call, path, errno) = (self.log.call(name), self.log.path(path), self.log.errno("ENOENT"));
        self.seq += 1;
        self.log.push(Event {
            case: CaseId(who.0),
            seq: self.seq,
            pid: Pid(who.1),
            tid: Tid(who.1),
            call,
            start: Timestamp(at),
            dur: Nullable::some(Nanos(4_100)),
            path,
            ret: Nullable::some(-1),
            errno,
            ..Event::default()
        });
        at + 4_100
    }

    fn job(&mut self, pid: u32, ppid: u32, exe: &str, command: &str, span: (i64, Option<i64>), exit: i32) {
        let mut process = Process {
            pid: Pid(pid),
            ppid: Some(Pid(ppid)),
            start: Some(Timestamp(span.0)),
            end: span.1.map(Timestamp),
            exit_code: span.1.map(|_| exit),
            exe: Some(exe.to_owned()),
            cmdline: Some(command.replace(' ', "\0")),
            bytes_read: 1_000,
            ..Process::default()
        };
        (process.usage.user, process.usage.system) = (Some(Nanos(9_000_000)), Some(Nanos(1_000_000)));
        self.log.push_process(process);
    }

    fn process(&mut self, who: (u32, u32), command: &str) {
        self.log.push_process(Process {
            case: CaseId(who.0),
            pid: Pid(who.1),
            start: Some(Timestamp(MORNING)),
            cmdline: Some(command.replace(' ', "\0")),
            ..Process::default()
        });
    }
}

fn case(id: u32, cid: &str, host: &str, rid: u32) -> Case {
    Case {
        id: CaseId(id),
        name: CaseName { cid: Some(cid.into()), host: Some(host.into()), rid: Some(rid.to_string()) },
        clock: Clock::Utc,
        source: format!("{cid}_{host}_{rid}.st"),
        ..Case::default()
    }
}

/// The paper's worked example: three processes each of `ls` and `ls -l`.
fn paper() -> EventLog {
    const SHORT: &[(&str, &str, u32)] = &[
        ("read", "/usr/lib/x86_64-linux-gnu/libselinux.so.1", 3),
        ("read", "/proc/filesystems", 2),
        ("read", "/etc/locale.alias", 2),
    ];
    const LONG: &[(&str, &str, u32)] = &[
        ("read", "/etc/nsswitch.conf", 2),
        ("read", "/etc/passwd", 1),
        ("read", "/etc/group", 1),
        ("write", "/dev/pts/7", 1),
        ("read", "/usr/lib/locale/C.utf8/LC_TIME", 2),
        ("write", "/dev/pts/7", 2),
    ];
    let cases = (0..6).map(|id| case(id, if id < 3 { "ls" } else { "ls -l" }, "host1", 9042 + id)).collect();
    let mut builder = Builder::new(cases, Coverage::default());
    for id in 0..6 {
        let who = (id, 9042 + id);
        let mut now = MORNING + i64::from(id % 3) * 190_000;
        let steps = SHORT.iter().chain(if id < 3 { &[("write", "/dev/pts/7", 1)][..] } else { LONG });
        builder.process(who, if id < 3 { "ls" } else { "ls -l" });
        for (name, path, times) in steps {
            for _ in 0..*times {
                let dur = 20_000 + builder.random(180_000) as i64;
                now = builder.call(who, name, Some(path), now, dur, Some(832)) + 9_000;
            }
        }
    }
    builder.log.build()
}

/// N processes that write one shared file, and N that write a file each, on two hosts.
fn runs(ranks: u32, rounds: u32) -> EventLog {
    let of = |id: u32| if id < ranks { "ssf" } else { "fpp" };
    let cases = (0..2 * ranks)
        .map(|id| case(id, of(id), if id % 2 == 0 { "node01" } else { "node02" }, id % ranks))
        .collect();
    let mut coverage = Coverage::default();
    coverage.lines.total = 4_211;
    coverage.lines.event = 4_150;
    coverage.lines.exit = 32;
    coverage.lines.noise = 26;
    coverage.lines.unparsed = 3;
    coverage.noise.insert("attach-message".into(), 26);
    coverage.interrupted = 2;
    coverage.keep_example("ssf_node01_3.st", 118, b"9051 pwrite64(5, \"\\0\\0\"..., 4194304, 0 <garbage");
    coverage.note(Note::Said { text: "Clocks of node01 and node02 were not compared".to_owned() });
    let mut builder = Builder::new(cases, coverage);
    for id in 0..2 * ranks {
        let shared = id < ranks;
        let who = (id, 9000 + id);
        builder
            .process(who, &format!("./ior -a POSIX -w -r -t 4m -b 64m{}", if shared { "" } else { " -F" }));
        let mut now = MORNING + 400_000 + i64::from(id) * 35_000;
        for library in ["libc.so.6", "libmpi.so.40", "libm.so.6"] {
            let path = format!("/usr/lib/x86_64-linux-gnu/{library}");
            let wait = builder.random(8_000) as i64;
            now = builder.call(who, "openat", Some(&path), now + 2_000, 9_000 + wait, None);
            now = builder.call(who, "read", Some(&path), now + 900, 3_000 + wait, Some(832));
            now = builder.call(who, "mmap", Some(&path), now + 500, 6_000 + wait, None);
        }
        if id % 5 == 0 {
            now = builder.failed(who, "openat", "/etc/ior/defaults.conf", now + 2_000);
        }
        let file = if shared {
            "/scratch/run/shared/out.dat".to_owned()
        } else {
            format!("/scratch/run/files/out.{id:04}.dat")
        };
        let open = if shared {
            900_000 + builder.random(4_000_000) as i64
        } else {
            80_000 + builder.random(50_000) as i64
        };
        now = builder.call(who, "openat", Some(&file), now + 30_000, open, None);
        for round in 0..rounds * 6 {
            let wait = if shared { builder.random(9_000_000) as i64 } else { builder.random(500_000) as i64 };
            now = builder.call(who, "lseek", Some(&file), now + 1_000, 700, None);
            now = builder.call(who, "write", Some(&file), now + 1_500, 1_900_000 + wait, Some(4 << 20));
            if round % 6 == 5 {
                now = builder.call(who, "fsync", Some(&file), now + 1_000, 2_500_000 + 2 * wait, None);
            }
        }
        for _ in 0..rounds * 2 {
            let wait = builder.random(400_000) as i64;
            now = builder.call(who, "read", Some(&file), now + 4_000, 700_000 + wait, Some(4 << 20));
        }
        now = builder.call(who, "close", Some(&file), now + 2_000, 30_000, None);
        builder.call(who, "write", Some("/dev/pts/3"), now + 20_000, 8_000, Some(64));
    }
    builder.log.build()
}

/// A manager that runs a job for each of so many images, and two jobs that join them; one program and one file have hostile names.
fn workflow(images: u32) -> EventLog {
    const HOSTILE: &str = "<img src=x onerror=window.hacked=10>\u{202e}";
    let mut builder = Builder::new(vec![case(0, "mosaic", "node01", 100)], Coverage::default());
    let end = MORNING + 40_000_000 * i64::from(images) + 900_000_000;
    builder.job(100, 1, "/usr/bin/make", "make -j 4", (MORNING, Some(end)), 0);
    for image in 0..images {
        let (project, fit) = (200 + image, 600 + image);
        let start = MORNING + 10_000_000 + 20_000_000 * i64::from(image);
        builder.job(
            project,
            100,
            "/opt/bin/project",
            &format!("project raw/{image}.fits"),
            (start, Some(start + 70_000_000)),
            0,
        );
        let now = builder.call(
            (0, project),
            "read",
            Some(&format!("/data/raw/{image}.fits")),
            start + 1_000_000,
            900_000,
            Some(2_000_000),
        );
        builder.call(
            (0, project),
            "write",
            Some(&format!("/data/projected/{image}.fits")),
            now,
            50_000_000,
            Some(8_000_000),
        );
        let start = start + 80_000_000 + builder.random(5_000_000) as i64;
        builder.job(
            fit,
            100,
            "/opt/bin/fit",
            &format!("fit {image}"),
            (start, Some(start + 30_000_000)),
            i32::from(image == 7),
        );
        let now = builder.call(
            (0, fit),
            "read",
            Some(&format!("/data/projected/{image}.fits")),
            start + 500_000,
            700_000,
            Some(8_000_000),
        );
        builder.call((0, fit), "write", Some(&format!("/data/fits/{image}.txt")), now, 90_000, Some(400));
    }
    let start = MORNING + 20_000_000 * i64::from(images) + 200_000_000;
    builder.job(
        900,
        100,
        &format!("/opt/bin/{HOSTILE}"),
        &format!("{HOSTILE} </script> all"),
        (start, Some(start + 300_000_000)),
        0,
    );
    let mut now = start + 1_000_000;
    for image in 0..images {
        now = builder.call(
            (0, 900),
            "read",
            Some(&format!("/data/fits/{image}.txt")),
            now + 1_000,
            20_000,
            Some(400),
        );
    }
    now =
        builder.call((0, 900), "write", Some(&format!("/data/{HOSTILE}")), now, 4_000_000, Some(60_000_000));
    builder.job(901, 100, "/opt/bin/show", "show", (now + 200_000, None), 0);
    builder.call(
        (0, 901),
        "read",
        Some(&format!("/data/{HOSTILE}")),
        now + 400_000,
        2_000_000,
        Some(60_000_000),
    );
    builder.log.build()
}

/// Names that would break a careless page.
fn hostile() -> EventLog {
    const NAMES: &[&str] = &[
        "<script>window.hacked=1</script>",
        "</script><script>window.hacked=2</script>",
        "<img src=x onerror=window.hacked=3>",
        "]]>--><!--",
        "\"'`${window.hacked=4}",
        "line\nbreak\ttab\r",
        "\u{202e}gpj.exe\u{202c}",
        "=cmd|' /C calc'!A0",
        "\u{200b}\u{feff}\u{1b}[31m",
        "{{data}}{{script}}",
        "漢字/ファイル🙂",
    ];
    let cases = (0..2).map(|id| case(id, NAMES[id as usize], "<b>host</b>", id)).collect();
    let mut coverage = Coverage::default();
    coverage.lines.total = 1;
    coverage.lines.unparsed = 1;
    coverage.keep_example("<i>file</i>", 1, b"</script><script>window.hacked=5</script>");
    coverage.note(Note::Said { text: "<script>window.hacked=6</script>".to_owned() });
    coverage.recording = Some(recorded());
    let mut builder = Builder::new(cases, coverage);
    for id in 0..2 {
        let who = (id, 100 + id);
        builder.process(who, "sh -c <script>window.hacked=7</script>");
        let mut now = MORNING;
        for name in NAMES {
            let path = format!("/{name}/{name}/{}", "long".repeat(60));
            now = builder.call(who, "read", Some(&path), now + 1_000, 5_000, Some(10)) + 10;
        }
        builder.call(who, "<script>window.hacked=8</script>", None, now, 10, None);
    }
    builder.log.build()
}

/// A recorder's statement whose texts come from a hostile program.
fn recorded() -> RecordingCoverage {
    let without = BTreeSet::from(["memory".to_owned()]);
    let mut recording = RecordingCoverage {
        recorders: 1,
        selections: BTreeSet::from([Selection { asked: "io".to_owned(), calls: 256, without }]),
        events: 22,
        mapped_files: 3,
        cost: TracerCost { stops: 50, calls: 24, cpu: Nanos(1_500_000), ..TracerCost::default() },
        ..RecordingCoverage::default()
    };
    recording.cost.calibrate(Nanos(26_000), Nanos(11_000));
    count_text(&mut recording.without_privileges, b"/bin/<script>window.hacked=9</script>\x1b[31m");
    recording
}

/// Many events over many directories, in the way of a build.
fn large(events: u64) -> EventLog {
    const CALLS: &[(&str, Transfer)] = &[
        ("openat", Transfer::None),
        ("newfstatat", Transfer::None),
        ("read", Transfer::Read),
        ("write", Transfer::Write),
        ("close", Transfer::None),
    ];
    let cases = (0..64).map(|id| case(id, "make", &format!("node{:02}", id / 16), id)).collect();
    let mut builder = Builder::new(cases, Coverage::default());
    let paths: Vec<String> = (0..24_000)
        .map(|file| {
            format!(
                "/project/build/{}/target/objects/unit_{file:05}.o",
                [
                    "core", "net", "ui", "db", "math", "io", "tests", "docs", "ffi", "tools", "proto", "gpu",
                    "audio", "video", "font"
                ][(file * file) % 15]
            )
        })
        .collect();
    for id in 0..64_u32 {
        let who = (id, 4000 + id);
        builder.process(who, &format!("make -j 64 part{id}"));
        let mut now = MORNING + i64::from(id) * 1_000_000;
        let (mut directory, mut file) = (0, 0);
        for step in 0..events / 64 {
            let (name, transfer) = CALLS[(step % 5) as usize];
            if step % 200 == 0 {
                directory = (step as usize / 200 + builder.random(2) as usize) % 15;
            }
            if step % 5 == 0 {
                file = directory + 15 * builder.random(1_600) as usize;
            }
            let path = &paths[file];
            let heavy = if builder.random(400) == 0 { 40 } else { 1 };
            let dur = (2_000 + builder.random(60_000) as i64) * heavy;
            let size = (transfer != Transfer::None).then(|| 1 << builder.random(17));
            let gap = 1_000 + builder.random(20_000) as i64;
            now = builder.call(who, name, Some(path), now + gap, dur, size);
        }
    }
    builder.log.build()
}
