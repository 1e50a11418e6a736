/* N threads, each computes a little and reads 4 KiB from a file in the page cache, R times. usage: threads FILE N R */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int fd;
static long rounds;

static void *work(void *argument) {
  static __thread char block[4096];
  unsigned long sum = (unsigned long)argument;
  for (long round = 0; round < rounds; round++) {
    for (int step = 0; step < 20000; step++) sum = sum * 6364136223846793005UL + step;
    if (pread(fd, block, sizeof block, (sum >> 40) % 256 * 4096) != sizeof block) exit(1);
  }
  return (void *)sum;
}

int main(int argc, char **argv) {
  static pthread_t threads[1000];
  if (argc < 4 || (fd = open(argv[1], O_RDONLY)) < 0) return 2;
  int number = atoi(argv[2]) < 1000 ? atoi(argv[2]) : 1000;
  rounds = atol(argv[3]);
  for (long one = 0; one < number; one++)
    if (pthread_create(&threads[one], NULL, work, (void *)one)) return 3;
  for (int one = 0; one < number; one++) pthread_join(threads[one], NULL);
  return 0;
}
