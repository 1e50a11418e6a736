/* Linux AIO without a library. Exits with 77 where the kernel has none. */
#include "truth.h"
#include <linux/aio_abi.h>

static char buffer[8192];
static aio_context_t context;

static struct iocb block(int operation, int fd, void *at, long bytes, long offset) {
    return (struct iocb){.aio_lio_opcode = operation, .aio_fildes = fd, .aio_buf = (unsigned long)at, .aio_nbytes = bytes, .aio_offset = offset};
}

/* Hands blocks over and waits for all. */
static void run(struct iocb *blocks, int number, const char *unused) {
    (void)unused;
    struct iocb *list[8];
    struct io_event events[8];
    for (int i = 0; i < number; i++) list[i] = &blocks[i];
    must(number, syscall(SYS_io_submit, context, (long)number, list));
    for (int seen = 0; seen < number;) {
        long got = syscall(SYS_io_getevents, context, 1L, (long)(number - seen), events, NULL);
        if (got < 1) fail("io_getevents", got);
        seen += got;
    }
}

int main(int argc, char **argv) {
    start(argc, argv);
    if (syscall(SYS_io_setup, 16, &context)) return 77;
    char *path = given("asynchronous", 10000);
    begin();
    int fd = opened(path, O_RDWR);
    struct iocb blocks[8];
    struct iovec parts[2] = {{buffer, 100}, {buffer, 50}};

    blocks[0] = block(IOCB_CMD_PREAD, fd, buffer, 4096, 1000);
    run(blocks, 1, path);
    did(.call = "aio_pread", .path = path, .fd = fd, .offset = 1000, .size = 4096, .requested = 4096);
    blocks[0] = block(IOCB_CMD_PWRITE, fd, buffer, 300, 9900);
    run(blocks, 1, path);
    did(.call = "aio_pwrite", .path = path, .fd = fd, .offset = 9900, .size = 300, .requested = 300);
    blocks[0] = block(IOCB_CMD_PREAD, fd, buffer, 4096, 10000); /* the end is near */
    run(blocks, 1, path);
    did(.call = "aio_pread", .path = path, .fd = fd, .offset = 10000, .size = 200, .requested = 4096);
    blocks[0] = block(IOCB_CMD_PREADV, fd, parts, 2, 0);
    run(blocks, 1, path);
    did(.call = "aio_preadv", .path = path, .fd = fd, .offset = 0, .size = 150, .requested = 150);
    blocks[0] = block(IOCB_CMD_PWRITEV, fd, parts, 2, 5000);
    run(blocks, 1, path);
    did(.call = "aio_pwritev", .path = path, .fd = fd, .offset = 5000, .size = 150, .requested = 150);
    blocks[0] = block(IOCB_CMD_FSYNC, fd, NULL, 0, 0);
    run(blocks, 1, path);
    did(.call = "aio_fsync", .path = path, .fd = fd);
    blocks[0] = block(IOCB_CMD_FDSYNC, fd, NULL, 0, 0);
    run(blocks, 1, path);
    did(.call = "aio_fdsync", .path = path, .fd = fd);
    for (int i = 0; i < 8; i++) blocks[i] = block(IOCB_CMD_PREAD, fd, buffer, 10 + i, 100 * i);
    run(blocks, 8, path);
    for (int i = 0; i < 8; i++)
        did(.call = "aio_pread", .path = path, .fd = fd, .offset = 100 * i, .size = 10 + i, .requested = 10 + i);
    blocks[0] = block(IOCB_CMD_PREAD, fd, (void *)16, 10, 0);
    run(blocks, 1, path);
    did(.call = "aio_pread", .path = path, .fd = fd, .offset = 0, .requested = 10, .error = "EFAULT");
    closed(fd, path);
    end();
    syscall(SYS_io_destroy, context);
    return done();
}
