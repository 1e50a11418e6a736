/* Files and their names: hard links, symbolic links, renames of files and directories, names that are used again, files
   without names, and, as root, a bind mount. Each transfer moves another number of bytes and is told with its file:
   SIZE LABEL DEVICE INODE BIRTH, where LABEL is the file as the program knows it.

   usage: identity DIRECTORY [with-mounts] [with-rights] */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#define SYS_pidfd_getfd 438
#endif

static char notes[1 << 16];
static size_t noted;
static char bytes[4096];
/* What is written is more than what is read, so that every file has enough. */
enum { WRITTEN = 1000 };
static size_t turn;
static size_t size;

static void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static void must(int result, const char *what) {
    if (result < 0) fail(what);
}

static void note(int fd, const char *label) {
    struct statx status;
    must(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &status), "statx");
    long long birth = status.stx_btime.tv_sec * 1000000000LL + status.stx_btime.tv_nsec;
    noted += snprintf(notes + noted, sizeof notes - noted, "%zu %s %u:%u %llu %lld\n", size, label, status.stx_dev_major,
                      status.stx_dev_minor, (unsigned long long)status.stx_ino, birth);
}

static int opened(const char *path, int flags) {
    int fd = open(path, flags, 0644);
    if (fd < 0) fail(path);
    return fd;
}

/* Writes to the file, which is LABEL. */
static void put(int fd, const char *label) {
    size = WRITTEN + ++turn;
    if (write(fd, bytes, size) != (ssize_t)size) fail("write");
    note(fd, label);
}

static void write_to(const char *path, int flags, const char *label) {
    int fd = opened(path, O_WRONLY | flags);
    put(fd, label);
    close(fd);
}

static void get(int fd, const char *label) {
    size = ++turn;
    if (read(fd, bytes, size) != (ssize_t)size) fail("read");
    note(fd, label);
}

static void read_from(const char *path, const char *label) {
    int fd = opened(path, O_RDONLY);
    get(fd, label);
    close(fd);
}

static void make(const char *path, const char *label) {
    int fd = opened(path, O_WRONLY | O_CREAT | O_TRUNC);
    put(fd, label);
    close(fd);
}

static void hard_links(void) {
    make("a", "A");
    must(link("a", "b"), "link");
    write_to("b", O_APPEND, "A");
    must(unlink("a"), "unlink");
    read_from("b", "A");
    make("a", "A2");
    read_from("a", "A2");
    must(linkat(AT_FDCWD, "a", AT_FDCWD, "twin", 0), "linkat");
    must(rename("a", "twin"), "rename onto another name of the same file");
    read_from("a", "A2");
    read_from("twin", "A2");
}

static void renames(void) {
    make("new.tmp", "R");
    make("final", "old");
    int old = opened("final", O_WRONLY | O_APPEND);
    must(rename("new.tmp", "final"), "rename");
    read_from("final", "R");
    put(old, "old");
    close(old);
    make("new.tmp", "S");
    read_from("new.tmp", "S");
    must(syscall(SYS_renameat2, AT_FDCWD, "new.tmp", AT_FDCWD, "final", RENAME_EXCHANGE), "exchange");
    read_from("final", "S");
    read_from("new.tmp", "R");
}

static void directories(void) {
    must(mkdir("d", 0777), "mkdir");
    must(mkdir("d/x", 0777), "mkdir");
    make("d/x/f", "D");
    must(rename("d", "e"), "rename of a directory");
    read_from("e/x/f", "D");
    must(mkdir("d", 0777), "mkdir");
    must(mkdir("d/x", 0777), "mkdir");
    make("d/x/f", "D2");
    read_from("e/x/f", "D");
    read_from("d/x/f", "D2");
    int directory = opened("e/x", O_RDONLY | O_DIRECTORY);
    int fd = openat(directory, "f", O_RDONLY);
    get(fd, "D");
    close(fd);
    close(directory);
}

static void symbolic_links(void) {
    must(mkdir("1", 0777), "mkdir");
    must(mkdir("2", 0777), "mkdir");
    make("1/out", "L");
    must(symlink("../1/out", "2/in"), "symlink");
    read_from("2/in", "L");
    write_to("2/in", O_APPEND, "L");
    must(symlink("1", "stage"), "symlink");
    read_from("stage/out", "L");
    must(symlink("2/in", "again"), "symlink");
    read_from("again", "L");
    must(unlink("2/in"), "unlink");
    make("2/in", "L2");
    read_from("again", "L2");
    must(rename("stage", "stage2"), "rename of a link");
    read_from("stage2/out", "L");
}

static void names_used_again(void) {
    for (int life = 0; life < 5; life++) {
        char label[] = {'T', (char)('0' + life), 0};
        make("turn", label);
        read_from("turn", label);
        int fd = opened("turn", O_WRONLY | O_APPEND);
        must(unlink("turn"), "unlink");
        put(fd, label);
        close(fd);
    }
}

static void descriptors(void) {
    make("kept", "P");
    int fd = opened("kept", O_RDWR);
    char path[64];
    must(unlink("kept"), "unlink");
    make("kept", "P2");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    write_to(path, O_APPEND, "P");
    close(fd);
    fd = open(".", O_TMPFILE | O_RDWR, 0644);
    if (fd < 0) return;
    put(fd, "N");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    must(linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW), "linkat");
    close(fd);
    read_from("named", "N");
}

/* What is made right after a file without a name is freed gets its inode, and often its time of birth. */
static void inodes_used_again(void) {
    for (int life = 0; life < 8; life++) {
        char path[32], label[32];
        int fd = open(".", O_TMPFILE | O_RDWR, 0600);
        if (fd < 0) return;
        snprintf(label, sizeof label, "temporary%d", life);
        put(fd, label);
        close(fd);
        snprintf(path, sizeof path, "node%d", life);
        must(mknod(path, (life & 1 ? S_IFIFO : S_IFREG) | 0600, 0), "mknod");
        fd = opened(path, O_RDWR);
        put(fd, path);
        close(fd);
    }
}

/* A descriptor of a process, here of this one. */
static void taken(void) {
    make("taken", "G");
    int fd = opened("taken", O_RDWR);
    must(unlink("taken"), "unlink");
    make("taken", "G2");
    int process = syscall(SYS_pidfd_open, getpid(), 0);
    int copy = process < 0 ? -1 : syscall(SYS_pidfd_getfd, process, fd, 0);
    if (copy < 0) {
        fprintf(stderr, "NOT TESTED: pidfd_getfd: %s\n", strerror(errno));
        return;
    }
    get(copy, "G");
}

/* Nobody has the descriptor while it is on its way. */
static void sent(void) {
    int pair[2];
    make("sent", "X");
    int fd = opened("sent", O_RDWR);
    must(unlink("sent"), "unlink");
    make("sent", "X2");
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
    struct iovec data = {bytes, 1};
    char space[CMSG_SPACE(sizeof fd)] = {0};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    must(sendmsg(pair[0], &message, 0), "sendmsg");
    close(fd);
    must(recvmsg(pair[1], &message, 0), "recvmsg");
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    get(fd, "X");
}

static void bind_mount(void) {
    make("1/bound", "B");
    must(mkdir("there", 0777), "mkdir");
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("1", "there", NULL, MS_BIND, NULL)) {
        fprintf(stderr, "NOT TESTED: no bind mounts here: %s\n", strerror(errno));
        return;
    }
    read_from("there/bound", "B");
    write_to("there/bound", O_APPEND, "B");
    read_from("1/bound", "B");
    make("there/other", "OVER");
    must(umount("there"), "umount");
    read_from("1/other", "OVER");
    make("there/other", "UNDER");
    read_from("there/other", "UNDER");
}

int main(int count, char **words) {
    if (count < 2) return 2;
    must(chdir(words[1]), "chdir");
    hard_links();
    renames();
    directories();
    symbolic_links();
    names_used_again();
    descriptors();
    inodes_used_again();
    taken();
    for (int word = 2; word < count; word++) {
        if (!strcmp(words[word], "with-mounts")) bind_mount();
        if (!strcmp(words[word], "with-rights")) sent();
    }
    for (size_t done = 0; done < noted;) {
        ssize_t written = write(1, notes + done, noted - done);
        if (written < 0) fail("write");
        done += written;
    }
    return 0;
}
