//! Places whose names say what lies there.

/// Directories of what is no data.
const PSEUDO: [&str; 3] = ["/dev", "/proc", "/sys"];

/// Below [`PSEUDO`], but data: file systems in memory.
const DATA: [&str; 3] = ["/dev/shm", "/dev/mqueue", "/dev/hugepages"];

/// Whether a path is that of a device, or of something that the kernel tells or lends, and not of data.
#[must_use]
pub fn is_pseudo(path: &(impl AsRef<[u8]> + ?Sized)) -> bool {
    let within = |directories: &[&str]| directories.iter().any(|directory| is_within(path, directory));
    within(&PSEUDO) && !within(&DATA)
}

/// How directories are called that Open MPI, MPICH, PMIx and PRRTE make for themselves, up to host and user.
const OF_MPI: [&str; 8] =
    ["ompi.", "openmpi-sessions", "pmix-", "pmix.", "pmix_dstor", "prte.", "mpich.", "mpich_"];
/// How Open MPI calls its directory in that of a user.
const OF_USER: &str = ".openmpi";

/// How the name of a directory begins that an MPI library made for itself; `None` for others.
#[must_use]
pub fn mpi_directory(name: &str) -> Option<&'static str> {
    let begins = OF_MPI.into_iter().find(|prefix| name.starts_with(prefix));
    begins.or_else(|| (name == OF_USER).then_some(OF_USER))
}

/// Whether a path is that of a directory or lies below it.
#[must_use]
pub fn is_within(path: &(impl AsRef<[u8]> + ?Sized), directory: &str) -> bool {
    let rest = path.as_ref().strip_prefix(directory.as_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// The deepest directory that all files lie below; empty where that is the root, or nothing for relative paths.
pub fn common_directory<'a>(paths: impl Iterator<Item = &'a str>) -> &'a str {
    let directory = |path: &'a str| path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let common = |one: &'a str, other: &'a str| {
        let same = one.split('/').zip(other.split('/')).take_while(|(one, other)| one == other);
        let len: usize = same.map(|(part, _)| part.len() + 1).sum();
        &one[..len.saturating_sub(1).min(one.len())]
    };
    paths.map(directory).reduce(common).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_mpi_are_told_by_how_they_begin() {
        for (name, prefix) in [
            ("ompi.node7.1000", "ompi."),
            ("pmix-12", "pmix-"),
            ("openmpi-sessions-0@node7_0", "openmpi-sessions"),
            (".openmpi", ".openmpi"),
        ] {
            assert_eq!(mpi_directory(name), Some(prefix));
        }
        for name in ["data", "mpichler", "prterry", "pmixture", "openmpi_thesis", ".openmpi2"] {
            assert_eq!(mpi_directory(name), None, "{name}");
        }
    }

    #[test]
    fn files_in_memory_are_data_and_devices_are_not() {
        for path in ["/dev", "/dev/null", "/dev/pts/3", "/dev/fd/3", "/proc/self/maps", "/sys"] {
            assert!(is_pseudo(path), "{path}");
        }
        for path in ["/dev/shm", "/dev/shm/run/x", "/devices/a", "dev/null", "/home/dev/x", "/processed"] {
            assert!(!is_pseudo(path), "{path}");
        }
    }

    #[test]
    fn the_common_directory_is_made_of_whole_names() {
        let of = |paths: &[&'static str]| common_directory(paths.iter().copied());
        assert_eq!(of(&["/a/b/x", "/a/bc/y"]), "/a");
        assert_eq!(of(&["/a/b/x", "/a/b/c/y", "/a/b/z"]), "/a/b");
        assert_eq!(of(&["/a/x", "/b/x"]), "");
        assert_eq!(of(&["x", "y"]), "");
        assert_eq!(of(&[]), "");
    }
}
