// SPDX-License-Identifier: Apache-2.0
/* slow_library.c: libraries for one moment: while a thread walks the libraries, another one is in
 * the middle of loading one, and holds the loader's lock.
 *
 * -DSLOW=FILE   preloaded: whoever walks waits until the other thread is loading FILE
 * -DTHEN=FILE   that FILE: it loads one more while it is being loaded
 * neither       an empty library */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <unistd.h>

#ifdef SLOW
typedef int Walker(struct dl_phdr_info *, size_t, void *);
static int (*walk)(Walker *, void *);
static sem_t loading;

__attribute__((constructor)) static void begin(void)
{
    void *symbol = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    __builtin_memcpy(&walk, &symbol, sizeof walk);
    sem_init(&loading, 0, 0);
}

void slow_library_is_loading(void);
void slow_library_is_loading(void) { sem_post(&loading); }

static void *load(void *unused)
{
    (void)unused;
    return dlopen(SLOW, RTLD_NOW);
}

int dl_iterate_phdr(Walker *walker, void *data)
{
    static _Atomic bool again;
    pthread_t thread;
    if (!again && !pthread_create(&thread, NULL, load, NULL)) {
        again = true;
        pthread_detach(thread);
        sem_wait(&loading);
    }
    return walk(walker, data);
}
#endif

#ifdef THEN
void slow_library_is_loading(void);
__attribute__((constructor)) static void load_another(void)
{
    slow_library_is_loading();
    usleep(200000); /* the walk has begun, or is over */
    dlopen(THEN, RTLD_NOW);
}
#endif
