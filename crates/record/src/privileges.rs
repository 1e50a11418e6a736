//! Programs that would have gained privileges and did not.
//!
//! The kernel lets a traced program gain the user or group of its file only if the tracer could do the same, and a filter of
//! an unprivileged recorder gives the gaining up (`PR_SET_NO_NEW_PRIVS`).

use iotrail_model::Tid;
use rustix::fs::{StatVfsMountFlags, stat, statvfs};

const SET_USER: u32 = 0o4000;
const SET_GROUP: u32 = 0o2000;
/// Without it the bit of the group means something else.
const GROUP_EXECUTES: u32 = 0o010;

/// Whether the program that a thread has just executed runs without the user or group that its file would give.
pub(crate) fn withheld(tid: Tid) -> bool {
    let exe = format!("/proc/{tid}/exe");
    let Ok(file) = stat(&exe) else { return false };
    let sets_user = file.st_mode & SET_USER != 0;
    let sets_group = file.st_mode & (SET_GROUP | GROUP_EXECUTES) == SET_GROUP | GROUP_EXECUTES;
    if !sets_user && !sets_group {
        return false;
    }
    if statvfs(&exe).is_ok_and(|mount| mount.f_flag.contains(StatVfsMountFlags::NOSUID)) {
        return false;
    }
    let Ok(status) = std::fs::read(format!("/proc/{tid}/status")) else { return false };
    let status = String::from_utf8_lossy(&status);
    let differs = |key, wanted| effective(&status, key).is_some_and(|id| id != wanted);
    (sets_user && differs("Uid:", file.st_uid)) || (sets_group && differs("Gid:", file.st_gid))
}

/// The second of four ids: real, effective, saved, of the file system.
fn effective(status: &str, key: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effective_id_is_the_second() {
        let status = "Name:\tx\nUid:\t1000\t0\t1000\t0\nGid:\t5\t6\t7\t8\n";
        assert_eq!(effective(status, "Uid:"), Some(0));
        assert_eq!(effective(status, "Gid:"), Some(6));
        assert_eq!(effective("", "Uid:"), None);
    }

    #[test]
    fn nothing_is_withheld_from_this_test() {
        assert!(!withheld(Tid(std::process::id())));
        assert!(!withheld(Tid(u32::MAX >> 1)), "nobody");
    }
}
