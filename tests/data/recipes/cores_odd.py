#!/usr/bin/env python3
"""Writes the runs of cores_odd: TPU planes of odd names, and lines where XProf does not expect
them.

    tests/data/recipes/cores_odd.py [FOLDER]      FOLDER/RUN/HOST.xplane.pb;
    tests/data/cores_odd/plugins/profile if not given

    alone     hosts with a plane each whose name is close to that of a TensorCore or a SparseCore
    beside    the same planes, each on a host with a TensorCore
    lines     a TensorCore with lines of a SparseCore, and the reverse

The same bytes each time."""
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", ".."))
from lib.wire import event, event_metadata, line, plane, space, stat, stat_metadata  # noqa: E402

NAMES = ["group_id", "program_id", "symbol_id", "hlo_category", "flops", "bytes_accessed",
         "device_type_string"]
KEYS = {name: i + 1 for i, name in enumerate(NAMES)}
STAT_METADATA = b"".join(stat_metadata(i, name) for name, i in KEYS.items())
STEPS, MODULES, OPS = 1, 2, 3
PLANES = {"letter": "/device:TPU:x", "two": "/device:TPU:0:1",
          "no_number": "/device:TPU:0 SparseCore", "letter_sparse": "/device:TPU:0 SparseCore x",
          "large": "/device:TPU:99999999999", "no_core": "/device:TPU: SparseCore 1",
          "close": "/device:TPU:1SparseCore 2", "sparse": "/device:TPU:1 SparseCore 2"}


def s(name, **value):
    return stat(KEYS[name], **value)


def metadata():
    ops = [("add", "loop fusion"), ("infeed", "infeed"), ("gather", "gather")]
    stats = [[s("program_id", uint64=7), s("symbol_id", uint64=i + 1), s("flops", uint64=1000),
              s("bytes_accessed", uint64=500), s("hlo_category", str=kind)]
             for i, (_, kind) in enumerate(ops)]
    return (b"".join(event_metadata(i + 1, "%%%s = f32[1]{0} %s(f32[1]{0} %%x)" % (
        name, name), name, stats[i]) for i, (name, _) in enumerate(ops)) + event_metadata(10, "0")
            + event_metadata(11, "1") + event_metadata(20, "m(7)") + STAT_METADATA)


def core(key, name, length, kinds=("",)):
    """Two steps of a core with an op of each kind: lines of TensorCores and SparseCores differ in
    their names."""
    lines = []
    for n, kind in enumerate(kinds):
        ops = [event(1 + i, 100000 * g + 10000 * i + 1000 * n + 500, length - 100 * i,
                     [s("group_id", int64=g)]) for g in (0, 1) for i in range(3)]
        lines.append(line(OPS + 10 * n, "%sOps" % kind if kind else "XLA Ops", ops))
        lines.append(line(MODULES + 10 * n, "%sModules" % kind if kind else "XLA Modules",
                          [event(20, 100000 * g, 60000, [s("group_id", int64=g)]) for g in (0, 1)]))
    return plane(key, name,
                 [line(STEPS, "Steps", [event(10 + g, 100000 * g, 90000, [s("group_id", int64=g)])
                                        for g in (0, 1)])] + lines, metadata(),
                 [s("device_type_string", str="TPU v4")])


def alone():
    return {what: space(core(3, name, 5000)) for what, name in PLANES.items()}


def beside():
    return {what: space(core(3, "/device:TPU:0", 3000), core(4, name, 5000))
            for what, name in PLANES.items()}


def lines():
    sparse = "Sparse Core "
    return {"tensor": space(core(3, "/device:TPU:0", 3000, (sparse,))),
            "tensor_both": space(core(3, "/device:TPU:0", 3000, ("", sparse))),
            "sparse": space(core(3, "/device:TPU:0", 3000),
                            core(4, "/device:TPU:0 SparseCore 0", 5000, ("",)))}


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "cores_odd", "plugins",
                                                                "profile")
    for make in (alone, beside, lines):
        for host, data in make().items():
            os.makedirs(os.path.join(folder, make.__name__), exist_ok=True)
            with open(os.path.join(folder, make.__name__, host + ".xplane.pb"), "wb") as f:
                f.write(data)


if __name__ == "__main__":
    main()
