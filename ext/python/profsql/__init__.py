# SPDX-License-Identifier: Apache-2.0
"""Profiles of machine learning jobs as SQL tables and data frames.

    import profsql

    run = profsql.open("logs")        # a *.xplane.pb, a run folder, or a log dir: its newest run
    print(run)                        # what took the time, and what to do about it
    run.top_kernels().df()            # each table and canned query of libprofsql is a method
    run.sql("SELECT plane, sum(duration_ps) FROM trace_events GROUP BY plane").pl()
    profsql.open("before").compare_ops("after")

    with profsql.trace("logs") as run:    # records what runs in it, with JAX or TensorFlow
        train_step(state, batch)
    run.top_ops()
"""

from .driver import Error, connect
from .library import load, loadable_path, version
from .plot import Chart
from .recording import trace
from .result import Result
from .run import ProfileWarning, Run, find, open

__version__ = version()
__all__ = ["Chart", "Error", "ProfileWarning", "Result", "Run", "connect", "find", "load",
           "loadable_path", "open", "trace"]
