//! What comes through lines goes through the same door: the resolver makes the same events of it.

use iotrail_model::raw::RawItem;
use iotrail_model::{CaseId, Dictionaries, Event, NamedFile, PathId, Process};
use iotrail_raw::{RawRecord, Reader, write};
use iotrail_resolve::{Resolver, Sink};

#[derive(Default)]
struct Log(Vec<String>);

impl Sink for Log {
    fn event(&mut self, event: &Event, names: &Dictionaries) {
        let call = String::from_utf8_lossy(names.calls.get(event.call.0));
        let path = event.path.get().map(|path| String::from_utf8_lossy(names.paths.get(path.0)));
        self.0.push(format!(
            "{} {call} {:?} {path:?} {:?} {:?}",
            event.tid,
            event.fd.get(),
            event.offset.get(),
            event.size.get()
        ));
    }

    fn process(&mut self, process: Process) {
        self.0.push(format!("{} of {:?}: {:?}", process.pid, process.ppid, process.exit_code));
    }

    fn file(&mut self, path: PathId, file: &NamedFile, names: &Dictionaries) {
        let path = String::from_utf8_lossy(names.paths.get(path.0));
        self.0.push(format!("{path}: {:?}", file.facts));
    }
}

/// A program that opens a file relative to its directory, makes a child that reads on, and exits.
const PROGRAM: &str = r#"
{"item":"found","tid":7,"pid":7,"ppid":1,"at":100}
{"item":"working_directory","tid":7,"path":"/home"}
{"item":"call","tid":7,"call":"openat","start":110,"dur":5,"ret":{"value":{"value":3}},"args":[{"cwd":null},{"path":{"path":"caf\\xe9","complete":true}},{"symbols":"O_RDONLY"},{"int":0}]}
{"item":"file","tid":7,"fd":3,"facts":{"device":1,"inode":9,"size":30,"kind":"file","birth":null}}
{"item":"call","tid":7,"call":"read","start":120,"dur":5,"ret":{"value":{"value":10}},"args":[{"fd":{"fd":3}},"opaque",{"int":10}]}
{"item":"entered","tid":7,"call":"clone","start":130,"args":[{"int":0},{"symbols":"SIGCHLD"}]}
{"item":"created","parent":7,"child":8,"at":132}
{"item":"call","tid":8,"call":"read","start":135,"dur":5,"ret":{"value":{"value":20}},"args":[{"fd":{"fd":3}},"opaque",{"int":20}]}
{"item":"call","tid":7,"call":"clone","start":130,"dur":9,"ret":{"value":{"value":8}},"args":[{"int":0},{"symbols":"SIGCHLD"}]}
{"item":"exited","tid":8,"at":140,"status":3}
{"item":"exited","tid":7,"at":150,"status":0}
"#;

fn records() -> Vec<RawRecord> {
    let mut reader = Reader::new(PROGRAM.as_bytes());
    std::iter::from_fn(|| reader.next().unwrap()).collect()
}

fn resolve(
    mut deliver: impl FnMut(&mut dyn FnMut(&RawItem<'_>, &mut Dictionaries), &mut Dictionaries),
) -> Vec<String> {
    let (mut resolver, mut names, mut log) = (Resolver::new(), Dictionaries::default(), Log::default());
    deliver(&mut |item, names| resolver.item(CaseId(0), item, names, &mut log), &mut names);
    resolver.finish(&mut names, &mut log);
    log.0
}

#[test]
fn events_are_the_same_with_and_without_lines_between() {
    let direct = resolve(|take, names| {
        records().iter().for_each(|record| record.with(names, |item, names| take(item, names)))
    });
    let lines = resolve(|take, names| {
        let mut text = Vec::new();
        for record in records() {
            record.with(names, |item, names| write(&mut text, item, names).unwrap());
        }
        let mut reader = Reader::new(text.as_slice());
        while let Some(record) = reader.next().unwrap() {
            record.with(names, |item, names| take(item, names));
        }
    });
    assert_eq!(direct, lines);
    insta::assert_snapshot!(direct.join("\n"), @r#"
    7 openat Some(3) Some("/home/caf�") None None
    /home/caf�: Some(FileFacts { device: 1, inode: 9, size: Some(30), kind: Some(File), birth: None })
    7 read Some(3) Some("/home/caf�") Some(0) Some(10)
    8 read Some(3) Some("/home/caf�") Some(10) Some(20)
    7 clone None None None None
    8 of Some(Pid(7)): Some(3)
    7 of Some(Pid(1)): Some(0)
    "#);
}
