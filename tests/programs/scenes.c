/* Small scenes for a recorder, one at a time: how calls that signals interrupt end, stops, daemons, loops that wait for a word,
 * orders that only a held child keeps. usage: scenes SCENE [ARGUMENT]. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int ends[2];

static void nothing(int signo) { (void)signo; }
static void answer(int signo) { (void)signo; if (write(ends[1], "x", 1) != 1) _exit(9); }

static void on(int signo, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signo, &action, NULL);
}

static void pause_ms(long ms) {
  struct timespec span = {ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&span, &span) == -1 && errno == EINTR) continue;
}

/* A read fails with EINTR: its handler does not restart. */
static int interrupted(void) {
  char byte;
  on(SIGALRM, nothing, 0);
  alarm(1);
  return !(read(ends[0], &byte, 1) == -1 && errno == EINTR);
}

/* A read is restarted and reads what the handler wrote. */
static int restarted(void) {
  char byte;
  on(SIGALRM, answer, SA_RESTART);
  alarm(1);
  return !(read(ends[0], &byte, 1) == 1 && byte == 'x');
}

/* The same call again after EINTR, from the same place with the same arguments, is another call. */
static int tries_again(void) {
  char byte;
  ssize_t got;
  int tries = 0;
  on(SIGALRM, answer, 0);
  alarm(1);
  do {
    tries++;
    got = read(ends[0], &byte, 1);
  } while (got == -1 && errno == EINTR);
  return !(got == 1 && tries == 2);
}

/* A read waits for 600 ms; after 300 ms comes a signal that nobody handles. */
static int ignored(void) {
  int ends[2];
  char byte;
  if (pipe(ends)) return 1;
  if (fork() == 0) {
    pause_ms(600);
    _exit(write(ends[1], "!", 1) != 1);
  }
  if (fork() == 0) {
    pause_ms(300);
    _exit(0);
  }
  return read(ends[0], &byte, 1) != 1;
}

/* A child computes for 200 ms; the first that is seen of it is that it executes another program. */
static int computes(void) {
  struct timespec used;
  if (fork() == 0) {
    do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    while (used.tv_nsec < 200000000);
    execl("/bin/true", "true", (char *)0);
    _exit(1);
  }
  return wait(0) < 0;
}

/* A child is stopped and continued in poll(2), which goes on with restart_syscall. */
static int continued(void) {
  int status;
  pid_t child = fork();
  if (child == 0) _exit(poll(NULL, 0, 400));
  pause_ms(100);
  kill(child, SIGSTOP);
  if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status)) return 1;
  pause_ms(50);
  kill(child, SIGCONT);
  if (waitpid(child, &status, WCONTINUED) != child || !WIFCONTINUED(status)) return 2;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status)) return 3;
  return 0;
}

/* The command ends before its child, which then writes FILE. */
static int daemonize(const char *file) {
  if (fork()) return 3;
  setsid();
  pause_ms(300);
  int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  return write(fd, "done", 4) != 4;
}

/* Says that it is there, then reads until it is told to stop. Has a second thread all the time. */
static void *other(void *file) {
  for (;;) {
    int fd = open(file, O_RDONLY);
    close(fd);
    pause_ms(5);
  }
  return NULL;
}

static int waits(char *file) {
  char word[8];
  pthread_t thread;
  pthread_create(&thread, NULL, other, file);
  if (write(1, "ready\n", 6) != 6) return 1;
  return read(0, word, sizeof word) == 5 ? 23 : 1;
}

/* Waits for a signal that kills it. */
static int killed(const char *file) {
  int fd = open(file, O_WRONLY | O_CREAT, 0600);
  close(fd);
  for (;;) pause();
}

/* A thousand reads of /dev/zero. */
static int reads(void) {
  char byte;
  int fd = open("/dev/zero", O_RDONLY);
  for (int i = 0; i < 1000; i++)
    if (read(fd, &byte, 1) != 1) return 1;
  return 0;
}

/* Processes that make threads and processes all the time are killed in the middle of it. */
static void *idle(void *unused) { return unused; }

static int storm(void) {
  for (int round = 0; round < 60; round++) {
    pid_t child = fork();
    if (child == 0) {
      for (;;) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, idle, NULL) == 0) pthread_detach(thread);
        pid_t grandchild = fork();
        if (grandchild == 0) _exit(0);
        if (grandchild > 0) waitpid(grandchild, NULL, 0);
      }
    }
    struct timespec span = {0, 200000 + round * 70000};
    nanosleep(&span, NULL);
    kill(child, SIGKILL);
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status)) return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  const char *scene = argc > 1 ? argv[1] : "";
  char *file = argc > 2 ? argv[2] : "/dev/null";
  if (pipe(ends)) return 8;
  if (!strcmp(scene, "interrupted")) return interrupted();
  if (!strcmp(scene, "restarted")) return restarted();
  if (!strcmp(scene, "ignored")) return ignored();
  if (!strcmp(scene, "computes")) return computes();
  if (!strcmp(scene, "tries-again")) return tries_again();
  if (!strcmp(scene, "continued")) return continued();
  if (!strcmp(scene, "daemon")) return daemonize(file);
  if (!strcmp(scene, "waits")) return waits(file);
  if (!strcmp(scene, "killed")) return killed(file);
  if (!strcmp(scene, "reads")) return reads();
  if (!strcmp(scene, "storm")) return storm();
  fprintf(stderr, "scenes: no scene %s\n", scene);
  return 2;
}
