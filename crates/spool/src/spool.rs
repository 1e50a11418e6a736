//! A spool on disk, whether its writer finished, was killed, or is still at work.

use crate::damage::Damage;
use crate::error::SpoolError;
use crate::format::{segment_name, segment_number};
use crate::header::Header;
use crate::header_file::{self, Opened};
use crate::losses::{self, Losses};
use crate::reader::Reader;
use crate::sites;
use crate::survey::{Piece, Survey, survey};
use crate::tables::{Collector, Tables};
use iotrail_model::{Site, SiteId};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Whether a file holds nothing but zeros.
fn is_zero(path: &Path) -> io::Result<bool> {
    let (mut file, mut chunk) = (fs::File::open(path)?, [0; 1 << 16]);
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(true),
            length if chunk[..length].iter().any(|byte| *byte != 0) => return Ok(false),
            _ => {}
        }
    }
}

/// A spool that was opened: what is in it, and where. Of one that is being written: what was in it at that moment.
#[derive(Debug)]
pub struct Spool {
    directory: PathBuf,
    opened: Opened,
    losses: Losses,
    pieces: Vec<Piece>,
    damage: Vec<Damage>,
    is_finished: bool,
    written: Option<u64>,
}

impl Spool {
    /// Opens the spool in `directory`. Damage is found, counted and passed over.
    ///
    /// # Errors
    /// There is no readable header, it is of another version, or the directory or a file of it cannot be read.
    pub fn open(directory: &Path) -> Result<Self, SpoolError> {
        let opened = header_file::open(directory)?;
        // Before the segments, which may grow meanwhile: what is counted must be there.
        let losses = losses::read(directory, opened.identity)?;
        let mut spool = Self {
            directory: directory.to_owned(),
            losses: losses.clone().unwrap_or_default(),
            opened,
            pieces: Vec::new(),
            damage: Vec::new(),
            is_finished: false,
            written: None,
        };
        let numbers = segment_numbers(directory)?;
        spool.check_losses(losses.is_some(), !numbers.is_empty());
        spool.report_gaps(&numbers);
        let mut finished = None;
        for (index, number) in numbers.iter().enumerate() {
            let is_last = index + 1 == numbers.len();
            let path = spool.segment_path(*number);
            let mut found = survey(&path, *number, spool.opened.identity, is_last)?;
            finished = match found.pieces.is_empty() && found.finished.is_none() {
                true => finished,
                false => found.finished,
            };
            spool.add(&mut found);
        }
        spool.is_finished = finished.is_some();
        spool.check_total(finished, numbers.last().copied().unwrap_or(0));
        Ok(spool)
    }

    fn add(&mut self, found: &mut Survey) {
        self.pieces.append(&mut found.pieces);
        self.damage.append(&mut found.damage);
    }

    /// The file of the losses is made before the first segment: without it, nothing tells that all of them are there.
    fn check_losses(&mut self, is_there: bool, has_segments: bool) {
        self.losses.unreadable |= !is_there && has_segments;
        if self.losses.unreadable && has_segments {
            let what = match is_there {
                true => "this is not what the recorder of this spool counted",
                false => "the file is missing",
            };
            let path = self.directory.join(losses::NAME);
            self.damage.push(Damage { path, byte: 0, skipped: 0, events: None, what: what.to_owned() });
        }
    }

    fn report_gaps(&mut self, numbers: &[u32]) {
        let mut expected = 0;
        for number in numbers {
            if *number != expected {
                let missing = u64::from(*number) - u64::from(expected);
                self.report(expected, None, format!("{missing} files are missing from here on"));
            }
            expected = number.saturating_add(1);
        }
    }

    /// Compares what was found with what the writer counted, `finished` at its end or with each record.
    fn check_total(&mut self, finished: Option<u64>, last: u32) {
        let counted = self.losses.appended;
        let appended = counted.unwrap_or_default();
        let (found, rows) = (self.events(), self.pieces.iter().map(|piece| piece.rows).sum::<u64>());
        // One that was killed may have appended a record and not counted it.
        let written = finished.unwrap_or(appended.events.max(found));
        // More than that are copies.
        let uncounted = u64::from(found == appended.events + 1);
        self.written = finished.or(counted.map(|appended| appended.events + uncounted));
        if found != written {
            let what = format!("{written} events were written, the files hold {found}");
            self.report(last, Some(written.saturating_sub(found)), what);
        } else if rows < appended.rows {
            let what = format!("{} rows were written, the files hold {rows}", appended.rows);
            self.report(last, None, what);
        }
    }

    fn report(&mut self, segment: u32, events: Option<u64>, what: String) {
        let path = self.segment_path(segment);
        self.damage.push(Damage { path, byte: 0, skipped: 0, events, what });
    }

    pub(crate) fn segment_path(&self, number: u32) -> PathBuf {
        self.directory.join(segment_name(number))
    }

    pub(crate) fn identity(&self) -> u64 {
        self.opened.identity
    }

    /// The directory of the spool.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Who recorded what.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.opened.header
    }

    /// Whether the writer came to its end.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Whether the writer is still at work: it holds a lock on `header.json` as long as it lives.
    #[must_use]
    pub fn is_being_written(&self) -> bool {
        self.opened.is_being_written
    }

    /// Events that the writer could not keep.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// How many events the writer put into the spool; what is not there was lost. `None` if nothing tells.
    #[must_use]
    pub fn written(&self) -> Option<u64> {
        self.written
    }

    /// Number of events. Damage within full blocks, which only a [`Reader`] meets, makes it smaller.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.events).sum()
    }

    /// Bytes of the files in which there are records.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(Piece::bytes).sum()
    }

    /// Whether its files are gone or hold nothing but zeros, so that nothing of it can ever be read.
    ///
    /// # Errors
    /// The directory or a file of it cannot be read.
    pub fn is_blank(&self) -> Result<bool, SpoolError> {
        for number in segment_numbers(&self.directory)? {
            let path = self.segment_path(number);
            if !is_zero(&path).map_err(SpoolError::io("read", &path))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The pieces in the order in which they were written.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// What was found wrong without reading full blocks, in the order of the files; [`Reader::damage`] is the rest.
    #[must_use]
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Starts to read.
    #[must_use]
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(self)
    }

    /// The call sites that its events refer to.
    ///
    /// # Errors
    /// Their file cannot be read.
    pub fn sites(&self) -> Result<BTreeMap<SiteId, Site>, SpoolError> {
        sites::read(&self.directory)
    }

    /// Process rows and coverage, without decoding an event.
    ///
    /// # Errors
    /// A file cannot be read any more.
    pub fn tables(&self) -> Result<Tables, SpoolError> {
        let mut collector = Collector::default();
        self.reader().without_events().read_all(&mut collector)?;
        Ok(collector.tables())
    }
}

fn segment_numbers(directory: &Path) -> Result<Vec<u32>, SpoolError> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(directory).map_err(SpoolError::io("read", directory))? {
        let name = entry.map_err(SpoolError::io("read", directory))?.file_name();
        numbers.extend(name.to_str().and_then(segment_number));
    }
    numbers.sort_unstable();
    Ok(numbers)
}
