#!/usr/bin/env python3
"""Writes the profile perf_counters_odd: performance counters of TPUs, whole and odd.

    tests/data/recipes/perf_counters_odd.py [FOLDER]
    FOLDER/NAME/plugins/profile/odd/counters.xplane.pb; FOLDER is tests/data if not given

    perf_counters_odd     counters repeated, without a number, of odd types; cores without cycles
    perf_counters_large   counters whose products and sums pass 2^64

The same bytes each time. Counters are numbered as the units of a TPU v6e or v7x are; their values
are made up."""
import os
import random
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", ".."))
from lib.wire import event, event_metadata, line, plane, space, stat, stat_metadata  # noqa: E402

NAMES = ["counter_value", "performance_counter_id", "performance_counter_description",
         "performance_counter_sets", "device_id", "global_chip_id",
         "device_type_string"]
VALUE, NUMBER, DESCRIPTION, SETS, DEVICE, CHIP, TYPE = range(1, 8)
V6E_CYCLES, V6E_ONE_MXU, V6E_TWO_MXUS = 3257466888, 3257467408, 3257467416
V7X_CYCLES, V7X_HBM_CYCLES = (2847490056, 3384360968), (2791874568, 3328745480)


def tpu(index, kind, lines, chip=None, device=None, metadata=b"", name=None):
    stats = [stat(TYPE, str=kind)] if kind else []
    stats += [stat(CHIP, uint64=chip)] if chip is not None else []
    stats += [stat(DEVICE, uint64=device)] if device is not None else []
    metadata += event_metadata(1, "Counter One") + b"".join(stat_metadata(i + 1, n)
                                                            for i, n in enumerate(NAMES))
    return plane(30 + index, name or "/device:TPU:%d" % index, lines, metadata, stats)


def counter(number, value, meta=1, more=()):
    kind = "uint64" if value is None else "double" if isinstance(
        value, float) else "str" if isinstance(value, str) else "int64" if value < 0 else "uint64"
    return event(meta, 0, 0, ([stat(NUMBER, uint64=number)] if number is not None else [])
                 + ([stat(VALUE, **{kind: value})] if value is not None else []) + list(more))


def sample(rnd, ids, zero=0.2):
    return [counter(i, 0 if rnd.random() < zero
                    else rnd.randrange(10**6) * (1.0 if rnd.random() < 0.1 else 1)) for i in ids]


def main():
    rnd = random.Random(7)
    v6e = [V6E_CYCLES] + [3257466968, 3257466976] + list(range(3257467136, 3257467200, 8)) + list(
        range(3257467272, 3257467560, 8)) + list(range(3257468576, 3257468736, 8))
    v6e += list(range(2953257136, 2953257360, 56)) + [3019980824 + 2097152 * i + 8 * j
                                                      for i in range(3) for j in range(6)]
    v6e += [3490185224, 3490185704, 3490185720, 3490186176, 3532193800, 3532193808, 3534225416,
            3534225896, 3576233992, 3576234000]
    v7x = list(V7X_CYCLES) + list(V7X_HBM_CYCLES)
    for base in (2791874568, 3328745480):
        v7x += range(base + 80, base + 640, 8)
    v7x += [2705724440 + 131072 * i + 8 * j for i in range(3)
            for j in range(6)] + [3242595352 + 8 * j for j in range(6)] + [3238449440, 3238449496]
    v7x += [2792513544, 2792513552, 2809282576, 2817921032, 2817921040, 2819776520, 3329384456,
            3329384464, 3356647432]
    lines = [line(0, "Kernel A", [counter(V6E_CYCLES, 900000)] + sample(rnd, v6e)),
             line(1, "Kernel B", sample(rnd, v6e, 0.6)),
             # one number twice; the line's id twice; an id below 0
             line(5, "five", [counter(V6E_CYCLES, 100), counter(V6E_CYCLES, 300), counter(
                 V6E_ONE_MXU, 50), counter(V6E_ONE_MXU, 70), counter(V6E_TWO_MXUS, 290)]),
             line(5, "five again", [counter(V6E_TWO_MXUS, 200)]),
             line(-2, "", [counter(V6E_CYCLES, 10), counter(V6E_TWO_MXUS, 11)]),
             line(9, "no counters", [event(1, 0, 5)])]
    # values that are no counts
    odd = [line(0, "odd",
                [counter(V6E_CYCLES, 100), counter(V6E_ONE_MXU, "55"), counter(V6E_TWO_MXUS, -7),
                 counter(3257467400, 3.7), counter(3257467184, 1e25),
                 counter(3257467192, float("nan")), counter(3257467168, -5.5), counter(None, 77, 2),
                 counter(None, None, 3), counter(None, 2, 4), counter(8, 1, 4)])]
    odd_metadata = event_metadata(2, "unknown to XProf",
                                  stats=[stat(DESCRIPTION, str="of the metadata"),
                                         stat(SETS, str="some set")])
    odd_metadata += event_metadata(3, "Of The Metadata", stats=[stat(
        NUMBER, uint64=3257467136), stat(VALUE, uint64=55)]) + event_metadata(4, "MIXED \u00c4")
    # a core without cycles of its own, and cycles of HBM alone
    cores = [line(0, "Kernel A", sample(rnd, v7x, 0.1)),
             line(1, "idle core", [counter(V7X_CYCLES[1], 1000), counter(2791875024, 100),
                                   counter(3328745936, 300), counter(2791874648, 33)]),
             line(2, "HBM alone", [counter(V7X_HBM_CYCLES[0], 500), counter(2705724440, 50),
                                   counter(3242595352, 70)])]
    data = space(tpu(0, "TPU v6 Lite", lines, 4, 2),
                 tpu(1, "TPU v6 Lite", odd, None, 7, odd_metadata), tpu(2, "TPU v7x", cores, 1, 3),
                 tpu(3, "TPU v6 Lite", [line(0, "no ids", [counter(V6E_CYCLES, 5)])]),
                 tpu(4, "TPU v5", [line(0, "other chip", [counter(V6E_CYCLES, 5)])], 5, 5),
                 tpu(0, None, [line(3, "stream", [counter(11, 12)])], None, 9,
                     name="/device:GPU:0"), hostname="counters")
    large = [[line(0, "Kernel A", [counter(i, rnd.getrandbits(bits)) for i in ids])
              for bits in (64, 61)] for ids in (v6e, v7x)]
    large = space(tpu(0, "TPU v6 Lite", large[0], 4, 2), tpu(2, "TPU v7x", large[1], 1, 3),
                  hostname="counters")
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..")
    for name, content in (("perf_counters_odd", data), ("perf_counters_large", large)):
        run = os.path.join(folder, name, "plugins", "profile", "odd")
        os.makedirs(run, exist_ok=True)
        with open(os.path.join(run, "counters.xplane.pb"), "wb") as fh:
            fh.write(content)


if __name__ == "__main__":
    main()
