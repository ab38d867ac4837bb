#include "tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void title(struct result *result, const char *name) {
    result_text(result, name);
    result->width++;
    result->titled = true;
}

static void titles(struct result *result, const char *const *names) {
    while (*names) title(result, *names++);
}

/* The number in a cell. An empty cell has none; neither has other text under --skip-invalid. */
static bool cell_number(const struct table *table, const struct row *row, size_t column,
                        const struct settings *settings, double *number) {
    const char *text = row->cells[column];
    if (!*text) return false;
    if (parse_number(text, number)) return true;
    if (settings->skip_invalid) return false;
    fail(STATUS_ERROR, "%s:%zu: column %s: '%s' is not a number", row->source, row->line,
         table_column_name(table, column), text);
}

static bool is_numeric_column(const struct table *table, size_t column) {
    bool any = false;
    double number;
    for (size_t i = 0; i < table->count; i++) {
        const char *text = table->rows[i].cells[column];
        if (*text && !parse_number(text, &number)) return false;
        any |= *text != '\0';
    }
    return any;
}

/* The columns of --column, or all numeric ones. */
static size_t numeric_columns(const struct table *table, const struct settings *settings, size_t **columns) {
    *columns = NULL;
    if (!table->width) return 0;
    if (settings->columns) return table_columns(table, settings->columns, columns);
    size_t count = 0;
    *columns = resize(NULL, table->width, sizeof **columns);
    for (size_t i = 0; i < table->width; i++)
        if (is_numeric_column(table, i)) (*columns)[count++] = i;
    if (!count && table->count) fail(STATUS_ERROR, "no column holds only numbers; name one with --column");
    return count;
}

struct ordering {
    const size_t *columns;
    size_t count;
    bool numeric, reverse;
};
static struct ordering ordering; /* qsort's comparison takes no argument of its own */

static int compare_cells(const struct row *a, const struct row *b) {
    for (size_t i = 0; i < ordering.count; i++) {
        const char *left = a->cells[ordering.columns[i]], *right = b->cells[ordering.columns[i]];
        int difference = 0;
        if (ordering.numeric) {
            double x = -INFINITY, y = -INFINITY;
            if (!parse_number(left, &x)) x = -INFINITY;
            if (!parse_number(right, &y)) y = -INFINITY;
            difference = (x > y) - (x < y);
        } else {
            difference = strcmp(left, right);
        }
        if (difference) return difference;
    }
    return 0;
}

static int compare_rows(const void *left, const void *right) {
    const struct row *a = *(const struct row *const *)left, *b = *(const struct row *const *)right;
    int difference = compare_cells(a, b);
    if (difference) return ordering.reverse ? -difference : difference;
    return (a > b) - (a < b); /* rows lie in input order, so equal ones keep it */
}

/* Rows in the order of some columns; the caller frees the array. */
static const struct row **sorted_rows(const struct table *table, struct ordering wanted) {
    const struct row **rows = resize(NULL, table->count, sizeof *rows);
    for (size_t i = 0; i < table->count; i++) rows[i] = &table->rows[i];
    ordering = wanted;
    qsort(rows, table->count, sizeof *rows, compare_rows);
    return rows;
}

/* One row of totals for each value of --by, or one for the whole table. */
static void run_sum(const struct table *table, const struct settings *settings, struct result *result) {
    size_t *columns, *by = NULL, groups = 0;
    size_t count = numeric_columns(table, settings, &columns);
    if (settings->by && table->width) groups = table_columns(table, settings->by, &by);
    if (groups > 1) fail(STATUS_USAGE, "--by takes one column");
    if (by) title(result, table_column_name(table, *by));
    for (size_t i = 0; i < count; i++) title(result, table_column_name(table, columns[i]));
    const struct row **rows = sorted_rows(table, (struct ordering){by, groups, false, false});
    for (size_t start = 0, end; start < table->count; start = end) {
        for (end = start; end < table->count && !compare_cells(rows[start], rows[end]); end++) {}
        if (by) result_text(result, rows[start]->cells[*by]);
        for (size_t i = 0; i < count; i++) {
            double total = 0, number;
            for (size_t j = start; j < end; j++)
                if (cell_number(table, rows[j], columns[i], settings, &number)) total += number;
            result_number(result, total, settings->precision);
        }
    }
    free(rows);
    free(by);
    free(columns);
}

static int compare_numbers(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void run_stats(const struct table *table, const struct settings *settings, struct result *result) {
    size_t *columns;
    size_t count = numeric_columns(table, settings, &columns);
    double *numbers = resize(NULL, table->count, sizeof *numbers);
    titles(result, (const char *const[]){"column", "count", "min", "max", "mean", "median", NULL});
    for (size_t i = 0; i < count; i++) {
        size_t n = 0;
        double total = 0;
        for (size_t j = 0; j < table->count; j++)
            if (cell_number(table, &table->rows[j], columns[i], settings, &numbers[n])) total += numbers[n++];
        qsort(numbers, n, sizeof *numbers, compare_numbers);
        double mean = n ? total / (double)n : 0;
        result_text(result, table_column_name(table, columns[i]));
        result_number(result, (double)n, 0);
        double median = n ? (numbers[(n - 1) / 2] + numbers[n / 2]) / 2 : 0;
        const double values[] = {n ? numbers[0] : 0, n ? numbers[n - 1] : 0, mean, median};
        for (size_t j = 0; j < sizeof values / sizeof *values; j++) {
            if (n) result_number(result, values[j], settings->precision);
            else result_text(result, "-");
        }
    }
    free(numbers);
    free(columns);
}

struct group {
    const char *value;
    size_t count;
};

static int compare_groups(const void *left, const void *right) {
    const struct group *a = left, *b = right;
    return a->count != b->count ? (a->count < b->count) - (a->count > b->count) : strcmp(a->value, b->value);
}

static void run_freq(const struct table *table, const struct settings *settings, struct result *result) {
    titles(result, (const char *const[]){"value", "count", "percent", NULL});
    if (!table->width) return;
    size_t *columns;
    if (table_columns(table, settings->columns ? settings->columns : "1", &columns) != 1)
        fail(STATUS_USAGE, "freq takes one column");
    const struct row **rows = sorted_rows(table, (struct ordering){columns, 1, false, false});
    struct group *groups = resize(NULL, table->count, sizeof *groups);
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (!i || compare_cells(rows[i - 1], rows[i]) != 0)
            groups[count++] = (struct group){rows[i]->cells[*columns], 0};
        groups[count - 1].count++;
    }
    if (!settings->by_value) qsort(groups, count, sizeof *groups, compare_groups);
    size_t shown = settings->top && settings->top < count ? settings->top : count;
    for (size_t i = 0; i < shown; i++) {
        const struct group *group = &groups[settings->reverse ? count - 1 - i : i];
        result_text(result, group->value);
        result_number(result, (double)group->count, 0);
        result_number(result, 100.0 * (double)group->count / (double)table->count, settings->precision);
    }
    free(groups);
    free(rows);
    free(columns);
}

/* Rows of the table itself: cut prints the listed columns, sort all columns in the order of the listed ones. */
static void run_rows(const struct table *table, const struct settings *settings, bool sorting,
                     struct result *result) {
    if (!table->width) return;
    size_t *listed, kept = 0;
    size_t count = table_columns(table, settings->columns ? settings->columns : "1", &listed);
    size_t width = sorting ? table->width : count;
    const struct row **rows = sorted_rows(
        table, (struct ordering){listed, sorting ? count : 0, settings->numeric, settings->reverse});
    for (size_t i = 0; i < table->count; i++)
        if (!settings->unique || !kept || compare_cells(rows[kept - 1], rows[i]) != 0) rows[kept++] = rows[i];
    for (size_t j = 0; j < width; j++) title(result, table_column_name(table, sorting ? j : listed[j]));
    result->titled = table->has_header;
    for (size_t i = 0; i < kept; i++)
        for (size_t j = 0; j < width; j++) result_text(result, rows[i]->cells[sorting ? j : listed[j]]);
    free(rows);
    free(listed);
}

static void run_config(const struct settings *settings, struct result *result) {
    const char precision[] = {(char)('0' + settings->precision), '\0'};
    const char delimiter[] = {settings->delimiter, '\0'};
    titles(result, (const char *const[]){"key", "value", NULL});
    const char *const pairs[][2] = {
        {"delimiter", settings->delimiter == '\t' ? "tab" : settings->delimiter == ' ' ? "space" : delimiter},
        {"header", settings->header ? "yes" : "no"},
        {"format", format_names[settings->format]},
        {"precision", precision},
        {"skip-invalid", settings->skip_invalid ? "yes" : "no"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        result_text(result, pairs[i][0]);
        result_text(result, pairs[i][1]);
    }
}

void command_run(const struct command *command, const struct settings *settings, char **paths, int count,
                FILE *out) {
    struct table table = {0};
    struct result result = {0};
    char *standard_input[] = {"-"};
    if (command->letter == 'g') {
        if (count) fail(STATUS_USAGE, "config takes no files");
    } else {
        if (command->letter == 'c' && !settings->columns) fail(STATUS_USAGE, "cut needs --column LIST");
        if (!count) paths = standard_input, count = 1;
        for (int i = 0; i < count; i++) table_read(&table, paths[i], settings);
    }
    switch (command->letter) {
    case 's': run_sum(&table, settings, &result); break;
    case 't': run_stats(&table, settings, &result); break;
    case 'f': run_freq(&table, settings, &result); break;
    case 'c': run_rows(&table, settings, false, &result); break;
    case 'o': run_rows(&table, settings, true, &result); break;
    case 'g': run_config(settings, &result); break;
    }
    result_write(&result, settings, out);
    result_free(&result);
    table_free(&table);
}
