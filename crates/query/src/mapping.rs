//! The mapping f: events to activities, a partial function (paper, section III).
//!
//! It depends on the call, the path, and with rules on the case and on failure, so it is evaluated once for each distinct
//! combination of these and not for each event.

use crate::attribute::Attribute;
use crate::auto::Auto;
use crate::error::QueryError;
use crate::preset::Preset;
use crate::rules::{self, Rules};
use crate::variables::Variables;
use iotrail_model::Case;

/// What a mapping sees of an event.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Name of the call.
    pub call: &'a str,
    /// Canonical path with site variables.
    pub path: Option<&'a str>,
    /// Whether the call is a read or write variant.
    pub moves_data: bool,
    /// Whether it failed.
    pub failed: bool,
    /// The recorded case.
    pub case: &'a Case,
}

/// How calls and paths become activities.
#[derive(Clone, Debug)]
pub enum Mapping {
    /// One that needs no file.
    Preset(Preset),
    /// The rules of a file.
    Rules(Rules),
    /// The one that is made for a log.
    Auto(Box<Auto>),
}

/// The word for the mapping that is made for a log.
pub const AUTO: &str = "auto";

impl Mapping {
    /// The mapping that `word` names, and the variables of the rules file if it names one.
    ///
    /// # Errors
    /// If it is neither a preset nor a rules file that can be read and understood.
    pub fn load(word: Option<&str>) -> Result<(Self, Variables), QueryError> {
        let Some(word) = word else { return Ok((Self::Preset(Preset::default()), Variables::default())) };
        match Preset::from_name(word) {
            Some(preset) => Ok((Self::Preset(preset), Variables::default())),
            None => rules::load(word).map(|(rules, variables)| (Self::Rules(rules), variables)),
        }
    }

    /// The activity of an event, `None` if it is not mapped.
    #[must_use]
    pub fn activity(&self, subject: &Subject<'_>) -> Option<String> {
        let activity = match self {
            Self::Preset(preset) => preset.activity(subject.call, subject.path, subject.moves_data),
            Self::Rules(rules) => rules.activity(subject),
            Self::Auto(auto) => auto.activity(subject),
        };
        activity.filter(|activity| !activity.is_empty()).map(unreserved)
    }

    /// The attributes of the case that it looks at.
    #[must_use]
    pub fn attributes(&self) -> &[Attribute] {
        match self {
            Self::Preset(_) | Self::Auto(_) => &[],
            Self::Rules(rules) => rules.attributes(),
        }
    }

    /// Whether it looks at failure.
    #[must_use]
    pub fn sees_failure(&self) -> bool {
        matches!(self, Self::Rules(rules) if rules.sees_failure())
    }
}

/// The marks of a trace's start and end cannot be activities.
fn unreserved(activity: String) -> String {
    match activity.as_str() {
        "●" | "■" => format!("({activity})"),
        _ => activity,
    }
}
