//! What each call is to merging: the one place where calls are asked for what they may do to the bytes, the length and the durability
//! of files, and to whom they tell that something is done.

use crate::access::EdgeKind;
use iotrail_model::calls::{Call, CallKind, Family, Forces, NameEffect, Transfer, flags};

/// What a call is to merging; what it does in full lies in its arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// Touches no bytes and tells nobody anything.
    #[default]
    None,
    /// Moves data.
    Transfer(Transfer),
    /// Moves the position of a description.
    Seek,
    /// Opens a file, which it may empty; by its flags.
    Open,
    /// Opens a file and empties it.
    Create,
    /// Changes a description, or locks.
    Control,
    /// Asks or changes anything; by its command.
    DeviceControl,
    /// Maps a file.
    Map,
    /// Gives advice about a mapping, which may free the storage behind it.
    AdviseMemory,
    /// Sets the length of a file.
    Truncate,
    /// Changes what of a file has storage.
    Allocate,
    /// Closes a descriptor.
    Close,
    /// Hands over requests, which are calls of their own where they are seen.
    Submit,
    /// Puts all that was written to a file system on storage, whatever file names it.
    SyncAll,
    /// Says that what was written before is there, or to somebody that it is.
    Edge(EdgeKind),
}

/// What a call is to merging.
pub(crate) fn role(call: Call<'_>) -> Role {
    let names = call.spec.map_or(NameEffect::None, |spec| spec.name_effect());
    match (call.kind(), call.transfer()) {
        (_, Transfer::Read | Transfer::Write | Transfer::Copy) => Role::Transfer(call.transfer()),
        (CallKind::Seek, _) => Role::Seek,
        (CallKind::Open | CallKind::OpenHandle, _) => Role::Open,
        (CallKind::Create, _) => Role::Create,
        (CallKind::Control, _) => Role::Control,
        (CallKind::DeviceControl, _) => Role::DeviceControl,
        (CallKind::Map, _) => Role::Map,
        (CallKind::AdviseMemory, _) => Role::AdviseMemory,
        (CallKind::Truncate, _) => Role::Truncate,
        (CallKind::Allocate, _) => Role::Allocate,
        (CallKind::Close, _) => Role::Close,
        (CallKind::CloseRange, _) => Role::Edge(EdgeKind::Close),
        (CallKind::AioSubmit | CallKind::RingEnter, _) => Role::Submit,
        (CallKind::Sync, _) if call.spec.and_then(|spec| spec.forces()) == Some(Forces::Everything) => {
            Role::SyncAll
        }
        (CallKind::Sync | CallKind::SyncMemory, _) => Role::Edge(EdgeKind::Sync),
        (CallKind::Lock, _) => Role::Edge(EdgeKind::Lock),
        (CallKind::Exec | CallKind::ExitProcess | CallKind::Spawn | CallKind::Vfork, _) => {
            Role::Edge(EdgeKind::Process)
        }
        _ if call.spec.is_some_and(|spec| spec.tells_others()) => Role::Edge(EdgeKind::Send),
        _ if call.family() == Family::Sync => Role::Edge(EdgeKind::Sync),
        _ => match names {
            NameEffect::Makes
            | NameEffect::Renames
            | NameEffect::Links
            | NameEffect::Symlinks
            | NameEffect::Removes => Role::Edge(EdgeKind::Name),
            _ => Role::None,
        },
    }
}

/// What a successful `ioctl` of a regular file or block device does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceEffect {
    /// Changes no byte of any file.
    None,
    /// Copies another file into this one, or shares its storage.
    Clones,
    /// May change any byte.
    Unknown,
}

/// Commands that ask something of a file, or change what is not its bytes; named like their headers do.
const HARMLESS: &[&str] = &[
    "BLKBSZGET",
    "BLKGETSIZE",
    "BLKGETSIZE64",
    "BLKPBSZGET",
    "BLKROGET",
    "BLKSSZGET",
    "FIBMAP",
    "FIDEDUPERANGE",
    "FIGETBSZ",
    "FIOASYNC",
    "FIOCLEX",
    "FIONBIO",
    "FIONCLEX",
    "FIONREAD",
    "FIOQSIZE",
    "FS_IOC_FIEMAP",
    "FS_IOC_FSGETXATTR",
    "FS_IOC_GETFLAGS",
    "FS_IOC_GETFSLABEL",
    "FS_IOC_GETVERSION",
    "TCGETS",
    "TIOCGWINSZ",
    "TIOCINQ",
];

/// What an `ioctl` does by the text of its command; tracers print several names of one number as `A or B`.
pub(crate) fn device_effect(command: &str) -> DeviceEffect {
    let is = |name: &str| flags::has_word(command.as_bytes(), name);
    if is("FICLONE") || is("FICLONERANGE") {
        DeviceEffect::Clones
    } else if HARMLESS.iter().any(|name| is(name)) {
        DeviceEffect::None
    } else {
        DeviceEffect::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::calls::TABLE;

    /// Whoever adds a call, or a kind of call, sees here what advice makes of it.
    #[test]
    fn what_advice_makes_of_every_call() {
        let rows: Vec<String> = TABLE
            .iter()
            .map(|spec| (spec.name, role(Call::named(spec.name))))
            .filter(|(_, role)| *role != Role::None)
            .map(|(name, role)| format!("{name}: {role:?}"))
            .collect();
        insta::assert_snapshot!(rows.join("\n"));
    }

    #[test]
    fn what_is_not_known_to_be_harmless_may_change_bytes() {
        assert_eq!(device_effect("BTRFS_IOC_CLONE or FICLONE"), DeviceEffect::Clones);
        assert_eq!(device_effect("BTRFS_IOC_CLONE_RANGE or FICLONERANGE"), DeviceEffect::Clones);
        assert_eq!(device_effect("TCGETS"), DeviceEffect::None);
        for command in ["FS_IOC_ZERO_RANGE", "BLKDISCARD", "0x1234", ""] {
            assert_eq!(device_effect(command), DeviceEffect::Unknown, "{command}");
        }
    }
}
