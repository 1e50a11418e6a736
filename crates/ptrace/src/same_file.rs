//! Which descriptors share an open file description.

use iotrail_model::Tid;

/// `KCMP_FILE` (`linux/kcmp.h`).
const KCMP_FILE: libc::c_int = 0;

/// Whether two descriptors, each of a thread, are copies of each other (`2>&1`, what a child inherits), and so share
/// position and flags (`man 2 kcmp`). `None` if one of them is not open or the kernel does not tell.
#[must_use]
pub fn is_same_file((tid, fd): (Tid, i32), (of, other): (Tid, i32)) -> Option<bool> {
    let (fd, other) = (libc::c_ulong::try_from(fd).ok()?, libc::c_ulong::try_from(other).ok()?);
    let (pid, of) = (tid.0 as libc::pid_t, of.0 as libc::pid_t);
    // SAFETY: the call reads no memory of ours; its arguments are numbers.
    let order = unsafe { libc::syscall(libc::SYS_kcmp, pid, of, KCMP_FILE, fd, other) };
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
}
