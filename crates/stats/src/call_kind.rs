//! What a call does to files, as far as profiles are concerned.

use iotrail_model::calls::{CallKind as Does, CallSpec, Family, Makes, PerCall, Transfer};
use iotrail_model::{CallId, Event, Names};

/// What one call, by its name, does to the files that it names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallKind {
    /// Which way it moves bytes.
    pub(crate) transfer: Transfer,
    /// Whether it makes a descriptor: what was known of the one with its number is over.
    pub(crate) opens: bool,
    /// Whether it maps files into memory.
    pub(crate) maps: bool,
    /// Whether its second path is a file that it uses, too: not the text of a symbolic link, not the address of a socket.
    pub(crate) second: bool,
}

/// The kinds of all calls of a log, by id of the call.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallKinds(PerCall<CallKind>);

impl CallKinds {
    pub(crate) fn new(names: &Names) -> Self {
        Self(PerCall::new(&names.calls, |call| {
            let of_library = || CallKind { transfer: call.transfer(), ..CallKind::default() };
            call.spec.map_or_else(of_library, CallKind::of)
        }))
    }

    #[inline]
    pub(crate) fn of(&self, event: &Event) -> CallKind {
        self.of_call(event.call)
    }

    #[inline]
    pub(crate) fn of_call(&self, call: CallId) -> CallKind {
        self.0.of(call)
    }
}

impl CallKind {
    fn of(spec: &CallSpec) -> Self {
        let names_two = spec.family == Family::Directory && spec.kind != Does::Symlink;
        Self {
            transfer: spec.transfer,
            opens: spec.makes == Makes::Descriptor,
            maps: spec.kind == Does::Map,
            second: spec.transfer == Transfer::Copy || names_two || spec.kind == Does::SocketPair,
        }
    }
}

/// The two sides of a call that moved bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    /// Bytes; at least one.
    pub(crate) bytes: u64,
    /// Whether they came out of `path`.
    pub(crate) read: bool,
    /// Whether they went into a file: `path2` of a copy, else `path`.
    pub(crate) written: bool,
}

impl CallKind {
    /// What a call of this kind moved; a read at the end of a file moves nothing.
    #[inline]
    pub(crate) fn moved(self, event: &Event) -> Option<Moved> {
        let bytes = event.size.get().and_then(|size| u64::try_from(size).ok()).filter(|size| *size > 0)?;
        let read = matches!(self.transfer, Transfer::Read | Transfer::Copy);
        let written = matches!(self.transfer, Transfer::Write | Transfer::Copy);
        (read || written).then_some(Moved { bytes, read, written })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::calls::TABLE;

    #[test]
    fn functions_of_libraries_move_what_their_names_say() {
        let calls = ["MPI_File_write_at", "MPI_File_read", "pthread_create"];
        let names = Names { calls: calls.map(Into::into).to_vec(), ..Names::default() };
        let kinds = CallKinds::new(&names);
        let moved = [0, 1, 2].map(|call| kinds.of_call(CallId::from_index(call)).transfer);
        assert_eq!(moved, [Transfer::Write, Transfer::Read, Transfer::None]);
    }

    #[test]
    fn what_every_call_does_to_the_files_that_it_names() {
        let rows = TABLE.iter().filter_map(|spec| {
            let kind = CallKind::of(spec);
            let words = [(kind.opens, "opens"), (kind.maps, "maps"), (kind.second, "uses its second path")];
            let words: Vec<&str> = words.iter().filter(|(holds, _)| *holds).map(|(_, word)| *word).collect();
            (kind != CallKind::default()).then(|| {
                format!("{}: {:?} {}", spec.name, kind.transfer, words.join(", ")).trim_end().to_owned()
            })
        });
        insta::assert_snapshot!(rows.collect::<Vec<_>>().join("\n"));
    }
}
