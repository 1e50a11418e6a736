/* Calls of MPI in an order that a seed decides, the same for all ranks, so that none waits for ever.
 * usage: random DIRECTORY SEED STEPS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static char a[1 << 18], b[1 << 18];
/* The communicator of a step, and the rank in it. */
static MPI_Comm comm;
static int rank, size;

static void take(MPI_Comm other) {
  comm = other;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
}

/* A communicator that is made for a step; those who are not in it have none. */
static MPI_Comm made(int how, int step) {
  MPI_Comm new = MPI_COMM_NULL;
  MPI_Group all, part;
  int last = size - 1, one = 1, ring = 1;
  switch (how) {
  case 0: MPI_Comm_dup(MPI_COMM_WORLD, &new); break;
  case 1: MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &new); break;
  case 2: MPI_Comm_split(MPI_COMM_WORLD, rank == step % size ? MPI_UNDEFINED : 7, rank, &new); break;
  case 3: MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &ring, 1, &new); break;
  default:
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, size > 1 ? one : 0, &last, &part);
    MPI_Comm_create(MPI_COMM_WORLD, part, &new);
    MPI_Group_free(&part);
    MPI_Group_free(&all);
  }
  return new;
}

/* Neighbours exchange by one call, in both directions; the ends have one neighbour. */
static void chain(int bytes, int tag) {
  int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  MPI_Sendrecv(a, bytes, MPI_BYTE, right, tag, b, sizeof b, MPI_BYTE, left, tag, comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(a, bytes / 2, MPI_BYTE, left, tag + 1, right, tag + 1, comm, MPI_STATUS_IGNORE);
}

/* Each rank sends to the next one and receives from the one before. */
static void ring(int how, int bytes, int tag) {
  int next = (rank + 1) % size, before = (rank + size - 1) % size, index;
  MPI_Request both[2];
  MPI_Status states[2];
  if (how == 0) {
    MPI_Sendrecv(a, bytes, MPI_BYTE, next, tag, b, bytes, MPI_BYTE, before, tag, comm, states);
    return;
  }
  MPI_Irecv(b, bytes, MPI_BYTE, before, tag, comm, &both[0]);
  if (how == 3)
    MPI_Issend(a, bytes, MPI_BYTE, next, tag, comm, &both[1]);
  else
    MPI_Isend(a, bytes, MPI_BYTE, next, tag, comm, &both[1]);
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
    MPI_Send(a, bytes, MPI_BYTE, root, tag, comm);
    return;
  }
  for (int other = 0; other < size; other++)
    if (other != root)
      MPI_Recv(b, bytes, MPI_BYTE, any ? MPI_ANY_SOURCE : other, any ? MPI_ANY_TAG : tag, comm, MPI_STATUS_IGNORE);
}

/* Requests that are started often. */
static MPI_Request kept[4];

static void keep(void) {
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Send_init(a, 64, MPI_BYTE, next, 20001, MPI_COMM_WORLD, &kept[0]);
  MPI_Recv_init(b, 64, MPI_BYTE, before, 20001, MPI_COMM_WORLD, &kept[1]);
  MPI_Ssend_init(a, 200, MPI_BYTE, before, 20002, MPI_COMM_WORLD, &kept[2]);
  MPI_Recv_init(b, 200, MPI_BYTE, next, 20002, MPI_COMM_WORLD, &kept[3]);
}

static void start(int how) {
  int done = 0, some, indices[4];
  MPI_Status states[4];
  switch (how) {
  case 0:
    MPI_Startall(4, kept);
    MPI_Waitall(4, kept, states);
    break;
  case 1:
    MPI_Start(&kept[1]);
    MPI_Start(&kept[0]);
    MPI_Wait(&kept[0], states);
    MPI_Wait(&kept[1], states);
    break;
  case 2:
    MPI_Startall(4, kept);
    while (done < 4) {
      MPI_Waitsome(4, kept, &some, indices, states);
      done += some;
    }
    break;
  default:
    MPI_Startall(2, kept + 2);
    MPI_Waitany(4, kept, indices, states);
    MPI_Waitall(4, kept, states);
  }
}

/* Requests that go on over several steps. */
static MPI_Request later[12];
static int pending;

static void begin_later(int bytes, int tag) {
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  if (pending == 12) return;
  MPI_Irecv(b, bytes, MPI_BYTE, before, tag, MPI_COMM_WORLD, &later[pending++]);
  MPI_Isend(a, bytes, MPI_BYTE, next, tag, MPI_COMM_WORLD, &later[pending++]);
}

static void end_later(int how) {
  int flag = 0, some, indices[12];
  MPI_Status states[12];
  switch (how) {
  case 0: break;
  case 1:
    for (int place = pending; place-- > 0;) MPI_Wait(&later[place], states);
    break;
  case 2:
    do MPI_Waitsome(pending, later, &some, indices, states);
    while (some != MPI_UNDEFINED);
    break;
  case 3:
    while (!flag) MPI_Testall(pending, later, &flag, states);
    break;
  case 4:
    MPI_Testany(pending, later, indices, &flag, states);
    MPI_Testsome(pending, later, &some, indices, states);
    break;
  default:
    if (pending > 0) MPI_Waitany(pending, later, indices, states);
  }
  MPI_Waitall(pending, later, states);
  pending = 0;
}

static void collective(int which, int bytes, int root) {
  int counts[64], begins[64], flag = 0;
  MPI_Request request;
  int gives[64], places[64], gets[64];
  for (int other = 0; other < size; other++) {
    gives[other] = bytes % 100 + rank + other;
    gets[other] = bytes % 100 + rank + other;
    places[other] = other * 300;
    counts[other] = bytes % 1000 + other;
    begins[other] = other * 2000;
  }
  switch (which) {
  case 0: MPI_Bcast(a, bytes, MPI_BYTE, root, comm); break;
  case 1: MPI_Reduce(a, b, bytes / 8, MPI_INT, MPI_SUM, root, comm); break;
  case 2: MPI_Allreduce(a, b, bytes / 8, MPI_INT, MPI_MAX, comm); break;
  case 3: MPI_Gather(a, bytes / size, MPI_BYTE, b, bytes / size, MPI_BYTE, root, comm); break;
  case 4: MPI_Allgather(a, bytes / size, MPI_BYTE, b, bytes / size, MPI_BYTE, comm); break;
  case 5: MPI_Scatter(a, bytes / size, MPI_BYTE, b, bytes / size, MPI_BYTE, root, comm); break;
  case 6: MPI_Alltoall(a, bytes / size, MPI_BYTE, b, bytes / size, MPI_BYTE, comm); break;
  case 7: MPI_Gatherv(a, counts[rank], MPI_BYTE, b, counts, begins, MPI_BYTE, root, comm); break;
  case 8: MPI_Allgatherv(a, counts[rank], MPI_BYTE, b, counts, begins, MPI_BYTE, comm); break;
  case 9: MPI_Scan(a, b, bytes / 8, MPI_INT, MPI_SUM, comm); break;
  case 10:
    MPI_Iallreduce(a, b, bytes / 8, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    break;
  case 11:
    MPI_Ibarrier(comm, &request);
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    break;
  case 12: MPI_Alltoallv(a, gives, places, MPI_BYTE, b, gets, places, MPI_BYTE, comm); break;
  default: MPI_Barrier(comm);
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
  take(MPI_COMM_WORLD);
  unsigned state = atoi(words[2]);
  /* All ranks are in all communicators of half of the programs. */
  int kinds = state / 6 % 2 ? 5 : 2;
  /* Those of half of them have requests that are started often. */
  int keeps = state / 12 % 2;
  if (keeps) keep();
  for (int step = 0; step < atoi(words[3]); step++) {
    int numbers[4];
    for (int place = 0; place < 4; place++) {
      state = state * 1103515245u + 12345u;
      numbers[place] = state >> 16 & 0x7fff;
    }
    int bytes = numbers[1] % 9 == 0 ? 100000 : 8 + numbers[1] % 5000, root = numbers[2] % size;
    MPI_Comm own = MPI_COMM_NULL;
    if (numbers[2] % 4 == 3 && numbers[0] % 7 < 5) {
      own = made(kinds == 5 ? numbers[1] % 5 : numbers[1] % 2 * 3, step);
      if (own == MPI_COMM_NULL) continue;
      take(own);
      root %= size;
    }
    switch (numbers[0] % 7) {
    case 5: begin_later(bytes, 10000 + step); break;
    case 6:
      if (keeps && numbers[3] % 2)
        start(numbers[3] / 2 % 4);
      else
        end_later(numbers[3] / 2 % 6);
      break;
    case 0: ring(numbers[3] % 5, bytes, step * 2); break;
    case 4: chain(bytes, step * 2); break;
    case 1:
      to_one(root, bytes, step * 2, numbers[3] % 2);
      MPI_Barrier(comm);
      break;
    case 2: collective(numbers[3] % 14, bytes, root); break;
    default:
      if (numbers[3] % 6 == 0 && own == MPI_COMM_NULL)
        files(words[1], step, bytes, numbers[2] % 2);
      else
        collective(numbers[3] % 14, bytes, root);
    }
    if (own != MPI_COMM_NULL) {
      take(MPI_COMM_WORLD);
      MPI_Comm_free(&own);
    }
  }
  end_later(0);
  for (int place = 0; keeps && place < 4; place++) MPI_Request_free(&kept[place]);
  MPI_Finalize();
  return 0;
}
