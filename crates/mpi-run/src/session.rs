//! From `MPI_Init_thread` to `MPI_Finalize`.

use crate::abi::Abi;
use crate::library::{Library, LoadError};
use std::ffi::CStr;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MpiError {
    /// The library answered an error.
    #[error("{0} failed with error {1}")]
    Failed(&'static str, i32),
    /// The same, as the library says it.
    #[error("{0} failed: {1}")]
    Answered(&'static str, String),
    /// The library has no such function.
    #[error("the MPI library lacks {0}")]
    Lacks(&'static str),
    /// It moves more than the buffers hold, or than an `int` counts.
    #[error("{0} moves {1} bytes, more than the buffers hold")]
    TooLarge(&'static str, u64),
}

/// No library's errors are longer (`MPI_MAX_ERROR_STRING` is 256, 512 or 1024), and each ends its text with NUL.
const MAX_ERROR_STRING: usize = 4096;

/// How threads may call (`MPI_THREAD_MULTIPLE`).
const MULTIPLE: usize = 3;

/// What sends read and receives write.
#[derive(Debug)]
pub(crate) struct Buffers {
    pub(crate) sent: usize,
    pub(crate) received: usize,
    pub(crate) bytes: u64,
}

/// A process that may use MPI.
#[derive(Debug)]
pub struct Mpi {
    library: Library,
    pub(crate) abi: Abi,
    pub(crate) buffers: Buffers,
    rank: i32,
    size: i32,
}

impl Mpi {
    /// Begins to use MPI, with buffers of so many bytes, which stay until the process ends.
    ///
    /// # Errors
    /// If the library lacks something or fails.
    pub fn begin(library: Library, bytes: u64) -> Result<Self, LoadError> {
        let abi = Abi::of(&library).ok_or_else(|| LoadError::Lacks("predefined handles".to_owned()))?;
        // No call counts more.
        let bytes = bytes.min(i32::MAX as u64);
        let buffer =
            || Box::leak(vec![0x5a_u8; bytes as usize + 64].into_boxed_slice()).as_mut_ptr() as usize;
        let buffers = Buffers { sent: buffer(), received: buffer(), bytes };
        let mut mpi = Self { library, abi, buffers, rank: 0, size: 0 };
        let failed = |error: MpiError| match error {
            MpiError::Lacks(name) => LoadError::Lacks(name.to_owned()),
            other => LoadError::Begin(other),
        };
        let mut provided = 0_i32;
        mpi.call(c"MPI_Init_thread", &[0, 0, MULTIPLE, &raw mut provided as usize]).map_err(failed)?;
        mpi.call(c"MPI_Comm_set_errhandler", &[abi.world, abi.errors_return]).map_err(failed)?;
        let (mut rank, mut size) = (0_i32, 0_i32);
        mpi.call(c"MPI_Comm_rank", &[abi.world, &raw mut rank as usize]).map_err(failed)?;
        mpi.call(c"MPI_Comm_size", &[abi.world, &raw mut size as usize]).map_err(failed)?;
        (mpi.rank, mpi.size) = (rank, size);
        Ok(mpi)
    }

    /// The own rank in `MPI_COMM_WORLD`.
    #[must_use]
    pub const fn rank(&self) -> u32 {
        self.rank as u32
    }

    /// Ranks of `MPI_COMM_WORLD`.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.size as u32
    }

    /// Ends the use of MPI.
    ///
    /// # Errors
    /// If the library answers one.
    pub fn end(&self) -> Result<(), MpiError> {
        self.call(c"MPI_Finalize", &[])
    }

    /// Ends all ranks at once.
    pub fn abort(&self) {
        let _ = self.call(c"MPI_Abort", &[self.abi.world, 1]);
    }

    /// A number of bytes as an `int`, if the buffers hold that.
    pub(crate) fn count(&self, name: &'static CStr, bytes: u64) -> Result<usize, MpiError> {
        if bytes > self.buffers.bytes || bytes > i32::MAX as u64 {
            return Err(MpiError::TooLarge(words(name), bytes));
        }
        Ok(bytes as usize)
    }

    /// Calls a function of the library by its name: callers pass arguments as its declaration has them, and memory that stays until it returns,
    /// or that is never given back.
    pub(crate) fn call(&self, name: &'static CStr, arguments: &[usize]) -> Result<(), MpiError> {
        match self.answer(name, arguments)? {
            0 => Ok(()),
            code => Err(self.described(name, code)),
        }
    }

    /// An error of the library in its words, on one line.
    fn described(&self, name: &'static CStr, code: i32) -> MpiError {
        let (mut text, mut length) = ([0_u8; MAX_ERROR_STRING], 0_i32);
        let places = [int(code), text.as_mut_ptr() as usize, &raw mut length as usize];
        let said = self.answer(c"MPI_Error_string", &places);
        let text = text.get(..length.unsigned_abs() as usize).unwrap_or_default();
        let text = String::from_utf8_lossy(text).split_whitespace().collect::<Vec<_>>().join(" ");
        match said {
            Ok(0) if !text.is_empty() => MpiError::Answered(words(name), text),
            _ => MpiError::Failed(words(name), code),
        }
    }

    /// What a function of the library answers.
    fn answer(&self, name: &'static CStr, arguments: &[usize]) -> Result<i32, MpiError> {
        let address = self.library.function(name).ok_or(MpiError::Lacks(words(name)))?;
        let mut all = [0_usize; 12];
        all.iter_mut().zip(arguments).for_each(|(place, argument)| *place = *argument);
        type Function = unsafe extern "C" fn(
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
            usize,
        ) -> i32;
        // SAFETY: an address of a function that takes integers and pointers. What is passed behind its last one is not looked at.
        let function = unsafe { std::mem::transmute::<usize, Function>(address) };
        let [a, b, c, d, e, f, g, h, i, j, k, l] = all;
        // SAFETY: as callers promise.
        Ok(unsafe { function(a, b, c, d, e, f, g, h, i, j, k, l) })
    }
}

pub(crate) fn words(name: &'static CStr) -> &'static str {
    name.to_str().unwrap_or_default()
}

/// A number as an argument.
pub(crate) const fn int(number: i32) -> usize {
    number as u32 as usize
}
