/* A child that lets its parent wait: `talk HOW` where HOW says what they talk through. The child begins 200 ms late, and
   says its word 200 ms later; only then does the parent go on. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(int is_good) {
    if (!is_good)
        abort();
}

static void later(void) {
    usleep(200000);
}

static char byte;

/* The child stays for a while afterwards, so that no signal of its end interrupts the parent. */
static void child_says(int fd) {
    later();
    check(write(fd, "!", 1) == 1);
    later();
    _exit(0);
}

static void pair(const char *how) {
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    if (fork() == 0) {
        close(ends[0]);
        later();
        /* No word at all: the end is the word. */
        if (!strcmp(how, "close") || !strcmp(how, "shutdown")) {
            later();
            check((*how == 'c' ? close(ends[1]) : shutdown(ends[1], SHUT_WR)) == 0);
            later();
            _exit(0);
        }
        child_says(ends[1]);
    }
    close(ends[1]);
    if (!strcmp(how, "poll")) {
        struct pollfd wanted = {.fd = ends[0], .events = POLLIN};
        check(poll(&wanted, 1, -1) == 1);
    }
    if (!strcmp(how, "select")) {
        fd_set wanted;
        FD_ZERO(&wanted);
        FD_SET(ends[0], &wanted);
        check(select(ends[0] + 1, &wanted, NULL, NULL, NULL) == 1);
    }
    check(read(ends[0], &byte, 1) >= 0);
}

static void connection(int family, struct sockaddr *address, socklen_t length, int flags) {
    int server = socket(family, SOCK_STREAM, 0);
    check(bind(server, address, length) == 0 && listen(server, 1) == 0);
    check(getsockname(server, address, &length) == 0);
    if (fork() == 0) {
        later();
        int client = socket(family, SOCK_STREAM | flags, 0);
        if (family == AF_INET6) { /* the server listens for both kinds */
            struct sockaddr_in old = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                      .sin_port = ((struct sockaddr_in6 *)address)->sin6_port};
            close(client);
            client = socket(AF_INET, SOCK_STREAM, 0);
            check(connect(client, (struct sockaddr *)&old, sizeof old) == 0);
        } else {
            int done = connect(client, address, length);
            check(done == 0 || flags != 0);
            struct pollfd wanted = {.fd = client, .events = POLLOUT};
            check(poll(&wanted, 1, -1) == 1);
        }
        child_says(client);
    }
    int accepted = accept(server, NULL, NULL);
    check(read(accepted, &byte, 1) == 1);
}

static void fifo(void) {
    check(mkfifo("fifo", 0600) == 0);
    if (fork() == 0) {
        later();
        child_says(open("fifo", O_WRONLY));
    }
    int fd = open("fifo", O_RDONLY);
    check(read(fd, &byte, 1) == 1);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "listening"};
    struct sockaddr_in internet = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 both = {.sin6_family = AF_INET6};
    if (!strcmp(how, "local"))
        connection(AF_UNIX, (struct sockaddr *)&local, sizeof local, 0);
    else if (!strcmp(how, "internet"))
        connection(AF_INET, (struct sockaddr *)&internet, sizeof internet, 0);
    else if (!strcmp(how, "nonblocking"))
        connection(AF_INET, (struct sockaddr *)&internet, sizeof internet, SOCK_NONBLOCK);
    else if (!strcmp(how, "both")) {
        int try = socket(AF_INET6, SOCK_STREAM, 0);
        if (try < 0)
            return 77;
        close(try);
        connection(AF_INET6, (struct sockaddr *)&both, sizeof both, 0);
    } else if (!strcmp(how, "fifo"))
        fifo();
    else
        pair(how);
    check(wait(NULL) > 0);
    return 0;
}
