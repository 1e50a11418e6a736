/* One rank of the single-shared-file versus file-per-process experiment (Sankaran et al., section V-A, in small).
 *
 * usage: writer ssf|fpp RANK RANKS DIR BLOCK_BYTES BLOCKS SEGMENTS
 * ssf: all ranks write disjoint blocks of DIR/ssf/test; fpp: each rank writes DIR/fpp/test.RANK.
 * Like IOR with -e -C, each rank writes its segments block by block, fsyncs, and reads what its neighbour wrote. */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *mode, *dir;
static int rank, ranks, blocks, segments;
static size_t block;
static atomic_int *arrived;

static int stop(const char *what) {
    perror(what);
    exit(1);
}

/* A barrier in shared memory, so that the ranks really compete and no call of the barrier shows in the trace. */
static void wait_for_everybody(int phase) {
    atomic_fetch_add(&arrived[phase], 1);
    while (atomic_load(&arrived[phase]) < ranks) sched_yield();
}

static int open_file(int of_rank, int flags) {
    char path[4096];
    if (strcmp(mode, "ssf") == 0) snprintf(path, sizeof path, "%s/ssf/test", dir);
    else snprintf(path, sizeof path, "%s/fpp/test.%08d", dir, of_rank);
    int fd = open(path, flags, 0644);
    return fd < 0 ? stop(path) : fd;
}

static void transfer(int of_rank, int flags, char *data) {
    int fd = open_file(of_rank, flags);
    for (int segment = 0; segment < segments; segment++) {
        if (strcmp(mode, "ssf") == 0) lseek(fd, ((off_t)segment * ranks + of_rank) * blocks * (off_t)block, SEEK_SET);
        for (int i = 0; i < blocks; i++) {
            ssize_t moved = flags & O_CREAT ? write(fd, data, block) : read(fd, data, block);
            if (moved != (ssize_t)block) stop("transfer");
        }
    }
    if (flags & O_CREAT) fsync(fd);
    close(fd);
}

int main(int argc, char **argv) {
    if (argc != 8) return fprintf(stderr, "usage: writer ssf|fpp RANK RANKS DIR BLOCK_BYTES BLOCKS SEGMENTS\n"), 2;
    mode = argv[1], rank = atoi(argv[2]), ranks = atoi(argv[3]), dir = argv[4];
    block = strtoul(argv[5], NULL, 10), blocks = atoi(argv[6]), segments = atoi(argv[7]);
    char path[4096];
    snprintf(path, sizeof path, "%s/barrier.%s", dir, mode);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096) != 0) stop(path);
    arrived = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (arrived == MAP_FAILED) stop(path);
    close(fd);
    char *data = malloc(block);
    memset(data, rank, block);
    wait_for_everybody(0);
    transfer(rank, O_RDWR | O_CREAT, data);
    wait_for_everybody(1);
    transfer((rank + 1) % ranks, O_RDWR, data);
    return 0;
}
