//! Raw items that outlive what they were read from: copied, to be looked at later or by another thread.

use crate::event::Layer;
use crate::file_facts::FileFacts;
use crate::ids::{CallId, Pid, Tid};
use crate::raw::{Arg, Image, OpenFile, Operation, RawCall, RawItem, Return, Target};
use crate::time::{Nanos, Timestamp};
use crate::usage::Usage;

/// Calls with no more arguments than this are shown without a detour; there are none with more.
const USUAL_ARGUMENTS: usize = 6;

/// Copied items, in the order in which they came. All texts lie in one piece of memory, and so do all arguments.
#[derive(Debug, Default)]
pub struct RawBatch {
    items: Vec<Stored>,
    args: Vec<StoredArg>,
    bytes: Vec<u8>,
}

/// Where a text lies.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    end: u32,
}

/// A name, and whether its file had been deleted.
type StoredTarget = Option<(Span, bool)>;

#[derive(Debug)]
enum Stored {
    Call(StoredCall),
    Entered(StoredCall),
    Library { call: StoredCall, operation: Box<Operation<Span>> },
    Interrupted { tid: Tid, at: Timestamp },
    Suspended { tid: Tid, at: Timestamp },
    Exited { tid: Tid, at: Timestamp, status: i32 },
    Killed { tid: Tid, at: Timestamp, signal: Span },
    Superseded { tid: Tid, by: Tid, at: Timestamp },
    Created { parent: Tid, child: Tid, at: Timestamp },
    Found { tid: Tid, pid: Pid, ppid: Option<Pid>, at: Timestamp, table: Option<Tid> },
    Descriptor { tid: Tid, fd: i32, open: Box<StoredOpen> },
    Copies { tid: Tid, fd: i32, of: Tid, other: i32, received: bool },
    Position { tid: Tid, fd: i32, position: i64 },
    Sent { tid: Tid, fd: i32 },
    Received { tid: Tid, fd: i32, target: StoredTarget },
    Uncertain { tid: Tid, fd: i32 },
    CameUnseen { tid: Tid },
    Lost { tid: Tid, call: Option<Box<StoredCall>> },
    Escaped { tid: Tid, table: bool },
    WorkingDirectory { tid: Tid, path: Span },
    File { tid: Tid, fd: i32, facts: Box<FileFacts> },
    FileInfo { tid: Tid, fd: i32, facts: Box<FileFacts> },
    Image { tid: Tid, at: Timestamp, image: Box<StoredImage> },
    Usage { tid: Tid, usage: Box<Usage> },
    Comm { tid: Tid, comm: Span },
}

#[derive(Debug)]
struct StoredOpen {
    name: Span,
    deleted: bool,
    position: Option<i64>,
    append: bool,
    cloexec: bool,
    followed: bool,
    facts: Option<FileFacts>,
}

#[derive(Debug)]
struct StoredImage {
    exe: Option<Span>,
    cmdline: Option<Span>,
    cmdline_cut: bool,
    cwd: Option<Span>,
    env: Vec<Span>,
}

#[derive(Debug)]
struct StoredCall {
    tid: Tid,
    layer: Layer,
    call: CallId,
    start: Timestamp,
    dur: Option<Nanos>,
    ret: StoredReturn,
    /// Where its arguments lie.
    args: Span,
}

#[derive(Debug)]
enum StoredReturn {
    Unseen,
    Value(i64, StoredTarget),
    Failed(Span),
    Injected(i64, Option<Span>),
}

#[derive(Debug)]
enum StoredArg {
    Opaque,
    Null,
    Int(i64),
    Fd(i32, StoredTarget),
    Cwd(StoredTarget),
    Path(Span, bool),
    Located(Span),
    Symbols(Span),
    FdPair([(i32, StoredTarget); 2]),
    Length(u64),
    Strings(Span, bool),
    Text(Span),
}

impl RawBatch {
    /// How many items it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Bytes of text that it holds.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Forgets all items and keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.args.clear();
        self.bytes.clear();
    }

    /// Copies an item. Texts of more than 4 GiB in all do not fit; who collects looks at [`Self::text_bytes`] before.
    pub fn push(&mut self, item: &RawItem<'_>) {
        let stored = match *item {
            RawItem::Call(ref call) => Stored::Call(self.copy_call(call)),
            RawItem::Entered(ref call) => Stored::Entered(self.copy_call(call)),
            RawItem::Library { ref call, operation } => {
                let operation = Box::new(operation.with_texts(|name| self.copy(name)));
                Stored::Library { call: self.copy_call(call), operation }
            }
            RawItem::Interrupted { tid, at } => Stored::Interrupted { tid, at },
            RawItem::Suspended { tid, at } => Stored::Suspended { tid, at },
            RawItem::Exited { tid, at, status } => Stored::Exited { tid, at, status },
            RawItem::Killed { tid, at, signal } => Stored::Killed { tid, at, signal: self.copy(signal) },
            RawItem::Superseded { tid, by, at } => Stored::Superseded { tid, by, at },
            RawItem::Created { parent, child, at } => Stored::Created { parent, child, at },
            RawItem::Found { tid, pid, ppid, at, table } => Stored::Found { tid, pid, ppid, at, table },
            RawItem::Descriptor { tid, fd, ref open } => {
                Stored::Descriptor { tid, fd, open: Box::new(self.copy_open(open)) }
            }
            RawItem::Copies { tid, fd, of, other, received } => {
                Stored::Copies { tid, fd, of, other, received }
            }
            RawItem::Position { tid, fd, position } => Stored::Position { tid, fd, position },
            RawItem::Sent { tid, fd } => Stored::Sent { tid, fd },
            RawItem::Uncertain { tid, fd } => Stored::Uncertain { tid, fd },
            RawItem::CameUnseen { tid } => Stored::CameUnseen { tid },
            RawItem::Received { tid, fd, target } => {
                Stored::Received { tid, fd, target: self.copy_target(target) }
            }
            RawItem::Lost { tid, ref call } => {
                Stored::Lost { tid, call: call.as_ref().map(|call| Box::new(self.copy_call(call))) }
            }
            RawItem::Escaped { tid, table } => Stored::Escaped { tid, table },
            RawItem::WorkingDirectory { tid, path } => {
                Stored::WorkingDirectory { tid, path: self.copy(path) }
            }
            RawItem::File { tid, fd, facts } => Stored::File { tid, fd, facts: Box::new(facts) },
            RawItem::FileInfo { tid, fd, facts } => Stored::FileInfo { tid, fd, facts: Box::new(facts) },
            RawItem::Image { tid, at, ref image } => {
                Stored::Image { tid, at, image: Box::new(self.copy_image(image)) }
            }
            RawItem::Usage { tid, usage } => Stored::Usage { tid, usage: Box::new(usage) },
            RawItem::Comm { tid, comm } => Stored::Comm { tid, comm: self.copy(comm) },
        };
        self.items.push(stored);
    }

    /// Shows the item of that number again.
    ///
    /// # Panics
    /// If there is none.
    pub fn with<R>(&self, number: usize, show: impl FnOnce(&RawItem<'_>) -> R) -> R {
        let item = match &self.items[number] {
            Stored::Call(call) => return self.with_call(call, |call| show(&RawItem::Call(call))),
            Stored::Entered(call) => return self.with_call(call, |call| show(&RawItem::Entered(call))),
            Stored::Library { call, operation } => {
                let operation = &operation.with_texts(|name| self.text(*name));
                return self.with_call(call, |call| show(&RawItem::Library { call, operation }));
            }
            Stored::Image { tid, at, image } => return self.with_image(*tid, *at, image, show),
            &Stored::Interrupted { tid, at } => RawItem::Interrupted { tid, at },
            &Stored::Suspended { tid, at } => RawItem::Suspended { tid, at },
            &Stored::Exited { tid, at, status } => RawItem::Exited { tid, at, status },
            &Stored::Killed { tid, at, signal } => RawItem::Killed { tid, at, signal: self.text(signal) },
            &Stored::Superseded { tid, by, at } => RawItem::Superseded { tid, by, at },
            &Stored::Created { parent, child, at } => RawItem::Created { parent, child, at },
            &Stored::Found { tid, pid, ppid, at, table } => RawItem::Found { tid, pid, ppid, at, table },
            Stored::Descriptor { tid, fd, open } => {
                RawItem::Descriptor { tid: *tid, fd: *fd, open: self.open(open) }
            }
            &Stored::Copies { tid, fd, of, other, received } => {
                RawItem::Copies { tid, fd, of, other, received }
            }
            &Stored::Position { tid, fd, position } => RawItem::Position { tid, fd, position },
            &Stored::Sent { tid, fd } => RawItem::Sent { tid, fd },
            &Stored::Uncertain { tid, fd } => RawItem::Uncertain { tid, fd },
            &Stored::CameUnseen { tid } => RawItem::CameUnseen { tid },
            &Stored::Received { tid, fd, target } => {
                RawItem::Received { tid, fd, target: self.target(target) }
            }
            &Stored::Lost { tid, call: None } => RawItem::Lost { tid, call: None },
            Stored::Lost { tid, call: Some(call) } => {
                return self.with_call(call, |call| show(&RawItem::Lost { tid: *tid, call: Some(call) }));
            }
            &Stored::Escaped { tid, table } => RawItem::Escaped { tid, table },
            &Stored::WorkingDirectory { tid, path } => {
                RawItem::WorkingDirectory { tid, path: self.text(path) }
            }
            Stored::File { tid, fd, facts } => RawItem::File { tid: *tid, fd: *fd, facts: **facts },
            Stored::FileInfo { tid, fd, facts } => RawItem::FileInfo { tid: *tid, fd: *fd, facts: **facts },
            Stored::Usage { tid, usage } => RawItem::Usage { tid: *tid, usage: **usage },
            &Stored::Comm { tid, comm } => RawItem::Comm { tid, comm: self.text(comm) },
        };
        show(&item)
    }

    fn copy(&mut self, text: &[u8]) -> Span {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text);
        Span { start, end: self.bytes.len() as u32 }
    }

    fn copy_target(&mut self, target: Option<Target<'_>>) -> StoredTarget {
        target.map(|target| (self.copy(target.name), target.deleted))
    }

    fn copy_open(&mut self, open: &OpenFile<'_>) -> StoredOpen {
        let OpenFile { target, position, append, cloexec, followed, facts } = *open;
        let name = self.copy(target.name);
        StoredOpen { name, deleted: target.deleted, position, append, cloexec, followed, facts }
    }

    fn copy_image(&mut self, image: &Image<'_>) -> StoredImage {
        StoredImage {
            exe: image.exe.map(|text| self.copy(text)),
            cmdline: image.cmdline.map(|text| self.copy(text)),
            cmdline_cut: image.cmdline_cut,
            cwd: image.cwd.map(|text| self.copy(text)),
            env: image.env.iter().map(|variable| self.copy(variable)).collect(),
        }
    }

    #[inline]
    fn copy_call(&mut self, call: &RawCall<'_>) -> StoredCall {
        let ret = match call.ret {
            Return::Unseen => StoredReturn::Unseen,
            Return::Value(value, target) => StoredReturn::Value(value, self.copy_target(target)),
            Return::Failed(error) => StoredReturn::Failed(self.copy(error)),
            Return::Injected(value, error) => {
                StoredReturn::Injected(value, error.map(|error| self.copy(error)))
            }
        };
        let start = self.args.len() as u32;
        for arg in call.args {
            let arg = self.copy_arg(arg);
            self.args.push(arg);
        }
        let args = Span { start, end: self.args.len() as u32 };
        let &RawCall { tid, layer, call, start, dur, .. } = call;
        StoredCall { tid, layer, call, start, dur, ret, args }
    }

    #[inline]
    fn copy_arg(&mut self, arg: &Arg<'_>) -> StoredArg {
        match *arg {
            Arg::Opaque => StoredArg::Opaque,
            Arg::Null => StoredArg::Null,
            Arg::Int(number) => StoredArg::Int(number),
            Arg::Fd(fd, target) => StoredArg::Fd(fd, self.copy_target(target)),
            Arg::Cwd(target) => StoredArg::Cwd(self.copy_target(target)),
            Arg::Path { bytes, complete } => StoredArg::Path(self.copy(bytes), complete),
            Arg::Located(path) => StoredArg::Located(self.copy(path)),
            Arg::Symbols(symbols) => StoredArg::Symbols(self.copy(symbols)),
            Arg::FdPair(pair) => StoredArg::FdPair(pair.map(|(fd, target)| (fd, self.copy_target(target)))),
            Arg::Length(length) => StoredArg::Length(length),
            Arg::Strings { bytes, complete } => StoredArg::Strings(self.copy(bytes), complete),
            Arg::Text(text) => StoredArg::Text(self.copy(text)),
        }
    }

    #[inline]
    fn text(&self, span: Span) -> &[u8] {
        &self.bytes[span.start as usize..span.end as usize]
    }

    fn target(&self, target: StoredTarget) -> Option<Target<'_>> {
        target.map(|(name, deleted)| Target { name: self.text(name), deleted })
    }

    fn open(&self, open: &StoredOpen) -> OpenFile<'_> {
        let StoredOpen { name, deleted, position, append, cloexec, followed, facts } = *open;
        OpenFile {
            target: Target { name: self.text(name), deleted },
            position,
            append,
            cloexec,
            followed,
            facts,
        }
    }

    fn with_image<R>(
        &self,
        tid: Tid,
        at: Timestamp,
        image: &StoredImage,
        show: impl FnOnce(&RawItem<'_>) -> R,
    ) -> R {
        let text = |span: Span| self.text(span);
        let env: Vec<&[u8]> = image.env.iter().map(|span| self.text(*span)).collect();
        let image = Image {
            exe: image.exe.map(text),
            cmdline: image.cmdline.map(text),
            cmdline_cut: image.cmdline_cut,
            cwd: image.cwd.map(text),
            env: &env,
        };
        show(&RawItem::Image { tid, at, image })
    }

    #[inline]
    fn with_call<R>(&self, stored: &StoredCall, show: impl FnOnce(RawCall<'_>) -> R) -> R {
        let ret = match stored.ret {
            StoredReturn::Unseen => Return::Unseen,
            StoredReturn::Value(value, target) => Return::Value(value, self.target(target)),
            StoredReturn::Failed(error) => Return::Failed(self.text(error)),
            StoredReturn::Injected(value, error) => {
                Return::Injected(value, error.map(|error| self.text(error)))
            }
        };
        let &StoredCall { tid, layer, call, start, dur, .. } = stored;
        let stored = &self.args[stored.args.start as usize..stored.args.end as usize];
        if stored.len() > USUAL_ARGUMENTS {
            let args: Vec<Arg<'_>> = stored.iter().map(|arg| self.arg(arg)).collect();
            return show(RawCall { tid, layer, call, start, dur, ret, args: &args });
        }
        let mut args = [Arg::Opaque; USUAL_ARGUMENTS];
        for (arg, stored) in args.iter_mut().zip(stored) {
            *arg = self.arg(stored);
        }
        show(RawCall { tid, layer, call, start, dur, ret, args: &args[..stored.len()] })
    }

    #[inline]
    fn arg(&self, arg: &StoredArg) -> Arg<'_> {
        match *arg {
            StoredArg::Opaque => Arg::Opaque,
            StoredArg::Null => Arg::Null,
            StoredArg::Int(number) => Arg::Int(number),
            StoredArg::Fd(fd, target) => Arg::Fd(fd, self.target(target)),
            StoredArg::Cwd(target) => Arg::Cwd(self.target(target)),
            StoredArg::Located(path) => Arg::Located(self.text(path)),
            StoredArg::Path(path, complete) => Arg::Path { bytes: self.text(path), complete },
            StoredArg::Symbols(symbols) => Arg::Symbols(self.text(symbols)),
            StoredArg::FdPair(pair) => Arg::FdPair(pair.map(|(fd, target)| (fd, self.target(target)))),
            StoredArg::Length(length) => Arg::Length(length),
            StoredArg::Strings(strings, complete) => Arg::Strings { bytes: self.text(strings), complete },
            StoredArg::Text(structure) => Arg::Text(self.text(structure)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_back_as_they_were() {
        let target = Some(Target { name: b"/a", deleted: true });
        let args = [
            Arg::Opaque,
            Arg::Null,
            Arg::Int(7),
            Arg::Fd(3, target),
            Arg::Cwd(target),
            Arg::Path { bytes: b"b\xff", complete: false },
            Arg::Located(b"/c"),
            Arg::Symbols(b"O_RDONLY"),
            Arg::FdPair([(3, None), (4, target)]),
            Arg::Length(9),
            Arg::Strings { bytes: b"ls\0-l", complete: false },
            Arg::Text(b"{}"),
        ];
        let call = RawCall {
            tid: Tid(1),
            layer: Layer::Mpiio,
            call: CallId(2),
            start: Timestamp(3),
            dur: Some(Nanos(4)),
            ret: Return::Value(5, target),
            args: &args,
        };
        let failed = RawCall { ret: Return::Failed(b"ENOENT"), ..call };
        let injected = RawCall { ret: Return::Injected(-1, Some(b"EIO")), ..call };
        let (tid, at) = (Tid(1), Timestamp(9));
        let facts = FileFacts { device: 1, inode: 2, size: Some(3), kind: None, birth: Some(4) };
        let open = OpenFile {
            target: Target { name: b"/s", deleted: true },
            position: Some(4),
            append: true,
            cloexec: false,
            followed: true,
            facts: Some(facts),
        };
        let image = Image {
            exe: Some(b"/bin/sh"),
            cmdline: Some(b"sh\0-c"),
            cmdline_cut: true,
            cwd: None,
            env: &[b"A=1", b"B=2"],
        };
        let operation = Operation {
            name: Some(&b"data.h5"[..]),
            offset: Some(4096),
            peer: Some(-1),
            ..Operation::default()
        };
        let items = [
            RawItem::Call(call),
            RawItem::Entered(failed),
            RawItem::Library { call, operation: &operation },
            RawItem::Interrupted { tid, at },
            RawItem::Suspended { tid, at },
            RawItem::Exited { tid, at, status: 3 },
            RawItem::Killed { tid, at, signal: b"SIGKILL" },
            RawItem::Superseded { tid, by: Tid(8), at },
            RawItem::Created { parent: tid, child: Tid(2), at },
            RawItem::Found { tid, pid: Pid(1), ppid: Some(Pid(7)), at, table: Some(Tid(3)) },
            RawItem::Descriptor { tid, fd: 5, open },
            RawItem::Copies { tid, fd: 5, of: Tid(8), other: 6, received: true },
            RawItem::Position { tid, fd: 5, position: 9 },
            RawItem::Sent { tid, fd: 5 },
            RawItem::Received { tid, fd: 5, target },
            RawItem::Uncertain { tid, fd: 5 },
            RawItem::CameUnseen { tid },
            RawItem::Lost { tid, call: None },
            RawItem::Lost { tid, call: Some(injected) },
            RawItem::Escaped { tid, table: true },
            RawItem::WorkingDirectory { tid, path: b"/w" },
            RawItem::File { tid, fd: 5, facts },
            RawItem::FileInfo { tid, fd: 5, facts },
            RawItem::Image { tid, at, image },
            RawItem::Usage { tid, usage: Usage { max_memory: Some(6), ..Usage::ZERO } },
            RawItem::Comm { tid, comm: b"sh" },
        ];
        let mut batch = RawBatch::default();
        for _ in 0..2 {
            items.iter().for_each(|item| batch.push(item));
            assert_eq!(batch.len(), items.len());
            for (number, expected) in items.iter().enumerate() {
                batch.with(number, |item| assert_eq!(item, expected));
            }
            batch.clear();
            assert!(batch.is_empty() && batch.text_bytes() == 0);
        }
    }
}
