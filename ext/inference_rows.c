// SPDX-License-Identifier: Apache-2.0
/* inference_rows.c: functions shared by the tables of model servers; see inference_rows.h. */
#include "inference_rows.h"
SQLITE_EXTENSION_INIT3

bool next_of_models(RowCursor *c, size_t (*count)(const Inference *, size_t model))
{
    ModelAt *at = c->state;
    if (!c->started) at->all = run_inference(c->from->run, c->from->only, &c->err);
    if (!at->all) return false;
    at->nth += c->started;
    c->place = at->row++;
    for (; at->model <= at->all->n_models; at->model++, at->nth = 0)
        if (at->nth < count(at->all, at->model)) return true;
    return false;
}

const InferenceModel *model_at(const ModelAt *at)
{
    return at->model < at->all->n_models ? &at->all->models[at->model] : NULL;
}

void result_ms(sqlite3_context *ctx, uint64_t ps) { sqlite3_result_double(ctx, (double)ps / 1e9); }
void result_signed_ms(sqlite3_context *ctx, int64_t ps)
{
    sqlite3_result_double(ctx, (double)ps / 1e9);
}
void result_host(sqlite3_context *ctx, const Host *host) { result_static(ctx, host->name); }

void result_ids(sqlite3_context *ctx, const int64_t *ids, size_t n)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    for (size_t i = 0; i < n; i++)
        sqlite3_str_appendf(out, "%s%lld", i ? "," : "[", (long long)ids[i]);
    sqlite3_str_appendall(out, n ? "]" : "[]");
    result_built(ctx, out);
}
