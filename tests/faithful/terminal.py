"""The terminal belongs to the program: Ctrl-C, Ctrl-Z, fg, bg, tcsetpgrp, window size, hang-up; and shells that start a recording
in the fore- or background."""
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

from harness import Wrong, scenario, status, until


class Terminal:
    """A pseudo terminal with a command on it, driven like a person would: wait for a text, type."""

    def __init__(self, stage, words, patience=30):
        self.patience, self.buffer, self.transcript = patience, "", ""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(stage.directory)
                os.execvpe(words[0], words, {**stage.environment, "PS1": "$ ", "TERM": "dumb", "INPUTRC": "/dev/null"})
            finally:
                os._exit(127)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))

    def read(self, deadline):
        ready, _, _ = select.select([self.master], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            data = b""
        self.buffer += data.decode("utf-8", "backslashreplace")
        return bool(data)

    def expect(self, pattern):
        """Waits until the output matches; returns what matched."""
        deadline = time.monotonic() + self.patience
        while not (found := re.search(pattern, self.buffer)):
            if not self.read(deadline):
                raise Wrong(f"the terminal never showed {pattern!r}; last: {self.buffer[-500:]!r}")
        self.buffer = self.buffer[found.end():]
        return found.group(0)

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self):
        """Status of the command, when it has ended by itself."""
        with contextlib.suppress(OSError):
            while self.read(time.monotonic() + 0.5):
                pass
        deadline = time.monotonic() + self.patience
        while True:
            pid, code = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.master)
                return status(os.waitstatus_to_exitcode(code))
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                raise Wrong("the command on the terminal did not end")
            with contextlib.suppress(OSError):
                self.read(time.monotonic() + 0.02)


@scenario("an interactive shell with job control: Ctrl-C, Ctrl-Z, jobs, fg, bg")
def job_control(stage):
    terminal = Terminal(stage, stage.command("bash", "--norc", "--noprofile", "-i"))
    seen = []
    terminal.expect(r"\$ $")
    terminal.type("sleep 100\n")
    terminal.expect("sleep 100")
    wait_for_foreground(terminal, "sleep")
    terminal.type("\x03")
    terminal.expect(r"\$ $")
    terminal.type("echo st=$?\n")
    seen.append(terminal.expect(r"st=\d+"))
    terminal.type("cat\n")
    terminal.expect("cat")
    wait_for_foreground(terminal, "cat")
    terminal.type("line\n")
    terminal.expect("line\r\nline")
    terminal.type("\x1a")
    seen.append(terminal.expect(r"\[1\]\+  Stopped"))
    terminal.type("echo st=$?; jobs\n")
    seen.append(terminal.expect(r"st=\d+"))
    seen.append(terminal.expect(r"\[1\]\+  Stopped +cat"))
    terminal.type("fg\n")
    terminal.expect("cat\r\n")
    wait_for_foreground(terminal, "cat")
    terminal.type("more\n")
    seen.append(terminal.expect("more\r\nmore"))
    terminal.type("\x04")
    terminal.expect(r"\$ $")
    terminal.type("cat & sleep 0.3; jobs; fg\n")
    seen.append(terminal.expect(r"\[1\]\+  Stopped"))
    terminal.type("\x04")
    terminal.type("(sleep 0.2; echo done-$((40+2)) ) & wait; echo st=$?\n")
    seen.append(terminal.expect("done-42"))
    seen.append(terminal.expect(r"st=\d+"))
    terminal.type("stty size; exit 9\n")
    seen.append(terminal.expect("30 100"))
    return [seen, terminal.end()]


def wait_for_foreground(terminal, command):
    """Until the shell has given the terminal to its job and the job is the command: its shell would lose signals before."""
    def runs():
        with contextlib.suppress(OSError), open(f"/proc/{os.tcgetpgrp(terminal.master)}/comm") as name:
            return name.read().strip() == command
        return False
    until(runs, what=f"{command} to get the terminal")


@scenario("a shell that starts the recording: Ctrl-Z stops it, fg goes on, Ctrl-C ends it, bg runs it")
def outer_job_control(stage):
    """The job of the shell is the recorder with the program: it must stop, go on and end as one."""
    terminal = Terminal(stage, ["bash", "--norc", "--noprofile", "-i"])
    seen = []
    words = " ".join(stage.command("sh", "-c", "'echo go; read line; echo got=$line; exit 6'"))
    forever = " ".join(stage.command("sh", "-c", "'echo go; exec sleep 100'"))
    terminal.expect(r"\$ $")
    terminal.type(f"stty -echo; {words}\n")
    terminal.expect("go\r\n")
    terminal.type("\x1a")
    seen.append(terminal.expect(r"\[1\]\+  Stopped"))
    terminal.expect(r"\$ $")
    terminal.type("echo st=$?\n")
    seen.append(terminal.expect(r"st=\d+"))
    terminal.expect(r"\$ $")
    terminal.type("fg\n")
    time.sleep(0.1)
    terminal.type("text\n")
    seen.append(terminal.expect("got=text"))
    terminal.expect(r"\$ $")
    terminal.type("echo st=$?\n")
    seen.append(terminal.expect(r"st=\d+"))
    terminal.expect(r"\$ $")
    terminal.type(f"{forever}\n")
    terminal.expect("go\r\n")
    terminal.type("\x03")
    terminal.expect(r"\$ $")
    terminal.type("echo st=$?\n")
    seen.append(terminal.expect(r"st=\d+"))
    forever = " ".join(stage.command("sh", "-c", "'echo go; exec sleep 100'"))
    terminal.expect(r"\$ $")
    terminal.type(f"{forever}\n")
    terminal.expect("go\r\n")
    os.killpg(os.tcgetpgrp(terminal.master), signal.SIGSTOP)
    seen.append(terminal.expect(r"\[1\]\+  Stopped"))
    terminal.expect(r"\$ $")
    time.sleep(0.2)
    terminal.type("jobs -s | wc -l\n")
    seen.append(terminal.expect(r"\b1\b"))
    terminal.expect(r"\$ $")
    terminal.type("fg\n")
    wait_for_foreground(terminal, stage.launcher.iotrail.name[:15] if stage.recorded else "sleep")
    terminal.type("\x03")
    terminal.expect(r"\$ $")
    terminal.type("echo st=$?\n")
    seen.append(terminal.expect(r"st=\d+"))
    words = " ".join(stage.command("sh", "-c", "'echo go; sleep 0.2; exit 8'"))
    terminal.expect(r"\$ $")
    terminal.type(f"{words} & wait %1; echo st=$?\n")
    seen.append(terminal.expect(r"st=\d+"))
    terminal.type("exit 4\n")
    return [seen, terminal.end()]


@scenario("a program that reads passwords, changes modes and asks for the window size on its terminal")
def modes(stage):
    script = r"""
import os, signal, sys, termios, getpass, fcntl, struct
print(sys.stdin.isatty(), os.ttyname(0) == os.ttyname(1), os.tcgetpgrp(0) == os.getpgrp())
changed = []
signal.signal(signal.SIGWINCH, lambda *_: changed.append(1))
print("ready", flush=True)
print("secret", getpass.getpass("password: "))
print(struct.unpack("HHHH", fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8))[:2])
while not changed: signal.pause()
print(struct.unpack("HHHH", fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8))[:2])
try:
    print("interrupt me", flush=True)
    while True: signal.pause()
except KeyboardInterrupt:
    print("interrupted")
sys.exit(3)
"""
    terminal = Terminal(stage, stage.command(sys.executable, "-c", script))
    seen = [terminal.expect("True True True")]
    terminal.expect("password: ")
    terminal.type("abc\n")
    seen.append(terminal.expect(r"secret abc"))
    seen.append(terminal.expect(r"\(30, 100\)"))
    fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    seen.append(terminal.expect(r"\(40, 120\)"))
    terminal.expect("interrupt me")
    terminal.type("\x03")
    seen.append(terminal.expect("interrupted"))
    return [seen, terminal.end()]


@scenario("the terminal hangs up: the program gets SIGHUP and ends")
def hang_up(stage):
    terminal = Terminal(stage, stage.command("sh", "-c", "trap 'echo hup > said; exit 1' HUP; echo ready; while :; do sleep 0.02; done"))
    terminal.expect("ready")
    os.close(terminal.master)
    until((stage.directory / "said").exists, what="the program to hear of the hang-up")
    until(lambda: os.waitpid(terminal.pid, os.WNOHANG)[0], what="the command to end")
    return "ended"
