"""Whole test suites of others, plain and recorded: the same tests must pass. Long."""
import re
import subprocess
import sys
from pathlib import Path

from harness import Skip, scenario


def cpython(name):
    def body(stage):
        probe = subprocess.run([sys.executable, "-c", f"import test.{name}"], capture_output=True)
        if probe.returncode != 0:
            raise Skip("this Python has no test package (Debian: libpython3-testsuite)")
        done = stage.run(sys.executable, "-m", "test", "-v", name)
        results = re.findall(r"^(test\w+) \(([\w.]+)\)[^\n]*?(?:\n[^\n]*?)?\.\.\. (ok|FAIL|ERROR|skipped|expected failure)", done["stdout"] + done["stderr"], re.M)
        if len(results) < 5:
            raise Skip(f"no results were understood: {done['stdout'][-300:]}{done['stderr'][-300:]}")
        counts = re.findall(r"^(?:Ran (\d+) tests|OK.*|FAILED.*)", done["stdout"] + done["stderr"], re.M)
        return {"status": done["status"], "counts": counts, **{f"{where}.{test}": result for test, where, result in results}}
    scenario(f"CPython's {name}", long=True, ignore=["."], patience=1800)(body)


for each in ("test_subprocess", "test_signal", "test_threading", "test_fork1", "test_wait4", "test_os", "test_posix", "test_io", "test_mmap", "test_pty",
             "test_faulthandler", "test_multiprocessing_fork", "test_socket", "test_sqlite3" if sys.version_info >= (3, 11) else "test_zipfile"):
    cpython(each)


def debian(package, configure="./configure --quiet --disable-nls"):
    """`make check` of a Debian source package, built once without the recorder."""
    def body(stage):
        built = build(stage.programs.parent / "sources", package, configure)
        done = stage.sh(f"cd {built} && make -k check MAKEINFO=true 2>&1")
        results = {test: result for result, test in re.findall(r"^(PASS|FAIL|SKIP|XFAIL|ERROR|XPASS): (\S+)", done["stdout"], re.M)}
        if not results:
            raise Skip(f"make check of {package} printed no results: {done['stdout'][-400:]}")
        return {"status": done["status"], "number": len(results), **results}
    scenario(f"make check of {package}", long=True, ignore=["."], needs=["apt-get", "dpkg-source", "make", "cc"], patience=3600)(body)


def build(sources, package, configure):
    """Fetches the Debian source package with apt into a directory of its own and builds it."""
    sources.mkdir(parents=True, exist_ok=True)
    existing = [path for path in sources.glob(f"{package}-*") if path.is_dir()]
    if not existing:
        fetch(sources, package)
        existing = [path for path in sources.glob(f"{package}-*") if path.is_dir()]
    built = existing[0]
    if not (built / "built").exists():
        done = subprocess.run(f"FORCE_UNSAFE_CONFIGURE=1 {configure} && make -j2 MAKEINFO=true", shell=True, cwd=built, capture_output=True, text=True)
        if done.returncode != 0:
            raise Skip(f"{package} does not build here: {done.stderr[-300:]}")
        (built / "built").touch()
    return built


def fetch(sources, package):
    lists = sources / "lists" / "partial"
    lists.mkdir(parents=True, exist_ok=True)
    keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    codename = re.search(r"VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text())
    if codename is None:
        raise Skip("not a Debian release")
    (sources / "sources.list").write_text(f"deb-src [signed-by={keyring}] http://deb.debian.org/debian {codename.group(1)} main\n")
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::SourceList={sources}/sources.list", "-o", "Dir::Etc::SourceParts=/dev/null",
           "-o", f"Dir::State::Lists={sources}/lists", "-o", "APT::Sandbox::User=root"]
    for words in (["update"], ["source", package]):
        done = subprocess.run([*apt, *words], cwd=sources, capture_output=True, text=True)
        if done.returncode != 0:
            raise Skip(f"apt-get {words[0]}: {done.stderr[-300:]}")


for each in ("sed", "gzip", "diffutils", "grep"):
    debian(each)
