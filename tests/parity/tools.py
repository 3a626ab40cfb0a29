# SPDX-License-Identifier: Apache-2.0
"""The list of XProf's tables and of ours that equal them. One entry a table of XProf's answer; see
Entry.

An owner of a table corrects its entry here and nothing else: what XProf calls a column, what we
call it (an SQL expression over our table), which columns name a row, whether the order counts, and
what is left out, always with the reason.
"""

import functools
import html
import itertools
import json
import os
import re

import cells
from answers import ALL_HOSTS, Num


class Entry:
    """name     of the comparison; the CSV file `name`.csv of the oracle unless `rows` says
    otherwise table    our table, as prof_columns knows it (not there: reported, not failed)
    call     what to select from; {source} stands for the profile
    columns  a line `id = SQL expression` for each column of XProf's; ids that are our names too may
    stand together in one line key      ids that name a row (rows with equal keys are compared
    sorted, or in order if `order`); none: rows by place order    does the order of rows count?
    left_out {id: reason} not compared
    real     ids of doubles that XProf may print without a point, apart by blanks (by newlines if
    there is one) turn     {id: function} applied to both sides: a set whose order XProf leaves
    open, say end      what comes behind the call: WINDOW, GROUP BY...
    settle   function(columns, rows) -> rows for both sides, where XProf leaves more open than
    `turn` can settle rows     function(Answer) -> (columns, rows) or None, for answers that are no
    plain CSV hlo      True: asked of HLO dumps as well as of profiles
    among    "ours": our table has rows that XProf's page does not show, which are not compared;
    "both": so has XProf's, and the entry named in `rows_by` rows_by  the entry that compares which
    rows there are asks     XProf's tools that have the answer; the first part of the name if not
    given
    """

    def __init__(self, name, table, call, columns, key="", order=False, left_out=None, real="",
                 turn=None, end="", rows=None, hlo=False, settle=None,
                 among=None, rows_by=None, asks=None):
        self.name, self.table, self.call, self.end = name, table, call, end
        self.columns = parse_columns(columns)
        self.key, self.order = tuple(key.split()), order
        self.left_out, self.real, self.turn = left_out or {}, set(real.split("\n") if "\n" in real
                                                                  else real.split()), turn or {}
        self.rows = rows or (lambda answer: answer.table(name))
        self.hlo, self.among, self.rows_by = hlo, among, rows_by
        self.asks = asks or (name.split(".")[0],)
        self.settle = settle or (lambda columns, rows: rows)


def parse_columns(text):
    columns = {}
    for line in text.strip().splitlines():
        name, equals, expression = line.strip().partition(" = ")
        if equals:
            columns[name.strip()] = expression.strip()
        else:
            columns.update({word: '"%s"' % word for word in line.split()})
    return columns


# ---- turning what XProf writes into what we promise to show ----

def plain_source(cell):
    """XProf's HTML of a source line as `file:line`, then the stack: ours are plain text."""
    found = re.fullmatch(r"<div class='source-info-cell' title='(.*)'>(.*)</div>", cell or "", re.S)
    return "%s|%s" % (html.unescape(found.group(2)),
                      html.unescape(found.group(1))) if found else cell


@functools.lru_cache(1 << 16)
def json_text(cell):
    """JSON without blanks, as ours is."""
    return cell and json.dumps(json.loads(cell), ensure_ascii=False, separators=(",", ":"))


def source_info(cell):
    """XProf's object of a source line, and ours, as [file, line, stack]; a line of -1 or 0 is
    none."""
    info = json.loads(cell) if cell else None
    if isinstance(info, dict):
        info = [info["fileName"], max(int(info["lineNumber"]), 0), info["stackFrame"]]
    return json.dumps(info)


def settled_tree(columns, rows):
    """An op profile in which neighbours of equal size come in an order of their own: XProf's is
    that of a hash map (TPU). All others stay where they are, so their order counts. A group of
    duplicates takes its texts from the first of them."""
    if not {"node", "parent", "name", "rawTime", "rawFlops", "xla.category"} <= set(columns):
        return rows
    at = {c: i for i, c in enumerate(columns)}
    names = [at[c] for c in columns if c.startswith("xla.") or c == "name"]
    below = {}
    for row in rows:
        below.setdefault(None if row[at["parent"]] is None else int(row[at["parent"]]),
                         []).append(list(row))

    def subtree(row):
        """Its rows in preorder."""
        children = [(child, subtree(child)) for child in below.get(int(row[at["node"]]), [])]
        fusion = str(row[at["xla.category"]]
                     or "").endswith(" fusion") and "duplicate" not in row[at["name"]]
        size = at["rawFlops" if fusion else "rawTime"]
        runs = itertools.groupby(children, key=lambda c: float(c[0][size] or 0))
        children = [child for _, run in runs for child in in_order(list(run))]
        if row[at["name"]].endswith(" and its duplicate(s)"):
            first = children[0][0]
            for i in names:
                of_fusions = columns[i] == "xla.provenance" and str(
                    first[at["xla.category"]]).endswith(" fusion")
                row[i] = first[i] + " and its duplicate(s)" if i == at["name"] else row[
                    i] if of_fusions else first[i]
        return [row] + [r for _, rest in children for r in rest]

    def in_order(equals):
        if len(equals) == 1:
            return equals
        shown = [i for i, c in enumerate(columns) if c not in ("node", "parent")]
        return sorted(equals, key=lambda c: [[cells.rounded(r[i]) for i in shown] for r in c[1]])

    found = []
    for root in below.get(None, []):
        found += subtree(root)
    numbers = {int(row[at["node"]]): i for i, row in enumerate(found)}
    for i, row in enumerate(found):
        row[at["parent"]] = None if row[at["parent"]] is None else numbers[int(row[at["parent"]])]
        row[at["node"]] = i
    return found


SOURCE = ("CASE WHEN source_file IS NULL THEN '' "
          "ELSE source_file || ':' || source_line || '|' || ifnull(source_stack, '') END")


def properties(name):
    """A table of keys and values as one row."""
    def rows(answer):
        table = answer.table(name + ".properties")
        return table and ([key for key, _ in table[1]], [[value for _, value in table[1]]]
                          if table[1] else [])
    return rows


def objects(records, columns):
    return columns, [[record.get(c) for c in columns] for record in records]


def pod_viewer(answer):
    page = answer.json("pod_viewer")
    if page is None:
        return None
    names = {event["id"]: event["name"] for event in page["stepBreakdownEvents"]}
    columns = ["stepNum", "core", "hostName", "chipId", "nodeId", "totalDurationUs",
               "bottleneck"] + [names[i] for i in sorted(names, key=int)]
    rows = []
    for step in page["podStatsSequence"].get("podStatsMap", []):
        for core, entry in sorted(step["podStatsPerCore"].items(), key=lambda pair: int(pair[0])):
            shares = {names[i]: value for i, value in entry["stepBreakdownUs"].items()}
            rows.append([{**entry, **shares, "core": Num(core)}.get(c) for c in columns])
    return columns, rows


def pod_averages(answer):
    """pod_viewer's times of a step, averaged over its cores, in ms."""
    table = pod_viewer(answer)
    if table is None:
        return None
    columns = ["stepNum"] + table[0][7:]
    at, of_step = [table[0].index(c) for c in columns], {}
    for row in table[1]:
        of_step.setdefault(row[at[0]], []).append([float(row[i] or 0) for i in at[1:]])
    return columns, [[step] + [Num(repr(sum(column) / len(rows) / 1000)) for column in zip(*rows)]
                     for step, rows in of_step.items()]


def conclusions(answer):
    """What the input pipeline page and the overview say of a profile as a whole, in sentences: the
    codes and numbers in them."""
    found, said = answer.table("input_pipeline_analyzer.steps.properties"), answer.table(
        "overview_page.recommendation.properties")
    steps_table = answer.table("input_pipeline_analyzer.steps")
    if not found or not found[1] or not said or not said[1] or steps_table is None:
        return None
    page, overview = dict(found[1]), dict(said[1])

    def percent(text):
        part = re.search(r"([0-9.]+) ?% of the total step time", text or "")
        return part and part.group(1)

    def code(text):
        part = re.search(r"HIGHLY|MODERATELY|POTENTIALLY|NOT|No step", text or "")
        return part and part.group()

    row = {c: page.get("steptime_ms_" + c) if steps_table[1] else None
           for c in ("average", "standard_deviation", "minimum", "maximum")}
    row.update(hardware=page["hardware_type"],
               step_count=Num(len(steps_table[1])), input=code(page["input_conclusion"]),
               input_percent=percent(page["input_conclusion"]),
               output=code(page.get("output_conclusion")),
               output_percent=percent(page.get("output_conclusion")),
               next_step=next((c for part, c in PAGE_CODES["summary_nextstep"]
                               if part in page["summary_nextstep"]), "use_tf_data"))
    for part in ("kernel_launch", "all_other", "device_collectives"):
        row[part] = overview.get(part + "_bottleneck") or None if page[
            "hardware_type"] != "TPU" else None
        row[part + "_percent"] = percent(overview.get(part + "_statement"))
    return list(row), [list(row.values())]


def peaks_of_devices(answer):
    """OpStats's performance environment, which is that of a host. Of several hosts it is any
    one's."""
    page = answer.json("op_stats")
    if page is None or os.path.basename(answer.folder) == ALL_HOSTS:
        return None
    peaks_said = page.get("perf_env")
    if not peaks_said:
        return [], []
    rates = peaks_said.get("peak_bws_giga_bytes_per_second", [])
    names = ["hbm", "sram_read", "sram_write", "cmem_read", "cmem_write", "vmem_read",
             "vmem_write"][:len(rates)]
    row = {"device_type": page["run_environment"].get("device_type"),
           "flops": peaks_said.get("peak_tera_flops_per_second", Num("0")),
           "ridge": Num(peaks_said.get("ridge_point", "0")),
           "has_cmem": peaks_said.get("has_cmem", False),
           "has_merged_vmem": peaks_said.get("has_merged_vmem", False), **dict(zip(names, rates))}
    return list(row), [list(row.values())]


def core_details(answer):
    """OpStats's details of a host's TPU cores, by the id of their plane; those of GPUs and threads
    have a host name alone."""
    page = answer.json("op_stats")
    if page is None or os.path.basename(answer.folder) == ALL_HOSTS or page["run_environment"].get(
        "hardware_type") != "TPU":
        return None
    columns = ["device_ordinal", "core_num", "local_chip_id", "global_chip_id", "global_core_id"]
    return ["plane", "hostname", "is_sparse_core"] + columns, [
        [Num(plane), core.get("hostname", ""), core.get("is_sparse_core", False)]
        + [core.get(c, Num("0")) for c in columns]
        for plane, core in page.get("core_id_to_details", {}).items()]


def module_runs(answer):
    page = answer.json("memory_profile") if answer.answered("memory_profile") else None
    return page and objects(page.get("hloModules", []),
                            ["id", "name", "planeName", "startTimePs", "endTimePs"])


def suggestions(answer):
    page = answer.json("smart_suggestion")
    return page and objects(page["suggestions"], ["ruleName", "suggestionText"])


def kernel_utilization(answer):
    page = answer.json("kernel_utilization")
    if page is None:
        return None
    rows = []
    for device in page.get("devices") or []:
        for number, kernel in enumerate(device["kernels"]):
            metrics = {"MXU " + k: v for k, v in kernel["mxu_cycles_breakdown"].items()}
            metrics.update(kernel["other_metrics"], mxu_utilization=kernel["mxu_utilization"])
            for metric, value in sorted(metrics.items()):
                rows.append([device["device_id"], device["device_type"], Num(number),
                             kernel["kernel_name"], kernel["duration_us"], metric, value,
                             kernel["mxu_is_anomaly"]])
    return ["device_id", "device_type", "number", "kernel_name", "duration_us", "metric", "value",
            "mxu_is_anomaly"], rows


def max_infeed_core(answer):
    """XProf's table lies on its side: a column a step."""
    table = answer.table("input_pipeline_analyzer.max_infeed_core")
    if not table or not table[0]:
        return table
    names = [row[0] for row in table[1]]
    return names, [list(row) for row in zip(*[row[1:] for row in table[1]])]


def settled_ties(latency, identifier):
    """Requests or batches that last equally long come in the order of a hash: here by number,
    percentiles and places stay."""
    def settle(columns, rows):
        if not {"model", "number", latency, identifier} <= set(columns):
            return rows
        at = {c: i for i, c in enumerate(columns)}
        ties, found = {}, []
        for row in rows:
            is_average = row[at[identifier]] == "N/A"
            key = (row[at["model"]], str(row[at["number"]]) if is_average else "",
                   "%.9f" % float(row[at[latency]]))
            ties.setdefault(key, []).append(row)
        for tied in ties.values():
            places = sorted(([row[at[c]] for c in ("number", "percentile") if c in at]
                             for row in tied), key=lambda p: float(p[0]))
            for place, row in zip(places, sorted(tied, key=lambda row: [cells.rounded(
                row[i]) for c, i in sorted(at.items()) if c not in ("number", "percentile")])):
                row = list(row)
                for c, value in zip([c for c in ("number", "percentile") if c in at], place):
                    row[at[c]] = value
                found.append(row)
        return found
    return settle


def inference(column):
    """The tables of all models that have this column, with the model they belong to."""
    def rows(answer):
        models = answer.table("inference_profile.models")
        if models is None:
            return None
        names, columns, found = iter([row[0] for row in models[1]]), [], []
        model = None
        for number in range(1, 1000):
            if "inference_profile.table%d.csv" % number not in answer.names:
                break
            head, body = answer.table("inference_profile.table%d" % number)
            if "request_id" in head:
                model = next(names, None)
            if column in head:
                columns += [c for c in head if c not in columns]
                found += [dict(zip(head, row), model=model, number=Num(i + 1))
                          for i, row in enumerate(body)]
        columns = ["model", "number"] + columns if columns else []
        return columns, [[record.get(c) for c in columns] for record in found]
    return rows


def by_id(column, shown):
    """The rows of all models that are of one request or batch, each once; what is not of that alone
    (percentile, throughput) left out. Ids are those of a host, which XProf does not name: the
    latency tells requests of several hosts apart."""
    def rows(answer):
        table = inference(column)(answer)
        if not table or not table[0]:
            return table
        at, columns = {c: i for i, c in enumerate(table[0])}, [c for c in ("model", *shown)
                                                               if c in table[0]]
        found = {tuple(row[at[c]] for c in columns): None for row in table[1]
                 if row[at[column]] != "N/A"}
        return columns, [list(row) for row in found]
    return rows


def inference_models(answer):
    """What XProf says of each model as a whole: properties of the tables of its requests and of its
    batches."""
    models = answer.table("inference_profile.models")
    if models is None:
        return None
    keys = ["averageLatencyMs", "throughput"]
    batching = ["hasBatchingParam"] + [
        "batchingParam" + k for k in ("NumBatchThreads", "MaxBatchSize", "BatchTimeoutMicros",
                                      "MaxEnqueuedBatches", "AllowedBatchSizes")]
    columns = ["model"] + ["request." + k for k in keys] + ["batch." + k for k in keys + batching]
    names, found = iter([row[0] for row in models[1]]), []
    for number in range(1, 1000):
        if "inference_profile.table%d.csv" % number not in answer.names:
            break
        head, _ = answer.table("inference_profile.table%d" % number)
        said = dict(answer.table("inference_profile.table%d.properties" % number)[1])
        if "request_id" in head:
            found.append({"model": next(names, None),
                          **{"request." + k: v for k, v in said.items()}})
        elif "batch_id" in head:
            found[-1].update({"batch." + k: v for k, v in said.items()})
    return (columns, [[row.get(c) for c in columns] for row in found]) if found else ([], [])


def of_whole_profile(name):
    """A table of op_stats without the ops of complete steps alone, which no table of XProf's shows
    by themselves."""
    def rows(answer):
        table = answer.table(name)
        return table and (table[0], [row for row in table[1]
                                     if row[0] != "hlo_metrics_db_complete_steps_only"])
    return rows


op_totals = of_whole_profile("op_stats.op_metrics_totals")


def op_metrics(answer):
    """op_stats.op_metrics with the parent's name for its row number."""
    table = of_whole_profile("op_stats.op_metrics")(answer)
    if table is None:
        return None
    columns, rows = table
    at = {c: i for i, c in enumerate(columns)}
    names = {row[at["row"]]: row[at["name"]] for row in rows}
    for row in rows:
        row[at["parent"]] = names.get(row[at["parent"]])
    return columns, rows


NOT_OF_OPS = {"row": "a running number; the order comes from a hash for TPU"}
ZERO_OF_OPS = ["computation_primitive_size", "autotuned", "fingerprint", "stable_op_id",
               "estimated_flops", "estimated_bytes_accessed"] + ["children." + c for c in (
                   "total_host_infeed_enq_duration_ps",
                   "total_host_infeed_enq_start_timestamp_ps_diff",
                   "precision_stats.compute_16bit_ps", "precision_stats.compute_32bit_ps",
                   "idle_time_ps", "busy_time_ps", "normalized_total_op_time_ps",
                   "busy_time_high_confidence_ps", "idle_time_high_confidence_ps")]


def known_line(cell):
    """XProf has -1 or 0 for a line that is not known."""
    return Num("0") if isinstance(cell, Num) and cell == "-1" else cell


def tf_functions(answer):
    """The tf.function database of OpStats: a row for each mode of each function."""
    page = answer.json("op_stats")
    if page is None:
        return None
    modes, rows = ["INVALID", "EAGER", "TRACED", "NOT_TRACED", "CONCRETE"], []
    for name, f in page.get("tf_function_db", {}).get("tf_functions", {}).items():
        for mode, calls in f["metrics"].items():
            rows.append([name, modes[int(mode)], calls["count"],
                         calls.get("self_time_ps", Num("0")), f.get("compiler", "INVALID_COMPILER"),
                         f.get("total_tracing_count", Num("0")),
                         f.get("expensive_call_percent", Num("0.0"))])
    return ["name", "mode", "count", "self_time_ps", "compiler", "total_tracing_count",
            "expensive_call_percent"], rows


def decoding(answer):
    """The times of a server that decodes apart, of OpStats."""
    page = answer.json("op_stats")
    if page is None:
        return None
    found = page.get("disaggregated_serving_latency")
    return (["key", "value"], [["num_decode_steps", found["num_decode_steps"]], [
        "decode_step_time_us_avg", found["decode_step_time_us"]["avg"]]]) if found else ([], [])


EVENT_TYPES = {0: "UNKNOWN_TIME", 10: "HOST_COMPUTE", 20: "HOST_PREPROCESS", 30: "HOST_POSTPROCESS",
               40: "HOST_BATCH_FORMATION", 50: "HOST_RUNTIME",
               60: "HOST_COMPILE", 70: "HOST_TO_HOST", 80: "HOST_TO_DEVICE", 90: "HOST_PREPARE",
               100: "DEVICE_COLLECTIVES", 110: "HOST_WAIT_INPUT",
               120: "DEVICE_TO_DEVICE", 130: "DEVICE_TO_HOST", 140: "DEVICE_COMPUTE_32",
               150: "DEVICE_COMPUTE_16", 160: "DEVICE_WAIT_DEVICE",
               170: "DEVICE_WAIT_HOST"}


def step_breakdown(answer):
    """op_stats.steps: a row for each category of each core of each step."""
    table = answer.table("op_stats.steps")
    if table is None:
        return None
    at, rows = {c: i for i, c in enumerate(table[0])}, []
    for row in table[1]:
        parts = json.loads(row[at["step_breakdown"]] or "{}", parse_int=Num, parse_float=Num)
        shares = {EVENT_TYPES[int(k)]: v for k, v in parts.get("type_ps", {}).items()}
        for part, values in parts.items():
            if part == "category_ps":
                shares.update(values)
            elif part != "type_ps" and isinstance(values, Num):
                shares[part] = values
        rows += [[row[at["step_num"]], row[at["core_id"]], category, ps]
                 for category, ps in sorted(shares.items())]
    return ["step_num", "core_id", "category", "ps"], rows


def steps(answer):
    """op_stats.steps: a row a step."""
    table = answer.table("op_stats.steps")
    if table is None:
        return None
    at, rows = {c: i for i, c in enumerate(table[0])}, {}
    for row in table[1]:
        rows.setdefault(row[at["index"]], []).append(row)
    return ["step_num", "core_count", "begin_ps", "duration_ps"], [
        [cores[0][at["step_num"]], Num(len(cores)), cores[0][at["begin_ps"]],
         max((core[at["duration_ps"]] for core in cores if int(core[at["core_id"]]) < 1000000),
             key=int, default=Num(0))] for cores in rows.values()]


def core_times(answer):
    """op_stats.steps: begin and length on each core that is no SparseCore."""
    table = answer.table("op_stats.steps")
    if table is None:
        return None
    columns = ["step_num", "core_id", "begin_ps", "duration_ps"]
    places = [table[0].index(c) for c in columns]
    return columns, [[row[p] for p in places] for row in table[1] if int(row[places[1]]) < 1000000]


def snapshots(answer):
    """memory_profile.snapshots without what is any one of several."""
    table, active = answer.table("memory_profile.snapshots"), answer.table(
        "memory_profile.active_allocations")
    if table is None or active is None:
        return None
    columns, at = table[0], {c: i for i, c in enumerate(active[0])}
    merged = {(row[at["memoryId"]], row[at["snapshotIndex"]]) for row in active[1]
              if row[at["numOccurrences"]] != "1"}
    for row in table[1]:
        if (row[columns.index("memoryId")], row[columns.index("index")]) in merged:
            for column in OF_ONE:
                row[columns.index(column)] = None
    return columns, table[1]


def viewer(part, defaults=""):
    """A table of memory_viewer, all modules and memory spaces in one; JSON leaves out zeros,
    `defaults` puts them back."""
    def rows(answer):
        if not answer.matching("memory_viewer/*.csv"):
            return ([], []) if answered_viewer(answer) else None
        columns, found = ["module", "space"], []
        for record in answer.index:
            options = record["options"]
            names = [f[:-3] if f.endswith(".gz") else f for f in record["files"]]
            name = next((n for n in names if n.endswith(".%s.csv" % part) and n in answer.names),
                        None)
            if record["tool"] != "memory_viewer" or options.get(
                "view_memory_allocation_timeline") or not name:
                continue
            head, body = answer.table(name[:-4])
            if part == "summary":
                head, body = [k for k, _ in body], [[v for _, v in body]]
            columns += [c for c in head if c not in columns]
            for row in body:
                found.append({"module": options["module_name"],
                              "space": Num(options["memory_space"]), **dict(zip(head, row))})
        for record in found:
            for column in defaults.split():
                if column in columns and record.get(column) is None:
                    record[column] = Num("0")
        return columns, [[record.get(c) for c in columns] for record in found]
    return rows


def peaks(answer):
    """memory_viewer's summaries without those that say nothing but names: XProf answers for spaces
    that a program does not use."""
    table = viewer("summary", PEAKS)(answer)
    if table is None:
        return None
    columns, body = table
    at = [columns.index(c) for c in PEAKS.split() if c in columns]
    return columns, [row for row in body if any(float(row[i] or 0) for i in at)]


def blocks(answer):
    """memory_viewer's timeline: the buffers, with offsets in their allocation instead of in the
    stack of allocations."""
    table = viewer("bufferBlocks",
                   "offset startStep endStep logicalBufferId unpaddedSize size")(answer)
    if not table or not table[0]:
        return table
    at, found, base = {c: i for i, c in enumerate(table[0])}, [], 0
    for row in table[1]:
        if row[at["logicalBufferId"]] == Num("-1"):
            base = int(row[at["offset"]]) if "offset" in at else 0
        else:
            if "offset" in at:
                row[at["offset"]] = Num(str(int(row[at["offset"]]) - base))
            found.append(row)
    return table[0], found


def answered_viewer(answer):
    return any(record["tool"] == "memory_viewer" and record["status"] == "ok"
               for record in answer.index)


def as_number(cell):
    return cell and Num(cell)


def as_text(cell):
    return None if cell is None else str(cell)


def wrapped_time(cell):
    """A time below 0, which has wrapped to beyond int64, as the double that SQL has."""
    return (Num if isinstance(cell, Num) else float)(
        "%.12g" % float(cell)) if cell is not None and float(cell) >= 1 << 63 else cell


def unsigned(cell):
    """A time before the start of the session, as in XProf: beyond int64."""
    return Num(int(cell) % (1 << 64))


def sorted_parts(cell):
    return ";".join(sorted((cell or "").split(";")))


# The parts of bulky JSON answers that the comparisons read; and columns with sentences of XProf,
# which are not copied into tests/data.
PARTS = {"op_stats.json": ("perf_env", "run_environment", "core_id_to_details", "tf_function_db",
                           "disaggregated_serving_latency"),
         "memory_profile.json": ("hloModules",)}
SENTENCES_OF = {"perf_counters.counters.csv": ("Description", "Set")}
# Answers that the comparisons read as JSON, and tables too bulky to keep beside the profiles in
# tests/data.
JSON = ("pod_viewer.json", "smart_suggestion.json", "kernel_utilization.json")
BULKY = ("trace_viewer",)

# ---- the list ----

FRAMEWORK_OPS = """
    rank host_or_device type operation occurrences operational_intensity bound_by
    total_time = total_time_us
    avg_time = avg_time_us
    total_self_time = total_self_time_us
    avg_self_time = avg_self_time_us
    device_total_self_time_percent = device_self_time_fraction
    device_cumulative_total_self_time_percent = device_cumulative_self_time_fraction
    host_total_self_time_percent = host_self_time_fraction
    Host_cumulative_total_self_time_percent = host_cumulative_self_time_fraction
    measured_flop_rate = normalized_gflops
    model_flop_rate = model_gflops
    measured_memory_bw = memory_bw_gibps
    gpu_tensorcore_utilization = tensorcore_utilization_fraction
    eager = execution_mode"""

OP_TIMES = """
    total_time = total_time_us
    avg_time = avg_time_us
    total_self_time = total_self_time_us
    avg_self_time = avg_self_time_us"""

OP_PROFILE = """
    node = node_id
    parent = parent_id
    depth name occurrences
    numChildren = num_children
    flops = weighted_flops_utilization
    uncappedFlops = weighted_flops_utilization_uncapped
    bandwidthUtils.0 = hbm_utilization
    bandwidthUtils.1 = on_chip_read_utilization
    bandwidthUtils.2 = on_chip_write_utilization
    rawTime = raw_time_ps
    normalizedTimePs = normalized_time_ps
    rawFlops = raw_flops
    bf16Flops = bf16_flops
    rawBytesAccessedArray.0 = hbm_bytes
    rawBytesAccessedArray.1 = on_chip_read_bytes
    rawBytesAccessedArray.2 = on_chip_write_bytes
    avgTimePs = avg_time_ps
    xla.op = CASE WHEN program_id IS NOT NULL THEN '' END
    xla.sourceInfo = CASE WHEN program_id IS NOT NULL THEN json_array(ifnull(source_file, ''), \
        ifnull(source_line, 0), ifnull(source_stack, '')) END
    xla.expression = expression
    xla.provenance = provenance
    xla.category = category
    xla.computationPrimitiveSize = computation_primitive_size
    xla.fingerprint = fingerprint
    xla.programId = program_id
    xla.xprofKernelMetadata = kernel_metadata"""

OP_PROFILE_REAL = ("flops uncappedFlops bandwidthUtils.0 bandwidthUtils.1 bandwidthUtils.2 rawTime "
                   "rawFlops bf16Flops normalizedTimePs avgTimePs")

INPUT_STEPS = """
    stepnum = label
    deviceComputeTimeMs = device_compute_ms
    deviceToDeviceTimeMs = device_to_device_ms
    deviceCollectivesTimeMs = device_collectives_ms
    hostComputeTimeMs = host_compute_ms
    kernelLaunchTimeMs = kernel_launch_ms
    infeedTimeMs = input_ms
    outfeedTimeMs = output_ms
    compileTimeMs = compilation_ms
    otherTimeMs = all_others_ms
    stepTimeMs = step_time_ms
    tcComputeTimeMs = tc_compute_ms
    scv0ComputeTimeMs = scv0_compute_ms
    scv0InfeedTimeMs = scv0_infeed_ms
    tcInfeedTimeMs = tc_infeed_ms
    tcOutfeedTimeMs = tc_outfeed_ms
    tcIdleTimeMs = tc_idle_ms
    hostTransferTimeMs = host_transfer_ms
    infeedPercentAverage = infeed_percent_average
    infeedPercentMin = infeed_percent_min
    infeedPercentMax = infeed_percent_max"""

BUILT_IN = ("sentences of a table inside XProf, which are not ours to copy; "
            "ours are those of the file")
TOOLTIP = {"tooltip": "text drawn from the other columns"}
# XProf's maximum of zeros is the smallest double
NO_INFEED = {"infeedPercentMax": lambda cell: 0 if cell is not None and 0 <= float(cell) < 1e-300
             else cell}

SAMPLED_SNAPSHOTS = """
    memoryId = allocator
    index = row_number() OVER (PARTITION BY allocator) - 1
    timeOffsetPs = line_time_ps
    stackReservedBytes = stack_bytes
    heapAllocatedBytes = heap_bytes
    freeMemoryBytes = free_bytes
    fragmentation = fragmentation_fraction
    peakBytesInUse = peak_bytes_in_use
    memoryActivity = activity
    requestedBytes = requested_bytes
    allocationBytes = allocation_bytes
    address = address
    tfOpName = ifnull(tf_op, '')
    stepId = step
    regionType = ifnull(region_type, '')
    dataType = ifnull(data_type, '')
    tensorShape = ifnull(shape, '')"""

# XProf shows any one of several equal allocations. What differs between them is compared only if
# there is one.
OF_ONE = {"timeOffsetPs": "line_time_ps", "stackReservedBytes": "stack_bytes",
          "heapAllocatedBytes": "heap_bytes", "freeMemoryBytes": "free_bytes",
          "fragmentation": "fragmentation_fraction", "peakBytesInUse": "peak_bytes_in_use",
          "address": "address"}
SNAPSHOTS = """
    memoryId = allocator
    index = count(*) FILTER (WHERE special IS NULL) OVER before - 1
    memoryActivity = 'ALLOCATION'
    requestedBytes = requested_bytes
    allocationBytes = allocation_bytes
    tfOpName = ifnull(tf_op, '')
    stepId = step
    regionType = ifnull(region_type, '')
    dataType = ifnull(data_type, '')
    tensorShape = ifnull(shape, '')
    """ + "\n".join("%s = CASE occurrences WHEN 1 THEN (SELECT e.%s "
                    "FROM memory_events({source}) AS e WHERE e.event_id = a.event_id) END" % pair
                    for pair in OF_ONE.items())

INFERENCE_REQUESTS = """
    model number percentile request_id latency_ms batching_request_size
    throughput = CASE request_id WHEN 'N/A' THEN CASE WHEN throughput IS NULL THEN '-nan' \
        ELSE printf('%.1f', throughput) END ELSE 'N/A' END
    host_batch_formation = host_batch_formation_ms
    host_preprocessing = host_preprocessing_ms
    host_runtime = host_runtime_ms
    data_transfer_h2d = data_transfer_h2d_ms
    data_transfer_d2h = data_transfer_d2h_ms
    device_compute = device_compute_ms
    host_postprocess = host_postprocess_ms
    idle time = idle_time_ms"""

def of_module(table):
    """A table of programs with the name by which XProf was asked for one: module(id), or of a dump
    the file's."""
    return ("(SELECT t.*, iif(h.format LIKE 'hlo%%', t.host, hlo_module || '(' || program_id || "
            "')') AS module FROM %s AS t JOIN hosts({source}) AS h USING (host)) AS x" % table)


PEAK = of_module("buffer_allocations({source}, 16384)") + " WHERE program_order IS NOT NULL"
PEAKS = """peakHeapMib peakUnpaddedHeapMib peakHeapSizePosition entryComputationParametersMib
    nonReusableMib maybeLiveOutMib
    totalBufferAllocationMib indefiniteBufferAllocationMib maxScopedVmemAllocationMib"""
OBJECT = """
    logicalBufferId = ifnull(buffer_id, -1)
    logicalBufferSizeMib = size_bytes / 1048576.0
    unpaddedShapeMib = ifnull(unpadded_bytes, 0) / 1048576.0
    label
    shapeString = shape
    instructionName = hlo_op || ifnull(shape_index, '')
    groupName = upper(substr(kind, 1, 1)) || substr(kind, 2)
    opCode = opcode
    tfOpName = tf_op
    sourceInfo.fileName = source_file
    sourceInfo.lineNumber = source_line
    sourceInfo.stackFrame = source_stack"""
OBJECT_ZEROS = "index numbered logicalBufferId logicalBufferSizeMib unpaddedShapeMib"
OBJECT_REAL = "logicalBufferSizeMib unpaddedShapeMib"

NO_URL = {"trace_viewer_url": "a link into XProf's own page"}


SENTENCES = ("a sentence of XProf's; what it says is told by a code, "
             "in recommendation's *_bottleneck here")
PAGE_LEFT_OUT = {key: SENTENCES for key in ("statement", "kernel_launch_statement",
                                            "all_other_statement", "device_collectives_statement")}
PAGE_LEFT_OUT["step_time_graph_column_ids"] = "columns of the page's chart"
PAGE_CODES = {"input_conclusion": [("HIGHLY", "highly"), ("MODERATELY", "moderately"),
                                   ("POTENTIALLY", "potentially"), ("NOT", "not"),
                                   ("No step", "unknown")],
              "precision_statement": [("16-bit", "use_16bit")],
              "output_conclusion": [("HIGHLY", "highly"), ("MODERATELY", "moderately")],
              "summary_nextstep": [("Section 3 below", "use_tf_data"),
                                   ("Look at Section 3", "input_ops"), ("skip the rest", "none")]}


def linked(cell):
    """The pages or the tool that a tip of XProf's sentences leads to; ours are these alone."""
    pages = re.findall(r'href="([^"]*)"', cell or "")
    if pages:
        return " ".join(pages)
    return cell if re.fullmatch(r"https://.*|[a-z_]+",
                                cell or "") else cell.split()[0] if re.match(r"[a-z_]+ \(",
                                                                             cell or "") else None


def first_percent(cell):
    """Of a sentence what it says in numbers: the words are XProf's, or ours."""
    found = re.search(r"[0-9.]+%", cell or "")
    return found and found.group()


def key_values(name, table, section):
    """A properties file against a table of sections, names and values; sentences by their codes."""
    left_out = dict(PAGE_LEFT_OUT)
    if section == "input_pipeline":
        left_out.update({key: SENTENCES for key in (
            "kernel_launch_bottleneck", "all_other_bottleneck", "device_collectives_bottleneck")})

    def rows(answer):
        found = answer.table(name + ".properties")
        return found and (found[0], [[key, next((code for part, code in PAGE_CODES.get(key, ())
                                                 if part in value), value)]
                                     for key, value in found[1] if key not in left_out])

    def settle(columns, body):
        """-nan, and what XProf prints a zero for because it does not know it, are NULL here."""
        return [[None if cell in ("-nan", "nan")
                 or (row[0] in NEVER_KNOWN and cell in ("0", "0.0", "0.00", "0.0%")) else cell
                 for cell in row] for row in body]
    return Entry(name + ".properties", table, "%s({source}) WHERE section = "
                 "'%s'" % (table, section), "key = name\nvalue", key="key", rows=rows,
                 left_out=left_out, settle=settle)


NEVER_KNOWN = ("mxu_utilization_percent", "hbm_utilization_percent",
               "flop_rate_utilization_relative_to_roofline",
               "memory_bw_utilization_relative_to_hw_limit",
               "host_trace_level", "sc_infeed_ms_average", "sc_outfeed_ms_average",
               "sc_infeed_time_avg", "sc_outfeed_time_avg")




def spelled(columns):
    """A dictionary of columns as Entry takes it, with the model in front."""
    return "model\n" + "\n".join("%s = %s" % pair for pair in columns.items())


# Columns of XProf's pages about one request and one batch.
OF_REQUEST = {"request_id": "CAST(request_id AS TEXT)", "latency_ms": "latency_ms",
              "batching_request_size": "batching_request_size",
              "host_batch_formation": "batching_delay_ps / 1e9",
              "host_preprocessing": "host_preprocess_ps / 1e9",
              "host_runtime": "host_runtime_ps / 1e9",
              "data_transfer_h2d": "write_to_device_ps / 1e9",
              "data_transfer_d2h": "read_from_device_ps / 1e9",
              "device_compute": "device_compute_ps / 1e9",
              "host_postprocess": "host_postprocess_ps / 1e9", "idle time": "idle_ps / 1e9"}
OF_BATCH = {"batch_id": "CAST(batch_id AS TEXT)", "latency": "latency_ms",
            "padding_amount": "padding_amount",
            "batch_size_after_padding": "batch_size_after_padding",
            "batching_efficiency": "batching_efficiency_fraction",
            "batching_delay_us": "batching_delay_ps / 1e9",
            "device_compute": "device_compute_ps / 1e9",
            "program_id": "ifnull(program_id, 'N/A')"}

AS_TEXT = "iif(step_count, printf(iif(hardware = 'TPU', '%%.2f', '%%.1f'), ifnull(%s, 0)), NULL)"

TOOLS = [
    # ops and kernels
    Entry("framework_op_stats.with_idle", "tf_ops", "tf_ops({source}, 1)", FRAMEWORK_OPS,
          key="host_or_device operation type occurrences", order=True),
    Entry("framework_op_stats.without_idle", "tf_ops", "tf_ops({source}, 0)", FRAMEWORK_OPS,
          key="host_or_device operation type occurrences", order=True),
    Entry("framework_op_stats.export", "tf_stats", "tf_stats({source})", """
        rank = "Rank"
        host_or_device = "Host/device"
        type = "Operation Type"
        operation = "Operation Name"
        occurrences = "#Occurrences"
        total_time = "Total time (us)"
        avg_time = "Avg. time (us)"
        total_self_time = "Total self-time (us)"
        avg_self_time = "Avg. self-time (us)"
        device_total_self_time_percent = "Total self-time on Device (%)"
        device_cumulative_total_self_time_percent = "Cumulative total-self time on Device (%)"
        host_total_self_time_percent = "Total self-time on Host (%)"
        Host_cumulative_total_self_time_percent = "Cumulative total-self time on Host (%)"
        measured_flop_rate = "Normalized FLOP Rate (FLOPs/s)"
        model_flop_rate = "Model FLOP Rate (GFLOP/s)"
        measured_memory_bw = "Measured Memory BW (GBytes/Sec)"
        operational_intensity = "Operational Intensity (FLOPs/Byte)"
        gpu_tensorcore_utilization = "GPU TensorCore utilization"
        bound_by = "Bound by"
        eager = "Execution mode"
        """, key="host_or_device operation type occurrences", order=True,
          rows=lambda answer: answer.table("framework_op_stats.with_idle")),
    Entry("kernel_stats.kernels", "kernel_stats", "kernel_stats({source})", """
        rank kernel_name registers_per_thread block_dim grid_dim op_name occurrences
        total_duration_us avg_duration_us min_duration_us max_duration_us
        shmem_bytes = shared_memory_bytes
        occupancy_pct = occupancy_percent
        is_op_tensor_core_eligible = op_is_tensorcore_eligible
        is_kernel_using_tensor_core = kernel_uses_tensorcore""", key="rank", order=True),
    Entry("hlo_stats.ops", "hlo_ops", "hlo_ops({source})", """
        rank program_id category occurrences operational_intensity bound_by core_type autotuned
        hlo_op_name = hlo_op
        hlo_op_expression = expression
        tf_op_name = tf_op""" + OP_TIMES + """
        total_self_time_percent = self_time_percent
        cumulative_total_self_time_percent = cumulative_self_time_percent
        dma_stall_percent = dma_stall_fraction
        model_flop_rate = model_gflops
        normalized_flop_rate = normalized_gflops
        measured_memory_bw = memory_bw_gibps
        hbm_bw = hbm_bw_gibps
        cmem_read_bw = cmem_read_bw_gibps
        cmem_write_bw = cmem_write_bw_gibps
        hlo_rematerialization = rematerialization
        outside_compilation = outside_compilation
        source_info = """ + SOURCE + """
        parent_op_name = parent_op
        vdd_energy = vdd_energy_j""", key="program_id hlo_op_name", order=True,
          turn={"source_info": plain_source}),
    Entry("roofline_model.ops", "roofline", "roofline({source})", """
        step = record
        rank category operation occurrences bound_by operational_intensity include_infeed_outfeed"""
          + OP_TIMES + """
        total_self_time_percent = self_time_fraction
        cumulative_total_self_time_percent = cumulative_self_time_fraction
        dma_stall_percent = dma_stall_fraction
        measured_flop_rate = normalized_gflops
        model_flop_rate = model_gflops
        measured_memory_bw = memory_bw_gibps
        hbm_bw = hbm_bw_gibps
        cmem_read_bw = cmem_read_bw_gibps
        cmem_write_bw = cmem_write_bw_gibps
        vmem_read_bw = vmem_read_bw_gibps
        vmem_write_bw = vmem_write_bw_gibps
        hbm_operational_intensity = hbm_operational_intensity
        cmem_read_operational_intensity = cmem_read_operational_intensity
        cmem_write_operational_intensity = cmem_write_operational_intensity
        vmem_read_operational_intensity = vmem_read_operational_intensity
        vmem_write_operational_intensity = vmem_write_operational_intensity
        bottleneck_operational_intensity = bottleneck_operational_intensity
        total_time_per_core = total_time_per_core_us
        total_time_in_percentage = total_time_fraction
        optimal_flop_rate = optimal_gflops
        roofline_efficiency = roofline_efficiency_fraction
        compute_efficiency = compute_efficiency_fraction
        max_mem_bw_utilization = max_memory_bw_utilization_fraction
        hlo_module_id = program_id
        source_info = """ + SOURCE, key="step operation hlo_module_id include_infeed_outfeed",
          order=True, turn={"source_info": plain_source}),
    Entry("roofline_model.ops.properties", "roofline_properties", "roofline_properties({source})",
          "key = name\nvalue", key="key"),
    Entry("roofline_model.diagnostics", "prof_issues", "prof_issues({source}) "
          "WHERE code = 'xprof_steps' AND EXISTS (SELECT 1 FROM planes({source}) "
          "WHERE kind IN ('gpu', 'tensorcore'))",
          "severity = upper(severity)\nmessage", key="message"),
] + [
    Entry("op_profile.by%s%s" % (group, idle and "ExcludeIdle"), "op_profile",
          "op_profile({source}, '%s', %d)" % (group.lower(), 0 if idle else 1), OP_PROFILE,
          key="node", real=OP_PROFILE_REAL,
          left_out={"xla.layout": "padding figures that no open producer fills",
                    "num_children": "the CSV's count of what it lists"},
          turn={"xla.sourceInfo": source_info}, settle=settled_tree)
    for group in ("Program", "Category", "Provenance") for idle in ("", "ExcludeIdle")
] + [
    Entry("op_stats.op_metrics", "op_metrics", """op_metrics({source}) LEFT JOIN
          (SELECT side, parent_id AS op_id, total(self_ps) FILTER (WHERE name <> 'IDLE') AS \
              offloaded_ps, total(self_ps) AS with_idle_ps FROM op_metrics({source})
           WHERE core_type = 'SparseCore' OR name = 'IDLE' GROUP BY 1, 2) USING (side, op_id) \
               WHERE side <> 'framework'""", """
        db = side || '_op_metrics_db'
        memory_accessed_breakdown = (SELECT group_concat(value ->> 0 || ':' || (value ->> 1) || \
            ':' || (value ->> 2), ';') FROM json_each(memory_breakdown))
        flops occurrences bytes_accessed name time_ps model_flops dma_stall_ps is_eager
        self_time_ps = self_ps
        category = ifnull(category, '')
        provenance = ifnull(provenance, '')
        deduplicated_name = ifnull(deduplicated_name, '')
        long_name = ifnull(expression, '')
        parent = parent
        hlo_module_id = ifnull(program_id, 0)
        min_time_ps = ifnull(min_ps, 0)
        normalized_time_ps = ifnull(normalized_ps, 0)
        num_cores = ifnull(core_count, 0)
        source_info.file_name = ifnull(source_file, '')
        source_info.line_number = ifnull(source_line, 0)
        source_info.stack_frame = ifnull(source_stack, '')
        core_type = CASE core_type WHEN 'TensorCore' THEN 'TENSOR_CORE' WHEN 'SparseCore' \
            THEN 'SPARSE_CORE' ELSE 'UNKNOWN' END
        flops_v2 = flops
        model_flops_v2 = model_flops
        vdd_energy_j = ifnull(vdd_energy_j, 0)
        children.total_op_time_ps = ifnull(offloaded_ps, 0)
        children.total_time_ps = ifnull(with_idle_ps, 0)
        """ + "".join("\n%s = 0" % c for c in ZERO_OF_OPS),
          key="db hlo_module_id parent name category", rows=op_metrics,
          turn={"memory_accessed_breakdown": sorted_parts, "source_info.line_number": known_line,
                "self_time_ps": wrapped_time, "time_ps": wrapped_time}, left_out=NOT_OF_OPS),
    Entry("op_stats.op_metrics_totals", "op_metrics_totals", "op_metrics_totals({source}) "
          "WHERE side <> 'framework'", """
        db = side || '_op_metrics_db'
        total_time_ps = CAST(total_ps AS TEXT)
        total_op_time_ps = CAST(total_op_ps AS TEXT)
        normalized_total_op_time_ps = CAST(ifnull(normalized_total_op_ps, 0) AS REAL)
        idle_time_ps = ifnull(idle_ps, 0)
        busy_time_ps = ifnull(busy_ps, 0)
        busy_time_high_confidence_ps = ifnull(busy_high_confidence_ps, 0)
        idle_time_high_confidence_ps = ifnull(idle_high_confidence_ps, 0)
        total_host_infeed_enq_duration_ps = ifnull(infeed_enqueue_ps, 0)
        total_host_infeed_enq_start_timestamp_ps_diff = ifnull(infeed_interval_ps, 0)
        precision_stats.compute_16bit_ps = ifnull(compute_16bit_ps, 0)
        precision_stats.compute_32bit_ps = ifnull(compute_32bit_ps, 0)""", key="db", rows=op_totals,
          # XProf sums it through doubles in the order of a hash
          real="normalized_total_op_time_ps"),
    Entry("op_stats.tf_functions", "tf_functions", "tf_functions({source})", """
        name mode count self_time_ps
        compiler = compiler || '_COMPILER'
        total_tracing_count = tracing_count
        expensive_call_percent = expensive_call_percent""", key="name mode", rows=tf_functions),
    Entry("op_stats.decoding", "overview", "overview({source}) "
          "WHERE section = 'disaggregated_serving'", """
        key = name
        value = CASE name WHEN 'num_decode_steps' THEN CAST(value AS INTEGER) \
            ELSE CAST(value AS REAL) END""", key="key", rows=decoding),
    Entry("op_stats.kernel_reports", "kernel_stats", "kernel_stats({source})", """
        name = kernel_name
        registers_per_thread occurrences block_dim grid_dim op_name
        static_shmem_bytes = static_shared_bytes
        dynamic_shmem_bytes = dynamic_shared_bytes
        total_duration_ns = CAST(round(total_duration_us * 1000) AS INTEGER)
        min_duration_ns = CAST(round(min_duration_us * 1000) AS INTEGER)
        max_duration_ns = CAST(round(max_duration_us * 1000) AS INTEGER)
        is_kernel_using_tensor_core = kernel_uses_tensorcore
        is_op_tensor_core_eligible = op_is_tensorcore_eligible
        occupancy_pct = occupancy_percent""", order=True,
          turn={"occupancy_pct": lambda cell: None if cell == "nan" else cell}),
    # steps
    Entry("op_stats.steps", "steps", "steps({source}) WHERE NOT dropped AND NOT outside_xprof "
          "AND core_count > 0", """
        step_num = step
        core_count = core_count
        begin_ps = start_ps
        duration_ps = CAST(round(duration_ms * 1e9) AS INTEGER)""", key="step_num", rows=steps,
          order=True, turn={"begin_ps": unsigned}),
    Entry("op_stats.steps.cores", "core_steps", "core_steps({source}) WHERE NOT dropped "
          "AND NOT outside_xprof", """
        step_num = step
        core_id = core_id
        begin_ps = start_ps
        duration_ps = CAST(round(total_us * 1e6) AS INTEGER)""", key="step_num core_id",
          rows=core_times, order=True, turn={"begin_ps": unsigned}),
    Entry("op_stats.steps.breakdown", "step_breakdown", "step_breakdown({source}) "
          "WHERE NOT dropped AND NOT outside_xprof "
          "AND duration_ps >= (category LIKE 'sc\\_%' ESCAPE '\\')", """
        step_num = step
        core_id category
        ps = duration_ps""", key="step_num core_id category", rows=step_breakdown),
    Entry("pod_viewer", "core_steps", "core_steps({source}) WHERE hostname IS NOT NULL", """
        stepNum = pod_step
        core = core_id
        hostName = hostname
        chipId = chip_id
        nodeId = node_id
        totalDurationUs = total_us
        bottleneck
        Device compute = device_compute_us
        Device to device = device_to_device_us
        Device collective communication = device_collectives_us
        Host compute = host_compute_us
        Kernel launch = kernel_launch_us
        Input = input_us
        Output = output_us
        Compilation = compilation_us
        All others = all_others_us""", key="stepNum core", rows=pod_viewer,
          real="totalDurationUs\nDevice compute\nDevice to device\nDevice collective "
          "communication\nHost compute\nKernel launch\nInput\nOutput\nCompilation\n"
          "All others"),
    Entry("pod_viewer.averages", "steps", "steps({source}) AS s JOIN (SELECT DISTINCT step, "
          "pod_step FROM core_steps({source}) WHERE hostname IS NOT NULL) USING (step)", """
        stepNum = pod_step
        Device compute = device_compute_ms
        Device to device = device_to_device_ms
        Device collective communication = device_collectives_ms
        Host compute = host_compute_ms
        Kernel launch = kernel_launch_ms
        Input = input_ms
        Output = output_ms
        Compilation = compilation_ms
        All others = all_others_ms""", key="stepNum", rows=pod_averages, among="both",
          rows_by="op_stats.steps",
          real="Device compute\nDevice to device\nDevice collective communication\nHost compute\n"
          "Kernel launch\nInput\nOutput\nCompilation\nAll others"),
    Entry("input_pipeline_analyzer.tpu_steps", "steps", "steps({source}) WHERE NOT dropped "
          "AND NOT outside_xprof AND core_count > 0", """
        stepnum = CAST(step AS TEXT)
        tcComputeTimeMs = tc_compute_ms
        tcInfeedTimeMs = tc_infeed_ms
        tcOutfeedTimeMs = tc_outfeed_ms
        tcIdleTimeMs = tc_idle_ms
        hostTransferTimeMs = host_transfer_ms
        scv0ComputeTimeMs = scv0_compute_ms
        scv0InfeedTimeMs = scv0_infeed_ms""", key="stepnum", rows=lambda answer: answer.table(
    "input_pipeline_analyzer.steps"), among="both", rows_by="op_stats.steps",
          left_out={c: "input_steps has them; steps has those of the pod viewer" for c in (
              "deviceComputeTimeMs", "deviceToDeviceTimeMs", "deviceCollectivesTimeMs",
              "hostComputeTimeMs", "kernelLaunchTimeMs", "infeedTimeMs", "outfeedTimeMs",
              "compileTimeMs", "otherTimeMs", "stepTimeMs", "infeedPercentAverage",
              "infeedPercentMin", "infeedPercentMax", "tooltip")}),
    # input pipeline
    Entry("input_pipeline_analyzer.conclusions", "input_pipeline", "input_pipeline({source})", """
        hardware step_count
        average = %s
        standard_deviation = %s
        minimum = %s
        maximum = %s
        input = CASE input_verdict WHEN 'host' THEN 'HIGHLY' WHEN 'device' THEN 'NOT' WHEN 'both' \
            THEN iif(input_percent >= 5, 'MODERATELY', 'POTENTIALLY') ELSE 'No step' END
        input_percent = CASE WHEN input_verdict <> 'unknown' \
            THEN printf('%%.1f', iif(input_verdict = 'both' \
            AND input_percent < 5, all_others_percent, input_percent)) END
        output = CASE iif(hardware = 'TPU', output_verdict, NULL) WHEN 'host' THEN 'HIGHLY' \
            WHEN 'both' THEN 'MODERATELY' END
        output_percent = CASE WHEN hardware = 'TPU' AND output_verdict IN ('host', 'both') \
            THEN printf('%%.1f', output_percent) END
        next_step = CASE WHEN input_verdict IN ('host', 'both') \
            THEN iif(uses_tf_data, 'input_ops', 'use_tf_data') ELSE 'none' END
        kernel_launch = kernel_launch_verdict
        kernel_launch_percent = CASE WHEN kernel_launch_verdict <> 'no' \
            THEN printf('%%.1f', kernel_launch_percent) END
        all_other = all_others_verdict
        all_other_percent = CASE WHEN all_others_verdict <> 'no' \
            THEN printf('%%.1f', all_others_percent) END
        device_collectives = iif(hardware = 'TPU', NULL, collectives_verdict)
        device_collectives_percent = CASE WHEN hardware <> 'TPU' AND collectives_verdict <> 'no' \
            THEN printf('%%.1f', collectives_percent) END""" %
          tuple(AS_TEXT % c for c in ("step_time_ms_average", "step_time_ms_deviation",
                                      "step_time_ms_min", "step_time_ms_max")), rows=conclusions,
          asks=("input_pipeline_analyzer", "overview_page")),
    Entry("input_pipeline_analyzer.steps", "input_steps", "input_steps({source})", INPUT_STEPS,
          key="stepnum", order=True, left_out=TOOLTIP, turn=NO_INFEED),
    Entry("input_pipeline_analyzer.max_infeed_core", "input_steps", "input_steps({source}) "
          "WHERE tc_compute_ms IS NOT NULL", """
        Step number = label
        Core name = ifnull(max_infeed_core, 'unknown')""", key="", rows=max_infeed_core),
    Entry("input_pipeline_analyzer.input_ops", "input_ops", "input_ops({source})", """
        opName = operation
        count = occurrences
        timeInMs = total_time_ms
        timeInPercent = total_time_fraction
        selfTimeInMs = total_self_time_ms
        selfTimeInPercent = self_time_fraction
        category""", key="opName category", order=True),
    Entry("input_pipeline_analyzer.input_ops.properties", "input_breakdown",
          "input_breakdown({source})", """
        advanced_file_read_us = printf('%.3f', sum(time_us) \
            FILTER (WHERE category = 'Advanced file read'))
        demanded_file_read_us = printf('%.3f', sum(time_us) \
            FILTER (WHERE category = 'Demanded file read'))
        enqueue_us = printf('%.3f', sum(time_us) FILTER (WHERE category = 'Enqueue'))
        preprocessing_us = printf('%.3f', sum(time_us) FILTER (WHERE category = 'Preprocessing'))
        unclassified_nonequeue_us = printf('%.3f', sum(time_us) FILTER (WHERE category NOT IN \
            ('Advanced file read', 'Demanded file read', 'Enqueue', 'Preprocessing')))""",
          rows=properties("input_pipeline_analyzer.input_ops")),
    Entry("input_pipeline_analyzer.recommendation", "recommendations", "recommendations({source}) "
          "WHERE section = 'input_pipeline_analyzer'",
          "link", order=True, turn={"link": linked}),
    Entry("input_pipeline_analyzer.diagnostics", "prof_issues", "prof_issues({source}) "
          "WHERE code = 'xprof_steps'", "severity = upper(severity)\nmessage", key="message"),
    key_values("input_pipeline_analyzer.steps", "overview", "input_pipeline"),
    # overview
    Entry("overview_page.top_ops", "top_device_ops", "top_device_ops({source})", """
        selfTimePercent = self_time_fraction
        cumulativeTimePercent = cumulative_fraction
        category operation
        flopRate = gflops
        tcEligibility = op_is_tensorcore_eligible
        tcUtilization = op_uses_tensorcore""", key="operation category", order=True),
    key_values("overview_page.top_ops", "overview", "top_ops"),
    Entry("overview_page.input_pipeline", "input_steps", "input_steps({source})", INPUT_STEPS,
          key="stepnum", order=True, left_out=TOOLTIP, turn=NO_INFEED),
    key_values("overview_page.input_pipeline", "overview", "input_pipeline"),
    Entry("overview_page.run_environment", "session", "session({source}) "
          "WHERE 0", "host_id command_line start_time bns_address"),
    key_values("overview_page.run_environment", "overview", "run_environment"),
    Entry("overview_page.recommendation", "recommendations", "recommendations({source}) "
          "WHERE section = 'overview_page' AND tip_type IS NOT NULL",
          "tip_type link", order=True, turn={"link": linked},
          left_out={"description": "a sentence of XProf's; ours is statement"}),
    key_values("overview_page.recommendation", "overview", "recommendation"),
    Entry("overview_page.inference_latency", "inference_latency", "inference_latency({source}) "
          "WHERE shown_by_xprof", """
        percentile
        hostTimeMs = host_ms
        deviceTimeMs = device_ms
        communicationTimeMs = communication_ms
        totalTimeMs = total_ms""", key="percentile", order=True),
    Entry("overview_page.diagnostics", "prof_issues", "prof_issues({source}) "
          "WHERE code LIKE 'xprof%'", "severity = upper(severity)\nmessage", key="message"),
    Entry("smart_suggestion", "recommendations", "recommendations({source}) "
          "WHERE section = 'smart_suggestion'", """
        ruleName = code
        suggestionText = statement""", key="ruleName", rows=suggestions,
          turn={"suggestionText": first_percent}),
    # devices
    Entry("op_stats.peaks", "devices", "(SELECT * FROM devices({source}) LIMIT 1)", """
        device_type = iif(EXISTS (SELECT 1 FROM planes({source}) \
            WHERE kind IN ('gpu', 'tensorcore')), (SELECT device_type FROM devices({source}) \
            ORDER BY name GLOB '/device:GPU:*' DESC LIMIT 1), 'CPU')
        flops = ifnull(peak_flops_per_second, 0) / 1e12
        ridge = CASE WHEN peak_hbm_bytes_per_second > 0 THEN ifnull(hbm_ridge_point, 0) \
            WHEN peak_flops_per_second > 0 THEN 9e999 END
        has_cmem = ifnull(has_cmem, 0)
        has_merged_vmem = ifnull(has_merged_vmem, 0)
        hbm = ifnull(peak_hbm_bytes_per_second, 0) / 1e9
        sram_read = ifnull(peak_sram_read_bytes_per_second, 0) / 1e9
        sram_write = ifnull(peak_sram_write_bytes_per_second, 0) / 1e9
        cmem_read = ifnull(peak_cmem_read_bytes_per_second, 0) / 1e9
        cmem_write = ifnull(peak_cmem_write_bytes_per_second, 0) / 1e9
        vmem_read = ifnull(peak_vmem_read_bytes_per_second, 0) / 1e9
        vmem_write = ifnull(peak_vmem_write_bytes_per_second, 0) / 1e9""", rows=peaks_of_devices),
    Entry(
        "op_stats.core_details", "devices",
        """devices({source}) AS d JOIN planes({source}) AS p USING (run, host, plane_id) \
            JOIN hosts({source}) AS h USING (run, host)
          WHERE device_ordinal IS NOT NULL AND p.name GLOB '/device:TPU:*'""", """
        plane = p.proto_id & 4294967295
        hostname = ifnull(h.hostname, 'localhost')
        is_sparse_core = p.kind = 'sparsecore'
        device_ordinal core_num local_chip_id global_chip_id global_core_id""", key="plane",
        rows=core_details,
        end="GROUP BY p.proto_id HAVING plane_id = max(plane_id)"),
    # memory
    Entry("memory_profile.summary", "memory_allocators", "memory_allocators({source})", """
        memoryId = allocator
        peakBytesUsageLifetime = lifetime_peak_bytes
        peakStatsTimePs = peak_line_time_ps
        memoryCapacity = capacity_bytes
        peakStats.stackReservedBytes = stack_bytes_at_peak
        peakStats.heapAllocatedBytes = heap_bytes_at_peak
        peakStats.freeMemoryBytes = free_bytes_at_peak
        peakStats.fragmentation = fragmentation_at_peak_fraction
        peakStats.peakBytesInUse = profile_peak_bytes""", key="memoryId", order=True,
          real="peakStats.fragmentation"),
    Entry("memory_profile.sampled_snapshots", "memory_events", "memory_events({source}) WHERE "
          "sampled", SAMPLED_SNAPSHOTS, key="memoryId index", order=True, real="fragmentation"),
    Entry("memory_profile.active_allocations", "memory_active", "memory_active({source})", """
        memoryId = allocator
        index = rank - 1
        snapshotIndex = CASE WHEN special IS NULL THEN count(*) FILTER (WHERE special IS NULL) \
            OVER before - 1 ELSE -count(special) OVER kind END
        specialIndex = CASE WHEN special IS NULL THEN -1 ELSE count(special) OVER kind - 1 END
        numOccurrences = occurrences""", key="memoryId index", order=True,
          end="WINDOW before AS (PARTITION BY allocator "
          "ORDER BY rank), kind AS (PARTITION BY allocator ORDER BY special = 'stack', rank)"),
    Entry("memory_profile.snapshots", "memory_active", "memory_active({source}) AS a "
          "WHERE special IS NULL", SNAPSHOTS, key="memoryId index",
          rows=snapshots, real="fragmentation", end="WINDOW before AS (PARTITION BY allocator "
          "ORDER BY rank)"),
    Entry("memory_profile.special_allocations", "memory_active", "memory_active({source}) "
          "WHERE special IS NOT NULL", """
        memoryId = allocator
        index = row_number() OVER (PARTITION BY allocator ORDER BY special = 'stack') - 1
        memoryActivity = 'ALLOCATION'
        requestedBytes = requested_bytes
        allocationBytes = allocation_bytes
        address = '0'
        tfOpName = tf_op
        stepId = CAST(step AS TEXT)
        regionType = region_type
        dataType = data_type
        tensorShape = shape""", key="memoryId index"),
    # inference and other tools
    Entry("inference_profile.models", "inference_models", "inference_models({source})", """
        model
        request.averageLatencyMs = printf('%.3f', average_latency_ms)
        request.throughput = printf('%.1f', request_throughput)
        batch.averageLatencyMs = iif(batch_count, printf('%.3f', average_batch_latency_ms), NULL)
        batch.throughput = iif(batch_count, printf('%.1f', batch_throughput), NULL)
        batch.hasBatchingParam = iif(batch_count, iif(max_batch_size IS NULL, 'false', 'true'), \
            NULL)
        batch.batchingParamNumBatchThreads = iif(batch_count, CAST(batching_threads AS TEXT), NULL)
        batch.batchingParamMaxBatchSize = iif(batch_count, CAST(max_batch_size AS TEXT), NULL)
        batch.batchingParamBatchTimeoutMicros = iif(batch_count, CAST(batch_timeout_us AS TEXT), \
            NULL)
        batch.batchingParamMaxEnqueuedBatches = iif(batch_count, CAST(max_enqueued_batches AS \
            TEXT), NULL)
        batch.batchingParamAllowedBatchSizes = iif(batch_count, allowed_batch_sizes, NULL)""",
          key="model", rows=inference_models),
    Entry("inference_profile.requests", "inference_percentiles", "inference_percentiles({source}) "
          "WHERE kind = 'request'", INFERENCE_REQUESTS,
          key="model number", rows=inference("request_id"), left_out=NO_URL,
          settle=settled_ties("latency_ms", "request_id")),
    Entry("inference_profile.batches", "inference_percentiles", "inference_percentiles({source}) "
          "WHERE kind = 'batch'", """
        model number percentile batch_id padding_amount batch_size_after_padding program_id
        throughput = CASE batch_id WHEN 'N/A' THEN CASE WHEN throughput IS NULL THEN '-nan' \
            ELSE printf('%.1f', throughput) END ELSE 'N/A' END
        latency = latency_ms
        batching_efficiency = batching_efficiency_fraction
        batching_delay_us = batching_delay_ms
        device_compute = device_compute_ms""", key="model number", rows=inference("batch_id"),
          left_out=NO_URL, settle=settled_ties("latency", "batch_id")),
    Entry("inference_profile.each_request", "inference_requests", "inference_requests({source}) "
          "WHERE shown_by_xprof", spelled(OF_REQUEST), key="request_id latency_ms",
          rows=by_id("request_id", OF_REQUEST), among="ours"),
    Entry("inference_profile.each_batch", "inference_batches", "inference_batches({source})",
          spelled(OF_BATCH), key="batch_id latency", rows=by_id("batch_id", OF_BATCH),
          among="ours"),
    Entry("inference_profile.tensor_patterns", "inference_tensor_patterns",
          "inference_tensor_patterns({source})", """
        model
        tensor_pattern = pattern
        count = occurrences
        percentile = percentiles""", key="model tensor_pattern", rows=inference("tensor_pattern"),
          left_out={"id": "the order is that of a hash", "number": "the order is that of a hash"}),
    Entry("megascale_stats.collectives", "dcn_collectives", "dcn_collectives({source}) "
          "WHERE shown_by_xprof", """
        rendezvous_name recv_op_name send_op_name transfer_type occurrences net_tx_bytes
        slack_time = slack_time_ms
        host_stall = '-'
        observed_duration = observed_duration_ms
        send_stall = send_stall_ms
        send_done_stall = send_done_stall_ms
        recv_stall = recv_stall_ms
        recv_done_stall = recv_done_stall_ms
        stall_duration = stall_duration_ms
        total_stall = total_stall_ms
        required_bandwidth = required_bandwidth_gbps""", key="rendezvous_name transfer_type"),
    Entry("perf_counters.counters", "perf_counters", "perf_counters({source}) "
          "WHERE chip IS NOT NULL AND value IS NOT NULL", """
        Host = host
        Chip = chip
        Kernel = kernel
        Sample = sample
        Counter = counter
        Value = CAST(value AS REAL)""", key="Host Chip Kernel Sample Counter", order=True,
          left_out={"Description": BUILT_IN, "Set": BUILT_IN}),
    Entry("utilization_viewer.utilization", "utilization", "utilization({source}) "
          "WHERE host_index = 0 AND device IS NOT NULL", """
        host = host_index
        sample = CASE WHEN sample < 0 THEN sample + 18446744073709551616.0 ELSE sample END
        device node name achieved peak unit""", key="host device sample node name", order=True),
    Entry("kernel_utilization", "kernel_utilization", "kernel_utilization({source})", """
        device_id device_type kernel_name duration_us metric value mxu_is_anomaly
        number = dense_rank() OVER (PARTITION BY plane_id ORDER BY line_id) - 1""",
          key="device_id number metric", rows=kernel_utilization),
    # raw
    Entry("events_db", "xprof_events", "xprof_events({source})",
          "device stream_id thread_id thread_name correlation_id kernel_name kernel_details "
          "tf_op_name tf_op_type hlo_op hlo_module start_ns end_ns "
          "self_time_ns step category flops memory_accessed input_tensors output_tensors "
          "trace_args hlo_fingerprint flow source_line dcn_src_slice_id "
          "dcn_dst_slice_id dcn_src_logical_device_id dcn_dst_logical_device_id "
          "dcn_collective_name dcn_duration_us dcn_payload_size_bytes",
          key="device stream_id thread_id start_ns end_ns kernel_name",
          turn={"input_tensors": json_text, "output_tensors": json_text}),
    # programs
    Entry("memory_profile.hlo_modules", "trace_events", "trace_events({source}) AS e "
          "JOIN lines({source}) AS l USING (run, host, line_id) "
          "WHERE line = 'XLA Modules' AND e.plane GLOB '/device:TPU:*'", """
        id = row_number() OVER (ORDER BY event_id) - 1
        name = e.name
        planeName = substr(e.plane, 9)
        startTimePs = start_ps - timestamp_ns * 1000
        endTimePs = end_ps - timestamp_ns * 1000""", key="id", rows=module_runs,
          turn=dict.fromkeys(("id", "startTimePs", "endTimePs"), as_number)),
    Entry("memory_viewer.heap", "heap_timeline", of_module("heap_timeline({source})"), """
        module
        space = memory_space
        index = event
        value = heap_mib""", key="module space index", rows=viewer("heapSizes"), hlo=True,
          real="value"),
    Entry("memory_viewer.unpadded_heap", "heap_timeline", of_module("heap_timeline({source})"), """
        module
        space = memory_space
        index = event
        value = unpadded_heap_mib""", key="module space index", rows=viewer("unpaddedHeapSizes"),
          hlo=True, real="value"),
    Entry("memory_viewer.instructions", "heap_timeline", of_module("heap_timeline({source})"), """
        module
        space = memory_space
        index = event
        value = ifnull(hlo_op, '')""", key="module space index", rows=viewer("hloInstructionNames"),
          hlo=True),
    Entry("memory_viewer.peaks", "memory_peaks", of_module("memory_peaks({source})") + """
        JOIN hlo_modules({source}) USING (host, program_id, hlo_module) WHERE peak_heap_mib \
            OR non_reusable_mib OR total_allocation_mib OR ifnull(scoped_vmem_mib, 0)""", """
        module
        space = memory_space
        moduleName = hlo_module
        entryComputationName = entry_computation
        peakHeapMib = peak_heap_mib
        peakUnpaddedHeapMib = peak_unpadded_mib
        peakHeapSizePosition = ifnull(peak_event, 0)
        entryComputationParametersMib = parameters_mib
        nonReusableMib = non_reusable_mib
        maybeLiveOutMib = maybe_live_out_mib
        totalBufferAllocationMib = total_allocation_mib
        indefiniteBufferAllocationMib = indefinite_mib
        maxScopedVmemAllocationMib = ifnull(scoped_vmem_mib, 0)
        maxScopedVmemInstructionName = scoped_vmem_op""", key="module space", rows=peaks, hlo=True,
          real=PEAKS),
    Entry("memory_viewer.peak", "buffer_allocations", PEAK, """
        module
        space = memory_space
        index = program_order
        numbered = program_order""" + OBJECT, key="module space index",
          rows=viewer("maxHeap", OBJECT_ZEROS), hlo=True, real=OBJECT_REAL),
    Entry("memory_viewer.peak_by_size", "buffer_allocations", PEAK, """
        module
        space = memory_space
        index = size_rank
        numbered = program_order""" + OBJECT, key="module space index",
          rows=viewer("maxHeapBySize", OBJECT_ZEROS), hlo=True, real=OBJECT_REAL),
    Entry("memory_viewer.peak_to_size", "buffer_allocations", PEAK, """
        module
        space = memory_space
        index = program_order
        value = size_rank""", key="module space index", rows=viewer("maxHeapToBySize"), hlo=True),
    Entry("memory_viewer.size_to_peak", "buffer_allocations", PEAK, """
        module
        space = memory_space
        index = size_rank
        value = program_order""", key="module space index", rows=viewer("bySizeToMaxHeap"),
          hlo=True),
    Entry("memory_viewer.spans", "buffer_allocations",
          of_module("buffer_allocations({source})") + " WHERE start_event IS NOT NULL", """
        module
        space = memory_space
        logicalBufferId = buffer_id
        start = start_event
        limit = end_event""", key="module space logicalBufferId",
          rows=viewer("logicalBufferSpans", "start limit"), hlo=True),
    Entry("memory_viewer.indefinite", "buffer_allocations",
          of_module("buffer_allocations({source})") + """
              WHERE kind IN ('parameter', 'output', 'constant') AND (offset_bytes IS NOT NULL \
                  OR buffer_id IS NULL) WINDOW of_allocation AS (PARTITION BY module, \
                  memory_space, allocation_id)""", """
        module
        space = memory_space
        id = allocation_id
        sizeMib = allocation_bytes / 1048576.0
        attributes = replace(ifnull(attributes, ''), ', ', '|')
        commonShape = iif(min(shape) OVER of_allocation = max(shape) \
            OVER of_allocation, shape, NULL)
        buffer.id = buffer_id
        buffer.sizeMib = size_bytes / 1048576.0
        buffer.hloName = hlo_op
        buffer.shape = shape
        buffer.shapeIndex = iif(shape_index IS NULL, NULL, '["' || replace(trim(shape_index, \
            '{}'), ',', '", "') || '"]')""",
          key="module space id buffer.id",
          rows=viewer("indefiniteLifetimes", "id sizeMib buffer.id buffer.sizeMib"), hlo=True,
          real="sizeMib buffer.sizeMib",
          turn={"id": as_text, "buffer.id": as_text},
          left_out={"index": "counts the rows", "buffer.index": "counts the rows"}),
    Entry("memory_viewer.blocks", "buffer_allocations",
          of_module("buffer_allocations({source})") + " WHERE start_event IS NOT NULL "
          "AND kind IN ('temporary', 'thread-local') AND allocation_bytes > 0", """
        module
        space = memory_space
        logicalBufferId = buffer_id
        name = hlo_op || ifnull(shape_index, '')
        shapeString = shape
        size = size_bytes
        startStep = start_event
        endStep = end_event
        category = upper(substr(kind, 1, 1)) || substr(kind, 2)
        offset = offset_bytes
        unpaddedSize = unpadded_bytes
        tfOpName = tf_op
        sourceInfo.fileName = source_file
        sourceInfo.lineNumber = source_line
        sourceInfo.stackFrame = source_stack""", key="module space logicalBufferId", rows=blocks,
          hlo=True,
          left_out={"index": "counts the rows", "color": "of the page"}),
]
