# SPDX-License-Identifier: Apache-2.0
"""What a person sees: headless Chromium opens the pages of Datasette for a query of the extension
and for a table that `profsql export` wrote. KEEP=folder keeps its screenshots."""

import contextlib
import importlib.util
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

import profsql

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMAND = os.path.join(ROOT, "build", "profsql")
GPU = os.path.join(ROOT, "tests", "data", "gpu_train_38")
BROWSER = next(filter(None, map(shutil.which, (
    "chromium", "chromium-browser", "google-chrome"))), None)
CELL = re.compile(r"<td[^>]*>(.*?)</td>", re.S)


def cells(page):
    """Texts of the cells of a page's tables."""
    return [re.sub(r"<[^>]*>", "", cell).strip() for cell in CELL.findall(page)]


LOADS_EXTENSIONS = unittest.skipUnless(hasattr(sqlite3.Connection, "enable_load_extension"),
                                       "needs a Python whose sqlite3 can load extensions")


@contextlib.contextmanager
def datasette(*arguments, **environment):
    """A server on this machine; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "datasette", *arguments, "--host", "127.0.0.1",
         "--port", str(port), "--setting", "sql_time_limit_ms", "60000"],
        env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    address = "http://127.0.0.1:%d" % port
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(address + "/-/versions.json").close()
                break
            if server.poll() is not None:
                raise AssertionError(server.stderr.read().decode())
            time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait()
        server.stderr.close()


@unittest.skipUnless(importlib.util.find_spec("datasette"),
                     "needs datasette: pip install datasette")
@unittest.skipUnless(BROWSER, "needs Chromium: apt-get install chromium")
class Pages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def page(self, name, address):
        """The page as it is after its scripts ran. Its picture is not empty."""
        picture = os.path.join(os.environ.get("KEEP") or self.folder, name + ".png")
        done = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,900",
             "--user-data-dir=" + self.folder, "--virtual-time-budget=10000",
             "--screenshot=" + picture, "--dump-dom", address],
            capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr[-500:])
        self.assertGreater(os.path.getsize(picture), 10000)
        return done.stdout

    @LOADS_EXTENSIONS
    def test_a_query(self):
        library = profsql.loadable_path() + ":sqlite3_profsql_nofile_init"
        with datasette("--memory", "--load-extension", library,
                       PROFSQL_RUNS="g=" + GPU) as address:
            page, denied = [
                self.page(name, address + "/_memory?" + urllib.parse.urlencode({"sql": sql}))
                for name, sql in (
                    ("query", "SELECT short_name, occurrences FROM top_kernels LIMIT 2"),
                    ("denied", "SELECT * FROM top_kernels('%s')" % GPU))]
        self.assertEqual(cells(page), ["DepthwiseConv2dGPUKernelNHWCSmall", "19",
                                       "EigenMetaKernel#86cf", "14"])
        self.assertIn("this connection serves the runs", denied)
        self.assertEqual(cells(denied), [])

    @unittest.skipUnless(os.path.exists(COMMAND), "needs build/profsql: make command")
    def test_a_table_that_was_exported(self):
        database = os.path.join(self.folder, "run.db")
        subprocess.run([COMMAND, "--quiet", "export", GPU, database,
                        "--tables", "top_kernels,kpi"], check=True)
        with datasette(database) as address:
            page = self.page("table", address + "/run/top_kernels"
                             "?_facet=uses_tensorcore&_sort=rank&_size=2")
        self.assertIn("DepthwiseConv2dGPUKernelNHWCSmall", cells(page))
        self.assertIn("dropdown-menu-icon", page, "Datasette's script adds a menu to each heading")
        self.assertRegex(page, r'(?s)facet-info[^>]*data-column="uses_tensorcore"')
