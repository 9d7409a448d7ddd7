/* driver: starts a command, talks JSON-RPC with it and measures.  Prints one JSON object.
 *
 * usage: driver start [-n TIMES] -- COMMAND         spawn to first reply, and end of input to exit
 *        driver talk [-n MESSAGES] [-W WARMUP] [-w WINDOW] [-s BYTES] [-r BYTES] [-o first|last]
 *                    [-t TOMBSTONES] -- COMMAND     round trips, WINDOW of them at a time
 *
 * -s and -r are the sizes of a request and of the largest reply.  -o says where requests have their
 * id.  -t begins with so many requests that are cancelled at once; replies to them are not counted.
 * cpu_us is the CPU time of the started process alone, all its threads, per round trip.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static pid_t child;
static int to, from;
static size_t request_size = 200, reply_size = 200;
static int id_last = 0;
static long tombstones = 0;
static char *filler;

static void die(const char *what) {
    fprintf(stderr, "driver: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void start(char **command) {
    int in[2], out[2];
    posix_spawn_file_actions_t actions;
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) die("pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    if ((errno = posix_spawnp(&child, command[0], &actions, 0, command, environ))) die(command[0]);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    to = in[1];
    from = out[0];
}

static double finish(void) {
    char rest[65536];
    double began = now();
    close(to);
    fcntl(from, F_SETFL, fcntl(from, F_GETFL) & ~O_NONBLOCK);
    while (read(from, rest, sizeof rest) > 0) {}
    close(from);
    waitpid(child, 0, 0);
    return now() - began;
}

static long peak_kb(void) {
    char path[64], line[256];
    long kb = 0;
    sprintf(path, "/proc/%d/status", child);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %ld", &kb) == 1) break;
    if (f) fclose(f);
    return kb;
}

static double cpu(void) {
    char path[320];
    double sum = 0;
    sprintf(path, "/proc/%d/task", child);
    DIR *tasks = opendir(path);
    for (struct dirent *e; tasks && (e = readdir(tasks));) {
        unsigned long long ns;
        snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", child, e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (f && fscanf(f, "%llu", &ns) == 1) sum += ns;
        if (f) fclose(f);
    }
    if (tasks) closedir(tasks);
    return sum;
}

static size_t make_request(char *p, long id) {
    char head[256], tail[128];
    int h, t;
    const char *method = "\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"";
    if (id_last) {
        h = sprintf(head, "{%s", method);
        t = sprintf(tail, "\"}},\"jsonrpc\":\"2.0\",\"id\":%ld}\n", id);
    } else {
        h = sprintf(head, "{\"jsonrpc\":\"2.0\",\"id\":%ld,%s", id, method);
        t = sprintf(tail, "\"}}}\n");
    }
    size_t fill = request_size > (size_t)(h + t) ? request_size - h - t : 0;
    memcpy(p, head, h);
    memcpy(p + h, filler, fill);
    memcpy(p + h + fill, tail, t);
    return h + fill + t;
}

static long id_of(const char *line, size_t n) {
    const char *p = id_last ? NULL : memmem(line, n < 64 ? n : 64, "\"id\":", 5);
    const char *end = n > 64 ? line + n - 64 : line;
    if (!p) p = memmem(end, line + n - end, "\"id\":", 5);
    return p ? atol(p + 5) : 0;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure_start(char **command, long times) {
    double *first = malloc(times * sizeof *first), *end = malloc(times * sizeof *end);
    char request[1024], reply[1 << 16];
    for (long i = 0; i < times; i++) {
        double began = now();
        start(command);
        size_t n = make_request(request, 1), got = 0;
        if (write(to, request, n) != (ssize_t)n) die("write");
        while (!memchr(reply, '\n', got)) {
            ssize_t k = read(from, reply + got, sizeof reply - got);
            if (k <= 0) die("no reply");
            got += k;
        }
        first[i] = now() - began;
        end[i] = finish();
    }
    qsort(first, times, sizeof *first, by_value);
    qsort(end, times, sizeof *end, by_value);
    printf("{\"start_ms\":%.3f,\"end_ms\":%.3f}\n", first[times / 2] / 1e6, end[times / 2] / 1e6);
}

static void measure_talk(char **command, long messages, long warmup, long window) {
    size_t out_room = (window + 1) * (request_size + 512) + tombstones * 512, in_room = reply_size + (1 << 20);
    char *out = malloc(out_room), *in = malloc(in_room);
    size_t queued = 0, sent = 0, have = 0, scanned = 0;
    long asked = tombstones, answered = tombstones, last = tombstones + warmup + messages;
    double *took = malloc((last + 1) * sizeof *took), *at = malloc((last + 1) * sizeof *at);
    double began = 0, cpu_before = 0;
    start(command);
    for (long id = 1; id <= tombstones; id++) {
        size_t full = request_size;
        request_size = 200;
        queued += make_request(out + queued, id);
        request_size = full;
        queued += sprintf(out + queued,
                          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%ld}}\n", id);
    }
    fcntl(to, F_SETFL, fcntl(to, F_GETFL) | O_NONBLOCK);
    fcntl(from, F_SETFL, fcntl(from, F_GETFL) | O_NONBLOCK);
    while (answered < last) {
        if (!began && answered >= tombstones + warmup) {
            began = now();
            cpu_before = cpu();
        }
        if (sent == queued) sent = queued = 0;
        while (asked < last && asked - answered < window && queued + request_size + 512 < out_room) {
            at[++asked] = now();
            queued += make_request(out + queued, asked);
        }
        ssize_t k = sent < queued ? write(to, out + sent, queued - sent) : 0;
        if (k < 0 && errno != EAGAIN && errno != EINTR) die("write");
        if (k > 0) sent += k;
        struct pollfd polled[2] = {{from, POLLIN, 0}, {to, sent < queued ? POLLOUT : 0, 0}};
        if (poll(polled, 2, 30000) <= 0) die("nothing for 30 s");
        if (!polled[0].revents) continue;
        if (have == in_room) in = realloc(in, in_room *= 2);
        k = read(from, in + have, in_room - have);
        if (k < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (k <= 0) die("end of output");
        have += k;
        char *line = in, *end;
        while ((end = memchr(in + scanned, '\n', have - scanned))) {
            long id = id_of(line, end - line);
            if (id > tombstones) {
                if (id != answered + 1) {
                    fprintf(stderr, "driver: reply to %ld, expected %ld\n", id, answered + 1);
                    exit(1);
                }
                took[++answered] = now() - at[id];
            }
            line = end + 1;
            scanned = line - in;
        }
        if (line == in) scanned = have;
        have -= line - in;
        memmove(in, line, have);
        scanned = have;
    }
    double spent = now() - began, used = cpu() - cpu_before;
    long kb = peak_kb();
    double end_ns = finish();
    double *measured = took + tombstones + warmup + 1, bytes = request_size > reply_size ? request_size : reply_size;
    qsort(measured, messages, sizeof *measured, by_value);
    printf("{\"p50_us\":%.2f,\"p99_us\":%.2f,\"msgs_s\":%.0f,\"mb_s\":%.1f,\"cpu_us\":%.3f,\"peak_kb\":%ld,\"end_ms\":%.2f}\n",
           measured[messages / 2] / 1e3, measured[messages * 99 / 100] / 1e3, messages / (spent / 1e9),
           messages * bytes / (spent / 1e9) / 1e6, used / messages / 1e3, kb, end_ns / 1e6);
}

int main(int argc, char **argv) {
    long count = 1000, warmup = 200, window = 1;
    if (argc < 2) return 2;
    optind = 2;
    for (int o; (o = getopt(argc, argv, "+n:W:w:s:r:o:t:")) > 0;) {
        if (o == 'n') count = atol(optarg);
        if (o == 'W') warmup = atol(optarg);
        if (o == 'w') window = atol(optarg);
        if (o == 's') request_size = strtoul(optarg, 0, 10);
        if (o == 'r') reply_size = strtoul(optarg, 0, 10);
        if (o == 'o') id_last = !strcmp(optarg, "last");
        if (o == 't') tombstones = atol(optarg);
    }
    signal(SIGPIPE, SIG_IGN);
    filler = malloc(request_size + 64);
    for (size_t i = 0; i < request_size + 64; i++) filler[i] = 'a' + i * 7 % 26;
    if (!strcmp(argv[1], "start"))
        measure_start(argv + optind, count);
    else
        measure_talk(argv + optind, count, warmup, window);
    return 0;
}
