/* A ring that the kernel polls: what is submitted to it makes no call. Exits with 77 where that is not possible. */
#include "truth.h"
#include <linux/io_uring.h>

static char buffer[100];

int main(int argc, char **argv) {
    start(argc, argv);
    struct io_uring_params params = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 10000};
    int ring = syscall(SYS_io_uring_setup, 4, &params);
    if (ring < 0 || !(params.features & IORING_FEAT_SINGLE_MMAP) || !(params.features & IORING_FEAT_SQPOLL_NONFIXED)) return 77;
    size_t sq = params.sq_off.array + params.sq_entries * 4, cq = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    char *queue = mmap(0, sq > cq ? sq : cq, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    struct io_uring_sqe *entries = mmap(0, params.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    if (queue == MAP_FAILED || (void *)entries == MAP_FAILED) return 77;
    unsigned *tail = (unsigned *)(queue + params.sq_off.tail), *completed = (unsigned *)(queue + params.cq_off.tail);
    unsigned *flags = (unsigned *)(queue + params.sq_off.flags), *array = (unsigned *)(queue + params.sq_off.array);

    char *path = given("polled", 1000);
    begin();
    int fd = opened(path, O_RDONLY);
    entries[0] = (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = fd, .addr = (unsigned long)buffer, .len = 100};
    array[0] = 0;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(flags, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP)
        must(1, syscall(SYS_io_uring_enter, ring, 1, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0));
    while (__atomic_load_n(completed, __ATOMIC_ACQUIRE) == 0)
        ;
    /* It is done, and nobody saw: there is no note. */
    closed(fd, path);
    end();
    return done();
}
