//! Calls that a trail cannot hold, because they were not recorded or not traced: what jobs did by them is unknown.
//!
//! A recording states which calls were chosen. A trace does not: that it is of chosen calls is seen by what every program does as it
//! starts and such a trace lacks (`brk`); of the others it then cannot be told whether a program did nothing of the kind or nobody looked.

use super::Issue;
use iotrail_model::CallId;
use iotrail_model::calls::{Call, CallKind, CallSpec, Group, TABLE, starts_programs};
use iotrail_trail::{Columns, EventLog, TrailError};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Calls that do something of one kind.
struct Deed {
    what: &'static str,
    kinds: &'static [CallKind],
    /// Without them it is not known who made what, in which order, or where data went.
    decisive: bool,
}

const DEEDS: [Deed; 10] = [
    Deed { what: "open files", kinds: &[CallKind::Open, CallKind::Create], decisive: true },
    Deed { what: "close descriptors", kinds: &[CallKind::Close], decisive: true },
    Deed { what: "read", kinds: &[CallKind::Read], decisive: true },
    Deed { what: "write", kinds: &[CallKind::Write], decisive: true },
    Deed { what: "copy descriptors", kinds: &[CallKind::Duplicate], decisive: true },
    Deed { what: "make pipes", kinds: &[CallKind::Pipe], decisive: true },
    Deed { what: "change the working directory", kinds: &[CallKind::ChangeDirectory], decisive: true },
    Deed {
        what: "make, rename, link or remove names",
        kinds: &[
            CallKind::Rename,
            CallKind::Unlink,
            CallKind::Link,
            CallKind::Symlink,
            CallKind::MakeDirectory,
            CallKind::RemoveDirectory,
        ],
        decisive: true,
    },
    Deed {
        what: "look at names",
        kinds: &[CallKind::Stat, CallKind::Access, CallKind::List],
        decisive: false,
    },
    Deed {
        what: "set permissions, times or lengths",
        kinds: &[CallKind::ChangeMode, CallKind::SetTimes, CallKind::Umask, CallKind::Truncate],
        decisive: false,
    },
];

/// What a reader of the jobs must know of calls that are not in the log.
pub(crate) fn missing_calls(log: &EventLog) -> Result<Vec<Issue>, TrailError> {
    if let Some(recording) = &log.coverage().recording {
        let selections = recording.selections.iter().map(|selection| &*selection.asked);
        return Ok(of_recording(&selections.collect::<Vec<&str>>()));
    }
    let mut seen: BTreeSet<CallId> = BTreeSet::new();
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, Columns::CALL)?;
        let mut last = None;
        for call in &batch.call {
            if last.replace(*call) != Some(*call) {
                seen.insert(*call);
            }
        }
    }
    let names = &log.names().calls;
    Ok(of_trace(seen.iter().filter_map(|call| Some(Call::named(names.get(call.index())?)))))
}

/// Deeds of which a kind was left out of one of the selections.
fn of_recording(selections: &[&str]) -> Vec<Issue> {
    let lacks = |deed: &Deed| {
        // Requests come with the call that submits them.
        let own = |spec: &&CallSpec| spec.request.is_none();
        let lacks_kind = |words: &str, kind: CallKind| {
            TABLE.iter().filter(own).any(|spec| spec.kind == kind && !is_chosen(words, spec))
        };
        selections.iter().any(|words| deed.kinds.iter().any(|kind| lacks_kind(words, *kind)))
    };
    issues(lacks, false)
}

/// Deeds of which a trace of chosen calls has none.
fn of_trace<'a>(calls: impl Iterator<Item = Call<'a>>) -> Vec<Issue> {
    let (mut kinds, mut any, mut whole) = (Vec::new(), false, false);
    for call in calls {
        any |= call.spec.is_some();
        whole |= starts_programs(call.name);
        kinds.push(call.kind());
    }
    if whole || !any {
        return Vec::new();
    }
    issues(|deed| !deed.kinds.iter().any(|kind| kinds.contains(kind)), true)
}

fn issues(lacks: impl Fn(&Deed) -> bool, traced: bool) -> Vec<Issue> {
    let found = |wanted: bool| -> Option<Issue> {
        let deeds = DEEDS.iter().filter(|deed| lacks(deed));
        // What a trace lacks may have never happened.
        let is_decisive = |deed: &&Deed| deed.decisive && !traced;
        let what: BTreeSet<Arc<str>> =
            deeds.filter(|deed| is_decisive(deed) == wanted).map(|deed| deed.what.into()).collect();
        let what: Vec<Arc<str>> = what.into_iter().collect();
        (!what.is_empty()).then_some(Issue::CallsMissing { what, decisive: wanted, traced })
    };
    [true, false].into_iter().filter_map(found).collect()
}

/// Whether a selection of calls, as it was asked for, has a call: the last word that concerns it decides.
fn is_chosen(words: &str, spec: &CallSpec) -> bool {
    let words = words.strip_prefix("trace=").unwrap_or(words);
    let mut chosen = words.starts_with('!') && Group::Io.has(spec);
    for word in words.split(',').map(str::trim) {
        let (name, wanted) = word.strip_prefix('!').map_or((word, true), |name| (name, false));
        let is_meant = match Group::named(name.strip_prefix('%').unwrap_or(name)) {
            Some(group) => group.has(spec),
            None => spec.name == name,
        };
        if is_meant {
            chosen = wanted;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(issues: &[Issue]) -> String {
        issues.iter().map(|issue| format!("{issue}\n")).collect()
    }

    #[test]
    fn usual_recordings_lack_nothing() {
        for words in ["io", "all", "io,wait", "!futex", "file,desc,umask", "trace=%file,%desc,umask"] {
            assert_eq!(of_recording(&[words]), [], "{words}");
        }
    }

    #[test]
    fn what_was_not_recorded_is_told_and_decides_if_it_changes_names() {
        let issues = of_recording(&["io", "!rename,!renameat,!renameat2"]);
        assert!(matches!(&issues[..], [Issue::CallsMissing { decisive: true, .. }]), "{issues:?}");
        assert!(told(&issues).contains("make, rename, link or remove names"));
        assert!(told(&of_recording(&["io,!openat"])).contains("open files"), "others open, too");
        let issues = of_recording(&["!stat,!utimensat"]);
        assert!(matches!(&issues[..], [Issue::CallsMissing { decisive: false, .. }]), "{issues:?}");
        assert!(told(&of_recording(&["open,close,data"])).contains("make pipes"));
    }

    #[test]
    fn traces_of_chosen_calls_are_known_by_what_programs_do_as_they_start() {
        let of = |names: &str| of_trace(names.split(' ').map(Call::named).collect::<Vec<_>>().into_iter());
        assert_eq!(of("execve brk openat read write close"), []);
        assert_eq!(of("malloc fopen"), [], "calls of libraries");
        let issues = of("execve openat read write close dup2 pipe2");
        assert!(
            matches!(&issues[..], [Issue::CallsMissing { decisive: false, traced: true, .. }]),
            "{issues:?}"
        );
        assert!(told(&of("execve openat")).contains("close descriptors"));
    }
}
