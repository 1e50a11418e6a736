//! Nothing is written into a trail but by those who make it.

use crate::error::TrailError;
use crate::meta::{FORMAT, META_FILE};
use crate::recording::{RECORDING, RUN};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How much of a `trail.json` is looked at: it begins with its format.
const HEAD: u64 = 4096;

/// Whether something may be written at `target`. A trail, finished or not, is a directory of files that belong together: whoever
/// names one of them as output would destroy it, and what else lies there keeps it from being replaced.
///
/// # Errors
/// `target` lies in a trail, at whatever depth.
pub fn outside_of_trails(target: &Path) -> Result<(), TrailError> {
    match enclosing(target) {
        Some(trail) => Err(TrailError::WithinTrail { path: target.to_owned(), trail }),
        None => Ok(()),
    }
}

/// The trail that `target` lies in, whether it exists or not.
fn enclosing(target: &Path) -> Option<PathBuf> {
    let directory = target.parent().filter(|directory| !directory.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    directory.ancestors().find(|directory| is_trail(directory)).map(Path::to_owned)
}

/// Whether a directory is a trail, finished or not, sound or damaged.
#[must_use]
pub fn is_trail(directory: &Path) -> bool {
    directory.join(RECORDING).join(RUN).is_file() || is_description(&directory.join(META_FILE))
}

/// Other programs have files of that name, too.
fn is_description(path: &Path) -> bool {
    // A FIFO is not opened: nobody may ever write to it.
    let Some(file) = path.is_file().then(|| File::open(path).ok()).flatten() else { return false };
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head).is_ok()
        && head.windows(FORMAT.len()).any(|part| part == FORMAT.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn outputs_in_a_trail_are_refused_at_any_depth_and_beside_it_taken() {
        let directory = tempfile::tempdir().unwrap();
        let (finished, unfinished) = (directory.path().join("f.trail"), directory.path().join("u.trail"));
        crate::memory::small_trail(&finished).unwrap();
        fs::create_dir_all(unfinished.join("recording")).unwrap();
        fs::write(unfinished.join("recording/run.json"), "{}").unwrap();
        fs::create_dir(finished.join("below")).unwrap();
        std::os::unix::fs::symlink(&finished, directory.path().join("link")).unwrap();
        for within in ["f.trail/x", "f.trail/below/x.csv", "u.trail/x", "u.trail/recording/x", "link/x"] {
            let refused = outside_of_trails(&directory.path().join(within)).unwrap_err().to_string();
            assert!(refused.contains("lies in the trail"), "{within}: {refused}");
        }
        fs::write(directory.path().join("trail.json"), r#"{"name": "a way in the hills"}"#).unwrap();
        for beside in ["f.trail", "x.csv", "u.trail", "missing/x"] {
            outside_of_trails(&directory.path().join(beside)).unwrap();
        }
        outside_of_trails(Path::new("x.csv")).unwrap();
    }
}
