//! Items as text that a person can compare.

use bstr::ByteSlice;
use iotrail_model::dictionaries::Dictionaries;
use iotrail_model::raw::{Arg, RawCall, RawItem, Return, Target};
use iotrail_model::{Coverage, Tid};
use iotrail_strace::parser::{Parser, ParserSetup};
use std::collections::HashSet;

/// What came out of a trace.
#[derive(Debug, PartialEq)]
pub(crate) struct Parsed {
    pub(crate) items: Vec<String>,
    pub(crate) coverage: Coverage,
}

/// Threads with an announced call that is not over.
#[derive(Default)]
struct Announced(HashSet<Tid>);

impl Announced {
    fn see(&mut self, item: &RawItem<'_>) {
        match item {
            RawItem::Entered(call) => assert!(self.0.insert(call.tid), "one call at a time"),
            RawItem::Call(RawCall { tid, .. })
            | RawItem::Interrupted { tid, .. }
            | RawItem::Suspended { tid, .. } => {
                self.0.remove(tid);
            }
            RawItem::Superseded { tid, by, .. } if self.0.remove(by) => {
                self.0.insert(*tid);
            }
            _ => {}
        }
    }
}

pub(crate) fn setup() -> ParserSetup {
    ParserSetup { file: "trace.st".into(), ..ParserSetup::default() }
}

/// Parses a whole trace.
pub(crate) fn parse(input: &[u8]) -> Parsed {
    parse_in_pieces(input, usize::MAX)
}

/// Parses a trace that arrives in pieces of `piece` bytes.
pub(crate) fn parse_in_pieces(input: &[u8], piece: usize) -> Parsed {
    let (mut parser, mut names) = (Parser::new(setup()), Dictionaries::default());
    let mut items = Vec::new();
    let mut announced = Announced::default();
    let mut sink = |item: RawItem<'_>, names: &mut Dictionaries| {
        announced.see(&item);
        items.push(show(&item, names));
    };
    let (mut done, mut have) = (0, 0_usize);
    loop {
        have = have.saturating_add(piece).min(input.len());
        let at_end = have == input.len();
        done += parser.parse(&input[done..have], at_end, &mut names, &mut sink);
        if at_end {
            break;
        }
    }
    assert_eq!(done, input.len(), "everything is consumed");
    assert!(announced.0.is_empty(), "every announced call is over in the end");
    Parsed { items, coverage: parser.coverage().clone() }
}

/// The items of one line with the default thread 7.
pub(crate) fn items_of(line: &[u8]) -> Vec<String> {
    let set = [Tid(7), Tid(8)].into();
    let mut parser = Parser::new(ParserSetup { default_tid: Some(Tid(7)), set, ..setup() });
    let (mut names, mut items) = (Dictionaries::default(), Vec::new());
    parser.parse(line, true, &mut names, &mut |item: RawItem<'_>, names: &mut Dictionaries| {
        items.push(show(&item, names));
    });
    items
}

pub(crate) fn show(item: &RawItem<'_>, names: &Dictionaries) -> String {
    match item {
        RawItem::Call(call) => show_call(call, names),
        RawItem::Entered(call) => format!("entered {}", show_call(call, names)),
        RawItem::Interrupted { tid, at } => format!("{tid} @{} interrupted", at.0),
        RawItem::Suspended { tid, at } => format!("{tid} @{} suspended", at.0),
        RawItem::Exited { tid, at, status } => format!("{tid} @{} exited {status}", at.0),
        RawItem::Killed { tid, at, signal } => format!("{tid} @{} killed {}", at.0, signal.as_bstr()),
        RawItem::Superseded { tid, by, at } => format!("{tid} @{} superseded by {by}", at.0),
        RawItem::Sent { tid, fd } => format!("{tid} sends {fd}"),
        RawItem::CameUnseen { tid } => format!("{tid} receives others"),
        RawItem::Received { tid, fd, target } => format!("{tid} receives {fd}{}", show_target(*target)),
        RawItem::Lost { tid, call } => {
            format!("{tid} lost {}", call.map_or_else(String::new, |call| show_call(&call, names)))
        }
        RawItem::Escaped { tid, table } => {
            format!("{tid} shares with others{}", if *table { " for ever" } else { "" })
        }
        RawItem::Comm { tid, comm } => format!("{tid} comm {:?}", comm.as_bstr()),
        other => format!("no line of text says {other:?}"),
    }
}

fn show_call(call: &RawCall<'_>, names: &Dictionaries) -> String {
    let name = names.calls.get(call.call.0).as_bstr();
    let args: Vec<String> = call.args.iter().map(show_arg).collect();
    let ret = match call.ret {
        Return::Unseen => "?".into(),
        Return::Value(value, target) => format!("{value}{}", show_target(target)),
        Return::Failed(error) => error.as_bstr().to_string(),
        Return::Injected(value, error) => format!("{value} {} injected", error.unwrap_or_default().as_bstr()),
    };
    let dur = call.dur.map_or(String::new(), |dur| format!(" +{}", dur.0));
    format!("{} @{}{dur} {name}({}) = {ret}", call.tid, call.start.0, args.join(", "))
}

pub(crate) fn show_arg(arg: &Arg<'_>) -> String {
    match arg {
        Arg::Opaque => "_".into(),
        Arg::Null => "NULL".into(),
        Arg::Int(value) => value.to_string(),
        Arg::Fd(fd, target) => format!("fd {fd}{}", show_target(*target)),
        Arg::Cwd(target) => format!("cwd{}", show_target(*target)),
        Arg::Path { bytes, complete } => format!("{:?}{}", bytes.as_bstr(), if *complete { "" } else { "…" }),
        Arg::Located(path) => format!("located {:?}", path.as_bstr()),
        Arg::Symbols(text) => text.as_bstr().to_string(),
        Arg::FdPair([(a, x), (b, y)]) => format!("pair {a}{} {b}{}", show_target(*x), show_target(*y)),
        Arg::Length(length) => format!("length {length}"),
        Arg::Strings { bytes, complete } => {
            format!("strings {:?}{}", bytes.as_bstr(), if *complete { "" } else { " cut" })
        }
        Arg::Text(text) => format!("text {}", text.as_bstr()),
    }
}

fn show_target(target: Option<Target<'_>>) -> String {
    target.map_or(String::new(), |target| {
        format!(" → {:?}{}", target.name.as_bstr(), if target.deleted { " deleted" } else { "" })
    })
}
