"""Other users, setuid programs, programs that trace, programs with their own seccomp filters, sandboxes."""
import os
import re
import subprocess

from harness import Skip, scenario


def root_only():
    if os.geteuid() != 0:
        raise Skip("needs root")


@scenario("root becomes somebody else: su, setpriv", needs=["su", "setpriv"])
def other_users(stage):
    root_only()
    return [stage.run("su", "nobody", "-s", "/bin/sh", "-c", "id; cat /etc/shadow; echo $?; cat /etc/passwd | wc -l; exit 5"),
            stage.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "sh", "-c", "id -u; cat /etc/shadow; echo $?"),
            stage.sh("setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'id -u; kill -TERM $PPID 2>&1 | wc -l; exit 4'; echo $?")]


@scenario("a setuid program that root records has its privileges", needs=["setpriv"])
def setuid(stage):
    root_only()
    show = str(setuid_copy(stage))
    return stage.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", show, "-un")


@scenario("a setuid program that a user records runs without gaining privileges", needs=["setpriv", "su"])
def setuid_as_user(stage):
    """Not as untraced, and cannot be: the kernel does not let a user trace a gain of privileges. The user id must stay the
    user's, the program must run, and the recorder must say so."""
    root_only()
    show = str(setuid_copy(stage))
    if not stage.recorded:
        return "nobody\n"
    target = stage.launcher.trails / "user.trail"
    words = [str(stage.launcher.iotrail), "record", "-o", str(target), "--", show, "-un"]
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words], capture_output=True, text=True,
                          cwd=stage.directory, timeout=60)
    info = subprocess.run([stage.launcher.iotrail, "info", target], capture_output=True, text=True).stdout
    if not re.search("privilege|set-user", done.stderr) or not re.search("privilege|set-user", info):
        return f"nothing is said about privileges: {done.stderr}{info[-800:]}"
    return done.stdout


def setuid_copy(stage):
    """`id` as a setuid program, in a directory whose file system allows it."""
    made = stage.directory / "setuid-id"
    subprocess.run(["cp", "/usr/bin/id", made], check=True)
    os.chown(made, 0, 0)
    made.chmod(0o4755)
    return made


@scenario("own seccomp filters: errors, traps, deaths, traces, two filters, all threads")
def filters(stage):
    return stage.run(stage.program("seccomp_filters"))


def program_that_traces(stage, *words):
    """Nobody can trace a thread twice: the program is refused, ends with its own message, and the recorder says so."""
    if not stage.recorded:
        return "refused, said so"
    done = stage.run(*words)
    trail = stage.launcher.trails / f"{stage.launcher.made}.trail"
    info = subprocess.run([stage.launcher.iotrail, "info", trail], capture_output=True, text=True).stdout
    refused = done["status"] != 0 or re.search("not permitted", done["stdout"] + done["stderr"])
    said = "ptrace" in info.split("coverage")[-1]
    return "refused, said so" if refused and said else f"refused {bool(refused)}, said {said}: {done} {info[-900:]}"


@scenario("strace inside a recording is refused, and that is said", needs=["strace"])
def strace_inside(stage):
    return program_that_traces(stage, "strace", "-o", "/dev/null", "true")


@scenario("gdb inside a recording is refused, and that is said", needs=["gdb"], long=True)
def gdb_inside(stage):
    return program_that_traces(stage, "gdb", "-batch", "-ex", "run", "-ex", "bt", "/bin/true")


@scenario("namespaces: a user, a mount and a process namespace of its own", needs=["unshare"])
def namespaces(stage):
    return [stage.run("unshare", "--user", "--map-root-user", "sh", "-c", "id -u; echo $$ > /dev/null; exit 3"),
            stage.run("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "sh", "-c", "echo $$; set -- /proc/[0-9]*; echo $#; sh -c 'echo $$'; exit 4"),
            stage.run("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", "mkdir -p m; mount -t tmpfs none m && echo x > m/f; ls m; umount m")]


@scenario("Chromium without a window, with its sandbox", needs=["chromium", "setpriv"], long=True, ignore=[r"^profile", r"^home"])
def chromium(stage):
    root_only()
    page = stage.directory / "page.html"
    page.write_text("<title>t</title><p id=a>before</p><script>document.getElementById('a').textContent = 6 * 7 + ' is the answer'</script>")
    (stage.directory / "home").mkdir(mode=0o777)
    (stage.directory / "home").chmod(0o777)
    done = stage.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", f"HOME={stage.directory}/home", "chromium", "--headless",
                     "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={stage.directory}/home/profile", "--dump-dom", f"file://{page}")
    done.pop("stderr")  # time stamps, pids
    return done
