//! What is replayed: the owners of what the kernel has by now, side by side.
//!
//! Each owner knows its own rules and none of the others. What concerns several of them lies above, each file using only those
//! before it: [`crate::lookup`] (what paths mean), [`crate::identity`] (which files), [`crate::lifecycle`] (threads and processes),
//! [`crate::image`], [`crate::making`] and [`crate::apply`] (what calls change), [`crate::call`] (events).

use crate::address_spaces::AddressSpaces;
use crate::cases::Cases;
use crate::creations::Creations;
use crate::descriptor_tables::{DescriptionId, DescriptorTables, TableId};
use crate::directories::Directories;
use crate::effect::Effects;
use crate::file_names::FileNames;
use crate::open_files::Holders;
use crate::operands::FdArg;
use crate::probes::Probes;
use crate::process_table::ProcessTable;
use crate::ring_files::RingFiles;
use crate::source::Source;
use crate::tally::Tally;
use crate::unshown::Unshown;
use iotrail_model::{Dictionaries, FileId, Interner, Nullable, PathId, Tid};

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) source: Source,
    pub(crate) effects: Effects,
    pub(crate) processes: ProcessTable,
    pub(crate) creations: Creations,
    pub(crate) descriptors: DescriptorTables,
    pub(crate) directories: Directories,
    pub(crate) spaces: AddressSpaces,
    pub(crate) file_names: FileNames,
    pub(crate) ring_files: RingFiles,
    pub(crate) probes: Probes,
    /// Descriptors of threads whose next call is on something that cannot be known.
    pub(crate) uncertain: Vec<(Tid, i32)>,
    pub(crate) cases: Cases,
    pub(crate) tally: Tally,
    /// Whether calls of the trace could not be read.
    pub(crate) gaps: bool,
    pub(crate) unshown: Unshown,
    pub(crate) scratch: Vec<u8>,
}

impl State {
    pub(crate) fn new(source: Source) -> Self {
        Self {
            source,
            descriptors: DescriptorTables::new(source),
            file_names: FileNames::new(source),
            ..Self::default()
        }
    }

    /// What a descriptor argument stands for. With `exists` it gets a description if it had none.
    #[inline]
    pub(crate) fn description_of(
        &mut self,
        table: TableId,
        fd: FdArg<'_>,
        exists: bool,
        names: &mut Dictionaries,
    ) -> Option<DescriptionId> {
        self.descriptors.description_of(table, fd, exists, &mut self.file_names, names)
    }

    /// Gives a description the name that its file has by now.
    #[inline]
    pub(crate) fn follow_renames(&mut self, id: DescriptionId, names: &mut Dictionaries) {
        self.descriptors.follow_renames(id, &mut self.file_names, names);
    }

    /// The file that a description stands for.
    pub(crate) fn file_of(&mut self, id: DescriptionId, names: &mut Dictionaries) -> Nullable<FileId> {
        self.descriptors.file_of(id, &mut self.file_names, names)
    }

    /// Who holds open file descriptions beside tables and messages.
    pub(crate) fn holders(&self) -> Holders<'_> {
        Holders { spaces: &self.spaces, processes: &self.processes }
    }

    /// Frees descriptions that nobody holds.
    pub(crate) fn sweep(&mut self) {
        let held = self.processes.in_flight().chain(self.spaces.descriptions());
        self.descriptors.sweep(held);
    }

    /// Rebuilds `names.paths` with the paths that are still needed.
    pub(crate) fn rotate(&mut self, names: &mut Dictionaries) {
        self.sweep();
        let mut paths = Interner::new();
        let needed = self
            .descriptors
            .paths_mut()
            .chain(self.directories.paths_mut())
            .chain(self.processes.paths_mut())
            .chain(self.unshown.paths_mut());
        for needed in needed {
            if let Some(path) = needed.get() {
                *needed = Nullable::some(PathId(paths.intern(names.paths.get(path.0))));
            }
        }
        names.paths = paths;
        self.file_names.namespace.rotate();
    }
}
