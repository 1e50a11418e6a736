/* N system calls that are not input or output, and some arithmetic between them. usage: unselected N */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
  long calls = argc > 1 ? atol(argv[1]) : 0;
  uint64_t value = 1;
  for (long i = 0; i < calls; i++) {
    value += syscall(SYS_getppid) > 0;
    for (int j = 0; j < 200; j++) value = value * 6364136223846793005u + 1442695040888963407u;
  }
  printf("%d\n", (int)(value >> 63));
  return 0;
}
