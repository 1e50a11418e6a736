"""What analyses say of a trail, up to names: a trail and its redacted copy give the same."""

import json
import subprocess

COMMANDS = [
    *(["dfg", "--map", preset] for preset in ("call", "file", "dir1", "dir2", "dir3", "template", "ext")),
    ["dfg", "--by", "cid", "--map", "ext"],
    *(["stats", "--files-by", how] for how in ("file", "dir2", "template", "ext")),
    ["stats", "--phases", "job"],
    ["workflow"],
    ["workflow", "--show-maps"],
    ["tree"],
    ["files"],
    ["processes"],
    ["events"],
    ["info"],
    ["report", "--map", "dir2", "--json"],
]
# What speaks of names and of files on disk by nature; a file that is told by its name alone is numbered in the order of names.
APART = {"notes", "facts", "examples", "disk_bytes", "file", "file2"}
# Calls whose numbers say what other columns say: bytes, positions, descriptors, processes. Of all others a copy tells the sign.
TOLD = set(
    "read write pread64 pwrite64 readv writev sendto recvfrom sendmsg recvmsg sendfile copy_file_range splice getrandom getdents getdents64 lseek open openat creat dup dup2 dup3"
    " fcntl socket accept accept4 epoll_create1 eventfd2 memfd_create pidfd_open clone clone3 fork vfork wait4 getpid getppid gettid set_tid_address umask poll ppoll select futex".split()
)
# The pictures of the page, which have the figures of `dfg` and `workflow`, what they show at each stop of their sliders (of equally
# important things the one whose name comes first), and its table of names, in which equal ones are one.
DRAWN = {"nodes", "edges", "start", "end", "stops", "workflow", "names"}
MOST_NAMES = 10_000
# Objects whose keys are names.
MAPS = {"groups"}


def of(iotrail, trail, words):
    command = [iotrail, "-q", words[0], trail, *words[1:]] + ([] if "--json" in words else ["--json"])
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return [json.loads(line) for line in done.stdout.splitlines()]


def differences(iotrail, before, after):
    """[command: difference], of all commands."""
    found = []
    for words in COMMANDS:
        one, other = (without_names(of(iotrail, trail, words)) for trail in (before, after))
        if one != other:
            found.append(f"{' '.join(words)}: {first(one, other)}")
    return found


def without_names(document):
    names = 0
    if isinstance(document, dict):
        resolve(document)
    if isinstance(document, list):
        for event in document:
            if event.get("layer") == "syscall" and event.get("call") not in TOLD and event["ret"]:
                event["ret"] = 1 if event["ret"] > 0 else -1
    if isinstance(document, dict) and "nodes_more" in document:
        # Where the page draws something depends on how long its name is.
        document = {key: value for key, value in document.items() if key not in DRAWN}
        names = MOST_NAMES
    return shape(document, names)


def resolve(document):
    """Vertices are numbered in the order of their names: edges get what they lead to."""
    vertices = document.get("vertices")
    for edge in document.get("edges", []) if vertices else []:
        for end in ("from", "to"):
            edge[end] = repr(shape(vertices[edge[end]], 0))
    shapes = document.get("shapes")
    for node in document.get("nodes", []) if shapes else []:
        node["shape"] = shapes[node["shape"]]["size"]
    for entry in shapes or []:
        entry["children"] = len(entry["children"])


def shape(value, names, is_map=False):
    """The document without names, and without the order that names give: lists as multisets. In the data of the page, whole
    numbers that may be places of its table of `names` say nothing either."""
    if isinstance(value, dict):
        entries = [("" if is_map else key, shape(inner, names, key in MAPS)) for key, inner in value.items() if key not in APART]
        return sorted(entries, key=repr)
    if isinstance(value, list):
        return sorted((shape(inner, names) for inner in value), key=repr)
    if isinstance(value, str):
        return value if value.startswith("[(") else ""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < names:
        return 0
    return value


def first(one, other, path=""):
    """Where they differ first, for people."""
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"{path}: {len(one)} entries, then {len(other)}"
        for at, (a, b) in enumerate(zip(one, other)):
            if a != b:
                return first(a, b, f"{path}/{a[0] if isinstance(a, tuple) else at}")
    if isinstance(one, tuple) and isinstance(other, tuple):
        return first(one[1], other[1], path) if one[0] == other[0] else f"{path}: {one[0]}, then {other[0]}"
    return f"{path}: {str(one)[:200]}, then {str(other)[:200]}"
