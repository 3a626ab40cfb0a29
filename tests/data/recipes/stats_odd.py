#!/usr/bin/env python3
"""Writes the runs of stats_odd: events of hosts and GPUs that repeat stats, or whose stats have odd
values or none.

    tests/data/recipes/stats_odd.py [FOLDER]      FOLDER/RUN/HOST.xplane.pb;
                                                  tests/data/stats_odd/plugins/profile if not given

    regrouped   launches, kernels and allocations with several groups, some without a value, which
                XProf groups anew
    peaks       a GPU and a TensorCore without some of their peaks, and without any
    cores       details of cores: all zeros, of planes with one id, damaged, none
    textless    kernels whose stats have no value, an empty text or a number instead of a text,
                alone and followed by one without a value

The same bytes each time."""
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", ".."))
from lib.wire import V, event, event_metadata, line, plane, space, stat, stat_metadata  # noqa: E402

NAMES = ["group_id", "correlation_id", "device_id", "_r", "step_num", "program_id", "hlo_op",
         "hlo_module", "tf_op", "kernel_details", "memcpy_details", "shape",
         "allocator_name", "allocation_bytes", "requested_bytes", "bytes_allocated",
         "bytes_available",
         "peak_teraflops_per_second", "peak_hbm_bw_gigabytes_per_second", "memory_bandwidth",
         "device_type_string", "core_details"]
KEYS = {name: i + 1 for i, name in enumerate(NAMES)}
STAT_METADATA = b"".join(stat_metadata(i, name) for name, i in KEYS.items())
DERIVED_STEPS = -559038737


def s(name, **value):
    return stat(KEYS[name], **value)


GROUPS = [[], [0], [1], [0, 1], [1, 0], [2, 1, 0], [0, 0], [1, None], [0, None, 2], [0, 9], [9, 1]]


def groups(of, kind="int64"):
    return [s("group_id") if g is None else s("group_id", **{kind: g}) for g in of]


def regrouped():
    at, launches, kernels, memory = 1000000, [], [], []
    for step in range(3):
        for n, of in enumerate(GROUPS):
            key, begin = 100 * step + n, step * 100 * at + n * 6 * at
            launches.append(event(11 + n % 2, begin, at, [s("correlation_id", int64=key),
                                                          s("device_id", int64=0)] + groups(of)))
            kernels.append(event(1 + n % 3, begin + 2 * at, 3 * at + n,
                                 [s("correlation_id", int64=key),
                                  s("kernel_details", str="regs:32"), s("tf_op", str="a/b:Mul"),
                                  s("hlo_module", str="m"),
                                  s("hlo_op", str="op.%d" % (n // 4)), s("program_id", int64=7)]
                                 + groups(of, "uint64" if n == 3 else "int64")))
            memory.append(event(13, begin + 1000, 0, [s("allocator_name", str="GPU_0_bfc"), s(
                "bytes_allocated", int64=key * 64), s("bytes_available", int64=1 << 20),
                                                      s("allocation_bytes", int64=64),
                                                      s("requested_bytes", int64=60)] + groups(of)))
    steps = [event(10, step * 100 * at, 90 * at, [s("_r", int64=1), s("step_num", int64=step)]
                   + groups([5] * (step == 2) + [4] * step)) for step in range(3)]
    host = event_metadata(10, "train") + event_metadata(11, "hipLaunchKernel") + event_metadata(
        12, "hipMemcpyAsync") + event_metadata(13, "MemoryAllocation") + STAT_METADATA
    kernel = event_metadata(1, "gemm_half") + event_metadata(2, "MemcpyH2D") + event_metadata(
        3, "ncclAllReduce") + STAT_METADATA
    bare = b"".join(stat_metadata(i, name) for name, i in KEYS.items() if name != "group_id")
    return {"h": space(plane(1, "/host:CPU", [line(1, "main", steps), line(2, "launches", launches),
                                              line(3, "allocator", memory)], host),
                       plane(2, "/device:GPU:0", [line(7, "Stream #7(Compute)", kernels[::2]), line(
                           9, "Stream #9(Compute)", kernels[1::2])], kernel),
                       plane(3, "/device:GPU:1", [line(7, "Stream #7(Compute)", [
                           event(1, 5 * at, at, [s("correlation_id", int64=1)])])],
                             event_metadata(1, "other") + bare))}


def peaks():
    rates = {"none": [], "flops": [s("peak_teraflops_per_second", double=275)],
             "hbm": [s("peak_hbm_bw_gigabytes_per_second", double=1200),
                     s("memory_bandwidth", uint64=1200 * 10**9)]}
    rates["both"] = rates["flops"] + rates["hbm"]
    found = {}
    for what, stats in rates.items():
        found["gpu_" + what] = space(plane(1, "/device:GPU:0",
                                           [line(7, "Stream #7(Compute)", [event(1, 1000, 500)])],
                                           event_metadata(1, "kernel") + STAT_METADATA, stats))
        ops = event_metadata(1, "%add = f32[1]{0} add(f32[1]{0} %x)", "add",
                             [s("program_id", uint64=7)])
        found["tpu_" + what] = space(
            plane(1, "/device:TPU:0", [line(3, "XLA Ops", [event(1, 1000, 500)])],
                  ops + STAT_METADATA, stats + [s("device_type_string", str="TPU v4")]))
    return found


def cores():
    def core(key, name, *stats):
        ops = event_metadata(1, "%add = f32[1]{0} add(f32[1]{0} %x)", "add",
                             [s("program_id", uint64=7)])
        return plane(key, "/device:TPU:" + name,
                     [line(3, "Sparse Core Ops" if "Sparse" in name else "XLA Ops",
                           [event(1, 1000 * key, 500)])], ops + STAT_METADATA, stats)

    def details(*numbers):
        return s("core_details", bytes=b"".join(V(2 + i, n) for i, n in enumerate(numbers)))
    return {"h": space(core(3, "0", details()), core(4, "0 SparseCore 0", details()),
                       core(5, "1", details(1, 0, 1, 1, 2)), core(5, "2", details(2, 1, 1, 1, 3)),
                       core(6, "3", s("core_details", bytes=b"\xff\xff")), core(8, "5"))}


def textless():
    values = [{}, {"str": ""}, {"int64": 5}, {"str": "op"}, {"ref": KEYS["shape"]}, {"ref": 999},
              {"double": 1.5}, {"bytes": b"op"}]
    kernels, at = [], 1000000
    for name in ("hlo_op", "hlo_module", "tf_op", "kernel_details", "program_id", "correlation_id",
                 "memcpy_details", "shape"):
        for value in values:
            for again in ((), ({},)):
                stats = {"hlo_op": {"str": "fusion"}, "hlo_module": {"str": "m"},
                         "tf_op": {"str": "a/b:Mul"}, "kernel_details": {"str": "regs:32"},
                         "program_id": {"int64": 7}, "correlation_id": {"int64": len(kernels)},
                         "group_id": {"int64": len(kernels) // 64}}
                stats[name] = value
                kernels.append(event(1 + (name == "memcpy_details"), len(kernels) * 2 * at, at, [
                    s(k, **v) for k, v in stats.items()] + [s(name, **v) for v in again]))
    metadata = event_metadata(1, "kernel") + event_metadata(2, "MemcpyD2H") + event_metadata(
        10, "0") + event_metadata(11, "1") + STAT_METADATA
    steps = [event(10 + g, 128 * g * at, 127 * at, [s("group_id", int64=g)]) for g in (0, 1)]
    return {"h": space(plane(1, "/device:GPU:0", [line(7, "Stream #7(Compute)", kernels),
                                                  line(DERIVED_STEPS, "Steps", steps)], metadata)),
            "grouped": space(plane(1, "/host:CPU", [line(1, "main", [event(3, 0, 100)])],
                                   event_metadata(3, "x")),
                             plane(2, "/device:GPU:0", [line(7, "Stream #7(Compute)", kernels)],
                                   metadata))}


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "stats_odd", "plugins",
                                                                "profile")
    for make in (cores, peaks, regrouped, textless):
        for host, data in make().items():
            os.makedirs(os.path.join(folder, make.__name__), exist_ok=True)
            with open(os.path.join(folder, make.__name__, host + ".xplane.pb"), "wb") as f:
                f.write(data)


if __name__ == "__main__":
    main()
