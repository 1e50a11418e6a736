//! One sweep: of each asker, the access of somebody else that ends last among those that touch its bytes and began before a moment.

use crate::access::DescriptionId;
use crate::tree::{Best, Tree};

/// Cells of a tree; the bytes of a file are looked at in zones of so many.
const CELLS: usize = if cfg!(test) { 4 } else { 1 << 18 };
/// What touches more zones is looked at in every one.
const MOST_ZONES: usize = 8;

/// An access as a sweep sees it. Times may be mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Start of the span, nanoseconds since the epoch.
    pub start: i64,
    /// End of the span, nanoseconds since the epoch.
    pub end: i64,
    /// Its first byte.
    pub low: u64,
    /// The byte behind its last one.
    pub high: u64,
    /// Whose it is; nobody's own is [`DescriptionId::NONE`], which is somebody else to everybody.
    pub owner: DescriptionId,
}

/// What is asked: of the spans that began before a moment and touch these bytes, which one, of another owner, ends last?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Only spans that began before this time count, nanoseconds since the epoch.
    pub before: i64,
    /// The first byte.
    pub low: u64,
    /// The byte behind the last one.
    pub high: u64,
    /// Owner of the question: spans of this owner do not count.
    pub owner: DescriptionId,
}

/// The answers: an index into `spans` for each question, where there is such a span. Takes O((s + q) log s); memory beside the
/// answers is a few words for each span and question.
#[must_use]
pub fn latest(spans: &[Span], questions: &[Question]) -> Vec<Option<u32>> {
    let mut answers = vec![None; questions.len()];
    if spans.is_empty() || questions.is_empty() {
        return answers;
    }
    let by_end = sorted(spans.len(), |at| spans[at].end);
    let mut ranks = vec![0_u32; spans.len()];
    for (index, span) in by_end.iter().enumerate() {
        ranks[*span as usize] = index as u32 + 1;
    }
    let mut sweep = Sweep { spans, questions, ranks, best: vec![0; questions.len()] };
    let (by_start, by_moment) =
        (sorted(spans.len(), |at| spans[at].start), sorted(questions.len(), |at| questions[at].before));
    sweep.over(&by_start, &by_moment);
    for (answer, rank) in answers.iter_mut().zip(sweep.best) {
        *answer = rank.checked_sub(1).map(|index| by_end[index as usize]);
    }
    answers
}

fn sorted(length: usize, key: impl Fn(usize) -> i64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..length as u32).collect();
    order.sort_by_key(|at| key(*at as usize));
    order
}

struct Sweep<'a> {
    spans: &'a [Span],
    questions: &'a [Question],
    ranks: Vec<u32>,
    best: Vec<u32>,
}

impl Sweep<'_> {
    fn over(&mut self, by_start: &[u32], by_moment: &[u32]) {
        let mut borders: Vec<u64> = self
            .spans
            .iter()
            .filter(|span| span.low < span.high)
            .flat_map(|span| [span.low, span.high])
            .collect();
        borders.sort_unstable();
        borders.dedup();
        if self.spans.iter().all(|span| span.low == 0 && span.high == u64::MAX) {
            return self.whole_files(by_start, by_moment);
        }
        let zones: Vec<u64> = borders.iter().step_by(CELLS).copied().collect();
        let spans = Zoned::of(&zones, by_start, |at| (self.spans[at].low, self.spans[at].high));
        let asked = Zoned::of(&zones, by_moment, |at| (self.questions[at].low, self.questions[at].high));
        for number in 0..zones.len() {
            let first = number * CELLS;
            let last = (first + CELLS).min(borders.len() - 1);
            if first < last {
                self.zone(&borders[first..=last], &spans.of_zone(number), &asked.of_zone(number));
            }
        }
    }

    /// Where every span is of all bytes there is nothing to divide.
    fn whole_files(&mut self, by_start: &[u32], by_moment: &[u32]) {
        let mut all = Best::default();
        let mut next = by_start.iter().peekable();
        for at in by_moment {
            let question = &self.questions[*at as usize];
            while let Some(span) = next.next_if(|span| self.spans[**span as usize].start < question.before) {
                all.put(self.ranks[*span as usize], owner(&self.spans[*span as usize], *span));
            }
            if question.low < question.high {
                self.best[*at as usize] = all.but(question.owner.0);
            }
        }
    }

    /// The bytes between the first and the last of these borders.
    fn zone(&mut self, borders: &[u64], by_start: &[u32], by_moment: &[u32]) {
        let (first, end) = (borders[0], borders[borders.len() - 1]);
        // Of a span each border is one of these; of a question the cells that it touches count.
        let cells = |low: u64, high: u64| {
            let from = borders.partition_point(|border| *border <= low).saturating_sub(1);
            let to = borders.partition_point(|border| *border < high).min(borders.len() - 1);
            (from, to)
        };
        let touches = |low: u64, high: u64| low < high && low < end && high > first;
        let mut tree = Tree::new(borders.len() - 1);
        let mut next = by_start.iter().peekable();
        for at in by_moment {
            let question = &self.questions[*at as usize];
            while let Some(index) = next.next_if(|span| self.spans[**span as usize].start < question.before) {
                let span = &self.spans[*index as usize];
                if touches(span.low, span.high) {
                    let (low, high) = cells(span.low, span.high);
                    tree.put(low, high, self.ranks[*index as usize], owner(span, *index));
                }
            }
            if touches(question.low, question.high) {
                let (low, high) = cells(question.low, question.high);
                let best = &mut self.best[*at as usize];
                *best = (*best).max(tree.best(low, high, question.owner.0));
            }
        }
    }
}

/// Which of a sorted list touch each zone, in the order of the list.
struct Zoned<'a> {
    list: &'a [u32],
    /// Places in the list.
    zones: Vec<Vec<u32>>,
    /// Those that touch many zones.
    wide: Vec<u32>,
}

impl<'a> Zoned<'a> {
    /// `zones` are the first bytes of the zones.
    fn of(zones: &[u64], list: &'a [u32], bytes: impl Fn(usize) -> (u64, u64)) -> Self {
        let mut zoned = Self { list, zones: vec![Vec::new(); zones.len()], wide: Vec::new() };
        for (index, at) in list.iter().enumerate() {
            let (low, high) = bytes(*at as usize);
            let first = zones.partition_point(|begin| *begin <= low).saturating_sub(1);
            let end = zones.partition_point(|begin| *begin < high);
            if end.saturating_sub(first) > MOST_ZONES {
                zoned.wide.push(index as u32);
            } else {
                (first..end).for_each(|zone| zoned.zones[zone].push(index as u32));
            }
        }
        zoned
    }

    fn of_zone(&self, number: usize) -> Vec<u32> {
        let (mut own, mut wide) = (self.zones[number].iter().peekable(), self.wide.iter().peekable());
        let mut all = Vec::with_capacity(own.len() + wide.len());
        while let Some(index) = match (own.peek(), wide.peek()) {
            (Some(a), Some(b)) if a < b => own.next(),
            (_, Some(_)) => wide.next(),
            _ => own.next(),
        } {
            all.push(self.list[*index as usize]);
        }
        all
    }
}

/// What nobody owns is somebody else's even to what nobody owns.
fn owner(span: &Span, place: u32) -> u32 {
    if span.owner == DescriptionId::NONE { u32::MAX - 1 - place } else { span.owner.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn span() -> impl Strategy<Value = Span> {
        (0_i64..50, 0_i64..20, 0_u64..30, 0_u64..12, 0_u32..4).prop_map(
            |(start, length, low, bytes, owner)| Span {
                start,
                end: start + length,
                low,
                high: if bytes == 11 { u64::MAX } else { low + bytes },
                owner: if owner == 3 { DescriptionId::NONE } else { DescriptionId(owner) },
            },
        )
    }

    proptest! {
        #[test]
        fn answers_are_those_of_a_loop_over_all(
            spans in prop::collection::vec(span(), 0..40),
            questions in prop::collection::vec(span(), 0..20),
        ) {
            let questions: Vec<Question> = questions
                .iter()
                .map(|span| Question {
                    before: span.end,
                    low: span.low,
                    high: span.high,
                    owner: if span.owner == DescriptionId::NONE { DescriptionId(0) } else { span.owner },
                })
                .collect();
            for (question, answer) in questions.iter().zip(latest(&spans, &questions)) {
                let others = spans.iter().filter(|span| {
                    span.owner != question.owner
                        && span.start < question.before
                        && span.low < span.high
                        && question.low < question.high
                        && span.low < question.high
                        && question.low < span.high
                });
                let expected = others.map(|span| span.end).max();
                prop_assert_eq!(answer.map(|at| spans[at as usize].end), expected);
            }
        }
    }
}
