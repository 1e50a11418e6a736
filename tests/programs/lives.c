/* Ways in which processes and threads begin and end: exec from a thread, a leader that leaves first, vfork, a chain and a tree
 * of forks, orphans, death signals of parents, exit statuses, many threads. usage: lives WAY [NUMBER]. Prints what came out. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOREVER for (;;) pause()

extern char **environ;
static int number;
static pid_t first;
static atomic_int done;

static int wait_for(pid_t child) {
  int status = -1;
  while (waitpid(child, &status, __WALL) < 0 && errno == EINTR) {}
  return status;
}

static void *exec_now(void *unused) {
  (void)unused;
  char pid[32];
  snprintf(pid, sizeof pid, "%d", first);
  execl("/proc/self/exe", "lives", "same-pid", pid, NULL);
  return NULL;
}
static void *sleep_on(void *unused) { (void)unused; FOREVER; return NULL; }
static int exec_from_thread(void) {
  pthread_t thread;
  first = getpid();
  for (int i = 0; i < 4; i++) pthread_create(&thread, NULL, sleep_on, NULL);
  pthread_create(&thread, NULL, exec_now, NULL);
  FOREVER;
  return 1;
}
static int same_pid(void) {
  printf("same pid %d, one thread %d\n", getpid() == number, syscall(SYS_gettid) == getpid());
  return 21;
}

static void *outlives(void *unused) {
  (void)unused;
  usleep(100000);
  int fd = open("/etc/hostname", O_RDONLY);
  char text[100];
  printf("the leader has left, read %d\n", read(fd, text, 1) == 1);
  fflush(stdout);
  exit(22);
}
static int leader_leaves_first(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, outlives, NULL);
  pthread_exit(NULL);
}

static int vfork_and_spawn(void) {
  volatile int shared = 0;
  pid_t child = vfork();
  if (child == 0) { shared = 5; _exit(3); }
  int status = wait_for(child);
  printf("vfork: shared %d status %d\n", shared, status);
  child = vfork();
  if (child == 0) { execl("/bin/true", "true", NULL); _exit(127); }
  printf("vfork and exec: %d\n", wait_for(child));
  child = vfork();
  if (child == 0) { execl("/no/such", "true", NULL); _exit(126); }
  printf("vfork and failed exec: %d\n", WEXITSTATUS(wait_for(child)));
  char *arguments[] = {"sh", "-c", "exit 9", NULL};
  posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ);
  printf("posix_spawn: %d\n", WEXITSTATUS(wait_for(child)));
  int error = posix_spawn(&child, "/no/such", NULL, NULL, arguments, environ);
  printf("posix_spawn of nothing: %s\n", strerror(error));
  return 0;
}

static int chain(int depth) {
  if (depth == 0) return 1;
  pid_t child = fork();
  if (child == 0) _exit(chain(depth - 1));
  int status = wait_for(child);
  return WIFEXITED(status) && WEXITSTATUS(status) >= 1 ? 1 : 0;
}

static long tree(int depth) {
  if (depth == 0) return 1;
  long sum = 1;
  int ends[2][2];
  for (int i = 0; i < 2; i++) {
    if (pipe(ends[i])) exit(1);
    if (fork() == 0) {
      long below = tree(depth - 1);
      if (write(ends[i][1], &below, sizeof below) != sizeof below) _exit(1);
      _exit(0);
    }
    close(ends[i][1]);
  }
  for (int i = 0; i < 2; i++) {
    long below = 0;
    if (read(ends[i][0], &below, sizeof below) != sizeof below) printf("lost a branch\n");
    close(ends[i][0]);
    sum += below;
  }
  while (wait(NULL) > 0) {}
  return sum;
}

static void *thread_reads(void *argument) {
  char byte;
  int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
  for (int i = 0; i < 3; i++) if (pread(fd, &byte, 1, (long)argument % 7) == 1) atomic_fetch_add(&done, 1);
  close(fd);
  return NULL;
}
static int threads(void) {
  pthread_t *all = calloc(number, sizeof *all);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  int made = 0;
  for (long i = 0; i < number; i++) made += pthread_create(&all[i], &small, thread_reads, (void *)i) == 0;
  for (int i = 0; i < number; i++) pthread_join(all[i], NULL);
  printf("%d threads, %d reads\n", made, done);
  return made == number ? 0 : 1;
}

/* The parent's end is seen by the child: its death signal arrives, its new parent is the nearest reaper. */
static int orphans(void) {
  int ends[2];
  char byte = 0;
  if (pipe(ends)) return 1;
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  pid_t grandparent = getpid();
  pid_t middle = fork();
  if (middle == 0) {
    if (fork() == 0) {
      sigset_t set;
      sigemptyset(&set);
      sigaddset(&set, SIGUSR1);
      sigprocmask(SIG_BLOCK, &set, NULL);
      prctl(PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0);
      if (write(ends[1], "r", 1) != 1) _exit(1);
      int signo;
      sigwait(&set, &signo);
      _exit(signo == SIGUSR1 && getppid() == grandparent ? 33 : 34);
    }
    if (read(ends[0], &byte, 1) != 1) _exit(1);
    _exit(11);
  }
  printf("middle: %d\n", WEXITSTATUS(wait_for(middle)));
  int status = -1;
  wait(&status);
  printf("orphan: %d\n", WEXITSTATUS(status));
  return 0;
}

/* A process whose number comes back: only where the number can be chosen. */
static int reuse(void) {
  pid_t before = fork();
  if (before == 0) { close(open("/etc/passwd", O_RDONLY)); _exit(1); }
  wait_for(before);
  int same = 0;
  for (int attempt = 0; attempt < 50 && !same; attempt++) {
    FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");
    if (last == NULL) break;
    fprintf(last, "%d", before - 1);
    fclose(last);
    pid_t after = fork();
    if (after == 0) { close(open("/etc/hostname", O_RDONLY)); _exit(2); }
    int status = wait_for(after);
    same = after == before && WEXITSTATUS(status) == 2;
  }
  printf("reuse: %s\n", same ? "the number came back" : "not possible here");
  return 0;
}

static void *thread_dies(void *unused) { (void)unused; kill(getpid(), SIGTERM); FOREVER; return NULL; }
static void *thread_exits_all(void *unused) { (void)unused; _exit(44); }
static int ends(void) {
  for (int code = 0; code < 256; code += 51) {
    pid_t child = fork();
    if (child == 0) _exit(code);
    printf("exit %d: %d\n", code, WEXITSTATUS(wait_for(child)));
  }
  void *(*ways[])(void *) = {thread_dies, thread_exits_all};
  for (int i = 0; i < 2; i++) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      pthread_t thread;
      for (int j = 0; j < 3; j++) pthread_create(&thread, NULL, sleep_on, NULL);
      pthread_create(&thread, NULL, ways[i], NULL);
      FOREVER;
    }
    printf("threads ended: %#x\n", wait_for(child) & 0xffff);
  }
  pid_t zombie = fork();
  if (zombie == 0) _exit(5);
  siginfo_t info;
  waitid(P_PID, zombie, &info, WEXITED | WNOWAIT);
  printf("zombie: %d %d\n", info.si_code == CLD_EXITED, info.si_status);
  printf("and reaped: %d\n", WEXITSTATUS(wait_for(zombie)));
  printf("then %s\n", waitpid(zombie, NULL, 0) < 0 ? strerror(errno) : "another");
  return 0;
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "";
  number = argc > 2 ? atoi(argv[2]) : 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!strcmp(way, "exec-from-thread")) return exec_from_thread();
  if (!strcmp(way, "same-pid")) return same_pid();
  if (!strcmp(way, "leader-leaves-first")) return leader_leaves_first();
  if (!strcmp(way, "vfork")) return vfork_and_spawn();
  if (!strcmp(way, "chain")) return printf("chain %d\n", chain(number)) < 0;
  if (!strcmp(way, "tree")) return printf("tree %ld\n", tree(number)) < 0;
  if (!strcmp(way, "threads")) return threads();
  if (!strcmp(way, "orphans")) return orphans();
  if (!strcmp(way, "reuse")) return reuse();
  if (!strcmp(way, "ends")) return ends();
  fprintf(stderr, "lives: no way %s\n", way);
  return 2;
}
