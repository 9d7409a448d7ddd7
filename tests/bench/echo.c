/* echo: the fastest JSON-RPC server that we can think of, for measuring relays.
 *
 * usage: echo [-r BYTES] [-o first|last] [-j] [-l EVERY]
 *
 * Answers every line that has an "id" member with a line of BYTES bytes (200).
 *   -o last   the id stands last in the answer, as TypeScript servers write it
 *   -j        the answer holds small objects instead of one long string
 *   -l EVERY  after every EVERY-th answer, answers an old id (1 to 1000) again: a late response
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t size = 200, body_size;
static int id_last = 0, objects = 0;
static char *body;
static char *out;
static size_t queued = 0, room = 1 << 18;

static void write_all(const char *p, size_t n) {
    while (n) {
        ssize_t k = write(1, p, n);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) exit(0);
        p += k;
        n -= k;
    }
}

static void flush(void) {
    write_all(out, queued);
    queued = 0;
}

static void put(const char *p, size_t n) {
    if (queued + n > room) flush();
    if (n > room) {
        write_all(p, n);
        return;
    }
    memcpy(out + queued, p, n);
    queued += n;
}

static void answer(const char *id, int id_size) {
    char head[256], tail[256];
    int h, t;
    const char *open = objects ? "" : "{\"type\":\"text\",\"text\":\"", *close = objects ? "" : "\"}";
    if (id_last) {
        h = sprintf(head, "{\"result\":{\"content\":[%s", open);
        t = sprintf(tail, "%s]},\"jsonrpc\":\"2.0\",\"id\":%.*s}\n", close, id_size, id);
    } else {
        h = sprintf(head, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"content\":[%s", id_size, id, open);
        t = sprintf(tail, "%s]}}\n", close);
    }
    size_t fill = objects ? body_size : size > (size_t)(h + t) ? size - h - t : 0;
    put(head, h);
    put(body, fill);
    put(tail, t);
}

static void take_line(const char *line, size_t n) {
    /* our driver writes the id within 64 bytes of either end */
    const char *p = memmem(line, n < 64 ? n : 64, "\"id\":", 5);
    const char *late_half = n > 64 ? line + n - 64 : line;
    if (!p) p = memmem(late_half, line + n - late_half, "\"id\":", 5);
    if (!p) return;
    p += 5;
    answer(p, strcspn(p, ",}"));
}

static void make_body(void) {
    body = malloc(size + 256);
    if (objects) {
        for (int i = 0; body_size + 120 < size; i++)
            body_size += sprintf(body + body_size, "%s{\"id\":%d,\"name\":\"item %d\",\"ok\":true,\"v\":[1,2.5,null]}",
                                 i ? "," : "", i, i);
        return;
    }
    unsigned x = 12345;
    for (size_t i = 0; i < size; i++) {
        x = x * 1103515245u + 12345u;
        body[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[(x >> 16) & 63];
    }
}

int main(int argc, char **argv) {
    long late_every = 0, answered = 0;
    for (int o; (o = getopt(argc, argv, "+r:o:jl:")) > 0;) {
        if (o == 'r') size = strtoul(optarg, 0, 10);
        if (o == 'o') id_last = !strcmp(optarg, "last");
        if (o == 'j') objects = 1;
        if (o == 'l') late_every = atol(optarg);
    }
    make_body();
    out = malloc(room);
    size_t capacity = 1 << 18, have = 0, scanned = 0;
    char *in = malloc(capacity);
    for (;;) {
        if (have == capacity) in = realloc(in, capacity *= 2);
        ssize_t k = read(0, in + have, capacity - have);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) break;
        have += k;
        char *line = in, *end;
        while ((end = memchr(in + scanned, '\n', have - scanned))) {
            take_line(line, end - line);
            if (late_every && ++answered % late_every == 0) {
                char old[16];
                answer(old, sprintf(old, "%ld", 1 + answered / late_every % 1000));
            }
            line = end + 1;
            scanned = line - in;
        }
        have -= line - in;
        memmove(in, line, have);
        scanned = have;
        flush();
    }
    return 0;
}
