/* Three programs whose structures are measured: `programs stencil|solver|mesh STEPS`.
 *
 * stencil: each step exchanges with both neighbours and reduces.
 * solver:  each step iterates until it converges, 12 to 28 times, the same on all ranks; every tenth step rank 0 writes a file.
 * mesh:    each step every rank sends between 0 and 6 messages of 1 to 60,000 bytes to partners that change; ranks tell each other how many. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void mesh(int size) {
  int to[64] = {0}, from[64], count = (int)next(7), partners[8], requests = 0;
  MPI_Request waiting[512];
  for (int message = 0; message < count; message++) to[partners[message] = (int)next((unsigned)size)]++;
  MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
  for (int rank = 0; rank < size; rank++)
    for (int message = 0; message < from[rank]; message++)
      MPI_Irecv(in[requests % 64], 65536, MPI_CHAR, rank, 5, MPI_COMM_WORLD, &waiting[requests]), requests++;
  for (int message = 0; message < count; message++)
    MPI_Isend(out, 1 + (int)next(60000), MPI_CHAR, partners[message], 5, MPI_COMM_WORLD, &waiting[requests++]);
  MPI_Waitall(requests, waiting, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int rank, size, steps = atoi(argv[2]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argv[1][0] == 'm') state += 7919ull * (unsigned)rank;
  for (int step = 0; step < steps; step++) {
    if (!strcmp(argv[1], "stencil")) {
      exchange(rank, size, 4096);
      reduce();
    } else if (!strcmp(argv[1], "solver")) {
      for (int iterations = 12 + (int)next(17); iterations > 0; iterations--) exchange(rank, size, 8192);
      reduce();
      if (step % 10 == 9 && rank == 0) {
        char name[64];
        snprintf(name, sizeof name, "state-%04d", step);
        FILE *file = fopen(name, "w");
        if (file) fwrite(out, 1, 65536, file), fclose(file);
      }
    } else {
      mesh(size);
    }
  }
  MPI_Finalize();
  return 0;
}
