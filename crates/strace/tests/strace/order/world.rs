//! Processes and threads that come, call and go, as a kernel would let them, and what a tracer sees of it.

use std::collections::BTreeSet;

/// A small generator of numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % limit.max(1) as u64) as usize
    }

    pub(crate) fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}

/// What may happen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kind {
    /// Processes have threads.
    pub(crate) threads: bool,
    /// Numbers of processes that are gone are used again soon.
    pub(crate) reuse: bool,
    /// Numbers begin anew, so that children have lower ones than their parents.
    pub(crate) wraps: bool,
    /// How often the clock is set back.
    pub(crate) steps: usize,
    /// Parents wait for their children before they exit.
    pub(crate) orderly: bool,
}

/// What the tracer sees.
#[derive(Clone, Debug)]
pub(crate) enum Sight {
    /// A thread enters a call: its name and the arguments that are printed at once.
    Enter { tid: u32, name: &'static str, args: String },
    /// It returns: the arguments that are printed now, and the value.
    Return { tid: u32, args: String, value: String },
    /// It will never return: its thread dies in it.
    Cut { tid: u32 },
    /// exit or exit_group.
    Exit { tid: u32, name: &'static str, status: i32 },
    /// The notice that a thread is gone.
    Gone { tid: u32, how: String },
    /// The thread `by` goes on under the number of the leader.
    Superseded { tid: u32, by: u32 },
}

/// What happened, and when: by a clock that only goes forward, and by the one that is printed, in nanoseconds.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) sight: Sight,
    pub(crate) steady: i64,
    pub(crate) clock: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) ppid: Option<u32>,
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<&'static str>,
    /// Whether it ever did anything.
    pub(crate) seen: bool,
    parent: Option<usize>,
    zombie: bool,
    gone: bool,
}

#[derive(Clone, Debug)]
struct Thread {
    tid: u32,
    process: usize,
    call: Option<Call>,
    gone: bool,
}

#[derive(Clone, Debug)]
struct Call {
    what: What,
    /// Its place among the calls.
    number: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Open,
    Fork(u32),
    /// Returns when the child has called exec or is gone.
    Vfork(u32, usize),
    Wait,
    Exec,
}

#[derive(Debug)]
pub(crate) struct Truth {
    pub(crate) processes: Vec<Process>,
    /// Who began what, in that order.
    pub(crate) calls: Vec<(u32, String)>,
    pub(crate) seen: Vec<Seen>,
}

pub(crate) struct World<'r> {
    random: &'r mut Random,
    kind: Kind,
    truth: Truth,
    threads: Vec<Thread>,
    used: BTreeSet<u32>,
    next: u32,
    steady: i64,
    set_back: i64,
    steps: usize,
    opens: u32,
}

const THREAD: &str = "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM";
const SECOND: i64 = 1_000_000_000;

impl<'r> World<'r> {
    pub(crate) fn run(random: &'r mut Random, kind: Kind) -> Truth {
        let first = if kind.wraps { 32_700 } else { 1000 };
        let truth = Truth { processes: Vec::new(), calls: Vec::new(), seen: Vec::new() };
        let (steps, next) = (kind.steps, first);
        let mut world = World {
            random,
            kind,
            truth,
            threads: Vec::new(),
            used: BTreeSet::new(),
            next,
            steady: 0,
            set_back: 0,
            steps,
            opens: 0,
        };
        world.add_process(None);
        let turns = 20 + world.random.below(150);
        for _ in 0..turns {
            world.turn();
        }
        world.end_all();
        world.truth
    }

    fn number(&mut self) -> u32 {
        loop {
            let number = self.next;
            self.next += 1;
            if self.kind.wraps && self.next >= 32_705 && self.next < 33_000 {
                self.next = 300;
            }
            if self.kind.reuse && self.next > 1008 {
                self.next = 1001;
                // Room for those that are alive.
                if self.used.len() > 5 {
                    self.next = 1001 + self.random.below(400) as u32;
                }
            }
            if self.used.insert(number) {
                return number;
            }
        }
    }

    fn add_process(&mut self, parent: Option<usize>) -> (u32, usize) {
        let pid = self.number();
        let ppid = parent.map(|parent| self.truth.processes[parent].pid);
        let place = self.truth.processes.len();
        self.truth.processes.push(Process {
            pid,
            ppid,
            code: None,
            signal: None,
            seen: false,
            parent,
            zombie: false,
            gone: false,
        });
        self.threads.push(Thread { tid: pid, process: place, call: None, gone: false });
        (pid, place)
    }

    fn see(&mut self, sight: Sight) {
        self.steady += match self.random.below(6) {
            0 | 1 => 0,
            2 | 3 => 1 + self.random.below(900) as i64,
            4 => 1000 * (1 + self.random.below(900) as i64),
            _ => 1_000_000 * (1 + self.random.below(700) as i64),
        };
        if self.steps > 0 && self.random.one_in(40) {
            self.steps -= 1;
            self.set_back += [2_000, 5_000_000, 4 * SECOND, 1000 * SECOND][self.random.below(4)];
        }
        let clock = 1_700_000_000 * SECOND + 500_000_000 + self.steady - self.set_back;
        self.truth.seen.push(Seen { sight, steady: self.steady, clock });
    }

    fn turn(&mut self) {
        let alive: Vec<usize> = (0..self.threads.len()).filter(|index| !self.threads[*index].gone).collect();
        if alive.is_empty() {
            return;
        }
        let index = alive[self.random.below(alive.len())];
        match self.threads[index].call.clone() {
            None => self.begin(index),
            Some(call) => self.go_on(index, &call),
        }
    }

    fn enter(&mut self, index: usize, what: What, name: &'static str, args: String, label: Option<String>) {
        let thread = &mut self.threads[index];
        let (tid, process) = (thread.tid, thread.process);
        thread.call = Some(Call { what, number: self.truth.calls.len() });
        self.truth.processes[process].seen = true;
        self.truth.calls.push((tid, label.unwrap_or_else(|| name.to_owned())));
        self.see(Sight::Enter { tid, name, args });
    }

    fn begin(&mut self, index: usize) {
        let process = self.threads[index].process;
        let alive = self.threads.iter().filter(|thread| !thread.gone).count();
        match self.random.below(20) {
            0..=8 => {
                self.opens += 1;
                let path = format!("/c/{}", self.opens);
                let args = format!("AT_FDCWD, \"{path}\", O_RDONLY");
                self.enter(index, What::Open, "openat", args, Some(path));
                if self.random.one_in(2)
                    && let Some(call) = self.threads[index].call.clone()
                {
                    self.go_on(index, &call);
                }
            }
            9..=12 if alive < 10 => self.make(index),
            13 | 14 if self.has_children(process) => {
                self.enter(index, What::Wait, "wait4", "-1, ".to_owned(), None);
            }
            15 => {
                let args = "\"/bin/x\", [\"x\"], 0x7ffc /* 3 vars */".to_owned();
                self.enter(index, What::Exec, "execve", args, None);
            }
            16 if self.truth.processes[process].parent.is_some() || self.random.one_in(4) => {
                self.exit_group(index);
            }
            17 if self.truth.processes[process].pid != self.threads[index].tid => self.exit(index),
            18 if self.random.one_in(6) => self.kill(process),
            _ => {}
        }
    }

    fn make(&mut self, index: usize) {
        let process = self.threads[index].process;
        let is_thread = self.kind.threads && self.random.one_in(2);
        let (what, name, args) = if is_thread {
            let tid = self.number();
            self.threads.push(Thread { tid, process, call: None, gone: false });
            (What::Fork(tid), "clone", format!("child_stack=0x7f0, flags={THREAD}"))
        } else {
            let (pid, child) = self.add_process(Some(process));
            match self.random.below(3) {
                0 => (What::Vfork(pid, child), "vfork", String::new()),
                1 => (What::Fork(pid), "fork", String::new()),
                _ => (
                    What::Fork(pid),
                    "clone",
                    "child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD".to_owned(),
                ),
            }
        };
        // Its number is known from here on, and the child may be first.
        self.enter(index, what, name, args, None);
    }

    fn has_children(&self, process: usize) -> bool {
        self.truth.processes.iter().any(|child| child.parent == Some(process) && !child.gone)
    }

    fn leave(&mut self, index: usize, args: &str, value: &str) {
        let thread = &mut self.threads[index];
        thread.call = None;
        let tid = thread.tid;
        self.see(Sight::Return { tid, args: args.to_owned(), value: value.to_owned() });
    }

    fn go_on(&mut self, index: usize, call: &Call) {
        let process = self.threads[index].process;
        match call.what {
            What::Open => self.leave(index, "", "-1 ENOENT (No such file or directory)"),
            What::Fork(child) => self.leave(index, "", &child.to_string()),
            What::Vfork(child, made) => {
                let in_place = self.threads.iter().any(|thread| thread.process == made && !thread.gone);
                let replaced = self.truth.processes[made].zombie || self.truth.processes[made].gone;
                // An exec of the child would do; that it is gone is simpler.
                if replaced || !in_place {
                    self.leave(index, "", &child.to_string());
                }
            }
            What::Wait => {
                let is_over = |child: &Process| child.parent == Some(process) && child.zombie && !child.gone;
                let child = self.truth.processes.iter().position(is_over);
                match child {
                    Some(child) => {
                        let row = &mut self.truth.processes[child];
                        row.gone = true;
                        let pid = row.pid;
                        self.used.remove(&pid);
                        self.leave(
                            index,
                            "[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL",
                            &pid.to_string(),
                        );
                    }
                    None if !self.has_children(process) => {
                        self.leave(index, "0x7ff, 0, NULL", "-1 ECHILD (No child processes)");
                    }
                    None => {}
                }
            }
            What::Exec => self.exec(index, call.number),
        }
    }

    /// A thread dies in its call. Of calls that make others, the trace would not say what they made.
    fn cut(&mut self, index: usize) {
        let thread = &mut self.threads[index];
        let tid = thread.tid;
        match thread.call.take().map(|call| call.what) {
            Some(What::Fork(child) | What::Vfork(child, _)) => self.leave(index, "", &child.to_string()),
            Some(_) => self.see(Sight::Cut { tid }),
            None => {}
        }
    }

    /// The other threads of a process are killed.
    fn end_others(&mut self, index: usize, how: &str, spare: Option<u32>) {
        let process = self.threads[index].process;
        for other in 0..self.threads.len() {
            let thread = &self.threads[other];
            if other == index || thread.process != process || thread.gone {
                continue;
            }
            let tid = thread.tid;
            self.threads[other].gone = true;
            self.cut(other);
            if Some(tid) != spare {
                self.used.remove(&tid);
                self.see(Sight::Gone { tid, how: how.to_owned() });
            }
        }
    }

    fn exec(&mut self, index: usize, number: usize) {
        let (tid, process) = (self.threads[index].tid, self.threads[index].process);
        let pid = self.truth.processes[process].pid;
        let lone = !self
            .threads
            .iter()
            .enumerate()
            .any(|(other, thread)| other != index && thread.process == process && !thread.gone);
        if tid == pid && lone {
            return self.leave(index, "", "0");
        }
        // Of a leader that is gone, or with a clock that does not tell which came first, others would have to decide.
        let leader =
            self.threads.iter().any(|thread| thread.tid == pid && thread.process == process && !thread.gone);
        if !leader || self.kind.steps > 0 {
            return self.leave(index, "", "-1 ENOENT (No such file or directory)");
        }
        self.end_others(index, "exited with 0", Some(pid));
        if tid != pid {
            self.see(Sight::Superseded { tid: pid, by: tid });
            self.threads[index].tid = pid;
            self.truth.calls[number].0 = pid;
            self.used.remove(&tid);
        }
        self.leave(index, "", "0");
    }

    fn exit(&mut self, index: usize) {
        let tid = self.threads[index].tid;
        self.truth.calls.push((tid, "exit".to_owned()));
        self.truth.processes[self.threads[index].process].seen = true;
        self.see(Sight::Exit { tid, name: "exit", status: 0 });
        self.see(Sight::Gone { tid, how: "exited with 0".to_owned() });
        self.threads[index].gone = true;
        self.used.remove(&tid);
    }

    fn exit_group(&mut self, index: usize) {
        let process = self.threads[index].process;
        if self.kind.orderly && self.has_children(process) {
            return;
        }
        let tid = self.threads[index].tid;
        let status = self.random.below(256) as i32;
        self.truth.calls.push((tid, "exit_group".to_owned()));
        self.truth.processes[process].seen = true;
        self.see(Sight::Exit { tid, name: "exit_group", status });
        self.truth.processes[process].code = Some(status);
        self.end_process(process, &format!("exited with {status}"));
    }

    fn kill(&mut self, process: usize) {
        // Nobody would know without a notice.
        if self.truth.processes[process].code.is_some()
            || !self.truth.processes[process].seen
            || self.kind.reuse
        {
            return;
        }
        self.truth.processes[process].signal = Some("SIGKILL");
        self.end_process(process, "killed by SIGKILL");
    }

    /// All threads end, the leader last; other things may happen in between.
    fn end_process(&mut self, process: usize, how: &str) {
        let pid = self.truth.processes[process].pid;
        let mut members: Vec<usize> = (0..self.threads.len())
            .filter(|index| self.threads[*index].process == process && !self.threads[*index].gone)
            .collect();
        members.sort_by_key(|index| self.threads[*index].tid == pid);
        for index in &members {
            self.threads[*index].gone = true;
            self.cut(*index);
        }
        for index in members {
            let tid = self.threads[index].tid;
            if self.random.one_in(2) {
                self.turn();
            }
            self.see(Sight::Gone { tid, how: how.to_owned() });
            if tid != pid {
                self.used.remove(&tid);
            }
        }
        for child in 0..self.truth.processes.len() {
            let row = &mut self.truth.processes[child];
            if row.parent == Some(process) && row.zombie && !row.gone {
                row.gone = true;
                let pid = row.pid;
                self.used.remove(&pid);
            }
        }
        let parent = self.truth.processes[process].parent;
        let waited_for = parent.is_some_and(|parent| {
            let row = &self.truth.processes[parent];
            !row.zombie && !row.gone
        });
        let row = &mut self.truth.processes[process];
        row.zombie = true;
        if !waited_for {
            row.gone = true;
            self.used.remove(&pid);
        }
    }

    fn end_all(&mut self) {
        self.kind.orderly = false;
        for _ in 0..400 {
            self.turn();
        }
        self.return_from_making();
        for process in (0..self.truth.processes.len()).rev() {
            let idle = |thread: &Thread| thread.process == process && !thread.gone && thread.call.is_none();
            match self.threads.iter().position(idle) {
                Some(place) => self.exit_group(place),
                None if self.threads.iter().any(|thread| thread.process == process && !thread.gone) => {
                    self.kill(process);
                }
                None => {}
            }
        }
        self.return_from_making();
    }

    /// A trace that ends before says not whose children the last ones are.
    fn return_from_making(&mut self) {
        for index in 0..self.threads.len() {
            let call = self.threads[index].call.as_ref().map(|call| call.what);
            if let Some(What::Fork(child) | What::Vfork(child, _)) = call {
                self.leave(index, "", &child.to_string());
            }
        }
    }
}
