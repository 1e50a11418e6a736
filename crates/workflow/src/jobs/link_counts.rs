//! Programs to which the number of a file's names matters, and those that count hidden names.

use super::called::base;
use super::command::words;
use super::times::{has_format, is_long_list, told};

/// Programs that ask about files, and never for the number of their names.
const INDIFFERENT: [&str; 61] = [
    "rm",
    "rmdir",
    "mkdir",
    "mkfifo",
    "ln",
    "chmod",
    "chown",
    "chgrp",
    "touch",
    "cat",
    "tac",
    "head",
    "tail",
    "sort",
    "uniq",
    "wc",
    "cut",
    "paste",
    "join",
    "comm",
    "tr",
    "tee",
    "split",
    "csplit",
    "sed",
    "grep",
    "egrep",
    "fgrep",
    "awk",
    "gawk",
    "mawk",
    "du",
    "df",
    "readlink",
    "realpath",
    "basename",
    "dirname",
    "diff",
    "cmp",
    "patch",
    "mktemp",
    "which",
    "cp",
    "mv",
    "install",
    "dd",
    "tar",
    "cpio",
    "rsync",
    "zip",
    "unzip",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "cksum",
    "make",
    "gmake",
    "ninja",
    "test",
    "[",
    "date",
];
/// Programs that leave a file alone that has several names; they look at it once it is open.
const PACKERS: [&str; 8] = ["gzip", "bzip2", "xz", "lzma", "lzip", "pigz", "pbzip2", "compress"];
/// Programs of which only their command's arguments look at files.
const STARTERS: [&str; 11] =
    ["sh", "bash", "dash", "ash", "env", "time", "nice", "timeout", "xargs", "nohup", "flock"];

/// What a command line makes of the number of a file's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    No,
    /// It may look at it.
    Perhaps,
    /// It shows it or acts on it, that of directories too.
    Yes,
}

/// Whether a command line looks at the number of names of the files that it opens.
pub(crate) fn counts_when_open(line: &str) -> bool {
    let mut words = words(line);
    words.next().is_some_and(|first| PACKERS.contains(&base(first)))
}

/// Whether a command line looks at the number of a file's names.
pub(crate) fn counting(line: &str) -> Counting {
    let Some((program, known, _)) = told(line) else { return Counting::Perhaps };
    let only_if = |yes: bool| if yes { Counting::Yes } else { Counting::No };
    match program {
        "ls" | "dir" => only_if(is_long_list(&known)),
        "vdir" => Counting::Yes,
        "stat" => only_if(!has_format(&known) || known.has_directive("h")),
        "find" => only_if(known.begins(&["-links", "-ls", "-fls"]) || known.has_directive("n")),
        // They do not compress a file that has other names.
        "gzip" | "pigz" | "bzip2" | "xz" | "lzma" => Counting::Perhaps,
        name if INDIFFERENT.contains(&name) || STARTERS.contains(&name) => Counting::No,
        _ => Counting::Perhaps,
    }
}

/// Whether a command line may count hidden names in a directory that it lists.
pub(crate) fn sees_hidden(line: &str) -> bool {
    let Some((program, known, _)) = told(line) else { return true };
    match program {
        "ls" | "dir" | "vdir" => known.has_letter("aAf") || known.has_long(&["all", "almost-all"]),
        "make" | "gmake" => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_look_at_the_number_of_names_are_known_by_their_options() {
        let of = |line: &str| counting(&line.replace(' ', "\0"));
        for line in ["ls -l a", "ls -ld d", "stat a", "stat -c %h a", "find . -links 2", "find . -printf %n"]
        {
            assert_eq!(of(line), Counting::Yes, "{line}");
        }
        for line in ["ls a", "stat -c %s a", "find . -name a", "sort a", "sh run.sh", "cp -a d e"] {
            assert_eq!(of(line), Counting::No, "{line}");
        }
        assert!(counts_when_open("/bin/gzip\0a") && counts_when_open("xz\0a") && !counts_when_open("cat\0a"));
        for line in ["gzip a", "python3 x.py", "./tool a"] {
            assert_eq!(of(line), Counting::Perhaps, "{line}");
        }
    }

    #[test]
    fn make_and_a_plain_ls_count_no_hidden_names() {
        let of = |line: &str| sees_hidden(&line.replace(' ', "\0"));
        for line in ["ls -la", "ls --all d", "ls --almost-all", "find .", "python3 p.py", "sh run.sh", ""] {
            assert!(of(line), "{line}");
        }
        for line in ["ls", "ls -l d", "/usr/bin/make -j2 all"] {
            assert!(!of(line), "{line}");
        }
    }
}
