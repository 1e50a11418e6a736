/* What ranks do that a clone must do, too: kept MODE DIRECTORY RANKS. Each rank is a process of its own. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK = 4096, PART = 1000, READS = 200, RECORDS = 300, ROUNDS = 5, FILES = 6 };

static char buffer[1 << 16];
static unsigned long state;

static unsigned long any(unsigned long end)
{
	state = state * 6364136223846793005UL + 1442695040888963407UL;
	return (state >> 33) % end;
}

static void succeeds(int is_true, const char *what)
{
	if (!is_true) {
		perror(what);
		_exit(1);
	}
}

static const char *path(const char *directory, const char *name, int rank)
{
	static char paths[2][4096];
	static int turn;
	char *path = paths[turn ^= 1];
	snprintf(path, sizeof *paths, "%s/%s.%d", directory, name, rank);
	return path;
}

static int opened(const char *name, int flags)
{
	int file = open(name, flags, 0600);
	succeeds(file >= 0, name);
	return file;
}

/* A file is written by another name, gets its own one, and is read by that. */
static void renamed(const char *directory, int rank)
{
	for (int round = 0; round < ROUNDS; round++) {
		int file = opened(path(directory, "new", rank), O_WRONLY | O_CREAT | O_TRUNC);
		succeeds(write(file, buffer, 100 + round) == 100 + round, "write");
		close(file);
		succeeds(!rename(path(directory, "new", rank), path(directory, "result", rank)), "rename");
		file = opened(path(directory, "result", rank), O_RDONLY);
		succeeds(read(file, buffer, 1000) == 100 + round, "read");
		close(file);
	}
	/* One stays behind by a name under which nobody opens it. */
	int file = opened(path(directory, "last", rank), O_WRONLY | O_CREAT | O_TRUNC);
	succeeds(write(file, buffer, 10) == 10, "write");
	close(file);
	succeeds(!rename(path(directory, "last", rank), path(directory, "done", rank)), "rename");
}

/* Records are appended, and now and then one of those that are there is read. */
static void reread(const char *directory, int rank)
{
	int file = opened(path(directory, "log", rank), O_RDWR | O_CREAT | O_TRUNC);
	for (long written = 0, reads = 0; written < RECORDS || reads < RECORDS;)
		if (written < RECORDS && (!written || any(2)))
			succeeds(pwrite(file, buffer, 512, 512 * written++) == 512, "write");
		else
			reads++, succeeds(pread(file, buffer, 512, 512 * any(written)) == 512, "read");
	close(file);
}

/* Any blocks of the part of the rank. */
static void parts(const char *directory, int rank)
{
	char name[4096];
	snprintf(name, sizeof name, "%s/data", directory);
	int file = opened(name, O_RDONLY);
	for (int i = 0; i < READS; i++)
		succeeds(pread(file, buffer, BLOCK, (long)BLOCK * (PART * (long)rank + any(PART))) == BLOCK, "read");
	close(file);
}

/* Headers and bodies in turn. */
static void turns(const char *directory, int rank)
{
	int file = opened(path(directory, "pairs", rank), O_WRONLY | O_CREAT | O_TRUNC);
	for (int i = 0; i < 2 * RECORDS + 1; i++)
		succeeds(write(file, buffer, i % 2 ? 4096 : 100) > 0, "write");
	close(file);
}

/* The part of the rank from its end to its begin. */
static void backwards(const char *directory, int rank)
{
	char name[4096];
	snprintf(name, sizeof name, "%s/data", directory);
	int file = opened(name, O_RDONLY);
	for (int i = PART - 1; i >= 0; i--)
		succeeds(pread(file, buffer, BLOCK, (long)BLOCK * (PART * (long)rank + i)) == BLOCK, "read");
	close(file);
}

/* Files of one form of name that are used in two ways, and rotate. */
static void ways(const char *directory, int rank)
{
	char name[16];
	for (int pass = 0; pass < 2; pass++)
		for (int k = 0; k < FILES; k++) {
			snprintf(name, sizeof name, "f%d", k);
			int size = k % 2 ? 200 : 100, file = opened(path(directory, name, rank), pass ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC);
			for (int i = 0; i < 3; i++)
				succeeds((pass ? read(file, buffer, size) : write(file, buffer, size)) == size, "transfer");
			close(file);
			if (pass)
				succeeds(!unlink(path(directory, name, rank)), "unlink");
		}
	for (int round = 0; round < ROUNDS; round++) {
		int file = opened(path(directory, "log", rank), O_WRONLY | O_CREAT | O_EXCL);
		succeeds(write(file, buffer, 1000) == 1000, "write");
		close(file);
		if (round)
			succeeds(!rename(path(directory, "old1", rank), path(directory, "old2", rank)), "rename");
		succeeds(!rename(path(directory, "log", rank), path(directory, "old1", rank)), "rename");
	}
}

/* Files of names that hold no rank get one by a link, a directory by a rename. */
static void own(const char *directory, int rank)
{
	char name[16], temporary[4096];
	for (int k = 0; k < 3; k++) {
		snprintf(temporary, sizeof temporary, "%s/tmpXXXXXX", directory);
		snprintf(name, sizeof name, "final%d", k);
		int file = mkstemp(temporary);
		succeeds(file >= 0, "mkstemp");
		for (int i = 0; i < 2; i++)
			succeeds(write(file, buffer, 500) == 500, "write");
		close(file);
		succeeds(!link(temporary, path(directory, name, rank)) && !unlink(temporary), "link");
		file = opened(path(directory, name, rank), O_RDONLY);
		for (int i = 0; i < 2; i++)
			succeeds(read(file, buffer, 500) == 500, "read");
		close(file);
	}
	snprintf(temporary, sizeof temporary, "%s/dirXXXXXX", directory);
	succeeds(!!mkdtemp(temporary) && !rename(temporary, path(directory, "made", rank)), "rename");
}

/* Any blocks of the part of the rank, as many as no other rank reads. */
static void uneven(const char *directory, int rank)
{
	char name[4096];
	snprintf(name, sizeof name, "%s/data", directory);
	int file = opened(name, O_RDONLY);
	for (int i = 0; i < READS + rank % 3; i++)
		succeeds(pread(file, buffer, BLOCK, (long)BLOCK * (PART * (long)rank + any(PART))) == BLOCK, "read");
	close(file);
}

/* What is written and what is read have sizes in turn, each of their own. */
static void both(const char *directory, int rank)
{
	int file = opened(path(directory, "both", rank), O_RDWR | O_CREAT | O_TRUNC);
	long written = 0, taken = 0;
	for (int i = 0; i < RECORDS; i++) {
		int size = i % 2 ? 200 : 100;
		succeeds(pwrite(file, buffer, size, written) == size, "write");
		written += size;
		size = 50 + i % 3 * 10;
		succeeds(pread(file, buffer, size, taken) == size, "read");
		taken += size;
	}
	close(file);
}

static void read_all(const char *name)
{
	int file = opened(name, O_RDONLY);
	while (read(file, buffer, 1 << 16) > 0)
		;
	close(file);
}

/* Files that are there, of other lengths each, are read to their ends. */
static void lengths(const char *directory, int rank)
{
	char name[16];
	for (int k = 0; k < 3; k++) {
		snprintf(name, sizeof name, "in%d", k);
		read_all(path(directory, name, rank));
	}
}

/* Files that are there get another name before they are read, or more bytes. */
static void before(const char *directory, int rank)
{
	succeeds(!rename(path(directory, "in1", rank), path(directory, "other", rank)), "rename");
	read_all(path(directory, "other", rank));
	int file = opened(path(directory, "in2", rank), O_WRONLY | O_APPEND);
	succeeds(write(file, buffer, 100) == 100, "write");
	close(file);
	read_all(path(directory, "in2", rank));
}

static int ranks = 1;

static void writes(int file, int size, long offset)
{
	succeeds(pwrite(file, buffer, size, offset) == size, "write");
}

/* Arrays of all ranks behind each other in one file; records behind a header that is written each time the file is opened. */
static void runs(const char *directory, int rank)
{
	char name[4096];
	snprintf(name, sizeof name, "%s/arrays", directory);
	int file = opened(name, O_WRONLY | O_CREAT);
	writes(file, 4000, 4000L * rank);
	writes(file, 3000, 4000L * ranks + 6000L * rank);
	writes(file, 3000, 4000L * ranks + 6000L * rank + 3000);
	close(file);
	for (int k = 0; k < 3; k++) {
		file = opened(path(directory, "records", rank), O_WRONLY | O_CREAT);
		writes(file, 64, 0);
		for (int i = 0; i < 5; i++)
			writes(file, 1000, 64 + 5000L * k + 1000L * i);
		close(file);
	}
}

/* Requests of a size that no other rank has. */
static void sized(const char *directory, int rank)
{
	char name[4096];
	snprintf(name, sizeof name, "%s/parts", directory);
	int file = opened(name, O_WRONLY | O_CREAT), size = 100 * (rank < 2 ? rank + 1 : 3);
	for (int i = 0; i < 8; i++)
		writes(file, size, (long)BLOCK * PART * rank + i * size);
	close(file);
}

static void makes(const char *name, int size)
{
	int file = opened(name, O_WRONLY | O_CREAT | O_TRUNC);
	writes(file, size, 0);
	close(file);
}

/* Directories that get another name when all is in them, one after the other. */
static void published(const char *directory, int rank)
{
	char name[16], below[4096];
	for (int k = 0; k < 3; k++) {
		succeeds(!mkdir(path(directory, "draft", rank), 0755), "mkdir");
		snprintf(below, sizeof below, "%s/part", path(directory, "draft", rank));
		succeeds(!mkdir(below, 0755), "mkdir");
		strcat(below, "/bytes");
		makes(below, 2000);
		snprintf(below, sizeof below, "%s/list", path(directory, "draft", rank));
		makes(below, 500);
		snprintf(name, sizeof name, "run%d", k);
		snprintf(below, sizeof below, "%s", path(directory, "draft", rank));
		succeeds(!rename(below, path(directory, name, rank)), "rename");
		snprintf(below, sizeof below, "%s/part/bytes", path(directory, name, rank));
		read_all(below);
	}
}

/* A file that is made as long as the parts of all ranks are, and one that is cut before it is read. */
static void cut(const char *directory, int rank)
{
	char name[4096];
	snprintf(name, sizeof name, "%s/parts", directory);
	int file = opened(name, O_WRONLY | O_CREAT);
	succeeds(!ftruncate(file, 1000L * ranks), "ftruncate");
	writes(file, 100, 1000L * rank);
	close(file);
	makes(path(directory, "log", rank), 2000);
	file = opened(path(directory, "log", rank), O_RDWR);
	succeeds(!ftruncate(file, 700), "ftruncate");
	close(file);
	read_all(path(directory, "log", rank));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *mode;
		void (*does)(const char *directory, int rank);
	} modes[] = {
		{ "renamed", renamed }, { "reread", reread }, { "parts", parts }, { "turns", turns }, { "backwards", backwards },
		{ "ways", ways }, { "own", own }, { "uneven", uneven }, { "both", both },
		{ "lengths", lengths }, { "before", before }, { "runs", runs }, { "sized", sized }, { "published", published }, { "cut", cut },
	};
	ranks = argc > 3 ? atoi(argv[3]) : 1;
	for (int rank = 0; rank < ranks; rank++) {
		if (fork())
			continue;
		state = 12345 + rank;
		for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
			if (!strcmp(argv[1], modes[i].mode))
				modes[i].does(argv[2], rank);
		_exit(0);
	}
	int status, failed = 0;
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
