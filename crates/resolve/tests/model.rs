//! Random programs against a naive model of the kernel: full copies of every table, paths as strings, no sharing tricks.

mod script;

use iotrail_model::raw::Arg;
use proptest::prelude::*;
use script::{Script, fd, symbols, value};
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
    Thread,
    Exec,
    Exit,
    CloseRange(u8),
    Switch(u8),
}

struct OpenFile {
    path: String,
    cursor: Option<i64>,
    append: bool,
}

/// Descriptors: what they stand for, and whether exec closes them.
type Table = BTreeMap<i32, (Rc<RefCell<OpenFile>>, bool)>;

/// A task of the model. Threads share `files` and `cwd`, children copy them.
#[derive(Clone)]
struct Task {
    tid: u32,
    pid: u32,
    files: Rc<RefCell<Table>>,
    cwd: Rc<RefCell<String>>,
}

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
        let task = Task { tid: 100, pid: 100, files: Rc::default(), cwd: Rc::new(RefCell::new("/w".into())) };
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
        assert_eq!(self.script.offset(), offset, "{:?}", self.script.last());
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

    fn step(&mut self, step: &Step) {
        let task = self.task();
        match *step {
            Step::Open(name, append, cloexec) => {
                let name = NAMES[usize::from(name) % NAMES.len()];
                let number = (3..).find(|number| !task.files.borrow().contains_key(number)).unwrap_or(3);
                let path = absolute(&task.cwd.borrow(), name);
                let file = Rc::new(RefCell::new(OpenFile { path, cursor: Some(0), append }));
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
            Step::Chdir(place) => {
                let place = PLACES[usize::from(place) % PLACES.len()];
                let path = absolute(&task.cwd.borrow(), place);
                self.trace(|script| script.chdir(place));
                assert_eq!(self.script.path(), Some(path.as_str()));
                *task.cwd.borrow_mut() = path;
            }
            Step::Fork => {
                let child = self.next;
                let files = Rc::new(RefCell::new(task.files.borrow().clone()));
                let cwd = Rc::new(RefCell::new(task.cwd.borrow().clone()));
                self.trace(|script| script.fork(child));
                self.tasks.push(Task { tid: child, pid: child, files, cwd });
                self.next += 1;
            }
            Step::Thread => {
                let child = self.next;
                self.trace(|script| script.clone("CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD", child));
                self.tasks.push(Task { tid: child, ..task });
                self.next += 1;
            }
            // Only of processes with one thread, so that nobody has to die.
            Step::Exec if self.alone(&task) => {
                task.files.borrow_mut().retain(|_, (_, cloexec)| !*cloexec);
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
    ]
}

proptest! {
    #[test]
    fn paths_and_offsets_are_those_of_a_naive_kernel(steps in prop::collection::vec(step(), 1..120)) {
        let mut world = World::new();
        steps.iter().for_each(|step| world.step(step));
    }
}
