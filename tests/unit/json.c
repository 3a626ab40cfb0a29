// SPDX-License-Identifier: Apache-2.0
/* json.c: members of configurations, whole and damaged. Each text is a block of its own, so that a
 * byte too many is seen. */
#include "../../loader/format/json.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

static bool has(const char *text, const char *name, int64_t wanted)
{
    size_t n = strlen(text);
    char *block = malloc(n ? n : 1);
    int64_t value = -1;
    if (!block) return false;
    memcpy(block, text, n);
    Json j = {block, block + n};
    bool found = json_enter(&j, name) && json_integer(&j, &value);
    free(block);
    return found && value == wanted;
}

int main(void)
{
    check(has("{\"a\":1,\"b\":2}", "b", 2), "a member");
    check(has(" { \"x\" : [ {\"b\":[1,\"]\"]} , \"}\" ] ,\n\t\"b\" : \"7\" }", "b", 7),
          "behind others, in quotes");
    check(has("{\"some_size\":5}", "some_size", 5) && has("{\"someSize\":5}", "some_size", 5),
          "both spellings");
    check(!has("{\"somesize\":5}", "some_size", 5) && !has("{\"some_size_\":5}", "some_size", 5) &&
              !has("{\"some\":5}", "some_size", 5),
          "other names");
    check(has("{\"q\\\"}\":3,\"b\":4}", "b", 4), "an escaped quote");
    check(has("{\"b\":9223372036854775807}", "b", INT64_MAX) &&
              !has("{\"b\":9223372036854775808}", "b", INT64_MIN),
          "the end of int64");
    check(!has("{\"b\":-1}", "b", -1) && !has("{\"b\":\"\"}", "b", 0) &&
              !has("{\"b\":\"1", "b", 1) && !has("[1]", "b", 1),
          "no whole numbers");
    static const char whole[] = "{\"aa\":{\"x\":[1,2]},\"b\":\"12\"}";
    bool early = false;
    for (size_t n = 0; n + 1 < sizeof whole; n++) {
        char cut[sizeof whole];
        memcpy(cut, whole, n), cut[n] = 0;
        early |= has(cut, "b", 12) && n + 2 < sizeof whole;
    }
    check(!early && has(whole, "b", 12), "every prefix ends quietly");
    return finish();
}
