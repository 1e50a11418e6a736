//! Commands that are programs of their own, because not everybody wants their weight: `iotrail NAME` is `iotrail-NAME`.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the program `name` is: beside the running one, else in a directory of `PATH`.
#[must_use]
pub fn find(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent).map(Path::to_owned);
    find_in(name, beside, std::env::var_os("PATH").as_deref())
}

fn find_in(name: &str, beside: Option<PathBuf>, path: Option<&OsStr>) -> Option<PathBuf> {
    let directories = path.map(|path| std::env::split_paths(path).collect::<Vec<_>>()).unwrap_or_default();
    // A relative directory in PATH would run whatever lies where the user happens to be.
    let directories = beside.into_iter().chain(directories).filter(|directory| directory.is_absolute());
    directories.map(|directory| directory.join(name)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Becomes the program; comes back only with the reason why that failed.
pub fn become_program(program: &Path, arguments: &[OsString]) -> std::io::Error {
    Command::new(program).args(arguments).exec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn put(directory: &Path, name: &str, mode: u32) -> PathBuf {
        fs::create_dir_all(directory).unwrap();
        let file = directory.join(name);
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn a_program_is_looked_for_beside_ours_then_in_the_path() {
        let root = tempfile::tempdir().unwrap();
        let [own, one, two] = ["own", "one", "two"].map(|name| root.path().join(name));
        let path = std::env::join_paths([Path::new("relative"), &one, &two]).unwrap();
        let find = || find_in("iotrail-x", Some(own.clone()), Some(&path));
        assert_eq!(find(), None);
        put(&one, "iotrail-x", 0o644);
        assert_eq!(find(), None, "no program without the right to run it");
        let in_path = put(&two, "iotrail-x", 0o755);
        assert_eq!(find(), Some(in_path));
        let beside = put(&own, "iotrail-x", 0o755);
        assert_eq!(find(), Some(beside));
        assert_eq!(find_in("iotrail-x", None, None), None);
    }
}
