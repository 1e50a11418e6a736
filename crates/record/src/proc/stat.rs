//! `/proc/PID/stat` (`man 5 proc_pid_stat`).
//!
//! The name of the command stands in parentheses and may contain blanks, parentheses and line ends; no later field may,
//! so the fields are counted from the last `)`.

use super::read::number;
use iotrail_model::{Nanos, Pid};

/// Ticks per second of the interface (`USER_HZ`): 100 on every architecture that iotrail knows.
const TICKS_PER_SECOND: i64 = 100;

/// The fields of `stat` that are of use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Its parent; 0 becomes `None`.
    pub(crate) ppid: Option<Pid>,
    /// The leader of its session; 0, a leader outside our namespace of processes, becomes `None`.
    pub(crate) session: Option<Pid>,
    /// Page faults that needed no storage, with all threads, without children.
    pub(crate) minor_faults: Option<u64>,
    /// Page faults that read from storage.
    pub(crate) major_faults: Option<u64>,
    /// User CPU time, in ticks of 10 ms.
    pub(crate) user: Option<Nanos>,
    /// System CPU time, in ticks of 10 ms.
    pub(crate) system: Option<Nanos>,
    /// When it was made, since the machine was started, in ticks of 10 ms.
    pub(crate) started: Option<Nanos>,
}

/// Reads the content of `stat`; `None` if it is none.
pub(crate) fn parse(text: &[u8]) -> Option<Stat> {
    let close = text.iter().rposition(|byte| *byte == b')')?;
    let fields: Vec<&[u8]> =
        text[close + 1..].split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect();
    // The manual numbers fields from 1; the third, the state, is the first after the parenthesis.
    let field = |index: usize| fields.get(index - 3).copied();
    let pid = |index| field(index).and_then(number).filter(|pid| *pid != 0).map(Pid);
    let ticks = |index| {
        let ticks: i64 = number(field(index)?)?;
        ticks.checked_mul(1_000_000_000 / TICKS_PER_SECOND).filter(|nanos| *nanos >= 0).map(Nanos)
    };
    field(3).filter(|state| state.len() == 1)?;
    Some(Stat {
        ppid: pid(4),
        session: pid(6),
        minor_faults: field(10).and_then(number),
        major_faults: field(12).and_then(number),
        user: ticks(14),
        system: ticks(15),
        started: ticks(22),
    })
}

/// Whether this process leads its session. The leader may be outside our namespace of processes, where it has no number.
pub(crate) fn leads_session() -> bool {
    let stat = std::fs::read("/proc/self/stat").ok().and_then(|text| parse(&text));
    stat.and_then(|stat| stat.session).is_some_and(|session| session.0 == std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REST: &str = " S 27061 27061 17922 0 -1 4194304 104 11 3 12 7 9 1 2 20 0 1 0 1271891 3133440 382\n";

    fn expected() -> Stat {
        Stat {
            ppid: Some(Pid(27061)),
            session: Some(Pid(17922)),
            minor_faults: Some(104),
            major_faults: Some(3),
            user: Some(Nanos(70_000_000)),
            system: Some(Nanos(90_000_000)),
            started: Some(Nanos(12_718_910_000_000)),
        }
    }

    #[test]
    fn fields_are_found_behind_any_name() {
        for name in
            ["cat", ") R 1 (", "a\nb", ") R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "", "((", "))", "\u{e9} x"]
        {
            let text = format!("27068 ({name}){REST}");
            assert_eq!(parse(text.as_bytes()), Some(expected()), "{name:?}");
        }
    }

    #[test]
    fn what_is_cut_or_absurd_is_unknown() {
        assert_eq!(parse(b""), None);
        assert_eq!(parse(b"1 (x"), None);
        assert_eq!(parse(b"1 (x)"), None);
        let short = parse(b"1 (x) Z 0 1").unwrap();
        assert_eq!(short, Stat::default());
        let huge =
            parse(b"1 (x) S 1 1 1 0 -1 0 1 1 1 1 99999999999999999999 9223372036854775807 0 0").unwrap();
        assert_eq!((huge.user, huge.system, huge.minor_faults), (None, None, Some(1)));
    }

    #[test]
    fn the_kernel_writes_what_is_read() {
        let own = parse(&std::fs::read("/proc/self/stat").unwrap()).unwrap();
        let outside = parse(b"1 (x) S 0 1 0 0 -1 0 1 1 1 1 0 0 0 0").unwrap();
        assert_eq!((outside.ppid, outside.session), (None, None));
        assert!(own.ppid.is_some() && own.minor_faults.is_some() && own.started.is_some());
    }

    proptest! {
        #[test]
        fn any_name_leaves_the_fields_alone(name in prop::collection::vec(any::<u8>(), 0..16)) {
            let text = [b"7 (", name.as_slice(), b")", REST.as_bytes()].concat();
            prop_assert_eq!(parse(&text), Some(expected()));
        }

        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
            parse(&text);
        }
    }
}
