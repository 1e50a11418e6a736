! The same calls through each of Fortran's interfaces: calls.py builds it with BINDING replaced.
program calls
  BINDING
  integer :: rank, ranks, next, error
  type_of_request :: request
  type_of_file :: file
  double precision :: buffer(1000)
  buffer = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  call MPI_Isend(buffer, 100, MPI_DOUBLE_PRECISION, next, 7, MPI_COMM_WORLD, request, error)
  call MPI_Recv(buffer, 1000, MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Bcast(buffer, 10, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_File_open(MPI_COMM_WORLD, 'fortran.dat', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, error)
  call MPI_File_write_at(file, int(rank * 8000, MPI_OFFSET_KIND), buffer, 1000, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
  call MPI_File_close(file, error)
  call MPI_Finalize(error)
end program
