# SPDX-License-Identifier: Apache-2.0
"""What servers do to one call: statuses, broken answers, broken connections. Each failure is one
sentence and one exit status, and leaves no file."""
import os
import resource
import socket
import ssl
import subprocess
import time

from lib.cases import Skip, case, must, same
from lib.shell import DIR, path
from remote.client import (DONE, EMPTY, FAILED, IN_THE_WAY, NO_GRPC, NO_LIBRARY, NOT_WRITTEN,
                           TOO_LATE, UNIMPLEMENTED, UNREACHABLE, USAGE, Done, files, message, run,
                           start, varint)
from remote.http2 import (DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, OK_HEAD, Server, encode,
                          frame, message_frame)

STATUSES = ('OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS '
            'PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE '
            'UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED').split()
XSPACE = b'not looked at by the client' * 5
PROFILE = message((8, XSPACE))


def refused(script, status, words, *options, **given):
    """The call fails with the status and a sentence; nothing is left. Returns the server."""
    with Server(script, **given) as server:
        done = run(server, '--attempts', '1', *options)
    lines = [line for line in done.err.splitlines() if 'attempt ' not in line]
    same((done.status, len(lines)), (status, 1), done)
    must(words in lines[0] and server.address in lines[0], done)
    same(files(), {}, done)
    return server


@case
def a_good_answer():
    with Server(lambda call: call.answer(PROFILE)) as server:
        done = run(server, '--run', 'r', '--metadata', 'x-who:me', '--duration', '250ms')
    same(done.status, DONE, done)
    name = '127.0.0.1_%d.xplane.pb' % server.port
    same(files(), {'plugins/profile/r/' + name: XSPACE})
    call, = server.calls
    same(call.path, '/tensorflow.ProfilerService/Profile')
    wanted = {':method': 'POST', 'content-type': 'application/grpc', 'te': 'trailers',
              'x-who': 'me', 'grpc-timeout': '60000m', 'grpc-accept-encoding': 'identity'}
    same({key: call.headers.get(key) for key in wanted}, wanted)


@case
def every_status():
    """With headers before, and as trailers alone; the server's words are decoded."""
    wanted = {4: TOO_LATE, 6: IN_THE_WAY, 12: UNIMPLEMENTED, 14: UNREACHABLE}
    for code, name in enumerate(STATUSES[1:], 1):
        text = '%s: no more room at 50% here'.replace('%s', name)
        refused(lambda call: call.status(code, 'no more room%20at 50%25 here'),
                wanted.get(code, FAILED), text)

        def after_headers(call):
            call.head()
            call.trailers(code)
        refused(after_headers, wanted.get(code, FAILED), ': %s' % name)


@case
def odd_statuses():
    for status in ('17', '-1', 'x', '999999999999', ''):
        refused(lambda call: call.frame(HEADERS, END_HEADERS | END_STREAM, encode(
            OK_HEAD + [('grpc-status', status)])), FAILED, ': UNKNOWN')


@case
def a_hostile_message():
    """Control characters do not reach the terminal; what is not UTF-8 is replaced."""
    server = refused(lambda call: call.status(13, '%1b[31mred%0a%ff' + 'y' * 90), FAILED,
                     'INTERNAL')
    with Server(server.script) as again:
        done = run(again, '--attempts', '1')
    must('\x1b' not in done.err and '[31mred' in done.err, done)


@case
def http_instead_of_grpc():
    for http, words in ((404, 'HTTP status 404'), (503, 'HTTP status 503'), (401, '401')):
        refused(lambda call: call.head([(':status', str(http)), ('content-type', 'text/html')],
                                       END_HEADERS | END_STREAM), NO_GRPC, words)

    def page(call):
        call.head([(':status', '200'), ('content-type', 'text/html; charset=utf-8')])
        call.data(b'<html>' * 1000, end=True)
    refused(page, NO_GRPC, 'text/html')

    def endless(call):
        call.head([(':status', '200'), ('content-type', 'text/plain')])
        while True:
            call.data(b'x' * 10000)
    refused(endless, NO_GRPC, 'text/plain')
    refused(lambda call: call.head([(':status', '200')], END_HEADERS | END_STREAM), NO_GRPC,
            '(none)')
    refused(lambda call: call.head([(':status', '200'), ('content-type', 'application/grpcx')],
                                   END_HEADERS | END_STREAM), NO_GRPC, 'application/grpcx')


@case
def no_status():
    """The stream ends without trailers."""
    def script(call):
        call.head()
        call.data(message_frame(PROFILE), end=True)
    refused(script, NO_GRPC, 'without a status of gRPC')


@case
def broken_frames():
    def sends(data, status=0):
        def script(call):
            call.head()
            call.data(data)
            call.trailers(status)
        return script
    whole = message_frame(PROFILE)
    refused(sends(whole[:-1]), NO_GRPC,
            'ends after %d of %d bytes' % (len(PROFILE) - 1, len(PROFILE)))
    refused(sends(whole[:3]), NO_GRPC, 'ends after 0 of 0 bytes')
    refused(sends(b''), NO_GRPC, 'ends after 0 of 0 bytes')
    refused(sends(whole + b'x'), NO_GRPC, 'goes on after its end')
    refused(sends(whole + whole), NO_GRPC, 'goes on after its end')
    refused(sends(message_frame(PROFILE, 1)), NO_GRPC, 'compressed')
    refused(sends(message_frame(PROFILE, 7)), NO_GRPC, 'not a gRPC message')
    refused(sends(b'\0\xff\xff\xff\xff' + bytes(100)), NO_GRPC, 'more than the limit of 2147483647')
    refused(sends(whole, 13), FAILED, 'INTERNAL')  # a status after a complete message counts


@case
def garbage_protobuf():
    for garbage, words in ((b'\xff' * 30, 'a number is too long'), (b'\0\0', 'no valid number'),
                           (b'\x43', 'no valid type'),
                           (b'\x42\xff\xff\x01x', 'longer than its message'),
                           (b'\x42', 'ends within a field'), (b'\x38', 'ends within a field'),
                           (b'\x32\x05\x0a\x09abc', 'longer than its message'),
                           (b'\x32\x02\x0a\x80', 'ends within a field'),
                           (message((8, XSPACE)) + b'\x0b', 'no valid type')):
        refused(lambda call: call.answer(garbage), NO_GRPC, words)


@case
def split_frames():
    """Bytes one by one, headers in two frames, padding, unknown frames and fields between."""
    def script(call):
        block = encode(OK_HEAD)
        call.frame(HEADERS, 0, block[:5])
        call.frame(9, END_HEADERS, block[5:])
        call.data(message_frame(message((1, 5), (99, 'x'), (1000, b'y'), (8, XSPACE[:7]),
                                        (8, XSPACE[7:]), (5, 'z'))), piece=1)
        call.raw(frame(0x77, 0, 0, b'?'))
        call.frame(DATA, 8, b'\x03' + bytes(3))
        call.trailers()
    with Server(script) as server:
        done = run(server, '--run', 'r')
    same(done.status, DONE, done)
    same(list(files().values()), [XSPACE])


@case
def a_slow_answer():
    def script(call):
        call.head()
        for byte in message_frame(PROFILE):
            call.data(bytes([byte]))
            time.sleep(0.002)
        call.trailers()
    with Server(script) as server:
        done = run(server)
    same((done.status, list(files().values())), (DONE, [XSPACE]), done)


@case
def a_deadline():
    """The server says nothing, or stops in the middle."""
    refused(lambda call: time.sleep(30), TOO_LATE, 'within the deadline of 0.3 s', '--timeout',
            '300ms')

    def half(call):
        call.head()
        call.data(message_frame(PROFILE)[:50])
        time.sleep(30)
    server = refused(half, TOO_LATE, 'after 45 bytes', '--timeout', '400ms')
    same(server.calls[0].headers['grpc-timeout'], '400m')


@case
def a_huge_answer():
    """300 MB go to the disk: the command's memory stays small."""
    size, piece = 300 << 20, bytes(range(256)) * 256
    head = b'\x42' + varint(size)

    def script(call):
        call.head()
        call.data(b'\0' + (size + len(head)).to_bytes(4, 'big') + head)
        for _ in range(size // len(piece)):
            call.data(piece)
        call.trailers()
    with Server(script) as server:
        process = start(server, '--run', 'r')
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        done = Done(process)
    same(done.status, DONE, done)
    name = path('logs/plugins/profile/r/127.0.0.1_%d.xplane.pb' % server.port)
    same(os.path.getsize(name), size)
    with open(name, 'rb') as f:
        f.seek(size - len(piece))
        same(f.read(), piece)
    must(used.ru_maxrss < 100 << 10, '%d KiB of memory' % used.ru_maxrss)


@case
def resets():
    for code, name in ((2, 'INTERNAL_ERROR'), (8, 'CANCEL'), (11, 'ENHANCE_YOUR_CALM')):
        refused(lambda call: call.reset(code), NO_GRPC, 'reset the call after 0 bytes')

        def half(call):
            call.head()
            call.data(message_frame(PROFILE)[:50])
            call.reset(code)
        refused(half, NO_GRPC, name)

    def after_trailers(call):
        call.answer(PROFILE)
        call.reset(0)
    with Server(after_trailers) as server:
        same(run(server).status, DONE)


@case
def goaway():
    refused(lambda call: (call.goaway(2), call.close()), UNREACHABLE, 'the connection broke')

    def half(call):
        call.head()
        call.data(message_frame(PROFILE)[:50])
        call.goaway(0, 0)
        call.close()
    # libcurl 7.88 gives us the bytes before a GOAWAY only if they come in another packet
    refused(half, UNREACHABLE, 'the connection broke')

    def polite(call):  # the last call that it serves is ours
        call.goaway(0, call.stream)
        time.sleep(0.2)
        call.answer(PROFILE)
    with Server(polite) as server:
        done = run(server)
    # libcurl 7.88 loses the end of an answer that follows a GOAWAY
    wanted = {DONE: [XSPACE], NO_GRPC: []}
    same(list(files().values()), wanted[done.status], done)


@case
def a_broken_connection():
    def half(call):
        call.head()
        call.data(message_frame(PROFILE)[:50])
        call.close()
    refused(half, UNREACHABLE, 'the connection broke after 45 bytes')
    refused(lambda call: call.close(), UNREACHABLE, 'the connection broke before an answer came')


@case
def an_early_end():
    """A server that has no such call ends it when it has read the headers, before the message."""
    def take(connection, kind, flags, stream, payload, original):
        original(kind, flags, stream, payload)
        if kind == HEADERS:
            call = connection.calls[stream]
            call.status(12, 'no such method')
            call.reset(0)
    from remote import http2

    class Early(http2.Connection):
        def take(self, *given):
            take(self, *given, super().take)
    with Server(lambda call: None) as server:
        original, http2.Connection = http2.Connection, Early
        try:
            done = run(server, '--attempts', '1')
        finally:
            http2.Connection = original
    same(done.status, UNIMPLEMENTED, done)
    must('no such method' in done.err, done)


# ---- who is there ----

@case
def no_server():
    with Server(None) as server:
        pass
    done = run(server, '--attempts', '1')
    same(done.status, UNREACHABLE, done)
    must('the connection is refused: no server listens there' in done.err, done)
    done = run('no-such-name.invalid:1', '--attempts', '1')
    same(done.status, UNREACHABLE, done)
    must('no address is known for this name' in done.err, done)
    same(files(), {})


def says(data, wait=True):
    def plain(sock):
        if wait:
            sock.recv(100)
        sock.sendall(data)
        time.sleep(0.05)
    return plain


@case
def other_protocols():
    for data, words, wait in (
            (b'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n', 'speaks HTTP/1', True),
            (b'\x15\x03\x01\x00\x02\x02\x46', 'speaks TLS; add --tls', True),
            (b'SSH-2.0-OpenSSH_9.2\r\n', 'what answers there is not gRPC', False),
            (b'220 mail ESMTP\r\n', 'what answers there is not gRPC', False)):
        refused(None, NO_GRPC, words, plain=says(data, wait))
    refused(None, UNREACHABLE, 'the connection broke before an answer came',
            plain=lambda sock: None)


# ---- TLS ----

def certificates():
    """A CA with a server's and a client's certificate."""
    def openssl(*arguments):
        try:
            subprocess.run(['openssl', *arguments], cwd=DIR, check=True, capture_output=True)
        except FileNotFoundError:
            raise Skip('needs openssl')
    ca = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2']
    new_key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout']
    openssl('req', '-x509', *new_key, 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=ca')
    with open(path('names'), 'w') as f:
        f.write('subjectAltName=IP:127.0.0.1\n')
    for name in ('server', 'client'):
        openssl('req', *new_key, name + '.key', '-out', name + '.csr', '-subj', '/CN=' + name)
        openssl('x509', '-req', '-in', name + '.csr', '-out', name + '.pem', '-extfile', 'names',
                *ca)


def tls_context(protocols=('h2',), client=False):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path('server.pem'), path('server.key'))
    if protocols:
        context.set_alpn_protocols(list(protocols))
    if client:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(path('ca.pem'))
    return context


@case
def tls():
    certificates()
    with Server(lambda call: call.answer(PROFILE), tls=tls_context()) as server:
        done = run(server, '--tls', '--ca', 'ca.pem', '--run', 'r')
        same(done.status, DONE, done)
        same(server.calls[0].headers[':scheme'], 'https')
        done = run(server, '--tls', '--attempts', '1')
        same(done.status, NO_GRPC, done)
        must("certificate is not accepted" in done.err, done)
        done = run(server, '--attempts', '1')
        same(done.status, NO_GRPC, done)
        must('speaks TLS; add --tls' in done.err, done)
        done = run(server, '--tls', '--ca', 'no-such-file', '--attempts', '1')
        same(done.status, FAILED, done)
        must('cannot be used' in done.err, done)


@case
def tls_with_a_client_certificate():
    certificates()
    with Server(lambda call: call.answer(PROFILE), tls=tls_context(client=True)) as server:
        given = ('--tls', '--ca', 'ca.pem', '--attempts', '1', '--timeout', '20')
        done = run(server, *given, '--cert', 'client.pem', '--key', 'client.key')
        same(done.status, DONE, done)
        must(run(server, *given).status not in (DONE, TOO_LATE), 'accepted without a certificate')


@case
def tls_to_plain_text():
    with Server(lambda call: call.answer(PROFILE)) as server:
        done = run(server, '--tls', '--attempts', '1')
    same(done.status, NO_GRPC, done)
    must('does not speak TLS; leave out --tls' in done.err, done)


@case
def tls_with_http1():
    certificates()

    def plain(sock):
        sock.recv(1000)
        sock.sendall(b'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
    with Server(None, tls=tls_context(('http/1.1',)), plain=plain) as server:
        done = run(server, '--tls', '--ca', 'ca.pem', '--attempts', '1')
    same(done.status, NO_GRPC, done)
    must('speaks HTTP/1' in done.err, done)


# ---- here ----

@case
def a_read_only_folder():
    if os.geteuid() == 0:
        os.makedirs(path('file'), exist_ok=True)
        folder = '/proc/no'  # which root cannot write either
    else:
        os.makedirs(path('closed'), mode=0o500)
        folder = 'closed/logs'
    with Server(lambda call: call.answer(PROFILE)) as server:
        done = run(server, '-o', folder)
        same((done.status, len(done.err.splitlines())), (NOT_WRITTEN, 1), done)
        must('cannot be made' in done.err, done)
        with open(path('plain'), 'w'):
            pass
        done = run(server, '-o', 'plain')
        same(done.status, NOT_WRITTEN, done)
    same(server.calls, [], 'a server was asked')


@case
def a_full_disk():
    """A limit on the size of files stands for the disk: what was written goes away."""
    def limit():
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
    with Server(lambda call: call.answer(message((8, bytes(100000))))) as server:
        done = run(server, '--attempts', '1', preexec_fn=limit)
    same(done.status, NOT_WRITTEN, done)
    must('the profile cannot be written: File too large' in done.err, done)
    same(files(), {})


@case
def no_libcurl():
    """Without libcurl the command starts, and says what is missing."""
    with Server(lambda call: call.answer(PROFILE)) as server:
        os.makedirs(path('lib'))
        for name in ('libcurl.so.4', 'libcurl-gnutls.so.4', 'libcurl.so'):
            with open(path('lib/' + name), 'w') as f:
                f.write('not a library')
        done = run(server, env={'LD_LIBRARY_PATH': path('lib')})
    same((done.status, server.calls), (NO_LIBRARY, []), done)
    must('libcurl.so.4 cannot be loaded' in done.err, done)
    linked = subprocess.run(['ldd', '../../build/profsql-capture'], cwd=os.path.dirname(__file__),
                            capture_output=True, text=True).stdout
    must('curl' not in linked, linked)


@case
def wrong_command_lines():
    for options, words in (
            (['--host', 'h:1', '--duration', '0'], '--duration 0'),
            (['--host', 'h:1', '--duration', '1y'], '--duration 1y'),
            (['--host', 'h:1', '--attempts', '0'], '--attempts 0'),
            (['--host', 'h:1', '--option', 'host_tracer_lvl=1'], 'there is no such option'),
            (['--host', 'h:1', '--option', 'host_tracer_level=high'], 'give a number'),
            (['--host', 'h:1', '--option', 'enable_hlo_proto=7'], 'true or false'),
            (['--host', 'h:1', '--option', 'x'], 'NAME=VALUE'),
            (['--host', 'h:1,h:1'], 'each address once'),
            (['--host', 'h:99999'], 'HOST:PORT'),
            (['--host', 'h:'], 'HOST:PORT'),
            (['--host', 'a/b:1'], 'HOST:PORT'),
            (['--host', 'a b:1'], 'HOST:PORT'),
            (['--host', '[::1:1'], 'HOST:PORT'),
            (['--host', 'h:1', '--run', '../x'], 'without /'),
            (['--host', 'h:1', '-o', 'gs://bucket/logs'], '--repository'),
            (['--host', 'h:1', '--ca', 'x'], 'need --tls'),
            (['--host', 'h:1', '--keep', '3'], '--keep needs --every'),
            (['--host', 'h:1', '--every', '10m', '--run', 'x'], '--every'),
            (['--host', 'h:1', '--monitor', '3'], '--monitor 3'),
            (['--host', 'h:1,h:2', '--monitor', '1'], 'one address'),
            (['--host', 'h:1', '--list', '--snapshot'], 'another task'),
            (['--host', 'h:1', '--metadata', 'x'], 'NAME:VALUE'),
            (['--host', 'h:1', '--no-such'], 'no-such'),
            (['--host', 'h:1', 'program'], 'program: unexpected')):
        done = run(*options[1:])
        same(done.status, USAGE, done)
        must(words in done.err and len(done.err.splitlines()) <= 3, done)


@case
def local_capture_is_as_before():
    """With a program after -- a --host is a name, and a help text exists."""
    done = run('a:1', '--help')
    same(done.status, DONE)
    must('jax.profiler.start_server' in done.out and 'Exit status' in done.out, done)
    done = run('a:1', '--quiet', '-o', path('local'), '--', 'true')
    same(done.status, 0, done)
    must('connection' not in done.err, done)
