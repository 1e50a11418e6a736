//! Columns that follow from those of `events`: where a transfer or seek began, and where it led.
//!
//! Of a read or write they are the bytes that it moved, `[offset_before, offset_after)`, also where it has an offset of its own and leaves
//! the position of its open file description alone. A failed call led nowhere.

use iotrail_model::calls::{Call, CallKind, PerCall, TABLE};
use iotrail_model::{Event, Names, Nullable};

/// Names of the columns, which stand behind those of the table.
pub const POSITION_COLUMNS: [&str; 2] = ["offset_before", "offset_after"];

/// What a call is to positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Seeks {
    /// No seek.
    #[default]
    No,
    /// A seek that returns where it led.
    Returned,
    /// A seek that stores it in memory, which events do not keep.
    Stored,
}

impl Seeks {
    fn of(call: Call<'_>) -> Self {
        match (call.kind(), call.spec.is_some_and(|spec| spec.stores_position())) {
            (CallKind::Seek, true) => Self::Stored,
            (CallKind::Seek, false) => Self::Returned,
            _ => Self::No,
        }
    }
}

/// The values of [`POSITION_COLUMNS`] for the events of a log.
#[derive(Clone, Debug, Default)]
pub struct Positions(PerCall<Seeks>);

impl Positions {
    /// For events with these names.
    #[must_use]
    pub fn new(names: &Names) -> Self {
        Self(PerCall::new(&names.calls, Seeks::of))
    }

    /// Where a transfer or seek began and where it led, in bytes; NULL for other calls, and where it is not known.
    #[must_use]
    pub fn of(&self, event: &Event) -> [Nullable<i64>; 2] {
        let seeks = self.0.of(event.call);
        if seeks == Seeks::No && event.size.is_null() && event.requested.is_null() {
            return [Nullable::NULL; 2];
        }
        let moved = || event.offset.get().zip(event.size.get());
        let after = match seeks {
            _ if !event.errno.is_null() => event.offset,
            Seeks::Returned => event.ret,
            _ => moved().and_then(|(offset, size)| offset.checked_add(size)).into(),
        };
        [event.offset, after]
    }
}

/// The same as expressions of SQL over the columns of `events`, each with its name of [`POSITION_COLUMNS`].
#[must_use]
pub fn position_sql() -> [(&'static str, String); 2] {
    let names = |wanted: &[Seeks]| {
        let names = TABLE.iter().filter(|spec| wanted.contains(&Seeks::of(Call::named(spec.name))));
        names.map(|spec| format!("'{}'", spec.name)).collect::<Vec<_>>().join(", ")
    };
    let moves = format!(
        "(\"size\" IS NOT NULL OR requested IS NOT NULL OR call IN ({}))",
        names(&[Seeks::Returned, Seeks::Stored])
    );
    let returned = names(&[Seeks::Returned]);
    let [before, after] = POSITION_COLUMNS;
    [
        (before, format!("CASE WHEN {moves} THEN \"offset\" END")),
        (
            after,
            format!(
                "CASE WHEN {moves} AND errno IS NOT NULL THEN \"offset\" WHEN call IN ({returned}) THEN ret \
             ELSE \"offset\" + \"size\" END"
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::{CallId, ErrnoId};

    fn names() -> Names {
        let calls = ["read", "pread64", "lseek", "_llseek", "ftruncate", "MPI_File_write"];
        Names { calls: calls.map(Into::into).to_vec(), ..Names::default() }
    }

    fn event(call: u32, [offset, size, ret]: [Option<i64>; 3]) -> Event {
        Event {
            call: CallId(call),
            offset: offset.into(),
            size: size.into(),
            ret: ret.into(),
            ..Event::default()
        }
    }

    #[track_caller]
    fn assert_positions(event: &Event, before: Option<i64>, after: Option<i64>) {
        let of = Positions::new(&names()).of(event);
        assert_eq!(of.map(Nullable::get), [before, after]);
    }

    #[test]
    fn a_transfer_moves_the_bytes_between_them() {
        assert_positions(&event(0, [Some(100), Some(28), Some(28)]), Some(100), Some(128));
        assert_positions(&event(1, [Some(7), Some(0), Some(0)]), Some(7), Some(7));
        assert_positions(&event(5, [Some(0), Some(9), Some(0)]), Some(0), Some(9));
        assert_positions(&event(0, [None, Some(28), Some(28)]), None, None);
    }

    #[test]
    fn a_seek_leads_where_it_returns() {
        assert_positions(&event(2, [Some(100), None, Some(5)]), Some(100), Some(5));
        assert_positions(&event(2, [None, None, Some(5)]), None, Some(5));
        assert_positions(&event(3, [Some(100), None, Some(0)]), Some(100), None);
    }

    #[test]
    fn a_failed_call_leads_nowhere() {
        let failed = |event: Event| Event { errno: Nullable::some(ErrnoId(0)), ..event };
        let read = Event { requested: Nullable::some(10), ..event(0, [Some(4), None, Some(-1)]) };
        assert_positions(&failed(read), Some(4), Some(4));
        assert_positions(&failed(event(2, [Some(4), None, Some(-1)])), Some(4), Some(4));
    }

    #[test]
    fn other_calls_have_no_positions() {
        assert_positions(&event(4, [Some(4096), None, Some(0)]), None, None);
    }

    #[test]
    fn beyond_the_largest_offset_nothing_is_known() {
        assert_positions(&event(0, [Some(i64::MAX), Some(1), Some(1)]), Some(i64::MAX), None);
    }

    #[test]
    fn expressions_of_sql() {
        let moves =
            r#"("size" IS NOT NULL OR requested IS NOT NULL OR call IN ('lseek', 'llseek', '_llseek'))"#;
        let [before, after] = position_sql().map(|(_, value)| value);
        assert_eq!(before, format!(r#"CASE WHEN {moves} THEN "offset" END"#));
        let led = r#"WHEN call IN ('lseek') THEN ret ELSE "offset" + "size" END"#;
        assert_eq!(after, format!(r#"CASE WHEN {moves} AND errno IS NOT NULL THEN "offset" {led}"#));
    }
}
