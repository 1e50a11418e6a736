//! What calls that change mounts do to names, of a trace: a recorder tells where names lead, but not what mounts hide.

use crate::operands::Operands;
use crate::process_table::ThreadId;
use crate::state::State;
use crate::symbols::{self, Symbol};
use iotrail_model::{Dictionaries, Event, Nullable, PathId};

impl State {
    /// Follows what a mount does to names.
    pub(crate) fn mount(&mut self, event: &Event, operands: &Operands<'_>, names: &Dictionaries) {
        let has = |symbol: Symbol| operands.has(symbol);
        let changes_none = [
            symbols::MS_REMOUNT,
            symbols::MS_UNBINDABLE,
            symbols::MS_PRIVATE,
            symbols::MS_SLAVE,
            symbols::MS_SHARED,
        ];
        if has(changes_none[0]) {
            return;
        }
        let (binds, moves) = (has(symbols::MS_BIND), has(symbols::MS_MOVE));
        if !binds && changes_none.into_iter().any(has) {
            return;
        }
        let text = |path: Nullable<PathId>| path.get().map(|path| names.paths.get(path.0));
        if !self.source.is_trace {
            text(event.path).into_iter().for_each(|target| self.file_names.namespace.cover(target));
            return;
        }
        let is_clear = match (text(event.path), text(event.path2)) {
            (Some(target), Some(source)) if binds => {
                self.file_names.namespace.bind(target, source, has(symbols::MS_REC))
            }
            (Some(target), Some(source)) if moves => self.file_names.namespace.move_mount(source, target),
            (Some(target), _) if !binds && !moves => self.file_names.namespace.mount(target),
            _ => false,
        };
        self.tally.unclear_mounts += u64::from(!is_clear);
    }

    /// What was mounted there last is not any more.
    pub(crate) fn unmount(&mut self, event: &Event, names: &Dictionaries) {
        let Some(path) = event.path.get().map(|path| names.paths.get(path.0)) else { return };
        if !self.source.is_trace {
            return self.file_names.namespace.uncover(path);
        }
        let seen = self.file_names.namespace.unmount(path);
        self.tally.unclear_mounts += u64::from(!seen);
    }

    /// What a descriptor stands for is mounted: which files lie there is not known.
    pub(crate) fn mount_tree(&mut self, event: &Event, operands: &Operands<'_>, names: &Dictionaries) {
        if !self.source.is_trace {
            return;
        }
        let text = |path: Nullable<PathId>| path.get().map(|path| names.paths.get(path.0));
        let has_source =
            operands.path.is_some_and(|source| source.bytes.is_some_and(|text| !text.is_empty()));
        let source = text(event.path).filter(|_| has_source);
        let namespace = &mut self.file_names.namespace;
        let is_clear = match (source, text(event.path2)) {
            (Some(source), Some(target)) => namespace.move_mount(source, target),
            (None, Some(target)) => namespace.mount(target),
            (_, None) => false,
        };
        if !is_clear {
            namespace.lose_names();
        }
    }

    /// What is mounted somewhere comes to be the root.
    pub(crate) fn pivot(&mut self, event: &Event, names: &Dictionaries) {
        let text = |path: Nullable<PathId>| path.get().map(|path| names.paths.get(path.0));
        let namespace = &mut self.file_names.namespace;
        match (text(event.path), text(event.path2)) {
            (Some(new), Some(put)) => namespace.pivot(new, put),
            _ => namespace.lose_names(),
        }
    }

    /// A thread sees the mounts of a namespace that somebody made, nobody knows who.
    pub(crate) fn sees_other_mounts(&mut self, thread: ThreadId) {
        if self.source.is_trace {
            let directory = self.processes.thread(thread).directory;
            self.part_mounts(directory);
            self.file_names.namespace.mounts.enter(self.directories.get(directory).mounts);
            self.file_names.namespace.lose_names();
        }
    }
}
