//! The loop tree with its columns, and the sets of lines that they are of.

use crate::error::FileError;
use crate::reader::Reader;
use crate::writer::Writer;
use hashbrown::{HashMap, HashSet};
use iotrail_structure::{
    Affine, Block, Class, Coded, Column, Folded, ItemId, KeyId, Progression, RankList, Repeated, Repeats,
    Structure, Value, Values,
};
use std::sync::Arc;

/// Items inside of items, and loops of values inside of loops, that are read; programs have far fewer.
const MAX_DEPTH: usize = 128;

const EVENT: u8 = 0;
const LOOP: u8 = 1;

const NULL: u8 = 0;
const AFFINE: u8 = 1;
const SEQUENCE: u8 = 2;

type Result<T> = std::result::Result<T, FileError>;

/// The sections `tree` and `ranks`.
pub(crate) fn write(structure: &Structure) -> (Vec<u8>, Vec<u8>) {
    let mut writer =
        TreeWriter { structure, out: Writer::default(), lists: HashMap::new(), ranks: Writer::default() };
    writer.body(structure.root());
    let mut ranks = Writer::default();
    ranks.len(writer.lists.len());
    ranks.bytes.append(&mut writer.ranks.bytes);
    (writer.out.bytes, ranks.bytes)
}

struct TreeWriter<'a> {
    structure: &'a Structure,
    out: Writer,
    lists: HashMap<Arc<RankList>, usize>,
    ranks: Writer,
}

impl TreeWriter<'_> {
    fn body(&mut self, body: &[ItemId]) {
        self.out.len(body.len());
        for item in body {
            let Repeated { counts, what } = &self.structure.items()[item.0 as usize];
            self.column(counts);
            match what {
                Repeats::Loop(body) => {
                    self.out.number(LOOP);
                    self.body(body);
                }
                Repeats::Event { key, columns, children } => {
                    self.out.number(EVENT);
                    self.out.number(key.0);
                    for Coded { form, column } in columns {
                        self.out.number(*form);
                        self.column(column);
                    }
                    self.body(children);
                }
            }
        }
    }

    fn column(&mut self, column: &Column) {
        self.out.len(column.classes().len());
        for class in column.classes() {
            let list = self.list(&class.ranks);
            self.out.len(list);
            self.out.len(class.strides.len());
            class.strides.iter().for_each(|&stride| self.out.signed(stride));
            match &class.values {
                Values::Null => self.out.number(NULL),
                Values::Affine(affine) => {
                    self.out.number(AFFINE);
                    self.out.signed(affine.constant);
                    self.out.len(affine.coefficients.len());
                    affine.coefficients.iter().for_each(|&coefficient| self.out.signed(coefficient));
                }
                Values::Sequence(parts) => {
                    self.out.number(SEQUENCE);
                    folded(parts, &mut self.out);
                }
            }
        }
    }

    fn list(&mut self, ranks: &Arc<RankList>) -> usize {
        if let Some(&known) = self.lists.get(ranks) {
            return known;
        }
        self.ranks.len(ranks.blocks().len());
        for Block { start, progressions } in ranks.blocks() {
            self.ranks.number(*start);
            self.ranks.len(progressions.len());
            for Progression { count, stride } in progressions {
                self.ranks.number(*count);
                self.ranks.number(*stride);
            }
        }
        self.lists.insert(Arc::clone(ranks), self.lists.len());
        self.lists.len() - 1
    }
}

fn folded(parts: &[Folded<Value>], out: &mut Writer) {
    out.len(parts.len());
    for part in parts {
        match part {
            Folded::Run { count, value } => {
                out.number(count << 1);
                out.next(*value, &mut 0);
            }
            Folded::Loop { count, body } => {
                out.number(count << 1 | 1);
                folded(body, out);
            }
        }
    }
}

/// The sets of lines of a structure of `lines` lines.
pub(crate) fn read_ranks(input: &mut Reader<'_>, lines: u32) -> Result<Vec<Arc<RankList>>> {
    let len = input.len("sets of lines")?;
    let mut known = HashMap::new();
    (0..len).map(|_| rank_list(input, lines, &mut known)).collect()
}

/// A set of lines, of which each is made once.
fn rank_list(
    input: &mut Reader<'_>,
    lines: u32,
    known: &mut HashMap<Vec<Block>, Arc<RankList>>,
) -> Result<Arc<RankList>> {
    let mut blocks = Vec::new();
    for _ in 0..input.len("blocks")? {
        let start = input.u32("a line")?;
        let progressions = (0..input.len("progressions")?)
            .map(|_| Ok(Progression { count: input.u32("a count")?, stride: input.u32("a stride")? }));
        blocks.push(Block { start, progressions: progressions.collect::<Result<_>>()? });
    }
    if let Some(list) = known.get(&blocks) {
        return Ok(Arc::clone(list));
    }
    let list = RankList::of_blocks(&blocks, lines).map(Arc::new).ok_or_else(|| {
        input.error("a set of lines that is not one", format_args!("ascending lines below {lines}"))
    })?;
    known.insert(blocks, Arc::clone(&list));
    Ok(list)
}

/// What the tree refers to.
pub(crate) struct References<'a> {
    pub(crate) keys: usize,
    pub(crate) columns: usize,
    pub(crate) lines: u32,
    pub(crate) ranks: &'a [Arc<RankList>],
}

pub(crate) fn read(
    input: &mut Reader<'_>,
    references: &References<'_>,
) -> Result<(Vec<Repeated>, Vec<ItemId>)> {
    let seen = vec![0; references.lines as usize];
    let mut reader =
        TreeReader { input, references, items: Vec::new(), seen, rounds: 0, apart: HashSet::new() };
    let root = reader.body(0)?;
    Ok((reader.items, root))
}

struct TreeReader<'a, 'b> {
    input: &'a mut Reader<'b>,
    references: &'a References<'a>,
    items: Vec<Repeated>,
    /// The last check that found each line.
    seen: Vec<u64>,
    rounds: u64,
    /// Sets of lines, by number, of which no two have a line in common.
    apart: HashSet<Vec<usize>>,
}

impl TreeReader<'_, '_> {
    fn body(&mut self, depth: usize) -> Result<Vec<ItemId>> {
        if depth > MAX_DEPTH {
            return Err(self
                .input
                .error(format_args!("items {depth} deep"), format_args!("at most {MAX_DEPTH}")));
        }
        (0..self.input.len("items")?).map(|_| self.item(depth)).collect()
    }

    fn item(&mut self, depth: usize) -> Result<ItemId> {
        let counts = self.column()?;
        let what = match self.input.at_most(LOOP.into(), "an event (0) or a loop (1)")? as u8 {
            EVENT => {
                let key = KeyId(self.input.index(self.references.keys, "keys")? as u32);
                let columns = (0..self.references.columns).map(|_| self.coded()).collect::<Result<_>>()?;
                Repeats::Event { key, columns, children: self.body(depth + 1)? }
            }
            _ => {
                let body = self.body(depth + 1)?;
                if body.is_empty() {
                    return Err(self.input.error("a loop without items", "at least one"));
                }
                Repeats::Loop(body)
            }
        };
        self.items.push(Repeated { counts, what });
        Ok(ItemId(self.items.len() as u32 - 1))
    }

    fn coded(&mut self) -> Result<Coded> {
        Ok(Coded { form: self.input.at_most(u8::MAX.into(), "a form")? as u8, column: self.column()? })
    }

    fn column(&mut self) -> Result<Column> {
        let mut sets = Vec::new();
        let classes =
            (0..self.input.len("classes")?).map(|_| self.class(&mut sets)).collect::<Result<_>>()?;
        self.check_sets(sets)?;
        Ok(Column::of_classes(classes))
    }

    /// Refuses sets of which two have a line in common. Many columns have the same ones, and these are looked at once.
    fn check_sets(&mut self, sets: Vec<usize>) -> Result<()> {
        if sets.len() < 2 || self.apart.contains(&sets) {
            return Ok(());
        }
        self.rounds += 1;
        for line in sets.iter().flat_map(|set| self.references.ranks[*set].iter()) {
            if std::mem::replace(&mut self.seen[line as usize], self.rounds) == self.rounds {
                return Err(self
                    .input
                    .error(format_args!("line {line} in two classes"), "one class for each line"));
            }
        }
        self.apart.insert(sets);
        Ok(())
    }

    fn class(&mut self, sets: &mut Vec<usize>) -> Result<Class> {
        let set = self.input.index(self.references.ranks.len(), "sets of lines")?;
        let ranks = &self.references.ranks[set];
        sets.push(set);
        let strides =
            (0..self.input.len("strides")?).map(|_| self.input.signed()).collect::<Result<Vec<_>>>()?;
        let progressions = match ranks.blocks() {
            [block] => block.progressions.len(),
            _ => 0,
        };
        if !strides.is_empty() && strides.len() != progressions {
            return Err(self
                .input
                .error(format_args!("{} strides", strides.len()), format_args!("0 or {progressions}")));
        }
        Ok(Class { ranks: Arc::clone(ranks), strides, values: self.values()? })
    }

    fn values(&mut self) -> Result<Values> {
        Ok(match self.input.at_most(SEQUENCE.into(), "a form of values")? as u8 {
            NULL => Values::Null,
            AFFINE => {
                let constant = self.input.signed()?;
                let coefficients = (0..self.input.len("coefficients")?).map(|_| self.input.signed());
                Values::Affine(Affine { constant, coefficients: coefficients.collect::<Result<_>>()? })
            }
            _ => Values::Sequence(read_folded(self.input, 0)?),
        })
    }
}

fn read_folded(input: &mut Reader<'_>, depth: usize) -> Result<Vec<Folded<Value>>> {
    if depth > MAX_DEPTH {
        return Err(input.error(format_args!("loops {depth} deep"), format_args!("at most {MAX_DEPTH}")));
    }
    let mut parts = Vec::new();
    for _ in 0..input.len("values")? {
        let tag = input.at_most(u64::MAX, "a count")?;
        let count = tag >> 1;
        let least = 1 + (tag & 1);
        if count < least {
            return Err(input.error(format_args!("a count of {count}"), format_args!("at least {least}")));
        }
        parts.push(match tag & 1 {
            0 => Folded::Run { count, value: input.next(&mut 0)? },
            _ => {
                let body = read_folded(input, depth + 1)?;
                if body.is_empty() {
                    return Err(input.error("a loop without values", "at least one"));
                }
                Folded::Loop { count, body }
            }
        });
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::Content;
    use crate::section::Section;

    /// Sets of lines: each a start and a progression of stride 1.
    fn sets(sets: &[(u32, u32)], lines: u32) -> Vec<Arc<RankList>> {
        let mut out = Writer::default();
        out.len(sets.len());
        for &(start, count) in sets {
            [1, start, 1, count, 1].into_iter().for_each(|number| out.number(number));
        }
        let content = Content::from(out);
        read_ranks(&mut Reader::new(Section::Ranks, &content), lines).expect("sets of lines")
    }

    /// A tree of events with these sets of lines as the classes of their counts.
    fn tree(items: &[Vec<u8>], ranks: &[Arc<RankList>], lines: u32) -> Result<usize> {
        let mut out = Writer::default();
        out.len(items.len());
        for sets in items {
            out.len(sets.len());
            // No strides, NULL.
            sets.iter().for_each(|set| out.bytes.extend([*set, 0, NULL]));
            out.bytes.extend([EVENT, 0, 0]);
        }
        let content = Content::from(out);
        let references = References { keys: 1, columns: 0, lines, ranks };
        Ok(read(&mut Reader::new(Section::Tree, &content), &references)?.0.len())
    }

    #[test]
    fn a_set_of_lines_is_made_once() {
        let sets = sets(&[(0, 9_000), (1, 8_999), (0, 9_000)], 9_000);
        assert!(Arc::ptr_eq(&sets[0], &sets[2]));
        assert_ne!(sets[0], sets[1]);
    }

    #[test]
    fn a_line_is_in_one_class_of_a_column() {
        let sets = sets(&[(0, 50), (50, 50), (49, 2)], 100);
        assert_eq!(tree(&[vec![0, 1], vec![1, 0], vec![0, 1]], &sets, 100).expect("a tree"), 3);
        assert!(tree(&[vec![0, 1], vec![0, 2]], &sets, 100).is_err());
        assert!(tree(&[vec![0, 0]], &sets, 100).is_err());
    }

    #[test]
    fn sets_of_lines_are_looked_at_once_for_many_columns() {
        let sets = sets(&[(0, 50_000), (50_000, 50_000)], 100_000);
        let begin = std::time::Instant::now();
        assert_eq!(tree(&vec![vec![0, 1]; 200_000], &sets, 100_000).expect("a tree"), 200_000);
        assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
    }

    #[test]
    fn a_loop_without_items_is_an_error() {
        let content = Content::from(vec![1, 0, LOOP, 0]);
        let references = References { keys: 1, columns: 0, lines: 1, ranks: &[] };
        let error = read(&mut Reader::new(Section::Tree, &content), &references).expect_err("an empty loop");
        assert!(error.to_string().contains("a loop without items"), "{error}");
    }
}
