//! MPI calls, of which programs tell that have loaded our library (`crates/mpi`).
//!
//! Each thread writes to a file of its own. It is read whenever the thread stops, before the stop is heard: what it tells of
//! has happened before, and system calls that follow are made within a call that was entered there.

use crate::mpi::{OpenFile, have_one_name, without_file_system};
use crate::mpi_file::Bytes;
use crate::mpi_requests::Made;
use crate::recording::Recording;
use crate::selection::announcement;
use crate::store::Store;
use iotrail_decode::Registers;
use iotrail_model::raw::{Arg, Operation, RawCall, RawItem, Return};
use iotrail_model::{Nanos, Pid, Tid, Timestamp};
use iotrail_mpi_abi::{Announcement, Record, RecordKind};

impl<S: Store> Recording<'_, '_, S> {
    /// Whether a call is none of the program: it announces something to the recorder, or makes ready for that.
    pub(crate) fn is_between_us(&mut self, tid: Tid, registers: &Registers) -> bool {
        if self.mpi.directory.is_none() {
            return false;
        }
        let Some(thread) = self.threads.get_mut(tid) else { return false };
        match announcement(registers) {
            None => return thread.quiet,
            Some((Announcement::Quiet, _)) => thread.quiet = true,
            Some((Announcement::Ready, number)) => {
                thread.quiet = false;
                if number != 0 {
                    self.mpi.takes(tid, number);
                }
            }
            // What it has written was read when it stopped.
            Some((Announcement::Full, _)) => {}
        }
        true
    }

    /// A thread has made a descriptor: of the file, perhaps, that a call of MPI shall open. The last one of that name counts: some
    /// libraries open a file to make it and close it again.
    pub(crate) fn note_opened(&mut self, tid: Tid, fd: i32) {
        if let Some(name) = self.mpi.opening(tid)
            && self
                .emitter
                .path_of(tid, fd)
                .is_some_and(|path| have_one_name(path, without_file_system(name)))
        {
            self.mpi.opened(tid, fd);
        }
    }

    /// Tells what a thread has written since it was last heard.
    #[inline]
    pub(crate) fn hear_mpi(&mut self, tid: Tid, now: Timestamp) {
        if self.mpi.threads.contains_key(&tid) {
            self.hear_all(tid, now);
        }
    }

    fn hear_all(&mut self, tid: Tid, now: Timestamp) {
        let Some(process) = self.threads.get(tid).and_then(|thread| thread.process) else { return };
        let mut records = std::mem::take(&mut self.mpi.records);
        if let Some(teller) = self.mpi.threads.get_mut(&tid) {
            teller.file.read(&mut records);
        }
        if !records.is_empty() {
            self.overtakes(tid);
        }
        for bytes in &records {
            if self.hear((process, tid), bytes, now).is_none() {
                self.mpi.damaged += 1;
            }
        }
        self.mpi.records = records;
    }

    /// Tells what is in one record; `None` if that makes no sense.
    fn hear(&mut self, (process, tid): (Pid, Tid), bytes: &Bytes, now: Timestamp) -> Option<()> {
        let record = Record::of(bytes)?;
        let teller = self.mpi.threads.get_mut(&tid)?;
        match record.kind {
            RecordKind::Text => teller.adds(Record::text(bytes)),
            RecordKind::Handles => teller.given.adds_handles(Record::handles(bytes)),
            RecordKind::Places => teller.given.adds_places(Record::places(bytes)),
            RecordKind::Frames => teller.sites.adds(Record::text(bytes)),
            RecordKind::Entered => {
                // What it was in, it left otherwise than by returning (`longjmp`).
                self.leaves_mpi((process, tid), now);
                self.enters_mpi((process, tid), &record, now)
            }
            RecordKind::Returned => {
                teller.present = None;
                self.returns_from_mpi((process, tid), &record, now)
            }
        }
    }

    /// A thread enters a call.
    fn enters_mpi(&mut self, (process, tid): (Pid, Tid), record: &Record, now: Timestamp) -> Option<()> {
        let mut call = self.mpi_call(tid, record, now)?;
        let teller = self.mpi.threads.get_mut(&tid)?;
        if let Some(site) = teller.sites.completes(record.site, process) {
            let filter = &mut self.emitter.filter;
            let number = self.mpi.sites.add(site, |number, site| filter.site(number, site));
            teller.sites.number(record.site, number);
        }
        teller.enters(self.mpi.functions.get(usize::from(record.function))?.opens);
        teller.present = Some(*record);
        let handles = self.mpi.processes.entry(process).or_default();
        let args = handles.file(record.file).and_then(|file| file.fd).map(|fd| [Arg::Fd(fd, None)]);
        call.args = args.as_ref().map_or(&[], |args| args);
        self.emitter.item(&RawItem::Entered(call));
        Some(())
    }

    /// A thread will not return from the call that it is in: it jumped out of it, or ended there. What it was to move is not known to
    /// have been moved.
    pub(crate) fn leaves_mpi(&mut self, (process, tid): (Pid, Tid), now: Timestamp) {
        let Some(record) = self.mpi.threads.get_mut(&tid).and_then(|teller| teller.present.take()) else {
            return;
        };
        let Some(mut call) = self.mpi_call(tid, &record, now) else { return };
        let handles = self.mpi.processes.entry(process).or_default();
        let comm = handles.communicator(record.comm);
        let file = handles.file(record.file).cloned();
        let args = file.as_ref().and_then(|file| file.fd).map(|fd| [Arg::Fd(fd, None)]);
        call.args = args.as_ref().map_or(&[], |args| args);
        let site = self.mpi.threads.get(&tid).and_then(|teller| teller.sites.of(record.site));
        let operation = Operation {
            name: name_of(file.as_ref()),
            offset: record.offset,
            requested: record.requested,
            comm,
            peer: record.peer,
            tag: record.tag,
            site,
            ..Operation::default()
        };
        self.emitter.unfinished += 1;
        self.emitter.item(&RawItem::Library { call, operation: &operation });
    }

    /// A call returned.
    fn returns_from_mpi(
        &mut self,
        (process, tid): (Pid, Tid),
        record: &Record,
        now: Timestamp,
    ) -> Option<()> {
        let mut call = self.mpi_call(tid, record, now)?;
        let teller = self.mpi.threads.get_mut(&tid)?;
        let known = self.mpi.functions.get(usize::from(record.function))?;
        let handles = self.mpi.processes.entry(process).or_default();
        let site = teller.sites.of(record.site);
        if known.opens && record.returned == 0 {
            handles.opens(record.file, teller.opens());
        }
        let comm = handles.communicator(record.comm);
        if known.makes && record.returned == 0 && record.file != 0 {
            handles.makes(record.file);
        }
        let file = handles.file(record.file).filter(|_| !known.makes).cloned();
        if known.closes {
            handles.files.remove(&record.file);
        }
        let error = format!("MPI_ERR_{}", record.returned);
        call.ret =
            if record.returned == 0 { Return::Value(0, None) } else { Return::Failed(error.as_bytes()) };
        let longest = (now - call.start).0;
        call.dur = Some(Nanos(record.end.saturating_sub(record.start).clamp(0, longest)));
        let args = file.as_ref().and_then(|file| file.fd).map(|fd| [Arg::Fd(fd, None)]);
        call.args = args.as_ref().map_or(&[], |args| args);
        let moved =
            Made { comm, peer: record.peer, tag: record.tag, sent: record.sent, received: record.received };
        let (moved, args) = match teller.given.returns(record) {
            Some(given) => {
                let what = (known.name, known.requests);
                handles.requests.follow(tid, what, record, (given, moved))
            }
            None => (moved, None),
        };
        let operation = Operation {
            name: name_of(file.as_ref()),
            offset: record.offset,
            requested: record.requested,
            size: record.size,
            comm: moved.comm,
            peer: moved.peer,
            tag: moved.tag,
            sent: moved.sent,
            received: moved.received,
            args: args.as_deref().map(str::as_bytes),
            site,
        };
        self.emitter.item(&RawItem::Library { call, operation: &operation });
        Some(())
    }

    /// The call that a record is about, as far as it is known when it begins.
    fn mpi_call(&mut self, tid: Tid, record: &Record, now: Timestamp) -> Option<RawCall<'static>> {
        let known = self.mpi.functions.get(usize::from(record.function))?;
        let start = self.clock.at(record.start).min(now);
        let (layer, call) = (known.layer, self.emitter.number_of(known.name));
        Some(RawCall { tid, layer, call, start, dur: None, ret: Return::Unseen, args: &[] })
    }
}

/// The name by which a program opened a file of MPI.
fn name_of(file: Option<&OpenFile>) -> Option<&[u8]> {
    file.map(|file| without_file_system(&file.name)).filter(|name| !name.is_empty())
}
