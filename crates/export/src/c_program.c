/* Does to files what a model of a workload says.
 *
 * With MPI, a rank of the model is one of the program:    mpicc -O2 -o app app.c && mpirun -n 4 ./app DIRECTORY
 * Without it there is one rank:                            cc -O2 -DSERIAL -o app app.c && ./app DIRECTORY
 *
 * DIRECTORY must be there; files of the model in it are written anew. An option -a leaves the time between requests out.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifndef SERIAL
#include <mpi.h>
#endif

typedef unsigned long long u64;

enum { LOCK, LOCK_SHARED, READ, WRITE, FSYNC, FDATASYNC, STAT, TRUNCATE, UNLOCK, KINDS };
enum { ROOT, SHARED, PRIVATE };
/* With whose calls a session is done: those of MPI-IO by each rank alone, or by all ranks together. */
enum { OF_SYSTEM, OF_RANK, OF_ALL };
enum { PLAIN, DIRECTORY, ABSENT };
/* Where transfers begin: where the one before ended, by a law, in runs, or at places that are drawn. */
enum { FOLLOWING, BY_LAW, IN_RUNS, DRAWN, DRAWN_BETWEEN };
enum { OPEN_NAME, STAT_NAME, UNLINK_NAME, RENAME_NAME, LINK_NAME, MKDIR_NAME, RMDIR_NAME, READDIR_NAME,
	GETS_NAME, ALL_CALLS, NAME_CALLS };

/* Sizes of transfers with their weights, in order if they are runs. */
struct size {
	u64 bytes, weight;
};

/* A distance in a file, below 0 towards its begin; that of all ranks together if by_ranks. */
struct stride {
	long long bytes;
	int by_ranks;
};

/* So many transfers, each a step behind the one before; without a step, where that one ended. */
struct place_run {
	u64 start, behind, rank; /* From place to place: behind for each rank there is, rank from rank to rank. */
	struct stride again, step;
	int steps, shift; /* Of the rank that comes so much later, counted round. */
	u64 count;
};

/* Where transfers begin. */
struct law {
	int how;
	u64 start, rank, every;
	struct stride step, jump, again;
	int shift;
	/* The last one has no transfers. */
	const struct place_run *runs;
	/* Places with their weights. */
	const struct size *places;
	u64 align, following; /* Millionths of the transfers that are drawn that follow the one before. */
	u64 furthest; /* No transfer that is drawn reaches beyond, if it is not 0. */
	int written; /* Each lies within what the session has written. */
	u64 moved; /* Millionths of the transfers that change their places with each other. */
};

/* Requests that follow each other. */
struct run {
	int kind;
	u64 count;
};

struct session {
	int file, flags, layer;
	u64 requests[KINDS];
	const struct size *sizes[2];
	const struct run *order;
	int runs[2];
	u64 slack;
	struct stride length; /* That truncates give the file; below 0 for that which it has. */
	int apart; /* Reads and writes have laws of their own, and are counted apart. */
	struct law laws[2];
};

struct file {
	const char *name;
	int class;
	/* Bytes that each holds before; the most, if they differ. */
	u64 count, size;
	/* Where they differ, those of each in its turn; private files are counted rank by rank. */
	const struct size *lengths;
	int kind, present;
	/* Times before calls, in their order. */
	const u64 *slack;
	u64 slacks;
	/* Bytes more for each rank beyond so many. */
	u64 growth, recorded;
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
	return stride.by_ranks ? (u64)stride.bytes * (u64)ranks : (u64)stride.bytes;
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
	const struct size *sizes = session->sizes[kind == WRITE];
	u64 all = 0, n = session->requests[kind], before = 0;
	if (session->runs[kind == WRITE]) {
		for (const struct size *size = sizes; size->weight; size++)
			all += size->weight;
		for (i %= all; sizes->weight; sizes++)
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

/* Which of the files of each name were made and not taken away. */
static char *made_so_far[sizeof files / sizeof *files];

static char *made_of(int number)
{
	if (!made_so_far[number] && !(made_so_far[number] = calloc(files[number].count, 1)))
		die("calloc", files[number].name);
	return made_so_far[number];
}

/* Which of the files of a name something is done to for the k-th time: to make it, or else one that is there, the last one made where that is not
   the next one in turn. */
static u64 number_of(int number, u64 k, int makes)
{
	const struct file *file = &files[number];
	u64 found = k % file->count;
	char *is_made = made_of(number);
	if (makes)
		is_made[found] = 1;
	if (is_made[found] || file->size || file->present || file->kind == ABSENT)
		return found;
	for (u64 at = file->count; at; at--)
		if (is_made[at - 1])
			return at - 1;
	return found;
}

/* Whether steps are not done: who sends how many messages to whom is counted. */
static int counting;

/* A session between its steps: the open, the requests and the close are one each. */
struct running {
	int descriptor;
#ifndef SERIAL
	MPI_File file;
#endif
	u64 again, execution, number, done[KINDS], transfers[2], ends[2], end, written, cursor, in_run;
	u64 random, *numbers[2]; /* In which order transfers are at the places of a law, if that is not the usual one. */
	int was_read; /* Where it stands: who reads less than asked for stands elsewhere. */
	const struct run *order;
	/* Steps that were done, and those that the program counts of them. */
	u64 steps, counted;
};

static const char *name_of(const struct session *session, const struct running *running)
{
	return named(&files[session->file], running->number);
}

/* What the layer of a session is here: without MPI all sessions are done with system calls. */
static int layer_of(const struct session *session)
{
#ifdef SERIAL
	(void)session;
	return OF_SYSTEM;
#else
	return session->layer;
#endif
}

#ifndef SERIAL
static int failed(int error)
{
	errno = EIO;
	return error == MPI_SUCCESS ? 0 : -1;
}

static int open_with_mpi(const struct session *session, struct running *running, const char *name)
{
	int access = session->flags & O_ACCMODE;
	int mode = access == O_RDWR ? MPI_MODE_RDWR : access == O_WRONLY ? MPI_MODE_WRONLY : MPI_MODE_RDONLY;
	MPI_Comm comm = session->layer == OF_ALL ? MPI_COMM_WORLD : MPI_COMM_SELF;
	if (session->flags & O_CREAT)
		mode |= MPI_MODE_CREATE;
	/* Some libraries take short names, and what stands before a colon, for something else. */
	static char path[PATH_MAX + 2];
	snprintf(path, sizeof path, "./%s", name);
	if (failed(MPI_File_open(comm, path, mode, MPI_INFO_NULL, &running->file)))
		return -1;
	return session->flags & O_TRUNC ? failed(MPI_File_set_size(running->file, 0)) : 0;
}

static ssize_t transfer_with_mpi(const struct session *session, struct running *running, int kind, u64 offset, u64 size)
{
	MPI_File file = running->file;
	MPI_Status status;
	int error, moved = 0, count = (int)size;
	MPI_Offset at = (MPI_Offset)offset;
	if (session->layer == OF_ALL)
		error = kind == READ ? MPI_File_read_at_all(file, at, buffer, count, MPI_BYTE, &status)
				     : MPI_File_write_at_all(file, at, buffer, count, MPI_BYTE, &status);
	else
		error = kind == READ ? MPI_File_read_at(file, at, buffer, count, MPI_BYTE, &status)
				     : MPI_File_write_at(file, at, buffer, count, MPI_BYTE, &status);
	if (failed(error))
		return -1;
	MPI_Get_count(&status, MPI_BYTE, &moved);
	return moved;
}

/* A request that moves nothing, or a close (kind -1). */
static int request_with_mpi(const struct session *session, struct running *running, int kind, u64 size)
{
	MPI_Offset found;
	/* Ranks that set a length together set one. */
	if (kind == TRUNCATE && session->layer == OF_ALL)
		MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
	if (kind < 0)
		return failed(MPI_File_close(&running->file));
	if (kind == STAT)
		return failed(MPI_File_get_size(running->file, &found));
	return failed(kind == TRUNCATE ? MPI_File_set_size(running->file, (MPI_Offset)size) : MPI_File_sync(running->file));
}
#else
static int open_with_mpi(const struct session *session, struct running *running, const char *name)
{
	(void)session, (void)running, (void)name;
	return -1;
}

static ssize_t transfer_with_mpi(const struct session *session, struct running *running, int kind, u64 offset, u64 size)
{
	(void)session, (void)running, (void)kind, (void)offset, (void)size;
	return -1;
}

static int request_with_mpi(const struct session *session, struct running *running, int kind, u64 size)
{
	(void)session, (void)running, (void)kind, (void)size;
	return -1;
}
#endif

static int request_with_system(int descriptor, int kind, u64 size)
{
	struct stat found;
	if (kind < 0)
		return close(descriptor);
	if (kind == STAT)
		return fstat(descriptor, &found);
	if (kind == TRUNCATE)
		return ftruncate(descriptor, size);
	if (kind == LOCK || kind == LOCK_SHARED || kind == UNLOCK)
		return flock(descriptor, kind == LOCK ? LOCK_EX : kind == UNLOCK ? LOCK_UN : LOCK_SH);
	return kind == FSYNC ? fsync(descriptor) : fdatasync(descriptor);
}

/* The next random number (SplitMix64). */
static u64 drawn(u64 *random)
{
	u64 mixed = *random += 0x9e3779b97f4a7c15ULL;
	mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
	mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
	return mixed ^ (mixed >> 31);
}

static void swap(u64 *one, u64 *other)
{
	u64 kept = *one;
	*one = *other, *other = kept;
}

/* So many numbers, a share of which has changed places. */
static u64 *exchanged(u64 count, u64 share, u64 *random)
{
	u64 *numbers = malloc(2 * count * sizeof *numbers), *chosen = numbers + count;
	if (!numbers)
		die("malloc", "the order of transfers");
	for (u64 at = 0; at < count; at++)
		numbers[at] = chosen[at] = at;
	for (u64 at = count; at > 1; at--)
		swap(&chosen[at - 1], &chosen[drawn(random) % at]);
	for (u64 at = (u64)(((unsigned __int128)count * share + 500000) / 1000000); at > 1; at--)
		swap(&numbers[chosen[at - 1]], &numbers[chosen[drawn(random) % at]]);
	return numbers;
}

/* A place by its weight, or between two neighbours. */
static u64 drawn_place(const struct law *law, u64 *random)
{
	u64 all = 0, at;
	for (const struct size *place = law->places; place->weight; place++)
		all += place->weight;
	if (law->how == DRAWN_BETWEEN) {
		const struct size *low = law->places + drawn(random) % (all - 1);
		u64 place = low->bytes + (u64)(((unsigned __int128)(low[1].bytes - low->bytes) * drawn(random)) >> 64);
		return place - (law->align ? (place - law->places->bytes) % law->align : 0);
	}
	const struct size *place = law->places;
	for (at = drawn(random) % all; at >= place->weight; place++)
		at -= place->weight;
	return place->bytes;
}

/* So often a place is drawn until it lies within what is written. */
enum { MOST_DRAWS = 1000 };

/* The rank that comes so much later, counted round. */
static u64 turned(int shift)
{
	return (u64)(((rank + shift) % ranks + ranks) % ranks);
}

/* Where the transfer of that number begins, if the one before ended there. */
static u64 place_in_run(const struct place_run *runs, const struct running *running, u64 number, u64 end)
{
	u64 all = 0;
	const struct place_run *run = runs;
	for (; run->count; run++)
		all += run->count;
	for (number %= all, run = runs; number >= run->count; run++)
		number -= run->count;
	if (number && !run->steps)
		return end;
	return run->start + run->behind * (u64)ranks + run->rank * turned(run->shift) + at_ranks(run->again) * running->execution +
	       at_ranks(run->step) * number;
}

/* Where the next transfer begins, which is so large. */
static u64 offset_of(const struct law *law, struct running *running, int which, u64 size)
{
	u64 number = running->transfers[which];
	if (running->numbers[which])
		number = running->numbers[which][number];
	if (law->how == FOLLOWING)
		return running->numbers[which] ? number * size : running->ends[which];
	if (law->how == IN_RUNS)
		return place_in_run(law->runs, running, number, running->ends[which]);
	if (law->how != BY_LAW) {
		u64 own = law->rank * (u64)rank, furthest = law->furthest;
		int follows = number && drawn(&running->random) % 1000000 < law->following;
		u64 place = follows ? running->ends[which] - own : drawn_place(law, &running->random);
		if (law->written) {
			furthest = running->written > own ? running->written - own : 1;
			for (int again = 0; !follows && place + size > furthest && again < MOST_DRAWS; again++)
				place = drawn_place(law, &running->random);
		}
		if (!furthest || place + size <= furthest)
			return own + place;
		u64 first = law->places->bytes, last = furthest > size ? furthest - size : 0;
		if (follows || last <= first)
			return own + first;
		if (law->how == DRAWN_BETWEEN)
			return own + last - (law->align ? (last - first) % law->align : 0);
		for (const struct size *before = law->places; before->weight && before->bytes <= last; before++)
			place = before->bytes;
		return own + place;
	}
	u64 inner = law->every ? number % law->every : number, block = law->every ? number / law->every : 0;
	return law->start + law->rank * turned(law->shift) + at_ranks(law->step) * inner + at_ranks(law->jump) * block +
	       at_ranks(law->again) * running->execution;
}

static void begin(const struct session *session, struct running *running, u64 *times)
{
	u64 counted = running->counted;
	for (int which = 0; which < 2; which++)
		free(running->numbers[which]);
	memset(running, 0, sizeof *running);
	running->again = (*times)++;
	running->execution = running->again / files[session->file].count;
	running->number = number_of(session->file, running->again, session->flags & O_CREAT);
	running->random = ((u64)rank << 40) ^ ((u64)session->file << 32) ^ running->again;
	for (int which = 0; which < 2; which++) {
		u64 count = which ? session->requests[WRITE] : session->requests[READ] + (session->apart ? 0 : session->requests[WRITE]);
		if (session->laws[which].moved)
			running->numbers[which] = exchanged(count, session->laws[which].moved, &running->random);
	}
	running->order = session->order;
	running->counted = counted;
	const char *name = name_of(session, running);
	pause_for(session->slack);
	running->descriptor = layer_of(session) == OF_SYSTEM ? open(name, session->flags, 0644) : open_with_mpi(session, running, name);
	if (running->descriptor < 0)
		die("open", name);
}

/* The kind of the next request, or -1: they are spread evenly among each other, or in a given order. */
static int next_kind(const struct session *session, struct running *running)
{
	int kind = -1;
	u64 left = 0;
	for (int other = 0; other < KINDS; other++)
		left += session->requests[other] - running->done[other];
	if (session->order->kind != KINDS && left) {
		/* The order is done again and again. */
		if (running->order->kind == KINDS)
			running->order = session->order;
		kind = running->order->kind;
		if (++running->in_run == running->order->count)
			running->in_run = 0, running->order++;
	} else if (session->order->kind == KINDS)
		for (int other = 0; other < KINDS; other++)
			if (running->done[other] < session->requests[other] &&
			    (kind < 0 || (unsigned __int128)(running->done[other] + 1) * session->requests[kind] <
						 (unsigned __int128)(running->done[kind] + 1) * session->requests[other]))
				kind = other;
	/* What is read is written before. */
	if (session->order->kind == KINDS && session->laws[0].written && kind == READ && !running->done[WRITE])
		kind = WRITE;
	return kind;
}

static void transfer(const struct session *session, struct running *running, int kind)
{
	int which = session->apart && kind == WRITE, descriptor = running->descriptor;
	const struct law *law = &session->laws[which];
	u64 size = size_of(session, kind, running->done[kind]), offset = offset_of(law, running, which, size);
	int stands = offset == running->cursor && !(kind == WRITE && running->was_read);
	int follows = stands || (session->flags & O_APPEND && kind == WRITE);
	ssize_t moved;
	if (layer_of(session) != OF_SYSTEM)
		moved = transfer_with_mpi(session, running, kind, offset, size);
	else
		moved = kind == READ ? (follows ? read(descriptor, buffer, size) : pread(descriptor, buffer, size, offset))
				     : (follows ? write(descriptor, buffer, size) : pwrite(descriptor, buffer, size, offset));
	if (moved < 0 || (kind == WRITE && (u64)moved != size))
		die(kind == READ ? "read" : "write", name_of(session, running));
	running->ends[which] = offset + size;
	if (running->ends[which] > running->end)
		running->end = running->ends[which];
	if (kind == WRITE && running->ends[which] > running->written)
		running->written = running->ends[which];
	if (follows) {
		running->cursor = running->ends[which];
		running->was_read |= kind == READ;
	}
	running->transfers[which]++;
}

/* The next step of a session. */
static void step(const struct session *session, struct running *running, u64 *times)
{
	if (!running->steps) {
		begin(session, running, times);
		running->steps = 1;
		return;
	}
	int kind = next_kind(session, running);
	u64 before = files[session->file].size, size = running->end > before ? running->end : before;
	if (session->length.bytes >= 0)
		size = at_ranks(session->length);
	pause_for(session->slack);
	running->steps++;
	if (kind == READ || kind == WRITE)
		transfer(session, running, kind);
	else if (layer_of(session) == OF_SYSTEM ? request_with_system(running->descriptor, kind, size)
					     : request_with_mpi(session, running, kind, size))
		die(kind < 0 ? "close" : kind == STAT ? "stat" : kind == TRUNCATE ? "truncate" : kind == FSYNC || kind == FDATASYNC ? "sync" : "lock", name_of(session, running));
	if (kind < 0)
		running->steps = running->counted = 0;
	else
		running->done[kind]++;
}

/* What is left of a session that was begun. */
static void finish(const struct session *session, struct running *running, u64 *times)
{
	if (counting)
		return;
	while (running->counted || running->steps)
		step(session, running, times);
}

static void run(const struct session *session, struct running *running, u64 *times)
{
	if (counting)
		return;
	finish(session, running, times);
	running->counted = 1;
	finish(session, running, times);
}

/* The next steps of a session, all of which the program counts as so many, and of the one that follows. */
static void part(const struct session *session, struct running *running, u64 *times, u64 all, u64 steps)
{
	u64 own = 2;
	if (counting)
		return;
	for (int kind = 0; kind < KINDS; kind++)
		own += session->requests[kind];
	while (steps) {
		u64 now = steps < all - running->counted ? steps : all - running->counted;
		steps -= now;
		running->counted += now;
		u64 until = (u64)((unsigned __int128)own * running->counted / all);
		while (running->counted && running->steps < until)
			step(session, running, times);
	}
}

/* A call that names a file; a renamed or linked one gets the name of the file to, if that is none below 0. */
static void call(int what, int number, int to, u64 (*times)[NAME_CALLS])
{
	if (counting)
		return;
	const struct file *file = &files[number];
	char other[PATH_MAX] = "";
	if (to >= 0)
		strcpy(other, named(&files[to], number_of(to, times[to][GETS_NAME]++, 1)));
	u64 of_name = number_of(number, times[number][what]++, what == MKDIR_NAME);
	const char *name = named(file, of_name);
	if (what == UNLINK_NAME || what == RMDIR_NAME || (what == RENAME_NAME && to >= 0))
		made_of(number)[of_name] = 0;
	struct stat found;
	int failed = 0;
	if (file->slacks)
		pause_for(file->slack[times[number][ALL_CALLS]++ % file->slacks]);
	if (what == OPEN_NAME) {
		failed = open(name, O_RDONLY) < 0;
	} else if (what == STAT_NAME) {
		failed = stat(name, &found);
	} else if (what == UNLINK_NAME) {
		failed = unlink(name);
	} else if (what == RENAME_NAME) {
		failed = rename(name, to < 0 ? name : other);
	} else if (what == LINK_NAME) {
		failed = link(name, other);
	} else if (what == MKDIR_NAME) {
		failed = mkdir(name, 0777);
	} else if (what == RMDIR_NAME) {
		failed = rmdir(name);
	} else {
		DIR *directory = opendir(name);
		failed = !directory;
		while (directory && readdir(directory))
			;
		if (directory)
			closedir(directory);
	}
	if (file->kind == ABSENT ? !failed || errno != ENOENT : failed)
		die("call", name);
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
	if (!in(group) || counting)
		return;
#ifndef SERIAL
	MPI_Barrier(communicators[group]);
#endif
}

enum half { SEND, RECEIVE };
enum partner { GROUP, SHIFT, AROUND };

/* By rank, how many messages are sent to it, will be received from it, and were received. */
static u64 *sent, *expected, *received;
enum { MESSAGES = 7 };

static void receive(int from)
{
#ifndef SERIAL
	MPI_Recv(NULL, 0, MPI_CHAR, from, MESSAGES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
	received[from]++;
}

static void exchange(enum half half, int other)
{
	if (counting) {
		sent[other] += half == SEND;
	} else if (half == RECEIVE) {
		/* A message that nobody sends is not waited for. */
		if (received[other] < expected[other])
			receive(other);
	} else {
#ifndef SERIAL
		MPI_Send(NULL, 0, MPI_CHAR, other, MESSAGES, MPI_COMM_WORLD);
#endif
	}
}

/* One message to each partner, or one from each. */
static void message(enum half half, enum partner partner, int which)
{
	int first = rank + which, last = first;
	if (partner == GROUP) {
		first = groups[which].first;
		last = groups[which].last < 0 || groups[which].last >= ranks ? ranks - 1 : groups[which].last;
	} else if (partner == AROUND) {
		first = last = ((rank + which % ranks) + ranks) % ranks;
	} else if (first < 0 || first >= ranks) {
		return;
	}
	for (int other = first; other <= last; other++)
		if (other != rank)
			exchange(half, other);
}

static void program(void);

static void count_messages(void)
{
	sent = calloc(ranks, sizeof *sent);
	expected = calloc(ranks, sizeof *expected);
	received = calloc(ranks, sizeof *received);
	if (!sent || !expected || !received)
		die("calloc", "");
	counting = 1;
	program();
	counting = 0;
#ifndef SERIAL
	MPI_Alltoall(sent, 1, MPI_UNSIGNED_LONG_LONG, expected, 1, MPI_UNSIGNED_LONG_LONG, MPI_COMM_WORLD);
#endif
}

/* Messages that nobody waited for. */
static void take_messages_left(void)
{
	for (int other = 0; other < ranks; other++)
		while (received[other] < expected[other])
			receive(other);
}

static u64 length_of(const struct file *file, u64 number)
{
	u64 all = 0, before = 0;
	if (!file->lengths)
		return file->size;
	for (const struct size *length = file->lengths; length->weight; length++)
		all += length->weight;
	if (file->class == PRIVATE)
		number += (u64)rank * file->count;
	for (const struct size *length = file->lengths; length->weight; length++)
		if (number % all < (before += length->weight))
			return length->bytes;
	return 0;
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
			if (file->kind == DIRECTORY) {
				if (rmdir(name) && errno != ENOENT)
					die("rmdir", name);
				if ((file->present || !made[at]) && mkdir(name, 0777))
					die("mkdir", name);
				continue;
			}
			unlink(name);
			int is_made = file->kind == ABSENT || (file->size == 0 && !file->present && made[at]);
			int descriptor = is_made ? -1 : open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
			if (!is_made && descriptor < 0)
				die("open", name);
			u64 more = (u64)ranks > file->recorded ? (u64)ranks - file->recorded : 0;
			for (u64 left = length_of(file, number) + more * file->growth; left && descriptor >= 0;) {
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

static void begin_program(void);
static void end_program(void);

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
	(void)barrier, (void)run, (void)part, (void)call, (void)message, (void)count_messages, (void)take_messages_left;
	prepare();
	begin_program();
#ifndef SERIAL
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	program();
	end_program();
#ifndef SERIAL
	MPI_Finalize();
#endif
	return 0;
}
