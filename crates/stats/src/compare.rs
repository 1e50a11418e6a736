//! Two profiles side by side, phase by phase: what a group of processes did in one run and in the other.
//!
//! Groups are matched by name. Figures are those of table 2 (Dun et al., Table 5) and keep their layers; what is unknown on
//! one side, or belongs to a group that one side does not have, is no number that could differ.

use crate::result::{PhaseRow, Profile};
use iotrail_model::units;
use serde::{Deserialize, Serialize};

/// The name of the format of a [`PhaseComparison`] as JSON.
pub const PHASES_FORMAT: &str = "iotrail-compare-phases/1";

/// Ratio from which on, in whichever direction, a difference is worth a reader's time.
const NOTABLE_RATIO: f64 = 1.1;

/// Two profiles, phase by phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseComparison {
    /// [`PHASES_FORMAT`].
    pub format: String,
    /// Name of the first profile, the baseline.
    pub a: String,
    /// Name of the second profile.
    pub b: String,
    /// How processes are grouped, as written.
    pub by: String,
    /// The groups: those of the first in its order, then those that only the second has.
    pub phases: Vec<Phase>,
    /// All groups together.
    pub total: Phase,
}

/// One group on both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Name of the group of processes.
    pub group: String,
    /// The side that alone has it; NULL if both do.
    pub only: Option<Side>,
    /// What was measured of it in both profiles.
    pub measures: Vec<Measured>,
}

/// One of the two profiles that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The profile that is the baseline.
    A,
    /// The profile that is compared with it.
    B,
}

/// A figure on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// What is measured.
    pub measure: Measure,
    /// What it is seen of.
    pub layer: Layer,
    /// Its value in the first profile.
    pub a: Option<u64>,
    /// Its value in the second.
    pub b: Option<u64>,
    /// Second minus first.
    pub difference: Option<i64>,
    /// Second over first; NULL also if the first is 0.
    pub ratio: Option<f64>,
}

/// What is measured of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Jobs.
    Jobs,
    /// Calls.
    Calls,
    /// Bytes that calls read.
    BytesRead,
    /// Bytes that calls wrote.
    BytesWritten,
    /// Files, however they were used.
    Files,
    /// Mappings of files.
    Mappings,
    /// Bytes fetched from storage.
    StorageRead,
    /// Bytes sent to storage.
    StorageWritten,
    /// Sum of the time in calls, ns.
    CallNs,
    /// Sum of the CPU time, ns.
    CpuNs,
    /// Sum of the lifetimes, ns.
    LifetimeNs,
    /// From the first start of a process to the last end of one, ns.
    ElapsedNs,
}

/// Where a figure is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layer {
    /// What calls did.
    #[serde(rename = "system call")]
    SystemCall,
    /// What the file system exchanged with storage.
    #[serde(rename = "storage")]
    Storage,
    /// What the kernel keeps of processes.
    #[serde(rename = "process")]
    Process,
}

impl Layer {
    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SystemCall => "system call",
            Self::Storage => "storage",
            Self::Process => "process",
        }
    }
}

/// Compares `b` with the baseline `a`, which are called that.
#[must_use]
pub fn compare(a: &Profile, b: &Profile, names: (&str, &str)) -> PhaseComparison {
    let mut phases: Vec<Phase> = Vec::new();
    for row in &a.phases {
        let other = b.phases.iter().find(|other| other.group == row.group);
        phases.push(Phase::of(&row.group, Some(row), other));
    }
    for row in b.phases.iter().filter(|row| a.phases.iter().all(|other| other.group != row.group)) {
        phases.push(Phase::of(&row.group, None, Some(row)));
    }
    PhaseComparison {
        format: PHASES_FORMAT.to_owned(),
        a: names.0.to_owned(),
        b: names.1.to_owned(),
        by: a.by.clone(),
        phases,
        total: Phase::of("total", Some(&a.total), Some(&b.total)),
    }
}

impl Phase {
    fn of(group: &str, a: Option<&PhaseRow>, b: Option<&PhaseRow>) -> Self {
        let only = match (a, b) {
            (Some(_), None) => Some(Side::A),
            (None, Some(_)) => Some(Side::B),
            _ => None,
        };
        let measures = Measure::ALL.map(|measure| {
            let value = |row: Option<&PhaseRow>| row.and_then(|row| measure.of(row));
            Measured::new(measure, value(a), value(b))
        });
        Self { group: group.to_owned(), only, measures: measures.to_vec() }
    }
}

impl Measured {
    fn new(measure: Measure, a: Option<u64>, b: Option<u64>) -> Self {
        let both = a.zip(b);
        let difference = both.map(|(a, b)| {
            let difference = i128::from(b) - i128::from(a);
            difference.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
        });
        let ratio = both.filter(|(a, _)| *a > 0).map(|(a, b)| b as f64 / a as f64);
        Self { measure, layer: measure.layer(), a, b, difference, ratio }
    }

    /// Whether it differs by a tenth or more.
    #[must_use]
    pub fn is_notable(&self) -> bool {
        let apart = |ratio: f64| !(1.0 / NOTABLE_RATIO..NOTABLE_RATIO).contains(&ratio);
        self.difference.is_some_and(|difference| difference != 0) && self.ratio.is_none_or(apart)
    }
}

impl Measure {
    /// Every measure, in the order of tables.
    pub const ALL: [Self; 12] = [
        Self::Jobs,
        Self::Calls,
        Self::BytesRead,
        Self::BytesWritten,
        Self::Files,
        Self::Mappings,
        Self::StorageRead,
        Self::StorageWritten,
        Self::CallNs,
        Self::CpuNs,
        Self::LifetimeNs,
        Self::ElapsedNs,
    ];

    /// The name in tables for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jobs => "jobs",
            Self::Calls => "calls",
            Self::BytesRead => "bytes_read",
            Self::BytesWritten => "bytes_written",
            Self::Files => "files",
            Self::Mappings => "mappings",
            Self::StorageRead => "storage_read",
            Self::StorageWritten => "storage_written",
            Self::CallNs => "call_ns",
            Self::CpuNs => "cpu_ns",
            Self::LifetimeNs => "lifetime_ns",
            Self::ElapsedNs => "elapsed_ns",
        }
    }

    /// What people call it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Jobs => "jobs",
            Self::Calls => "calls",
            Self::BytesRead => "bytes read",
            Self::BytesWritten => "bytes written",
            Self::Files => "files",
            Self::Mappings => "mappings",
            Self::StorageRead => "from storage",
            Self::StorageWritten => "to storage",
            Self::CallNs => "time in calls",
            Self::CpuNs => "CPU time",
            Self::LifetimeNs => "lifetime",
            Self::ElapsedNs => "elapsed",
        }
    }

    /// A value of it for people.
    #[must_use]
    pub fn shown(self, value: u64) -> String {
        match self {
            Self::Jobs | Self::Calls | Self::Files | Self::Mappings => units::count(value),
            Self::BytesRead | Self::BytesWritten | Self::StorageRead | Self::StorageWritten => {
                units::bytes(value as f64)
            }
            Self::CallNs | Self::CpuNs | Self::LifetimeNs | Self::ElapsedNs => units::duration(value as f64),
        }
    }

    const fn layer(self) -> Layer {
        match self {
            Self::Calls
            | Self::BytesRead
            | Self::BytesWritten
            | Self::Files
            | Self::Mappings
            | Self::CallNs => Layer::SystemCall,
            Self::StorageRead | Self::StorageWritten => Layer::Storage,
            Self::Jobs | Self::CpuNs | Self::LifetimeNs | Self::ElapsedNs => Layer::Process,
        }
    }

    fn of(self, row: &PhaseRow) -> Option<u64> {
        match self {
            Self::Jobs => Some(row.jobs),
            Self::Calls => Some(row.calls),
            Self::BytesRead => Some(row.bytes_read),
            Self::BytesWritten => Some(row.bytes_written),
            Self::Files => Some(row.files.ro + row.files.wo + row.files.rw + row.files.none),
            Self::Mappings => Some(row.mappings),
            Self::StorageRead => row.storage_read,
            Self::StorageWritten => row.storage_written,
            Self::CallNs => row.call_ns,
            Self::CpuNs => row.cpu_ns,
            Self::LifetimeNs => row.lifetime_ns,
            Self::ElapsedNs => row.span.map(|(first, last)| last.abs_diff(first)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(rows: &[(&str, u64, Option<u64>)]) -> Profile {
        let row = |(group, bytes_read, storage_read): &(&str, u64, Option<u64>)| PhaseRow {
            group: (*group).to_owned(),
            bytes_read: *bytes_read,
            storage_read: *storage_read,
            ..PhaseRow::default()
        };
        let phases: Vec<PhaseRow> = rows.iter().map(row).collect();
        let total = PhaseRow { bytes_read: rows.iter().map(|row| row.1).sum(), ..PhaseRow::default() };
        Profile { by: "exe".to_owned(), phases, total, ..Profile::default() }
    }

    fn figure(phase: &Phase, measure: Measure) -> (Option<u64>, Option<u64>, Option<i64>, Option<f64>) {
        let found = phase.measures.iter().find(|found| found.measure == measure);
        found.map(|found| (found.a, found.b, found.difference, found.ratio)).unwrap()
    }

    #[test]
    fn groups_meet_by_name_and_those_of_one_side_have_no_difference() {
        let a = profile(&[("sort", 100, Some(7)), ("cut", 50, None)]);
        let b = profile(&[("uniq", 9, None), ("sort", 80, None)]);
        let comparison = compare(&a, &b, ("before", "after"));
        let groups: Vec<_> = comparison.phases.iter().map(|phase| (&*phase.group, phase.only)).collect();
        assert_eq!(groups, [("sort", None), ("cut", Some(Side::A)), ("uniq", Some(Side::B))]);
        let [sort, cut, uniq] = &comparison.phases[..] else { panic!("three groups") };
        assert_eq!(figure(sort, Measure::BytesRead), (Some(100), Some(80), Some(-20), Some(0.8)));
        assert_eq!(figure(sort, Measure::StorageRead), (Some(7), None, None, None));
        assert_eq!(figure(sort, Measure::Jobs), (Some(0), Some(0), Some(0), None));
        assert_eq!(figure(cut, Measure::BytesRead), (Some(50), None, None, None));
        assert_eq!(figure(uniq, Measure::BytesRead), (None, Some(9), None, None));
        assert_eq!(
            figure(&comparison.total, Measure::BytesRead),
            (Some(150), Some(89), Some(-61), Some(89.0 / 150.0))
        );
    }

    #[test]
    fn a_tenth_is_notable_and_nothing_is_not() {
        let notable = |a, b| Measured::new(Measure::Calls, Some(a), Some(b)).is_notable();
        assert_eq!(
            [notable(100, 109), notable(100, 110), notable(100, 90), notable(0, 1)],
            [false, true, true, true]
        );
        assert!(!notable(0, 0) && !Measured::new(Measure::Calls, None, Some(1)).is_notable());
    }
}
