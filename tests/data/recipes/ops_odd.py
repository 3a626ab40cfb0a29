#!/usr/bin/env python3
"""Writes the runs of ops_odd: cases for which XProf's tables of ops and steps have a rule and that
no generated or recorded profile contains.

    tests/data/recipes/ops_odd.py [FOLDER]      FOLDER/RUN/HOST.xplane.pb;
                                                tests/data/ops_odd/plugins/profile if not given

    categories   ops without a category, or "unknown", named as opcodes and not; names and scopes of
                 ops that are recomputed to save memory
    sparse       ops of SparseCores inside others, with and without a category; programs of two
                 SparseCores, one of which ran no op
    pools        ops of host threads that start together, the shorter first, with and without the
                 region of a thread pool
    planes       a TPU plane of another name, next to a TensorCore
    untyped      two hosts with TPUs, one of which does not record its type and so does not count as
                 a TPU when steps are merged
    apart        two hosts with GPUs whose steps are aligned differently if the first and last steps
                 count
    mixed        a host with a GPU and TensorCores: the steps of a TPU, on a GPU; one of the TPU
                 planes has no number
    unnumbered   a TPU plane without a number, and one of another name, both without a TensorCore
    coordinator  a host without devices before one with a GPU: no core of the number that XProf
                 reads
    twins        several ops of one symbol in a step, nested and not, in another order in the next
    duty         SparseCores: busier than the TensorCore in one step and less in the next; alone
                 outside all steps
    overlaps     ops that end after the op in which they start, on and off duty: three that show the
                 rule, and many random ones
    zero         kernels and a step that start before time 0 and end after it
    unsigned     a TensorCore whose steps name their groups by unsigned numbers
    offloads     ops and programs that they offload, by ids of either integer type
    memories     a TensorCore that declares every peak, with ops that access every memory and record
                 the energy that they took
    shares       steps of three TensorCores with ops of every category that XProf breaks a step
                 down by

The same bytes each time."""
import os
import random
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", ".."))
from lib.wire import (L, V, event, event_metadata, line, plane, space, stat,  # noqa: E402
                      stat_metadata)

NAMES = ["program_id", "symbol_id", "hlo_category", "tf_op", "flops", "bytes_accessed", "group_id",
         "_c", "offload_core_id", "tc_offload_start_id", "correlation_id", "device_type_string"]
KEYS = {name: i + 1 for i, name in enumerate(NAMES)}
STAT_METADATA = b"".join(stat_metadata(i, name) for name, i in KEYS.items())
STEPS, MODULES, OPS = 1, 2, 3
DERIVED_STEPS = -559038737


def s(name, **value):
    return stat(KEYS[name], **value)


def op(key, name, category=None, tf_op=None, text=None):
    """Metadata of an op of program 7."""
    stats = [s("program_id", uint64=7), s("symbol_id", uint64=key), s("flops", uint64=100 * key),
             s("bytes_accessed", uint64=50 * key)]
    stats += [s("hlo_category", str=category)] if category is not None else []
    stats += [s("tf_op", str=tf_op)] if tf_op else []
    return event_metadata(key, text or "%%%s = f32[1]{0} add(f32[1]{0} %%x)" % name, name, stats)


def categories():
    unknown = [("infeed", None), ("while", ""), ("add", "unknown"), ("add.1", "unknown"),
               ("tanh", "Unknown"), ("x.1", "Unknown"), ("outfeed", "unknown"),
               ("infeed.2", None), ("call", None), ("async_start", None), ("async-start", None),
               ("y", "loop fusion"), ("send", None), ("fed", "infeed"), ("still", "IDLE")]
    scopes = ["rematted_computation/x", "a/rematted_computation/x", "a_rematted_computations",
              "remat/x", "rematted_computation:Mul"]
    texts = ["%a.remat = f32[1] add()", "%aremat.1 = f32[1] add(a.remat)", "a.remat.1",
             "%a.remat2 = f32[1] x()", "x = add(%b.remat)"]
    metadata = [op(i + 1, name, category) for i, (name, category) in enumerate(unknown)]
    metadata += [op(i + 31, "s%d" % i, "fusion", scope) for i, scope in enumerate(scopes)]
    metadata += [op(i + 51, "t%d" % i, "fusion", text=text) for i, text in enumerate(texts)]
    keys = [i + 1 for i in range(len(unknown))] + [i + 31 for i in range(len(scopes))] + [
        i + 51 for i in range(len(texts))]
    events = [event(key, 1000 * i, 900 - i) for i, key in enumerate(keys)]
    return {"h": space(plane(3, "/device:TPU:0", [line(OPS, "XLA Ops", events)],
                             b"".join(metadata) + STAT_METADATA))}


def sparse():
    group = [s("group_id", int64=0)]
    core = plane(3, "/device:TPU:0", [
        line(STEPS, "Steps", [event(90, 1000, 100000, group)]),
        line(OPS, "XLA Ops", [event(1, 2000, 500, group + [s("offload_core_id", int64=0),
                                                           s("tc_offload_start_id", int64=0)])])],
                 op(1, "offloads", "custom-call") + event_metadata(90, "5") + STAT_METADATA)
    # no category: what is inside counts
    spans = [(5000, 500, 1), (5100, 200, 1),
             (7000, 500, 2), (7100, 200, 1),                      # a category
             (9000, 500, 1), (9100, 200, 1), (9150, 50, 1),       # three deep
             (12000, 500, 1), (12300, 400, 1),                    # overlapping
             (14000, 500, 1), (14100, 0, 1),                      # of no length
             (16100, 200, 1), (16000, 500, 1),                    # the inner first
             # off duty, with one inside that is on duty
             (20000, 500, 4), (20100, 200, 2),
             (22000, 500, 2), (22100, 200, 4),                    # the reverse
             # a known op around two without a category
             (24000, 500, 2), (24100, 200, 1), (24150, 50, 1),
             # without a category, but only what is off duty is inside
             (26000, 500, 1), (26100, 200, 4), (26150, 50, 1),
             (28000, 500, 1), (28100, 200, 4), (28350, 50, 1),    # one of both
             (30000, 500, 1), (30100, 200, 1), (30150, 50, 4),
             (32000, 500, 2), (32100, 200, 4), (32150, 100, 1), (32160, 20, 1)]
    modules = [event(91, 1000, 40000,
                     [s("offload_core_id", int64=0), s("tc_offload_start_id", int64=10)])]
    metadata = op(1, "bare") + op(2, "known", "sparsecore gather") + op(
        4, "off", "infeed") + event_metadata(91, "sc(7)") + STAT_METADATA
    ran = plane(4, "/device:TPU:0 SparseCore 0",
                [line(MODULES, "Sparse Core Modules", modules),
                 line(OPS, "Sparse Core Ops",
                      [event(key, begin, length) for begin, length, key in spans])], metadata)
    idle = plane(5, "/device:TPU:0 SparseCore 1", [line(MODULES, "Sparse Core Modules", modules),
                                                   line(OPS, "Sparse Core Ops", [])], metadata)
    return {"h": space(core, ran, idle)}


def pools():
    metadata = b"".join([event_metadata(1, "a/MatMul:MatMul"), event_metadata(2, "b/Conv2D:Conv2D"),
                         event_metadata(3, "ThreadpoolListener::StartRegion"),
                         event_metadata(4, "ThreadpoolListener::StopRegion"),
                         stat_metadata(KEYS["_c"], "_c")])
    ops = [event(1, 10000, 300), event(2, 10000, 5000), event(1, 12000, 100)]
    region = [event(3, 20000, 0, [s("_c", uint64=242)]), event(4, 30000, 0)]
    threads = [("sorted", ops + region), ("as_written", ops), ("not_begun", ops + region[1:]),
               ("without_id", ops + [event(3, 20000, 0)] + region[1:])]
    return {"h": space(plane(1, "/host:CPU", [line(10 + i, name, events, timestamp_ns=100) for i,
                                              (name, events) in enumerate(threads)], metadata))}


def planes():
    metadata = op(1, "one", "fusion", "a/One:One") + op(2, "two", "copy") + STAT_METADATA
    lines = [line(OPS, "XLA Ops", [event(1, 1000, 500), event(2, 2000, 300)]),
             line(MODULES, "XLA Modules", [event(2, 500, 4000)])]
    other = [line(OPS, "XLA Ops", [event(1, 9000, 500), event(2, 9100, 300)]),
             line(7, "else", [event(1, 100, 9900)])]
    return {"h": space(plane(1, "/device:TPU:0", lines, metadata),
                       plane(2, "/device:TPU:0 Other", other, metadata))}


def untyped():
    def core(*stats):
        metadata = op(1, "one", "fusion") + event_metadata(10, "10") + event_metadata(
            11, "11") + STAT_METADATA
        groups = [[s("group_id", int64=g)] for g in (0, 1)]
        return space(plane(1, "/device:TPU:0", [
            line(STEPS, "Steps", [event(10 + g, 10000 * g, 9000, groups[g]) for g in (0, 1)]),
            line(OPS, "XLA Ops", [event(1, 10000 * g + 100, 5000, groups[g]) for g in (0, 1)])],
                           metadata, stats))
    return {"a": core(s("device_type_string", str="TPU v5 lite")), "b": core()}


def apart():
    def gpu(steps, timestamp_ns):
        metadata = op(1, "kernel") + b"".join(event_metadata(10 + g, str(g))
                                              for g, _, _ in steps) + STAT_METADATA
        grouped = [(g, begin, length, [s("group_id", int64=g)]) for g, begin, length in steps]
        return space(plane(1, "/device:GPU:1", [
            line(53, "Stream #53(Compute)",
                 [event(1, begin + 1000, length // 2, g + [s("correlation_id", int64=200 + n)])
                  for n, begin, length, g in grouped], timestamp_ns),
            line(DERIVED_STEPS, "Steps", [event(10 + n, begin, length, g) for n, begin, length,
                                          g in grouped], timestamp_ns)], metadata))
    steps = [(0, 2060000000, 4241880673), (1, 8238456771, 4687683794), (2, 15058477924, 4498720212),
             (3, 21538288859, 4984797332), (4, 29112439688, 5224555410),
             (5, 36598453326, 5501944934)]
    return {"a": gpu(steps, 237916), "b": gpu([(0,) + steps[5][1:]], 1891284)}


def core_plane(key, name, n_steps=2, length=5000):
    """A TensorCore with an op in each step."""
    metadata = op(1, "one", "fusion") + b"".join(event_metadata(10 + g, str(10 + g))
                                                 for g in range(n_steps)) + STAT_METADATA
    groups = [[s("group_id", int64=g)] for g in range(n_steps)]
    return plane(key, name, [line(STEPS, "Steps", [event(10 + g, 10000 * g, 9000, groups[g])
                                                   for g in range(n_steps)]),
                             line(OPS, "XLA Ops", [event(1, 10000 * g + 100, length, groups[g])
                                                   for g in range(n_steps)])], metadata)


def gpu_plane(key, name):
    metadata = op(1, "kernel") + event_metadata(10, "0") + event_metadata(11, "1") + STAT_METADATA
    groups = [[s("group_id", int64=g)] for g in (0, 1)]
    return plane(key, name, [line(7, "Stream #7(Compute)", [event(
        1, 10000 * g + 500, 4000, groups[g] + [s("correlation_id", int64=5 + g)]) for g in (0, 1)]),
                             line(DERIVED_STEPS, "Steps", [event(10 + g, 10000 * g, 9000, groups[g])
                                                           for g in (0, 1)])], metadata)


def mixed():
    return {"first": space(core_plane(1, "/device:TPU:0"), core_plane(
        2, "/device:TPU:1", length=3000), gpu_plane(3, "/device:GPU:0")),
            "last": space(gpu_plane(1, "/device:GPU:0"), core_plane(4, "/device:TPU:0"),
                          core_plane(5, "/device:TPU:"))}


def unnumbered():
    return {"bare": space(core_plane(1, "/device:TPU:"),
                          core_plane(2, "/device:TPU:1", length=3000)),
            "other": space(core_plane(1, "/device:TPU:0 Other"))}


def coordinator():
    return {"a": space(plane(1, "/host:CPU", [line(1, "main", [event(1, 0, 5000)])],
                             event_metadata(1, "x"))), "b": space(gpu_plane(1, "/device:GPU:0"))}


def twins():
    names = [("one", "fusion"), ("two", "copy"), ("three", "while"), ("four", "infeed")]
    stats = [[s("program_id", uint64=7), s("symbol_id", uint64=1 + i // 3),
              s("flops", uint64=100 + i), s("hlo_category", str=category)]
             for i, (_, category) in enumerate(names)]
    metadata = b"".join(event_metadata(i + 1, "%" + name + " = x()", name, stats[i])
                        for i, (name, _) in enumerate(names))
    metadata += event_metadata(10, "10") + event_metadata(11, "11") + event_metadata(
        12, "12") + STAT_METADATA
    orders = [[1, 2, 3, 4], [3, 2, 4, 1], [2, 4, 1, 3]]
    groups = [[s("group_id", int64=g)] for g in range(3)]
    ops = [event(key, 10000 * g + 1000 * i + 100, 700 + 10 * i, groups[g])
           for g, order in enumerate(orders) for i, key in enumerate(order)]
    return {"h": space(plane(1, "/device:TPU:0", [
        line(STEPS, "Steps", [event(10 + g, 10000 * g, 9000, groups[g]) for g in range(3)]),
        line(OPS, "XLA Ops", ops)], metadata))}


def duty():
    def sparse_core(spans):
        return plane(5, "/device:TPU:0 SparseCore 0", [
            line(OPS, "Sparse Core Ops", [event(1, begin, length) for begin, length in spans])],
                     op(1, "gathers", "sparsecore gather") + STAT_METADATA)

    def tensor_core():
        metadata = op(1, "one", "fusion") + event_metadata(10, "10") + event_metadata(
            11, "11") + STAT_METADATA
        groups = [[s("group_id", int64=g)] for g in (0, 1)]
        return plane(3, "/device:TPU:0", [
            line(STEPS, "Steps", [event(10 + g, 10**10 * g, 9 * 10**9, groups[g]) for g in (0, 1)]),
            line(OPS, "XLA Ops", [event(1, 10**10 * g + 10**8, length, groups[g])
                                  for g, length in enumerate((2 * 10**9, 7 * 10**9))])], metadata)
    return {"busy": space(tensor_core(),
                          sparse_core([(10**8, 6 * 10**9), (10**10 + 10**8, 10**9)])),
            "idle": space(tensor_core(), sparse_core([(10**11, 10**9)]))}


def overlaps():
    metadata = b"".join(op(i + 1, name, name) for i, name in enumerate(
        ["fusion", "infeed", "custom-call"])) + STAT_METADATA
    metadata += event_metadata(4, "idle-call", "idle-call",
                               [s("program_id", uint64=7), s("symbol_id", uint64=4),
                                s("hlo_category", str="custom-call")])
    rnd = random.Random(3)
    spans = sorted((rnd.randrange(0, 100000, 10), rnd.choice([0, 10, 500, 3000, 20000]),
                    rnd.choice([1, 2, 3, 4, 4])) for _ in range(40))

    def host(ops):
        return space(plane(3, "/device:TPU:0", [line(OPS, "XLA Ops", [
            event(key, begin * 1000, length * 1000) for begin, length, key in ops])], metadata))
    return {"rule": host([(0, 100, 1), (10, 50, 1), (50, 30, 2)]), "random": host(spans)}


def unsigned():
    metadata = op(1, "one", "fusion") + b"".join(event_metadata(10 + g, str(10 + g))
                                                 for g in range(3)) + STAT_METADATA
    groups = [[s("group_id", uint64=g)] for g in range(3)]
    return {"h": space(plane(1, "/device:TPU:0", [
        line(STEPS, "Steps",
             [event(10 + g, 10000 * g, 5000 + 1000 * g, groups[g]) for g in range(3)]),
        line(OPS, "XLA Ops", [event(1, 10000 * g + 100, 3000, groups[g]) for g in range(3)])],
                             metadata))}


def zero():
    metadata = op(1, "kernel") + op(2, "other") + event_metadata(10, "0") + event_metadata(
        11, "1") + STAT_METADATA
    groups = [[s("group_id", int64=g)] for g in (0, 1)]
    kernels = [(1, 2714442412, 206476000, 0, 205), (2, 3132087412, 0, 0, 210),
               (1, 3500000000, 400000000, 0, 211), (2, 7000000000, 500000000, 1, 212)]
    return {"h": space(plane(1, "/device:GPU:1", [
        line(22, "Stream #22(Compute)", [event(key, begin, length, groups[g] + [
            s("correlation_id", int64=n)]) for key, begin, length, g, n in kernels], -2762084),
        line(DERIVED_STEPS, "Steps", [event(10, 2060000000, 4136281085, groups[0]), event(
            11, 6500000000, 2000000000, groups[1])], -2762084)], metadata))}


def offloads():
    ids = [(0, 0), (0, 5), (1, 0), (1, 5)]

    def stats(kind, pair):
        return [s("offload_core_id", **{kind: pair[0]}),
                s("tc_offload_start_id", **{kind: pair[1]})]

    def host(ran, offloaded):
        ops = []
        for i, pair in enumerate(ids):
            ops += [event(1 + i, 10000 * i + 1000, 500, stats(offloaded, pair)),
                    event(1 + i, 10000 * i + 3000, 500, stats(offloaded, (pair[0], pair[1] + 1)))]
            ops += [event(5 + i, 10000 * i + 5000, 500),
                    event(5 + i, 10000 * i + 7000, 500, stats(offloaded, pair))]
        core = plane(3, "/device:TPU:0", [line(OPS, "XLA Ops", ops)],
                     b"".join(op(1 + i, "offload%d" % i, "custom-call")
                              for i in range(8)) + STAT_METADATA)
        metadata = b"".join(op(11 + i, "program%d" % i, "gather")
                            for i in range(4)) + event_metadata(91, "sc(7)") + STAT_METADATA
        return space(core, plane(4, "/device:TPU:0 SparseCore 0", [
            line(MODULES, "Sparse Core Modules",
                 [event(91, 1000 * i, 900, stats(ran, pair)) for i, pair in enumerate(ids)]),
            line(OPS, "Sparse Core Ops",
                 [event(11 + i, 1000 * i + 100, 100 + i) for i in range(4)])], metadata))
    return {"both_unsigned": host("uint64", "uint64"), "mixed_types": host("uint64", "int64"),
            "both_signed": host("int64", "int64")}


PEAKS = ["peak_teraflops_per_second"] + ["peak_%s_bw_gigabytes_per_second" % memory
                                         for memory in ("hbm", "cmem_rd", "cmem_wr", "vmem_rd",
                                                        "vmem_wr", "sram_rd", "sram_wr")]


def memories():
    def access(*entries):
        return b"".join(L(1, V(1, operation), V(2, memory), V(3, n))
                        for operation, memory, n in entries)
    keys = {name: 50 + i for i, name in enumerate(["memory_access_breakdown", "vdd_energy_j",
                                                   "model_flops", "deduplicated_name",
                                                   "has_megacore", "has_merged_vmem"] + PEAKS)}
    breakdowns = [access((1, 1, 10**6), (2, 1, 2 * 10**6)),
                  access((1, 2, 3 * 10**6), (2, 2, 5 * 10**6), (1, 1, 10**5)),
                  access((1, 3, 7 * 10**6), (2, 3, 11 * 10**6)),
                  access((1, 2, 13 * 10**6), (1, 2, 1), (2, 3, 17 * 10**6), (0, 2, 19), (1, 0, 23),
                         (1, 9, 29)), b""]
    metadata = b"".join(event_metadata(i + 1, "%%op.%d = f32[1]{0} add()" % i, "op.%d" % i, [
        s("program_id", uint64=7), s("symbol_id", uint64=i + 1), s("hlo_category", str="fusion"),
        s("flops", uint64=(i + 1) * 10**8), s("bytes_accessed", uint64=(i + 2) * 10**7),
        s("tf_op", str="a/op%d:Op" % i), stat(keys["model_flops"], uint64=(i + 1) * 7 * 10**7)] + (
            [stat(keys["memory_access_breakdown"], bytes=b)] if b else []))
                        for i, b in enumerate(breakdowns)) + STAT_METADATA + b"".join(
                            stat_metadata(i, name) for name, i in keys.items())
    ops = [event(1 + n % 5, 10**7 * n, 10**6 * (3 + n),
                 [stat(keys["vdd_energy_j"], double=0.5 + n / 4)] if n % 3 else [])
           for n in range(10)]

    def host(megacore, cmem):
        peaks = [stat(keys[name], double=100.0 + 7 * i) for i, name in enumerate(PEAKS) if cmem
                 or "cmem" not in name]
        return space(plane(3, "/device:TPU:0", [line(OPS, "XLA Ops", ops)], metadata,
                           peaks + [stat(keys["has_megacore"], int64=megacore),
                                    stat(keys["has_merged_vmem"], int64=1 - megacore),
                                    s("device_type_string", str="TPU v4")]))
    return {"megacore": host(1, True), "merged": host(0, False)}


def shares():
    categories = ["sparsecorev0 infeed", "sparsecorev0 outfeed", "infeed", "outfeed", "all-reduce",
                  "all-reduce fusion", "all-to-all", "send", "send-done", "recv", "recv-done",
                  "host send",
                  "host send-done", "host recv", "host recv-done", "megacore fusion", "convolution",
                  "convolution base-dilated", "convolution window-dilated", "convolution fusion",
                  "output fusion", "loop fusion", "copy", "IDLE"]
    metadata = b"".join(op(i + 1, "op%d" % i, category) for i, category in enumerate(
        categories)) + b"".join(event_metadata(90 + g, str(g)) for g in range(4)) + STAT_METADATA
    rng = random.Random(4)
    groups = [[s("group_id", int64=g)] for g in range(4)]

    def core(number):
        steps, ops, at = [], [], 10**6 * number
        for g in range(4):
            begin = at
            for key in rng.sample(range(1, len(categories) + 1), 24 if g < 2 else 12):
                length = 10**6 * rng.randrange(1, 99)
                ops.append(event(key, at, length, groups[g]))
                at += length + 10**5 * rng.randrange(0, 30)
            steps.append(event(90 + g, begin, at - begin, groups[g]))
        return plane(3 + number, "/device:TPU:%d" % number,
                     [line(STEPS, "Steps", steps), line(OPS, "XLA Ops", ops)], metadata)
    return {"a": space(core(0), core(1)), "b": space(core(2))}


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "ops_odd", "plugins",
                                                                "profile")
    for make in (categories, sparse, pools, planes, untyped, apart, mixed, unnumbered, coordinator,
                 twins, duty, overlaps, unsigned, zero, offloads, memories, shares):
        for host, data in make().items():
            os.makedirs(os.path.join(folder, make.__name__), exist_ok=True)
            with open(os.path.join(folder, make.__name__, host + ".xplane.pb"), "wb") as f:
                f.write(data)


if __name__ == "__main__":
    main()
