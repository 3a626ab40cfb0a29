#!/usr/bin/env python3
"""Writes the hosts of memory_odd: allocator events of every kind that XProf's memory profile has a
rule for.

    tests/data/recipes/memory_odd.py [FOLDER]      FOLDER/HOST.xplane.pb;
    tests/data/memory_odd/plugins/profile/odd if not given

The same bytes each time. All files bring a group_id of their own, so no grouping is involved."""
import os
import random
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", ".."))
from lib.wire import event, event_metadata, line, plane, space, stat, stat_metadata  # noqa: E402

NAMES = ["group_id", "allocator_name", "index_on_host", "device_ordinal", "bytes_reserved",
         "bytes_allocated", "bytes_available", "fragmentation",
         "peak_bytes_in_use", "requested_bytes", "allocation_bytes", "addr", "tf_op", "region_type",
         "data_type", "shape", "a name that refs use"]
KEYS = {name: i + 1 for i, name in enumerate(NAMES)}
SHORT = {"group": "group_id", "name": "allocator_name", "stack": "bytes_reserved",
         "heap": "bytes_allocated", "free": "bytes_available",
         "peak": "peak_bytes_in_use", "requested": "requested_bytes",
         "allocated": "allocation_bytes", "op": "tf_op", "region": "region_type"}


def stats(**values):
    """An int is an int64 stat, a float a double, a text a str; a pair is (type, value)."""
    out = []
    for name, value in values.items():
        kind, value = value if isinstance(value, tuple) else ({int: "int64", float: "double",
                                                               str: "str"}[type(value)], value)
        out.append(stat(KEYS[SHORT.get(name, name)], **{kind: value}))
    return out


def allocation(at, **values):
    return event(1, at, 0, stats(**values))


def free(at, **values):
    return event(2, at, 0, stats(**values))


def host(*lines, meta=(), name="/host:CPU"):
    metadata = b"".join([event_metadata(1, "MemoryAllocation", stats=meta),
                         event_metadata(2, "MemoryDeallocation", stats=meta),
                         event_metadata(3, "other")])
    return plane(1, name, [line(i + 1, "thread %d" % i, events, timestamp)
                           for i, (timestamp, events) in enumerate(lines)],
                 metadata + b"".join(stat_metadata(k, n) for n, k in KEYS.items()))


def vector():
    """The numbers of XProf's own test."""
    a = dict(name="GPU_0_bfc", fragmentation=0.25)
    return space(host((0, [
        allocation(40000, **a, stack=2000, heap=3000, free=5000, peak=8500, requested=200,
                   allocated=256, addr=222333, op="foo/bar", group=0, region_type="", data_type=0,
                   shape=""),
        free(50000, **a, stack=2000, heap=2744, free=5256, peak=8500, requested=200, allocated=256,
             addr=222333, group=0),
        allocation(70000, **a, stack=2000, heap=5000, free=3000, peak=9500, requested=300,
                   allocated=300, addr=345678, op="mul_grad/Sum", group=0, data_type=3)])))


def types():
    """Stats of unexpected types, none at all, several that name the allocator, all data types,
    extreme numbers."""
    events = [allocation(100 + i, name="types", heap=1000 + i, requested=1, allocated=1, addr=i,
                         data_type=t, group=1)
              for i, t in enumerate(list(range(-2, 36)) + list(range(98, 137))
                                    + [1 << 31, (1 << 32) + 1, -(1 << 40), 223])]
    events += [allocation(1, name="uint", heap=("uint64", 500), requested=("double", 2.0),
                          allocated=("str", "9"), addr=("uint64", 77),
                          op=("ref", KEYS["a name that refs use"]), group=("uint64", 5)),
               allocation(2, name="uint", heap=10, fragmentation=3, peak=("uint64", 5), shape=7,
                          region=("bytes", b"x"), group=("double", 1.0)),
               allocation(3), free(4), allocation(5, name=7),
               allocation(6, name=("ref", KEYS["a name that refs use"]), heap=5),
               allocation(7, name="first", index_on_host=3, heap=6),
               allocation(8, index_on_host=3, device_ordinal=4, heap=6),
               allocation(9, device_ordinal=-4, name="last", heap=6),
               allocation(10, index_on_host=("uint64", 9), heap=6),
               allocation(11, index_on_host=1, heap=6, addr=-1, requested=-5, allocated=-6,
                          group=-3),
               event(1, None, 0, stats(name="aggregated", heap=9, addr=1, allocated=9),
                     occurrences=3),
               event(3, 12, 0, stats(name="not memory", heap=9))]
    negative = [allocation(i, name="negative", heap=-10 - i, stack=1, requested=1, allocated=3,
                           addr=i, group=i // 4) for i in range(8)] + [
                               free(9, name="negative", heap=-100, addr=50, allocated=77, group=1)]
    wrap = [allocation(i, name="wrap", heap=(1 << 63) - 1 - i, stack=i * 5, free=1 << 62,
                       allocated=-(1 << 63) if i == 2 else 1 << 62, addr=i, group=0)
            for i in range(4)]
    return space(host((0, events), (0, negative + wrap),
                      meta=[stat(KEYS["allocator_name"], str="of the metadata"),
                            stat(KEYS["bytes_allocated"], int64=1)]))


def walk(rnd, n, name, at, group, lines, address=1 << 40):
    """n events of one allocator at the times that at(i) gives, dealt to the lines."""
    live, heap, peak = [], 0, 0
    for i in range(n):
        common = dict(name=name, stack=rnd.choice([0, 0, 512]),
                      fragmentation=round(rnd.random(), 6))
        step = group(i)
        if step is not None:
            common["group"] = step
        if live and rnd.random() < 0.45:
            where, size, requested = live.pop(rnd.randrange(len(live)))
            heap -= size
            made = free(at(i), **common, heap=heap, free=(1 << 30) - heap, peak=peak,
                        requested=requested, allocated=size, addr=where)
        else:
            requested = rnd.choice([1, 100, 300, 5000])
            size, where = -(-requested // 256) * 256, address + 256 * rnd.randrange(
                40 if rnd.random() < 0.2 else 100000)
            heap, peak = heap + size, max(peak, heap + size)
            live.append((where, size, requested))
            made = allocation(at(i), **common, heap=heap, free=(1 << 30) - heap, peak=peak,
                              requested=requested, allocated=size, addr=where,
                              op="op_%d" % rnd.randrange(3), region=rnd.choice(["temp", "output"]),
                              data_type=rnd.randrange(3), shape="[%d]" % rnd.randrange(2))
        rnd.choice(lines).append(made)


def ties():
    """Many events at few times, on several lines that begin at different times: the order is the
    sort's doing."""
    rnd, lines = random.Random(5), [[], [], []]
    walk(rnd, 400, "few times", lambda i: i // 40 * 1000, lambda i: i // 100, lines)
    walk(rnd, 90, "one time", lambda i: 5000, lambda i: None, lines, 1 << 41)
    walk(rnd, 16, "sixteen", lambda i: 7000 - i // 3, lambda i: i % 2, lines, 1 << 42)
    return space(host((0, lines[0]), (900, lines[1]), (-5, lines[2])))


def order():
    """Lines out of order and backwards, events with a group or without one, reused addresses, frees
    of what came before."""
    rnd, lines = random.Random(6), [[], []]
    walk(rnd, 120, "shuffled", lambda i: i * 37 % 120 * 10,
         lambda i: rnd.choice([None, 0, 1, 2, 2]), lines)
    walk(rnd, 60, "backwards", lambda i: 9000 - i, lambda i: i // 20, lines, 1 << 41)
    walk(rnd, 60, "no group", lambda i: 100 * i, lambda i: None, lines, 1 << 42)
    stack = [allocation(10 * i, name="peak of equals", heap=1 << 20, stack=4096, free=5, peak=9 - i,
                        requested=64, allocated=256, addr=i % 7, op="same", group=0)
             for i in range(30)]
    early = [free(5 * i, name="freed early", heap=5000 - 100 * i, peak=7000, requested=10,
                  allocated=100, addr=i, group=0) for i in range(12)]
    return space(host((0, lines[0] + stack), (1, lines[1] + early)))


def samples():
    """More than 1000 events of an allocator: the timeline is a sample."""
    rnd = random.Random(7)
    return space(
        host((0, [allocation(10 * i, name=name, heap=rnd.randrange(1, 200), addr=i, group=i // 500)
                  for name, n in (("sampled", 2100), ("one more", 1001)) for i in range(n)])))


def elsewhere():
    """Allocators on the planes of sub-processes and devices: XProf reads the first plane of the
    name /host:CPU alone."""
    one = [allocation(1, name="here", heap=1, group=0)]
    return space(host((0, one), name="/host:CPU [7]"), host((0, one)),
                 host((0, one + [allocation(2, name="second", heap=4, group=0)])),
                 host((0, one), name="/device:GPU:0"))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "memory_odd", "plugins",
                                                                "profile", "odd")
    os.makedirs(folder, exist_ok=True)
    for make in (vector, types, ties, order, samples, elsewhere):
        with open(os.path.join(folder, make.__name__ + ".xplane.pb"), "wb") as fh:
            fh.write(make())


if __name__ == "__main__":
    main()
