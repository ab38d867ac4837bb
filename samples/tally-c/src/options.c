/* One table describes every option: the parser and the help text are both made from it. */
#include "tally.h"

#include <string.h>

const struct command commands[] = {
    {"sum", "add up numeric columns, for all rows or for each group", "tally sum --by region --column amount examples/sales.csv", 's'},
    {"stats", "count, minimum, maximum, mean and median", "tally stats --column amount examples/sales.csv", 't'},
    {"freq", "count how often each value of a column occurs", "tally freq --column region --top 2 examples/sales.csv", 'f'},
    {"cut", "print some columns, in the order given", "tally cut --column product,amount examples/sales.csv", 'c'},
    {"sort", "sort rows by one or more columns", "tally sort --column amount --numeric --reverse examples/sales.csv", 'o'},
    {"config", "print the settings in effect", "tally config --config examples/tally.conf", 'g'},
    {NULL, NULL, NULL, 0},
};

enum id { COLUMN, BY, TOP, ORDER, NUMERIC, REVERSE, UNIQUE, DELIMITER, NO_HEADER, FORMAT, PRECISION,
          SKIP, CONFIG, OUTPUT, HELP };

static const char *const orders[] = {"count", "value", NULL};

static const struct option {
    char letter;
    const char *name;
    const char *argument; /* NULL: a flag without a value */
    const char *users;    /* letters of the commands that take it */
    const char *help;
} options[] = {
    [COLUMN] = {'c', "column", "LIST", "stfco", "columns by number (from 1) or name, separated by commas"},
    [BY] = {'b', "by", "COLUMN", "s", "add up each group of rows with the same value here"},
    [TOP] = {'n', "top", "N", "f", "print only the first N values (default: all)"},
    [ORDER] = {'O', "order", "ORDER", "f", "one of: count, value (default: count)"},
    [NUMERIC] = {'N', "numeric", NULL, "o", "compare as numbers; other text sorts first"},
    [REVERSE] = {'r', "reverse", NULL, "fo", "reverse the order"},
    [UNIQUE] = {'u', "unique", NULL, "o", "keep the first of rows with equal sort columns"},
    [DELIMITER] = {'d', "delimiter", "CHAR", "stfcog", "one character or one of: comma, tab, semicolon, pipe, space (default: comma)"},
    [NO_HEADER] = {'H', "no-header", NULL, "stfcog", "the first row is data, not column names"},
    [FORMAT] = {'f', "format", "FORMAT", "stfcog", "one of: text, csv, json (default: text)"},
    [PRECISION] = {'p', "precision", "N", "stfg", "decimals of computed numbers, 0 to 9 (default: 2)"},
    [SKIP] = {'s', "skip-invalid", NULL, "stfcog", "leave out malformed rows and cells that are no number"},
    [CONFIG] = {'C', "config", "FILE", "stfcog", "read settings from FILE; flags win over it"},
    [OUTPUT] = {'o', "output", "FILE", "stfco", "write to FILE instead of standard output"},
    [HELP] = {'h', "help", NULL, "stfcog", "print this help and exit"},
};
enum { OPTION_COUNT = sizeof options / sizeof *options };

const struct command *command_find(const char *name) {
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0) return command;
    return NULL;
}

void help_overall(void) {
    puts("Usage: tally COMMAND [OPTIONS] [FILE...]\n"
         "       tally help [COMMAND]\n"
         "\n"
         "Summarise delimited text (CSV and its relatives). Reads standard input when no\n"
         "FILE is given or FILE is '-'. Several files are read as one table.\n"
         "\n"
         "Commands:");
    for (const struct command *command = commands; command->name; command++)
        printf("  %-8s %s\n", command->name, command->summary);
    puts("  help     print help for a command\n"
         "\n"
         "Options:\n"
         "  -h, --help     print this help and exit\n"
         "  -V, --version  print the version and exit\n"
         "\n"
         "Exit status: 0 success, 1 a file or its content is not usable, 2 wrong usage.\n"
         "Run 'tally help COMMAND' or 'tally COMMAND --help' for a command's options.");
}

void help_command(const struct command *command) {
    printf("Usage: tally %s [OPTIONS]%s\n\ntally %s: %s.\n\nOptions:\n", command->name,
           command->letter == 'g' ? "" : " [FILE...]", command->name, command->summary);
    for (const struct option *option = options; option < options + OPTION_COUNT; option++) {
        if (!strchr(option->users, command->letter)) continue;
        char label[32];
        snprintf(label, sizeof label, "--%s%s%s", option->name, option->argument ? " " : "",
                 option->argument ? option->argument : "");
        printf("  -%c, %-18s %s\n", option->letter, label, option->help);
    }
    printf("\nExamples:\n  %s\n", command->example);
}

static void apply(enum id id, const char *value, struct settings *settings) {
    switch (id) {
    case COLUMN: settings->columns = value; break;
    case BY: settings->by = value; break;
    case OUTPUT: settings->output = value; break;
    case NUMERIC: settings->numeric = true; break;
    case REVERSE: settings->reverse = true; break;
    case ORDER: settings->by_value = choose(orders, value, "order", "--", STATUS_USAGE); break;
    case UNIQUE: settings->unique = true; break;
    case SKIP: settings->skip_invalid = true; break;
    case NO_HEADER: settings->header = false; break;
    case TOP:
        if (!parse_count(value, &settings->top) || !settings->top)
            fail(STATUS_USAGE, "--top: '%s' is not a positive number", value);
        break;
    case DELIMITER: case FORMAT: case PRECISION: settings_set(settings, options[id].name, value, "--", STATUS_USAGE); break;
    case CONFIG: case HELP: break;
    }
}

static const struct option *find(const struct command *command, const char *text, size_t length) {
    for (const struct option *option = options; option < options + OPTION_COUNT; option++) {
        bool same = length ? strlen(option->name) == length && strncmp(option->name, text, length) == 0
                           : option->letter == *text;
        if (same && strchr(option->users, command->letter)) return option;
    }
    if (length) fail(STATUS_USAGE, "%s: unknown option '--%.*s'", command->name, (int)length, text);
    fail(STATUS_USAGE, "%s: unknown option '-%c'", command->name, *text);
}

/* Goes over the arguments once. The config file is read in a pass of its own, before any flag is applied. */
static int walk(const struct command *command, struct settings *settings, int argc, char **argv, bool loading) {
    int paths = 0;
    bool only_paths = false;
    for (int i = 0; i < argc; i++) {
        char *text = argv[i];
        if (only_paths || text[0] != '-' || !text[1]) {
            if (!loading) argv[paths] = text;
            paths++;
            continue;
        }
        if (strcmp(text, "--") == 0) {
            only_paths = true;
            continue;
        }
        bool is_long = text[1] == '-';
        const char *rest = text + 1 + is_long;
        do { /* once for a long option, once a letter for -abc */
            size_t length = is_long ? strcspn(rest, "=") : 0;
            const struct option *option = find(command, rest, length);
            rest += is_long ? length : 1;
            const char *value = NULL;
            if (option->argument) {
                if (*rest) value = rest + is_long;
                else if (i + 1 < argc) value = argv[++i];
                else fail(STATUS_USAGE, "--%s needs a value: %s", option->name, option->argument);
                rest = "";
            } else if (is_long && *rest) {
                fail(STATUS_USAGE, "--%s takes no value", option->name);
            }
            enum id id = (enum id)(option - options);
            if (loading && id == HELP) return -1;
            if (loading && id == CONFIG) settings_load(settings, value);
            if (!loading) apply(id, value, settings);
        } while (*rest);
    }
    return paths;
}

int options_parse(const struct command *command, struct settings *settings, int argc, char **argv) {
    if (walk(command, settings, argc, argv, true) < 0) return -1;
    return walk(command, settings, argc, argv, false);
}
