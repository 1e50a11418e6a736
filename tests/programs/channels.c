/* Pipes, sockets of three kinds, descriptors sent over a socket, and what has a name but no file. */
#include "truth.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>

static char buffer[1000];

static void pipes(void) {
    int ends[2];
    begin();
    must(0, syscall(SYS_pipe2, ends, O_CLOEXEC));
    did(.call = "pipe2", .like = "pipe:");
    must(300, syscall(SYS_write, ends[1], buffer, 300L));
    did(.call = "write", .like = "pipe:", .fd = ends[1], .size = 300);
    must(300, syscall(SYS_read, ends[0], buffer, 1000L));
    did(.call = "read", .like = "pipe:", .fd = ends[0], .size = 300, .requested = 1000);
    must_fail(ESPIPE, syscall(SYS_lseek, ends[0], 0L, SEEK_CUR));
    did(.call = "lseek", .like = "pipe:", .fd = ends[0], .error = "ESPIPE");
    end();
}

static void pairs(void) {
    int ends[2];
    char *path = given("sent", 100);
    begin();
    must(0, syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, ends));
    did(.call = "socketpair", .like = "", .path2 = "socket:");
    must(200, syscall(SYS_write, ends[0], buffer, 200L));
    did(.call = "write", .like = "", .fd = ends[0], .size = 200);
    must(200, syscall(SYS_recvfrom, ends[1], buffer, 1000L, 0, NULL, NULL));
    did(.call = "recvfrom", .like = "", .fd = ends[1], .size = 200, .requested = 1000);
    int fd = opened(path, O_RDONLY);
    must(30, syscall(SYS_read, fd, buffer, 30L));
    did(.call = "read", .path = path, .fd = fd, .offset = 0, .size = 30);

    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {buffer, 5};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    must(5, syscall(SYS_sendmsg, ends[0], &message, 0));
    did(.call = "sendmsg", .like = "", .fd = ends[0], .size = 5, .requested = 5);
    closed(fd, path);
    part.iov_len = 50;
    must(5, syscall(SYS_recvmsg, ends[1], &message, 0));
    did(.call = "recvmsg", .like = "", .fd = ends[1], .size = 5, .requested = 50);
    int received;
    memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
    must(70, syscall(SYS_read, received, buffer, 100L)); /* the cursor came along */
    did(.call = "read", .path = path, .fd = received, .offset = 30, .size = 70);
    closed(received, path);
    must(0, syscall(SYS_shutdown, ends[0], SHUT_WR));
    did(.call = "shutdown", .like = "", .fd = ends[0]);
    must(0, syscall(SYS_read, ends[1], buffer, 10L));
    did(.call = "read", .like = "", .fd = ends[1], .size = 0);
    end();
}

/* `path` is that of a local socket. */
static void connected(int family, struct sockaddr *address, socklen_t length, const char *path) {
    begin();
    int server = syscall(SYS_socket, family, SOCK_STREAM, 0);
    did(.call = "socket", .like = "", .fd = server);
    must(0, syscall(SYS_bind, server, address, length));
    did(.call = "bind", .like = "", .path2 = path, .fd = server);
    must(0, syscall(SYS_listen, server, 1));
    did(.call = "listen", .like = "", .fd = server);
    must(0, syscall(SYS_getsockname, server, address, &length)); /* the port that the kernel chose */
    did(.call = "getsockname", .like = "", .fd = server);
    int client = syscall(SYS_socket, family, SOCK_STREAM, 0);
    did(.call = "socket", .like = "", .fd = client);
    must(0, syscall(SYS_connect, client, address, length));
    did(.call = "connect", .like = "", .path2 = path, .fd = client);
    int peer = syscall(SYS_accept4, server, NULL, NULL, 0);
    did(.call = "accept4", .like = "", .fd = peer);
    must(400, syscall(SYS_sendto, client, buffer, 400L, 0, NULL, 0));
    did(.call = "sendto", .like = "", .fd = client, .size = 400, .requested = 400);
    must(400, syscall(SYS_read, peer, buffer, 1000L));
    did(.call = "read", .like = "", .fd = peer, .size = 400, .requested = 1000);
    must(0, syscall(SYS_close, peer));
    did(.call = "close", .like = "", .fd = peer);
    must(0, syscall(SYS_close, client));
    did(.call = "close", .like = "", .fd = client);
    must(0, syscall(SYS_close, server));
    did(.call = "close", .like = "", .fd = server);
    end();
}

static void named_only(void) {
    begin();
    int watch = syscall(SYS_inotify_init1, 0);
    did(.call = "inotify_init1", .like = "anon_inode:inotify", .fd = watch);
    must(1, syscall(SYS_inotify_add_watch, watch, directory, IN_CREATE));
    did(.call = "inotify_add_watch", .path = directory, .fd = ANY);
    int poll = syscall(SYS_epoll_create1, 0);
    did(.call = "epoll_create1", .like = "anon_inode:[eventpoll]", .fd = poll);
    struct epoll_event event = {.events = EPOLLIN};
    must(0, syscall(SYS_epoll_ctl, poll, EPOLL_CTL_ADD, watch, &event));
    did(.call = "epoll_ctl", .like = "anon_inode:[eventpoll]", .fd = poll);
    int counter = syscall(SYS_eventfd2, 0, 0);
    did(.call = "eventfd2", .like = "anon_inode:[eventfd]", .fd = counter);
    must(8, syscall(SYS_write, counter, &(long){1}, 8L));
    did(.call = "write", .like = "anon_inode:[eventfd]", .fd = counter, .size = 8);
    int memory = syscall(SYS_memfd_create, "named", 0);
    did(.call = "memfd_create", .like = "/memfd:named", .fd = memory);
    must(10, syscall(SYS_write, memory, buffer, 10L));
    did(.call = "write", .like = "/memfd:named", .fd = memory, .offset = 0, .size = 10);
    end();
}

int main(int argc, char **argv) {
    start(argc, argv);
    pipes();
    pairs();
    /* The name of a socket is short; the directory may not be. */
    must(0, chdir(directory));
    struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "listening"};
    connected(AF_UNIX, (struct sockaddr *)&local, sizeof local, in("listening"));
    struct sockaddr_in internet = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    connected(AF_INET, (struct sockaddr *)&internet, sizeof internet, NULL);
    named_only();
    return done();
}
