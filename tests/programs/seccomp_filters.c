/* Programs that bring their own seccomp filters: errors, traps, kills, RET_TRACE without a tracer, two filters on top of each
 * other, and no_new_privs. Prints what each call came back with. Needs no library. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void refuse(int call, unsigned how, unsigned flags) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, how),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) perror("no_new_privs");
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program)) perror("seccomp");
}

static void trapped(int signo, siginfo_t *info, void *context) {
  (void)context;
  char text[64];
  int length = snprintf(text, sizeof text, "trapped %d code %d call %d errno %d\n", signo, info->si_code, info->si_syscall == SYS_rename, info->si_errno);
  if (write(1, text, length) != length) _exit(9);
}

static void *renames(void *unused) {
  (void)unused;
  printf("in a thread: rename %d", rename("/no/such", "/no/such2"));
  printf(" errno %d\n", errno);
  fflush(stdout);
  return NULL;
}

static void in_child(const char *name, void (*body)(void)) {
  printf("%s\n", name);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) { body(); fflush(stdout); _exit(0); }
  int status;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) printf("killed by %d\n", WTERMSIG(status));
  else printf("exited %d\n", WEXITSTATUS(status));
  fflush(stdout);
}

static void error(void) { refuse(SYS_rename, SECCOMP_RET_ERRNO | 77, 0); printf("rename %d errno", rename("/no/such", "/x")); printf(" %d\n", errno); }
static void trap(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = trapped;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, NULL);
  refuse(SYS_rename, SECCOMP_RET_TRAP | 5, 0);
  syscall(SYS_rename, "/no/such", "/x");
}
static void kill_process(void) { refuse(SYS_rename, SECCOMP_RET_KILL_PROCESS, 0); rename("/no/such", "/x"); printf("alive\n"); }
static void kill_of_open(void) { refuse(SYS_openat, SECCOMP_RET_KILL_PROCESS, 0); int fd = open("/etc/passwd", O_RDONLY); printf("alive %d\n", fd); }
static void trace(void) { refuse(SYS_rename, SECCOMP_RET_TRACE | 3, 0); errno = 0; printf("rename %d errno", rename("/no/such", "/x")); printf(" %d\n", errno); }
static void trace_of_getppid(void) { refuse(SYS_getppid, SECCOMP_RET_TRACE | 3, 0); errno = 0; printf("getppid %ld errno", syscall(SYS_getppid)); printf(" %d\n", errno); }
static void two_filters(void) {
  refuse(SYS_rename, SECCOMP_RET_ERRNO | 7, 0);
  refuse(SYS_unlink, SECCOMP_RET_ERRNO | 8, 0);
  printf("rename %d", rename("/no/such", "/x")); printf(" errno %d\n", errno);
  printf("unlink %d", unlink("/no/such")); printf(" errno %d\n", errno);
}
static void all_threads(void) {
  pthread_t thread;
  refuse(SYS_rename, SECCOMP_RET_ERRNO | 9, SECCOMP_FILTER_FLAG_TSYNC);
  pthread_create(&thread, NULL, renames, NULL);
  pthread_join(thread, NULL);
}

int main(void) {
  in_child("an error", error);
  in_child("a trap", trap);
  in_child("death", kill_process);
  in_child("death by a call that recorders stop", kill_of_open);
  in_child("trace without a tracer", trace);
  in_child("trace without a tracer, of a call that moves no data", trace_of_getppid);
  in_child("two filters", two_filters);
  in_child("filter for all threads", all_threads);
  return 0;
}
