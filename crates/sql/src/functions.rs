//! The mapping's view of calls and paths as functions: `activity`, `dir`, `template`, `ext`, `canonical`.
//!
//! Each is evaluated once for each distinct combination of arguments in a batch, and answers a column of names, which the
//! engine groups by numbers instead of texts.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringArray, StringDictionaryBuilder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int32Type, Int64Type};
use datafusion::common::{exec_err, plan_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use iotrail_model::Case;
use iotrail_model::canonical::canonical;
use iotrail_query::generalise::generalise;
use iotrail_query::mapping::{Mapping, Subject};
use iotrail_query::{Preset, preset, query::moves_data};
use std::collections::HashMap;
use std::sync::Arc;

/// The functions, by name.
pub(crate) fn all() -> Vec<ScalarUDF> {
    Function::ALL.into_iter().map(|kind| ScalarUDF::new_from_impl(NameFunction::new(kind))).collect()
}

/// The mapping of that name; only those that need no file, as a query must not make us read one.
pub(crate) fn preset(word: &str) -> Result<Preset> {
    match Preset::from_name(word) {
        Some(preset) => Ok(preset),
        None => plan_err!(
            "`{}` is not a mapping that a query can use: dir1, dir2, ..., file, call, template, ext are",
            iotrail_model::text::printable(word)
        ),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Function {
    Activity,
    Dir,
    Template,
    Ext,
    Canonical,
}

impl Function {
    const ALL: [Self; 5] = [Self::Activity, Self::Dir, Self::Template, Self::Ext, Self::Canonical];

    const fn name(self) -> &'static str {
        match self {
            Self::Activity => "activity",
            Self::Dir => "dir",
            Self::Template => "template",
            Self::Ext => "ext",
            Self::Canonical => "canonical",
        }
    }

    const fn usage(self) -> &'static str {
        match self {
            Self::Activity => "activity(call, path) or activity('dir2', call, path)",
            Self::Dir => "dir(path) or dir(path, levels)",
            Self::Template => "template(path)",
            Self::Ext => "ext(path)",
            Self::Canonical => "canonical(path)",
        }
    }

    /// The types that arguments are brought to.
    fn types(self, count: usize) -> Option<Vec<DataType>> {
        use DataType::{Int64, Utf8};
        match (self, count) {
            (Self::Activity, 2 | 3) => Some(vec![Utf8; count]),
            (Self::Dir, 1) | (Self::Template | Self::Ext | Self::Canonical, 1) => Some(vec![Utf8]),
            (Self::Dir, 2) => Some(vec![Utf8, Int64]),
            _ => None,
        }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct NameFunction {
    kind: Function,
    signature: Signature,
}

impl NameFunction {
    fn new(kind: Function) -> Self {
        Self { kind, signature: Signature::user_defined(Volatility::Immutable) }
    }

    fn value(&self, arguments: &Key<'_>) -> Result<Option<String>> {
        let path = arguments.texts[arguments.texts.len() - 1];
        let shown = path.map(canonical);
        Ok(match self.kind {
            Function::Activity => activity(&arguments.texts, shown.as_deref())?,
            Function::Dir => {
                let levels = usize::try_from(arguments.number.unwrap_or(2)).unwrap_or_default().max(1);
                shown.map(|path| preset::top(&path, levels).to_owned())
            }
            Function::Template => shown.map(|path| generalise(&path).into_owned()),
            Function::Ext => shown.and_then(|path| preset::extension(&path).map(str::to_owned)),
            Function::Canonical => shown.map(std::borrow::Cow::into_owned),
        })
    }
}

fn activity(texts: &[Option<&str>], path: Option<&str>) -> Result<Option<String>> {
    let (map, call) = match texts {
        [Some(map), Some(call), _] => (preset(map)?, *call),
        [Some(call), _] => (Preset::default(), *call),
        _ => return Ok(None),
    };
    let case = Case::default();
    let subject = Subject { call, path, moves_data: moves_data(call), failed: false, case: &case };
    Ok(Mapping::Preset(map).activity(&subject))
}

/// The arguments of one row.
#[derive(PartialEq, Eq, Hash)]
struct Key<'a> {
    texts: Vec<Option<&'a str>>,
    number: Option<i64>,
}

fn names() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

impl ScalarUDFImpl for NameFunction {
    fn name(&self) -> &str {
        self.kind.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _types: &[DataType]) -> Result<DataType> {
        Ok(names())
    }

    fn coerce_types(&self, found: &[DataType]) -> Result<Vec<DataType>> {
        let wrong = || DataFusionError::Plan(format!("the function is {}", self.kind.usage()));
        let types = self.kind.types(found.len()).ok_or_else(wrong)?;
        let brought = found.iter().zip(types).map(|(found, wanted)| match wanted {
            // A column of names stays one: it is short where its texts would be long.
            DataType::Utf8 if *found == names() => Ok(names()),
            DataType::Utf8 if is_text(found) => Ok(DataType::Utf8),
            DataType::Int64 if found.is_integer() || *found == DataType::Null => Ok(DataType::Int64),
            _ => Err(wrong()),
        });
        brought.collect()
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let arrays = args.args.iter().map(|value| value.to_array(rows)).collect::<Result<Vec<_>>>()?;
        let (mut texts, mut numbers) = (Vec::new(), None);
        for array in &arrays {
            match array.data_type() {
                DataType::Int64 => numbers = array.as_primitive_opt::<Int64Type>(),
                _ => texts.push(Texts::new(array)?),
            }
        }
        if texts.is_empty() {
            return exec_err!("the function is {}", self.kind.usage());
        }
        Ok(ColumnarValue::Array(self.evaluate(&texts, numbers, rows)?))
    }
}

impl NameFunction {
    fn evaluate(&self, texts: &[Texts], numbers: Option<&Int64Array>, rows: usize) -> Result<ArrayRef> {
        let mut known: HashMap<Key<'_>, Option<i32>> = HashMap::new();
        let mut values: Vec<String> = Vec::new();
        let mut keys = Vec::with_capacity(rows);
        for row in 0..rows {
            let number = numbers.and_then(|numbers| numbers.is_valid(row).then(|| numbers.value(row)));
            let key = Key { texts: texts.iter().map(|texts| texts.get(row)).collect(), number };
            let place = match known.get(&key) {
                Some(place) => *place,
                None => {
                    let place = self.value(&key)?.map(|value| {
                        values.push(value);
                        (values.len() - 1) as i32
                    });
                    known.insert(key, place);
                    place
                }
            };
            keys.push(place);
        }
        let mut column = StringDictionaryBuilder::<Int32Type>::with_capacity(rows, values.len(), 0);
        for key in keys {
            column.append_option(key.map(|key| values[key as usize].as_str()));
        }
        Ok(Arc::new(column.finish()))
    }
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => true,
        _ => false,
    }
}

/// A column of texts, with or without a dictionary.
struct Texts {
    keys: Option<Vec<Option<usize>>>,
    values: StringArray,
}

impl Texts {
    fn new(array: &ArrayRef) -> Result<Self> {
        let (keys, values) = match array.as_dictionary_opt::<Int32Type>() {
            Some(names) => {
                let keys = names.keys().iter().map(|key| key.map(|key| key as usize)).collect();
                (Some(keys), Arc::clone(names.values()))
            }
            None => (None, Arc::clone(array)),
        };
        let values = cast(&values, &DataType::Utf8)?;
        Ok(Self { keys, values: values.as_string::<i32>().clone() })
    }

    fn get(&self, row: usize) -> Option<&str> {
        let place = match &self.keys {
            Some(keys) => keys[row]?,
            None => row,
        };
        self.values.is_valid(place).then(|| self.values.value(place))
    }
}
