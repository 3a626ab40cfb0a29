// SPDX-License-Identifier: Apache-2.0
/* curl.c: see curl.h. */
#include "curl.h"

#include <dlfcn.h>
#include <pthread.h>

static Curl curl;
static ProfErr failure; /* of loading libcurl; the same for every caller */

static bool find_functions(void *library)
{
    const struct {
        const char *name;
        void *to;
    } functions[] = {
#define AS_ENTRY(result, name, parameters) {"curl_" #name, &curl.name},
        CURL_FUNCTIONS(AS_ENTRY)
#undef AS_ENTRY
    };
    for (size_t i = 0; i < COUNT(functions); i++) {
        void *symbol = dlsym(library, functions[i].name);
        if (!symbol) return false;
        /* copies a function's address from the object pointer of dlsym() */
        memcpy(functions[i].to, &symbol, sizeof symbol);
    }
    return true;
}

#define TO_GET_IT "; install libcurl 7.66 or later (on Debian: apt-get install libcurl4)"

static void load(void)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"};
    void *library = NULL;
    for (size_t i = 0; i < COUNT(names) && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        prof_fail(&failure, PROF_NOTFOUND, 0, "libcurl.so.4 cannot be loaded" TO_GET_IT);
    else if (!find_functions(library))
        prof_fail(&failure, PROF_NOTFOUND, 0, "this libcurl is too old" TO_GET_IT);
    else if (curl.global_init(CURL_ALL))
        prof_fail(&failure, PROF_NOTFOUND, 0, "libcurl does not start");
    else if (!(curl.version_info(0)->features & CURL_HAS_HTTP2))
        prof_fail(&failure, PROF_NOTFOUND, 0, "this libcurl has no HTTP/2" TO_GET_IT);
}

const Curl *curl_load(ProfErr *err)
{
    static pthread_once_t loaded = PTHREAD_ONCE_INIT;
    pthread_once(&loaded, load);
    if (!failure.code) return &curl;
    prof_fail(err, failure.code, 0, "%s", failure.text);
    return NULL;
}
