#include "tally.h"

#include <errno.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc < 2) fail(STATUS_USAGE, "no command given");
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("tally " TALLY_VERSION);
        return STATUS_OK;
    }
    bool wants_help = strcmp(name, "help") == 0;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || (wants_help && argc == 2)) {
        help_overall();
        return STATUS_OK;
    }
    if (wants_help) name = argv[2];
    const struct command *command = command_find(name);
    if (!command) fail(STATUS_USAGE, "unknown command '%s'", name);

    struct settings settings = {.delimiter = ',', .header = true, .precision = 2};
    int count = wants_help ? -1 : options_parse(command, &settings, argc - 2, argv + 2);
    if (count < 0) {
        help_command(command);
        return STATUS_OK;
    }
    FILE *out = settings.output ? fopen(settings.output, "w") : stdout;
    if (!out) fail(STATUS_ERROR, "%s: %s", settings.output, strerror(errno));
    command_run(command, &settings, argv + 2, count, out);
    if (fflush(out) == EOF || ferror(out)) fail(STATUS_ERROR, "cannot write output: %s", strerror(errno));
    return STATUS_OK;
}
