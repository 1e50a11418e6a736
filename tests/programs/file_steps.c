/* Does what its arguments say: `read F`, `new F SIZE` (emptied), `append F SIZE`, `over F SIZE` (in place), `move F G`, `link F G`, `remove F`. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char data[4096];

static int is(const char *word, const char *step) { return strcmp(word, step) == 0; }

static void put(const char *name, int flags, const char *size) {
    int file = open(name, flags | O_CREAT, 0644);
    if (file < 0 || write(file, data, (size_t)atoi(size)) != atoi(size) || close(file)) perror(name), exit(1);
}

static void read_all(const char *name) {
    int file = open(name, O_RDONLY);
    if (file < 0) perror(name), exit(1);
    while (read(file, data, 7) > 0) {}
    close(file);
}

int main(int count, char **words) {
    int failed = 0;
    (void)count;
    for (words++; *words && !failed; words++) {
        const char *step = *words, *name = *++words;
        if (is("read", step)) read_all(name);
        else if (is("new", step)) put(name, O_WRONLY | O_TRUNC, *++words);
        else if (is("append", step)) put(name, O_WRONLY | O_APPEND, *++words);
        else if (is("over", step)) put(name, O_WRONLY, *++words);
        else if (is("move", step)) failed = rename(name, *++words);
        else if (is("link", step)) failed = link(name, *++words);
        else if (is("remove", step)) failed = unlink(name);
        else failed = 1;
    }
    if (failed) perror("file_steps");
    return failed;
}
