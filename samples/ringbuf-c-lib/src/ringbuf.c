#include "ringbuf.h"

#include <stdlib.h>
#include <string.h>

struct ringbuf {
    size_t capacity, start, used;
    unsigned char bytes[];
};

struct ringbuf *ringbuf_new(size_t capacity) {
    if (!capacity || capacity > (size_t)-1 / 2) return NULL;
    struct ringbuf *ring = malloc(sizeof *ring + capacity);
    if (ring) *ring = (struct ringbuf){.capacity = capacity};
    return ring;
}

void ringbuf_free(struct ringbuf *ring) { free(ring); }

size_t ringbuf_capacity(const struct ringbuf *ring) { return ring->capacity; }

size_t ringbuf_used(const struct ringbuf *ring) { return ring->used; }

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

size_t ringbuf_write(struct ringbuf *ring, const void *bytes, size_t count) {
    count = smaller(count, ring->capacity - ring->used);
    if (!count) return 0;
    size_t end = (ring->start + ring->used) % ring->capacity;
    size_t first = smaller(count, ring->capacity - end);
    memcpy(ring->bytes + end, bytes, first);
    memcpy(ring->bytes, (const unsigned char *)bytes + first, count - first);
    ring->used += count;
    return count;
}

size_t ringbuf_peek(const struct ringbuf *ring, void *bytes, size_t count) {
    count = smaller(count, ring->used);
    if (!count) return 0;
    size_t first = smaller(count, ring->capacity - ring->start);
    memcpy(bytes, ring->bytes + ring->start, first);
    memcpy((unsigned char *)bytes + first, ring->bytes, count - first);
    return count;
}

size_t ringbuf_read(struct ringbuf *ring, void *bytes, size_t count) {
    count = ringbuf_peek(ring, bytes, count);
    ring->start = (ring->start + count) % ring->capacity;
    ring->used -= count;
    return count;
}

size_t ringbuf_find(const struct ringbuf *ring, unsigned char byte) {
    for (size_t i = 0; i < ring->used; i++)
        if (ring->bytes[(ring->start + i) % ring->capacity] == byte) return i;
    return (size_t)-1;
}
