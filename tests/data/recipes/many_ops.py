#!/usr/bin/env python3
"""Writes the runs of many_ops: more ops than XProf shows, so that its limits and the pruning of its
op profile matter.

    tests/data/recipes/many_ops.py [FOLDER]        FOLDER/{tpu,gpu}/host.xplane.pb;
                                                   tests/data/many_ops/plugins/profile if not given

    tpu   1,010 HLO ops of one core, 600 of one category, some duplicates of each other, for 505
          framework ops
    gpu   1,010 kernels for 505 framework ops, and 505 ops of a host thread

No two rows of a table have equal times, because XProf leaves their order open. The same bytes each
time."""
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", ".."))
from lib.wire import (L, V, event, event_metadata, line, plane, space, stat,  # noqa: E402
                      stat_metadata)

NAMES = ["program_id", "symbol_id", "hlo_category", "tf_op", "flops", "bytes_accessed",
         "memory_access_breakdown", "deduplicated_name", "kernel_details",
         "device_vendor", "peak_teraflops_per_second", "peak_hbm_bw_gigabytes_per_second"]
KEYS = {name: i + 1 for i, name in enumerate(NAMES)}
STATS = b"".join(stat_metadata(i, name) for name, i in KEYS.items())
NS = 1000


def s(name, **value):
    return stat(KEYS[name], **value)


def category(i):
    return "loop fusion" if i < 600 else "convolution fusion" if i < 800 else ("copy", "add",
                                                                               "reduce",
                                                                               "dot")[i % 4]


def tpu():
    metadata, events, at = [], [], 0
    for i in range(1010):
        breakdown = L(1, V(1, 1), V(2, 1), V(3, 10 * i)) + L(1, V(1, 2), V(2, 3), V(3, 5 * i))
        told = [s("program_id", uint64=7), s("symbol_id", uint64=i + 1),
                s("hlo_category", str=category(i)),
                s("tf_op", str="model/layer_%d/op_%d:Op" % (i % 53, i % 505))]
        if i % 10 == 0:
            told += [s("flops", uint64=1000 * (i * 7919 % 1010)),
                     s("bytes_accessed", uint64=20 * i),
                     s("memory_access_breakdown", bytes=breakdown)]
        if 100 <= i < 340:
            told.append(s("deduplicated_name", str="op.%d" % (100 + (i - 100) % 2)))
        metadata.append(event_metadata(i + 1, "%%op.%d = f32[%d]{0} op()" % (i, i), "op.%d" % i,
                                       told))
        duration = NS * (1000 + i * 577 % 1010) + i
        events.append(event(i + 1, at, duration))
        at += duration + NS
    steps = line(1, "Steps", [event(2000, 0, at)])
    peaks = [s("peak_teraflops_per_second", double=1.0),
             s("peak_hbm_bw_gigabytes_per_second", double=100.0)]
    return space(plane(1, "/device:TPU:0", [steps, line(2, "XLA Ops", events)],
                       b"".join(metadata) + event_metadata(2000, "0") + STATS, peaks))


def gpu():
    kernels, metadata, events = [], [], []
    for i in range(1010):
        kernels.append(event_metadata(i + 1, "kernel_%d" % i))
        events.append(event(i + 1, 2000 * NS * i, NS * (100 + i * 577 % 1010),
                            [s("kernel_details", str="regs:%d static_shared:0 dynamic_shared:0 "
                               "grid:1,1,1 block:32,1,1" % (i % 64)),
                             s("tf_op", str="model/op_%d:Op" % (i % 505))]))
    threads = [event(i + 1, 3000 * NS * i, NS * (100 + i * 211 % 505)) for i in range(505)]
    for i in range(505):
        metadata.append(event_metadata(i + 1, "model/op_%d:Op" % i))
    return space(plane(1, "/device:GPU:0", [line(1, "Stream #1(Compute)", events)],
                       b"".join(kernels) + STATS, [s("device_vendor", str="Nvidia")]),
                 plane(2, "/host:CPU", [line(1, "main", threads)], b"".join(metadata)))


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "many_ops", "plugins",
                                                                "profile")
    for name, made in ("tpu", tpu()), ("gpu", gpu()):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        with open(os.path.join(folder, name, "host.xplane.pb"), "wb") as fh:
            fh.write(made)
