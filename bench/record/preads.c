/* A loop of N preads of 4 KiB from a file in the page cache. usage: preads FILE N */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  static char block[4096];
  int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;
  if (fd < 0) return 2;
  long calls = atol(argv[2]);
  for (long i = 0; i < calls; i++)
    if (pread(fd, block, sizeof block, i % 256 * 4096) != sizeof block) return 1;
  return 0;
}
