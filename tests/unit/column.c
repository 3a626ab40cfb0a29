// SPDX-License-Identifier: Apache-2.0
/* column.c: packed columns give back what went in, in the width it needs. */
#include "../../loader/base/column.h"
#include "check.h"
#include "no_memory.h"

static void pack(const int64_t *values, size_t n, int width, const char *what)
{
    Arena arena = {0};
    Packed packed;
    int64_t *out = malloc((n ? n : 1) * sizeof *out);
    if (!out) abort();
    bool good = range_width(values_range(values, n)) == width &&
                packed_make(&packed, &arena, values, n) && packed.width == width;
    if (good) packed_read(&packed, out, n);
    for (size_t i = 0; i < n && good; i++)
        good = out[i] == values[i] && packed_at(&packed, i) == values[i];
    check(good, what);
    free(out);
    arena_free(&arena);
}

#define PACK(width, what, ...)                                                                     \
    {                                                                                              \
        const int64_t values[] = {__VA_ARGS__};                                                    \
        pack(values, sizeof values / sizeof *values, width, what);                                 \
    }
int main(void)
{
    pack(NULL, 0, 0, "no values");
    PACK(0, "one value", INT64_MIN)
    PACK(0, "equal values", 7, 7, 7)
    PACK(1, "a range of 255", -5, 250, 0)
    PACK(2, "a range of 256", 0, 256)
    PACK(2, "a range of 65535", INT64_MAX, INT64_MAX - 65535)
    PACK(3, "a range of 65536", 1, 65537)
    PACK(3, "a range of 2^24 - 1", 0, 16777215)
    PACK(4, "a range of 2^24", 0, 16777216, 5)
    PACK(4, "a range of 2^32 - 1", 5, 5 + (int64_t)UINT32_MAX)
    PACK(5, "a range of 2^32", 0, (int64_t)UINT32_MAX + 1, 77)
    PACK(5, "a range of 2^40 - 1", -1, ((int64_t)1 << 40) - 2)
    PACK(6, "a range of 2^40", 0, (int64_t)1 << 40, 3, 9)
    PACK(7, "a range of 2^48", 0, (int64_t)1 << 48, 3, 9)
    PACK(8, "a range of 2^56", 0, (int64_t)1 << 56, 3, 9)
    PACK(8, "all of int64", INT64_MIN, -1, 0, 1, INT64_MAX)
    int64_t many[1024];
    for (int i = 0; i < 1024; i++) many[i] = (int64_t)((uint64_t)(i * 2654435761u) % 60000) - 30000;
    pack(many, 1024, 2, "a chunk");

    Arena arena = {0};
    Packed packed;
    use_no_memory();
    check(!packed_make(&packed, &arena, many, 1024), "no memory");
    check(packed_make(&packed, &arena, many, 0) && packed_make(&packed, &arena, many, 1),
          "equal values need no memory");
    return finish();
}
