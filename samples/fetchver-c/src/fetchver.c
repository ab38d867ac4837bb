/* Prints the newest known release of the programs named on the command line or on standard input. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *program, *version;
} releases[] = {
#include "releases.inc"
};
enum { RELEASE_COUNT = sizeof releases / sizeof *releases };

static bool print_release(const char *program) {
    for (size_t i = 0; i < RELEASE_COUNT; i++) {
        if (strcmp(releases[i].program, program) != 0) continue;
        printf("%s %s\n", program, releases[i].version);
        return true;
    }
    fprintf(stderr, "fetchver: no release of '%s' is known\n", program);
    return false;
}

int main(int argc, char **argv) {
    bool found = true;
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        puts("Usage: fetchver [PROGRAM...]\n\n"
             "Print the newest release of each PROGRAM, or of those named on standard input.\n\n"
             "  --help  print this help and exit\n"
             "  --list  print all known releases");
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < RELEASE_COUNT; i++) printf("%s %s\n", releases[i].program, releases[i].version);
        return 0;
    }
    for (int i = 1; i < argc; i++) found &= print_release(argv[i]);
    char line[256];
    while (argc == 1 && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (*line) found &= print_release(line);
    }
    return found ? 0 : 1;
}
