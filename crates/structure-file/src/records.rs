//! Rows of JSON, of which what is the same in many is kept once.
//!
//! The decimal numbers of a row, also those within its texts, are taken out of it; what is left is its shape. Rows of one
//! shape stand in a table of the numbers that differ among them; the others stay in the shape. Rows of processes are held against the
//! ranks of the cases in the same rows, which are in the environment again. In the section: the number
//! of shapes, each with as many texts as it has numbers and one more; a table with the shape of each row; for each shape
//! the table of its numbers.

use crate::columns;
use crate::columns::{Cells, Known};
use crate::container::Content;
use crate::error::FileError;
use crate::reader::Reader;
use crate::writer::Writer;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

type Result<T> = std::result::Result<T, FileError>;

/// The section of rows, of which `known` has a number each, or none.
pub(crate) fn write<T: Serialize>(rows: &[T], known: &[Option<i64>]) -> Result<Content> {
    let texts: Vec<String> = rows
        .iter()
        .map(serde_json::to_string)
        .collect::<serde_json::Result<_>>()
        .map_err(|_| FileError::TooMany { what: "texts" })?;
    let rows: Vec<Row<'_>> = texts.iter().map(|text| Row::of(text)).collect();
    let (mut numbers, mut shapes): (HashMap<&[&str], usize>, Vec<Vec<&Row<'_>>>) = Default::default();
    let of_rows = rows.iter().map(|row| {
        let shape = *numbers.entry(&row.between).or_insert(shapes.len());
        if shape == shapes.len() {
            shapes.push(Vec::new());
        }
        shapes[shape].push(row);
        Some(shape as i64)
    });
    let of_rows: Vec<Option<i64>> = of_rows.collect();
    let mut out = Writer::default();
    out.len(shapes.len());
    let shapes: Vec<Shape> = shapes.iter().map(|rows| Shape::of(rows)).collect();
    shapes.iter().for_each(|shape| out.texts(&shape.between));
    columns::write(of_rows.len(), std::slice::from_ref(&of_rows), Known::default(), &mut out);
    let of_shapes = of_shapes(known, &of_rows, shapes.len()).unwrap_or_default();
    for (shape, known) in shapes.iter().zip(of_shapes).filter(|(shape, _)| !shape.columns.is_empty()) {
        let known = Known { columns: &[known], classes: &[] };
        columns::write(shape.rows, &shape.columns, known, &mut out);
    }
    Ok(Content { expanded: texts.iter().map(String::len).sum(), ..out.into() })
}

/// What is known of the rows of each shape; NULL if a row is of none.
fn of_shapes(known: &[Option<i64>], of_rows: &[Option<i64>], shapes: usize) -> Option<Vec<Cells>> {
    let mut of_shapes = vec![Cells::new(); shapes];
    for (row, shape) in of_rows.iter().enumerate() {
        let of_shape = of_shapes.get_mut(usize::try_from((*shape)?).ok()?)?;
        of_shape.push(known.get(row).copied().flatten());
    }
    Some(of_shapes)
}

/// The rows of a section, of which `known` has what it had when they were written.
pub(crate) fn read<T: for<'a> Deserialize<'a>>(
    input: &mut Reader<'_>,
    known: &[Option<i64>],
) -> Result<Vec<T>> {
    let shapes = (0..input.len("shapes")?).map(|_| input.texts()).collect::<Result<Vec<_>>>()?;
    let of_rows = columns::read(input, 1)?.remove(0);
    let of_shapes = of_shapes(known, &of_rows, shapes.len())
        .ok_or_else(|| input.error("a row of no shape", format_args!("one of {} shapes", shapes.len())))?;
    let tables = shapes.iter().zip(of_shapes).map(|(texts, known)| match texts.len() {
        0 | 1 => Ok(Vec::new()),
        texts => columns::read_with(input, texts - 1, |_| (vec![known], Vec::new())),
    });
    let tables: Vec<_> = tables.collect::<Result<_>>()?;
    let mut next = vec![0; shapes.len()];
    let (mut rows, mut text, mut made) = (Vec::new(), String::new(), 0_usize);
    for &shape in &of_rows {
        let shape = shape.map_or(0, |shape| shape as usize);
        text.clear();
        fill(&shapes[shape], &tables[shape], next[shape], &mut text)
            .ok_or_else(|| input.error(format_args!("no row {} of shape {shape}", next[shape]), "one"))?;
        next[shape] += 1;
        made = made.saturating_add(text.len());
        if made > input.most() {
            return Err(
                input.error(format_args!("rows of {made} bytes"), format_args!("at most {}", input.most()))
            );
        }
        rows.push(
            serde_json::from_str(&text).map_err(|error| input.error(error, "the JSON of this section"))?,
        );
    }
    Ok(rows)
}

/// The text of a row: what is between its numbers, and those.
fn fill(between: &[&str], columns: &[Vec<Option<i64>>], row: usize, text: &mut String) -> Option<()> {
    let (last, before) = between.split_last()?;
    for (part, column) in before.iter().zip(columns) {
        text.push_str(part);
        text.push_str(&(*column.get(row)?)?.to_string());
    }
    text.push_str(last);
    Some(())
}

/// A text as its numbers and what is between them: a text before each and one behind the last.
struct Row<'a> {
    between: Vec<&'a str>,
    numbers: Vec<i64>,
}

impl<'a> Row<'a> {
    fn of(text: &'a str) -> Self {
        let (mut row, mut begin, mut at) = (Self { between: Vec::new(), numbers: Vec::new() }, 0, 0);
        let bytes = text.as_bytes();
        while at < bytes.len() {
            let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let zeros = bytes[at..at + digits].iter().take_while(|byte| **byte == b'0').count();
            let start = at + zeros.min(digits.saturating_sub(1));
            let end = at + digits;
            // Digits that are more than 64 bits stay text, as all else that is no number.
            if let Some(number) = (digits > 0).then(|| text[start..end].parse().ok()).flatten() {
                row.between.push(&text[begin..start]);
                row.numbers.push(number);
                begin = end;
            }
            at = end.max(at + 1);
        }
        row.between.push(&text[begin..]);
        row
    }
}

/// Rows that differ in nothing but numbers: what is the same in all, and columns of what is not.
struct Shape {
    rows: usize,
    between: Vec<String>,
    columns: Vec<Vec<Option<i64>>>,
}

impl Shape {
    fn of(rows: &[&Row<'_>]) -> Self {
        let (mut between, mut columns, mut text) = (Vec::new(), Vec::new(), String::new());
        let first = rows[0];
        for (index, number) in first.numbers.iter().enumerate() {
            text.push_str(first.between[index]);
            if rows.iter().all(|row| row.numbers[index] == *number) {
                text.push_str(&number.to_string());
            } else {
                between.push(std::mem::take(&mut text));
                columns.push(rows.iter().map(|row| Some(row.numbers[index])).collect());
            }
        }
        text.push_str(first.between[first.numbers.len()]);
        between.push(text);
        Self { rows: rows.len(), between, columns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::Section;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const KNOWN: &[Option<i64>] = &[Some(3), None, Some(1)];

    fn back(content: &Content) -> Result<Vec<Value>> {
        let mut reader = Reader::new(Section::Processes, content);
        let rows = read(&mut reader, KNOWN)?;
        reader.end()?;
        Ok(rows)
    }

    #[test]
    fn processes_that_differ_in_numbers_are_one_text() {
        let rows: Vec<Value> = (0..100_i64)
            .map(|rank| json!({"case_id": rank, "env": [format!("PMI_RANK={rank}"), "LANG=C.UTF-8"], "exit_code": 0}))
            .collect();
        let mut content = write(&rows, KNOWN).expect("rows");
        assert_eq!(content.expanded, rows.iter().map(|row| row.to_string().len()).sum::<usize>());
        let texts = String::from_utf8_lossy(&content.bytes);
        assert_eq!(texts.matches("PMI_RANK").count(), 1);
        let len = content.bytes.len() + content.digits.len();
        assert!(len < 100 + 3 * 100 + 100, "{len} bytes");
        assert_eq!(back(&content).expect("rows"), rows);
        content.expanded -= 1;
        back(&content).expect_err("more text than the file justifies");
    }

    #[test]
    fn numbers_stay_as_they_were_written() {
        let rows = [
            json!("node007 0 -1 00 1.50 1e9 18446744073709551615 9223372036854775807"),
            json!("node008 0 -2 01 1.05 1e9 18446744073709551615 9223372036854775807"),
            json!("\u{0}1"),
            json!("é1ü22日3"),
            json!(null),
        ];
        assert_eq!(back(&write(&rows, KNOWN).expect("rows")).expect("rows"), rows);
    }

    #[test]
    fn shapes_without_rows_take_no_time() {
        let (shapes, rows) = (1_000_000, 60_000);
        let mut out = Writer::default();
        out.len(shapes);
        out.texts(&["1"]);
        (1..shapes).for_each(|_| out.texts(&["", ""]));
        // All are of the first shape; no other has a row.
        columns::write(rows, &[vec![Some(0); rows]], Known::default(), &mut out);
        (1..shapes).for_each(|_| out.bytes.extend([0, 0, 1]));
        let content = Content { expanded: 1 << 20, ..out.into() };
        let begin = std::time::Instant::now();
        let mut reader = Reader::new(Section::Processes, &content);
        let found = read::<Value>(&mut reader, KNOWN).expect("rows");
        assert_eq!(found.len(), rows);
        assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
    }

    proptest! {
        #[test]
        fn rows_come_back_as_they_were(rows in prop::collection::vec(("[a0-2]{0,6}", any::<i64>(), any::<Option<u8>>()), 0..40)) {
            let rows: Vec<Value> = rows.iter().map(|(text, number, small)| json!({"a": text, "b": number, "c": small})).collect();
            prop_assert_eq!(back(&write(&rows, KNOWN).expect("rows")).expect("rows"), rows);
        }

        #[test]
        fn any_bytes_are_rows_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..200), digits in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let _rows_or_error = back(&Content { bytes, digits, expanded: 1_000 });
        }

        #[test]
        fn damaged_rows_are_rows_or_an_error(place in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let rows: Vec<Value> = (0..20_i64).map(|row| json!({"a": row * 7919 % 1000, "b": row})).collect();
            let mut content = write(&rows, KNOWN).expect("rows");
            let place = place.index(content.bytes.len());
            content.bytes[place] = byte;
            let _rows_or_error = back(&content);
        }
    }
}
