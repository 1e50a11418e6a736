/* Calls on paths: directories, metadata, links, extended attributes, relative names, and names of every sort. */
#include "truth.h"
#include <linux/openat2.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

static struct stat status;
static char buffer[4096];

static void metadata(void) {
    char *path = given("metadata", 100);
    begin();
    must(0, syscall(SYS_stat, path, &status));
    did(.call = "stat", .path = path);
    must(0, syscall(SYS_lstat, path, &status));
    did(.call = "lstat", .path = path);
    must(0, syscall(SYS_newfstatat, AT_FDCWD, path, &status, 0));
    did(.call = "newfstatat", .path = path);
    must(0, syscall(SYS_statx, AT_FDCWD, path, 0, STATX_SIZE, buffer));
    did(.call = "statx", .path = path);
    must(0, syscall(SYS_access, path, R_OK));
    did(.call = "access", .path = path);
    must(0, syscall(SYS_faccessat2, AT_FDCWD, path, R_OK, 0));
    did(.call = "faccessat2", .path = path);
    must(0, syscall(SYS_chmod, path, 0600));
    did(.call = "chmod", .path = path);
    must(0, syscall(SYS_fchmodat, AT_FDCWD, path, 0644));
    did(.call = "fchmodat", .path = path);
    must(0, syscall(SYS_chown, path, getuid(), -1));
    did(.call = "chown", .path = path);
    must(0, syscall(SYS_fchownat, AT_FDCWD, path, -1, getgid(), 0));
    did(.call = "fchownat", .path = path);
    must(0, syscall(SYS_utime, path, NULL));
    did(.call = "utime", .path = path);
    must(0, syscall(SYS_utimensat, AT_FDCWD, path, NULL, 0));
    did(.call = "utimensat", .path = path);
    must(0, syscall(SYS_truncate, path, 50L));
    did(.call = "truncate", .path = path, .offset = 50);
    must(0, syscall(SYS_statfs, path, buffer));
    did(.call = "statfs", .path = path);
    int fd = opened(path, O_RDWR);
    must(0, syscall(SYS_fstat, fd, &status));
    did(.call = "fstat", .path = path, .fd = fd);
    must(0, syscall(SYS_newfstatat, fd, "", &status, AT_EMPTY_PATH));
    did(.call = "newfstatat", .path = path, .fd = fd);
    must(0, syscall(SYS_fchmod, fd, 0644));
    did(.call = "fchmod", .path = path, .fd = fd);
    must(0, syscall(SYS_fchown, fd, -1, -1));
    did(.call = "fchown", .path = path, .fd = fd);
    must(0, syscall(SYS_ftruncate, fd, 60L));
    did(.call = "ftruncate", .path = path, .fd = fd, .offset = 60);
    must(0, syscall(SYS_fallocate, fd, 0, 0L, 4096L));
    did(.call = "fallocate", .path = path, .fd = fd, .offset = 0);
    closed(fd, path);
    end();
}

static void attributes(void) {
    char *path = given("attributes", 1);
    if (setxattr(path, "user.probe", "x", 1, 0)) return; /* not on this file system */
    begin();
    must(0, syscall(SYS_setxattr, path, "user.a", "bc", 2L, 0));
    did(.call = "setxattr", .path = path);
    must(2, syscall(SYS_getxattr, path, "user.a", buffer, 10L));
    did(.call = "getxattr", .path = path);
    long listed = syscall(SYS_listxattr, path, buffer, 4096L);
    if (listed < 7) fail("listxattr", listed);
    did(.call = "listxattr", .path = path);
    must(0, syscall(SYS_removexattr, path, "user.a"));
    did(.call = "removexattr", .path = path);
    must_fail(ENODATA, syscall(SYS_getxattr, path, "user.a", buffer, 10L));
    did(.call = "getxattr", .path = path, .error = "ENODATA");
    end();
}

static void directories(void) {
    char *made = in("made"), *at = in("at"), *file = given("linked", 3);
    char *hard = in("hard"), *soft = in("soft"), *moved = in("moved"), *moved2 = in("moved2");
    begin();
    must(0, syscall(SYS_mkdir, made, 0755));
    did(.call = "mkdir", .path = made);
    must(0, syscall(SYS_mkdirat, AT_FDCWD, at, 0755));
    did(.call = "mkdirat", .path = at);
    must(0, syscall(SYS_link, file, hard));
    did(.call = "link", .path = file, .path2 = hard);
    must(0, syscall(SYS_symlink, "linked", soft));
    did(.call = "symlink", .path = soft, .path2 = file);
    must(6, syscall(SYS_readlink, soft, buffer, 4096L));
    did(.call = "readlink", .path = soft);
    must(0, syscall(SYS_rename, hard, moved));
    did(.call = "rename", .path = hard, .path2 = moved);
    must(0, syscall(SYS_renameat2, AT_FDCWD, moved, AT_FDCWD, moved2, 0));
    did(.call = "renameat2", .path = moved, .path2 = moved2);
    int fd = opened(made, O_RDONLY | O_DIRECTORY);
    long got = syscall(SYS_getdents64, fd, buffer, 4096L);
    if (got <= 0) fail("getdents64", got);
    did(.call = "getdents64", .path = made, .fd = fd);
    must(0, syscall(SYS_getdents64, fd, buffer, 4096L));
    did(.call = "getdents64", .path = made, .fd = fd);
    closed(fd, made);
    must(0, syscall(SYS_unlink, moved2));
    did(.call = "unlink", .path = moved2);
    must(0, syscall(SYS_unlinkat, AT_FDCWD, soft, 0));
    did(.call = "unlinkat", .path = soft);
    must(0, syscall(SYS_rmdir, made));
    did(.call = "rmdir", .path = made);
    must(0, syscall(SYS_unlinkat, AT_FDCWD, at, AT_REMOVEDIR));
    did(.call = "unlinkat", .path = at);
    end();
}

static void relative(void) {
    char *sub = in("sub"), *file = in("sub/file"), *other = in("sub/other");
    must(0, mkdir(sub, 0755));
    begin();
    int folder = opened(sub, O_RDONLY | O_DIRECTORY);
    int fd = syscall(SYS_openat, folder, "file", O_WRONLY | O_CREAT, 0644);
    did(.call = "openat", .path = file, .fd = fd);
    closed(fd, file);
    struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_BENEATH};
    fd = syscall(SYS_openat2, folder, "../sub/./file", &how, sizeof how);
    if (fd != -1 || errno != EXDEV) fail("openat2", fd);
    did(.call = "openat2", .path = file, .error = "EXDEV");
    fd = syscall(SYS_openat2, folder, "file", &how, sizeof how);
    did(.call = "openat2", .path = file, .fd = fd);
    closed(fd, file);
    must(0, syscall(SYS_chdir, sub));
    did(.call = "chdir", .path = sub);
    must(0, syscall(SYS_stat, "file", &status));
    did(.call = "stat", .path = file);
    must(0, syscall(SYS_renameat, folder, "file", AT_FDCWD, "other"));
    did(.call = "renameat", .path = file, .path2 = other);
    must(0, syscall(SYS_chdir, ".."));
    did(.call = "chdir", .path = directory);
    must(0, syscall(SYS_unlink, "sub/../sub/other"));
    did(.call = "unlink", .path = other);
    must(0, syscall(SYS_fchdir, folder));
    did(.call = "fchdir", .path = sub, .fd = folder);
    must_fail(ENOENT, syscall(SYS_unlink, "other"));
    did(.call = "unlink", .path = other, .error = "ENOENT");
    closed(folder, sub);
    end();
}

/* Behind a symbolic link two dots lead to the directory of its target; a renamed directory has its new name. */
static void links(void) {
    char *real = in("real"), *deep = in("real/deep"), *file = in("real/file"), *made = in("real/made"), *link = in("link");
    char *moved = in("moved_real"), *moved_deep = in("moved_real/deep"), *later = in("moved_real/deep/later");
    must(0, mkdir(real, 0755));
    must(0, mkdir(deep, 0755));
    must(0, symlink("real/deep", link));
    given("real/file", 3);
    given("file", 3); /* what the letters say */
    must(0, chdir(directory));
    begin();
    int fd = syscall(SYS_openat, AT_FDCWD, "link/../file", O_RDONLY);
    did(.call = "openat", .path = file, .fd = fd);
    closed(fd, file);
    must(0, syscall(SYS_stat, "link/../file", &status));
    did(.call = "stat", .path = file);
    must(0, syscall(SYS_stat, "link", &status));
    did(.call = "stat", .path = deep);
    must(0, syscall(SYS_lstat, "link", &status));
    did(.call = "lstat", .path = link);
    must(0, syscall(SYS_mkdir, "link/../made", 0755));
    did(.call = "mkdir", .path = made);
    must(0, syscall(SYS_chdir, "link"));
    did(.call = "chdir", .path = deep);
    must(0, syscall(SYS_rmdir, "../made"));
    did(.call = "rmdir", .path = made);
    int folder = opened(deep, O_RDONLY | O_DIRECTORY);
    must(0, syscall(SYS_rename, real, moved));
    did(.call = "rename", .path = real, .path2 = moved);
    fd = syscall(SYS_openat, AT_FDCWD, "later", O_WRONLY | O_CREAT, 0644);
    did(.call = "openat", .path = later, .fd = fd);
    closed(fd, later);
    must(0, syscall(SYS_unlinkat, folder, "later", 0));
    did(.call = "unlinkat", .path = later);
    closed(folder, moved_deep);
    must(0, syscall(SYS_unlink, link));
    did(.call = "unlink", .path = link);
    end();
    must(0, chdir(directory));
}

static void strange(void) {
    const char *names[] = {"a b", "new\nline", "quote\"and'", "back\\slash\\n", "tab\t", "\xff\xfe not UTF-8", "\xc3\xa4\xe2\x82\xac", "%s$HOME*?"};
    begin();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = in(names[i]);
        int fd = opened(path, O_WRONLY | O_CREAT);
        must(2, syscall(SYS_write, fd, "hi", 2L));
        did(.call = "write", .path = path, .fd = fd, .offset = 0, .size = 2);
        closed(fd, path);
        must(0, syscall(SYS_unlink, path));
        did(.call = "unlink", .path = path);
    }
    end();
}

static void failures(void) {
    char *none = in("none/at/all"), *file = given("plain", 1), *below = in("plain/below"), *folder = in("folder");
    must(0, mkdir(folder, 0755));
    begin();
    must_fail(ENOENT, syscall(SYS_openat, AT_FDCWD, none, O_RDONLY));
    did(.call = "openat", .path = none, .error = "ENOENT");
    must_fail(ENOTDIR, syscall(SYS_openat, AT_FDCWD, below, O_RDONLY));
    did(.call = "openat", .path = below, .error = "ENOTDIR");
    must_fail(EEXIST, syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_EXCL, 0644));
    did(.call = "openat", .path = file, .error = "EEXIST");
    must_fail(EISDIR, syscall(SYS_openat, AT_FDCWD, folder, O_WRONLY));
    did(.call = "openat", .path = folder, .error = "EISDIR");
    must_fail(EEXIST, syscall(SYS_mkdir, folder, 0755));
    did(.call = "mkdir", .path = folder, .error = "EEXIST");
    must_fail(ENOTDIR, syscall(SYS_rmdir, file));
    did(.call = "rmdir", .path = file, .error = "ENOTDIR");
    must_fail(ENOENT, syscall(SYS_rename, none, file));
    did(.call = "rename", .path = none, .path2 = file, .error = "ENOENT");
    must_fail(EFAULT, syscall(SYS_openat, AT_FDCWD, (void *)8, O_RDONLY));
    did(.call = "openat", .error = "EFAULT");
    must_fail(EBADF, syscall(SYS_close, 987));
    did(.call = "close", .fd = 987, .error = "EBADF");
    end();
}

int main(int argc, char **argv) {
    start(argc, argv);
    metadata();
    attributes();
    directories();
    relative();
    links();
    strange();
    failures();
    return done();
}
