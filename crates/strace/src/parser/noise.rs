//! Lines that are known and are no part of any call.

use memchr::memmem;

/// Begins a sequence that colours what follows on a terminal.
pub(super) const ESCAPE: u8 = 0x1b;
/// Stack of a call (`-k`).
const STACK: &str = "stack";
/// Bytes that were read or written (`-e read=`).
const DUMP: &str = "dump";
/// A process was attached, detached, or runs in another mode.
pub(super) const ATTACH: &str = "attach-message";
/// Anything else that strace says about itself.
const MESSAGE: &str = "message";
/// Table of `-c` or `-C`.
pub(super) const TABLE: &str = "summary-table";
/// Picture with advice (`--tips`).
pub(super) const TIPS: &str = "tips";
pub(super) const BLANK: &str = "blank";

/// The kind of a line that begins with a space and has no time stamp.
pub(super) fn indented(line: &[u8]) -> Option<&'static str> {
    match line {
        [b' ', b'>', b' ', ..] => Some(STACK),
        [b' ', b'|', b' ', ..] => Some(DUMP),
        [b' ', b'*', b' ', rest @ ..] if memmem::find(rest, b" in buffer ").is_some() => Some(DUMP),
        [b' ', b'=', b' ', rest @ ..] if memmem::find(rest, b" buffers in vector ").is_some() => Some(DUMP),
        _ => None,
    }
}

/// The kind of a message, from `strace: ` on or without it.
pub(super) fn message(line: &[u8]) -> Option<&'static str> {
    if let Some(text) = own_words(line) {
        return Some(if is_about_processes(text) { ATTACH } else { MESSAGE });
    }
    let old = line.starts_with(b"Process ") && is_about_processes(line);
    let mode = line.starts_with(b"[ Process PID=") && line.ends_with(b"mode. ]");
    (old || mode).then_some(ATTACH)
}

/// What follows `strace: ` or `/usr/bin/strace: ` at the start of a line.
fn own_words(line: &[u8]) -> Option<&[u8]> {
    let colon = memmem::find(line, b"strace: ")?;
    let program = &line[..colon];
    let named = program.is_empty() || (program.ends_with(b"/") && !program.contains(&b' '));
    named.then(|| &line[colon + 8..])
}

fn is_about_processes(text: &[u8]) -> bool {
    let process = text.starts_with(b"Process ") || text.starts_with(b"[ Process PID=");
    let tail = [&b" attached"[..], b" detached", b"mode. ]", b" suspended", b" resumed", b" exited"];
    process
        && (tail.iter().any(|tail| text.ends_with(tail))
            || memmem::find(text, b" attached with ").is_some()
            || memmem::find(text, b" attached (").is_some())
}

/// Where a message about a process begins that interrupts the line, and the process if it is a new one.
pub(super) fn interruption(line: &[u8]) -> Option<(usize, Option<u32>)> {
    let colon = memmem::rfind(line, b"strace: ")?;
    let text = &line[colon + 8..];
    if !is_about_processes(text) {
        return None;
    }
    let mut start = colon;
    if line[..colon].ends_with(b"/") && !line[..colon].ends_with(b"*/") {
        let token = line[..colon].iter().rposition(|byte| b" ,()|\"<>".contains(byte)).map_or(0, |at| at + 1);
        start = line[token..colon].iter().position(|&byte| byte == b'/').map_or(colon, |at| token + at);
    }
    Some((start, attached(text)))
}

/// The process in `Process 123 attached`.
pub(super) fn attached(text: &[u8]) -> Option<u32> {
    let text = own_words(text).unwrap_or(text);
    let (pid, length) = iotrail_import::digits(text.strip_prefix(b"Process ")?)?;
    u32::try_from(pid).ok().filter(|_| text[8 + length..].starts_with(b" attached"))
}

/// The head of a table of `-c`: the names of its columns.
pub(super) fn is_table_head(line: &[u8]) -> bool {
    const COLUMNS: &[&[u8]] = &[
        b"%",
        b"time",
        b"seconds",
        b"usecs/call",
        b"calls",
        b"errors",
        b"syscall",
        b"shortest",
        b"longest",
        b"total",
        b"wall",
        b"min",
        b"max",
        b"avg",
    ];
    let mut words = words(line).peekable();
    words.peek().is_some() && words.all(|word| COLUMNS.contains(&word))
}

/// The rule under the head and above the sums: dashes, one run for each column.
pub(super) fn is_table_rule(line: &[u8]) -> bool {
    line.starts_with(b"------")
        && words(line).all(|word| word.len() >= 4 && word.iter().all(|&byte| byte == b'-'))
}

/// A row: numbers and one name.
pub(super) fn is_table_row(line: &[u8]) -> bool {
    let is_number = |word: &[u8]| word.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let is_name = |word: &[u8]| word.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let (mut names, mut count) = (0, 0);
    for word in words(line) {
        count += 1;
        if !is_number(word) {
            if !is_name(word) {
                return false;
            }
            names += 1;
        }
    }
    count > 1 && names <= 1
}

/// The line above a table where several kinds of programs were counted.
pub(super) fn is_table_title(line: &[u8]) -> bool {
    line.starts_with(b"System call usage summary for ")
}

/// The upper edge of the speech bubble and of the speaker's head: `  ______         ____`.
pub(super) fn is_tip_head(line: &[u8]) -> bool {
    line.starts_with(b"  ____________________") && line.iter().all(|byte| matches!(byte, b' ' | b'_'))
}

/// A line below the upper edge: the bubble, or the body far on the right.
pub(super) fn is_tip(line: &[u8]) -> bool {
    const RIGHT: usize = 40;
    let spaces = line.iter().take_while(|&&byte| byte == b' ').count();
    match line.get(spaces) {
        Some(b'/' | b'|' | b'\\') if spaces == 1 => true,
        Some(_) => spaces >= RIGHT,
        None => false,
    }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| byte == b' ').filter(|word| !word.is_empty())
}

/// `line` without the sequences that colour it on a terminal.
pub(super) fn strip_colours(line: &[u8], into: &mut Vec<u8>) {
    into.clear();
    let mut rest = line;
    while let Some(escape) = memchr::memchr(ESCAPE, rest) {
        into.extend_from_slice(&rest[..escape]);
        rest = &rest[escape + 1..];
        if let Some(parameters) = rest.strip_prefix(b"[") {
            let end = parameters.iter().position(|byte| (0x40..=0x7e).contains(byte));
            rest = end.map_or(&b""[..], |end| &parameters[end + 1..]);
        }
    }
    into.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strace_is_known_by_its_words() {
        assert_eq!(message(b"strace: Process 123 attached"), Some(ATTACH));
        assert_eq!(message(b"strace: Process 123 attached with 2 threads"), Some(ATTACH));
        assert_eq!(message(b"/usr/bin/strace: Process 123 detached"), Some(ATTACH));
        assert_eq!(message(b"strace: [ Process PID=1 runs in 32 bit mode. ]"), Some(ATTACH));
        assert_eq!(message(b"[ Process PID=1 runs in 32 bit mode. ]"), Some(ATTACH));
        assert_eq!(message(b"strace: attach: ptrace(PTRACE_SEIZE, 1): Permission denied"), Some(MESSAGE));
        assert_eq!(message(b"Process of elimination"), None);
        assert_eq!(message(b"my strace: hello"), None);
    }

    #[test]
    fn messages_inside_a_line_are_found() {
        assert_eq!(interruption(b"clone(flags=SIGCHLDstrace: Process 7 attached"), Some((19, Some(7))));
        assert_eq!(
            interruption(b"clone(flags=SIGCHLD/usr/bin/strace: Process 7 attached"),
            Some((19, Some(7)))
        );
        assert_eq!(
            interruption(b"clone(flags=17 /* SIGCHLD */strace: Process 7 attached"),
            Some((28, Some(7)))
        );
        assert_eq!(interruption(b"close(3strace: Process 7 detached"), Some((7, None)));
        assert_eq!(interruption(b"write(1, \"strace: hello"), None);
    }

    #[test]
    fn tables_are_known_by_head_rule_and_row() {
        assert!(is_table_head(b"% time     seconds  usecs/call     calls    errors syscall"));
        assert!(is_table_head(b"syscall           longest     calls"));
        assert!(!is_table_head(b"read(3, \"\", 5) = 0"));
        assert!(is_table_rule(b"------ ----------- ----------- --------- --------- ----------------"));
        assert!(!is_table_rule(b"--- SIGCHLD {} ---"));
        assert!(is_table_row(b"  0.00    0.000000           0         1         1 access"));
        assert!(is_table_row(b"100.00    0.000000           0        29         1 total"));
        assert!(is_table_row(b"read             0.000000         1"));
        assert!(!is_table_row(b"     0.000123 read(3, \"\", 5) = 0"));
    }

    #[test]
    fn tips_are_known_by_their_frame() {
        assert!(is_tip_head(b"  ______________________________________________         ____"));
        assert!(!is_tip_head(b"  ____"));
        for line in [
            &b" /                                              \\       /    \\"[..],
            b" | that covers all the possible options         \\      (_@)(_@)",
            b" \\______________________________________________/        |   [",
            b"                                                         -\"     \"-",
        ] {
            assert!(is_tip(line), "{}", String::from_utf8_lossy(line));
        }
        assert!(!is_tip(b"     0.000123 close(3) = 0"));
        assert!(!is_tip(b"close(3) = 0"));
        assert!(!is_tip(b""));
    }

    #[test]
    fn colours_are_taken_off() {
        let mut plain = Vec::new();
        strip_colours(b"\x1b[1;32mread\x1b[0m(3) = 0\x1b[", &mut plain);
        assert_eq!(plain, b"read(3) = 0");
    }
}
