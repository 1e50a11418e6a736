//! Tables and blocks for terminals: aligned, as wide as the terminal, readable without colour.
//!
//! Everything that comes from a trace passes [`text::printable`] here, so that no file name can move a cursor.

use crate::hints::{Hint, Hints};
use iotrail_model::text;
use std::fmt::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What the terminal can do; the caller knows `NO_COLOR`, pipes and widths.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether escape sequences for colours and weights may be written.
    pub colour: bool,
    /// Columns.
    pub width: usize,
    /// What the program that shows the text can do further.
    pub hints: Hints,
}

impl Default for Style {
    fn default() -> Self {
        Self { colour: false, width: 100, hints: Hints::default() }
    }
}

impl Style {
    /// What the program offers for this, less bright and on a line of its own; nothing if it offers nothing.
    #[must_use]
    pub(crate) fn hint(&self, hint: Hint) -> String {
        self.hints.of(hint).map(|words| self.dim(words) + "\n").unwrap_or_default()
    }

    /// What a table leaves out, with how to see it: `3 more rows; HINT.`
    #[must_use]
    pub(crate) fn left_out(&self, what: &str, hint: Hint) -> String {
        let words = self.hints.of(hint).map(|words| format!("; {words}")).unwrap_or_default();
        self.dim(&format!("{what}{words}.\n"))
    }

    /// `text` in bold, where colours may be.
    #[must_use]
    pub fn bold(&self, text: &str) -> String {
        self.with("1", text)
    }

    /// `text` less bright, where colours may be.
    #[must_use]
    pub fn dim(&self, text: &str) -> String {
        self.with("2", text)
    }

    pub(crate) fn with(&self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// How the cells of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Names.
    Left,
    /// Figures.
    Right,
}

#[derive(Clone, Debug)]
struct Column {
    title: String,
    align: Align,
    /// Whether its cells lose their middle when the terminal is narrow.
    shrinks: bool,
    /// Whether it is left out before names become hard to read.
    optional: bool,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Loses its beginning once the text has no middle left to lose.
    lead: String,
    /// Never cut.
    kept: String,
    /// Loses its middle.
    text: String,
}

impl Cell {
    /// A cell of a tree: the branch that it hangs on, what is never cut, and a name.
    #[must_use]
    pub fn branch(branch: &str, kept: &str, name: &str) -> Self {
        let printable = |part: &str| text::printable(part).into_owned();
        Self { lead: printable(branch), kept: printable(kept), text: printable(name) }
    }

    fn width(&self) -> usize {
        self.lead.width() + self.kept.width() + self.text.width()
    }

    /// The cell in `width` columns of a terminal.
    fn fit(&self, width: usize) -> String {
        let room = width.saturating_sub(self.lead.width() + self.kept.width());
        let text = fit(&self.text, room.max(LEAST_TEXT.min(width)));
        let room = width.saturating_sub(self.kept.width() + text.width());
        if self.lead.width() <= room {
            return format!("{}{}{text}", self.lead, self.kept);
        }
        let end: String = taken(self.lead.chars().rev(), room.saturating_sub(1)).chars().rev().collect();
        let mark = if room > 0 { "…" } else { "" };
        format!("{mark}{end}{}{text}", self.kept)
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(content: T) -> Self {
        Self { text: text::printable(content.as_ref()).into_owned(), ..Self::default() }
    }
}

/// A table with a header.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

const GAP: usize = 2;
/// Names are cut to this before optional columns are left out...
const COMFORTABLE: usize = 30;
/// ...and to this when nothing is left to leave out.
const NARROWEST: usize = 12;
/// What is left of a name before the branch that it hangs on is cut, too.
const LEAST_TEXT: usize = 8;

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column of names, which lose their middle when the terminal is narrow.
    #[must_use]
    pub fn names(mut self, title: &str) -> Self {
        self.columns.push(Column {
            title: title.to_owned(),
            align: Align::Left,
            shrinks: true,
            optional: false,
        });
        self
    }

    /// Adds a column of figures or short words, which are never cut.
    #[must_use]
    pub fn figures(mut self, title: &str, align: Align) -> Self {
        self.columns.push(Column { title: title.to_owned(), align, shrinks: false, optional: false });
        self
    }

    /// Adds a column of figures that a narrow terminal goes without; the rightmost goes first.
    #[must_use]
    pub fn optional(mut self, title: &str, align: Align) -> Self {
        self.columns.push(Column { title: title.to_owned(), align, shrinks: false, optional: true });
        self
    }

    /// Adds a row; missing cells are empty.
    pub fn row<T: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let mut row: Vec<Cell> = cells.into_iter().map(Into::into).collect();
        row.resize(self.columns.len(), Cell::default());
        self.rows.push(row);
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as lines, each with a line break.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        let widths = self.widths(style.width);
        let titles: Vec<Cell> = self.columns.iter().map(|column| Cell::from(&column.title)).collect();
        let mut out = style.dim(&self.line(&titles, &widths));
        out.push('\n');
        for row in &self.rows {
            out.push_str(&self.line(row, &widths));
            out.push('\n');
        }
        out
    }

    /// The width of each column, none for one that is left out.
    fn widths(&self, limit: usize) -> Vec<Option<usize>> {
        let widest = |index: usize| {
            let cells = self.rows.iter().map(|row| row[index].width());
            cells.chain([self.columns[index].title.width()]).max().unwrap_or(0)
        };
        let natural: Vec<usize> = (0..self.columns.len()).map(widest).collect();
        let mut widths: Vec<Option<usize>> = natural.iter().copied().map(Some).collect();
        while total(&self.shrunk(&widths, COMFORTABLE, limit)) > limit {
            let left_out = (0..widths.len())
                .rev()
                .find(|index| self.columns[*index].optional && widths[*index].is_some());
            let Some(index) = left_out else { break };
            widths[index] = None;
        }
        self.shrunk(&widths, NARROWEST, limit)
    }

    /// Takes from the widest column of names until everything fits or all of them have only `least`.
    fn shrunk(&self, widths: &[Option<usize>], least: usize, limit: usize) -> Vec<Option<usize>> {
        let mut widths = widths.to_vec();
        while total(&widths) > limit {
            let names = widths.iter_mut().zip(&self.columns).filter(|(_, column)| column.shrinks);
            let widest = names.filter_map(|(width, _)| width.as_mut()).filter(|width| **width > least).max();
            let Some(width) = widest else { break };
            *width -= 1;
        }
        widths
    }

    fn line(&self, cells: &[Cell], widths: &[Option<usize>]) -> String {
        let mut line = String::new();
        for ((cell, width), column) in cells.iter().zip(widths).zip(&self.columns) {
            let Some(width) = *width else { continue };
            if !line.is_empty() {
                line.push_str(&" ".repeat(GAP));
            }
            let cell = cell.fit(width);
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            let (before, after) =
                if column.align == Align::Right { (&*padding, "") } else { ("", &*padding) };
            // Writing to a String cannot fail.
            let _ = write!(line, "{before}{cell}{after}");
        }
        line.truncate(line.trim_end().len());
        line
    }
}

fn total(widths: &[Option<usize>]) -> usize {
    let shown = widths.iter().flatten();
    shown.clone().sum::<usize>() + GAP * shown.count().saturating_sub(1)
}

/// `text` cut in the middle to `width` columns of a terminal, where a character may take two.
#[must_use]
pub fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let (head, tail) = (room * 2 / 5, room - room * 2 / 5);
    let start = taken(text.chars(), head);
    let end: String = taken(text.chars().rev(), tail).chars().rev().collect();
    format!("{start}…{end}")
}

fn taken(characters: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    characters
        .take_while(|character| {
            used += character.width().unwrap_or(0);
            used <= room
        })
        .collect()
}

/// Keys and values below each other, the values aligned; long values are wrapped at spaces.
#[derive(Clone, Debug, Default)]
pub struct Block {
    entries: Vec<(String, String)>,
}

impl Block {
    /// An empty block.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a line.
    pub fn entry(&mut self, key: &str, value: impl Into<String>) {
        self.entries.push((key.to_owned(), text::printable(&value.into()).into_owned()));
    }

    /// The block as lines, each with a line break.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        let keys = self.entries.iter().map(|(key, _)| key.width()).max().unwrap_or(0) + GAP;
        let mut out = String::new();
        for (key, value) in &self.entries {
            let padding = " ".repeat(keys - key.width());
            let lines = wrap(value, style.width.saturating_sub(keys).max(20));
            let indent = format!("\n{}", " ".repeat(keys));
            // Writing to a String cannot fail.
            let line = format!("{}{padding}{}", style.dim(key), lines.join(&indent));
            let _ = writeln!(out, "{}", line.trim_end());
        }
        out
    }
}

/// `text` in lines of at most `width` columns, broken at spaces; a longer word stays whole.
#[must_use]
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// `████▌    ` for a share between 0 and 1, `width` columns wide; never empty for a share above 0.
#[must_use]
pub fn bar(share: f64, width: usize) -> String {
    const PARTS: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    (0..width).map(|cell| PARTS[eighths.saturating_sub(cell * 8).min(8)]).collect()
}
