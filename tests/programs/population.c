/* Threads, fork, vfork, posix_spawn, and what they share. Called with a third argument it is the spawned program. */
#include "truth.h"
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;
static char buffer[1024];

static void reaped(pid_t child) {
    int status;
    if (child <= 0 || waitpid(child, &status, 0) != child || status) fail("child", status);
}

/* So many reads of 10 bytes by whoever calls. */
static void work(const char *path, int number) {
    begin();
    int fd = opened(path, O_RDONLY);
    for (int i = 0; i < number; i++) {
        must(10, syscall(SYS_read, fd, buffer, 10L));
        did(.call = "read", .path = path, .fd = fd, .offset = 10 * i, .size = 10);
    }
    closed(fd, path);
    end();
}

static void *thread(void *path) {
    work(path, 20);
    return NULL;
}

static void threads(void) {
    pthread_t ids[8];
    char *path = given("threads", 1000);
    for (int i = 0; i < 8; i++) must(0, pthread_create(&ids[i], NULL, thread, path));
    for (int i = 0; i < 8; i++) must(0, pthread_join(ids[i], NULL));
}

static void children(void) {
    char *path = given("children", 1000);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            work(path, 5 + i);
            _exit(0);
        }
        reaped(child);
    }
    pid_t child = vfork();
    if (child == 0) {
        work(path, 4);
        _exit(0);
    }
    reaped(child);
}

/* A descriptor that a child inherits has one cursor. */
static void inheritance(void) {
    char *path = given("inherited", 1000);
    begin();
    int fd = opened(path, O_RDONLY);
    must(100, syscall(SYS_read, fd, buffer, 100L));
    did(.call = "read", .path = path, .fd = fd, .offset = 0, .size = 100);
    end();
    pid_t child = fork();
    if (child == 0) {
        begin();
        must(50, syscall(SYS_read, fd, buffer, 50L));
        did(.call = "read", .path = path, .fd = fd, .offset = 100, .size = 50);
        closed(fd, path);
        end();
        _exit(0);
    }
    reaped(child);
    begin();
    must(25, syscall(SYS_read, fd, buffer, 25L));
    did(.call = "read", .path = path, .fd = fd, .offset = 150, .size = 25);
    closed(fd, path);
    end();
}

static void copies(void) {
    char *path = given("copies", 100);
    begin();
    int fd = opened(path, O_RDONLY);
    must(100, syscall(SYS_dup2, fd, 100));
    did(.call = "dup2", .path = path, .fd = 100);
    must(101, syscall(SYS_dup3, fd, 101, O_CLOEXEC));
    did(.call = "dup3", .path = path, .fd = 101);
    must(102, syscall(SYS_fcntl, fd, F_DUPFD, 102));
    did(.call = "fcntl", .path = path, .fd = 102);
    must(0, syscall(SYS_fcntl, 102, F_SETFD, FD_CLOEXEC));
    did(.call = "fcntl", .path = path, .fd = 102);
    must(7, syscall(SYS_read, 101, buffer, 7L));
    did(.call = "read", .path = path, .fd = 101, .offset = 0, .size = 7);
    must(0, syscall(SYS_close_range, 100, 102, 0));
    did(.call = "close_range", .fd = ANY);
    must_fail(EBADF, syscall(SYS_read, 101, buffer, 7L));
    did(.call = "read", .fd = 101, .error = "EBADF");
    must(7, syscall(SYS_read, fd, buffer, 7L));
    did(.call = "read", .path = path, .fd = fd, .offset = 7, .size = 7);
    closed(fd, path);
    end();
}

static void spawned(char *self) {
    char *path = given("spawned", 1000), notes_of_child[4096];
    snprintf(notes_of_child, sizeof notes_of_child, "%s.spawned", notes_file);
    char *words[] = {self, notes_of_child, (char *)directory, path, NULL};
    pid_t child;
    must(0, posix_spawn(&child, self, NULL, NULL, words, environ));
    reaped(child);
}

int main(int argc, char **argv) {
    start(argc, argv);
    if (argc > 3) {
        work(argv[3], 6);
        return done();
    }
    threads();
    children();
    inheritance();
    copies();
    spawned(argv[0]);
    return done();
}
