"""Signals: death by each, queued values, interrupted calls, traps, stop and continue, timers."""
import os
import random
import resource
import signal
import subprocess
import sys
import time

from harness import scenario, state_of, status, until

FATAL = [number for number in range(1, 32) if number not in (signal.SIGCHLD, signal.SIGCONT, signal.SIGSTOP, signal.SIGTSTP,
                                                              signal.SIGTTIN, signal.SIGTTOU, signal.SIGURG, signal.SIGWINCH)]


@scenario("death by each signal, from inside and through a shell")
def deaths(stage):
    each = [stage.sh(f"ulimit -c 0; kill -{number} $$; sleep 5; echo survived") for number in [*FATAL, 34, 40, 64]]
    through = stage.bash("ulimit -c 0; " + " ".join(f"sh -c 'kill -{number} $$'; echo {number} $?;" for number in [*FATAL, 34, 64]) + " exit 200")
    for one in (through,):  # bash names the dead by pid
        one["stderr"] = "\n".join(line.split("bash: line")[0] for line in one["stderr"].splitlines())
    return [each, through]


@scenario("death by signals from outside")
def from_outside(stage):
    seen = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGALRM):
        process = stage.start("sh", "-c", "ulimit -c 0; echo $$; exec sleep 60", stdout=subprocess.PIPE)
        pid = int(process.stdout.readline())
        os.kill(pid, number)
        seen.append((int(number), status(process.wait(20)), state_of(pid)))
        process.stdout.close()
    return seen


@scenario("signals sent to the recorder reach the program, which answers as it likes")
def through_the_recorder(stage):
    """`kill PID` of the command that was started: without a recorder that is the program itself."""
    seen = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        process = stage.start("sh", "-c", f"trap 'echo caught; exit 5' {int(number)}; echo ready; while :; do sleep 0.02; done",
                              stdout=subprocess.PIPE)
        process.stdout.readline()
        process.send_signal(number)
        seen.append((int(number), process.stdout.read(), status(process.wait(20))))
    return seen


@scenario("real-time signals: order, values, senders")
def realtime(stage):
    return stage.run(stage.program("realtime_signals"))


@scenario("calls that signals interrupt, restarts, storms, timers")
def interrupted(stage):
    return stage.run(stage.program("interrupted_calls"))


@scenario("traps and faults that a program handles itself")
def traps(stage):
    return stage.sh(f"ulimit -c 0; exec {stage.program('traps')}")


@scenario("stop and continue from outside")
def stops(stage):
    process = stage.start("sh", "-c", "echo $$; while :; do echo x; sleep 0.01; done", stdout=subprocess.PIPE)
    pid = int(process.stdout.readline())
    seen = []
    for _ in range(3):
        os.kill(pid, signal.SIGSTOP)
        until(lambda: state_of(pid) in ("T", "t"), what="the stop")
        seen.append("stopped")
        os.kill(pid, signal.SIGCONT)
        until(lambda: state_of(pid) not in ("T", "t"), what="the program to go on")
        seen.append("goes on")
    os.kill(pid, signal.SIGSTOP)
    until(lambda: state_of(pid) in ("T", "t"), what="the stop")
    os.kill(pid, signal.SIGKILL)
    seen.append(status(process.wait(20)))
    process.stdout.close()
    return seen


@scenario("the command stops and goes on: by each stop signal, sent to the program, to its group, to the command")
def stops_as_one(stage):
    """Whoever started the command sees it stop by that signal and go on, whoever was told so; while it is stopped nothing happens."""
    ticks, seen = stage.directory / "ticks", []
    script = "import os, time\nprint(os.getpid(), flush=True)\nwhile True:\n    open('ticks', 'a').write('x')\n    time.sleep(0.01)"
    for signal_number in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN):
        for stopped, continued in (("program", "program"), ("program", "group"), ("group", "group"), ("group", "program"),
                                   ("group", "command"), ("command", "command"), ("command", "group"), ("program", "command")):
            process = stage.start(sys.executable, "-c", script, stdout=subprocess.PIPE, process_group=0)
            program = int(process.stdout.readline())

            def send(target, number):
                os.kill({"program": program, "group": -process.pid, "command": process.pid}[target], number)

            def waits(option):
                return until(lambda: next((code for pid, code in [os.waitpid(process.pid, option | os.WNOHANG)] if pid), None), what=f"{stopped} {continued}")
            until(ticks.exists, what="the first tick")
            for _ in range(2):
                send(stopped, signal_number)
                code = waits(os.WUNTRACED)
                # A stopped recorder may leave the program in the middle of a sleep.
                until(lambda: state_of(program) in ("T", "t") or stopped == "command", what="the program to stop")
                time.sleep(0.05)
                before = ticks.stat().st_size
                time.sleep(0.05)
                seen.append((stopped, continued, os.WIFSTOPPED(code), os.WSTOPSIG(code), ticks.stat().st_size == before))
                send(continued, signal.SIGCONT)
                seen.append(os.WIFCONTINUED(waits(os.WCONTINUED)))
                until(lambda: ticks.stat().st_size > before, what="the program to go on")
            os.kill(program, signal.SIGTERM)
            seen.append(status(process.wait(20)))
            process.stdout.close()
            ticks.unlink()
    return seen


TICKING = ("import os, time\nchild = os.fork()\nif child: print(os.getpid(), child, flush=True)\nname = 'main' if child else 'child'\n"
           "while True:\n    open(name, 'a').write('x')\n    time.sleep(0.01)")


class Ticking:
    """A program of two processes that each write to a file of its own all the time, in a process group of its own."""

    def __init__(self, stage):
        self.process = stage.start(sys.executable, "-c", TICKING, stdout=subprocess.PIPE, process_group=0)
        self.main, self.child = map(int, self.process.stdout.readline().split())
        self.numbers = {"main": self.main, "child": self.child, "command": self.process.pid, "group": -self.process.pid}
        self.files = {"main": stage.directory / "main", "child": stage.directory / "child"}
        until(lambda: all(file.exists() for file in self.files.values()), what="the first ticks")

    def send(self, target, number):
        os.kill(self.numbers[target], number)

    def who(self, moment=0.15):
        """Who writes something within a moment."""
        before = {name: file.stat().st_size for name, file in self.files.items()}
        time.sleep(moment)
        return {name for name, file in self.files.items() if file.stat().st_size > before[name]}

    def end(self):
        for pid in (self.child, self.main):
            os.kill(pid, signal.SIGKILL)
        code = status(self.process.wait(20))
        self.process.stdout.close()
        for file in self.files.values():
            file.unlink()
        return code


@scenario("of a group that was stopped only those go on that are continued")
def some_go_on(stage):
    seen = []
    for signal_number in (signal.SIGSTOP, signal.SIGTSTP):
        for continued in (["main"], ["child"], ["child", "main"], ["command"], ["command", "child"], ["main", "child"], ["group"]):
            program, expected = Ticking(stage), set()
            program.send("group", signal_number)
            until(lambda: program.who() == set(), what="both to stop")
            for target in continued:
                program.send(target, signal.SIGCONT)
                expected |= {"main": {"main"}, "child": {"child"}, "command": {"main"}, "group": {"main", "child"}}[target]
                until(lambda: program.who() == expected, what=f"{expected} after {continued} of {signal_number}")
            seen.append((int(signal_number), continued, program.end()))
    return seen


@scenario("whatever stopped and continued them before: who is continued goes on")
def random_stops(stage):
    draw, seen = random.Random(8), []
    for _ in range(6):
        program, done = Ticking(stage), []
        for _ in range(draw.randrange(1, 9)):
            target, number = draw.choice(list(program.numbers)), draw.choice([signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGCONT])
            program.send(target, number)
            time.sleep(draw.choice([0, 0, 0.005, 0.02, 0.06]))
            done.append((target, int(number)))
        program.send("group", signal.SIGCONT)
        until(lambda: program.who() == {"main", "child"}, what=f"both to go on after {done}")
        seen.append((done, program.end()))
    return seen


@scenario("a signal to the process group arrives once, also where no handler runs")
def once(stage):
    script = r"""
import signal, time
waited = {signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP}
signal.pthread_sigmask(signal.SIG_BLOCK, waited)
print("ready", flush=True)
got = []
while True:
    info = signal.sigtimedwait(waited, 1.0 if got else 20)
    if info is None: break
    got.append(info.si_signo)
print(sorted(got))
"""
    seen = []
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP):
        process = stage.start(sys.executable, "-c", script, stdout=subprocess.PIPE, process_group=0)
        process.stdout.readline()
        os.killpg(process.pid, number)
        seen.append(process.stdout.read())
        seen.append(status(process.wait(20)))
        process.stdout.close()
    return seen


@scenario("a limit on CPU time is the program's")
def cpu_time(stage):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (1, 3))
    return stage.sh("ulimit -c 0; ulimit -t; ulimit -H -t; while :; do :; done", preexec_fn=limit)


@scenario("a parent sees its children stop, go on and die")
def parents(stage):
    script = r"""
import os, signal, time
def wait(pid, options):
    got, status = os.waitpid(pid, options)
    return [name for name in ("WIFSTOPPED", "WIFCONTINUED", "WIFSIGNALED", "WIFEXITED") if getattr(os, name)(status)], hex(status)
caught = []
signal.signal(signal.SIGCHLD, lambda number, frame: caught.append(number))
for stop in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        while True: signal.pause()
    while os.getpgid(pid) != pid: time.sleep(0.001)
    os.kill(pid, stop); print(int(stop), wait(pid, os.WUNTRACED))
    print(os.waitpid(pid, os.WNOHANG | os.WUNTRACED))
    os.kill(pid, signal.SIGCONT); print(wait(pid, os.WCONTINUED))
    os.kill(pid, signal.SIGTERM); print(wait(pid, 0))
pid = os.fork()
if pid == 0:
    os.kill(os.getpid(), signal.SIGSTOP); os._exit(9)
print(wait(pid, os.WUNTRACED)); os.kill(pid, signal.SIGCONT); print(wait(pid, 0)); print(len(caught) > 0)
"""
    done = stage.run(sys.executable, "-c", script)
    return done


@scenario("timeout: a command that takes too long, a recorder that is told to end", needs=["timeout"])
def timeouts(stage):
    inside = stage.sh("timeout 0.2 sleep 60; echo $?; timeout -s KILL 0.2 sleep 60; echo $?; timeout --foreground 0.2 sleep 60; echo $?; "
                      "timeout 20 sh -c 'exit 7'; echo $?; timeout --preserve-status 0.2 sh -c 'trap \"exit 3\" TERM; while :; do sleep 0.01; done'; echo $?")
    inside["stderr"] = ""  # the shell remarks on a killed child or not, as it happens
    around = subprocess.run(["timeout", "0.7", *stage.command("sh", "-c", "echo $$ > pid; exec sleep 60")], cwd=stage.directory,
                            env=stage.environment, capture_output=True, timeout=30)
    pid = int((stage.directory / "pid").read_text())
    (stage.directory / "pid").unlink()
    until(lambda: state_of(pid) in (None, "Z"), what="the program to end")
    return [inside, around.returncode]
