//! Items of all kinds, as they are stored.

use crate::call::StoredCall;
use crate::parts::{StoredImage, StoredOpen, StoredTarget, is_false};
use crate::text::Text;
use iotrail_model::raw::{Operation, RawItem};
use iotrail_model::{Dictionaries, FileFacts, Pid, Tid, Timestamp, Usage};
use serde::{Deserialize, Serialize};

/// An item; see [`RawItem`] for what each says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "item", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Stored {
    Call(StoredCall),
    Entered(StoredCall),
    Library {
        call: StoredCall,
        operation: Operation<Text>,
    },
    Interrupted {
        tid: Tid,
        at: Timestamp,
    },
    Suspended {
        tid: Tid,
        at: Timestamp,
    },
    Exited {
        tid: Tid,
        at: Timestamp,
        status: i32,
    },
    Killed {
        tid: Tid,
        at: Timestamp,
        signal: Text,
    },
    Superseded {
        tid: Tid,
        by: Tid,
        at: Timestamp,
    },
    Created {
        parent: Tid,
        child: Tid,
        at: Timestamp,
    },
    Found {
        tid: Tid,
        pid: Pid,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ppid: Option<Pid>,
        at: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        table: Option<Tid>,
    },
    Descriptor {
        tid: Tid,
        fd: i32,
        open: StoredOpen,
    },
    Copies {
        tid: Tid,
        fd: i32,
        of: Tid,
        other: i32,
        #[serde(default, skip_serializing_if = "is_false")]
        received: bool,
    },
    Position {
        tid: Tid,
        fd: i32,
        position: i64,
    },
    Sent {
        tid: Tid,
        fd: i32,
    },
    Uncertain {
        tid: Tid,
        fd: i32,
    },
    CameUnseen {
        tid: Tid,
    },
    Received {
        tid: Tid,
        fd: i32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<StoredTarget>,
    },
    Lost {
        tid: Tid,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<StoredCall>,
    },
    Escaped {
        tid: Tid,
        #[serde(default, skip_serializing_if = "is_false")]
        table: bool,
    },
    WorkingDirectory {
        tid: Tid,
        path: Text,
    },
    File {
        tid: Tid,
        fd: i32,
        facts: FileFacts,
    },
    FileInfo {
        tid: Tid,
        fd: i32,
        facts: FileFacts,
    },
    Image {
        tid: Tid,
        at: Timestamp,
        image: StoredImage,
    },
    Usage {
        tid: Tid,
        usage: Usage,
    },
    Comm {
        tid: Tid,
        comm: Text,
    },
}

impl Stored {
    pub(crate) fn of(item: &RawItem<'_>, names: &Dictionaries) -> Self {
        match *item {
            RawItem::Call(ref call) => Self::Call(StoredCall::of(call, names)),
            RawItem::Entered(ref call) => Self::Entered(StoredCall::of(call, names)),
            RawItem::Library { ref call, operation } => Self::Library {
                call: StoredCall::of(call, names),
                operation: operation.with_texts(|name| Text::from(*name)),
            },
            RawItem::Interrupted { tid, at } => Self::Interrupted { tid, at },
            RawItem::Suspended { tid, at } => Self::Suspended { tid, at },
            RawItem::Exited { tid, at, status } => Self::Exited { tid, at, status },
            RawItem::Killed { tid, at, signal } => Self::Killed { tid, at, signal: signal.into() },
            RawItem::Superseded { tid, by, at } => Self::Superseded { tid, by, at },
            RawItem::Created { parent, child, at } => Self::Created { parent, child, at },
            RawItem::Found { tid, pid, ppid, at, table } => Self::Found { tid, pid, ppid, at, table },
            RawItem::Descriptor { tid, fd, ref open } => Self::Descriptor { tid, fd, open: open.into() },
            RawItem::Copies { tid, fd, of, other, received } => Self::Copies { tid, fd, of, other, received },
            RawItem::Position { tid, fd, position } => Self::Position { tid, fd, position },
            RawItem::Sent { tid, fd } => Self::Sent { tid, fd },
            RawItem::Uncertain { tid, fd } => Self::Uncertain { tid, fd },
            RawItem::CameUnseen { tid } => Self::CameUnseen { tid },
            RawItem::Received { tid, fd, target } => {
                Self::Received { tid, fd, target: target.map(StoredTarget::from) }
            }
            RawItem::Lost { tid, ref call } => {
                Self::Lost { tid, call: call.as_ref().map(|call| StoredCall::of(call, names)) }
            }
            RawItem::Escaped { tid, table } => Self::Escaped { tid, table },
            RawItem::WorkingDirectory { tid, path } => Self::WorkingDirectory { tid, path: path.into() },
            RawItem::File { tid, fd, facts } => Self::File { tid, fd, facts },
            RawItem::FileInfo { tid, fd, facts } => Self::FileInfo { tid, fd, facts },
            RawItem::Image { tid, at, ref image } => Self::Image { tid, at, image: image.into() },
            RawItem::Usage { tid, usage } => Self::Usage { tid, usage },
            RawItem::Comm { tid, comm } => Self::Comm { tid, comm: comm.into() },
        }
    }

    pub(crate) fn with<R>(
        &self,
        names: &mut Dictionaries,
        show: impl FnOnce(&RawItem<'_>, &mut Dictionaries) -> R,
    ) -> R {
        let item = match *self {
            Self::Call(ref call) => {
                return call.with(names, |call, names| show(&RawItem::Call(call), names));
            }
            Self::Entered(ref call) => {
                return call.with(names, |call, names| show(&RawItem::Entered(call), names));
            }
            Self::Library { ref call, ref operation } => {
                let operation = &operation.with_texts(Text::bytes);
                return call.with(names, |call, names| show(&RawItem::Library { call, operation }, names));
            }
            Self::Lost { tid, call: Some(ref call) } => {
                return call.with(names, |call, names| show(&RawItem::Lost { tid, call: Some(call) }, names));
            }
            Self::Image { tid, at, ref image } => return image.with(tid, at, |item| show(item, names)),
            Self::Lost { tid, call: None } => RawItem::Lost { tid, call: None },
            Self::Interrupted { tid, at } => RawItem::Interrupted { tid, at },
            Self::Suspended { tid, at } => RawItem::Suspended { tid, at },
            Self::Exited { tid, at, status } => RawItem::Exited { tid, at, status },
            Self::Killed { tid, at, ref signal } => RawItem::Killed { tid, at, signal: signal.bytes() },
            Self::Superseded { tid, by, at } => RawItem::Superseded { tid, by, at },
            Self::Created { parent, child, at } => RawItem::Created { parent, child, at },
            Self::Found { tid, pid, ppid, at, table } => RawItem::Found { tid, pid, ppid, at, table },
            Self::Descriptor { tid, fd, ref open } => RawItem::Descriptor { tid, fd, open: open.show() },
            Self::Copies { tid, fd, of, other, received } => RawItem::Copies { tid, fd, of, other, received },
            Self::Position { tid, fd, position } => RawItem::Position { tid, fd, position },
            Self::Sent { tid, fd } => RawItem::Sent { tid, fd },
            Self::Uncertain { tid, fd } => RawItem::Uncertain { tid, fd },
            Self::CameUnseen { tid } => RawItem::CameUnseen { tid },
            Self::Received { tid, fd, ref target } => {
                RawItem::Received { tid, fd, target: target.as_ref().map(StoredTarget::show) }
            }
            Self::Escaped { tid, table } => RawItem::Escaped { tid, table },
            Self::WorkingDirectory { tid, ref path } => RawItem::WorkingDirectory { tid, path: path.bytes() },
            Self::File { tid, fd, facts } => RawItem::File { tid, fd, facts },
            Self::FileInfo { tid, fd, facts } => RawItem::FileInfo { tid, fd, facts },
            Self::Usage { tid, usage } => RawItem::Usage { tid, usage },
            Self::Comm { tid, ref comm } => RawItem::Comm { tid, comm: comm.bytes() },
        };
        show(&item, names)
    }
}
