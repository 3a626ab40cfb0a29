/* fake_cuda.c: the calls of the driver that waiting for a context takes: libcuda.so.1 of the tests.
 *
 * FAKE_CUDA_HANG=1     a context's work never ends */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum { OK = 0, INVALID_CONTEXT = 201 };

static _Thread_local void *current;
static void (*finish)(void);

EXPORT void fake_cuda_of(void (*finish_of_cupti)(void));
EXPORT void fake_cuda_of(void (*finish_of_cupti)(void)) { finish = finish_of_cupti; }

EXPORT int cuCtxPushCurrent_v2(void *context) { return current = context, context ? OK : INVALID_CONTEXT; }
EXPORT int cuCtxPopCurrent_v2(void **context) { return *context = current, current = NULL, OK; }
EXPORT int cuCtxGetCurrent(void **context) { return *context = current, OK; }
EXPORT int cuCtxSynchronize(void)
{
    if (!current) return INVALID_CONTEXT;
    while (getenv("FAKE_CUDA_HANG")) sleep(1);
    if (finish) finish();
    return OK;
}
