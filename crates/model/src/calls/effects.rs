//! What a successful call does to the table of descriptors and to names, by its kind.

use super::{ArgKind, CallKind, CallSpec, Makes, Object, Transfer};

/// What a successful call does to the descriptors of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DescriptorEffect {
    /// The call leaves descriptors as they are.
    None,
    /// Makes one of a new open file description of the file at its path.
    Opens,
    /// Makes one or two of something without a path.
    Makes,
    /// Makes one of an open file description that was there before.
    Shares,
    /// By its command: duplicates, marks, asks or locks.
    Controls,
    /// Closes one.
    Closes,
    /// Closes or marks all in a range.
    ClosesRange,
    /// Closes those that are marked.
    ClosesMarked,
    /// Gives a new process or thread the table, or a copy of it.
    Inherits,
    /// Stops sharing the table, if asked to.
    Unshares,
    /// May send some along with a message.
    Sends,
    /// May bring some along with a message.
    Receives,
}

/// What a successful call does to names of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameEffect {
    /// It has no path.
    None,
    /// Makes a descriptor of what its path denotes, which it may make first.
    Opens,
    /// Acts on what its path denotes.
    Uses,
    /// Makes a directory or node at its path.
    Makes,
    /// Moves a name, or exchanges two.
    Renames,
    /// Makes one more name of a file.
    Links,
    /// Makes a symbolic link.
    Symlinks,
    /// Removes a name.
    Removes,
    /// Changes what relative paths begin at.
    ChangesDirectory,
    /// Changes what all paths begin at, or which trees they lead through.
    ChangesTrees,
}

impl CallSpec {
    /// What it does to descriptors if it succeeds.
    #[must_use]
    pub fn descriptor_effect(&self) -> DescriptorEffect {
        if self.is_direct() {
            return DescriptorEffect::None;
        }
        match self.kind {
            CallKind::Open | CallKind::Create | CallKind::OpenTree => DescriptorEffect::Opens,
            CallKind::Duplicate | CallKind::TakeDescriptor | CallKind::Make(Object::Installed) => {
                DescriptorEffect::Shares
            }
            CallKind::Control => DescriptorEffect::Controls,
            CallKind::Close => DescriptorEffect::Closes,
            CallKind::CloseRange => DescriptorEffect::ClosesRange,
            CallKind::Exec => DescriptorEffect::ClosesMarked,
            CallKind::Spawn | CallKind::Vfork => DescriptorEffect::Inherits,
            CallKind::Unshare => DescriptorEffect::Unshares,
            _ if self.makes == Makes::Descriptor || self.args.contains(&ArgKind::FdPair) => {
                DescriptorEffect::Makes
            }
            _ if self.args.iter().any(|kind| matches!(kind, ArgKind::Message | ArgKind::Messages)) => {
                if self.transfer == Transfer::Write {
                    DescriptorEffect::Sends
                } else {
                    DescriptorEffect::Receives
                }
            }
            _ => DescriptorEffect::None,
        }
    }

    /// What it does to names if it succeeds.
    #[must_use]
    pub fn name_effect(&self) -> NameEffect {
        match self.kind {
            CallKind::Open | CallKind::Create if self.makes == Makes::Descriptor => NameEffect::Opens,
            CallKind::MakeDirectory | CallKind::MakeNode => NameEffect::Makes,
            CallKind::Rename => NameEffect::Renames,
            CallKind::Link => NameEffect::Links,
            CallKind::Symlink => NameEffect::Symlinks,
            CallKind::Unlink | CallKind::RemoveDirectory => NameEffect::Removes,
            CallKind::ChangeDirectory => NameEffect::ChangesDirectory,
            CallKind::ChangeRoot
            | CallKind::PivotRoot
            | CallKind::Unshare
            | CallKind::EnterNamespace
            | CallKind::Mount
            | CallKind::Unmount
            | CallKind::MoveMount
            | CallKind::ChangeMounts
            | CallKind::OpenTree
            | CallKind::Make(Object::Mount) => NameEffect::ChangesTrees,
            _ if self.has(ArgKind::Path) => NameEffect::Uses,
            _ => NameEffect::None,
        }
    }

    /// Whether it wakes another process, or hands it something, by other ways than descriptors: signals, message queues, semaphores; or
    /// ends a connection, which the other side sees.
    #[must_use]
    pub fn tells_others(&self) -> bool {
        matches!(self.kind, CallKind::Kill | CallKind::Shutdown)
            || matches!(
                self.name,
                "tkill"
                    | "tgkill"
                    | "pidfd_send_signal"
                    | "rt_sigqueueinfo"
                    | "rt_tgsigqueueinfo"
                    | "mq_timedsend"
                    | "mq_timedsend_time64"
                    | "msgsnd"
                    | "semop"
                    | "semtimedop"
                    | "semtimedop_time64"
            )
    }

    /// Whether it reads or writes at the position of an open file, or moves that. Entries of rings do so if they are told no
    /// offset.
    #[must_use]
    pub fn uses_position(&self) -> bool {
        match self.kind {
            CallKind::Seek => true,
            CallKind::Read | CallKind::Write | CallKind::Copy => {
                self.family == super::Family::Data && !(self.has(ArgKind::Offset) && self.always_at_offset())
            }
            _ => false,
        }
    }

    /// Whether it stores the position that it leads to in memory, as `_llseek` does, and returns something else.
    #[must_use]
    pub fn stores_position(&self) -> bool {
        self.has(ArgKind::Position)
    }

    /// Whether its offset is always that: preadv2 and entries of rings take -1 for the position, copies a pointer that may be
    /// NULL.
    fn always_at_offset(&self) -> bool {
        self.transfer != Transfer::Copy && !self.has(ArgKind::Flags) && self.request.is_none()
    }
}
