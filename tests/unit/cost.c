// SPDX-License-Identifier: Apache-2.0
/* cost.c: the cases of XProf's own unit tests of its cost analysis
 * (tests/data/hlo_zoo/modules/vectors.hlo), with their numbers. */
#include "../../loader/analysis/program/cost.h"
#include "../../loader/format/hlo_text.h"
#include "../../loader/format/shape.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *op;
    int64_t flops, model_flops, bytes, read, write; /* -1: the test says nothing of it */
} vectors[] = {
    /* products of matrices by cuBLAS: 8-bit work counts half; scratch memory does not count */
    {"gemm", 2LL * 65536 * 32800 * 32, 2LL * 65536 * 32800 * 32, -1, -1, -1},
    {"gemm_s8", 1LL * 65536 * 32800 * 32, 2LL * 65536 * 32800 * 32, -1, -1, -1},
    {"gemm_f8", 1LL * 2048 * 5120 * 5120, 2LL * 2048 * 5120 * 5120, -1, -1, -1},
    {"workspace", 2000000, 2000000, 3 * 40000, 80000, -1},
    {"conv", 159694848, 159694848,
     128 * 12 * 24 * 24 * 4 + 16 * 12 * 5 * 5 * 4 + 16 * 4 + 128 * 4 * 24 * 24 * 4, -1, -1},
    /* reductions: an initial value is read for each element of the output */
    {"window", 3 * 12 * 19, 3 * 12 * 19, 4 * (64 + 1 + 12), 4 * (64 + 1), 4 * 12},
    {"sum", 32 * 39 * 3, 32 * 39 * 3, 4 * (1280 + 32 + 32), 4 * (1280 + 32), 4 * 32},
    {"sums", 32 * 39 * 6, 32 * 39 * 6, 2 * 5120 + 2 * 128 + 256, -1, -1},
    /* collectives of four devices */
    {"gathered", 0, 0, 45056, -1, -1},
    {"gather2", 0, 0, 67584, -1, -1},
    {"scattered", -1, -1, 45056, -1, -1},
    {"scatter2", -1, -1, 67584, -1, -1},
    {"reduced", -1, -1, 16384, -1, -1},
    /* fusions read what they need of a parameter, once; an update in place writes the update */
    {"slice", -1, -1, 2, 1, 1},
    {"slices", -1, -1, 3, 2, 1},
    {"shared", -1, -1, 2, 1, 1},
    {"constant_read", -1, -1, 3000, 1000, 1000},
    {"update", -1, -1, 5, 2, 3},
    {"update_root", -1, -1, 1, 0, 1},
    {"repeat", -1, -1, 1 + 8000 + 10000, 1, 8000},
    {"flops", 3 * 1048576 + 2 * 3 * 1024, 3 * 1048576 + 2 * 3 * 1024, -1, -1, -1},
    /* the widest operand decides how fast the work can be: 16 bits here */
    {"mixed", 2 * 8 * 16 * 64 * 9, 2 * 8 * 16 * 64 * 9, -1, -1, -1},
    {"nothing", 0, 0, 0, 0, 0},
};

static bool is(int64_t value, int64_t wanted) { return wanted < 0 || value == wanted; }

static void check_vectors(const HloModule *m, ProfErr *err)
{
    for (size_t i = 0; i < COUNT(vectors); i++) {
        const Xla__HloInstructionProto *op = hlo_find(m, vectors[i].op, strlen(vectors[i].op));
        const HloCost *cost = op ? hlo_cost(m, op, err) : NULL;
        check(cost && cost->known && is(cost->flops, vectors[i].flops) &&
                  is(cost->model_flops, vectors[i].model_flops) &&
                  is(cost->bytes_accessed, vectors[i].bytes) &&
                  is(cost->hbm_read_bytes, vectors[i].read) &&
                  is(cost->hbm_write_bytes, vectors[i].write),
              vectors[i].op);
    }
}

/* A text that reaches its limit ends there and says so. */
static void check_buffer(void)
{
    TextBuffer out = {.limit = 10};
    text_add(&out, "12345");
    text_add_integer(&out, INT64_MIN);
    check(out.cut && out.n_bytes == 10 && !strcmp(out.text, "12345-9223"), "the limit of a text");
    text_free(&out);
    out.limit = 0;
    text_add_escaped(&out, "a\"b\\\n\x01\xc3'", 8);
    check(!strcmp(out.text, "a\\\"b\\\\\\n\\001\\303\\'"), "escapes");
    text_free(&out);
    text_add_real(&out, 0.1, 17);
    check(!strcmp(out.text, "0.10000000000000001"), "a number's digits");
    text_free(&out);
}

/* The first number in a type's name is its bits: f6e3m2fn has 6. */
static void check_types(void)
{
    for (int type = 0; type < N_HLO_TYPES; type++) {
        const char *name = primitive_name(type), *digits = name + strcspn(name, "0123456789");
        check(primitive_bits(type) == (strcmp(name, "pred") ? atoi(digits) : 8), name);
        check(!type || primitive_by_name(name, strlen(name)) == type, name);
    }
    check(!primitive_name(N_HLO_TYPES) && !primitive_name(-1) && !primitive_bits(N_HLO_TYPES) &&
              primitive_by_name("f3", 2) < 0 && primitive_by_name("invalid", 7) < 0,
          "no other type has a name or bits");
}

int main(void)
{
    ProfErr err = {0};
    Run *run =
        run_open("tests/data/hlo_zoo/plugins/profile/zoo", &(RunOptions){.n_threads = 1}, &err);
    const HloPrograms *programs = run ? hlo_programs(&run->hosts[0], &err) : NULL;
    const HloModule *found = NULL;
    for (size_t i = 0; programs && i < programs->n; i++)
        if (!strcmp(programs->modules[i]->name, "vectors")) found = programs->modules[i];
    check(found && !err.code, "the program is there");
    if (found) check_vectors(found, &err);
    if (run) run_unref(run);
    check_buffer();
    check_types();
    return finish();
}
