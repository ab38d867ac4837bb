/* Everything the parts of tally share. A command reads a struct table, fills a struct result and returns. */
#ifndef TALLY_H
#define TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TALLY_VERSION "1.2.0"

enum { STATUS_OK = 0, STATUS_ERROR = 1, STATUS_USAGE = 2 };

/* support.c: allocation that cannot fail, messages, numbers */
_Noreturn void fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *resize(void *block, size_t count, size_t size);
char *copy_text(const char *text);
bool parse_number(const char *text, double *number);
bool parse_count(const char *text, size_t *count);

/* settings.c: what flags and the config file decide */
enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };

struct settings {
    char delimiter;
    bool header;
    enum format format;
    size_t precision;
    const char *columns; /* NULL: the command's default */
    const char *by;
    const char *output;
    size_t top; /* 0: all */
    bool by_value, numeric, reverse, unique, skip_invalid;
};

extern const char *const format_names[];

void settings_set(struct settings *settings, const char *key, const char *value, const char *where, int status);
void settings_load(struct settings *settings, const char *path);
size_t choose(const char *const *names, const char *value, const char *what, const char *where, int status);

/* options.c: the command line */
struct command {
    const char *name;
    const char *summary;
    const char *example;
    char letter; /* selects this command's options in the option table */
};

extern const struct command commands[];

const struct command *command_find(const char *name);
void help_overall(void);
void help_command(const struct command *command);
/* Applies flags and moves file names to the front of argv; returns their number, or -1 when help was asked for. */
int options_parse(const struct command *command, struct settings *settings, int argc, char **argv);

/* table.c: delimited text in memory */
struct row {
    char **cells;
    size_t count;
    size_t line;
    const char *source;
};

struct table {
    struct row header;
    bool has_header;
    struct row *rows;
    size_t count;
    size_t width;
};

void table_read(struct table *table, const char *path, const struct settings *settings);
void table_free(struct table *table);
/* Turns "2,price" into column indexes; the caller frees *indexes. */
size_t table_columns(const struct table *table, const char *list, size_t **indexes);
const char *table_column_name(const struct table *table, size_t column);

/* result.c: what a command prints, in any of the formats */
struct result {
    char **cells; /* the first `width` cells are the titles */
    bool *is_number;
    size_t width;
    size_t count;
    bool titled;
};

void result_text(struct result *result, const char *text);
void result_number(struct result *result, double number, size_t precision);
void result_write(const struct result *result, const struct settings *settings, FILE *out);
void result_free(struct result *result);

/* commands.c */
void command_run(const struct command *command, const struct settings *settings, char **paths, int count,
                FILE *out);

#endif
