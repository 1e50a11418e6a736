/* A random sequence of what moves the cursors of open file descriptions, and where each transfer truly began.
 *
 * usage: offsets SEED STEPS KIND NOTES DIRECTORY
 *
 * KIND is `turns` (several processes, one after the other, each step by one that is chosen), `race` (the same, and after it
 * all at once on shared descriptors), `threads` (threads at once). NOTES gets a line for each transfer and seek:
 *   TID NUMBER CALL RETURNED TRUTH
 * where NUMBER counts those of the thread in this image, and TRUTH is the position before, `end` for writes that go to the
 * end of the file (the trail must not know) or `?` (nobody knows). The truth comes from /proc/self/fdinfo, which disturbs
 * nothing; of the race from what was read: the file holds random bytes, so each piece of 16 lies in one place.
 * The notes lie in memory that all processes map; fdinfo is read with preadv, which no step uses.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 4
#define MINE 12
#define MOST 40000
#define STATE 900
#define SOCKET 901
#define PIPE 903
#define PATTERN 65536

struct note {
    int tid, number;
    char call[20];
    long long ret, truth; /* -1: end, -2: nobody knows */
};

struct shared {
    unsigned long long random;
    atomic_int turn; /* whose turn it is */
    atomic_int live[WORKERS];
    int workers, steps, receiving, kind;
    atomic_int number, racing, arrived;
    int fds[WORKERS][MINE]; /* of each worker; -1 is none */
    unsigned char pattern[PATTERN];
    struct note notes[MOST];
};

static struct shared *s;
static int self;
static _Thread_local int number, tid;
static char buffer[70000];
static char *program, *notes_file, *directory;

static void fail(const char *what) {
    fprintf(stderr, "offsets: %s: %s\n", what, strerror(errno));
    _exit(99);
}

static unsigned long long draw(unsigned long long *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

static int below(int limit) { return (int)(draw(&s->random) % limit); }

static void futex(atomic_int *at, int what, int value) { syscall(SYS_futex, at, what, value, NULL, NULL, 0); }

static void hand_over(int to) {
    atomic_store(&s->turn, to);
    futex(&s->turn, FUTEX_WAKE, 1000);
}

static void await_turn(void) {
    for (int turn; (turn = atomic_load(&s->turn)) != self;) futex(&s->turn, FUTEX_WAIT, turn);
}

/* Position and whether writes go to the end; -1 if there is none. */
static long long position(int fd, int *append) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    int info = open(path, O_RDONLY | O_CLOEXEC);
    if (info < 0) return -1;
    struct iovec part = {text, sizeof text - 1};
    long length = syscall(SYS_preadv, info, &part, 1, 0L, 0L);
    close(info);
    if (length <= 0) fail("fdinfo");
    text[length] = 0;
    long long at;
    unsigned flags;
    if (sscanf(text, "pos: %lld flags: %o", &at, &flags) != 2) fail("fdinfo");
    if (append) *append = !!(flags & O_APPEND);
    return at;
}

static void note(const char *call, long long ret, long long truth) {
    int place = atomic_fetch_add(&s->number, 1);
    if (place >= MOST) return;
    struct note *note = &s->notes[place];
    note->tid = tid ? tid : (tid = syscall(SYS_gettid));
    note->number = number++;
    note->ret = ret < 0 ? -1 : ret;
    note->truth = truth;
    snprintf(note->call, sizeof note->call, "%s", call);
}

static int *some(void) {
    int *fds = s->fds[self], at = below(MINE);
    for (int i = 0; i < MINE; i++)
        if (fds[(at + i) % MINE] >= 0) return &fds[(at + i) % MINE];
    return NULL;
}

static int *place(void) {
    int *fds = s->fds[self];
    for (int i = 0; i < MINE; i++)
        if (fds[i] < 0) return &fds[i];
    int *at = some();
    close(*at);
    *at = -1;
    return at;
}

static const char *name(void) {
    static char names[4][16];
    static int next;
    char *text = names[next++ % 4];
    snprintf(text, 16, "d%d/f%d", below(2), below(3));
    return text;
}

static void open_one(void) {
    static const int extra[] = {0, 0, 0, O_APPEND, O_TRUNC, O_CLOEXEC, O_APPEND | O_CLOEXEC, O_EXCL};
    int *at = place();
    int fd = open(name(), O_RDWR | O_CREAT | extra[below(8)], 0600);
    if (fd >= 0) *at = fd;
}

static void copy_one(void) {
    int *from = some(), *to, fd = -1;
    if (!from) return;
    int old = *from;
    switch (below(5)) {
    case 0: to = place(), fd = *to < 0 && fcntl(old, F_GETFD) >= 0 ? dup(old) : -1; break;
    case 1: to = place(), fd = fcntl(old, F_DUPFD, 20 + below(30)); break;
    case 2: to = place(), fd = fcntl(old, F_DUPFD_CLOEXEC, 20 + below(30)); break;
    case 3: to = some(), fd = dup2(old, *to); break;
    default: to = some(), fd = dup3(old, *to, below(2) ? O_CLOEXEC : 0); break;
    }
    if (fd >= 0) *to = fd;
}

static void transfer(void) {
    int *at = some(), append = 0;
    if (!at) return;
    int fd = *at, length = below(4) ? below(300) : below(20000);
    long long before = position(fd, &append), offset = below(20000), ret;
    struct iovec parts[2] = {{buffer, length / 3}, {buffer + 30000, length - length / 3}};
    switch (below(12)) {
    case 0: case 1: ret = syscall(SYS_read, fd, buffer, length); note("read", ret, before); break;
    case 2: case 3: ret = syscall(SYS_write, fd, buffer, length); note("write", ret, append ? -1 : before); break;
    case 4: ret = syscall(SYS_readv, fd, parts, 2); note("readv", ret, before); break;
    case 5: ret = syscall(SYS_writev, fd, parts, 2); note("writev", ret, append ? -1 : before); break;
    case 6: ret = syscall(SYS_pread64, fd, buffer, length, offset); note("pread64", ret, offset); break;
    case 7: ret = syscall(SYS_pwrite64, fd, buffer, length, offset); note("pwrite64", ret, append ? -1 : offset); break;
    case 8: ret = syscall(SYS_preadv2, fd, parts, 2, -1L, -1L, 0); note("preadv2", ret, before); break;
    case 9: ret = syscall(SYS_pwritev2, fd, parts, 2, -1L, -1L, 0); note("pwritev2", ret, append ? -1 : before); break;
    case 10: ret = syscall(SYS_pwritev2, fd, parts, 2, -1L, -1L, RWF_APPEND); note("pwritev2", ret, -1); break;
    default: ret = syscall(SYS_pwritev2, fd, parts, 2, offset, 0L, RWF_APPEND); note("pwritev2", ret, -1); break;
    }
}

static void copy_bytes(void) {
    int *in = some(), *out = some();
    if (!in) return;
    if (!below(4)) out = in;
    long long before = position(*in, NULL), from = below(9000), to = below(9000), ret;
    int length = below(3000);
    off_t offset = from, offset2 = to;
    int given = below(2), given2 = below(2);
    switch (below(4)) {
    case 0:
        ret = sendfile(*out, *in, given ? &offset : NULL, length);
        note("sendfile", ret, given ? from : before);
        break;
    case 1:
        ret = syscall(SYS_copy_file_range, *in, given ? &offset : NULL, *out, given2 ? &offset2 : NULL, (long)length, 0);
        note("copy_file_range", ret, given ? from : before);
        break;
    default:
        ret = splice(*in, given ? &offset : NULL, PIPE + 1, NULL, length, SPLICE_F_NONBLOCK);
        note("splice", ret, given ? from : before);
        if (ret > 0) {
            long long rest = ret;
            ret = splice(PIPE, NULL, *out, given2 ? &offset2 : NULL, ret, SPLICE_F_NONBLOCK);
            note("splice", ret, -1);
            if (ret > 0) rest -= ret;
            while (rest > 0) {
                long long got = syscall(SYS_read, PIPE, buffer, rest);
                note("read", got, -1);
                if (got <= 0) fail("pipe");
                rest -= got;
            }
        }
    }
}

static void seek(void) {
    static const int whence[] = {SEEK_SET, SEEK_SET, SEEK_CUR, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE};
    int *at = some();
    if (!at) return;
    long long before = position(*at, NULL);
    note("lseek", lseek(*at, below(6000) - 500, whence[below(7)]), before);
}

static void rename_one(void) {
    const char *from = name(), *to = name();
    switch (below(7)) {
    case 0: case 1: rename(from, to); break;
    case 2: rename(from, "d0/away"), rename("d0/away", from); break;
    case 3: syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE); break;
    case 4: rename("d0", "d2"), rename("d1", "d0"), rename("d2", "d1"); break;
    case 5: if (!link(from, to)) break; /* fall through */
    default: unlink(from);
    }
}

static int others(void) {
    int to = below(WORKERS);
    while (!atomic_load(&s->live[to])) to = (to + 1) % WORKERS;
    return to;
}

static void worker(void);

static void fork_one(void) {
    int child = -1;
    for (int i = 0; i < WORKERS; i++)
        if (!atomic_load(&s->live[i])) child = i;
    if (child < 0) return;
    memcpy(s->fds[child], s->fds[self], sizeof s->fds[self]);
    atomic_store(&s->live[child], 1);
    pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) {
        self = child, number = 0, tid = 0;
        await_turn();
        worker();
    }
}

static void exec_one(void) {
    char me[8];
    snprintf(me, sizeof me, "%d", self);
    for (int i = 0; i < MINE; i++) { /* those that exec closes are gone */
        int *fd = &s->fds[self][i];
        if (*fd >= 0 && fcntl(*fd, F_GETFD) & FD_CLOEXEC) *fd = -1;
    }
    execl(program, program, "again", me, notes_file, directory, NULL);
    fail("exec");
}

static void send_one(void) {
    int *at = some(), to = others();
    if (!at) return;
    char byte = 'x', control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(head), at, sizeof(int));
    long long sent = sendmsg(SOCKET, &message, 0);
    note("sendmsg", sent, -1);
    if (sent != 1) fail("sendmsg");
    if (!below(3)) close(*at), *at = -1;
    s->receiving = 1;
    if (to != self) {
        hand_over(to);
        await_turn();
    }
}

static void receive_one(void) {
    s->receiving = 0;
    int *to = place();
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    long long got = recvmsg(SOCKET + 1, &message, 0);
    note("recvmsg", got, -1);
    if (got != 1) fail("recvmsg");
    memcpy(to, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
}

static void step(void) {
    int *at = some(), what = below(100);
    if (!at || what < 10) open_one();
    else if (what < 20) copy_one();
    else if (what < 24) close(*at), *at = -1;
    else if (what < 27) fcntl(*at, F_SETFL, below(2) ? O_APPEND : 0);
    else if (what < 28) fcntl(*at, F_GETFL);
    else if (what < 31) fork_one();
    else if (what < 33) exec_one();
    else if (what < 35) send_one();
    else if (what < 42) rename_one();
    else if (what < 53) seek();
    else if (what < 63) copy_bytes();
    else if (what < 66) { if (ftruncate(*at, below(12000))) fail("ftruncate"); }
    else if (what < 68) { if (truncate(name(), below(12000)) && errno != ENOENT) fail("truncate"); }
    else transfer();
}

/* All at once on what they share: the truth is in what they read. */
static void race(unsigned long long state, int fd, int steps) {
    unsigned char piece[16];
    for (int i = 0; i < steps; i++) {
        if (draw(&state) % 4 == 0) {
            note("lseek", lseek(fd, draw(&state) % (PATTERN - 16000), SEEK_SET), -2);
            continue;
        }
        long long got = syscall(SYS_read, fd, piece, sizeof piece), truth = -2;
        if (got == sizeof piece) {
            unsigned char *place = memmem(s->pattern, PATTERN, piece, sizeof piece);
            if (!place) fail("what was read is not in the file");
            truth = place - s->pattern;
        }
        note("read", got, truth);
        if (draw(&state) % 8 == 0) sched_yield();
    }
}

static int pattern_file(void) {
    for (int i = 0; i < PATTERN; i++) s->pattern[i] = (unsigned char)below(256);
    int fd = open("pattern", O_RDWR | O_CREAT | O_TRUNC, 0600);
    note("write", write(fd, s->pattern, PATTERN), 0);
    return fd;
}

static void *racer(void *fd) {
    race(0x9e3779b97f4a7c15ULL * (1 + syscall(SYS_gettid)), *(int *)fd, 60);
    return NULL;
}

static void race_processes(void) {
    int fd = pattern_file(), copy = dup(fd);
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            number = 0, tid = 0;
            race(s->random + 77777ULL * (i + 1), i % 2 ? fd : copy, 60);
            _exit(0);
        }
    }
    race(s->random + 5, fd, 60);
    while (wait(NULL) > 0) {}
    long long before = position(fd, NULL);
    note("lseek", lseek(fd, 100, SEEK_SET), before);
    note("read", read(copy, buffer, 5), 100);
}

static void race_threads(void) {
    pthread_t threads[3];
    int fd = pattern_file();
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, racer, &fd);
    racer(&fd);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    long long before = position(fd, NULL);
    note("lseek", lseek(fd, 100, SEEK_SET), before);
    note("read", read(fd, buffer, 5), 100);
}

static void leave(void) {
    atomic_store(&s->live[self], 0);
    int left = 0;
    for (int i = 0; i < WORKERS; i++) left += atomic_load(&s->live[i]);
    if (left) hand_over(others());
    else hand_over(-1);
    if (self) _exit(0);
}

static void worker(void) {
    for (;;) {
        if (s->receiving) receive_one();
        else if (s->steps-- > 0) {
            step();
            if (below(3) == 0 && !s->receiving) {
                hand_over(others());
            } else if (self && below(40) == 0 && !s->receiving) {
                leave();
            }
        } else {
            leave();
            break;
        }
        await_turn();
    }
}

static void map(void) {
    s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED, STATE, 0);
    if (s == MAP_FAILED) fail("mmap");
}

static void finish(void) {
    while (wait(NULL) > 0) {}
    if (s->kind == 1) race_processes();
    if (s->kind == 2) race_threads();
    FILE *out = fopen(notes_file, "w");
    int count = atomic_load(&s->number);
    for (int i = 0; i < (count < MOST ? count : MOST); i++) {
        struct note *note = &s->notes[i];
        fprintf(out, "%d %d %s %lld ", note->tid, note->number, note->call, note->ret);
        if (note->truth >= 0) fprintf(out, "%lld\n", note->truth);
        else fprintf(out, note->truth == -1 ? "end\n" : "?\n");
    }
    fclose(out);
    _exit(0);
}

int main(int argc, char **argv) {
    program = argv[0];
    if (argc == 5 && !strcmp(argv[1], "again")) {
        self = atoi(argv[2]), notes_file = argv[3], directory = argv[4];
        map();
        /* Exec keeps the thread and so its count. */
        int own = syscall(SYS_gettid), count = atomic_load(&s->number);
        for (int i = 0; i < count && i < MOST; i++) number += s->notes[i].tid == own;
        worker();
        if (self == 0) finish();
    }
    if (argc != 6) return 2;
    notes_file = argv[4], directory = argv[5];
    char state[4096];
    snprintf(state, sizeof state, "%s.state", notes_file);
    int fd = open(state, O_RDWR | O_CREAT | O_TRUNC, 0600), pair[2];
    if (fd < 0 || ftruncate(fd, sizeof *s) || dup2(fd, STATE) != STATE) fail(state);
    close(fd);
    map();
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) || dup2(pair[0], SOCKET) < 0 || dup2(pair[1], SOCKET + 1) < 0) fail("socketpair");
    close(pair[0]), close(pair[1]);
    if (pipe(pair) || dup2(pair[0], PIPE) < 0 || dup2(pair[1], PIPE + 1) < 0) fail("pipe");
    close(pair[0]), close(pair[1]);
    if (chdir(directory) || mkdir("d0", 0700) || mkdir("d1", 0700)) fail(directory);
    s->random = strtoull(argv[1], NULL, 10) * 2654435761u + 88172645463325252ULL;
    for (int i = 0; i < 20; i++) draw(&s->random);
    s->steps = atoi(argv[2]);
    s->kind = !strcmp(argv[3], "race") ? 1 : !strcmp(argv[3], "threads") ? 2 : 0;
    memset(s->fds, -1, sizeof s->fds);
    atomic_store(&s->live[0], 1);
    worker();
    finish();
}
