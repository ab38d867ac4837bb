#include "tally.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const format_names[] = {"text", "csv", "json", NULL};

static const char *const switch_names[] = {"no", "yes", NULL};
static const struct {
    const char *name;
    char delimiter;
} delimiters[] = {{"comma", ','}, {"tab", '\t'}, {"semicolon", ';'}, {"pipe", '|'}, {"space", ' '}};

size_t choose(const char *const *names, const char *value, const char *what, const char *where, int status) {
    for (size_t i = 0; names[i]; i++)
        if (strcmp(names[i], value) == 0) return i;
    char list[128] = "";
    for (size_t i = 0; names[i]; i++) {
        if (i) strcat(list, ", ");
        strcat(list, names[i]);
    }
    fail(status, "%s%s: '%s' is not one of: %s", where, what, value, list);
}

static char choose_delimiter(const char *value, const char *where, int status) {
    for (size_t i = 0; i < sizeof delimiters / sizeof *delimiters; i++)
        if (strcmp(delimiters[i].name, value) == 0) return delimiters[i].delimiter;
    if (strlen(value) != 1 || strchr("\"\r\n", *value) || (unsigned char)*value >= 0x80)
        fail(status, "%sdelimiter: '%s' is not a single character or one of: comma, tab, semicolon, pipe, space",
             where, value);
    return *value;
}

void settings_set(struct settings *settings, const char *key, const char *value, const char *where, int status) {
    if (strcmp(key, "delimiter") == 0) {
        settings->delimiter = choose_delimiter(value, where, status);
    } else if (strcmp(key, "header") == 0) {
        settings->header = choose(switch_names, value, key, where, status);
    } else if (strcmp(key, "format") == 0) {
        settings->format = choose(format_names, value, key, where, status);
    } else if (strcmp(key, "skip-invalid") == 0) {
        settings->skip_invalid = choose(switch_names, value, key, where, status);
    } else if (strcmp(key, "precision") == 0) {
        if (!parse_count(value, &settings->precision) || settings->precision > 9)
            fail(status, "%sprecision: '%s' is not a number from 0 to 9", where, value);
    } else {
        fail(status, "%sunknown key '%s'", where, key);
    }
}

static char *trim(char *text) {
    while (isspace((unsigned char)*text)) text++;
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1])) length--;
    text[length] = '\0';
    return text;
}

void settings_load(struct settings *settings, const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) fail(STATUS_ERROR, "%s: %s", path, strerror(errno));
    char line[512];
    for (size_t number = 1; fgets(line, sizeof line, file); number++) {
        char where[300];
        snprintf(where, sizeof where, "%.250s:%zu: ", path, number);
        char *text = trim(line);
        if (!*text || *text == '#') continue;
        char *equals = strchr(text, '=');
        if (!equals) fail(STATUS_ERROR, "%sexpected KEY = VALUE", where);
        *equals = '\0';
        settings_set(settings, trim(text), trim(equals + 1), where, STATUS_ERROR);
    }
    if (ferror(file)) fail(STATUS_ERROR, "%s: %s", path, strerror(errno));
    fclose(file);
}
