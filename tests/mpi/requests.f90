! Requests of Fortran, whose handles are numbers: the calls and what `args` of their events should be are in requests.py.
program requests
  use mpi
  implicit none
  integer :: rank, other, error, all(4), statuses(MPI_STATUS_SIZE, 4), places(4), some, kept(2), a(4), b(4), at
  logical :: flag
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  other = 1 - rank
  a = rank
  do at = 1, 4, 2
    call MPI_Irecv(b(at), 1, MPI_INTEGER, other, at, MPI_COMM_WORLD, all(at), error)
    call MPI_Issend(a(at), 1, MPI_INTEGER, other, at, MPI_COMM_WORLD, all(at + 1), error)
  end do
  call MPI_Wait(all(3), statuses(:, 1), error)
  call MPI_Waitall(4, all, statuses, error)
  call MPI_Irecv(b(1), 1, MPI_INTEGER, other, 7, MPI_COMM_WORLD, all(2), error)
  call MPI_Issend(a(1), 1, MPI_INTEGER, other, 7, MPI_COMM_WORLD, all(1), error)
  call MPI_Wait(all(2), statuses(:, 1), error)
  call MPI_Waitany(4, all, places(1), statuses(:, 1), error)
  call MPI_Irecv(b(1), 1, MPI_INTEGER, other, 8, MPI_COMM_WORLD, all(4), error)
  call MPI_Issend(a(1), 1, MPI_INTEGER, other, 8, MPI_COMM_WORLD, all(1), error)
  call MPI_Wait(all(1), statuses(:, 1), error)
  call MPI_Waitsome(4, all, some, places, statuses, error)
  flag = .false.
  call MPI_Testall(4, all, flag, statuses, error)
  call MPI_Send_init(a, 4, MPI_INTEGER, other, 9, MPI_COMM_WORLD, kept(1), error)
  call MPI_Recv_init(b, 4, MPI_INTEGER, other, 9, MPI_COMM_WORLD, kept(2), error)
  call MPI_Startall(2, kept, error)
  call MPI_Waitall(2, kept, statuses, error)
  call MPI_Start(kept(2), error)
  call MPI_Start(kept(1), error)
  call MPI_Wait(kept(2), statuses(:, 1), error)
  call MPI_Wait(kept(1), statuses(:, 1), error)
  call MPI_Request_free(kept(1), error)
  call MPI_Request_free(kept(2), error)
  call MPI_Finalize(error)
end program
