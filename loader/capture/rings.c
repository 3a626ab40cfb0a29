// SPDX-License-Identifier: Apache-2.0
/* rings.c: rings with one writer and one reader each; see rings.h. */
#define _GNU_SOURCE
#include "rings.h"

#include "record.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* POP_ROOM is reserved for the ends of ranges whose starts were not lost. */
enum { RING_BYTES = 256 << 10, POP_ROOM = 32 << 10, TEXT_LIMIT = 4096 };
enum RingState { RING_FREE, RING_USED, RING_DONE };

typedef struct Ring Ring;
struct Ring {
    Ring *next;
    _Atomic int state;
    _Atomic uint64_t head, tail; /* bytes written and bytes read, which only increase */
    _Atomic uint64_t n_lost;
    uint32_t thread, lost_depth; /* lost_depth: number of lost pushes whose pops will follow */
    uint8_t bytes[RING_BYTES];
};

static _Atomic(Ring *) all_rings;
static _Atomic bool on;
static _Atomic(void *) wake_up; /* a void (*)(void) */
static _Thread_local Ring *mine;
static pthread_key_t thread_ends;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void ring_done(void *ring)
{
    atomic_store_explicit(&((Ring *)ring)->state, RING_DONE, memory_order_release);
    mine = NULL;
}

static void make_key(void) { pthread_key_create(&thread_ends, ring_done); }

void rings_start(void (*wake)(void))
{
    void *p;
    memcpy(&p, &wake, sizeof p);
    atomic_store(&wake_up, p);
    atomic_store(&on, true);
}

void rings_stop(void) { atomic_store(&on, false); }

static bool rings_are_on(void) { return atomic_load_explicit(&on, memory_order_relaxed); }

static Ring *ring_of_thread(void)
{
    if (mine) return mine;
    pthread_once(&key_once, make_key);
    Ring *ring = atomic_load(&all_rings);
    for (int idle = RING_FREE;
         ring && !atomic_compare_exchange_strong(&ring->state, &idle, RING_USED); ring = ring->next)
        idle = RING_FREE;
    if (!ring) {
        ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (ring == MAP_FAILED) return NULL;
        atomic_store(&ring->state, RING_USED);
        ring->next = atomic_load(&all_rings);
        while (!atomic_compare_exchange_weak(&all_rings, &ring->next, ring)) continue;
    }
    ring->thread = (uint32_t)syscall(SYS_gettid);
    ring->lost_depth = 0;
    pthread_setspecific(thread_ends, ring);
    return mine = ring;
}

static void call_wake(void)
{
    void *p = atomic_load(&wake_up);
    void (*wake)(void);
    memcpy(&wake, &p, sizeof wake);
    if (p) wake();
}

void rings_put(RangeEvent *event, const char *text, size_t n_text)
{
    struct timespec t;
    Ring *ring = rings_are_on() ? ring_of_thread() : NULL;
    if (!ring) return;
    bool closing = event->kind == REC_POP || event->kind == REC_CLOSE;
    if (event->kind == REC_POP && ring->lost_depth) {
        ring->lost_depth--;
        return;
    }
    if (n_text > TEXT_LIMIT) n_text = TEXT_LIMIT;
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed),
             tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    size_t n = (sizeof *event + n_text + 7) & ~(size_t)7, at = head % RING_BYTES;
    size_t skip = RING_BYTES - at < n ? RING_BYTES - at : 0; /* an event is not split */
    if (head - tail + skip + n + (closing ? 0 : POP_ROOM) > RING_BYTES) {
        atomic_fetch_add_explicit(&ring->n_lost, 1, memory_order_relaxed);
        if (event->kind == REC_PUSH) ring->lost_depth++;
        call_wake();
        return;
    }
    if (skip) {
        if (skip >= sizeof *event) /* n_bytes 0: continue at the start of the ring */
            memset(ring->bytes + at, 0, sizeof *event);
        head += skip, at = 0;
    }
    clock_gettime(CLOCK_REALTIME, &t);
    event->time_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    event->thread = event->kind == REC_THREAD && event->thread ? event->thread : ring->thread;
    event->n_text = (uint32_t)n_text, event->n_bytes = (uint32_t)n;
    memcpy(ring->bytes + at, event, sizeof *event);
    if (n_text) memcpy(ring->bytes + at + sizeof *event, text, n_text);
    bool was_below = head - tail < RING_BYTES / 2;
    atomic_store_explicit(&ring->head, head + n, memory_order_release);
    if (was_below && head + n - tail >= RING_BYTES / 2) call_wake();
}

uint64_t rings_drain(void (*take)(void *context, const RangeEvent *event, const char *text),
                     void *context)
{
    uint64_t n_lost = 0;
    for (Ring *ring = atomic_load(&all_rings); ring; ring = ring->next) {
        bool done = atomic_load_explicit(&ring->state, memory_order_acquire) == RING_DONE;
        uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire),
                 tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
        while (tail < head) {
            size_t at = tail % RING_BYTES;
            RangeEvent event = {0};
            if (RING_BYTES - at >= sizeof event) memcpy(&event, ring->bytes + at, sizeof event);
            if (!event.n_bytes) {
                tail += RING_BYTES - at;
                continue;
            }
            take(context, &event, (const char *)ring->bytes + at + sizeof event);
            tail += event.n_bytes;
            atomic_store_explicit(&ring->tail, tail, memory_order_release);
        }
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
        n_lost += atomic_exchange_explicit(&ring->n_lost, 0, memory_order_relaxed);
        if (done) atomic_store_explicit(&ring->state, RING_FREE, memory_order_release);
    }
    return n_lost;
}

void rings_forget(void)
{
    atomic_store(&on, false);
    atomic_store(&all_rings, NULL);
    mine = NULL;
}
