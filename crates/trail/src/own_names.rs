//! The dictionaries of a part under construction.
//!
//! Rows in buffers must outlive the caller's dictionaries, which are rebuilt while a long trace is read. So each name
//! is translated when its row is pushed, by one look into a table indexed with the caller's id; only a name's first
//! row after a rotation costs a hash.

use iotrail_model::text::path_to_text;
use iotrail_model::{Dictionaries, Event, Interner, Nullable};

const UNTRANSLATED: u32 = u32::MAX;

/// A column of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameColumn {
    Call,
    Path,
    Errno,
    Flags,
}

/// One dictionary with its translation from the caller's ids; it holds texts, not bytes.
#[derive(Debug, Default)]
pub(crate) struct OwnDictionary {
    names: Interner,
    translation: Vec<u32>,
}

impl OwnDictionary {
    #[inline]
    fn translate(&mut self, id: u32, source: &Interner) -> u32 {
        match self.translation.get(id as usize) {
            Some(&own) if own != UNTRANSLATED => own,
            _ => self.learn(id, source),
        }
    }

    #[cold]
    fn learn(&mut self, id: u32, source: &Interner) -> u32 {
        let own = self.names.intern(path_to_text(source.get(id)).as_bytes());
        if self.translation.len() <= id as usize {
            self.translation.resize((id as usize + 1).max(source.len()), UNTRANSLATED);
        }
        self.translation[id as usize] = own;
        own
    }

    pub(crate) fn text(&self, id: u32) -> &[u8] {
        self.names.get(id)
    }

    pub(crate) fn intern(&mut self, text: &str) -> u32 {
        self.names.intern(text.as_bytes())
    }

    /// The same for the text of another dictionary.
    pub(crate) fn intern_bytes(&mut self, text: &[u8]) -> u32 {
        self.names.intern(text)
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.names.memory() + self.translation.capacity() * size_of::<u32>()
    }

    /// Starts anew: no id given out so far has a meaning any more.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.names.iter()
    }
}

/// All dictionaries of a part.
#[derive(Debug, Default)]
pub(crate) struct OwnNames {
    pub(crate) calls: OwnDictionary,
    pub(crate) paths: OwnDictionary,
    pub(crate) errnos: OwnDictionary,
    pub(crate) flags: OwnDictionary,
}

impl OwnNames {
    /// `event` with ids of these dictionaries.
    #[inline]
    pub(crate) fn adopt(&mut self, event: &Event, names: &Dictionaries) -> Event {
        let mut own = *event;
        own.call.0 = self.calls.translate(event.call.0, &names.calls);
        if let Some(path) = event.path.get() {
            own.path = Nullable::some(iotrail_model::PathId(self.paths.translate(path.0, &names.paths)));
        }
        if let Some(path) = event.path2.get() {
            own.path2 = Nullable::some(iotrail_model::PathId(self.paths.translate(path.0, &names.paths)));
        }
        if let Some(errno) = event.errno.get() {
            own.errno = Nullable::some(iotrail_model::ErrnoId(self.errnos.translate(errno.0, &names.errnos)));
        }
        if let Some(flags) = event.flags.get() {
            own.flags = Nullable::some(iotrail_model::FlagsId(self.flags.translate(flags.0, &names.flags)));
        }
        own
    }

    /// The caller's ids change their meaning from here on.
    pub(crate) fn forget_translations(&mut self) {
        for dictionary in [&mut self.calls, &mut self.paths, &mut self.errnos, &mut self.flags] {
            dictionary.translation.clear();
        }
    }

    pub(crate) fn column(&self, column: NameColumn) -> &OwnDictionary {
        match column {
            NameColumn::Call => &self.calls,
            NameColumn::Path => &self.paths,
            NameColumn::Errno => &self.errnos,
            NameColumn::Flags => &self.flags,
        }
    }

    pub(crate) fn column_mut(&mut self, column: NameColumn) -> &mut OwnDictionary {
        match column {
            NameColumn::Call => &mut self.calls,
            NameColumn::Path => &mut self.paths,
            NameColumn::Errno => &mut self.errnos,
            NameColumn::Flags => &mut self.flags,
        }
    }
}
