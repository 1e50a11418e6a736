//! What is known of a file beside its name.

use crate::ids::FileId;
use crate::nullable::Nullable;
use serde::{Deserialize, Serialize};

/// What a descriptor was found to refer to (`man 2 stat`) when it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Device number, as `st_dev`.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Size in bytes, of files only.
    pub size: Option<i64>,
    /// What it is.
    pub kind: Option<FileKind>,
    /// When it was made, in ns since 1970-01-01 UTC, where the file system keeps that: it tells a file from a later one that
    /// got the same inode number.
    pub birth: Option<i64>,
}

/// A name of a file and what is known of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamedFile {
    /// The file's number.
    pub file: Nullable<FileId>,
    /// Whether the file has lost the name.
    pub gone: bool,
    /// What was found there, if somebody looked.
    pub facts: Option<FileFacts>,
    /// What the calls say that it is (`mknod`).
    pub kind: Option<FileKind>,
}

impl From<&FileFacts> for NamedFile {
    fn from(facts: &FileFacts) -> Self {
        Self { facts: Some(*facts), ..Self::default() }
    }
}

impl From<&Self> for NamedFile {
    fn from(named: &Self) -> Self {
        *named
    }
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// Regular file.
    File,
    /// Directory.
    Directory,
    /// Pipe or FIFO.
    Pipe,
    /// Socket.
    Socket,
    /// Character device.
    Char,
    /// Block device.
    Block,
    /// Anonymous inode: eventfd, epoll, io_uring.
    Anon,
}

impl FileKind {
    /// All kinds of files.
    pub const ALL: [Self; 7] =
        [Self::File, Self::Directory, Self::Pipe, Self::Socket, Self::Char, Self::Block, Self::Anon];

    /// The name in the column `kind` of `files`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Pipe => "pipe",
            Self::Socket => "socket",
            Self::Char => "char",
            Self::Block => "block",
            Self::Anon => "anon",
        }
    }

    /// The kind in `st_mode`; an anonymous inode has none there.
    #[must_use]
    pub const fn of_mode(mode: u32) -> Option<Self> {
        match mode & 0o170_000 {
            0o100_000 => Some(Self::File),
            0o040_000 => Some(Self::Directory),
            0o010_000 => Some(Self::Pipe),
            0o140_000 => Some(Self::Socket),
            0o020_000 => Some(Self::Char),
            0o060_000 => Some(Self::Block),
            _ => None,
        }
    }
}
