// Makes the system calls that stand on its input, one a line: number and six arguments, all hexadecimal. With the argument
// "i386" they are those of 32-bit programs. close(-77) comes first, to mark the place where they begin in a trace.
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 1 << 16 };
static unsigned long calls[MOST][7];

static void call_as_32_bit_program(const unsigned long *c) {
#ifdef __x86_64__
    long result;
    __asm__ volatile("sub $128, %%rsp\n\tpush %%rbp\n\tmov %[six], %%rbp\n\tint $0x80\n\tpop %%rbp\n\tadd $128, %%rsp"
                     : "=a"(result)
                     : "a"(c[0]), "b"(c[1]), "c"(c[2]), "d"(c[3]), "S"(c[4]), "D"(c[5]), [six] "r"(c[6])
                     : "memory", "cc", "r8", "r9", "r10", "r11");
    (void)result;
#else
    (void)c;
#endif
}

int main(int argc, char **argv) {
    (void)argv;
    int count = 0;
    unsigned long *c = calls[0];
    while (count < MOST - 1 &&
           scanf("%lx %lx %lx %lx %lx %lx %lx", c, c + 1, c + 2, c + 3, c + 4, c + 5, c + 6) == 7)
        c = calls[++count];
    syscall(SYS_close, -77);
    for (int i = 0; i < count; i++) {
        c = calls[i];
        if (argc > 1)
            call_as_32_bit_program(c);
        else
            syscall(c[0], c[1], c[2], c[3], c[4], c[5], c[6]);
    }
    _exit(0);
}
