"""One rank of the single-shared-file versus file-per-process experiment (Sankaran et al., section V-A, in small).

usage: writer.py MODE RANK RANKS DIR [BLOCK_BYTES] [BLOCKS] [SEGMENTS]
MODE ssf: all ranks write disjoint blocks of DIR/ssf/test; MODE fpp: each rank writes DIR/fpp/test.RANK.
Like IOR, each rank writes its segments block by block, then fsyncs, then reads the data of its neighbour.
"""
import os
import sys
import time


def main():
    mode, rank, ranks, directory = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    block = int(sys.argv[5]) if len(sys.argv) > 5 else 1 << 20
    blocks = int(sys.argv[6]) if len(sys.argv) > 6 else 16
    segments = int(sys.argv[7]) if len(sys.argv) > 7 else 3
    wait_for_everybody(directory, f"{mode}.start", ranks)
    data = bytes([rank % 251]) * block
    with_file(mode, rank, ranks, directory, blocks, segments, block, os.O_CREAT | os.O_RDWR, lambda fd: os.write(fd, data))
    wait_for_everybody(directory, f"{mode}.written", ranks)
    neighbour = (rank + 1) % ranks
    with_file(mode, neighbour, ranks, directory, blocks, segments, block, os.O_RDWR, lambda fd: os.read(fd, block))


def with_file(mode, rank, ranks, directory, blocks, segments, block, flags, transfer):
    name = f"{directory}/ssf/test" if mode == "ssf" else f"{directory}/fpp/test.{rank:08d}"
    fd = os.open(name, flags, 0o644)
    for segment in range(segments):
        if mode == "ssf":
            os.lseek(fd, (segment * ranks + rank) * blocks * block, os.SEEK_SET)
        for _ in range(blocks):
            transfer(fd)
    if flags & os.O_CREAT:
        os.fsync(fd)
    os.close(fd)


def wait_for_everybody(directory, phase, ranks):
    """A barrier through the file system, so that the ranks really compete."""
    open(f"{directory}/.{phase}.{os.getpid()}", "w").close()
    deadline = time.monotonic() + 60
    while sum(name.startswith(f".{phase}.") for name in os.listdir(directory)) < ranks:
        if time.monotonic() > deadline:
            sys.exit("the other ranks did not come")
        time.sleep(0.01)


main()
