//! Items of threads whose parent is not known yet.
//!
//! When several creations are in flight and a new thread speaks, only the return of one of them says whose child it is.
//! Until then its items wait here, copied. They do not wait for ever: beyond [`MAX_ITEMS`] or [`MAX_BYTES`] the thread
//! is taken for one without a parent.

use hashbrown::HashMap;
use iotrail_model::raw::{Arg, Image, OpenFile, RawCall, RawItem, Return, Target};
use iotrail_model::{CallId, CaseId, FileFacts, Nanos, Pid, Tid, Timestamp, Usage};
use std::collections::{BTreeMap, VecDeque};

/// Items that may wait.
const MAX_ITEMS: usize = 10_000;
/// Bytes of text that may wait.
const MAX_BYTES: usize = 4 << 20;

/// The waiting items.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Those of each thread in the order they came.
    waiting: HashMap<Tid, VecDeque<Waiting>, foldhash::fast::RandomState>,
    /// The threads by the numbers of their first items.
    firsts: BTreeMap<u64, Tid>,
    /// Those of them that are known by now.
    known: BTreeMap<u64, Tid>,
    next: u64,
    items: usize,
    bytes: usize,
}

/// An item that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// Its number among all that waited.
    number: u64,
    pub(crate) case: CaseId,
    /// The number of the call that it begins, if it does.
    pub(crate) seq: Option<u64>,
    pub(crate) item: HeldItem,
}

impl Held {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// Whether no more may wait.
    pub(crate) fn is_full(&self) -> bool {
        self.items >= MAX_ITEMS || self.bytes >= MAX_BYTES
    }

    /// Keeps a copy of `item`.
    pub(crate) fn push(&mut self, case: CaseId, tid: Tid, seq: Option<u64>, item: &RawItem<'_>) {
        let item = HeldItem::copy(tid, item);
        self.items += 1;
        self.bytes += item.bytes.len();
        let number = self.next;
        self.next += 1;
        let of_thread = self.waiting.entry(tid).or_default();
        if of_thread.is_empty() {
            self.firsts.insert(number, tid);
        }
        of_thread.push_back(Waiting { number, case, seq, item });
    }

    /// Whether items of this thread wait.
    pub(crate) fn has(&self, tid: Tid) -> bool {
        self.waiting.contains_key(&tid)
    }

    /// The waiting thread that spoke first.
    pub(crate) fn first(&self) -> Option<Tid> {
        self.firsts.first_key_value().map(|(_, tid)| *tid)
    }

    /// A thread of which items wait is known.
    pub(crate) fn know(&mut self, tid: Tid) {
        if let Some(first) = self.waiting.get(&tid).and_then(VecDeque::front) {
            self.known.insert(first.number, tid);
        }
    }

    /// The thread whose item is the first of those that are known.
    pub(crate) fn first_known(&mut self) -> Option<Tid> {
        self.known.pop_first().map(|(_, tid)| tid)
    }

    /// The first item of a thread.
    pub(crate) fn peek(&self, tid: Tid) -> Option<&HeldItem> {
        Some(&self.waiting.get(&tid)?.front()?.item)
    }

    /// Takes the first item of a thread.
    pub(crate) fn take(&mut self, tid: Tid) -> Option<Waiting> {
        let of_thread = self.waiting.get_mut(&tid)?;
        let taken = of_thread.pop_front()?;
        self.firsts.remove(&taken.number);
        match of_thread.front() {
            Some(next) => {
                self.firsts.insert(next.number, tid);
            }
            None => {
                self.waiting.remove(&tid);
            }
        }
        self.items -= 1;
        self.bytes -= taken.item.bytes.len();
        Some(taken)
    }
}

/// A copied item: every text lies in `bytes`, and what refers to it holds its range.
#[derive(Debug)]
pub(crate) struct HeldItem {
    tid: Tid,
    bytes: Vec<u8>,
    kind: Kind,
}

type Range = std::ops::Range<usize>;
type HeldTarget = Option<(Range, bool)>;

#[derive(Debug)]
enum Kind {
    Call(HeldCall),
    Entered(HeldCall),
    Interrupted { at: Timestamp },
    Suspended { at: Timestamp },
    Exited { at: Timestamp, status: i32 },
    Killed { at: Timestamp, signal: Range },
    Superseded { by: Tid, at: Timestamp },
    Created { child: Tid, at: Timestamp },
    Found { pid: Pid, ppid: Option<Pid>, at: Timestamp },
    Descriptor { fd: i32, open: HeldOpen },
    Copies { fd: i32, of: Tid, other: i32, received: bool },
    Position { fd: i32, position: i64 },
    Sent { fd: i32 },
    Escaped { table: bool },
    WorkingDirectory(Range),
    File { fd: i32, facts: FileFacts },
    Behind { fd: i32, facts: FileFacts },
    Image { at: Timestamp, image: HeldImage },
    Usage(Usage),
    Comm(Range),
}

#[derive(Debug)]
struct HeldOpen {
    name: Range,
    deleted: bool,
    position: Option<i64>,
    append: bool,
    cloexec: bool,
    followed: bool,
    facts: Option<FileFacts>,
}

#[derive(Debug)]
struct HeldImage {
    exe: Option<Range>,
    cmdline: Option<Range>,
    cmdline_cut: bool,
    cwd: Option<Range>,
    env: Vec<Range>,
}

#[derive(Debug)]
struct HeldCall {
    call: CallId,
    start: Timestamp,
    dur: Option<Nanos>,
    ret: HeldReturn,
    args: Vec<HeldArg>,
}

#[derive(Debug)]
enum HeldReturn {
    Unseen,
    Value(i64, HeldTarget),
    Failed(Range),
}

#[derive(Debug)]
enum HeldArg {
    Opaque,
    Null,
    Int(i64),
    Fd(i32, HeldTarget),
    Cwd(HeldTarget),
    Path(Range, bool),
    Located(Range),
    Symbols(Range),
    FdPair([(i32, HeldTarget); 2]),
    Length(u64),
    Strings(Range, bool),
    Text(Range),
}

impl HeldItem {
    fn copy(tid: Tid, item: &RawItem<'_>) -> Self {
        let mut bytes = Vec::new();
        let kind = match item {
            RawItem::Call(call) => Kind::Call(copy_call(&mut bytes, call)),
            RawItem::Entered(call) => Kind::Entered(copy_call(&mut bytes, call)),
            RawItem::Interrupted { at, .. } => Kind::Interrupted { at: *at },
            RawItem::Suspended { at, .. } => Kind::Suspended { at: *at },
            RawItem::Exited { at, status, .. } => Kind::Exited { at: *at, status: *status },
            RawItem::Killed { at, signal, .. } => {
                Kind::Killed { at: *at, signal: copy_text(&mut bytes, signal) }
            }
            RawItem::Superseded { by, at, .. } => Kind::Superseded { by: *by, at: *at },
            RawItem::Created { child, at, .. } => Kind::Created { child: *child, at: *at },
            RawItem::Found { pid, ppid, at, .. } => Kind::Found { pid: *pid, ppid: *ppid, at: *at },
            RawItem::Descriptor { fd, open, .. } => {
                Kind::Descriptor { fd: *fd, open: copy_open(&mut bytes, open) }
            }
            RawItem::Copies { fd, of, other, received, .. } => {
                Kind::Copies { fd: *fd, of: *of, other: *other, received: *received }
            }
            RawItem::Position { fd, position, .. } => Kind::Position { fd: *fd, position: *position },
            RawItem::Sent { fd, .. } => Kind::Sent { fd: *fd },
            RawItem::Escaped { table, .. } => Kind::Escaped { table: *table },
            RawItem::WorkingDirectory { path, .. } => Kind::WorkingDirectory(copy_text(&mut bytes, path)),
            RawItem::File { fd, facts, .. } => Kind::File { fd: *fd, facts: *facts },
            RawItem::Behind { fd, facts, .. } => Kind::Behind { fd: *fd, facts: *facts },
            RawItem::Image { at, image, .. } => Kind::Image { at: *at, image: copy_image(&mut bytes, image) },
            RawItem::Usage { usage, .. } => Kind::Usage(*usage),
            RawItem::Comm { comm, .. } => Kind::Comm(copy_text(&mut bytes, comm)),
        };
        Self { tid, bytes, kind }
    }

    /// Shows the item again.
    pub(crate) fn with<R>(&self, show: impl FnOnce(&RawItem<'_>) -> R) -> R {
        let (tid, text) = (self.tid, |range: &Range| &self.bytes[range.clone()]);
        match &self.kind {
            Kind::Call(call) => self.with_call(call, |call| show(&RawItem::Call(call))),
            Kind::Entered(call) => self.with_call(call, |call| show(&RawItem::Entered(call))),
            Kind::Interrupted { at } => show(&RawItem::Interrupted { tid, at: *at }),
            Kind::Suspended { at } => show(&RawItem::Suspended { tid, at: *at }),
            Kind::Exited { at, status } => show(&RawItem::Exited { tid, at: *at, status: *status }),
            Kind::Killed { at, signal } => show(&RawItem::Killed { tid, at: *at, signal: text(signal) }),
            Kind::Superseded { by, at } => show(&RawItem::Superseded { tid, by: *by, at: *at }),
            Kind::Created { child, at } => show(&RawItem::Created { parent: tid, child: *child, at: *at }),
            Kind::Found { pid, ppid, at } => show(&RawItem::Found { tid, pid: *pid, ppid: *ppid, at: *at }),
            Kind::Descriptor { fd, open } => {
                show(&RawItem::Descriptor { tid, fd: *fd, open: self.open(open) })
            }
            Kind::Copies { fd, of, other, received } => {
                show(&RawItem::Copies { tid, fd: *fd, of: *of, other: *other, received: *received })
            }
            Kind::Position { fd, position } => show(&RawItem::Position { tid, fd: *fd, position: *position }),
            Kind::Sent { fd } => show(&RawItem::Sent { tid, fd: *fd }),
            Kind::Escaped { table } => show(&RawItem::Escaped { tid, table: *table }),
            Kind::WorkingDirectory(path) => show(&RawItem::WorkingDirectory { tid, path: text(path) }),
            Kind::File { fd, facts } => show(&RawItem::File { tid, fd: *fd, facts: *facts }),
            Kind::Behind { fd, facts } => show(&RawItem::Behind { tid, fd: *fd, facts: *facts }),
            Kind::Image { at, image } => self.with_image(*at, image, show),
            Kind::Usage(usage) => show(&RawItem::Usage { tid, usage: *usage }),
            Kind::Comm(comm) => show(&RawItem::Comm { tid, comm: text(comm) }),
        }
    }

    fn open(&self, open: &HeldOpen) -> OpenFile<'_> {
        let HeldOpen { position, append, cloexec, followed, facts, .. } = *open;
        let target = Target { name: &self.bytes[open.name.clone()], deleted: open.deleted };
        OpenFile { target, position, append, cloexec, followed, facts }
    }

    fn with_image<R>(&self, at: Timestamp, image: &HeldImage, show: impl FnOnce(&RawItem<'_>) -> R) -> R {
        let text = |range: &Range| &self.bytes[range.clone()];
        let env: Vec<&[u8]> = image.env.iter().map(text).collect();
        let image = Image {
            exe: image.exe.as_ref().map(text),
            cmdline: image.cmdline.as_ref().map(text),
            cmdline_cut: image.cmdline_cut,
            cwd: image.cwd.as_ref().map(text),
            env: &env,
        };
        show(&RawItem::Image { tid: self.tid, at, image })
    }

    fn with_call<R>(&self, call: &HeldCall, show: impl FnOnce(RawCall<'_>) -> R) -> R {
        let args: Vec<Arg<'_>> = call.args.iter().map(|arg| self.arg(arg)).collect();
        let ret = match &call.ret {
            HeldReturn::Unseen => Return::Unseen,
            HeldReturn::Value(value, target) => Return::Value(*value, self.target(target)),
            HeldReturn::Failed(error) => Return::Failed(&self.bytes[error.clone()]),
        };
        let HeldCall { call, start, dur, .. } = *call;
        show(RawCall { tid: self.tid, call, start, dur, ret, args: &args })
    }

    fn arg(&self, arg: &HeldArg) -> Arg<'_> {
        let text = |range: &Range| &self.bytes[range.clone()];
        match arg {
            HeldArg::Opaque => Arg::Opaque,
            HeldArg::Null => Arg::Null,
            HeldArg::Int(number) => Arg::Int(*number),
            HeldArg::Fd(fd, target) => Arg::Fd(*fd, self.target(target)),
            HeldArg::Cwd(target) => Arg::Cwd(self.target(target)),
            HeldArg::Located(path) => Arg::Located(text(path)),
            HeldArg::Path(path, complete) => Arg::Path { bytes: text(path), complete: *complete },
            HeldArg::Symbols(symbols) => Arg::Symbols(text(symbols)),
            HeldArg::FdPair([a, b]) => Arg::FdPair([(a.0, self.target(&a.1)), (b.0, self.target(&b.1))]),
            HeldArg::Length(length) => Arg::Length(*length),
            HeldArg::Strings(strings, complete) => Arg::Strings { bytes: text(strings), complete: *complete },
            HeldArg::Text(structure) => Arg::Text(text(structure)),
        }
    }

    fn target(&self, target: &HeldTarget) -> Option<Target<'_>> {
        let (name, deleted) = target.as_ref()?;
        Some(Target { name: &self.bytes[name.clone()], deleted: *deleted })
    }
}

fn copy_text(bytes: &mut Vec<u8>, text: &[u8]) -> Range {
    let start = bytes.len();
    bytes.extend_from_slice(text);
    start..bytes.len()
}

fn copy_target(bytes: &mut Vec<u8>, target: &Option<Target<'_>>) -> HeldTarget {
    target.as_ref().map(|target| (copy_text(bytes, target.name), target.deleted))
}

fn copy_open(bytes: &mut Vec<u8>, open: &OpenFile<'_>) -> HeldOpen {
    let OpenFile { target, position, append, cloexec, followed, facts } = *open;
    let name = copy_text(bytes, target.name);
    HeldOpen { name, deleted: target.deleted, position, append, cloexec, followed, facts }
}

fn copy_image(bytes: &mut Vec<u8>, image: &Image<'_>) -> HeldImage {
    let mut copy = |text: &[u8]| copy_text(bytes, text);
    HeldImage {
        exe: image.exe.map(&mut copy),
        cmdline: image.cmdline.map(&mut copy),
        cmdline_cut: image.cmdline_cut,
        cwd: image.cwd.map(&mut copy),
        env: image.env.iter().map(|variable| copy(variable)).collect(),
    }
}

fn copy_call(bytes: &mut Vec<u8>, call: &RawCall<'_>) -> HeldCall {
    let ret = match &call.ret {
        Return::Unseen => HeldReturn::Unseen,
        Return::Value(value, target) => HeldReturn::Value(*value, copy_target(bytes, target)),
        Return::Failed(error) => HeldReturn::Failed(copy_text(bytes, error)),
    };
    let args = call.args.iter().map(|arg| copy_arg(bytes, arg)).collect();
    HeldCall { call: call.call, start: call.start, dur: call.dur, ret, args }
}

fn copy_arg(bytes: &mut Vec<u8>, arg: &Arg<'_>) -> HeldArg {
    match arg {
        Arg::Opaque => HeldArg::Opaque,
        Arg::Null => HeldArg::Null,
        Arg::Int(number) => HeldArg::Int(*number),
        Arg::Fd(fd, target) => HeldArg::Fd(*fd, copy_target(bytes, target)),
        Arg::Cwd(target) => HeldArg::Cwd(copy_target(bytes, target)),
        Arg::Located(path) => HeldArg::Located(copy_text(bytes, path)),
        Arg::Path { bytes: path, complete } => HeldArg::Path(copy_text(bytes, path), *complete),
        Arg::Symbols(symbols) => HeldArg::Symbols(copy_text(bytes, symbols)),
        Arg::FdPair([a, b]) => {
            HeldArg::FdPair([(a.0, copy_target(bytes, &a.1)), (b.0, copy_target(bytes, &b.1))])
        }
        Arg::Length(length) => HeldArg::Length(*length),
        Arg::Strings { bytes: strings, complete } => HeldArg::Strings(copy_text(bytes, strings), *complete),
        Arg::Text(structure) => HeldArg::Text(copy_text(bytes, structure)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_items_come_back_as_they_were() {
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
            call: CallId(2),
            start: Timestamp(3),
            dur: Some(Nanos(4)),
            ret: Return::Value(5, target),
            args: &args,
        };
        let failed = RawCall { ret: Return::Failed(b"ENOENT"), ..call };
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
        let items = [
            RawItem::Call(call),
            RawItem::Entered(failed),
            RawItem::Interrupted { tid, at },
            RawItem::Suspended { tid, at },
            RawItem::Exited { tid, at, status: 3 },
            RawItem::Killed { tid, at, signal: b"SIGKILL" },
            RawItem::Superseded { tid, by: Tid(8), at },
            RawItem::Created { parent: tid, child: Tid(2), at },
            RawItem::Found { tid, pid: Pid(1), ppid: Some(Pid(7)), at },
            RawItem::Descriptor { tid, fd: 5, open },
            RawItem::Copies { tid, fd: 5, of: Tid(8), other: 6, received: true },
            RawItem::Position { tid, fd: 5, position: 9 },
            RawItem::Sent { tid, fd: 5 },
            RawItem::Escaped { tid, table: true },
            RawItem::WorkingDirectory { tid, path: b"/w" },
            RawItem::File { tid, fd: 5, facts },
            RawItem::Behind { tid, fd: 5, facts },
            RawItem::Image { tid, at, image },
            RawItem::Usage { tid, usage: Usage { max_memory: Some(6), ..Usage::ZERO } },
            RawItem::Comm { tid, comm: b"sh" },
        ];
        let mut held = Held::default();
        items.iter().for_each(|item| held.push(CaseId(0), tid, Some(4), item));
        assert_eq!(held.first(), Some(tid));
        for expected in &items {
            let waiting = held.take(tid).unwrap();
            assert_eq!((waiting.case, waiting.seq), (CaseId(0), Some(4)));
            waiting.item.with(|item| assert_eq!(item, expected));
        }
        assert!(held.is_empty() && held.first().is_none() && held.bytes == 0);
    }

    #[test]
    fn items_of_known_threads_come_back_in_the_order_of_all() {
        let mut held = Held::default();
        for (tid, status) in [(1, 0), (2, 1), (3, 2), (1, 3), (2, 4), (1, 5)] {
            let (tid, at) = (Tid(tid), Timestamp(0));
            held.push(CaseId(0), tid, None, &RawItem::Exited { tid, at, status });
        }
        let mut statuses = Vec::new();
        [Tid(2), Tid(1)].into_iter().for_each(|tid| held.know(tid));
        while let Some(tid) = held.first_known() {
            held.take(tid).unwrap().item.with(|item| match item {
                RawItem::Exited { status, .. } => statuses.push(*status),
                _ => unreachable!(),
            });
            held.know(tid);
        }
        assert_eq!(statuses, [0, 1, 3, 4, 5]);
        assert_eq!(held.first(), Some(Tid(3)));
    }
}
