#!/usr/bin/env python3
"""Writes the hosts of events_odd: cases for which XProf's Events DB has a rule and that no
recording contains together.

    tests/data/recipes/events_odd.py [FOLDER]      FOLDER/RUN/HOST.xplane.pb;
                                                   tests/data/events_odd/plugins/profile if not
                                                   given

Run odd:
    types     stats of every type wherever one is read: flops, correlation ids, MegaScale's, on
              planes of every name
    args      how values are printed, which stats a kind of plane leaves out, several planes of one
              name
    nested    nested events on every kind of line; HLO names of kernels that are empty or not texts
    modules   modules and steps that overlap, nest, start together and end together, and ops at
              their borders
Run lines:
    tpu       lines of every id that a TensorCore has, and lines of the same names on other planes
    gpu       lines of GPUs that have the names of a TPU's lines, and lines of counters
    empty     texts that are empty, and references to nothing
    negative  events that start before their line, and end before they start
    renamed   programs whose stat is called as by libtpu 0.0.37, and those whose metadata has
              another id than the program, with and without a stat that records it
    doubles   doubles that six digits show only after rounding, half of them halfway between two
              neighbours

The same bytes each time."""
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", ".."))
from lib.wire import (L, V, event, event_metadata, line, plane, space, stat,  # noqa: E402
                      stat_metadata, varint)

DCN = ["dcn_label", "dcn_source_slice_id", "dcn_source_per_slice_device_id",
       "dcn_destination_slice_id", "dcn_destination_per_slice_device_id",
       "duration_us", "payload_size_bytes"]
NAMES = ["flops", "bytes_accessed", "correlation_id", *DCN, "source", "hlo_op", "hlo_module",
         "tf_op", "kernel_details", "note", "value", "shape",
         "program_id", "run_id", "name"]
KEYS = {name: i + 1 for i, name in enumerate(NAMES)}
STAT_METADATA = b"".join(stat_metadata(i, name) for name, i in KEYS.items())
DERIVED = -559038737 + 1
RECEIVE = "MegaScale: Communication Transport Receive"


def s(name, **value):
    return stat(KEYS[name], **value)


def types():
    metadata = b"".join([
        event_metadata(1, "plain"), event_metadata(2, RECEIVE),
        event_metadata(3, "unsigned", "", [s("flops", uint64=11), s("bytes_accessed", uint64=12)]),
        event_metadata(4, "signed", "", [s("flops", int64=11), s("bytes_accessed", int64=12)]),
        event_metadata(5, "double", "shown",
                       [s("flops", double=11), s("bytes_accessed", double=12)]),
        event_metadata(6, "negative", "shown",
                       [s("flops", int64=-11), s("bytes_accessed", str="7")])])
    dcn = [s("dcn_label", str="c0")] + [s(name, int64=i + 1) for i, name in enumerate(DCN[1:])]
    events = [event(1, 0, 5000, dcn), event(2, 10000, 5000, dcn)]
    events += [event(2, 20000 + k * 10000, 5000, dcn[:k] + dcn[k + 1:]) for k in range(7)]
    events.append(event(2, 95000, 5000,
                        [s("dcn_label", str="u")] + [s(name, uint64=9) for name in DCN[1:]]))
    events += [event(k, 70000 + k * 10000, 5000) for k in (3, 4, 5, 6)]
    events += [event(1, 136000, 3000, [s("flops", uint64=21), s("bytes_accessed", uint64=22)]),
               event(1, 140000, 5000, [s("flops", int64=21), s("bytes_accessed", int64=22)]),
               event(3, 150000, 5000, [s("flops", uint64=31), s("bytes_accessed", uint64=32)])]
    for i, value in enumerate([{"uint64": 5}, {"int64": 5}, {"double": 5.0}, {"str": "5"},
                               {"ref": 5}, {"uint64": 2**32 + 7}, {"uint64": 0}]):
        events.append(event(1, 160000 + i * 1000, 500, [s("correlation_id", **value)]))
    events.append(event(1, 170000, 500,
                        [s("correlation_id", uint64=1), s("correlation_id", uint64=2)]))
    planes = [("/host:CPU", [(1, "main")]), ("/device:GPU:0", [(7, "Stream #7")]),
              ("/device:TPU:0", [(1, "Steps"), (2, "XLA Modules"), (3, "XLA Ops"), (
                  4, "Async XLA Ops"), (5, "XLA Ops"), (6, "TraceMe"), (33, "Odd")]),
              ("/device:TPU:1 SparseCore 0", [(1, "Sparse Core Steps"), (2, "Sparse Core Modules"),
                                              (3, "Sparse Core Ops"), (7, "x")]),
              ("/device:CUSTOM:foo", [(1, "one"), (9, "nine")]), ("/custom:bar", [(1, "one")]),
              ("/device:TPU:2 Other", [(3, "XLA Ops")]),
              ("/device:TPU:3", [(3, "a b"), (2, "c")]), ("/host:python", [(1, "p")]),
              ("/host:CPU", [(1, "main"), (2, "second")])]
    return space(*(plane(i, name, [line(k, n, events) for k, n in lines], metadata + STAT_METADATA)
                   for i, (name, lines) in enumerate(planes)))


def args():
    planes = [("/host:CPU", [(1, "main"), (3, "third")]), ("/device:GPU:0", [(7, "Stream #7")]),
              ("/device:GPU:5", [(7, "Stream #7")]),
              ("/device:TPU:0", [(1, "Steps"), (2, "XLA Modules"), (3, "XLA Ops"), (0, "zero")]),
              ("/device:TPU:1 SparseCore 0", [(1, "Sparse Core Steps"), (2, "Sparse Core Modules"),
                                              (3, "Sparse Core Ops"), (7, "x")]),
              ("/device:TPU:2 Other", [(1, "s"), (2, "m"), (3, "XLA Ops"), (4, "d")]),
              ("/host:CPU", [(1, "main b"), (2, "second")]),
              ("/device:TPU:", [(3, "q")]), ("/device:CUSTOM:z", [(3, "q")]),
              ("/device:TPU:0", [(3, "again"), (1, "Steps again")])]
    numbers = [0.1, 1 / 3, 1e20, 123456789.0, 1e-7, float("inf"), 2.5, 100000.0, 1000000.0,
               float("nan")]
    events = [event(1, 0, 5000), event(1, 1000, 500, [s("note", str="own")])]
    events += [event(2, 10000 + i * 1000, 500, [s("value", double=v)])
               for i, v in enumerate(numbers)]
    events += [event(2, 30000, 500, [s("source", str="a.py:7"), s("kernel_details", str="kd"),
                                     s("hlo_op", str="mod::op"), s("tf_op", str="x/y:Z"),
                                     s("shape", str="f32[1]"), s("hlo_module", str="jit_f(3)"),
                                     s("program_id", uint64=3), s("run_id", int64=-4)]),
               event(2, 31000, 500,
                     [s("run_id", uint64=2**63 + 5), s("note", bytes=b"ab"), s("value")]),
               event(2, 32000, 500, [s("hlo_op", str=""), s("kernel_details", ref=KEYS["note"]),
                                     s("source", ref=KEYS["value"])]),
               event(2, 33000, 500,
                     [s("flops", int64=5), s("bytes_accessed", str="x"), s("name", str="nm")])]
    out = []
    for i, (name, lines) in enumerate(planes):
        tag = name[-3:] + "."
        metadata = event_metadata(1, tag + "1", "disp",
                                  [s("note", str="mnote"), s("source", str="msrc.py:3"),
                                   s("flops", uint64=1)]) + event_metadata(2, tag + "2")
        out.append(plane(70 + i, name, [line(k, n, events, timestamp_ns=1000 * i + k)
                                        for k, n in lines], metadata + STAT_METADATA))
    return space(*out)


def nested():
    metadata = event_metadata(1, "a") + event_metadata(2, "b")
    events = [event(1, 0, 50000), event(2, 1000, 5000), event(1, 10500, 5999),
              event(2, 11000, 5499), event(2, 12000, 500), event(1, 60000, 100)]
    kernels = [event(1, 0, 10, [s("hlo_op", str="")]), event(1, 1000, 10, [s("hlo_op", str="x::")]),
               event(1, 2000, 10, [s("hlo_op", uint64=4)]),
               event(1, 3000, 10, [s("hlo_module", uint64=4)]),
               event(1, 4000, 10, [s("hlo_op", str="a::b"), s("hlo_op", str="c::d")])]
    planes = [("/host:CPU", [(1, "main")], events),
              ("/device:GPU:0", [(7, "Stream #7"), (DERIVED, "derived")], events),
              ("/device:TPU:0", [(1, "Steps"), (2, "XLA Modules"), (3, "XLA Ops")], events),
              ("/device:TPU:1 SparseCore 0",
               [(1, "Sparse Core Steps"), (2, "Sparse Core Modules"), (3, "Sparse Core Ops"),
                (7, "x"), (DERIVED, "derived")], events),
              ("/device:CUSTOM:z", [(3, "q"), (DERIVED, "derived")], events),
              ("/device:GPU:1", [(8, "Stream #8")], kernels)]
    return space(*(plane(70 + i, name, [line(k, n, e, timestamp_ns=1000 * i + k % 100)
                                        for k, n in lines], metadata + STAT_METADATA)
                   for i, (name, lines, e) in enumerate(planes)))


def modules():
    metadata = b"".join(event_metadata(k + 1, "n%d" % k) for k in range(20))
    outer = [(0, 100000), (0, 100000), (100000, 1000), (100500, 500), (102000, 1000), (102000, 500),
             (102500, 500), (102600, 100), (110000, 100),
             (110000, 100), (200000, 9000), (205000, 9000)]
    ops = [(900, 9900), (1000, 9500), (20000, 10000), (25500, 4700), (40000, 10000), (40000, 10000),
           (60000, 10000), (60000, 9000), (65000, 5000),
           (80000, 1000), (81000, 1000), (81000, 0), (82000, 0), (90000, 0), (90000, 0),
           (100100, 100), (100600, 400), (102100, 100), (102510, 20),
           (102520, 480), (102610, 50), (110000, 100), (110001, 99), (201000, 4000), (205000, 3000),
           (204000, 6000), (206000, 8000), (203000, 1000)]
    lines = [line(k, name, [event(i % 20 + 1, start, duration)
                            for i, (start, duration) in enumerate(events)])
             for k, name, events in ((1, "Steps", outer), (2, "XLA Modules", outer),
                                     (3, "XLA Ops", ops))]
    return space(plane(1, "/device:TPU:0", lines, metadata))


STATS = [s("flops", uint64=7), s("bytes_accessed", int64=8), s("correlation_id", uint64=9),
         s("source", str="f.py:3"), s("hlo_op", str="a::b"),
         s("hlo_module", str="jit_x(5)"), s("tf_op", str="p/q:R"), s("kernel_details", str="kd"),
         s("note", str="nn"), s("shape", str="(f32[2];f32[3])"),
         s("program_id", uint64=5), s("run_id", int64=4), s("name", str="nm")]


def named_lines(planes):
    """Planes whose lines all have the same events: nested ones, with stats of their own or of their
    metadata, without a name."""
    metadata = b"".join([
        event_metadata(1, "plain"), event_metadata(2, "described", "shown", [
            s("flops", uint64=11), s("note", str="mnote"), s("tf_op", str="u/v:W"),
            s("source", str="m.py:1"), s("hlo_op", str="mh")]),
        event_metadata(3, "TC Overlay:y"), event_metadata(4, "")])
    events = [event(1, 0, 50000), event(1, 1000, 20000, STATS), event(2, 2000, 5000),
              event(2, 30000, 5000, STATS), event(3, 40000, 1000), event(4, 42000, 1000),
              event(1, 52000, 3000, [s("hlo_op", str="")])]
    return space(*(plane(i + 1, name, [line(k, n, events, timestamp_ns=10**6) for k, n in lines],
                         metadata + STAT_METADATA)
                   for i, (name, lines) in enumerate(planes)))


def tpu():
    return named_lines([
        ("/device:TPU:0", [(k, "line %d" % k) for k in (-1, 0, *range(1, 13), 100, 2**32 + 7)]),
        ("/device:TPU:1",
         [(3, "_counters_"), (6, "Overlay"), (7, "XLA Ops"), (8, "XLA Modules"), (9, "Steps")]),
        ("/device:TPU:0 SparseCore 0", [(1, "Sparse Core Steps"), (7, "Overlay"), (8, "TC Overlay"),
                                        (9, "XLA Ops"), (10, "_counters_"), (11, "XLA Modules")]),
        ("/device:CUSTOM:x", [(1, "Steps"), (7, "Overlay"), (8, "TC Overlay"), (9, "XLA Ops"),
                              (10, "_counters_"), (11, "XLA Modules")]),
        ("/host:CPU", [(1, "Steps"), (2, "XLA Ops"), (8, "XLA Modules"), (10, "_counters_"),
                       (DERIVED, "derived"), (2**32 + DERIVED, "derived too")])])


def gpu():
    return named_lines([("/device:GPU:0", [(1, "Stream #1"), (2, "XLA Modules"), (3, "XLA Ops"),
                                           (4, "Steps"), (7, "_counters_"), (8, "TC Overlay"),
                                           (9, "_counters_ "), (10, "Async XLA Ops"),
                                           (11, "Sparse Core Ops"), (12, "XLA Ops")])])


def empty():
    values = [{"str": ""}, {"ref": 9999}, {"str": "z"}]
    events = [event(1, 1000 * i, 500, [s(name, **values[i % 3])])
              for i, name in enumerate(n for n in ("kernel_details", "source", "note", "tf_op",
                                                   "shape", "hlo_op", "hlo_module")
                                       for _ in range(3))]
    return space(*(plane(i, name, [line(3, "XLA Ops" if "TPU" in name else "main", events)],
                         event_metadata(1, "plain") + STAT_METADATA)
                   for i, name in enumerate(["/device:GPU:0", "/device:TPU:0", "/host:CPU"])))


def negative():
    events = [event(1, 10000, 50000), event(1, 15000, 5000), event(1, -5000, 2000),
              event(1, -7000000, 9000000), event(1, 70000, -3000), event(1, -100, -2000),
              event(1, -5, 3)]
    return space(
        *(plane(i, name, [line(3, "XLA Ops" if "TPU" in name else "main", events, timestamp_ns=at)],
                event_metadata(1, "plain") + STAT_METADATA)
          for i, (name, at) in enumerate([("/device:GPU:0", 10**6), ("/device:TPU:0", 10**6), (
              "/host:CPU", 0), ("/device:CUSTOM:x", 1700000000 * 10**9)])))


def renamed():
    # HloModuleProto m(7): an entry computation with one parameter and its negative
    shape = V(2, 11) + L(3, varint(4)) + L(5, L(1, varint(0)))
    parameter = L(1, "p") + L(2, "parameter") + L(3, shape) + V(35, 1)
    negate = L(1, "n") + L(2, "negate") + L(3, shape) + L(7, L(1, "Neg") + L(2, "scope/neg")) + V(
        35, 2) + L(36, varint(1))
    computation = L(1, "main") + L(2, parameter) + L(2, negate) + L(4, L(1, shape) + L(2, shape)
                                                                    + L(3, "p")) + V(5, 1) + V(6, 2)
    module = L(1, "m") + L(2, "main") + L(3, computation) + L(4, L(1, shape) + L(2, shape)
                                                              + L(3, "p")) + V(5, 7) + V(6, 1)

    def kept(key, own_id, name, stat_key, **program_id):
        ids = [L(5, s("program_id", **program_id))] if program_id else []
        return L(4, V(1, key), L(2, V(1, own_id), L(2, name),
                                 L(5, stat(100 + stat_key, bytes=L(1, module))), *ids))
    programs = kept(7, 7, "m(7)", 1) + kept(8, 8, "m(8)", 2) + kept(9, 1009, "m(9)", 1) + kept(
        500, 10, "m(10)", 1) + kept(600, 600, "m(11)", 1) + kept(
        601, 601, "m(13)", 1, uint64=13) + kept(602, 602, "m", 1, int64=14) + kept(
        15, 15, "m(15)", 2, uint64=15)
    kernels = [event(1, 1000 * i, 500, [s("program_id", uint64=i), s("hlo_op", str="n"),
                                        s("hlo_module", str="m(%d)" % i)]) for i in range(6, 16)]
    runs = [(i, 1000 * i - 7000) for i in (7, 8, 9, 10, 11, 13, 14, 15)]
    core = plane(2, "/device:TPU:0",
                 [line(2, "XLA Modules", [event(i, at, 900) for i, at in runs]),
                  line(3, "XLA Ops", [event(1, at + 100, 500) for _, at in runs])],
                 event_metadata(1, "%n = f32[4] negate(p)", "n")
                 + b"".join(event_metadata(i, "m(%d)" % i) for i, _ in runs) + STAT_METADATA)
    return space(plane(1, "/device:GPU:0", [line(7, "Stream #7", kernels)],
                       event_metadata(1, "kernel") + STAT_METADATA), core,
                 plane(3, "/host:metadata", metadata=programs + STAT_METADATA
                       + stat_metadata(101, "Hlo Proto") + stat_metadata(102, "HLO Proto")))


def doubles():
    values = [k * 10**n + 5 * 10**(n - 1) for n in range(1, 10)
              for k in (100000, 123456, 123457, 555555, 999999)]
    values += [(2 * k + 1) / 2**n for n in range(1, 8) for k in (500000, 1234567)] + [
        -8502515.0, 99999.95, 4e-310, 5e-324, 2.5e-5, 1.000005, 100000.5]
    return space(plane(1, "/host:CPU",
                       [line(7, "main", [event(1, i * 2000, 1000, [s("value", double=v)]) for i,
                                         v in enumerate(values)])],
                       event_metadata(1, "work") + STAT_METADATA))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "events_odd", "plugins",
                                                                "profile")
    for run, hosts in (("odd", (types, args, nested, modules)),
                       ("lines", (tpu, gpu, empty, negative, renamed, doubles))):
        os.makedirs(os.path.join(folder, run), exist_ok=True)
        for make in hosts:
            with open(os.path.join(folder, run, make.__name__ + ".xplane.pb"), "wb") as f:
                f.write(make())


if __name__ == "__main__":
    main()
