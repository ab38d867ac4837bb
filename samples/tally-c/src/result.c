#include "tally.h"

#include <stdlib.h>
#include <string.h>

static void add(struct result *result, char *text, bool is_number) {
    if ((result->count & (result->count - 1)) == 0) {
        size_t room = result->count ? result->count * 2 : 1;
        result->cells = resize(result->cells, room, sizeof *result->cells);
        result->is_number = resize(result->is_number, room, sizeof *result->is_number);
    }
    result->cells[result->count] = text;
    result->is_number[result->count++] = is_number;
}

void result_text(struct result *result, const char *text) { add(result, copy_text(text), false); }

void result_number(struct result *result, double number, size_t precision) {
    char text[400];
    snprintf(text, sizeof text, "%.*f", (int)precision, number);
    bool is_negative_zero = text[0] == '-' && !text[strspn(text, "-0.")];
    add(result, copy_text(text + is_negative_zero), true);
}

/* Characters, not bytes: UTF-8 continuation bytes take no room. */
static size_t text_width(const char *text) {
    size_t width = 0;
    for (; *text; text++) width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static void write_text(const struct result *result, FILE *out) {
    size_t width = result->width;
    size_t *widths = resize(NULL, width, sizeof *widths);
    for (size_t i = 0; i < width; i++) widths[i] = 0;
    size_t first = result->titled ? 0 : width;
    for (size_t i = first; i < result->count; i++) {
        size_t length = text_width(result->cells[i]);
        if (length > widths[i % width]) widths[i % width] = length;
    }
    for (size_t i = first; i < result->count; i++) {
        size_t column = i % width;
        /* A title stands over its column, so it follows the alignment of the first row below it. */
        size_t like = i < width && result->count > width ? i + width : i;
        int padding = (int)(widths[column] - text_width(result->cells[i]));
        bool last = column == width - 1;
        if (result->is_number[like]) fprintf(out, "%*s%s", padding, "", result->cells[i]);
        else fprintf(out, "%s%*s", result->cells[i], last ? 0 : padding, "");
        fputs(last ? "\n" : "  ", out);
    }
    free(widths);
}

static void write_csv_cell(const char *text, char delimiter, FILE *out) {
    if (!strpbrk(text, "\"\r\n") && !strchr(text, delimiter)) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"') putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void write_csv(const struct result *result, char delimiter, FILE *out) {
    for (size_t i = result->titled ? 0 : result->width; i < result->count; i++) {
        write_csv_cell(result->cells[i], delimiter, out);
        putc((i + 1) % result->width ? delimiter : '\n', out);
    }
}

static void write_json_string(const char *text, FILE *out) {
    putc('"', out);
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\') fprintf(out, "\\%c", byte);
        else if (byte == '\n') fputs("\\n", out);
        else if (byte < 0x20) fprintf(out, "\\u%04x", byte);
        else putc(byte, out);
    }
    putc('"', out);
}

static void write_json(const struct result *result, FILE *out) {
    putc('[', out);
    for (size_t i = result->width; i < result->count; i++) {
        size_t column = i % result->width;
        if (column == 0) fputs(i > result->width ? ",\n  {" : "\n  {", out);
        write_json_string(result->cells[column], out);
        fputs(": ", out);
        if (result->is_number[i]) fputs(result->cells[i], out);
        else write_json_string(result->cells[i], out);
        fputs(column == result->width - 1 ? "}" : ", ", out);
    }
    fputs(result->count > result->width ? "\n]\n" : "]\n", out);
}

void result_write(const struct result *result, const struct settings *settings, FILE *out) {
    if (settings->format == FORMAT_JSON) write_json(result, out);
    else if (!result->width) return;
    else if (settings->format == FORMAT_CSV) write_csv(result, settings->delimiter, out);
    else write_text(result, out);
}

void result_free(struct result *result) {
    for (size_t i = 0; i < result->count; i++) free(result->cells[i]);
    free(result->cells);
    free(result->is_number);
}
