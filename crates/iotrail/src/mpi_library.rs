//! Where the library is that recorded MPI programs load.

use anyhow::{Context, bail};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const NAME: &str = "libiotrail_mpi.so";

/// Finds it: beside the program, or where packages put it.
pub(crate) fn find() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe().context("the program's own path")?;
    let directory = program.parent().unwrap_or(Path::new("/"));
    let places = [directory.join(NAME), directory.join("../lib/iotrail").join(NAME)];
    let Some(found) = places.iter().find(|place| place.is_file()) else {
        bail!(
            "MPI calls cannot be recorded: {NAME} is neither in {} nor in {}",
            directory.display(),
            directory.join("../lib/iotrail").display()
        )
    };
    // The dynamic linker takes these for the end of a name, and has no way to say that they are not.
    if found.as_os_str().as_bytes().iter().any(|byte| matches!(byte, b' ' | b':')) {
        bail!(
            "MPI calls cannot be recorded: {} has a blank or a colon in it, which LD_PRELOAD does not allow: move it elsewhere",
            found.display()
        )
    }
    Ok(found.clone())
}
