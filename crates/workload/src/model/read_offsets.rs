//! Where transfers of a session begin, as it is written in a model file.

use super::ModelError;
use super::offsets::{DrawnPlaces, OffsetLaw, Stride};
use super::quantity::{BY_RANKS, bytes};
use super::read::{Source, quantity, runs_of_bytes};
use super::read_statistics::share;
use std::collections::BTreeMap;
use toml::{Spanned, Value};

const OFFSETS: &str = "expected \"sequential\"; { start = BYTES, rank = BYTES, step = BYTES, again = BYTES, every = N, jump = BYTES, shift = N }, of \
                       which step, again and jump may be \"BYTES * ranks\"; places such as [\"4 * 0 B\", \"1 MiB\"], from each of which so many \
                       transfers follow each other; or { drawn = { BYTES = WEIGHT, ... }, sequential = SHARE } or { drawn = [BYTES, BYTES, ...], \
                       align = BYTES, sequential = SHARE, end = BYTES }, as many between any two neighbours that ascend";

impl Source<'_> {
    pub(super) fn offset(&self, raw: &Spanned<Value>) -> Result<OffsetLaw, ModelError> {
        let law = match raw.get_ref() {
            Value::String(word) if word == "sequential" => Some(OffsetLaw::Sequential),
            Value::Array(items) => {
                runs_of_bytes(items).filter(|runs| !runs.is_empty()).map(OffsetLaw::Listed)
            }
            Value::Table(table) if table.contains_key("drawn") => drawn(table),
            Value::Table(table) => affine(table),
            _ => None,
        };
        law.ok_or_else(|| self.error(raw.span(), "this is not a law of offsets", OFFSETS))
    }
}

fn has_only(table: &toml::Table, keys: &[&str]) -> bool {
    table.keys().all(|key| keys.contains(&key.as_str()))
}

fn affine(table: &toml::Table) -> Option<OffsetLaw> {
    if !has_only(table, &["start", "rank", "step", "again", "every", "jump", "shift"]) {
        return None;
    }
    let part = |key| table.get(key).map_or(Some(0), |value| quantity(value, bytes));
    let stride = |key| match table.get(key).and_then(|value| value.as_str()?.strip_suffix(BY_RANKS)) {
        Some(text) => Some(Stride { bytes: bytes(text)?, by_ranks: true }),
        None => part(key).map(Stride::fixed),
    };
    let number = |key| table.get(key).map_or(Some(0), Value::as_integer);
    Some(OffsetLaw::Affine {
        start: part("start")?,
        rank: part("rank")?,
        step: stride("step")?,
        again: stride("again")?,
        every: u64::try_from(number("every")?).ok()?,
        jump: stride("jump")?,
        shift: i32::try_from(number("shift")?).ok()?,
    })
}

fn drawn(table: &toml::Table) -> Option<OffsetLaw> {
    if !has_only(table, &["drawn", "align", "sequential", "end"]) {
        return None;
    }
    let align = match table.get("align") {
        Some(value) => Some(quantity(value, bytes).filter(|align| *align > 0)?),
        None => None,
    };
    let places = match table.get("drawn")? {
        Value::Table(weights) if align.is_none() => {
            let weight = |(place, weight): (&String, &Value)| {
                let weight = u64::try_from(weight.as_integer()?).ok().filter(|weight| *weight > 0)?;
                Some((bytes(place)?, weight))
            };
            let weights: BTreeMap<u64, u64> = weights.iter().map(weight).collect::<Option<_>>()?;
            (!weights.is_empty()).then_some(DrawnPlaces::Of(weights))
        }
        Value::Array(bounds) => {
            let bounds: Vec<u64> =
                bounds.iter().map(|bound| quantity(bound, bytes)).collect::<Option<_>>()?;
            let ascend = bounds.len() > 1 && bounds.is_sorted();
            ascend.then(|| DrawnPlaces::Between { bounds, align: align.unwrap_or(1) })
        }
        _ => None,
    };
    let end = table.get("end").map_or(Some(0), |value| quantity(value, bytes))?;
    let sequential = table.get("sequential").map_or(Some(0), |value| share(value.as_str()?))?;
    Some(OffsetLaw::Drawn { places: places?, sequential, end })
}
