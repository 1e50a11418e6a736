/* Calls of MPI in an order that a seed decides, the same for all ranks, so that none waits for ever.
 * usage: random DIRECTORY SEED STEPS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static char a[1 << 18], b[1 << 18];
static int rank, size;

/* Each rank sends to the next one and receives from the one before. */
static void ring(int how, int bytes, int tag) {
  int next = (rank + 1) % size, before = (rank + size - 1) % size, index;
  MPI_Request both[2];
  MPI_Status states[2];
  if (how == 0) {
    MPI_Sendrecv(a, bytes, MPI_BYTE, next, tag, b, bytes, MPI_BYTE, before, tag, MPI_COMM_WORLD, states);
    return;
  }
  MPI_Irecv(b, bytes, MPI_BYTE, before, tag, MPI_COMM_WORLD, &both[0]);
  if (how == 3)
    MPI_Issend(a, bytes, MPI_BYTE, next, tag, MPI_COMM_WORLD, &both[1]);
  else
    MPI_Isend(a, bytes, MPI_BYTE, next, tag, MPI_COMM_WORLD, &both[1]);
  if (how == 1) {
    MPI_Waitall(2, both, states);
  } else if (how == 2) {
    MPI_Wait(&both[1], states);
    MPI_Wait(&both[0], states);
  } else {
    MPI_Waitany(2, both, &index, states);
    MPI_Wait(&both[1 - index], states);
  }
}

/* All others send to one rank, which takes what comes. */
static void to_one(int root, int bytes, int tag, int any) {
  if (rank != root) {
    MPI_Send(a, bytes, MPI_BYTE, root, tag, MPI_COMM_WORLD);
    return;
  }
  for (int other = 0; other < size; other++)
    if (other != root)
      MPI_Recv(b, bytes, MPI_BYTE, any ? MPI_ANY_SOURCE : other, any ? MPI_ANY_TAG : tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void collective(int which, int bytes, int root) {
  int counts[64], begins[64], flag = 0;
  MPI_Request request;
  for (int other = 0; other < size; other++) {
    counts[other] = bytes % 1000 + other;
    begins[other] = other * 2000;
  }
  switch (which) {
  case 0: MPI_Bcast(a, bytes, MPI_BYTE, root, MPI_COMM_WORLD); break;
  case 1: MPI_Reduce(a, b, bytes / 8, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD); break;
  case 2: MPI_Allreduce(a, b, bytes / 8, MPI_INT, MPI_MAX, MPI_COMM_WORLD); break;
  case 3: MPI_Gather(a, bytes / size, MPI_BYTE, b, bytes / size, MPI_BYTE, root, MPI_COMM_WORLD); break;
  case 4: MPI_Allgather(a, bytes / size, MPI_BYTE, b, bytes / size, MPI_BYTE, MPI_COMM_WORLD); break;
  case 5: MPI_Scatter(a, bytes / size, MPI_BYTE, b, bytes / size, MPI_BYTE, root, MPI_COMM_WORLD); break;
  case 6: MPI_Alltoall(a, bytes / size, MPI_BYTE, b, bytes / size, MPI_BYTE, MPI_COMM_WORLD); break;
  case 7: MPI_Gatherv(a, counts[rank], MPI_BYTE, b, counts, begins, MPI_BYTE, root, MPI_COMM_WORLD); break;
  case 8: MPI_Allgatherv(a, counts[rank], MPI_BYTE, b, counts, begins, MPI_BYTE, MPI_COMM_WORLD); break;
  case 9: MPI_Scan(a, b, bytes / 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD); break;
  case 10:
    MPI_Iallreduce(a, b, bytes / 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    break;
  case 11:
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    break;
  default: MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void files(const char *directory, int step, int bytes, int all) {
  char name[4096];
  MPI_File file;
  snprintf(name, sizeof name, "%s/shared-%d", directory, step);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (all) {
    MPI_File_write_at_all(file, (MPI_Offset)bytes * rank, a, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, (MPI_Offset)bytes * rank, b, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  } else {
    MPI_File_seek(file, (MPI_Offset)bytes * rank, MPI_SEEK_SET);
    MPI_File_write(file, a, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
  }
  MPI_File_close(&file);
  snprintf(name, sizeof name, "%s/own-%d", directory, rank);
  FILE *own = fopen(name, "a");
  fwrite(a, 1, bytes, own);
  fclose(own);
}

int main(int count, char **words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned state = atoi(words[2]);
  for (int step = 0; step < atoi(words[3]); step++) {
    int numbers[4];
    for (int place = 0; place < 4; place++) {
      state = state * 1103515245u + 12345u;
      numbers[place] = state >> 16 & 0x7fff;
    }
    int bytes = numbers[1] % 9 == 0 ? 100000 : 8 + numbers[1] % 5000, root = numbers[2] % size;
    switch (numbers[0] % 4) {
    case 0: ring(numbers[3] % 5, bytes, step); break;
    case 1:
      to_one(root, bytes, step, numbers[3] % 2);
      MPI_Barrier(MPI_COMM_WORLD);
      break;
    case 2: collective(numbers[3] % 13, bytes, root); break;
    default:
      if (numbers[3] % 6 == 0)
        files(words[1], step, bytes, numbers[2] % 2);
      else
        collective(numbers[3] % 13, bytes, root);
    }
  }
  MPI_Finalize();
  return 0;
}
