# SPDX-License-Identifier: Apache-2.0
"""What is no profile, gzip, more hosts than a process may open, files that change while they are
read."""
import gzip
import os
import random
import re
import socket
import struct
import subprocess
import threading
import zlib

from lib.cases import case, must, same
from lib.hostile import MB, dump, helpful, one, q, refused, rows, shell, survives
from lib.shell import DIR, PROFSQL, SHELL, SQLITE3, path, put
from lib.wire import L, V, small
from hostile.damage import counted, there


@case
def missing_file():
    refused(path('missing.xplane.pb'), 'no such file or folder, and no attached label')


@case
def missing_folder():
    refused(path('no/such/folder'), 'no such file or folder, and no attached label')


@case
def empty_name():
    """An empty path, a blob with a NUL byte, a number, and NULL (all attached runs) where none is
    attached each have their error."""
    for name, words in (("''", 'the path is empty; give a file, a run folder, '
                         'a log dir, or a label'),
                        ("x'00ff'", ': the path or label has a NUL byte after this text; '
                         'give one without NUL bytes'),
                        ('17', '17: no such file or folder, and no attached label; '
                         'give a *.xplane.pb'),
                        ('NULL', 'no run is attached; name one as the argument')):
        a = shell(f"SELECT count(*) FROM trace_events({name});")
        must(not a.rows and words in a.err, f'{name}: {a.rows} {a.err}')


@case
def unreadable():
    f = put('unreadable.xplane.pb', small())
    os.chmod(f, 0)
    without_rights = ['setpriv', '--bounding-set=-all', '--inh-caps=-all']
    done = subprocess.run((without_rights if os.geteuid() == 0 else []) + SHELL, text=True,
                          capture_output=True, input=f".load {PROFSQL}\n"
                          f"SELECT count(*) FROM trace_events({q(f)});\n")
    helpful(done.stderr.replace(' (10)', '').strip(), f, 'cannot open: Permission denied; ask')
    must(' (10)\n' in done.stderr, 'SQLITE_IOERR')


@case
def folder_without_runs():
    os.makedirs(path('logs/plugins/profile'))
    refused(path('logs'), 'no *.xplane.pb in this folder or below and no HLO dump in it')


@case
def folder_of_an_empty_run():
    os.makedirs(path('logs2/plugins/profile/run1'))
    refused(path('logs2/plugins/profile/run1'),
            'no *.xplane.pb in this folder or below and no HLO dump in it')


@case
def folder_named_as_a_profile():
    os.makedirs(path('folder.xplane.pb'))
    refused(path('folder.xplane.pb'),
            'no *.xplane.pb in this folder or below and no HLO dump in it')


@case
def symlink_loop():
    os.symlink(path('loop.xplane.pb'), path('loop.xplane.pb'))
    refused(path('loop.xplane.pb'), 'Too many levels of symbolic links')


@case
def link_to_nothing():
    os.symlink('no/such.xplane.pb', path('broken.xplane.pb'))
    refused(path('broken.xplane.pb'), 'is a link to no/such.xplane.pb, which does not exist')


@case
def run_with_one_bad_host():
    os.makedirs(path('mixed/plugins/profile/run1'))
    put('mixed/plugins/profile/run1/good.xplane.pb', small())
    put('mixed/plugins/profile/run1/bad.xplane.pb', b'this is no protobuf at all\n' * 50)
    a = shell(f"SELECT count(*) FROM trace_events({q(path('mixed'))}); SELECT count(*), sum(path "
              f"LIKE '%bad%') FROM prof_issues({q(path('mixed'))}) WHERE severity <> 'info';")
    if a.err:
        must('bad.xplane.pb' in a.err, a.err)
    else:
        must(a.rows[0][0] == '108' and int(a.rows[1][1] or 0) > 0, f'{a.rows}')


@case
def run_of_bad_hosts():
    """The error names the folder and a file, and the reason why that file cannot be read."""
    os.makedirs(path('bad_run'))
    put('bad_run/a.xplane.pb', b'this is no protobuf at all\n' * 50)
    put('bad_run/b.xplane.pb', b'nor is this\n' * 50)
    refused(path('bad_run'), ': none of its 2 files can be read; /a.xplane.pb: is not an XSpace')


@case
def links_to_folders_above():
    """Each run is found once, by its path without links if it has one, and the search ends."""
    os.makedirs(path('looped/b/c'))
    os.makedirs(path('looped/z/run'))
    put('looped/z/run/host.xplane.pb', small())
    for i in range(4):
        os.symlink('.', path(f'looped/link{i}'))
    os.symlink('..', path('looped/b/up'))
    os.symlink('../../z', path('looped/b/c/z'))
    same(rows(f"SELECT path, name FROM prof_find({q(path('looped'))}); SELECT count(*) "
              f"FROM trace_events({q(path('looped'))});"),
         [[path('looped/z/run'), 'z/run'], ['108']])


@case
def names_that_are_not_utf8():
    folder = path('bytes')
    os.makedirs(folder.encode() + b'/r\xffn')
    with open(folder.encode() + b'/r\xffn/h\xfest.xplane.pb', 'wb') as f:
        f.write(small())
    hexed = lambda text: text.encode().hex().upper()
    same(rows(f"SELECT hex(run), hex(host), hex(path) FROM hosts({q(folder)}); "
              f"SELECT hex(path), hex(name) FROM prof_find({q(folder)});"),
         [[hexed('r\ufffdn'), hexed('h\ufffdst'), hexed(folder + '/r\ufffdn/h\ufffdst.xplane.pb')],
          [hexed(folder + '/r\ufffdn'), hexed('r\ufffdn')]])


@case
def empty_file():
    survives(put('empty.xplane.pb', b''), loss=True, words='is empty (0 bytes)')


@case
def text_file():
    survives(put('text.xplane.pb', b'To be, or not to be, that is the question:\n' * 100),
             loss=True, words='is not an XSpace (byte ')
    refused(put('text.txt', b'To be, or not to be, that is the question:\n' * 100),
            'is not an XSpace (byte ')


@case
def json_file():
    survives(put('json.xplane.pb', b'{"answer": [1, 2, 3], "why": null}\n' * 100), loss=True,
             words='is JSON, as Chrome traces are')
    refused(put('plain.json', b'{"answer": [1, 2, 3], "why": null}\n'),
            'is JSON, as Chrome traces are')


@case
def another_protobuf():
    instruction = L(1, 'add.1') + L(2, 'add') + L(3, V(2, 11), V(3, 128)) + V(35, 7)
    module = L(1, 'jit_f') + L(2, 'main') + L(3, L(1, 'main'), L(2, instruction) * 20,
                                              V(5, 1)) + V(5, 3) + V(6, 1)
    proto = L(1, module) + L(3, L(1, V(1, 1), V(2, 512)))
    survives(put('hlo.xplane.pb', proto), loss=True,
             words='is another protobuf message, not an XSpace')
    # a name that promises nothing: known by its content
    f = put('hlo.pb', proto)
    survives(f, loss=False)
    same(rows(f"SELECT format, event_count FROM prof_runs({q(f)}); SELECT hlo_module, "
              f"instruction_count FROM hlo_modules({q(f)});"), [['hlo', '0'], ['jit_f', '20']])


@case
def random_bytes():
    rnd = random.Random(3)
    for i in range(20):
        survives(put(f'random{i}.xplane.pb', rnd.randbytes(3000)), loss=True)


@case
def sqlite_database_zip_elf():
    for name, head, words in [('db', b'SQLite format 3\0', 'an SQLite database'),
                              ('zip', b'PK\x03\x04', 'a zip archive'),
                              ('elf', b'\x7fELF\x02\x01\x01', 'a program or library'),
                              ('zstd', b'\x28\xb5\x2f\xfd', 'compressed with zstd')]:
        survives(put(f'{name}.xplane.pb', head + bytes(4096)), loss=True, words='is ' + words)


@case
def fifo():
    os.mkfifo(path('fifo.xplane.pb'))
    refused(path('fifo.xplane.pb'), 'is a pipe, not a regular file; save its bytes', timeout=10)


@case
def sockets():
    server = socket.socket(socket.AF_UNIX)
    server.bind(path('socket.xplane.pb'))
    refused(path('socket.xplane.pb'), 'cannot open: No such device or address; it is a socket')
    server.close()


@case
def devices():
    for f, words in (('/dev/zero', 'is a device, not a regular file; give the *.xplane.pb'),
                     ('/dev/null', 'is a device'),
                     ('/proc/self/mem', 'is a file of the kernel (/proc, /sys)'),
                     ('/proc/kmsg', 'is a file of the kernel'), ('/sys/kernel/notes', 'is ')):
        refused(f, words, timeout=10)


@case
def control_characters_in_the_path():
    """The error shows the path unchanged: no part of it is used as a format."""
    name = 'a\x1b[31m%s%n\n.xplane.pb'
    a = shell(f"SELECT count(*) FROM trace_events({q(path(name))});")
    must(not a.rows and path(name) + ': no such file or folder, and no attached label; '
         'SELECT path' in a.err, f'{a.rows} {a.err}')


@case
def very_long_path():
    """The error is bounded, and has the reason where the path leaves room for it."""
    a = shell("SELECT count(*) FROM trace_events(printf('%.*c', 100000, 'x'));")
    must(not a.rows and 'x' * 300 in a.err and len(a.err) < 10000,
         f'{a.rows} {len(a.err)} characters: {a.err[-100:]}')
    a = shell(f"SELECT count(*) FROM trace_events(printf('%s/%.*c', {q(DIR)}, 300, 'y'));")
    must(not a.rows and 'y: File name too long; give a *.xplane.pb, '
         'a run folder or a log dir' in a.err, f'{a.rows} {a.err[-100:]}')


@case
def gz_valid():
    data = small()
    a, b = put('plain.xplane.pb', data), put('plain2.xplane.pb.gz', gzip.compress(data))
    same(dump(b), dump(a))
    survives(b, loss=False)
    same(dump(put('members.xplane.pb.gz', gzip.compress(data[:700]), gzip.compress(data[700:]))),
         dump(a), 'two members')


@case
def gz_cut_short():
    data, ends = counted(20000)
    z = gzip.compress(data)
    for cut in [0, 1, 5, 10, 15, len(z) // 2, len(z) - 9, len(z) - 8, len(z) - 4, len(z) - 1]:
        survives(put(f'cut{cut}.xplane.pb.gz', z[:cut]), loss=True)
    f = path(f'cut{len(z) // 2}.xplane.pb.gz')
    n = int(one(f"SELECT count(*) FROM trace_events({q(f)});"))
    must(n > 1000, f'{n} events of the first half')
    there(f, n - 1)


@case
def gz_of_nothing():
    survives(put('nothing.xplane.pb.gz', gzip.compress(b'')), loss=True,
             words='is a gzip file of nothing (0 bytes)')


@case
def gz_flipped_bit():
    data, ends = counted(5000)
    z, rnd = gzip.compress(data), random.Random(7)
    for i in range(40):
        broken = bytearray(z)
        broken[rnd.randrange(10, len(z))] ^= 1 << rnd.randrange(8)
        survives(put(f'flip{i}.xplane.pb.gz', broken), loss=True)


@case
def gz_trailing_garbage():
    f = put('tail.xplane.pb.gz', gzip.compress(small()), b'garbage after the end')
    count = survives(f, loss=True)
    must(count and count['trace_events'] == 108, f'{count}')


def bomb(block, n):
    """A gzip file of n equal blocks, of which one is compressed."""
    deflate, crc = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS), 0
    packed = deflate.compress(block) + deflate.flush(zlib.Z_FULL_FLUSH)
    for _ in range(n):
        crc = zlib.crc32(block, crc)
    yield from (gzip.compress(b'')[:10], packed * n, deflate.flush())
    yield struct.pack('<II', crc, len(block) * n)


@case
def gz_bomb():
    for name, byte in [('zeros', b'\0'), ('planes', b'\x0a\x00')]:
        put(f'{name}.xplane.pb.gz', *bomb(byte * (MB // len(byte)), 1024))
        a = shell(f"SELECT count(*) FROM planes({q(path(f'{name}.xplane.pb.gz'))});", timeout=60)
        must(a.rss < 512 * MB, f'{name}: peak {a.rss // MB} MB')
        must(a.err, f'{name}: 1 GB out of {os.path.getsize(path(name + ".xplane.pb.gz"))} bytes is '
             f'believed: {a.rows}')
        helpful(a.err, path(f'{name}.xplane.pb.gz'))


def many_hosts(name, n, suffix='', pack=lambda data: data):
    """A run of n hosts of 108 events each, all one file on disk."""
    os.makedirs(path(name))
    put(f'{name}/host0.xplane.pb{suffix}', pack(small()))
    for i in range(1, n):
        os.link(path(f'{name}/host0.xplane.pb{suffix}'), path(f'{name}/host{i}.xplane.pb{suffix}'))
    return path(name)


@case
def more_hosts_than_open_files():
    """All hosts are read, also when attached and host by host, and the process can still open its
    own files."""
    run = many_hosts('hundreds', 300)
    got = rows(f"SELECT sum(event_count), count(*) FROM hosts({q(run)}); "
               f"ATTACH {q(path('own.db'))} AS own; CREATE TABLE own.t AS SELECT 1;"
               f"SELECT count(stats) FROM trace_events({q(run)}); "
               f"SELECT prof_attach_by_host({q(run)}, 'm'); SELECT count(*), count(value) > 0 "
               f"FROM event_stats('m') WHERE event_id < 9;"
               f"SELECT count(*) FROM trace_events({q(run)});", files=64)
    same([got[0], got[1], got[4]], [[str(300 * 108), '300'], [str(300 * 108)], [str(300 * 108)]])
    same(got[3][1], '1')


@case
def a_host_is_replaced_while_it_is_closed():
    """By a file of the same size and time: its bytes would be read as events of the first."""
    run = many_hosts('replaced', 100)
    host, other = path('replaced/host0.xplane.pb'), put('replaced.new', small())
    os.utime(other, ns=(os.stat(host).st_atime_ns, os.stat(host).st_mtime_ns))
    a = shell(f"SELECT prof_attach({q(run)}, 'm'); SELECT count(stats) FROM trace_events('m') "
              f"WHERE host = 'host0';\n.system mv {other} {host}\n"
              f"SELECT count(stats) FROM trace_events('m') WHERE host <> 'host0'; "
              f"SELECT count(stats) FROM trace_events('m') WHERE host = 'host0';", files=64)
    same(a.rows, [['m'], ['108'], [str(99 * 108)]])
    must('host0.xplane.pb: changed while it was being read' in a.err, a.err)


@case
def no_standard_input():
    """Then a profile's descriptor is 0, which is closed with the run like any other."""
    f = put('first.xplane.pb', small())
    count = '.system ls -l /proc/$PPID/fd | grep -c first.xplane.pb; true'
    listed = subprocess.run(
        [SQLITE3, '-batch', '-init', '/dev/null', ':memory:', f'.load {PROFSQL}',
         f"SELECT prof_attach({q(f)}, 'x') = ''", "SELECT sum(event_count) FROM hosts('x')",
         '.system ls -l /proc/$PPID/fd/0', count, "SELECT prof_detach('x') = ''", count],
        capture_output=True, text=True, preexec_fn=lambda: os.close(0)).stdout.splitlines()
    must(any(line.endswith('first.xplane.pb') for line in listed),
         f'its descriptor is not 0: {listed}')
    same([line for line in listed if not line.startswith('l')], ['1', '0', '0', '108', '0'],
         'files open before and after; then the answers')


@case
def where_files_are_inflated():
    """In TMPDIR, else in /var/tmp, which is on a disk, else in /tmp."""
    f = put('inflated.xplane.pb.gz', gzip.compress(small()))
    for folder in (DIR, None):
        environment = dict(os.environ, TMPDIR=folder or '')
        listed = subprocess.run([SQLITE3, '-batch', '-init', '/dev/null', ':memory:'],
                                capture_output=True, text=True, env=environment,
                                input=f".load {PROFSQL}\n"
                                f"SELECT count(*) FROM trace_events({q(f)});\n"
                                f".system ls -l /proc/$PPID/fd\n").stdout
        must(listed.startswith('108\n'), listed[:200])
        used = [where for where in (DIR, '/var/tmp', '/tmp')
                if re.search(f'-> {re.escape(where)}/[^/]* \\(deleted\\)', listed)]
        wanted = folder or ('/var/tmp' if os.access('/var/tmp', os.W_OK) else '/tmp')
        must(wanted in used, f'{wanted} is not used: {listed}')


@case
def more_gzipped_hosts_than_open_files():
    """Their inflated copies have no name to be opened by again: the run is refused, and others can
    be read."""
    run = many_hosts('packed', 100, '.gz', gzip.compress)
    a = shell(f"SELECT sum(event_count) FROM hosts({q(run)});\nSELECT count(*) "
              f"FROM trace_events({q(put('single.xplane.pb.gz', gzip.compress(small())))});",
              files=64)
    same(a.rows, [['108']])
    must('gunzip them' in a.err and 'ulimit -n' in a.err, a.err)
    same(one(f"SELECT sum(event_count) FROM hosts({q(run)});"), str(100 * 108))
def piped():
    child = subprocess.Popen([SQLITE3, '-batch', '-list', '-init', '/dev/null', ':memory:'],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
    child.stdin.write(f'.load {PROFSQL}\n'.encode())
    child.timer = threading.Timer(60, child.kill)
    child.timer.start()
    return child


def finish(child, what):
    child.stdin.close()
    rest = child.stdout.read()
    child.wait()
    child.timer.cancel()
    must(child.returncode >= 0, f'{what}: signal {-child.returncode}')
    return rest


def all_or_told(out, file):
    """What a shell printed of the events of big_counted(): all, or those before an error that names
    the file. Then it went on."""
    n_rows = len(re.findall(r'\|/host:CPU\|line\|op\|', out))
    told = file + ': changed while it was being read' in out
    must('alive|42' in out and n_rows > 100 and told == (n_rows < 59998),
         f'{n_rows} rows, {told}: {out[-300:]}')


def big_counted():
    data, ends = counted(60000)
    return data


@case
def shrinks_while_a_query_runs():
    """Rows before the cut come, then an error that names the file; the shell answers the next
    query."""
    for keep in [0, 0.5]:
        f = put('shrink.xplane.pb', big_counted())
        child = piped()
        child.stdin.write(f"SELECT *, stats FROM trace_events({q(f)});\n".encode())
        child.stdin.flush()
        # the cursor is open; the pipe is full and holds the shell up
        child.stdout.read(1000)
        os.truncate(f, int(os.path.getsize(f) * keep))
        child.stdin.write(b"SELECT 'alive', 41 + 1;\n")
        all_or_told(finish(child, f'truncated to {keep}').decode(), f)


@case
def shrinks_between_queries():
    for sql in ["SELECT total(length(stats)) FROM trace_events({0});",
                "SELECT count(value) FROM event_stats({0});",
                "SELECT max(name), max(length(metadata)) FROM event_metadata({0});"]:
        f = put('shrink2.xplane.pb', big_counted())
        child = piped()
        child.stdin.write(f"SELECT prof_attach({q(f)}, 'a');\n"
                          f"SELECT count(*) FROM trace_events('a');\n.print ready\n".encode())
        child.stdin.flush()
        while child.stdout.readline() not in (b'ready\n', b''):
            pass
        os.truncate(f, 100)
        child.stdin.write((sql.format("'a'") + sql.format(q(f)) + '\nSELECT 41 + 1;\n').encode())
        out = finish(child, sql)
        must(b'42' in out, f'{out[:300]}')


@case
def replaced_between_queries():
    """Another file under the same name is read again; an attached run keeps what it had."""
    f, g = put('swap.xplane.pb', counted(300)[0]), put('swap.new', counted(200)[0])
    child = piped()
    child.stdin.write(f"SELECT count(*) FROM trace_events({q(f)});\n.print ready\n".encode())
    child.stdin.flush()
    while child.stdout.readline() not in (b'ready\n', b''):
        pass
    os.rename(g, f)
    child.stdin.write(f"SELECT count(*) FROM trace_events({q(f)});\n".encode())
    same(finish(child, 'replaced').strip(), b'200')


@case
def grows_while_a_query_runs():
    f = put('grow.xplane.pb', big_counted())
    child = piped()
    child.stdin.write(f"SELECT *, stats FROM trace_events({q(f)});\n".encode())
    child.stdin.flush()
    child.stdout.read(1000)
    with open(f, 'ab') as out:
        out.write(small())
    child.stdin.write(b"SELECT 'alive', 41 + 1;\n")
    all_or_told(finish(child, 'grown').decode(), f)
