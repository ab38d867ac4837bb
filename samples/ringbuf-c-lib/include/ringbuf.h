/* A byte ring buffer of fixed capacity. Not safe for use by several threads at once. */
#ifndef RINGBUF_H
#define RINGBUF_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ringbuf;

/* Returns NULL when capacity is 0 or memory is short. */
struct ringbuf *ringbuf_new(size_t capacity);
void ringbuf_free(struct ringbuf *ring);

size_t ringbuf_capacity(const struct ringbuf *ring);
size_t ringbuf_used(const struct ringbuf *ring);

/* Both return how many bytes were moved: fewer than asked for when the buffer is full or empty. */
size_t ringbuf_write(struct ringbuf *ring, const void *bytes, size_t count);
size_t ringbuf_read(struct ringbuf *ring, void *bytes, size_t count);

/* Copies like ringbuf_read and leaves the bytes in the buffer. */
size_t ringbuf_peek(const struct ringbuf *ring, void *bytes, size_t count);

/* The distance of the first such byte from the read end, or (size_t)-1. */
size_t ringbuf_find(const struct ringbuf *ring, unsigned char byte);

#ifdef __cplusplus
}
#endif

#endif
