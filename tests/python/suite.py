# SPDX-License-Identifier: Apache-2.0
"""The package profsql: answers, types, errors, interrupts, recordings. What needs a package that is
not installed is skipped."""

import contextlib
import copy
import importlib.util
import json
import os
import pickle
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest
import warnings

import pages
import profsql
from profsql import driver, frames
from profsql.catalog import Column

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "tests", "data")
GPU = os.path.join(DATA, "gpu_train_38")
BEFORE = os.path.join(DATA, "tf_fit_input_bound")
AFTER = os.path.join(DATA, "tf_fit_prefetched")


def needs(*modules):
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    return unittest.skipIf(missing, "needs %s: pip install %s, "
                           "then PYTHON=venv/bin/python tests/run "
                           "python" % (", ".join(missing), " ".join(missing)))


def rows_of(run, sql):
    return [tuple(row) for row in run.sql(sql)]


def forged(folder, n_events):
    """A profile of so many events on one line, n_events * 6 bytes."""
    def field(number, content):
        size, head = len(content), bytearray([number << 3 | 2])
        while size > 127:
            head.append(size & 127 | 128)
            size >>= 7
        return bytes(head) + bytes([size]) + content

    event = field(4, bytes([1 << 3, 1, 3 << 3, 7]))
    line = field(3, field(11, b"thread") + event * n_events)
    metadata = field(4, bytes([1 << 3, 1]) + field(2, bytes([1 << 3, 1]) + field(2, b"op")))
    path = os.path.join(folder, "host.xplane.pb")
    with open(path, "wb") as file:
        file.write(field(1, field(2, b"/host:CPU") + metadata + line))
    return path


class Arrow(unittest.TestCase):
    """Streams that other programs read as they are."""

    def setUp(self):
        self.run_ = profsql.open(GPU)
        self.addCleanup(self.run_.close)

    @needs("pyarrow")
    def test_pyarrow_reads_tables_queries_and_events(self):
        import pyarrow

        def cells(table):
            table.validate(full=True)
            return list(zip(*(column.to_pylist() for column in table.columns)))

        for result in (self.run_.top_kernels(), self.run_.event_stats(),
                       self.run_.sql("SELECT :a AS a, name FROM trace_events LIMIT 7", a="x")):
            table = pyarrow.table(result)
            self.assertEqual(table.column_names, result.columns)
            if table.column_names[-1] != "value":  # of several types
                self.assertEqual(cells(table), [tuple(row) for row in result])
            self.assertGreater(table.num_rows, 0)
        columns = ["name", "line", "start_ps", "duration_us", "parent_id", "display_name"]
        table = pyarrow.table(self.run_.arrow_events(columns))
        self.assertTrue(pyarrow.types.is_dictionary(table.schema.field("name").type))
        self.assertEqual(cells(table), rows_of(self.run_, "SELECT %s FROM trace_events" %
                                               ", ".join(columns)))
        some = self.run_.arrow_events(["name", "stats"], plane="/device:GPU:0",
                                      between_ps=(0, 4600000000))
        self.assertEqual(cells(pyarrow.table(some)), rows_of(
            self.run_, "SELECT name, stats FROM trace_events WHERE plane = '/device:GPU:0' "
                       "AND end_ps >= 0 AND start_ps <= 4600000000"))

    @needs("polars")
    def test_polars_reads_events(self):
        import polars
        frame = polars.DataFrame(self.run_.arrow_events(["name", "duration_ps"]))
        [(n, total)] = rows_of(self.run_, "SELECT count(*), sum(duration_ps) FROM trace_events")
        self.assertEqual((frame.height, frame["duration_ps"].sum()), (n, total))

    @needs("duckdb")
    def test_duckdb_reads_events_and_results(self):
        import duckdb
        events = self.run_.arrow_events(["name", "duration_ps"])  # found by its name in the SQL
        result = self.run_.sql("SELECT name, duration_ps FROM trace_events")
        query = "SELECT name, count(*), sum(duration_ps) FROM %s GROUP BY name ORDER BY name"
        wanted = rows_of(self.run_, query % "trace_events")
        for name in ("events", "result"):
            self.assertEqual([(a, b, int(c)) for a, b, c in
                              duckdb.sql(query % name).fetchall()], wanted)
        self.assertTrue(events and result)

    @needs("duckdb", "polars", "pyarrow")
    def test_the_examples_of_the_documentation(self):
        import duckdb
        import polars
        import pyarrow
        with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
            blocks = [block for block in re.findall(r"(?:^ {4}.*\n)+", file.read(), re.M)
                      if "duckdb.sql" in block]
        self.assertEqual(len(blocks), 2)
        with profsql.open(os.path.join(DATA, "tpu_train_54")) as run:
            for block in blocks:
                exec(textwrap.dedent(block), {"run": run, "duckdb": duckdb, "polars": polars,
                                              "pyarrow": pyarrow})

    @needs("nanoarrow")
    def test_nanoarrow_reads_a_result(self):
        import nanoarrow
        array = nanoarrow.ArrayStream(self.run_.top_ops()).read_all()
        self.assertEqual(len(array), len(list(self.run_.top_ops())))

    def test_a_stream_that_nobody_reads_is_released(self):
        from profsql import stream
        capsules = [self.run_.top_ops().__arrow_c_stream__(),
                    self.run_.arrow_events().__arrow_c_stream__()]
        self.assertEqual(len(stream._held), 2)
        del capsules[:]
        self.assertEqual(len(stream._held), 0)

    def test_errors_are_those_of_queries(self):
        result = self.run_.sql("SELECT * FROM kpi(?)", [GPU])
        self.assertTrue(result.__arrow_c_stream__())
        with self.assertRaisesRegex(profsql.Error, "numbers, texts and None"):
            self.run_.sql("SELECT ?", [b"x"]).__arrow_c_stream__()
        self.assertTrue(self.run_.arrow_events("name").__arrow_c_stream__())
        with self.assertRaisesRegex(profsql.Error, "no such column"):
            self.run_.arrow_events(["nothing"]).__arrow_c_stream__()
        with self.assertRaisesRegex(profsql.Error, "nearest: duration_ps"):
            self.run_.arrow_events(["duration_p"]).__arrow_c_stream__()
        for wrong, error in ((5, TypeError), ((1, 2, 3), TypeError), ((5, 1), ValueError)):
            with self.assertRaisesRegex(error, "between_ps"):
                self.run_.arrow_events("name", between_ps=wrong)
        self.assertIn("name, start_ps; for pyarrow.table()",
                      repr(self.run_.arrow_events(["name", "start_ps"])))
        self.run_.close()
        with self.assertRaisesRegex(profsql.Error, "the run is closed"):
            self.run_.arrow_events().__arrow_c_stream__()


class Answers(unittest.TestCase):
    def setUp(self):
        self.run_ = profsql.open(GPU)
        self.addCleanup(self.run_.close)

    def test_every_table_and_query_is_a_method_that_answers_as_sql(self):
        tables = self.run_.sql("SELECT name FROM prof_tables UNION ALL SELECT name "
                               "FROM prof_queries")
        n = 0
        for name, in tables:
            method = getattr(self.run_, name)
            self.assertTrue(method.__doc__, name)
            arguments = {"b": GPU, "dir": GPU, "event": 0, "module": None}
            wanted = method.__signature__.parameters
            given = {k: v for k, v in arguments.items() if k in wanted and v is not None}
            if name in ("live_at", "live_allocations", "profsql_live", "hlo_text", "prof_capture",
                        "prof_monitor"):
                continue  # they need a program, an allocator, a capture or a server
            first = method(**given).first()
            count = self.run_.sql("SELECT count(*) FROM temp.%s(%s)" % (
                name, {"prof_find": "'%s'" % GPU}.get(name, "'%s', '%s'" % (GPU, GPU)
                                                      if "b" in wanted else "'%s'" % GPU
                                                      if "source" in wanted else ""))).first()[0]
            self.assertEqual(first is None, count == 0, name)
            n += 1
        self.assertGreater(n, 100)

    def test_rows(self):
        first = self.run_.top_kernels(2).first()
        self.assertEqual((first.rank, first.occurrences), (1, 19))
        self.assertEqual(type(first).__name__, "TopKernels")
        self.assertEqual([row.rank for row in self.run_.top_kernels(n=2)], [1, 2])
        self.assertEqual([row["rank"] for row in self.run_.top_kernels(n=2).dicts()], [1, 2])

    def test_arguments_of_sql(self):
        self.assertEqual(self.run_.sql("SELECT ?, ?", (1, "x")).first(), (1, "x"))
        self.assertEqual(self.run_.sql("SELECT :a", {"a": 1}).first(), (1,))
        self.assertEqual(self.run_.sql("SELECT :a", a=1).first(), (1,))

    def test_large_answers_are_read_again(self):
        many = self.run_.sql("WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n "
                             "LIMIT 150000) SELECT i FROM n")
        self.assertEqual(next(iter(many)).i, 0)
        for _ in range(2):
            self.assertEqual(sum(row.i for row in many), 150000 * 149999 // 2)

    def test_two_runs(self):
        with profsql.open(BEFORE) as before, profsql.open(AFTER) as after:
            of_run, of_path = before.compare_ops(after), before.compare_ops(AFTER)
            self.assertEqual(list(of_run), list(of_path))
            self.assertEqual(of_run.first().operation, "KernelAndDeviceFunc::Run")
            self.assertEqual(before.top_ops(1, source=after).first(),
                             after.top_ops(1).first()._replace(
                                 run=before.top_ops(1, source=after).first().run))

    def test_label_and_path(self):
        with profsql.open(BEFORE, label="before") as run:
            self.assertEqual(run.top_ops(1).first().run, "before")
            self.assertTrue(run.path.startswith(BEFORE + "/train/plugins/profile/"))
        self.assertEqual([found.path for found in profsql.find(BEFORE)], [run.path])

    def test_shown(self):
        text = repr(self.run_.top_kernels())
        self.assertIn("DepthwiseConv2d", text)
        self.assertIn("more columns", text)
        page = self.run_.top_kernels()._repr_html_()
        self.assertIn('title="', page)
        self.assertIn("<td", page)
        self.assertNotIn("<int,", self.run_.top_kernels()._repr_html_())
        self.assertIn("What took the time", str(self.run_))
        self.assertIn("What took the time", self.run_._repr_html_())
        self.assertIn("1 GPU", repr(self.run_))
        self.assertNotIn("newest", str(self.run_))

    def test_the_summary_is_that_of_the_command(self):
        with profsql.open(BEFORE, check=False) as run:
            finding, action = run.sql("SELECT finding, action FROM advice WHERE status = 'finding' "
                                      "ORDER BY rank").first()
            words = " ".join(str(run).split())
            self.assertIn(finding, words)
            self.assertIn(" ".join(action.split()), words)
            self.assertIn("KernelAndDeviceFunc", run._repr_html_())

    def test_which_run_of_a_log_dir(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("2026_11_20_10_00_00", "2026_11_21_10_00_00"):
                shutil.copytree(os.path.join(GPU, "plugins", "profile", "gpu_train_38"),
                                os.path.join(folder, "plugins", "profile", name))
            with profsql.open(folder) as run:
                self.assertEqual(run.label, "2026_11_21_10_00_00")
                for shown in (repr(run), str(run), run._repr_html_()):
                    self.assertIn("the newest of 2 runs", shown)

    def test_an_empty_answer_gives_its_reason(self):
        reason = "no HLO program"
        self.assertIn(reason, repr(self.run_.hlo_modules()))
        self.assertIn(reason, self.run_.hlo_modules()._repr_html_())
        self.assertIn(reason, repr(self.run_.sql("SELECT * FROM hlo_modules")))
        self.assertEqual(repr(self.run_.sql("SELECT 1 WHERE 0")), "no rows")
        self.assertFalse(self.run_.hlo_modules())
        self.assertIsNone(self.run_.top_kernels().why_empty())
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("no *.xplane.pb and no HLO program in " + folder,
                          repr(profsql.find(folder)))
            self.assertFalse(list(profsql.find(folder)))


class Charts(unittest.TestCase):
    def test_charts(self):
        with profsql.open(BEFORE, check=False) as run:
            chart = run.plot.steps()
            [svg] = run.sql("SELECT step_time_chart(?) AS svg", [run.label]).first()
            self.assertEqual(str(chart), svg)
            self.assertEqual(chart._repr_svg_(), svg)
            self.assertTrue(svg.startswith("<svg "))
            with tempfile.TemporaryDirectory() as folder:
                chart.save(os.path.join(folder, "steps.svg"))
                with open(os.path.join(folder, "steps.svg"), encoding="utf-8") as f:
                    self.assertEqual(f.read(), svg)
                for name in ("steps.png", "steps.PDF"):
                    with self.assertRaisesRegex(ValueError, "a chart is SVG: name it FILE.svg"):
                        chart.save(os.path.join(folder, name))
                self.assertEqual(os.listdir(folder), ["steps.svg"])
            self.assertIsNone(run.plot.roofline())
            self.assertIn("svg", str(run.plot.memory()) + str(run.plot.ops()))


class Errors(unittest.TestCase):
    def test_text_of_the_extension(self):
        with self.assertRaisesRegex(profsql.Error, "no such file or folder"):
            profsql.open("not/there")
        with profsql.open(GPU) as run:
            with self.assertRaisesRegex(profsql.Error, "n cannot be 'ten'"):
                run.top_ops("ten")
            with self.assertRaisesRegex(TypeError, "'b'"):
                run.compare_ops()
            unread = run.trace_events()
            self.assertTrue(unread)
        run.close()
        for call in (run.top_ops, lambda: list(unread), lambda: list(unread.dicts())):
            with self.assertRaisesRegex(profsql.Error, "^the run is closed$"):
                call()

    def test_sql_that_is_wrong(self):
        with profsql.open(GPU) as run:
            for sql, say in (("SELECT 1 AS a; SELECT 2 AS b", "one statement at a time"),
                             ("SELECT :a", ":a")):
                with self.assertRaisesRegex(profsql.Error, say):
                    list(run.sql(sql, b=1) if ":" in sql else run.sql(sql))
            self.assertEqual(rows_of(run, "SELECT 1 AS a; -- and nothing else\n"), [(1,)])

    @needs("apsw")
    def test_sql_that_is_wrong_in_apsw(self):
        import apsw
        raw = apsw.Connection(":memory:")
        profsql.load(raw)
        with contextlib.closing(driver.Driver(raw)) as apsw_driver:
            with self.assertRaisesRegex(profsql.Error, "^one statement at a time"):
                apsw_driver.rows("SELECT 1 AS a; SELECT 2 AS b")
            with self.assertRaisesRegex(profsql.Error, "^no value is given for :a$"):
                apsw_driver.rows("SELECT :a", {"b": 1})
            self.assertEqual(apsw_driver.rows("SELECT 1 AS a; -- and nothing else\n"), [(1,)])
            cursor = apsw_driver.execute("SELECT 1 UNION ALL SELECT 2")
        with self.assertRaisesRegex(profsql.Error, "^the run is closed$"):
            cursor.fetch(2)

    def test_what_can_be_pickled(self):
        with profsql.open(GPU) as run:
            row = run.top_kernels(1).first()
            other = pickle.loads(pickle.dumps([row]))[0]
            self.assertEqual((other, other.short_name), (row, row.short_name))
            self.assertEqual(type(other).__name__, "TopKernels")
            self.assertEqual(copy.deepcopy(row), row)
            odd = run.sql('SELECT 1 AS "a b", 2 AS a').first()
            self.assertEqual(pickle.loads(pickle.dumps(odd)).a, 2)
            for call in (pickle.dumps, copy.copy):
                with self.assertRaisesRegex(TypeError, r"profsql\.open\('.*gpu_train_38'\)"):
                    call(run)
                with self.assertRaisesRegex(TypeError, r"list\(result\)"):
                    call(run.top_kernels())

    def test_wrong_calls_say_what_to_call(self):
        for wrong in (None, 3, ["logs"]):
            with self.assertRaisesRegex(TypeError, "the path of a run is a str or a path"):
                profsql.open(wrong)
        for wrong in (GPU, "x.xplane.pb"):
            with self.assertRaisesRegex(profsql.Error, r"open\(\) reads a run"):
                profsql.connect(wrong)
        with profsql.open(GPU) as run:
            for call, words in (
                    (lambda: run.top_ops(m=3), r"'m': call top_ops\(n=None, \*, source=None\)"),
                    (lambda: run.kpi(3), r"call kpi\(\*, source=None\)"),
                    (lambda: run.compare_ops(), r"'b': call compare_ops\(b, kind=None")):
                with self.assertRaisesRegex(TypeError, words):
                    call()
            for sql, words in (
                    ("SELECT * FROM top_op", "no such table: top_op; nearest: top_ops or "),
                    ("SELECT t.rnk FROM top_ops AS t", "no such column: t.rnk; nearest: rank"),
                    ("SELECT * FROM zzzz", "no such table: zzzz$")):
                with self.assertRaisesRegex(profsql.Error, words):
                    run.sql(sql)

    def test_views_that_a_database_has_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "views.db")
            with contextlib.closing(sqlite3.connect(path)) as db:
                db.execute("CREATE VIEW kernels AS SELECT occurrences FROM top_kernels LIMIT 1")
            with profsql.open(GPU) as run:
                run.connection.execute("ATTACH ? AS views", (path,))
                with self.assertRaisesRegex(profsql.Error, "unsafe use of virtual table "
                                            ".*prof_serve.*trusted_schema"):
                    run.sql("SELECT * FROM kernels").first()
                run.sql("SELECT prof_serve()").first()
                self.assertEqual(rows_of(run, "SELECT * FROM kernels"), [(19,)])

    def test_damage_is_a_warning(self):
        [source] = [os.path.join(f, n) for f, _, names in os.walk(GPU) for n in names
                    if n.endswith(".pb")]
        with tempfile.TemporaryDirectory() as folder:
            cut = os.path.join(folder, "cut.xplane.pb")
            with open(source, "rb") as whole, open(cut, "wb") as part:
                part.write(whole.read()[:20000])
            with self.assertWarnsRegex(profsql.ProfileWarning, "cut.xplane.pb") as caught:
                profsql.open(cut).close()
            self.assertEqual(caught.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            profsql.open(GPU).close()

    def test_without_a_driver_the_way_out_is_named(self):
        kept = driver._why_not_sqlite3, sys.modules.get("apsw")
        driver._why_not_sqlite3 = lambda: "this sqlite3 cannot"
        sys.modules["apsw"] = None
        try:
            with self.assertRaisesRegex(ImportError, "pip install apsw"):
                profsql.connect()
        finally:
            driver._why_not_sqlite3 = kept[0]
            del sys.modules["apsw"]
            if kept[1]:
                sys.modules["apsw"] = kept[1]

    @needs("apsw")
    def test_a_sqlite3_that_cannot_load_extensions(self):
        script = """
import sqlite3, sys
class Connection: pass
sqlite3.Connection = Connection     # as of a Python that was built without them
sqlite3.connect = None
import profsql
run = profsql.open(sys.argv[1])
print(type(run.connection).__module__, run.top_kernels(1).first().occurrences)
"""
        done = subprocess.run([sys.executable, "-c", script, GPU], capture_output=True, text=True)
        self.assertEqual(done.stdout.split(), ["apsw", "19"], done.stderr[-500:])

    def test_ctrl_c_ends_a_load(self):
        """The signal comes while the file is read: the load asks for interrupts, which lets it
        in."""
        script = """
import os, signal, sys
import profsql
from profsql import driver
asked = []
def let_signals_in():
    asked.append(1)
    if len(asked) == 2:
        os.kill(os.getpid(), signal.SIGINT)
    return False
driver._let_signals_in = let_signals_in
try:
    profsql.open(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
    driver._let_signals_in = lambda: False
    print(profsql.open(sys.argv[1]).hosts().first().event_count)
"""
        with tempfile.TemporaryDirectory() as folder:
            path = forged(folder, 5000000)
            done = subprocess.run([sys.executable, "-c", script, path], capture_output=True,
                                  text=True)
        self.assertEqual(done.stdout.split(), ["interrupted", "5000000"], done.stderr[-500:])


    def test_progress_of_a_load(self):
        """PROFSQL_PROGRESS=1 shows it at once, and outside terminals; else it waits two seconds."""
        script = "import profsql, sys; profsql.open(sys.argv[1])"
        shown = [subprocess.run([sys.executable, "-c", script, GPU], capture_output=True, text=True,
                                env={**os.environ, "PROFSQL_PROGRESS": setting}).stderr
                 for setting in ("0", "1")]
        self.assertEqual(shown[0], "")
        self.assertRegex(shown[1], r"libprofsql: reading .*gpu_train_38: \d+ %\n\033\[K$")


class Connections(unittest.TestCase):
    ASK = "SELECT occurrences FROM top_kernels('%s', 1)" % GPU

    def test_connect(self):
        self.assertEqual(list(profsql.connect().execute(self.ASK)), [(19,)])

    @pages.LOADS_EXTENSIONS
    def test_load_into_sqlite3(self):
        db = sqlite3.connect(":memory:")
        profsql.load(db)
        self.assertEqual(db.execute(self.ASK).fetchall(), [(19,)])
        with self.assertRaisesRegex(sqlite3.OperationalError, "not authorized"):
            db.load_extension(profsql.loadable_path())

    @needs("apsw")
    def test_load_into_apsw(self):
        import apsw
        db = apsw.Connection(":memory:")
        profsql.load(db)
        self.assertEqual(list(db.execute(self.ASK)), [(19,)])

    @needs("sqlalchemy")
    @pages.LOADS_EXTENSIONS
    def test_sqlalchemy(self):
        import sqlalchemy
        engine = sqlalchemy.create_engine("sqlite://")
        with engine.connect() as connection:
            profsql.load(connection)
            self.assertEqual(connection.execute(sqlalchemy.text(self.ASK)).fetchall(), [(19,)])

    def test_what_is_no_connection(self):
        with self.assertRaisesRegex(TypeError, "not a connection"):
            profsql.load(1)

    def test_python_m_profsql(self):
        out = subprocess.run([sys.executable, "-m", "profsql"], capture_output=True, text=True)
        self.assertEqual(out.stdout.strip(), profsql.loadable_path())

    @needs("sqlite_utils")
    @pages.LOADS_EXTENSIONS
    def test_sqlite_utils(self):
        out = subprocess.run([sys.executable, "-m", "sqlite_utils", "memory", "--load-extension",
                              profsql.loadable_path(), self.ASK], capture_output=True, text=True)
        self.assertEqual(out.stdout.strip(), '[{"occurrences": 19}]', out.stderr)

    @needs("datasette")
    @pages.LOADS_EXTENSIONS
    def test_datasette(self):
        out = subprocess.run([sys.executable, "-m", "datasette", "--memory", "--load-extension",
                              profsql.loadable_path(), "--get", "/_memory.json?_shape=arrays&sql=" +
                              self.ASK.replace(" ", "+")], capture_output=True, text=True)
        self.assertIn('"rows": [[19]]', out.stdout, out.stderr)

    def serving(self, **how):
        """A connection that serves, and the names of its runs."""
        db = profsql.connect(**how)
        self.addCleanup(db.close)
        return db, [name for name, in db.execute("SELECT name FROM prof_find")]

    def test_serving(self):
        db, names = self.serving(serve={"g": GPU})
        self.assertEqual(names, ["g"])
        self.assertEqual(list(db.execute("SELECT occurrences FROM top_kernels('g', 1)")), [(19,)])
        self.assertEqual(self.serving(serve=GPU)[1], ["gpu_train_38"])
        os.environ["PROFSQL_RUNS"] = "x=" + GPU
        try:
            by_environment, names = self.serving(serve=True)
        finally:
            del os.environ["PROFSQL_RUNS"]
        self.assertEqual(names, ["x"])
        for db in (db, by_environment):
            for sql in (self.ASK, "SELECT prof_attach('%s')" % GPU):
                with self.assertRaisesRegex(Exception, "this connection serves the runs"):
                    list(db.execute(sql))

    def test_serving_what_is_not_there(self):
        """The connection is restricted also if its runs cannot be read."""
        raw = profsql.connect()
        for serve in ({"x": "no/such/run"}, "no/such/folder"):
            with self.assertRaisesRegex(Exception, "no/such"):
                profsql.load(raw, serve=serve)
            with self.assertRaisesRegex(Exception, "this connection serves the runs"):
                list(raw.execute(self.ASK))
            raw = profsql.connect()

    @needs("datasette")
    @pages.LOADS_EXTENSIONS
    def test_datasette_serves(self):
        """As docs/serving.md has it: the same labels on each pooled connection, no path, views."""
        import asyncio
        from datasette.app import Datasette
        with tempfile.TemporaryDirectory() as folder:
            views = os.path.join(folder, "views.db")
            with sqlite3.connect(views) as db:
                db.execute("CREATE VIEW kernels AS SELECT run, rank, occurrences FROM top_kernels")
            db.close()
            os.environ["PROFSQL_RUNS"] = "g=%s,b=%s" % (GPU, BEFORE)
            os.environ["PROFSQL_ROOT"] = AFTER
            try:
                app = Datasette([views], sqlite_extensions=[
                    (profsql.loadable_path(), "sqlite3_profsql_nofile_init")],
                    settings={"num_sql_threads": 4, "sql_time_limit_ms": 60000})

                async def ask(sql):
                    answer = await app.client.get("/views.json",
                                                  params={"sql": sql, "_shape": "arrays"})
                    return answer.json()

                async def all_answers():
                    many = ["SELECT group_concat(name) FROM prof_find"] * 12
                    names = await asyncio.gather(*map(ask, many))
                    page = await app.client.get("/views/kernels.json?_shape=arrays&rank=1&run=g")
                    return (names, await ask(self.ASK),
                            await ask("SELECT * FROM kpi('/etc/passwd')"),
                            await ask("SELECT * FROM kpi('/no/such/file')"), page.json())
                names, by_path, there, absent, page = asyncio.run(all_answers())
            finally:
                del os.environ["PROFSQL_RUNS"], os.environ["PROFSQL_ROOT"]
        self.assertEqual({json.dumps(answer["rows"]) for answer in names},
                         {json.dumps([["g,b,train/2026_11_21_20_15_32"]])})
        for answer in (by_path, there, absent):
            self.assertIn("this connection serves the runs", answer["error"])
        self.assertEqual(there["error"].replace("/etc/passwd", ""),
                         absent["error"].replace("/no/such/file", ""))
        self.assertEqual(page["rows"], [["g", 1, 19]])

    @needs("nbclient", "ipykernel")
    def test_jupyter(self):
        import nbclient
        import nbformat
        book = nbformat.v4.new_notebook()
        book.cells = [nbformat.v4.new_code_cell(
            "import profsql\nprofsql.open(%r).top_kernels(3)" % GPU)]
        nbclient.NotebookClient(book, timeout=600, kernel_name="python3").execute()
        self.assertIn("<table", book.cells[0].outputs[0].data["text/html"])


class Frames(unittest.TestCase):
    MIXED = "SELECT 1 AS a, 'x' AS b, NULL AS c, 1 AS d UNION ALL SELECT 2.5, 3, NULL, NULL"

    def setUp(self):
        self.run_ = profsql.open(GPU)
        self.addCleanup(self.run_.close)

    def test_the_values_decide_where_they_differ_from_the_declared_type(self):
        kind = frames.kind_of
        self.assertEqual(kind(frozenset(), "TEXT"), "str")
        self.assertEqual(kind(frozenset(), ""), "null")
        self.assertEqual(kind(frozenset([int]), "REAL"), "float")
        self.assertEqual(kind(frozenset([int, float]), ""), "float")
        self.assertEqual(kind(frozenset([str]), "INTEGER"), "str")
        self.assertEqual(kind(frozenset([str, int]), "INTEGER"), "mixed")

    @needs("pandas")
    def test_pandas(self):
        events = self.run_.trace_events().df()
        self.assertEqual(len(events), 477)
        self.assertEqual(str(events.start_ps.dtype), "int64")
        self.assertEqual(str(events.flops.dtype), "Int64")
        frame = self.run_.sql(self.MIXED).df()
        self.assertEqual(list(frame.a), [1, 2.5])
        self.assertEqual(list(frame.b), ["x", 3])
        self.assertEqual(list(self.run_.hlo_modules().df()), self.run_.hlo_modules().columns)
        self.assertEqual(str(self.run_.sql("SELECT hlo_op, flops "
                                           "FROM trace_events").df().flops.dtype), "Int64")

    @needs("polars")
    def test_polars(self):
        import polars
        events = self.run_.trace_events().pl()
        self.assertEqual(events.height, 477)
        self.assertEqual(events.schema["start_ps"], polars.Int64)
        self.assertEqual(events.schema["hlo_module"], polars.String)
        frame = self.run_.sql(self.MIXED).pl()
        self.assertEqual(frame["a"].to_list(), [1, 2.5])
        self.assertEqual(frame["b"].to_list(), ["x", "3"])
        self.assertEqual(self.run_.sql("SELECT 1 AS a, 2 AS a").pl().columns, ["a", "a_2"])
        self.assertEqual(self.run_.hlo_modules().pl().columns, self.run_.hlo_modules().columns)

    @needs("pyarrow")
    def test_arrow(self):
        events = self.run_.trace_events().arrow()
        self.assertEqual(events.num_rows, 477)
        self.assertEqual(str(events.schema.field("hlo_module").type), "string")
        frame = self.run_.sql(self.MIXED).arrow()
        self.assertEqual(frame.column("a").to_pylist(), [1, 2.5])
        self.assertEqual(frame.column("b").to_pylist(), ["x", "3"])

    @needs("pyarrow")
    def test_a_type_that_changes_in_a_later_chunk(self):
        rows = [[(i, None) for i in range(5)], [(0.5, "x")]]
        columns = [Column("a", "", None, ""), Column("b", "", None, "")]
        table = frames.arrow_table(columns, iter(rows))
        self.assertEqual(table.column("a").to_pylist(), [0, 1, 2, 3, 4, 0.5])
        self.assertEqual(table.column("b").to_pylist(), [None] * 5 + ["x"])


class Recordings(unittest.TestCase):
    def profiler(self, write=True):
        """A module that is imported and records: its stop() writes a run."""
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

        def stop():
            if write:
                shutil.copytree(GPU, os.path.join(self.folder.name), dirs_exist_ok=True)

        module = types.ModuleType("jax")
        module.profiler = types.SimpleNamespace(start_trace=lambda folder: None, stop_trace=stop)
        kept = sys.modules.get("jax")
        sys.modules["jax"] = module
        self.addCleanup(lambda: sys.modules.pop("jax") if kept is None
                        else sys.modules.update(jax=kept))

    def test_opens_what_it_recorded(self):
        self.profiler()
        # A name that is newer than that of the run to come.
        other = os.path.join(self.folder.name, "plugins", "profile", "zzz")
        shutil.copytree(os.path.join(GPU, "plugins", "profile", "gpu_train_38"), other)
        with profsql.trace(self.folder.name) as run:
            with self.assertRaisesRegex(profsql.Error, "being recorded"):
                run.top_ops()
        self.assertEqual(run.label, "gpu_train_38")
        self.assertTrue(run.top_kernels())

    def test_a_block_that_fails(self):
        self.profiler()
        with self.assertRaises(ZeroDivisionError):
            with profsql.trace(self.folder.name) as run:
                1 / 0
        self.assertTrue(run.top_kernels())

    def test_the_framework_that_the_program_imports(self):
        """Keras imports JAX, but its profiler does not record a program of TensorFlow."""
        self.profiler()
        jax = sys.modules["jax"]
        tensorflow = types.ModuleType("tensorflow")
        tensorflow.profiler = types.SimpleNamespace(experimental=types.SimpleNamespace(
            start=jax.profiler.start_trace, stop=jax.profiler.stop_trace))
        jax.profiler = types.SimpleNamespace(start_trace=None, stop_trace=None)
        kept = sys.modules.get("tensorflow")
        sys.modules["tensorflow"] = tensorflow
        self.addCleanup(lambda: sys.modules.pop("tensorflow") if kept is None
                        else sys.modules.update(tensorflow=kept))
        with self.assertRaisesRegex(profsql.Error, "both imported.*profiler='tensorflow'"):
            profsql.trace(self.folder.name)
        globals()["tf"] = tensorflow
        self.addCleanup(globals().pop, "tf")
        with profsql.trace(self.folder.name) as run:
            pass
        self.assertTrue(run.top_kernels())
        globals()["jnp"] = types.ModuleType("jax.numpy")
        self.addCleanup(globals().pop, "jnp")
        with self.assertRaisesRegex(profsql.Error, "both imported"):
            profsql.trace(self.folder.name)
        with profsql.trace(os.path.join(self.folder.name, "new"), profiler="tensorflow") as run:
            shutil.copytree(GPU, os.path.join(self.folder.name, "new"))

    def test_no_profile(self):
        self.profiler(write=False)
        with self.assertRaisesRegex(profsql.Error, "wrote no profile"):
            with profsql.trace(self.folder.name):
                pass

    def test_no_profiler(self):
        if "jax" in sys.modules or "tensorflow" in sys.modules:
            self.skipTest("needs a program without JAX and TensorFlow")
        with self.assertRaisesRegex(profsql.Error, "import one of them"):
            with profsql.trace("nowhere"):
                pass

    @needs("jax")
    def test_jax(self):
        script = """
import sys, jax, profsql
with profsql.trace(sys.argv[1]) as run:
    jax.jit(lambda x: x @ x)(jax.numpy.ones((64, 64))).block_until_ready()
print(run.sql("SELECT count(*) FROM trace_events").first()[0] > 0)
"""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", script, folder], capture_output=True,
                                  text=True,
                                  env=dict(os.environ, JAX_PLATFORMS="cpu"))
        self.assertEqual(done.stdout.split(), ["True"], done.stderr[-800:])

    @needs("tensorflow")
    def test_tensorflow(self):
        script = """
import sys, profsql
import tensorflow as tf
matrix = tf.ones((64, 64))
product = tf.function(lambda x: x @ x)
with profsql.trace(sys.argv[1]) as run:
    for i in range(3):
        with tf.profiler.experimental.Trace("train", step_num=i, _r=1):
            product(matrix)
print([step.name for step in run.steps()], any("MatMul" in op.operation for op in run.top_ops()))
"""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", script, folder], capture_output=True,
                                  text=True,
                                  env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3",
                                           CUDA_VISIBLE_DEVICES=""))
        self.assertEqual(done.stdout.strip(), "['train 0', 'train 1', 'train 2'] True",
                         done.stderr[-800:])


class Types(unittest.TestCase):
    def test_the_stubs_are_current(self):
        kept = os.path.join(ROOT, "ext", "python", "profsql", "catalog.pyi")
        with tempfile.NamedTemporaryFile("r", suffix=".pyi") as new, open(kept) as old:
            subprocess.run([sys.executable, os.path.join(ROOT, "ext", "python", "stubs"), new.name],
                           check=True)
            self.assertEqual(new.read(), old.read(), "run `make docs`")

    def test_no_name_of_a_table_hides_another_attribute(self):
        own = {name for name in dir(profsql.Run) if not name.startswith("_")} - set(vars(
            profsql.run.catalog.Tables))
        with profsql.open(GPU) as run:
            names = {row.name for row in run.sql("SELECT name FROM prof_tables UNION SELECT name "
                                                 "FROM prof_queries")}
        self.assertFalse(own & names)

    @needs("mypy")
    def test_mypy(self):
        source = ("import profsql\nrun = profsql.open('x')\n"
                  "reveal_type([o.self_time_us for o in run.top_ops(5)])\n"
                  "run.top_ops('ten')\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "user.py")
            with open(path, "w") as file:
                file.write(source)
            mypy = [sys.executable, "-m", "mypy", "--cache-dir", folder, "--ignore-missing-imports"]
            of_user, of_package = [
                subprocess.run(mypy + what, capture_output=True, text=True,
                               env=dict(os.environ, MYPYPATH=os.path.join(ROOT, "ext", "python")))
                for what in ([path], ["-p", "profsql"])]
        self.assertRegex(of_user.stdout, r"list\[(builtins\.)?float\]")
        self.assertIn('has incompatible type "str"', of_user.stdout)
        self.assertEqual(of_package.returncode, 0, of_package.stdout)


class Lines(unittest.TextTestResult):
    """The lines that tests/run counts."""

    n_passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.n_passed += 1
        print("ok %s" % test.id().partition(".")[2])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print("SKIP %s: %s" % (test.id().rpartition(".")[2], reason))

    def addFailure(self, test, error):
        super().addFailure(test, error)
        print("not ok %s\n%s" % (test.id().partition(".")[2], self.failures[-1][1]))

    def addError(self, test, error):
        super().addError(test, error)
        print("not ok %s\n%s" % (test.id().partition(".")[2], self.errors[-1][1]))


if __name__ == "__main__":
    print("# Python %s, SQLite %s, %s" % (sys.version.split()[0], sqlite3.sqlite_version,
                                          "sqlite3" if driver._why_not_sqlite3() is None
                                          else "APSW"))
    load = unittest.defaultTestLoader.loadTestsFromModule
    suite = unittest.TestSuite([load(sys.modules["__main__"]), load(pages)])
    with open(os.devnull, "w") as nowhere:
        result = unittest.TextTestRunner(stream=nowhere, resultclass=Lines).run(suite)
    bad = len(result.failures) + len(result.errors)
    print("%d passed, %d failed, %d skipped" % (result.n_passed, bad, len(result.skipped)))
    sys.exit(bad > 0)
