// Makes the system calls that stand on its input, one a line: number and six arguments, all hexadecimal.
// close(-77) comes first, to mark the place where they begin in a trace.
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 1 << 16 };
static unsigned long calls[MOST][7];

int main(void) {
    int count = 0;
    unsigned long *c = calls[0];
    while (count < MOST &&
           scanf("%lx %lx %lx %lx %lx %lx %lx", c, c + 1, c + 2, c + 3, c + 4, c + 5, c + 6) == 7)
        c = calls[++count];
    syscall(SYS_close, -77);
    for (int i = 0; i < count; i++) {
        c = calls[i];
        syscall(c[0], c[1], c[2], c[3], c[4], c[5], c[6]);
    }
    _exit(0);
}
