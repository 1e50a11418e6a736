//! The arguments of a call by their meaning, whichever language it was made in.

use crate::abi::Constants;
use crate::hook::Language;
use crate::symbol::{find, invoke};
use iotrail_mpi_abi::{NONE, Roles};
use std::ffi::{CStr, c_void};

/// More bytes than the status of any library.
pub(crate) const STATUS_BYTES: usize = 64;

/// Arguments that Fortran has behind those of C: the error code, and lengths of texts.
const OF_FORTRAN: usize = 3;

/// Tells handles of Fortran from addresses.
const OF_FORTRAN_HANDLE: u64 = 1 << 63;

/// Arguments and what they mean.
pub(crate) struct Arguments<'a> {
    pub(crate) constants: &'static Constants,
    pub(crate) roles: &'static Roles,
    pub(crate) language: Language,
    pub(crate) values: &'a mut [usize],
}

/// A type of handle, by the function that makes one of Fortran's.
#[derive(Clone, Copy)]
pub(crate) enum Handle {
    Communicator,
    Datatype,
    File,
}

impl Handle {
    const fn converter(self) -> &'static CStr {
        match self {
            Self::Communicator => c"PMPI_Comm_f2c",
            Self::Datatype => c"PMPI_Type_f2c",
            Self::File => c"PMPI_File_f2c",
        }
    }
}

impl Arguments<'_> {
    /// The argument at a place, if the function has one there.
    fn at(&self, place: u8) -> Option<usize> {
        (place != NONE).then(|| self.values.get(usize::from(place)).copied()).flatten()
    }

    /// A number.
    pub(crate) fn int(&self, place: u8) -> Option<i32> {
        let value = self.at(place)?;
        // SAFETY: Fortran gives numbers by reference.
        (self.language == Language::C).then_some(value as i32).or_else(|| unsafe { read(value) })
    }

    /// A count of elements.
    pub(crate) fn count(&self, place: u8) -> Option<i64> {
        let value = self.at(place)?;
        match (self.language, self.roles.large) {
            (Language::C, true) => Some(value as i64),
            (Language::C, false) => Some(i64::from(value as i32)),
            (Language::Fortran, _) => self.int(place).map(i64::from),
        }
    }

    /// An offset in a file.
    pub(crate) fn offset(&self, place: u8) -> Option<i64> {
        let value = self.at(place)?;
        // SAFETY: Fortran gives numbers by reference; these have 64 bits.
        (self.language == Language::C).then_some(value as i64).or_else(|| unsafe { read(value) })
    }

    /// An address.
    pub(crate) fn address(&self, place: u8) -> Option<usize> {
        self.at(place)
    }

    /// Where Fortran stores the error code.
    pub(crate) fn error_address(&self) -> Option<usize> {
        self.values.len().checked_sub(OF_FORTRAN).and_then(|place| self.values.get(place).copied())
    }

    /// The length of the text that Fortran gave; of functions with one text.
    pub(crate) fn text_length(&self) -> Option<usize> {
        let place = self.values.len().checked_sub(OF_FORTRAN)? + 1;
        self.values.get(place).copied()
    }

    /// A handle as C has it; of one that is given by reference, what it is before the call.
    pub(crate) fn handle(&self, place: u8, kind: Handle) -> Option<usize> {
        let value = self.at(place)?;
        if self.language == Language::Fortran {
            // SAFETY: Fortran gives handles, which are numbers there, by reference.
            let number: i32 = unsafe { read(value) }?;
            if !self.is_wide(kind) {
                // The same number in both languages.
                return Some(number as u32 as usize);
            }
            let convert = find(kind.converter());
            if convert.is_null() {
                return None;
            }
            // SAFETY: the function takes a handle of Fortran and answers that of C.
            return Some(self.narrow(unsafe { invoke(convert, &[number as usize]) }, kind));
        }
        if !self.roles.by_reference {
            return Some(self.narrow(value, kind));
        }
        self.stored(value, kind)
    }

    /// The handle that C has stored at an address.
    pub(crate) fn stored(&self, address: usize, kind: Handle) -> Option<usize> {
        if self.is_wide(kind) {
            // SAFETY: where a handle is stored, or NULL.
            return unsafe { read(address) };
        }
        // SAFETY: as above.
        unsafe { read::<u32>(address) }.map(|handle| handle as usize)
    }

    /// The request at an address. Those of Fortran are numbers of their own where handles of C are addresses.
    pub(crate) fn request(&self, address: usize, place: usize) -> u64 {
        let is_wide = self.constants.has_wide_handles();
        if is_wide && self.language == Language::C {
            // SAFETY: where a handle is stored.
            return unsafe { read::<u64>(address + 8 * place) }.unwrap_or(0);
        }
        // SAFETY: as above.
        let number = unsafe { read::<u32>(address + 4 * place) }.map_or(0, u64::from);
        if is_wide { number | OF_FORTRAN_HANDLE } else { number }
    }

    /// A number that the call has stored, or one of those it has stored side by side.
    pub(crate) fn stored_int(&self, role: u8, place: usize) -> Option<i32> {
        let address = self.at(role).filter(|address| *address != 0)?;
        // SAFETY: where numbers are stored.
        unsafe { read(address + 4 * place) }
    }

    fn is_wide(&self, kind: Handle) -> bool {
        self.constants.has_wide_handles() || matches!(kind, Handle::File)
    }

    fn narrow(&self, value: usize, kind: Handle) -> usize {
        if self.is_wide(kind) { value } else { value as u32 as usize }
    }

    /// Bytes of as many elements of a type as an array of counts comes to, one for each of so many ranks.
    pub(crate) fn bytes_of_all(&self, counts: u8, ranks: usize, datatype: u8) -> Option<i64> {
        let address = self.at(counts).filter(|address| *address != 0)?;
        let mut sum = 0_i64;
        for rank in 0..ranks {
            let count = if self.roles.large && self.language == Language::C {
                // SAFETY: an array of so many counts.
                unsafe { read::<i64>(address + 8 * rank) }?
            } else {
                // SAFETY: as above.
                i64::from(unsafe { read::<i32>(address + 4 * rank) }?)
            };
            sum = sum.checked_add(count)?;
        }
        if sum == 0 {
            return Some(0);
        }
        sum.checked_mul(size_of_type(self.handle(datatype, Handle::Datatype)?)?)
    }

    /// Bytes of so many elements of a type; `None` if that is unknown.
    pub(crate) fn bytes(&self, count: u8, datatype: u8) -> Option<i64> {
        let count = self.count(count)?;
        if count == 0 {
            return Some(0);
        }
        count.checked_mul(size_of_type(self.handle(datatype, Handle::Datatype)?)?)
    }
}

/// What lies at an address, if it is not NULL.
///
/// # Safety
/// If it is not NULL a value of that type must lie there.
pub(crate) unsafe fn read<T: Copy>(address: usize) -> Option<T> {
    // SAFETY: as the caller promises.
    (address != 0).then(|| unsafe { (address as *const T).read_unaligned() })
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident = $symbol:literal;)*) => {
        $($(#[$doc])*
        pub(crate) fn $name() -> Option<*mut c_void> {
            static FOUND: crate::symbol::Symbol = crate::symbol::Symbol::new($symbol);
            let found = FOUND.address();
            (!found.is_null()).then_some(found)
        })*
    };
}

functions! {
    type_size = c"PMPI_Type_size";
    get_count = c"PMPI_Get_count";
    error_class_of = c"PMPI_Error_class";
    comm_rank = c"PMPI_Comm_rank";
    comm_size = c"PMPI_Comm_size";
    comm_test_inter = c"PMPI_Comm_test_inter";
    comm_group = c"PMPI_Comm_group";
    group_free = c"PMPI_Group_free";
    translate_ranks = c"PMPI_Group_translate_ranks";
    file_get_position = c"PMPI_File_get_position";
    file_get_byte_offset = c"PMPI_File_get_byte_offset";
}

/// Asks the library for a number about a handle.
fn ask(function: Option<*mut c_void>, handle: usize) -> Option<i32> {
    let mut answer = -1_i32;
    // SAFETY: the function takes a handle and where to store a number.
    let status = unsafe { invoke(function?, &[handle, &raw mut answer as usize]) };
    (status as i32 == 0).then_some(answer)
}

/// Bytes of an element.
fn size_of_type(datatype: usize) -> Option<i64> {
    ask(type_size(), datatype).filter(|size| *size >= 0).map(i64::from)
}

/// The own rank in a communicator.
pub(crate) fn rank_in(comm: usize) -> Option<i32> {
    ask(comm_rank(), comm)
}

/// Ranks of a communicator.
pub(crate) fn size_of(comm: usize) -> Option<i32> {
    ask(comm_size(), comm)
}

/// Whether a communicator joins two groups.
pub(crate) fn is_inter(comm: usize) -> bool {
    ask(comm_test_inter(), comm) != Some(0)
}

/// The rank in the group of `world` of the first rank of a communicator.
pub(crate) fn first_of(comm: usize, world: usize) -> Option<i32> {
    let group = |comm: usize| {
        let mut group = 0_usize;
        // SAFETY: the function takes a communicator and where to store a handle, which is not larger.
        let status = unsafe { invoke(comm_group()?, &[comm, &raw mut group as usize]) };
        (status as i32 == 0).then_some(group)
    };
    let (mut own, mut all) = (group(comm)?, group(world)?);
    let (first, mut found) = (0_i32, -1_i32);
    let arguments = [own, 1, &raw const first as usize, all, &raw mut found as usize];
    // SAFETY: two groups, a rank of the first, and where to store what it is in the second.
    let status = unsafe { invoke(translate_ranks()?, &arguments) };
    for group in [&raw mut own, &raw mut all] {
        // SAFETY: where a group is stored that was made above.
        unsafe { invoke(group_free()?, &[group as usize]) };
    }
    (status as i32 == 0 && found >= 0).then_some(found)
}

/// The class of an error.
pub(crate) fn error_class(code: i32) -> Option<i32> {
    ask(error_class_of(), code as usize)
}

/// Elements of a type that a status tells of.
pub(crate) fn elements(status: usize, datatype: usize) -> Option<i64> {
    let mut count = -1_i32;
    // SAFETY: a status that the library has filled, a type, and where to store the number.
    let result = unsafe { invoke(get_count()?, &[status, datatype, &raw mut count as usize]) };
    (result as i32 == 0 && count >= 0).then_some(i64::from(count))
}

/// Bytes of these elements.
pub(crate) fn bytes_of(status: usize, datatype: usize) -> Option<i64> {
    elements(status, datatype)?.checked_mul(size_of_type(datatype)?)
}

/// Where the process stands in a file, in units of its view.
pub(crate) fn own_position(file: usize) -> Option<i64> {
    let mut position = -1_i64;
    // SAFETY: a file, and where to store the number.
    let status = unsafe { invoke(file_get_position()?, &[file, &raw mut position as usize]) };
    (status as i32 == 0 && position >= 0).then_some(position)
}

/// The byte of the file at a place of its view.
pub(crate) fn byte_at(file: usize, position: i64) -> Option<i64> {
    let mut byte = -1_i64;
    // SAFETY: a file, a place, and where to store the number.
    let status =
        unsafe { invoke(file_get_byte_offset()?, &[file, position as usize, &raw mut byte as usize]) };
    (status as i32 == 0 && byte >= 0).then_some(byte)
}
