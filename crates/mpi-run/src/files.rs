//! Calls of MPI-IO on files that all ranks of a communicator open together.

use crate::communicators::Communicator;
use crate::messages::Request;
use crate::session::{Mpi, MpiError, words};
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// An open file.
#[derive(Debug)]
pub struct File(usize);

/// How a transfer is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Whether it writes.
    pub writes: bool,
    /// Whether the call names the offset.
    pub at: bool,
    /// Whether all ranks make it together.
    pub all: bool,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMode {
    /// Whether it may be read.
    pub read: bool,
    /// Whether it may be written.
    pub write: bool,
    /// Whether it is made unless it is there.
    pub create: bool,
}

/// Numbers that both libraries share.
const CREATE: usize = 1;
const READ: usize = 2;
const WRITE: usize = 4;
const READ_WRITE: usize = 8;
const FROM_BEGIN: usize = 600;

impl Transfer {
    const fn name(self) -> &'static CStr {
        match (self.writes, self.at, self.all) {
            (false, false, false) => c"MPI_File_read",
            (false, false, true) => c"MPI_File_read_all",
            (false, true, false) => c"MPI_File_read_at",
            (false, true, true) => c"MPI_File_read_at_all",
            (true, false, false) => c"MPI_File_write",
            (true, false, true) => c"MPI_File_write_all",
            (true, true, false) => c"MPI_File_write_at",
            (true, true, true) => c"MPI_File_write_at_all",
        }
    }
}

impl Mpi {
    /// `MPI_File_open`.
    ///
    /// # Errors
    /// If the library answers one.
    pub fn open(&self, comm: Communicator, path: &Path, mode: FileMode) -> Result<File, MpiError> {
        let path = path.as_os_str().as_bytes();
        let kind = if path.contains(&b':') { self.abi.of_file } else { "" };
        let name = CString::new([kind.as_bytes(), path].concat())
            .map_err(|_| MpiError::Failed("MPI_File_open", -1))?;
        let mut file = 0_usize;
        let access = match (mode.read, mode.write) {
            (true, true) => READ_WRITE,
            (false, true) => WRITE,
            (_, false) => READ,
        };
        let mode = access | if mode.create { CREATE } else { 0 };
        let place = &raw mut file as usize;
        self.call(c"MPI_File_open", &[comm.handle, name.as_ptr() as usize, mode, self.abi.no_info, place])?;
        Ok(File(file))
    }

    /// A read or write at an offset in bytes; one that does not name it begins there, too.
    ///
    /// # Errors
    /// If the library answers one, or it moves too much.
    pub fn transfer(
        &self,
        file: &File,
        how: Transfer,
        offset: Option<u64>,
        bytes: u64,
    ) -> Result<(), MpiError> {
        let (name, abi) = (how.name(), &self.abi);
        let count = self.count(name, bytes)?;
        let buffer = if how.writes { self.buffers.sent } else { self.buffers.received };
        if how.at {
            let offset = offset.unwrap_or_default() as usize;
            return self.call(name, &[file.0, offset, buffer, count, abi.byte, abi.no_status]);
        }
        if let Some(offset) = offset {
            self.call(c"MPI_File_seek", &[file.0, offset as usize, FROM_BEGIN])?;
        }
        self.call(name, &[file.0, buffer, count, abi.byte, abi.no_status])
    }

    /// `MPI_File_iread_at`, `MPI_File_iwrite_at`.
    ///
    /// # Errors
    /// If the library answers one, or it moves too much.
    pub fn begin_transfer(
        &self,
        file: &File,
        writes: bool,
        offset: u64,
        bytes: u64,
    ) -> Result<Request, MpiError> {
        let name = if writes { c"MPI_File_iwrite_at" } else { c"MPI_File_iread_at" };
        let count = self.count(name, bytes)?;
        let buffer = if writes { self.buffers.sent } else { self.buffers.received };
        let mut request = 0_usize;
        let place = &raw mut request as usize;
        self.call(name, &[file.0, offset as usize, buffer, count, self.abi.byte, place])?;
        Ok(Request(request))
    }

    /// Reads at an offset in bytes, alone or together with all ranks of the file's communicator. Answers how many bytes it read.
    ///
    /// # Errors
    /// If the library answers one, or it moves too much.
    pub fn read_at(&self, file: &File, all: bool, offset: u64, bytes: &mut [u8]) -> Result<u64, MpiError> {
        self.moved(
            file,
            Transfer { writes: false, at: true, all },
            offset,
            (bytes.as_mut_ptr() as usize, bytes.len()),
        )
    }

    /// The same of writes.
    ///
    /// # Errors
    /// If the library answers one, or it moves too much.
    pub fn write_at(&self, file: &File, all: bool, offset: u64, bytes: &[u8]) -> Result<u64, MpiError> {
        self.moved(
            file,
            Transfer { writes: true, at: true, all },
            offset,
            (bytes.as_ptr() as usize, bytes.len()),
        )
    }

    /// Moves bytes at an address, and asks how many it were.
    fn moved(
        &self,
        file: &File,
        how: Transfer,
        offset: u64,
        (address, bytes): (usize, usize),
    ) -> Result<u64, MpiError> {
        let (name, abi) = (how.name(), &self.abi);
        if i32::try_from(bytes).is_err() {
            return Err(MpiError::TooLarge(words(name), bytes as u64));
        }
        // Each library's status is smaller.
        let mut status = [0_u64; 16];
        let status = status.as_mut_ptr() as usize;
        self.call(name, &[file.0, offset as usize, address, bytes, abi.byte, status])?;
        let mut count = 0_i32;
        self.call(c"MPI_Get_count", &[status, abi.byte, &raw mut count as usize])?;
        Ok(u64::from(count.unsigned_abs()))
    }

    /// `MPI_File_set_size`.
    ///
    /// # Errors
    /// If the library answers one.
    pub fn set_size(&self, file: &File, bytes: u64) -> Result<(), MpiError> {
        self.call(c"MPI_File_set_size", &[file.0, bytes as usize])
    }

    /// `MPI_File_get_size`, in bytes.
    ///
    /// # Errors
    /// If the library answers one.
    pub fn file_size(&self, file: &File) -> Result<u64, MpiError> {
        let mut bytes = 0_i64;
        self.call(c"MPI_File_get_size", &[file.0, &raw mut bytes as usize])?;
        Ok(bytes.unsigned_abs())
    }

    /// `MPI_File_sync`.
    ///
    /// # Errors
    /// If the library answers one.
    pub fn sync(&self, file: &File) -> Result<(), MpiError> {
        self.call(c"MPI_File_sync", &[file.0])
    }

    /// `MPI_File_close`.
    ///
    /// # Errors
    /// If the library answers one.
    pub fn close(&self, mut file: File) -> Result<(), MpiError> {
        self.call(c"MPI_File_close", &[&raw mut file.0 as usize])
    }
}
