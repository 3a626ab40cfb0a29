# SPDX-License-Identifier: Apache-2.0
"""What the cases share: the command, and messages of protobuf."""
import ctypes
import os
import subprocess

from lib.cases import Skip
from lib.shell import DIR, ROOT

COMMAND = os.path.join(ROOT, 'build', 'profsql-capture')
(DONE, FAILED, USAGE, UNREACHABLE, NO_GRPC, TOO_LATE, IN_THE_WAY, EMPTY, NOT_WRITTEN, UNIMPLEMENTED,
 PARTLY) = range(11)
NO_LIBRARY, INTERRUPTED = 127, 130


def need_libcurl():
    try:
        ctypes.CDLL('libcurl.so.4')
    except OSError:
        raise Skip('needs libcurl.so.4')


def start(server, *options, env=None, **popen):
    """The command in the test's folder; server: an address or something that has one."""
    address = server if isinstance(server, str) else server.address
    return subprocess.Popen([COMMAND, '--host', address, *options], cwd=DIR, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=dict(os.environ, **(env or {})), **popen)


class Done:
    def __init__(self, process, timeout=60):
        self.out, self.err = process.communicate(timeout=timeout)
        self.status = process.returncode

    def __repr__(self):
        return 'status %d, %r, %r' % (self.status, self.out, self.err)


def run(server, *options, timeout=60, **popen):
    need_libcurl()
    return Done(start(server, *options, **popen), timeout)


def files(folder='logs'):
    """{path below folder: bytes}, of files that are complete or not."""
    found = {}
    for where, _, names in os.walk(os.path.join(DIR, folder)):
        for name in names:
            full = os.path.join(where, name)
            with open(full, 'rb') as f:
                found[os.path.relpath(full, os.path.join(DIR, folder))] = f.read()
    return found


# ---- protobuf ----

def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        import struct
        return varint(number << 3 | 1) + struct.pack('<d', value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*fields):
    return b''.join(field(number, value) for number, value in fields)


def fields(data):
    """[(number, value)] of a message; texts are bytes."""
    def number(at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                return value, at
    found, at = [], 0
    while at < len(data):
        key, at = number(at)
        value, at = number(at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        found.append((key >> 3, value))
    return found
