#!/usr/bin/env python3
"""Writes the runs of threads_odd: nested events of host threads at random, with the names and stats that XProf groups, counts and classifies by.

    tests/data/recipes/threads_odd.py [FOLDER]      FOLDER/RUN/h.xplane.pb; tests/data/threads_odd/plugins/profile if not given

    contexts   producers on one thread and their consumers on others, several of one id, with and without types, roots of every level
    loops      executor events of steps and iterations, which XProf takes for the steps of a loop
    functions  calls of tf.functions by every mode, one in another, eager and not
    long       framework ops, eager ones too, on threads of more events than a chunk holds

Times on a thread are multiples of a microsecond, so that many events begin and end together; those of two threads are never equal, since XProf
then decides by a hash. The same bytes each time."""
import os
import random
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", ".."))
from lib.wire import event, event_metadata, line, plane, space, stat, stat_metadata  # noqa: E402

NAMES = ["_pt", "_p", "_ct", "_c", "_r", "_a", "step_num", "id", "iter_num", "graph_type", "is_func", "is_eager", "tf_function_call", "tracing_count"]
KEYS = {name: i + 1 for i, name in enumerate(NAMES)}
STAT_METADATA = b"".join(stat_metadata(i, name) for name, i in KEYS.items())
US = 1000000
MODES = ["eager", "concrete", "traced-nonXla", "traced-xla", "notTraced-nonXla", "notTraced-xla", "other", ""]


class Threads:
    """Threads of nested events. A choice is (name, {stat: values}), of which None is no stat."""

    def __init__(self, seed, choices, roots=None, lengths=(0, 1, 3, 10, 30)):
        self.rng, self.choices, self.roots, self.names, self.lines, self.lengths = random.Random(seed), choices, roots or choices, {}, [], lengths

    def event(self, choice, begin, end):
        name, stats = choice
        made = []
        for key, values in stats.items():
            value = self.rng.choice(values)
            if value is not None:
                made.append(stat(KEYS[key], **({"str": value} if isinstance(value, str) else {"uint64": value[0]} if isinstance(value, tuple) else {"int64": value})))
        key = self.names.setdefault(name, len(self.names) + 1)
        return event(key, begin * US, (end - begin) * US, made)

    def fill(self, out, begin, end, depth):
        """Events one after the other from begin to end, and others in them."""
        while begin < end:
            begin = min(end, begin + self.rng.choice((0, 0, 1, 4)))
            until = min(end, begin + self.rng.choice(self.lengths))
            out.append(self.event(self.rng.choice(self.choices if depth else self.roots), begin, until))
            if depth < 4 and self.rng.random() < 0.7:
                self.fill(out, begin, until, depth + 1)
            begin = max(until, begin + 1)

    def thread(self, length):
        out = []
        self.fill(out, 5, 5 + length, 0)
        self.lines.append(line(10 + len(self.lines), "thread%d" % len(self.lines), out, len(self.lines)))
        return self

    def bytes(self):
        metadata = b"".join(event_metadata(key, name) for name, key in self.names.items())
        return space(plane(1, "/host:CPU", self.lines, metadata + STAT_METADATA))


OPS = [("a/b:Mul", {}), ("a/c:MatMul", {"is_eager": [None, 0, 1]}), ("d:_Recv", {}), ("Iterator::Map", {}), ("x", {}), ("a/b::c:Add", {}), ("EagerKernelExecute", {})]


def contexts():
    ids, kinds = [1, 2, 3, 4, 5, (6,)], [1, 1, 2, 5, None]
    producers = Threads(1, OPS + [("FunctionRun", {"_p": ids, "_pt": kinds}), ("SessionRun", {"_p": ids, "_pt": kinds, "_r": [None, 1]})],
                        [("TraceContext", {"_r": [1], "step_num": [7, 8, 9, None]}), ("train", {"_r": [1, 2, 0]}), ("loose", {"_p": ids, "_pt": kinds})])
    producers.thread(600)
    producers.choices = producers.roots = OPS + [("ExecutorState::Process", {"_c": ids, "_ct": kinds}), ("RunGraph", {"_c": ids, "_ct": kinds, "_r": [None, None, 1, 2]}),
                                                 ("work", {"_c": ids, "_ct": kinds, "_a": [None, 1]})]
    return producers.thread(400).thread(400).bytes()


def loops():
    made = Threads(2, OPS + [("ExecutorState::Process", {"id": [1, 2, 3], "iter_num": [0, 1, 2]}), ("WhileOp-StartBody", {"id": [1, 2], "iter_num": [0, 1]})],
                   [("ExecutorState::Process", {"id": [1, 2, 3, 4], "iter_num": [0, 1, 2, 3]}), ("FunctionRun", {"id": [1, 2, 3, 4]})])
    return made.thread(500).thread(500).bytes()


def functions():
    call = {"tf_function_call": MODES + [None], "tracing_count": [1, 2, 5, None]}
    made = Threads(3, OPS + [("f", call), ("g", call), ("EagerExecute", {"is_func": [0, 1, None]}), ("KernelExecute", {"is_func": [0, 1, None]})],
                   [("f", call), ("g", call), ("EagerExecute", {"is_func": [0, 1, None]}), ("train", {"_r": [1], "step_num": [1, 2]})], (2, 5, 30))
    return made.thread(700).thread(700).bytes()


def long():
    names = ["m/l%d/op%d:%s" % (i % 3, i, kind) for i, kind in enumerate(("Mul", "Add", "MatMul", "Conv2D", "_Send", "Relu"))]
    made = Threads(5, [(name, {"is_eager": [None, None, 0, 1]}) for name in names] + OPS, [("train", {"_r": [1], "step_num": list(range(5))}), (names[0], {}), ("x", {})])
    return made.thread(7000).thread(1500).bytes()


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "threads_odd", "plugins", "profile")
    for make in (contexts, loops, functions, long):
        os.makedirs(os.path.join(folder, make.__name__), exist_ok=True)
        with open(os.path.join(folder, make.__name__, "h.xplane.pb"), "wb") as f:
            f.write(make())


if __name__ == "__main__":
    main()
