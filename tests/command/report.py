# SPDX-License-Identifier: Apache-2.0
"""The page that `profsql report` writes: its numbers are those of the SQL that it shows, names
cannot become markup, and Chromium opens it without an error. KEEP=folder keeps pictures."""
import base64
import html
import html.parser
import json
import math
import os
import random
import re
import resource
import subprocess
import zlib

from lib import browser
from lib.cases import Skip, case, must, same
from lib.shell import DIR, ROOT, put
from lib.wire import Plane, event, line, space
from command.profsql import AFTER, BEFORE, GPU, TPU, interrupted, run, shell

HOSTILE = '</script><img src=x onerror="alert(1)"><!--"\'&\x01</title></svg></pre>'
KINDS = {'gpu': GPU, 'tpu': TPU, 'cpu': BEFORE, 'inference': 'tests/data/inference_batches',
         'hosts': 'tests/data/multi_host_111', 'two_hosts': 'tests/data/jax_two_hosts',
         'no_steps': 'tests/data/tpu_infer_78', 'memory': 'tests/data/memory_odd',
         'extreme': 'tests/data/edge_timestamp_extreme', 'empty': 'tests/data/edge_empty',
         'dump': 'tests/data/jax_dump_sharded'}


class Page(html.parser.HTMLParser):
    """A page's elements: [(tag, attributes)]; its tables: rows of cells [text, raw value, text of
    the baseline], of the run and of the baseline alone, and the SQL and remark below; the text of
    scripts."""
    VOID = {'meta', 'link', 'br', 'input'}

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.tables, self.scripts = [], [], [], []
        self.cell = self.sql = self.script = self.remark = None
        self.feed(text)
        self.close()
        must(not self.open, 'elements without an end: %s' % self.open)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.elements.append((tag, attributes))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == 'table':
            self.tables.append({'rows': [], 'base': [], 'sql': None, 'remark': ''})
        elif tag == 'tr':
            self.row = []
            self.tables[-1][attributes.get('class', 'rows')].append(self.row)
        elif tag in ('td', 'th'):
            self.cell = ['', attributes.get('data-v'), None]
            self.row.append(self.cell)
        elif tag == 'small' and self.cell:
            self.cell[2] = ''
        elif tag == 'pre':
            self.sql = ''
        elif tag == 'script':
            self.scripts.append('')

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        must(self.open and self.open[-1] == tag, '</%s> in %s' % (tag, self.open))
        self.open.pop()
        if tag in ('td', 'th'):
            self.cell = None
        elif tag == 'pre':
            if self.tables and self.tables[-1]['sql'] is None:
                self.tables[-1]['sql'] = self.sql
                self.remark = self.tables[-1]
            self.sql = None
        elif tag == 'details':
            self.remark = None

    def handle_data(self, data):
        if self.open and self.open[-1] == 'script':
            self.scripts[-1] += data
        elif self.sql is not None:
            self.sql += data
        elif self.cell is not None:
            self.cell[2 if 'small' in self.open else 0] += data
        elif self.remark is not None:
            self.remark['remark'] += data


def report(source, *words, name='report.html'):
    out = os.path.join(DIR, name)
    _, notes = run('report', source, '-o', out, '--force', *words)
    with open(out, encoding='utf-8') as f:
        text = f.read()
    must(len(text) < 1e6, '%s: %d bytes' % (source, len(text)))
    return text, out


TIMELINE = """SELECT event_id, plane, line, start_ps, duration_ps, short_name, depth
FROM trace_events('%s')
WHERE plane_kind <> 'metadata' AND line_kind <> 'counters'"""


def packed(text):
    """The timelines of a page, of its run and its baseline: its JSON, and the bytes of columns."""
    timelines = []
    for n, events in re.findall('<script type="application/octet-stream" class=events '
                                'data-columns=([0-9]+)>(.*?)</script>', text):
        data = zlib.decompress(base64.b64decode(events))
        timelines.append({**json.loads(data[int(n):]), 'columns': data[:int(n)]})
    return timelines


def column(data, n, sums):
    """The first n varints of an iterator of bytes; with `sums`, what they are differences of."""
    found, last = [], 0
    for _ in range(n):
        value = by = 0
        while True:
            byte = next(data)
            value |= (byte & 127) << by
            by += 7
            if byte < 128:
                break
        last = last * sums + (-(value + 1) // 2 if sums and value % 2 else value // (1 + sums))
        found.append(last)
    return found


def events_of(timeline):
    """[(event_id, short name, start in ns, duration in ns, depth)] of a timeline, sorted."""
    found, data = [], iter(timeline['columns'])
    for line in timeline['lines']:
        starts, lengths, names, depths, ids = (column(data, line['n'], sums)
                                               for sums in (1, 0, 0, 0, 1))
        found += zip(ids, (timeline['names'][name] for name in names), starts, lengths, depths)
    same(list(data), [], 'bytes after the last column')
    return sorted(found)


def events_in_sql(source):
    """What events_of() returns, by the SQL that pages show."""
    return sorted((row['event_id'], row['short_name'], row['start_ps'] // 1000,
                   (row['duration_ps'] + 500) // 1000, row['depth'])
                  for row in shell(TIMELINE % source))


def hostile_profile():
    host = Plane('/host:CPU' + HOSTILE)
    host.line(1, 'python ' + HOSTILE, [
        (HOSTILE + str(i), 1000000 * i, 900000, {'tf_op': {'str': HOSTILE + ':' + HOSTILE},
                                                 HOSTILE: {'str': HOSTILE}}) for i in range(20)])
    gpu = Plane('/device:GPU:0', 2)
    gpu.line(1, 'Stream #1(Kernel) ' + HOSTILE, [
        (HOSTILE, 2000000 * i, 1000000, {'tf_op': {'str': HOSTILE + ':' + HOSTILE},
                                         'correlation_id': {'uint64': i + 1}})
        for i in range(20)])
    return put('hostile.xplane.pb', space(host.bytes(), gpu.bytes(), hostname=HOSTILE))


def close(got, want):
    if isinstance(want, float) or isinstance(want, int):
        return abs(float(got) - want) <= 1e-9 * max(1e-300, abs(want))
    return got == str(want)


KINDS_OF_UNITS = [
    {'ns': 1e-3, 'µs': 1, 'ms': 1e3, 's': 1e6},
    {'bytes': 1, 'kB': 1e3, 'MB': 1e6, 'GB': 1e9},
    {'B': 1, 'KiB': 2**10, 'MiB': 2**20, 'GiB': 2**30, 'TiB': 2**40, 'PiB': 2**50, 'EiB': 2**60},
    {'B/s': 1, 'KiB/s': 2**10, 'MiB/s': 2**20, 'GiB/s': 2**30},
    {'FLOP/s': 1, 'kFLOP/s': 1e3, 'MFLOP/s': 1e6, 'GFLOP/s': 1e9, 'TFLOP/s': 1e12,
     'PFLOP/s': 1e15}]


def unit(name):
    """A column's name and its unit: ('time', 'ms') of 'time (ms)'."""
    return re.fullmatch(r'(.*?)(?: \((.*)\))?', name).groups()


def in_unit(value, unit):
    """A value in the largest unit in which it is at least 1, and this unit."""
    for units in KINDS_OF_UNITS:
        if unit in units:
            fit = [u for u in units if abs(value) * units[unit] >= units[u]] or list(units)[:1]
            return (value if fit[-1] == unit else value / (units[fit[-1]] / units[unit])), fit[-1]
    return value, unit


def shown(value, name=''):
    """A value as pages show it in a column with this name."""
    if value is None:
        return '–'
    if isinstance(value, str):
        return value if len(value) <= 200 else value[:200] + '…'
    if value == 0:
        return '0'
    value, shown_unit = in_unit(value, unit(name)[1])
    size = abs(value)
    if shown_unit == '%' and 0 < value < 5e-4:
        text = '<0.001'
    elif isinstance(value, int):
        text = '{:,}'.format(value)
    elif size >= 1e15 or size < 1e-3:
        text = '%.2e' % value
    else:
        text = '{:,.{}f}'.format(value, 0 if size >= 1000 else 1 if size >= 100 else
                                 2 if size >= .01 else 4)
    return '%s %s' % (text, shown_unit) if shown_unit else text


def check_tables(text, what):
    """Each table has the rows of the SQL below it."""
    n = 0
    for table in Page(text).tables:
        if not table['sql']:
            continue
        head, *body = table['rows']
        rows = shell(table['sql'] + ';')
        if 'prof_issues' in table['sql']:  # some are found by the queries of the other figures
            found = [[c[0] for c in cells][:3] for cells in body]
            must(all([r['severity'], r['code'], r['message']] in found for r in rows),
                 what + ': an issue')
            continue
        same(min(len(rows), 300), len(body), what + ': rows of ' + table['sql'])
        for cells, row in zip(body, rows):
            same([c[0] for c in head], [unit(name)[0] for name in row], what)
            for (text, raw, _), (name, value) in zip(cells, row.items()):
                if raw is not None:
                    must(raw == '' if value is None else close(raw, value),
                         '%s: %r for %r in %s' % (what, raw, value, table['sql']))
                    same(text, shown(value, name), '%s: %r %s' % (what, value, name))
                elif value is None:
                    same(text, '–', what)
                n += 1
    return n


def check_base(text, source, against, what):
    """Each table has the first rows of the baseline, by the SQL below it, changed as the remark
    says. The values of a row are those of one row in each run."""
    n = 0
    for table in Page(text).tables:
        if not table['sql'] or 'prof_issues' in table['sql']:
            continue
        sql, head = table['sql'], [cell[0] for cell in table['rows'][0]]
        remark = re.fullmatch(
            r"Baseline: the same SQL with '%s'\.( Rows that are not among the first (\d+) of their "
            r'run: with (\d+) instead of (\d+)\.)?' % re.escape(against), table['remark'])
        if not remark.group(1):  # a chart
            continue
        most, n_all, again = map(int, remark.groups()[1:])
        same(most, again)
        everything = re.sub(r'(LIMIT |, )%d\b' % most, r'\g<1>%d' % n_all, sql)
        must(everything != sql, 'not %d rows: %s' % (most, sql))
        run, base = (shell(s + ';')
                     for s in (everything, everything.replace(source, against)))
        first = base[:most]
        for row in table['rows'][1:] + table['base']:
            extra = row in table['base']
            both = not extra or any(raw for _, raw, small in row if small is not None)
            there = [values for values in base if all(
                small in (None, 'base ' + shown(value, name)) and
                (small is not None or text == shown(value, name))
                for (text, _, small), (name, value) in zip(row, values.items()))]
            must(there or not extra and all(small in (None, 'base –') for _, _, small in row),
                 '%s: not in the baseline: %s %s' % (what, head, row))
            must(not both or any(all(raw is None or (raw == '' if value is None else
                                                     close(raw, value))
                                     for (_, raw, _), value in zip(row, values.values()))
                                 for values in run),
                 '%s: not in the run: %s %s' % (what, head, row))
            first = [values for values in first if values not in there]
            n += 1
        same(first, [], '%s: rows of the baseline that are not in the table\n%s' % (what, sql))
    return n


PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'pages')


def kept(text):
    """What is kept of a page: neither style nor scripts, and 12 digits of each number."""
    text = re.sub(r'<(style|script)\b.*?</\1>|<meta http-equiv.*?>', '', text, flags=re.S)
    return re.sub(r'-?\d+\.\d+(e[+-]\d+)?', lambda m: '%.12g' % float(m.group()), text)


def section(source, id):
    """A section of a page; compared with itself, so that keys of rows are not like other cells."""
    page = kept(report(source, '--against', source)[0])
    return page[page.index('<section id=%s>' % id):].split('</section>')[0]


def kept_pages():
    """{name: text}: two pages, and sections that neither of them has."""
    return {'tpu': kept(report(TPU)[0]), 'against': kept(report(AFTER, '--against', BEFORE)[0]),
            'sections': '\n'.join(section(source, id) for source, id in (
                (GPU, 'ops'), ('tests/data/inference_batches', 'serving'),
                ('tests/data/megascale_slow', 'communication'),
                ('tests/data/jax_recompiles', 'compiles')))}


@case
def pages_that_are_kept():
    """Every word, number, limit and place of pages is as it was, and they have every table of
    command/report/sections.c. KEEP_PAGES=1 writes them anew; read the difference before you commit
    it."""
    pages = kept_pages()
    for name, found in pages.items():
        path = os.path.join(PAGES, name + '.html')
        if os.environ.get('KEEP_PAGES'):
            with open(path, 'w', encoding='utf-8') as f:
                f.write(found)
        with open(path, encoding='utf-8') as f:
            same(found.split('\n'), f.read().split('\n'), name)
    with open(os.path.join(ROOT, 'command', 'report', 'sections.c'), encoding='utf-8') as f:
        titles = re.findall(r' TABLE\("(.*?)"', f.read())
    same([title for title in titles
          if html.escape(title) not in html.escape(html.unescape(''.join(pages.values())))], [])


@case
def numbers_of_a_report():
    """Every cell of every table is what the SQL shown with it gives."""
    n = sum(check_tables(report(source)[0], name) for name, source in KINDS.items())
    n += check_tables(report(AFTER, '--against', BEFORE)[0], 'against')
    must(n > 3000, 'only %d cells were compared' % n)


@case
def key_figures():
    """The cards are the columns of kpi, and the verdict the first finding of advice."""
    for source in (GPU, TPU, BEFORE):
        text, _ = report(source)
        [row] = shell("SELECT step_time_ms, input_percent, (SELECT finding FROM advice('%s') WHERE "
                      "status = 'finding' ORDER BY rank LIMIT 1) AS finding FROM kpi('%s')" % (
                          source, source))
        for name, value in (('step time', row['step_time_ms']),
                            ('waiting for input', row['input_percent'])):
            [shown] = re.findall('<dt>%s</dt><dd>([0-9.,]+)' % name, text)
            must(abs(float(shown.replace(',', '')) - value) < .06, '%s for %s' % (shown, value))
        must('class=verdict>' + row['finding'].split('(')[0] in text, row['finding'])


def icicle(text, title):
    """{(depth, name): (share of the width, words)} of an icicle in a page."""
    chart = re.search(r'<svg class="chart icicle"[^>]*><title>%s.*?</svg>' % title, text, re.S)
    found = {}
    for a, b, y, name, words in re.findall(
            r'data-a="([0-9.]+)" data-b="([0-9.]+)"><rect[^>]* y="([0-9.]+)"[^>]*>'
            r'<title>(.*?)\n(.*?)</title>', chart.group(0) if chart else ''):
        found[1 + int(float(y)) // 22, html.unescape(name)] = float(b) - float(a), words
    return found


@case
def scopes_of_a_page():
    """The icicle has all levels of the scopes, and the time of ops outside of scopes as a part."""
    scopes = icicle(report(TPU)[0], 'Time by layer')
    must((4, 'Dense_3') in scopes, scopes)
    for source in (GPU, BEFORE):
        [row] = shell("SELECT sum(self_us) FILTER (WHERE scope IS NULL) / sum(self_us) AS share "
                      "FROM time_by_scope('%s')" % source)
        width, words = icicle(report(source)[0], 'Time by layer')[1, '(no scope)']
        must(abs(width - row['share']) < 1e-3, '%s of %s' % (width, row))
        must(words.endswith(', %.1f %%' % (100 * row['share'])), words)


@case
def kernels_without_an_op():
    """What op_profile leaves out is a part of the icicle of devices."""
    [row] = shell("SELECT 1 - (SELECT sum(self_time_ps) FROM op_profile('%s') WHERE kind = 'op' "
                  "AND name <> 'IDLE') / 1e6 / sum(self_us) AS share FROM time_by_scope('%s')" % (
                      GPU, GPU))
    width, _ = icicle(report(GPU)[0], 'Time of devices')[1, 'without an op']
    must(abs(width - row['share']) < 1e-2, '%s of %s' % (width, row))


@case
def units_of_a_page():
    """Each number is in the unit in which people read it, and an unknown duration is no 0."""
    from cases.steps import group
    for us, shown, header in ((5, '5.00', 'µs'), (50000, '50.00', 'ms'), (28e7, '280.0', 's')):
        marks = [('TraceContext', int(2e6 * us * i), int(1e6 * us), group(i)) for i in range(3)]
        plane = Plane('/host:CPU').line(1, 'main', marks).line(2, 'pool', [
            ('MatMul', *mark[1:]) for mark in marks])
        text, _ = report(put('units.xplane.pb', space(plane.bytes())))
        must('<dt>step time</dt><dd>%s <small>%s<' % (shown, header) in text, shown + header)
        must('>%s %s</td>' % (shown, header) in text, header)
    for kind, words in (('memory', ' events</p>'), ('empty', ' events in 25.6 µs, ')):
        must(words in report(KINDS[kind])[0], 'the duration of ' + kind)


@case
def every_figure_is_drawn_or_explained():
    """What is not drawn is listed with a reason."""
    with open(os.path.join(ROOT, 'command', 'report', 'sections.c'), encoding='utf-8') as f:
        titles = set(re.findall(r' TABLE\("(.*?)"', f.read())) | {'Key figures', 'Advice', 'Events'}
    with open(os.path.join(ROOT, 'ext', 'charts.c'), encoding='utf-8') as f:
        code = f.read()
    with open(os.path.join(ROOT, 'command', 'report', 'sections.c'), encoding='utf-8') as f:
        for name in re.findall(r'CHART\((\w+),', f.read()):
            titles.update(re.findall(r'const Chart %s = \{\s*"\w+", "(.*?)"' % name, code))
    must(len(titles) >= 28, titles)
    for source in [*KINDS.values(), 'tests/data/h100_torch']:
        text, _ = report(source)
        drawn = set(map(html.unescape, re.findall('<figcaption>(.*?)</figcaption>', text)))
        drawn |= {title for title, mark in (
            ('Key figures', '<dl class=cards>'), ('Advice', '<ol class=advice>'),
            ('Events', '<section id=timeline>')) if mark in text}
        left_out = re.findall('<li>([^<]*): ([^<]*)<br><span class=soft>([^<]+)</span></li>',
                              text.split('<section id=missing>')[1])
        same(sorted(drawn | {html.unescape(title) for _, title, _ in left_out}), sorted(titles),
             source)
        same(drawn & {title for _, title, _ in left_out}, set(), source)


@case
def shares_above_their_limit():
    """A share of a peak above 100 % has a remark, also where another share is above 100 %, and
    where it is the baseline's."""
    peak, roof = 'A share of the peak is above', 'An op is above its roof'
    odd = KINDS['no_steps']
    for source, words in (([odd], (peak, roof)), ([TPU], (roof,)), ([GPU], ()),
                          ([GPU, '--against', odd], (peak, roof))):
        text, _ = report(*source)
        same([w for w in (peak, roof) if w in text], list(words), source)


@case
def heaps_of_programs():
    """The curve of each program's heap has its peak."""
    text, _ = report(TPU)
    chart = re.search('<svg class="chart memory".*?</svg>', text, re.S).group(0)
    found = re.findall('<title>([^<]*): at most (.*?)</title>', chart)
    peaks = shell("SELECT hlo_module, memory_space, max(heap_mib) AS mib FROM heap_timeline('%s') "
                  "GROUP BY 1, 2 ORDER BY 1, 2" % TPU)
    same(len(found), len(peaks))
    for (name, words), row in zip(found, peaks):
        must(name.startswith(row['hlo_module']), name)
        number, of = words.split()
        must(abs(float(number) * KINDS_OF_UNITS[2][of] / 2**20 - row['mib']) <= row['mib'] / 100,
             words)


@case
def one_core_has_no_others():
    """One core is not compared with itself."""
    text, _ = report(BEFORE)
    must('<figcaption>Cores and hosts' not in text and 'has one core' in text, 'a table')
    must('<figcaption>Cores and hosts' in report(KINDS['hosts'])[0], 'no table')


@case
def verdict_on_the_input():
    """The verdict is about the same steps as the sentence beside it."""
    for source, verdict in ((BEFORE, 'input bound'), (AFTER, 'not input bound')):
        must('<td>%s</td>' % verdict in report(source)[0], verdict)


@case
def queries_of_advice():
    """Each finding has the query that shows its parts, with the run as it was given."""
    text, _ = report(BEFORE)
    queries = list(map(html.unescape, re.findall(
        '<summary>Query</summary><pre>(.*?)</pre>', text)))
    rows = shell("SELECT query FROM advice('%s') WHERE status = 'finding' ORDER BY rank" % BEFORE)
    same(queries, [row['query'] for row in rows])
    must(queries and BEFORE in queries[0], queries)


@case
def nothing_is_claimed_of_nothing():
    """A file without events has no figures, no verdict, and the reasons."""
    text, _ = report(KINDS['empty'])
    must('What costs time is unknown' in text, 'a verdict')
    must('class=cards' not in text and '<section id=timeline>' not in text, 'a figure')
    must('steps has no rows: the source has no events' in text, 'no reason')


@case
def a_baseline_beside_it():
    """With --against, cells of the baseline have its values, by the keys of the row."""
    text, _ = report(AFTER, '--against', BEFORE)
    [base] = shell("SELECT step_time_ms FROM kpi('%s')" % BEFORE)
    must('base %.2f' % base['step_time_ms'] in text, 'no step time of the baseline')
    same(text.count('class="chart steps"'), 2)
    ends = [float(re.findall(r'y="([0-9.]+)">0</text>', svg)[0]) for svg in
            re.findall(r'<svg class="chart steps".*?</svg>', text, re.S)]
    same(ends[0], ends[1], 'scales of the two charts')
    [op] = shell("SELECT short_name, self_time_us / 1e3 AS ms FROM top_ops('%s') WHERE short_name "
                 "IN (SELECT short_name FROM top_ops('%s', 5)) ORDER BY rank LIMIT 1" % (
                     BEFORE, AFTER))
    row = re.search('<tr><td>%s</td>.*?</tr>' % re.escape(op['short_name']), text).group(0)
    must('base %s' % (('%.1f' if op['ms'] >= 100 else '%.2f') % op['ms']) in row, row)


@case
def rows_of_the_baseline():
    """With --against, tables have the first rows of both runs, also those that one of them lacks or
    ranks lower."""
    pairs = (AFTER, BEFORE), (BEFORE, AFTER), (GPU, TPU), (TPU, KINDS['inference'])
    n = sum(check_tables(text, run) + check_base(text, run, base, '%s against %s' % (run, base))
            for run, base in pairs for text in [report(run, '--against', base)[0]])
    must(n > 3000, 'only %d' % n)
    text, _ = report(AFTER, '--against', BEFORE)
    [op] = shell("SELECT self_time_us / 1e3 AS ms FROM top_ops('%s') WHERE short_name = "
                 "'EagerPyFunc'" % BEFORE)
    must('<tr class=base><td>EagerPyFunc</td><td>host</td><td class=n data-v="">–<small>base %s'
         '</small>' % shown(op['ms'], 'time (ms)') in text, 'EagerPyFunc')


@case
def figures_of_the_baseline():
    """A figure that only one of the runs has is shown, with the reason why the other lacks it."""
    reason = html.escape(': steps has no rows: no step was found')
    for run, base, whose in ((KINDS['no_steps'], TPU, 'this run'),
                             (TPU, KINDS['no_steps'], 'the baseline')):
        text, _ = report(run, '--against', base)
        same(text.count('<svg class="chart steps"'), 1)
        same(text.count('None in %s%s' % (whose, reason)), 2, 'of the chart and the table')
        must(check_base(text, run, base, whose) > 100, 'no rows')
    text, _ = report(KINDS['empty'], '--against', TPU)
    card = '<dt>complete steps</dt><dd>(.*?) <small></small> <small class=base>base (.*?)<'
    same(re.findall(card, text), [('–', '6')])


@case
def hosts_of_other_names():
    """Hosts that both runs have are compared, the others in the order of their names, and devices
    by their numbers. The only row of a table is compared with the only one."""
    path = KINDS['hosts'] + '/plugins/profile/multi_host_111/host-0%d.xplane.pb'
    for names in (['a', 'b', 'c'], ['host-01', 'host-02', 'z']):
        for i, name in enumerate(names):  # the first host is the last one of the second folder
            with open(path % ((i + (names[2] == 'z')) % 3), 'rb') as f:
                put('_'.join(names) + '/%s.xplane.pb' % name, f.read())
        base = os.path.join(DIR, '_'.join(names))
        text, _ = report(KINDS['hosts'], '--against', base)
        tables = [table for table in Page(text).tables if table['rows'][0][0][0] == 'host']
        same(len(tables), 4)
        for table in tables:
            same(table['base'], [])
            for row in table['rows'][1:]:
                for value, raw, small in row:
                    must(raw is None or small == 'base ' + value, '%s: %s' % (names, row))
    text, _ = report(GPU, '--against', TPU)
    [device] = shell("SELECT busy_percent AS p FROM device_time('%s') WHERE plane GLOB '*:0'" % TPU)
    [input] = shell("SELECT input_percent_actual AS p FROM input_pipeline('%s')" % TPU)
    for cell, row in (('/device:GPU:0<small>base /device:TPU:0', device),
                      ('input bound<small>base partly or perhaps input bound', input)):
        must(re.search('<td>%s</small></td><td[^>]*>[0-9.]+<small>base %.2f</small>' % (
            cell, row['p']), text), cell)


@case
def texts_beside_the_baseline():
    """With --against, texts that differ have the baseline's below them, and the verdict too."""
    text, _ = report(GPU, '--against', TPU)
    [verdict] = re.findall('class=verdict>.*?</p>\n<p class=soft>Baseline: (.*?)</p>', text)
    must(verdict in report(TPU)[0], verdict)
    ask = "SELECT input_statement AS words FROM input_pipeline('%s')"
    (now,), (then,) = (shell(ask % source) for source in (GPU, TPU))
    must('<td class=long>%s<small>base %s</small></td>' % (now['words'], shown(then['words']))
         in text, now)
    must('<td>gpu-worker<small>base t1v-n-0d2f</small></td>' in text, 'the host')
    text, _ = report(TPU, '--against', TPU)
    must('<p class=soft>Baseline: ' + verdict not in text, 'the same verdict twice')
    same(re.findall('<td>[^<]*<small>', text), [])


@case
def timeline_beside_the_baseline():
    """With --against, the timeline has the events of both runs, each with its session's times."""
    for words, sources in (([], [AFTER]), (['--against', BEFORE], [AFTER, BEFORE])):
        text, _ = report(AFTER, *words)
        timelines = packed(text)
        must(TIMELINE % AFTER in html.unescape(text), 'no SQL')
        same(text.count('<canvas '), len(sources))
        same(len(timelines), len(sources))
        for timeline, source in zip(timelines, sources):
            same(events_of(timeline), events_in_sql(source), source)
            rows = shell("SELECT min(start_ps) AS a, max(start_ps + max(duration_ps, 0)) AS b FROM "
                         "trace_events('%s') WHERE plane_kind <> 'metadata'" % source)
            same([timeline['start'], timeline['end']],
                 [rows[0]['a'] // 1000, rows[0]['b'] // 1000])
            must(len(timeline['details']) > 100, 'no arguments')
    text, _ = report(AFTER, '--against', KINDS['empty'])
    must('The baseline has no events.' in text and len(packed(text)) == 1, 'a baseline of nothing')
    text, _ = report(KINDS['empty'], '--against', AFTER)
    same(len(packed(text)), 0)


@case
def lines_beside_the_baseline():
    """Rows with the same keys are compared in order, so that each has a value of its own."""
    def spaces(counts):
        plane = Plane('/host:CPU', 1)
        for i, n in enumerate(counts):
            plane.line(i, 'worker', [('e', 1000000 * k, 1000) for k in range(n)])
        return space(plane.bytes())
    now = put('now.xplane.pb', spaces([7, 9, 2]))
    then = put('then.xplane.pb', spaces([1, 30, 20]))
    text, _ = report(now, '--against', then)
    same(re.findall('<td>worker</td>.*?>([0-9]+)<small>base ([0-9]+)', text),
         [('9', '30'), ('7', '20'), ('2', '1')])


@case
def charts_beside_the_baseline():
    """The rows of the baseline's chart are in a table, like those of the run's."""
    text, _ = report(AFTER, '--against', BEFORE)
    tables = re.findall('<summary>Data of the baseline</summary>.*?(<table.*?</table>)', text, re.S)
    same(len(tables), text.count('<summary>Data</summary>'))
    own, _ = report(BEFORE)
    for table in tables:
        must(table in own, 'not a table of a page about the baseline: ' + table)


@case
def advice_beside_the_baseline():
    """With --against, a finding has its cost in both runs; those of the baseline alone follow."""
    ask = ("SELECT rule, cost_percent, finding FROM advice('%s') WHERE status = 'finding' "
           "ORDER BY rank")
    for after, before in ((AFTER, BEFORE), (GPU, TPU), (GPU, GPU)):
        text, _ = report(after, '--against', before)
        got = re.findall('<li[^>]*><span class=cost>(.*?)</span> <span>(.*?)</span>',
                         re.search('<ol class=advice>(.*?)</ol>', text, re.S).group(1))
        now, then = ({r['rule']: r for r in shell(ask % run)} for run in (after, before))
        rules = list(now) + [rule for rule in then if rule not in now]
        same(len(got), len(rules))
        for rule, (costs, words) in zip(rules, got):
            here, there = (float(x) if x else None for x in re.fullmatch(
                r'(?:([0-9.]+) %|no finding) <small>base (?:([0-9.]+) %|no finding)</small>',
                costs).groups())
            for run, shown in ((now, here), (then, there)):
                same(rule in run, shown is not None, rule)
                must(shown is None or abs(shown - run[rule]['cost_percent']) < .06, costs)
            of = now.get(rule) or then[rule]
            same(html.unescape(words), ('' if rule in now else 'Baseline: ') + of['finding'])


@case
def hostile_names_in_a_report():
    """Names with markup are texts: there is no element but those of the page, no attribute that
    runs anything, and the scripts are the page's own."""
    source = hostile_profile()
    text, _ = report(source, '--against', source)
    page, plain = Page(text), Page(report(GPU)[0])
    allowed = {tag for tag, _ in plain.elements} | {tag for tag, _ in Page(
        report(AFTER, '--against', BEFORE)[0]).elements}
    must({tag for tag, _ in page.elements} <= allowed, 'an element from a name')
    for tag, attributes in page.elements:
        must(not any(name.startswith('on') for name in attributes), '%s %s' % (tag, attributes))
        for name in ('href', 'src'):
            must((attributes.get(name) or '#')[0] in '#d', '%s %s' % (tag, attributes))
    same(len(page.scripts), 3, 'events of two runs, and the script')
    same(page.scripts[2], plain.scripts[-1], 'the script')
    must('&lt;/script&gt;&lt;img' in text, 'the names are missing')


@case
def words_of_report():
    """Errors name wrong arguments, and files are not replaced by mistake."""
    out = os.path.join(DIR, 'there.html')
    open(out, 'w').close()
    _, error = run('report', GPU, '-o', out, status=1)
    must('exists; --force replaces it' in error, error)
    _, error = run('report', GPU, '-o', out, '--limit', '3', status=2)
    must('report does not take' in error, error)
    _, error = run('report', status=2)
    must('profsql report RUN' in error, error)
    _, error = run('report', GPU, TPU, status=2)
    must('--against' in error, error)
    _, error = run(GPU, 'kpi', '--against', TPU, status=2)
    must('does not take --against' in error, error)
    same(os.path.getsize(out), 0)
    text, said = run('report', GPU, '-o', '-')
    same(said, '', 'beside the page')
    with open('/dev/full', 'w') as full:
        must('cannot be written: No space left' in run(
            'report', GPU, '-o', '-', status=1, stdout=full, stderr=subprocess.PIPE)[1],
             'a full disk')
    _, said = run('report', GPU, '-o', out, '--force')
    must(re.fullmatch('profsql: wrote %s: 0.[0-9][0-9] MB\n' % re.escape(out), said), said)
    must(text.startswith('<!doctype html>') and text.endswith('</html>\n'), text[:80])
    same(text, report(GPU)[0], 'a second report')
    must('http://' not in text.replace('http://www.w3.org', '') and 'https://' not in text,
         'an address')


@case
def a_system_without_threads():
    """No thread gets a stack of this size, so that none begins."""
    most = resource.getrlimit(resource.RLIMIT_STACK)[1]
    if most != resource.RLIM_INFINITY:
        raise Skip('the limit of stacks is %d bytes: run with `ulimit -Hs unlimited`' % most)
    page, said = run('report', TPU, '-o', '-', preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_STACK, (1 << 50, most)))
    same(said, '')
    same(page, report(TPU)[0], 'the page')


@case
def ctrl_c_ends_a_report():
    """No figure is asked for after it."""
    must(b'<section' not in interrupted('report', GPU, '-o', '-'), 'figures after Ctrl-C')


# ---- in a browser ----

# Texts whose contrast to what is behind them is below WCAG AA; charts and timeline included.
CONTRAST = r'''(() => {
  const rgb = c => { const m = c.match(/[\d.]+/g).map(Number);
    return m.length > 3 ? m : [...m, 1]; };
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= .03928 ? v / 12.92 :
    ((v + .055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + .05) / (y + .05); };
  const behind = e => { for (; e; e = e.parentElement) {
    const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] > .5) return c; }
    return rgb(getComputedStyle(document.body).backgroundColor); };
  const bad = [];
  let n = 0;
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(c => c.nodeType === 3 && c.data.trim());
    if (!own || !e.getClientRects().length) continue;
    if (['SCRIPT', 'STYLE', 'title'].includes(e.tagName)) continue;
    const style = getComputedStyle(e), inSvg = e.ownerSVGElement;
    const colour = rgb(inSvg ? style.fill : style.color);
    let back = behind(inSvg ? inSvg.parentElement : e);
    if (inSvg && e.classList.contains('on')) {
      let rect = e.previousElementSibling;
      while (rect && rect.tagName !== 'rect') rect = rect.previousElementSibling;
      back = rgb(getComputedStyle(rect).fill);
    }
    n++;
    if (ratio(colour, back) < 4.5) bad.push([e.tagName, e.textContent.slice(0, 30),
      ratio(colour, back).toFixed(2)]);
  }
  return {n, bad};
})()'''
LABELS = r'''[...document.querySelectorAll(
  'input, button, canvas, svg, [role=region], [role=button]')]
  .filter(e => !e.closest('svg svg') && !(e.textContent.trim() || e.getAttribute('aria-label') ||
    (e.labels && e.labels.length))).map(e => e.outerHTML.slice(0, 80))'''


def browsing():
    if not browser.PROGRAM:
        raise Skip('needs Chromium: apt-get install chromium')
    return browser.Browser()


def opened(b, path, **how):
    b.open('file://' + path, **how)
    ready = b.script('''new Promise(done => { const look = () => {
        const ms = document.documentElement.dataset.ready;
        ms === undefined ? setTimeout(look, 20) : done(+ms); }; look(); })''')
    same(b.complaints(), [], path)
    return ready


def keep(b, name):
    if os.environ.get('KEEP') and os.path.isdir(os.environ['KEEP']):
        b.picture(os.path.join(os.environ['KEEP'], name + '.png'))


@case
def pages_in_a_browser():
    """Pages of every kind of profile: nothing in the console, nothing is loaded, texts have the
    contrast of WCAG AA in light and dark, all that can be used has a name, and nothing is wider
    than a telephone."""
    with browsing() as b:
        for name, source in {**KINDS, 'hostile': hostile_profile()}.items():
            _, path = report(source, name=name + '.html')
            for width, scheme in ((1280, 'light'), (400, 'dark')):
                opened(b, path, width=width, prefers_color_scheme=scheme)
                got = b.script(CONTRAST)
                must(not got['bad'] and got['n'] > 10, '%s, %s: %s' % (name, scheme, got))
                same(b.script(LABELS), [], name)
                must(b.script('document.documentElement.scrollWidth') <= width,
                     '%s is wider than %d' % (name, width))
                keep(b, '%s_%d_%s' % (name, width, scheme))
            same(b.script('document.querySelectorAll("img").length'), 0)


@case
def without_scripts_and_printed():
    """Without scripts the figures are there, and the page prints."""
    with browsing() as b:
        _, path = report(GPU)
        b.open('file://' + path, scripts=False)
        b.call('Emulation.setScriptExecutionDisabled', value=False)
        same(b.complaints(), [])
        must(b.script('document.querySelectorAll("svg.chart").length') >= 3, 'no charts')
        must(b.script('document.querySelector("#ops table").offsetHeight') > 100, 'no table')
        same(b.script('document.querySelector("#timeline .script").offsetHeight'), 0)
        out = os.path.join(DIR, 'page.pdf')
        b.pdf(out)
        with open(out, 'rb') as f:
            must(f.read(5) == b'%PDF-' and os.path.getsize(out) > 20000, 'no PDF')


# Words of tables that are broken, of those that fit on a line of print.
BROKEN = r"""[...document.querySelectorAll('td')].filter(td => /^[\w.]{1,14}$/.test(td.textContent))
  .filter(td => { const range = document.createRange(); range.selectNodeContents(td);
    return new Set([...range.getClientRects()].map(box => box.top)).size > 1; })
  .map(td => td.textContent)"""


@case
def what_is_printed():
    """On paper, pages have the SQL, the visible part of the timeline and its times, in light
    colours, and words in one piece."""
    with browsing() as b:
        for source in (TPU, GPU):
            opened(b, report(source)[1], width=1280, prefers_color_scheme='dark')
            b.script("addEventListener('beforeprint', () => { window.paper = "
                     "timelines.timelines[0].colours.paper; })")
            b.pdf(os.path.join(DIR, 'page.pdf'))
            same(b.script('paper'), '#ffffff')
            first, last = re.fullmatch(
                'The part of the timeline that was on the screen: (.*) ms to (.*) ms.',
                b.script("document.querySelector('#printed').textContent")).groups()
            seen = b.script('(t => [t.from, t.to])(timelines.timelines[0])')
            must(abs(float(first) * 1e6 - seen[0]) + abs(float(last) * 1e6 - seen[1]) < 1e6, seen)
            must(b.script('timelines.timelines[0].colours.paper') != '#ffffff', 'still for paper')
            b.call('Emulation.setDeviceMetricsOverride', width=718, height=1000,
                   deviceScaleFactor=1, mobile=False)
            b.call('Emulation.setEmulatedMedia', media='print')
            same(b.script(BROKEN), [])
            heights = b.script("""['details.sql pre', '#timeline canvas', '#printed'].map(
                e => Math.min(...[...document.querySelectorAll(e)].map(e => e.offsetHeight)))""")
            must(min(heights) > 10, heights)
            same(b.script('document.documentElement.scrollWidth'), 718)


@case
def what_a_telephone_shows():
    """On 400 pixels, texts of charts have their size, and sentences in tables room for some
    words."""
    with browsing() as b:
        _, path = report(TPU)
        opened(b, path, width=400)
        sizes = b.script("""[...document.querySelectorAll('svg.chart')].map(e =>
            11 * e.getBoundingClientRect().width / e.viewBox.baseVal.width)""")
        must(sizes and min(sizes) >= 11, sizes)
        widths = b.script("""[...document.querySelectorAll('td')].filter(
            td => td.offsetWidth && td.textContent.length > 80).map(td => td.offsetWidth)""")
        must(widths and min(widths) > 200, widths)


@case
def what_a_page_does():
    """Headings sort, icicles zoom, the timeline has the events, searches them, and shows arguments
    and flows."""
    with browsing() as b:
        _, path = report(GPU)
        opened(b, path)
        values = '''[...document.querySelectorAll('#ops tbody')[0].rows]
            .map(r => +r.cells[%d].dataset.v)'''
        click = "document.querySelectorAll('#ops thead')[0].rows[0].cells[%d].firstChild.click()"
        b.script(click % 4)
        got = b.script(values % 4)
        must(got == sorted(got, reverse=True), 'not sorted: %s' % got)
        b.script(click % 4)
        same(b.script(values % 4), sorted(got))
        wide = "document.querySelectorAll('svg.icicle .node rect')[%d].getAttribute('width')"
        b.script("document.querySelectorAll('svg.icicle .node')[1]"
                 ".dispatchEvent(new MouseEvent('click'))")
        same(float(b.script(wide % 1)), 960.0)
        got = b.script('''timelines.timelines[0].lines.flatMap(l => [...l.id].map((id, i) =>
            [id, timelines.timelines[0].names[l.name[i]], l.start[i], l.length[i], l.depth[i]]))''')
        events = events_in_sql(GPU)
        same(sorted(map(tuple, got)), events, 'events')
        b.script("timelines.find('MEMCPYHtoD')")
        same(b.script('timelines.n_hits'),
             sum('memcpyhtod' in e[1].lower() for e in events))
        b.script('timelines.next(1)')
        shown = b.script("document.querySelector('#event').textContent")
        must('MEMCPYHtoD' in shown and 'correlation_id' in shown, shown)
        must(b.script("document.querySelectorAll('#event button').length") > 0, 'no flow')
        b.script("document.querySelector('#event button').click()")
        must('MEMCPYHtoD' not in b.script("document.querySelector('#event dd').textContent"),
             'the flow leads nowhere')


@case
def labels_of_the_timeline():
    """No label of the axis is cut."""
    with browsing() as b:
        opened(b, report(TPU)[1])
        same(b.script('''(() => {
            const cut = [], context = CanvasRenderingContext2D.prototype, write = context.fillText;
            context.fillText = function (text, x, y) {
              if (y === 10 && x + this.measureText(text).width > this.canvas.clientWidth)
                cut.push(text);
              write.call(this, text, x, y);
            };
            timelines.timelines[0].paint();
            return cut;
        })()'''), [])


@case
def deep_stacks_in_a_browser():
    """Each event of a stack of 60 is drawn on a row of its own, to which the timeline scrolls, and
    is found at its own middle."""
    host = Plane('/host:CPU')
    for n in (60, 3):
        host.line(n, 'thread %d' % n, [('call %d' % i, 10**6 * i, 10**6 * (200 - 2 * i))
                                       for i in range(n)])
    with browsing() as b:
        opened(b, report(put('deep.xplane.pb', space(host.bytes())))[1])
        missed = b.script('''(() => {
            const t = timelines.timelines[0], missed = [];
            for (const line of t.lines) for (let e = 0; e < line.n; e++) {
              t.go([line, e]);
              const y = t.y(line, line.depth[e]) + 7, x = t.x(line.start[e] + line.length[e] / 2);
              const there = t.at(x, y);
              if (y < 20 || y > t.seen || !there || there[0] !== line || there[1] !== e)
                missed.push(line.title + ' ' + e);
            }
            return missed;
        })()''')
        same(missed, [])


def event_shown(b):
    """What the page shows of an event."""
    return dict(zip(*(b.script("[...document.querySelectorAll('#event %s')].map(e => "
                               "e.textContent)" % tag) for tag in ('dt', 'dd'))))


@case
def devices_first():
    """Lines of devices are above those of hosts, whatever their order in the file."""
    planes = [Plane(name, i).line(1, 'l', [('e', 0, 9)]) for i, name in enumerate((
        '/host:CPU', '/device:GPU:0', '/host:other', '/device:GPU:1'))]
    with browsing() as b:
        opened(b, report(put('order.xplane.pb', space(*(p.bytes() for p in planes))))[1])
        same(b.script('timelines.timelines[0].lines.map(line => line.plane)'),
             ['/device:GPU:0', '/device:GPU:1', '/host:CPU', '/host:other'])


@case
def input_to_the_timeline():
    """The wheel scrolls, with Ctrl it zooms, as two fingers and the buttons do; keys reach every
    row and line."""
    host = Plane('/host:CPU')
    for n in range(40):
        host.line(n, 'thread %d' % n, [('outer', 0, 10**9), ('inner', 10**8, 10**7)])
    state = '(t => [t.to - t.from, t.top, scrollY])(timelines.timelines[0])'
    with browsing() as b:
        opened(b, report(put('input.xplane.pb', space(host.bytes())))[1])
        x, y, below = b.script("""(() => {
            document.querySelector('#timeline').scrollIntoView();
            const box = document.querySelector('canvas').getBoundingClientRect();
            return [box.left + 100, box.top + 100, timelines.timelines[0].height];
        })()""")
        must(below > 1000, 'no lines below')

        def after(method, **how):
            b.call('Input.' + method, **how)
            b.script('new Promise(done => setTimeout(done, 300))')
            return b.script(state)

        span, _, page = b.script(state)
        wheel = {'method': 'dispatchMouseEvent', 'type': 'mouseWheel', 'x': x, 'y': y, 'deltaX': 0}
        same(after(**wheel, deltaY=120), [span, 120, page], 'the wheel')
        b.script('timelines.timelines[0].top = 1e9')
        b.script('new Promise(done => setTimeout(done, 300))')
        _, end, _ = b.script(state)
        got = after(**wheel, deltaY=-120, modifiers=2)
        must(got[0] < .9 * span and got[1:] == [end, page], 'Ctrl and the wheel: %s' % got)

        def fingers(apart):
            return [{'x': x + 200 + i * apart, 'y': y, 'id': i} for i in (0, 1)]
        before = got[0]
        for kind, points in (('touchStart', fingers(50)), ('touchMove', fingers(75)),
                             ('touchMove', fingers(100)), ('touchEnd', [])):
            got = after('dispatchTouchEvent', type=kind, touchPoints=points)
        must(abs(got[0] - before / 2) < .05 * before, 'two fingers: %s of %s' % (got, before))
        for button, factor in (('closer', .6), ('wider', 1 / .6)):
            before = got[0]
            b.script("document.querySelector('#%s').click()" % button)
            got = b.script(state)
            must(abs(got[0] / before - factor) < .01, button)
        b.script("document.querySelector('#whole').click()")
        same(b.script(state)[0], span)

        def reached(*keys):
            found = []
            for key in keys:
                for kind in ('keyDown', 'keyUp'):
                    b.call('Input.dispatchKeyEvent', type=kind, key=key)
                event = event_shown(b)
                found.append((event['on'].split()[-1], event['event']))
            return found
        b.script("timelines.timelines[0].top = 0; document.querySelector('canvas').focus()")
        rows = [(str(n), name) for n in range(40) for name in ('outer', 'inner')]
        same(reached(*['ArrowDown'] * 80), rows)
        same(reached(*['ArrowUp'] * 79), rows[-2::-1])
        same(reached('PageDown', 'PageDown', 'PageUp'),
             [('1', 'outer'), ('2', 'outer'), ('1', 'outer')])
        place = b.script("""(t => t.y(t.selected[0], 0))(timelines.timelines[0])""")
        must(20 < place < 400, 'the selected event is not visible')


@case
def what_a_search_finds():
    """A search finds names of events, lines and planes, and names and values of arguments, and says
    so. An event without arguments in the page has the SQL that shows them."""
    host = Plane('/host:CPU')
    host.line(1, "it's a thread", [('call', 10**6 * i, 10**5 + i, {'batch %d' % i: {'str': 'abc'}})
                                   for i in range(2000)])
    host.line(2, 'other', [('Abcd', 0, 10**6)])
    path = put("it's.xplane.pb", space(host.bytes()))
    with browsing() as b:
        opened(b, report(path)[1])
        at = '''timelines.timelines[0].lines[0].id.findIndex(
            id => %s timelines.timelines[0].details[id])'''
        with_arguments = b.script('timelines.timelines[0].lines[0].id.filter(id => '
                                  'timelines.timelines[0].details[id]).length')
        must(1000 < with_arguments < 1300, with_arguments)
        for text, n in (('abc', with_arguments + 1), ("IT'S A", 2000), ('host:', 2001),
                        ('batch', with_arguments), ('call', 2000), ('nothing', 0)):
            b.script('timelines.find(%s)' % json.dumps(text))
            same(b.script('timelines.n_hits'), n, text)
        said = b.script("document.querySelector('#found').textContent")
        must('arguments of {:,} events'.format(with_arguments + 1) in said, said)
        same(shell(said[said.index('SELECT'):].replace('nothing', 'batch 1999')), shell(
            "SELECT *, stats FROM trace_events('%s') WHERE event_id = 1999" % path.replace(
                "'", "''")))
        for there, word in ((True, 'abc'), (False, 'This SQL shows them')):
            b.script('timelines.timelines[0].show([timelines.timelines[0].lines[0], %s])' % (
                at % ('' if there else '!')))
            event = event_shown(b)
            must(word in ' '.join(event.values()), event)
            [row] = shell(event['SQL'])
            same(row['event_id'], int(event['event_id']))
            must('abc' in row['stats'], row)


@case
def times_of_the_session():
    """Starts on the page are those of the session: what it shows can be typed after --from and
    --to, and is in SQL. Labels of the axis differ."""
    with browsing() as b:
        opened(b, report(GPU)[1])
        b.script("timelines.find('MEMCPYHtoD'); timelines.next(1)")
        event = event_shown(b)
        [row] = shell("SELECT start_ps FROM trace_events('%s') WHERE event_id = %s" % (
            GPU, event['event_id']))
        same(event['start'], '%s ms' % (row['start_ps'] // 1000 / 1e6))
        trace, _ = run('export', GPU, '-', '--format', 'chrome', '--from', event['start'],
                       '--to', event['start'], '--lines', '*GPU:0')
        must('"name":"MEMCPYHtoD"' in trace, trace)
        for factor in (1, .3, .1, .1, .1):
            labels = b.script('''(() => {
                const t = timelines.timelines[0], texts = [], draw = t.context.fillText;
                t.zoom(%f, 500);
                t.context.fillText = text => texts.push(text);
                t.width = t.canvas.clientWidth;
                t.paintAxis();
                t.context.fillText = draw;
                return texts;
            })()''' % factor)
            must(len(labels) > 1 and len(set(labels)) == len(labels), labels)


@case
def a_million_events_in_a_browser():
    """A page with as many events as it can have, as of a profile of a gigabyte: on 40 lines."""
    plane = Plane('/device:GPU:0')
    events = [event(plane.meta('kernel %d' % (i % 50)), 10**7 * i, 10**6 * (i % 9 + 1))
              for i in range(25000)]
    plane.lines = [line(n, 'Stream #%d(Kernel)' % n, events) for n in range(40)]
    path = put('million.xplane.pb', space(plane.bytes()))
    out = os.path.join(DIR, 'million.html')
    run('report', path, '-o', out, '--force')
    with browsing() as b:
        opened(b, out)
        same(b.script('timelines.timelines[0].lines.map(line => line.n)'), [25000] * 40)
        for text, n in (('kernel 7', 20000), ('stream #39', 25000), ('k', 10**6)):
            b.script("timelines.find('%s')" % text)
            same(b.script('timelines.n_hits'), n)
        b.script('timelines.next(-1)')
        same(event_shown(b)['event_id'], '999999')
        same(b.complaints(), [])


@case
def two_timelines():
    """The timelines of a run and its baseline keep the same scale; a search finds events in
    both."""
    scale = 'timelines.timelines.map(t => t.to - t.from)'
    with browsing() as b:
        _, path = report(AFTER, '--against', BEFORE)
        for width, scheme in ((1280, 'light'), (400, 'dark')):
            opened(b, path, width=width, prefers_color_scheme=scheme)
            same(b.script(CONTRAST)['bad'], [])
            same(b.script(LABELS), [])
            keep(b, 'against_%d_%s' % (width, scheme))
        events = events_in_sql(AFTER), events_in_sql(BEFORE)
        spans = [max(e[2] + e[3] for e in of) - min(e[2] for e in of) for of in events]
        for span in b.script(scale):
            must(abs(span - max(spans)) <= 1, 'not all of both: %s of %s' % (span, spans))
        for act in ('timelines.timelines[0].zoom(.25, 900)', 'timelines.timelines[1].zoom(.5, 10)',
                    'timelines.timelines[1].move(.3)'):
            before = b.script(scale)
            b.script(act)
            now, then = b.script(scale)
            must(abs(now - then) < 1e-6 * now, '%s: %s and %s' % (act, now, then))
            same(now < .6 * before[0], 'zoom' in act, act)
        hits = [sum('iterator::' in e[1].lower() for e in of) for of in events]
        must(min(hits) > 0, 'no events to find')
        b.script("timelines.find('Iterator::')")
        must(b.script("document.querySelector('#found').textContent").startswith(
            '{:,} events, baseline {:,} events. '.format(*hits)), 'the number of events')
        for by in (1, -2):  # the first hit, and the last
            b.script('timelines.next(%d)' % by)
            on = b.script("document.querySelectorAll('#event dd')[1].textContent")
            same(on.startswith('baseline '), by < 0, on)
            same(b.script('timelines.timelines.map(t => t.selected !== null)'), [by > 0, by < 0])


@case
def a_page_has_many_events():
    """A page has all events of a run if they are not too many bytes. Of more it has the longest,
    and says how many are left out, and how much of each 400th of the time they take. A baseline
    gets half of them."""
    dice = random.Random(2)
    out = os.path.join(DIR, 'many.html')

    def bins_without(starts_ns):
        first, last = events[0][1], events[-1][1] + events[-1][2]
        there = {1000 * start // 10**10 for start in starts_ns}
        width, taken = (last - first) / 400, [0] * 400
        for i in set(range(len(events))) - there:
            taken[min(399, int((events[i][1] - first) / width))] += events[i][2]
        return [math.ceil(100 * ps / width) for ps in taken]

    def check(n, least, most, *words):
        run('report', path, '-o', out, '--force', *words)
        with open(out) as f:
            for timeline in packed(f.read()):
                line, = timeline['lines']
                there = line['n']
                same(there + line.get('left', 0), n)
                must(least <= there <= most, '%d of %d' % (there, n))
                if there < n:
                    starts = column(iter(timeline['columns']), there, 1)
                    same(line['bins'], bins_without(starts))
        must(os.path.getsize(out) < 4 << 20, 'too long')

    for n in (150000, 450000):
        events = [('name %d' % dice.randrange(4000), 10**10 * i + dice.randrange(9 * 10**9),
                   dice.randrange(10**9)) for i in range(n)]
        path = put('many.xplane.pb', space(Plane('/host:CPU', 1).line(1, 'main', events).bytes()))
        check(n, *((n, n) if n < 200000 else (200000, n - 1)))
    check(n, 100000, 200000, '--against', path)


@case
def lines_that_are_left_out():
    """Of 320 lines the timeline has the 300 whose events take most time, and it says so."""
    host = Plane('/host:CPU')
    for i in range(320):
        # The last lines have the most events, which take the least time.
        host.line(i, 'thread %d' % i, [('e', 10**9 * k, 9999 - i if i < 300 else 999)
                                       for k in range(1 if i < 300 else 9)])
    text, _ = report(put('lines.xplane.pb', space(host.bytes())))
    must('20 of 320 lines are left out: those whose events take the least time.' in text, 'silent')
    [timeline] = packed(text)
    same([line['name'] for line in timeline['lines']], ['thread %d' % i for i in range(300)])
    must('lines are left out' not in report(GPU)[0], 'a note without need')


@case
def a_page_has_a_bound():
    """Names of events, lines and planes without end do not make it longer than 5 MB."""
    dice = random.Random(1)
    events = [(dice.randbytes(600).hex(), 10 * i, 5) for i in range(12000)]
    planes = [Plane('/host:' + 'p%d' % i * 20000, i + 2).line(1, 'l%d' % i * 20000, [('e', 0, 9)])
              for i in range(20)]
    path = put('long.xplane.pb', space(Plane('/host:CPU', 1).line(1, 'main', events).bytes(),
                                       *(p.bytes() for p in planes)))
    for n_runs, words in ((1, []), (2, ['--against', path])):
        run('report', path, '-o', os.path.join(DIR, 'long.html'), '--force', *words)
        with open(os.path.join(DIR, 'long.html')) as f:
            timelines = packed(f.read())
        same(len(timelines), n_runs)
        for timeline in timelines:
            must('(name left out: the page has too many names)' in timeline['names'],
                 'names are left out silently')
        size = os.path.getsize(os.path.join(DIR, 'long.html'))
        must(100000 < size < 5 << 20, '%d bytes of %d' % (size, os.path.getsize(path)))


@case
def what_is_no_file_stays():
    """--force replaces a file, not a pipe or device."""
    pipe = os.path.join(DIR, 'pipe')
    os.mkfifo(pipe)
    for words in (['report', GPU, '-o', pipe], ['export', GPU, pipe, '--format', 'chrome'],
                  ['export', GPU, pipe]):
        _, error = run(*words, '--force', status=1)
        must('pipe is not a regular file' in error, error)
    must(os.path.exists(pipe) and not os.path.isfile(pipe), 'the pipe is gone')
