/* Threads that open, close, replace and read the same few descriptors. Each word of a file says which file it is and where it lies, so that what
 * was read tells the truth: truth.txt has, for each read of a thread, the thread, the descriptor, the file (-1: none) and the offset.
 *
 * usage: race STEPS SEED MODE        (in a directory of its own; MODE 1: with dup2, 2: with dup2, and with children that read what they inherit) */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, FILES = 8, WORDS = 20000, FIRST = 10, NUMBERS = 5, MOST = 24 };

struct seen {
  int fd, file, offset;
};

struct thread {
  pthread_t handle;
  int tid, reads;
  unsigned random;
  struct seen *seen;
};

static struct thread threads[THREADS];
static int steps, mode;

static int number(struct thread *self) { return FIRST + rand_r(&self->random) % NUMBERS; }

static void open_one(struct thread *self) {
  char name[16];
  snprintf(name, sizeof name, "f%d", rand_r(&self->random) % FILES);
  int fd = open(name, O_RDONLY);
  if (fd >= MOST) close(fd);
}

static struct seen read_one(int fd) {
  uint32_t word = 0;
  struct seen seen = {fd, -1, 0};
  if (read(fd, &word, sizeof word) == sizeof word) {
    seen.file = (int)(word >> 24);
    seen.offset = (int)(word & 0xffffff);
  }
  return seen;
}

/* What children saw, in memory that they share. */
struct child {
  int pid;
  struct seen seen[NUMBERS];
};

static struct child *children;
static int born;

static void fork_one(void) {
  int place = __atomic_fetch_add(&born, 1, __ATOMIC_RELAXED);
  int pid = fork();
  if (pid == 0) {
    for (int i = 0; i < NUMBERS; i++) children[place].seen[i] = read_one(FIRST + i);
    _exit(0);
  }
  children[place].pid = pid;
  waitpid(pid, NULL, 0);
}

static void *run(void *argument) {
  struct thread *self = argument;
  self->tid = (int)syscall(SYS_gettid);
  for (int step = 0; step < steps; step++) {
    int what = rand_r(&self->random) % 100, fd = number(self);
    if (what < 25)
      open_one(self);
    else if (what < 45)
      close(fd);
    else if (what < 50 && mode > 0)
      dup2(number(self), fd);
    else if (what < 52 && mode > 1)
      fork_one();
    else
      self->seen[self->reads++] = read_one(fd);
    if (rand_r(&self->random) % 8 == 0) sched_yield();
  }
  return NULL;
}

static void make_files(void) {
  for (uint32_t file = 0; file < FILES; file++) {
    char name[16];
    snprintf(name, sizeof name, "f%u", file);
    FILE *stream = fopen(name, "w");
    for (uint32_t at = 0; at < WORDS; at++) {
      uint32_t word = file << 24 | at * 4;
      fwrite(&word, sizeof word, 1, stream);
    }
    fclose(stream);
  }
}

int main(int count, char **words) {
  if (count != 4) return 2;
  steps = atoi(words[1]);
  mode = atoi(words[3]);
  size_t room = (size_t)steps * THREADS * sizeof *children;
  children = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  make_files();
  while (open("/dev/null", O_RDONLY) < FIRST - 1) {
  }
  for (int i = 0; i < THREADS; i++) {
    threads[i].random = (unsigned)(atoi(words[2]) * 7919 + i * 104729 + 1);
    threads[i].seen = calloc((size_t)steps, sizeof *threads[i].seen);
    pthread_create(&threads[i].handle, NULL, run, &threads[i]);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i].handle, NULL);
  FILE *truth = fopen("truth.txt", "w");
  for (int i = 0; i < THREADS; i++)
    for (int read = 0; read < threads[i].reads; read++) {
      struct seen *seen = &threads[i].seen[read];
      fprintf(truth, "%d %d %d %d\n", threads[i].tid, seen->fd, seen->file, seen->offset);
    }
  for (int place = 0; place < born; place++)
    for (int i = 0; i < NUMBERS; i++) {
      struct seen *seen = &children[place].seen[i];
      fprintf(truth, "%d %d %d %d\n", children[place].pid, seen->fd, seen->file, seen->offset);
    }
  return fclose(truth);
}
