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

impl Launcher {
    /// Who did, by what `variable` answers of the environment; and how many ranks there are.
    #[must_use]
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Option<(Self, u32)> {
        let number = |name: &str| variable(name)?.parse().ok();
        let known = [("OMPI_COMM_WORLD_SIZE", Self::OpenMpi), ("PMI_SIZE", Self::Hydra)];
        known.into_iter().find_map(|(name, launcher)| Some((launcher, number(name)?)))
    }

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

    /// Where a function or variable is.
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
        let with = |name: &'static str| move |asked: &str| (asked == name).then(|| "4".to_owned());
        assert_eq!(Launcher::find(with("OMPI_COMM_WORLD_SIZE")), Some((Launcher::OpenMpi, 4)));
        assert_eq!(Launcher::find(with("PMI_SIZE")), Some((Launcher::Hydra, 4)));
        assert_eq!(Launcher::find(with("PMI_RANK")), None);
    }

    #[test]
    fn a_library_that_is_not_there_is_named() {
        let error = Library::load(Launcher::Hydra, Some(Path::new("/none/libmpi.so"))).unwrap_err();
        assert!(error.to_string().starts_with("no MPI library (/none/libmpi.so): "), "{error}");
    }
}
