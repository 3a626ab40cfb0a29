// SPDX-License-Identifier: Apache-2.0
/* api.c: captures from inside a program, twice: the public calls of profsql_capture.h.
 *
 *   api FAKE_CUPTI SCRIPT LOGDIR [FAKE_CUDA]     with a driver, a stop waits for the work of its
 * context */
#define _GNU_SOURCE
#include "../../loader/capture/profsql_capture.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *cupti;

/* What another tool of the process gets when it asks for CUPTI; it gives it back. */
static int other_tool(void)
{
    void *symbols[] = {dlsym(cupti, "cuptiSubscribe"), dlsym(cupti, "cuptiUnsubscribe")},
         *handle = NULL;
    int (*subscribe)(void **, void *, void *), (*unsubscribe)(void *);
    memcpy(&subscribe, &symbols[0], sizeof symbols[0]),
        memcpy(&unsubscribe, &symbols[1], sizeof symbols[1]);
    int rc = subscribe(&handle, &cupti, NULL);
    if (!rc) unsubscribe(handle);
    return rc;
}

/* A context that is older than the capture. */
static void begin_cuda(const char *path)
{
    static int a_context;
    void *cuda = dlopen(path, RTLD_NOW),
         *symbols[] = {cuda ? dlsym(cuda, "cuCtxPushCurrent_v2") : NULL,
                       cuda ? dlsym(cuda, "fake_cuda_of") : NULL, dlsym(cupti, "fake_finish")};
    int (*push)(void *);
    void (*of)(void *);
    memcpy(&push, &symbols[0], sizeof symbols[0]), memcpy(&of, &symbols[1], sizeof symbols[1]);
    if (cuda) push(&a_context), of(symbols[2]);
}

int main(int argc, char **argv)
{
    char path[4096] = "";
    if (argc < 4) return 2;
    if (profsql_capture_stop(path, sizeof path) == 0) {
        fprintf(stderr, "a stop without a start\n");
        return 1;
    }
    profsql_capture_push("before: does nothing"), profsql_capture_pop();
    ProfsqlCapture wrong = {.size = 1};
    if (!profsql_capture_start(&wrong) || !*profsql_capture_error()) {
        fprintf(stderr, "a wrong size was taken\n");
        return 1;
    }
    ProfsqlCapture options = {.size = sizeof options,
                              .logdir = argv[3],
                              .run = "api",
                              .kinds = "default,-memory,external",
                              .step_range = "iteration*",
                              .cupti = argv[1],
                              .synchronize = argc > 4};
    for (int i = 0; i < 2; i++) {
        if (profsql_capture_start(&options)) {
            fprintf(stderr, "%s\n", profsql_capture_error());
            return 1;
        }
        if (!profsql_capture_start(&options)) {
            fprintf(stderr, "two at once\n");
            return 1;
        }
        cupti = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
        void *symbol = cupti ? dlsym(cupti, "fake_play") : NULL;
        int (*play)(const char *, int, int) = NULL;
        memcpy(&play, &symbol, sizeof symbol);
        if (argc > 4) begin_cuda(argv[4]);
        if (!play) {
            fprintf(stderr, "no CUPTI was opened\n");
            return 1;
        }
        profsql_capture_push("iteration 1");
        profsql_capture_push_id(77);
        play(argv[2], 1, 1);
        profsql_capture_pop_id();
        profsql_capture_pop();
        if (profsql_capture_stop(path, sizeof path)) {
            fprintf(stderr, "%s\n", profsql_capture_error());
            return 1;
        }
        puts(path);
        int before = other_tool();
        profsql_capture_release();
        bool had_it = i || !getenv("FAKE_CUPTI_FAIL"); /* which fails the first start's */
        if (before != (had_it ? 39 : 0) || other_tool()) {
            fprintf(stderr, "CUPTI is not let go when it is released\n");
            return 1;
        }
    }
    return 0;
}
