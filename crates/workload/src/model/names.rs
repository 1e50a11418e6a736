//! Names of a model that may be one file in a run.

use std::collections::HashMap;

/// Two names that may be one file at some number of ranks, or one of which may be a directory of the other, as indices; the
/// later one first. Runs of digits, `%r` and `%i` are compared as wholes, so that a pair that cannot meet may be among them.
pub(super) fn collision(names: &[&str]) -> Option<(usize, usize)> {
    let mut files: HashMap<String, Vec<(usize, Vec<&str>)>> = HashMap::new();
    for (at, name) in names.iter().enumerate() {
        let (form, numbers) = form(name);
        files.entry(form).or_default().push((at, numbers));
    }
    names.iter().enumerate().find_map(|(at, name)| {
        let directories = name.match_indices('/').map(|(slash, _)| &name[..slash]);
        directories.chain([*name]).find_map(|part| {
            let (form, numbers) = form(part);
            let others = files.get(&form)?.iter().filter(|(other, _)| *other != at);
            let meeting =
                others.filter(|(_, others)| numbers.iter().zip(others).all(|(one, two)| may_be(one, two)));
            meeting.map(|(other, _)| (at.max(*other), at.min(*other))).next()
        })
    })
}

/// A name without its numbers, and these: runs of digits, `%r` and `%i`.
fn form(name: &str) -> (String, Vec<&str>) {
    let (mut form, mut numbers, mut rest) = (String::new(), Vec::new(), name);
    while let Some(first) = rest.chars().next() {
        let len = number(rest);
        if len == 0 {
            form.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            form.push('%');
            numbers.push(&rest[..len]);
            rest = &rest[len..];
        }
    }
    (form, numbers)
}

/// Length of the run of digits, `%r` and `%i` that a text begins with.
fn number(text: &str) -> usize {
    let mut len = 0;
    loop {
        let rest = &text[len..];
        len += match rest.bytes().next() {
            Some(byte) if byte.is_ascii_digit() => 1,
            _ if rest.starts_with("%r") || rest.starts_with("%i") => 2,
            _ => return len,
        };
    }
}

fn may_be(one: &str, other: &str) -> bool {
    one == other || one.contains('%') || other.contains('%')
}
