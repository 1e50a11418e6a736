//! Which programs go on where a directory that they make is there already: others end with an error then.

use super::times::told;

/// Whether what the command line runs takes a directory that is there for its own.
pub(crate) fn takes_directories(line: &str) -> bool {
    let Some((program, known, _)) = told(line) else { return false };
    match program {
        "mkdir" => known.has_letter("p") || known.has_long(&["parents"]),
        "install" | "tar" | "bsdtar" | "cpio" | "bsdcpio" | "pax" | "unzip" | "rsync" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_unpacks_goes_on_where_a_directory_is_there() {
        let takes = |line: &str| takes_directories(&line.replace(' ', "\0"));
        for line in ["mkdir -p a", "/bin/mkdir -vp a", "mkdir --parents a", "tar xf a", "busybox mkdir -p a"]
        {
            assert!(takes(line), "{line}");
        }
        for line in ["", "mkdir a", "mkdir --mode=700 plain", "python3 make.py", "cp -r a b"] {
            assert!(!takes(line), "{line}");
        }
    }
}
