//! What is loaded at an address.

use libc::{PT_LOAD, PT_NOTE, c_int, dl_iterate_phdr, dl_phdr_info};
use std::ffi::{CStr, c_void};
use std::ops::Range;

/// A program or library that is loaded.
#[derive(Clone, Copy)]
pub(crate) struct Module<'a> {
    /// What addresses of its file are less than those in memory.
    pub(crate) base: usize,
    /// First and last address.
    bounds: (usize, usize),
    /// Its path; empty of the program itself.
    pub(crate) path: &'a [u8],
    /// Its build ID, empty if it has none.
    pub(crate) build_id: &'a [u8],
}

/// Names with which libraries of MPI begin, those of their Fortran interfaces among them, and how these go on.
const OF_MPI: [&[u8]; 2] = [b"libmpi", b"libpmpi"];
const THEN: [&[u8]; 5] = [b".", b"_", b"ch", b"cxx", b"fort"];
/// How that of C is called.
const OF_C: [&[u8]; 2] = [b"libc.so", b"libc-"];

impl Module<'_> {
    /// Its addresses.
    pub(crate) fn range(&self) -> Range<usize> {
        self.bounds.0..self.bounds.1
    }

    /// Whether it is the program.
    pub(crate) fn is_program(&self) -> bool {
        self.path.is_empty()
    }

    /// Whether it is a library of MPI.
    pub(crate) fn is_of_mpi(&self) -> bool {
        let rest = OF_MPI.iter().find_map(|prefix| self.name().strip_prefix(*prefix));
        rest.is_some_and(|rest| THEN.iter().any(|then| rest.starts_with(then)))
    }

    /// Whether it is the library of C.
    pub(crate) fn is_of_c(&self) -> bool {
        OF_C.iter().any(|prefix| self.name().starts_with(prefix))
    }

    fn name(&self) -> &[u8] {
        self.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
    }
}

struct Search<'a> {
    address: usize,
    found: Option<Module<'a>>,
}

/// The module at an address. What it refers to stays as long as the module is loaded.
pub(crate) fn module_of<'a>(address: usize) -> Option<Module<'a>> {
    let mut search = Search { address, found: None };
    // SAFETY: `look` gets the search that lives until the call returns.
    unsafe { dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.found
}

unsafe extern "C" fn look(info: *mut dl_phdr_info, _size: usize, search: *mut c_void) -> c_int {
    // SAFETY: what the dynamic linker and `module_of` hand over.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search<'_>>()) };
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the headers of a loaded object.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let base = info.dlpi_addr as usize;
    let of = |header: &libc::Elf64_Phdr| {
        let start = base.wrapping_add(header.p_vaddr as usize);
        start..start.wrapping_add(header.p_memsz as usize)
    };
    let loaded = headers.iter().filter(|header| header.p_type == PT_LOAD);
    if !loaded.clone().any(|header| of(header).contains(&search.address)) {
        return 0;
    }
    let path = match info.dlpi_name.is_null() {
        true => &[],
        // SAFETY: names end with NUL.
        false => unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes(),
    };
    let notes = headers.iter().filter(|header| header.p_type == PT_NOTE).map(of);
    let within = |notes: &Range<usize>| {
        loaded.clone().any(|header| of(header).start <= notes.start && notes.end <= of(header).end)
    };
    let build_id = notes.filter(within).find_map(|notes| {
        // SAFETY: a part of a loaded segment, which can be read.
        build_id(unsafe { std::slice::from_raw_parts(notes.start as *const u8, notes.len()) })
    });
    let start = loaded.clone().map(|header| of(header).start).min().unwrap_or(0);
    let end = loaded.clone().map(|header| of(header).end).max().unwrap_or(0);
    search.found = Some(Module { base, bounds: (start, end), path, build_id: build_id.unwrap_or_default() });
    1
}

/// The build ID among notes (`man 5 elf`).
fn build_id(mut notes: &[u8]) -> Option<&[u8]> {
    const BUILD_ID: u32 = 3;
    loop {
        let (head, rest) = notes.split_at_checked(12)?;
        let number = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (name, size) = (number(0) as usize, number(4) as usize);
        let (owner, rest) = rest.split_at_checked(name.next_multiple_of(4))?;
        if number(8) == BUILD_ID && owner.starts_with(b"GNU\0") {
            return rest.get(..size);
        }
        notes = rest.get(size.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_of_a_function_is_that_which_has_it() {
        let own = module_of(module_of as *const () as usize).unwrap();
        assert!(own.is_program() && own.range().contains(&(look as *const () as usize)));
        let other = module_of(libc::strlen as *const () as usize).unwrap();
        assert!(!other.is_of_mpi() && !other.is_program());
        assert!(module_of(1).is_none());
    }

    #[test]
    fn libraries_are_known_by_their_names() {
        let of = |path| Module { base: 0, bounds: (0, 0), path, build_id: &[] };
        assert!(of(b"/usr/lib/libmpi_mpifh.so.40").is_of_mpi() && of(b"/lib/libc.so.6").is_of_c());
        assert!(of(b"/usr/lib/libmpichfort.so.12").is_of_mpi() && !of(b"/opt/libmpiutils.so").is_of_mpi());
        assert!(!of(b"/libmpi/app").is_of_mpi() && !of(b"").is_of_c());
    }

    #[test]
    fn a_build_id_is_found_among_other_notes_and_cut_ones_have_none() {
        let note = |kind: u32, text: &[u8]| {
            let sizes = [4, text.len() as u32, kind].map(u32::to_ne_bytes).concat();
            [&sizes[..], b"GNU\0", text, &vec![0; text.len().next_multiple_of(4) - text.len()]].concat()
        };
        let notes = [note(1, b"12345"), note(3, b"abc")].concat();
        assert_eq!(build_id(&notes), Some(&b"abc"[..]));
        assert!((0..notes.len() - 4).all(|length| build_id(&notes[..length]).is_none()));
        assert_eq!(build_id(&[0xff; 40]), None);
    }
}
