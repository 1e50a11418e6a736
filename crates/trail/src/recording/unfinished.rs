//! Recordings that are not, or not yet, part of their trail.

use crate::error::TrailError;
use crate::meta::META_FILE;
use crate::recording::join::CASE_ID;
use crate::recording::run::RECORDING;
use crate::trail::read_meta;
use iotrail_model::text::printable;
use iotrail_model::{CaseId, CaseName, units};
use iotrail_spool::{Damage, FIRST_SEGMENT, Header, Spool, SpoolError};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Whether the process that records is still there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Liveness {
    /// It is at work.
    Alive,
    /// It is gone.
    Dead,
    /// It ran on another host, which cannot be asked from here.
    #[default]
    Unknown,
}

/// A recording that is not part of its trail yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// Name of its directory under `recording`.
    pub name: String,
    /// Where it was recorded.
    pub host: String,
    /// The process that recorded, or still records.
    pub pid: u32,
    /// Whether it is alive.
    pub recorder: Liveness,
    /// The name of the case.
    pub case: CaseName,
    /// Events in its spool.
    pub events: u64,
    /// What is missing, and why, in a sentence.
    pub why: String,
}

/// The recordings under `target` that are not part of the trail yet, by name.
///
/// # Errors
/// There is not a trail, or it cannot be read.
pub fn unfinished(target: &Path) -> Result<Vec<Unfinished>, TrailError> {
    target.metadata().map_err(TrailError::io("open", target))?;
    readable(spools(target)?).map(|spools| spools.iter().map(|(name, spool)| describe(name, spool)).collect())
}

/// Names of the directories of recordings, sorted.
pub(crate) fn directories(target: &Path) -> Result<Vec<String>, TrailError> {
    let path = target.join(RECORDING);
    let entries = match fs::read_dir(&path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        other => other.map_err(TrailError::io("read", &path))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(TrailError::io("read", &path))?;
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        names.extend(entry.file_name().into_string().ok().filter(|_| is_directory));
    }
    names.sort_unstable();
    Ok(names)
}

/// A spool, or why it cannot be opened, by the name of its directory.
pub(crate) type Named = (String, Result<Spool, SpoolError>);

/// The spools, if all can be opened; else why the first cannot.
pub(crate) fn readable(spools: Vec<Named>) -> Result<Vec<(String, Spool)>, TrailError> {
    spools.into_iter().map(|(name, spool)| Ok((name, spool?))).collect()
}

/// What is not part of the trail yet.
pub(crate) fn spools(target: &Path) -> Result<Vec<Named>, TrailError> {
    let listed = match target.join(META_FILE).symlink_metadata() {
        Ok(_) => read_meta(target)?.recordings,
        Err(_) => Vec::new(),
    };
    let mut spools = Vec::new();
    for name in directories(target)? {
        let directory = target.join(RECORDING).join(&name);
        if !listed.contains(&name) && !is_empty_recording(&directory) {
            let spool = Spool::open(&directory).and_then(|spool| at_home(&name, spool));
            spools.push((name, spool));
        }
    }
    Ok(spools)
}

/// The spool, if its directory is that of its recorder: a copy beside it would count twice.
fn at_home(name: &str, spool: Spool) -> Result<Spool, SpoolError> {
    let header = spool.header();
    let own = case_of(header).map(|case| directory_name(header, case));
    match own.filter(|own| own != name) {
        None => Ok(spool),
        Some(own) => {
            let path = spool.directory().to_owned();
            let why = format!("it is what was recorded in {}, copied or renamed", printable(&own));
            Err(SpoolError::NotASpool { path, why })
        }
    }
}

/// What the directory of a recording is called.
pub(crate) fn directory_name(header: &Header, case: CaseId) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let host: String = header.recorder.host.chars().map(letter).take(64).collect();
    format!("{host}-{}-{case}", header.recorder.pid)
}

/// Whether nothing was recorded yet in the directory of a recording: its header is written before its first segment.
pub(crate) fn is_empty_recording(directory: &Path) -> bool {
    let has = |name: &str| directory.join(name).symlink_metadata().is_ok();
    !has("header.json") && !has(FIRST_SEGMENT)
}

/// The case that a spool's events belong to.
pub(crate) fn case_of(header: &Header) -> Option<CaseId> {
    let number = header.capture.get(CASE_ID)?.as_u64()?;
    // No run has more recordings than a directory has room for; a hostile number must not make a table of that size.
    u32::try_from(number).ok().filter(|number| *number < 1 << 24).map(CaseId)
}

pub(crate) fn describe(name: &str, spool: &Spool) -> Unfinished {
    let header = spool.header();
    let recorder = liveness(spool);
    Unfinished {
        name: name.to_owned(),
        host: header.recorder.host.clone(),
        pid: header.recorder.pid,
        recorder,
        case: header.case.clone(),
        events: spool.events(),
        why: format!(
            "{}{}",
            state(spool, recorder),
            missing(spool, spool.damage(), lost_to(spool.damage(), spool, spool.events()))
        ),
    }
}

/// What is known of a recording after all of its spool was read, which has `damage`.
pub(crate) fn describe_damaged(
    found: Unfinished,
    spool: &Spool,
    damage: &[Damage],
    events: u64,
) -> Unfinished {
    let lost = lost_to(damage, spool, events);
    let why = format!("{}{}", state(spool, found.recorder), missing(spool, damage, lost));
    Unfinished { why, ..found }
}

/// Events that are known to be lost to damage, of a spool that gave so many: what the writer counted tells it, else the damage.
pub(crate) fn lost_to(damage: &[Damage], spool: &Spool, events: u64) -> u64 {
    match spool.written() {
        Some(written) => written.saturating_sub(events),
        None => damage.iter().filter_map(|damage| damage.events).sum(),
    }
}

/// A recorder holds a lock on its spool as long as it lives; whether that can be seen from another host depends on the
/// file system.
fn liveness(spool: &Spool) -> Liveness {
    let header = spool.directory().join("header.json");
    let locks = fs::File::open(header).map(|file| file.try_lock_shared());
    let may_be_alive = matches!(locks, Ok(Err(fs::TryLockError::Error(_)))) && is_there(spool.header());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let here = host.split('.').next() == spool.header().recorder.host.split('.').next();
    match (spool.is_being_written() || may_be_alive, here) {
        (true, _) => Liveness::Alive,
        (false, true) => Liveness::Dead,
        (false, false) => Liveness::Unknown,
    }
}

/// What tells this run of the kernel from every other.
pub(crate) fn boot_id() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned())
}

/// Whether there is a process of the recorder's number under the same kernel, for file systems without locks.
fn is_there(header: &Header) -> bool {
    let here = boot_id();
    here.is_some()
        && header.recorder.boot_id == here
        && Path::new("/proc").join(header.recorder.pid.to_string()).exists()
}

/// Whether the recorder saw the end of the program, be its spool complete or full.
pub(crate) fn came_to_its_end(spool: &Spool) -> bool {
    spool.is_finished() || spool.losses().statement.is_some()
}

/// `1 event is`, `2 events are`.
fn quantity(events: u64) -> String {
    match events {
        1 => "1 event is".to_owned(),
        _ => format!("{} events are", units::count(events)),
    }
}

/// How far the recording came.
fn state(spool: &Spool, recorder: Liveness) -> &'static str {
    match (recorder, spool.is_finished()) {
        (Liveness::Alive, false) => "it is still being recorded",
        (Liveness::Alive, true) => "its recorder is writing the tables",
        (_, true) => "all events are there; its recorder ended before it had written the tables",
        (_, false) if came_to_its_end(spool) => "its recorder ended before it had written the tables",
        (_, false) => "its recorder was killed: what happened from then on is missing",
    }
}

/// What is missing of what was recorded.
fn missing(spool: &Spool, damage: &[Damage], lost: u64) -> String {
    let mut missing = String::new();
    let losses = spool.losses();
    if losses.failed > 0 {
        let reason = losses.reason.as_deref().unwrap_or("the spool could not be written");
        missing.push_str(&format!("; {} lost ({reason})", quantity(losses.failed)));
    }
    if losses.too_long > 0 {
        missing.push_str(&format!("; {} too long to be kept", quantity(losses.too_long)));
    }
    match (damage.len(), lost) {
        (0, _) => {}
        (places, 0) => missing.push_str(&format!(
            "; its spool is damaged at {}",
            units::counted(places as u64, "place", "places")
        )),
        (_, lost) => missing.push_str(&format!("; its spool is damaged, {} lost", quantity(lost))),
    }
    missing
}
