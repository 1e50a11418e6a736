//! Which descriptors share an open file description, and which threads a descriptor table.

use iotrail_model::Tid;

/// `KCMP_FILE` (`linux/kcmp.h`).
const KCMP_FILE: libc::c_int = 0;
/// `KCMP_FILES`.
const KCMP_FILES: libc::c_int = 2;

/// Whether two descriptors, each of a thread, are copies of each other (`2>&1`, what a child inherits), and so share
/// position and flags (`man 2 kcmp`). `None` if one of them is not open or the kernel does not tell.
#[must_use]
pub fn is_same_file((tid, fd): (Tid, i32), (of, other): (Tid, i32)) -> Option<bool> {
    let (fd, other) = (libc::c_ulong::try_from(fd).ok()?, libc::c_ulong::try_from(other).ok()?);
    is_same(tid, of, KCMP_FILE, [fd, other])
}

/// Whether two threads use one descriptor table, as those of a process do unless one has called `unshare`. `None` if one of them is gone or
/// the kernel does not tell.
#[must_use]
pub fn is_same_table(tid: Tid, of: Tid) -> Option<bool> {
    is_same(tid, of, KCMP_FILES, [0, 0])
}

fn is_same(tid: Tid, of: Tid, kind: libc::c_int, [first, second]: [libc::c_ulong; 2]) -> Option<bool> {
    let (pid, of) = (tid.0 as libc::pid_t, of.0 as libc::pid_t);
    // SAFETY: the call reads no memory of ours; its arguments are numbers.
    let order = unsafe { libc::syscall(libc::SYS_kcmp, pid, of, kind, first, second) };
    match order {
        0 => Some(true),
        1..=3 => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsRawFd;

    #[test]
    fn copies_are_told_from_openings() {
        let own = Tid(std::process::id());
        let first = File::open("/dev/null").unwrap();
        let (copy, second) = (first.try_clone().unwrap(), File::open("/dev/null").unwrap());
        let compare = |other: &File| is_same_file((own, first.as_raw_fd()), (own, other.as_raw_fd()));
        match compare(&copy) {
            None => eprintln!("kcmp is not there: not tested"),
            Some(same) => assert_eq!((same, compare(&second)), (true, Some(false))),
        }
        assert_eq!(is_same_file((own, first.as_raw_fd()), (own, -1)), None);
    }

    #[test]
    fn threads_have_one_table_until_one_unshares_it() {
        // SAFETY: the call takes nothing and always succeeds.
        let tid = || Tid(unsafe { libc::gettid() } as u32);
        let own = tid();
        let shared = std::thread::spawn(move || is_same_table(own, tid())).join().unwrap();
        let apart = std::thread::spawn(move || {
            // SAFETY: the thread has a copy of the table, and closes nothing of it.
            assert_eq!(unsafe { libc::unshare(libc::CLONE_FILES) }, 0);
            is_same_table(own, tid())
        });
        match shared {
            None => eprintln!("kcmp is not there: not tested"),
            Some(same) => assert_eq!((same, apart.join().unwrap()), (true, Some(false))),
        }
    }
}
