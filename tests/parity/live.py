# SPDX-License-Identifier: Apache-2.0
"""Profiles and answers that lie or come from outside the repository: the shared folder, the
generator of made-up profiles, XProf itself."""

import functools
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile

import answers
import draws
import library

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("SHARED", os.path.join(ROOT, "..", "shared"))

# Runs of several hosts that exist only as answers: {answer folder below golden: {host: file below
# data}}.
MADE = {
    "made/amd_gemm_and_elementwise": {
        "gemm": "xplane/AMD-AGI-TraceLens/jax08_gemm/tw003",
        "elementwise": "xplane/AMD-AGI-TraceLens/jax08_elementwise/tw003"},
    "made/tpu_twice": {"a": "xplane/openxla-xprof/tpu_inference_2",
                       "b": "xplane/openxla-xprof/tpu_inference_2"},
    "xplane/tensorflow-profiler/GPU-multi-worker": {
        "34.83.195.179_6003": "xplane/tensorflow-profiler/GPU-multi-worker/34.83.195.179_6003",
        "34.83.195.180_6003": "xplane/tensorflow-profiler/GPU-multi-worker/34.83.195.179_6003"},
}

recipes = {}        # path of a made-up profile or its folder: the command that makes it


class Absent(Exception):
    """What is missing to do this."""


def recipe(path):
    folder = path if path in recipes else os.path.dirname(path)
    return " -- made by: %s" % recipes[folder] if folder in recipes else ""


def newest(folder):
    return max(os.path.getmtime(os.path.join(base, f)) for base, _, files in os.walk(folder)
               for f in files)


def shared(build):
    """[(profiles, answers, prefix of the names)] for all that lies in the shared folder."""
    data, golden = os.path.join(SHARED, "data"), os.path.join(SHARED, "golden")
    if not os.path.isdir(golden):
        raise Absent("%s is absent; put the shared folder beside the checkout, "
                     "or name it in SHARED" % golden)
    pairs = [(data, golden, "data/"), (made(data, build), golden, "data/")]
    if os.path.isdir(os.path.join(SHARED, "samples", "recorded")):
        pairs.append((os.path.join(SHARED, "samples", "recorded"), os.path.join(golden, "samples"),
                      "samples/"))
    if os.path.exists(os.path.join(SHARED, "forge", "cases.py")):
        pairs.append((forged(build), os.path.join(golden, "forge"), "forge/"))
    return pairs


def made(data, build):
    """The runs of MADE, put together from their files."""
    place = os.path.join(build, "made")
    with library.alone(build):
        for folder, hosts in MADE.items():
            os.makedirs(os.path.join(place, folder), exist_ok=True)
            for host, source in hosts.items():
                # Only the combined answer: that of a host alone is kept with its file.
                target = os.path.join(place, folder, host + ".xplane.pb")
                if not os.path.exists(target):
                    shutil.copyfile(os.path.join(data, source + ".xplane.pb"), target + ".part")
                    os.replace(target + ".part", target)
    return place


def forged(build):
    """The standard suite of made-up profiles, generated if it is older than the generator."""
    forge, place = os.path.join(SHARED, "forge"), os.path.join(build, "forge")
    stamp = os.path.join(place, "complete")
    with library.alone(build):
        if not os.path.exists(stamp) or os.path.getmtime(stamp) < newest(forge):
            shutil.rmtree(place, ignore_errors=True)
            python_runs([sys.executable, "cases.py", "cases.tsv", "--out", os.path.abspath(place)],
                        forge)
            open(stamp, "w").close()
    return os.path.join(place, "plugins", "profile")


def python_runs(command, folder):
    said = attempted(command, folder)
    if said:
        raise SystemExit(said)


def attempted(command, folder):
    """Runs a command of the generator; what went wrong, or None."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    return "%s: exit status %d\n%s" % (shlex.join(command), done.returncode, done.stdout.decode(
        "utf-8", "replace")[-2000:]) if done.returncode else None


@functools.lru_cache(maxsize=None)
def has_xprof():
    try:
        return bool(oracle_python())
    except Absent:
        return False


def oracle_python():
    python = os.environ.get("ORACLE_PYTHON", "python3")
    try:
        if subprocess.run([python, "-c", "import xprof"],
                          stderr=subprocess.DEVNULL).returncode == 0:
            return python
    except OSError:
        pass
    raise Absent("no Python with XProf (ORACLE_PYTHON=a python that has it)")


def ask_xprof(profiles, base, out, tools=(), status=(0,), environment=None):
    """XProf's answers to the profiles below a folder, below `out`."""
    command = [oracle_python(), os.path.join(SHARED, "oracle", "oracle.py"), profiles, "--base",
               base, "--out", out]
    for tool in tools:
        command += ["--tool", tool]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=environment)
    if done.returncode not in status:
        raise SystemExit("%s: exit status %d\n"
                         "%s" % (shlex.join(command), done.returncode,
                                 done.stdout.decode("utf-8", "replace")[-2000:]))


def other_addresses(n):
    """An environment that moves what a process allocates. XProf's hash tables order their entries
    by addresses: on one machine it may give the same of several answers each time it is asked."""
    return dict(os.environ, PYTHONMALLOC=("pymalloc", "malloc")[n % 2],
                PARITY_PADDING="x" * (n * 1237))


def asked_again(build, path, tools, times):
    """Yields XProf's further Answers about some tools to a profile or a run of several hosts; none
    where there is no XProf to ask."""
    if not has_xprof():
        return
    of_run = os.path.isdir(path)
    folder = path if of_run else os.path.dirname(path)
    base, run = os.path.split(os.path.abspath(folder))
    with tempfile.TemporaryDirectory(dir=build) as place:
        for n in range(times):
            out = os.path.join(place, str(n))
            ask_xprof(folder if of_run else os.path.abspath(path), base, out, tools, status=(0, 1),
                      environment=other_addresses(n))
            name = answers.ALL_HOSTS if of_run else os.path.basename(path)[
                :-len(answers.HLO if path.endswith(answers.HLO) else answers.XSPACE)]
            yield answers.Answer(os.path.join(out, run, name))


def fresh(build, n, first, tools):
    """(profiles, answers, prefix) of n made-up profiles that nobody has seen, with XProf's
    answers."""
    forge = os.path.join(SHARED, "forge")
    if not os.path.exists(os.path.join(forge, "forge.py")):
        raise Absent("%s is absent; put the shared folder beside the checkout, "
                     "or name it in SHARED" % forge)
    oracle_python()
    first = random.SystemRandom().randrange(1000, 1000000000) if first is None else first
    place = os.path.join(os.path.abspath(build), "fresh", str(first))
    shutil.rmtree(place, ignore_errors=True)
    print("seeds %d to %d; again: tests/parity/run_tools --seeds %d --first "
          "%d" % (first, first + n - 1, n, first), flush=True)
    profiles, out = os.path.join(place, "plugins", "profile"), os.path.join(place, "answers")
    for seed in range(first, first + n):
        for attempt in range(50):
            scenario, options = draws.case_of(SHARED, seed, attempt)
            name = "%s_%d" % (scenario, seed)
            command = ["forge.py", scenario, "--seed", str(seed), "--run", name] + options
            if not attempted([sys.executable] + command + ["--out", place], forge):
                break
        recipes[os.path.join(profiles, name)] = shlex.join(["python3"] + command + ["--out", "DIR"])
    ask_xprof(profiles, profiles, out, tools, status=(0, 1))
    return profiles, out, "fresh/"
