/* Programs that are measured: `programs NAME STEPS [MICROSECONDS]`, which sleep so long in each step (or iteration of solver).
 *
 * stencil:    each step exchanges with both neighbours and reduces.
 * solver:     each step iterates until it converges, 12 to 28 times, the same on all ranks; every tenth step rank 0 writes a file.
 * mesh:       each step every rank sends between 0 and 6 messages of 1 to 60,000 bytes to partners that change; ranks tell each other how many.
 * checkpoint: each step all ranks write 4,096 bytes of one file together, and sync it.
 *
 * What a call costs, `programs rank|iprobe|sendrecv|allreduce|irregular CALLS`: that many calls, then rank 0 prints CPU ns of a call and kB of memory
 * (VmHWM). irregular: steps of mesh with messages of 1 to 64 bytes. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static unsigned long long state = 88172645463325252ull;

static unsigned next(unsigned below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)((state >> 20) % below);
}

static char out[65536], in[64][65536];

static void exchange(int rank, int size, int bytes) {
  MPI_Request requests[4];
  int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Irecv(in[0], bytes, MPI_CHAR, left, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in[1], bytes, MPI_CHAR, right, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(out, bytes, MPI_CHAR, right, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(out, bytes, MPI_CHAR, left, 2, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void reduce(void) {
  double mine = 1, all;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* mesh: a step; the number of calls. */
static int mesh(int size, unsigned bytes) {
  int to[64] = {0}, from[64], count = (int)next(7), partners[8], requests = 0;
  MPI_Request waiting[512];
  for (int message = 0; message < count; message++) to[partners[message] = (int)next((unsigned)size)]++;
  MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
  for (int rank = 0; rank < size; rank++)
    for (int message = 0; message < from[rank]; message++)
      MPI_Irecv(in[requests % 64], 65536, MPI_CHAR, rank, 5, MPI_COMM_WORLD, &waiting[requests]), requests++;
  for (int message = 0; message < count; message++)
    MPI_Isend(out, 1 + (int)next(bytes), MPI_CHAR, partners[message], 5, MPI_COMM_WORLD, &waiting[requests++]);
  MPI_Waitall(requests, waiting, MPI_STATUSES_IGNORE);
  return 2 + requests;
}

static void checkpoint(int rank, int size, int steps) {
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "checkpoint", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  for (int step = 0; step < steps; step++) {
    MPI_File_write_at_all(file, 4096ll * (step * size + rank), out, 4096, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
  }
  MPI_File_close(&file);
}

static double cpu(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1e9 * (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 1e3 * (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static long memory(void) {
  char line[256];
  long kb = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "VmHWM: %ld", &kb);
  if (status) fclose(status);
  return kb;
}

/* Makes calls of one kind and prints what they cost; 0 if there is no such kind. */
static int calls(const char *kind, int rank, int size, int count) {
  static const char *const kinds[] = {"rank", "iprobe", "sendrecv", "allreduce", "irregular"};
  int made = 0, flag, known = 0;
  for (int at = 0; at < 5; at++) known |= !strcmp(kind, kinds[at]);
  if (!known) return 0;
  double before = cpu();
  while (made < count) {
    if (!strcmp(kind, "rank"))
      MPI_Comm_rank(MPI_COMM_WORLD, &flag), made++;
    else if (!strcmp(kind, "iprobe"))
      MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), made++;
    else if (!strcmp(kind, "sendrecv"))
      MPI_Sendrecv(out, 4, MPI_CHAR, rank, 1, in[0], 4, MPI_CHAR, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), made++;
    else if (!strcmp(kind, "allreduce"))
      reduce(), made++;
    else
      made += mesh(size, 64);
  }
  if (rank == 0) printf("%.1f %ld\n", (cpu() - before) / made, memory()), fflush(stdout);
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int rank, size, steps = atoi(argv[2]);
  useconds_t pause = argc > 3 ? (useconds_t)atoi(argv[3]) : 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argv[1][0] == 'm') state += 7919ull * (unsigned)rank;
  if (!strcmp(argv[1], "checkpoint")) checkpoint(rank, size, steps), steps = 0;
  if (calls(argv[1], rank, size, steps)) steps = 0;
  for (int step = 0; step < steps; step++) {
    if (!strcmp(argv[1], "stencil")) {
      if (pause) usleep(pause);
      exchange(rank, size, 4096);
      reduce();
    } else if (!strcmp(argv[1], "solver")) {
      for (int iterations = 12 + (int)next(17); iterations > 0; iterations--) {
        if (pause) usleep(pause);
        exchange(rank, size, 8192);
      }
      reduce();
      if (step % 10 == 9 && rank == 0) {
        char name[64];
        snprintf(name, sizeof name, "state-%04d", step);
        FILE *file = fopen(name, "w");
        if (file) fwrite(out, 1, 65536, file), fclose(file);
      }
    } else {
      if (pause) usleep(pause);
      mesh(size, 60000);
    }
  }
  MPI_Finalize();
  return 0;
}
