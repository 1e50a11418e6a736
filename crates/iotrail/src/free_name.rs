//! Names for outputs that nobody named: they replace nothing.

use std::path::{Path, PathBuf};

/// `STEM.EXTENSION`, or `STEM-2.EXTENSION` and so on if that exists and may not be replaced.
pub(crate) fn free_name(stem: &Path, extension: &str, replace: bool) -> PathBuf {
    let name = stem.to_string_lossy();
    let candidate = |number: u32| match number {
        1 => PathBuf::from(format!("{name}.{extension}")),
        _ => PathBuf::from(format!("{name}-{number}.{extension}")),
    };
    let free = |path: &PathBuf| replace || path.symlink_metadata().is_err();
    (1..u32::MAX).map(candidate).find(free).unwrap_or_else(|| candidate(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exists_is_passed_over_unless_it_may_be_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let stem = directory.path().join("run");
        for expected in ["run.html", "run-2.html", "run-3.html"] {
            let path = free_name(&stem, "html", false);
            assert_eq!(path, directory.path().join(expected));
            std::fs::write(path, "").unwrap();
        }
        assert_eq!(free_name(&stem, "html", true), directory.path().join("run.html"));
    }
}
