//! Messages between ranks for terminals: rules, ranks and pairs with most bytes.

use crate::hints::Hint;
use crate::table::{Align, Style, Table};
use iotrail_model::units;
use iotrail_stats::messages::{CollectiveRow, Messages, PairRow, PatternRow, RankRow, Traffic};

/// Messages with at most `top` rows a table, and with collective calls if these are asked for.
#[must_use]
pub fn message_tables(messages: &Messages, top: usize, collectives: bool, style: Style) -> String {
    let mut out = style.bold(&headline(messages)) + "\n";
    for line in missing(messages) {
        out.push_str(&line);
        out.push('\n');
    }
    let mut add = |title: &str, table: Option<Table>, more: usize| {
        let Some(table) = table else { return };
        out.push('\n');
        out.push_str(&style.bold(title));
        out.push('\n');
        out.push_str(&table.render(style));
        if more > 0 {
            out.push_str(&style.left_out(&format!("… {} more", units::count(more as u64)), Hint::MoreRows));
        }
    };
    let more = |all: usize| all.saturating_sub(top);
    if !messages.pairs.is_empty() {
        add("Who sends to whom", Some(patterns(messages, top)), more(messages.patterns.len()));
        add("Ranks by bytes sent and received", Some(ranks(messages, top)), more(messages.by_rank.len()));
        add("Pairs by bytes", Some(pairs(messages, top)), more(messages.pairs.len()));
    }
    if collectives {
        let table = (!messages.collectives.is_empty()).then(|| given(&messages.collectives, top));
        add("Collective calls by bytes", table, more(messages.collectives.len()));
    }
    out
}

fn bytes(value: u64) -> String {
    units::bytes(value as f64)
}

/// How many messages, and between how many ranks.
fn headline(messages: &Messages) -> String {
    let Traffic { messages: count, bytes: sum } = messages.total;
    let pairs = units::counted(messages.pairs.len() as u64, "pair", "pairs");
    format!(
        "{} with {} between {pairs} of {}",
        units::counted(count, "message", "messages"),
        bytes(sum),
        units::counted(messages.ranks.into(), "rank", "ranks"),
    )
}

/// What is not among the pairs.
fn missing(messages: &Messages) -> Vec<String> {
    let line = |of: Traffic, what: &str| {
        let text = || {
            let count = units::counted(of.messages, "message", "messages");
            format!("not included: {count} with {} {what}", bytes(of.bytes))
        };
        (of.messages > 0).then(text)
    };
    let lines = [
        line(messages.other_communicators, "in communicators whose ranks are not known"),
        line(messages.unknown_senders, "of processes without a rank"),
        line(messages.one_sided, "into the memory of other ranks (one-sided)"),
    ];
    lines.into_iter().flatten().collect()
}

fn patterns(messages: &Messages, top: usize) -> Table {
    let mut table = Table::new().names("to");
    for title in ["senders", "pairs", "messages", "bytes", "share"] {
        table = table.figures(title, Align::Right);
    }
    let all = messages.total.bytes.max(1) as f64;
    for PatternRow { to, ranks, pairs, traffic } in messages.patterns.iter().take(top) {
        table.row([
            to.clone(),
            units::count(*ranks),
            units::count(*pairs),
            units::count(traffic.messages),
            bytes(traffic.bytes),
            units::percent(traffic.bytes as f64 / all),
        ]);
    }
    table
}

fn ranks(messages: &Messages, top: usize) -> Table {
    let mut table = Table::new();
    for title in ["rank", "partners", "messages sent", "bytes sent", "messages received", "bytes received"] {
        table = table.figures(title, Align::Right);
    }
    let mut rows: Vec<&RankRow> = messages.by_rank.iter().collect();
    let moved = |row: &RankRow| row.sent.bytes.saturating_add(row.received.bytes);
    rows.sort_by_key(|row| (std::cmp::Reverse(moved(row)), row.rank));
    for row in rows.into_iter().take(top) {
        table.row([
            row.rank.to_string(),
            units::count(row.partners.into()),
            units::count(row.sent.messages),
            bytes(row.sent.bytes),
            units::count(row.received.messages),
            bytes(row.received.bytes),
        ]);
    }
    table
}

fn pairs(messages: &Messages, top: usize) -> Table {
    let mut table = Table::new();
    for title in ["from", "to", "messages", "bytes"] {
        table = table.figures(title, Align::Right);
    }
    let mut rows: Vec<&PairRow> = messages.pairs.iter().collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.traffic.bytes), row.from, row.to));
    for PairRow { from, to, traffic } in rows.into_iter().take(top) {
        table.row([from.to_string(), to.to_string(), units::count(traffic.messages), bytes(traffic.bytes)]);
    }
    table
}

fn given(collectives: &[CollectiveRow], top: usize) -> Table {
    let mut table = Table::new().names("call");
    for title in ["ranks", "calls", "bytes given", "bytes got", "bytes unknown"] {
        table = table.figures(title, Align::Right);
    }
    for row in collectives.iter().take(top) {
        let unknown = match row.unknown {
            0 => String::new(),
            calls => units::counted(calls, "call", "calls"),
        };
        let figures =
            [units::count(row.ranks), units::count(row.calls), bytes(row.sent), bytes(row.received)];
        table.row(std::iter::once(row.call.clone()).chain(figures).chain([unknown]));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_ranks_pairs_and_what_is_missing_are_told() {
        let traffic = |messages, bytes| Traffic { messages, bytes };
        let pair = |from, to, traffic| PairRow { from, to, traffic };
        let rank = |rank, sent, received| RankRow { rank, sent, received, partners: 1 };
        let messages = Messages {
            ranks: 2,
            total: traffic(3, 3000),
            pairs: vec![pair(0, 1, traffic(2, 2000)), pair(1, 0, traffic(1, 1000))],
            by_rank: vec![
                rank(0, traffic(2, 2000), traffic(1, 1000)),
                rank(1, traffic(1, 1000), traffic(2, 2000)),
            ],
            patterns: vec![PatternRow {
                to: "rank + 1".to_owned(),
                ranks: 2,
                pairs: 2,
                traffic: traffic(3, 3000),
            }],
            collectives: vec![CollectiveRow {
                call: "MPI_Alltoallv".to_owned(),
                ranks: 2,
                calls: 4,
                unknown: 4,
                ..CollectiveRow::default()
            }],
            other_communicators: traffic(1, 10),
            ..Messages::default()
        };
        insta::assert_snapshot!(message_tables(&messages, 1, true, Style::default()));
        let none = message_tables(&Messages::default(), 5, true, Style::default());
        assert_eq!(none, "0 messages with 0 B between 0 pairs of 0 ranks\n");
    }
}
