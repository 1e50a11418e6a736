/* Does to names and files what a file of commands says, one system call each: tests/identity/truth.py writes them and knows which file
 * each of them is about. Commands begin after a failed stat of "/iotrail-begin" and end before one of "/iotrail-end".
 *
 * usage: file_names COMMANDS */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 64, WORDS = 8 };

static int slots[SLOTS];

static int directory(const char *word) { return atoi(word) < 0 ? AT_FDCWD : slots[atoi(word)]; }

static void run(char **word) {
  struct stat found;
  char path[64];
  char buffer[4096];
  switch (*word[0]) {
    case 'o': slots[atoi(word[1])] = openat(directory(word[2]), word[4], atoi(word[3]), 0644); break;
    case 'p':
      snprintf(path, sizeof path, "/proc/self/fd/%d", slots[atoi(word[2])]);
      slots[atoi(word[1])] = openat(AT_FDCWD, path, O_RDWR);
      break;
    case 'w': if (write(slots[atoi(word[1])], "x", 1)) {} break;
    case 'd': slots[atoi(word[2])] = dup(slots[atoi(word[1])]); break;
    case 'c': close(slots[atoi(word[1])]); break;
    case 'L': syscall(SYS_link, word[1], word[2]); break;
    case 'l': linkat(directory(word[1]), word[2], directory(word[3]), word[4], atoi(word[5])); break;
    case 'q':
      snprintf(path, sizeof path, "/proc/self/fd/%d", slots[atoi(word[1])]);
      linkat(AT_FDCWD, path, directory(word[2]), word[3], AT_SYMLINK_FOLLOW);
      break;
    case 'e': linkat(slots[atoi(word[1])], "", directory(word[2]), word[3], AT_EMPTY_PATH); break;
    case 'S': syscall(SYS_symlink, word[1], word[2]); break;
    case 's': symlinkat(word[1], directory(word[2]), word[3]); break;
    case 'R': syscall(SYS_rename, word[1], word[2]); break;
    case 'r': syscall(SYS_renameat2, directory(word[1]), word[2], directory(word[3]), word[4], atoi(word[5])); break;
    case 'U': syscall(SYS_unlink, word[1]); break;
    case 'u': unlinkat(directory(word[1]), word[2], atoi(word[3])); break;
    case 'M': syscall(SYS_mkdir, word[1], 0755); break;
    case 'm': mkdirat(directory(word[1]), word[2], 0755); break;
    case 'k': if (chdir(word[1])) {} break;
    case 'K': if (fchdir(slots[atoi(word[1])])) {} break;
    case 't': fstatat(directory(word[1]), word[2], &found, atoi(word[3])); break;
    case 'f': syscall(SYS_fstat, slots[atoi(word[1])], &found); break;
    case 'g': if (syscall(SYS_getcwd, buffer, sizeof buffer)) {} break;
    default: exit(3);
  }
}

/* Runs commands up to the end, or to the end of a block that a child of its own runs. */
static char *block(char *line, int skip) {
  while (line && *line) {
    char *next = strchr(line, '\n');
    if (next) *next++ = 0;
    char copy[1024];
    char *word[WORDS] = {0};
    int count = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *at = strtok(copy, " "); at && count < WORDS; at = strtok(NULL, " ")) word[count++] = at;
    line = next;
    if (*word[0] == '}') return line;
    if (*word[0] != '{') {
      if (!skip) run(word);
      continue;
    }
    pid_t child = skip ? 1 : fork();
    if (child == 0) {
      block(line, 0);
      _exit(0);
    }
    if (!skip) waitpid(child, NULL, 0);
    line = block(line, 1);
  }
  return line;
}

int main(int argc, char **argv) {
  static char commands[1 << 20];
  if (argc < 2) return 2;
  int file = open(argv[1], O_RDONLY);
  ssize_t length = read(file, commands, sizeof commands - 1);
  close(file);
  if (length < 0) return 2;
  struct stat found;
  stat("/iotrail-begin", &found);
  block(commands, 0);
  stat("/iotrail-end", &found);
  return 0;
}
