//! Lines for the shell that are too long for one argument of a program.
//!
//! The kernel takes 128 KiB in one argument (`MAX_ARG_STRLEN`), and make and Snakemake hand a whole line to `sh -c`. A longer line stands in a
//! comment of the file itself, from which the shell reads it: what a shell does by itself has no limit. The programs that the line
//! starts have an argument for each name.

use std::fmt::Write;

// Writing to a String cannot fail, so results of `write!` are dropped throughout.

/// Bytes of a line that are handed on: much fewer than the kernel takes, because a format may add to them.
const LONGEST: usize = 64 << 10;
/// Bytes of names that one command is told: the kernel takes 2 MiB with the environment.
const TOGETHER: usize = 64 << 10;

/// The lines that are kept in comments.
#[derive(Debug, Default)]
pub(crate) struct LongLines {
    comments: String,
    count: usize,
}

impl LongLines {
    /// Keeps a line that is too long; answers what stands in front of it in its comment.
    pub(crate) fn keep(&mut self, line: &str) -> Option<String> {
        if line.len() <= LONGEST {
            return None;
        }
        self.count += 1;
        let place = format!("#line-{:04}: ", self.count);
        let _ = writeln!(self.comments, "{place}{line}");
        Some(place)
    }

    /// All of them, each a comment line, if there are any.
    pub(crate) fn comments(&self) -> Option<String> {
        let what = "Lines that are too long for an argument of a program; the jobs read them here.";
        (self.count > 0).then(|| format!("\n# {what}\n{}", self.comments))
    }
}

/// A command for names, as often as it takes to tell them all; `and` stands between two.
pub(crate) fn each<S: AsRef<str>>(command: &str, names: &[S], and: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut room = 0;
    for name in names.iter().map(AsRef::as_ref) {
        match lines.last_mut().filter(|_| name.len() < room) {
            Some(line) => {
                line.push(' ');
                line.push_str(name);
            }
            None => {
                lines.push(format!("{command} {name}"));
                room = TOGETHER;
            }
        }
        room = room.saturating_sub(name.len() + 1);
    }
    lines.join(and)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_lines_are_kept_each_in_its_place() {
        let mut long = LongLines::default();
        assert_eq!((long.keep("sort a"), long.comments()), (None, None));
        let line = "x".repeat(LONGEST + 1);
        assert_eq!(long.keep(&line).as_deref(), Some("#line-0001: "));
        assert_eq!(long.keep(&line).as_deref(), Some("#line-0002: "));
        assert!(long.comments().unwrap().ends_with(&format!("\n#line-0002: {line}\n")));
    }

    #[test]
    fn a_command_is_told_all_names_in_the_end() {
        assert_eq!(each("ls -d", &["a", "b"], " && "), "ls -d a b");
        let names: Vec<String> = (0..20_000).map(|number| format!("name-{number:06}")).collect();
        let all = each("rm", &names, " && ");
        assert!(all.split(" && ").all(|line| line.starts_with("rm name-") && line.len() < TOGETHER + 20));
        assert_eq!(all.replace(" && rm", ""), format!("rm {}", names.join(" ")));
    }
}
