//! The names that a piece defines, as a reader meets them.

use crate::format::MAX_NAMES;
use iotrail_model::varint::Cursor;
use iotrail_model::{Dictionaries, Event, NameKind};
use std::convert::Infallible;

/// Bytes of names beyond which a reader begins with new dictionaries.
const MAX_MEMORY: usize = 8 << 20;
const UNDEFINED: u32 = u32::MAX;
/// Stands for a call whose name was lost.
const LOST_CALL: &[u8] = b"?";

/// The piece's ids and the reader's.
#[derive(Debug, Default)]
pub(crate) struct PieceNames {
    names: Dictionaries,
    ids: [Vec<u32>; 4],
    /// Names that were asked for and are not defined.
    lost: u64,
}

impl PieceNames {
    /// The dictionaries that ids of events refer to.
    pub(crate) fn dictionaries(&self) -> &Dictionaries {
        &self.names
    }

    /// Forgets the piece's ids. Answers whether the reader's ids begin anew as well.
    pub(crate) fn begin_piece(&mut self) -> bool {
        self.ids.iter_mut().for_each(Vec::clear);
        self.lost = 0;
        let is_large = self.names.paths.memory() + self.names.flags.memory() > MAX_MEMORY;
        if is_large {
            self.names = Dictionaries::default();
        }
        is_large
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// Takes the definition in `from`. `base` is the last path that the block defined.
    pub(crate) fn define(&mut self, from: &mut Cursor<'_>, base: &mut Vec<u8>) -> Option<()> {
        let column = *NameKind::ALL.get(usize::from(from.byte()?))?;
        let local = from.small().filter(|id| *id < MAX_NAMES)? as usize;
        let shared = usize::try_from(from.number()?).ok()?;
        let dictionary = column.of_mut(&mut self.names);
        let id = match column {
            NameKind::Path => {
                if shared > base.len() {
                    return None;
                }
                base.truncate(shared);
                base.extend_from_slice(from.0);
                dictionary.intern(base)
            }
            _ => dictionary.intern(from.0),
        };
        let ids = &mut self.ids[column as usize];
        if ids.len() <= local {
            ids.resize(local + 1, UNDEFINED);
        }
        ids[local] = id;
        Some(())
    }

    fn id(&mut self, column: NameKind, local: u32) -> Option<u32> {
        let id = self.ids[column as usize].get(local as usize).copied().filter(|id| *id != UNDEFINED);
        self.lost += u64::from(id.is_none());
        id
    }

    /// The bytes of a path.
    pub(crate) fn path(&mut self, local: u32) -> Option<&[u8]> {
        let id = self.id(NameKind::Path, local)?;
        Some(self.names.paths.get(id))
    }

    /// The event with ids of the reader's dictionaries. Names whose definitions were lost are NULL.
    #[inline]
    pub(crate) fn resolve(&mut self, event: Event) -> Event {
        let Ok(event) = event.with_names(|kind, id| Ok::<_, Infallible>(self.known(kind, id)));
        event
    }

    /// The reader's id; that of NULL, and for calls that of a call without a name, if its definition was lost.
    #[inline]
    fn known(&mut self, kind: NameKind, local: u32) -> u32 {
        match (self.id(kind, local), kind) {
            (Some(id), _) => id,
            (None, NameKind::Call) => self.names.calls.intern(LOST_CALL),
            (None, _) => UNDEFINED,
        }
    }
}
