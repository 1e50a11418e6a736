/* Threads that call MPI at once, more often than there is room for; a child that does not call it; argument "kill": a rank dies
   of SIGKILL when it has made its calls, "abort": by MPI_Abort. Prints how many calls each thread made. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
enum { THREADS = 4, CALLS = 30000 };
static int level;
static void *calls(void *unused) {
  int flag, number = level == MPI_THREAD_MULTIPLE ? CALLS : 0;
  for (int i = 0; i < number; i++) MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  return unused;
}
int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, calls, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  int rank;
  for (int i = 0; i < CALLS; i++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && !strcmp(argv[1], "kill")) kill(getpid(), SIGKILL);
  if (argc > 1 && !strcmp(argv[1], "abort")) MPI_Abort(MPI_COMM_WORLD, 3);
  if (argc > 1 && !strcmp(argv[1], "exit")) exit(0);
  MPI_Finalize();
  return 0;
}
