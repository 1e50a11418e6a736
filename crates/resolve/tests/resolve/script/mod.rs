//! A tiny language for traces: `Script::new().open("/a", 3).read(3, 10).last().path`.

#![allow(dead_code, reason = "each test binary uses its part")]

use iotrail_model::raw::{Arg, Image, OpenFile, RawCall, RawItem, Return, Target};
use iotrail_model::{
    CallId, CaseId, Dictionaries, Event, FileFacts, FileKind, Layer, NamedFile, Nanos, PathId, Pid, Process,
    Tid, Timestamp, Usage,
};
use iotrail_resolve::{Resolver, Sink, Summary};

/// An event with names in place of ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) call: String,
    pub(crate) seq: u64,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) fd: Option<i32>,
    pub(crate) path: Option<String>,
    pub(crate) path2: Option<String>,
    pub(crate) via: Option<String>,
    pub(crate) offset: Option<i64>,
    pub(crate) requested: Option<i64>,
    pub(crate) size: Option<i64>,
    pub(crate) ret: Option<i64>,
    pub(crate) errno: Option<String>,
    pub(crate) flags: Option<String>,
    pub(crate) file: Option<u32>,
    pub(crate) file2: Option<u32>,
    pub(crate) open: Option<u32>,
    pub(crate) open2: Option<u32>,
    pub(crate) layer: Layer,
    pub(crate) parent: Option<u64>,
    pub(crate) has_dur: bool,
}

#[derive(Default)]
struct Log {
    events: Vec<Seen>,
    processes: Vec<Process>,
    images: Vec<Process>,
    files: Vec<(String, FileFacts)>,
    named: Vec<(String, Option<u32>, bool)>,
}

impl Sink for Log {
    fn event(&mut self, event: &Event, names: &Dictionaries) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.events.push(Seen {
            call: text(names.calls.get(event.call.0)),
            layer: event.layer,
            parent: event.parent.get(),
            seq: event.seq,
            pid: event.pid.0,
            tid: event.tid.0,
            fd: event.fd.get(),
            path: event.path.get().map(|id| text(names.paths.get(id.0))),
            path2: event.path2.get().map(|id| text(names.paths.get(id.0))),
            via: event.via.get().map(|id| text(names.flags.get(id.0))),
            offset: event.offset.get(),
            requested: event.requested.get(),
            size: event.size.get(),
            ret: event.ret.get(),
            errno: event.errno.get().map(|id| text(names.errnos.get(id.0))),
            flags: event.flags.get().map(|id| text(names.flags.get(id.0))),
            file: event.file.get().map(|id| id.0),
            file2: event.file2.get().map(|id| id.0),
            open: event.open.get().map(|id| id.0),
            open2: event.open2.get().map(|id| id.0),
            has_dur: !event.dur.is_null(),
        });
    }

    fn process(&mut self, process: Process) {
        self.processes.push(process);
    }

    fn image(&mut self, process: &Process) {
        self.images.push(process.clone());
    }

    fn file(&mut self, path: PathId, file: &NamedFile, names: &Dictionaries) {
        let path = String::from_utf8_lossy(names.paths.get(path.0)).into_owned();
        self.files.extend(file.facts.map(|facts| (path.clone(), facts)));
        self.named.push((path, file.file.get().map(|file| file.0), file.gone));
    }
}

/// What the trace has said so far, and what came of it.
pub(crate) struct Script {
    resolver: Resolver,
    pub(crate) names: Dictionaries,
    log: Log,
    case: CaseId,
    tid: Tid,
    layer: Layer,
    clock: i64,
    duration: i64,
    step: i64,
}

pub(crate) fn value(value: i64) -> Return<'static> {
    Return::Value(value, None)
}

pub(crate) fn hint(name: &str) -> Option<Target<'_>> {
    Some(Target { name: name.as_bytes(), deleted: false })
}

pub(crate) fn path(path: &str) -> Arg<'_> {
    Arg::Path { bytes: path.as_bytes(), complete: true }
}

pub(crate) fn fd(fd: i32) -> Arg<'static> {
    Arg::Fd(fd, None)
}

pub(crate) fn symbols(symbols: &str) -> Arg<'_> {
    Arg::Symbols(symbols.as_bytes())
}

pub(crate) fn open_file(name: &str) -> OpenFile<'_> {
    let target = Target { name: name.as_bytes(), deleted: false };
    OpenFile { target, position: None, append: false, cloexec: false, followed: true, facts: None }
}

/// The flags of clone that make a thread.
pub(crate) const THREAD: &str = "CLONE_VM|CLONE_FILES|CLONE_FS|CLONE_THREAD";
pub(crate) const CWD: Arg<'static> = Arg::Cwd(None);
pub(crate) const ENOENT: Return<'static> = Return::Failed(b"ENOENT");

impl Script {
    /// Thread 100 speaks first; every item takes 5 ns and begins 10 ns after the one before.
    pub(crate) fn new() -> Self {
        Self {
            resolver: Resolver::new(),
            names: Dictionaries::default(),
            log: Log::default(),
            case: CaseId(0),
            tid: Tid(100),
            clock: 0,
            duration: 5,
            layer: Layer::Syscall,
            step: 10,
        }
    }

    /// As [`Self::new`], where each thread has a file of its own.
    pub(crate) fn with_a_file_per_thread() -> Self {
        Self { resolver: Resolver::with_a_file_per_thread(), ..Self::new() }
    }

    /// Every item from now on is at this time and takes none.
    pub(crate) fn standing_still(mut self) -> Self {
        self.step = 0;
        self
    }

    /// The file of the thread is at its end.
    pub(crate) fn over(mut self) -> Self {
        self.resolver.over(self.tid, &mut self.names, &mut self.log);
        self
    }

    /// The calls of a trace, of which nobody says what is in it.
    pub(crate) fn of_trace(self) -> Self {
        Self { resolver: self.resolver.of_trace(), ..self }
    }

    /// What was told last of the name of a file: whether it is gone.
    pub(crate) fn is_gone(&self, path: &str, file: u32) -> Option<bool> {
        let mut told = self.log.named.iter().rev();
        told.find(|(name, number, _)| name == path && *number == Some(file)).map(|(_, _, gone)| *gone)
    }

    /// Nothing happens for so many ns.
    pub(crate) fn later(mut self, nanoseconds: i64) -> Self {
        self.clock += nanoseconds;
        self
    }

    /// The next call begins at the time of the one before.
    pub(crate) fn at_once(mut self) -> Self {
        self.clock -= 10;
        self
    }

    pub(crate) fn by(mut self, tid: u32) -> Self {
        self.tid = Tid(tid);
        self
    }

    pub(crate) fn case(mut self, case: u32) -> Self {
        self.case = CaseId(case);
        self
    }

    /// The next calls are seen at this interface.
    pub(crate) fn seen_at(mut self, layer: Layer) -> Self {
        self.layer = layer;
        self
    }

    /// The next calls take this long, and so overlap with those after them.
    pub(crate) fn lasting(mut self, duration: i64) -> Self {
        self.duration = duration;
        self
    }

    pub(crate) fn item(mut self, item: &RawItem<'_>) -> Self {
        self.resolver.item(self.case, item, &mut self.names, &mut self.log);
        self
    }

    fn raw<'a>(&mut self, name: &str, args: &'a [Arg<'a>], ret: Return<'a>) -> RawCall<'a> {
        self.clock += self.step;
        let dur = (ret != Return::Unseen).then_some(Nanos(self.duration));
        let call = CallId(self.names.calls.intern(name.as_bytes()));
        RawCall { tid: self.tid, layer: self.layer, call, start: Timestamp(self.clock), dur, ret, args }
    }

    pub(crate) fn call(mut self, name: &str, args: &[Arg<'_>], ret: Return<'_>) -> Self {
        let call = self.raw(name, args, ret);
        self.item(&RawItem::Call(call))
    }

    pub(crate) fn entered(mut self, name: &str, args: &[Arg<'_>]) -> Self {
        let call = self.raw(name, args, Return::Unseen);
        self.item(&RawItem::Entered(call))
    }

    /// When the last call began.
    pub(crate) fn now(&self) -> i64 {
        self.clock
    }

    /// The call that was announced then returns.
    pub(crate) fn returned(mut self, start: i64, name: &str, args: &[Arg<'_>], ret: Return<'_>) -> Self {
        let call = RawCall { start: Timestamp(start), ..self.raw(name, args, ret) };
        self.item(&RawItem::Call(call))
    }

    pub(crate) fn open(self, path: &str, fd: i32) -> Self {
        self.open_with(path, "O_RDWR", fd)
    }

    pub(crate) fn open_with(self, name: &str, flags: &str, fd: i32) -> Self {
        self.call("openat", &[CWD, path(name), symbols(flags)], value(fd.into()))
    }

    pub(crate) fn read(self, number: i32, bytes: i64) -> Self {
        self.call("read", &[fd(number), Arg::Opaque, Arg::Int(4096)], value(bytes))
    }

    pub(crate) fn write(self, number: i32, bytes: i64) -> Self {
        self.call("write", &[fd(number), Arg::Opaque, Arg::Int(bytes)], value(bytes))
    }

    pub(crate) fn pread(self, number: i32, bytes: i64, offset: i64) -> Self {
        let args = [fd(number), Arg::Opaque, Arg::Int(4096), Arg::Int(offset)];
        self.call("pread64", &args, value(bytes))
    }

    pub(crate) fn lseek(self, number: i32, position: i64) -> Self {
        self.call("lseek", &[fd(number), Arg::Int(position), symbols("SEEK_SET")], value(position))
    }

    pub(crate) fn dup2(self, old: i32, new: i32) -> Self {
        self.call("dup2", &[fd(old), fd(new)], value(new.into()))
    }

    pub(crate) fn close(self, number: i32) -> Self {
        self.call("close", &[fd(number)], value(0))
    }

    pub(crate) fn chdir(self, to: &str) -> Self {
        self.call("chdir", &[path(to)], value(0))
    }

    pub(crate) fn getpid(self) -> Self {
        self.call("getpid", &[], value(1))
    }

    pub(crate) fn fork(self, child: u32) -> Self {
        self.call("fork", &[], value(child.into()))
    }

    pub(crate) fn clone(self, flags: &str, child: u32) -> Self {
        self.call("clone", &[Arg::Null, symbols(flags)], value(child.into()))
    }

    pub(crate) fn exec(self, exe: &str, words: &str) -> Self {
        self.call(
            "execve",
            &[path(exe), Arg::Strings { bytes: words.as_bytes(), complete: true }, Arg::Opaque],
            value(0),
        )
    }

    pub(crate) fn exit_group(self, status: i64) -> Self {
        self.call("exit_group", &[Arg::Int(status)], Return::Unseen)
    }

    pub(crate) fn exited(mut self, status: i32) -> Self {
        self.clock += self.step;
        let item = RawItem::Exited { tid: self.tid, at: Timestamp(self.clock), status };
        self.item(&item)
    }

    pub(crate) fn created(mut self, child: u32) -> Self {
        self.clock += self.step;
        let item = RawItem::Created { parent: self.tid, child: Tid(child), at: Timestamp(self.clock) };
        self.item(&item)
    }

    /// The tracer finds the thread when the recording begins.
    pub(crate) fn found(mut self, pid: u32) -> Self {
        self.clock += self.step;
        let (tid, at) = (self.tid, Timestamp(self.clock));
        self.item(&RawItem::Found { tid, pid: Pid(pid), ppid: Some(Pid(1)), at, table: None })
    }

    /// The same of a thread that uses the descriptors of thread `table` (or its own), which are not those of its process.
    pub(crate) fn found_apart(mut self, pid: u32, table: u32) -> Self {
        self.clock += self.step;
        let (tid, at, table) = (self.tid, Timestamp(self.clock), Some(Tid(table)));
        self.item(&RawItem::Found { tid, pid: Pid(pid), ppid: Some(Pid(1)), at, table })
    }

    /// The tracer looks at a descriptor.
    pub(crate) fn looked(self, fd: i32, name: &str, position: i64) -> Self {
        self.looked_at(fd, OpenFile { position: Some(position), ..open_file(name) })
    }

    pub(crate) fn looked_at(self, fd: i32, open: OpenFile<'_>) -> Self {
        let tid = self.tid;
        self.item(&RawItem::Descriptor { tid, fd, open })
    }

    pub(crate) fn copies(self, fd: i32, other: i32) -> Self {
        let tid = self.tid;
        self.item(&RawItem::Copies { tid, fd, of: tid, other, received: false })
    }

    /// The descriptor came with a message; it is the `other` of the thread `of`.
    pub(crate) fn arrived(self, fd: i32, of: u32, other: i32) -> Self {
        let tid = self.tid;
        self.item(&RawItem::Copies { tid, fd, of: Tid(of), other, received: true })
    }

    /// The tracer looks where a descriptor stands.
    pub(crate) fn stands(self, fd: i32, position: i64) -> Self {
        let tid = self.tid;
        self.item(&RawItem::Position { tid, fd, position })
    }

    /// Whether a look at a descriptor that was made shows what was made.
    pub(crate) fn is_steady(&self, fd: i32) -> bool {
        self.resolver.is_steady(self.tid, fd, true)
    }

    pub(crate) fn has_lost(&self, fd: i32) -> bool {
        self.resolver.has_lost(self.tid, fd)
    }

    pub(crate) fn sent(self, fd: i32) -> Self {
        let tid = self.tid;
        self.item(&RawItem::Sent { tid, fd })
    }

    pub(crate) fn escaped(self) -> Self {
        let tid = self.tid;
        self.item(&RawItem::Escaped { tid, table: false })
    }

    pub(crate) fn file(self, fd: i32, inode: u64, kind: FileKind) -> Self {
        let facts = FileFacts { device: 8, inode, size: None, kind: Some(kind), birth: None };
        let tid = self.tid;
        self.item(&RawItem::File { tid, fd, facts })
    }

    /// The tracer finds this behind a descriptor that the call which comes next has made.
    pub(crate) fn behind(self, fd: i32, inode: u64) -> Self {
        let facts = FileFacts { device: 8, inode, size: None, kind: Some(FileKind::File), birth: None };
        let tid = self.tid;
        self.item(&RawItem::FileInfo { tid, fd, facts })
    }

    pub(crate) fn working_directory(self, path: &str) -> Self {
        let tid = self.tid;
        self.item(&RawItem::WorkingDirectory { tid, path: path.as_bytes() })
    }

    pub(crate) fn image(mut self, image: Image<'_>) -> Self {
        self.clock += self.step;
        let (tid, at) = (self.tid, Timestamp(self.clock));
        self.item(&RawItem::Image { tid, at, image })
    }

    pub(crate) fn used(self, usage: Usage) -> Self {
        let tid = self.tid;
        self.item(&RawItem::Usage { tid, usage })
    }

    pub(crate) fn holders(&self, device: u64, inode: u64) -> Vec<(u32, i32)> {
        let holders = self.resolver.holders(device, inode, 64);
        holders.into_iter().map(|(tid, fd)| (tid.0, fd)).collect()
    }

    pub(crate) fn knows(&self, fd: i32) -> bool {
        self.resolver.knows(self.tid, fd)
    }

    pub(crate) fn rotate(mut self) -> Self {
        self.resolver.rotate(&mut self.names);
        self
    }

    /// Every name is looked at again, and there is what `facts` say.
    pub(crate) fn look_again(mut self, facts: FileFacts) -> Self {
        self.resolver.look_again(|_| Some(facts), &mut self.names, &mut self.log);
        self
    }

    pub(crate) fn finish(mut self) -> Self {
        self.resolver.finish(&mut self.names, &mut self.log);
        self
    }

    /// What was told of the files behind names: names and inodes.
    pub(crate) fn inodes(&self) -> Vec<(&str, u64)> {
        self.log.files.iter().map(|(name, facts)| (name.as_str(), facts.inode)).collect()
    }

    pub(crate) fn events(&self) -> &[Seen] {
        &self.log.events
    }

    pub(crate) fn last(&self) -> &Seen {
        &self.log.events[self.log.events.len() - 1]
    }

    pub(crate) fn path(&self) -> Option<&str> {
        self.last().path.as_deref()
    }

    pub(crate) fn path2(&self) -> Option<&str> {
        self.last().path2.as_deref()
    }

    pub(crate) fn offset(&self) -> Option<i64> {
        self.last().offset
    }

    pub(crate) fn processes(&self) -> &[Process] {
        &self.log.processes
    }

    pub(crate) fn images(&self) -> &[Process] {
        &self.log.images
    }

    pub(crate) fn files(&self) -> &[(String, FileFacts)] {
        &self.log.files
    }

    pub(crate) fn summary(&self) -> Summary {
        self.resolver.summary()
    }

    pub(crate) fn interleaved(&self) -> bool {
        self.summary().interleaved(self.case)
    }
}
