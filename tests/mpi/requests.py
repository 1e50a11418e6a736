"""Which requests calls of MPI make, start and complete: what programs say of themselves, and what the column `args` says.

usage: requests.py IOTRAIL
"""
import csv
import io
import sys
import tempfile
from pathlib import Path

from launch import LAUNCH, run

HERE = Path(__file__).resolve().parent
FORTRAN = """MPI_Wait requests=1
MPI_Waitall requests=3,2,0
MPI_Wait requests=1
MPI_Waitany requests=0
MPI_Wait requests=0
MPI_Waitsome requests=1
MPI_Testall requests=none
MPI_Send_init requests=p0 bytes=16
MPI_Recv_init requests=p1
MPI_Startall requests=p0,p1
MPI_Waitall requests=p0,p1
MPI_Start requests=p1 by=MPI_Recv_init
MPI_Start requests=p0 by=MPI_Send_init
MPI_Wait requests=p1
MPI_Wait requests=p0
MPI_Request_free requests=p0
MPI_Request_free requests=p1
""".splitlines()

iotrail = Path(sys.argv[1]).resolve()


def plain(args):
    """Runs of requests one by one: 3-1 is 3,2,1."""
    words = args.split(" ")
    requests = words[0].removeprefix("requests=").split(",")
    found = []
    for request in requests:
        first, _, last = request.partition("-")
        if not last:
            found.append(first)
            continue
        kind = "p" if first.startswith("p") else ""
        one, other = int(first.removeprefix("p")), int(last.removeprefix("p"))
        step = 1 if other >= one else -1
        found.extend(f"{kind}{number}" for number in range(one, other + step, step))
    return " ".join([f"requests={','.join(found)}", *words[1:]])


def told(trail, cwd):
    """By rank, what the events say."""
    text = run(iotrail, "events", trail, "--layer", "mpi", "--csv", cwd=cwd)
    by_rank = {"0": [], "1": []}
    for row in csv.DictReader(io.StringIO(text)):
        if row["args"]:
            by_rank[row["rid"]].append(f"{row['call']} {plain(row['args'])}")
    return by_rank


def differences(what, found, expected):
    if found != expected:
        at = next((at for at, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), min(len(found), len(expected)))
        sys.exit(f"{what}, line {at + 1}: the events say {found[at:at + 3]}, the program {expected[at:at + 3]}")


with tempfile.TemporaryDirectory() as directory:
    for library, launch in LAUNCH.items():
        work = Path(directory) / library
        work.mkdir()
        run(f"mpicc.{library}", "-O1", "-Wall", "-Wextra", HERE / "requests.c", "-o", "in_c", cwd=work)
        run(*launch, "-n", 2, iotrail, "-q", "record", "--mpi", "-o", "c.trail", "--", "./in_c", "said", cwd=work)
        run(iotrail, "-q", "compress", "c.trail", "-o", "c.structure", "--force", cwd=work)
        for trail in ["c.trail", "c.structure"]:
            found = told(trail, work)
            for rank in found:
                said = (work / f"said.{rank}").read_text().splitlines()
                differences(f"{library}, {trail}, rank {rank}", found[rank], said)
        run(f"mpif90.{library}", HERE / "requests.f90", "-o", "in_fortran", cwd=work)
        run(*launch, "-n", 2, iotrail, "-q", "record", "--mpi", "-o", "f.trail", "--", "./in_fortran", cwd=work)
        for rank, found in told("f.trail", work).items():
            differences(f"{library}, Fortran, rank {rank}", found, FORTRAN)
        print(f"{library}: {sum(map(len, told('c.trail', work).values()))} calls about requests as the programs say")
