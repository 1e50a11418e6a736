//! What is known of MPI calls: who tells of them, and which communicators and files their handles stand for.

use crate::mpi_file::{Bytes, RecordFile};
use crate::mpi_requests::{Given, LiveRequests, MOST_HANDLES, Map};
use crate::mpi_sites::{CallSites, SitesOfThread};
use crate::plan::MpiPlan;
use iotrail_model::{Layer, Pid, Tid};
use iotrail_mpi_abi::{NONE, Record, RequestUse, Roles, functions};
use iotrail_trail::Temporary;
use std::ffi::{CString, OsStr};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The variable that tells the library where to make its files.
const DIRECTORY: &str = "IOTRAIL_MPI";
/// That of the number of frames of call sites.
const STACK: &str = "IOTRAIL_MPI_STACK";
const PRELOAD: &str = "LD_PRELOAD";
/// Memory in which files cost nothing.
const MEMORY: &str = "/dev/shm";
/// Bytes of the name of a file.
const LONGEST_NAME: usize = 4096;
/// Communicators that every process has, as records number them: the first two numbers of ours.
const BUILT_IN: u64 = 2;

/// MPI calls of all threads.
#[derive(Debug, Default)]
pub(crate) struct MpiCalls {
    pub(crate) directory: Option<Temporary>,
    pub(crate) functions: Vec<Known>,
    pub(crate) threads: Map<Tid, Teller>,
    pub(crate) processes: Map<Pid, Handles>,
    pub(crate) sites: CallSites,
    /// Threads that told something.
    heard: u64,
    dropped: u64,
    siteless: u64,
    pub(crate) damaged: u64,
    pub(crate) records: Vec<Bytes>,
}

/// A function of the table.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) layer: Layer,
    pub(crate) opens: bool,
    pub(crate) closes: bool,
    /// Whether it makes a communicator.
    pub(crate) makes: bool,
    /// What it does to requests.
    pub(crate) requests: RequestUse,
}

/// A thread that tells of its calls.
#[derive(Debug)]
pub(crate) struct Teller {
    pub(crate) file: RecordFile,
    /// The name of the file that the next call, or the present one, opens.
    name: Vec<u8>,
    /// Whether it is in a call that opens a file.
    is_opening: bool,
    /// The descriptor that was opened in it under that name.
    opened: Option<i32>,
    /// The requests of its present call.
    pub(crate) given: Given,
    /// Its call sites.
    pub(crate) sites: SitesOfThread,
    /// Its present call, as it was entered.
    pub(crate) present: Option<Record>,
}

/// Handles of a process.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    communicators: Map<u64, i32>,
    /// Numbers that were given to communicators.
    numbered: i32,
    pub(crate) files: Map<u64, OpenFile>,
    pub(crate) requests: LiveRequests,
}

/// A file that was opened by MPI.
#[derive(Clone, Debug)]
pub(crate) struct OpenFile {
    pub(crate) fd: Option<i32>,
    pub(crate) name: Vec<u8>,
}

impl MpiCalls {
    /// MPI calls are recorded from now on: the variables that the program is started with.
    pub(crate) fn begin(&mut self, plan: &MpiPlan) -> io::Result<Vec<CString>> {
        let directory =
            Temporary::create(Path::new(MEMORY)).or_else(|_| Temporary::create(&std::env::temp_dir()))?;
        let before = std::env::var_os(PRELOAD).filter(|value| !value.is_empty());
        let mut preload = plan.library.as_os_str().to_owned();
        if let Some(before) = before {
            preload.push(":");
            preload.push(before);
        }
        let stack = plan.stack.to_string();
        let variables = [
            variable(PRELOAD, &preload)?,
            variable(DIRECTORY, directory.path().as_os_str())?,
            variable(STACK, stack.as_ref())?,
        ];
        self.directory = Some(directory);
        self.functions = functions().map(|function| Known::of(&function)).collect();
        Ok(variables.into())
    }

    /// Whether MPI calls were to be recorded and there were none.
    pub(crate) fn is_silent(&self) -> bool {
        self.directory.is_some() && self.heard == 0
    }

    /// Records for which the program found no room.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped + self.threads.values().map(|teller| teller.file.dropped()).sum::<u64>()
    }

    /// Calls that came from so many sites that theirs has no number.
    pub(crate) fn siteless(&self) -> u64 {
        self.siteless + self.threads.values().map(|teller| teller.file.siteless()).sum::<u64>()
    }

    /// Records that were none, and files that could not be read on.
    pub(crate) fn damaged(&self) -> u64 {
        self.damaged + self.threads.values().map(|teller| u64::from(teller.file.is_damaged)).sum::<u64>()
    }

    /// A thread has made its file.
    pub(crate) fn takes(&mut self, tid: Tid, number: u64) {
        let Some(directory) = &self.directory else { return };
        let path = directory.path().join(format!("{number:016x}"));
        let file = OpenOptions::new().read(true).write(true).custom_flags(no_follow()).open(&path);
        let taken = file.and_then(|file: File| RecordFile::take(file));
        // Both sides have it open; nobody else needs its name.
        let _ = std::fs::remove_file(&path);
        match taken {
            Ok(Some(file)) => {
                self.heard += 1;
                let teller = Teller {
                    file,
                    name: Vec::new(),
                    is_opening: false,
                    opened: None,
                    given: Given::default(),
                    sites: SitesOfThread::default(),
                    present: None,
                };
                self.threads.insert(tid, teller);
            }
            Ok(None) | Err(_) => self.damaged += 1,
        }
    }

    /// The name of the file that a thread is about to open by a call of MPI.
    pub(crate) fn opening(&self, tid: Tid) -> Option<&[u8]> {
        self.threads.get(&tid).filter(|teller| teller.is_opening).map(|teller| &*teller.name)
    }

    /// A thread has opened that file.
    pub(crate) fn opened(&mut self, tid: Tid, fd: i32) {
        if let Some(teller) = self.threads.get_mut(&tid) {
            teller.opened = Some(fd);
        }
    }

    /// A thread is gone, or its program was replaced.
    pub(crate) fn thread_ends(&mut self, process: Pid, tid: Tid) {
        if let Some(teller) = self.threads.remove(&tid) {
            self.dropped += teller.file.dropped();
            self.siteless += teller.file.siteless();
            self.damaged += u64::from(teller.file.is_damaged);
        }
        if process.0 == tid.0 {
            self.processes.remove(&process);
        }
    }
}

impl Known {
    fn of(function: &iotrail_mpi_abi::Function) -> Self {
        let roles = Roles::of(function);
        Self {
            name: function.name,
            layer: if function.is_io() { Layer::Mpiio } else { Layer::Mpi },
            opens: roles.name != NONE,
            closes: roles.by_reference && roles.file != NONE,
            makes: roles.new_comm != NONE,
            requests: roles.requests,
        }
    }
}

impl Handles {
    /// A file of which a call says that it is open.
    pub(crate) fn file(&self, handle: u64) -> Option<&OpenFile> {
        self.files.get(&handle)
    }

    /// A file was opened.
    pub(crate) fn opens(&mut self, handle: u64, file: OpenFile) {
        if self.files.len() < MOST_HANDLES {
            self.files.insert(handle, file);
        }
    }

    /// The number of a communicator.
    pub(crate) fn communicator(&mut self, handle: u64) -> Option<i32> {
        if handle <= BUILT_IN {
            return i32::try_from(handle).ok()?.checked_sub(1).filter(|number| *number >= 0);
        }
        match self.communicators.get(&handle) {
            Some(number) => Some(*number),
            None => self.makes(handle),
        }
    }

    /// A communicator was made: it has the next number, also if another one had its handle before.
    pub(crate) fn makes(&mut self, handle: u64) -> Option<i32> {
        if self.communicators.len() >= MOST_HANDLES && !self.communicators.contains_key(&handle) {
            return None;
        }
        let number = self.numbered.checked_add(BUILT_IN as i32)?;
        self.numbered += 1;
        self.communicators.insert(handle, number);
        Some(number)
    }
}

fn variable(name: &str, value: &OsStr) -> io::Result<CString> {
    let text = [name.as_bytes(), b"=", value.as_bytes()].concat();
    CString::new(text).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn no_follow() -> i32 {
    rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
}

/// Whether two paths end with the same name.
pub(crate) fn have_one_name(path: &[u8], other: &[u8]) -> bool {
    let name = |path: &[u8]| path.rsplit(|byte| *byte == b'/').next().map(<[u8]>::to_vec);
    name(path) == name(other)
}

impl Teller {
    /// A piece of the name that the next call is about.
    pub(crate) fn adds(&mut self, piece: &[u8]) -> Option<()> {
        (self.name.len() + piece.len() <= LONGEST_NAME).then(|| self.name.extend_from_slice(piece))
    }

    /// A call begins.
    pub(crate) fn enters(&mut self, opens: bool) {
        (self.is_opening, self.opened) = (opens, None);
        self.given.enters();
    }

    /// A call has opened a file.
    pub(crate) fn opens(&mut self) -> OpenFile {
        self.is_opening = false;
        OpenFile { fd: self.opened.take(), name: std::mem::take(&mut self.name) }
    }
}

/// The name without the prefix that says which driver shall open it (`ufs:data`).
pub(crate) fn without_file_system(name: &[u8]) -> &[u8] {
    const DRIVERS: [&[u8]; 8] =
        [b"ufs:", b"nfs:", b"lustre:", b"gpfs:", b"panfs:", b"pvfs2:", b"testfs:", b"daos:"];
    DRIVERS.iter().find_map(|driver| name.strip_prefix(*driver)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn communicators_are_numbered_in_the_order_of_their_first_use() {
        let mut handles = Handles::default();
        let numbers = [1, 0x84, 2, 0x85, 0x84, 0].map(|handle| handles.communicator(handle));
        assert_eq!(numbers, [Some(0), Some(2), Some(1), Some(3), Some(2), None]);
        assert_eq!(
            (handles.makes(0x84), handles.communicator(0x84)),
            (Some(4), Some(4)),
            "freed and made again"
        );
    }

    #[test]
    fn a_driver_is_no_part_of_a_name() {
        assert_eq!(without_file_system(b"ufs:/data/a:b"), b"/data/a:b");
        assert_eq!(without_file_system(b"c:d"), b"c:d");
        assert!(have_one_name(b"/data/a", b"a") && !have_one_name(b"/data/a", b"data"));
    }
}
