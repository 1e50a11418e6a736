//! What the binary interfaces of MPI libraries differ in (spec/structure, section 1).

use crate::symbol::{find, invoke};
use std::ffi::CStr;
use std::sync::OnceLock;

/// The library whose conventions the program was compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Abi {
    Mpich,
    OpenMpi,
    /// That of MPI 5.
    Standard,
}

/// Handles of MPICH.
const MPICH_WORLD: usize = 0x4400_0000;
const MPICH_SELF: usize = 0x4400_0001;
const MPICH_NULL: usize = 0x0400_0000;
/// Handles of the standard interface.
const STANDARD_WORLD: usize = 0x101;
const STANDARD_SELF: usize = 0x102;
const STANDARD_NULL: usize = 0x100;

/// A communicator that every process has.
pub(crate) const WORLD: u64 = 1;
pub(crate) const SELF: u64 = 2;

/// Addresses and numbers that stand for something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constants {
    pub(crate) abi: Abi,
    world: usize,
    own: usize,
    /// The communicator that is none.
    none: usize,
}

/// The address of a variable. A program may hold it itself, in place of the library (copy relocation).
fn variable(name: &CStr) -> usize {
    // SAFETY: a name that ends with NUL.
    let first = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if first.is_null() { find(name) as usize } else { first as usize }
}

/// Whether the library says that it has the standard interface. One that has another says version -1, or does not know the question.
fn is_standard() -> bool {
    let ask = find(c"PMPI_Abi_get_version");
    let (mut major, mut minor) = (-1_i32, -1_i32);
    // SAFETY: the function stores two numbers, and may be called at any time.
    !ask.is_null()
        && unsafe { invoke(ask, &[&raw mut major as usize, &raw mut minor as usize]) } as i32 == 0
        && major >= 1
}

impl Constants {
    /// Those of the library that is loaded.
    pub(crate) fn get() -> &'static Self {
        static KNOWN: OnceLock<Constants> = OnceLock::new();
        KNOWN.get_or_init(Self::look_up)
    }

    fn look_up() -> Self {
        let open_mpi = variable(c"ompi_mpi_comm_world");
        if open_mpi != 0 {
            let (own, none) = (variable(c"ompi_mpi_comm_self"), variable(c"ompi_mpi_comm_null"));
            return Self { abi: Abi::OpenMpi, world: open_mpi, own, none };
        }
        if is_standard() {
            let (world, own, none) = (STANDARD_WORLD, STANDARD_SELF, STANDARD_NULL);
            return Self { abi: Abi::Standard, world, own, none };
        }
        Self { abi: Abi::Mpich, world: MPICH_WORLD, own: MPICH_SELF, none: MPICH_NULL }
    }

    /// The number of a communicator in records. Handles are larger than those of the two that every process has.
    pub(crate) fn communicator(&self, handle: usize) -> u64 {
        match handle {
            0 => 0,
            _ if handle == self.world => WORLD,
            _ if handle == self.own => SELF,
            _ => handle as u64,
        }
    }

    /// Whether a handle is that of a communicator.
    pub(crate) fn is_communicator(&self, handle: usize) -> bool {
        handle != 0 && handle != self.none
    }

    /// The handle of `MPI_COMM_WORLD`.
    pub(crate) fn world(&self) -> usize {
        self.world
    }

    /// Whether handles are pointers; if not, they are 32 bits of an argument.
    pub(crate) fn has_wide_handles(&self) -> bool {
        self.abi != Abi::Mpich
    }

    /// Whether this argument says that no status is wanted.
    pub(crate) fn ignores_status(&self, argument: usize) -> bool {
        argument == if self.abi == Abi::Mpich { 1 } else { 0 }
    }

    /// Whether this argument says that what is sent lies where it is received.
    pub(crate) fn is_in_place(&self, argument: usize) -> bool {
        argument == if self.abi == Abi::Mpich { usize::MAX } else { 1 }
    }

    /// A rank in words of our own: -1 is any, -2 none.
    pub(crate) fn rank(&self, rank: i32) -> i32 {
        match (self.abi, rank) {
            (_, 0..) => rank,
            (Abi::Mpich, -2) | (Abi::OpenMpi | Abi::Standard, -1) => -1,
            (Abi::Mpich, -1) | (Abi::OpenMpi, -2) | (Abi::Standard, -3) => -2,
            _ => rank,
        }
    }

    /// A tag in words of our own: -1 is any.
    pub(crate) fn tag(&self, tag: i32) -> i32 {
        tag.max(-1)
    }

    /// Where source and tag stand in a status, in bytes.
    pub(crate) fn source_and_tag(&self) -> (usize, usize) {
        if self.abi == Abi::Mpich { (8, 12) } else { (0, 4) }
    }
}
