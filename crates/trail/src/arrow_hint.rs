//! What Arrow readers are told of a table's columns, beside Parquet's own types: that names are dictionaries.
//!
//! It is the entry `ARROW:schema` of a file's metadata: a message of Arrow's IPC format with a schema, as base64. The message is a
//! flatbuffer (`Message.fbs`, `Schema.fbs` of Arrow's format), made here because nothing else here needs Arrow.

use crate::schema::{ColumnKind, ColumnSchema};
use parquet::file::metadata::KeyValue;

const KEY: &str = "ARROW:schema";
/// What a message begins with, before its length.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Numbers of `MetadataVersion`, `MessageHeader`, `Type` and `TimeUnit` in the format.
const V5: i16 = 4;
const SCHEMA: u8 = 1;
const INT: u8 = 2;
const UTF8: u8 = 5;
const BOOL: u8 = 6;
const TIMESTAMP: u8 = 10;
const LIST: u8 = 12;
const NANOSECOND: i16 = 3;

/// The entry for a table of these columns.
pub(crate) fn entry(columns: &[ColumnSchema]) -> KeyValue {
    let message = message(columns);
    let length = (message.len() as u32).to_le_bytes();
    KeyValue::new(KEY.to_owned(), base64(&[&CONTINUATION[..], &length, &message].concat()))
}

fn message(columns: &[ColumnSchema]) -> Vec<u8> {
    let mut buffer = FlatBuffer::default();
    let mut dictionaries = 0..;
    let mut fields = Vec::new();
    for column in columns {
        let dictionary = (column.kind == ColumnKind::Name).then(|| dictionaries.next().unwrap_or_default());
        fields.push(field(&mut buffer, column, dictionary));
    }
    let fields = buffer.vector(&fields);
    let schema = buffer.table(&[Slot::Default, Slot::Object(fields)]);
    let message = [Slot::Short(V5), Slot::Byte(SCHEMA), Slot::Object(schema)];
    let root = buffer.table(&message);
    buffer.finish(root)
}

fn field(buffer: &mut FlatBuffer, column: &ColumnSchema, dictionary: Option<i64>) -> Object {
    let children = match column.kind {
        ColumnKind::Texts => {
            let item = ColumnSchema { name: "item", kind: ColumnKind::Text, nullable: false };
            let item = field(buffer, &item, None);
            buffer.vector(&[item])
        }
        _ => buffer.nothing(),
    };
    let (kind, of) = kind(buffer, column.kind);
    let dictionary = dictionary.map_or(Slot::Default, |id| {
        let (_, keys) = self::kind(buffer, ColumnKind::Int32);
        Slot::Object(buffer.table(&[Slot::Long(id), Slot::Object(keys)]))
    });
    let name = buffer.text(column.name);
    let nullable = Slot::Byte(column.nullable.into());
    let slots = [
        Slot::Object(name),
        nullable,
        Slot::Byte(kind),
        Slot::Object(of),
        dictionary,
        Slot::Object(children),
    ];
    buffer.table(&slots)
}

/// The number of a type and what there is to say of it, once for all columns that have it.
fn kind(buffer: &mut FlatBuffer, kind: ColumnKind) -> (u8, Object) {
    if let Some((_, known)) = buffer.kinds.iter().find(|(other, _)| *other == kind) {
        return *known;
    }
    let new = match kind {
        ColumnKind::Boolean => (BOOL, buffer.table(&[])),
        ColumnKind::Int32 => (INT, integer(buffer, 32, true)),
        ColumnKind::UInt32 => (INT, integer(buffer, 32, false)),
        ColumnKind::Int64 => (INT, integer(buffer, 64, true)),
        ColumnKind::UInt64 => (INT, integer(buffer, 64, false)),
        ColumnKind::Text | ColumnKind::Name => (UTF8, buffer.table(&[])),
        ColumnKind::Texts => (LIST, buffer.table(&[])),
        ColumnKind::Time => {
            let zone = buffer.text("UTC");
            (TIMESTAMP, buffer.table(&[Slot::Short(NANOSECOND), Slot::Object(zone)]))
        }
    };
    buffer.kinds.push((kind, new));
    new
}

fn integer(buffer: &mut FlatBuffer, bits: i32, signed: bool) -> Object {
    buffer.table(&[Slot::Int(bits), Slot::Byte(signed.into())])
}

/// Where something begins: how many bytes before the end.
#[derive(Clone, Copy)]
struct Object(usize);

/// A field of a table.
#[derive(Clone, Copy)]
enum Slot {
    /// It is not there.
    Default,
    Byte(u8),
    Short(i16),
    Int(i32),
    Long(i64),
    Object(Object),
}

/// A flatbuffer, from its end on: what is referred to comes before what refers to it.
#[derive(Default)]
struct FlatBuffer {
    /// Its bytes, the last one first.
    reversed: Vec<u8>,
    /// Where the fields of tables are, which many share.
    layouts: Vec<(Vec<u8>, Object)>,
    /// Types of columns that are there.
    kinds: Vec<(ColumnKind, (u8, Object))>,
    nothing: Option<Object>,
}

impl FlatBuffer {
    /// Puts bytes so that what begins `size` bytes before them begins at a multiple of `align` from the end.
    fn put(&mut self, bytes: &[u8], align: usize) -> Object {
        let end = (self.reversed.len() + bytes.len()).next_multiple_of(align);
        self.reversed.resize(end - bytes.len(), 0);
        self.reversed.extend(bytes.iter().rev());
        Object(end)
    }

    fn reference(&mut self, to: Object) -> Object {
        let end = (self.reversed.len() + 4).next_multiple_of(4);
        self.put(&((end - to.0) as u32).to_le_bytes(), 4)
    }

    fn text(&mut self, text: &str) -> Object {
        let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
        bytes.extend(text.as_bytes());
        bytes.push(0);
        self.put(&bytes, 4)
    }

    /// The vector without elements.
    fn nothing(&mut self) -> Object {
        let new = self.nothing.unwrap_or_else(|| self.vector(&[]));
        *self.nothing.insert(new)
    }

    fn vector(&mut self, objects: &[Object]) -> Object {
        for object in objects.iter().rev() {
            self.reference(*object);
        }
        self.put(&(objects.len() as u32).to_le_bytes(), 4)
    }

    fn table(&mut self, slots: &[Slot]) -> Object {
        let end = self.reversed.len();
        let mut places = vec![None; slots.len()];
        for (slot, place) in slots.iter().zip(&mut places) {
            *place = match *slot {
                Slot::Default => None,
                Slot::Byte(value) => Some(self.put(&[value], 1)),
                Slot::Short(value) => Some(self.put(&value.to_le_bytes(), 2)),
                Slot::Int(value) => Some(self.put(&value.to_le_bytes(), 4)),
                Slot::Long(value) => Some(self.put(&value.to_le_bytes(), 8)),
                Slot::Object(object) => Some(self.reference(object)),
            };
        }
        let start = (self.reversed.len() + 4).next_multiple_of(4);
        let mut layout = vec![(4 + 2 * slots.len()) as u16, (start - end) as u16];
        layout.extend(places.iter().map(|place| place.map_or(0, |place: Object| (start - place.0) as u16)));
        let layout: Vec<u8> = layout.iter().flat_map(|number| number.to_le_bytes()).collect();
        let known = self.layouts.iter().find(|(other, _)| *other == layout).map(|(_, place)| *place);
        // A new layout comes right before its table.
        let place = known.unwrap_or(Object(start + layout.len()));
        let table = self.put(&(place.0 as i32 - start as i32).to_le_bytes(), 4);
        if known.is_none() {
            self.put(&layout, 2);
            self.layouts.push((layout, place));
        }
        table
    }

    fn finish(mut self, root: Object) -> Vec<u8> {
        // Its beginning is as far from its end as the largest number needs.
        let end = (self.reversed.len() + 4).next_multiple_of(8);
        self.reversed.resize(end - 4, 0);
        self.reference(root);
        self.reversed.reverse();
        self.reversed
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = bytes.chunks(3).flat_map(|three| {
        let bits =
            three.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - three.len()));
        let digit = move |place: usize| char::from(DIGITS[bits >> (18 - 6 * place) & 63]);
        let used = three.len() + 1;
        (0..4).map(move |place| if place < used { digit(place) } else { '=' })
    });
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meta::Table;
    use crate::schema::schema;

    #[test]
    fn digits_of_base64() {
        assert_eq!(
            ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes())),
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]
        );
    }

    #[test]
    fn the_entry_of_events_is_as_large_as_its_columns() {
        let events = schema(Table::Events);
        let entry = entry(&events).value.unwrap();
        assert!(entry.starts_with("/////") && entry.len() < 120 * events.len(), "{}", entry.len());
    }
}
