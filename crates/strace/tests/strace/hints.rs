//! The descriptor tables against the kernel's: real traces in which strace printed what each descriptor stands for.
//!
//! Every trace is resolved twice, once with what strace printed beside descriptors and directories, once with all of
//! that taken away. Wherever the second claims an absolute path, it must be the path that strace had printed.

#![cfg(test)]

use iotrail_model::raw::{Arg, RawCall, RawItem, Return};
use iotrail_model::{CaseId, Dictionaries, Event, Process};
use iotrail_resolve::{Resolver, Sink};
use iotrail_strace::parser::{Parser, ParserSetup};

/// An event as far as hints can change it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    call: String,
    tid: u32,
    fd: Option<i32>,
    ret: Option<i64>,
    path: Option<String>,
    path2: Option<String>,
    offset: Option<i64>,
}

#[derive(Default)]
struct Log(Vec<Seen>);

impl Sink for Log {
    fn event(&mut self, event: &Event, names: &Dictionaries) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.0.push(Seen {
            call: text(names.calls.get(event.call.0)),
            tid: event.tid.0,
            fd: event.fd.get(),
            ret: event.ret.get(),
            path: event.path.get().map(|id| text(names.paths.get(id.0))),
            path2: event.path2.get().map(|id| text(names.paths.get(id.0))),
            offset: event.offset.get(),
        });
    }

    fn process(&mut self, _: Process) {}
}

fn without_hints<'a>(arg: &Arg<'a>) -> Arg<'a> {
    match *arg {
        Arg::Fd(fd, _) => Arg::Fd(fd, None),
        Arg::Cwd(_) => Arg::Cwd(None),
        Arg::FdPair([first, second]) => Arg::FdPair([(first.0, None), (second.0, None)]),
        other => other,
    }
}

fn resolve(trace: &[u8], hints: bool) -> Vec<Seen> {
    let (mut parser, mut resolver) = (Parser::new(ParserSetup::default()), Resolver::new());
    let (mut names, mut log) = (Dictionaries::default(), Log::default());
    parser.parse(trace, true, &mut names, &mut |item, names: &mut Dictionaries| {
        let call = match item {
            RawItem::Call(call) | RawItem::Entered(call) if !hints => call,
            _ => return resolver.item(CaseId(0), &item, names, &mut log),
        };
        let args: Vec<Arg<'_>> = call.args.iter().map(without_hints).collect();
        let ret = match call.ret {
            Return::Value(value, _) => Return::Value(value, None),
            other => other,
        };
        let call = RawCall { ret, args: &args, ..call };
        let item = match item {
            RawItem::Entered(_) => RawItem::Entered(call),
            _ => RawItem::Call(call),
        };
        resolver.item(CaseId(0), &item, names, &mut log);
    });
    resolver.finish(&mut names, &mut log);
    log.0
}

/// Whether strace's name is what the claim means: the same path, or a numbered name of the same kind.
fn agree(claim: &str, printed: &str, links: &[(&str, &str)]) -> bool {
    let numbered =
        |kind: &str, prefixes: &[&str]| claim == kind && prefixes.iter().any(|p| printed.starts_with(p));
    claim == printed
        || numbered("pipe", &["pipe:["])
        || numbered("socket", &["socket:[", "UNIX", "TCP", "UDP", "NETLINK"])
        || links.iter().any(|(from, to)| {
            claim.strip_prefix(from).is_some_and(|rest| printed.strip_prefix(to) == Some(rest))
        })
}

/// Whether the resolver claims to know the path, or the kind of what has none.
fn is_claim(path: &str) -> bool {
    path.starts_with('/') || path.starts_with("anon_inode:") || ["pipe", "socket"].contains(&path)
}

/// Compares both ways of resolving; gives the share of strace's paths that were found without its help.
fn compare(trace: &[u8], links: &[(&str, &str)]) -> f64 {
    let (with, without) = (resolve(trace, true), resolve(trace, false));
    assert_eq!(with.len(), without.len());
    let (mut printed_paths, mut found, mut wrong) = (0, 0, Vec::new());
    for (row, (with, without)) in with.iter().zip(&without).enumerate() {
        assert_eq!((&with.call, with.fd), (&without.call, without.fd), "event {row}");
        for (printed, claim) in [(&with.path, &without.path), (&with.path2, &without.path2)] {
            printed_paths += usize::from(printed.is_some());
            let Some(claim) = claim.as_deref().filter(|claim| is_claim(claim)) else { continue };
            let agrees = printed.as_deref().is_some_and(|printed| agree(claim, printed, links));
            found += usize::from(agrees);
            if !agrees {
                wrong.push(format!(
                    "event {row}, {} by {}: {claim}, but strace printed {printed:?}",
                    with.call, with.tid
                ));
            }
        }
        if let (Some(known), Some(claim)) = (with.offset, without.offset)
            && known != claim
        {
            wrong.push(format!("event {row}, {}: offset {claim}, but {known} with hints", with.call));
        }
    }
    assert!(wrong.is_empty(), "{} of {printed_paths}:\n{}", wrong.len(), wrong.join("\n"));
    found as f64 / printed_paths as f64
}

/// Symbolic links of the machine that recorded the traces, and the one file that is renamed while it is open.
const LINKS: &[(&str, &str)] = &[
    ("/lib/", "/usr/lib/"),
    ("/lib64/", "/usr/lib64/"),
    ("/bin/", "/usr/bin/"),
    ("/usr/share/locale/locale.alias", "/etc/locale.alias"),
    ("/lib/x86_64-linux-gnu/libz.so.1", "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13"),
    ("/etc/localtime", "/usr/share/zoneinfo/Etc/UTC"),
    ("/lib/x86_64-linux-gnu/libexpat.so.1", "/usr/lib/x86_64-linux-gnu/libexpat.so.1.8.10"),
    ("/lib/x86_64-linux-gnu/libacl.so.1", "/usr/lib/x86_64-linux-gnu/libacl.so.1.1.2301"),
    ("/lib/x86_64-linux-gnu/libattr.so.1", "/usr/lib/x86_64-linux-gnu/libattr.so.1.1.2501"),
    ("/lib/x86_64-linux-gnu/libpcre2-8.so.0", "/usr/lib/x86_64-linux-gnu/libpcre2-8.so.0.11.2"),
    ("/tmp/hints/root/dir/log", "/tmp/hints/root/dir/log.old"),
];

#[test]
fn known_operations_resolve_to_what_strace_printed() {
    let trace = include_bytes!("../fixtures/hints/known.strace");
    let share = compare(trace, LINKS);
    assert!(share > 0.97, "{share}");
}

#[test]
fn shell_pipelines_resolve_to_what_strace_printed() {
    let trace = include_bytes!("../fixtures/hints/shell.strace");
    let share = compare(trace, LINKS);
    assert!(share > 0.97, "{share}");
}
