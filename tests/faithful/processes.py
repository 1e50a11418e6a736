"""How processes and threads begin and end."""
from harness import scenario, status, until


@scenario("exec from a thread, a leader that leaves first, vfork, posix_spawn")
def beginnings(stage):
    lives = stage.program("lives")
    return [stage.run(lives, way) for way in ("exec-from-thread", "leader-leaves-first", "vfork", "ends")]


@scenario("a 32-bit program")
def narrow(stage):
    return stage.run(stage.program("narrow"))


@scenario("a deep chain and a wide tree of forks")
def forks(stage):
    lives = stage.program("lives")
    return [stage.run(lives, "chain", 150), stage.run(lives, "tree", 7)]


@scenario("a thousand threads")
def threads(stage):
    return stage.run(stage.program("lives"), "threads", 1000)


@scenario("orphans, death signals of parents, nearest reapers")
def orphans(stage):
    return stage.run(stage.program("lives"), "orphans")


@scenario("a process number that comes back")
def reuse(stage):
    return stage.run(stage.program("lives"), "reuse")


@scenario("an orphan gets the same parent as without a recorder")
def new_parent(stage):
    """A recorder that made itself a reaper would be seen here."""
    script = "mkfifo gate; (sh -c 'read go < gate; grep PPid /proc/$$/status > parent; mv parent answer' > /dev/null 2>&1 &); sleep 0.05; echo go > gate; " \
             "while [ ! -e answer ]; do sleep 0.01; done; cat answer; rm gate answer"
    return stage.sh(script)


@scenario("a daemon that outlives the command, waited for and not")
def daemons(stage):
    script = "setsid sh -c 'while [ ! -e go ]; do sleep 0.02; done; echo work > done.tmp; mv done.tmp done' > /dev/null 2>&1 < /dev/null & exit 12"
    main = stage.run("sh", "-c", script, options=["--wait", "main"])
    alive = not (stage.directory / "done").exists()
    (stage.directory / "go").touch()
    until((stage.directory / "done").exists, what="the daemon to do its work after the recorder has left")
    for name in ("go", "done"):
        (stage.directory / name).unlink()
    process = stage.start("sh", "-c", script, options=["--wait", "all"])
    (stage.directory / "go").touch()
    code = status(process.wait(30))
    until((stage.directory / "done").exists, what="the daemon to do its work")
    return [main, alive, code]


@scenario("a program that leaves threads asleep when it dies by a signal")
def asleep(stage):
    return stage.run("python3", "-c", "import threading, time, os, signal\n"
                     "for _ in range(5): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
                     "print('dying', flush=True); os.kill(os.getpid(), signal.SIGKILL)")


@scenario("programs that cannot be started: not found, not executable, a directory, a bad interpreter")
def not_started(stage):
    """As with a shell: 127 for not found, 126 for not executable. The words are the recorder's own."""
    (stage.directory / "text").write_text("no program\n")
    (stage.directory / "bad").write_text("#!/no/such/interpreter\n")
    (stage.directory / "bad").chmod(0o755)
    if not stage.recorded:
        return [127, 126, 126, 127]
    return [stage.run(word)["status"] for word in ("./no-such-program", "./text", "/tmp", "./bad")]
