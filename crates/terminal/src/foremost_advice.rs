//! The advice with most at stake, in short: what to change, and where to read more.

use crate::hints::Hint;
use crate::table::{Block, Style, wrap};
use iotrail_advise::Item;
use iotrail_model::text::printable;
use iotrail_model::units;

/// A heading and an entry for each piece of advice; nothing without any.
#[must_use]
pub fn foremost_advice<'a>(items: impl Iterator<Item = Item<'a>>, style: Style) -> String {
    let entries: Vec<String> = items.enumerate().map(|(index, item)| entry(index + 1, item, style)).collect();
    if entries.is_empty() {
        return String::new();
    }
    format!("{}\n{}", style.bold("What to change"), entries.concat())
}

fn entry(number: usize, item: Item<'_>, style: Style) -> String {
    let title = format!("{number}. {}: {}", stake(item), printable(&item.title()));
    let mut block = Block::new();
    block.entry("do", item.fix().to_owned());
    if let Some(explain) = style.hints.of(Hint::ExplainRule) {
        block.entry("more", format!("{explain} {}", item.rule()));
    }
    format!("{}\n{}", wrap(&title, style.width.max(20)).join("\n"), block.render(style))
}

/// What the elapsed time could shrink by at most.
fn stake(item: Item<'_>) -> String {
    let time = units::duration_or_dash(item.at_stake_ns());
    item.share().map_or(time.clone(), |share| format!("{time} ({})", units::percent(share)))
}
