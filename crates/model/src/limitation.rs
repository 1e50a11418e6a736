//! What a trail may not tell, so that figures of it are of a part of what happened.

use crate::case::Case;
use crate::coverage::Coverage;
use crate::notes::Note;
use crate::time::Nanos;
use crate::units;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// Something that a trail does not tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limitation {
    /// Name of the trail, if there are several.
    pub trail: Option<String>,
    /// Which limitation it is.
    pub what: LimitationKind,
    /// How many of them, if they are counted.
    pub number: Option<u64>,
    /// Their time, if it is known.
    pub time_ns: Option<i64>,
    /// Names: families of calls, or calls, the largest first; or why events are missing.
    pub names: Vec<String>,
}

/// What a trail may not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitationKind {
    /// Events were left out of the recording, as asked for.
    LeftOut,
    /// Families of calls were not recorded.
    NotRecorded,
    /// No call has a duration.
    NoDurations,
    /// Clocks are too coarse to order single calls; the time is their unit.
    CoarseTimes,
    /// Waits on the path whose cause is not known.
    UnknownCauses,
    /// Calls of no class, or on descriptors of unknown kind.
    Unclassed,
    /// Calls whose end was not seen.
    Unfinished,
    /// Events are missing.
    Lost,
    /// Processes were not followed.
    NotFollowed,
    /// What recording cost was not measured.
    CostUnknown,
    /// The kernel's counters of CPU time are missing.
    CpuUnknown,
}

impl Limitation {
    /// One of which no more is known than what it is.
    #[must_use]
    pub const fn new(what: LimitationKind) -> Self {
        Self { trail: None, what, number: None, time_ns: None, names: Vec::new() }
    }

    /// What the coarsest clock of these cases leaves open, if it is coarse.
    #[must_use]
    pub fn of_clocks(cases: &[Case]) -> Option<Self> {
        let coarse = cases.iter().filter(|case| case.has_times() && case.resolution.is_coarse());
        let unit = coarse.map(|case| case.resolution.0).max()?;
        Some(Self { time_ns: Some(unit.0), ..Self::new(LimitationKind::CoarseTimes) })
    }

    /// What is missing, of whatever trail: the head of a sentence.
    #[must_use]
    pub fn fact(&self) -> String {
        let counted = |one, many| units::counted(self.number.unwrap_or_default(), one, many);
        match self.what {
            LimitationKind::LeftOut => {
                let events = counted("event was", "events were");
                format!("{events} left out of the recording ({})", self.names.join(", "))
            }
            LimitationKind::Lost => format!("{} missing", counted("event is", "events are")),
            LimitationKind::CoarseTimes => match self.time_ns {
                Some(unit) => Note::CoarseTimes { unit: Nanos(unit) }.to_string(),
                None => "The clock is too coarse to order single calls".to_owned(),
            },
            what => format!("{what:?}"),
        }
    }

    /// Whether it stands before all figures: events are missing, or times are far from what happened.
    #[must_use]
    pub const fn comes_first(&self) -> bool {
        self.is_of_events() || matches!((self.what, self.time_ns), (LimitationKind::CoarseTimes, Some(_)))
    }

    /// Whether events that happened are not in the trail: counts, bytes and times are those of the rest.
    #[must_use]
    pub const fn is_of_events(&self) -> bool {
        matches!(self.what, LimitationKind::LeftOut | LimitationKind::Lost)
    }
}

impl Coverage {
    /// Which events a trail lacks: those that were left out of the recording on request, and those that were lost.
    #[must_use]
    pub fn missing_events(&self) -> Vec<Limitation> {
        let left_out = self.recording.as_ref().map(|recording| recording.left_out_on_request());
        let left_out = left_out.filter(|reasons| !reasons.is_empty()).map(|reasons| Limitation {
            number: Some(reasons.values().sum()),
            names: reasons.into_keys().collect(),
            ..Limitation::new(LimitationKind::LeftOut)
        });
        let lost = (self.lost > 0)
            .then(|| Limitation { number: Some(self.lost), ..Limitation::new(LimitationKind::Lost) });
        left_out.into_iter().chain(lost).collect()
    }
}

/// The head of a sentence: what is missing, and of which trail.
impl Display for Limitation {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if let Some(trail) = &self.trail {
            write!(out, "{trail}: ")?;
        }
        out.write_str(&self.fact())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording_coverage::RecordingCoverage;

    #[test]
    fn what_was_left_out_on_request_and_what_was_lost_is_missing() {
        assert_eq!(Coverage::default().missing_events(), []);
        let counts = |reason: &str, number| [(reason.to_owned(), number)].into();
        let recording = RecordingCoverage {
            left_out: counts("limit of events", 3848),
            lost: counts("no space", 1),
            ..RecordingCoverage::default()
        };
        let missing = Coverage::of_recording(recording).missing_events();
        let words: Vec<String> = missing.iter().map(ToString::to_string).collect();
        let expected =
            ["3,848 events were left out of the recording (limit of events)", "1 event is missing"];
        assert_eq!(words, expected);
        let of_several = Limitation { trail: Some("b".to_owned()), ..missing[1].clone() };
        assert_eq!(of_several.to_string(), "b: 1 event is missing");
    }
}
