//! The library that is loaded.

use crate::session::MpiError;
use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Who launched the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// That of Open MPI.
    OpenMpi,
    /// Hydra, which MPICH and its relatives have.
    Hydra,
}

/// A process that was launched as one of several ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// Who did.
    pub launcher: Launcher,
    /// Its own number.
    pub rank: u32,
    /// How many ranks there are.
    pub size: u32,
}

impl Launched {
    /// What `variable` answers of the environment; none if nobody launched it.
    #[must_use]
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| variable(name)?.parse().ok();
        let known = [
            ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", Launcher::OpenMpi),
            ("PMI_RANK", "PMI_SIZE", Launcher::Hydra),
        ];
        known.into_iter().find_map(|(rank, size, launcher)| {
            Some(Self { launcher, rank: number(rank)?, size: number(size)? })
        })
    }
}

impl Launcher {
    /// Names of its library, the best first.
    const fn libraries(self) -> [&'static str; 2] {
        match self {
            Self::OpenMpi => ["libmpi.so.40", "libmpi.so"],
            Self::Hydra => ["libmpich.so.12", "libmpi.so.12"],
        }
    }
}

/// Why there is no library.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// None of these can be loaded.
    #[error("no MPI library ({0}): {1}")]
    Missing(String, String),
    /// It lacks a function.
    #[error("the MPI library lacks {0}")]
    Lacks(String),
    /// MPI cannot be used.
    #[error("cannot begin to use MPI: {0}")]
    Begin(MpiError),
}

/// A loaded library; it stays loaded.
#[derive(Debug)]
pub struct Library {
    handle: *mut c_void,
}

// SAFETY: a handle of the dynamic linker, which any thread may ask.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Loads the library at `path`, or that of a launcher.
    ///
    /// # Errors
    /// If there is none.
    pub fn load(launcher: Launcher, path: Option<&Path>) -> Result<Self, LoadError> {
        let names: Vec<PathBuf> = match path {
            Some(path) => vec![path.to_owned()],
            None => launcher.libraries().map(PathBuf::from).to_vec(),
        };
        let mut why = String::new();
        for name in &names {
            let Ok(text) = CString::new(name.as_os_str().as_bytes()) else { continue };
            // SAFETY: a name that ends with NUL. Parts that the library loads later must see it.
            let handle = unsafe { libc::dlopen(text.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
            if !handle.is_null() {
                return Ok(Self { handle });
            }
            // SAFETY: after a failure it answers a text that ends with NUL, or NULL.
            let error = unsafe { libc::dlerror() };
            if !error.is_null() {
                // SAFETY: as above.
                why = unsafe { CStr::from_ptr(error) }.to_string_lossy().into_owned();
            }
        }
        let names: Vec<_> = names.iter().map(|name| name.display().to_string()).collect();
        Err(LoadError::Missing(names.join(", "), why))
    }

    /// Where a function is that is to be called: that of a preloaded library that stands in front of this one, as recorders do, if there is one.
    pub(crate) fn function(&self, name: &CStr) -> Option<usize> {
        // SAFETY: a name that ends with NUL.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        if found.is_null() { self.address(name) } else { Some(found as usize) }
    }

    /// Where a function or variable of the library itself is.
    pub(crate) fn address(&self, name: &CStr) -> Option<usize> {
        // SAFETY: a valid handle and a name that ends with NUL.
        let found = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        (!found.is_null()).then_some(found as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_told_by_their_variables() {
        let found = |start: &str| {
            Launched::find(|asked| match asked.strip_prefix(start)? {
                "RANK" => Some("1".to_owned()),
                "SIZE" => Some("4".to_owned()),
                _ => None,
            })
        };
        let launched = |launcher| Some(Launched { launcher, rank: 1, size: 4 });
        assert_eq!(found("OMPI_COMM_WORLD_"), launched(Launcher::OpenMpi));
        assert_eq!(found("PMI_"), launched(Launcher::Hydra));
        assert_eq!(found("SLURM_"), None);
    }

    #[test]
    fn a_library_that_is_not_there_is_named() {
        let error = Library::load(Launcher::Hydra, Some(Path::new("/none/libmpi.so"))).unwrap_err();
        assert!(error.to_string().starts_with("no MPI library (/none/libmpi.so): "), "{error}");
    }
}
