/* An error handler that jumps out of the call which failed: the calls behind it are made outside. With an argument: ends by a signal
   while it waits for a message that never comes. */
#include <mpi.h>
#include <setjmp.h>
#include <unistd.h>

static jmp_buf back;

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    (void)code;
    longjmp(back, 1);
}

/* Makes the call from a frame that is gone when the handler has jumped. */
__attribute__((noinline)) static void fails(void) {
    int value = 0;
    MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    MPI_Errhandler errhandler;
    MPI_Init(&argc, &argv);
    if (argc > 1) {
        int value;
        alarm(1);
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    for (volatile int time = 0; time < 3; time++) {
        if (!setjmp(back)) {
            fails();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
