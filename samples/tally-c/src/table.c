/* Reads RFC 4180 text: quoted cells, doubled quotes, line breaks inside quotes; LF and CRLF. */
#include "tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    FILE *file;
    const char *source;
    size_t line;
    char delimiter;
    const char *problem; /* what is wrong with the row just read, or NULL */
    char *text;
    size_t length, room;
};

static void put(struct reader *reader, int byte) {
    if (reader->length == reader->room) {
        reader->room = reader->room ? reader->room * 2 : 256;
        reader->text = resize(reader->text, reader->room, 1);
    }
    reader->text[reader->length++] = (char)byte;
}

static int next(struct reader *reader) {
    int byte = getc(reader->file);
    if (byte == '\r') { /* CRLF is one line end; a lone CR is text */
        int after = getc(reader->file);
        if (after == '\n') byte = '\n';
        else if (after != EOF) ungetc(after, reader->file);
    }
    if (byte == '\n') reader->line++;
    if (byte == '\0') {
        reader->problem = "NUL byte";
        byte = '?';
    }
    return byte;
}

/* Reads one cell into reader->text and returns the byte that ended it: the delimiter, '\n' or EOF. */
static int read_cell(struct reader *reader) {
    reader->length = 0;
    int byte = next(reader);
    if (byte == '"') {
        for (;;) {
            byte = next(reader);
            if (byte == EOF) {
                reader->problem = "quote is never closed";
                break;
            }
            if (byte == '"') {
                byte = next(reader);
                if (byte != '"') break;
            }
            put(reader, byte);
        }
    }
    while (byte != EOF && byte != '\n' && byte != reader->delimiter) {
        put(reader, byte);
        byte = next(reader);
    }
    put(reader, '\0');
    return byte;
}

static void row_free(struct row *row) {
    for (size_t i = 0; i < row->count; i++) free(row->cells[i]);
    free(row->cells);
}

/* False at the end of the input. Empty lines are skipped. */
static bool read_row(struct reader *reader, struct row *row) {
    for (;;) {
        *row = (struct row){.line = reader->line, .source = reader->source};
        reader->problem = NULL;
        int end;
        do {
            end = read_cell(reader);
            row->cells = resize(row->cells, row->count + 1, sizeof *row->cells);
            row->cells[row->count++] = copy_text(reader->text);
        } while (end != EOF && end != '\n');
        bool empty = row->count == 1 && !*row->cells[0];
        if (!empty) return true;
        row_free(row);
        if (end == EOF) return false;
    }
}

void table_read(struct table *table, const char *path, const struct settings *settings) {
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "r");
    if (!file) fail(STATUS_ERROR, "%s: %s", path, strerror(errno));
    struct reader reader = {.file = file, .source = standard ? "(stdin)" : path, .line = 1,
                            .delimiter = settings->delimiter};
    bool expect_header = settings->header;
    struct row row;
    while (read_row(&reader, &row)) {
        if (!table->width) table->width = row.count;
        char ragged[80];
        if (!reader.problem && row.count != table->width) {
            snprintf(ragged, sizeof ragged, "expected %zu fields, found %zu", table->width, row.count);
            reader.problem = ragged;
        }
        if (reader.problem) {
            if (!settings->skip_invalid) fail(STATUS_ERROR, "%s:%zu: %s", row.source, row.line, reader.problem);
            row_free(&row);
            continue;
        }
        if (expect_header) { /* every file has one; the first file's names count */
            expect_header = false;
            if (table->has_header) row_free(&row);
            else table->header = row;
            table->has_header = true;
            continue;
        }
        if ((table->count & (table->count - 1)) == 0)
            table->rows = resize(table->rows, table->count ? table->count * 2 : 1, sizeof row);
        table->rows[table->count++] = row;
    }
    if (ferror(file)) fail(STATUS_ERROR, "%s: %s", path, strerror(errno));
    free(reader.text);
    if (!standard) fclose(file);
}

void table_free(struct table *table) {
    row_free(&table->header);
    for (size_t i = 0; i < table->count; i++) row_free(&table->rows[i]);
    free(table->rows);
}

const char *table_column_name(const struct table *table, size_t column) {
    static char number[32];
    if (table->has_header) return table->header.cells[column];
    snprintf(number, sizeof number, "%zu", column + 1);
    return number;
}

static size_t find_column(const struct table *table, const char *name) {
    size_t number;
    for (size_t i = 0; i < table->header.count; i++)
        if (strcmp(table->header.cells[i], name) == 0) return i;
    if (!parse_count(name, &number)) fail(STATUS_ERROR, "no column is named '%s'", name);
    if (number < 1 || number > table->width)
        fail(STATUS_ERROR, "column %s is out of range: there are %zu", name, table->width);
    return number - 1;
}

size_t table_columns(const struct table *table, const char *list, size_t **indexes) {
    char *names = copy_text(list);
    size_t count = 0;
    *indexes = NULL;
    for (char *name = names, *comma; name; name = comma) {
        comma = strchr(name, ',');
        if (comma) *comma++ = '\0';
        *indexes = resize(*indexes, count + 1, sizeof **indexes);
        (*indexes)[count++] = find_column(table, name);
    }
    free(names);
    return count;
}
