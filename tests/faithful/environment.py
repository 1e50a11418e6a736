"""What a program inherits: descriptors, closed ones, masks, limits, environment, directory. Nothing of the recorder leaks into it."""
import os
import signal
import subprocess

from harness import scenario


@scenario("descriptors, signals, limits, environment, capabilities are inherited as they are")
def inherited(stage):
    program = stage.program("inheritance")
    return [stage.run(program, "a"), stage.sh(f"umask 027; ulimit -n 77; ulimit -s 4096; cd /; trap '' USR1 HUP; exec {program}"),
            odd_start(stage, program)]


def odd_start(stage, program):
    """Ignored and blocked signals, open descriptors above a hole, set by the one who starts the command."""
    def prepare():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGALRM, signal.SIGRTMIN + 2])
        os.dup2(1, 9)
        os.nice(3)
    return stage.run(program, preexec_fn=prepare, pass_fds=(9,), restore_signals=False)


@scenario("stdin, stdout, stderr closed at the start")
def closed(stage):
    program = stage.program("inheritance")
    seen = []
    for which in ("<&-", "2>&-", "<&- 2>&-", "<&- >&- 2>&-"):
        words = " ".join(f"'{word}'" for word in stage.command("sh", "-c", f"{program} > out 2> /dev/null; ls -l /proc/self/fd | wc -l >> out; echo $? >> out; exit 3"))
        code = subprocess.run(["sh", "-c", f"{words} {which}"], cwd=stage.directory, env=stage.environment, timeout=60,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL).returncode
        seen.append((which, code, (stage.directory / "out").read_text()))
        (stage.directory / "out").unlink()
    return seen


@scenario("output that nobody reads: SIGPIPE; a reader that leaves early")
def nobody_reads(stage):
    process = stage.start("sh", "-c", "yes; echo $? >&2", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(10)
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    return [said, process.wait(30)]


@scenario("standard input is read by the program alone, byte for byte")
def standard_input(stage):
    data = bytes(range(256)) * 400
    with open(stage.directory / "input", "wb") as file:
        file.write(b"first\nsecond\nthird\n")
    seen = [stage.run("cksum", stdin=data)]
    with open(stage.directory / "input", "rb") as file:
        process = stage.start("sh", "-c", "read a; echo $a", stdin=file, stdout=subprocess.PIPE)
        out = process.communicate(timeout=60)[0]
        seen.append([out, os.lseek(file.fileno(), 0, os.SEEK_CUR), process.returncode])
    return seen


@scenario("a limit of few descriptors, of little memory, of small files holds for the program alone")
def limits(stage):
    inside = stage.bash("(ulimit -n 20; for i in $(seq 3 25); do eval \"exec $i< /etc/passwd\" 2> /dev/null || { echo stopped at $i; break; }; done);"
                        "(ulimit -f 4; trap 'echo xfsz' XFSZ; head -c 100000 /dev/zero > big; echo $?; wc -c < big) 2> /dev/null; (ulimit -v 200000; ls | wc -l)")
    return inside
