/* Two processes of two threads, each: one pwrite of a known size at a known offset, then a line to the pipe 3 that says so. What the
 * reader of the pipe has seen was done, and recorded if a recorder keeps its word. usage: acknowledges ROUNDS */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int rounds, process;

static void *work(void *argument) {
  int worker = process * 2 + (int)(long)argument;
  char name[32], line[64], data[128] = {0};
  snprintf(name, sizeof name, "worker%d", worker);
  int fd = open(name, O_CREAT | O_WRONLY, 0644);
  for (int round = 0; round < rounds; round++) {
    if (pwrite(fd, data, 1 + round % 100, round * 10L) < 0) exit(3);
    int length = snprintf(line, sizeof line, "%d %d\n", worker, round);
    if (write(3, line, length) != length) exit(4);
  }
  close(fd);
  return NULL;
}

int main(int argc, char **argv) {
  rounds = argc > 1 ? atoi(argv[1]) : 1000;
  pid_t child = fork();
  process = child == 0;
  pthread_t other;
  if (pthread_create(&other, NULL, work, (void *)1L)) return 5;
  work(NULL);
  pthread_join(other, NULL);
  if (child == 0) _exit(0);
  int status;
  waitpid(child, &status, 0);
  return status == 0 ? 21 : 6;
}
