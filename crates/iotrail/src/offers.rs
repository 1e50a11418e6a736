//! What can be done with a file or a program that is named where a command is expected.

use iotrail_export::escape::argument;
use iotrail_model::text::printable;
use iotrail_trail::is_trail;
use std::path::Path;

/// What a trail answers: a command with what it is for.
const ANSWERS: [(&str, &str); 6] = [
    ("why", "where did the elapsed time go?"),
    ("files", "what was done to each file?"),
    ("advise", "which calls could be fewer?"),
    ("dfg", "what follows what?"),
    ("report", "all of it as an HTML page"),
    ("info", "what is in it?"),
];

/// The commands that take `path`, the first of `words`, if it exists.
pub(crate) fn for_file(path: &Path, words: &[String]) -> Option<String> {
    path.symlink_metadata().ok()?;
    let shown = printable(&path.to_string_lossy()).into_owned();
    let word = argument(&shown);
    if is_trail(path) {
        let offers: Vec<String> = ANSWERS
            .iter()
            .map(|(command, what)| format!("  iotrail {command:<6} {word}   {what}\n"))
            .collect();
        return Some(format!("{shown} is a trail; name a command before it\n\n{}", offers.concat()));
    }
    if is_program(path) {
        return Some(recording(words));
    }
    let trail = argument(&printable(&path.with_extension("trail").to_string_lossy()));
    Some(format!(
        "{shown} is not a command; if it holds traces, import them\n\n  iotrail import -o {trail} {word}\n"
    ))
}

/// How to record the program that `words` call, if there is one.
pub(crate) fn for_program(words: &[String]) -> Option<String> {
    let name = words.first().filter(|name| !name.contains('/'))?;
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).any(|directory| is_program(&directory.join(name))).then(|| recording(words))
}

fn recording(words: &[String]) -> String {
    let command: Vec<String> = words.iter().map(|word| argument(&printable(word))).collect();
    format!(
        "{} is not a command of iotrail; to record it\n\n  iotrail record -- {}\n",
        printable(words.first().map_or("", String::as_str)),
        command.join(" ")
    )
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
