/* Hangs in a read; or is interrupted in one by its timer, computes for more than a second and dies of a fault. */
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void handler(int number) {
  (void)number;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
  int ends[2];
  char byte;
  if (argc != 2 || pipe(ends) || write(1, "begun\n", 6) != 6) return 1;
  if (!strcmp(argv[1], "computes")) {
    struct sigaction action = {.sa_handler = handler};
    struct itimerval timer = {.it_value = {.tv_usec = 200000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    if (read(ends[0], &byte, 1) >= 0) return 2;
    while (now() < 0.5) {
    }
    raise(SIGKILL);
  }
  return read(ends[0], &byte, 1) == 1;
}
