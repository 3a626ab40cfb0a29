// SPDX-License-Identifier: Apache-2.0
/* probe.c: finds out which protocol a port speaks; see probe.h. */
#define _GNU_SOURCE
#include "probe.h"

#include <stdio.h>
#include <time.h>

enum { WAIT_MS = 1000, PAUSE_MS = 10 };

/* The start of HTTP/2 with empty settings. Each of the protocols answers it differently. */
static const char greeting[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";

static enum Protocol protocol_of(const uint8_t *bytes, size_t n)
{
    if (n >= 5 && !memcmp(bytes, "HTTP/", 5)) return PROTOCOL_HTTP1;
    if (n >= 3 && (bytes[0] == 0x15 || bytes[0] == 0x16) && bytes[1] == 3) return PROTOCOL_TLS;
    if (n >= 9 && bytes[3] == 4) return PROTOCOL_HTTP2;
    return n ? PROTOCOL_OTHER : PROTOCOL_SILENT;
}

static size_t read_start(const Curl *curl, CurlEasy *easy, uint8_t *bytes, size_t n_wanted)
{
    size_t n_sent, n = 0;
    if (curl->easy_send(easy, greeting, sizeof greeting - 1, &n_sent)) return 0;
    for (int waited = 0; n < n_wanted && waited < WAIT_MS; waited += PAUSE_MS) {
        size_t n_more = 0;
        int result = curl->easy_recv(easy, bytes + n, n_wanted - n, &n_more);
        n += n_more;
        if (result != CURL_AGAIN && (result || !n_more)) break;
        nanosleep(&(struct timespec){0, PAUSE_MS * 1000000L}, NULL);
    }
    return n;
}

static CurlEasy *new_connection(const Curl *curl, const char *scheme, const char *address)
{
    char url[512];
    CurlEasy *easy = curl->easy_init();
    if (!easy) return NULL;
    snprintf(url, sizeof url, "%s://%s/", scheme, address);
    curl->easy_setopt(easy, CURL_URL, url);
    curl->easy_setopt(easy, CURL_NOPROXY, "*");
    curl->easy_setopt(easy, CURL_NOSIGNAL, 1L);
    curl->easy_setopt(easy, CURL_CONNECT_ONLY, 1L);
    curl->easy_setopt(easy, CURL_TIMEOUT_MS, (long)WAIT_MS);
    return easy;
}

/* Servers with OpenSSL close the connection silently when they receive plain text. */
static bool shakes_hands(const Curl *curl, const char *address)
{
    CurlEasy *easy = new_connection(curl, "https", address);
    int result = easy ? curl->easy_perform(easy) : CURL_NO_MEMORY;
    if (easy) curl->easy_cleanup(easy);
    return result == CURL_OK || result == CURL_BAD_SERVER_CERT;
}

enum Protocol probe_port(const Curl *curl, const char *address)
{
    uint8_t start[9];
    size_t n = 0;
    CurlEasy *easy = new_connection(curl, "http", address);
    if (!easy) return PROTOCOL_SILENT;
    if (!curl->easy_perform(easy)) n = read_start(curl, easy, start, sizeof start);
    curl->easy_cleanup(easy);
    enum Protocol protocol = protocol_of(start, n);
    return protocol == PROTOCOL_SILENT && shakes_hands(curl, address) ? PROTOCOL_TLS : protocol;
}
