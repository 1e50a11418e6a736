//! Groups of calls that have a name of their own.

use iotrail_model::calls::{ArgKind, CallKind, CallSpec, Family, Makes, TABLE};

/// A group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// Whatever takes or makes a descriptor or a path, says who may use new files, maps files, forces data to storage, submits
    /// or waits for I/O.
    Io,
    /// Whatever takes a path.
    File,
    /// Whatever takes or makes a descriptor.
    Descriptor,
    /// Everything.
    All,
    /// A family of the call table.
    Family(Family),
}

/// Families in the order in which they are told.
pub(super) const FAMILIES: [Family; 13] = [
    Family::Data,
    Family::Metadata,
    Family::Descriptor,
    Family::Directory,
    Family::Memory,
    Family::Sync,
    Family::Lock,
    Family::Socket,
    Family::Process,
    Family::Wait,
    Family::Poll,
    Family::Async,
    Family::Other,
];

impl Group {
    /// The group of that name, in our words or in those of strace.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "io" => Self::Io,
            "file" => Self::File,
            "desc" => Self::Descriptor,
            "all" => Self::All,
            "network" | "net" => Self::Family(Family::Socket),
            _ => Self::Family(FAMILIES.into_iter().find(|family| family.name() == name)?),
        })
    }

    /// Names of all groups.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        ["io", "file", "desc", "all"].into_iter().chain(FAMILIES.into_iter().map(Family::name))
    }

    fn has(self, spec: &CallSpec) -> bool {
        match self {
            Self::All => true,
            Self::Family(family) => spec.family == family,
            Self::File => takes_path(spec),
            Self::Descriptor => takes_descriptor(spec),
            Self::Io => {
                let by_family = matches!(spec.family, Family::Sync | Family::Poll | Family::Async);
                by_family
                    || takes_path(spec)
                    || takes_descriptor(spec)
                    || maps_files(spec)
                    || matches!(spec.kind, CallKind::Kill | CallKind::Umask)
            }
        }
    }
}

/// The rows of the call table in a group.
pub(super) fn rows(group: Group) -> Vec<bool> {
    TABLE.iter().map(|spec| group.has(spec) || is_life(spec)).collect()
}

fn takes_path(spec: &CallSpec) -> bool {
    let kinds = [ArgKind::Path, ArgKind::PathOut, ArgKind::LinkTarget];
    spec.args.iter().any(|kind| kinds.contains(kind))
}

pub(super) fn takes_descriptor(spec: &CallSpec) -> bool {
    let kinds = [ArgKind::Fd, ArgKind::Fd2, ArgKind::DirFd, ArgKind::FdPair];
    spec.args.iter().any(|kind| kinds.contains(kind))
        || spec.makes == Makes::Descriptor
        || spec.kind == CallKind::CloseRange
}

/// Mappings of files, and what is done to them; whether memory belongs to a file is known only afterwards.
fn maps_files(spec: &CallSpec) -> bool {
    matches!(
        spec.kind,
        CallKind::Map
            | CallKind::Unmap
            | CallKind::Remap
            | CallKind::RemapPages
            | CallKind::SyncMemory
            | CallKind::AdviseMemory
    )
}

/// Makes, replaces or ends processes: always in.
pub(super) fn is_life(spec: &CallSpec) -> bool {
    spec.makes == Makes::Process
        || matches!(spec.kind, CallKind::Exec | CallKind::ExitThread | CallKind::ExitProcess)
}
