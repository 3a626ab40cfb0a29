/* api.c: captures from inside a program, twice: the public calls of profsql_capture.h.
 *
 *   api FAKE_CUPTI SCRIPT LOGDIR */
#define _GNU_SOURCE
#include "../../loader/capture/profsql_capture.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char path[4096] = "";
    if (argc < 4) return 2;
    if (profsql_capture_stop(path, sizeof path) == 0) return fprintf(stderr, "a stop without a start\n"), 1;
    profsql_capture_push("before: does nothing"), profsql_capture_pop();
    ProfsqlCapture wrong = {.size = 1};
    if (!profsql_capture_start(&wrong) || !*profsql_capture_error()) return fprintf(stderr, "a wrong size was taken\n"), 1;
    ProfsqlCapture options = {
        .size = sizeof options, .logdir = argv[3], .run = "api", .kinds = "default,-memory", .step_range = "iteration*", .cupti = argv[1]};
    for (int i = 0; i < 2; i++) {
        if (profsql_capture_start(&options)) return fprintf(stderr, "%s\n", profsql_capture_error()), 1;
        if (!profsql_capture_start(&options)) return fprintf(stderr, "two at once\n"), 1;
        void *cupti = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD), *symbol = cupti ? dlsym(cupti, "fake_play") : NULL;
        int (*play)(const char *, int, int) = NULL;
        memcpy(&play, &symbol, sizeof symbol);
        if (!play) return fprintf(stderr, "no CUPTI was opened\n"), 1;
        profsql_capture_push("iteration 1");
        play(argv[2], 1, 1);
        profsql_capture_pop();
        if (profsql_capture_stop(path, sizeof path)) return fprintf(stderr, "%s\n", profsql_capture_error()), 1;
        puts(path);
    }
    return 0;
}
