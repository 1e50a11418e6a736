//! Appends records to the segments of a spool.

use crate::error::SpoolError;
use crate::event_code::{self, Prediction};
use crate::format::{FOOTER, Head, MAX_FRAME, MAX_FRONT, MAX_NAME, MAX_ROW, SEGMENT};
use crate::header::Header;
use crate::header_file::HeaderFile;
use crate::local_names::LocalNames;
use crate::losses::{Appended, LossesFile};
use crate::row_code::{self, LastFile};
use crate::segment::{Frame, Segment};
use crate::sites::SitesFile;
use iotrail_model::varint::put;
use iotrail_model::{Coverage, Dictionaries, Event, NameKind, NamedFile, PathId, Process, Site, SiteId};
use std::fs;
use std::path::{Path, PathBuf};

/// What a writer wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Events in the spool.
    pub events: u64,
    /// Process rows, images, file facts and coverage statements in the spool.
    pub rows: u64,
    /// Bytes of the segments.
    pub bytes: u64,
    /// Events that were refused after an error: they are lost.
    pub refused_events: u64,
    /// Other records that were refused.
    pub refused_rows: u64,
    /// Process rows of which a text was too long and is not all there.
    pub cut_rows: u64,
}

/// Writes a spool. Every record is in the page cache before the call that wrote it returns.
///
/// After an error everything written before stays readable; each further record is refused with the same error and counted.
#[derive(Debug)]
pub struct SpoolWriter {
    directory: PathBuf,
    header: HeaderFile,
    losses: LossesFile,
    sites: SitesFile,
    segment: Segment,
    segment_bytes: u64,
    names: LocalNames,
    prediction: Prediction,
    last_file: LastFile,
    /// The last path that the block defined: the next one tells only how it differs.
    base: Vec<u8>,
    frame: Frame,
    written: Written,
    failure: Option<SpoolError>,
}

impl SpoolWriter {
    /// Starts a spool in `directory`, which is made if it is not there.
    ///
    /// # Errors
    /// There is a spool in it already, or it cannot be written.
    pub fn create(directory: &Path, header: &Header) -> Result<Self, SpoolError> {
        Self::with_segments(directory, header, SEGMENT)
    }

    /// Starts a spool whose segments have `segment_bytes` bytes, a multiple of a piece.
    pub(crate) fn with_segments(
        directory: &Path,
        header: &Header,
        segment_bytes: u64,
    ) -> Result<Self, SpoolError> {
        fs::create_dir_all(directory).map_err(SpoolError::io("create", directory))?;
        let header = HeaderFile::create(directory, header)?;
        Ok(Self {
            losses: LossesFile::create(directory, header.identity())?,
            sites: SitesFile::default(),
            segment: Segment::create(directory, 0, header.identity())?,
            directory: directory.to_owned(),
            header,
            segment_bytes,
            names: LocalNames::default(),
            prediction: Prediction::default(),
            last_file: LastFile::default(),
            base: Vec::new(),
            frame: Frame::default(),
            written: Written::default(),
            failure: None,
        })
    }

    /// The directory of the spool.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Appends an event.
    ///
    /// # Errors
    /// The disk is full or failed, the spool was removed, or an id is not in `names`.
    #[inline]
    pub fn event(&mut self, event: &Event, names: &Dictionaries) -> Result<(), SpoolError> {
        if self.attempt(|writer| writer.append_event(event, names)) {
            self.written.events += 1;
            self.count_appended();
            return Ok(());
        }
        self.written.refused_events += 1;
        let refusal = self.refusal();
        if let Err(error) = &refusal {
            self.losses.count(error);
        }
        refusal
    }

    /// Appends the final row of an executable image.
    ///
    /// # Errors
    /// See [`SpoolWriter::event`].
    pub fn process(&mut self, process: &Process) -> Result<(), SpoolError> {
        self.row(|writer| writer.append_process(Head::PROCESS, process))
    }

    /// Appends the provisional row of an executable image that began.
    ///
    /// # Errors
    /// See [`SpoolWriter::event`].
    pub fn image(&mut self, process: &Process) -> Result<(), SpoolError> {
        self.row(|writer| writer.append_process(Head::IMAGE, process))
    }

    /// Appends what is known of the file of that name.
    ///
    /// # Errors
    /// See [`SpoolWriter::event`].
    pub fn file(
        &mut self,
        path: PathId,
        file: impl Into<NamedFile>,
        names: &Dictionaries,
    ) -> Result<(), SpoolError> {
        let file = file.into();
        self.row(|writer| writer.append_file(path, &file, names))
    }

    /// Keeps a call site before the first event that has its number, or what became known of it.
    ///
    /// # Errors
    /// It is not kept, and no event may have its number; everything else goes on.
    pub fn site(&mut self, site: SiteId, of: &Site) -> Result<(), SpoolError> {
        self.sites.append(&self.directory, site, of)
    }

    /// Appends the coverage statement as it stands, so that a recording that is killed knows what it dropped until then.
    ///
    /// # Errors
    /// See [`SpoolWriter::event`].
    pub fn coverage(&mut self, coverage: &Coverage) -> Result<(), SpoolError> {
        self.row(|writer| writer.append_coverage(coverage))
    }

    /// From here on, ids of names mean something else.
    pub fn rotate(&mut self) {
        self.names.forget();
    }

    /// What was written and refused so far.
    #[must_use]
    pub fn written(&self) -> Written {
        Written { bytes: self.written.bytes + self.segment.len(), ..self.written }
    }

    /// Marks the spool as complete.
    ///
    /// # Errors
    /// The error that an earlier call met, or the mark cannot be written.
    pub fn finish(mut self) -> Result<Written, SpoolError> {
        self.append_end()?;
        self.close()
    }

    /// Appends the last coverage statement and marks the spool as complete. A spool without room for both keeps the
    /// statement beside itself.
    ///
    /// # Errors
    /// See [`SpoolWriter::finish`].
    pub fn finish_with(mut self, coverage: &Coverage) -> Result<Written, SpoolError> {
        let ended = match self.coverage(coverage) {
            Err(error) if !error.is_about_one_record() => Err(error),
            _ => self.append_end(),
        };
        if let Err(error) = ended {
            self.losses.state(coverage);
            return Err(error);
        }
        self.close()
    }

    /// The spool was moved: its files are in `directory` now.
    pub fn moved_to(&mut self, directory: &Path) {
        self.directory = directory.to_owned();
        self.segment.moved_to(directory);
    }

    fn append_end(&mut self) -> Result<(), SpoolError> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        let out = self.frame.start();
        put(out, Head::END);
        put(out, self.written.events);
        put(out, self.written.rows);
        self.append_frame()
    }

    fn close(self) -> Result<Written, SpoolError> {
        let written = self.written();
        self.segment.close()?;
        self.header.release();
        Ok(written)
    }

    fn row(&mut self, append: impl FnOnce(&mut Self) -> Result<(), SpoolError>) -> Result<(), SpoolError> {
        if self.attempt(append) {
            self.written.rows += 1;
            self.count_appended();
            return Ok(());
        }
        self.written.refused_rows += 1;
        self.refusal()
    }

    #[inline]
    fn count_appended(&mut self) {
        let Written { events, rows, .. } = self.written;
        self.losses.appended(Appended { events, rows });
    }

    /// Appends, unless an earlier record failed; answers whether it did, and keeps why not.
    #[inline]
    fn attempt(&mut self, append: impl FnOnce(&mut Self) -> Result<(), SpoolError>) -> bool {
        if self.failure.is_none() {
            self.failure = append(self).err();
            return self.failure.is_none();
        }
        false
    }

    fn append_event(&mut self, event: &Event, names: &Dictionaries) -> Result<(), SpoolError> {
        loop {
            let local = self.localize(event, names)?;
            event_code::encode(&local, &mut self.prediction, self.frame.start());
            if self.frame.size() <= self.segment.room() {
                self.segment.append(&mut self.frame)?;
                self.segment.footer().count_event(event.start);
                return Ok(());
            }
            self.close_block()?;
        }
    }

    fn append_process(&mut self, head: u64, process: &Process) -> Result<(), SpoolError> {
        let out = self.frame.start();
        put(out, head);
        let is_cut = row_code::put_process(out, process, MAX_ROW);
        self.append_frame()?;
        self.written.cut_rows += u64::from(is_cut);
        self.segment.footer().rows += 1;
        Ok(())
    }

    fn append_file(
        &mut self,
        path: PathId,
        file: &NamedFile,
        names: &Dictionaries,
    ) -> Result<(), SpoolError> {
        loop {
            let piece = self.names.piece();
            let local = self.local(NameKind::Path, path.0, names)?;
            if piece != self.names.piece() {
                continue;
            }
            let out = self.frame.start();
            put(out, Head::FILE);
            row_code::put_named(out, local, file, &mut self.last_file);
            if self.frame.size() <= self.segment.room() {
                self.segment.append(&mut self.frame)?;
                self.segment.footer().rows += 1;
                return Ok(());
            }
            self.close_block()?;
        }
    }

    fn append_coverage(&mut self, coverage: &Coverage) -> Result<(), SpoolError> {
        let out = self.frame.start();
        put(out, Head::COVERAGE);
        serde_json::to_writer(out, coverage).map_err(|error| {
            SpoolError::io("write a coverage statement to", &self.directory)(error.into())
        })?;
        if self.frame.size() > MAX_ROW {
            let bytes = self.frame.size();
            return Err(SpoolError::TooLong { what: "a coverage statement", bytes, limit: MAX_ROW });
        }
        self.append_frame()?;
        self.segment.footer().rows += 1;
        Ok(())
    }

    /// `event` with the piece's ids.
    #[inline]
    fn localize(&mut self, event: &Event, names: &Dictionaries) -> Result<Event, SpoolError> {
        loop {
            let piece = self.names.piece();
            let local = event.with_names(|kind, id| self.local(kind, id, names))?;
            // A definition may have begun a piece, in which the names before it are not defined.
            if piece == self.names.piece() {
                return Ok(local);
            }
        }
    }

    /// The piece's id of a name. Of no meaning if that began a new piece.
    #[inline]
    fn local(&mut self, column: NameKind, id: u32, names: &Dictionaries) -> Result<u32, SpoolError> {
        match self.names.get(column, id) {
            Some(local) => Ok(local),
            None => self.define(column, id, names),
        }
    }

    #[cold]
    fn define(&mut self, column: NameKind, id: u32, names: &Dictionaries) -> Result<u32, SpoolError> {
        let dictionary = column.of(names);
        let rows = dictionary.len();
        if id as usize >= rows {
            return Err(SpoolError::NoSuchName { column: column.name(), id, rows });
        }
        let name = dictionary.get(id);
        if name.len() > MAX_NAME {
            return Err(SpoolError::TooLong { what: "a name", bytes: name.len(), limit: MAX_NAME });
        }
        loop {
            let local = self.names.next(column);
            self.encode_name(column, local, name);
            let size = self.frame.size();
            let piece = self.names.piece();
            if size <= self.segment.room() {
                self.segment.append(&mut self.frame)?;
            } else {
                self.make_room(size)?;
                if piece != self.names.piece() {
                    return Ok(local);
                }
                if size <= MAX_FRAME {
                    // The base of its prefix went with the block.
                    continue;
                }
                self.encode_name(column, local, name);
                self.append_long()?;
            }
            self.segment.footer().names += 1;
            self.names.define(column, id, rows);
            if column == NameKind::Path {
                self.base.clear();
                self.base.extend_from_slice(name);
            }
            return Ok(local);
        }
    }

    fn encode_name(&mut self, column: NameKind, local: u32, name: &[u8]) {
        let shared = match column {
            NameKind::Path => self.base.iter().zip(name).take_while(|(ours, theirs)| ours == theirs).count(),
            _ => 0,
        };
        let out = self.frame.start();
        put(out, Head::NAME);
        out.push(column as u8);
        put(out, u64::from(local));
        put(out, shared as u64);
        out.extend_from_slice(&name[shared..]);
    }

    /// Appends a record that depends on no other of its block.
    fn append_frame(&mut self) -> Result<(), SpoolError> {
        let size = self.frame.size();
        if size > self.segment.room() {
            self.make_room(size)?;
        }
        if size > MAX_FRAME { self.append_long() } else { self.segment.append(&mut self.frame) }
    }

    /// Closes blocks until `size` bytes find room from the start of a block to the end of its piece.
    fn make_room(&mut self, size: usize) -> Result<(), SpoolError> {
        self.close_block()?;
        // Each block of a long record has a frame of its own.
        let blocks = size.div_ceil(MAX_FRAME - MAX_FRONT - 1);
        let needed = if blocks > 1 { size + blocks * (MAX_FRONT + 1) } else { size };
        while self.segment.room_in_piece() < needed {
            self.close_block()?;
        }
        Ok(())
    }

    /// Appends a record in fragments of a block each.
    fn append_long(&mut self) -> Result<(), SpoolError> {
        let payload = self.frame.payload().to_vec();
        let mut rest = &payload[..];
        loop {
            let room = self.segment.room() - MAX_FRONT - 1;
            if rest.len() <= room {
                let out = self.frame.start();
                put(out, Head::LAST);
                out.extend_from_slice(rest);
                return self.segment.append(&mut self.frame);
            }
            let (fragment, later) = rest.split_at(room);
            let out = self.frame.start();
            put(out, Head::FRAGMENT);
            out.extend_from_slice(fragment);
            self.segment.append(&mut self.frame)?;
            self.close_block()?;
            rest = later;
        }
    }

    #[cold]
    fn close_block(&mut self) -> Result<(), SpoolError> {
        self.segment.close_block()?;
        self.prediction.reset();
        self.last_file = LastFile::default();
        self.base.clear();
        if self.segment.is_at_piece() {
            self.names.begin_piece();
        }
        if self.segment.len() >= self.segment_bytes {
            let next = Segment::create(&self.directory, self.segment.number() + 1, self.header.identity())?;
            self.written.bytes += self.segment.len();
            std::mem::replace(&mut self.segment, next).close()?;
        }
        Ok(())
    }

    /// The answer to a record that was not written. An error of one record alone does not refuse the next.
    #[cold]
    fn refusal(&mut self) -> Result<(), SpoolError> {
        match &self.failure {
            Some(error) if error.is_about_one_record() => self.failure.take().map_or(Ok(()), Err),
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }
}

const _: () = assert!(MAX_ROW + FOOTER < crate::format::PIECE);
