//! Numbers of calls that all architectures share: those of all calls since Linux 5.1 (`scripts/syscall.tbl`).

/// The number of the first of them.
const FIRST: u32 = 424;

#[rustfmt::skip]
const NAMES: [&str; 46] = [
    "pidfd_send_signal", "io_uring_setup", "io_uring_enter", "io_uring_register", "open_tree", "move_mount", "fsopen", "fsconfig",
    "fsmount", "fspick", "pidfd_open", "clone3", "close_range", "openat2", "pidfd_getfd", "faccessat2", "process_madvise",
    "epoll_pwait2", "mount_setattr", "quotactl_fd", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
    "memfd_secret", "process_mrelease", "futex_waitv", "set_mempolicy_home_node", "cachestat", "fchmodat2", "map_shadow_stack",
    "futex_wake", "futex_wait", "futex_requeue", "statmount", "listmount", "lsm_get_self_attr", "lsm_set_self_attr",
    "lsm_list_modules", "mseal", "setxattrat", "getxattrat", "listxattrat", "removexattrat", "open_tree_attr", "file_getattr",
    "file_setattr",
];

/// The name of the call of that number, if it is one of those.
#[must_use]
pub fn shared(number: u32) -> Option<&'static str> {
    NAMES.get(usize::try_from(number.checked_sub(FIRST)?).ok()?).copied()
}

/// The kernel's name of a call for which a tracer has only a number: `syscall_0x1d4`.
#[must_use]
#[inline]
pub fn name_behind(name: &[u8]) -> &[u8] {
    let digits = name.strip_prefix(b"syscall_0x").and_then(|digits| std::str::from_utf8(digits).ok());
    let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    number.and_then(shared).map_or(name, str::as_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_in_the_table() {
        for name in NAMES {
            assert!(crate::calls::id(name).is_some(), "{name}");
        }
    }

    #[test]
    fn numbers_stand_for_calls() {
        let behind = |name: &'static str| std::str::from_utf8(name_behind(name.as_bytes())).unwrap();
        assert_eq!(["syscall_0x1a8", "syscall_0x1d4"].map(behind), ["pidfd_send_signal", "file_getattr"]);
        assert_eq!([437, 452, 469].map(shared), [Some("openat2"), Some("fchmodat2"), Some("file_setattr")]);
        assert_eq!((shared(423), shared(470), behind("syscall_0x3e7")), (None, None, "syscall_0x3e7"));
    }
}
