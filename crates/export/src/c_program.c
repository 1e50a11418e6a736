/* Does to files what a model of a workload says.
 *
 * With MPI, a rank of the model is one of the program:    mpicc -O2 -o app app.c && mpirun -n 4 ./app DIRECTORY
 * Without it there is one rank:                            cc -O2 -DSERIAL -o app app.c && ./app DIRECTORY
 *
 * DIRECTORY must be there; files of the model in it are written anew. An option -a leaves the time between requests out.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifndef SERIAL
#include <mpi.h>
#endif

typedef unsigned long long u64;

enum { READ, WRITE, FSYNC, FDATASYNC, KINDS };
enum { ROOT, SHARED, PRIVATE };

/* Sizes of transfers with their weights, in order if they are runs. */
struct size {
	u64 bytes, weight;
};

/* A distance in a file; that of all ranks together if by_ranks. */
struct stride {
	u64 bytes;
	int by_ranks;
};

struct session {
	int file, flags;
	u64 requests[KINDS];
	const struct size *sizes[2];
	int runs, sequential;
	u64 start, rank, every, slack;
	struct stride step, jump, again;
};

struct file {
	const char *name;
	int class;
	u64 count, size;
};

struct group {
	int first, last;
};

static int rank, ranks = 1, asap;
static char *buffer;

static void die(const char *what, const char *name)
{
	fprintf(stderr, "rank %d: %s %s: %s\n", rank, what, name, strerror(errno));
#ifndef SERIAL
	MPI_Abort(MPI_COMM_WORLD, 1);
#endif
	exit(1);
}

/* The name of a file of this rank. */
static const char *named(const struct file *file, u64 number)
{
	static char name[PATH_MAX];
	char *to = name, *end = name + sizeof name - 32;
	for (const char *from = file->name; *from && to < end; from++) {
		if (from[0] == '%' && from[1] == 'r')
			to += sprintf(to, "%d", rank), from++;
		else if (from[0] == '%' && from[1] == 'i')
			to += sprintf(to, "%llu", number), from++;
		else
			*to++ = *from;
	}
	*to = 0;
	return name;
}

static u64 at_ranks(struct stride stride)
{
	return stride.by_ranks ? stride.bytes * (u64)ranks : stride.bytes;
}

static void pause_for(u64 ns)
{
	struct timespec time = { ns / 1000000000, ns % 1000000000 };
	if (ns && !asap)
		while (nanosleep(&time, &time) && errno == EINTR)
			;
}

/* The size of transfer number i of n: by weight the largest remainders first, or in order. */
static u64 size_of(const struct session *session, int kind, u64 i)
{
	const struct size *sizes = session->sizes[kind];
	u64 all = 0, n = session->requests[kind], before = 0;
	if (session->runs) {
		for (; sizes->weight; sizes++)
			if (i < (before += sizes->weight))
				return sizes->bytes;
		return 0;
	}
	for (const struct size *size = sizes; size->weight; size++)
		all += size->weight;
	/* Draws of a value: floor(n * weight / all), and one more where remainders are largest, smaller values first. */
	u64 given = 0;
	for (const struct size *size = sizes; size->weight; size++)
		given += (u64)((unsigned __int128)n * size->weight / all);
	u64 missing = n - given;
	for (const struct size *size = sizes; size->weight; size++) {
		unsigned __int128 product = (unsigned __int128)n * size->weight;
		u64 draws = (u64)(product / all), remainder = (u64)(product % all), larger = 0;
		for (const struct size *other = sizes; other->weight; other++) {
			u64 others = (u64)((unsigned __int128)n * other->weight % all);
			larger += others > remainder || (others == remainder && other->bytes < size->bytes);
		}
		before += draws + (larger < missing);
		if (i < before)
			return size->bytes;
	}
	return sizes->bytes;
}

/* Opens a file, does the requests of the session spread evenly among each other, closes it. */
static void run(const struct session *session, u64 *times)
{
	const struct file *file = &files[session->file];
	u64 again = (*times)++, done[KINDS] = { 0 }, transfers = 0, end = 0, cursor = 0;
	const char *name = named(file, again % file->count);
	pause_for(session->slack);
	int descriptor = open(name, session->flags, 0644);
	if (descriptor < 0)
		die("open", name);
	for (;;) {
		int kind = -1;
		for (int other = 0; other < KINDS; other++)
			if (done[other] < session->requests[other] &&
			    (kind < 0 || (unsigned __int128)(done[other] + 1) * session->requests[kind] <
						 (unsigned __int128)(done[kind] + 1) * session->requests[other]))
				kind = other;
		if (kind < 0)
			break;
		pause_for(session->slack);
		if (kind == FSYNC || kind == FDATASYNC) {
			if ((kind == FSYNC ? fsync : fdatasync)(descriptor))
				die("sync", name);
		} else {
			u64 size = size_of(session, kind, done[kind]), inner = transfers, block = 0;
			if (session->every)
				inner = transfers % session->every, block = transfers / session->every;
			u64 offset = session->sequential ? end
							 : session->start + session->rank * (u64)rank + at_ranks(session->step) * inner +
								   at_ranks(session->jump) * block + at_ranks(session->again) * again;
			int follows = offset == cursor || (session->flags & O_APPEND && kind == WRITE);
			ssize_t moved = kind == READ ? (follows ? read(descriptor, buffer, size) : pread(descriptor, buffer, size, offset))
						     : (follows ? write(descriptor, buffer, size) : pwrite(descriptor, buffer, size, offset));
			if (moved < 0 || (kind == WRITE && (u64)moved != size))
				die(kind == READ ? "read" : "write", name);
			end = offset + size;
			if (follows)
				cursor = end;
			transfers++;
		}
		done[kind]++;
	}
	pause_for(session->slack);
	if (close(descriptor))
		die("close", name);
}

static int in(int group)
{
	return rank >= groups[group].first && (groups[group].last < 0 || rank <= groups[group].last);
}

#ifndef SERIAL
static MPI_Comm communicators[sizeof groups / sizeof *groups];
#endif

static void barrier(int group)
{
	if (!in(group))
		return;
#ifndef SERIAL
	MPI_Barrier(communicators[group]);
#endif
}

/* Directories, and files that are there before the run, with something in them. */
static void prepare(void)
{
	for (size_t at = 0; at < sizeof files / sizeof *files; at++) {
		const struct file *file = &files[at];
		for (u64 number = 0; number < file->count; number++) {
			if (file->class != PRIVATE && rank)
				break;
			const char *name = named(file, number);
			for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
				char *directory = strndup(name, slash - name);
				if (!directory || (mkdir(directory, 0777) && errno != EEXIST))
					die("mkdir", name);
				free(directory);
			}
			unlink(name);
			int is_made = file->size == 0 && made[at];
			int descriptor = is_made ? -1 : open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
			if (!is_made && descriptor < 0)
				die("open", name);
			for (u64 left = file->size; left && descriptor >= 0;) {
				u64 part = left < LARGEST ? left : LARGEST;
				if (write(descriptor, buffer, part) != (ssize_t)part)
					die("write", name);
				left -= part;
			}
			if (descriptor >= 0)
				close(descriptor);
		}
	}
}

static void program(void);

int main(int argc, char **argv)
{
#ifndef SERIAL
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (size_t group = 0; group < sizeof groups / sizeof *groups; group++)
		MPI_Comm_split(MPI_COMM_WORLD, in((int)group), rank, &communicators[group]);
#endif
	asap = argc > 1 && !strcmp(argv[1], "-a");
	const char *directory = argv[1 + asap];
	if (!directory) {
		fprintf(stderr, "usage: %s [-a] DIRECTORY\n", argv[0]);
		return 2;
	}
	if (chdir(directory))
		die("chdir", directory);
	buffer = malloc(LARGEST);
	if (!buffer)
		die("malloc", "");
	for (u64 at = 0; at < LARGEST; at++)
		buffer[at] = (char)(at * 2654435761u >> 13 ^ (u64)rank);
	(void)barrier;
	prepare();
#ifndef SERIAL
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	program();
#ifndef SERIAL
	MPI_Finalize();
#endif
	return 0;
}
