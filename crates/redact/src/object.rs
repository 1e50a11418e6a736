//! Names of what is no file: `pipe:[7]`, `TCP:[127.0.0.1:80]`, `memfd:x`. Their kind stays, so that they stay alike.

use crate::public;
use iotrail_model::canonical::is_word;

const DELETED: &str = " (deleted)";

/// The name without secrets, made with `hash`; `None` if it is that of a file.
pub(crate) fn redacted(name: &str, hash: &impl Fn(&str) -> String) -> Option<String> {
    if let Some(rest) = name.strip_prefix("/memfd:").or_else(|| name.strip_prefix("memfd:")) {
        let slash = if name.starts_with('/') { "/" } else { "" };
        let bare = undeleted(rest);
        // Parts of a path stay parts of it.
        let parts: Vec<String> = bare.split('/').map(hash).collect();
        return Some(format!("{slash}memfd:{}{}", parts.join("/"), &rest[bare.len()..]));
    }
    if name.starts_with('/') {
        return None;
    }
    if matches!(name, "pipe" | "socket" | "pipe:" | "socket:") {
        return Some(name.to_owned());
    }
    if let Some(process) = name.strip_prefix("pid:") {
        let number = process.len() - process.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
        let (number, rest) = process.split_at(number);
        let number = if public::is_process(number) { number.to_owned() } else { hash(number) };
        let rest = if rest.is_empty() { String::new() } else { format!("<{}>", hash(rest)) };
        return Some(format!("pid:{number}{rest}"));
    }
    if let Some(kind) = name.strip_prefix("anon_inode:") {
        return Some(format!("anon_inode:{}", anonymous(kind, hash)));
    }
    let (kind, inner) = name.strip_suffix(']')?.split_once(":[")?;
    if !is_word(kind) {
        return None;
    }
    let is_socket = kind.starts_with(|first: char| first.is_ascii_uppercase());
    let kind = match (is_socket, public::is_socket(kind) || public::is_object(kind)) {
        (_, true) => kind.to_owned(),
        (true, false) => hash(kind).to_ascii_uppercase(),
        (false, false) => hash(&format!("kind {kind}")),
    };
    let is_inode = public::is_inode(inner) && public::is_object(&kind) && kind != "socket";
    let inner = if is_inode { inner.to_owned() } else { connection(inner, hash) };
    Some(format!("{kind}:[{inner}]"))
}

/// Both ends of a connection by themselves, and inodes apart from the addresses behind them: what connects them connects them
/// still.
fn connection(ends: &str, hash: &impl Fn(&str) -> String) -> String {
    let end = |end: &str| match end.split_once(',').filter(|(inode, _)| public::is_number(inode)) {
        Some((inode, address)) => format!("{},{}", hash(inode), hash(address)),
        None => hash(end),
    };
    ends.split("->").map(end).collect::<Vec<_>>().join("->")
}

fn anonymous(kind: &str, hash: &impl Fn(&str) -> String) -> String {
    let bare = kind.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let word = bare.unwrap_or(kind);
    let word = if public::is_anonymous(word) || word.is_empty() { word.to_owned() } else { hash(word) };
    if bare.is_some() { format!("[{word}]") } else { word }
}

fn undeleted(mut name: &str) -> &str {
    while let Some(rest) = name.strip_suffix(DELETED) {
        name = rest;
    }
    name
}
