/* Makes, starts and completes requests in many ways, and says which each call is about, as `args` of its event should have it.
 * usage: requests FILE (each rank appends its number) */
#include <mpi.h>
#include <stdio.h>

enum { MANY = 6 };
static MPI_Request all[MANY];
static int number[MANY], begun, a[MANY], b[MANY], rank, other;
static FILE *out;

static void begin(int place, int tag) {
  /* Messages of other sends may be over at once, and then share a handle. */
  if (place % 2)
    MPI_Issend(&a[place], 1, MPI_INT, other, tag, MPI_COMM_WORLD, &all[place]);
  else
    MPI_Irecv(&b[place], 1, MPI_INT, other, tag, MPI_COMM_WORLD, &all[place]);
  number[place] = ++begun;
}

/* A receive of each tag and a send of it. */
static void begin_all(void) {
  for (int place = 0; place < MANY; place++) begin(place, place / 2);
}

/* Says which of the requests at these places a call completed. */
static void say(const char *call, int count, const int *places) {
  fprintf(out, "%s requests=", call);
  for (int at = 0; at < count; at++) fprintf(out, "%s%d", at ? "," : "", begun - number[places[at]]);
  fprintf(out, "%s\n", count ? "" : "none");
}

int main(int argc, char **argv) {
  int places[MANY], some, flag, done;
  char name[4096];
  const int one = 3, order[] = {0, 1, 2, 3, 4, 5};
  MPI_Request kept[3];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
  snprintf(name, sizeof name, "%s.%d", argv[1], rank);
  out = fopen(name, "w");

  begin_all();
  MPI_Waitall(MANY, all, MPI_STATUSES_IGNORE);
  say("MPI_Waitall", MANY, order);
  begin_all();
  for (int place = MANY; place-- > 0;) {
    MPI_Wait(&all[place], MPI_STATUS_IGNORE);
    say("MPI_Wait", 1, &place);
  }
  /* All are over: there is nothing to wait for. */
  MPI_Wait(&all[0], MPI_STATUS_IGNORE);
  say("MPI_Wait", 0, order);
  begin_all();
  MPI_Wait(&all[one], MPI_STATUS_IGNORE);
  say("MPI_Wait", 1, &one);
  for (done = 1; done < MANY; done++) {
    MPI_Waitany(MANY, all, places, MPI_STATUS_IGNORE);
    say("MPI_Waitany", 1, places);
  }
  MPI_Waitany(MANY, all, places, MPI_STATUS_IGNORE);
  say("MPI_Waitany", 0, places);
  begin_all();
  for (done = 0; done < MANY; done += some) {
    MPI_Waitsome(MANY, all, &some, places, MPI_STATUSES_IGNORE);
    say("MPI_Waitsome", some, places);
  }
  begin_all();
  for (done = 0; done < MANY;) {
    MPI_Testany(MANY, all, places, &flag, MPI_STATUS_IGNORE);
    say("MPI_Testany", flag, places);
    done += flag;
  }
  begin_all();
  for (done = 0; done < MANY; done += some) {
    MPI_Testsome(MANY, all, &some, places, MPI_STATUSES_IGNORE);
    say("MPI_Testsome", some, places);
  }
  begin_all();
  do {
    MPI_Testall(MANY, all, &flag, MPI_STATUSES_IGNORE);
    say("MPI_Testall", flag ? MANY : 0, order);
  } while (!flag);
  begin(1, 9), begin(0, 9);
  do {
    MPI_Test(&all[0], &flag, MPI_STATUS_IGNORE);
    say("MPI_Test", flag, order);
  } while (!flag);
  MPI_Request_free(&all[1]);
  say("MPI_Request_free", 1, order + 1);

  /* Some libraries have one handle for all messages to nobody. */
  for (int place = 0; place < MANY; place++) {
    MPI_Isend(&a[place], 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &all[place]);
    number[place] = ++begun;
  }
  MPI_Waitall(MANY, all, MPI_STATUSES_IGNORE);
  say("MPI_Waitall", MANY, order);

  MPI_Send_init(a, 2, MPI_INT, other, 5, MPI_COMM_WORLD, &kept[0]);
  fprintf(out, "MPI_Send_init requests=p0 bytes=8\n");
  MPI_Recv_init(b, 2, MPI_INT, other, 5, MPI_COMM_WORLD, &kept[1]);
  fprintf(out, "MPI_Recv_init requests=p1\n");
  for (int time = 0; time < 3; time++) {
    MPI_Startall(2, kept);
    fprintf(out, "MPI_Startall requests=p0,p1\n");
    MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
    fprintf(out, "MPI_Waitall requests=p0,p1\n");
  }
  /* None is started. */
  MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
  fprintf(out, "MPI_Waitall requests=none\n");
  MPI_Request_free(&kept[0]);
  fprintf(out, "MPI_Request_free requests=p0\n");
  /* The smallest number that is free. */
  MPI_Ssend_init(a, 3, MPI_INT, other, 5, MPI_COMM_WORLD, &kept[0]);
  fprintf(out, "MPI_Ssend_init requests=p0 bytes=12\n");
  MPI_Recv_init(b, 3, MPI_INT, other, 5, MPI_COMM_WORLD, &kept[2]);
  fprintf(out, "MPI_Recv_init requests=p2\n");
  MPI_Start(&kept[2]);
  fprintf(out, "MPI_Start requests=p2 by=MPI_Recv_init\n");
  begin(0, 7), begin(1, 7);
  MPI_Start(&kept[0]);
  fprintf(out, "MPI_Start requests=p0 by=MPI_Ssend_init\n");
  MPI_Request both[] = {all[1], kept[2], all[0], kept[1], kept[0]};
  MPI_Waitall(5, both, MPI_STATUSES_IGNORE);
  fprintf(out, "MPI_Waitall requests=0,p2,1,p0\n");
  for (int place = 0; place < 3; place++) {
    MPI_Request_free(&kept[place]);
    fprintf(out, "MPI_Request_free requests=p%d\n", place);
  }
  fclose(out);
  MPI_Finalize();
  return 0;
}
