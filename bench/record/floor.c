/* The least that a tracer with a filter can cost: it stops the calls that are selected before and after, and asks nothing.
 *
 * usage: floor STOPS COMMAND...      (the number of stops is written to the file STOPS)
 *
 * Program and tracer share the core that they are started on, as one busy thread and its recorder do. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Calls about memory, signals and times run freely; all others stop. */
static const int FREE[] = {SYS_brk,         SYS_mprotect,        SYS_munmap,       SYS_rt_sigaction, SYS_rt_sigprocmask,
                           SYS_futex,       SYS_clock_gettime,   SYS_gettimeofday, SYS_getpid,       SYS_prlimit64,
                           SYS_arch_prctl,  SYS_set_tid_address, SYS_rseq,         SYS_getrandom,    SYS_set_robust_list,
                           SYS_rt_sigreturn};
enum { FREES = sizeof FREE / sizeof *FREE };

static void fail(const char *what) {
    perror(what);
    exit(125);
}

static void filter(void) {
    struct sock_filter code[FREES + 3];
    int at = 0;
    code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int one = 0; one < FREES; one++)
        code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FREE[one], FREES - one, 0);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {at, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) fail("seccomp");
}

int main(int count, char **words) {
    if (count < 3) return fprintf(stderr, "usage: floor STOPS COMMAND...\n"), 2;
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(sched_getcpu(), &core);
    sched_setaffinity(0, sizeof core, &core);
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        filter();
        execvp(words[2], words + 2);
        fail(words[2]);
    }
    int status;
    if (waitpid(child, &status, __WALL) != child) fail("wait");
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, child, 0, options)) fail("options");
    ptrace(PTRACE_CONT, child, 0, 0);
    long stops = 0;
    int ended = 0;
    for (pid_t one; (one = wait4(-1, &status, __WALL, NULL)) > 0;) {
        if (!WIFSTOPPED(status)) {
            if (one == child) ended = WEXITSTATUS(status);
            continue;
        }
        int event = status >> 16, signal = WSTOPSIG(status);
        stops++;
        if (event == PTRACE_EVENT_SECCOMP)
            ptrace(PTRACE_SYSCALL, one, 0, 0);
        else
            ptrace(PTRACE_CONT, one, 0, event || signal == (SIGTRAP | 0x80) || signal == SIGSTOP ? 0 : signal);
    }
    FILE *out = fopen(words[1], "w");
    if (!out || fprintf(out, "%ld\n", stops) < 0 || fclose(out)) fail(words[1]);
    return ended;
}
