/* Ranks whose transfers are at places that follow no law: places MODE DIRECTORY RANKS. Each rank is a process of its own. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS = 100, HOT = 3000, PAGES = 20000, RECORDS = 40 };

static char buffer[1 << 16];
static unsigned long state;

static unsigned long any(unsigned long end)
{
	state = state * 6364136223846793005UL + 1442695040888963407UL;
	return (state >> 33) % end;
}

static void moved(ssize_t bytes, ssize_t wanted)
{
	if (bytes != wanted) {
		perror("transfer");
		_exit(1);
	}
}

static int opened(const char *directory, const char *name, int flags)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	int file = open(path, flags, 0600);
	if (file < 0) {
		perror(path);
		_exit(1);
	}
	return file;
}

/* Each block of the rank once, in an order of its own. */
static void shuffled(const char *directory, int rank)
{
	int order[BLOCKS], file = opened(directory, "data", O_RDONLY);
	for (int i = 0; i < BLOCKS; i++)
		order[i] = i;
	for (int i = BLOCKS - 1; i > 0; i--) {
		int other = (int)any(i + 1), kept = order[i];
		order[i] = order[other], order[other] = kept;
	}
	for (int i = 0; i < BLOCKS; i++)
		moved(pread(file, buffer, BLOCK, (long)BLOCK * (rank * BLOCKS + order[i])), BLOCK);
	close(file);
}

/* Records, and then the header in front of them, which says how many there are. */
static void header(const char *directory, int rank)
{
	char name[32];
	snprintf(name, sizeof name, "own.%d", rank);
	int file = opened(directory, name, O_RDWR | O_CREAT | O_TRUNC);
	lseek(file, 128, SEEK_SET);
	for (int i = 0; i < RECORDS; i++)
		moved(write(file, buffer, 1000), 1000);
	lseek(file, 0, SEEK_SET);
	moved(write(file, buffer, 128), 128);
	close(file);
}

/* A few pages most of the time, and any other one now and then; of three, one follows the one before. */
static void hot(const char *directory)
{
	int file = opened(directory, "pages", O_RDONLY);
	long place = 0;
	for (int i = 0; i < HOT; i++) {
		if (i % 3 != 2)
			place = BLOCK * (long)(any(10) ? any(3) * 7 : any(PAGES));
		moved(pread(file, buffer, 512, place), 512);
		place += 512;
	}
	close(file);
}

int main(int argc, char **argv)
{
	int ranks = argc > 3 ? atoi(argv[3]) : 1;
	for (int rank = 0; rank < ranks; rank++) {
		if (fork())
			continue;
		state = 12345 + rank;
		if (!strcmp(argv[1], "shuffled"))
			shuffled(argv[2], rank);
		else if (!strcmp(argv[1], "header"))
			header(argv[2], rank);
		else
			hot(argv[2]);
		_exit(0);
	}
	int status, failed = 0;
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
