//! What a process is when the recording of it begins.
//!
//! The threads of a process share one descriptor table unless the kernel says otherwise ([`Tables`]), and are taken to share one working
//! directory; only `unshare` and `clone` without `CLONE_FS` make that otherwise, and no C library does.

use super::descriptor::{FoundDescriptor, look};
use super::environment::EnvSelection;
use super::image::image;
use super::sharers::{Neighbours, Sharers};
use super::{read, stat};
use hashbrown::HashMap;
use iotrail_model::raw::RawItem;
use iotrail_model::{Nanos, Pid, Tid, Timestamp};
use iotrail_ptrace::{is_same_file, is_same_table};
use rustix::fs::Dir;
use rustix::time::ClockId;

/// Who was found in a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotSummary {
    /// The threads of the process, sorted; none if it is gone.
    pub threads: Vec<Tid>,
    /// Descriptors that were found.
    pub descriptors: u64,
    /// Descriptors of which not even the name could be read.
    pub unnamed: u64,
    /// Bytes of the command line that were left off.
    pub cut: u64,
}

/// Turns the name that a link of a thread shows into that of the recorder.
pub type Seen<'a> = &'a mut dyn FnMut(Tid, &str, Vec<u8>) -> Vec<u8>;

/// Tells `deliver` all about process `pid`, whose threads are stopped: each thread, the working directory, every
/// descriptor and with whom its position is shared, the image. The items bear the time `at`.
/// Of descriptors that were found, numbers alone are held.
pub fn snapshot(
    pid: Pid,
    at: Timestamp,
    env: &EnvSelection,
    is_followed: &dyn Fn(Pid) -> bool,
    seen: Seen<'_>,
    mut deliver: impl FnMut(RawItem<'_>),
) -> SnapshotSummary {
    let leader = Tid(pid.0);
    let mut threads: Vec<Tid> = numbers(leader, "task").map(Tid).collect();
    threads.sort_unstable();
    let stat = read::small(leader, "stat").and_then(|text| stat::parse(&text)).unwrap_or_default();
    // The leader may have ended before its threads; then it has neither directory nor descriptors to show.
    let first = threads.iter().copied().find(|tid| is_alive(*tid));
    let mut tables = Tables(first.into_iter().collect());
    for tid in &threads {
        deliver(RawItem::Found { tid: *tid, pid, ppid: stat.ppid, at, table: tables.apart(*tid) });
    }
    let Some(tid) = first else {
        return SnapshotSummary { threads, ..SnapshotSummary::default() };
    };
    let mut facts = image(tid, env);
    for (link, path) in [("exe", &mut facts.exe), ("cwd", &mut facts.cwd)] {
        *path = path.take().map(|path| seen(tid, link, path));
    }
    if let Some(path) = &facts.cwd {
        deliver(RawItem::WorkingDirectory { tid, path });
    }
    let mut found = SnapshotSummary { threads, cut: facts.cut, ..SnapshotSummary::default() };
    let mut originals = Originals::default();
    let mut neighbours = Neighbours::of(pid, is_followed);
    for (tid, fd) in tables.descriptors() {
        match look(tid, fd) {
            Some(mut there) => {
                found.descriptors += 1;
                let original = originals.of(tid, &there, &mut neighbours);
                there.followed = original == Original::Alone;
                there.name.name = seen(tid, &format!("fd/{fd}"), std::mem::take(&mut there.name.name));
                deliver(RawItem::Descriptor { tid, fd, open: there.open_file() });
                if let Original::Other(of, other) = original {
                    deliver(RawItem::Copies { tid, fd, of, other, received: false });
                }
            }
            None => found.unnamed += 1,
        }
    }
    facts.with(|image| deliver(RawItem::Image { tid, at, image }));
    found
}

/// How many separate openings of one file with the same position are told apart.
const MAX_ORIGINALS: usize = 16;

/// Whether a thread has something to show still.
fn is_alive(tid: Tid) -> bool {
    super::image::path(tid, "cwd").is_some()
}

/// A thread for each descriptor table of a process, that of most first.
struct Tables(Vec<Tid>);

impl Tables {
    /// The first thread that was found with the table of this one, if that is not the table of the process.
    fn apart(&mut self, tid: Tid) -> Option<Tid> {
        let (first, others) = self.0.split_first()?;
        if is_same_table(tid, *first) != Some(false) || !is_alive(tid) {
            return None;
        }
        let found = others.iter().copied().find(|other| is_same_table(tid, *other) == Some(true));
        if found.is_none() {
            self.0.push(tid);
        }
        Some(found.unwrap_or(tid))
    }

    /// All descriptors, with a thread that has each.
    fn descriptors(&self) -> impl Iterator<Item = (Tid, i32)> {
        let of = |tid: Tid| numbers(tid, "fd").filter_map(move |fd| Some((tid, i32::try_from(fd).ok()?)));
        self.0.iter().copied().flat_map(of)
    }
}

/// When a process was made, to 10 ms; `now` if that is unknown.
#[must_use]
pub fn birth(pid: Pid, now: Timestamp) -> Timestamp {
    let stat = read::small(Tid(pid.0), "stat").and_then(|text| stat::parse(&text)).unwrap_or_default();
    stat.started.and_then(on_utc).map_or(now, |made| made.min(now))
}

/// What a descriptor is a copy of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Original {
    /// Of none; nobody else has one.
    Alone,
    /// Of one that was told about.
    Other(Tid, i32),
    /// Others may have copies, or nothing is known.
    Unknown,
}

/// Device, inode, position.
type Place = (u64, u64, i64);

/// The descriptors that are no copies of others, as far as positions matter, by file and position.
#[derive(Default)]
struct Originals {
    fds: HashMap<Place, Vec<(Tid, i32)>, foldhash::fast::RandomState>,
}

impl Originals {
    /// What this descriptor is a copy of. Copies have the same position, so no others of the process are compared.
    fn of(&mut self, tid: Tid, found: &FoundDescriptor, neighbours: &mut Neighbours<'_>) -> Original {
        let Some(position) = found.position else { return Original::Unknown };
        let place = (found.facts.device, found.facts.inode, position);
        let fds = self.fds.entry(place).or_default();
        let is_copy = |other: &(Tid, i32)| is_same_file((tid, found.fd), *other) == Some(true);
        if let Some((of, fd)) = fds.iter().copied().find(is_copy) {
            return Original::Other(of, fd);
        }
        if fds.len() >= MAX_ORIGINALS {
            return Original::Unknown;
        }
        fds.push((tid, found.fd));
        match neighbours.sharers(tid, found.fd) {
            Sharers::Nobody => Original::Alone,
            Sharers::Followed(of, other) => Original::Other(of, other),
            Sharers::Others => Original::Unknown,
        }
    }
}

/// The names in a directory of `/proc` that are numbers, in the order of the kernel, which is ascending.
pub(crate) fn numbers(tid: Tid, directory: &str) -> impl Iterator<Item = u32> {
    let entries = read::open(tid, directory).and_then(Dir::new);
    let entries = entries.into_iter().flat_map(|entries| entries.map_while(Result::ok));
    entries.filter_map(|entry| read::number(entry.file_name().to_bytes()))
}

/// The point in time that lies `since_boot` after the start of this machine.
fn on_utc(since_boot: Nanos) -> Option<Timestamp> {
    let nanos = |clock| {
        let time = rustix::time::clock_gettime(clock);
        time.tv_sec.checked_mul(1_000_000_000)?.checked_add(time.tv_nsec)
    };
    let (utc, boot) = (nanos(ClockId::Realtime)?, nanos(ClockId::Boottime)?);
    Some(Timestamp(utc.checked_sub(boot)?.checked_add(since_boot.0)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_of_this_process_shows_its_threads_descriptors_and_image() {
        let own = Pid(std::process::id());
        let now = Timestamp(i64::MAX);
        let (mut found, mut descriptors, mut images, mut directories) = (Vec::new(), 0, 0, 0);
        let summary =
            snapshot(
                own,
                now,
                &EnvSelection::none(),
                &|_| false,
                &mut |_, _, name| name,
                |item| match item {
                    RawItem::Found { tid, pid, ppid, at, table } => {
                        assert!(pid == own && ppid.is_some() && at == now && table.is_none());
                        found.push(tid);
                    }
                    RawItem::Descriptor { .. } => descriptors += 1,
                    RawItem::WorkingDirectory { path, .. } => {
                        assert!(path.starts_with(b"/"));
                        directories += 1;
                    }
                    RawItem::Image { image, .. } => {
                        assert!(image.exe.is_some() && image.cmdline.is_some() && image.env.is_empty());
                        images += 1;
                    }
                    _ => {}
                },
            );
        assert!(found.contains(&Tid(own.0)));
        assert_eq!(found, summary.threads);
        assert_eq!((images, directories, descriptors), (1, 1, summary.descriptors));
    }

    #[test]
    fn a_process_was_made_before_it_is_looked_at() {
        let own = Pid(std::process::id());
        assert!(birth(own, Timestamp(i64::MAX)) < Timestamp(i64::MAX));
        assert_eq!(birth(own, Timestamp(0)), Timestamp(0));
        assert_eq!(birth(Pid(u32::MAX >> 4), Timestamp(5)), Timestamp(5));
    }

    #[test]
    fn who_is_gone_has_no_threads() {
        let summary = snapshot(
            Pid(u32::MAX >> 4),
            Timestamp(0),
            &EnvSelection::none(),
            &|_| false,
            &mut |_, _, name| name,
            |_| {},
        );
        assert_eq!(summary, SnapshotSummary::default());
    }
}
