# SPDX-License-Identifier: Apache-2.0
"""A server of HTTP/2 that does what it is told, and nothing more: RFC 9113 and 7541 as far as a
client of gRPC needs them, with the means to break the rules.

    server = Server(script)      listens on 127.0.0.1; server.port
    def script(call):            runs for each request, in a thread of its own
        call.path, call.headers, call.message      what came
        call.answer(message)                       all that a good answer needs
        call.head(); call.data(...); call.trailers(...); call.raw(...); call.reset(code); ...
"""
import socket
import struct
import threading

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = (
    range(10))
END_STREAM, END_HEADERS = 1, 4
PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

# ---- HPACK, the receiving half ----

# Lengths of the canonical Huffman codes of the bytes 0 to 255 and of the end: A means 5 bits, B 6.
LENGTHS = ('ISXXXXXXXTZXXZXXXXXXXXZXXXXXXXXXBFFHIBDGFFDGDBBBAAABBBBBBBCDKBHFIBCCCCCCCCCCCCCC'
           'CCCCCCCCDCDIOIJBKABABABBBACCBBBABCBAABCCCCCKGJIXPRPPRRRSRSSSSSTSTTRSTSSSSQRSRSST'
           'RQPRRSSQSRRTQRSSQQRQSRSSPRRRSRRSVVPORSRUVVVWWVTUOQVWWVWTQQVVXWWWPTPQRQQSRRUUTTVS'
           'VWVVWWWWWXWWWWWVZ')
# The entries of the static table that clients of gRPC use; others get their number as name.
STATIC = {1: (':authority', ''), 2: (':method', 'GET'), 3: (':method', 'POST'), 4: (':path', '/'),
          6: (':scheme', 'http'), 7: (':scheme', 'https'), 19: ('accept', ''),
          23: ('authorization', ''), 28: ('content-length', ''), 31: ('content-type', ''),
          58: ('user-agent', '')}
N_STATIC = 61


def huffman_codes():
    codes, code, before = {}, 0, 0
    for symbol in sorted(range(257), key=lambda s: (LENGTHS[s], s)):
        length = ord(LENGTHS[symbol]) - ord('A') + 5
        code <<= length - before
        codes[length, code] = symbol
        before, code = length, code + 1
    return codes


CODES = huffman_codes()


def unhuffman(data):
    out, code, length = bytearray(), 0, 0
    for bit in ''.join('{:08b}'.format(byte) for byte in data):
        code, length = code << 1 | int(bit), length + 1
        if (length, code) in CODES:
            out.append(CODES[length, code])
            code = length = 0
    return bytes(out)


class Hpack:
    def __init__(self):
        self.table = []  # the newest first

    def number(self, data, at, bits):
        mask = (1 << bits) - 1
        value, at, shift = data[at] & mask, at + 1, 0
        if value == mask:
            while True:
                value += (data[at] & 127) << shift
                shift, at = shift + 7, at + 1
                if data[at - 1] < 128:
                    break
        return value, at

    def text(self, data, at):
        n, start = self.number(data, at, 7)
        raw = data[start:start + n]
        return (unhuffman(raw) if data[at] & 128 else raw).decode('latin1'), start + n

    def entry(self, index):
        if index > N_STATIC:
            return self.table[index - N_STATIC - 1]
        return STATIC.get(index, ('#%d' % index, ''))

    def decode(self, data):
        headers, at = [], 0
        while at < len(data):
            byte = data[at]
            if byte & 0x80:
                index, at = self.number(data, at, 7)
                headers.append(self.entry(index))
                continue
            if byte & 0xe0 == 0x20:  # the table's size
                at = self.number(data, at, 5)[1]
                continue
            index, at = self.number(data, at, 6 if byte & 0x40 else 4)
            if index:
                name = self.entry(index)[0]
            else:
                name, at = self.text(data, at)
            value, at = self.text(data, at)
            headers.append((name, value))
            if byte & 0x40:
                self.table.insert(0, (name, value))
        return headers


def encode(headers):
    """Literals without Huffman codes."""
    def text(s):
        raw = s.encode('latin1')
        assert len(raw) < 127
        return bytes([len(raw)]) + raw
    return b''.join(b'\0' + text(name) + text(value) for name, value in headers)


def frame(kind, flags, stream, payload=b''):
    return struct.pack('>I', len(payload))[1:] + struct.pack('>BBI', kind, flags, stream) + payload


def message_frame(message, compressed=0):
    """A message of gRPC."""
    return struct.pack('>BI', compressed, len(message)) + message


OK_HEAD = [(':status', '200'), ('content-type', 'application/grpc')]


class Call:
    """A request and what answers it."""

    def __init__(self, connection, stream, headers):
        self.connection, self.stream = connection, stream
        self.headers = dict(headers)
        self.path = self.headers.get(':path', '')
        self.body, self.window = b'', connection.first_window

    @property
    def message(self):
        return self.body[5:]

    def raw(self, data):
        self.connection.send(data)

    def frame(self, kind, flags=0, payload=b''):
        self.raw(frame(kind, flags, self.stream, payload))

    def head(self, headers=OK_HEAD, flags=END_HEADERS):
        self.frame(HEADERS, flags, encode(headers))

    def trailers(self, status=0, message=None, headers=()):
        block = [('grpc-status', str(status))] + ([('grpc-message', message)] if message else [])
        self.frame(HEADERS, END_HEADERS | END_STREAM, encode(block + list(headers)))

    def status(self, status, message=None):
        """Trailers only."""
        block = OK_HEAD + [('grpc-status', str(status))]
        block += [('grpc-message', message)] if message else []
        self.frame(HEADERS, END_HEADERS | END_STREAM, encode(block))

    def data(self, data, piece=16384, end=False):
        """Sends as much at a time as the client's windows allow."""
        c = self.connection
        while data:
            with c.ready:
                while min(self.window, c.window) <= 0 and not c.closed:
                    c.ready.wait(1)
                if c.closed:
                    raise ConnectionError('closed')
                n = min(piece, len(data), self.window, c.window)
                self.window -= n
                c.window -= n
            self.frame(DATA, 0, data[:n])
            data = data[n:]
        if end:
            self.frame(DATA, END_STREAM)

    def answer(self, message=b'', piece=16384):
        self.head()
        self.data(message_frame(message), piece)
        self.trailers()

    def reset(self, code):
        self.frame(RST_STREAM, 0, struct.pack('>I', code))

    def goaway(self, code, last=0):
        self.raw(frame(GOAWAY, 0, 0, struct.pack('>II', last, code)))

    def close(self):
        self.connection.close()


class Connection:
    def __init__(self, server, sock):
        self.server, self.sock = server, sock
        self.ready, self.sending = threading.Condition(), threading.Lock()
        self.window = self.first_window = 65535
        self.calls, self.hpack, self.closed = {}, Hpack(), False

    def send(self, data):
        with self.sending:
            self.sock.sendall(data)

    def close(self):
        with self.ready:
            self.closed = True
            self.ready.notify_all()
        try:
            self.sock.shutdown(socket.SHUT_WR)  # an end; reading goes on: unread bytes would reset
        except OSError:                         # the connection, and what was sent would be lost
            pass

    def read(self, n):
        data = b''
        while len(data) < n:
            more = self.sock.recv(n - len(data))
            if not more:
                raise ConnectionError('closed')
            data += more
        return data

    def serve(self):
        try:
            if self.read(len(PREFACE)) != PREFACE:
                return
            self.send(frame(SETTINGS, 0, 0))
            while True:
                head = self.read(9)
                n, kind, flags = int.from_bytes(head[:3], 'big'), head[3], head[4]
                stream = int.from_bytes(head[5:], 'big') & 0x7fffffff
                self.take(kind, flags, stream, self.read(n))
        except (OSError, ConnectionError):
            pass
        finally:
            self.close()
            self.sock.close()

    def take(self, kind, flags, stream, payload):
        call = self.calls.get(stream)
        if kind == SETTINGS and not flags & 1:
            for i in range(0, len(payload), 6):
                key, value = struct.unpack('>HI', payload[i:i + 6])
                if key == 4:
                    self.first_window = value
            self.send(frame(SETTINGS, 1, 0))
        elif kind == PING and not flags & 1:
            self.send(frame(PING, 1, 0, payload))
        elif kind == WINDOW_UPDATE:
            with self.ready:
                more = int.from_bytes(payload, 'big')
                if not stream:
                    self.window += more
                elif call:
                    call.window += more
                self.ready.notify_all()
        elif kind == HEADERS:
            block = payload[5:] if flags & 0x20 else payload
            call = self.calls[stream] = Call(self, stream, self.hpack.decode(block))
        elif kind == DATA and call:
            call.body += payload
        if kind in (HEADERS, DATA) and flags & END_STREAM and call:
            threading.Thread(target=self.script, args=(call,), daemon=True).start()

    def script(self, call):
        self.server.calls.append(call)
        try:
            self.server.script(call)
        except (OSError, ConnectionError):
            pass  # the client has gone
        except Exception as error:  # the case's own mistake
            self.server.errors.append(error)
            self.close()


class Server:
    def __init__(self, script, tls=None, plain=None, port=0):
        """plain: instead of HTTP/2, what is done with a connection's socket."""
        self.script, self.tls, self.plain = script, tls, plain
        self.calls, self.errors = [], []
        self.listening = socket.create_server(('127.0.0.1', port))
        self.port = self.listening.getsockname()[1]
        self.address = '127.0.0.1:%d' % self.port
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                sock = self.listening.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.start, args=(sock,), daemon=True).start()

    def start(self, sock):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if self.tls:
                sock = self.tls.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
                self.shake_hands(sock)
            if self.plain:
                self.plain(sock)
                sock.close()
            else:
                Connection(self, sock).serve()
        except OSError:
            sock.close()

    @staticmethod
    def shake_hands(sock):
        try:
            sock.do_handshake()
        except OSError:  # closing at once would discard the alert that was sent
            sock.settimeout(1)
            socket.socket.shutdown(sock, socket.SHUT_WR)
            while socket.socket.recv(sock, 1000):
                pass
            raise

    def close(self):
        self.listening.shutdown(socket.SHUT_RDWR)  # wakes up accept(), which keeps the port
        self.listening.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        if self.errors:
            raise self.errors[0]
