//! Every kind of item, with any bytes and numbers in it.

use iotrail_model::raw::{Arg, Image, OpenFile, RawCall, RawItem, Return, Target};
use iotrail_model::{
    CallId, Dictionaries, FileFacts, FileKind, Layer, Nanos, Pid, Tid, Timestamp, Usage, calls,
};
use iotrail_raw::{RawRecord, Reader, write};
use proptest::prelude::*;

/// What items are made of.
#[derive(Clone, Debug)]
struct Material {
    texts: [Vec<u8>; 4],
    numbers: [i64; 3],
    ids: [u32; 3],
    fds: [i32; 2],
    flags: [bool; 3],
    call: usize,
}

fn material() -> impl Strategy<Value = Material> {
    let text = || {
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..12),
            "[ -~\\\\x\n\u{0}é]{0,12}".prop_map(String::into_bytes),
            Just(b"\\x41\\".to_vec()),
        ]
    };
    let number = || prop_oneof![any::<i64>(), -2_i64..3];
    (
        [text(), text(), text(), text()],
        [number(), number(), number()],
        any::<[u32; 3]>(),
        any::<[i32; 2]>(),
        any::<[bool; 3]>(),
        0..calls::TABLE.len(),
    )
        .prop_map(|(texts, numbers, ids, fds, flags, call)| Material {
            texts,
            numbers,
            ids,
            fds,
            flags,
            call,
        })
}

/// Shows all kinds of items made of that.
fn items(of: &Material, mut show: impl FnMut(&RawItem<'_>)) {
    let [a, b, c, d] = of.texts.each_ref().map(Vec::as_slice);
    let [x, y, z] = of.numbers;
    let [tid, other_tid, pid] = of.ids;
    let (tid, other_tid, pid) = (Tid(tid), Tid(other_tid), Pid(pid));
    let [fd, other] = of.fds;
    let [p, q, r] = of.flags;
    let (at, target) = (Timestamp(x / 2), p.then_some(Target { name: a, deleted: q }));
    let args = [
        Arg::Opaque,
        Arg::Null,
        Arg::Int(x),
        Arg::Fd(fd, target),
        Arg::Cwd(target),
        Arg::Path { bytes: b, complete: p },
        Arg::Located(c),
        Arg::Symbols(d),
        Arg::FdPair([(fd, target), (other, None)]),
        Arg::Length(y.cast_unsigned()),
        Arg::Strings { bytes: a, complete: q },
        Arg::Text(b),
    ];
    let layer = if r { Layer::Mpiio } else { Layer::Syscall };
    let call = RawCall {
        tid,
        layer,
        call: CallId(of.call as u32),
        start: at,
        dur: p.then_some(Nanos(y)),
        ret: Return::Unseen,
        args: &args,
    };
    let returns =
        [Return::Value(z, target), Return::Failed(c), Return::Injected(z, q.then_some(d)), Return::Unseen];
    for ret in returns {
        show(&RawItem::Call(RawCall { ret, ..call }));
    }
    let kind = r.then_some(FileKind::Pipe);
    let facts = FileFacts {
        device: x.cast_unsigned(),
        inode: y.cast_unsigned(),
        size: p.then_some(z),
        kind,
        birth: q.then_some(x),
    };
    let open = OpenFile {
        target: Target { name: a, deleted: r },
        position: p.then_some(x),
        append: q,
        cloexec: r,
        followed: p,
        facts: q.then_some(facts),
    };
    let image = Image {
        exe: p.then_some(a),
        cmdline: q.then_some(b),
        cmdline_cut: r,
        cwd: r.then_some(c),
        env: if p { &[a, d] } else { &[] },
    };
    let usage = Usage { user: p.then_some(Nanos(x)), minor_faults: q.then_some(7), ..Usage::default() };
    let rest = [
        RawItem::Entered(call),
        RawItem::Interrupted { tid, at },
        RawItem::Suspended { tid, at },
        RawItem::Exited { tid, at, status: fd },
        RawItem::Killed { tid, at, signal: a },
        RawItem::Superseded { tid, by: other_tid, at },
        RawItem::Created { parent: tid, child: other_tid, at },
        RawItem::Found { tid, pid, ppid: p.then_some(pid), at, table: q.then_some(other_tid) },
        RawItem::Descriptor { tid, fd, open },
        RawItem::Copies { tid, fd, of: other_tid, other, received: p },
        RawItem::Position { tid, fd, position: x },
        RawItem::Sent { tid, fd },
        RawItem::Received { tid, fd, target },
        RawItem::Uncertain { tid, fd },
        RawItem::Lost { tid, call: p.then_some(call) },
        RawItem::Escaped { tid, table: q },
        RawItem::WorkingDirectory { tid, path: b },
        RawItem::File { tid, fd, facts },
        RawItem::FileInfo { tid, fd, facts },
        RawItem::Image { tid, at, image },
        RawItem::Usage { tid, usage },
        RawItem::Comm { tid, comm: c },
    ];
    rest.iter().for_each(show);
}

proptest! {
    #[test]
    fn every_item_comes_back_from_its_line(of in material()) {
        let mut names = Dictionaries::default();
        let (mut text, mut records) = (Vec::new(), Vec::new());
        items(&of, |item| {
            write(&mut text, item, &names).unwrap();
            records.push(RawRecord::of(item, &names));
        });
        prop_assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), records.len());
        let mut reader = Reader::new(text.as_slice());
        let mut read = Vec::new();
        while let Some(record) = reader.next().unwrap() {
            read.push(record);
        }
        prop_assert_eq!(&read, &records);
        let mut number = 0;
        items(&of, |item| {
            let is_it = read[number].with(&mut names, |again, _| again == item);
            assert!(is_it, "{item:?}\n{:?}", read[number]);
            number += 1;
        });
    }
}

#[test]
fn lines_are_as_the_page_shows_them() {
    let page = include_str!("../../../../docs/raw-records.md");
    let lines: Vec<&str> = page.lines().filter(|line| line.starts_with("{\"item\":")).collect();
    assert!(lines.len() >= 8, "{lines:?}");
    let mut names = Dictionaries::default();
    let mut reader = Reader::new(lines.join("\n").into_bytes().leak() as &[u8]);
    for line in lines {
        let record = reader.next().unwrap().unwrap();
        let mut again = Vec::new();
        record.with(&mut names, |item, names| write(&mut again, item, names).unwrap());
        assert_eq!(String::from_utf8(again).unwrap().trim_end(), line);
    }
}

#[test]
fn a_call_that_no_table_knows_keeps_its_name() {
    let line = br#"{"item":"call","tid":1,"layer":"mpi","call":"MPI_Win_lock","start":5,"args":[]}"#;
    let record = Reader::new(&line[..]).next().unwrap().unwrap();
    let mut names = Dictionaries::default();
    let name = record.with(&mut names, |item, names| match item {
        RawItem::Call(call) => names.calls.get(call.call.0).to_vec(),
        _ => Vec::new(),
    });
    assert_eq!(name, b"MPI_Win_lock");
}
