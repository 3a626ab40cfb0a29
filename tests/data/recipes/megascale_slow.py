#!/usr/bin/env python3
"""Writes megascale_slow: a profile of transfers between slices with times of seconds, so that what
XProf counts in microseconds, and the recv that it divides by a million once too often, is not 0,
and with as much time between the ops as in them, so that a transfer has slack.

    forge.py megascale --seed 3 --transfers 6 --steps 2 --messages 1 --cores 1 --run slow --out MADE
    tests/data/recipes/megascale_slow.py MADE/plugins/profile/slow/slice-0.xplane.pb [FOLDER]

FOLDER/slow/slice-0.xplane.pb; tests/data/megascale_slow/plugins/profile if not given."""
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", ".."), os.path.join(HERE, "..", "..", "witness")]
from lib.wire import L, V  # noqa: E402
from xspace import fields  # noqa: E402

FACTOR = 10**6


def slow(message, path=(1, 3, 4), length=FACTOR):
    """An XSpace, or what is below it on the path of fields to its events."""
    # none of these messages has a number of another type than integers
    out, found = b"", list(fields(message))
    if path == (4,) and (2, b"XLA Ops") not in found:
        length *= 2
    for number, value in found:
        if isinstance(value, int):
            out += V(number, value * {2: 2 * FACTOR, 3: length}.get(number, 1) if not path
                     else value)
        else:
            out += L(number, slow(value, path[1:], length) if path and number == path[0] else value)
    return out


def main():
    folder = os.path.join(sys.argv[2] if len(sys.argv) > 2
                          else os.path.join(HERE, "..", "megascale_slow", "plugins", "profile"),
                          "slow")
    with open(sys.argv[1], "rb") as f:
        data = f.read()
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "slice-0.xplane.pb"), "wb") as f:
        f.write(slow(data))


if __name__ == "__main__":
    main()
