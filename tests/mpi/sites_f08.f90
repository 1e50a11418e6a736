! Calls of MPI through mpi_f08: a comment behind each says from where, and sites.py compares.
module halo
  use mpi_f08
  implicit none
contains
  subroutine exchange(with, tag)
    integer, intent(in) :: with, tag
    integer :: mine, other
    mine = tag
    call MPI_Sendrecv(mine, 1, MPI_INTEGER, with, tag, other, 1, MPI_INTEGER, with, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ! halo::exchange < sites
    mine = other
  end subroutine
end module

program sites
  use halo
  implicit none
  integer :: rank, round
  call MPI_Init() ! sites
  call MPI_Comm_rank(MPI_COMM_WORLD, rank) ! sites
  do round = 1, 5
    call exchange(ieor(rank, 1), round)
    call MPI_Barrier(MPI_COMM_WORLD) ! sites
  end do
  call MPI_Finalize() ! sites
end program
