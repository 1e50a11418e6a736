/* What a program did, noted while it does it and written down afterwards.
 *
 * A program of this directory performs a known number of operations and notes each with what is known of it. It is called
 * with the file to write its notes to (JSON lines) and an empty directory to work in, both absolute. Operations of a
 * thread count from begin() to end(), which mark the span with a call on a path that does not exist. Calls go past
 * the C library where that would choose another one.
 */
#ifndef TRUTH_H
#define TRUTH_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define UNKNOWN (-0x7fffffffffffffffLL) /* the trail must say NULL */
#define ANY (-0x7ffffffffffffffeLL)     /* whatever the trail says */

struct note {
    const char *call;
    const char *path;   /* absolute; NULL: the trail must say NULL */
    const char *path2;  /* NULL: the trail must say NULL */
    const char *like;   /* instead of path: what the name begins with */
    const char *error;  /* NULL: it succeeded */
    long long fd, offset, size, requested;
    int unfinished; /* its end comes after that of the program */
    int tid;
};

#define MOST_NOTES 2000
#define NAME_BYTES 600
struct notes {
    int number;
    struct note note[MOST_NOTES];
    char names[MOST_NOTES][2][NAME_BYTES];
};
static struct notes *notes; /* shared with children */
static const char *notes_file, *directory;

static inline void fail(const char *what, long got) {
    fprintf(stderr, "%s: unexpected result %ld (%s)\n", what, got, strerror(errno));
    _exit(99);
}

/* Ends the program unless a call did what it shall. */
#define must(expected, expression)                                   \
    do {                                                             \
        long got_ = (long)(expression);                              \
        if (got_ != (long)(expected)) fail(#expression, got_);       \
    } while (0)

/* Ends the program unless a call failed with that error. */
#define must_fail(number, expression)                                \
    do {                                                             \
        long got_ = (long)(expression);                              \
        if (got_ != -1 || errno != (number)) fail(#expression, got_);\
    } while (0)

static inline void note_down(struct note note) {
    int place = __atomic_fetch_add(&notes->number, 1, __ATOMIC_SEQ_CST);
    if (place >= MOST_NOTES) fail("too many notes", place);
    /* Children may note names that only they know. */
    const char **names[2] = {&note.path, &note.path2};
    for (int i = 0; i < 2; i++)
        if (*names[i]) *names[i] = strcpy(notes->names[place][i], *names[i]);
    note.tid = syscall(SYS_gettid);
    notes->note[place] = note;
}

/* did(.call = "read", .path = p, .offset = 0, .size = 5); what is left out must be NULL, but fd and requested may be anything. */
#define did(...)                                                                                                      \
    note_down((struct note){.fd = ANY, .offset = UNKNOWN, .size = UNKNOWN, .requested = ANY, __VA_ARGS__})

static inline void begin(void) { syscall(SYS_faccessat, AT_FDCWD, "/truth/begin", 0); }
static inline void end(void) { syscall(SYS_faccessat, AT_FDCWD, "/truth/end", 0); }

/* A path in the directory to work in. */
static inline char *in(const char *name) {
    char *path = malloc(strlen(directory) + strlen(name) + 2);
    sprintf(path, "%s/%s", directory, name);
    return path;
}

/* A new file with so many bytes, made before the operations count. */
static inline char *given(const char *name, size_t bytes) {
    char *path = in(name), *content = calloc(1, bytes + 1);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0) fail(path, fd);
    if (bytes) must(bytes, write(fd, content, bytes));
    close(fd);
    free(content);
    return path;
}

/* Opens a file without a note. */
static inline int opened(const char *path, int flags) {
    int fd = syscall(SYS_openat, AT_FDCWD, path, flags, 0644);
    if (fd < 0) fail(path, fd);
    did(.call = "openat", .path = path, .fd = fd);
    return fd;
}

static inline void closed(int fd, const char *path) {
    must(0, syscall(SYS_close, fd));
    did(.call = "close", .path = path, .fd = fd);
}

static inline void start(int argc, char **argv) {
    if (argc < 3) exit(98);
    notes_file = argv[1];
    directory = argv[2];
    notes = mmap(0, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (notes == MAP_FAILED) exit(98);
}

static inline void put_hex(FILE *out, const char *key, const char *name) {
    fprintf(out, ",\"%s\":", key);
    if (!name) {
        fputs("null", out);
        return;
    }
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) fprintf(out, "%02x", *c);
    fputc('"', out);
}

static inline void put_number(FILE *out, const char *key, long long number) {
    if (number == UNKNOWN) fprintf(out, ",\"%s\":null", key);
    else if (number != ANY) fprintf(out, ",\"%s\":%lld", key, number);
}

/* Writes the notes: paths as hexadecimal bytes, what may be anything not at all. */
static inline int done(void) {
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    for (int i = 0; i < notes->number; i++) {
        const struct note *note = &notes->note[i];
        fprintf(out, "{\"tid\":%d,\"call\":\"%s\"", note->tid, note->call);
        if (note->like) fprintf(out, ",\"like\":\"%s\"", note->like);
        else put_hex(out, "path", note->path);
        put_hex(out, "path2", note->path2);
        put_number(out, "fd", note->fd);
        put_number(out, "offset", note->offset);
        put_number(out, "size", note->size);
        put_number(out, "requested", note->requested);
        if (note->unfinished) fputs(",\"unfinished\":true", out);
        if (note->error) fprintf(out, ",\"errno\":\"%s\"}\n", note->error);
        else fputs(",\"errno\":null}\n", out);
    }
    fclose(out);
    int fd = open(notes_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, text, bytes) != (ssize_t)bytes) exit(98);
    close(fd);
    return 0;
}
#endif
