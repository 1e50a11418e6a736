//! What a call asks of a lock, which its flags tell: `flock` and the lock commands of `fcntl`, in all their variants.

use super::flags::has_word;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockRequest {
    /// The lock is taken; if somebody has it, the call waits.
    Wait,
    /// The lock is taken unless somebody has it.
    Try,
    /// The lock is released.
    Release,
}

impl LockRequest {
    /// What the flags of a call ask; `None` if nothing of a lock.
    #[must_use]
    pub fn of(flags: &str) -> Option<Self> {
        let has = |words: &[&str]| words.iter().any(|word| has_word(flags.as_bytes(), word));
        if has(&["LOCK_UN", "F_UNLCK"]) {
            Some(Self::Release)
        } else if has(&["F_SETLKW", "F_SETLKW64", "F_OFD_SETLKW"]) {
            Some(Self::Wait)
        } else if has(&["LOCK_SH", "LOCK_EX"]) {
            Some(if has(&["LOCK_NB"]) { Self::Try } else { Self::Wait })
        } else {
            has(&["F_SETLK", "F_SETLK64", "F_OFD_SETLK"]).then_some(Self::Try)
        }
    }

    /// Whether the lock that the flags of a call ask for is the process's (`F_SETLK`), not the open file description's.
    #[must_use]
    pub fn is_of_process(flags: &str) -> bool {
        let has = |word| has_word(flags.as_bytes(), word);
        ["F_SETLK", "F_SETLK64", "F_SETLKW", "F_SETLKW64"].into_iter().any(has)
    }

    /// Whether the flags of a call ask for a lock that others may have at the same time.
    #[must_use]
    pub fn is_shared(flags: &str) -> bool {
        ["LOCK_SH", "F_RDLCK"].into_iter().any(|word| has_word(flags.as_bytes(), word))
    }

    /// Whether the flags of a call take or release a lock of a file.
    #[must_use]
    pub fn is_in(flags: &str) -> bool {
        Self::of(flags).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_of_a_lock_is_known() {
        let of = LockRequest::of;
        for wait in ["LOCK_EX", "F_SETLKW, F_WRLCK", "F_SETLKW64, F_RDLCK", "F_OFD_SETLKW, F_WRLCK"] {
            assert_eq!(of(wait), Some(LockRequest::Wait), "{wait}");
        }
        for attempt in ["LOCK_SH|LOCK_NB", "F_SETLK, F_WRLCK", "F_SETLK64, F_RDLCK", "F_OFD_SETLK, F_WRLCK"] {
            assert_eq!(of(attempt), Some(LockRequest::Try), "{attempt}");
        }
        for release in ["LOCK_UN", "F_SETLK, F_UNLCK", "F_SETLKW64, F_UNLCK"] {
            assert_eq!(of(release), Some(LockRequest::Release), "{release}");
        }
        assert_eq!(["F_GETFD", "F_GETLK, F_WRLCK", "O_RDONLY", ""].map(of), [None; 4]);
    }
}
