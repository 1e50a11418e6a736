//! Address spaces: which file is mapped where (`man 2 mmap`).
//!
//! A mapping holds the open file description that it was made from, as in the kernel, so the descriptor may be closed and its
//! number used again. Addresses without an entry are anonymous memory, or what exec mapped before the first call. Threads
//! share an address space, and so do processes made with CLONE_VM; children copy it; exec replaces it. Copies cost
//! nothing until one of the two changes.

use crate::descriptor_tables::DescriptionId;
use crate::owned::Owned;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Mappings are whole pages. Where pages are larger, the kernel rounds further than this, up to addresses nobody uses.
const PAGE: u64 = 4096;
/// How many mappings are kept in all address spaces together; what goes beyond is forgotten.
const MAX_MAPPINGS: usize = 1 << 20;

/// An address space in [`AddressSpaces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpaceId(u32);

/// A position in a file that is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mapped {
    pub(crate) description: DescriptionId,
    /// Offset in the file.
    pub(crate) offset: i64,
}

impl Mapped {
    fn forward(self, bytes: u64) -> Self {
        Self { offset: self.offset.wrapping_add(bytes as i64), ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapping {
    end: u64,
    file: Mapped,
}

/// Mappings by their start; they do not overlap.
type Mappings = BTreeMap<u64, Mapping>;

/// The address spaces of a process tree.
#[derive(Debug, Default)]
pub(crate) struct AddressSpaces {
    spaces: Owned<Arc<Mappings>>,
    /// Mappings in all of them; shared ones count once.
    total: usize,
}

/// The pages that `length` bytes at `start` lie in.
pub(crate) fn pages(start: u64, length: u64) -> Range<u64> {
    if length == 0 {
        return start..start;
    }
    let end = start.saturating_add(length).checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
    start / PAGE * PAGE..end
}

impl AddressSpaces {
    /// An address space in which nothing is known to be mapped, with one owner.
    pub(crate) fn empty(&mut self) -> SpaceId {
        SpaceId(self.spaces.add(Arc::default()))
    }

    /// One more owner of the same address space.
    pub(crate) fn share(&mut self, id: SpaceId) -> SpaceId {
        self.spaces.share(id.0);
        id
    }

    /// A copy of the address space.
    pub(crate) fn copy(&mut self, id: SpaceId) -> SpaceId {
        SpaceId(self.spaces.copy(id.0))
    }

    /// One owner less.
    pub(crate) fn release(&mut self, id: SpaceId) {
        if let Some(mappings) = self.spaces.release(id.0).and_then(Arc::into_inner) {
            self.total -= mappings.len();
        }
    }

    /// The first file mapping in a range, and the first position of the file within the range.
    pub(crate) fn first(&self, id: SpaceId, range: &Range<u64>) -> Option<Mapped> {
        let mappings = self.spaces.get(id.0)?;
        let before = mappings.range(..=range.start).next_back();
        let within = mappings.range(range.clone()).next();
        let around = before.filter(|(_, mapping)| mapping.end > range.start && !range.is_empty());
        let (start, mapping) = around.or(within)?;
        Some(mapping.file.forward(range.start.saturating_sub(*start)))
    }

    /// A file is mapped there, over whatever was.
    pub(crate) fn map(&mut self, id: SpaceId, range: &Range<u64>, file: Mapped) {
        self.unmap(id, range);
        if range.is_empty() || self.total >= MAX_MAPPINGS {
            return;
        }
        self.change(id, |mappings| insert(mappings, range, file));
    }

    /// Nothing is mapped there any more.
    pub(crate) fn unmap(&mut self, id: SpaceId, range: &Range<u64>) {
        if self.first(id, range).is_some() {
            self.change(id, |mappings| {
                cut(mappings, range);
            });
        }
    }

    /// mremap: what is mapped in `old` is mapped in `new`, whose last mapping fills it. With `keep` also in `old`.
    pub(crate) fn remap(&mut self, id: SpaceId, old: &Range<u64>, new: &Range<u64>, keep: bool) {
        let Some(mappings) = self.spaces.get(id.0) else { return };
        let mut copy = sub_map(mappings, old);
        let pieces = cut(&mut copy, old);
        if !keep {
            self.unmap(id, old);
        }
        self.unmap(id, new);
        let last = pieces.last().map(|(start, _)| *start);
        for (start, piece) in pieces {
            let (from, to) = (start - old.start, piece.end - old.start);
            let grows = Some(start) == last && piece.end == old.end;
            let end = if grows { new.end } else { new.start.saturating_add(to).min(new.end) };
            let range = new.start.saturating_add(from)..end;
            if !range.is_empty() {
                self.map(id, &range, piece.file);
            }
        }
    }

    /// Gives `id` those mappings of `from` that do not overlap its own.
    pub(crate) fn inherit_missing(&mut self, id: SpaceId, from: SpaceId) {
        let Some(from) = self.spaces.get(from.0).map(Arc::clone) else { return };
        for (start, mapping) in from.iter() {
            let range = *start..mapping.end;
            if self.first(id, &range).is_none() {
                self.map(id, &range, mapping.file);
            }
        }
    }

    /// What is mapped anywhere.
    pub(crate) fn descriptions(&self) -> impl Iterator<Item = DescriptionId> {
        let mut last = std::ptr::null();
        let distinct = self.spaces.iter().filter(move |mappings| {
            let this = Arc::as_ptr(mappings);
            !std::ptr::eq(std::mem::replace(&mut last, this), this)
        });
        distinct.flat_map(|mappings| mappings.values().map(|mapping| mapping.file.description))
    }

    fn change(&mut self, id: SpaceId, change: impl FnOnce(&mut Mappings)) {
        let Some(mappings) = self.spaces.get_mut(id.0) else { return };
        if Arc::get_mut(mappings).is_none() {
            self.total += mappings.len();
            if self.total > MAX_MAPPINGS {
                self.total -= mappings.len();
                *mappings = Arc::default();
            }
        }
        let mappings = Arc::make_mut(mappings);
        let before = mappings.len();
        change(mappings);
        self.total = (self.total + mappings.len()).saturating_sub(before);
    }
}

/// The mappings that touch `range`.
fn sub_map(mappings: &Mappings, range: &Range<u64>) -> Mappings {
    let before = mappings.range(..range.start).next_back().filter(|(_, mapping)| mapping.end > range.start);
    before
        .into_iter()
        .chain(mappings.range(range.clone()))
        .map(|(start, mapping)| (*start, *mapping))
        .collect()
}

/// Adds a mapping to a range that is free, as one with its neighbours if they continue each other.
fn insert(mappings: &mut Mappings, range: &Range<u64>, file: Mapped) {
    let (mut start, mut mapping) = (range.start, Mapping { end: range.end, file });
    if let Some(next) = mappings.get(&range.end)
        && next.file == file.forward(range.end - range.start)
    {
        mapping.end = next.end;
        mappings.remove(&range.end);
    }
    if let Some((before, previous)) = mappings.range(..range.start).next_back()
        && previous.end == range.start
        && previous.file.forward(range.start - before) == file
    {
        start = *before;
        mapping.file = previous.file;
    }
    mappings.insert(start, mapping);
}

/// Takes out what lies in `range`; mappings that reach beyond it are divided.
fn cut(mappings: &mut Mappings, range: &Range<u64>) -> Vec<(u64, Mapping)> {
    let touched = sub_map(mappings, range);
    let mut pieces = Vec::with_capacity(touched.len());
    for (start, mapping) in touched {
        mappings.remove(&start);
        let from = start.max(range.start);
        if start < from {
            mappings.insert(start, Mapping { end: from, ..mapping });
        }
        if mapping.end > range.end {
            let file = mapping.file.forward(range.end - start);
            mappings.insert(range.end, Mapping { end: mapping.end, file });
        }
        let piece = Mapping { end: mapping.end.min(range.end), file: mapping.file.forward(from - start) };
        pieces.push((from, piece));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor_tables::{Description, DescriptorTables};
    use iotrail_model::Nullable;
    use proptest::prelude::*;

    fn files(count: usize) -> Vec<DescriptionId> {
        let mut files = DescriptorTables::default();
        (0..count).map(|_| files.describe(Description::unseen(Nullable::NULL))).collect()
    }

    fn page(number: u64) -> Range<u64> {
        pages(number * PAGE, 1)
    }

    #[test]
    fn ranges_are_whole_pages() {
        assert_eq!(pages(PAGE + 5, 1), PAGE..2 * PAGE);
        assert_eq!(pages(PAGE, PAGE + 1), PAGE..3 * PAGE);
        assert!(pages(PAGE, 0).is_empty());
        assert_eq!(pages(u64::MAX - 5, u64::MAX), u64::MAX - (PAGE - 1)..u64::MAX);
    }

    #[test]
    fn neighbours_that_continue_each_other_are_one() {
        let (mut memory, file) = (AddressSpaces::default(), files(1)[0]);
        let space = memory.empty();
        for number in [0, 2, 1] {
            let position = Mapped { description: file, offset: (number * PAGE) as i64 };
            memory.map(space, &page(number), position);
        }
        assert_eq!(memory.total, 1);
        memory.unmap(space, &page(1));
        assert_eq!(memory.total, 2);
    }

    #[test]
    fn a_hundred_thousand_mappings_are_kept_and_millions_are_not() {
        let (mut memory, file) = (AddressSpaces::default(), files(1)[0]);
        let space = memory.empty();
        for number in 0..1_200_000 {
            memory.map(space, &page(2 * number), Mapped { description: file, offset: 0 });
        }
        assert_eq!(memory.total, MAX_MAPPINGS);
        assert!(memory.first(space, &page(200_000)).is_some());
        let child = memory.copy(space);
        memory.unmap(child, &page(0));
        assert!(memory.total <= MAX_MAPPINGS && memory.first(space, &page(0)).is_some());
        memory.release(space);
        assert_eq!(memory.total, 0);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Map(usize, Range<u64>, u64),
        Unmap(Range<u64>),
        Remap(Range<u64>, Range<u64>, bool),
        Fork,
        Switch,
    }

    fn extent(start: u64, length: u64) -> Range<u64> {
        start * PAGE..(start + length) * PAGE
    }

    fn step() -> impl Strategy<Value = Step> {
        let area = || (0_u64..24, 1_u64..9).prop_map(|(start, length)| extent(start, length));
        prop_oneof![
            4 => (0_usize..3, area(), 0_u64..5).prop_map(|(file, area, offset)| Step::Map(file, area, offset)),
            2 => area().prop_map(Step::Unmap),
            2 => (area(), 30_u64..60, 1_u64..9, any::<bool>())
                .prop_map(|(old, start, length, keep)| Step::Remap(old, extent(start, length), keep)),
            1 => (area(), 1_u64..9).prop_map(|(old, length)| {
                let new = old.start..old.start + length * PAGE;
                Step::Remap(old, new, false)
            }),
            1 => Just(Step::Fork),
            1 => Just(Step::Switch),
        ]
    }

    /// Which page of which file lies at each page.
    type Naive = BTreeMap<u64, (usize, u64)>;

    fn naive_remap(pages: &mut Naive, old: &Range<u64>, new: &Range<u64>, keep: bool) {
        let (first, count) = (old.start / PAGE, (old.end - old.start) / PAGE);
        let moved: Vec<Option<(usize, u64)>> =
            (first..first + count).map(|page| pages.get(&page).copied()).collect();
        if !keep {
            pages.retain(|page, _| !(first..first + count).contains(page));
        }
        let target = new.start / PAGE..new.end / PAGE;
        pages.retain(|page, _| !target.contains(page));
        for (index, page) in target.enumerate() {
            let grown = |last: &(usize, u64)| (last.0, last.1 + (index + 1 - moved.len()) as u64);
            let content = match moved.get(index) {
                Some(content) => *content,
                None => moved.last().copied().flatten().as_ref().map(grown),
            };
            if let Some(content) = content {
                pages.insert(page, content);
            }
        }
    }

    proptest! {
        #[test]
        fn every_page_holds_what_a_naive_table_of_pages_says(steps in prop::collection::vec(step(), 1..60)) {
            let (mut memory, files) = (AddressSpaces::default(), files(3));
            let mut spaces = vec![(memory.empty(), Naive::new())];
            let mut current = 0;
            for step in steps {
                let count = spaces.len();
                let (space, naive) = &mut spaces[current];
                match step {
                    Step::Map(file, area, offset) => {
                        let position = Mapped { description: files[file], offset: (offset * PAGE) as i64 };
                        memory.map(*space, &area, position);
                        let pages = area.start / PAGE..area.end / PAGE;
                        naive.extend(pages.enumerate().map(|(index, page)| (page, (file, offset + index as u64))));
                    }
                    Step::Unmap(area) => {
                        memory.unmap(*space, &area);
                        naive.retain(|page, _| !area.contains(&(page * PAGE)));
                    }
                    Step::Remap(old, new, keep) => {
                        memory.remap(*space, &old, &new, keep);
                        naive_remap(naive, &old, &new, keep);
                    }
                    Step::Fork => {
                        let child = (memory.copy(*space), naive.clone());
                        spaces.push(child);
                    }
                    Step::Switch => current = (current + 1) % count,
                }
            }
            for (space, naive) in &spaces {
                for number in 0..80 {
                    let expected = naive.get(&number).map(|(file, index)| (files[*file], (index * PAGE) as i64));
                    let found = memory.first(*space, &page(number)).map(|position| (position.description, position.offset));
                    prop_assert_eq!(found, expected, "page {}", number);
                }
                let first = naive.range(5..).next().map(|(_, (_, index))| (index * PAGE) as i64);
                let found = memory.first(*space, &extent(5, 1000)).map(|position| position.offset);
                prop_assert_eq!(found, first);
            }
            for (space, _) in spaces {
                memory.release(space);
            }
            prop_assert_eq!(memory.total, 0);
        }
    }
}
