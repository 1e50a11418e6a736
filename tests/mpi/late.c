/* One rank comes late: rank 2 sleeps for 60 ms before each of five barriers; then rank 0 writes a file and broadcasts. */
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

int main(int count, char **words) {
  int rank;
  char bytes[1 << 16] = {0};
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 5; round++) {
    if (rank == 2) usleep(60000);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      int file = open("out", O_WRONLY | O_CREAT, 0644);
      for (int part = 0; part < 20; part++)
        if (write(file, bytes, sizeof bytes) != sizeof bytes) return 1;
      close(file);
    }
    MPI_Bcast(&round, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
