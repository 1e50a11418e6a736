/* Calls of each kind whose parameters calls.py knows. Two ranks or more. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  int rank, size; MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);
  double buf[1000]; memset(buf, 0, sizeof buf);
  int next = (rank + 1) % size, prev = (rank + size - 1) % size;
  MPI_Request r;
  for (int i = 0; i < 3; i++) {
    MPI_Isend(buf, 100, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &r);
    MPI_Recv(buf, 1000, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  MPI_Bcast(buf, 10, MPI_INT, 0, MPI_COMM_WORLD);
  double s; MPI_Allreduce(buf, &s, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  int all[100];
  /* What means something at the root alone is senseless elsewhere. */
  MPI_Gather(buf, 5, MPI_INT, rank == 0 ? all : NULL, rank == 0 ? 5 : -3, rank == 0 ? MPI_INT : MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
  MPI_Gather(rank == 0 ? MPI_IN_PLACE : (void *)buf, rank == 0 ? 0 : 5, rank == 0 ? MPI_DATATYPE_NULL : MPI_INT, all, 5, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Sendrecv(buf, 3, MPI_INT, next, 1, all, 100, MPI_INT, prev, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Comm half; MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Barrier(half); MPI_Comm_free(&half);
  MPI_File f; MPI_File_open(MPI_COMM_WORLD, "out.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
  MPI_File_write_at(f, rank * 8000, buf, 1000, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_Status st; MPI_File_set_view(f, 100, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
  MPI_File_seek(f, 2, MPI_SEEK_SET); MPI_File_read(f, buf, 4, MPI_DOUBLE, &st);
  MPI_File_read(f, buf, 4, MPI_DOUBLE, &st);
  MPI_File_write_at_all(f, rank * 1000, buf, 1000, MPI_DOUBLE, &st);
  MPI_File_close(&f);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Send(buf, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD);
  MPI_Send(buf, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF);
  MPI_Finalize();
  return 0;
}
