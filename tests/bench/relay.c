/* relay: starts a command and copies bytes both ways, looking at nothing.
 *
 * usage: relay COMMAND [ARG]...
 *
 * What a relay costs at the least: one poll loop, 64 KiB at a time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { CHUNK = 65536 };

struct direction {
    int from, to, ended;
    size_t held, sent;
    char buffer[CHUNK];
};

static void move(struct direction *d) {
    if (d->sent == d->held) {
        ssize_t n = read(d->from, d->buffer, CHUNK);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (n <= 0) {
            d->ended = 1;
            close(d->to);
            return;
        }
        d->held = n;
        d->sent = 0;
    }
    ssize_t n = write(d->to, d->buffer + d->sent, d->held - d->sent);
    if (n < 0) {
        if (errno != EAGAIN) d->ended = 1;
        return;
    }
    d->sent += n;
    if (d->sent == d->held) d->sent = d->held = 0;
}

static void unblock(int fd) {
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int main(int argc, char **argv) {
    int down[2], up[2];
    pid_t pid;
    posix_spawn_file_actions_t actions;
    if (argc < 2 || pipe2(down, O_CLOEXEC) || pipe2(up, O_CLOEXEC)) return 1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, down[0], 0);
    posix_spawn_file_actions_adddup2(&actions, up[1], 1);
    if (posix_spawnp(&pid, argv[1], &actions, 0, argv + 1, environ)) return 1;
    close(down[0]);
    close(up[1]);
    signal(SIGPIPE, SIG_IGN);
    static struct direction ways[2];
    ways[0].from = 0;
    ways[0].to = down[1];
    ways[1].from = up[0];
    ways[1].to = 1;
    for (int i = 0; i < 2; i++) {
        unblock(ways[i].from);
        unblock(ways[i].to);
    }
    while (!ways[1].ended) {
        struct pollfd polled[2];
        for (int i = 0; i < 2; i++) {
            struct direction *d = &ways[i];
            int full = d->sent < d->held;
            polled[i] = (struct pollfd){d->ended ? -1 : full ? d->to : d->from, full ? POLLOUT : POLLIN, 0};
        }
        if (poll(polled, 2, -1) < 0) continue;
        for (int i = 0; i < 2; i++)
            if (polled[i].revents) move(&ways[i]);
    }
    waitpid(pid, 0, 0);
    return 0;
}
