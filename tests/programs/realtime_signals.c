/* Queued signals: every real-time signal with its value, in the order of the standard, to a handler and to sigwaitinfo;
 * ordinary signals merge, real-time ones do not; the sender is the one who sent. Prints what arrived. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t sender;
static int count;
static struct { int signo, value, code, from_sender; } seen[256];

static void handler(int signo, siginfo_t *info, void *context) {
  (void)context;
  if (count < 256) {
    seen[count].signo = signo;
    seen[count].value = info->si_value.sival_int;
    seen[count].code = info->si_code;
    seen[count].from_sender = info->si_pid == sender;
    count++;
  }
}

int main(void) {
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  sender = getpid();
  sigprocmask(SIG_BLOCK, &all, NULL);
  pid_t child = fork();
  if (child == 0) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigfillset(&action.sa_mask);
    for (int signo = SIGRTMIN; signo <= SIGRTMAX; signo++) sigaction(signo, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    siginfo_t info;
    sigset_t last;
    sigemptyset(&last);
    sigaddset(&last, SIGUSR2);
    sigwaitinfo(&last, &info); /* the sender is done */
    printf("SIGUSR2 code %d from sender %d\n", info.si_code, info.si_pid == sender);
    sigset_t first;
    sigemptyset(&first);
    sigaddset(&first, SIGRTMIN);
    sigwaitinfo(&first, &info);
    printf("waited for SIGRTMIN, value %d, code %d\n", info.si_value.sival_int, info.si_code);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int i = 0; i < count; i++)
      printf("signal %d value %d code %d from sender %d\n", seen[i].signo, seen[i].value, seen[i].code, seen[i].from_sender);
    printf("%d handled\n", count);
    fflush(stdout);
    _exit(0);
  }
  for (int value = 0; value < 3; value++)
    for (int signo = SIGRTMAX; signo >= SIGRTMIN; signo--) {
      union sigval carried = {.sival_int = value * 1000 + signo};
      if (sigqueue(child, signo, carried) != 0) perror("sigqueue");
    }
  for (int i = 0; i < 5; i++) kill(child, SIGUSR1);
  kill(child, SIGUSR2);
  int status;
  waitpid(child, &status, 0);
  printf("status %d\n", status);
  fflush(stdout);
  /* Death by a real-time signal nobody handles. */
  child = fork();
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int signo = SIGRTMIN; signo <= SIGRTMAX; signo++) signal(signo, SIG_DFL);
    raise(SIGRTMIN + 3);
    _exit(1);
  }
  waitpid(child, &status, 0);
  printf("killed by SIGRTMIN+%d\n", WIFSIGNALED(status) ? WTERMSIG(status) - SIGRTMIN : -1);
  return 0;
}
