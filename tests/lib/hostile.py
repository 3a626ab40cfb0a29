# SPDX-License-Identifier: Apache-2.0
"""Questions to a shell under limits, and what must hold whatever the bytes of a file are: the shell
ends by itself, in time and within memory, with either an error that names the file and says what to
do, or the rows that could be read and a row of prof_issues for what could not."""
import functools
import os
import re
import resource
import signal
import subprocess
import tempfile
import threading

from lib.cases import must, same
from lib.shell import PROFSQL, SHELL, Bad, lines, path, tables
from lib.shell import quoted as q

MB = 1 << 20
STUCK = 1800  # seconds on the clock after which a shell is killed, whatever else the machine does
# What to do, in a clause of its own at the end: "...; give the log dir".
HINT = re.compile(
    r'; (?:[^;]+, )?(?:check|unpack|decompress|use|give|save|copy|take|try|ask|rename|read|attach|'
    r'record|SELECT) [^;]{8,}$')


@functools.cache
def every_table():
    """Tables of a source; canned queries are made of them."""
    queries = set(lines('SELECT name FROM prof_queries;'))
    return [table for table, given in tables().items()
            if given == ['source'] and table not in queries and table != 'profsql_live']


class Answer:
    """The output of a shell: rows (lists of text), err, seconds of CPU, rss in bytes."""


def limit(pid, timeout, files):
    resource.prlimit(pid, resource.RLIMIT_CPU, (timeout, timeout + 5))
    if files:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (files, files))


def shell(sql, timeout=60, bail=False, files=0):
    """Runs the statements in one shell with the extension loaded. A signal fails the case, and more
    seconds of CPU than `timeout`: time on the clock would depend on what else the machine does. A
    shell that waits for ever is killed too. files: the most that it may have open.

    The peak is asked of the kernel by a last command of the shell: the one of wait4() begins with
    this script's own memory."""
    out, err, peak = tempfile.TemporaryFile(), tempfile.TemporaryFile(), path('.peak')
    child = subprocess.Popen(SHELL[:1] + ['-list', '-separator', '\t', '-nullvalue',
                                          'NULL'] + SHELL[1:],
                             stdin=subprocess.PIPE, stdout=out, stderr=err, env={
                                 name: value for name, value in os.environ.items()
                                 if name != 'MALLOC_TRIM_THRESHOLD_'})
    limit(child.pid, timeout, files)  # before it has a script
    timer = threading.Timer(STUCK, child.kill)
    timer.start()
    try:
        child.stdin.write(f'.load {PROFSQL}\n'.encode() + (b'.bail on\n' if bail
                                                           else b'') + sql.encode() + f'\n'
                          f'.system grep VmHWM /proc/$PPID/status > {peak}\n'.encode())
        child.stdin.close()
    except BrokenPipeError:
        pass
    _, status, usage = os.wait4(child.pid, 0)
    a = Answer()
    a.seconds = usage.ru_utime + usage.ru_stime
    timer.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    a.rss = usage.ru_maxrss * 1024
    if os.path.exists(peak):
        with open(peak) as f:
            a.rss = int((re.findall(r'\d+', f.read()) or [a.rss // 1024])[0]) * 1024
        os.unlink(peak)
    out.seek(0), err.seek(0)
    a.rows = [r.split('\t') for r in out.read().decode('utf-8', 'replace').split('\n')[:-1]]
    a.err = err.read().decode('utf-8', 'replace').strip()
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        raise Bad(f'still running after {a.seconds:.0f} s of CPU: {sql[:150]}')
    if os.WIFSIGNALED(status):
        raise Bad(f'{signal.Signals(os.WTERMSIG(status)).name}: {sql[:300]}')
    return a


def rows(sql, **how):
    a = shell(sql, **how)
    must(not a.err, a.err[:400])
    return a.rows


def one(sql, **how):
    r = rows(sql, **how)
    must(len(r) == 1, f'{len(r)} rows for {sql[:200]}')
    return r[0][0] if len(r[0]) == 1 else r[0]


def touch_all(file):
    """Reads every column of every table."""
    return (f"SELECT count(*), total(duration_ps), total(self_ps), total(length(name)), "
            f"total(length(stats)), coalesce(min(json_valid(stats)), 1) "
            f"FROM trace_events({q(file)});"
            + ''.join(f"SELECT '{t}', count(*) FROM (SELECT * FROM {t}({q(file)}) "
                      f"LIMIT -1 OFFSET 0);" for t in every_table()))


def refused(file, words, timeout=60, rss=None):
    """The file must be rejected, with an error that names it, contains these words, and says what
    to do."""
    a = shell(f"SELECT count(*) FROM trace_events({q(file)});", timeout=timeout)
    must(a.err, f'no error, but {a.rows}')
    helpful(a.err, file, words)
    if rss:
        must(a.rss < rss, f'peak {a.rss // MB} MB')
    return a


def helpful(err, file, words=''):
    must(os.path.basename(file) in err, f'the error does not name the file: {err[:300]}')
    rest = err.replace(file, '').strip()
    must(words in rest, f'the error does not say {words!r}: {rest[:300]}')
    must(HINT.search(rest.split('\n')[0]), f'the error does not say what to do: {rest[:300]}')


def survives(file, timeout=60, loss=None, words=''):
    """No crash; an error that says what to do and contains these words, or rows. loss=True: an
    error or rows of prof_issues; loss=False: rows without any."""
    a = shell(touch_all(file), timeout=timeout)
    if a.err:
        must(loss is not False, a.err[:300])
        helpful(a.err, file, words)
        return None
    must(not words, f'no error, but {a.rows[:1]}')
    count = {r[0]: int(r[1]) for r in a.rows[1:]}
    same(a.rows[0][5], '1', 'json_valid(stats)')
    if loss is not None:
        told = issues(file)
        must(bool(told) == loss, f'prof_issues: {told}; {count}')
    return count


# Codes of prof_issues whose bytes no row shows. All others are about rows that are there, or about
# bytes that are not in the file.
LOSING = {'damaged', 'damaged_stat', 'gzip_trailing_bytes', 'too_many', 'unreadable',
          'unreadable_program', 'wrong_wire_type'}


def issues(file):
    """What prof_issues reports about damage; good files can also have events without metadata, or
    no steps."""
    found = rows(f"SELECT severity, code, byte_offset, count, message, lost_bytes "
                 f"FROM prof_issues({q(file)}) WHERE code NOT IN ('unknown_metadata', 'no_steps') "
                 f"AND code NOT LIKE 'xprof%';")
    for _, code, _, _, message, lost in found:
        must(lost == '0' or code in LOSING, f'{code} loses {lost} bytes: {message}')
    return found


def accounted(file, lost):
    """prof_issues reports one of the numbers of bytes that the damage may have cost, in lost_bytes
    or in the message."""
    told = {int(n) for r in issues(file)
            for n in re.findall(r'\d+', r[4]) + [r[5]]} | {sum(int(r[5]) for r in issues(file))}
    must(told & set(lost), f'{sorted(lost)[:4]} bytes lost, but prof_issues say {issues(file)}')


DUMP = """SELECT 'e', event_id, plane, line, hex(name), start_ps, duration_ps, self_ps, depth,
          parent_id, occurrences, line_id, plane_id, metadata_id, display_name, stats
          FROM trace_events({0});
SELECT 's', event_id, origin, stat_id, name, type, typeof(value), hex(value) FROM event_stats({0});
SELECT 'l', plane_id, plane, line_id, proto_id, name, timestamp_ns, event_count FROM lines({0});
SELECT 'm', plane_id, metadata_id, name, display_name, hex(metadata), child_ids, stat_count,
event_count FROM event_metadata({0}) ORDER BY 2, 3;
SELECT 'M', plane_id, metadata_id, stat_id, name, type, value FROM event_metadata_stats({0})
ORDER BY plane_id, metadata_id, stat_id;
SELECT 'p', plane_id, stat_id, name, type, value FROM plane_stats({0}) ORDER BY 2, 3;"""


def dump(file):
    return rows(DUMP.format(q(file)))
