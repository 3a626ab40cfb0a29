#!/usr/bin/env python3
"""Writes the profile hlo_zoo: a GPU that runs every instruction of the programs in hlo_zoo/modules
once, so that XProf says what each costs.

    ORACLE_PYTHON tests/data/recipes/hlo_zoo.py [FOLDER]     FOLDER/gpu-host.xplane.pb;
    tests/data/hlo_zoo/plugins/profile/zoo if not given

Needs a python with jaxlib, whose parser makes protos of HLO text. The programs cover the opcodes,
element types, attributes, shardings and layouts of HLO; `vectors` holds the cases of XProf's own
tests of its cost analysis, fusions, operations and calls were put together at random."""
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", ".."))
from lib.wire import L, event, event_metadata, line, plane, space, stat, stat_metadata  # noqa: E402

MODULES = os.path.join(HERE, "..", "hlo_zoo", "modules")
# each kernel takes a picosecond more than the one before: no ties
KERNEL_PS, PERIOD_PS = 1000000, 2000000


def program(text):
    """(HloProto, names of its instructions)."""
    from jaxlib import _hlo

    module = _hlo.hlo_module_from_text(text)
    names = [re.match(r"\s*(?:ROOT )?%?([\w.-]+) = ", row)
             for row in module.to_string().splitlines()]
    return L(1, module.as_serialized_hlo_module_proto()), [name.group(1) for name in names if name]


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "hlo_zoo", "plugins",
                                                                "profile", "zoo")
    programs, events, kernels = b"", [], {}
    for i, name in enumerate(sorted(os.listdir(MODULES))):
        with open(os.path.join(MODULES, name)) as fh:
            proto, ops = program(fh.read())
        programs += event_metadata(i + 1, "%s(%d)" % (name.split(".")[0], i + 1),
                                   stats=[stat(1, bytes=proto)])
        for op in ops:
            kernel = kernels.setdefault(op, len(kernels) + 10)
            events.append(event(kernel, len(events) * PERIOD_PS, KERNEL_PS + len(events), [
                stat(1, ref=kernel), stat(2, uint64=i + 1), stat(3, uint64=len(events) + 1)]))
    metadata = b"".join(event_metadata(key, "kernel_" + op) + stat_metadata(key, op)
                        for op, key in kernels.items())
    metadata += b"".join(stat_metadata(i + 1, name)
                         for i, name in enumerate(("hlo_op", "program_id", "correlation_id")))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "gpu-host.xplane.pb"), "wb") as fh:
        fh.write(space(plane(0, "/host:metadata",
                             metadata=programs + stat_metadata(1, "Hlo Proto")),
                       plane(1, "/device:GPU:0", [line(1, "Stream #1(Compute)", events)], metadata),
                       hostname="gpu-host"))


if __name__ == "__main__":
    main()
