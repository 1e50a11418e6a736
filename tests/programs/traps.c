/* Faults and traps that a program handles itself: the tracer must hand on SIGSEGV, SIGTRAP (breakpoint, raise), SIGFPE and
 * SIGILL with their addresses and codes, and stop signals that somebody handles. Prints code and whether the address fits. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile int signo_seen, code_seen;
static void *volatile address_seen;

static void handler(int signo, siginfo_t *info, void *context) {
  (void)context;
  signo_seen = signo;
  code_seen = info->si_code;
  address_seen = info->si_addr;
  if (signo == SIGSEGV || signo == SIGFPE || signo == SIGILL || signo == SIGBUS) siglongjmp(back, 1);
}

int main(void) {
  int all[] = {SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGBUS, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGSYS, SIGURG, SIGWINCH};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) sigaction(all[i], &action, NULL);
  char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!sigsetjmp(back, 1)) page[123] = 1;
  printf("fault: signal %d code %d address fits %d\n", signo_seen, code_seen, address_seen == page + 123);
  if (!sigsetjmp(back, 1)) { volatile int zero = 0; volatile int result = 1 / zero; (void)result; }
  printf("division: signal %d code %d\n", signo_seen, code_seen);
  if (!sigsetjmp(back, 1)) __builtin_trap();
  printf("illegal: signal %d code %d\n", signo_seen, code_seen);
#ifdef __x86_64__
  __asm__ volatile("int3");
  printf("breakpoint: signal %d code %d\n", signo_seen, code_seen);
#endif
  int raised[] = {SIGTRAP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGSYS, SIGURG, SIGWINCH, SIGSEGV};
  static volatile unsigned i;
  for (i = 0; i < sizeof raised / sizeof *raised; i++) {
    signo_seen = 0;
    if (!sigsetjmp(back, 1)) raise(raised[i]);
    printf("raise %d: signal %d code %d\n", raised[i], signo_seen, code_seen);
  }
  fflush(stdout);
  signal(SIGSEGV, SIG_DFL);
  page[1] = 2;
  return 0;
}
