// SPDX-License-Identifier: Apache-2.0
/* curl.h: the part of libcurl that is used here, loaded on first use.
 *
 * libcurl implements HTTP/2 and TLS. It is not needed to build or to start: its functions are
 * looked up with dlopen() and dlsym(), and the numbers here are those of its binary interface,
 * which has not changed any number since 2006. tests/unit/remote.c compares them with curl/curl.h.
 */
#ifndef PROF_REMOTE_CURL_H
#define PROF_REMOTE_CURL_H

#include "../base/base.h"

typedef struct CurlEasy CurlEasy;   /* CURL */
typedef struct CurlMulti CurlMulti; /* CURLM */
typedef struct CurlList CurlList;   /* struct curl_slist */
typedef struct {
    int message; /* CURL_DONE */
    CurlEasy *easy;
    union {
        void *whatever;
        int result; /* enum CurlResult */
    } data;
} CurlMessage; /* CURLMsg */
typedef struct {
    int age;
    const char *version;
    unsigned version_number; /* 0x074200 is 7.66.0 */
    const char *host;
    int features;
} CurlVersion; /* curl_version_info_data, its first members */

/* O(our name, curl/curl.h's name, number) */
#define CURL_NUMBERS(O)                                                                            \
    O(CURL_WRITEDATA, CURLOPT_WRITEDATA, 10001)                                                    \
    O(CURL_URL, CURLOPT_URL, 10002)                                                                \
    O(CURL_ERRORBUFFER, CURLOPT_ERRORBUFFER, 10010)                                                \
    O(CURL_WRITEFUNCTION, CURLOPT_WRITEFUNCTION, 20011)                                            \
    O(CURL_POSTFIELDS, CURLOPT_POSTFIELDS, 10015)                                                  \
    O(CURL_USERAGENT, CURLOPT_USERAGENT, 10018)                                                    \
    O(CURL_HTTPHEADER, CURLOPT_HTTPHEADER, 10023)                                                  \
    O(CURL_SSLCERT, CURLOPT_SSLCERT, 10025)                                                        \
    O(CURL_HEADERDATA, CURLOPT_HEADERDATA, 10029)                                                  \
    O(CURL_CAINFO, CURLOPT_CAINFO, 10065)                                                          \
    O(CURL_FRESH_CONNECT, CURLOPT_FRESH_CONNECT, 74)                                               \
    O(CURL_FORBID_REUSE, CURLOPT_FORBID_REUSE, 75)                                                 \
    O(CURL_HEADERFUNCTION, CURLOPT_HEADERFUNCTION, 20079)                                          \
    O(CURL_HTTP_VERSION, CURLOPT_HTTP_VERSION, 84)                                                 \
    O(CURL_SSLKEY, CURLOPT_SSLKEY, 10087)                                                          \
    O(CURL_NOSIGNAL, CURLOPT_NOSIGNAL, 99)                                                         \
    O(CURL_PRIVATE, CURLOPT_PRIVATE, 10103)                                                        \
    O(CURL_POSTFIELDSIZE_LARGE, CURLOPT_POSTFIELDSIZE_LARGE, 30120)                                \
    O(CURL_CONNECT_ONLY, CURLOPT_CONNECT_ONLY, 141)                                                \
    O(CURL_TIMEOUT_MS, CURLOPT_TIMEOUT_MS, 155)                                                    \
    O(CURL_CONNECTTIMEOUT_MS, CURLOPT_CONNECTTIMEOUT_MS, 156)                                      \
    O(CURL_HTTP_CONTENT_DECODING, CURLOPT_HTTP_CONTENT_DECODING, 158)                              \
    O(CURL_NOPROXY, CURLOPT_NOPROXY, 10177)                                                        \
    O(CURL_TCP_KEEPALIVE, CURLOPT_TCP_KEEPALIVE, 213)                                              \
    O(CURL_HTTP_2TLS, CURL_HTTP_VERSION_2TLS, 4)                                                   \
    O(CURL_HTTP_2_PRIOR_KNOWLEDGE, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE, 5)                         \
    O(CURL_RESPONSE_CODE, CURLINFO_RESPONSE_CODE, 0x200002)                                        \
    O(CURL_OS_ERRNO, CURLINFO_OS_ERRNO, 0x200019)                                                  \
    O(CURL_PRIVATE_OF, CURLINFO_PRIVATE, 0x100015)                                                 \
    O(CURL_ALL, CURL_GLOBAL_ALL, 3)                                                                \
    O(CURL_HAS_HTTP2, CURL_VERSION_HTTP2, 0x10000)                                                 \
    O(CURL_DONE, CURLMSG_DONE, 1)                                                                  \
    O(CURL_OK, CURLE_OK, 0)                                                                        \
    O(CURL_BAD_URL, CURLE_URL_MALFORMAT, 3)                                                        \
    O(CURL_UNRESOLVABLE, CURLE_COULDNT_RESOLVE_HOST, 6)                                            \
    O(CURL_UNREACHABLE, CURLE_COULDNT_CONNECT, 7)                                                  \
    O(CURL_WEIRD_REPLY, CURLE_WEIRD_SERVER_REPLY, 8)                                               \
    O(CURL_HTTP2_ERROR, CURLE_HTTP2, 16)                                                           \
    O(CURL_PARTIAL, CURLE_PARTIAL_FILE, 18)                                                        \
    O(CURL_WRITE_ERROR, CURLE_WRITE_ERROR, 23)                                                     \
    O(CURL_NO_MEMORY, CURLE_OUT_OF_MEMORY, 27)                                                     \
    O(CURL_TIMED_OUT, CURLE_OPERATION_TIMEDOUT, 28)                                                \
    O(CURL_TLS_ERROR, CURLE_SSL_CONNECT_ERROR, 35)                                                 \
    O(CURL_NOTHING, CURLE_GOT_NOTHING, 52)                                                         \
    O(CURL_SEND_ERROR, CURLE_SEND_ERROR, 55)                                                       \
    O(CURL_RECEIVE_ERROR, CURLE_RECV_ERROR, 56)                                                    \
    O(CURL_BAD_CLIENT_CERT, CURLE_SSL_CERTPROBLEM, 58)                                             \
    O(CURL_BAD_SERVER_CERT, CURLE_PEER_FAILED_VERIFICATION, 60)                                    \
    O(CURL_BAD_CA_FILE, CURLE_SSL_CACERT_BADFILE, 77)                                              \
    O(CURL_AGAIN, CURLE_AGAIN, 81)                                                                 \
    O(CURL_STREAM_ERROR, CURLE_HTTP2_STREAM, 92)
#define AS_NUMBER(name, theirs, number) name = number,
enum CurlNumber { CURL_NUMBERS(AS_NUMBER) CURL_ERROR_SIZE = 256 };
#undef AS_NUMBER

/* F(result, name, parameters): functions of curl/curl.h, without the prefix curl_. */
#define CURL_FUNCTIONS(F)                                                                          \
    F(int, global_init, (long flags))                                                              \
    F(CurlVersion *, version_info, (int age))                                                      \
    F(CurlList *, slist_append, (CurlList *, const char *line))                                    \
    F(void, slist_free_all, (CurlList *))                                                          \
    F(CurlEasy *, easy_init, (void))                                                               \
    F(int, easy_setopt, (CurlEasy *, int option, ...))                                             \
    F(int, easy_getinfo, (CurlEasy *, int info, ...))                                              \
    F(int, easy_perform, (CurlEasy *))                                                             \
    F(int, easy_send, (CurlEasy *, const void *bytes, size_t n, size_t *n_sent))                   \
    F(int, easy_recv, (CurlEasy *, void *bytes, size_t n, size_t *n_received))                     \
    F(void, easy_cleanup, (CurlEasy *))                                                            \
    F(const char *, easy_strerror, (int result))                                                   \
    F(CurlMulti *, multi_init, (void))                                                             \
    F(int, multi_add_handle, (CurlMulti *, CurlEasy *))                                            \
    F(int, multi_remove_handle, (CurlMulti *, CurlEasy *))                                         \
    F(int, multi_perform, (CurlMulti *, int *n_running))                                           \
    F(int, multi_poll, (CurlMulti *, void *fds, unsigned n, int timeout_ms, int *n_ready))         \
    F(CurlMessage *, multi_info_read, (CurlMulti *, int *n_left))                                  \
    F(int, multi_cleanup, (CurlMulti *))
typedef struct {
#define AS_POINTER(result, name, parameters) result(*name) parameters;
    CURL_FUNCTIONS(AS_POINTER)
#undef AS_POINTER
} Curl;

/* Returns libcurl's functions, which the first call loads. NULL with PROF_NOTFOUND if there is no
 * libcurl with HTTP/2 (7.66 or later). May be called from any thread. */
const Curl *curl_load(ProfErr *err);

#endif
