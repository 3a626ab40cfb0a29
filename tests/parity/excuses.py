# SPDX-License-Identifier: Apache-2.0
"""Differences from XProf's answers that are no error of ours. An excuse is only looked at for cells
that differ, and it covers only the cells that its cause can touch, and of these only the values
that the cause can produce. The comparison counts the cells that each excuse covers."""

import collections
import fnmatch
import functools
import os

import cells
import library
from tools import OF_BATCH, OF_REQUEST


class Excuse:
    """tools     patterns of entries' names
    columns   the columns that the cause can touch, of which `possible` checks the value
    free      columns in which it can produce any value
    where     (column, values): only the rows in which the column has one of the values
    reason    why XProf and libprofsql differ there
    sql       the cause: the columns of a SELECT, and the rest of it; {source} stands for the
    profile. Without a row there is no excuse possible  function(difference, rows of the SQL, all
    differences of the table) -> can the cause produce this?
    """

    def __init__(self, tools, columns, reason, sql, possible=None, free=(), where=None):
        self.where = where
        self.tools, self.columns, self.reason, self.sql, self.possible, self.free = (
            tools.split(), columns, reason, sql, possible, free)

    def covers(self, name, path, differences):
        """Which of the table's differences the excuse covers."""
        if not any(fnmatch.fnmatch(name, pattern) for pattern in self.tools):
            return []
        touched = [d for d in differences if d.column in self.columns or d.column in self.free]
        if self.where:
            touched = [d for d in touched
                       if (d.want_row or d.got_row or {}).get(self.where[0]) in self.where[1]]
        rows = touched and self.cause(path)
        return [d for d in touched if d.column in self.free
                or self.possible(d, rows, differences)] if rows else []

    def cause(self, path):
        columns, rest = self.sql
        return answer_to(tuple(columns), rest.replace("{source}", library.quoted(path)))


@functools.lru_cache(maxsize=1000)
def answer_to(columns, rest):
    rows, error = library.ask_each({"cause": (list(columns), rest)})["cause"]
    if error:
        raise RuntimeError("the cause of an excuse: %s: %s" % (error, rest))
    return rows


def number(cell):
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None


def nothing(difference, rows, differences):
    return bool(difference.got) and (difference.want == "nan" or number(difference.want) == 0)


def shifted(difference, rows, differences):
    """All times are off by one distance, modulo 2^64."""
    away = {(int(d.want) - int(d.got)) % (1 << 64) for d in differences
            if d.column == difference.column and d.want is not None and d.got is not None}
    return difference.want is not None and difference.got is not None and len(away) == 1


def one_of(columns):
    """XProf's row is among the rows of the SQL."""
    def possible(difference, rows, differences):
        row = difference.want_row
        return row is not None and any(all(cells.same(row[c], v, 1e-6)
                                           for c, v in zip(columns, mine)) for mine in rows)
    return possible


def found_elsewhere(columns, moved=False, equal=()):
    """XProf's row is one of ours in another place: the SQL lists our rows, first their ids. Where
    rows have moved between models the averages, which have no id, may differ too, and a model may
    have more rows or fewer. Columns that are `equal` are so in the row in this place."""
    def possible(difference, rows, differences):
        row, got = difference.want_row, difference.got_row
        if row is None or equal and (got is None
                                     or not all(cells.same(row[c], got[c], 1e-9) for c in equal)):
            return moved
        first, *rest = columns
        if row[first] == "N/A":
            return moved
        return any(mine[0] == row[first]
                   and all(cells.same(row[c], v, 1e-9) for c, v in zip(rest, mine[1:]) if c in row)
                   for mine in rows)
    return possible


def model_of(identifier):
    """XProf's model is among those that the SQL lists for this request or batch."""
    def possible(difference, rows, differences):
        row = difference.want_row
        return row is not None and difference.got is not None and [
            row[identifier], difference.want] in [list(r) for r in rows]
    return possible


NAN = ("rates and peaks of NaN, infinity and beyond uint64: XProf casts them to integers, "
       "which C++ leaves undefined")
NAN_PEAKS = (["1"], "FROM plane_stats({source}) WHERE plane GLOB '/device:*' AND type = 'double' "
             "AND (value IS NULL OR abs(value) > 1e300)")
SEVERAL = ("a request in batches of several models counts for any one of these, "
           "by the order of a hash table that any other plane of the file changes: the models "
           "differ in what belongs to them")
OF_SEVERAL = ("(SELECT count(*) FROM (SELECT count(*) FROM inference_requests({source})) CROSS "
              "JOIN prof_issues({source}) WHERE code = 'request_of_several_models') > 0")
SEVERAL_MODELS = (["1"], "FROM (SELECT 1) WHERE " + OF_SEVERAL)
# SQL: the models of each batch; of each request, by its batches; of each batch, by its requests.
MODEL_RUNS = ("(SELECT DISTINCT run, host, step, stats ->> '$.model_id' AS model "
              "FROM trace_events({source}) "
              "WHERE name IN ('SessionRun', 'TfrtModelRun', 'ServingModelRun') "
              "AND stats ->> '$.model_id' IS NOT NULL)")
MODELS_OF_REQUESTS = ("(SELECT DISTINCT r.run, r.host, r.request_id, m.model, min(m.model) "
                      "OVER one < max(m.model) OVER one AS several "
                      "FROM inference_requests({source}) AS r, json_each(r.batch_ids) AS b "
                      "JOIN " + MODEL_RUNS + " AS m ON m.run = r.run AND m.host = r.host "
                      "AND m.step = b.value "
                      "WINDOW one AS (PARTITION BY r.run, r.host, r.request_id))")
MODELS_OF_BATCHES = ("(SELECT DISTINCT b.run, b.host, b.batch_id, m.model, max(several) "
                     "OVER (PARTITION BY b.run, b.host, b.batch_id) AS several "
                     "FROM inference_batches({source}) AS b, json_each(b.request_ids) AS r "
                     "JOIN " + MODELS_OF_REQUESTS + " AS m "
                     "ON m.run = b.run AND m.host = b.host AND m.request_id = r.value)")
TIED = ("of requests or batches that last equally long any one stands at a percentile: "
        "they come in the order of a hash")

OF_MODEL = ("model", "number", "percentile", "throughput")


def listed(values, table, condition):
    """All our rows of a table in XProf's columns."""
    return list(values.values()), "FROM %s({source}) WHERE %s" % (table, condition)


def of_models(tools, values, table):
    return Excuse(tools, list(values), SEVERAL, listed(values, table, OF_SEVERAL),
                  found_elsewhere(values, moved=True), free=OF_MODEL)


def of_tied(tools, values, table, latency):
    """Everything but the latency, which all of them share."""
    return Excuse(tools, [c for c in values if c != latency], TIED, listed(values, table, "1"),
                  found_elsewhere(values, equal=[latency]))


EXCUSES = [
    Excuse("op_stats.op_metrics op_profile.* op_stats.op_metrics_totals", [], NAN, NAN_PEAKS,
           free=("normalized_time_ps", "normalizedTimePs", "normalized_total_op_time_ps")),
    Excuse("roofline_model.ops.properties", [], NAN, NAN_PEAKS, free=("value",),
           where=("key",
                  ("cmem_read_ridge_point", "cmem_write_ridge_point", "vmem_read_ridge_point",
                   "vmem_write_ridge_point", "peak_vmem_read_bw", "peak_vmem_write_bw",
                   "time_scale_multiplier"))),
    Excuse("op_stats.peaks", ["flops", "ridge", "hbm", "sram_read", "sram_write", "cmem_read",
                              "cmem_write", "vmem_read", "vmem_write"],
           "peaks that are integers: XProf reads only doubles, and has 0",
           (["1"], "FROM plane_stats({source}) WHERE name GLOB 'peak_*' AND type <> 'double'"),
           nothing),
    Excuse("op_stats.steps op_stats.steps.cores", ["begin_ps"], "lines begin at Unix times: "
           "XProf's times have wrapped, ours count from the session's start",
           (["1"], "FROM prof_issues({source}) WHERE code = 'unix_times'"), shifted),
    Excuse("overview_page.inference_latency", ["hostTimeMs", "deviceTimeMs", "communicationTimeMs"],
           TIED,
           (["duration_ps / 1e9", "(duration_ps - device_compute_ps - write_to_device_ps - "
             "read_from_device_ps) / 1e9", "device_compute_ps / 1e9",
             "(write_to_device_ps + read_from_device_ps) / 1e9"],
            "FROM inference_requests({source})"),
           one_of(("totalTimeMs", "hostTimeMs", "deviceTimeMs", "communicationTimeMs"))),
    of_tied("inference_profile.requests", OF_REQUEST, "inference_requests", "latency_ms"),
    of_tied("inference_profile.batches", OF_BATCH, "inference_batches", "latency"),
    of_models("inference_profile.requests", OF_REQUEST, "inference_requests"),
    of_models("inference_profile.batches", OF_BATCH, "inference_batches"),
    Excuse("inference_profile.each_request", ["model"], SEVERAL,
           (["CAST(request_id AS TEXT)", "model"], "FROM %s WHERE several" % MODELS_OF_REQUESTS),
           model_of("request_id")),
    Excuse("inference_profile.each_batch", ["model"], SEVERAL,
           (["CAST(batch_id AS TEXT)", "model"], "FROM %s WHERE several" % MODELS_OF_BATCHES),
           model_of("batch_id")),
    Excuse("inference_profile.models", [], SEVERAL, SEVERAL_MODELS,
           free=("request.averageLatencyMs", "request.throughput", "batch.averageLatencyMs",
                 "batch.throughput")),
    Excuse("inference_profile.tensor_patterns", [], SEVERAL, SEVERAL_MODELS,
           free=("model", "tensor_pattern", "count", "percentile")),
]


# Differences by chance: XProf, asked again, must give our answer at least once. Without XProf, they
# excuse every difference in what they name.
UNJUDGED = [
    Excuse("input_pipeline_analyzer.steps* overview_page.input_pipeline* op_stats.steps* "
           "pod_viewer* input_pipeline_analyzer.conclusions",
           [],
           "iterations of two loops of the executor begin at one moment: XProf numbers them in the "
           "order of a hash; it must be asked again (ORACLE_PYTHON) to judge this",
           (["1"], "FROM (SELECT *, max(iteration) OVER (PARTITION BY host, step) AS last "
            "FROM (SELECT host, stats ->> '$.id' AS step, stats ->> '$.iter_num' AS iteration, "
            "min(start_ps) AS start FROM trace_events({source}) WHERE name = "
            "'ExecutorState::Process' GROUP BY 1, 2, 3)) WHERE last <> 0 GROUP BY host, start "
            "HAVING count(DISTINCT step) > 1"),
           free=("value", "deviceComputeTimeMs", "deviceToDeviceTimeMs", "deviceCollectivesTimeMs",
                 "infeedTimeMs", "outfeedTimeMs", "otherTimeMs", "stepTimeMs", "begin_ps",
                 "duration_ps", "ps", "totalDurationUs", "Device compute", "Device to device",
                 "Device collective communication", "Input", "Output", "All others",
                 "average", "standard_deviation", "minimum", "maximum", "input_percent",
                 "all_other_percent", "device_collectives_percent")),
]


def excused(name, path, differences, excuses):
    """({reason: the differences that it covers}, the differences that nothing excuses) of one
    table."""
    covered, left = collections.OrderedDict(), differences
    for excuse in excuses:
        found = excuse.covers(name, path, differences) if left else []
        ids = {id(d) for d in found}
        mine = [d for d in left if id(d) in ids]
        if mine:
            covered[excuse.reason] = mine
            left = [d for d in left if id(d) not in ids]
    return covered, left


# ---- which host leads ----

LEADER = ("hosts whose steps span equal times: any of them may lead when steps are aligned, "
          "by a hash, another in each tool")
LED = "input_pipeline_analyzer.* overview_page.* op_stats.steps* pod_viewer* roofline_model.*"
SPAN = ("(SELECT host, max(start_ps + duration_ps) - min(start_ps) AS span "
        "FROM host_steps({source}) %s GROUP BY host)")


def may_lead(name, path):
    """The hosts of a run folder that may lead as well as the one that does here."""
    if not os.path.isdir(path) or not any(fnmatch.fnmatch(name, pattern)
                                          for pattern in LED.split()):
        return []
    hosts = set()
    for which in ("WHERE dropped IS NULL", ""):
        span = SPAN.replace("{source}", library.quoted(path)) % which
        rows, _ = library.ask_each({"tied": (["host"], "FROM %s WHERE span = (SELECT min(span) "
                                             "FROM %s)" % (span, span))})["tied"]
        hosts |= {row[0] for row in rows} if len(rows) > 1 else set()
    return sorted(hosts)


def led_by(path, leader, build):
    """(a run folder in which this host comes first, the number that each of its hosts has in the
    one given)."""
    end = ".xplane.pb"
    hosts = sorted(f[:-len(end)] for f in os.listdir(path) if f.endswith(end))
    order = [leader] + [h for h in hosts if h != leader]
    folder = os.path.join(build, "led", os.path.basename(os.path.dirname(path)),
                          os.path.basename(path), leader)
    os.makedirs(folder, exist_ok=True)
    with library.alone(build):
        for n, host in enumerate(order):
            link = os.path.join(folder, "%03d_%s%s" % (n, host, end))
            if not os.path.lexists(link):
                os.symlink(os.path.abspath(os.path.join(path, host + end)), link)
    return folder, [hosts.index(h) for h in order]


def renumbered(columns, rows, numbers):
    """Rows of such a folder with the cores' numbers of the one given: 1000 for each host,
    SparseCores from 1,000,000."""
    for c in ("core_id", "core"):
        if c in columns:
            at = columns.index(c)
            for row in rows:
                sparse, core = divmod(int(row[at]), 1000000)
                row[at] = sparse * 1000000 + numbers[core // 1000] * 1000 + core % 1000
            steps = [i for i, name in enumerate(columns) if name in ("step_num", "stepNum")]
            rows.sort(key=lambda row: ([row[i] for i in steps], row[at]))
    return rows
