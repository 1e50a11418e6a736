/* Programs whose requests at any number of ranks are known: usage: workload DIRECTORY MODE */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static char buffer[1 << 17], path[4096];
static int rank, ranks;

static int opened(const char *directory, const char *name, int number, int flags)
{
	snprintf(path, sizeof path, number < 0 ? "%s/%s" : "%s/%s.%d", directory, name, number);
	int file = open(path, flags, 0644);
	if (file < 0) {
		perror(path);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return file;
}

static void moved(ssize_t bytes, ssize_t wanted)
{
	if (bytes != wanted) {
		fprintf(stderr, "%zd of %zd bytes\n", bytes, wanted);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

static void at(int file, int size, off_t offset)
{
	moved(pwrite(file, buffer, size, offset), size);
}

int main(int argc, char **argv)
{
	const char *directory = argv[1], *mode = argc > 2 ? argv[2] : "";
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	memset(buffer, rank + 1, sizeof buffer);
	if (!strcmp(mode, "private")) { /* N to N, sizes in order, several times */
		for (int step = 0; step < 5; step++) {
			int file = opened(directory, "ckpt", rank, O_WRONLY | O_CREAT | O_TRUNC);
			for (int i = 0; i < 7; i++)
				moved(write(file, buffer, 65536), 65536);
			moved(write(file, buffer, 1000), 1000);
			moved(fsync(file), 0);
			close(file);
			MPI_Barrier(MPI_COMM_WORLD);
		}
	} else if (!strcmp(mode, "segments")) { /* N to 1, a stretch of each rank */
		int file = opened(directory, "shared", -1, O_WRONLY | O_CREAT);
		for (int i = 0; i < 8; i++)
			at(file, 4096, rank * 32768L + i * 4096);
		close(file);
	} else if (!strcmp(mode, "strided")) { /* N to 1, in turns */
		int file = opened(directory, "shared", -1, O_WRONLY | O_CREAT);
		for (int i = 0; i < 8; i++)
			at(file, 4096, 512 + (i * (long)ranks + rank) * 4096);
		close(file);
		MPI_Barrier(MPI_COMM_WORLD);
		file = opened(directory, "shared", -1, O_RDONLY);
		for (int i = 0; i < 8; i++)
			moved(pread(file, buffer, 4096, 512 + (i * (long)ranks + rank) * 4096), 4096);
		close(file);
	} else if (!strcmp(mode, "again")) { /* the same, a stretch further each time it is opened */
		for (int step = 0; step < 4; step++) {
			int file = opened(directory, "shared", -1, O_WRONLY | O_CREAT);
			for (int i = 0; i < 3; i++)
				at(file, 1000, ((step * 3 + i) * (long)ranks + rank) * 1000);
			close(file);
			MPI_Barrier(MPI_COMM_WORLD);
		}
	} else if (!strcmp(mode, "blocks")) { /* blocks of transfers in segments, as IOR */
		int file = opened(directory, "shared", -1, O_WRONLY | O_CREAT);
		for (int segment = 0; segment < 3; segment++)
			for (int i = 0; i < 4; i++)
				at(file, 8192, segment * 32768L * ranks + rank * 32768L + i * 8192);
		close(file);
	} else if (!strcmp(mode, "scan")) { /* each rank reads its part of what is there before, not in its order */
		int file = opened(directory, "input", -1, O_RDONLY);
		for (int i = 0; i < 25; i++)
			moved(pread(file, buffer, 4096, rank * 102400L + i * 7 % 25 * 4096L), 4096);
		close(file);
	} else if (!strcmp(mode, "root")) { /* the first rank does more */
		for (int step = 0; step < 3; step++) {
			if (rank == 0) {
				int log = opened(directory, "log", -1, O_WRONLY | O_CREAT | O_APPEND);
				moved(write(log, buffer, 100), 100);
				close(log);
			}
			MPI_Barrier(MPI_COMM_WORLD);
			int file = opened(directory, "out", rank, O_WRONLY | O_CREAT | O_APPEND);
			moved(write(file, buffer, 5000), 5000);
			close(file);
		}
	} else if (!strcmp(mode, "loader")) { /* each rank writes several files */
		for (int i = 0; i < 5; i++) {
			char name[32];
			snprintf(name, sizeof name, "sample-%d", i);
			int file = opened(directory, name, rank, O_WRONLY | O_CREAT);
			moved(write(file, buffer, 3000), 3000);
			close(file);
		}
	} else if (!strcmp(mode, "update")) { /* reads what it wrote, in one session */
		int file = opened(directory, "state", rank, O_RDWR | O_CREAT);
		for (int i = 0; i < 6; i++)
			at(file, 2048, i * 2048);
		close(file);
		file = opened(directory, "state", rank, O_RDONLY);
		for (int i = 0; i < 6; i++)
			moved(read(file, buffer, 2048), 2048);
		close(file);
	}
	else if (!strcmp(mode, "ring")) { /* a token in a file, round after round; messages say whose turn it is */
		char token = 0;
		for (int round = 0; round < 3; round++) {
			if (rank > 0 || round > 0)
				MPI_Recv(&token, 1, MPI_CHAR, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			int file = opened(directory, "token", -1, O_RDWR | O_CREAT);
			if (pread(file, buffer, 8, 0) < 0)
				MPI_Abort(MPI_COMM_WORLD, 1);
			at(file, 8, 0);
			close(file);
			if (rank < ranks - 1 || round < 2)
				MPI_Send(&token, 1, MPI_CHAR, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
		}
	}
	else if (!strcmp(mode, "token")) { /* each rank writes when the one before has: messages alone say so */
		char token = 0;
		int file = opened(directory, "own", rank, O_WRONLY | O_CREAT);
		for (int round = 0; round < 4; round++) {
			if (rank > 0 || round > 0)
				MPI_Recv(&token, 1, MPI_CHAR, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			at(file, 1000, round * 1000);
			if (rank < ranks - 1 || round < 3)
				MPI_Send(&token, 1, MPI_CHAR, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
		}
		close(file);
	} else if (!strcmp(mode, "neighbours")) { /* each step begins when the neighbours have ended theirs */
		char halo[4];
		int file = opened(directory, "own", rank, O_WRONLY | O_CREAT);
		for (int step = 0; step < 5; step++) {
			MPI_Request requests[4];
			MPI_Status statuses[4];
			int count = 0;
			at(file, 700, step * 700);
			for (int side = -1; side <= 1; side += 2) {
				int other = rank + side;
				if (other < 0 || other >= ranks)
					continue;
				MPI_Irecv(&halo[count], 1, MPI_CHAR, other, 5, MPI_COMM_WORLD, &requests[count]);
				count++;
				MPI_Isend(&halo[3], 0, MPI_CHAR, other, 5, MPI_COMM_WORLD, &requests[count]);
				count++;
			}
			MPI_Waitall(count, requests, statuses);
		}
		close(file);
	} else if (!strcmp(mode, "gather")) { /* the root begins, all follow, the root ends */
		int value = rank, sum = 0;
		int file = opened(directory, "own", rank, O_WRONLY | O_CREAT);
		for (int step = 0; step < 3; step++) {
			if (rank == 0)
				at(file, 300, step * 900);
			MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
			at(file, 300, step * 900 + 300);
			MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
			if (rank == 0)
				at(file, 300, step * 900 + 600);
		}
		close(file);
	}
	else if (!strcmp(mode, "collective")) { /* all ranks write together, then read what the next one wrote, then the root asks for the size */
		MPI_File file;
		snprintf(path, sizeof path, "%s/shared", directory);
		for (int step = 0; step < 2; step++) {
			MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
			for (int i = 0; i < 5; i++)
				MPI_File_write_at_all(file, (i * (MPI_Offset)ranks + rank) * 3000, buffer, 3000, MPI_BYTE, MPI_STATUS_IGNORE);
			MPI_File_set_size(file, ranks * (MPI_Offset)15000);
			MPI_File_sync(file);
			MPI_File_close(&file);
		}
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
		for (int i = 0; i < 5; i++)
			MPI_File_read_at_all(file, (i * (MPI_Offset)ranks + (rank + 1) % ranks) * 3000, buffer, 3000, MPI_BYTE, MPI_STATUS_IGNORE);
		MPI_File_close(&file);
	} else if (!strcmp(mode, "independent")) { /* each rank writes by calls of MPI-IO, a shared file and one of its own */
		MPI_File file;
		snprintf(path, sizeof path, "%s/shared", directory);
		MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
		for (int i = 0; i < 6; i++)
			MPI_File_write_at(file, rank * (MPI_Offset)6000 + i * 1000, buffer, 1000, MPI_BYTE, MPI_STATUS_IGNORE);
		MPI_File_close(&file);
		snprintf(path, sizeof path, "%s/own.%d", directory, rank);
		MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
		for (int i = 0; i < 4; i++)
			MPI_File_write(file, buffer, 500, MPI_BYTE, MPI_STATUS_IGNORE);
		MPI_File_close(&file);
	}
	else if (!strcmp(mode, "locked")) { /* all ranks count in one file, each under a lock, and look at it together */
		int file = opened(directory, "counter", -1, O_RDWR | O_CREAT);
		for (int i = 0; i < 6; i++) {
			moved(flock(file, LOCK_EX), 0);
			if (pread(file, buffer, 8, 0) < 0)
				MPI_Abort(MPI_COMM_WORLD, 1);
			at(file, 8, 0);
			at(file, 8, 8);
			moved(flock(file, LOCK_UN), 0);
		}
		moved(flock(file, LOCK_SH), 0);
		if (pread(file, buffer, 8, 0) < 0)
			MPI_Abort(MPI_COMM_WORLD, 1);
		close(file);
	}
	MPI_Finalize();
	return 0;
}
