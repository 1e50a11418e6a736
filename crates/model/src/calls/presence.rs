//! What a failed call tells of the file at its path: one answer for all who ask.

use super::{ArgKind, CallKind, CallSpec, NameEffect, OpenFlags, flags};

/// Whether there was anything at the path that a call was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Presence {
    /// Something was there.
    There,
    /// Nothing was there.
    Missing,
    /// The call failed for a reason that does not tell.
    Unknown,
}

impl CallSpec {
    /// What it tells of the file at its path that this call failed with that error (`ENOENT`); `flags` as a tracer told them, if they matter. Of
    /// calls that are given two paths it is the first one, which was looked up before the second. A call without a path tells
    /// nothing.
    ///
    /// `ENOTDIR` means that something above the name is a file, so that nothing can be there; or, of calls that want a directory,
    /// that the name itself is that of a file. Which of both is not told then.
    #[must_use]
    pub fn presence<T: AsRef<[u8]>>(&self, flags: impl FnOnce() -> T, errno: &[u8]) -> Presence {
        if !self.has(ArgKind::Path) {
            return Presence::Unknown;
        }
        match errno {
            b"ENOENT" => Presence::Missing,
            b"ENOTDIR" if self.wants_directory(flags().as_ref()) => Presence::Unknown,
            b"ENOTDIR" => Presence::Missing,
            b"EEXIST" | b"ENOTEMPTY" | b"EISDIR" | b"ETXTBSY" => Presence::There,
            _ => Presence::Unknown,
        }
    }

    /// Whether it fails with `ENOTDIR` on what is there and not a directory.
    fn wants_directory(&self, text: &[u8]) -> bool {
        /// Of `unlinkat`.
        const REMOVEDIR: flags::Flag = flags::Flag::new("AT_REMOVEDIR", 0x200);
        match self.kind {
            CallKind::Open => {
                let flags = OpenFlags::parse(text);
                flags.directory() || flags.nameless()
            }
            CallKind::Unlink => REMOVEDIR.is_in_text(text),
            CallKind::RemoveDirectory | CallKind::Rename | CallKind::ChangeRoot | CallKind::PivotRoot => true,
            _ => matches!(self.name_effect(), NameEffect::ChangesDirectory | NameEffect::ChangesTrees),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Presence::{Missing, There, Unknown};
    use crate::calls::{ArgKind, TABLE, named};

    #[test]
    fn what_failed_calls_tell_of_their_path() {
        let table = [
            ("open", "O_RDONLY", "ENOENT", Missing),
            ("openat", "O_WRONLY|O_CREAT|O_TRUNC", "ENOENT", Missing),
            ("openat", "O_RDONLY|O_CLOEXEC", "ENOTDIR", Missing),
            ("openat", "O_RDONLY|O_PATH|O_DIRECTORY", "ENOTDIR", Unknown),
            ("openat", "O_RDWR|O_TMPFILE", "ENOTDIR", Unknown),
            ("openat2", "{flags=O_RDONLY|O_DIRECTORY, resolve=0}", "ENOTDIR", Unknown),
            ("io_uring_openat", "O_DIRECTORY", "ENOTDIR", Unknown),
            ("openat", "O_RDWR|O_CREAT|O_EXCL", "EEXIST", There),
            ("openat", "O_WRONLY", "EISDIR", There),
            ("openat", "O_WRONLY", "ETXTBSY", There),
            ("openat", "O_RDONLY", "EACCES", Unknown),
            ("openat", "O_RDONLY|O_NOFOLLOW", "ELOOP", Unknown),
            ("openat", "O_RDONLY", "ENAMETOOLONG", Unknown),
            ("openat", "O_RDONLY", "EFAULT", Unknown),
            ("openat", "O_RDONLY", "EMFILE", Unknown),
            ("creat", "", "ENOTDIR", Missing),
            ("creat", "", "EISDIR", There),
            ("stat", "", "ENOENT", Missing),
            ("newfstatat", "AT_SYMLINK_NOFOLLOW", "ENOTDIR", Missing),
            ("faccessat2", "", "ENOENT", Missing),
            ("access", "", "EACCES", Unknown),
            ("readlink", "", "ENOTDIR", Missing),
            ("readlink", "", "EINVAL", Unknown),
            ("execve", "", "ENOENT", Missing),
            ("execve", "", "ENOEXEC", Unknown),
            ("unlink", "", "ENOENT", Missing),
            ("unlink", "", "ENOTDIR", Missing),
            ("unlink", "", "EISDIR", There),
            ("unlinkat", "AT_REMOVEDIR", "ENOTDIR", Unknown),
            ("unlinkat", "0x200", "ENOTDIR", Unknown),
            ("unlinkat", "0", "ENOTDIR", Missing),
            ("unlinkat", "AT_REMOVEDIR", "ENOTEMPTY", There),
            ("rmdir", "", "ENOENT", Missing),
            ("rmdir", "", "ENOTDIR", Unknown),
            ("rmdir", "", "ENOTEMPTY", There),
            ("rmdir", "", "EBUSY", Unknown),
            ("mkdir", "0x1ed", "EEXIST", There),
            ("mkdir", "0x1ed", "ENOTDIR", Missing),
            ("mkdirat", "0x1ed", "ENOENT", Missing),
            ("mknodat", "S_IFIFO|0644", "EEXIST", There),
            ("symlink", "", "EEXIST", There),
            ("link", "", "EEXIST", There),
            ("linkat", "", "ENOENT", Missing),
            ("rename", "", "ENOENT", Missing),
            ("rename", "", "ENOTDIR", Unknown),
            ("renameat2", "RENAME_NOREPLACE", "EEXIST", There),
            ("rename", "", "EXDEV", Unknown),
            ("chdir", "", "ENOTDIR", Unknown),
            ("chdir", "", "ENOENT", Missing),
            ("chroot", "", "ENOTDIR", Unknown),
            ("truncate", "", "ENOENT", Missing),
            ("chmod", "0x1a4", "ENOTDIR", Missing),
            ("read", "", "EISDIR", Unknown),
            ("fchdir", "", "ENOTDIR", Unknown),
            ("openat", "O_RDONLY", "", Unknown),
        ];
        for (call, flags, errno, wanted) in table {
            let found = named(call).unwrap().presence(|| flags, errno.as_bytes());
            assert_eq!(found, wanted, "{call} {flags} {errno}");
        }
    }

    #[test]
    fn every_call_with_a_path_says_that_nothing_is_there_and_no_other_does() {
        for spec in TABLE {
            let wanted = if spec.has(ArgKind::Path) { Missing } else { Unknown };
            assert_eq!(spec.presence(|| "", b"ENOENT"), wanted, "{}", spec.name);
        }
    }
}
