C     Calls of MPI through mpif.h: a comment behind each says from where, and sites.py compares.
      subroutine exchange(other, tag)
      implicit none
      include 'mpif.h'
      integer other, tag, mine, yours, error
      integer status(MPI_STATUS_SIZE)
      mine = tag
      call MPI_Send(mine, 1, MPI_INTEGER, other, tag, MPI_COMM_WORLD, error) ! exchange < sites
      call MPI_Recv(yours, 1, MPI_INTEGER, other, tag, MPI_COMM_WORLD, status, error) ! exchange < sites
      mine = yours
      end subroutine

      program sites
      implicit none
      include 'mpif.h'
      integer rank, round, error
      call MPI_Init(error) ! sites
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, error) ! sites
      do round = 1, 5
        call exchange(ieor(rank, 1), round)
        call MPI_Barrier(MPI_COMM_WORLD, error) ! sites
      end do
      call MPI_Finalize(error) ! sites
      end program
