//! Random programs against a naive model of the kernel: full copies of every table, paths as strings, no sharing tricks.

use crate::script::{Script, fd, open_file, symbols, value};
use iotrail_model::raw::{Arg, OpenFile as RawFile};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a program does; numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Step {
    Open(u8, bool, bool),
    Close(u8),
    Dup2(u8, u8),
    Dup3Cloexec(u8, u8),
    Cloexec(u8, bool),
    Read(u8, u8),
    Append(u8),
    Pread(u8, u8),
    Seek(u8, u8),
    Chdir(u8),
    Fork,
    /// The tracer says who was made before the call returns; the child may speak first.
    Announced(Kind),
    Thread,
    Exec,
    Exit,
    CloseRange(u8),
    Switch(u8),
    /// A process turns up with two descriptors that may be one; the tracer may know whether, and that nobody else has them.
    Found(bool, bool, u8),
    Map(u8, u8, u8),
    Unmap(u8, u8),
    Move(u8, u8, u8, u8),
    Look(u8, u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Fork,
    Vfork,
    Thread,
}

struct OpenFile {
    path: String,
    cursor: Option<i64>,
    append: bool,
    /// Nobody could say with which others it shares its cursor.
    doubtful: bool,
}

/// Which page of which file lies at each page of memory.
type Memory = BTreeMap<i64, (Rc<RefCell<OpenFile>>, i64)>;

/// Descriptors: what they stand for, and whether exec closes them.
type Table = BTreeMap<i32, (Rc<RefCell<OpenFile>>, bool)>;

/// A task of the model. Threads share `files` and `cwd`, children copy them.
#[derive(Clone)]
struct Task {
    tid: u32,
    pid: u32,
    files: Rc<RefCell<Table>>,
    cwd: Rc<RefCell<String>>,
    memory: Rc<RefCell<Memory>>,
    /// The child of its call that has not returned.
    making: Option<(Kind, u32)>,
}

const PAGE: i64 = 4096;
const BASE: i64 = 0x7f00_0000_0000;
const THREAD: &str = "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD";

const NAMES: [&str; 6] = ["/a", "b", "d/c", "../e", "/d/./f", "d//g/"];
const PLACES: [&str; 4] = ["/", "/w", "sub", ".."];

fn absolute(cwd: &str, path: &str) -> String {
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{cwd}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

struct World {
    script: Script,
    tasks: Vec<Task>,
    current: usize,
    next: u32,
}

impl World {
    fn new() -> Self {
        let cwd = Rc::new(RefCell::new("/w".into()));
        let (files, memory) = Default::default();
        let task = Task { tid: 100, pid: 100, files, cwd, memory, making: None };
        Self { script: Script::new().chdir("/w"), tasks: vec![task], current: 0, next: 101 }
    }

    fn task(&self) -> Task {
        self.tasks[self.current].clone()
    }

    fn trace(&mut self, say: impl FnOnce(Script) -> Script) {
        let tid = self.task().tid;
        let script = std::mem::replace(&mut self.script, Script::new());
        self.script = say(script.by(tid));
    }

    /// The event of a call on `number` names the model's file and, before the call's own move, its cursor.
    fn check(&self, number: i32, offset: Option<i64>) {
        let task = self.task();
        let files = task.files.borrow();
        let path = files.get(&number).map(|(file, _)| file.borrow().path.clone());
        assert_eq!(self.script.path(), path.as_deref(), "{:?}", self.script.last());
        let doubtful = files.get(&number).is_some_and(|(file, _)| file.borrow().doubtful);
        if !doubtful || self.script.offset().is_some() {
            assert_eq!(self.script.offset(), offset, "{:?}", self.script.last());
        }
        assert_eq!(self.script.last().pid, task.pid);
    }

    fn file(&self, number: i32) -> Option<Rc<RefCell<OpenFile>>> {
        self.task().files.borrow().get(&number).map(|(file, _)| Rc::clone(file))
    }

    fn transfer(&mut self, number: i32, bytes: i64, write: bool) {
        let Some(file) = self.file(number) else { return };
        let before = file.borrow().cursor;
        let to_end = write && file.borrow().append;
        self.trace(|script| if write { script.write(number, bytes) } else { script.read(number, bytes) });
        self.check(number, before.filter(|_| !to_end));
        if bytes > 0 {
            file.borrow_mut().cursor = before.filter(|_| !to_end).map(|cursor| cursor + bytes);
        }
    }

    /// The call that made a child returns.
    fn return_from_making(&mut self) {
        if let Some((kind, child)) = self.tasks[self.current].making.take() {
            self.trace(|script| match kind {
                Kind::Fork => script.fork(child),
                Kind::Vfork => script.call("vfork", &[], value(child.into())),
                Kind::Thread => script.clone(THREAD, child),
            });
        }
    }

    fn make(&mut self, kind: Kind) {
        let (task, child) = (self.task(), self.next);
        self.next += 1;
        self.trace(|script| {
            let script = match kind {
                Kind::Fork => script.entered("fork", &[]),
                Kind::Vfork => script.entered("vfork", &[]),
                Kind::Thread => script.entered("clone", &[Arg::Null, symbols(THREAD)]),
            };
            script.created(child)
        });
        self.tasks[self.current].making = Some((kind, child));
        let copy_of_memory = || Rc::new(RefCell::new(task.memory.borrow().clone()));
        let new = match kind {
            Kind::Thread => Task { tid: child, ..task },
            kind => Task {
                tid: child,
                pid: child,
                files: Rc::new(RefCell::new(task.files.borrow().clone())),
                cwd: Rc::new(RefCell::new(task.cwd.borrow().clone())),
                memory: if kind == Kind::Vfork { task.memory } else { copy_of_memory() },
                making: None,
            },
        };
        self.tasks.push(new);
    }

    fn find(&mut self, one: bool, said: bool, position: u8) {
        let pid = self.next;
        self.next += 1;
        let path = format!("/found/{pid}");
        let open = || {
            let (cursor, path) = (Some(position.into()), path.clone());
            Rc::new(RefCell::new(OpenFile { path, cursor, append: false, doubtful: !said }))
        };
        let first = open();
        let second = if one { Rc::clone(&first) } else { open() };
        let alone =
            OpenFile { path: format!("/alone/{pid}"), cursor: Some(7), append: false, doubtful: false };
        let script = std::mem::replace(&mut self.script, Script::new()).by(pid).found(pid);
        let found = |path| RawFile { position: Some(position.into()), followed: said, ..open_file(path) };
        let script = script.looked_at(3, found(&path)).looked_at(4, found(&path));
        let script = if one && said { script.copies(4, 3) } else { script };
        self.script = script.looked(5, &alone.path, 7).working_directory("/w");
        let files = [(3, (first, false)), (4, (second, false)), (5, (Rc::new(RefCell::new(alone)), false))];
        let (files, cwd) = (Rc::new(RefCell::new(files.into())), Rc::new(RefCell::new("/w".into())));
        self.tasks.push(Task { tid: pid, pid, files, cwd, memory: Rc::default(), making: None });
    }

    fn map(&mut self, number: i32, at: i64, pages: i64) {
        let Some(file) = self.file(number) else { return };
        let (task, flags) = (self.task(), [symbols("PROT_READ"), symbols("MAP_SHARED|MAP_FIXED")]);
        let place = BASE + at * PAGE;
        let args =
            [Arg::Int(place), Arg::Int(pages * PAGE), flags[0], flags[1], fd(number), Arg::Int(2 * PAGE)];
        self.trace(|script| script.call("mmap", &args, value(place)));
        let pages = (0..pages).map(|page| (at + page, (Rc::clone(&file), 2 + page)));
        task.memory.borrow_mut().extend(pages);
    }

    fn remap(&mut self, at: i64, pages: i64, to: i64, new_pages: i64) {
        let (task, flags) = (self.task(), symbols("MREMAP_MAYMOVE|MREMAP_FIXED"));
        let place = |page: i64| Arg::Int(BASE + page * PAGE);
        let args = [place(at), Arg::Int(pages * PAGE), Arg::Int(new_pages * PAGE), flags, place(to)];
        self.trace(|script| script.call("mremap", &args, value(BASE + to * PAGE)));
        let mut memory = task.memory.borrow_mut();
        let moved: Vec<_> = (at..at + pages).map(|page| memory.remove(&page)).collect();
        memory.retain(|page, _| !(to..to + new_pages).contains(page));
        for page in 0..new_pages {
            let grown = || {
                let (file, last) = moved.last()?.clone()?;
                Some((file, last + page + 1 - pages))
            };
            if let Some(content) = moved.get(page as usize).cloned().unwrap_or_else(grown) {
                memory.insert(to + page, content);
            }
        }
    }

    fn look(&mut self, at: i64, pages: i64) {
        let task = self.task();
        let args = [Arg::Int(BASE + at * PAGE), Arg::Int(pages * PAGE), symbols("MS_ASYNC")];
        self.trace(|script| script.call("msync", &args, value(0)));
        let memory = task.memory.borrow();
        let first =
            memory.range(at..at + pages).next().map(|(_, (file, page))| (file.borrow().path.clone(), *page));
        let found =
            self.script.path().map(str::to_owned).zip(self.script.offset().map(|offset| offset / PAGE));
        assert_eq!(found, first, "{:?}", self.script.last());
    }

    fn step(&mut self, step: &Step) {
        self.return_from_making_unless_switching(step);
        let task = self.task();
        match *step {
            Step::Open(name, append, cloexec) => {
                let name = NAMES[usize::from(name) % NAMES.len()];
                let number = (3..).find(|number| !task.files.borrow().contains_key(number)).unwrap_or(3);
                let path = absolute(&task.cwd.borrow(), name);
                let file = Rc::new(RefCell::new(OpenFile { path, cursor: Some(0), append, doubtful: false }));
                task.files.borrow_mut().insert(number, (file, cloexec));
                let flags = ["O_RDWR", "O_RDWR|O_APPEND", "O_RDWR|O_CLOEXEC", "O_RDWR|O_APPEND|O_CLOEXEC"];
                let flags = flags[usize::from(append) + 2 * usize::from(cloexec)];
                self.trace(|script| script.open_with(name, flags, number));
                self.check(number, None);
            }
            Step::Close(number) => {
                let number = 3 + i32::from(number % 8);
                if task.files.borrow_mut().remove(&number).is_some() {
                    self.trace(|script| script.close(number));
                }
            }
            Step::Dup2(old, new) => self.duplicate(&task, old, new, false),
            Step::Dup3Cloexec(old, new) => self.duplicate(&task, old, new, true),
            Step::Cloexec(number, on) => {
                let number = 3 + i32::from(number % 8);
                if let Some(slot) = task.files.borrow_mut().get_mut(&number) {
                    slot.1 = on;
                    let flags = symbols(if on { "FD_CLOEXEC" } else { "0" });
                    self.trace(|script| {
                        script.call("fcntl", &[fd(number), symbols("F_SETFD"), flags], value(0))
                    });
                }
            }
            Step::Read(number, bytes) => {
                let number = 3 + i32::from(number % 8);
                self.transfer(number, i64::from(bytes), bytes % 2 == 0);
            }
            Step::Append(number) => {
                let number = 3 + i32::from(number % 8);
                if let Some(file) = self.file(number) {
                    file.borrow_mut().append = true;
                    let set = [fd(number), symbols("F_SETFL"), symbols("O_RDWR|O_APPEND")];
                    self.trace(|script| script.call("fcntl", &set, value(0)));
                }
            }
            Step::Pread(number, offset) => {
                let number = 3 + i32::from(number % 8);
                if self.file(number).is_some() {
                    self.trace(|script| script.pread(number, 5, i64::from(offset)));
                    self.check(number, Some(i64::from(offset)));
                }
            }
            Step::Seek(number, position) => {
                let number = 3 + i32::from(number % 8);
                if let Some(file) = self.file(number) {
                    let before = file.borrow().cursor;
                    self.trace(|script| script.lseek(number, i64::from(position)));
                    self.check(number, before);
                    file.borrow_mut().cursor = Some(i64::from(position));
                }
            }
            Step::Chdir(index) => {
                let index = PLACES[usize::from(index) % PLACES.len()];
                let path = absolute(&task.cwd.borrow(), index);
                self.trace(|script| script.chdir(index));
                assert_eq!(self.script.path(), Some(path.as_str()));
                *task.cwd.borrow_mut() = path;
            }
            Step::Fork => {
                let child = self.next;
                let files = Rc::new(RefCell::new(task.files.borrow().clone()));
                let cwd = Rc::new(RefCell::new(task.cwd.borrow().clone()));
                self.trace(|script| script.fork(child));
                let memory = Rc::new(RefCell::new(task.memory.borrow().clone()));
                self.tasks.push(Task { tid: child, pid: child, files, cwd, memory, making: None });
                self.next += 1;
            }
            Step::Thread => {
                let child = self.next;
                self.trace(|script| script.clone(THREAD, child));
                self.tasks.push(Task { tid: child, ..task });
                self.next += 1;
            }
            // Only of processes with one thread, so that nobody has to die.
            Step::Exec if self.alone(&task) => {
                task.files.borrow_mut().retain(|_, (_, cloexec)| !*cloexec);
                self.tasks[self.current].memory = Rc::default();
                self.trace(|script| script.exec("/bin/x", "x"));
            }
            Step::Exit if self.tasks.len() > 1 && self.alone(&task) => {
                self.trace(|script| script.exited(0));
                self.tasks.remove(self.current);
                self.current = 0;
            }
            Step::Exec | Step::Exit => {}
            Step::CloseRange(first) => {
                let first = 3 + i32::from(first % 8);
                task.files.borrow_mut().retain(|number, _| *number < first);
                let range = [Arg::Int(first.into()), Arg::Int(-1), Arg::Int(0)];
                self.trace(|script| script.call("close_range", &range, value(0)));
            }
            Step::Switch(task) => self.current = usize::from(task) % self.tasks.len(),
            Step::Announced(kind) => self.make(kind),
            Step::Found(one, said, position) => self.find(one, said, position),
            Step::Map(number, at, pages) => {
                self.map(3 + i32::from(number % 8), i64::from(at % 16), 1 + i64::from(pages % 6));
            }
            Step::Unmap(at, pages) => {
                let (at, pages) = (i64::from(at % 16), 1 + i64::from(pages % 6));
                let args = [Arg::Int(BASE + at * PAGE), Arg::Int(pages * PAGE)];
                self.trace(|script| script.call("munmap", &args, value(0)));
                task.memory.borrow_mut().retain(|page, _| !(at..at + pages).contains(page));
            }
            Step::Move(at, pages, to, new_pages) => {
                let (pages, new_pages) = (1 + i64::from(pages % 6), 1 + i64::from(new_pages % 6));
                self.remap(i64::from(at % 16), pages, 30 + i64::from(to % 16), new_pages);
            }
            Step::Look(at, pages) => self.look(i64::from(at % 48), 1 + i64::from(pages % 20)),
        }
    }

    fn return_from_making_unless_switching(&mut self, step: &Step) {
        if !matches!(step, Step::Switch(_)) {
            self.return_from_making();
        }
    }

    fn alone(&self, task: &Task) -> bool {
        self.tasks.iter().filter(|other| other.pid == task.pid).count() == 1
    }

    fn duplicate(&mut self, task: &Task, old: u8, new: u8, cloexec: bool) {
        let (old, new) = (3 + i32::from(old % 8), 3 + i32::from(new % 8));
        if cloexec && old == new {
            return;
        }
        let Some(file) = self.file(old) else { return };
        if old != new {
            task.files.borrow_mut().insert(new, (file, cloexec));
        }
        match cloexec {
            true => {
                self.trace(|s| s.call("dup3", &[fd(old), fd(new), symbols("O_CLOEXEC")], value(new.into())));
            }
            false => self.trace(|script| script.dup2(old, new)),
        }
        self.check(new, None);
    }
}

fn step() -> impl Strategy<Value = Step> {
    let byte = any::<u8>;
    prop_oneof![
        4 => (byte(), any::<bool>(), any::<bool>()).prop_map(|(a, b, c)| Step::Open(a, b, c)),
        2 => byte().prop_map(Step::Close),
        2 => (byte(), byte()).prop_map(|(a, b)| Step::Dup2(a, b)),
        1 => (byte(), byte()).prop_map(|(a, b)| Step::Dup3Cloexec(a, b)),
        1 => (byte(), any::<bool>()).prop_map(|(a, b)| Step::Cloexec(a, b)),
        6 => (byte(), byte()).prop_map(|(a, b)| Step::Read(a, b)),
        1 => byte().prop_map(Step::Append),
        1 => (byte(), byte()).prop_map(|(a, b)| Step::Pread(a, b)),
        2 => (byte(), byte()).prop_map(|(a, b)| Step::Seek(a, b)),
        1 => byte().prop_map(Step::Chdir),
        1 => Just(Step::Fork),
        1 => Just(Step::Thread),
        1 => Just(Step::Exec),
        1 => Just(Step::Exit),
        1 => byte().prop_map(Step::CloseRange),
        3 => byte().prop_map(Step::Switch),
        2 => prop_oneof![Just(Kind::Fork), Just(Kind::Vfork), Just(Kind::Thread)].prop_map(Step::Announced),
        1 => (any::<bool>(), any::<bool>(), byte()).prop_map(|(a, b, c)| Step::Found(a, b, c)),
        3 => (byte(), byte(), byte()).prop_map(|(a, b, c)| Step::Map(a, b, c)),
        1 => (byte(), byte()).prop_map(|(a, b)| Step::Unmap(a, b)),
        1 => (byte(), byte(), byte(), byte()).prop_map(|(a, b, c, d)| Step::Move(a, b, c, d)),
        3 => (byte(), byte()).prop_map(|(a, b)| Step::Look(a, b)),
    ]
}

proptest! {
    #[test]
    fn paths_and_offsets_are_those_of_a_naive_kernel(steps in prop::collection::vec(step(), 1..120)) {
        let mut world = World::new();
        steps.iter().for_each(|step| world.step(step));
    }
}
