//! Finds the executable that a command names, as a shell does.

use crate::error::RecordError;
use rustix::fs::{Access, access};
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where commands are looked for if there is no PATH (`man 3 execvp`).
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// A command that can be executed.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) path: PathBuf,
    /// The same for the kernel.
    pub(crate) program: CString,
    /// Arguments, with the name as it was given.
    pub(crate) args: Vec<CString>,
}

impl Command {
    /// Finds the executable of a command line.
    pub(crate) fn find(words: &[OsString]) -> Result<Self, RecordError> {
        let name = words.first().filter(|name| !name.is_empty()).ok_or(RecordError::NoCommand)?;
        let path = find(name, std::env::var_os("PATH").as_deref())?;
        let c_string = |text: &OsStr| CString::new(text.as_bytes()).map_err(|_| RecordError::Nul);
        let program = c_string(path.as_os_str())?;
        let args = words.iter().map(|word| c_string(word)).collect::<Result<_, _>>()?;
        Ok(Self { path, program, args })
    }
}

fn find(name: &OsStr, search: Option<&OsStr>) -> Result<PathBuf, RecordError> {
    if name.as_bytes().contains(&b'/') {
        let path = PathBuf::from(name);
        return match refusal(&path) {
            None => Ok(path),
            Some(Refusal::Missing) => {
                Err(RecordError::NotFound { name: path, looked: "that directory".to_owned() })
            }
            Some(Refusal::Forbidden(why)) => Err(RecordError::NotExecutable { path, why: why.to_owned() }),
        };
    }
    let search = search.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut forbidden = None;
    for directory in std::env::split_paths(search) {
        // An empty entry is the working directory.
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { &directory };
        let path = directory.join(name);
        match refusal(&path) {
            None => return Ok(path),
            Some(Refusal::Missing) => {}
            Some(Refusal::Forbidden(why)) => {
                forbidden.get_or_insert(RecordError::NotExecutable { path, why: why.to_owned() });
            }
        }
    }
    let missing = || RecordError::NotFound {
        name: PathBuf::from(name),
        looked: format!("PATH={}", search.to_string_lossy()),
    };
    Err(forbidden.unwrap_or_else(missing))
}

enum Refusal {
    Missing,
    Forbidden(&'static str),
}

fn refusal(path: &Path) -> Option<Refusal> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Some(Refusal::Forbidden("permission denied"))
        }
        Err(_) => Some(Refusal::Missing),
        Ok(found) if found.is_dir() => Some(Refusal::Forbidden("it is a directory")),
        Ok(_) if access(path, Access::EXEC_OK).is_err() => Some(Refusal::Forbidden("permission denied")),
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn file(path: &Path, mode: u32) {
        std::fs::write(path, "").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_first_executable_in_the_path_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (dir.path().join("first"), dir.path().join("second"));
        std::fs::create_dir(&first).unwrap();
        std::fs::create_dir(&second).unwrap();
        file(&first.join("plain"), 0o644);
        file(&second.join("plain"), 0o755);
        file(&first.join("forbidden"), 0o644);
        let search = std::env::join_paths([&first, &second]).unwrap();
        let find = |name: &str| find(OsStr::new(name), Some(&search));
        assert_eq!(find("plain").unwrap(), second.join("plain"));
        assert_eq!(find("forbidden").unwrap_err().exit_status(), 126);
        assert_eq!(find("nothing").unwrap_err().exit_status(), 127);
        let path = second.join("plain");
        assert_eq!(find(path.to_str().unwrap()).unwrap(), path);
        assert_eq!(find(second.to_str().unwrap()).unwrap_err().exit_status(), 126);
        assert_eq!(find("./no/such/file").unwrap_err().exit_status(), 127);
    }

    #[test]
    fn an_empty_command_is_none() {
        assert!(matches!(Command::find(&[]), Err(RecordError::NoCommand)));
        assert!(matches!(Command::find(&["".into()]), Err(RecordError::NoCommand)));
        assert!(matches!(Command::find(&["/bin/sh".into(), "a\0b".into()]), Err(RecordError::Nul)));
    }
}
