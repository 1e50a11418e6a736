//! The loop tree with its columns, and the sets of lines that they are of.

use crate::error::FileError;
use crate::reader::Reader;
use crate::writer::Writer;
use hashbrown::HashMap;
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
    (0..len).map(|_| rank_list(input, lines).map(Arc::new)).collect()
}

fn rank_list(input: &mut Reader<'_>, lines: u32) -> Result<RankList> {
    let mut blocks = Vec::new();
    for _ in 0..input.len("blocks")? {
        let start = input.u32("a line")?;
        let progressions = (0..input.len("progressions")?)
            .map(|_| Ok(Progression { count: input.u32("a count")?, stride: input.u32("a stride")? }));
        blocks.push(Block { start, progressions: progressions.collect::<Result<_>>()? });
    }
    let list = RankList::of_blocks(&blocks, lines);
    list.ok_or_else(|| {
        input.error("a set of lines that is not one", format_args!("ascending lines below {lines}"))
    })
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
    let mut reader = TreeReader { input, references, items: Vec::new(), seen, columns: 0 };
    let root = reader.body(0)?;
    Ok((reader.items, root))
}

struct TreeReader<'a, 'b> {
    input: &'a mut Reader<'b>,
    references: &'a References<'a>,
    items: Vec<Repeated>,
    /// The last column that had a class with each line.
    seen: Vec<u64>,
    columns: u64,
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
        self.columns += 1;
        let classes = (0..self.input.len("classes")?).map(|_| self.class()).collect::<Result<_>>()?;
        Ok(Column::of_classes(classes))
    }

    fn class(&mut self) -> Result<Class> {
        let ranks = &self.references.ranks[self.input.index(self.references.ranks.len(), "sets of lines")?];
        for line in ranks.iter() {
            if std::mem::replace(&mut self.seen[line as usize], self.columns) == self.columns {
                return Err(self
                    .input
                    .error(format_args!("line {line} in two classes"), "one class for each line"));
            }
        }
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
