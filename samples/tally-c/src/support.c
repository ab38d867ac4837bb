#include "tally.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void fail(int status, const char *format, ...) {
    va_list arguments;
    fflush(stdout);
    fputs("tally: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    if (status == STATUS_USAGE) fputs("Try 'tally --help'.\n", stderr);
    exit(status);
}

void *resize(void *block, size_t count, size_t size) {
    if (size && count >= (size_t)-1 / size) fail(STATUS_ERROR, "out of memory");
    void *moved = realloc(block, size * count + 1);
    if (!moved) fail(STATUS_ERROR, "out of memory");
    return moved;
}

char *copy_text(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(resize(NULL, size, 1), text, size);
}

bool parse_number(const char *text, double *number) {
    /* strtod alone would also take hexadecimal, "inf", "nan" and leading blanks. */
    if (!*text || text[strspn(text, "0123456789+-.eE")]) return false;
    char *end;
    *number = strtod(text, &end);
    return !*end && isfinite(*number);
}

bool parse_count(const char *text, size_t *count) {
    if (!*text || strlen(text) > 9 || text[strspn(text, "0123456789")]) return false;
    *count = strtoul(text, NULL, 10);
    return true;
}
