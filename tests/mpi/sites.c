/* Calls of MPI from many places: a comment behind each says from where, and sites.py compares. */
#include <mpi.h>
#include <pthread.h>
#include <string.h>

#define APART __attribute__((noinline, noclone, noipa))

static int rank, ranks;
static volatile int zero;

APART static void exchange(int with, int tag) {
    int mine = rank, other = 0;
    MPI_Sendrecv(&mine, 1, MPI_INT, with, tag, &other, 1, MPI_INT, with, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* exchange < step < main */
    zero = other - other;
}

APART static void step(int number) {
    exchange(rank ^ 1, number);
    MPI_Barrier(MPI_COMM_WORLD); /* step < main */
    zero = 0;
}

/* As deep as it may be: recursion is one frame. */
APART static void descend(int levels) {
    if (levels > 0)
        descend(levels - 1);
    else
        MPI_Allreduce(MPI_IN_PLACE, &(int){levels}, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* descend < descend < main */
    zero = 0;
}

/* Frames whose size differs from call to call. */
APART static void varying(int bytes) {
    char space[bytes];
    memset(space, 1, sizeof space);
    MPI_Bcast(space, bytes, MPI_CHAR, 0, MPI_COMM_WORLD); /* varying < main */
    zero = space[0] - space[0];
}

APART static void called_back(void) {
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE); /* called_back < main */
    zero = 0;
}

/* The compiler may leave this frame out. */
APART static int last(void) {
    return MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static void *thread(void *unused) {
    int flag;
    for (int i = 0; i < 3; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 78, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE); /* thread */
    return unused;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided); /* main */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* main */
    last();
    for (int i = 0; i < 20; i++)
        step(i);
    for (int levels = 3; levels < 200; levels *= 2)
        descend(levels);
    for (int bytes = 1; bytes < 5000; bytes += 499)
        varying(bytes);
    void (*volatile by_pointer)(void) = called_back;
    by_pointer();
    if (provided == MPI_THREAD_MULTIPLE) {
        pthread_t other;
        pthread_create(&other, NULL, thread, NULL);
        pthread_join(other, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* main */
    MPI_Finalize(); /* main */
    return zero;
}
