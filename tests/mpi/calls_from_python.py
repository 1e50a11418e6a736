"""MPI calls of an interpreter that loads the library itself."""
from mpi4py import MPI

world = MPI.COMM_WORLD
assert MPI.Get_library_version().startswith("MPICH") and world.size == 2
world.Barrier()
file = MPI.File.Open(world, "python.dat", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Write_at(10 * world.rank, b"0123456789")
file.Close()
