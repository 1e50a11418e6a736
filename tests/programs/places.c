/* Random walks over links, `..`, working directories, roots, mounts and renames of open directories.
 *
 * places NOTES DIRECTORY SEED STEPS MODE: an actor makes one noted call a step; before it come opens that find out, through the
 * kernel, where its paths lead. A witness that stays in the first root and mount namespace reads the names of those
 * descriptors in /proc and writes them down. The noted call follows close(100000 + step), which fails.
 * MODE is a sum: 1 changes roots, 2 a mount namespace of its own (4: with a user namespace). Mounts that are attached nowhere
 * are made where that is allowed; with 2 the actor attaches some, changes its root for one (pivot_root), and goes back and forth
 * between the namespaces (setns).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK 100000
#define CANNOT 77

enum { NAME, LINK, TARGET };
struct side { int fd; char last[256]; };
struct message { int step; char call[24], text[1300]; struct side side[2]; int result, trees; unsigned long tree[32]; };

static unsigned long long state;
static unsigned below(unsigned limit) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(state >> 33) % limit;
}

/* --- the witness --- */
static char work[4096], found[16][8192];
static int matches;
static dev_t wanted_device;
static ino_t wanted_inode;

/* The names under `directory` of what has the wanted inode; mounts of another namespace are not seen here. */
static void search(const char *directory) {
    struct stat stat;
    if (lstat(directory, &stat)) return;
    if (stat.st_dev == wanted_device && stat.st_ino == wanted_inode && matches < 16) strcpy(found[matches++], directory);
    DIR *entries = S_ISDIR(stat.st_mode) ? opendir(directory) : NULL;
    struct dirent *entry;
    while (entries && (entry = readdir(entries))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        char next[8192];
        if (snprintf(next, sizeof next, "%s/%s", directory, entry->d_name) < (int)sizeof next) search(next);
    }
    if (entries) closedir(entries);
}

static void put(FILE *out, const char *key, const char *name, const char *last) {
    fprintf(out, ",\"%s\":\"", key);
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) fprintf(out, "%02x", *c);
    if (*last) {
        if (strcmp(name, "/")) fprintf(out, "2f");
        for (const unsigned char *c = (const unsigned char *)last; *c; c++) fprintf(out, "%02x", *c);
    }
    fputc('"', out);
}

/* The number of the mount that a descriptor of the actor lies in. */
static unsigned long mount_of(pid_t actor, int fd) {
    char path[64], line[256];
    unsigned long number = 0;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", actor, fd);
    FILE *info = fopen(path, "r");
    while (info && fgets(line, sizeof line, info)) sscanf(line, "mnt_id: %lu", &number);
    if (info) fclose(info);
    return number;
}

/* Whether a mount is one of this namespace. */
static int is_here(unsigned long number) {
    char line[4096];
    unsigned long one = 0;
    int found = 0;
    FILE *info = fopen("/proc/self/mountinfo", "r");
    while (info && fgets(line, sizeof line, info)) found |= sscanf(line, "%lu", &one) == 1 && one == number;
    if (info) fclose(info);
    return found;
}

/* Whether the actor made the mount of (a copy of) something inside of the directory; no `..` leads out of it. */
static int is_own(const struct message *message, unsigned long number) {
    for (int i = 0; i < message->trees; i++) if (message->tree[i] == number) return 1;
    return 0;
}

/* Nothing outside of the directory may be changed. */
static int is_inside(const struct message *message, pid_t actor) {
    for (int i = 0; i < 2; i++) {
        char link[64], name[8192];
        if (message->side[i].fd < 0) continue;
        snprintf(link, sizeof link, "/proc/%d/fd/%d", actor, message->side[i].fd);
        ssize_t length = readlink(link, name, sizeof name - 1);
        size_t bytes = strlen(work);
        if (is_own(message, mount_of(actor, message->side[i].fd))) continue;
        if (length < (ssize_t)bytes || memcmp(name, work, bytes) || (length > (ssize_t)bytes && name[bytes] != '/')) return 0;
    }
    return 1;
}

static void witness(int from, int to, pid_t actor, const char *notes) {
    FILE *out = fopen(notes, "w");
    struct message message;
    struct stat own, other;
    if (!out || stat("/proc/self/ns/mnt", &own)) exit(98);
    while (read(from, &message, sizeof message) == sizeof message) {
        char link[64], name[8192];
        if (!is_inside(&message, actor) || message.step < 0) {
            if (write(to, is_inside(&message, actor) ? "y" : "n", 1) != 1) exit(96);
            continue;
        }
        snprintf(link, sizeof link, "/proc/%d/ns/mnt", actor);
        unsigned long space = !stat(link, &other) && other.st_ino != own.st_ino ? other.st_ino : 0;
        fprintf(out, "{\"step\":%d,\"call\":\"%s\",\"space\":%lu,\"text\":\"", message.step, message.call, space);
        for (const unsigned char *c = (const unsigned char *)message.text; *c; c++) fprintf(out, "%02x", *c);
        fputc('"', out);
        for (int i = 0; i < 2; i++) {
            if (message.side[i].fd < 0) continue;
            snprintf(link, sizeof link, "/proc/%d/fd/%d", actor, message.side[i].fd);
            ssize_t length = readlink(link, name, sizeof name - 1);
            if (length < 0) exit(97);
            name[length] = 0;
            put(out, i ? "path2" : "path", name, message.side[i].last);
            unsigned long mount = mount_of(actor, message.side[i].fd);
            int odd = is_own(&message, mount) || (!space && !is_here(mount));
            if (odd) fprintf(out, ",\"odd%s\":1", i ? "2" : "");
            struct stat status;
            if ((space || odd) && !stat(link, &status)) {
                wanted_device = status.st_dev, wanted_inode = status.st_ino;
                matches = 0;
                search(work);
                for (int j = 0; j < matches; j++) {
                    char key[16];
                    snprintf(key, sizeof key, "host%s%d", i ? "2" : "", j);
                    put(out, key, found[j], message.side[i].last);
                }
            }
        }
        fprintf(out, "}\n");
        fflush(out);
        if (write(to, "y", 1) != 1) exit(96);
    }
    fclose(out);
}

/* --- the actor --- */
static int out_fd, in_fd, step, mode, jailed;
static struct message message;
static char given[2][600];
static int folders[3] = {-1, -1, -1};
/* The mount namespaces, 0 being the first; where the actor is, and whether the second has another root. */
static int spaces[2] = {-1, -1}, space, pivoted;

/* Whether the witness allows what is to come; it notes it then, unless it is only asked. */
static int tell(void) {
    char answer;
    if (write(out_fd, &message, sizeof message) != sizeof message || read(in_fd, &answer, 1) != 1) exit(95);
    return answer == 'y';
}

static int ask(void) {
    int now = message.step;
    message.step = -1;
    int allowed = tell();
    message.step = now;
    return allowed;
}

static const char *const names[] = {"d0", "d1", "d2", "d3", "l0", "l1", "l2", "l3", "f0", "f1", "x"};
static const char *name_of(unsigned kinds) { return names[below(kinds)]; }

static void random_path(char *path) {
    *path = 0;
    switch (below(9)) {
    case 0: strcat(path, "/proc/self/cwd/"); break;
    case 1: case 2: strcat(strcat(path, jailed ? "" : work), "/"); break;
    case 3: strcat(path, "/proc/self/root/"); if (!jailed) strcat(strcat(path, work + 1), "/"); break;
    case 4: if (folders[0] >= 0) sprintf(path, "/proc/self/fd/%d/", folders[0]); break;
    case 5: strcat(path, "/../"); if (!jailed) strcat(strcat(path, work + 1), "/"); break;
    }
    int parts = 1 + below(4);
    for (int i = 0; i < parts; i++) {
        switch (below(8)) {
        case 0: strcat(path, ".."); break;
        case 1: strcat(path, "."); break;
        case 2: case 3: strcat(path, names[4 + below(4)]); break;
        default: strcat(path, name_of(11)); break;
        }
        if (i + 1 < parts) strcat(path, below(12) ? "/" : "//");
    }
    if (!below(15)) strcat(path, "/");
}

/* Finds out where a path leads that is relative to `at`. */
static struct side side_of(int at, const char *path, int meaning, int root) {
    struct side side = {.fd = -1};
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = root ? RESOLVE_IN_ROOT : 0};
    if (meaning != NAME) {
        if (meaning == LINK) how.flags |= O_NOFOLLOW;
        side.fd = syscall(SYS_openat2, at, path, &how, sizeof how);
        if (side.fd >= 0) return side;
        how.flags &= ~O_NOFOLLOW;
    }
    char parent[600];
    strcpy(parent, path);
    size_t end = strlen(parent);
    while (end && parent[end - 1] == '/') parent[--end] = 0;
    char *slash = strrchr(parent, '/');
    const char *last = slash ? slash + 1 : parent;
    if (!*last || !strcmp(last, ".") || !strcmp(last, "..") || (meaning != NAME && path[strlen(path) - 1] == '/')) return side;
    strcpy(side.last, last);
    if (slash) slash[1] = 0; else strcpy(parent, ".");
    how.flags |= O_DIRECTORY;
    side.fd = syscall(SYS_openat2, at, parent, &how, sizeof how);
    return side;
}

static void announce(const char *call) {
    message.step = step;
    strcpy(message.call, call);
    snprintf(message.text, sizeof message.text, "%s %s", given[0], given[1]);
}

#define FORGET() (message.side[0].fd = message.side[1].fd = -1, message.side[0].last[0] = message.side[1].last[0] = 0)

/* One call with truth found before it. */
#define BEFORE(call, expression)                              \
    do {                                                      \
        announce(call);                                       \
        if (tell()) {                                         \
            syscall(SYS_close, MARK + step);                  \
            (void)!(expression);                              \
        }                                                     \
        for (int i_ = 0; i_ < 2; i_++)                        \
            if (message.side[i_].fd >= 0) syscall(SYS_close, message.side[i_].fd); \
    } while (0)

static void put_folder(int fd) {
    unsigned place = below(3);
    if (folders[place] >= 0) close(folders[place]);
    folders[place] = fd;
}

static int call3(long number, long a, long b, long c) { return syscall(number, a, b, c); }

static int owns(int tree) {
    struct statx status;
    if (tree < 0 || message.trees == 32 || statx(tree, "", AT_EMPTY_PATH, STATX_MNT_ID, &status)) return 0;
    message.tree[message.trees++] = status.stx_mnt_id;
    return 1;
}

static char *place_of(char *path, const char *name) {
    sprintf(path, "%s/%s", jailed ? "" : work, name);
    return path;
}

/* A copy of a directory, or an empty file system, that is attached nowhere or somewhere in the actor's own namespace. */
static void makes_tree(void) {
    char path[8192];
    int tree;
    if (below(3)) tree = call3(SYS_open_tree, AT_FDCWD, (long)place_of(path, name_of(4)), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    else {
        int made = call3(SYS_fsopen, (long)"tmpfs", FSOPEN_CLOEXEC, 0);
        if (made < 0 || syscall(SYS_fsconfig, made, FSCONFIG_CMD_CREATE, NULL, NULL, 0)) return;
        tree = call3(SYS_fsmount, made, FSMOUNT_CLOEXEC, 0);
        close(made);
        if (tree >= 0 && (mkdirat(tree, "d1", 0755) || mkdirat(tree, "d1/d2", 0755) || symlinkat("d1/d2", tree, "l0"))) return;
    }
    if (!owns(tree)) return;
    if (mode & 2 && space == 1 && !below(3))
        syscall(SYS_move_mount, tree, "", AT_FDCWD, place_of(path, name_of(4)), MOVE_MOUNT_F_EMPTY_PATH);
    put_folder(tree);
}

/* Another root for the whole namespace: a copy of a directory. */
static void pivots(void) {
    char from[5000], old[8192];
    place_of(from, name_of(4));
    if (jailed || mount(from, from, NULL, MS_BIND, NULL)) return;
    int tree = open(from, O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(old, sizeof old, "%s/d3", from);
    if (!owns(tree) || call3(SYS_pivot_root, (long)from, (long)old, 0)) return;
    jailed = pivoted = 1;
    if (chdir("/") || (below(2) && umount2("/d3", MNT_DETACH))) return;
}

static void changes_space(void) {
    int other = !space;
    if (spaces[other] < 0 || setns(spaces[other], CLONE_NEWNS)) return;
    space = other;
    jailed = space && pivoted;
    if (chdir(jailed ? "/" : work)) _exit(93);
}

/* One call that opens; the descriptor tells. */
static void opens(int at) {
    static const int flags[] = {O_RDONLY, O_RDONLY, O_RDWR | O_CREAT, O_WRONLY | O_CREAT, O_RDONLY | O_NOFOLLOW, O_PATH, O_PATH | O_NOFOLLOW,
        O_RDONLY | O_DIRECTORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, O_RDWR | O_TMPFILE, O_RDWR | O_CREAT | O_EXCL};
    static const int resolve[] = {0, 0, RESOLVE_BENEATH, RESOLVE_IN_ROOT, RESOLVE_IN_ROOT, RESOLVE_NO_SYMLINKS};
    struct open_how how = {.flags = flags[below(11)] | O_NONBLOCK, .resolve = resolve[below(6)]};
    if (how.flags & O_CREAT || (how.flags & O_TMPFILE) == O_TMPFILE) how.mode = 0644;
    if (how.flags & O_PATH) how.flags &= ~O_NONBLOCK;
    int two = below(3) == 0;
    FORGET();
    int nofollow = how.flags & O_NOFOLLOW || (how.flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
    struct side before = side_of(at, given[0], nofollow ? LINK : TARGET, two && how.resolve == RESOLVE_IN_ROOT);
    message.side[0] = before;
    int allowed = ask();
    FORGET();
    if (!allowed) {
        if (before.fd >= 0) close(before.fd);
        return;
    }
    announce(two ? "openat2" : "openat");
    syscall(SYS_close, MARK + step);
    int fd = two ? syscall(SYS_openat2, at, given[0], &how, sizeof how)
                 : syscall(SYS_openat, at, given[0], how.flags, how.mode);
    if (fd >= 0) message.side[0].fd = fd;
    else if (!two) message.side[0] = before;
    message.result = fd;
    tell();
    if (before.fd >= 0) close(before.fd);
    struct stat status;
    if (fd >= 0 && !fstat(fd, &status) && S_ISDIR(status.st_mode) && below(2)) put_folder(fd);
    else if (fd >= 0) close(fd);
}

static void one(void) {
    int at = below(3) ? AT_FDCWD : folders[below(3)];
    if (at < 0) at = AT_FDCWD;
    int at2 = below(2) ? AT_FDCWD : at;
    struct stat status;
    char buffer[4096];
    given[1][0] = 0;
    random_path(given[0]);
    FORGET();
#define ONE(meaning) (message.side[0] = side_of(at, given[0], meaning, 0))
    switch (below(29)) {
    case 0: case 1: case 2: case 3: case 4: opens(at); break;
    case 5: ONE(TARGET); BEFORE("newfstatat", syscall(SYS_newfstatat, at, given[0], &status, 0)); break;
    case 6: ONE(LINK); BEFORE("newfstatat", syscall(SYS_newfstatat, at, given[0], &status, AT_SYMLINK_NOFOLLOW)); break;
    case 7: at = AT_FDCWD; ONE(TARGET); BEFORE("stat", syscall(SYS_stat, given[0], &status)); break;
    case 8: at = AT_FDCWD; ONE(LINK); BEFORE("lstat", syscall(SYS_lstat, given[0], &status)); break;
    case 9: at = AT_FDCWD; ONE(TARGET); BEFORE("chown", syscall(SYS_chown, given[0], -1, -1)); break;
    case 10: at = AT_FDCWD; ONE(TARGET); BEFORE("truncate", syscall(SYS_truncate, given[0], 10L)); break;
    case 11: ONE(LINK); BEFORE("readlinkat", syscall(SYS_readlinkat, at, given[0], buffer, sizeof buffer)); break;
    case 12: case 13: ONE(NAME); BEFORE("mkdirat", syscall(SYS_mkdirat, at, given[0], 0755)); break;
    case 14: ONE(NAME); BEFORE("unlinkat", syscall(SYS_unlinkat, at, given[0], below(3) ? 0 : AT_REMOVEDIR)); break;
    case 15: case 16: case 17: {
        random_path(given[1]);
        ONE(NAME);
        message.side[1] = side_of(at2, given[1], NAME, 0);
        BEFORE("renameat2", syscall(SYS_renameat2, at, given[0], at2, given[1], below(6) ? 0 : 2));
        break;
    }
    case 18: {
        random_path(given[1]);
        ONE(LINK);
        message.side[1] = side_of(at2, given[1], NAME, 0);
        BEFORE("linkat", syscall(SYS_linkat, at, given[0], at2, given[1], 0));
        break;
    }
    case 19: case 20: {
        char target[600];
        random_path(target);
        ONE(NAME);
        BEFORE("symlinkat", syscall(SYS_symlinkat, target, at, given[0]));
        break;
    }
    case 21: case 22: at = AT_FDCWD; ONE(TARGET); BEFORE("chdir", syscall(SYS_chdir, given[0])); break;
    case 23: if (folders[0] >= 0) { strcpy(given[0], "."); at = folders[0]; ONE(TARGET); BEFORE("fchdir", syscall(SYS_fchdir, folders[0])); } break;
    case 24: ONE(TARGET); BEFORE("faccessat", syscall(SYS_faccessat, at, given[0], 0)); break;
    case 25: /* another process renames */
        random_path(given[1]);
        ONE(NAME);
        message.side[1] = side_of(at2, given[1], NAME, 0);
        if (ask() && !fork()) {
            syscall(SYS_renameat2, at, given[0], at2, given[1], 0);
            _exit(0);
        }
        while (wait(NULL) > 0);
        for (int i = 0; i < 2; i++) if (message.side[i].fd >= 0) close(message.side[i].fd);
        break;
    case 26:
        if (mode & 2 && space == 1 && below(2)) {
            char from[8192], to[8192];
            sprintf(from, "%s/%s", jailed ? "" : work, name_of(4));
            sprintf(to, "%s/%s", jailed ? "" : work, name_of(4));
            if (below(3) == 0) mount("none", to, "tmpfs", 0, "size=64k");
            else if (below(4)) mount(from, to, NULL, MS_BIND, NULL);
            else umount2(to, 0);
        } else if (mode & 1 && !below(3) && jailed < 2) {
            at = AT_FDCWD;
            ONE(TARGET);
            int works = 0;
            BEFORE("chroot", works = syscall(SYS_chroot, given[0]) == 0);
            jailed += works;
        }
        break;
    case 27: if (!below(2)) makes_tree(); break;
    case 28:
        if (!(mode & 2) || below(3)) break;
        if (mode & 1 && space == 1 && !pivoted && !below(4)) pivots();
        else changes_space();
        break;
    }
}

static void make_tree(void) {
    char path[8192], target[600];
    if (chdir(work)) exit(94);
    for (int i = 0; i < 4; i++) {
        mkdir(names[i], 0755);
        for (int j = 0; j < 4; j++) {
            sprintf(path, "%s/%s", names[i], names[j]);
            mkdir(path, 0755);
        }
        sprintf(path, "%s/f%d", names[below(4)], i % 2);
        close(open(path, O_WRONLY | O_CREAT, 0644));
        sprintf(path, "%s/%s", names[below(4)], names[4 + i]);
        random_path(target);
        if (symlink(target, path)) continue;
        sprintf(path, "%s", names[4 + i]);
        sprintf(target, "%s/%s", name_of(4), name_of(4));
        (void)!symlink(target, path);
    }
}

static void write_text(const char *file, const char *text) {
    int fd = open(file, O_WRONLY);
    if (fd >= 0) (void)!write(fd, text, strlen(text)), close(fd);
}

int main(int argc, char **argv) {
    if (argc < 6) return 98;
    strcpy(work, argv[2]);
    state = strtoull(argv[3], NULL, 10) * 2654435761u + 1;
    int steps = atoi(argv[4]);
    mode = atoi(argv[5]);
    int there[2], back[2];
    if (pipe(there) || pipe(back)) return 98;
    make_tree();
    pid_t actor = fork();
    if (actor) {
        close(there[1]);
        close(back[0]);
        witness(there[0], back[1], actor, argv[1]);
        int status;
        waitpid(actor, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
    }
    close(there[0]);
    close(back[1]);
    out_fd = there[1], in_fd = back[0];
    if (mode & 6) {
        char map[64];
        int uid = getuid(), gid = getgid();
        spaces[0] = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
        if (unshare(CLONE_NEWNS | (mode & 4 ? CLONE_NEWUSER : 0))) return CANNOT;
        if (mode & 4) {
            write_text("/proc/self/setgroups", "deny");
            sprintf(map, "0 %d 1", uid);
            write_text("/proc/self/uid_map", map);
            sprintf(map, "0 %d 1", gid);
            write_text("/proc/self/gid_map", map);
        }
        if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) return CANNOT;
        spaces[1] = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
        space = 1;
        mode |= 2;
    }
    for (step = 0; step < steps; step++) one();
    return 0;
}
