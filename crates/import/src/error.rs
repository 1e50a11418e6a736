//! What can go wrong with an import: what ends it, and what it survives and reports.

use iotrail_model::text::printable;
use iotrail_trail::TrailError;
use serde::Serialize;
use std::fmt;

/// Why there is not a trail.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// No input was named.
    #[error("no input: name trace files, a directory of them, or `-` for standard input")]
    NoInput,
    /// A format was asked for that is not known.
    #[error("no format is called `{}`; there are {known}", printable(name))]
    UnknownFormat {
        /// The name that was given.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },
    /// Inputs were named, but none of them holds a trace.
    #[error("nothing to import: {}", reasons(failures, warnings))]
    NothingToImport {
        /// Inputs that could not be read.
        failures: Vec<InputFailure>,
        /// Inputs that are something else.
        warnings: Vec<Warning>,
    },
    /// The trail could not be written.
    #[error("{0}")]
    Trail(#[from] TrailError),
}

fn reasons(failures: &[InputFailure], warnings: &[Warning]) -> String {
    const SHOWN: usize = 3;
    let all = failures.iter().map(ToString::to_string).chain(warnings.iter().map(ToString::to_string));
    let mut text = all.take(SHOWN).collect::<Vec<_>>().join("; ");
    match (failures.len() + warnings.len()).saturating_sub(SHOWN) {
        0 if text.is_empty() => "the inputs hold no files".clone_into(&mut text),
        0 => {}
        more => text.push_str(&format!("; and {more} more")),
    }
    text
}

/// An input that could not be read, or not to its end. The others were imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputFailure {
    /// The input as named.
    pub file: String,
    /// What was tried: `open`, `read`, `list`.
    pub action: &'static str,
    /// What the system answered, or what is wrong with the input.
    pub reason: String,
    /// What to do about it, if anything is known to help.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

impl InputFailure {
    pub(crate) fn new(action: &'static str, file: &str, reason: impl fmt::Display) -> Self {
        let (file, reason, advice) = (file.to_owned(), reason.to_string(), String::new());
        Self { file, action, reason, advice }
    }
}

impl fmt::Display for InputFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: {}", self.action, printable(&self.file), printable(&self.reason))?;
        if !self.advice.is_empty() {
            write!(f, "; {}", printable(&self.advice))?;
        }
        Ok(())
    }
}

/// Kinds of [`Warning`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarningKind {
    /// A file in a directory is of no known format and was left out. A file that was named is an [`InputFailure`].
    UnknownFormat,
    /// The file was named twice and is imported once.
    Duplicate,
    /// A directory without files in it.
    EmptyDirectory,
    /// Something in a directory was left out: a hidden file, a link to a directory, what is no file.
    LeftOut,
    /// The compressed data end early or are damaged; what came before is imported.
    DamagedData,
    /// File names do not fit the pattern for case names.
    CaseName,
}

/// Something a user should know about an input, though the import went on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// What kind it is.
    pub kind: WarningKind,
    /// The input; the first one if there are `more`.
    pub file: String,
    /// How many further inputs the same holds for.
    pub more: u64,
    /// What was found.
    pub found: String,
    /// What to do about it.
    pub advice: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", printable(&self.file))?;
        if self.more > 0 {
            write!(f, " and {} more", self.more)?;
        }
        write!(f, ": {}", printable(&self.found))?;
        if !self.advice.is_empty() {
            write!(f, "; {}", printable(&self.advice))?;
        }
        Ok(())
    }
}
