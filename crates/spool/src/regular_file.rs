//! Opens files that must be regular: a FIFO in the place of one would be waited for, and a device has no end.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens the regular file at `path` to read it.
///
/// # Errors
/// If it is not a regular file, or cannot be opened.
pub fn open_regular(path: &Path) -> io::Result<File> {
    if path.metadata()?.is_file() {
        File::open(path)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_and_directories_are_refused() {
        for path in ["/dev/zero", "/"] {
            let error = open_regular(Path::new(path)).unwrap_err();
            assert_eq!(error.to_string(), "it is not a regular file");
        }
        let error = open_regular(Path::new("/nowhere/at/all")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
