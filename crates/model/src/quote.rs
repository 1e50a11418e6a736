//! Text within other languages, shown as it is: nothing in a name can end a string, an element or a line.

use crate::text::printable;
use std::fmt::Write;

// Writing to a String cannot fail, so results of `write!` are dropped throughout.

/// A quoted string of the DOT language that Graphviz shows as it is. Backslashes are doubled against its own escapes
/// (`\N`, `\l`), ampersands against its HTML entities, line breaks become `\n`, other control characters are shown.
#[must_use]
pub fn dot(text: &str) -> String {
    let mut out = String::from("\"");
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\\n"));
        for character in printable(line).chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '&' => out.push_str("&amp;"),
                other => out.push(other),
            }
        }
        out.push_str(end);
    }
    out.push('"');
    out
}

/// Character data or the value of an attribute of XML 1.0; characters that XML cannot hold become U+FFFD.
#[must_use]
pub fn xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(safe, "&#{};", character as u32);
            }
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// A value in the query of a URL: everything but letters, digits and `-._~` of ASCII is percent-encoded.
#[must_use]
pub fn url(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Everything but letters, digits and a few harmless signs as a numeric entity of Mermaid, so that no name can end a
/// string, open a tag, begin a directive or be read as Markdown.
#[must_use]
pub fn mermaid(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            ' ' | '/' | '.' | ',' | ':' | '(' | ')' | '%' | '-' | '×' | '…' => out.push(character),
            other if other.is_alphanumeric() => out.push(other),
            other => {
                let _ = write!(out, "#{};", other as u32);
            }
        }
    }
    out
}

/// A string of GML: ASCII, everything else and `"` and `&` as numeric entities, which networkx, igraph and Gephi undo.
#[must_use]
pub fn gml(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            ' '..='~' if !matches!(character, '"' | '&') => out.push(character),
            other => {
                let _ = write!(out, "&#{};", other as u32);
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_urls_are_percent_encoded() {
        assert_eq!(url("a b&c=ü/%~"), "a%20b%26c%3D%C3%BC%2F%25~");
    }
}
