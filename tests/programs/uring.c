/* io_uring without a library. Exits with 77 where the kernel has none or does not allow it. */
#include "truth.h"
#include <linux/io_uring.h>
#include <pthread.h>
#include <sys/wait.h>

static int ring;
static struct io_uring_params params;
static char *queue;
static struct io_uring_sqe *entries;
static char buffer[8192], facts[512];

#define AT(offset) ((unsigned *)(queue + (offset)))

static int set_up(void) {
    ring = syscall(SYS_io_uring_setup, 16, &params);
    if (ring < 0 || !(params.features & IORING_FEAT_SINGLE_MMAP)) return 0;
    size_t sq = params.sq_off.array + params.sq_entries * 4, cq = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    queue = mmap(0, sq > cq ? sq : cq, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
    entries = mmap(0, params.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
    return queue != MAP_FAILED && (void *)entries != MAP_FAILED;
}

/* Adds an entry to the queue. */
static struct io_uring_sqe *add(int operation, int fd, const void *address, unsigned length, unsigned long offset) {
    unsigned tail = *AT(params.sq_off.tail), slot = tail & (params.sq_entries - 1);
    /* Entries need not be used in order. */
    unsigned index = params.sq_entries - 1 - slot;
    entries[index] = (struct io_uring_sqe){.opcode = operation, .fd = fd, .addr = (unsigned long)address, .len = length, .off = offset, .user_data = tail / 2};
    AT(params.sq_off.array)[slot] = index;
    __atomic_store_n(AT(params.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
    return &entries[index];
}

/* Submits so many and takes their results in the order of completion; with one it is the result. */
static int submit(int number) {
    must(number, syscall(SYS_io_uring_enter, ring, number, number, IORING_ENTER_GETEVENTS, NULL, 0));
    unsigned head = *AT(params.cq_off.head), tail = __atomic_load_n(AT(params.cq_off.tail), __ATOMIC_ACQUIRE);
    if (tail - head != (unsigned)number) fail("completions", tail - head);
    struct io_uring_cqe *last = (struct io_uring_cqe *)(queue + params.cq_off.cqes) + ((tail - 1) & (params.cq_entries - 1));
    int result = last->res;
    __atomic_store_n(AT(params.cq_off.head), tail, __ATOMIC_RELEASE);
    return result;
}

static void transfers(void) {
    char *path = given("ring", 10000);
    struct iovec parts[2] = {{buffer, 300}, {buffer, 200}};
    begin();
    int fd = opened(path, O_RDWR);
    add(IORING_OP_READ, fd, buffer, 4096, 1000);
    must(4096, submit(1));
    did(.call = "io_uring_read", .path = path, .fd = fd, .offset = 1000, .size = 4096, .requested = 4096);
    add(IORING_OP_WRITE, fd, buffer, 500, 9000);
    must(500, submit(1));
    did(.call = "io_uring_write", .path = path, .fd = fd, .offset = 9000, .size = 500, .requested = 500);
    add(IORING_OP_READV, fd, parts, 2, 0);
    must(500, submit(1));
    did(.call = "io_uring_readv", .path = path, .fd = fd, .offset = 0, .size = 500, .requested = 500);
    add(IORING_OP_WRITEV, fd, parts, 2, 9900);
    must(500, submit(1));
    did(.call = "io_uring_writev", .path = path, .fd = fd, .offset = 9900, .size = 500, .requested = 500);
    add(IORING_OP_READ, fd, buffer, 100, -1); /* at the cursor */
    must(100, submit(1));
    did(.call = "io_uring_read", .path = path, .fd = fd, .offset = 0, .size = 100);
    must(50, syscall(SYS_read, fd, buffer, 50L));
    did(.call = "read", .path = path, .fd = fd, .offset = 100, .size = 50);
    add(IORING_OP_FSYNC, fd, NULL, 0, 0);
    must(0, submit(1));
    did(.call = "io_uring_fsync", .path = path, .fd = fd);
    add(IORING_OP_FALLOCATE, fd, (void *)4096, 0, 8192);
    must(0, submit(1));
    did(.call = "io_uring_fallocate", .path = path, .fd = fd, .offset = 8192);
    add(IORING_OP_NOP, -1, NULL, 0, 0); /* no event */
    must(0, submit(1));
    for (int i = 0; i < 3; i++) add(IORING_OP_READ, fd, buffer, 10 + i, 100 * i)->flags = i < 2 ? IOSQE_IO_LINK : 0;
    submit(3);
    for (int i = 0; i < 3; i++)
        did(.call = "io_uring_read", .path = path, .fd = fd, .offset = 100 * i, .size = 10 + i);
    add(IORING_OP_READ, fd, (void *)16, 10, 0);
    must(-EFAULT, submit(1));
    did(.call = "io_uring_read", .path = path, .fd = fd, .offset = 0, .requested = 10, .error = "EFAULT");
    closed(fd, path);
    end();
}

static void fixed(void) {
    char *path = given("fixed", 1000);
    begin();
    int fd = opened(path, O_RDONLY), none = -1;
    struct iovec whole = {buffer, sizeof buffer};
    int files[2] = {none, fd};
    must(0, syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, files, 2));
    must(0, syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &whole, 1));
    closed(fd, path); /* the ring keeps the file */
    add(IORING_OP_READ, 1, buffer, 100, 200)->flags = IOSQE_FIXED_FILE;
    must(100, submit(1));
    did(.call = "io_uring_read", .path = path, .fd = UNKNOWN, .offset = 200, .size = 100);
    add(IORING_OP_READ_FIXED, 1, buffer, 64, 0)->flags = IOSQE_FIXED_FILE;
    must(64, submit(1));
    did(.call = "io_uring_read_fixed", .path = path, .fd = UNKNOWN, .offset = 0, .size = 64);
    add(IORING_OP_READ, 0, buffer, 64, 0)->flags = IOSQE_FIXED_FILE;
    must(-EBADF, submit(1));
    did(.call = "io_uring_read", .fd = UNKNOWN, .offset = 0, .error = "EBADF");
    end();
}

static void names(void) {
    char *path = in("opened by ring"), *moved = in("moved by ring"), *folder = in("made by ring"), *none = in("none");
    begin();
    struct io_uring_sqe *entry = add(IORING_OP_OPENAT, AT_FDCWD, path, 0644, 0);
    entry->open_flags = O_RDWR | O_CREAT;
    int fd = submit(1);
    if (fd < 0) fail("openat", fd);
    did(.call = "io_uring_openat", .path = path, .fd = fd);
    must(20, syscall(SYS_write, fd, buffer, 20L));
    did(.call = "write", .path = path, .fd = fd, .offset = 0, .size = 20);
    add(IORING_OP_CLOSE, fd, NULL, 0, 0);
    must(0, submit(1));
    did(.call = "io_uring_close", .path = path, .fd = fd);
    must_fail(EBADF, syscall(SYS_write, fd, buffer, 20L));
    did(.call = "write", .fd = fd, .error = "EBADF");
    add(IORING_OP_STATX, AT_FDCWD, path, STATX_SIZE, (unsigned long)facts);
    must(0, submit(1));
    did(.call = "io_uring_statx", .path = path);
    add(IORING_OP_RENAMEAT, AT_FDCWD, path, AT_FDCWD, (unsigned long)moved);
    must(0, submit(1));
    did(.call = "io_uring_renameat", .path = path, .path2 = moved);
    add(IORING_OP_MKDIRAT, AT_FDCWD, folder, 0755, 0);
    must(0, submit(1));
    did(.call = "io_uring_mkdirat", .path = folder);
    add(IORING_OP_LINKAT, AT_FDCWD, moved, AT_FDCWD, (unsigned long)path);
    must(0, submit(1));
    did(.call = "io_uring_linkat", .path = moved, .path2 = path);
    add(IORING_OP_UNLINKAT, AT_FDCWD, path, 0, 0);
    must(0, submit(1));
    did(.call = "io_uring_unlinkat", .path = path);
    add(IORING_OP_SYMLINKAT, AT_FDCWD, "moved by ring", 0, (unsigned long)path);
    must(0, submit(1));
    did(.call = "io_uring_symlinkat", .path = path, .path2 = moved);
    add(IORING_OP_OPENAT, AT_FDCWD, none, 0, 0);
    must(-ENOENT, submit(1));
    did(.call = "io_uring_openat", .path = none, .error = "ENOENT");
    end();
}

/* Hands over an entry without waiting, and waits without a call. */
static int submit_and_watch(void) {
    unsigned head = *AT(params.cq_off.head);
    must(1, syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0));
    while (__atomic_load_n(AT(params.cq_off.tail), __ATOMIC_ACQUIRE) == head)
        ;
    int result = ((struct io_uring_cqe *)(queue + params.cq_off.cqes))[head & (params.cq_entries - 1)].res;
    __atomic_store_n(AT(params.cq_off.head), head + 1, __ATOMIC_RELEASE);
    return result;
}

static void *thread(void *path) {
    begin();
    int fd = opened(path, O_RDONLY);
    add(IORING_OP_READ, fd, buffer, 33, 3);
    must(33, submit(1));
    did(.call = "io_uring_read", .path = path, .fd = fd, .offset = 3, .size = 33);
    closed(fd, path);
    end();
    return NULL;
}

/* Others who have the ring: a thread, a child. */
static void shared(void) {
    char *path = given("shared", 1000);
    pthread_t id;
    must(0, pthread_create(&id, NULL, thread, path));
    must(0, pthread_join(id, NULL));
    pid_t child = fork();
    if (child == 0) {
        thread(path);
        _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status) fail("child", status);
}

/* The ring by its place among the registered ones of the thread. */
static void by_place(void) {
    char *path = given("by place", 100);
    struct io_uring_rsrc_update place = {.offset = -1U, .data = ring};
    if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_RING_FDS, &place, 1) != 1) return;
    begin();
    int fd = opened(path, O_RDONLY);
    add(IORING_OP_READ, fd, buffer, 44, 4);
    must(1, syscall(SYS_io_uring_enter, place.offset, 1, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_REGISTERED_RING, NULL, 0));
    __atomic_store_n(AT(params.cq_off.head), *AT(params.cq_off.tail), __ATOMIC_RELEASE);
    did(.call = "io_uring_read", .path = path, .fd = fd, .offset = 4, .size = 44);
    closed(fd, path);
    end();
}

/* The last entries: completions that no call shows, and a read that never ends. */
static void last(void) {
    char *path = given("last", 1000);
    int ends[2];
    must(0, pipe(ends));
    begin();
    int fd = opened(path, O_RDONLY);
    add(IORING_OP_READ, ends[0], buffer, 10, 0);
    must(1, syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0));
    did(.call = "io_uring_read", .like = "pipe:", .fd = ends[0], .requested = 10, .unfinished = 1);
    for (int i = 0; i < 40; i++) {
        add(IORING_OP_READ, fd, buffer, 5, i);
        must(5, submit_and_watch());
        did(.call = "io_uring_read", .path = path, .fd = fd, .offset = i, .size = 5);
    }
    end();
}

int main(int argc, char **argv) {
    start(argc, argv);
    if (!set_up()) return 77;
    transfers();
    fixed();
    names();
    shared();
    by_place();
    last();
    return done();
}
