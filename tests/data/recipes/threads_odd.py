#!/usr/bin/env python3
"""Writes the runs of threads_odd: random nested events of host threads, with the names and stats by
which XProf groups, counts and classifies.

    tests/data/recipes/threads_odd.py [FOLDER]      FOLDER/RUN/h.xplane.pb;
                                                    tests/data/threads_odd/plugins/profile if not
                                                    given

    contexts    producers on one thread and their consumers on others, several with one id, with and
                without types, roots of every level
    loops       executor events of steps and iterations next to a while loop, whose file XProf
                leaves ungrouped
    iterations  the same without it: XProf treats the iterations as steps, except for those of
                tf.data's functions
    launches    requests and programs in the queues of two TPU cores, kernels and a GPU's streams;
                contexts within and between two processes
    crowds      contexts of 63 and 64 producers and consumers, the second of which XProf ignores
    functions   calls of tf.functions in every mode, one in another, eager and not
    long        framework ops, eager ones too, on threads of more events than a chunk holds

Times on a thread are multiples of a microsecond, so that many events start and end together; those
of two threads are never equal, because XProf then decides by a hash. The same bytes each time."""
import os
import random
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", ".."))
from lib.wire import event, event_metadata, line, plane, space, stat, stat_metadata  # noqa: E402

NAMES = ["_pt", "_p", "_ct", "_c", "_r", "_a", "step_num", "id", "iter_num", "graph_type",
         "is_func", "is_eager", "tf_function_call", "tracing_count"]
QUEUES = ["request_id", "queue_addr", "run_id", "queue_id", "device_ordinal", "core_type",
          "correlation_id", "process_id", "_pid", "hlo_category"]
KEYS = {name: i + 1 for i, name in enumerate(NAMES + QUEUES)}
STAT_METADATA = b"".join(stat_metadata(KEYS[name], name) for name in NAMES)
US = 1000000
MODES = ["eager", "concrete", "traced-nonXla", "traced-xla", "notTraced-nonXla", "notTraced-xla",
         "other", ""]


class Threads:
    """Threads of nested events. A choice is (name, {stat: values}), of which None is no stat."""
    more = b""

    def __init__(self, seed, choices, roots=None, lengths=(0, 1, 3, 10, 30)):
        self.rng, self.choices, self.roots, self.names, self.lines, self.lengths = random.Random(
            seed), choices, roots or choices, {}, [], lengths

    def event(self, choice, begin, end):
        name, stats = choice
        made = []
        for key, values in stats.items():
            value = self.rng.choice(values)
            if value is not None:
                made.append(stat(KEYS[key], **({"str": value} if isinstance(value, str) else {
                    "uint64": value[0]} if isinstance(value, tuple) else {"int64": value})))
        key = self.names.setdefault(name, len(self.names) + 1)
        return event(key, begin * US, (end - begin) * US, made)

    def fill(self, out, begin, end, depth):
        """Events one after the other from begin to end, and others in them."""
        while begin < end:
            begin = min(end, begin + self.rng.choice((0, 0, 1, 4)))
            until = min(end, begin + self.rng.choice(self.lengths))
            out.append(self.event(self.rng.choice(self.choices if depth else self.roots), begin,
                                  until))
            if depth < 4 and self.rng.random() < 0.7:
                self.fill(out, begin, until, depth + 1)
            begin = max(until, begin + 1)

    def thread(self, length):
        out = []
        self.fill(out, 5, 5 + length, 0)
        self.lines.append(line(10 + len(self.lines), "thread%d" % len(self.lines), out,
                               len(self.lines)))
        return self

    def bytes(self):
        return space(self.plane())

    def plane(self, key=1, name="/host:CPU", stats=()):
        metadata = b"".join(event_metadata(key, name) for name, key in self.names.items())
        return plane(key, name, self.lines, metadata + STAT_METADATA + self.more, stats)


class Queues(Threads):
    more = b"".join(stat_metadata(KEYS[name], name) for name in QUEUES)


OPS = [("a/b:Mul", {}), ("a/c:MatMul", {"is_eager": [None, 0, 1]}), ("d:_Recv", {}),
       ("Iterator::Map", {}), ("x", {}), ("a/b::c:Add", {}), ("EagerKernelExecute", {})]


def contexts():
    ids, kinds = [1, 2, 3, 4, 5, (6,)], [1, 1, 2, 5, None]
    producers = Threads(1, OPS + [("FunctionRun", {"_p": ids, "_pt": kinds}),
                                  ("SessionRun", {"_p": ids, "_pt": kinds, "_r": [None, 1]})],
                        [("TraceContext", {"_r": [1], "step_num": [7, 8, 9, None]}),
                         ("train", {"_r": [1, 2, 0]}), ("loose", {"_p": ids, "_pt": kinds})])
    producers.thread(600)
    producers.choices = producers.roots = OPS + [
        ("ExecutorState::Process", {"_c": ids, "_ct": kinds}),
        ("RunGraph", {"_c": ids, "_ct": kinds, "_r": [None, None, 1, 2]}),
        ("work", {"_c": ids, "_ct": kinds, "_a": [None, 1]})]
    return producers.thread(400).thread(400).bytes()


def loops():
    made = Threads(2, OPS + [("ExecutorState::Process", {"id": [1, 2, 3], "iter_num": [0, 1, 2]}),
                             ("WhileOp-StartBody", {"id": [1, 2], "iter_num": [0, 1]})],
                   [("ExecutorState::Process", {"id": [1, 2, 3, 4], "iter_num": [0, 1, 2, 3]}),
                    ("FunctionRun", {"id": [1, 2, 3, 4]})])
    return made.thread(500).thread(500).bytes()


def iterations():
    made = Threads(
        2, OPS + [("ExecutorState::Process", {"id": [1, 2, (3,), None], "iter_num": [0, 1, (2,)]}),
                  ("RunGraph", {"_r": [1], "id": [1, 9]})],
        [("ExecutorState::Process", {"id": [1, 2, 3, 4, 5], "iter_num": [0, 1, 2, 3, None],
                                     "graph_type": [None, None, "train"]}),
         ("FunctionRun", {"id": [1, 2, 3, 4]}),
         ("ExecutorState::Process", {"id": [6], "iter_num": [0]}),
         ("InstantiatedCapturedFunction::Run", {"id": [4, None]})])
    return made.thread(300).thread(300).bytes()


def launches():
    small, maybe = [1, 2, 3], [0, 1, 0, 1, None]
    program = {"run_id": small + [1 + (1 << 27)], "queue_id": maybe, "device_ordinal": maybe,
               "core_type": [0, 0, (1,), None]}
    request = {"request_id": small + [None], "queue_addr": [7, 7, (7,), 8, None]}
    runs = [("TraceContext", {"_r": [1], "step_num": [1, 2, 3]}), ("train", {"_r": [1, 1, 2]}),
            ("x", {})]
    queues = [("DoEnqueueProgram", program), ("DoEnqueueContinuationProgram", program),
              ("CompleteCallbacks", program), ("EnqueueRequestLocked", request),
              ("CustomWait", request), ("TransferH2DRequest", request),
              ("ExecutorState::Process", {"id": small, "iter_num": [0]}),
              ("TpuExecuteOp", {"id": small, "iter_num": [0]}),
              ("KernelLaunch", {"correlation_id": small}),
              ("KernelExecute", {"correlation_id": small + [None], "is_eager": [None, 1]}),
              ("cuLaunch", {"correlation_id": [11, 12, 13, 99]}),
              ("EagerExecute", {"is_func": [0, 1, None]}), ("a", {"_p": small, "_pt": [1, 2]})]
    first = Queues(6, queues + [("b", {"_c": small, "_ct": [1, 2]})], runs).thread(200).thread(200)
    # XProf's flows ignore _pid, but it does not draw these planes
    of_process = [("b", {"_c": small, "_ct": [1, 2], "_pid": [None, 77, (77,), 5],
                         "_p": [None, None, 9]})]
    second, third = (Queues(seed, queues + of_process, runs).thread(100).thread(100)
                     for seed in (7, 13))

    def core(number, at):
        made = Queues(8 + number, [("jit_f(1)", dict(program, _c=[None, None, 1], _ct=[1]))],
                      lengths=(10, 30))
        for name in ("XLA Modules", "Steps", "XLA Ops"):
            made.choices = made.roots = {
                "XLA Modules": made.choices, "Steps": [("0", {}), ("1", {"_p": small, "_pt": [1]})],
                "XLA Ops": [("%op = f32[] add()", {"_p": [None, 2], "_pt": [1]})]}[name]
            out = []
            made.fill(out, 5, 200, 4)
            made.lines.append(line(1 + len(made.lines), name, out, at + len(made.lines)))
        return made.plane(5 + number, "/device:TPU:%d" % number)

    gpu = Queues(11, [("kernel", {"correlation_id": [11, 12, 13, None]})])
    for stream in (1, 2):
        out = []
        gpu.fill(out, 5, 100, 4)
        gpu.lines.append(line(stream, "Stream #%d" % stream, out, 90 + stream))
    return space(first.plane(),
                 second.plane(2, "/host:CPU [77]", [stat(KEYS["process_id"], uint64=77)]),
                 third.plane(3, "/host:CPU [5]", [stat(KEYS["process_id"], int64=5)]), core(0, 50),
                 core(1, 60), gpu.plane(9, "/device:GPU:0"))


def crowds():
    made = Threads(12, OPS)
    key = lambda name: made.names.setdefault(name, len(made.names) + 1)  # noqa: E731
    context = lambda kind, id: [stat(KEYS["_" + kind], int64=id),
                                stat(KEYS["_%st" % kind], int64=1)]  # noqa: E731
    root = event(key("train"), 0, 1000 * US, [stat(KEYS["_r"], int64=1)])
    for kind, first in (("p", [root]), ("c", [])):
        events = [event(key(kind), (10 * crowd + 1 + i % 7) * US + i, 1, context(kind, crowd))
                  for crowd, n in ((1, 63), (2, 64)) for i in range(n)]
        made.lines.append(line(10 + len(made.lines), kind, first + events, 10 * len(made.lines)))
    return made.bytes()


def functions():
    call = {"tf_function_call": MODES + [None], "tracing_count": [1, 2, 5, None]}
    made = Threads(3, OPS + [("f", call), ("g", call), ("EagerExecute", {"is_func": [0, 1, None]}),
                             ("KernelExecute", {"is_func": [0, 1, None]})],
                   [("f", call), ("g", call), ("EagerExecute", {"is_func": [0, 1, None]}),
                    ("train", {"_r": [1], "step_num": [1, 2]})], (2, 5, 30))
    return made.thread(700).thread(700).bytes()


def long():
    names = ["m/l%d/op%d:%s" % (i % 3, i, kind)
             for i, kind in enumerate(("Mul", "Add", "MatMul", "Conv2D", "_Send", "Relu"))]
    made = Threads(5, [(name, {"is_eager": [None, None, 0, 1]}) for name in names] + OPS,
                   [("train", {"_r": [1], "step_num": list(range(5))}), (names[0], {}), ("x", {})])
    return made.thread(7000).thread(1500).bytes()


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "threads_odd",
                                                                "plugins", "profile")
    for make in (contexts, loops, iterations, launches, crowds, functions, long):
        os.makedirs(os.path.join(folder, make.__name__), exist_ok=True)
        with open(os.path.join(folder, make.__name__, "h.xplane.pb"), "wb") as f:
            f.write(make())


if __name__ == "__main__":
    main()
