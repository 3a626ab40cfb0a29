// SPDX-License-Identifier: Apache-2.0
/* remote.c: libcurl's numbers, addresses, and messages that arrive in pieces. */
#include "../../loader/remote/curl.h"
#include "../../loader/remote/grpc.h"
#include "../../loader/remote/message_stream.h"
#include "check.h"

#include <stdio.h>

#define CHECK(condition) check(condition, #condition)

/* Where the header is installed, our copies of its numbers are compared with it. */
#if __has_include(<curl/curl.h>)
#include <curl/curl.h>
static void check_numbers(void)
{
#define AS_CHECK(ours, theirs, number) check((long)(theirs) == (long)(number), #theirs);
    CURL_NUMBERS(AS_CHECK)
#undef AS_CHECK
    CHECK(sizeof(CurlMessage) == sizeof(CURLMsg));
    CHECK(offsetof(CurlMessage, easy) == offsetof(CURLMsg, easy_handle));
    CHECK(offsetof(CurlMessage, data) == offsetof(CURLMsg, data));
    CHECK(offsetof(CurlVersion, features) == offsetof(curl_version_info_data, features));
    CHECK(CURL_ERROR_SIZE >= 256);
}
#else
static void check_numbers(void)
{
    printf("curl/curl.h is not there: its numbers are not compared\n");
}
#endif

static void check_addresses(void)
{
    static const char *const good[] = {"localhost:1", "10.0.0.1:8466", "[::1]:9", "a-b_c.d:65535",
                                       "[fe80::1%2]:80"},
                             *const bad[] = {"",        "h",     ":1",    "h:",    "h:0",
                                             "h:65536", "h:1x",  "h:+1",  "h: 1",  "a b:1",
                                             "a/b:1",   "a@b:1", "::1:9", "[::1]", "[]:1",
                                             "[::1:1",  "a\n:1", "h:-1",  "h?:1",  "h#:1"};
    for (size_t i = 0; i < COUNT(good); i++) check(is_address(good[i]), good[i]);
    for (size_t i = 0; i < COUNT(bad); i++) check(!is_address(bad[i]), bad[i]);
}

/* ---- message_stream.h ---- */

typedef struct {
    char text[400]; /* what was called, one after the other */
    size_t n;
} Log;

static void note(Log *log, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(log->text + log->n, sizeof log->text - log->n, format, ap);
    va_end(ap);
    log->n += (size_t)n;
}

static enum FieldUse use(int path)
{
    return path == 6 || path == 609 ? FIELD_ENTER : path == 5 ? FIELD_SKIP : FIELD_TAKE;
}
static bool begin(void *context, int path, uint64_t n)
{
    note(context, "[%d:%d]", path, (int)n);
    return true;
}
static bool take(void *context, int path, const uint8_t *bytes, size_t n)
{
    (void)path;
    note(context, "%.*s", (int)n, (const char *)bytes);
    return true;
}
static void number(void *context, int path, uint64_t value)
{
    note(context, "%d=%llu ", path, (unsigned long long)value);
}
static const FieldHandler handler = {use, begin, take, number};

/* Reads a message in two pieces that are split at each place in turn, and byte by byte. */
static void check_message(const char *bytes, size_t n, const char *wanted, const char *error)
{
    for (size_t split = 0; split <= n + 1; split++) {
        Log log = {0};
        ProfErr err = {0};
        MessageStream s = {.handler = &handler, .context = &log, .n_bytes = n};
        const uint8_t *p = (const uint8_t *)bytes;
        bool ok = true;
        if (split <= n)
            ok = message_stream_read(&s, p, split, &err) &&
                 message_stream_read(&s, p + split, n - split, &err);
        for (size_t i = 0; i < n && split > n && ok; i++)
            ok = message_stream_read(&s, p + i, 1, &err);
        ok = ok && message_stream_finish(&s, &err);
        if (wanted) check(ok && !strcmp(log.text, wanted), log.text);
        if (error) check(!ok && strstr(err.text, error), err.text);
    }
}
#define MESSAGE(bytes, wanted) check_message(bytes, sizeof(bytes) - 1, wanted, NULL)
#define DAMAGED(bytes, error) check_message(bytes, sizeof(bytes) - 1, NULL, error)

static void check_messages(void)
{
    MESSAGE("", "");
    MESSAGE("\x08\x96\x01", "1=150 ");
    MESSAGE("\x12\x03"
            "abc"
            "\x1a\x00"
            "\x22\x01"
            "z",
            "[2:3]abc[3:0][4:1]z");
    MESSAGE("\x2a\x02xx\x30\x01", "6=1 "); /* 5 is skipped */
    MESSAGE("\x32\x05\x0a\x01"
            "a"
            "\x10\x07",
            "[6:5][601:1]a602=7 ");                              /* a message inside */
    MESSAGE("\x32\x04\x4a\x02\x08\x01", "[6:4][609:2]60901=1 "); /* and one in that */
    MESSAGE("\x32\x00\x32\x02\x4a\x00", "[6:0][6:2][609:0]");
    MESSAGE("\xa0\x06\x05\xa2\x06\x01x", ""); /* numbers above 99 are skipped */
    MESSAGE("\x09"
            "12345678"
            "\x15"
            "1234",
            "");
    MESSAGE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "1=18446744073709551615 ");
    DAMAGED("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "a number is too long");
    DAMAGED("\x08", "ends within a field");
    DAMAGED("\x12\x03"
            "ab",
            "longer than its message");
    DAMAGED("\x32\x03\x0a\x05"
            "abcde",
            "longer than its message");
    DAMAGED("\x32\x01\x08\x01", "ends within a field");
    DAMAGED("\x00\x01", "no valid number");
    DAMAGED("\x0b", "no valid type");
    DAMAGED("\x0f", "no valid type");
    DAMAGED("\x09"
            "1234",
            "longer than its message");
}

int main(void)
{
    check_numbers();
    check_addresses();
    check_messages();
    return finish();
}
