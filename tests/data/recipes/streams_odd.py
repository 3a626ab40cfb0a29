#!/usr/bin/env python3
"""Writes the runs of streams_odd: random kernels from which XProf derives lines, with stats from so
small a choice that most combinations occur.

    tests/data/recipes/streams_odd.py [FOLDER]      FOLDER/RUN/h.xplane.pb;
                                                    tests/data/streams_odd/plugins/profile if not
                                                    given

    levels     HLO ops within ops that share their outer levels, in several programs and modules
    graphs     kernels of CUDA graphs, with and without correlation ids, ops and programs
    together   kernels and copies that start together, some of equal length, some of length 0, and
               some that overlap; on two GPUs
    scopes     framework ops in scopes; steps without launches, because the thread's events are in
               no order
    long       more kernels on a stream than a chunk of events holds, launched by as many calls of
               two host threads
    tied       kernels of equal time, whose order is decided by one property after another
    many       more streams than XProf derives lines of, with equal numbers of kernels

The same bytes each time."""
import os
import random
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", ".."))
from lib.wire import event, event_metadata, line, plane, space, stat, stat_metadata  # noqa: E402

NAMES = ["correlation_id", "device_id", "_r", "step_num", "program_id", "hlo_op", "hlo_module",
         "tf_op", "kernel_details", "memcpy_details",
         "cuda_graph_id", "cuda_graph_exec_id", "device_vendor", "peak_teraflops_per_second",
         "peak_hbm_bw_gigabytes_per_second", "memory_bandwidth"]
KEYS = {name: i + 1 for i, name in enumerate(NAMES)}
STAT_METADATA = b"".join(stat_metadata(i, name) for name, i in KEYS.items())
US = 1000000
KERNELS = ["gemm_half", "ncclDevKernel_AllReduce", "fusion_1", "void at::vectorized<4>",
           "MemcpyD2D", "MemcpyH2D", "Memset"]
COPIES = 4  # the names from here on are no kernels
DETAILS = ["regs:32 static_shared:0 dynamic_shared:1024 grid:8,1,1 block:128,1,1 occ_pct:50",
           "regs:255 grid:1,2,3 block:4,5,6 occ_pct:12.5", "regs:1"]


def s(name, **value):
    return stat(KEYS[name], **value)


def pick(rng, values):
    """A stat of one of the values: None for no stat."""
    name, values = values
    value = rng.choice(values)
    if value is None:
        return []
    return [s(name, **({"str": value} if isinstance(value, str) else {"uint64": value}
                       if name.startswith("cuda") else {"int64": value}))]


def run(seed, n, choices, streams=(7, 9), gaps=(0, 0, 1, 5), lengths=(1, 3, 5), steps=4, gpus=1,
        unsorted=False):
    rng = random.Random(seed)
    on = {(gpu, stream): [] for gpu in range(gpus) for stream in streams}
    threads, at = [[], []], 20 * US  # (begin, event)
    for i in range(n):
        kind = rng.randrange(len(KERNELS))
        begin, length = at, rng.choice(lengths) * US
        details = [s("kernel_details", str=rng.choice(DETAILS))] if kind < COPIES else [
            s("memcpy_details",
              str="kind_src:pageable kind_dst:device size:%d dest:0 async:1" % (64 * i))]
        stats = [s("correlation_id", int64=i + 1)] * (rng.random() < 0.95) + details
        for choice in choices:
            stats += pick(rng, choice)
        gpu = rng.randrange(gpus)
        on[gpu, rng.choice(streams)].append(event(1 + kind, begin, length, stats))
        called = begin - (5 + i % 7) * US
        threads[rng.randrange(2)].append((called, event(
            21 + kind // COPIES, called, (1 + i % 3) * US,
            [s("correlation_id", int64=i + 1), s("device_id", int64=gpu + i % 31 // 30)])))
        at += (rng.choice(gaps) + (length // US if rng.random() < 0.5 else 0)) * US
    bounds = [20 * US + (at - 20 * US) * k // steps for k in range(steps + 1)]
    marks = [(bounds[k] - 15 * US, event(20, bounds[k] - 15 * US, bounds[k + 1] - bounds[k] - US,
                                         [s("_r", int64=1), s("step_num", int64=k + 5)]))
             for k in range(steps)]
    main = marks + threads[0] if unsorted else sorted(marks + threads[0], key=lambda e: e[0])
    host = event_metadata(20, "TraceContext") + event_metadata(
        21, "hipLaunchKernel") + event_metadata(22, "cuMemcpyAsync") + STAT_METADATA
    device = b"".join(event_metadata(1 + i, name) for i, name in enumerate(KERNELS)) + STAT_METADATA
    return space(
        plane(1, "/host:CPU", [line(1, "main", [e for _, e in main]),
                               line(2, "launches", [e for _, e in threads[1]])], host),
        *(plane(2 + gpu, "/device:GPU:%d" % gpu, [line(
            stream, "Stream #%d(Compute)" % stream, on[gpu, stream]) for stream in streams], device,
                [s("device_vendor", str="Nvidia"), s("peak_teraflops_per_second", double=100.0),
                 s("peak_hbm_bw_gigabytes_per_second", double=900.0),
                 s("memory_bandwidth", uint64=900 * 10**9)]) for gpu in range(gpus)))


PROGRAM, MODULE = ("program_id", [5, 5, 6, None]), ("hlo_module", ["m", "m", "n"])
TF_OP = ("tf_op", [None, "s/a:Mul", "s/a:Mul", "s/b:Add", "s/t/c:MatMul", "d:Mul", "", "s/a"])


def levels():
    return run(1, 240, [("hlo_op", ["a::b::c", "a::b::d", "a::b", "a::e::c", "a", "f::b::c", "a::",
                                    "::b", "a:b::c", None]), MODULE, PROGRAM])


def graphs():
    return run(2, 240,
               [("cuda_graph_id", [3, 3, 4, 0, None]), ("cuda_graph_exec_id", [None, 11]),
                ("hlo_op", ["a::b", "a::c", None]), ("hlo_module", ["m", "m", ""]), PROGRAM])


def together():
    return run(3, 300, [TF_OP, ("hlo_op", ["a", "b", None]), ("hlo_module", ["m"]),
                        ("program_id", [5])], gaps=(0, 0, 0, 1, 2), lengths=(0, 1, 1, 2, 9), gpus=2)


def scopes():
    return run(4, 240, [TF_OP], streams=(7,), steps=9, unsorted=True)


def long():
    return run(5, 2600, [TF_OP, ("hlo_op", ["a::b", "a::c", "d"]), ("hlo_module", ["m"]),
                         ("program_id", [5])], streams=(7,), steps=6)


def tied():
    """Kernels of equal time that differ in one thing each, and in two that would order them the
    other way round."""
    launches = [("regs:%d static_shared:%d dynamic_shared:%d grid:%d,%d,%d block:%d,%d,%d "
                 "occ_pct:50" % (numbers[6:] + numbers[:6]))
                for numbers in [(1,) * 9] + [tuple(2 if k == i else 1 for k in range(9))
                                             for i in range(9)] +
                [tuple(3 if k == i else 0 if k == i + 1 else 1 for k in range(9))
                 for i in range(8)]]
    kernels = [(name, details, op) for name in ("gemm", "gemm_half") for details in launches
               for op in ("s/b:MatMul", "s/a:Mul", None)]
    random.Random(6).shuffle(kernels)
    names = sorted({name for name, _, _ in kernels})
    events = [event(1 + names.index(name), i * US, 5000,
                    [s("kernel_details", str=details)] + ([s("tf_op", str=op)] if op else []))
              for i, (name, details, op) in enumerate(kernels)]
    metadata = b"".join(event_metadata(1 + i, name) for i, name in enumerate(names)) + STAT_METADATA
    return space(plane(2, "/device:GPU:0", [line(7, "Stream #7(Compute)", events)], metadata,
                       [s("device_vendor", str="Nvidia")]))


def many():
    return run(7, 160, [TF_OP, ("hlo_op", ["a", "b"]), MODULE, ("program_id", [5])],
               streams=tuple(range(7, 47)))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "streams_odd",
                                                                "plugins", "profile")
    for make in (levels, graphs, together, scopes, long, tied, many):
        os.makedirs(os.path.join(folder, make.__name__), exist_ok=True)
        with open(os.path.join(folder, make.__name__, "h.xplane.pb"), "wb") as f:
            f.write(make())


if __name__ == "__main__":
    main()
