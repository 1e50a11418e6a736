//! The timelines, within the page's budget: the most important activities get the most of it.

use crate::data::{PageActivityTimeline, PageTimeline, TimelineRow};
use crate::name_table::NameTable;
use crate::strip;
use crate::subject::Subject;
use iotrail_dfg::timeline::{ActivityTimeline, Bar, Row};
use iotrail_draw::Picture;
use iotrail_query::CaseKey;

/// Rows that even the least important activity gets.
const FEWEST_ROWS: usize = 2;
/// An activity gets at most this part of the characters that are left.
const SHARE: usize = 3;

pub(super) fn timelines(subject: &Subject<'_>, shown: &Picture, names: &mut NameTable) -> PageTimeline {
    let (collected, limits) = (subject.collected, &subject.options.limits);
    let (mut bars, mut characters) = (limits.bars, limits.timeline_characters);
    let mut page = PageTimeline::default();
    let mut order: Vec<(usize, usize)> = shown.nodes.iter().copied().enumerate().collect();
    order.sort_by_key(|(number, node)| (std::cmp::Reverse(subject.dfg.nodes[*node].duration_ns), *number));
    for (number, node) in order {
        let id = collected.ids.get(&subject.dfg.nodes[node].activity).copied();
        let Some(activity) = id.and_then(|id| collected.timeline.activity(id)) else { continue };
        let exact = activity.bars().filter(|all| all.len() <= bars.min(limits.bars_per_timeline));
        let timeline = match exact {
            Some(all) => {
                bars -= all.len();
                exact_timeline(subject, activity, &all, names)
            }
            None => {
                let bins = collected.timeline.bins() as usize;
                let rows =
                    (characters / bins / SHARE).clamp(FEWEST_ROWS, limits.timeline_rows.max(FEWEST_ROWS));
                let timeline = binned_timeline(subject, activity, rows, names);
                characters = characters.saturating_sub(timeline.rows.iter().map(|row| row.h.len()).sum());
                timeline
            }
        };
        page.acts.insert(number, timeline);
    }
    page
}

fn exact_timeline(
    subject: &Subject<'_>,
    activity: &ActivityTimeline,
    bars: &[Bar],
    names: &mut NameTable,
) -> PageActivityTimeline {
    let rows = activity.rows();
    let joined = join(rows.len(), subject.options.limits.timeline_rows);
    PageActivityTimeline {
        count: activity.count(),
        bars: Some(page_bars(subject, bars, &rows, joined)),
        rows: rows.chunks(joined).map(|cases| timeline_row(subject, cases, String::new(), names)).collect(),
        ..PageActivityTimeline::default()
    }
}

fn binned_timeline(
    subject: &Subject<'_>,
    activity: &ActivityTimeline,
    most_rows: usize,
    names: &mut NameTable,
) -> PageActivityTimeline {
    let timeline = &subject.collected.timeline;
    let (bins, width) = (timeline.bins() as usize, timeline.bin_ns() as f64);
    let rows = activity.rows();
    let joined = join(rows.len(), most_rows);
    let mut level = vec![0.0; bins];
    let mut page_rows = Vec::new();
    for cases in rows.chunks(joined) {
        let mut shares = vec![0.0; bins];
        for (bin, cell) in cases.iter().flat_map(|(_, row)| row.iter()) {
            shares[*bin as usize] += cell.busy_ns as f64 / width;
        }
        level.iter_mut().zip(&shares).for_each(|(level, share)| *level += share);
        shares.iter_mut().for_each(|share| *share /= cases.len() as f64);
        page_rows.push(timeline_row(subject, cases, strip::encode(&shares), names));
    }
    level.iter_mut().for_each(|level| *level = (*level * 1000.0).round() / 1000.0);
    let mut longest = activity.longest();
    longest.truncate(subject.options.limits.longest);
    PageActivityTimeline {
        count: activity.count(),
        bin_ns: timeline.bin_ns(),
        bars: None,
        longest: page_bars(subject, &longest, &rows, joined),
        level,
        rows: page_rows,
    }
}

/// How many cases share a row.
fn join(cases: usize, rows: usize) -> usize {
    cases.div_ceil(rows.max(1)).max(1)
}

fn page_bars(
    subject: &Subject<'_>,
    bars: &[Bar],
    rows: &[(CaseKey, &Row)],
    joined: usize,
) -> Vec<(u32, i64, i64)> {
    let row = |key| rows.binary_search_by_key(&key, |(key, _)| *key).unwrap_or(0) / joined;
    let page_bar = |bar: &Bar| {
        let duration = bar.duration.get().map_or(-1, |duration| duration.0.max(0));
        (row(bar.key) as u32, subject.offset(bar.start), duration)
    };
    bars.iter().map(page_bar).collect()
}

fn timeline_row(
    subject: &Subject<'_>,
    cases: &[(CaseKey, &Row)],
    h: String,
    names: &mut NameTable,
) -> TimelineRow {
    let first = cases.first().map(|(key, _)| subject.query.case_name(*key)).unwrap_or_default();
    TimelineRow { k: names.id(&first), n: cases.len() as u64, h }
}
