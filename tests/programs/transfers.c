/* Reads and writes of every kind, cursors, and copies between descriptors. */
#include "truth.h"
#include <sys/sendfile.h>

static char buffer[65536];
static struct iovec parts[3];

static struct iovec *vector(size_t a, size_t b, size_t c) {
    size_t lengths[3] = {a, b, c};
    for (int i = 0; i < 3; i++) parts[i] = (struct iovec){buffer, lengths[i]};
    return parts;
}

static void plain(void) {
    char *path = given("plain", 10000);
    begin();
    int fd = opened(path, O_RDWR);
    must(4096, syscall(SYS_read, fd, buffer, 4096));
    did(.call = "read", .path = path, .fd = fd, .offset = 0, .size = 4096, .requested = 4096);
    must(5904, syscall(SYS_read, fd, buffer, 8192));
    did(.call = "read", .path = path, .fd = fd, .offset = 4096, .size = 5904, .requested = 8192);
    must(0, syscall(SYS_read, fd, buffer, 100));
    did(.call = "read", .path = path, .fd = fd, .offset = 10000, .size = 0, .requested = 100);
    must(70, syscall(SYS_write, fd, buffer, 70));
    did(.call = "write", .path = path, .fd = fd, .offset = 10000, .size = 70, .requested = 70);
    must(512, syscall(SYS_pread64, fd, buffer, 512, 1024L));
    did(.call = "pread64", .path = path, .fd = fd, .offset = 1024, .size = 512, .requested = 512);
    must(7, syscall(SYS_pwrite64, fd, buffer, 7, 1L << 33));
    did(.call = "pwrite64", .path = path, .fd = fd, .offset = 1LL << 33, .size = 7, .requested = 7);
    must(1, syscall(SYS_write, fd, buffer, 1)); /* the cursor stayed */
    did(.call = "write", .path = path, .fd = fd, .offset = 10070, .size = 1, .requested = 1);
    closed(fd, path);
    end();
}

static void vectors(void) {
    char *path = given("vectors", 1000);
    begin();
    int fd = opened(path, O_RDWR);
    must(60, syscall(SYS_readv, fd, vector(10, 20, 30), 3));
    did(.call = "readv", .path = path, .fd = fd, .offset = 0, .size = 60, .requested = 60);
    must(6, syscall(SYS_writev, fd, vector(1, 2, 3), 3));
    did(.call = "writev", .path = path, .fd = fd, .offset = 60, .size = 6, .requested = 6);
    must(3, syscall(SYS_preadv, fd, vector(1, 1, 1), 3, 500L, 0L));
    did(.call = "preadv", .path = path, .fd = fd, .offset = 500, .size = 3, .requested = 3);
    must(9, syscall(SYS_pwritev, fd, vector(4, 0, 5), 3, 800L, 0L));
    did(.call = "pwritev", .path = path, .fd = fd, .offset = 800, .size = 9, .requested = 9);
    must(100, syscall(SYS_preadv2, fd, vector(100, 50, 50), 3, 900L, 0L, 0));
    did(.call = "preadv2", .path = path, .fd = fd, .offset = 900, .size = 100, .requested = 200);
    must(8, syscall(SYS_pwritev2, fd, vector(8, 0, 0), 1, -1L, -1L, RWF_DSYNC));
    did(.call = "pwritev2", .path = path, .fd = fd, .offset = 66, .size = 8, .requested = 8);
    closed(fd, path);
    end();
}

static void cursors(void) {
    char *path = given("cursors", 100);
    begin();
    int fd = opened(path, O_RDWR);
    must(40, syscall(SYS_lseek, fd, 40L, SEEK_SET));
    did(.call = "lseek", .path = path, .fd = fd, .offset = 0);
    int copy = syscall(SYS_dup, fd);
    did(.call = "dup", .path = path, .fd = copy);
    must(10, syscall(SYS_read, copy, buffer, 10));
    did(.call = "read", .path = path, .fd = copy, .offset = 40, .size = 10);
    must(50, syscall(SYS_lseek, fd, 0L, SEEK_CUR)); /* shared */
    did(.call = "lseek", .path = path, .fd = fd, .offset = 50);
    must(95, syscall(SYS_lseek, fd, -5L, SEEK_END));
    did(.call = "lseek", .path = path, .fd = fd, .offset = 50);
    must(5, syscall(SYS_read, fd, buffer, 10));
    did(.call = "read", .path = path, .fd = fd, .offset = 95, .size = 5);
    closed(copy, path);
    closed(fd, path);
    int end_of_file = opened(path, O_WRONLY | O_APPEND);
    must(3, syscall(SYS_write, end_of_file, buffer, 3));
    did(.call = "write", .path = path, .fd = end_of_file, .size = 3, .offset = ANY);
    closed(end_of_file, path);
    end();
}

static void library(void) {
    char *path = in("library");
    begin();
    FILE *file = fopen(path, "w");
    did(.call = "openat", .path = path, .fd = fileno(file));
    setvbuf(file, buffer, _IOFBF, 4096);
    for (int i = 0; i < 100; i++) fputs("0123456789", file);
    fclose(file);
    did(.call = "write", .path = path, .offset = 0, .size = 1000);
    did(.call = "close", .path = path);
    end();
}

static void copies(void) {
    char *from = given("from", 9000), *to = in("to");
    begin();
    int in_fd = opened(from, O_RDONLY), out_fd = opened(to, O_RDWR | O_CREAT | O_TRUNC);
    loff_t in_at = 1000, out_at = 0;
    must(3000, syscall(SYS_copy_file_range, in_fd, &in_at, out_fd, &out_at, 3000L, 0));
    did(.call = "copy_file_range", .path = from, .path2 = to, .offset = 1000, .size = 3000, .requested = 3000);
    must(500, syscall(SYS_copy_file_range, in_fd, NULL, out_fd, NULL, 500L, 0));
    did(.call = "copy_file_range", .path = from, .path2 = to, .offset = 0, .size = 500);
    off_t at = 2000;
    must(800, syscall(SYS_sendfile, out_fd, in_fd, &at, 800L));
    did(.call = "sendfile", .path = from, .path2 = to, .offset = 2000, .size = 800, .requested = 800);
    must(8500, syscall(SYS_sendfile, out_fd, in_fd, NULL, 10000L));
    did(.call = "sendfile", .path = from, .path2 = to, .offset = 500, .size = 8500, .requested = 10000);
    must(9800, syscall(SYS_lseek, out_fd, 0L, SEEK_CUR));
    did(.call = "lseek", .path = to, .offset = 9800);
    closed(in_fd, from);
    closed(out_fd, to);
    end();
}

static void through_pipes(void) {
    char *path = given("piped", 5000);
    int one[2], two[2];
    if (pipe(one) || pipe(two)) fail("pipe", -1);
    begin();
    int fd = opened(path, O_RDONLY);
    loff_t at = 100;
    must(4000, syscall(SYS_splice, fd, &at, one[1], NULL, 4000L, 0));
    note_down((struct note){.call = "splice", .path = path, .path2 = "pipe:", .fd = fd, .offset = 100, .size = 4000, .requested = 4000});
    must(4000, syscall(SYS_tee, one[0], two[1], 10000L, 0));
    note_down((struct note){.call = "tee", .like = "pipe:", .path2 = "pipe:", .fd = one[0], .offset = UNKNOWN, .size = 4000, .requested = 10000});
    must(4000, syscall(SYS_read, two[0], buffer, 5000));
    did(.call = "read", .like = "pipe:", .fd = two[0], .size = 4000, .requested = 5000);
    must(30, syscall(SYS_vmsplice, two[1], vector(10, 10, 10), 3, 0));
    did(.call = "vmsplice", .like = "pipe:", .fd = two[1], .size = 30, .requested = 30);
    closed(fd, path);
    end();
}

static void advice(void) {
    char *path = given("advice", 8192);
    begin();
    int fd = opened(path, O_RDONLY);
    must(0, syscall(SYS_readahead, fd, 4096L, 4096L));
    did(.call = "readahead", .path = path, .fd = fd, .offset = 4096);
    must(0, syscall(SYS_fadvise64, fd, 0L, 4096L, POSIX_FADV_SEQUENTIAL));
    did(.call = "fadvise64", .path = path, .fd = fd, .offset = 0);
    closed(fd, path);
    end();
}

static void failures(void) {
    char *path = given("failures", 10);
    begin();
    must_fail(EBADF, syscall(SYS_read, 999, buffer, 10));
    did(.call = "read", .fd = 999, .error = "EBADF", .requested = 10);
    int fd = opened(path, O_RDONLY);
    must_fail(EBADF, syscall(SYS_write, fd, buffer, 10));
    did(.call = "write", .path = path, .fd = fd, .error = "EBADF", .offset = ANY);
    must_fail(EFAULT, syscall(SYS_read, fd, (void *)16, 10));
    did(.call = "read", .path = path, .fd = fd, .error = "EFAULT", .offset = ANY);
    must_fail(EINVAL, syscall(SYS_lseek, fd, -1L, SEEK_SET));
    did(.call = "lseek", .path = path, .fd = fd, .error = "EINVAL", .offset = ANY);
    closed(fd, path);
    int folder = opened(directory, O_RDONLY | O_DIRECTORY);
    must_fail(EISDIR, syscall(SYS_read, folder, buffer, 10));
    did(.call = "read", .path = directory, .fd = folder, .error = "EISDIR", .offset = ANY);
    closed(folder, directory);
    end();
}

int main(int argc, char **argv) {
    start(argc, argv);
    plain();
    vectors();
    cursors();
    library();
    copies();
    through_pipes();
    advice();
    failures();
    return done();
}
