/* Calls that signals interrupt: EINTR with and without SA_RESTART, the rest of a sleep, calls that go on after a stop
 * (restart_syscall), sums under a storm of timer signals. Prints what happened. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t hits;
static void hit(int signo) { (void)signo; hits++; }

static void handle(int signo, int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = hit;
  action.sa_flags = flags;
  sigaction(signo, &action, NULL);
}

static void alarm_in(long usec, long every) {
  struct itimerval value = {.it_interval = {0, every}, .it_value = {0, usec}};
  setitimer(ITIMER_REAL, &value, NULL);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void a_read_is_interrupted_or_restarted(void) {
  int ends[2];
  char byte;
  for (int flags = 0; flags <= SA_RESTART; flags += SA_RESTART) {
    if (pipe(ends)) exit(1);
    handle(SIGALRM, flags);
    hits = 0;
    pid_t writer = 0;
    if (flags) {
      writer = fork();
      if (writer == 0) { usleep(200000); if (write(ends[1], "x", 1) != 1) _exit(1); _exit(0); }
    }
    alarm_in(50000, 0);
    ssize_t got = read(ends[0], &byte, 1);
    printf("read with flags %#x: %zd %s, %d signal\n", flags, got, got < 0 ? strerror(errno) : "", hits);
    if (writer) waitpid(writer, NULL, 0);
    close(ends[0]);
    close(ends[1]);
  }
}

static void sleeps_and_polls_are_never_restarted_by_a_handler(void) {
  handle(SIGALRM, SA_RESTART);
  struct timespec wish = {0, 300000000}, rest = {0, 0};
  alarm_in(50000, 0);
  int result = nanosleep(&wish, &rest);
  printf("nanosleep: %d %s, rest plausible %d\n", result, result ? strerror(errno) : "", rest.tv_nsec > 0 && rest.tv_nsec < 300000000);
  alarm_in(50000, 0);
  result = poll(NULL, 0, 300);
  printf("poll: %d %s\n", result, result < 0 ? strerror(errno) : "");
  int set = epoll_create1(0);
  struct epoll_event event;
  alarm_in(50000, 0);
  result = epoll_wait(set, &event, 1, 300);
  printf("epoll_wait: %d %s\n", result, result < 0 ? strerror(errno) : "");
  close(set);
}

/* A sleeper that is stopped and continued sleeps its whole time and sees no error. */
static void a_stop_is_invisible_to_the_stopped(void) {
  for (int what = 0; what < 3; what++) {
    pid_t sleeper = fork();
    if (sleeper == 0) {
      double start = now();
      int result = 0;
      if (what == 0) { struct timespec wish = {0, 250000000}; result = nanosleep(&wish, NULL); }
      if (what == 1) result = poll(NULL, 0, 250);
      if (what == 2) { int timer = timerfd_create(CLOCK_MONOTONIC, 0); struct itimerspec when = {{0, 0}, {0, 250000000}}; long long ticks;
        timerfd_settime(timer, 0, &when, NULL); result = read(timer, &ticks, 8) == 8 && ticks == 1 ? 0 : -1; }
      _exit(result == 0 && now() - start >= 0.249 ? 7 : 8);
    }
    int status;
    usleep(60000);
    kill(sleeper, SIGSTOP);
    waitpid(sleeper, &status, WUNTRACED);
    printf("stopped %d by %d; ", WIFSTOPPED(status), WIFSTOPPED(status) ? WSTOPSIG(status) : 0);
    usleep(20000);
    kill(sleeper, SIGCONT);
    waitpid(sleeper, &status, WCONTINUED);
    printf("continued %d; ", WIFCONTINUED(status));
    waitpid(sleeper, &status, 0);
    printf("exited %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  }
}

static void nothing_is_lost_in_a_storm(void) {
  handle(SIGALRM, SA_RESTART);
  hits = 0;
  int ends[2];
  if (pipe(ends)) exit(1);
  pid_t writer = fork();
  if (writer == 0) {
    alarm_in(0, 0);
    for (unsigned i = 0; i < 20000; i++) if (write(ends[1], &i, sizeof i) != sizeof i) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  alarm_in(1000, 1000);
  unsigned long long sum = 0;
  unsigned value, numbers = 0;
  while (read(ends[0], &value, sizeof value) == sizeof value) { sum += value; numbers++; }
  alarm_in(0, 0);
  int status;
  waitpid(writer, &status, 0);
  printf("storm: %u numbers, sum %llu, writer %d, any signal %d\n", numbers, sum, status, hits > 0);
}

static void a_timer_counts_what_it_lost(void) {
  handle(SIGRTMIN, 0);
  timer_t timer;
  struct sigevent how;
  memset(&how, 0, sizeof how);
  how.sigev_notify = SIGEV_SIGNAL;
  how.sigev_signo = SIGRTMIN;
  how.sigev_value.sival_int = 4711;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &set, NULL);
  if (timer_create(CLOCK_MONOTONIC, &how, &timer)) exit(1);
  struct itimerspec when = {{0, 10000000}, {0, 10000000}};
  timer_settime(timer, 0, &when, NULL);
  usleep(200000);
  siginfo_t info;
  sigwaitinfo(&set, &info);
  printf("timer: value %d code %d, overruns plausible %d\n", info.si_value.sival_int, info.si_code, info.si_overrun >= 10);
  timer_delete(timer);
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  a_read_is_interrupted_or_restarted();
  sleeps_and_polls_are_never_restarted_by_a_handler();
  fflush(stdout);
  a_stop_is_invisible_to_the_stopped();
  fflush(stdout);
  nothing_is_lost_in_a_storm();
  a_timer_counts_what_it_lost();
  return 0;
}
