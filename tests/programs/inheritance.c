/* What a program inherits from the one that started it: descriptors, dispositions and mask of signals, limits, umask, session,
 * priority, reaper, capabilities. A recorder must not leak into it. Prints it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv) {
  for (int fd = 0; fd < 1024; fd++) {
    int flags = fcntl(fd, F_GETFD), status = fcntl(fd, F_GETFL);
    if (flags >= 0) printf("descriptor %d: %#x %#x\n", fd, flags, status);
  }
  FILE *self = fopen("/proc/self/status", "r");
  char line[512];
  const char *wanted[] = {"Umask", "Sig", "Shd", "Cap", "NoNewPrivs", "Cpus_allowed:", "Groups", "Uid", "Gid", "Threads"};
  while (self && fgets(line, sizeof line, self))
    for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++)
      if (!strncmp(line, wanted[i], strlen(wanted[i])) && strncmp(line, "SigQ", 4)) printf("%s", line);
  for (int what = 0; what < RLIM_NLIMITS; what++) {
    struct rlimit limit;
    getrlimit(what, &limit);
    printf("limit %d: %llu %llu\n", what, (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
  }
  int reaper = -1, death = -1;
  prctl(PR_GET_CHILD_SUBREAPER, &reaper, 0, 0, 0);
  prctl(PR_GET_PDEATHSIG, &death, 0, 0, 0);
  printf("reaper %d death signal %d dumpable %d name length %d\n", reaper, death, prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), (int)strlen(argv[0]));
  printf("priority %d policy %d\n", getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
  printf("foreground %d\n", isatty(0) ? tcgetpgrp(0) == getpgrp() : -1);
  printf("timer slack %d\n", prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0));
  printf("arguments %d\n", argc);
  for (char **each = environ; *each; each++) if (strncmp(*each, "_=", 2)) printf("%s\n", *each);
  char directory[4096];
  printf("%s\n", getcwd(directory, sizeof directory));
  return 0;
}
