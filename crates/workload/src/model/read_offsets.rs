//! Where transfers of a session begin, as it is written in a model file.

use super::ModelError;
use super::offsets::{DrawnPlaces, OffsetLaw, Stride};
use super::place_run::PlaceRun;
use super::quantity::{BY_RANKS, BYTES_EXPECTED, bytes};
use super::read::{MAX_REQUESTS, Source, found, quantity, runs_of_bytes};
use super::read_statistics::share;
use std::collections::BTreeMap;
use toml::{Spanned, Table, Value};

const OFFSETS: &str = "expected \"sequential\"; { start = BYTES, rank = BYTES, step = BYTES, again = BYTES, every = N, jump = BYTES, shift = N }, of \
                       which step, again and jump may be \"BYTES * ranks\" or \"-BYTES\"; places such as [\"4 * 0 B\", \"1 MiB\"], from each of which so many \
                       transfers follow each other, or which are { start = BYTES, behind = BYTES, rank = BYTES, again = BYTES, step = BYTES, shift = N, count = N }; or { drawn = { BYTES = WEIGHT, ... }, sequential = SHARE } or { drawn = [BYTES, BYTES, ...], \
                       align = BYTES, sequential = SHARE, end = BYTES, rank = BYTES, written = true }, as many between any two neighbours that ascend";
const STRIDE: &str = "expected bytes as in \"64 KiB\", \"-64 KiB\" or \"64 KiB * ranks\" (B, KiB, MiB, GiB, TiB), at most 8 EiB";
const LENGTH: &str =
    "expected bytes as in \"64 KiB\" or \"64 KiB * ranks\" (B, KiB, MiB, GiB, TiB), at most 8 EiB";
const NUMBER: &str = "expected a whole number";
const COUNT: &str = "expected a whole number of 0 or more";
const SHARE: &str = "expected a share as in \"0.25\", at most \"1\"";
const TRUTH: &str = "expected true or false";
const PLACES: &str = "expected places with weights as in { \"0 B\" = 9, \"8 KiB\" = 1 }, or two or more that ascend, as in [\"0 B\", \"64 MiB\"]";
const LIST: &str = "expected places as in [\"4 * 0 B\", \"1 MiB\"], one at least; or { start = BYTES, behind = BYTES, rank = BYTES, again = BYTES, step = BYTES, shift = N, count = N } \
                    in place of one";
const TRANSFERS: &str = "expected a number of transfers, 1 or more";

/// What is wrong with a law: the key, NULL for all of it, and what was expected there.
struct Wrong {
    key: Option<String>,
    expected: &'static str,
}

type Part<T> = Result<T, Wrong>;

impl Source<'_> {
    /// The law of a key, `offset` or `write_offset`.
    pub(super) fn offset(&self, name: &str, raw: &Spanned<Value>) -> Result<OffsetLaw, ModelError> {
        let law = match raw.get_ref() {
            Value::String(word) if word == "sequential" => Ok(OffsetLaw::Sequential),
            Value::Array(items) if items.is_empty() => Err(Wrong { key: None, expected: LIST }),
            Value::Array(items) => items.iter().map(place_run).collect::<Part<_>>().map(OffsetLaw::Runs),
            Value::Table(table) if table.contains_key("drawn") => drawn(table),
            Value::Table(table) => affine(table),
            _ => Err(Wrong { key: None, expected: OFFSETS }),
        };
        law.map_err(|Wrong { key, expected }| {
            let Some(key) = key else {
                let problem = format!("`{name}` is not a law of offsets");
                return self.error(raw.span(), &problem, expected);
            };
            // Of several runs nobody knows which one it is in.
            let value = raw.get_ref().get(&key).map_or_else(|| "in one of its runs".to_owned(), found);
            let span = self.of_key(raw, &key);
            self.error(span, &format!("`{key}` of `{name}`: {value}"), expected)
        })
    }

    /// The length that truncates give a file.
    pub(super) fn length(&self, raw: &Spanned<Value>) -> Result<Stride, ModelError> {
        let length = stride_value(raw.get_ref()).filter(|length| length.bytes >= 0);
        length.ok_or_else(|| self.error(raw.span(), "this is not the length of a file", LENGTH))
    }

    /// Where a key of a table stands.
    fn of_key(&self, table: &Spanned<Value>, key: &str) -> std::ops::Range<usize> {
        let span = table.span();
        let text = self.0.get(span.clone()).unwrap_or_default();
        let is_key = |(at, _): &(usize, &str)| {
            let before = text[..*at].chars().next_back();
            let behind = text[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
            behind.starts_with('=') && !before.is_some_and(|before| before.is_alphanumeric() || before == '_')
        };
        let found = text.match_indices(key).find(is_key);
        found.map_or(span.clone(), |(at, _)| span.start + at..span.start + at + key.len())
    }
}

fn wrong<T>(key: &str, expected: &'static str) -> Part<T> {
    Err(Wrong { key: Some(key.to_owned()), expected })
}

fn has_only(table: &Table, keys: &[&str], expected: &'static str) -> Part<()> {
    table.keys().find(|key| !keys.contains(&key.as_str())).map_or(Ok(()), |key| wrong(key, expected))
}

/// The bytes of a key; 0 without it.
fn bytes_of(table: &Table, key: &str) -> Part<u64> {
    let Some(value) = table.get(key) else { return Ok(0) };
    quantity(value, bytes).map_or_else(|| wrong(key, BYTES_EXPECTED), Ok)
}

fn stride_of(table: &Table, key: &str) -> Part<Stride> {
    let Some(value) = table.get(key) else { return Ok(Stride::default()) };
    stride_value(value).map_or_else(|| wrong(key, STRIDE), Ok)
}

fn stride_value(value: &Value) -> Option<Stride> {
    match value {
        Value::Integer(bytes) => Some(Stride::fixed(*bytes)),
        Value::String(text) => stride(text),
        _ => None,
    }
}

fn stride(text: &str) -> Option<Stride> {
    let (positive, text) = text.strip_prefix('-').map_or((true, text), |text| (false, text));
    let (by_ranks, text) = text.strip_suffix(BY_RANKS).map_or((false, text), |text| (true, text));
    let bytes = i64::try_from(bytes(text)?).ok()?;
    Some(Stride { bytes: if positive { bytes } else { -bytes }, by_ranks })
}

fn number_of(table: &Table, key: &str) -> Part<i64> {
    let Some(value) = table.get(key) else { return Ok(0) };
    value.as_integer().map_or_else(|| wrong(key, NUMBER), Ok)
}

fn affine(table: &Table) -> Part<OffsetLaw> {
    has_only(table, &["start", "rank", "step", "again", "every", "jump", "shift"], OFFSETS)?;
    Ok(OffsetLaw::Affine {
        start: bytes_of(table, "start")?,
        rank: bytes_of(table, "rank")?,
        step: stride_of(table, "step")?,
        again: stride_of(table, "again")?,
        every: u64::try_from(number_of(table, "every")?).or_else(|_| wrong("every", COUNT))?,
        jump: stride_of(table, "jump")?,
        shift: shift_of(table)?,
    })
}

fn shift_of(table: &Table) -> Part<i32> {
    i32::try_from(number_of(table, "shift")?).or_else(|_| wrong("shift", NUMBER))
}

/// So many transfers from one place on.
fn place_run(item: &Value) -> Part<PlaceRun> {
    let Some(table) = item.as_table() else {
        return match runs_of_bytes(std::slice::from_ref(item)).as_deref() {
            Some([(start, count)]) => Ok(PlaceRun::fixed(*start, *count)),
            _ => Err(Wrong { key: None, expected: LIST }),
        };
    };
    has_only(table, &["start", "behind", "rank", "again", "step", "shift", "count"], LIST)?;
    let count = if table.contains_key("count") { number_of(table, "count")? } else { 1 };
    Ok(PlaceRun {
        start: bytes_of(table, "start")?,
        behind: bytes_of(table, "behind")?,
        rank: bytes_of(table, "rank")?,
        again: stride_of(table, "again")?,
        step: if table.contains_key("step") { Some(stride_of(table, "step")?) } else { None },
        shift: shift_of(table)?,
        count: u64::try_from(count)
            .ok()
            .filter(|count| (1..=MAX_REQUESTS).contains(count))
            .map_or_else(|| wrong("count", TRANSFERS), Ok)?,
    })
}

fn drawn(table: &Table) -> Part<OffsetLaw> {
    has_only(table, &["drawn", "align", "sequential", "end", "rank", "written"], OFFSETS)?;
    let align = match bytes_of(table, "align")? {
        0 if table.contains_key("align") => return wrong("align", BYTES_EXPECTED),
        align => align,
    };
    let places = match table.get("drawn") {
        Some(Value::Table(weights)) if align == 0 => weighted(weights),
        Some(Value::Table(_)) => return wrong("align", "expected it beside places that ascend alone"),
        Some(Value::Array(bounds)) => between(bounds, align.max(1)),
        _ => None,
    };
    let sequential = match table.get("sequential") {
        None => 0,
        Some(value) => value.as_str().and_then(share).map_or_else(|| wrong("sequential", SHARE), Ok)?,
    };
    let written = match table.get("written") {
        None => false,
        Some(value) => value.as_bool().map_or_else(|| wrong("written", TRUTH), Ok)?,
    };
    Ok(OffsetLaw::Drawn {
        places: places.map_or_else(|| wrong("drawn", PLACES), Ok)?,
        sequential,
        end: bytes_of(table, "end")?,
        rank: bytes_of(table, "rank")?,
        written,
    })
}

fn weighted(weights: &Table) -> Option<DrawnPlaces> {
    let weight = |(place, weight): (&String, &Value)| {
        let weight = u64::try_from(weight.as_integer()?).ok().filter(|weight| *weight > 0)?;
        Some((bytes(place)?, weight))
    };
    let weights: BTreeMap<u64, u64> = weights.iter().map(weight).collect::<Option<_>>()?;
    (!weights.is_empty()).then_some(DrawnPlaces::Of(weights))
}

fn between(bounds: &[Value], align: u64) -> Option<DrawnPlaces> {
    let bounds: Vec<u64> = bounds.iter().map(|bound| quantity(bound, bytes)).collect::<Option<_>>()?;
    (bounds.len() > 1 && bounds.is_sorted()).then_some(DrawnPlaces::Between { bounds, align })
}
