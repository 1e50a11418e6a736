/* Calls that a stop interrupts and that go on when the program continues: each is one call that began when it was made.
 * compare with strace: */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEP = 60000 };

/* A child that stops this process in the midst of its next call, lets it go on, and writes if it is told where. */
static void disturb(int fd) {
  if (fork() != 0) return;
  for (int turn = 0; turn < 2; turn++) {
    usleep(STEP);
    kill(getppid(), SIGSTOP);
    usleep(STEP);
    kill(getppid(), SIGCONT);
  }
  usleep(STEP);
  if (fd >= 0) write(fd, "hello", 5);
  _exit(0);
}

int main(void) {
  int ends[2];
  char text[8];
  struct timespec time = {.tv_nsec = 6 * STEP * 1000L};
  if (pipe(ends) != 0) return 1;
  disturb(-1);
  nanosleep(&time, NULL);
  wait(NULL);
  disturb(-1);
  poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 6 * STEP / 1000);
  wait(NULL);
  disturb(ends[1]);
  ssize_t length = read(ends[0], text, sizeof text);
  wait(NULL);
  return length != 5;
}
