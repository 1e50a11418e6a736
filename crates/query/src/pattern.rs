//! The text of an activity with holes: `${call}:${dir2}`.
//!
//! | hole | what stands there |
//! |---|---|
//! | `${call}` | the call's name |
//! | `${path}` | the canonical path with site variables |
//! | `${dir1}`, `${dir2}`, ... | its top levels |
//! | `${template}` | the path without numbers |
//! | `${base}`, `${ext}` | the last component; its extension with the dot, or nothing |
//! | `${cid}`, `${host}`, `${rid}`, `${label}` | attributes of the case |
//! | `${1}`, `${name}` | groups of the rule's `path` expression; nothing if the group took no part |
//!
//! What is unknown is `?`. `$$` is `$`; a `$` before anything but `{` and `$` is itself.

use crate::attribute::Attribute;
use crate::generalise::generalise;
use crate::mapping::Subject;
use crate::preset::{Preset, base, extension, top};
use crate::template;
use regex::{Captures, Regex};

/// A parsed text with holes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Call,
    Path,
    Top(u8),
    Template,
    Base,
    Ext,
    Attribute(Attribute),
    Group(usize),
}

impl Pattern {
    /// Parses `text`; `path` is the expression whose groups may be named.
    pub(crate) fn parse(text: &str, path: Option<&Regex>) -> Result<Self, String> {
        let pieces = template::pieces(text, Piece::Text, |hole| piece(hole, path))?;
        if pieces.is_empty() {
            return Err("an activity without a name".to_owned());
        }
        Ok(Self(pieces))
    }

    /// Whether groups of the path expression are needed.
    pub(crate) fn needs_groups(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Group(_)))
    }

    /// The attributes of the case that are needed.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = Attribute> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Attribute(attribute) => Some(*attribute),
            _ => None,
        })
    }

    /// The text with everything filled in.
    pub(crate) fn fill(&self, subject: &Subject<'_>, groups: Option<&Captures<'_>>) -> String {
        let mut text = String::new();
        let path = subject.path;
        for piece in &self.0 {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Call => text.push_str(subject.call),
                Piece::Path => text.push_str(path.unwrap_or("?")),
                Piece::Top(levels) => text.push_str(path.map_or("?", |path| top(path, usize::from(*levels)))),
                Piece::Template => text.push_str(&path.map_or("?".into(), generalise)),
                Piece::Base => text.push_str(path.map_or("?", base)),
                Piece::Ext => text.push_str(path.map_or("?", |path| extension(path).unwrap_or_default())),
                Piece::Attribute(attribute) => text.push_str(attribute.of(subject.case, "").unwrap_or("?")),
                Piece::Group(number) => {
                    text.push_str(
                        groups.and_then(|groups| groups.get(*number)).map_or("", |group| group.as_str()),
                    );
                }
            }
        }
        text
    }
}

fn piece(name: &str, path: Option<&Regex>) -> Result<Piece, String> {
    Ok(match name {
        "call" => Piece::Call,
        "path" => Piece::Path,
        "template" => Piece::Template,
        "base" => Piece::Base,
        "ext" => Piece::Ext,
        _ => {
            if let Some(Preset::Dir(levels)) = Preset::from_name(name) {
                return Ok(Piece::Top(levels));
            }
            if let Some(attribute) =
                Attribute::from_name(name).filter(|attribute| *attribute != Attribute::Trail)
            {
                return Ok(Piece::Attribute(attribute));
            }
            return group(name, path).map(Piece::Group);
        }
    })
}

fn group(name: &str, path: Option<&Regex>) -> Result<usize, String> {
    let shown = iotrail_model::text::printable(name);
    let Some(path) = path else {
        return Err(format!(
            "`${{{shown}}}` is not a name, and the rule has no `path` expression with groups"
        ));
    };
    let number = match name.parse::<usize>() {
        Ok(number) => (number < path.captures_len()).then_some(number),
        Err(_) => path.capture_names().position(|group| group == Some(name)),
    };
    number.ok_or_else(|| format!("`${{{shown}}}` is not a name and no group of the `path` expression"))
}
