//! What was measured, in a file beside the trail: `run.trail` has `run.trail.verified.json`. The trail itself stays as it was recorded.

use iotrail_advise::Proof;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// Version of the document.
const FORMAT: u32 = 1;

/// The document.
#[derive(Debug, Serialize, Deserialize)]
struct Document {
    format: u32,
    verified: Vec<Proof>,
}

/// Why a file of measurements is not used.
#[derive(Debug, thiserror::Error)]
pub enum ProofsError {
    /// It cannot be read.
    #[error("{0}: {1}")]
    Read(PathBuf, io::Error),
    /// It is not what it should be.
    #[error("{0}: expected measurements of advice (format {FORMAT}), found {1}; remove it to measure anew")]
    Format(PathBuf, String),
}

/// Where what was measured of the advice on a trail is.
#[must_use]
pub fn proofs_path(trail: &Path) -> PathBuf {
    // A slash at the end is none of the name.
    let mut name = trail.components().as_path().as_os_str().to_owned();
    name.push(".verified.json");
    name.into()
}

/// What was measured of the advice on a trail; nothing if there is no file.
///
/// # Errors
/// If there is one that cannot be read or understood.
pub fn read(trail: &Path) -> Result<Vec<Proof>, ProofsError> {
    let path = proofs_path(trail);
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(ProofsError::Read(path, error)),
    };
    match serde_json::from_slice::<Document>(&text) {
        Ok(document) if document.format == FORMAT => Ok(document.verified),
        Ok(document) => Err(ProofsError::Format(path, format!("format {}", document.format))),
        Err(error) => Err(ProofsError::Format(path, error.to_string())),
    }
}

/// The document with what was measured now in place of what was known of the same advice.
#[must_use]
pub fn add(known: Vec<Proof>, new: &[Proof]) -> impl Serialize {
    let key =
        |proof: &Proof| (proof.rule.clone(), proof.file.clone(), proof.program.clone(), proof.shape.clone());
    let mut verified: Vec<Proof> =
        known.into_iter().filter(|old| new.iter().all(|new| key(new) != key(old))).collect();
    verified.extend(new.iter().filter(|proof| proof.measured.is_some()).cloned());
    Document { format: FORMAT, verified }
}
