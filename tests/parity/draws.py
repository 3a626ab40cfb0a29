# SPDX-License-Identifier: Apache-2.0
"""What the generator of made-up profiles is asked for a seed: one of its scenarios with options
drawn from all that it has, one of the odd files on each kind of base, or a real file changed. The
generator's own parser says which options there are."""

import argparse
import glob
import os
import random
import re
import sys

ODD, REAL = "edge", "mutate"
MOST = {"steps": 7, "ops": 30, "requests": 60, "cores": 3, "gpus": 3, "hosts": 3, "programs": 3,
        "streams": 3, "allocations": 30, "chips": 2, "samples": 3}
NOT_DRAWN = {"help", "seed", "out", "run", "source"}


def scenarios(shared):
    """{scenario: its argparse parser}"""
    sys.path.insert(0, os.path.join(shared, "forge"))
    try:
        import forge
        parser = forge.build_parser(forge.load())
    finally:
        sys.path.pop(0)
    return next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction)).choices


def drawn(rng, action):
    """The value of an option as text, None for a flag."""
    if isinstance(action, argparse._StoreTrueAction):
        return None
    if action.choices:
        return str(rng.choice(list(action.choices)))
    if isinstance(action.default, float) or action.type is float:
        most = 100.0 if "percent" in (action.help or "") else max(1.0, 2 * (action.default or 0))
        return "%.3g" % rng.uniform(0, most)
    if isinstance(action.default, int):
        return str(rng.randint(0 if rng.random() < 0.1 else 1,
                               MOST.get(action.dest, max(3, 2 * action.default))))
    words = re.findall(r"\b[a-z_]+\b", (action.help or "").split("of ", 1)[-1].split(": ")[-1])
    return ",".join(rng.sample(words, rng.randint(1, len(words)))) if words else ""


def options(parser, rng, share, left_out=()):
    found = []
    for action in parser._actions:
        if action.dest in NOT_DRAWN or action.dest in left_out or rng.random() > share:
            continue
        value = drawn(rng, action)
        found += [action.option_strings[0]] if value is None else [
            "%s=%s" % (action.option_strings[0], value)]
    return found


def case_of(shared, seed, attempt=0):
    """(scenario, options) for a seed. Not every draw makes sense to the generator: the next attempt
    is another draw."""
    rng, known = random.Random("%d/%d" % (seed, attempt)), scenarios(shared)
    kind = rng.choice(("plain", "plain", ODD, ODD, REAL))
    if kind == ODD:
        variants = next(a for a in known[ODD]._actions
                        if a.dest == "variant").help.split(": ")[1].split(", or ")[0].split(", ")
        return ODD, ["--variant", rng.choice(variants), "--base", rng.choice(("tpu", "gpu", "cpu"))]
    if kind == REAL:
        source = rng.choice(sorted(glob.glob(os.path.join(shared, "data", "xplane", "**",
                                                          "*.xplane.pb"), recursive=True)))
        return REAL, ["--source", os.path.relpath(source, shared), "--keep",
                      str(rng.choice((50, 200, 400)))] + options(known[REAL], rng, 0.5,
                                                                 ("keep", "hosts"))
    scenario = rng.choice(sorted(set(known) - {ODD, REAL, "amplify"}))
    return scenario, options(known[scenario], rng, rng.choice((0.1, 0.3, 0.6)))
