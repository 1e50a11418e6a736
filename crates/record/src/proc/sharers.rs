//! Who shares an open file description with a process that was there before, or was started with it.
//!
//! A shell that appends to a log, and the programs that it starts, have one position. Positions are known only as long as
//! everybody who moves them is followed, so all processes are asked (`kcmp`) about each file that a process is found with.
//! Pipes and terminals have no positions, so there are mostly none.
//!
//! What cannot be seen: a process above the first one of a namespace that handed a file down and closed it in each process
//! between; a description in flight through a socket; a process of another user that is neither above the recorder nor in
//! its session.

use super::snapshot::numbers;
use super::{read, stat};
use hashbrown::HashSet;
use iotrail_model::{Pid, Tid};
use iotrail_ptrace::is_same_file;

/// How often the processes are listed until no new ones are found.
const LISTINGS: usize = 8;

/// Who shares a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharers {
    /// Nobody but the process itself, and the recorder, which does not use it.
    Nobody,
    /// A process that is followed already, under this number.
    Followed(Tid, i32),
    /// Somebody who is not followed, or it cannot be found out.
    Others,
}

/// Whether nobody but a process has what its descriptor refers to.
pub(crate) fn is_alone(process: Pid, tid: Tid, fd: i32) -> bool {
    Neighbours::of(process, &|_| false).sharers(tid, fd) == Sharers::Nobody
}

/// All processes but the recorder and the one that was found.
pub(super) struct Neighbours<'a> {
    process: Pid,
    is_followed: &'a dyn Fn(Pid) -> bool,
    hidden: Option<bool>,
}

impl<'a> Neighbours<'a> {
    pub(super) fn of(process: Pid, is_followed: &'a dyn Fn(Pid) -> bool) -> Self {
        Self { process, is_followed, hidden: None }
    }

    /// Who shares what descriptor `fd` of the process, seen through thread `tid`, refers to: a followed one if there is one.
    pub(super) fn sharers(&mut self, tid: Tid, fd: i32) -> Sharers {
        // Where the kernel does not compare, nothing can be found out.
        if is_same_file((tid, fd), (tid, fd)) != Some(true) || *self.hidden.get_or_insert_with(is_hidden) {
            return Sharers::Others;
        }
        let own = Pid(std::process::id());
        let mut asked: HashSet<u32> = [own.0, self.process.0].into();
        for _ in 0..LISTINGS {
            let (mut news, mut others) = (0, false);
            for pid in processes().filter(|pid| asked.insert(*pid)) {
                news += 1;
                let is_followed = (self.is_followed)(Pid(pid));
                if others && !is_followed {
                    continue;
                }
                match shares(Tid(pid), (tid, fd)) {
                    Some(None) => {}
                    Some(Some(other)) if is_followed => return Sharers::Followed(Tid(pid), other),
                    Some(Some(_)) => others = true,
                    None => others |= is_near(Pid(pid)),
                }
            }
            if others {
                return Sharers::Others;
            }
            if news == 0 {
                return Sharers::Nobody;
            }
        }
        Sharers::Others
    }
}

/// The descriptor of a process that refers to the same description; `None` if it may not be looked at.
fn shares(pid: Tid, wanted: (Tid, i32)) -> Option<Option<i32>> {
    match read::open(pid, "fd") {
        Ok(_) => {}
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::SRCH) => return Some(None),
        Err(_) => return None,
    }
    let fds = numbers(pid, "fd").filter_map(|fd| i32::try_from(fd).ok());
    for fd in fds {
        match is_same_file(wanted, (pid, fd)) {
            Some(true) => return Some(Some(fd)),
            Some(false) => {}
            // It was closed meanwhile, or may not be compared.
            None if is_same_file((pid, fd), (pid, fd)).is_none() && read::open(pid, "fd").is_err() => {
                return None;
            }
            None => {}
        }
    }
    Some(None)
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The first processes of the machine see all others.
const INITIAL_NAMESPACE: &[u8] = b"pid:[4026531836]";

/// Whether processes that the recorder cannot see may have handed it its descriptors: it is the first one that it sees.
fn is_hidden() -> bool {
    let namespace = rustix::fs::readlink("/proc/self/ns/pid", Vec::new());
    let initial = namespace.is_ok_and(|name| name.as_bytes() == INITIAL_NAMESPACE);
    !initial && parent(Pid(std::process::id())).is_none()
}

fn parent(pid: Pid) -> Option<Pid> {
    read::small(Tid(pid.0), "stat").and_then(|text| stat::parse(&text)).and_then(|stat| stat.ppid)
}

/// Whether a process that may not be looked at is one from which the recorder may have its descriptors.
fn is_near(pid: Pid) -> bool {
    let session = |pid: Pid| read::small(Tid(pid.0), "stat").and_then(|text| stat::parse(&text)?.session);
    let own = Pid(std::process::id());
    if session(pid).is_some_and(|other| Some(other) == session(own)) {
        return true;
    }
    let mut above = Some(own);
    while let Some(ancestor) = above {
        if ancestor == pid {
            return true;
        }
        above = parent(ancestor).filter(|parent| parent.0 > 1);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::process::{Child, Command, Stdio};

    /// A process whose standard input is a copy of a file of this test, which is the recorder here.
    fn child(file: &File) -> Child {
        let stdin = Stdio::from(file.try_clone().unwrap());
        Command::new("sleep").arg("1000").stdin(stdin).spawn().unwrap()
    }

    #[test]
    fn who_has_a_copy_shares_and_who_opened_the_file_himself_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let open =
            || File::options().write(true).create(true).truncate(false).open(dir.path().join("a")).unwrap();
        let (shared, alone) = (open(), open());
        let mut children = [child(&shared), child(&shared), child(&alone), child(&shared)];
        let [first, second, third, last] = [0, 1, 2, 3].map(|index| children[index].id());
        let look = |pid: u32, is_followed: &dyn Fn(Pid) -> bool| {
            Neighbours::of(Pid(pid), is_followed).sharers(Tid(pid), 0)
        };
        if is_same_file((Tid(first), 0), (Tid(first), 0)).is_none() || is_hidden() {
            eprintln!("kcmp is not there, or nobody above: not tested");
        } else {
            assert_eq!(look(first, &|_| false), Sharers::Others);
            assert_eq!(look(first, &|_| true), Sharers::Followed(Tid(second), 0));
            assert_eq!(look(first, &|pid| pid.0 == last), Sharers::Followed(Tid(last), 0));
            assert_eq!(look(last, &|pid| pid.0 == second), Sharers::Followed(Tid(second), 0));
            assert_eq!(look(third, &|_| false), Sharers::Nobody);
        }
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
