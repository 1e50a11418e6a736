/* One of two ranks that wait for each other by spinning, as MPI libraries do: a little computing, a barrier, now and then 4 KiB
 * written. usage: ranks SHARED-FILE RANK ROUNDS */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv) {
  static char block[4096], name[4096];
  int fd = argc > 3 ? open(argv[1], O_RDWR | O_CREAT, 0644) : -1;
  if (fd < 0 || ftruncate(fd, 4096)) return 2;
  _Atomic long *rounds = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  int own = atoi(argv[2]) & 1;
  snprintf(name, sizeof name, "%s.%d", argv[1], own);
  int out = open(name, O_WRONLY | O_CREAT, 0644);
  if (rounds == MAP_FAILED || out < 0) return 2;
  volatile unsigned long sum = own;
  for (long round = 1; round <= atol(argv[3]); round++) {
    for (int step = 0; step < 10000; step++) sum = sum * 6364136223846793005UL + step;
    if (round % 10 == 0 && pwrite(out, block, sizeof block, round % 256 * 4096) < 0) return 1;
    atomic_store(&rounds[own * 64], round);
    while (atomic_load(&rounds[(1 - own) * 64]) < round) {}
  }
  return 0;
}
