# SPDX-License-Identifier: Apache-2.0
"""Cases and their runner. A folder of cases has a file for each subject:

    @case
    def something():
        same(rows("SELECT ... FROM planes('{x}')", space(Plane('/host:CPU').bytes())), [...])

and a program `run`, which ends with sys.exit(main(__file__)). Its arguments choose cases:

    run [WORD...]          a subject, a word of its name, a part of a case's name, or a table,
                           function or canned query that the case asks
    run --only SUBJECT,... those of these files; --but SUBJECT,...: all others
    run --list [WORD...]   their names"""
import importlib
import math
import os
import re
import shutil
import sys
import time
import types

from lib.shell import DIR, PROFSQL, Bad

CASES = []


class Skip(Exception):
    """A case cannot run here."""


def case(f):
    if any(name_of(f) == name_of(other) for other in CASES):
        sys.exit('two cases are called ' + name_of(f))
    CASES.append(f)
    return f


def must(condition, why):
    if not condition:
        raise Bad(why)


def same(got, want, what=''):
    if got == want:
        return
    if isinstance(got, list) and isinstance(want, list) and len(got) == len(want) > 1:
        i = next(i for i in range(len(got)) if got[i] != want[i])
        what, got, want = '%s row %d' % (what, i), got[i], want[i]
    raise Bad('%s: got %.900r, not %.900r' % (what, got, want))


def near(got, want, what='', rel=1e-12):
    if got is None or not math.isclose(got, want, rel_tol=rel):
        raise Bad('%s: got %r, not %r' % (what, got, want))


def refused(words, ask, *given, **sources):
    """ask(...) is refused with an error that has these words."""
    try:
        answer = ask(*given, **sources)
    except Bad as error:
        must(words in str(error), 'the error is %s, without %r' % (error, words))
    else:
        raise Bad('%s is not refused: %.300r' % (given, answer))


# ---- choosing ----

def subject(f):
    return f.__module__.rpartition('.')[2]


def name_of(f):
    return '%s.%s' % (subject(f), f.__name__)


def texts(thing, names, seen):
    """The strings that a case queries with: its own, and those of what it names in its subject's
    file."""
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, (tuple, list, set, frozenset, dict)):
        for part in thing:
            yield from texts(part, names, seen)
        if isinstance(thing, dict):
            yield from texts(list(thing.values()), names, seen)
    elif isinstance(thing, types.FunctionType):
        in_cases = thing.__module__.partition('.')[0] != 'lib'
        if in_cases and thing not in seen:
            seen.add(thing)
            document = thing.__doc__
            yield from (t for t in texts(thing.__code__, thing.__globals__, seen) if t != document)
    elif isinstance(thing, types.CodeType):
        yield from texts(thing.co_consts, names, seen)
        for name in thing.co_names:
            if name in names:
                yield from texts(names[name], names, seen)


def asks(f, word):
    """Whether a case names a table, function or canned query in SQL."""
    named = re.compile(r'(?i:\b(?:FROM|JOIN)\s+)(?:temp\.)?%s\b|\b%s\(|^%s$' % ((word,) * 3))
    return any(named.search(text) for text in texts(f, {}, set()))


def chosen(words):
    def fits(f, word):
        return '_%s_' % word in '_%s_' % subject(f) or word in name_of(f) or asks(f, word)
    if words[:1] in (['--only'], ['--but']):
        return [f for f in CASES if (subject(f) in words[1].split(',')) == (words[0] == '--only')]
    return [f for f in CASES if not words or any(fits(f, word) for word in words)]


# ---- running ----

def clear_folder():
    """Deletes the folder's files, so that big files of one case do not burden the others."""
    for name in os.listdir(DIR) if not os.environ.get('KEEP') else ():
        full = os.path.join(DIR, name)
        is_folder = os.path.isdir(full) and not os.path.islink(full)
        shutil.rmtree(full) if is_folder else os.unlink(full)


def run_case(f):
    """'passed', 'failed' or 'skipped'; prints the case's line."""
    began = time.monotonic()
    os.environ['CASE'] = name_of(f)  # for tests/faults/reach.py
    try:
        f()
    except Skip as why:
        print('ok %s # SKIP %s' % (name_of(f), why), flush=True)
        return 'skipped'
    except Exception as why:  # whatever a case stumbles over is its failure
        text = str(why) if isinstance(why, Bad) else '%s: %s' % (type(why).__name__, why)
        print('not ok %s: %s' % (name_of(f), ' '.join(text.replace(DIR, '$DIR').split())[:2000]),
              flush=True)
        return 'failed'
    finally:
        clear_folder()
    seconds = time.monotonic() - began
    print('ok %s%s' % (name_of(f), ' (%.1f s)' % seconds if seconds > 3 else ''), flush=True)
    return 'passed'


def load(program):
    """Reads the subjects beside the program."""
    folder = os.path.dirname(os.path.abspath(program))
    for name in sorted(os.listdir(folder)):
        if name.endswith('.py'):
            importlib.import_module('%s.%s' % (os.path.basename(folder), name[:-3]))


def main(program):
    load(program)
    words = [word for word in sys.argv[1:] if word != '--list']
    if '--list' in sys.argv[1:]:
        print('\n'.join(map(name_of, chosen(words))))
        return 0
    if not os.path.exists(PROFSQL) and not os.path.exists(PROFSQL + '.so'):
        sys.exit('%s: absent; run make' % PROFSQL)
    if not chosen(words):
        sys.exit('no case fits: %s' % ' '.join(words))
    results = [run_case(f) for f in chosen(words)]
    counts = [results.count(result) for result in ('passed', 'failed', 'skipped')]
    print('%d passed, %d failed, %d skipped' % tuple(counts))
    return 1 if counts[1] or not results else 0
