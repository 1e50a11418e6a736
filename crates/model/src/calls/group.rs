//! Groups of calls that have a name of their own, in choices and rules.

use super::{ArgKind, CallKind, CallSpec, Family, Makes};

/// A set of calls that can be selected by one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Whatever takes or makes a descriptor or a path, says who may use new files, maps files, forces data to storage, submits
    /// I/O, or waits.
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

impl Group {
    /// The group of that name, in our words or in those of strace.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "io" => Self::Io,
            "file" => Self::File,
            "desc" => Self::Descriptor,
            "all" => Self::All,
            "network" | "net" => Self::Family(Family::Socket),
            _ => Self::Family(Family::ALL.into_iter().find(|family| family.name() == name)?),
        })
    }

    /// Names of all groups.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ["io", "file", "desc", "all"].into_iter().chain(Family::ALL.into_iter().map(Family::name))
    }

    /// Whether a call is in it.
    #[must_use]
    pub fn has(self, spec: &CallSpec) -> bool {
        match self {
            Self::All => true,
            Self::Family(family) => spec.family == family,
            Self::File => takes_path(spec),
            Self::Descriptor => takes_descriptor(spec),
            Self::Io => {
                let by_family =
                    matches!(spec.family, Family::Sync | Family::Poll | Family::Async | Family::Wait);
                by_family
                    || takes_path(spec)
                    || takes_descriptor(spec)
                    || maps_files(spec)
                    || matches!(spec.kind, CallKind::Kill | CallKind::Umask)
            }
        }
    }
}

fn takes_path(spec: &CallSpec) -> bool {
    [ArgKind::Path, ArgKind::PathOut, ArgKind::LinkTarget].into_iter().any(|kind| spec.has(kind))
}

fn takes_descriptor(spec: &CallSpec) -> bool {
    let kinds = [ArgKind::Fd, ArgKind::Fd2, ArgKind::DirFd, ArgKind::FdPair];
    kinds.into_iter().any(|kind| spec.has(kind))
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
