//! Values of the trail as values of SQLite.

use rusqlite::types::Value;

/// A number without a sign. SQLite's integers end at 2^63 - 1; what is larger is kept as the text of its digits, in columns
/// without a declared type, rather than as a floating point number that is another one.
pub(crate) fn unsigned(value: u64) -> Value {
    i64::try_from(value).map_or_else(|_| Value::Text(value.to_string()), Value::Integer)
}

/// The same where it may be unknown.
pub(crate) fn maybe_unsigned(value: Option<u64>) -> Value {
    value.map_or(Value::Null, unsigned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_becomes_another_one() {
        assert_eq!(unsigned(7), Value::Integer(7));
        assert_eq!(unsigned(i64::MAX as u64), Value::Integer(i64::MAX));
        assert_eq!(unsigned(u64::MAX), Value::Text("18446744073709551615".to_owned()));
        assert_eq!(maybe_unsigned(None), Value::Null);
    }
}
