//! What is known of each call of a log, looked up once for each name and not for each event.

use super::{CallKind, CallSpec, Family, Makes, Transfer, named};
use crate::ids::CallId;
use std::sync::Arc;

/// A call by its name: a row of the table, or one of a library of which only its name tells something.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The name in the log.
    pub name: &'a str,
    /// Row of the call table; none for names that the table does not have.
    pub spec: Option<&'static CallSpec>,
}

impl<'a> Call<'a> {
    /// The call of that name.
    #[must_use]
    pub fn named(name: &'a str) -> Self {
        Self { name, spec: named(name) }
    }

    /// What it does.
    #[must_use]
    pub fn kind(self) -> CallKind {
        self.spec.map(|spec| spec.kind).unwrap_or_default()
    }

    /// Whether it opens one file, by a path or a handle: of calls that are not in the table by their names.
    #[must_use]
    pub fn opens_file(self) -> bool {
        const OF_LIBRARIES: [&str; 6] =
            ["MPI_File_open", "fopen", "fopen64", "freopen", "freopen64", "opendir"];
        self.spec.map_or_else(|| OF_LIBRARIES.contains(&self.name), |spec| spec.kind.opens_file())
    }

    /// What kind of work it does.
    #[must_use]
    pub fn family(self) -> Family {
        self.spec.map(|spec| spec.family).unwrap_or_default()
    }

    /// What a successful return value names.
    #[must_use]
    pub fn makes(self) -> Makes {
        self.spec.map(|spec| spec.makes).unwrap_or_default()
    }

    /// Which way it moves data: of calls that are not in the table by their names, as `MPI_File_write_at` and `fread`.
    #[must_use]
    pub fn transfer(self) -> Transfer {
        self.spec.map_or_else(|| transfer_of_library_call(self.name), |spec| spec.transfer)
    }
}

/// A thread is no read: `pthread_create` moves nothing.
fn transfer_of_library_call(name: &str) -> Transfer {
    let name = name.to_ascii_lowercase().replace("thread", "");
    if name.contains("read") {
        Transfer::Read
    } else if name.contains("write") {
        Transfer::Write
    } else {
        Transfer::None
    }
}

/// Something about each call of a log, by the number of the call.
#[derive(Clone, Debug, Default)]
pub struct PerCall<T>(Vec<T>);

impl<T: Copy + Default> PerCall<T> {
    /// Asks once for each of these names, which are in the order of their numbers.
    #[must_use]
    pub fn new(names: &[Arc<str>], of: impl Fn(Call<'_>) -> T) -> Self {
        Self(names.iter().map(|name| of(Call::named(name))).collect())
    }

    /// What was found of this call.
    #[inline]
    #[must_use]
    pub fn of(&self, call: CallId) -> T {
        self.0.get(call.index()).copied().unwrap_or_default()
    }
}

impl<T> PerCall<T> {
    /// All answers, by number of the call.
    #[must_use]
    pub fn into_all(self) -> Vec<T> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_libraries_are_known_by_what_their_names_say() {
        for (name, transfer) in [
            ("MPI_File_read_at_all", Transfer::Read),
            ("MPI_File_write", Transfer::Write),
            ("fread", Transfer::Read),
            ("fwrite", Transfer::Write),
            ("H5Dread", Transfer::Read),
            ("MPI_Barrier", Transfer::None),
            // In the table, which knows better than the name.
            ("readlink", Transfer::None),
            ("sendfile", Transfer::Copy),
        ] {
            assert_eq!(Call::named(name).transfer(), transfer, "{name}");
        }
    }

    #[test]
    fn a_thread_is_no_read() {
        for name in ["pthread_create", "pthread_mutex_lock", "MPI_Init_thread", "thrd_create"] {
            assert_eq!(Call::named(name).transfer(), Transfer::None, "{name}");
        }
        assert_eq!(Call::named("pthread_read").transfer(), Transfer::Read);
    }

    #[test]
    fn each_name_is_asked_once() {
        let names: Vec<Arc<str>> = ["openat", "MPI_File_open", "read"].map(Arc::from).to_vec();
        let kinds = PerCall::new(&names, |call| call.kind());
        assert_eq!(kinds.of(CallId(0)), CallKind::Open);
        assert_eq!(kinds.of(CallId(1)), CallKind::Other);
        assert_eq!(kinds.of(CallId(2)), CallKind::Read);
        assert_eq!(kinds.of(CallId(9)), CallKind::Other, "a call that is not in the log");
    }
}
