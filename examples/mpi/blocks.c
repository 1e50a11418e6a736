/* Every rank writes blocks and reads back those of its neighbour: to one shared file (SSF) or to a file of its own (FPP).

   usage: mpirun -n N blocks DIRECTORY MODE [BLOCKS [BYTES]]

   MODE  fpp     a file for each rank, POSIX calls
         ssf     one file, blocks of the ranks interleaved, POSIX calls
         flock   as ssf, each write under flock(2) on the whole file
         fcntl   as ssf, each write under a fcntl(2) lock on the whole file
         range   as ssf, each write under a fcntl(2) lock on its own block
         mpiio   as ssf, through MPI-IO: MPI_File_write_at_all and MPI_File_read_at_all

   BLOCKS of BYTES each (default 16 of 65536) are written by a rank. Every block that is read is checked. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int rank, ranks, blocks = 16, bytes = 65536;

static void check(int good, const char *what) {
  if (good) return;
  fprintf(stderr, "rank %d: ", rank);
  perror(what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Where block `number` of rank `owner` lies. */
static off_t place(int owner, int number, int shared) {
  long index = shared ? (long)number * ranks + owner : number;
  return (off_t)index * bytes;
}

static void fill(char *buffer, int owner, int number) { memset(buffer, 'A' + (owner * 7 + number) % 26, bytes); }

static void verify(const char *buffer, int owner, int number) {
  char wanted = (char)('A' + (owner * 7 + number) % 26);
  check(buffer[0] == wanted && buffer[bytes - 1] == wanted, "a block holds something else");
}

static void lock(int fd, const char *mode, off_t start, short type) {
  if (!strcmp(mode, "flock")) check(flock(fd, type == F_UNLCK ? LOCK_UN : LOCK_EX) == 0, "flock");
  int whole = !strcmp(mode, "fcntl");
  if (!whole && strcmp(mode, "range")) return;
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = whole ? 0 : start, .l_len = whole ? 0 : bytes};
  check(fcntl(fd, F_SETLKW, &lock) == 0, "fcntl");
}

static void posix(const char *directory, const char *mode, char *buffer) {
  int shared = strcmp(mode, "fpp") != 0, neighbour = (rank + 1) % ranks;
  char own[4096], other[4096];
  snprintf(own, sizeof own, shared ? "%s/shared.dat" : "%s/rank-%05d.dat", directory, rank);
  snprintf(other, sizeof other, shared ? "%s/shared.dat" : "%s/rank-%05d.dat", directory, neighbour);
  int fd = open(own, O_WRONLY | O_CREAT, 0644);
  check(fd >= 0, own);
  for (int number = 0; number < blocks; number++) {
    off_t start = place(rank, number, shared);
    fill(buffer, rank, number);
    lock(fd, mode, start, F_WRLCK);
    check(pwrite(fd, buffer, bytes, start) == bytes, "pwrite");
    lock(fd, mode, start, F_UNLCK);
  }
  check(fsync(fd) == 0, "fsync");
  check(close(fd) == 0, "close");
  MPI_Barrier(MPI_COMM_WORLD);
  fd = open(other, O_RDONLY);
  check(fd >= 0, other);
  for (int number = 0; number < blocks; number++) {
    check(pread(fd, buffer, bytes, place(neighbour, number, shared)) == bytes, "pread");
    verify(buffer, neighbour, number);
  }
  close(fd);
}

static void mpi_io(const char *directory, char *buffer) {
  char path[4096];
  MPI_File file;
  int neighbour = (rank + 1) % ranks;
  snprintf(path, sizeof path, "%s/mpiio.dat", directory);
  int open = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
  check(open == MPI_SUCCESS, "MPI_File_open");
  for (int number = 0; number < blocks; number++) {
    fill(buffer, rank, number);
    MPI_File_write_at_all(file, place(rank, number, 1), buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int number = 0; number < blocks; number++) {
    MPI_File_read_at_all(file, place(neighbour, number, 1), buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    verify(buffer, neighbour, number);
  }
  MPI_File_close(&file);
}

int main(int count, char **words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count > 3) blocks = atoi(words[3]);
  if (count > 4) bytes = atoi(words[4]);
  if (count < 3 || blocks < 1 || bytes < 1) {
    if (rank == 0) fprintf(stderr, "usage: blocks DIRECTORY fpp|ssf|flock|fcntl|range|mpiio [BLOCKS [BYTES]]\n");
    MPI_Finalize();
    return 2;
  }
  char *buffer = malloc((size_t)bytes);
  check(buffer != NULL, "malloc");
  if (strcmp(words[2], "mpiio")) posix(words[1], words[2], buffer);
  else mpi_io(words[1], buffer);
  free(buffer);
  MPI_Finalize();
  return 0;
}
