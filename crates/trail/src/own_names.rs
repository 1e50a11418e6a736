//! The dictionaries of a part under construction.
//!
//! Rows in buffers must outlive the caller's dictionaries, which are rebuilt while a long trace is read. So each name
//! is translated when its row is pushed, by one look into a table indexed with the caller's id; only a name's first
//! row after a rotation costs a hash.

use iotrail_model::text::path_to_text;
use iotrail_model::{Dictionaries, Event, Interner, NameKind};
use std::convert::Infallible;

const UNTRANSLATED: u32 = u32::MAX;

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
    pub(crate) fn translate(&mut self, event: &Event, names: &Dictionaries) -> Event {
        let mut translate = |kind: NameKind, id| self.column_mut(kind).translate(id, kind.of(names));
        let Ok(own) = event.with_names(|kind, id| Ok::<_, Infallible>(translate(kind, id)));
        own
    }

    /// The caller's ids change their meaning from here on.
    pub(crate) fn forget_translations(&mut self) {
        for dictionary in [&mut self.calls, &mut self.paths, &mut self.errnos, &mut self.flags] {
            dictionary.translation.clear();
        }
    }

    pub(crate) fn column(&self, column: NameKind) -> &OwnDictionary {
        match column {
            NameKind::Call => &self.calls,
            NameKind::Path => &self.paths,
            NameKind::Errno => &self.errnos,
            NameKind::Flags => &self.flags,
        }
    }

    #[inline]
    pub(crate) fn column_mut(&mut self, column: NameKind) -> &mut OwnDictionary {
        match column {
            NameKind::Call => &mut self.calls,
            NameKind::Path => &mut self.paths,
            NameKind::Errno => &mut self.errnos,
            NameKind::Flags => &mut self.flags,
        }
    }
}
