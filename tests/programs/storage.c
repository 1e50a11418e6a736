/* Forcing data to storage, locks, and mappings of files. */
#include "truth.h"
#include <sys/file.h>

static void syncs(void) {
    char *path = given("synced", 5000);
    begin();
    int fd = opened(path, O_RDWR);
    must(0, syscall(SYS_fsync, fd));
    did(.call = "fsync", .path = path, .fd = fd);
    must(0, syscall(SYS_fdatasync, fd));
    did(.call = "fdatasync", .path = path, .fd = fd);
    must(0, syscall(SYS_sync_file_range, fd, 4096L, 100L, SYNC_FILE_RANGE_WRITE));
    did(.call = "sync_file_range", .path = path, .fd = fd, .offset = 4096);
    must(0, syscall(SYS_syncfs, fd));
    did(.call = "syncfs", .path = path, .fd = fd);
    closed(fd, path);
    must_fail(EBADF, syscall(SYS_fsync, 876));
    did(.call = "fsync", .fd = 876, .error = "EBADF");
    end();
}

static void locks(void) {
    char *path = given("locked", 10);
    begin();
    int fd = opened(path, O_RDWR), other = opened(path, O_RDWR);
    must(0, syscall(SYS_flock, fd, LOCK_EX));
    did(.call = "flock", .path = path, .fd = fd);
    must_fail(EWOULDBLOCK, syscall(SYS_flock, other, LOCK_EX | LOCK_NB));
    did(.call = "flock", .path = path, .fd = other, .error = "EAGAIN");
    must(0, syscall(SYS_flock, fd, LOCK_UN));
    did(.call = "flock", .path = path, .fd = fd);
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2, .l_len = 3};
    must(0, syscall(SYS_fcntl, fd, F_SETLK, &range));
    did(.call = "fcntl", .path = path, .fd = fd, .offset = ANY);
    must(0, syscall(SYS_fcntl, fd, F_OFD_GETLK, &range));
    did(.call = "fcntl", .path = path, .fd = fd, .offset = ANY);
    closed(other, path);
    closed(fd, path);
    end();
}

static void maps(void) {
    char *path = given("mapped", 16384);
    begin();
    int fd = opened(path, O_RDWR);
    char *map = (char *)syscall(SYS_mmap, NULL, 8192L, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096L);
    if (map == MAP_FAILED) fail("mmap", -1);
    did(.call = "mmap", .path = path, .fd = fd, .offset = 4096);
    closed(fd, path);
    map[0] = 1; /* no call, and not seen */
    must(0, syscall(SYS_msync, map + 4096, 4096L, MS_SYNC));
    did(.call = "msync", .path = path, .offset = 8192);
    char *moved = (char *)syscall(SYS_mremap, map, 8192L, 12288L, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) fail("mremap", -1);
    did(.call = "mremap", .path = path, .offset = 4096);
    must(0, syscall(SYS_madvise, moved, 4096L, MADV_SEQUENTIAL));
    did(.call = "madvise", .path = path, .offset = 4096);
    must(0, syscall(SYS_munmap, moved + 8192, 4096L));
    did(.call = "munmap", .path = path, .offset = 12288);
    must(0, syscall(SYS_munmap, moved, 8192L));
    did(.call = "munmap", .path = path, .offset = 4096);
    end();
}

int main(int argc, char **argv) {
    start(argc, argv);
    syncs();
    locks();
    maps();
    return done();
}
