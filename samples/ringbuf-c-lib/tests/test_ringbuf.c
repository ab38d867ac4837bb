#include "ringbuf.h"

#include <stdio.h>
#include <string.h>

static int failures;

static void expect(int holds, const char *claim) {
    if (holds) return;
    printf("FAILED: %s\n", claim);
    failures++;
}

int main(void) {
    char out[16] = "";
    expect(!ringbuf_new(0), "a buffer without room is refused");

    struct ringbuf *ring = ringbuf_new(5);
    expect(ring && ringbuf_capacity(ring) == 5 && ringbuf_used(ring) == 0, "a new buffer is empty");
    expect(ringbuf_write(ring, "abcdefg", 7) == 5, "a write stops when the buffer is full");
    expect(ringbuf_read(ring, out, 3) == 3 && !memcmp(out, "abc", 3), "bytes come out in order");
    expect(ringbuf_write(ring, "xyz", 3) == 3, "room that was read is used again");
    expect(ringbuf_find(ring, 'y') == 3 && ringbuf_find(ring, 'a') == (size_t)-1, "find looks past the wrap");
    expect(ringbuf_peek(ring, out, 16) == 5 && !memcmp(out, "dexyz", 5), "peek joins both parts");
    expect(ringbuf_used(ring) == 5, "peek leaves the bytes");
    expect(ringbuf_read(ring, out, 16) == 5 && ringbuf_read(ring, out, 16) == 0, "an empty buffer gives nothing");
    ringbuf_free(ring);

    puts(failures ? "some tests failed" : "all tests passed");
    return failures != 0;
}
