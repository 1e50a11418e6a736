//! What the binary interfaces of MPI libraries differ in.

use crate::library::Library;

/// Values of one library.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abi {
    pub(crate) world: usize,
    /// `MPI_COMM_SELF`.
    pub(crate) own: usize,
    /// `MPI_UNDEFINED`.
    pub(crate) undefined: i32,
    pub(crate) byte: usize,
    /// `MPI_BXOR`, which bytes can be reduced with.
    pub(crate) combine: usize,
    pub(crate) no_info: usize,
    pub(crate) errors_return: usize,
    pub(crate) no_status: usize,
    pub(crate) any_source: i32,
    pub(crate) no_process: i32,
    /// What stands before names of files, so that a colon in them is no end of a kind of file system.
    pub(crate) of_file: &'static str,
}

impl Abi {
    /// Those of a library; none if it lacks something.
    pub(crate) fn of(library: &Library) -> Option<Self> {
        let Some(world) = library.address(c"ompi_mpi_comm_world") else {
            return Some(Self {
                world: 0x4400_0000,
                own: 0x4400_0001,
                undefined: -32766,
                byte: 0x4c00_010d,
                combine: 0x5800_000a,
                no_info: 0x1c00_0000,
                errors_return: 0x5400_0001,
                no_status: 1,
                any_source: -2,
                no_process: -1,
                of_file: "ufs:",
            });
        };
        Some(Self {
            world,
            own: library.address(c"ompi_mpi_comm_self")?,
            undefined: -32766,
            byte: library.address(c"ompi_mpi_byte")?,
            combine: library.address(c"ompi_mpi_op_bxor")?,
            no_info: library.address(c"ompi_mpi_info_null")?,
            errors_return: library.address(c"ompi_mpi_errors_return")?,
            no_status: 0,
            any_source: -1,
            no_process: -2,
            of_file: "",
        })
    }

    /// A rank of recordings, where -1 is any and -2 none.
    pub(crate) const fn rank(&self, rank: i32) -> i32 {
        match rank {
            -1 => self.any_source,
            -2 => self.no_process,
            _ => rank,
        }
    }
}
