/* order.c: the events of a line by their metadata, so that GROUP BY needs no sorting.
 *
 * A counting sort by index of metadata. Events of ids that the plane does not declare share one index; their true ids are
 * read from the file, and each id becomes a group. */
#include "../format/xspace.h"
#include "lines.h"

typedef struct {
    int64_t id;
    uint32_t event;
} Undeclared;

static int by_id(const void *a, const void *b)
{
    const Undeclared *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static int add_group(LineOrder *order, size_t *capacity, LineGroup group, ProfErr *err)
{
    if (!GROW(order->groups, order->n_groups, *capacity)) return prof_nomem(err);
    order->groups[order->n_groups++] = group;
    return PROF_OK;
}

/* Sorts the events from `first` on, which no metadata declares, by their true ids, and makes a group of each id. */
static int split_undeclared(Line *line, LineOrder *order, size_t *capacity, uint32_t first, uint32_t n, ProfErr *err)
{
    Undeclared *list = prof_alloc(n * sizeof *list);
    ChunkValues *v = prof_alloc(sizeof *v);
    Window chunks = {.file = &line->plane->host->file}, messages = chunks;
    const Chunk *chunk = NULL;
    if (!list || !v) prof_nomem(err);
    for (uint32_t i = 0; i < n && !err->code; i++) {
        uint32_t event = order->events[first + i];
        if (chunk != &line->chunks[event / CHUNK_EVENTS]) {
            chunk = &line->chunks[event / CHUNK_EVENTS];
            if (chunk_read(line, chunk, 1 << COL_POSITION, v, &chunks, err)) break;
        }
        Event e = {0};
        size_t n_bytes;
        const uint8_t *p = event_message(&messages, (uint64_t)v->columns[COL_POSITION][event % CHUNK_EVENTS], &n_bytes, err);
        if (p) event_parse(p, p + n_bytes, &e);
        list[i] = (Undeclared){.id = e.metadata_id, .event = event};
    }
    if (!err->code) qsort(list, n, sizeof *list, by_id);
    for (uint32_t i = 0, start = 0; i < n && !err->code; i++) {
        order->events[first + i] = list[i].event;
        if (i + 1 < n && list[i + 1].id == list[i].id) continue;
        add_group(order, capacity, (LineGroup){list[i].id, (uint32_t)line->plane->n_declared, first + start, i + 1 - start}, err);
        start = i + 1;
    }
    window_free(&chunks);
    window_free(&messages);
    prof_free(list);
    prof_free(v);
    return err->code;
}

static int by_meta(const void *a, const void *b)
{
    const LineGroup *x = a, *y = b;
    return x->meta < y->meta ? -1 : x->meta > y->meta;
}

/* Finds the groups and their sizes; numbers[] become positions in groups + 1. */
static int count_groups(Line *line, LineOrder *order, size_t *capacity, uint32_t *numbers, ChunkValues *v, Window *window, ProfErr *err)
{
    const EventMeta *metas = line->plane->event_metas;
    for (size_t c = 0; c < line->n_chunks && !chunk_read(line, &line->chunks[c], 1 << COL_META, v, window, err); c++)
        for (uint32_t i = 0; i < line->chunks[c].n_events; i++) {
            uint32_t meta = (uint32_t)v->columns[COL_META][i];
            if (!numbers[meta]) {
                if (add_group(order, capacity, (LineGroup){.id = metas[meta].id, .meta = meta}, err)) return err->code;
                numbers[meta] = (uint32_t)order->n_groups;
            }
            order->groups[numbers[meta] - 1].n++;
        }
    qsort(order->groups, order->n_groups, sizeof *order->groups, by_meta);
    return err->code;
}

static int place_events(Line *line, LineOrder *order, uint32_t *numbers, ChunkValues *v, Window *window, ProfErr *err)
{
    uint32_t first = 0, event = 0;
    for (size_t i = 0; i < order->n_groups; i++) {
        LineGroup *group = &order->groups[i];
        numbers[group->meta] = (uint32_t)i + 1;
        group->first = first, first += group->n, group->n = 0;
    }
    for (size_t c = 0; c < line->n_chunks && !chunk_read(line, &line->chunks[c], 1 << COL_META, v, window, err); c++)
        for (uint32_t i = 0; i < line->chunks[c].n_events; i++) {
            LineGroup *group = &order->groups[numbers[v->columns[COL_META][i]] - 1];
            order->events[group->first + group->n++] = event++;
        }
    return err->code;
}

static LineOrder *make_order(Line *line, MetaNumbers *m, ProfErr *err)
{
    const Plane *plane = line->plane;
    if (line->n_events >= UINT32_MAX) {
        prof_fail(err, PROF_FORMAT, line->span.offset, "%s: a line of %llu events is too long to be grouped; group by an expression, like name || '', instead",
                  plane->host->file.path, (unsigned long long)line->n_events);
        return NULL;
    }
    uint32_t *numbers = meta_numbers(m, plane, err);
    ChunkValues *v = prof_alloc(sizeof *v);
    LineOrder *order = prof_alloc(sizeof *order);
    Window window = {.file = &plane->host->file};
    size_t capacity = 0;
    if (order) order->events = prof_alloc((size_t)line->n_events * sizeof *order->events);
    if (!numbers || !v || !order || !order->events)
        prof_nomem(err);
    else if (!count_groups(line, order, &capacity, numbers, v, &window, err))
        place_events(line, order, numbers, v, &window, err);
    for (size_t i = 0; order && i < order->n_groups; i++) numbers[order->groups[i].meta] = 0;
    LineGroup *last = !err->code && order->n_groups ? &order->groups[order->n_groups - 1] : NULL;
    if (last && last->meta == plane->n_declared) {
        order->n_groups--;
        split_undeclared(line, order, &capacity, last->first, last->n, err);
    }
    window_free(&window);
    prof_free(v);
    if (!err->code) return order;
    line_order_free(order);
    return NULL;
}

void line_order_free(LineOrder *order)
{
    if (!order) return;
    prof_free(order->events);
    prof_free(order->groups);
    prof_free(order);
}

static bool order_line(Line *line, MetaNumbers *numbers, ProfErr *err)
{
    Run *run = line->plane->host->run;
    pthread_mutex_lock(&run->lock);
    bool made = line->order != NULL;
    pthread_mutex_unlock(&run->lock);
    if (made || !line->n_events) return true;
    LineOrder *order = make_order(line, numbers, err);
    pthread_mutex_lock(&run->lock);
    if (!line->order) line->order = order, order = NULL;
    pthread_mutex_unlock(&run->lock);
    line_order_free(order); /* another thread was quicker */
    return !err->code;
}

const LineOrder *line_order(Line *line, ProfErr *err)
{
    MetaNumbers numbers = {0};
    order_line(line, &numbers, err);
    prof_free(numbers.numbers);
    return line->order;
}

bool run_orders(Run *run, ProfErr *err) { return run_each_line(run, order_line, err); }
