# SPDX-License-Identifier: Apache-2.0
"""Runs witnesses together: each profile is read once, and all of them look at it.

    tests/witness/all.py [NAME...]"""
import importlib
import os
import sys

sys.dont_write_bytecode = True
import falsified  # noqa: E402
from compare import finish, runs, tried  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def witnesses(names):
    """Programs that can be run alone; covered.py asks what all of these compared."""
    return [importlib.import_module(name[:-3]) for name in sorted(os.listdir(HERE))
            if name.endswith('.py') and os.access(os.path.join(HERE, name), os.X_OK)
            and name != 'covered.py' and (not names or name[:-3] in names)]


def call(witness, step, *args):
    """A step of a witness, if it has it; what fails outside of its checks is a failure, too."""
    falsified.start(witness.__name__ + '.py')
    try:
        getattr(witness, step, lambda *args: None)(*args)
    except Exception as error:
        tried('%s of %s' % (step, witness.__name__), raised, error)


def raised(error):
    raise error


if __name__ == '__main__':
    found = witnesses(sys.argv[1:])
    for run in runs([]):
        for witness in found:
            call(witness, 'each', run)
        run.forget()
    for witness in found:
        call(witness, 'made')
    finish(bool(falsified.FILE and not sys.argv[1:]))
