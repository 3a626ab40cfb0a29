# SPDX-License-Identifier: Apache-2.0
# Written by `make docs`. Change the texts in ext/ and queries/, not here.
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

from .driver import Driver
from .result import Result

@dataclass
class Column:
    name: str
    type: str
    unit: str | None
    description: str
    @property
    def may_be_null(self) -> bool: ...

@dataclass
class Parameter(Column):
    default: str | None = None
    @property
    def is_own_run(self) -> bool: ...
    @property
    def is_run(self) -> bool: ...

@dataclass
class Table:
    name: str
    about: str
    is_query: bool
    columns: list[Column] = ...
    parameters: list[Parameter] = ...
    @property
    def row_name(self) -> str: ...

class Catalog:
    tables: dict[str, Table]
    def __init__(self, driver: Driver) -> None: ...
    def type_of(self, column: str, query: str) -> str: ...

def row_type(name: str, columns: list[str]) -> Any: ...
def read(driver: Driver) -> dict[str, Table]: ...
def add_methods(catalog: Catalog) -> None: ...
def argument(value: Any) -> Any: ...

class ProfTables(NamedTuple):
    name: str
    """name of the table"""
    signature: str
    """table with its arguments, as written after FROM"""
    row_is: str
    """what one row of the table represents"""
    since: str
    """first version of libprofsql that has it"""
    example: str
    """example query on the attached runs, ready to run; replace 'logs' by a folder of runs"""

class ProfColumns(NamedTuple):
    table_name: str
    """name of the table or canned query"""
    column: str
    """name of the column; hidden columns and parameters are listed too"""
    type: str
    """declared type; HIDDEN columns are not part of SELECT *"""
    unit: str | None
    """unit or range of the values; NULL if there is none"""
    description: str | None
    """meaning of the column, and when its value is NULL"""
    origin: str
    """field, stat or XProf page that the value or its definition comes from"""

class ProfFunctions(NamedTuple):
    name: str
    """name of the function"""
    signature: str
    """function with its arguments"""
    kind: str
    """kind of function: scalar, aggregate or window"""
    unit: str | None
    """unit of the result; NULL if there is none"""
    description: str | None
    """what the function returns, and when it returns NULL or fails"""
    origin: str
    """where the definition comes from"""
    since: str
    """first version of libprofsql that has the function"""
    example: str
    """query that calls the function; replace 'logs' by a path"""

class ProfQueries(NamedTuple):
    name: str
    """name of the canned query, which is also a table function"""
    question: str
    """question that the query answers"""
    signature: str
    """query with its parameters and their defaults"""
    sql: str
    """SQL text of the query"""
    since: str
    """first version of libprofsql that has it"""
    example: str
    """example query on the attached runs, ready to run; replace 'logs' by a folder of runs"""

class ProfDifferences(NamedTuple):
    table_name: str
    """table of the column that shows XProf's value"""
    column: str
    """column that shows XProf's value"""
    actual: str | None
    """column with the right value, of the same table or as table.column; NULL if there is none"""
    xprof: str
    """what XProf does wrong"""
    truth: str
    """what the right value is, or why there is none"""

class ProfRuns(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    path: str
    """path of the file or run folder"""
    host_count: int
    """number of host files, including unreadable ones [hosts]"""
    size_bytes: int
    """size of the host files, after decompression [bytes]"""
    event_count: int | None
    """number of events on all hosts; NULL for a run attached by prof_attach_by_host() until a table
    of events reads them all [events]"""
    start_unix_ns: int | None
    """earliest session start of the hosts; NULL if no file records it, or event_count is NULL [ns
    since 1970]"""
    duration_ps: int | None
    """duration of the longest session; NULL if no file records start and end, or event_count is
    NULL [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    device_type: str | None
    """type of device, from the planes of the run: TPU, GPU or CPU; NULL if the source is an HLO
    program"""
    device_count: int | None
    """number of TensorCore planes, or of GPU planes if there are none; 0 for CPU; NULL if the
    source is an HLO program [devices]"""
    format: str
    """format of the files: xspace, xspace.gz or hlo"""
    loaded_ms: float
    """wall time of reading the files [ms]"""
    other_runs: int
    """number of other runs in the log dir, which were not read because their folder names sort
    lower; 0 if the path names a run [runs]"""

class ProfFind(NamedTuple):
    path: str
    """path of the run folder or file; usable as a source"""
    name: str
    """name of the run below the log directory, including subfolders such as train/"""
    host_count: int
    """number of *.xplane.pb files in the run [hosts]"""
    size_bytes: int
    """total size of the run's *.xplane.pb files [bytes]"""
    modified_unix_ns: int
    """modification time of the run's newest *.xplane.pb file [ns since 1970]"""

class ProfHelp(NamedTuple):
    rank: int
    """1 for the best match"""
    kind: str
    """kind of the row: table, query, function or column; synonym: search words and the names that
    they lead to, only if no word is given; nothing: the only row if nothing matches"""
    name: str
    """name of the table, query, function or column; for a synonym, its words; for nothing, the word
    that was given"""
    table_name: str | None
    """table or query that has the column; NULL for other kinds"""
    description: str
    """what one row of the table is, the question that the query answers, or what the function or
    column means; for a synonym, the tables, queries, functions and columns that it leads to; for
    nothing, what to do next"""
    matched: str | None
    """why it is listed: name, part of the name, synonym, description, or similar to a name or
    synonym; NULL if no word is given or nothing matches"""

class Hosts(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    host_source: str | None
    """source that reads this host alone: label/host, or the path of its file; NULL if the file of a
    run that is not attached cannot be opened"""
    path: str | None
    """path of the host's file; NULL if it cannot be opened"""
    size_bytes: int | None
    """size of the file on disk; NULL if it cannot be opened [bytes]"""
    format: str | None
    """format of the file: xspace, xspace.gz, hlo or hlo.gz; NULL if it cannot be read"""
    event_count: int
    """number of events read from the file [events]"""
    start_unix_ns: int | None
    """session start, the zero point of event times (events that start earlier have negative times);
    if the file does not record it, the start of the earliest line, if lines have Unix times; else
    NULL [ns since 1970]"""
    stop_unix_ns: int | None
    """session end; NULL if the file does not record it [ns since 1970]"""
    hostname: str | None
    """name of the host as the file records it; NULL if it does not"""
    damage: str | None
    """what was lost when the file was read: the messages of prof_issues with severity error,
    separated by semicolons; NULL if nothing was lost"""

class Planes(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    proto_id: str
    """id of the plane in the file, decimal"""
    name: str
    """name of the plane"""
    kind: str
    """kind of the plane, from its name: host, tensorcore, sparsecore, gpu, metadata, custom
    (/device:CUSTOM:... and /custom:...) or other"""
    line_count: int
    """number of lines in the plane [lines]"""
    event_count: int
    """number of events in the plane [events]"""
    process_id: int | None
    """id of the process that recorded the plane: its stat process_id, or the [pid] in the name of a
    subprocess's plane; NULL if neither exists"""

class Lines(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    plane: str
    """name of the plane"""
    line_id: int
    """number of the line in the run, from 0"""
    proto_id: str
    """id of the line in the file, decimal: a thread, a stream or a number that XProf assigned"""
    name: str
    """name of the line"""
    display_name: str | None
    """name to display; NULL if it is the same as name"""
    display_id: int
    """id to display; 0 if it is the same as proto_id"""
    timestamp_ns: int
    """start of the line, from the start of the session; below 0 if the line starts earlier [ns]"""
    duration_ps: int
    """duration that the file records for the line; often 0 [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    event_count: int
    """number of events in the line [events]"""
    kind: str
    """kind of the line, from the names of plane and line: thread, stream, steps, modules, ops,
    async_ops, name_scope, framework_ops, source, launch_stats, counters or other"""
    derived: int
    """1: XProf derived the line from other lines (its id is -559038737, which is 0xdeadbeef in 32
    bits, or one of the next 389 ids); counting its events counts work twice [0 or 1]"""

class TraceEvents(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    event_id: int
    """number of the event in the run, from 0"""
    plane: str
    """name of the plane"""
    line: str
    """display name of the line, or its name"""
    name: str
    """name of the event; for a TPU op, its HLO text; empty if the plane does not declare the
    event's metadata"""
    short_name: str
    """readable name: for events of GPUs the name without namespaces, template arguments and
    parameters, unique in the run (docs/semantics.md); for others the display name, else the name"""
    start_ps: int
    """start of the event from the start of the session; below 0 if it starts earlier. Aggregated
    events have offset 0. Saturates at the limits of int64 [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int
    """duration of the event [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    self_ps: int
    """duration of the event without the events nested directly in it on the line; below 0 if these
    overlap each other (asynchronous lines) [ps]"""
    depth: int
    """nesting depth: number of events on the line that contain this one"""
    parent_id: int | None
    """event_id of the innermost event on the line that contains this one; NULL at depth 0"""
    group_id: int | None
    """group (step) that the file records for the event (the first, if there are several); NULL if
    there is none"""
    occurrences: int | None
    """number of occurrences that an aggregated event sums up; NULL for a plain event"""
    correlation_id: int | None
    """id that connects a launch with its kernel (join on run, host, correlation_id); decimal TEXT
    above 2^63-1; NULL if the event has none"""
    program_id: str | None
    """id of the HLO program, decimal, or the text that the file has instead; NULL if the event has
    none"""
    hlo_module: str | None
    """name of the HLO module, without (id); NULL if the event has none"""
    hlo_op: str | None
    """name of the HLO instruction: the part after the last ::, without a % before it and a {i,j}
    after it; NULL if the event has none"""
    tf_op: str | None
    """path of the framework op: `name:type` in TensorFlow's profiles and on TPU; for GPU kernels
    that XLA launched, hlo_instructions.tf_op; NULL if the event has none"""
    category: str | None
    """HLO category; NULL if the file does not record it"""
    flops: int | None
    """floating-point operations of one execution, as recorded in the file; NULL if the file does
    not record them [FLOP]"""
    bytes_accessed: int | None
    """bytes read and written by one execution, as recorded in the file; NULL if the file does not
    record them [bytes]"""
    shape: str | None
    """shape of the op's result, with layout if the file has it; NULL if the file does not record
    it"""
    source_file: str | None
    """source file of the op; NULL if the file does not record it"""
    source_line: int | None
    """line of the op in source_file; NULL if the file does not record it"""
    plane_id: int
    """number of the plane in the run, from 0"""
    line_id: int
    """number of the line in the run, from 0"""
    metadata_id: int
    """id of the event's metadata, unique in its plane"""
    display_name: str | None
    """short name of the event for display; NULL if the file has none"""
    end_ps: int
    """start_ps + duration_ps; saturates at the limits of int64 [ps]"""
    plane_kind: str
    """kind of the event's plane, as in planes.kind"""
    line_kind: str
    """kind of the event's line, as in lines.kind"""
    derived: int
    """1: the event is on a line that XProf derived from other lines; counting it counts work twice
    [0 or 1]"""
    device_start_ps: int | None
    """start of the event on the device clock; NULL if the file does not record it [ps]"""
    device_duration_ps: int | None
    """duration of the event on the device clock, which XProf's op tools sum; NULL if the file does
    not record it [ps]"""
    device_self_ps: int | None
    """device_duration_ps without the events nested directly in it on the device clock, as in
    XProf's op tools (docs/semantics.md, Device clock); NULL if the event does not record both
    device_offset_ps and device_duration_ps [ps]"""
    grid_dim: str | None
    """size of the kernel's grid as x,y,z; NULL if the event does not record it or records an
    impossible size"""
    block_dim: str | None
    """size of the kernel's block as x,y,z; NULL if the event does not record it or records an
    impossible size"""
    is_async: int | None
    """1: the event is marked as not nested on its thread; NULL if the file does not record it [0 or
    1]"""
    step_event_id: int | None
    """event_id of the step event that contains the op, found as in XProf's Events DB
    (docs/semantics.md, Step and module around an op); NULL except for ops of a TensorCore"""
    module_event_id: int | None
    """event_id of the HLO module execution that contains the op, found as in XProf's Events DB
    (docs/semantics.md, Step and module around an op); NULL except for ops of a TensorCore"""
    step_name: str | None
    """name of the step that the event belongs to; NULL if it belongs to none, or the step has no
    name, and in files that contain their groups, if the event itself does not record one"""
    is_eager: int | None
    """1: the kernel or framework op ran eagerly; 0: it did not; NULL for other events [0 or 1]"""
    step: int | None
    """group id that XProf's grouping assigns to the event, and of several the one that XProf's
    steps use: the first on a TPU, else the last (docs/semantics.md, Step of an event); host_steps
    lists which groups are steps; NULL if the event has no group"""

class Events(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    event_id: int
    """number of the event in the run, from 0"""
    plane: str
    """name of the plane"""
    line: str
    """display name of the line, or its name"""
    name: str
    """name of the event; for a TPU op, its HLO text; empty if the plane does not declare the
    event's metadata"""
    short_name: str
    """readable name: for events of GPUs the name without namespaces, template arguments and
    parameters, unique in the run (docs/semantics.md); for others the display name, else the name"""
    start_ps: int
    """start of the event from the start of the session; below 0 if it starts earlier. Aggregated
    events have offset 0. Saturates at the limits of int64 [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int
    """duration of the event [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    self_ps: int
    """duration of the event without the events nested directly in it on the line; below 0 if these
    overlap each other (asynchronous lines) [ps]"""
    depth: int
    """nesting depth: number of events on the line that contain this one"""
    parent_id: int | None
    """event_id of the innermost event on the line that contains this one; NULL at depth 0"""
    group_id: int | None
    """group (step) that the file records for the event (the first, if there are several); NULL if
    there is none"""
    occurrences: int | None
    """number of occurrences that an aggregated event sums up; NULL for a plain event"""
    correlation_id: int | None
    """id that connects a launch with its kernel (join on run, host, correlation_id); decimal TEXT
    above 2^63-1; NULL if the event has none"""
    program_id: str | None
    """id of the HLO program, decimal, or the text that the file has instead; NULL if the event has
    none"""
    hlo_module: str | None
    """name of the HLO module, without (id); NULL if the event has none"""
    hlo_op: str | None
    """name of the HLO instruction: the part after the last ::, without a % before it and a {i,j}
    after it; NULL if the event has none"""
    tf_op: str | None
    """path of the framework op: `name:type` in TensorFlow's profiles and on TPU; for GPU kernels
    that XLA launched, hlo_instructions.tf_op; NULL if the event has none"""
    category: str | None
    """HLO category; NULL if the file does not record it"""
    flops: int | None
    """floating-point operations of one execution, as recorded in the file; NULL if the file does
    not record them [FLOP]"""
    bytes_accessed: int | None
    """bytes read and written by one execution, as recorded in the file; NULL if the file does not
    record them [bytes]"""
    shape: str | None
    """shape of the op's result, with layout if the file has it; NULL if the file does not record
    it"""
    source_file: str | None
    """source file of the op; NULL if the file does not record it"""
    source_line: int | None
    """line of the op in source_file; NULL if the file does not record it"""
    plane_id: int
    """number of the plane in the run, from 0"""
    line_id: int
    """number of the line in the run, from 0"""
    metadata_id: int
    """id of the event's metadata, unique in its plane"""
    display_name: str | None
    """short name of the event for display; NULL if the file has none"""
    end_ps: int
    """start_ps + duration_ps; saturates at the limits of int64 [ps]"""
    plane_kind: str
    """kind of the event's plane, as in planes.kind"""
    line_kind: str
    """kind of the event's line, as in lines.kind"""
    derived: int
    """1: the event is on a line that XProf derived from other lines; counting it counts work twice
    [0 or 1]"""
    device_start_ps: int | None
    """start of the event on the device clock; NULL if the file does not record it [ps]"""
    device_duration_ps: int | None
    """duration of the event on the device clock, which XProf's op tools sum; NULL if the file does
    not record it [ps]"""
    device_self_ps: int | None
    """device_duration_ps without the events nested directly in it on the device clock, as in
    XProf's op tools (docs/semantics.md, Device clock); NULL if the event does not record both
    device_offset_ps and device_duration_ps [ps]"""
    grid_dim: str | None
    """size of the kernel's grid as x,y,z; NULL if the event does not record it or records an
    impossible size"""
    block_dim: str | None
    """size of the kernel's block as x,y,z; NULL if the event does not record it or records an
    impossible size"""
    is_async: int | None
    """1: the event is marked as not nested on its thread; NULL if the file does not record it [0 or
    1]"""
    step_event_id: int | None
    """event_id of the step event that contains the op, found as in XProf's Events DB
    (docs/semantics.md, Step and module around an op); NULL except for ops of a TensorCore"""
    module_event_id: int | None
    """event_id of the HLO module execution that contains the op, found as in XProf's Events DB
    (docs/semantics.md, Step and module around an op); NULL except for ops of a TensorCore"""
    step_name: str | None
    """name of the step that the event belongs to; NULL if it belongs to none, or the step has no
    name, and in files that contain their groups, if the event itself does not record one"""
    is_eager: int | None
    """1: the kernel or framework op ran eagerly; 0: it did not; NULL for other events [0 or 1]"""
    step: int | None
    """group id that XProf's grouping assigns to the event, and of several the one that XProf's
    steps use: the first on a TPU, else the last (docs/semantics.md, Step of an event); host_steps
    lists which groups are steps; NULL if the event has no group"""

class EventTotals(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    plane: str
    """name of the plane"""
    plane_kind: str
    """kind of the plane, as in planes.kind"""
    line_id: int
    """number of the line in the run, from 0"""
    line: str
    """name of the line for display: its display name, else its name"""
    line_kind: str
    """kind of the line, as in lines.kind"""
    derived: int
    """1: the line is derived from other lines, as in lines.derived [0 or 1]"""
    metadata_id: int | None
    """id of the events' metadata, unique in its plane; NULL in the row of all events whose metadata
    the plane does not declare"""
    name: str
    """name of the events; empty if the plane does not declare it"""
    short_name: str
    """readable name: for events of GPUs the name without namespaces, template arguments and
    parameters, unique in the run (docs/semantics.md); for others the display name, else the name"""
    hlo_module: str | None
    """HLO module of the events, without (id), if their metadata records it, as on TPUs; NULL on
    GPUs and hosts, where each event records its own module (trace_events.hlo_module)"""
    occurrences: int
    """number of events of this metadata on this line [events]"""
    total_ps: int
    """total duration of the events on the event clock, including nested events [ps]"""
    self_ps: int
    """self time: total_ps without the durations of directly nested events; negative if these
    overlap each other [ps]"""
    min_ps: int
    """shortest duration of one of the events [ps]"""
    max_ps: int
    """longest duration of one of the events [ps]"""
    display_name: str
    """name of the events for display: the display name, else the name"""

class OpPercentiles(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_kind: str
    """kind of the planes, as in planes.kind; planes of a kind on one host are combined"""
    line_kind: str
    """kind of the lines, as in lines.kind: a row of ops, stream or thread is an op, of modules a
    program, of steps a step"""
    name: str
    """name of the events: on TPUs the op's HLO text, on GPUs the kernel, on modules lines
    program(id)"""
    short_name: str
    """readable name: for events of GPUs the name without namespaces, template arguments and
    parameters, unique in the run (docs/semantics.md); for others the display name, else the name"""
    hlo_op: str | None
    """HLO instruction that the events record, without everything up to the last `::`; if they
    record none, the name of the op on op lines of TPUs, elsewhere NULL"""
    shape: str | None
    """shape of the op's result: from the HLO text in name, else with layout from the instruction
    hlo_op of the program; NULL if the file has neither"""
    program_id: str | None
    """id of the program, decimal; NULL if the events record none"""
    hlo_module: str | None
    """HLO module without (id): on lines of kind modules the name, elsewhere the module of the
    program; NULL there if program_id is NULL or the file does not have the program"""
    occurrences: int
    """number of events [events]"""
    total_us: float
    """sum of the durations, nested events included [us]"""
    avg_us: float
    """average duration [us]"""
    stddev_us: float | None
    """sample standard deviation of the durations; NULL for one event [us]"""
    min_us: float
    """shortest duration [us]"""
    p50_us: float
    """median of the durations, interpolated as by percentile() [us]"""
    p90_us: float
    """90th percentile of the durations, interpolated as by percentile() [us]"""
    p99_us: float
    """99th percentile of the durations, interpolated as by percentile() [us]"""
    max_us: float
    """longest duration [us]"""

class SlowCalls(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    rank: int
    """rank by over_median_us within the run"""
    host: str
    """name of the host, taken from its file name"""
    plane: str
    """name of the plane"""
    line: str
    """name of the stream or row of the device"""
    name: str
    """name of the op, kernel or copy"""
    short_name: str
    """readable name: for events of GPUs the name without namespaces, template arguments and
    parameters, unique in the run (docs/semantics.md); for others the display name, else the name"""
    hlo_module: str | None
    """HLO module of the op; NULL if the file does not record it"""
    step: int | None
    """step of the call; NULL if it is in none"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    median_us: float
    """median duration of the calls with this name and program id, on all planes of this kind in the
    run. Calls that are not longer than the median, and names with fewer than three calls, have no
    row [us]"""
    over_median_us: float
    """duration_us - median_us [us]"""
    ratio: float | None
    """duration_us divided by median_us; NULL if the median is 0 [ratio]"""
    calls: int
    """number of calls in the median [events]"""

class Timeline(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    event_id: int
    """number of the event in the run, from 0"""
    plane: str
    """name of the plane"""
    line: str
    """display name of the line, or its name"""
    name: str
    """name of the event; for a TPU op, its HLO text; empty if the plane does not declare the
    event's metadata"""
    short_name: str
    """readable name: for events of GPUs the name without namespaces, template arguments and
    parameters, unique in the run (docs/semantics.md); for others the display name, else the name"""
    start_ps: int
    """start of the event from the start of the session; below 0 if it starts earlier. Aggregated
    events have offset 0. Saturates at the limits of int64 [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int
    """duration of the event [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    self_ps: int
    """duration of the event without the events nested directly in it on the line; below 0 if these
    overlap each other (asynchronous lines) [ps]"""
    depth: int
    """nesting depth: number of events on the line that contain this one"""
    parent_id: int | None
    """event_id of the innermost event on the line that contains this one; NULL at depth 0"""
    group_id: int | None
    """group (step) that the file records for the event (the first, if there are several); NULL if
    there is none"""
    occurrences: int | None
    """number of occurrences that an aggregated event sums up; NULL for a plain event"""
    correlation_id: int | None
    """id that connects a launch with its kernel (join on run, host, correlation_id); decimal TEXT
    above 2^63-1; NULL if the event has none"""
    program_id: str | None
    """id of the HLO program, decimal, or the text that the file has instead; NULL if the event has
    none"""
    hlo_module: str | None
    """name of the HLO module, without (id); NULL if the event has none"""
    hlo_op: str | None
    """name of the HLO instruction: the part after the last ::, without a % before it and a {i,j}
    after it; NULL if the event has none"""
    tf_op: str | None
    """path of the framework op: `name:type` in TensorFlow's profiles and on TPU; for GPU kernels
    that XLA launched, hlo_instructions.tf_op; NULL if the event has none"""
    category: str | None
    """HLO category; NULL if the file does not record it"""
    flops: int | None
    """floating-point operations of one execution, as recorded in the file; NULL if the file does
    not record them [FLOP]"""
    bytes_accessed: int | None
    """bytes read and written by one execution, as recorded in the file; NULL if the file does not
    record them [bytes]"""
    shape: str | None
    """shape of the op's result, with layout if the file has it; NULL if the file does not record
    it"""
    source_file: str | None
    """source file of the op; NULL if the file does not record it"""
    source_line: int | None
    """line of the op in source_file; NULL if the file does not record it"""
    plane_id: int
    """number of the plane in the run, from 0"""
    line_id: int
    """number of the line in the run, from 0"""
    metadata_id: int
    """id of the event's metadata, unique in its plane"""
    display_name: str | None
    """short name of the event for display; NULL if the file has none"""
    end_ps: int
    """start_ps + duration_ps; saturates at the limits of int64 [ps]"""
    plane_kind: str
    """kind of the event's plane, as in planes.kind"""
    line_kind: str
    """kind of the event's line, as in lines.kind"""
    derived: int
    """1: the event is on a line that XProf derived from other lines; counting it counts work twice
    [0 or 1]"""
    device_start_ps: int | None
    """start of the event on the device clock; NULL if the file does not record it [ps]"""
    device_duration_ps: int | None
    """duration of the event on the device clock, which XProf's op tools sum; NULL if the file does
    not record it [ps]"""
    device_self_ps: int | None
    """device_duration_ps without the events nested directly in it on the device clock, as in
    XProf's op tools (docs/semantics.md, Device clock); NULL if the event does not record both
    device_offset_ps and device_duration_ps [ps]"""
    grid_dim: str | None
    """size of the kernel's grid as x,y,z; NULL if the event does not record it or records an
    impossible size"""
    block_dim: str | None
    """size of the kernel's block as x,y,z; NULL if the event does not record it or records an
    impossible size"""
    is_async: int | None
    """1: the event is marked as not nested on its thread; NULL if the file does not record it [0 or
    1]"""
    step_event_id: int | None
    """event_id of the step event that contains the op, found as in XProf's Events DB
    (docs/semantics.md, Step and module around an op); NULL except for ops of a TensorCore"""
    module_event_id: int | None
    """event_id of the HLO module execution that contains the op, found as in XProf's Events DB
    (docs/semantics.md, Step and module around an op); NULL except for ops of a TensorCore"""
    step_name: str | None
    """name of the step that the event belongs to; NULL if it belongs to none, or the step has no
    name, and in files that contain their groups, if the event itself does not record one"""
    is_eager: int | None
    """1: the kernel or framework op ran eagerly; 0: it did not; NULL for other events [0 or 1]"""
    step: int | None
    """group id that XProf's grouping assigns to the event, and of several the one that XProf's
    steps use: the first on a TPU, else the last (docs/semantics.md, Step of an event); host_steps
    lists which groups are steps; NULL if the event has no group"""
    pid: int
    """process number in XProf's trace viewer: 1 + plane id for devices, from 501 for custom planes,
    from 701 for hosts; with several hosts, plus 1000 for each"""
    tid: int
    """thread number in XProf's trace viewer: the line's display id"""
    flow_in: int | None
    """id of the flow that leads to this event: equals flow_out of the events that it comes from, on
    the same host, if the file contains them; NULL without a flow"""
    flow_out: int | None
    """id of the flow that starts at this event: equals flow_in of the events that it leads to, on
    the same host, if the file contains them; NULL without a flow"""
    counter_value: Any
    """value of the counter from start_ps on; NULL for events on lines other than _counters_"""
    shown_name: str
    """name that the trace viewer displays"""

class XprofEvents(NamedTuple):
    device: str
    """cpu:0 for the host; gpu: and XPlane.id; for a TPU the name of the plane without /device:; for
    a custom plane its entire name"""
    stream_id: int | None
    """id of the device's line, modulo 2^32; NULL for host events"""
    thread_id: int | None
    """id of the host thread's line, modulo 2^32; NULL for device events"""
    thread_name: str | None
    """name of the host thread; NULL for device events"""
    correlation_id: int | None
    """correlation_id of a host or GPU event, modulo 2^32; 0 if the stat is not a uint64 (on a GPU:
    not an integer); NULL without the stat, and on TPU and custom planes and XLA lines of GPUs"""
    kernel_name: str | None
    """name of the event; prefixed with step: (steps of a TensorCore), HLO Module: (modules of a
    TensorCore or GPU) or TC Overlay: (overlays of a TensorCore); NULL on other TPU planes"""
    kernel_details: str | None
    """launch parameters of a GPU kernel; NULL for other events, on XLA lines of GPUs, and if the
    text is empty"""
    tf_op_name: str | None
    """name of the framework op: from the event's name on the host; on a GPU from the HLO
    instruction, or from the stat if the event has no hlo_op; from the stat on a TPU; NULL if there
    is none"""
    tf_op_type: str | None
    """type of the framework op in tf_op_name; NULL if there is none"""
    hlo_op: str | None
    """HLO instruction of a GPU kernel or TensorCore op; empty if XProf shows an empty text; NULL
    for other events"""
    hlo_module: str | None
    """HLO module of a GPU kernel or TensorCore op (for the latter, the name of the module event
    that includes it); NULL if there is none"""
    start_ns: int
    """start of the event, rounded down to 1 ns (Unix times to 256 ns). As in XProf, it is 2^64 ps
    too late if offset_ps is negative, and 2^64 too large, as decimal TEXT, before the session
    [ns]"""
    end_ns: int
    """end of the event: start_ns plus the duration, rounded down to 1 ns; as in XProf, 2^64 ps too
    late if duration_ps is negative [ns]"""
    self_time_ns: int
    """duration of the event; on TPU planes, as in XProf, without the directly nested events
    (computed in ns, in stored order) [ns]"""
    step: str | None
    """step of the event: for host and GPU events the step to which XProf's grouping assigns it, for
    TensorCore ops the step event that includes it; NULL if there is none"""
    category: str
    """host, device, or the name of the line (on TPU and custom planes, and XLA lines of GPUs)"""
    flops: int | None
    """floating-point operations of an event on a TPU or custom plane, or on an XLA line of a GPU; 0
    if the stat is not an integer; NULL for other events and without the stat [FLOP]"""
    memory_accessed: int | None
    """bytes accessed by an event on a TPU or custom plane, or on an XLA line of a GPU; 0 if the
    stat is not an integer; NULL for other events and without the stat [bytes]"""
    input_tensors: str | None
    """array of the shapes of the HLO instruction's operands, or of those in the stat of a GPU
    kernel with a tf_op and no hlo_op; NULL if there are none, or XProf finds no program [JSON]"""
    output_tensors: str | None
    """array with the shape of the HLO instruction's result; NULL if there is no instruction, or
    XProf finds no program [JSON]"""
    trace_args: str | None
    """name=value of all other stats and of those that XProf's grouping adds, separated by commas;
    for events on TPU and custom planes and XLA lines of GPUs, stats of their metadata come first;
    NULL if there are none"""
    hlo_fingerprint: str | None
    """fingerprint of what the HLO instruction does, including the computations that it calls but no
    names; decimal; NULL if there is no instruction, or XProf finds no program"""
    flow: int | None
    """flow id of a host event; NULL for other events and without the stat"""
    source_line: str | None
    """source location, file:line; NULL without the stat, and for events of GPU streams"""
    dcn_src_slice_id: int | None
    """slice that sent the message; NULL unless the event is a host event named MegaScale:
    Communication Transport Receive with slices, devices, label and a duration above 0"""
    dcn_dst_slice_id: int | None
    """slice that received the message; NULL unless the event is a host event named MegaScale:
    Communication Transport Receive with slices, devices, label and a duration above 0"""
    dcn_src_logical_device_id: int | None
    """device that sent the message, by its number in the slice; NULL unless the event is a host
    event named MegaScale: Communication Transport Receive with slices, devices, label and a
    duration above 0"""
    dcn_dst_logical_device_id: int | None
    """device that received the message, by its number in the slice; NULL unless the event is a host
    event named MegaScale: Communication Transport Receive with slices, devices, label and a
    duration above 0"""
    dcn_collective_name: str | None
    """label of the collective that the message belongs to; NULL unless the event is a host event
    named MegaScale: Communication Transport Receive with slices, devices, label and a duration
    above 0"""
    dcn_duration_us: int | None
    """time from sending to arrival of the message; NULL unless the event is a host event named
    MegaScale: Communication Transport Receive with slices, devices, label and a duration above 0
    [us]"""
    dcn_payload_size_bytes: int | None
    """payload of the message, 0 if the event does not record it; NULL unless the event is a host
    event named MegaScale: Communication Transport Receive with slices, devices, label and a
    duration above 0 [bytes]"""

class EventStats(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    event_id: int
    """number of the event in the run, from 0"""
    origin: str
    """event: a stat of the event itself; metadata: a stat that all events of its metadata share"""
    stat_id: int
    """id of the stat's metadata, unique in its plane"""
    name: str
    """name of the stat; empty if the plane does not declare it"""
    type: str
    """type of the value: double, uint64, int64, str, bytes, ref (text stored as a stat name) or
    none"""
    value: Any
    """value of the stat; a uint64 above 2^63-1 is decimal TEXT; NULL for type none and for NaN"""

class EventMetadata(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    plane: str
    """name of the plane"""
    metadata_id: int
    """id of the event metadata, unique in its plane"""
    name: str
    """name of the events of this metadata; for a TPU op, its HLO text"""
    display_name: str | None
    """short name for display; NULL if the file has none"""
    metadata: bytes | None
    """opaque bytes of the metadata; NULL if the file has none"""
    child_ids: str | None
    """JSON array of the metadata ids of fused children; NULL if there are none"""
    stat_count: int
    """number of stats that all events of this metadata share [stats]"""
    event_count: int
    """number of events of this metadata [events]"""

class EventMetadataStats(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    metadata_id: int
    """id of the event metadata, unique in its plane"""
    stat_id: int
    """id of the stat's metadata, unique in its plane"""
    name: str
    """name of the stat; empty if the plane does not declare it"""
    type: str
    """type of the value: double, uint64, int64, str, bytes, ref (text stored as a stat name) or
    none"""
    value: Any
    """value of the stat; a uint64 above 2^63-1 is decimal TEXT; NULL for type none and for NaN"""

class StatMetadata(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    plane: str
    """name of the plane"""
    metadata_id: int
    """id of the entry, unique in its plane"""
    name: str
    """name of the stat, or a text that ref stats share"""
    description: str | None
    """description of the stat; NULL if the file has none"""

class PlaneStats(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    plane: str
    """name of the plane"""
    stat_id: int
    """id of the stat's metadata, unique in its plane"""
    name: str
    """name of the stat; empty if the plane does not declare it"""
    type: str
    """type of the value: double, uint64, int64, str, bytes, ref (text stored as a stat name) or
    none"""
    value: Any
    """value of the stat; a uint64 above 2^63-1 is decimal TEXT; NULL for type none and for NaN"""

class Session(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    name: str
    """name of a stat of the plane Task Environment; or error, warning or hostname"""
    value: Any
    """value of the stat; a uint64 above 2^63-1 is decimal TEXT; NULL for type none and for NaN"""

class ProfIssues(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    path: str | None
    """file with the issue; NULL if it could not be opened (the message names it)"""
    byte_offset: int | None
    """position of the first such issue in the file, after decompression; NULL if that is the file's
    first byte, if it is unknown, or if the issue has no single position [bytes]"""
    severity: str
    """error: data was lost, or the profiler reported an error; warning: data was repaired or is
    doubtful; info: a remark"""
    code: str
    """code of the issue. Found when a file is read, or when this table is queried: damaged,
    damaged_stat, truncated, too_many, gzip_cut_short, gzip_trailing_bytes, unreadable,
    invalid_utf8, nul_in_name, wrong_wire_type, unknown_metadata, time_overflow, unix_times,
    unreadable_program, refused_program, duplicate_program, programs_of_subprocesses, grouping_cut,
    no_steps, no_common_steps, host_without_steps, steps_without_cores, sparsecores_cut,
    steps_apart, clocks_differ, newest_run (which run of a log dir was taken), capture_dropped,
    capture_ended_abruptly, capture_missing_steps, launches_without_work, more; found when another
    table analyzes the file, so listed only after a query of that table: nothing_to_show (why a
    table or canned query has no rows), occurrences_overflow, host_ops_lost, too_many_children,
    sparsecore_programs_mixed, programs_mixed (tables of ops), program_costs, op_texts_cut (tables
    of ops), program_owners, heap_simulation, memory_spaces (buffers), memory_events_elsewhere,
    free_without_allocation (memory_events), derived_lines_cut (timeline),
    request_of_several_models, inference_cut (inference), dcn_cut (dcn_collectives), tf_data_cut
    (tf_data); messages that XProf shows above its pages: xprof_error and xprof_warning (from the
    profiler), xprof_steps (about the entire run, listed with its first host)"""
    count: int  # type: ignore[assignment]
    """number of issues of this code at this place; for newest_run, number of runs that were not
    read"""
    message: str
    """what was lost, was repaired or is doubtful"""
    lost_bytes: int
    """bytes of the file that no row shows because of the issue [bytes]"""

class Devices(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    name: str
    """name of the plane"""
    device_type: str | None
    """model of the device, named as in XProf: for a GPU from vendor and compute capability (GPU if
    there is no vendor); NULL if a TPU's plane does not record it"""
    vendor: str | None
    """vendor of the device: Nvidia or AMD; NULL if the plane does not record it"""
    core_count: int | None
    """number of multiprocessors or compute units of a GPU; NULL if unknown [cores]"""
    clock_khz: int | None
    """clock rate of a GPU; NULL if unknown [kHz]"""
    memory_bytes: int | None
    """memory size of a GPU; NULL if unknown [bytes]"""
    compute_capability: str | None
    """compute capability of a GPU, major.minor; NULL if unknown"""
    peak_flops_per_second: float | None
    """peak FLOP rate: the value in the plane or, for a GPU without one, cores x clock x the best
    dense FP32 or FP16 rate of its generation; NULL if unknown [FLOP/s]"""
    peak_hbm_bytes_per_second: float | None
    """peak bandwidth of the main memory; NULL if unknown [bytes/s]"""
    peak_sram_read_bytes_per_second: float | None
    """peak read bandwidth of on-chip memory (GPU: shared memory); NULL if unknown [bytes/s]"""
    peak_sram_write_bytes_per_second: float | None
    """peak write bandwidth of on-chip memory (GPU: shared memory); NULL if unknown [bytes/s]"""
    peak_cmem_read_bytes_per_second: float | None
    """peak read bandwidth of CMEM; NULL if unknown, or the device has no CMEM [bytes/s]"""
    peak_cmem_write_bytes_per_second: float | None
    """peak write bandwidth of CMEM; NULL if unknown, or the device has no CMEM [bytes/s]"""
    peak_vmem_read_bytes_per_second: float | None
    """peak read bandwidth of VMEM; NULL if unknown, or the device has no VMEM [bytes/s]"""
    peak_vmem_write_bytes_per_second: float | None
    """peak write bandwidth of VMEM; NULL if unknown, or the device has no VMEM [bytes/s]"""
    hbm_ridge_point: float | None
    """arithmetic intensity above which the peak FLOP rate is the limit, not the bandwidth of the
    main memory; NULL if a peak is unknown [FLOP/byte]"""
    sram_read_ridge_point: float | None
    """arithmetic intensity above which the peak FLOP rate is the limit, not the read bandwidth of
    on-chip memory; NULL if a peak is unknown [FLOP/byte]"""
    sram_write_ridge_point: float | None
    """arithmetic intensity above which the peak FLOP rate is the limit, not the write bandwidth of
    on-chip memory; NULL if a peak is unknown [FLOP/byte]"""
    cmem_read_ridge_point: float | None
    """arithmetic intensity above which the peak FLOP rate is the limit, not the read bandwidth of
    CMEM; NULL if a peak is unknown [FLOP/byte]"""
    cmem_write_ridge_point: float | None
    """arithmetic intensity above which the peak FLOP rate is the limit, not the write bandwidth of
    CMEM; NULL if a peak is unknown [FLOP/byte]"""
    vmem_read_ridge_point: float | None
    """arithmetic intensity above which the peak FLOP rate is the limit, not the read bandwidth of
    VMEM; NULL if a peak is unknown [FLOP/byte]"""
    vmem_write_ridge_point: float | None
    """arithmetic intensity above which the peak FLOP rate is the limit, not the write bandwidth of
    VMEM; NULL if a peak is unknown [FLOP/byte]"""
    has_cmem: int | None
    """1: the plane records a peak bandwidth of CMEM; NULL on a GPU [0 or 1]"""
    has_merged_vmem: int | None
    """1: VMEM replaces CMEM; NULL if unknown [0 or 1]"""
    megacore: int | None
    """1: two TensorCores work as one; NULL if unknown [0 or 1]"""
    core_hostname: str | None
    """name of the core's host, as the core records it; NULL if it does not"""
    device_ordinal: int | None
    """number of the device on its host; NULL if unknown"""
    core_num: int | None
    """number of the core on its chip; NULL if unknown"""
    local_chip_id: int | None
    """number of the chip on its host; NULL if unknown"""
    global_chip_id: int | None
    """number of the chip in the system; NULL if unknown"""
    global_core_id: int | None
    """number of the core in the system; NULL if unknown"""
    time_scale_multiplier: float | None
    """clock rate of the source's TPUs divided by their default clock rate, averaged over the time
    of their ops; NULL on a GPU, and if there are no ops [ratio]"""
    uuid: str | None
    """UUID of the GPU, as profsql-capture records it. Rows with one UUID are one GPU that several
    processes use: each counts as a device. NULL if unknown"""

class DeviceTime(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    plane: str
    """name of the plane"""
    kind: str
    """kind of device: gpu, tensorcore or sparsecore"""
    start_ps: int | None
    """start of the span: first start of work on any device of this kind on the host, from the
    session start; NULL if by_step is 1, or if the device has no work [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    span_ps: int | None
    """time from the first start to the last end of work on any device of this kind on the host; if
    by_step is 1, the part of it in the step; NULL if the device has no work [ps]"""
    busy_ps: int | None
    """part of the span in which the device works, including ops that wait; NULL if the device has
    no work [ps]"""
    idle_ps: int | None
    """part of the span in which the device does not work: span_ps - busy_ps; NULL if the device has
    no work [ps]"""
    computing_ps: int | None
    """part of the span in which the device computes: work that is neither a collective nor a
    transfer; NULL if the device has no work [ps]"""
    communicating_ps: int | None
    """part of the span in which collectives run; asynchronous ones last from the start of the start
    op to the end of the done op; NULL if the device has no work [ps]"""
    exposed_communication_ps: int | None
    """part of communicating_ps in which the device does not compute; the rest is hidden; NULL if
    the device has no work [ps]"""
    transferring_ps: int | None
    """part of the span in which transfers run: copies between memories or with the host, infeed,
    outfeed; asynchronous ones last from the start of the start op to the end of the done op; NULL
    if the device has no work [ps]"""
    exposed_transfer_ps: int | None
    """part of transferring_ps in which the device does not compute; the rest is hidden; NULL if the
    device has no work [ps]"""
    exposed_ps: int | None
    """part of the span in which collectives or transfers run and the device does not compute; both
    at once count once; NULL if the device has no work [ps]"""
    busy_percent: float | None
    """busy_ps as a percentage of span_ps; NULL if the span is 0 or the device has no work [percent
    0..100]"""
    idle_percent: float | None
    """idle_ps as a percentage of span_ps; NULL if the span is 0 or the device has no work [percent
    0..100]"""
    computing_percent: float | None
    """computing_ps as a percentage of span_ps; NULL if the span is 0 or the device has no work
    [percent 0..100]"""
    communicating_percent: float | None
    """communicating_ps as a percentage of span_ps; NULL if the span is 0 or the device has no work
    [percent 0..100]"""
    exposed_communication_percent: float | None
    """exposed_communication_ps as a percentage of span_ps; NULL if the span is 0 or the device has
    no work [percent 0..100]"""
    transferring_percent: float | None
    """transferring_ps as a percentage of span_ps; NULL if the span is 0 or the device has no work
    [percent 0..100]"""
    exposed_transfer_percent: float | None
    """exposed_transfer_ps as a percentage of span_ps; NULL if the span is 0 or the device has no
    work [percent 0..100]"""
    exposed_percent: float | None
    """exposed_ps as a percentage of span_ps; NULL if the span is 0 or the device has no work
    [percent 0..100]"""
    is_main: int
    """1: a main device, included in shares of the run: a GPU or TensorCore; a SparseCore only if no
    GPU or TensorCore of the source has work [0 or 1]"""
    line_id: int | None
    """number of the line in the run, from 0; NULL unless by_line is 1"""
    line: str | None
    """name of the line; NULL unless by_line is 1"""
    step: int | None
    """number of the step (as in steps) whose interval on the device includes this time; NULL
    outside all steps, on a SparseCore, and unless by_step is 1"""
    waiting_ps: int | None
    """part of busy_ps in which the core waits for an asynchronous op (time_breakdown); NULL on a
    GPU, whose streams do not record when they wait, and if the device has no work [ps]"""

class DeviceSteps(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    plane: str
    """name of the plane"""
    kind: str
    """kind of device: gpu or tensorcore"""
    step: int | None
    """number of the step, as in steps; NULL for the time of the device that belongs to no step"""
    start_ps: int | None
    """start of the step on the core, from the session start of the host; NULL if step is NULL
    [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int | None
    """duration of the step on the core; for a GPU, on all GPUs of its host; NULL if step is NULL
    [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    communicating_ps: int
    """part of device_time.communicating_ps that belongs to the step [ps]"""
    exposed_communication_ps: int
    """part of communicating_ps in which the device does not compute (for any step); the rest is
    hidden [ps]"""
    transferring_ps: int
    """part of device_time.transferring_ps that belongs to the step [ps]"""
    exposed_transfer_ps: int
    """part of transferring_ps in which the device does not compute (for any step); the rest is
    hidden [ps]"""

class TimeBreakdown(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    plane: str
    """name of the plane"""
    line_id: int | None
    """number of the line in the run, from 0; NULL unless by_line is 1"""
    line: str | None
    """name of the line; NULL unless by_line is 1"""
    step: int | None
    """number of the step (as in steps) whose interval on the device includes this time; NULL
    outside all steps, on a SparseCore, and unless by_step is 1"""
    activity: str
    """activities that run at the same time: computing, communicating, transferring, joined by ' +
    '; none if there is no activity"""
    duration_ps: int
    """part of the device's span in which exactly these activities run; the rows of a device, or of
    a line, add up to device_time.span_ps [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    span_percent: float
    """duration_ps as a percentage of the device's span [percent 0..100]"""
    waiting_ps: int | None
    """part of duration_ps in which the core waits for an asynchronous op: the innermost op is its
    done op; NULL on a GPU, whose streams do not record when they wait [ps]"""
    idle_ps: int
    """part of duration_ps in which the device is idle: all of it if activity is none; on a TPU
    asynchronous ops can run meanwhile [ps]"""

class OpMetrics(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    side: str
    """host: ops on host threads; device: kernels and HLO ops of all devices together; framework:
    the device ops summed by framework op"""
    program_id: str | None
    """id of the HLO op's program, decimal; for a tf.data stage on the host, the id of the stage;
    NULL for other ops"""
    name: str
    """name of the op; IDLE is the time without any op"""
    category: str | None
    """type of the framework op, or category of the HLO op; NULL if there is none"""
    provenance: str | None
    """full name of the framework op that the op comes from; NULL if unknown"""
    occurrences: int
    """number of times that the op ran, on all cores; for a framework op, the largest number of any
    of its device ops"""
    time_ps: int
    """total time from start to end of the op, nested ops included, on the device clock if the file
    has it [ps]"""
    self_ps: int
    """total time of the op without nested ops, on the device clock if the file has it [ps]"""
    min_ps: int | None
    """duration of the shortest occurrence; NULL if XProf does not compute it (host, GPU, framework)
    [ps]"""
    normalized_ps: int | None
    """total time of the op at the default clock rate; NULL if unknown [ps]"""
    event_time_ps: int
    """time_ps on the event clock, the clock of trace_events and of XProf's Events DB [ps]"""
    event_self_ps: int
    """self_ps on the event clock; below 0 if ops overlap on that clock [ps]"""
    flops: float
    """floating-point operations of all occurrences; an 8-bit operation counts as a half, a 4-bit
    one as a quarter; 0 if none or unknown [FLOP]"""
    model_flops: float
    """floating-point operations of all occurrences, without device-specific weights; 0 if none or
    unknown [FLOP]"""
    bytes_accessed: int
    """bytes read plus bytes written by all occurrences; 0 if none or unknown [bytes]"""
    hbm_read_bytes: int | None
    """bytes read from HBM; NULL if the file has no breakdown by memory [bytes]"""
    hbm_write_bytes: int | None
    """bytes written to HBM; NULL if the file has no breakdown by memory [bytes]"""
    cmem_read_bytes: int | None
    """bytes read from CMEM; NULL if the file has no breakdown by memory [bytes]"""
    cmem_write_bytes: int | None
    """bytes written to CMEM; NULL if the file has no breakdown by memory [bytes]"""
    vmem_read_bytes: int | None
    """bytes read from VMEM; NULL if the file has no breakdown by memory [bytes]"""
    vmem_write_bytes: int | None
    """bytes written to VMEM; NULL if the file has no breakdown by memory [bytes]"""
    dma_stall_ps: int
    """time in which the op is stalled by DMA [ps]"""
    is_eager: int
    """1: TensorFlow ran the op eagerly [0 or 1]"""
    parent: str | None
    """name of the op that this op is part of: a fusion, or the op that offloaded it to a
    SparseCore; NULL if it is part of none"""
    core_type: str | None
    """type of the core that ran the op: TensorCore or SparseCore; NULL for other devices and the
    host"""
    op_id: int
    """ordinal of the op on its side, from 0; parts follow the op that contains them"""
    parent_id: int | None
    """op_id of the op that this op is part of; NULL if it is part of none"""
    expression: str | None
    """text of the HLO instruction; NULL if there is none"""
    deduplicated_name: str | None
    """name of the op that this op duplicates; NULL if it is no duplicate"""
    core_count: int | None
    """number of cores that ran the op; NULL for the sides host and framework [cores]"""
    source_file: str | None
    """source file of the op in the user's program; NULL if unknown"""
    source_line: int | None
    """line of the op in source_file; NULL if unknown"""
    source_stack: str | None
    """call stack of the op in the user's program, as plain text; NULL if unknown"""
    vdd_energy_j: float | None
    """energy that the core used for the op; NULL if not measured [J]"""
    memory_breakdown: str | None
    """JSON array of [operation (0 unknown, 1 read, 2 write), memory space (1 HBM, 2 CMEM, 3 VMEM),
    bytes]; NULL if the file has no breakdown by memory"""
    occurrences_actual: int | None
    """number of executions of the HLO op, as in hlo_ops; NULL if unknown, and for the sides host
    and framework"""
    flops_actual: float | None
    """operations of all executions of the HLO op, as hlo_ops.flops_actual; NULL if unknown, and for
    the sides host and framework [FLOP]"""
    model_flops_actual: float | None
    """operations of all executions of the HLO op, as hlo_ops.model_flops_actual; NULL if unknown,
    and for the sides host and framework [FLOP]"""
    bytes_accessed_actual: int | None
    """bytes accessed by all executions of the HLO op, as hlo_ops.bytes_accessed_actual; NULL if
    unknown, and for the sides host and framework [bytes]"""

class OpMetricsTotals(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    side: str
    """host: ops on host threads; device: kernels and HLO ops of all devices together; framework:
    the device ops summed by framework op"""
    op_count: int
    """number of ops, IDLE included [ops]"""
    total_ps: int
    """measured time, summed over threads or cores [ps]"""
    total_op_ps: int
    """measured time in ops: the sum of their self times [ps]"""
    normalized_total_op_ps: int | None
    """total_op_ps at the default clock rate; NULL if unknown [ps]"""
    idle_fraction: float
    """share of the measured time without any op; 1 if no time was measured [fraction 0..1]"""
    busy_ps: int | None
    """time in which at least one core of a chip was on duty, summed over chips; NULL for the sides
    host and framework, and if not on TPU [ps]"""
    idle_ps: int | None
    """time in which no core of a chip was on duty, summed over chips; NULL for the sides host and
    framework, and if not on TPU [ps]"""
    infeed_enqueue_ps: int | None
    """total duration of infeed enqueues, without the last one of each thread; NULL for the sides
    device and framework [ps]"""
    infeed_interval_ps: int | None
    """total time between the starts of consecutive infeed enqueues; NULL for the sides device and
    framework [ps]"""
    busy_high_confidence_ps: int | None
    """busy_ps without custom calls whose work is unknown; NULL for the sides host and framework,
    and if not on TPU [ps]"""
    idle_high_confidence_ps: int | None
    """busy_ps plus idle_ps, minus busy_high_confidence_ps; NULL for the sides host and framework,
    and if not on TPU [ps]"""
    compute_16bit_ps: int | None
    """time in which GPU events that have a group compute with 16-bit numbers, summed over the
    groups of each host; simultaneous events of a group count once. NULL for the sides host and
    framework [ps]"""
    compute_32bit_ps: int | None
    """time in which GPU events that have a group compute with other than 16-bit numbers, and none
    of the group computes with 16-bit numbers; counted as in compute_16bit_ps. NULL for the sides
    host and framework [ps]"""
    compute_16bit_ps_actual: int | None
    """compute_16bit_ps without copies, whatever name the profiler gives them; NULL for the sides
    host and framework, and without a GPU [ps]"""
    compute_32bit_ps_actual: int | None
    """compute_32bit_ps without copies, whatever name the profiler gives them; NULL for the sides
    host and framework, and without a GPU [ps]"""

class TfOps(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    rank: int
    """rank of the op, from 1: device ops by self time, then host ops by self time"""
    host_or_device: str
    """Device: kernels and HLO ops of all devices, summed by framework op; Host: ops on host
    threads"""
    type: str
    """type of the op; Unknown if no framework op is known; IDLE: time without any op"""
    operation: str
    """name of the op"""
    occurrences: int
    """number of times that the op ran; on devices, the largest number of any of its kernels or HLO
    ops, summed over cores"""
    total_time_us: float
    """total time from start to end of the op, nested ops included [us]"""
    avg_time_us: float
    """total time divided by occurrences; 0 if occurrences is 0 [us]"""
    total_self_time_us: float
    """total time of the op without nested ops [us]"""
    avg_self_time_us: float
    """total self time divided by occurrences; 0 if occurrences is 0 [us]"""
    device_self_time_fraction: float
    """self time of the op divided by the devices' time; 0 in host rows [fraction 0..1]"""
    device_cumulative_self_time_fraction: float
    """sum of device_self_time_fraction of this row and the rows before it; 0 in host rows [fraction
    0..1]"""
    host_self_time_fraction: float
    """self time of the op divided by the host threads' time; 0 in device rows [fraction 0..1]"""
    host_cumulative_self_time_fraction: float
    """sum of host_self_time_fraction of this row and the rows before it; 0 in device rows [fraction
    0..1]"""
    normalized_gflops: float
    """FLOP rate while the op ran; an 8-bit operation counts as a half, a 4-bit one as a quarter; 0
    if unknown [GFLOP/s]"""
    model_gflops: float
    """FLOP rate while the op ran, without device-specific weights; 0 if unknown [GFLOP/s]"""
    memory_bw_gibps: float
    """bytes read and written per second while the op ran; 0 if unknown [GiB/s]"""
    operational_intensity: float
    """operations per byte accessed; 0 if unknown [FLOP/byte]"""
    tensorcore_utilization_fraction: float | None
    """share of the op's kernel time in kernels on tensor cores, among the kernels that XProf keeps;
    0 without kernels and in host rows; NULL if not on GPU [fraction 0..1]"""
    bound_by: str
    """resource that the op uses closest to its peak: Compute, HBM, Shm/L1; or Unknown"""
    execution_mode: str
    """how the op ran: Eager or Function"""
    time_ps: int
    """total_time_us as an exact number of picoseconds [ps]"""
    self_ps: int
    """total_self_time_us as an exact number of picoseconds [ps]"""
    event_time_ps: int
    """total time on the event clock; differs from time_ps if the device has its own clock [ps]"""
    event_self_ps: int
    """self_ps on the event clock; below 0 if ops overlap on that clock [ps]"""
    flops: float | None
    """floating-point operations of all occurrences; an 8-bit operation counts as a half, a 4-bit
    one as a quarter; NULL if 0 or unknown [FLOP]"""
    model_flops: float | None
    """floating-point operations of all occurrences, without device-specific weights; NULL if 0 or
    unknown [FLOP]"""
    bytes_accessed: int | None
    """bytes read plus bytes written by all occurrences; NULL if 0 or unknown [bytes]"""
    tensorcore_utilization_fraction_actual: float | None
    """share of the op's kernel time in kernels on tensor cores, among all its kernels. Also
    recognizes tensor core kernels that XProf's list of names lacks (Hopper, Blackwell). NULL if no
    kernel of the op is known [fraction 0..1]"""

class KernelStats(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    rank: int
    """rank of the kernel by total duration; 1 is the longest"""
    kernel_name: str
    """name of the kernel"""
    short_name: str
    """name of the kernel without namespaces, template arguments and parameters, unique in the run;
    docs/semantics.md has the rules"""
    registers_per_thread: int
    """registers per thread; 0 if unknown [registers]"""
    shared_memory_bytes: int
    """static plus dynamic shared memory per block; 0 if unknown [bytes]"""
    block_dim: str
    """threads per block as x,y,z; 1,1,1 if unknown"""
    grid_dim: str
    """blocks in the grid as x,y,z; 1,1,1 if unknown"""
    occupancy_percent: float | None
    """theoretical occupancy of the row's first kernel, as stored in the file; above 100 if the
    stored value is invalid, NULL if it is NaN or infinite, 0 if unknown [percent]"""
    op_is_tensorcore_eligible: int
    """1: tensor cores could run the op, judged by the op's name [0 or 1]"""
    kernel_uses_tensorcore: int
    """1: the kernel runs on tensor cores, judged by XProf's list of kernel names [0 or 1]"""
    op_name: str
    """name of the framework op that the kernel runs for; empty if XProf finds none"""
    occurrences: int
    """number of times that the kernel ran [kernels]"""
    total_duration_us: float
    """sum of the kernel's durations, each truncated to a nanosecond [us]"""
    avg_duration_us: float
    """average duration of the kernel, truncated to a nanosecond [us]"""
    min_duration_us: float
    """shortest duration of the kernel [us]"""
    max_duration_us: float
    """longest duration of the kernel [us]"""
    static_shared_bytes: int
    """static shared memory per block; 0 if unknown [bytes]"""
    dynamic_shared_bytes: int
    """dynamic shared memory per block; 0 if unknown [bytes]"""
    host: str
    """name of the host, taken from its file name"""
    registers_per_thread_actual: int | None
    """registers per thread, read from kernel_details in all formats that profilers write; NULL if
    unknown, above 1024 (no GPU has so many), or if the launches differ [registers]"""
    shared_memory_bytes_actual: int | None
    """static plus dynamic shared memory per block, read from kernel_details in all formats that
    profilers write; NULL if unknown, if kernel_details is invalid (more than 1024 registers), or if
    the launches differ [bytes]"""
    block_dim_actual: str | None
    """threads per block as x,y,z, read from kernel_details in all formats that profilers write;
    NULL if unknown or if the launches differ"""
    grid_dim_actual: str | None
    """blocks in the grid as x,y,z, read from kernel_details in all formats that profilers write;
    NULL if unknown or if the launches differ"""
    occupancy_percent_actual: float | None
    """theoretical occupancy; NULL if unknown, 0, above 100, or if the launches differ [percent
    0..100]"""
    op_is_tensorcore_eligible_actual: int
    """1: tensor cores could run the op of one of the kernels: the kernel uses them, or
    op_name_actual is the name of such an op (docs/semantics.md, Canned queries) and the HLO op, if
    known, contains a matrix product (also as a multiplication and a reduction), a convolution or a
    library call (as kernel_ops.op_is_tensorcore_eligible) [0 or 1]"""
    kernel_uses_tensorcore_actual: int
    """1: the kernel runs on tensor cores, judged by its HLO op and its name. Also recognizes
    products that XLA compiles with Triton, kernels of Hopper and Blackwell, cuDNN and attention,
    which XProf's list lacks, and kernels in files that name no vendor [0 or 1]"""
    op_name_actual: str | None
    """name of the framework op that the kernel runs for, also in files of older profilers; NULL if
    unknown or if the launches differ (kernel_ops lists each op)"""

class KernelOps(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    kernel_name: str
    """name of the kernel"""
    short_name: str
    """name of the kernel without namespaces, template arguments and parameters, unique in the run;
    docs/semantics.md has the rules"""
    op_name: str | None
    """name of the framework op that the kernel runs for, without its type; a colon and the type if
    the program has no name; NULL if the program has neither, or the file names no op"""
    occurrences: int
    """number of times that the kernel ran for the op; as in XProf, events that have no duration or
    no kernel_details of their own do not count [kernels]"""
    total_duration_us: float
    """sum of the kernel's durations on the event clock, each truncated to a nanosecond [us]"""
    min_duration_us: float
    """shortest duration of the kernel [us]"""
    max_duration_us: float
    """longest duration of the kernel [us]"""
    op_is_tensorcore_eligible: int
    """1: tensor cores could run the op: the kernel uses them, or the op's name is that of such an
    op (docs/semantics.md, Canned queries) and its HLO op, if known, contains a matrix product (also
    as a multiplication and a reduction), a convolution or a library call [0 or 1]"""
    kernel_uses_tensorcore: int
    """1: the kernel runs on tensor cores, judged by its HLO op and its name [0 or 1]"""
    is_helper: int
    """1: tensor cores could run the op and this kernel does not use them, but another kernel of the
    same HLO op on the host does (without an HLO op: of the same framework op). This kernel prepares
    or completes the work of that one [0 or 1]"""
    host: str
    """name of the host, taken from its file name"""

class LaunchDelays(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    plane: str
    """name of the plane"""
    line_id: int
    """number of the line in the run, from 0"""
    event_id: int
    """number of the event in the run, from 0"""
    name: str
    """name of the kernel, copy or other event on the device"""
    short_name: str
    """readable name: for events of GPUs the name without namespaces, template arguments and
    parameters, unique in the run (docs/semantics.md); for others the display name, else the name"""
    start_ps: int
    """start on the device, from the session start [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int
    """duration on the device [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    launch_name: str
    """name of the call that launched the work: the host event with the same correlation_id (the
    first, if there are several; the longest of those that start together)"""
    launch_event_id: int
    """event_id of the launch call"""
    launch_start_ps: int
    """start of the launch call, from the session start [ps]"""
    launch_start_us: float
    """launch_start_ps in microseconds [us]"""
    launch_duration_ps: int
    """duration of the launch call [ps]"""
    launch_duration_us: float
    """launch_duration_ps in microseconds [us]"""
    delay_ps: int
    """launch latency: time from the start of the launch call to the start on the device, the call
    included; below 0 if the two clocks disagree [ps]"""
    delay_us: float
    """delay_ps in microseconds [us]"""
    queued_ps: int
    """part of delay_ps in which events that started earlier on the same stream were still running:
    from the start of the launch call until the last of them ended; 0 if they had ended [ps]"""
    queued_us: float
    """queued_ps in microseconds [us]"""
    annotation: str | None
    """name of the innermost event of the host that contains the launch call in time and is neither
    a call with a correlation_id nor a Python frame, such as a TraceMe range; events of other lines
    count only if nothing on the call's own line, or else on that of its thread if it is known,
    contains it. NULL if there is none"""
    annotation_event_id: int | None
    """event_id of annotation; NULL if there is none"""
    python_frame: str | None
    """name of the innermost Python frame that contains the launch call in time: an event of the
    host whose name starts with $, on the call's own line first; NULL if there is none
    (python_tracer_level = 0 records none)"""
    python_stack: str | None
    """python_frame and the Python frames around it on its line, one per line of text, innermost
    first; NULL if there is no Python frame"""
    launch_line_id: int
    """line_id of the launch call: the thread that made it, unless the driver records its calls on
    lines of their own"""
    context_is_own: int | None
    """1: an event on the launch call's own line that has no correlation_id contains the call, so
    annotation is of the thread that made it; 0: only events of other lines contain it, which can be
    unrelated unless the thread of the call's line is known; NULL if none does [0 or 1]"""

class LaunchLatency(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    kernel: str
    """name of the kernel, copy or other event on the device"""
    short_name: str
    """name of the kernel without namespaces, template arguments and parameters, unique in the run;
    docs/semantics.md has the rules"""
    launches: int
    """number of device events with this name whose launch is known (the host call with the same
    correlation_id) [events]"""
    avg_latency_us: float
    """average time from the start of the launch call to the start on the device, the call included;
    below 0 if the two clocks disagree [us]"""
    median_latency_us: float
    """median time from the start of the launch call to the start on the device, interpolated
    [us]"""
    max_latency_us: float
    """longest time from the start of the launch call to the start on the device [us]"""
    avg_launch_us: float
    """average duration of the launch call on the host (the first call with the correlation_id; the
    longest of those that start together) [us]"""
    avg_kernel_us: float
    """average duration on the device [us]"""

class LaunchQueue(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane: str
    """name of the plane"""
    line: str
    """name of the stream"""
    launches: int
    """number of events on the stream whose launch is known and starts before them [events]"""
    longest_queue: int
    """largest number of events that were launched and had not started, counted from the start of
    the launch call; CUDA blocks a launch when about 1024 are queued [events]"""
    longest_start_us: float
    """when the queue was first that long, from the session start [us]"""
    average_queue: float
    """average number of events in the queue when one is added, this one included [events]"""
    empty_launches: int
    """number of launches that found an empty queue: a stream whose queue is always empty runs no
    faster than the host launches [events]"""
    median_delay_us: float
    """median time from the start of a launch call to the start on the stream [us]"""
    longest_launch_us: float
    """duration of the longest launch call; it grows to that of kernels if the host is blocked by a
    full queue [us]"""

class ProgramRuns(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    plane: str
    """name of the plane"""
    program_id: str | None
    """id of the HLO program, decimal; NULL if unknown"""
    hlo_module: str | None
    """name of the HLO module, without (program id); NULL if unknown"""
    start_ps: int
    """start of the execution, from the session start: start of the event on the line XLA Modules;
    on a GPU, start of the first kernel [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int
    """duration of the execution; on a GPU, from the start of the first kernel to the end of the
    last one [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""

class ProgramTotals(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    plane: str
    """name of the plane"""
    program_id: str | None
    """id of the HLO program, decimal; NULL if unknown"""
    hlo_module: str | None
    """name of the HLO module, without (program id); NULL if unknown"""
    executions: int
    """number of executions on the device (rows of program_runs) [executions]"""
    total_us: float
    """sum of their durations. On a GPU, an execution is from the start of its first kernel to the
    end of its last one, and executions on several streams overlap [us]"""
    min_us: float
    """duration of the shortest execution [us]"""
    max_us: float
    """duration of the longest execution [us]"""
    shown_executions: float
    """executions; the first and the last on a GPU, if the capture cut them, count as the share of
    their kernels that it shows (docs/semantics.md) [executions]"""

class ProgramGaps(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    plane: str
    """name of the plane"""
    start_ps: int
    """start of the gap, from the session start: end of the programs before it, or start of the
    device's span [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int
    """duration of the gap. Gaps and the time of programs add up to device_time.span_ps [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    idle_ps: int
    """part of the gap in which the device is idle; in the rest it works outside programs, for
    example on copies [ps]"""
    idle_us: float
    """idle_ps in microseconds [us]"""
    idle_percent: float
    """idle_ps as a percentage of duration_ps [percent 0..100]"""
    before: str | None
    """HLO module of the program that ends at the start of the gap; NULL for the time from the start
    of the span to the first program, and if its name is unknown"""
    before_program_id: str | None
    """id of the program that ends at the start of the gap, decimal; NULL for the time from the
    start of the span to the first program, and if it is unknown"""
    after: str | None
    """HLO module of the program that starts at the end of the gap; NULL for the time from the last
    program to the end of the span, and if its name is unknown"""
    after_program_id: str | None
    """id of the program that starts at the end of the gap, decimal; NULL for the time from the last
    program to the end of the span, and if it is unknown"""

class Gaps(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    plane: str
    """name of the plane"""
    start_ps: int
    """start of the gap, from the session start. Until then the device is busy; ops that wait, such
    as copy-done, count as busy [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int
    """duration of the gap [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    before_event_id: int
    """event_id of the op that ends at the start of the gap; if there are several, the one that
    started first, then the first in the file"""
    before: str
    """name of the op that ends at the start of the gap; if there are several, the one that started
    first, then the first in the file"""
    before_short_name: str
    """readable form of before, as trace_events.short_name"""
    after_event_id: int
    """event_id of the op that starts at the end of the gap; if there are several on one line, the
    one that contains the others (longest, then first in the file); if there are several lines, the
    one that ends first"""
    after: str
    """name of the op that starts at the end of the gap; if there are several on one line, the one
    that contains the others (longest, then first in the file); if there are several lines, the one
    that ends first"""
    after_short_name: str
    """readable form of after, as trace_events.short_name"""

class OpProfile(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    node_id: int
    """position of the node in preorder, from 0"""
    parent_id: int | None
    """node_id of the parent node; NULL for the root"""
    depth: int
    """depth of the node: number of levels below the root"""
    path: str
    """names of the nodes from below the root to this node, separated by slashes"""
    name: str
    """name that XProf shows: a program, a scope, a category, an op, or an op with its duplicates.
    Ops that contain other ops (while, conditional, call) are not in the tree; their own time counts
    only in the program and the root"""
    kind: str
    """kind of the node: root, program, provenance (a scope), category, duplicates (ops that are
    copies of the first one) or op"""
    program_id: str | None
    """id of the program that contains the op or duplicates, decimal; NULL for other nodes"""
    category: str | None
    """HLO category of the op or duplicates; NULL for other nodes"""
    expression: str | None
    """HLO text of the op, empty if the file has none; NULL for other nodes"""
    provenance: str | None
    """framework op of the op, empty if unknown and for duplicates of fusions; NULL for other
    nodes"""
    source_file: str | None
    """source file of the op; NULL if unknown"""
    source_line: int | None
    """line of the op in source_file; NULL if unknown"""
    raw_time_ps: int
    """time in the node, summed over cores; for the root, the entire measured time [ps]"""
    normalized_time_ps: int
    """self time of the node at the device's default clock rate; 0 if the file does not record it
    [ps]"""
    time_fraction: float | None
    """time of the node divided by the root's time; NULL if the root's time is 0 [fraction 0..1]"""
    occurrences: int
    """number of times that the op ran; 0 for the root, programs and scopes"""
    avg_time_ps: float
    """average time of one occurrence; 0 if occurrences is 0 [ps]"""
    weighted_flops_utilization: float
    """FLOP rate divided by the peak rate, at most 1, multiplied by the share of time [fraction
    0..1]"""
    weighted_flops_utilization_uncapped: float
    """weighted_flops_utilization without the cap: above 1 if a cost is overestimated; 0 if the peak
    rate is unknown [fraction]"""
    raw_flops: float
    """floating-point operations, without device-specific weights [FLOP]"""
    bf16_flops: float
    """floating-point operations; an 8-bit operation counts as a half, a 4-bit one as a quarter
    [FLOP]"""
    hbm_utilization: float | None
    """HBM bandwidth divided by the peak bandwidth, at most 1; 0 if unknown, NULL if XProf computes
    NaN [fraction 0..1]"""
    on_chip_read_utilization: float | None
    """bandwidth of reads from on-chip memory divided by the peak bandwidth, at most 1; 0 if
    unknown, NULL if XProf computes NaN [fraction 0..1]"""
    on_chip_write_utilization: float | None
    """bandwidth of writes to on-chip memory divided by the peak bandwidth, at most 1; 0 if unknown,
    NULL if XProf computes NaN [fraction 0..1]"""
    hbm_bytes: float
    """bytes read from and written to HBM, computed from a rate as in XProf [bytes]"""
    on_chip_read_bytes: float
    """bytes read from on-chip memory, computed from a rate as in XProf [bytes]"""
    on_chip_write_bytes: float
    """bytes written to on-chip memory, computed from a rate as in XProf [bytes]"""
    flops_utilization: float | None
    """FLOP rate divided by the peak rate, uncapped: above 1 if a cost is overestimated; NULL if
    time or peak rate is 0 or unknown [fraction]"""
    wasted_time_fraction: float | None
    """time_fraction x (1 - the larger of FLOP and HBM utilization), below 0 if that utilization is
    above 1; NULL if HBM utilization is 0 or unknown, as on XProf's page [fraction]"""
    num_children: int
    """number of child nodes; 100, the number that XProf keeps, if children were pruned [nodes]"""
    computation_primitive_size: int | None
    """always 0, because no open-source profiler records it; NULL if the node is not an op"""
    fingerprint: str | None
    """always 0, because no open-source profiler records it; NULL if the node is not an op"""
    kernel_metadata: str | None
    """always empty, because no open-source profiler records it; NULL if the node is not an op"""
    source_stack: str | None
    """call stack of the op in source lines; NULL if unknown"""
    self_time_ps: int
    """time in the node without the ops that run inside its ops [ps]"""

class Compilations(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    function: str | None
    """name of the function: NAME of the event PjitFunction(NAME) around the compilation, else what
    follows `jit_` in hlo_module; NULL if neither is known"""
    hlo_module: str | None
    """name of the HLO module, without (id): from the names of the compiler's events (NAME in
    XlaCompile:#module=NAME#) or their stats, else the name that JAX derives from the function, if
    the file has a program of this name; NULL if unknown"""
    program_id: str | None
    """id of the program that was compiled, decimal: of the file's programs of this name, the one
    that runs for the first time soonest after the compilation; NULL if it cannot be found
    (docs/semantics.md, Compilation)"""
    start_ps: int
    """start of the compilation from the start of the session, after tracing and lowering [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int
    """duration of the compilation, without tracing and lowering [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    tracing_us: float | None
    """time before the compilation in which the thread traced the function, during the same call;
    NULL if no event records it [us]"""
    lowering_us: float | None
    """time before the compilation in which the thread lowered the function to a program for the
    compiler, during the same call; NULL if no event records it [us]"""
    step: int | None
    """step of the compilation (host_steps.group_id); NULL if it is in none"""
    parameter_shapes: str | None
    """shapes of the parameters of the program's entry computation, in order, separated by commas;
    NULL if program_id is NULL, the program has none or cannot be read"""
    differs: str | None
    """parameters whose shapes differ from those of the previous program of this title: for each its
    number, its name if the program has one, and old -> new shape. If no parameter differs, the
    shapes of the result; if these are equal too, the shapes with their layouts (docs/semantics.md).
    NULL if no previous program is known"""
    name: str
    """name of the compiler's event"""
    line: str
    """thread that waits for the compilation or carries it out"""
    line_id: int
    """number of the line in the run, from 0"""
    event_id: int
    """number of the event in the run, from 0"""

class Recompilations(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    function: str | None
    """name of the function: NAME of the event PjitFunction(NAME) around the compilation, else what
    follows `jit_` in hlo_module; NULL if neither is known"""
    hlo_module: str | None
    """name of the HLO module, as in compilations; of several names that differ only in the number
    that XLA appends (step.12, step.34), their title (step); NULL if unknown"""
    program_count: int
    """number of programs of this title in the file, compiled before or during the capture
    [programs]"""
    compilation_count: int
    """number of compilations during the capture [compilations]"""
    duration_us: float | None
    """sum of compilations.duration_us; NULL if nothing was compiled during the capture [us]"""
    tracing_us: float | None
    """sum of compilations.tracing_us; NULL if none is known [us]"""
    lowering_us: float | None
    """sum of compilations.lowering_us; NULL if none is known [us]"""
    differs: str | None
    """parameters whose shapes differ between the programs: for each its number, its name if a
    program has one, and the different shapes in the order of the programs (programs compiled before
    the capture come first, by id). If no parameter differs, the shapes of the result; if these are
    equal too, the shapes with their layouts (docs/semantics.md). NULL if the file has fewer than
    two of the programs, or one cannot be read"""

class CompilerEvents(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    line_id: int
    """number of the line in the run, from 0"""
    name: str
    """name of the events"""
    function: str | None
    """function that was compiled, else the HLO module, as in compilations; NULL if neither is
    known. An event during several compilations counts for the one that started last"""
    occurrences: int
    """number of events [events]"""
    duration_ps: int
    """sum of the durations of the events, nested events included [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    self_ps: int
    """duration_ps without the durations of directly nested events; negative if these overlap each
    other [ps]"""
    self_us: float
    """self_ps in microseconds [us]"""

class IdleCauses(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    cause: str
    """what the thread that launches the next work did: compiling, tracing (and lowering), input,
    copy, waiting, launching, queued (the next work was launched before: the device's own delay),
    python (a Python frame), host (another event) or unknown (no event)"""
    name: str | None
    """name of the innermost annotation or other event around this activity, among those with at
    least a tenth of the run's idle time inside them (the outermost if none has that much); for
    compiling and tracing, the call of the function; NULL if there is none"""
    python_frame: str | None
    """name of the innermost Python frame around this activity, no deeper than name; NULL if there
    is none"""
    idle_us: float
    """idle time, averaged over the devices: a moment at which all are idle counts once. All rows of
    a run add up to the sum of its idle gaps divided by device_count [us]"""
    idle_percent: float
    """idle_us as a percentage of the sum of all rows of the run [percent 0..100]"""
    device_count: int
    """number of GPUs and TensorCores of the run with work; SparseCores if none of these has work;
    if the run has no device, processes that run ops [devices]"""

class AllOthers(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    cause: str
    """what the main thread of the host did: compiling, tracing (and lowering), input, copy,
    waiting, launching, python (a Python frame), host (another event) or unknown (no event), as in
    idle_causes"""
    name: str | None
    """name of the innermost annotation or other event around this activity, among those with at
    least a tenth of the run's All others inside them (the outermost if none has that much); the
    step's own event if nothing else runs; for compiling and tracing, the call of the function; NULL
    if there is none"""
    python_frame: str | None
    """name of the innermost Python frame around this activity, no deeper than name; NULL if there
    is none"""
    all_others_ms: float
    """time in a complete step, averaged over steps and cores. All rows of a run add up to the
    average of steps.all_others_ms; of all_others_ms_actual if outside_xprof is 1 [ms]"""
    percent: float
    """all_others_ms as a percentage of the sum of all rows of the run [percent 0..100]"""
    step_percent: float
    """all_others_ms as a percentage of the average duration of the steps on their cores [percent
    0..100]"""
    step_count: int
    """number of complete steps of the run [steps]"""

class WaitTotals(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    line_id: int
    """number of the line in the run, from 0"""
    line: str
    """name of the thread"""
    name: str
    """name of the waiting events, as in host_waits"""
    calls: int
    """number of waits. A wait that starts within an earlier wait of its thread does not count. Of
    waits that start together the longest is the earliest, then the first in the file. Aggregated
    events are no waits [events]"""
    total_us: float
    """sum of the durations of the waits [us]"""
    longest_us: float
    """duration of the longest wait [us]"""
    longest_start_us: float
    """start of the longest wait, from the session start; if there are several, the earliest [us]"""
    longest_event_id: int
    """event_id of this wait: its parent_id in trace_events is what called it"""

class Roofline(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    record: str
    """part of the run that the row covers: Total (the entire session), Average (the complete steps)
    or the number of a step"""
    rank: int
    """0 for the entire program; from 1, rank of the op by self time (at most 999, as in XProf)"""
    category: str
    """HLO category of the op; without one, the opcode in the op's name, else unknown; Program for
    the entire program"""
    operation: str
    """name of the op, or Program"""
    occurrences: int
    """number of times that the op ran"""
    total_time_us: float
    """total time of all occurrences on all cores, nested ops included [us]"""
    avg_time_us: float
    """average total time of one occurrence [us]"""
    total_self_time_us: float
    """total time of all occurrences without nested ops [us]"""
    avg_self_time_us: float
    """average time of one occurrence without nested ops [us]"""
    self_time_fraction: float
    """self time of the op divided by the program's time [fraction 0..1]"""
    cumulative_self_time_fraction: float
    """sum of self_time_fraction of this op and the ops before it [fraction 0..1]"""
    dma_stall_fraction: float | None
    """share of the op's time in which it is stalled by DMA; NULL on GPU [fraction 0..1]"""
    normalized_gflops: float
    """FLOP rate; an 8-bit operation counts as a half, a 4-bit one as a quarter [GFLOP/s]"""
    model_gflops: float
    """FLOP rate, without device-specific weights [GFLOP/s]"""
    memory_bw_gibps: float
    """bytes accessed per second [GiB/s]"""
    hbm_bw_gibps: float
    """bytes of HBM traffic per second [GiB/s]"""
    cmem_read_bw_gibps: float | None
    """bytes read from CMEM per second; NULL on GPU [GiB/s]"""
    cmem_write_bw_gibps: float | None
    """bytes written to CMEM per second; NULL on GPU [GiB/s]"""
    vmem_read_bw_gibps: float | None
    """bytes read from VMEM per second; NULL on GPU [GiB/s]"""
    vmem_write_bw_gibps: float
    """bytes written to VMEM per second; on GPU, to shared memory, which no profiler records (0)
    [GiB/s]"""
    operational_intensity: float
    """operations per byte accessed [FLOP/byte]"""
    hbm_operational_intensity: float
    """operations per byte of HBM traffic [FLOP/byte]"""
    cmem_read_operational_intensity: float | None
    """operations per byte read from CMEM; NULL on GPU [FLOP/byte]"""
    cmem_write_operational_intensity: float | None
    """operations per byte written to CMEM; NULL on GPU [FLOP/byte]"""
    vmem_read_operational_intensity: float | None
    """operations per byte read from VMEM; NULL on GPU [FLOP/byte]"""
    vmem_write_operational_intensity: float
    """operations per byte written to VMEM (on GPU: to shared memory) [FLOP/byte]"""
    bottleneck_operational_intensity: float
    """operational intensity for the resource in bound_by [FLOP/byte]"""
    bound_by: str
    """resource that is closest to its peak: Compute, HBM, CMEM Read, CMEM Write, VMEM Read, VMEM
    Write, Shm/L1; or Unknown"""
    total_time_per_core_us: float
    """total time of all occurrences divided by the number of cores [us]"""
    total_time_fraction: float
    """total time of the op divided by the program's total time [fraction 0..1]"""
    optimal_gflops: float
    """FLOP rate that the roofline allows at this operational intensity [GFLOP/s]"""
    roofline_efficiency_fraction: float
    """measured rate divided by the optimal rate; above 1 if a cost is overestimated, and for
    asynchronous transfers [fraction]"""
    compute_efficiency_fraction: float
    """measured FLOP rate divided by the peak rate; above 1 if a cost is overestimated [fraction]"""
    max_memory_bw_utilization_fraction: float
    """bandwidth divided by peak bandwidth, for the memory with the highest utilization; above 1 if
    a cost is overestimated, and for asynchronous transfers [fraction]"""
    include_infeed_outfeed: int
    """1: row includes the ops that feed the device (infeed, outfeed); 0: row excludes them and
    their time [0 or 1]"""
    program_id: str
    """id of the op's program, decimal; 0 for the entire program"""
    source_file: str | None
    """source file of the op; NULL if unknown"""
    source_line: int | None
    """line of the op in source_file; NULL if unknown"""
    source_stack: str | None
    """call stack of the op in source lines; NULL if unknown"""
    flops: float
    """floating-point operations of all occurrences; an 8-bit operation counts as a half, a 4-bit
    one as a quarter [FLOP]"""
    flops_actual: float | None
    """operations as in hlo_ops.flops_actual. For the program: sum over the ops where it is known.
    For a step: the op's value divided evenly over its occurrences. NULL if unknown, and for steps
    on GPU [FLOP]"""
    model_flops_actual: float | None
    """operations as in hlo_ops.model_flops_actual, summed like flops_actual; sums of the program
    and of steps leave out ops that are computed again. NULL if unknown, and for steps on GPU
    [FLOP]"""
    bytes_accessed: int
    """bytes accessed by all occurrences [bytes]"""
    hbm_bytes: int
    """bytes of HBM traffic of all occurrences; all bytes accessed if the file does not distinguish
    memories [bytes]"""

class RooflineProperties(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    name: str
    """name of the property, as in XProf"""
    value: str
    """value of the property as XProf prints it, with six digits; 0 if unknown or if the device
    lacks the memory"""
    exact: float | None
    """value of the property with full precision; NULL if unknown and for texts [see unit]"""
    unit: str | None
    """unit of the value; NULL for texts and flags"""

class TfFunctions(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    name: str
    """name of the tf.function"""
    compiler: str
    """compiler of the function: XLA, OTHER, MIXED (both), or INVALID if its calls do not record
    it"""
    tracing_count: int
    """number of times that the function was traced since the program started"""
    expensive_call_percent: float
    """share of the function's time in calls that traced it or ran eagerly [percent 0..100]"""
    mode: str
    """how the calls ran: EAGER, CONCRETE, TRACED (traced first), NOT_TRACED, or INVALID if the
    recorded mode is none of these"""
    count: int  # type: ignore[assignment]
    """number of calls in this mode [calls]"""
    self_time_ps: int
    """time of the function's calls in this mode, without functions that they call [ps]"""

class Overview(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    section: str
    """table of XProf's overview page that shows the property: top_ops, input_pipeline,
    run_environment or recommendation. not_shown: XProf computes it but does not show it.
    disaggregated_serving: only in profiles of servers that run decoding separately"""
    name: str
    """name of the property"""
    value: str | None
    """value as XProf prints it, or a code instead of XProf's sentences; NULL if unknown, where
    XProf prints 0 or -nan. Properties that XProf omits have no row"""
    unit: str | None
    """unit of the value; NULL if it has none"""
    description: str
    """what the property means"""

class TopDeviceOps(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    rank: int
    """rank of the op by self time; 1 is the longest"""
    self_time_fraction: float
    """self time of the op divided by the devices' time in ops [fraction 0..1]"""
    cumulative_fraction: float
    """sum of self_time_fraction of this row and the rows before it [fraction 0..1]"""
    category: str
    """type of the framework op"""
    operation: str
    """name of the framework op"""
    gflops: float
    """FLOP rate while the op ran; an 8-bit operation counts as a half, a 4-bit one as a quarter; 0
    if unknown [GFLOP/s]"""
    op_is_tensorcore_eligible: int | None
    """1: a kernel of the op could use tensor cores, judged by the kernels that XProf keeps; NULL if
    not on GPU"""
    op_uses_tensorcore: int | None
    """1: a kernel of the op uses tensor cores, by XProf's list of kernel names; NULL if not on
    GPU"""

class Recommendations(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    section: str
    """page of XProf that shows the recommendation: overview_page, input_pipeline_analyzer or
    smart_suggestion; more_suggestions: a smart suggestion rule that XProf contains but does not
    apply; libprofsql: a rule of this table (main devices idle for 50% of their spans or more;
    compiling takes 5% of all steps or more)"""
    code: str
    """subject of the recommendation. Findings: input, output, idle, kernel_launch, collectives,
    all_others, precision_16bit, tf_function, eager_host, eager_device, outside_compilation,
    device_idle, compilation. Suggestions: XProf's name of the rule. Tips: what to read"""
    severity: str
    """error: takes much of the time (XProf's verdict on the actual percentage is high; host for
    input; yes on TPUs); warning: worth investigating (moderate; both for input; also all
    suggestions and findings without such a verdict); info: a tip, or nothing to do"""
    statement: str
    """finding or recommended action, as a sentence"""
    tip_type: str | None
    """type of the tip: faq, host, device or doc (non_bottleneck_tip_types in overview lists the
    types that would not help); NULL for findings and for tips of the input pipeline page"""
    link: str | None
    """XProf tool, or documentation pages separated by spaces; NULL if there is none"""

class Steps(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    step: int
    """number of the step: its group_id for a single host, counted from 0 if hosts are merged"""
    name: str | None
    """name of the step on the first host that has steps; NULL if it has no name (XProf's step
    database leaves it empty)"""
    start_ps: int
    """start of the step on the first host that has steps, from the start of its session [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ms: float
    """duration of the step on its longest core, SparseCores excluded [ms]"""
    duration_us: float
    """duration_ms in microseconds [us]"""
    core_count: int
    """number of cores that recorded the step; all GPUs of a host count as one core"""
    device_compute_ms: float | None
    """time computing on devices, average of the cores; NULL if outside_xprof is 1 [ms]"""
    device_to_device_ms: float | None
    """time of copies between devices, average of the cores; NULL if outside_xprof is 1 [ms]"""
    device_collectives_ms: float | None
    """time of collectives, average of the cores; NULL if outside_xprof is 1 [ms]"""
    host_compute_ms: float | None
    """time computing on the host, average of the cores; 0 if there is a device, see
    host_compute_ms_actual; NULL if outside_xprof is 1 [ms]"""
    kernel_launch_ms: float | None
    """time launching kernels; always 0, see kernel_launch_ms_actual; NULL if outside_xprof is 1
    [ms]"""
    input_ms: float | None
    """time waiting for input and copying it to devices, average of the cores; NULL if outside_xprof
    is 1 [ms]"""
    output_ms: float | None
    """time of copies from devices to the host, average of the cores; NULL if outside_xprof is 1
    [ms]"""
    compilation_ms: float | None
    """time compiling; always 0, see compilation_ms_actual; NULL if outside_xprof is 1 [ms]"""
    all_others_ms: float | None
    """time without any known activity, average of the cores; NULL if outside_xprof is 1. all_others
    shows what the host did then. Copies within the host are in none of these nine columns (see
    HOST_TO_HOST in step_breakdown) [ms]"""
    tc_compute_ms: float | None
    """time in which a TensorCore does not wait, on the core with the least; NULL if not on TPU
    [ms]"""
    tc_infeed_ms: float | None
    """time in which a TensorCore waits for input, on the core with the most; NULL if not on TPU
    [ms]"""
    tc_outfeed_ms: float | None
    """time of outfeed to the host, average of the cores; NULL if not on TPU [ms]"""
    tc_idle_ms: float | None
    """shortest step of a TensorCore minus compute, infeed and outfeed (tc_ and scv0_ columns); NULL
    if not on TPU [ms]"""
    host_transfer_ms: float | None
    """time of sends to and receives from the host, on the core with the most; NULL if not on TPU
    [ms]"""
    all_reduce_ms: float | None
    """time of all-reduce and all-to-all, on the core with the most; NULL if not on TPU [ms]"""
    scv0_compute_ms: float | None
    """longest time that a TensorCore waits for SparseCore V0; NULL if not on TPU [ms]"""
    scv0_infeed_ms: float | None
    """infeed time of SparseCore V0; always 0 on TPU; NULL if not on TPU [ms]"""
    sc_step_ms: float | None
    """duration of the step on SparseCores, average of the SparseCores; NULL without SparseCores
    [ms]"""
    sc_compute_ms: float | None
    """time in which a SparseCore is busy, on the SparseCore with the least; NULL without
    SparseCores [ms]"""
    sc_idle_ms: float | None
    """time in which a SparseCore is idle, average of the SparseCores; NULL without SparseCores
    [ms]"""
    bottleneck: str | None
    """category with the largest share of the step, computed from the nine `_actual` columns; NULL
    if no core recorded the step"""
    device_compute_ms_actual: float
    """device_compute_ms, corrected: includes host threads, and copies under all their names. XProf
    treats MemcpyH2D as a computation and ignores the host if there is a device. docs/semantics.md
    lists the order in which simultaneous activities count [ms]"""
    device_to_device_ms_actual: float
    """device_to_device_ms, corrected as described for device_compute_ms_actual [ms]"""
    device_collectives_ms_actual: float
    """device_collectives_ms, corrected as described for device_compute_ms_actual [ms]"""
    host_compute_ms_actual: float
    """host_compute_ms, corrected as described for device_compute_ms_actual [ms]"""
    kernel_launch_ms_actual: float
    """kernel_launch_ms, corrected as described for device_compute_ms_actual [ms]"""
    input_ms_actual: float
    """input_ms, corrected as described for device_compute_ms_actual [ms]"""
    output_ms_actual: float
    """output_ms, corrected as described for device_compute_ms_actual [ms]"""
    compilation_ms_actual: float | None
    """time in which compilers run (events such as backend_compile_and_load, GpuCompiler::Compile,
    XlaCompile) and no more important activity does, by the order in docs/semantics.md; NULL on TPU
    and if no host threads are recorded [ms]"""
    all_others_ms_actual: float
    """all_others_ms, corrected as described for device_compute_ms_actual [ms]"""
    outside_xprof: int | None
    """1: the step has a marker of Keras 3, which XProf does not recognize. XProf's columns are
    NULL; the `_actual` columns show what host threads and GPUs did during the step [0 or 1]"""
    dropped: int
    """1: XProf drops the step from all tools except the pod viewer because it is the first or last
    of more than five. Always 0 on a TPU, and if hosts are merged, because merged steps exclude
    dropped ones [0 or 1]"""
    range_start_ps: int | None
    """start of the range in range_ms on the first host that has steps, from the start of its
    session; NULL if there is no range on this host [ps]"""
    range_ms: float | None
    """duration of the range that marks the step on host threads (NVTX range, step annotation): of
    the longest one on any host. With devices, duration_ms is the span of the devices; if range_ms
    is longer, the devices were idle, or worked on other steps, for the difference. NULL if host
    threads do not mark the step [ms]"""

class StepBreakdown(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    step: int
    """number of the step, as in steps"""
    core_id: int
    """number of the core: 1 for all GPUs or all threads of the host, or the id of a TPU core; plus
    1000 x the host's index if hosts are merged"""
    host: str
    """name of the host, taken from its file name"""
    category: str
    """category of the time: type of activity, HLO category of a TensorCore's ops, or state of a
    SparseCore"""
    duration_ps: int | None
    """time of the category in the step; categories of a core do not overlap; NULL if XProf does not
    count the category [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    duration_ps_actual: int | None
    """duration_ps, corrected: includes host threads, copies under all their names, and compiling;
    NULL if it equals duration_ps (no GPU, and no compiling) [ps]"""
    outside_xprof: int
    """1: the step has a marker of Keras 3, which XProf does not recognize (see steps) [0 or 1]"""
    dropped: int
    """1: XProf drops the step as possibly incomplete (see steps) [0 or 1]"""

class CoreSteps(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    step: int | None
    """number of the step, as in steps; NULL if the step is dropped there and hosts are merged"""
    core_id: int
    """number of the core, as in step_breakdown; SparseCores are not listed"""
    host: str
    """name of the host, taken from its file name"""
    chip_id: int | None
    """always 0, because open-source XProf does not compute it (see chip_id_actual); NULL if
    outside_xprof is 1"""
    node_id: int | None
    """always 0, because open-source XProf does not compute it; NULL if outside_xprof is 1"""
    total_us: float
    """duration of the step on this core [us]"""
    bottleneck: str | None
    """category with the largest share, among the columns from device_compute_us to all_others_us;
    NULL if outside_xprof is 1"""
    device_compute_us: float | None
    """time computing on the device; NULL if outside_xprof is 1 [us]"""
    device_to_device_us: float | None
    """time of copies between devices; NULL if outside_xprof is 1 [us]"""
    device_collectives_us: float | None
    """time of collectives (on TPU, all-reduce and all-to-all; other collectives count as
    computing); NULL if outside_xprof is 1 [us]"""
    host_compute_us: float | None
    """time computing on the host; 0 if there is a device; NULL if outside_xprof is 1 [us]"""
    kernel_launch_us: float | None
    """time launching kernels; always 0, see kernel_launch_us_actual; NULL if outside_xprof is 1
    [us]"""
    input_us: float | None
    """time waiting for input and copying it to the device; NULL if outside_xprof is 1 [us]"""
    output_us: float | None
    """time of copies from the device to the host; NULL if outside_xprof is 1 [us]"""
    compilation_us: float | None
    """time compiling; always 0, see compilation_us_actual; NULL if outside_xprof is 1 [us]"""
    all_others_us: float | None
    """time without any known activity; NULL if outside_xprof is 1 [us]"""
    pod_step: int | None
    """number of the step in XProf's pod viewer. If hosts are merged, it counts from 0 and includes
    steps that other tools drop. NULL if outside_xprof is 1, and for a step that only the other
    tools show (they drop first and last steps before they align the hosts)"""
    start_ps: int
    """start of the step on this core, from the start of its host's session [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    dropped: int
    """1: the step is not in the table steps, because XProf's other tools drop it as possibly
    incomplete [0 or 1]"""
    hostname: str | None
    """host name that the file records, localhost if it records none; NULL if XProf's pod viewer
    omits the core (it has no core_details) or the step"""
    plane_id: int | None
    """ordinal of the TensorCore's plane in the run, from 0; NULL for GPUs and host threads"""
    chip_id_actual: int | None
    """number of the core's chip on its host; NULL if the file does not record it"""
    device_compute_us_actual: float
    """device_compute_us, corrected: includes host threads, and copies under all their names (see
    steps.device_compute_ms_actual) [us]"""
    device_to_device_us_actual: float
    """device_to_device_us, corrected as described for device_compute_us_actual [us]"""
    device_collectives_us_actual: float
    """device_collectives_us, corrected as described for device_compute_us_actual [us]"""
    host_compute_us_actual: float
    """host_compute_us, corrected as described for device_compute_us_actual [us]"""
    kernel_launch_us_actual: float
    """kernel_launch_us, corrected as described for device_compute_us_actual [us]"""
    input_us_actual: float
    """input_us, corrected as described for device_compute_us_actual [us]"""
    output_us_actual: float
    """output_us, corrected as described for device_compute_us_actual [us]"""
    compilation_us_actual: float | None
    """time in which compilers run and no more important activity does, as
    steps.compilation_ms_actual; NULL on TPU and if no host threads are recorded [us]"""
    all_others_us_actual: float
    """all_others_us, corrected as described for device_compute_us_actual [us]"""
    bottleneck_actual: str
    """category with the largest share, among the nine `_actual` columns of times"""
    outside_xprof: int
    """1: the step has a marker of Keras 3, which XProf does not recognize (see steps) [0 or 1]"""

class HostSteps(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    group_id: int | None
    """number of the step on its host (group of events); NULL if the step has no group and only its
    framework marks it"""
    step: int | None
    """number of the step in the table steps; NULL if steps lacks it or it was dropped (for a single
    host, steps lists dropped steps by group_id)"""
    name: str | None
    """name of the step; NULL if it has no name"""
    start_ps: int | None
    """start of the step's longest marker, from the start of the host's session; NULL without a
    marker [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int | None
    """duration of the step's longest marker; NULL without a marker [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    dropped: str | None
    """reason why XProf does not count the step; NULL if it counts it"""
    host_to_device_bytes: int | None
    """bytes copied to devices in the step; NULL if unknown [bytes]"""
    device_to_host_bytes: int | None
    """bytes copied from devices in the step; NULL if unknown [bytes]"""
    device_to_device_bytes: int | None
    """bytes copied between devices in the step; NULL if unknown [bytes]"""
    host_to_device_count: int | None
    """number of copies to devices in the step, by name (HtoD, H2D); as in XProf, only those with a
    correlation_id; NULL if not on GPU"""
    device_to_host_count: int | None
    """number of copies from devices in the step, by name (DtoH, D2H); as in XProf, only those with
    a correlation_id; NULL if not on GPU"""
    device_to_device_count: int | None
    """number of copies between devices in the step, by name (DtoD, D2D, P2P); as in XProf, only
    those with a correlation_id; NULL if not on GPU"""
    collective_count: int | None
    """number of collective kernels in the step; as in XProf, only those with a correlation_id; NULL
    if not on GPU"""
    host_input_ps: int | None
    """time in which host threads wait for input or copy it to the device; overlapping times count
    twice; NULL if the host recorded nothing about the step [ps]"""
    range_start_ps: int | None
    """start of the range in range_ps, from the start of the host's session; NULL if there is no
    range [ps]"""
    range_ps: int | None
    """duration of the step's longest marker on host threads (NVTX range, step annotation); NULL if
    there is no marker [ps]"""

class StepOps(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    step: int
    """number of the step, as in steps"""
    plane_kind: str
    """kind of the planes, as in planes.kind: host, gpu, tensorcore or sparsecore; planes of a kind
    on one host are combined"""
    name: str
    """name of the events; on TPUs the op's HLO text"""
    short_name: str
    """readable name: for events of GPUs the name without namespaces, template arguments and
    parameters, unique in the run (docs/semantics.md); for others the display name, else the name"""
    in_group: int
    """1: the events have the step's group; 0: they belong to the step by their time, and may only
    run at the same time as it [0 or 1]"""
    occurrences: int
    """number of events in the step [events]"""
    total_us: float
    """sum of the durations of the events in the step, nested events included; simultaneous events
    of several threads or devices add up [us]"""
    self_us: float
    """total_us without the durations of directly nested events; negative if these overlap each
    other [us]"""

class StepOpSpread(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    plane_kind: str
    """kind of the planes, as in planes.kind: host, gpu, tensorcore or sparsecore; planes of a kind
    on all hosts are combined"""
    name: str
    """name of the events; on TPUs the op's HLO text"""
    short_name: str
    """readable name, as in step_ops; if there are several, the last in byte order"""
    in_group: int
    """1: the events have the steps' groups; 0: they belong to the steps by their time, and may only
    run at the same time as them [0 or 1]"""
    steps: int
    """number of complete steps (those not dropped) in which it ran [steps]"""
    avg_us: float | None
    """average self time per complete step, 0 in a step in which it did not run; negative if
    directly nested events overlap each other; NULL if no step is complete [us]"""
    stddev_us: float | None
    """sample standard deviation of the self time per complete step; NULL if fewer than two are
    complete [us]"""
    variance_percent: float | None
    """covariance of the self time per complete step with the step's duration, as a share of the
    variance of the duration: how much of the variation the op explains. Negative if the op takes
    longer in shorter steps; above 100 if other ops vary in the opposite direction or run at the
    same time. NULL if fewer than two steps are complete, or all are equally long [percent]"""
    step: int | None
    """number of the step that the following columns describe: of_step, else the longest step,
    complete or not; NULL if the run has no step of_step"""
    over_median_us: float | None
    """duration of the step minus the median duration of the other complete steps; NULL if there are
    none, or step is NULL [us]"""
    occurrences: int | None
    """number of events in the step; NULL if step is NULL [events]"""
    self_us: float | None
    """self time in the step, summed over threads, devices and hosts; negative as avg_us; NULL if
    step is NULL [us]"""
    median_us: float | None
    """median of the self time over the other complete steps, 0 in a step in which it did not run;
    negative as avg_us; NULL if there are no other complete steps, or step is NULL [us]"""
    other_steps: int | None
    """number of other complete steps in which it ran; NULL if step is NULL [steps]"""

class InputPipeline(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    hardware: str
    """kind of hardware of the run: UNKNOWN_HARDWARE, CPU_ONLY, GPU or TPU"""
    step_count: int
    """number of complete steps"""
    step_time_ms_average: float | None
    """average step time; the time of a step is that of its longest core; NULL without steps [ms]"""
    step_time_ms_deviation: float | None
    """sample standard deviation of the step time; NULL for fewer than two steps [ms]"""
    step_time_ms_min: float | None
    """shortest step time; NULL without steps [ms]"""
    step_time_ms_max: float | None
    """longest step time; NULL without steps [ms]"""
    input_percent: float | None
    """share of step time spent on input. Without TPUs, XProf looks at the first host alone for this
    and the other shares; NULL without steps on it [percent 0..100]"""
    input_verdict: str
    """host: input bound (20% or more of the step time), both: partly or perhaps input bound,
    device: not input bound, unknown: no steps"""
    input_statement: str | None
    """finding as a sentence, based on the `_actual` columns; NULL if there is none"""
    output_percent: float | None
    """share of step time spent on copying results from the device; NULL without steps [percent
    0..100]"""
    output_verdict: str
    """host: output takes 20% or more of the step time, both: 5% or more, device: below 5%, unknown:
    no steps"""
    output_statement: str | None
    """finding as a sentence, based on the `_actual` columns; NULL if there is none"""
    idle_percent: float | None
    """on TPU: share of step time in which TensorCores are idle; otherwise: share of step time that
    is not input, output, device compute or collectives; NULL where input_percent is [percent
    0..100]"""
    idle_verdict: str | None
    """yes if the idle time is 3% or more of the step time, else no; NULL if not on TPU"""
    idle_statement: str | None
    """finding as a sentence, based on the `_actual` columns; NULL if there is none"""
    compute_percent: float | None
    """share of step time in which devices compute; on TPU, all that is not input, output or idle;
    NULL where input_percent is [percent 0..100]"""
    kernel_launch_percent: float | None
    """share of step time spent on launching kernels; NULL without steps and on TPU [percent
    0..100]"""
    kernel_launch_verdict: str | None
    """high: 15% or more of the step time, moderate: 3% or more, no: below 3%; NULL on TPU"""
    kernel_launch_statement: str | None
    """finding as a sentence, based on the `_actual` columns; NULL if there is none"""
    collectives_percent: float | None
    """share of step time spent on collectives; on TPU, of the ops with a stat all_reduce_unique_id,
    on the core with the most of them (XProf adds it to a step time that includes it already); NULL
    where input_percent is [percent 0..100]"""
    collectives_verdict: str
    """high: 15% or more of the step time, moderate: 3% or more, no: below 3%; on TPU yes if at
    least 6 percentage points above input_percent, else no"""
    collectives_statement: str | None
    """finding as a sentence, based on the `_actual` columns; NULL if there is none"""
    all_others_percent: float | None
    """share of step time in which no activity is known; NULL without steps and on TPU [percent
    0..100]"""
    all_others_verdict: str | None
    """high: 15% or more of the step time, moderate: 3% or more, no: below 3%; NULL on TPU"""
    all_others_statement: str | None
    """finding as a sentence, based on the `_actual` columns; NULL if there is none"""
    step_count_actual: int
    """number of complete steps; if XProf finds no step, number of steps that the framework marks"""
    input_percent_actual: float | None
    """input_percent, corrected. GPU: includes activity on host threads and copies under all their
    names. TPU: counts each all-reduce once. If XProf finds no step: share of the steps that the
    framework marks. NULL without steps [percent 0..100]"""
    input_verdict_actual: str
    """input_verdict computed from input_percent_actual (and from all_others_percent_actual, but not
    for steps that only the framework marks); input_statement is based on it"""
    uses_tf_data: int
    """1: ops of a tf.data pipeline take time [0 or 1]"""
    output_percent_actual: float | None
    """output_percent, corrected as described for input_percent_actual; NULL without steps [percent
    0..100]"""
    compute_percent_actual: float | None
    """compute_percent, corrected as described for input_percent_actual; NULL without steps [percent
    0..100]"""
    kernel_launch_percent_actual: float | None
    """kernel_launch_percent, corrected as described for input_percent_actual (XProf never
    recognizes launches); NULL without steps and on TPU [percent 0..100]"""
    kernel_launch_verdict_actual: str | None
    """kernel_launch_verdict computed from kernel_launch_percent_actual; NULL on TPU and if that is
    unknown"""
    collectives_percent_actual: float | None
    """collectives_percent, corrected as described for input_percent_actual; NULL without steps
    [percent 0..100]"""
    all_others_percent_actual: float | None
    """all_others_percent, corrected as described for input_percent_actual; NULL without steps and
    on TPU [percent 0..100]"""
    next_step: str
    """what to look at next"""

class InputSteps(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    step: int
    """number of the step"""
    name: str | None
    """name of the step on the first host; NULL if it has no name"""
    label: str
    """XProf's label of the step: its name in runs without devices, otherwise its number"""
    step_time_ms: float
    """step time as XProf computes it. On TPU: sum of tc_compute_ms, scv0_compute_ms,
    scv0_infeed_ms, tc_infeed_ms, tc_outfeed_ms and tc_idle_ms. Otherwise: duration on the first
    host [ms]"""
    device_compute_ms: float | None
    """time computing on a device, on the first host; NULL on TPU [ms]"""
    device_to_device_ms: float | None
    """time copying between devices, on the first host; NULL on TPU [ms]"""
    device_collectives_ms: float | None
    """time of collectives, on the first host; NULL on TPU [ms]"""
    host_compute_ms: float | None
    """time computing on the host, on the first host; NULL on TPU [ms]"""
    kernel_launch_ms: float | None
    """time launching kernels, on the first host; NULL on TPU [ms]"""
    input_ms: float | None
    """time waiting for input and copying it to a device, on the first host; NULL on TPU [ms]"""
    output_ms: float | None
    """time copying from a device to the host, on the first host; NULL on TPU [ms]"""
    compilation_ms: float | None
    """time compiling, on the first host; NULL on TPU [ms]"""
    all_others_ms: float | None
    """time without any known activity, on the first host; NULL on TPU [ms]"""
    tc_compute_ms: float | None
    """compute time of the TensorCore that computed least; NULL if not on TPU [ms]"""
    scv0_compute_ms: float | None
    """longest time that a TensorCore waits for SparseCore V0; NULL if not on TPU [ms]"""
    scv0_infeed_ms: float | None
    """infeed time of SparseCore V0; always 0 on TPU; NULL if not on TPU [ms]"""
    tc_infeed_ms: float | None
    """infeed time of the TensorCore with the longest infeed; NULL if not on TPU [ms]"""
    tc_outfeed_ms: float | None
    """time of outfeed to the host, average of the TensorCores; NULL if not on TPU [ms]"""
    tc_idle_ms: float | None
    """shortest step of a TensorCore minus the compute, infeed and outfeed columns (tc_ and scv0_);
    NULL if not on TPU [ms]"""
    host_transfer_ms: float | None
    """time of sends to and receives from the host, of the TensorCore with the most; NULL if not on
    TPU [ms]"""
    all_reduce_ms: float | None
    """time of all-reduce and all-to-all, of the TensorCore with the most; part of tc_compute_ms;
    NULL if not on TPU [ms]"""
    infeed_percent_average: float | None
    """infeed share of the step, average of the TensorCores; NULL if not on TPU [percent 0..100]"""
    infeed_percent_min: float | None
    """smallest infeed share of the step on any TensorCore; NULL if not on TPU [percent 0..100]"""
    infeed_percent_max: float | None
    """largest infeed share of the step on any TensorCore; NULL if not on TPU [percent 0..100]"""
    max_infeed_core: str | None
    """host and ordinal of the TensorCore with the longest infeed; NULL if no TensorCore waits or
    its ordinal is unknown, and if not on TPU"""

class InputOps(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    operation: str
    """name of the op: a tf.data iterator with its enclosing iterators, a transfer, or a stage of an
    input pipeline"""
    category: str
    """category of the op: Enqueue, Demanded file read, Advanced file read, Preprocessing or
    Unknown"""
    occurrences: int
    """number of times that the op ran"""
    total_time_ms: float
    """total time from start to end of the op, nested ops included [ms]"""
    total_time_fraction: float
    """total time of the op divided by the sum of the self times of all input ops; may be above 1
    [fraction]"""
    total_self_time_ms: float
    """total time of the op without nested ops [ms]"""
    self_time_fraction: float
    """self time of the op divided by the sum of the self times of all input ops [fraction 0..1]"""
    time_ps: int
    """total_time_ms as an exact number of picoseconds [ps]"""
    self_ps: int
    """total_self_time_ms as an exact number of picoseconds [ps]"""

class InputBreakdown(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    category: str
    """part of the input time: Enqueue, Demanded file read, Advanced file read, Preprocessing or
    Unclassified"""
    time_us: float
    """host time of this part, scaled to the time that the devices waited for input if transfers to
    the devices are known; 0 if the part takes no time [us]"""
    fraction: float | None
    """time_us divided by the sum of the five parts; NULL if all five are 0 [fraction 0..1]"""
    advice: str
    """what to try if this part takes much of the time"""

class TfDataPipelines(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    pipeline: str
    """name of the pipeline: Host:n, or Device:n if it feeds a device; n counts from 0, in file
    order"""
    kind: str
    """HOST, or DEVICE if the pipeline feeds a device"""
    iterator_id: str
    """id of the pipeline's outermost iterator, decimal without sign"""
    calls: int
    """number of elements that were requested from the pipeline [calls]"""
    slow_calls: int
    """number of calls that took more than 50 us [calls]"""
    avg_latency_ps: int
    """average duration of a call [ps]"""
    min_latency_ps: int
    """duration of the shortest call [ps]"""
    max_latency_ps: int
    """duration of the longest call [ps]"""
    is_input_bound: int
    """1: a call of a host pipeline took more than 50 us; always 0 for a pipeline that feeds a
    device [0 or 1]"""
    bottleneck_id: str | None
    """id of the blocking iterator with the longest self time, decimal; NULL if no iterator took
    time"""
    bottleneck: str | None
    """name of the bottleneck iterator (last part of bottleneck_long_name); NULL if there is none"""
    bottleneck_long_name: str | None
    """name of the bottleneck iterator with its enclosing iterators; NULL if there is none"""
    bottleneck_ps: int
    """self time of the bottleneck iterator; 0 if there is none [ps]"""
    suggestion: str | None
    """kind of the bottleneck iterator, from its name: slow source, slow remote source, data
    service, transformation with a parallel version, transformation without a parallel version, or
    other; NULL if there is none"""

class TfDataCalls(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    pipeline: str
    """name of the pipeline: Host:n, or Device:n if it feeds a device; n counts from 0, in file
    order"""
    call: int
    """rank of the call by duration within its pipeline; 1 is the longest"""
    start_ps: int
    """start of the call, from the start of the session [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int
    """duration of the call: time that the caller waited for the element [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    group_id: int | None
    """group_id of the step that the call belongs to, on its host; NULL if the call belongs to no
    step"""
    event_id: int
    """number of the event in the run, from 0"""
    bottleneck_id: str | None
    """id of the blocking iterator with the longest self time, decimal; NULL if no iterator took
    time"""
    bottleneck: str | None
    """name of the bottleneck iterator (last part of bottleneck_long_name); NULL if there is none"""
    bottleneck_long_name: str | None
    """name of the bottleneck iterator with its enclosing iterators; NULL if there is none"""
    bottleneck_ps: int
    """self time of the bottleneck iterator; 0 if there is none [ps]"""
    suggestion: str | None
    """kind of the bottleneck iterator, from its name: slow source, slow remote source, data
    service, transformation with a parallel version, transformation without a parallel version, or
    other; NULL if there is none"""

class TfDataIterators(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    pipeline: str
    """name of the pipeline: Host:n, or Device:n if it feeds a device; n counts from 0, in file
    order"""
    call: int
    """rank of the call by duration within its pipeline; 1 is the longest"""
    iterator_id: str
    """id of the iterator, decimal without sign"""
    parent_id: str | None
    """id of the iterator that calls this one, decimal, as in the first event of the file with this
    iterator_id; NULL if that event does not record it"""
    name: str
    """name of the iterator: last part of long_name"""
    long_name: str
    """name of the iterator with its enclosing iterators, from the same event as parent_id"""
    is_async: int
    """1: the iterator has its own threads that work ahead, by XProf's list of names [0 or 1]"""
    start_ps: int
    """earliest start of the iterator in the call, from the start of the session [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int
    """time of the iterator in the call, over all threads [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    self_ps: int
    """duration_ps without the iterators that this one calls; negative if these overlap each other
    [ps]"""
    blocking: int
    """1: the call waited for the iterator [0 or 1]"""
    calls: int
    """number of times that the iterator was called during the call [calls]"""
    suggestion: str
    """kind of the iterator, from its name: slow source, slow remote source, data service,
    transformation with a parallel version, transformation without a parallel version, or other"""
    is_async_actual: int
    """is_async, also for newer versions of an iterator (ParallelMapV2, ParallelInterleaveV4) [0 or
    1]"""

class HloModules(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    program_id: str
    """id of the program, decimal; unique in a run and host"""
    hlo_module: str
    """name of the HLO module, without (id)"""
    path: str
    """file that contains the program: the profile itself, a *.hlo_proto.pb next to it, or a file of
    an HLO dump"""
    entry_computation: str
    """name of the entry computation"""
    computation_count: int
    """number of computations in the module [computations]"""
    instruction_count: int
    """number of instructions in all computations of the module [instructions]"""
    parameter_bytes: int | None
    """size of the entry computation's parameters as their layouts store them, padding included;
    NULL if a dimension has no known size [bytes]"""
    peak_heap_bytes: int | None
    """peak memory of the program in the main memory, parameters and outputs included; NULL if it
    has no buffer assignment that can be simulated [bytes]"""
    content_hash: str
    """hash of the program's bytes; equal programs have equal hashes on all hosts"""
    size_bytes: int
    """size of the program's protobuf message [bytes]"""
    plane: str | None
    """plane that contains the program: /host:metadata, or the plane of a subprocess; NULL if the
    program has a file of its own"""

class HloComputations(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    program_id: str
    """id of the program, decimal; unique in a run and host"""
    hlo_module: str
    """name of the HLO module, without (id)"""
    computation_id: int
    """id of the computation in its module"""
    computation: str
    """name of the computation"""
    is_entry: int
    """1: the entry computation, with which the program starts [0 or 1]"""
    is_fusion: int
    """1: the body of a fusion (marked as one, or called by a fusion) [0 or 1]"""
    instruction_count: int
    """number of instructions in the computation [instructions]"""
    execution_thread: str | None
    """name of the thread that runs the computation; NULL for the main thread"""

class HloOperands(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    program_id: str
    """id of the program, decimal; unique in a run and host"""
    hlo_module: str
    """name of the HLO module, without (id)"""
    instruction_id: int
    """id of the instruction that uses the operand"""
    operand_index: int
    """position of the operand in the instruction, from 0"""
    operand_id: int
    """id of the instruction that produces the operand"""
    hlo_op: str
    """name of the instruction that uses the operand, unique in its module"""
    operand: str | None
    """name of the instruction that produces the operand; NULL if the module has no instruction of
    this id"""

class HloText(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    program_id: str
    """id of the program, decimal"""
    hlo_module: str
    """name of the program's HLO module"""
    line_number: int
    """number of the line in the program's text, from 1"""
    text: str
    """text of the line, as XProf writes it; line feeds inside a configuration do not start a new
    row"""
    hlo_op: str | None
    """HLO instruction on this line; NULL for lines that belong to the program or a computation"""

class HeapTimeline(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    program_id: str
    """id of the program, decimal; unique in a run and host"""
    hlo_module: str
    """name of the HLO module, without (id)"""
    memory_space: int
    """memory space (color) on the device: 0 is the main memory, 1 is TPU VMEM"""
    event: int
    """ordinal of the event in the heap trace, from 0. The last row, one past the last event, is the
    end of the trace. If the trace is inconsistent, the rows stop at the first invalid event"""
    hlo_op: str | None
    """instruction at which buffers are allocated, freed or shared; NULL in the last row"""
    heap_mib: float
    """memory in use before the event [MiB]"""
    unpadded_heap_mib: float
    """memory in use before the event, without the padding of temporaries [MiB]"""

class MemoryPeaks(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    program_id: str
    """id of the program, decimal; unique in a run and host"""
    hlo_module: str
    """name of the HLO module, without (id)"""
    memory_space: int
    """memory space (color) on the device: 0 is the main memory, 1 is TPU VMEM"""
    peak_heap_mib: float | None
    """largest memory in use at one time, parameters and outputs included; NULL if the heap trace is
    inconsistent [MiB]"""
    peak_unpadded_mib: float | None
    """memory in use at the peak without the padding of temporaries; parameters and outputs with
    their padding; NULL if the heap trace is inconsistent [MiB]"""
    peak_event: int | None
    """event of the heap trace at which the peak is reached; NULL without a heap trace or if it is
    inconsistent"""
    parameters_mib: float
    """size of the allocations of the entry computation's parameters [MiB]"""
    non_reusable_mib: float
    """size of thread-local and tuple allocations [MiB]"""
    maybe_live_out_mib: float
    """size of the allocations that the program may return [MiB]"""
    total_allocation_mib: float
    """size of all allocations except thread-local ones [MiB]"""
    indefinite_mib: float
    """size of the allocations that live during the entire program: parameters, constants and
    possible outputs [MiB]"""
    fragmentation_fraction: float | None
    """share of the temporary allocations that is unused even at the peak: (total - peak) / (total -
    indefinite). 0 without temporaries; NULL if the heap trace is inconsistent or its peak exceeds
    the allocations [fraction 0..1]"""
    scoped_vmem_mib: float | None
    """memory_space 1: largest amount that one instruction reserves for itself, not part of the
    peak; NULL if no instruction reserves memory [MiB]"""
    scoped_vmem_op: str | None
    """name of the instruction that reserves scoped_vmem_mib; NULL if no instruction reserves
    memory"""

class MemoryEvents(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    allocator: str
    """name of the allocator, or its number on the host; empty if its events name none"""
    group_id: int | None
    """group_id of the step that the event belongs to, on its host: the last that the event records
    (0 if that is no int64, as in XProf), or in a file without groups trace_events.step; NULL if the
    event belongs to no step"""
    step: int
    """step of the event: its group_id; without one, XProf's guess: 1 + the group_id of the last
    event before it that has one, or 0 if there is none"""
    time_ps: int
    """time of the event, from the start of the session [ps]"""
    time_us: float
    """time_ps in microseconds [us]"""
    line_time_ps: int
    """time of the event, from the start of its line; XProf orders events by it [ps]"""
    activity: str
    """kind of the event: ALLOCATION or DEALLOCATION"""
    requested_bytes: int
    """number of bytes requested; 0 if the event does not record it [bytes]"""
    allocation_bytes: int
    """number of bytes allocated; 0 if the event does not record it [bytes]"""
    address: str
    """address of the memory, decimal; 0 if the event does not record it"""
    heap_bytes: int
    """bytes allocated on the heap after the event; 0 if the event does not record it [bytes]"""
    stack_bytes: int
    """bytes reserved in addition to the heap; 0 if the event does not record it [bytes]"""
    free_bytes: int
    """bytes free after the event; 0 if the event does not record it [bytes]"""
    peak_bytes_in_use: int
    """largest number of bytes in use during the allocator's lifetime until the event; 0 if the
    event does not record it [bytes]"""
    fragmentation_fraction: float | None
    """share of the free memory that is outside the largest free block; 0 if the event does not
    record it, NULL if it records NaN [fraction 0..1]"""
    tf_op: str | None
    """op that requested the memory; for a free, the op of the previous allocation at the address;
    NULL if unknown. Some ROCm profilers write the text (null) for unknown"""
    region_type: str | None
    """kind of memory region: temp, output, persist/dynamic and others; NULL if unknown. Some ROCm
    profilers write the text (null) for unknown"""
    data_type: str | None
    """element type of the tensor, by TensorFlow's name; INVALID for type 0; NULL if unknown"""
    shape: str | None
    """shape of the tensor; NULL if unknown"""
    sampled: int
    """1: XProf's timeline shows the event. XProf divides the allocator's events, in order of
    line_time_ps, into `samples` parts of equally many events (the last parts have one more if they
    cannot be equal) and shows the event of each part with the most memory in use, the first if
    there are several [0 or 1]"""
    event_id: int
    """number of the event in the run, from 0"""
    match_event_id: int | None
    """event_id of the free of an allocation, or of the allocation that a free releases, matched by
    address and time_ps; NULL if the profile does not contain it"""
    live_until_ps: int | None
    """for an allocation: moment at which it was freed, or at which its address was allocated again
    without a recorded free; NULL for a free, and for an allocation that was live until the end
    [ps]"""
    live_until_event_id: int | None
    """event_id of the event at live_until_ps: the free of an allocation (match_event_id), or the
    next allocation at its address; NULL where live_until_ps is"""
    live_at_peak: int
    """1: memory of the allocation is in use at the allocator's peak (peak_event_id of
    memory_allocators): allocated until then, in order of time_ps and event_id, and not freed or
    allocated again until then; 0 for others and for frees [0 or 1]"""
    first_of_step: int
    """1: first event of its allocator in its step, in order of time_ps and event_id [0 or 1]"""
    last_of_step: int
    """1: last event of its allocator in its step, in order of time_ps and event_id [0 or 1]"""

class MemoryAllocators(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    allocator: str
    """name of the allocator, or its number on the host; empty if its events name none"""
    capacity_bytes: int
    """heap, stack and free memory at the peak, added up [bytes]"""
    lifetime_peak_bytes: int
    """largest memory in use during the allocator's lifetime, from its last event in the file, which
    may not be the last in time [bytes]"""
    profile_peak_bytes: int
    """largest memory in use (heap plus stack) during the profile [bytes]"""
    peak_time_ps: int | None
    """time of the peak, from the start of the session (the last in the file, if several peaks are
    equal); NULL if heap plus stack is negative in all events [ps]"""
    peak_line_time_ps: int
    """time of the peak, from the start of its line; 0 if heap plus stack is negative in all events
    [ps]"""
    heap_bytes_at_peak: int
    """bytes allocated on the heap at the peak [bytes]"""
    stack_bytes_at_peak: int
    """bytes of stack reserved at the peak [bytes]"""
    free_bytes_at_peak: int
    """bytes free at the peak [bytes]"""
    fragmentation_at_peak_fraction: float | None
    """share of the free memory at the peak that is outside the largest free block; NULL if the
    event records NaN [fraction 0..1]"""
    peak_step: int
    """step of the last event at the peak, in XProf's order of time"""
    peak_event_id: int | None
    """event_id of the peak; NULL if heap plus stack is negative in all events"""
    lifetime_peak_bytes_actual: int
    """largest memory in use during the allocator's lifetime, over all its events [bytes]"""
    allocation_count: int
    """number of allocations in the profile (XProf's page counts only the sampled ones) [events]"""
    free_count: int
    """number of frees in the profile [events]"""
    unmatched_free_count: int
    """number of frees of memory that was allocated before the profile or whose allocation was not
    recorded [events]"""
    earlier_bytes_at_peak: int
    """part of heap_bytes_at_peak that was allocated before the allocator's first event in the
    profile: the heap before this event, minus the bytes freed until the peak whose allocation is
    not in the profile. At least 0, and at most the heap minus the allocations that are live at the
    peak (memory_events.live_at_peak) [bytes]"""
    unknown_bytes_at_peak: int
    """rest of heap_bytes_at_peak: neither allocated during the profile nor earlier; negative if the
    live allocations exceed the heap [bytes]"""

class MemoryActive(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    allocator: str
    """name of the allocator, or its number on the host; empty if its events name none"""
    rank: int
    """rank of the row within its allocator, from 1; largest allocation first"""
    tf_op: str | None
    """op that requested the memory, or XProf's name of a special row; NULL if unknown"""
    allocation_bytes: int
    """bytes of one allocation [bytes]"""
    requested_bytes: int
    """bytes that were requested for one allocation [bytes]"""
    occurrences: int
    """number of live allocations that are equal in the columns of this row [allocations]"""
    region_type: str | None
    """kind of memory region: temp, output, persist/dynamic and others; NULL if unknown"""
    data_type: str | None
    """element type of the tensor, by TensorFlow's name; NULL if unknown"""
    shape: str | None
    """shape of the tensor; NULL if unknown"""
    special: str | None
    """unused: heap that no allocation in the peak's step explains (allocated earlier, or kept by
    the allocator); stack: reserved stack memory; NULL for allocations"""
    step: int
    """step of the peak; as in XProf, only allocations of this step are listed"""
    event_id: int | None
    """event_id of the allocation (the first in the file, if there are several); NULL for special
    rows"""

class MemoryTime(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    allocator: str
    """name of the allocator, as in memory_allocators"""
    level: int
    """number of the level, from 1: the allocator's peak is divided into `levels` levels of equal
    size; 0 if nothing is in use"""
    least_bytes: int
    """lower bound of the level: 1 + the upper bound of the level below; 0 for level 0 [bytes]"""
    most_bytes: int
    """upper bound of the level: level / levels of the peak (profile_peak_bytes of
    memory_allocators), rounded down [bytes]"""
    duration_ps: int
    """time in which the memory in use is within these bounds. Memory in use is heap_bytes +
    stack_bytes of each row of memory_events (0 if negative), from its time_ps until that of the
    next one, in order of time_ps and event_id. The rows of an allocator add up to the time between
    its first and its last event [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    percent: float | None
    """duration_ps as a share of the time between the allocator's first and last event; NULL if all
    events have one time [percent 0..100]"""
    at_least_percent: float | None
    """share of the time between the allocator's first and last event in which the memory in use is
    at this level or a higher one; NULL if all events have one time [percent 0..100]"""
    first_ps: int
    """first moment at which the memory in use is within these bounds, from the session start
    [ps]"""
    first_us: float
    """first_ps in microseconds [us]"""
    mean_bytes: float | None
    """average of the allocator's memory in use, weighted by time; equal in all rows of the
    allocator; NULL if all events have one time [bytes]"""

class MemoryOverTime(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    allocator: str
    """name of the allocator, as in memory_allocators"""
    part: int
    """number of the part, from 1: the time from the allocator's first event up to and including its
    last one is divided into `parts` equal parts. A part without a whole picosecond, as if there are
    more parts than picoseconds, has no row"""
    start_ps: int
    """first picosecond of the part, from the session start [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int
    """time from start_ps until the next part starts; the last part ends 1 ps after the last event
    [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    event_count: int
    """number of rows of memory_events with a time_ps in the part [events]"""
    most_bytes: int
    """most memory in use (heap_bytes + stack_bytes of memory_events, 0 if negative) at any moment
    of the part: when it starts, and after each of its events, also after those that another one
    follows at the same time_ps [bytes]"""
    least_bytes: int
    """least memory in use at any moment of the part, as for most_bytes [bytes]"""
    end_bytes: int
    """memory in use when the part ends, before the events at the start of the next part [bytes]"""

class MemoryOps(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    allocator: str
    """name of the allocator, as in memory_allocators"""
    tf_op: str | None
    """op that requested the memory; NULL if unknown, also where the profiler wrote the text
    (null)"""
    allocations: int
    """number of allocations that the op made [allocations]"""
    allocated_bytes: int
    """total bytes of the op's allocations (allocation_bytes of memory_events) [bytes]"""
    requested_bytes: int
    """total bytes that were requested for them [bytes]"""
    largest_bytes: int
    """bytes of the op's largest allocation [bytes]"""
    freed: int
    """number of the op's allocations whose free is in the profile (match_event_id of memory_events)
    [allocations]"""
    freed_bytes: int
    """total bytes of the op's freed allocations [bytes]"""
    avg_life_us: float | None
    """average time from allocation to free, over the op's freed allocations; NULL if none was freed
    [us]"""

class AsyncOps(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane: str
    """name of the plane"""
    hlo_op: str
    """name of the start op; on a GPU, name of the collective's kernel, the copy or the memset"""
    category: str | None
    """HLO category of the start op; on a GPU: collective, copy or memset; NULL if unknown"""
    kind: str
    """kind of the asynchronous op: collective or transfer"""
    is_synchronous: int
    """1: a synchronous op, one event during which the TensorCore waits; 0: an asynchronous op;
    always 0 on a GPU [0 or 1]"""
    start_event_id: int
    """event_id of the start op"""
    done_event_id: int | None
    """event_id of the done op, or of the event of the line Async XLA Ops with which a start without
    a done ends; equal to start_event_id if one event is the entire op; NULL if there is neither"""
    start_ps: int
    """start of the start op, from the session start [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int | None
    """time from the start of the start op to the end of the done op; NULL if there is no done op
    [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    exposed_ps: int | None
    """part of duration_ps in which the device does not compute; NULL if there is no done op [ps]"""
    hidden_ps: int | None
    """part of duration_ps in which the device computes (other collectives and transfers hide
    nothing); NULL if there is no done op [ps]"""
    overlapped_by: str | None
    """compute op with the longest uninterrupted overlap with this op; while several compute at
    once, only the one that started first counts, then the one that ends first; NULL if no compute
    op overlaps it, or duration_ps is NULL"""
    done_op: str | None
    """name of the done op, which waits until the op is done; equal to hlo_op if there is no
    separate done op; NULL if duration_ps is NULL"""
    wait_ps: int | None
    """duration of the done op, in which the device waits; NULL on a GPU, and if there is no
    separate done op [ps]"""
    bytes: int | None
    """payload, without padding: for a collective, its operands; for a transfer, the result of its
    done op or infeed, or its first operand if that has no data; for a dynamic-update-slice, the
    update; NULL if unknown, or duration_ps is NULL on a TPU [bytes]"""
    bytes_accessed: int | None
    """bytes read plus bytes written, of the start op or the done op, the larger, as their metadata
    record it; NULL on a GPU, and if it is not recorded or 0 [bytes]"""
    plane_id: int
    """number of the plane in the run, from 0"""

class AsyncOpTotals(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    plane: str
    """name of the plane"""
    hlo_op: str
    """name of the start op; on a GPU, name of the collective's kernel, the copy or the memset"""
    category: str | None
    """HLO category of the start op; on a GPU: collective, copy or memset; NULL if unknown"""
    kind: str
    """kind of the asynchronous op: collective or transfer"""
    is_synchronous: int
    """1: a synchronous op, one event during which the TensorCore waits; 0: an asynchronous op;
    always 0 on a GPU [0 or 1]"""
    overlapped_by: str | None
    """compute op with the longest overlap with each execution that the row counts; NULL if no
    compute op overlaps them"""
    occurrences: int
    """number of executions that have a done op [executions]"""
    duration_ps: int
    """sum of async_ops.duration_ps [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    exposed_ps: int
    """sum of async_ops.exposed_ps [ps]"""
    hidden_ps: int
    """sum of async_ops.hidden_ps [ps]"""
    wait_ps: int | None
    """sum of async_ops.wait_ps; NULL if it is NULL for all executions [ps]"""
    bytes: int | None
    """async_ops.bytes of one execution; NULL if unknown [bytes]"""

class Collectives(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    plane: str
    """name of the plane"""
    name: str
    """name of the collective op (of its start op if it has a start and a done op); on a GPU, name
    of the kernel"""
    kind: str
    """kind of collective: all-reduce, all-gather, reduce-scatter, all-to-all, collective-permute,
    ..."""
    hlo_op: str | None
    """HLO instruction of the collective; NULL if a GPU kernel does not record it"""
    group_size: int | None
    """number of devices in a group; NULL if unknown, if groups differ in size, and for a
    collective-permute [devices]"""
    occurrences: int
    """number of times that the device took part in the collective"""
    bytes: int | None
    """payload of one occurrence: bytes that the device contributes, its operands without padding;
    NULL if unknown, as for kernels whose program is not in the file (kernels record no sizes)
    [bytes]"""
    total_ps: int
    """total duration of all occurrences; an op with a start and a done op lasts from the start of
    the one to the end of the other [ps]"""
    min_ps: int
    """duration of the shortest occurrence [ps]"""
    max_ps: int
    """duration of the longest occurrence [ps]"""
    wait_ps: int | None
    """part of total_ps in which the device waited for the last device of its group on the same host
    to start; devices on other hosts are ignored; if the groups are unknown, all devices of the host
    that ran the op are treated as one group. NULL if no other device of the group is on the host,
    if the devices ran the op different numbers of times, or if their ids are unknown [ps]"""
    global_wait_ps: int | None
    """part of total_ps in which the device waited for the last device of its group, on any host of
    the run, to start. If spans_hosts is 1, hosts.start_unix_ns makes the times absolute, so the
    wait is only as exact as the hosts' clocks. NULL in the same cases as wait_ps, if a host of the
    group has no start_unix_ns, and if the source is one host of a run of several hosts [ps]"""
    spans_hosts: int | None
    """1: global_wait_ps compares devices of several hosts; NULL if global_wait_ps is NULL [0 or
    1]"""
    message_bytes: int | None
    """size of one occurrence as NCCL's tests count it: the column bytes, times group_size for an
    all-gather; NULL if unknown and for a ragged-all-to-all [bytes]"""
    algorithm_gibps: float | None
    """algorithm bandwidth: message_bytes of all occurrences divided by total_ps, waiting included;
    NULL if unknown [GiB/s]"""
    bus_gibps: float | None
    """bus bandwidth: algorithm_gibps times 2(n-1)/n for an all-reduce, (n-1)/n for an all-gather,
    reduce-scatter or all-to-all, 1 for others; n is group_size. NULL if unknown [GiB/s]"""
    bandwidth_gibps: float | None
    """bytes of all occurrences divided by total_ps; NULL if bytes is NULL or total_ps is 0
    [GiB/s]"""
    program_id: str | None
    """id of the HLO program with the collective, decimal; NULL if unknown"""
    plane_id: int
    """number of the plane in the run, from 0"""

class DcnCollectives(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    rendezvous_name: str
    """name of the rendezvous at which the send and recv ops of a transfer meet"""
    recv_op_name: str
    """name of the recv-done op of the last transfer"""
    send_op_name: str
    """name of the send op of the last transfer"""
    transfer_type: str
    """ONE_TO_ONE, ALL_GATHER, ALL_REDUCE, ...; empty if the program does not record the type"""
    slack_time_ms: float
    """average time from the start of the send to the start of the recv-done, minus the transfer ops
    in between: a transfer that takes no longer than this causes no delay [ms]"""
    observed_duration_ms: float
    """average time from the start of the send to the end of the recv-done [ms]"""
    send_stall_ms: float
    """average duration of the send [ms]"""
    send_done_stall_ms: float
    """average duration of the send-done [ms]"""
    recv_stall_ms: float
    """average duration of the recv as in XProf, which divides by a million once too often (see
    recv_stall_ms_actual) [ms]"""
    recv_done_stall_ms: float
    """average duration of the recv-done [ms]"""
    stall_duration_ms: float
    """average total duration of send, send-done, recv and recv-done, during which the core does
    nothing else [ms]"""
    total_stall_ms: float
    """stall_duration_ms summed over all transfers [ms]"""
    occurrences: int
    """number of transfers [transfers]"""
    net_tx_bytes: int
    """bytes that one transfer sends; 0 if the group or the type is unknown [bytes]"""
    required_bandwidth_gbps: float
    """bandwidth at which a transfer takes no longer than the slack; 2147483647 if there is no slack
    [Gbit/s]"""
    group_size: int | None
    """number of devices in a group; NULL if the profile does not record it [devices]"""
    recv_stall_ms_actual: float
    """average duration of the recv [ms]"""
    host_stall_ms: float | None
    """average time from the start of the recv-done to the end of the host event of the transfer
    (`device_<core>_gid_<rendezvous>`); negative if the host finished first; NULL if the first core
    has no such event. XProf's page has this column but always shows - [ms]"""
    shown_by_xprof: int
    """1: XProf's page shows the collectives; 0: the page is empty, because some host declares no
    event named MegaScale:... [0 or 1]"""

class DcnMessages(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    label: str | None
    """label of the collective that the message belongs to; NULL if the event does not record it"""
    source_slice: int | None
    """slice that sent the message; NULL if the event does not record it"""
    source_device: int | None
    """device that sent the message, by its number in the slice; NULL if the event does not record
    it"""
    destination_slice: int | None
    """slice that received the message; NULL if the event does not record it"""
    destination_device: int | None
    """device that received the message, by its number in the slice; NULL if the event does not
    record it"""
    chunk: int | None
    """chunk of the collective that the message carries; NULL if the event does not record it"""
    loop_index: int | None
    """iteration of the collective; NULL if the event does not record it"""
    bytes: int | None
    """payload of the message; NULL if the event does not record it [bytes]"""
    start_ps: int | None
    """time at which the message was sent, from the session start; time of its arrival if
    duration_ps is NULL [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int | None
    """time from sending to arrival; NULL if the event records none, or 0 [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    validity: str
    """first that applies: BAD_KEY (no label, slice or device), CLOCK_SKEW (no duration), LOOPBACK
    (from a slice to itself) or VALID; only VALID messages are part of bursts"""
    burst: int | None
    """number of the burst on the host that the message is part of, as in dcn_bursts; NULL if it is
    not VALID"""
    straggler: int | None
    """1: the last message of its burst to arrive; 2 to 4: the messages that arrived before it, in
    reverse order; NULL for other messages"""
    event_id: int
    """number of the event in the run, from 0"""

class DcnBursts(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    burst: int
    """number of the burst on its host, from 1, in order of time"""
    start_ps: int
    """time at which the first message of the burst was sent, from the session start [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int
    """time from start_ps until the last message arrived, after which none was in flight [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    message_count: int
    """number of VALID messages in the burst [messages]"""
    bytes: int
    """payload of the messages in the burst; a message that does not record its size counts 0
    [bytes]"""
    max_overlap: int
    """largest number of messages in flight at once [messages]"""
    bytes_per_second: float
    """bytes divided by the duration of the burst [bytes/s]"""
    bandwidth: str
    """class of bytes_per_second: Low, Medium (4.17e9 bytes/s or more) or High (8.34e9 or more)"""
    utilization_fraction: float
    """bytes_per_second divided by 12.5e9, which is XProf's figure for the network of a host
    [fraction]"""

class InferenceModels(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    model: str
    """name of the model, as requests give it; ALL if no request names a model"""
    request_count: int
    """number of requests to the model [requests]"""
    batch_count: int
    """number of batches that the model ran [batches]"""
    request_throughput: float
    """requests per second, from the start of the first request to the end of the last one; 0
    without requests [requests/s]"""
    average_latency_ms: float
    """average duration of a request; 0 without requests [ms]"""
    batch_throughput: float
    """batches per second, from the start of the first batch to the end of the last one; 0 without
    batches [batches/s]"""
    average_batch_latency_ms: float
    """average duration of a batch; 0 without batches [ms]"""
    batching_threads: int | None
    """number of threads of the batch scheduler; NULL if the profile has no batching parameters of
    the model [threads]"""
    max_batch_size: int | None
    """largest batch that the batch scheduler builds; NULL if the profile has no batching parameters
    of the model"""
    batch_timeout_us: int | None
    """longest time that the batch scheduler waits for a batch to fill; NULL if the profile has no
    batching parameters of the model [us]"""
    max_enqueued_batches: int | None
    """largest number of batches that may wait in the batch scheduler's queue; NULL if the profile
    has no batching parameters of the model [batches]"""
    allowed_batch_sizes: str | None
    """batch sizes to which the batch scheduler pads; NULL if the profile has no batching parameters
    of the model"""

class InferenceRequests(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    model: str | None
    """model that the request names; ALL if no request of the run names a model; NULL if only this
    request names none"""
    host: str
    """name of the host that served the request, taken from its file name"""
    rank: int
    """rank of the request by duration within its model, or among the requests without a model; 1 is
    the shortest"""
    request_id: int
    """group_id of the request's events on its host"""
    start_ps: int
    """start of the request, from the start of the session [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int
    """time from the request's first event to the end of its last event or, if later, of its batch
    with the smallest number [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    latency_ms: float
    """duration_ps in milliseconds [ms]"""
    batching_request_size: int
    """size of the request's task in the batch, as the batch scheduler reports it; 0 if it is not
    reported"""
    batching_delay_ps: int
    """time from the start of the request to the start of its first batch; 0 without a batch. It
    overlaps the times of activities and idle_ps_actual; those eight whose names end in _ps_actual
    divide up duration_ps_actual [ps]"""
    batch_formation_ps: int
    """time from the scheduling of the request until the input of its batch is concatenated,
    excluding times of runtime, transfers and device work [ps]"""
    host_preprocess_ps: int
    """time from the start of the request until the host executes its program, excluding times of
    any other activity [ps]"""
    host_runtime_ps: int
    """time from the start of the host's execution until it launches the program, excluding times of
    transfers and device work [ps]"""
    write_to_device_ps: int
    """time of transfers to the device, excluding times of transfers from the device and of device
    work [ps]"""
    read_from_device_ps: int
    """time of transfers from the device, excluding times of device work [ps]"""
    device_compute_ps: int
    """time of programs on the device [ps]"""
    host_postprocess_ps: int
    """time from the completion callback (without one: the end of the last program) to the end of
    the request, excluding times of batch formation, runtime, transfers and device work [ps]"""
    idle_ps: int
    """time between the request's first and last activity in which no activity runs [ps]"""
    batch_ids: str
    """batch_ids of the request's batches, as a JSON array"""
    tensor_pattern: str | None
    """tensors whose layout the request converted between host and device; NULL if unknown"""
    tensor_ps: int | None
    """time in which the request converts tensors between host and device layout, also if
    tensor_pattern is NULL; 0 without conversions [ps]"""
    duration_ps_actual: int
    """time from the request's first event to the end of its last event or batch; longer than
    duration_ps if the request was split over several batches and a later one ends later [ps]"""
    latency_ms_actual: float
    """duration_ps_actual in milliseconds [ms]"""
    batch_formation_ps_actual: int
    """batch_formation_ps without the work and transfers of GPUs, which XProf does not exclude
    [ps]"""
    host_preprocess_ps_actual: int
    """host_preprocess_ps without the work and transfers of GPUs, which XProf does not exclude
    [ps]"""
    host_runtime_ps_actual: int
    """host_runtime_ps without the work and transfers of GPUs, which XProf does not exclude [ps]"""
    write_to_device_ps_actual: int
    """time of transfers to the device, including GPUs [ps]"""
    read_from_device_ps_actual: int
    """time of transfers from the device, including GPUs [ps]"""
    device_compute_ps_actual: int
    """time of programs on the device, including kernels and other work of GPUs [ps]"""
    host_postprocess_ps_actual: int
    """host_postprocess_ps until the end of the last batch, without the work and transfers of GPUs
    [ps]"""
    idle_ps_actual: int
    """time between the start of the request and the end of its last batch in which no activity
    runs, neither on a GPU [ps]"""
    shown_by_xprof: int
    """0: XProf omits the request because it names no model and other requests do [0 or 1]"""

class InferenceBatches(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    model: str | None
    """model of the batch's first request; NULL if no request that names a model refers to the
    batch"""
    host: str
    """name of the host that ran the batch, taken from its file name"""
    rank: int
    """rank of the batch by duration within its model, or among the batches without a model; 1 is
    the shortest"""
    batch_id: int
    """group_id of the batch's events on its host"""
    start_ps: int
    """start of the batch, from the start of the session [ps]"""
    start_us: float | None
    """start_ps in microseconds; NULL if start_ps is NULL [us]"""
    duration_ps: int
    """duration of the batch's ProcessBatch event [ps]"""
    duration_us: float | None
    """duration_ps in microseconds; NULL if duration_ps is NULL [us]"""
    latency_ms: float
    """duration_ps in milliseconds [ms]"""
    padding_amount: int
    """size of the padding in the batch; 0 if unknown"""
    batch_size_after_padding: int
    """batch size including padding; 0 if unknown"""
    batching_efficiency_fraction: float
    """share of the batch that is not padding; 0 if unknown [fraction 0..1]"""
    batching_delay_ps: int
    """time from the start of the batch's earliest request to the start of the batch; 0 if no
    request of the batch is known [ps]"""
    device_compute_ps: int
    """time of programs on the device [ps]"""
    program_id: str | None
    """id of the first program that the batch ran, decimal; NULL if unknown"""
    request_ids: str
    """request_ids of the batch's requests, as a JSON array"""
    tensor_pattern: str | None
    """tensors whose layout the batch converted between host and device; NULL if unknown"""
    tensor_ps: int | None
    """time in which the batch converts tensors between host and device layout, also if
    tensor_pattern is NULL; 0 without conversions [ps]"""
    device_compute_ps_actual: int
    """time of programs on the device, including kernels and other work of GPUs [ps]"""
    shown_by_xprof: int
    """0: XProf omits the batch because no request that names a model refers to it [0 or 1]"""

class InferencePercentiles(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    model: str
    """name of the model, as requests give it; ALL if no request names a model"""
    kind: str
    """kind of the row: request or batch"""
    number: int
    """ordinal of the row within its model and kind, from 1, in XProf's order"""
    percentile: str
    """percentile of the request or batch by duration, in percent with three decimals. Up to 60
    requests or batches are all shown; if there are more, those near 50, 75, 90, 99, 99.9 and 99.99.
    Averages follow: Batch size N, then Average (of all requests) or Aggregated (of all batches)"""
    request_id: str | None
    """request_id of the request; N/A in averages, NULL for batches"""
    batch_id: str | None
    """batch_id of the batch; N/A in averages, NULL for requests"""
    latency_ms: float
    """duration of the request or batch, or the average duration [ms]"""
    throughput: float | None
    """requests or batches per second, of those in the average; NULL in rows that are not averages,
    and if unknown [1/s]"""
    batching_request_size: int | None
    """batching_request_size of inference_requests; averages are truncated to integers; NULL for
    batches"""
    host_batch_formation_ms: float | None
    """time from the start of the request to the start of its first batch; NULL for batches [ms]"""
    host_preprocessing_ms: float | None
    """host_preprocess_ps of inference_requests, in milliseconds; NULL for batches [ms]"""
    host_runtime_ms: float | None
    """host_runtime_ps of inference_requests, in milliseconds; NULL for batches [ms]"""
    data_transfer_h2d_ms: float | None
    """write_to_device_ps of inference_requests, in milliseconds; NULL for batches [ms]"""
    data_transfer_d2h_ms: float | None
    """read_from_device_ps of inference_requests, in milliseconds; NULL for batches [ms]"""
    device_compute_ms: float
    """time of programs on the device; in averages of requests by batch size, the average of the
    batches [ms]"""
    host_postprocess_ms: float | None
    """host_postprocess_ps of inference_requests, in milliseconds; NULL for batches [ms]"""
    idle_time_ms: float | None
    """idle_ps of inference_requests, in milliseconds; NULL for batches [ms]"""
    padding_amount: int | None
    """padding_amount of inference_batches; averages are truncated to integers; NULL for requests"""
    batch_size_after_padding: int | None
    """batch_size_after_padding of inference_batches; averages are truncated to integers; NULL for
    requests"""
    batching_efficiency_fraction: float | None
    """share of the batch size that is not padding; 0 if unknown; NULL for requests [fraction
    0..1]"""
    batching_delay_ms: float | None
    """time from the start of the batch's earliest request to the start of the batch; NULL for
    requests [ms]"""
    program_id: str | None
    """id of the first program that the batch ran, or of all programs of a batch size; N/A if
    unknown and in the average of all batches; NULL for requests"""

class InferenceTensorPatterns(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    model: str
    """name of the model, as requests give it; ALL if no request names a model"""
    pattern_id: int
    """ordinal of the pattern within the model, from 0, ordered by pattern (XProf's order comes from
    a hash table)"""
    pattern: str
    """names of the conversion events with shape and layout of their tensors, separated by <br>"""
    occurrences: int
    """number of requests and batches that have the pattern"""
    percentiles: str
    """the percentiles of the following columns as one text, in XProf's format"""
    p50_ms: float
    """time to convert the tensors, at percentile 50 of the occurrences [ms]"""
    p75_ms: float
    """time to convert the tensors, at percentile 75 of the occurrences [ms]"""
    p90_ms: float
    """time to convert the tensors, at percentile 90 of the occurrences [ms]"""
    p95_ms: float
    """time to convert the tensors, at percentile 95 of the occurrences [ms]"""
    p99_ms: float
    """time to convert the tensors, at percentile 99 of the occurrences [ms]"""
    p999_ms: float
    """time to convert the tensors, at percentile 99.9 of the occurrences [ms]"""

class InferenceLatency(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    percentile: str
    """Avg, or the percentile of the request among the requests of all models by duration: 50.0% to
    99.9%"""
    host_ms: float
    """time of the request at this percentile that is neither device time nor transfer time [ms]"""
    device_ms: float
    """time of programs on the device in the request at this percentile [ms]"""
    communication_ms: float
    """time of transfers to and from the device in the request at this percentile [ms]"""
    total_ms: float
    """duration of the request at this percentile [ms]"""
    requests_per_second: float
    """requests per second of all models together [requests/s]"""
    min_ms: float
    """duration of the shortest request [ms]"""
    max_ms: float
    """duration of the longest request [ms]"""
    host_ms_actual: float
    """time of the request at this percentile of total_ms_actual that is neither device time nor
    transfer time, including those of GPUs [ms]"""
    device_ms_actual: float
    """time of programs on the device, including kernels and other work of GPUs, in the request at
    this percentile of total_ms_actual [ms]"""
    communication_ms_actual: float
    """time of transfers to and from the device, including GPUs, in the request at this percentile
    of total_ms_actual [ms]"""
    total_ms_actual: float
    """latency_ms_actual of the request at this percentile of all requests, ordered by it [ms]"""
    min_ms_actual: float
    """latency_ms_actual of the shortest request [ms]"""
    max_ms_actual: float
    """latency_ms_actual of the longest request [ms]"""
    shown_by_xprof: int
    """0: XProf's overview page shows no latencies, because a program of the run computes gradients
    [0 or 1]"""

class PerfCounters(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    chip: int | None
    """global_chip_id of the device, or its device_id; NULL if the plane records neither (XProf
    omits these planes)"""
    kernel: str
    """name of the counter's line"""
    sample: int
    """id of the counter's line; all counters of a line were read together"""
    counter: str
    """name of the counter's event, in lower case"""
    value: int | None
    """value of the counter as XProf reads it: 0 unless stored as an integer, modulo 2^64 if
    negative, decimal TEXT from 2^63 on; NULL if only the metadata has the value, which XProf
    omits"""
    description: str | None
    """what the counter counts; NULL if the file has no description"""
    counter_set: str | None
    """names of the sets that the counter belongs to; NULL if the file names none"""
    value_actual: Any
    """value of the counter as stored, integer or real; NULL if it is not a number"""
    counter_id: int
    """number of the counter, or the id of the event's metadata"""
    plane_id: int
    """number of the plane in the run, from 0"""
    line_id: int
    """number of the line in the run, from 0"""
    event_id: int
    """number of the event in the run, from 0"""

class Utilization(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    host_index: int
    """index of the host in the source; XProf shows only the first host"""
    device: int | None
    """device_id of the plane; NULL if the plane does not record it (XProf omits these planes)"""
    sample: int
    """id of the sample's line"""
    node: int
    """core of the chip"""
    name: str
    """hardware unit and its kind of work"""
    achieved: float
    """amount of work that the unit did [see unit]"""
    peak: float
    """largest amount of work possible in the same time; 0 if the core did not run [see unit]"""
    unit: str
    """unit of achieved and peak: cycles, instructions, bytes, or percent (bytes of both)"""
    utilization_fraction: float | None
    """achieved / peak; above 1 if counters are inconsistent; NULL if peak is 0 [fraction]"""
    kernel: str
    """name of the sample's line"""
    device_type: str
    """type of the device: TPU v6 Lite or TPU v7x, the only types whose units XProf supports"""
    line_id: int
    """number of the line in the run, from 0"""

class KernelUtilization(NamedTuple):
    run: str
    """label of the attached run; for a path, the name of the run folder or file"""
    host: str
    """name of the host, taken from its file name"""
    device_id: int
    """device_id of the plane, or the number in the plane's name"""
    device_type: str
    """type of the device: TPU v6 Lite or TPU v7x, the only types whose units XProf supports"""
    kernel_name: str
    """always default_kernel, the only name in XProf"""
    duration_us: float
    """cycles of the busier TensorCore divided by the chip's clock rate; 0 if unknown [us]"""
    metric: str
    """name of the metric: mxu_utilization; MXU BF16, MXU FP8, MXU Int4 and MXU Int8 (shares of the
    matrix units' work); then the units of the table utilization"""
    value: float
    """value of the metric over all cores, with two decimals; units are capped at 100,
    mxu_utilization is not [percent]"""
    mxu_is_anomaly: int
    """1: mxu_utilization is above 100 [0 or 1]"""
    sample: int
    """id of the sample's line"""
    kernel_name_actual: str | None
    """name of the sample's line; NULL if it has no name"""
    plane_id: int
    """number of the plane in the run, from 0"""
    line_id: int
    """number of the line in the run, from 0"""

class ProfsqlLive(NamedTuple):
    run: str
    """name of the run that is being captured"""
    host: str
    """name of the host, as the file name of the profile will contain it"""
    process_id: int
    """id of the captured process"""
    kind: str
    """kind of the record: kernel, memcpy, memcpy_peer, memset, graph, runtime, driver, sync,
    cuda_event, external_correlation, overhead, jit, memory, memory_pool, unified_memory,
    environment, device, context, stream, nvlink, pcie, thread, clock; from NVTX: range_push and
    range_pop, range_start and range_end, mark"""
    name: str | None
    """name of the kernel (mangled), API call, range, device, thread or cache file; NULL if the
    record has no name"""
    start_unix_ns: int | None
    """start time, or the time of a record without duration; NULL if the record has no time [ns
    since 1970]"""
    duration_ns: int | None
    """duration; NULL for records without duration and for work that has not ended [ns]"""
    device_id: int | None
    """number of the GPU in the process; NULL if the record has none"""
    context_id: int | None
    """id of the CUDA context; NULL if the record has none"""
    stream_id: int | None
    """id of the stream, unique in its context; NULL if the record has none"""
    thread_id: int | None
    """id of the thread of the call or range; NULL if the record has none"""
    correlation_id: int | None
    """id that connects an API call with the work that it launched; NULL if the record has none"""
    size_bytes: int | None
    """size of the copy, memset or allocation; NULL for other kinds [bytes]"""

class ProfCapture(NamedTuple):
    run_path: str | None
    """path of the new run, usable as a source; NULL if the run is on the machine of the server, or
    there is no profile"""
    host: str
    """name of the host in the run: its address with : replaced by _"""
    path: str | None
    """path of the host's file, on the machine of the server if run_path is NULL; NULL if there is
    no profile"""
    size_bytes: int | None
    """size of the profile that the server sent; NULL if it sent none [bytes]"""
    error: str | None
    """why the host has no profile; NULL if it has one"""

class ProfMonitor(NamedTuple):
    measured_by: str
    """service: the server measured; profile: it cannot, and the numbers come from kpi and steps on
    a profile that was recorded for this query"""
    text: str
    """the measurement as text of several lines"""
    hardware: str | None
    """kind of hardware: CPU_ONLY, GPU or TPU; NULL if unknown, and if measured_by is service"""
    idle_percent: float | None
    """share of the time in which the devices are idle; NULL if unknown, as at level 1 or for a
    program without devices or steps [percent 0..100]"""
    utilization_percent: float | None
    """utilization of the matrix units; if measured_by is profile, operations of the steps as a
    share of the devices' peak; NULL if unknown [percent]"""
    step_time_ms: float | None
    """average duration of a step; NULL if unknown, as at level 1 or for a program without devices
    or steps [ms]"""
    step_time_min_ms: float | None
    """duration of the shortest step; NULL if unknown, as at level 1 or for a program without
    devices or steps [ms]"""
    step_time_max_ms: float | None
    """duration of the longest step; NULL if unknown, as at level 1 or for a program without devices
    or steps [ms]"""
    input_percent: float | None
    """average share of step time spent on input; NULL if unknown, as at level 1 or for a program
    without devices or steps [percent 0..100]"""

class Advice(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank within the run: findings first, then rules that were checked, then those that could not
    be checked; each of these by cost_ms"""
    rule: str
    """name of the rule; docs/semantics.md defines the cost of each"""
    status: str
    """finding: cost_percent is at least least_percent; checked: it is less; not checked: the cost
    is unknown, for the reason in column missing"""
    cost_ms: float | None
    """time that the problem takes, averaged over the run's main devices (over its processes in a
    run without devices): an upper bound of what can be saved. Costs of different rules can overlap,
    except those of rules whose names start with idle; NULL if unknown [ms]"""
    cost_percent: float | None
    """cost_ms as a share of the time of the run: the average span of its main devices
    (device_time); without devices its duration (prof_runs), or the time from its first to its last
    event if that is unknown. Above 100 if the cost arises on several streams or threads at the same
    time; NULL if unknown [percent]"""
    finding: str | None
    """the cost as a sentence; NULL if the rule was not checked"""
    evidence: str | None
    """largest part of the cost, with its own time (the SQL in query shows the others); for
    exposed_communication and exposed_transfer the longest op of exposed_communication, averaged
    over the devices; for input the longest input op; for imbalance the device that waits least.
    NULL if the cost is 0 or unknown, or its parts have no names"""
    action: str
    """what to try (for input, the advice of input_bound if it has one)"""
    query: str
    """SQL that shows the parts of the cost, ready to run"""
    missing: str | None
    """why the rule was not checked; NULL if it was"""

class AllocationChurn(NamedTuple):
    run: str
    """name of the run"""
    host: str
    """name of the host"""
    allocator: str
    """name of the allocator"""
    tf_op: str | None
    """op that requested the memory; NULL if unknown"""
    allocations: int
    """number of allocations that the op made [allocations]"""
    allocated_bytes: int
    """total bytes of the op's allocations [bytes]"""
    largest_bytes: int
    """bytes of the op's largest allocation [bytes]"""
    freed: int
    """number of the op's allocations that were freed during the profile; ops without any have no
    row (live_allocations lists what is kept) [allocations]"""
    freed_bytes: int
    """total bytes of the op's freed allocations [bytes]"""
    avg_life_us: float
    """average time from allocation to free, over the op's freed allocations [us]"""
    rounding_percent: float | None
    """share of allocated_bytes that was not requested; NULL if allocated_bytes is 0 [percent
    0..100]"""

class BatchPadding(NamedTuple):
    run: str
    """name of the run"""
    model: str | None
    """model of the batches; NULL for batches whose model is unknown"""
    batches: int
    """number of batches whose size is known [batches]"""
    padded_batches: int
    """number of these batches that have padding [batches]"""
    batch_size: float
    """average size of a batch, padding included"""
    padding: float
    """average size of the padding in a batch"""
    padding_percent: float
    """padding of all batches, as a share of their sizes [percent]"""
    device_compute_us: float
    """time that devices computed for these batches [us]"""
    padding_compute_us: float
    """part of device_compute_us spent on padding, if the time of a batch is proportional to its
    size [us]"""

class CaptureSummary(NamedTuple):
    run: str
    """name of the run"""
    topic: str
    """subject of the line: recorded, steps, the name of a GPU or TPU core, kernels, kernel (for
    each of the five longest), copies (for each name of the transfers of GPUs in async_ops, without
    memsets), or lost"""
    text: str
    """text of the line. The percentage of a kernel is - if it is unknown, because all kernels take
    no time"""

class CompareGroups(NamedTuple):
    category: str
    """Step time, or a category of what steps spend their time on"""
    a_ms: float | None
    """median over the first group's runs of the average time per complete step; NULL if no run of
    the group has complete steps, or the time in the category is unknown [ms]"""
    b_ms: float | None
    """median over the second group's runs of the average time per complete step; NULL if no run of
    the group has complete steps, or the time in the category is unknown [ms]"""
    difference_ms: float | None
    """b_ms minus a_ms, negative if the second group is faster; NULL if either is NULL [ms]"""
    difference_percent: float | None
    """difference_ms as a share of a_ms; NULL if either is NULL or a_ms is 0 [percent]"""
    verdict: str
    """slower or faster: the two groups differ by more than the variation within the groups explains
    (Welch's t-test at 95 %); noise: they do not; identical: no two runs differ, to 1e-12 ms;
    unknown: a group has fewer than two runs. The degrees of freedom are rounded down to 1, 1.25,
    1.5, 1.75, 2, 2.5, 3 to 10, 12, 15, 20, 30, 60, 120 or 1000, so that doubtful differences count
    as noise"""
    t: float | None
    """Welch's t: difference of the groups' means divided by its standard error; NULL if the verdict
    is unknown or identical, or no two runs of a group differ"""
    a_runs: int
    """number of runs of the first group with complete steps and a known time"""
    b_runs: int
    """number of runs of the second group with complete steps and a known time"""
    a_min_ms: float | None
    """smallest value of the first group's runs; NULL if a_ms is NULL [ms]"""
    a_max_ms: float | None
    """largest value of the first group's runs; NULL if a_ms is NULL [ms]"""
    b_min_ms: float | None
    """smallest value of the second group's runs; NULL if b_ms is NULL [ms]"""
    b_max_ms: float | None
    """largest value of the second group's runs; NULL if b_ms is NULL [ms]"""

class CompareHloOps(NamedTuple):
    run_a: str
    """name of the first run"""
    run_b: str
    """name of the second run"""
    hlo_module: str | None
    """HLO module of the op; programs with the same module name are combined; NULL if the file does
    not contain the program"""
    hlo_op: str
    """name of the HLO instruction: its name in the first run, or in the second if it ran only
    there"""
    category: str
    """HLO category of the op"""
    change: str
    """whether it ran in both runs (both), only in the second run (appeared) or only in the first
    (vanished)"""
    occurrences_a: int
    """number of times that it ran in the first run; 0 if it did not run"""
    occurrences_b: int
    """number of times that it ran in the second run; 0 if it did not run"""
    self_time_us_a: float
    """self time (time without nested ops) in the first run [us]"""
    self_time_us_b: float
    """self time in the second run [us]"""
    delta_us: float
    """self time in the second run minus that in the first; positive if the second run is slower,
    negative if it is faster [us]"""
    delta_percent: float | None
    """delta_us as a share of the self time in the first run; NULL if that is 0 [percent]"""
    avg_self_time_us_a: float | None
    """average self time of one execution in the first run; NULL if the op did not run [us]"""
    avg_self_time_us_b: float | None
    """average self time of one execution in the second run; NULL if the op did not run [us]"""
    avg_ratio: float | None
    """average self time in the second run divided by that in the first; above 1 if the second run
    is slower; NULL if the op did not run in both runs, or has no self time in the first"""
    matched_by: str | None
    """how the operations of the two runs were matched. name: same name; fingerprint: same
    fingerprint of the HLO instruction; similar name: same name without .kd, jit(main)/ and trailing
    numbers; NULL if change is not both"""
    name_b: str | None
    """name in the second run if it differs from the first; NULL otherwise"""
    per_device_step_us_a: float
    """self time in the first run divided by the number of its GPUs and TensorCores that compute (of
    its hosts, if it has none) and, if both runs have steps, by the number of all its steps, dropped
    ones included [us]"""
    per_device_step_us_b: float
    """per_device_step_us_a for the second run [us]"""
    delta_per_device_step_us: float
    """per_device_step_us_b minus per_device_step_us_a (negative if the second run is faster). Use
    it to compare runs of different length and size. Rows are ordered by its absolute value [us]"""

class CompareKernels(NamedTuple):
    run_a: str
    """name of the first run"""
    run_b: str
    """name of the second run"""
    kernel_name: str
    """name of the kernel"""
    short_name: str
    """name of the kernel without namespaces, template arguments and parameters, unique in its run
    (docs/semantics.md)"""
    op_name: str | None
    """name of the framework op that the kernel ran for; NULL if unknown"""
    change: str
    """whether it ran in both runs (both), only in the second run (appeared) or only in the first
    (vanished)"""
    occurrences_a: int
    """number of times that it ran in the first run; 0 if it did not run [kernels]"""
    occurrences_b: int
    """number of times that it ran in the second run; 0 if it did not run [kernels]"""
    total_duration_us_a: float
    """sum of the kernel's durations in the first run [us]"""
    total_duration_us_b: float
    """sum of the kernel's durations in the second run [us]"""
    delta_us: float
    """total duration in the second run minus that in the first; positive if the second run is
    slower, negative if it is faster [us]"""
    delta_percent: float | None
    """delta_us as a share of the total duration in the first run; NULL if that is 0 [percent]"""
    avg_duration_us_a: float | None
    """average duration of one execution in the first run; NULL if the kernel did not run [us]"""
    avg_duration_us_b: float | None
    """average duration of one execution in the second run; NULL if the kernel did not run [us]"""
    avg_ratio: float | None
    """average duration in the second run divided by that in the first; above 1 if the second run is
    slower; NULL if the kernel did not run in both runs, or has no duration in the first"""
    matched_by: str | None
    """how the operations of the two runs were matched. name: same name; similar name: same name
    without .kd, jit(main)/ and trailing numbers; NULL if change is not both"""
    name_b: str | None
    """name in the second run if it differs from the first; NULL otherwise"""
    per_device_step_us_a: float
    """total duration in the first run divided by the number of its GPUs and TensorCores that
    compute and, if both runs have steps, by the number of all its steps, dropped ones included
    [us]"""
    per_device_step_us_b: float
    """per_device_step_us_a for the second run [us]"""
    delta_per_device_step_us: float
    """per_device_step_us_b minus per_device_step_us_a (negative if the second run is faster). Use
    it to compare runs of different length and size. Rows are ordered by its absolute value [us]"""

class CompareOps(NamedTuple):
    run_a: str
    """name of the first run"""
    run_b: str
    """name of the second run"""
    scope: str | None
    """what contains the operation: the HLO module for kind operation or hlo, Device or Host for
    framework; NULL if unknown"""
    type: str | None
    """type of the operation. operation: device, sparsecore or host (top_ops.place); hlo: HLO
    category (that of the first run if they differ); framework: type of the op; kernel: framework
    op; NULL if unknown"""
    operation: str
    """name of the operation: its name in the first run, or in the second if it ran only there"""
    short_name: str
    """readable form of operation: for kernels and operations of GPUs without namespaces, template
    arguments and parameters (docs/semantics.md); for others the same as operation"""
    change: str
    """whether it ran in both runs (both), only in the second run (appeared) or only in the first
    (vanished)"""
    matched_by: str | None
    """how the operations of the two runs were matched. name: same name in the same HLO module and
    place (kind framework: of the same type; kind kernel: of the same framework op). fingerprint:
    same fingerprint of the HLO instruction. similar name: same name without .kd and jit(main)/ or,
    if that matches none, without trailing numbers too. A rule only matches what is unique among the
    operations of each run that are still unmatched. NULL if change is not both"""
    name_b: str | None
    """name in the second run if it differs from the first; NULL otherwise"""
    occurrences_a: int
    """number of times that it ran in the first run; 0 if it did not run"""
    occurrences_b: int
    """number of times that it ran in the second run; 0 if it did not run"""
    time_us_a: float
    """self time in the first run, over all devices and steps; for kind kernel, the sum of the
    durations [us]"""
    time_us_b: float
    """self time in the second run, over all devices and steps; for kind kernel, the sum of the
    durations [us]"""
    delta_us: float
    """time_us_b minus time_us_a; positive if the second run is slower, negative if it is faster
    [us]"""
    delta_percent: float | None
    """delta_us as a share of time_us_a; NULL if that is 0 [percent]"""
    avg_us_a: float | None
    """average time of one execution in the first run; NULL if the operation did not run [us]"""
    avg_us_b: float | None
    """average time of one execution in the second run; NULL if the operation did not run [us]"""
    avg_ratio: float | None
    """avg_us_b divided by avg_us_a; above 1 if the second run is slower; NULL if the operation did
    not run in both runs, or avg_us_a is 0"""
    per_device_step_us_a: float
    """time_us_a divided by the number of GPUs and TensorCores that compute (of SparseCores for
    operations on SparseCores, of hosts for operations on hosts and in a run without devices) and,
    if both runs have steps, by the number of all steps of the run, dropped ones included [us]"""
    per_device_step_us_b: float
    """per_device_step_us_a for the second run [us]"""
    delta_per_device_step_us: float
    """per_device_step_us_b minus per_device_step_us_a (negative if the second run is faster). Use
    it to compare runs of different length and size. Rows are ordered by its absolute value; rows of
    type IDLE (kind framework) are last [us]"""

class CompareSlowerOps(NamedTuple):
    run_a: str
    """name of the first run"""
    run_b: str
    """name of the second run"""
    rank: int
    """rank by grew_us; 1 is what grew most"""
    type: str
    """type of the operation, as in compare_ops"""
    operation: str
    """name of the operation: its name in the first run, or in the second if it ran only there. Only
    those with grew_us above 0 have a row, and none of type IDLE of kind framework"""
    short_name: str
    """readable form of operation, as in compare_ops"""
    change: str
    """whether it ran in both runs (both) or only in the second (appeared)"""
    grew_us: float
    """how much more time it takes, for each device and step: compare_ops.delta_per_device_step_us
    [us]"""
    grew_percent: float | None
    """grew_us as a share of its time in the first run; NULL if that is 0 or it did not run there
    [percent]"""
    cumulative_percent: float
    """sum of grew_us over this row and those before it as a share of the sum over all rows [percent
    0..100]"""
    by_count_us: float | None
    """part of grew_us that comes from more executions: change of the occurrences for each device
    and step, times the average time in the first run; below 0 if the operation runs less often;
    NULL if it ran in one run only [us]"""
    by_time_us: float | None
    """the rest of grew_us, because each execution takes longer; NULL if it ran in one run only
    [us]"""

class CompareSteps(NamedTuple):
    run_a: str
    """name of the first run"""
    run_b: str
    """name of the second run"""
    category: str
    """Step time, or a category of what steps spend their time on"""
    a_ms: float | None
    """average time of the category per complete step of run a; NULL if run a has no complete step,
    or its time in the category is unknown [ms]"""
    b_ms: float | None
    """average time of the category per complete step of run b; NULL if run b has no complete step,
    or its time in the category is unknown [ms]"""
    difference_ms: float | None
    """b_ms minus a_ms, negative if run b is faster; NULL if either is NULL [ms]"""
    ratio: float | None
    """b_ms divided by a_ms; NULL if either is NULL or a_ms is 0"""
    a_deviation_ms: float | None
    """standard deviation over the complete steps of run a; NULL for fewer than two steps [ms]"""
    b_deviation_ms: float | None
    """standard deviation over the complete steps of run b; NULL for fewer than two steps [ms]"""
    a_steps: int
    """number of complete steps of run a (steps that XProf does not drop) [steps]"""
    b_steps: int
    """number of complete steps of run b (steps that XProf does not drop) [steps]"""

class CompareTfOps(NamedTuple):
    run_a: str
    """name of the first run"""
    run_b: str
    """name of the second run"""
    host_or_device: str
    """where the op ran: Device or Host"""
    type: str
    """type of the op"""
    operation: str
    """name of the op; IDLE: time without any op"""
    change: str
    """whether it ran in both runs (both), only in the second run (appeared) or only in the first
    (vanished)"""
    occurrences_a: int
    """number of times that it ran in the first run; 0 if it did not run"""
    occurrences_b: int
    """number of times that it ran in the second run; 0 if it did not run"""
    self_time_us_a: float
    """self time (time without nested ops) in the first run [us]"""
    self_time_us_b: float
    """self time in the second run [us]"""
    delta_us: float
    """self time in the second run minus that in the first; positive if the second run is slower,
    negative if it is faster [us]"""
    delta_percent: float | None
    """delta_us as a share of the self time in the first run; NULL if that is 0 [percent]"""
    avg_self_time_us_a: float | None
    """average self time of one execution in the first run; NULL if the op did not run [us]"""
    avg_self_time_us_b: float | None
    """average self time of one execution in the second run; NULL if the op did not run [us]"""
    avg_ratio: float | None
    """average self time in the second run divided by that in the first; above 1 if the second run
    is slower; NULL if the op did not run in both runs, or has no self time in the first"""
    matched_by: str | None
    """how the operations of the two runs were matched. name: same name; similar name: same name
    without .kd, jit(main)/ and trailing numbers; NULL if change is not both"""
    name_b: str | None
    """name in the second run if it differs from the first; NULL otherwise"""
    per_device_step_us_a: float
    """self time in the first run divided by the number of its GPUs and TensorCores that compute
    (for Host, by the number of hosts) and, if both runs have steps, by the number of all its steps,
    dropped ones included [us]"""
    per_device_step_us_b: float
    """per_device_step_us_a for the second run [us]"""
    delta_per_device_step_us: float
    """per_device_step_us_b minus per_device_step_us_a (negative if the second run is faster). Use
    it to compare runs of different length and size. Rows are ordered by its absolute value; rows of
    type IDLE are last [us]"""

class CompileTime(NamedTuple):
    run: str
    """name of the run"""
    host: str
    """name of the host, longest elapsed_ms first; a host that compiled nothing has no row"""
    compilations: int
    """number of compilations (rows of compilations)"""
    elapsed_ms: float
    """time in which at least one thread of the host compiles; threads that compile at the same time
    count once. Tracing and lowering do not count [ms]"""
    total_ms: float
    """compiling_ms + tracing_ms + lowering_ms; unknown parts count as 0 [ms]"""
    compiling_ms: float
    """sum of the durations of the compilations, over all threads [ms]"""
    tracing_ms: float | None
    """time that threads spent tracing functions before the compilations; NULL if no event records
    it [ms]"""
    lowering_ms: float | None
    """time that threads spent lowering functions to programs before the compilations; NULL if no
    event records it [ms]"""
    in_steps: int
    """number of compilations that belong to a step"""
    longest_function: str | None
    """function of the longest compilation, else its HLO module; NULL if neither is known"""
    longest_ms: float
    """duration of the longest compilation [ms]"""

class Donation(NamedTuple):
    run: str
    """name of the run"""
    program_id: str
    """id of the program, decimal"""
    hlo_module: str
    """name of the program's HLO module"""
    hlo_op: str
    """parameter in the main memory; for a part of a tuple, with its index"""
    shape: str
    """shape of the parameter, with layout"""
    size_mib: float
    """size of the parameter's memory [MiB]"""
    donated: int
    """1: an output of the program is stored in the parameter's memory (donate_argnums in JAX); 0:
    no output reuses the parameter's memory [0 or 1]"""
    could_be: int
    """1: the parameter is not donated, although an output of the same shape and layout, which has
    memory of its own (an allocation for outputs), could reuse the parameter's memory. Each output
    counts for one parameter only, the one with the lowest allocation_id. Whether the caller needs
    the parameter again is not recorded [0 or 1]"""
    output: str | None
    """instruction whose result is the output in the parameter's memory (for a call whose result has
    no buffer, the root of the called computation); if none is found, the last instruction that
    writes all of this memory; NULL if the parameter is not donated, or is the output itself"""
    could_save_mib: float
    """memory that donating all parameters with could_be = 1 would save in the program [MiB]"""
    hosts: int
    """number of hosts that have this program with these values [hosts]"""

class EagerOps(NamedTuple):
    run: str
    """name of the run"""
    host_or_device: str
    """where the op ran: Device or Host"""
    type: str
    """type of the op"""
    operation: str
    """name of the op"""
    occurrences: int
    """number of times that the op ran"""
    self_time_us: float
    """total time of the op without nested ops [us]"""
    avg_self_time_us: float
    """average self time of one execution [us]"""
    percent: float
    """self time of the op as a share of the time in ops on its side (Device or Host) [percent
    0..100]"""

class ExposedCommunication(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank by exposed time within the run; 1 is the longest"""
    device: str
    """kind of the devices: gpu, tensorcore or sparsecore; with by_device = 1, the device as
    host/plane"""
    op: str
    """op that starts the communication; on a GPU, the collective's kernel, the copy or the
    memset"""
    kind: str
    """kind of the op: collective or transfer"""
    category: str | None
    """HLO category of the op; on a GPU, collective, copy or memset; NULL if unknown"""
    is_synchronous: int
    """1: the TensorCore waits while the op runs and computes nothing; always 0 on a GPU [0 or 1]"""
    occurrences: int
    """number of times that the op ran on these devices"""
    total_us: float
    """time from start to done, summed over occurrences; overlapping occurrences count separately
    [us]"""
    exposed_us: float
    """part of total_us in which the device of the op does not compute [us]"""
    exposed_percent: float | None
    """exposed_us as a share of total_us; NULL if that is 0 [percent 0..100]"""
    exposed_span_percent: float | None
    """exposed_us as a share of the spans of these devices, summed over the devices with work; above
    100 if several ops run at once; NULL if the spans are 0 [percent]"""
    wait_us: float | None
    """duration of the done ops, in which devices wait; NULL on a GPU and for a synchronous op
    [us]"""
    bytes: int | None
    """bytes moved by all occurrences; NULL if unknown for one of them [bytes]"""
    gibps: float | None
    """bytes divided by total_us; NULL if unknown [GiB/s]"""
    overlapped_by: str | None
    """op that most often hides most of an occurrence; NULL if no op does"""
    kind_exposed_us: float
    """exposed time of all ops of this kind on these devices; simultaneous ops count once. For
    exposed collective time by step, see steps.device_collectives_ms_actual [us]"""
    kind_exposed_span_percent: float | None
    """kind_exposed_us as a share of the spans of these devices; NULL if the spans are 0 [percent
    0..100]"""
    total_exposed_us: float
    """time in which any collective or transfer of these devices is exposed; simultaneous ops count
    once. Equal in all rows of these devices [us]"""
    total_exposed_span_percent: float | None
    """total_exposed_us as a share of the spans of these devices; NULL if the spans are 0 [percent
    0..100]"""

class ExposedCommunicationByStep(NamedTuple):
    run: str
    """name of the run"""
    step: int | None
    """number of the step; NULL for communication outside of all steps. Rows of a device add up to
    its times in device_time"""
    name: str | None
    """name of the step; NULL if it has no name"""
    dropped: int | None
    """1: XProf drops the step as possibly incomplete; NULL outside of all steps [0 or 1]"""
    host: str
    """name of the device's host"""
    plane: str
    """name of the device"""
    step_ms: float | None
    """duration of the step on the device's core; NULL outside of all steps [ms]"""
    communicating_ms: float
    """time in which a collective of the step ran on the device [ms]"""
    exposed_communication_ms: float
    """part of communicating_ms in which the device did not compute [ms]"""
    exposed_communication_percent: float | None
    """exposed_communication_ms as a share of communicating_ms; NULL if that is 0 [percent
    0..100]"""
    exposed_communication_step_percent: float | None
    """exposed_communication_ms as a share of step_ms; NULL if that is 0 or NULL [percent]"""
    transferring_ms: float
    """time in which a transfer of the step ran on the device [ms]"""
    exposed_transfer_ms: float
    """part of transferring_ms in which the device did not compute [ms]"""
    exposed_transfer_percent: float | None
    """exposed_transfer_ms as a share of transferring_ms; NULL if that is 0 [percent 0..100]"""
    exposed_transfer_step_percent: float | None
    """exposed_transfer_ms as a share of step_ms; NULL if that is 0 or NULL [percent]"""

class FlopsUtilizationByStep(NamedTuple):
    run: str
    """name of the run"""
    step: int
    """number of the step, as in the table steps"""
    name: str | None
    """name of the step; NULL if it has no name"""
    duration_ms: float
    """duration of the step [ms]"""
    flops: float | None
    """operations of the step on all devices. An op's hlo_ops.flops_actual is divided evenly over
    its events (on TPUs, separately for each host). For a program with kernels of CUDA graphs,
    program_flops.hardware_flops is divided evenly over the program's kernels. Ops with unknown
    operations count as 0. NULL if the operations of all ops are unknown, if kernels of unknown
    operations take more than a tenth of the busy time (docs/semantics.md, FLOPS utilization), and
    in a run with both GPUs and TPUs [FLOP]"""
    model_flops: float | None
    """model operations of the step on all devices, without ops that are computed again; found in
    the same way as flops; NULL if flops is unknown [FLOP]"""
    gflops_per_device: float | None
    """flops divided by the step's duration and by the number of GPUs or TensorCores with work; NULL
    if flops is NULL [GFLOP/s]"""
    peak_gflops: float | None
    """peak FLOP rate of one device; NULL if unknown [GFLOP/s]"""
    utilization_percent: float | None
    """gflops_per_device as a share of peak_gflops (hardware FLOPS utilization, HFU); above 100 if
    the file overestimates the operations; NULL if either is unknown [percent]"""
    model_utilization_percent: float | None
    """utilization_percent computed from model_flops (model FLOPS utilization, MFU); NULL if either
    is unknown [percent]"""

class Fragmentation(NamedTuple):
    run: str
    """name of the run"""
    host: str
    """name of the host; the first, if several hosts have equal values"""
    program_id: str
    """id of the program, decimal"""
    hlo_module: str
    """name of the program's HLO module"""
    memory_space: int
    """memory space: 0 is the device's main memory"""
    allocated_mib: float
    """size of the allocations for temporaries [MiB]"""
    peak_mib: float
    """largest part of allocated_mib in use at one time [MiB]"""
    unused_mib: float
    """part of allocated_mib that is unused even at the peak; programs that use all of it have no
    row [MiB]"""
    unused_percent: float
    """unused_mib as a share of allocated_mib [percent 0..100]"""
    hosts: int
    """number of hosts that have this program with these values [hosts]"""

class FusionBreakdown(NamedTuple):
    run: str
    """name of the run"""
    program_id: str
    """id of the program, decimal"""
    hlo_module: str
    """name of the program's HLO module"""
    hlo_op: str
    """name of the fusion"""
    category: str
    """kind of the fusion"""
    self_time_us: float | None
    """total self time of the fusion, over all executions on all hosts: on TPUs of the ops in
    hlo_ops, else of those in scope_ops. NULL if no time was measured, or if other hosts have a
    different op with this name and program id [us]"""
    occurrences: int | None
    """executions of the fusion on all cores (on TPUs hlo_ops.occurrences_actual, else
    scope_ops.executions); NULL if self_time_us is NULL"""
    flops: int | None
    """floating-point operations of one execution (hlo_instructions.model_flops_actual); NULL if
    unknown [FLOP]"""
    bytes_accessed: int | None
    """bytes read and written by one execution (hlo_instructions.bytes_accessed_actual); NULL if
    unknown [bytes]"""
    instructions: int
    """number of instructions in the fusion, without parameters; fusions that contain only
    parameters have no row [instructions]"""
    opcodes: str
    """opcodes of the fusion's instructions with their counts, most frequent first"""
    tf_op: str | None
    """framework op of the fusion's root; NULL if unknown"""
    source_line: str | None
    """source file and line of the innermost stack frame, which may be in a library; NULL if
    unknown"""
    user_file: str | None
    """source file of the user's own program, not of a library or framework (docs/semantics.md, User
    line); NULL if unknown"""
    user_line: int | None
    """line number in user_file; NULL if user_file is NULL"""
    hosts: int
    """number of hosts that have this program with these values [hosts]"""

class GpuCounters(NamedTuple):
    run: str
    """name of the run"""
    host: str
    """name of the host"""
    plane: str
    """name of the GPU's plane"""
    name: str
    """name of the counter: NVIDIA's name of the metric, which says what it counts and in which unit
    (sm__cycles_active.sum, dram__bytes_read.sum), or profsql-capture's (power_mw)"""
    start_ps: int
    """time of the sample, from the start of the session [ps]"""
    start_us: float
    """start_ps in microseconds [us]"""
    interval_us: float | None
    """time since the previous sample of this counter on this plane; the value of a counter that is
    a sum belongs to this time; NULL for the first sample. Samples with equal times are in file
    order [us]"""
    value: float | None
    """value of the counter, in its unit: the first stat of the event, or of its metadata if it has
    none; NULL if that is not a number"""

class GpuSamples(NamedTuple):
    run: str
    """name of the run"""
    host: str
    """name of the host"""
    plane: str
    """name of the GPU's plane"""
    start_ps: int
    """time of the sample, from the start of the session; if a name has several values at this time,
    the row has the largest [ps]"""
    start_us: float
    """start_ps in microseconds [us]"""
    power_w: float | None
    """power that the board draws (most GPUs average it over a second); NULL if not in this sample
    [W]"""
    sm_clock_mhz: int | None
    """clock rate of the multiprocessors; NULL if not in this sample [MHz]"""
    memory_clock_mhz: int | None
    """clock rate of the memory; NULL if not in this sample [MHz]"""
    gpu_utilization_percent: float | None
    """share of the driver's last sample period (up to a second) in which a kernel of any process
    ran; NULL if not in this sample [percent 0..100]"""
    memory_utilization_percent: float | None
    """share of the driver's last sample period (up to a second) in which memory was read or
    written; NULL if not in this sample [percent 0..100]"""
    temperature_c: int | None
    """temperature of the GPU; NULL if not in this sample [degrees Celsius]"""
    memory_used_bytes: int | None
    """memory in use by all processes and the driver; NULL if not in this sample [bytes]"""

class HostBound(NamedTuple):
    run: str
    """name of the run"""
    what: str
    """activity. devices: work of the devices themselves, collectives and copies between devices
    included; input; output. On GPUs and hosts without devices also: host compute, kernel launch,
    compilation (if host threads are recorded), host copies (within the host, if any), all others
    (no known activity, often Python). On TensorCores also: idle"""
    ms_per_step: float
    """average time of the activity per complete step and core (a TensorCore, all GPUs of a host, or
    the threads of a host) [ms]"""
    percent: float | None
    """time of the activity as a share of the duration of all complete steps, summed over all cores;
    the rows of a run add up to 100; NULL if the steps have no duration [percent 0..100]"""
    bound: str | None
    """whether the run is host bound: yes if the devices take less than half of the step time, else
    no; NULL without devices"""

class HostOnlyOps(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank by self time within the run"""
    operation: str
    """name of the op; in a run of several hosts, it has no work on a device of any host, neither in
    tf_ops nor in kernel_time_by_op. Names without a type, as in records of allocators, and
    XlaModule, under which XLA launches kernels, are no framework ops"""
    type: str
    """type of the op, such as ConcatV2; Dataset for an iterator of an input pipeline"""
    execution_mode: str
    """whether the op ran eagerly, as in tf_ops"""
    occurrences: int
    """number of times that it ran on the hosts; as in tf_ops, records of allocators that name the
    op count too [events]"""
    total_time_us: float
    """sum of its durations on host threads [us]"""
    self_time_us: float
    """part of total_time_us without ops nested directly in it [us]"""
    percent: float | None
    """self time as a share of the self time of all framework ops on the hosts, ops with work on a
    device included; NULL if that is 0 [percent]"""

class HostWaits(NamedTuple):
    run: str
    """name of the run"""
    host: str
    """name of the host"""
    line: str
    """name of the thread"""
    name: str
    """name of the waiting event: one that idle_causes counts as waiting, such as
    cudaStreamSynchronize or block_until_ready (docs/semantics.md), or a Python frame whose name
    ends in item or tolist, after a blank or a dot. Waits for threads of XLA's CPU executor, (wait
    for completion) and ThreadPool::Await, do not count. A wait inside another wait is not counted
    again"""
    called_by: str | None
    """name of the event around the longest of these waits on the thread (trace_events.parent_id);
    NULL if there is none"""
    calls: int
    """number of waits [events]"""
    total_us: float
    """sum of the durations of the waits [us]"""
    average_us: float
    """average duration of a wait [us]"""
    longest_us: float
    """duration of the longest wait [us]"""
    longest_start_us: float
    """start of the longest wait, from the session start [us]"""
    longest_step: int | None
    """step of the longest wait; NULL if it is in none"""

class IdleGaps(NamedTuple):
    run: str
    """name of the run"""
    host: str
    """name of the host"""
    plane: str
    """name of the device: GPU or TensorCore, or SparseCore if no GPU or TensorCore of the run has
    work; if the run has no device, name of the process, which is idle when none of its threads runs
    an op"""
    start_ps: int
    """start of the gap. Until then the device is busy; ops that wait, such as copy-done, count as
    busy [ps]"""
    start_us: float
    """start_ps in microseconds [us]"""
    duration_us: float
    """duration of the gap [us]"""
    before: str
    """name of the op that ends at the start of the gap; if there are several, the one that started
    first, then the first in the file"""
    before_short_name: str
    """readable form of before, as trace_events.short_name"""
    after: str
    """name of the op that starts at the end of the gap; if there are several on one line, the one
    that contains the others (longest, then first in the file); if there are several lines, the one
    that ends first"""
    after_short_name: str
    """readable form of after, as trace_events.short_name"""

class InputBound(NamedTuple):
    run: str
    """name of the run"""
    verdict: str
    """host: input bound, both: partly or perhaps input bound, device: not input bound, unknown: no
    steps. Equal to input_pipeline.input_verdict_actual, except that it is both instead of device if
    the run has no input op and no input time, and host code of unknown purpose (causes host and
    python of idle_causes) leaves the devices idle for 5% or more of the complete steps' time"""
    input_percent: float | None
    """share of step time spent on input; NULL without steps [percent 0..100]"""
    statement: str
    """the verdict as a sentence"""
    largest_part: str | None
    """part of the host's input time that takes longest: Enqueue, Demanded file read, Advanced file
    read, Preprocessing or Unclassified; NULL without input time"""
    part_percent: float | None
    """time of largest_part as a share of the host's input time; NULL without input time [percent
    0..100]"""
    top_operation: str | None
    """input op with the longest self time; NULL if the trace has no ops of an input pipeline
    (tf.data, infeed). Other data loaders are not recognized; advice then says so"""
    top_operation_ms: float | None
    """self time of top_operation, over all threads; NULL without an input op [ms]"""
    advice: str | None
    """what to try to speed up the largest part (input_breakdown.advice); without a largest part,
    the part that top_operation is in. For Preprocessing, the advice depends on the pipeline: on
    whether python_ms is at least half of top_operation_ms, and on whether all its maps are
    parallel. NULL if the run is not input bound, or if that is unknown and its input ops take no
    time"""
    suspect: str | None
    """what the host does longest while the devices are idle, other than compiling, launching,
    copying or waiting (causes host and python of idle_causes); often the data loader. The name is
    that of the annotation or event around this activity (idle_causes.name), or of the Python frame
    if there is no annotation, or only the step's own (steps.name without a number at its end). NULL
    unless the run may be input bound and has no input op"""
    suspect_ms: float | None
    """idle time of suspect, the sum of its rows of idle_causes; NULL without suspect [ms]"""
    python_ms: float | None
    """time of Python functions that the input pipeline calls (EagerPyFunc, PyFunc,
    PyFuncStateless), over all threads; Python runs one of them at a time; NULL if there are none
    [ms]"""

class KernelTimeByOp(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank by total time within the run; 1 is the longest"""
    type: str | None
    """type of the op; NULL if the file does not record it"""
    operation: str | None
    """name of the framework op; name of the HLO op if the program names no framework op; name of
    the CUDA graph if the instruction of its kernel is unknown; NULL if the file names no op"""
    occurrences: int
    """number of kernels and copies that ran for the op"""
    kernel_count: int
    """number of different names among the op's kernels and copies [kernels]"""
    total_time_us: float
    """sum of the durations of the op's kernels and copies on the event clock [us]"""
    avg_time_us: float
    """average duration of one of the op's kernels and copies [us]"""
    percent: float | None
    """total_time_us as a share of the time of all kernels and copies of the run; NULL if all
    durations are 0 [percent 0..100]"""
    tensorcore_utilization_fraction: float | None
    """share of the op's kernel time in kernels on tensor cores, judged by their names; NULL without
    kernels [fraction 0..1]"""

class Kpi(NamedTuple):
    run: str
    """name of the run"""
    hardware: str | None
    """kind of hardware of the run: CPU_ONLY, GPU or TPU; NULL if unknown, as for an HLO dump"""
    device_count: int | None
    """number of GPUs, TensorCores and SparseCores (rows of the table devices), with or without
    work; NULL for a run that has neither a device nor an event"""
    step_count: int | None
    """number of complete steps; NULL if no event was recorded"""
    step_time_ms: float | None
    """average duration of a complete step; NULL without complete steps [ms]"""
    step_time_deviation_percent: float | None
    """sample standard deviation of the step time as a share of the average; NULL for fewer than two
    steps [percent]"""
    input_percent: float | None
    """share of the complete steps, over all cores, spent on input (as in host_bound); NULL without
    steps [percent 0..100]"""
    input_verdict: str
    """host: input bound, both: partly or perhaps input bound, device: not input bound, unknown: no
    steps; as in input_bound"""
    active_device_count: int | None
    """number of main devices with work; the percentages of a span are shares of their time. Main
    devices are GPUs and TensorCores, or SparseCores if no GPU or TensorCore has work; NULL if no
    event was recorded"""
    compute_percent: float | None
    """share of the main devices' spans in which they compute, without collectives and transfers
    (computing_ps of device_time); NULL without devices that work [percent 0..100]"""
    collectives_percent: float | None
    """share of the main devices' spans in which collectives run (communicating_ps of device_time);
    NULL without devices that work [percent 0..100]"""
    exposed_communication_percent: float | None
    """share of the main devices' spans in which collectives run and the device does not compute;
    NULL without devices that work [percent 0..100]"""
    device_busy_percent: float | None
    """share of the main devices' spans in which they are busy (busy_ps of device_time); NULL
    without devices that work [percent 0..100]"""
    step_device_percent: float | None
    """share of the complete steps, over all cores, in which devices work (row devices of
    host_bound). Unlike device_busy_percent, it leaves out the time before, between and after the
    steps; NULL without devices or steps [percent 0..100]"""
    duty_cycle_percent: float | None
    """share of time in which the TPU chips compute; NULL if not on TPU [percent 0..100]"""
    flops_utilization_percent: float | None
    """operations of the steps as a share of what the devices' peak allows in that time; above 100
    if the file overestimates the operations; NULL if either is unknown [percent]"""
    mfu_percent: float | None
    """model operations as a share of what the devices' peak allows in their spans (as in mfu for
    the run); NULL if either is unknown [percent]"""
    kernel_launch_percent: float | None
    """share of step time spent on launching kernels; NULL on TPU, and without devices or steps
    [percent 0..100]"""
    peak_memory_mib: float | None
    """largest memory in use at one time, as recorded by an allocator; without allocator events, as
    planned by the compiler for a program; NULL if neither is known [MiB]"""
    peak_memory_of: str | None
    """name of the allocator or program with this peak ("allocator 0" for one that has a number
    instead); NULL if neither is known"""

class LargestBuffers(NamedTuple):
    run: str
    """name of the run"""
    program_id: str
    """id of the program, decimal"""
    hlo_module: str
    """name of the program's HLO module"""
    hlo_op: str
    """HLO instruction whose result the buffer contains, with the index of the part"""
    kind: str
    """kind of the buffer: parameter, output, constant or temporary"""
    size_mib: float
    """size of the buffer, padding included [MiB]"""
    peak_percent: float
    """size of the buffer as a share of the program's peak [percent 0..100]"""
    expansion: float
    """size of the buffer divided by its size without padding [ratio]"""
    shape: str
    """shape of the buffer, with layout"""
    tf_op: str | None
    """framework op that the instruction comes from; NULL if unknown"""
    source_line: str | None
    """source file and line of the innermost stack frame, which may be in a library; NULL if
    unknown"""
    user_file: str | None
    """source file of the user's own program, not of a library or framework (docs/semantics.md, User
    line); NULL if unknown"""
    user_line: int | None
    """line number in user_file; NULL if user_file is NULL"""
    scope: str | None
    """layer, module or named scope of the owner (docs/semantics.md, Scope); NULL if it has none"""
    owner_tf_op: str | None
    """framework op that the buffer belongs to: tf_op, else that of the instruction's owner
    (docs/semantics.md, Owner); NULL if it has none"""
    hosts: int
    """number of hosts that have this program with these values [hosts]"""

class LayoutOps(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank by self time within the run"""
    plane_kind: str
    """kind of the planes on which the op ran: gpu, tensorcore or sparsecore; host in a run without
    devices"""
    hlo_module: str
    """name of the program's HLO module"""
    hlo_op: str
    """HLO instruction: a copy, a transpose, or a fusion that contains nothing but these, reshapes
    and bitcasts. Copies inside other fusions have no time of their own"""
    opcode: str
    """opcode of the instruction"""
    shape: str
    """shape of the instruction's result, with layout"""
    operand_shape: str
    """shape of the instruction's first operand, with layout"""
    occurrences: int
    """number of events; equal programs of several hosts are combined [events]"""
    self_us: float
    """self time [us]"""
    percent: float | None
    """self time as a share of the self time of all ops on these planes; NULL if that is 0
    [percent]"""
    all_percent: float
    """percent of all rows of this run and plane_kind together; n does not change it [percent]"""
    needed_by: str | None
    """instruction that uses the result (the one with the lowest instruction_id, if there are
    several); NULL if none does (an output)"""
    owner_tf_op: str | None
    """framework op that the instruction belongs to (docs/semantics.md, Owner); NULL if there is
    none"""
    user_file: str | None
    """source file of the user's own program (docs/semantics.md, User line); NULL if unknown"""
    user_line: int | None
    """line number in user_file; NULL if user_file is NULL"""

class LiveAllocations(NamedTuple):
    run: str
    """name of the run"""
    host: str
    """name of the host"""
    allocator: str
    """name of the allocator"""
    kind: str
    """allocation: made during the capture; earlier: other heap memory, allocated before the capture
    or not recorded; stack: reserved in addition to the heap, for example for TPU programs"""
    tf_op: str | None
    """op that requested the memory; NULL if unknown"""
    region_type: str | None
    """kind of memory region: temp, output, persist/dynamic and others; NULL if unknown"""
    data_type: str | None
    """element type of the tensor; NULL if unknown"""
    shape: str | None
    """shape of the tensor; NULL if unknown"""
    allocations: int | None
    """number of live allocations that the row combines; NULL if kind is not allocation
    [allocations]"""
    allocated_bytes: int
    """total bytes of the row's allocations, or of its earlier or stack memory; the rows of an
    allocator add up to heap_bytes + stack_bytes in its last row of memory_events at the event or
    peak [bytes]"""
    requested_bytes: int | None
    """total bytes requested for the row's allocations; NULL if kind is not allocation [bytes]"""
    oldest_us: float | None
    """age of the row's oldest allocation at the event or peak; NULL if kind is not allocation
    [us]"""

class LiveAt(NamedTuple):
    run: str
    """name of the run"""
    program_id: str
    """id of the program, decimal"""
    hlo_module: str
    """name of the program's HLO module"""
    at_event: int | None
    """event at which the buffers are live; what it allocates is already live, and what it frees is
    still live; NULL for the peak of a program without temporaries"""
    hlo_op: str
    """HLO instruction whose result the buffer contains, with the index of the part"""
    kind: str
    """kind of the buffer: parameter, output or constant (live during the entire program), or
    temporary"""
    size_mib: float
    """size of the buffer, padding included [MiB]"""
    expansion: float
    """size of the buffer divided by its size without padding [ratio]"""
    start_event: int | None
    """event that allocates the buffer's storage; NULL if it is live during the entire program"""
    end_event: int | None
    """event that frees the buffer's storage, after the last buffer that shares it is freed; NULL if
    it is live during the entire program"""
    shape: str
    """shape of the buffer, with layout"""
    tf_op: str | None
    """framework op that the instruction comes from; NULL if unknown"""
    source_line: str | None
    """source file and line of the innermost stack frame, which may be in a library; NULL if
    unknown"""
    user_file: str | None
    """source file of the user's own program, not of a library or framework (docs/semantics.md, User
    line); NULL if unknown"""
    user_line: int | None
    """line number in user_file; NULL if user_file is NULL"""
    scope: str | None
    """layer, module or named scope of the owner (docs/semantics.md, Scope); NULL if it has none"""
    owner_tf_op: str | None
    """framework op that the buffer belongs to: tf_op, else that of the instruction's owner
    (docs/semantics.md, Owner); NULL if it has none"""
    hosts: int
    """number of hosts that have this program with these values [hosts]"""

class MemoryBySourceLine(NamedTuple):
    run: str
    """name of the run"""
    program_id: str
    """id of the program, decimal"""
    hlo_module: str
    """name of the program's HLO module"""
    user_file: str | None
    """source file of the user's own program, not of a library or framework (docs/semantics.md, User
    line); NULL for buffers that come from none"""
    user_line: int | None
    """line number in user_file; NULL if user_file is NULL"""
    buffers: int
    """number of the line's buffers that are live at the peak [buffers]"""
    size_mib: float
    """total size of the line's live buffers, padding included [MiB]"""
    padding_mib: float
    """part of size_mib that is padding [MiB]"""
    percent: float
    """size_mib as a share of all buffers that are live at the program's peak [percent 0..100]"""
    largest_op: str
    """HLO instruction of the line's largest live buffer"""
    shape: str
    """shape of the line's largest live buffer"""
    tf_op: str | None
    """framework op of the line's largest live buffer, or of its owner (docs/semantics.md, Owner);
    NULL if unknown"""
    hosts: int
    """number of hosts that have this program with these values [hosts]"""

class MemoryGrowth(NamedTuple):
    run: str
    """name of the run"""
    host: str
    """name of the host"""
    allocator: str
    """name of the allocator, as in memory_allocators"""
    steps: int
    """number of steps (memory_events.step) in which the allocator recorded events; allocators with
    fewer than two have no row [steps]"""
    first_step: int
    """number of the first of these steps, in order of their first events"""
    last_step: int
    """number of the last of these steps"""
    first_mib: float
    """memory in use, heap and stack, after the last event of the first step [MiB]"""
    last_mib: float
    """memory in use after the last event of the last step [MiB]"""
    growth_mib: float
    """last_mib - first_mib; below 0 if the memory in use fell [MiB]"""
    growth_per_step_mib: float
    """growth_mib per step from the first to the last; below 0 as growth_mib [MiB]"""
    growing_steps: int
    """number of steps that ended with more memory in use than the step before them; with a leak,
    nearly all do [steps]"""
    most_growth_step: int | None
    """number of the step in which the memory in use grew most; NULL if it grew in none"""

class Mfu(NamedTuple):
    run: str
    """name of the run"""
    scope: str
    """what the row describes: run, step (a complete step) or program (all executions of one HLO
    program); the row of the run is first"""
    step: int | None
    """number of the step, as in the table steps; NULL for other scopes"""
    program_id: str | None
    """id of the HLO program; NULL for other scopes"""
    name: str | None
    """name of the step or of the HLO module; NULL for the run and if unknown"""
    device_type: str | None
    """type of the devices, as in the table devices; NULL if they are of several types or no type is
    known"""
    device_count: int
    """number of GPUs or TensorCores with work"""
    model_flops: float | None
    """operations on all devices that the model needs, without those that are computed again
    (program_flops.model_flops). Ops with unknown operations count as 0; NULL if the operations of
    all ops are unknown, and if kernels of unknown operations take more than a tenth of the busy
    time (docs/semantics.md, FLOPS utilization) [FLOP]"""
    hardware_flops: float | None
    """operations that the devices carried out, those computed again included
    (program_flops.hardware_flops), in which 8-bit operations count as a half and 4-bit ones as a
    quarter; NULL if model_flops is unknown, or the operations are 0 [FLOP]"""
    span_ms: float | None
    """available time, averaged over the devices: for the run, the device's span; for a step, its
    duration; for a program, the total duration of its executions (program_runs); NULL if these are
    unknown [ms]"""
    busy_ms: float | None
    """time spent, averaged over the devices: for the run, the time in which the device is busy; for
    a program, the self time of its ops (simultaneous kernels on several streams add up); NULL for
    steps [ms]"""
    peak_flops: float | None
    """peak rate of one device (average if they differ): the parameter peak, else that of the table
    devices; NULL if unknown [FLOP/s]"""
    mfu_percent: float | None
    """model FLOPS utilization: model_flops as a share of what the devices' peak allows in their
    span_ms; above 100 if the file overestimates the operations or the peak is too low; NULL if one
    of them is unknown [percent]"""
    mfu_busy_percent: float | None
    """model_flops as a share of what the devices' peak allows in their busy_ms; NULL if one of them
    is unknown [percent]"""
    hfu_percent: float | None
    """hardware FLOPS utilization: hardware_flops as a share of what the devices' peak allows in
    their span_ms; NULL if one of them is unknown [percent]"""
    missing: str | None
    """what mfu_percent and mfu_busy_percent lack if both are NULL: operations, or the peak; NULL if
    neither is missing"""

class Missing(NamedTuple):
    run: str
    """name of the run"""
    missing: str
    """what the file does not contain, looked for in all hosts of the run (docs/semantics.md,
    Missing). What was lost, cut off or dropped is not listed here but in prof_issues"""
    cannot_answer: str
    """questions without an answer because of that"""
    tables: str | None
    """tables, queries and columns that are empty, NULL or incomplete because of that, separated by
    commas"""
    option: str | None
    """option of the profiler, or what else records it; NULL if no option is known. Options are
    those of jax.profiler.ProfileOptions and tf.profiler.experimental.ProfilerOptions unless the
    text names another program; options that start with -- are those of profsql-capture, if it
    recorded the run"""
    how: str
    """how to set the option, or what to do instead"""

class OpTimeByCategory(NamedTuple):
    run: str
    """name of the run"""
    host_or_device: str
    """where the op ran: Device or Host"""
    category: str | None
    """category of HLO ops, or type of framework ops; on GPUs, for events with neither: copy, memset
    or collective; IDLE: time without any op (on GPUs idle_ps of device_time); NULL if unknown. Ops
    of unknown category that take no time have no row"""
    op_count: int
    """number of different ops in the category; kernels without an op count by kernel name [ops]"""
    occurrences: int
    """number of times that the category's ops ran"""
    self_time_us: float
    """total time of the category's ops without nested ops, summed over devices, streams or threads
    [us]"""
    percent: float | None
    """self time as a share of the side's time (Device or Host), IDLE included; overlapping streams
    each count; NULL if that is 0 [percent 0..100]"""
    percent_of_ops: float | None
    """self time as a share of the side's time in ops; NULL for IDLE [percent 0..100]"""
    flops: float | None
    """floating-point operations of the category's ops (model_flops_actual of hlo_ops; on GPUs and
    host threads, flops of scope_ops); NULL if none or unknown [FLOP]"""
    bytes_accessed: float | None
    """bytes that the category's ops read and wrote (bytes_accessed_actual of hlo_ops; on GPUs and
    host threads, bytes_accessed of scope_ops); NULL if none or unknown [bytes]"""

class OpTimeByLine(NamedTuple):
    run: str
    """name of the run"""
    host: str
    """name of the host"""
    plane: str
    """name of the plane: a device or the host's threads"""
    line: str
    """name of the line: a thread, a stream or a row of a device"""
    rank: int
    """rank of the operation by self time on its line; 1 is the longest"""
    operation: str
    """short name of the operation"""
    hlo_module: str | None
    """HLO module of the operation on a TPU; NULL elsewhere, because there a row combines all events
    of the same name of all programs"""
    occurrences: int
    """number of times that the operation ran on the line [events]"""
    total_time_us: float
    """sum of the durations on the event clock, nested operations included [us]"""
    self_time_us: float
    """sum of the durations without the operations nested directly in this one; below 0 if these
    overlap each other [us]"""
    line_percent: float | None
    """self time of the operation as a share of the line's self time; negative if self_time_us is
    negative; NULL if all self times are 0 [percent]"""

class OverviewPage(NamedTuple):
    run: str
    """name of the run"""
    section: str
    """section of the page: Performance, Environment, Top ops or Recommendation"""
    item: str
    """label on the page, name of the operation, or subject of the recommendation"""
    value: str | None
    """value as the page prints it; for ops, the share of the devices' time; for recommendations,
    their text; NULL if unknown"""
    unit: str | None
    """unit of the value; NULL if it has none"""

class PaddingWaste(NamedTuple):
    run: str
    """name of the run"""
    program_id: str
    """id of the program, decimal"""
    hlo_module: str
    """name of the program's HLO module"""
    hlo_op: str
    """HLO instruction whose result the buffer contains, with the index of the part"""
    memory_space: int
    """memory space: 0 is the device's main memory"""
    padding_mib: float
    """part of the buffer that contains no data [MiB]"""
    size_mib: float
    """size of the buffer, padding included [MiB]"""
    expansion: float
    """size of the buffer divided by its size without padding [ratio]"""
    live_at_peak: int | None
    """1: the buffer counts in the program's peak; NULL if unknown [0 or 1]"""
    shape: str
    """shape of the buffer, with layout; the first T(...) is the tile to which the fastest-varying
    dimensions are rounded up"""
    tf_op: str | None
    """framework op that the instruction comes from; NULL if unknown"""
    source_line: str | None
    """source file and line of the innermost stack frame, which may be in a library; NULL if
    unknown"""
    user_file: str | None
    """source file of the user's own program, not of a library or framework (docs/semantics.md, User
    line); NULL if unknown"""
    user_line: int | None
    """line number in user_file; NULL if user_file is NULL"""
    self_time_us: float | None
    """total self time of the instruction, over all executions on all hosts: on TPUs of the ops in
    hlo_ops, else of those in scope_ops. NULL if no time was measured, or if other hosts have a
    different op with this name and program id [us]"""
    padding_time_us: float | None
    """part of self_time_us spent on the padding of this buffer, if the instruction's time is
    proportional to the bytes of all of its results; NULL if self_time_us is NULL [us]"""
    hosts: int
    """number of hosts that have this program with these values [hosts]"""

class PeakHolders(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank within the run: peaks that an allocator recorded come first, then those that the
    compiler planned; of each kind, the largest peak first, and for each peak, the largest holder
    first"""
    host: str
    """name of the host; the first, if several hosts have the program"""
    peak_of: str
    """name of the allocator, or of the program (HLO module), whose peak it is"""
    recorded_by: str
    """allocator: the peak happened during the capture; compiler: the peak of the program's plan for
    one device, which an execution reaches if it gets that far"""
    program_id: str | None
    """id of the program, decimal; NULL for allocators"""
    peak_mib: float
    """memory in use at the peak; the holders of a peak add up to it [MiB]"""
    kind: str
    """for an allocator: allocation (made during the capture), earlier (made before the allocator's
    first event and not freed since), stack (reserved in addition to the heap, for example for TPU
    programs) or unknown (the rest of the heap). For a program: parameter, output or constant (live
    during the entire program), temporary, or unknown (the rest of the peak)"""
    hlo_op: str | None
    """HLO instruction whose result is held, with the index of the part; NULL for allocators and
    unknown"""
    tf_op: str | None
    """framework op that requested the memory, or that the instruction comes from; NULL if
    unknown"""
    source_line: str | None
    """source file and line of the instruction's innermost stack frame, which may be in a library;
    NULL for allocators and if unknown"""
    region_type: str | None
    """kind of memory region, as in memory_events; NULL for programs and if unknown"""
    data_type: str | None
    """element type of the tensors, as in memory_events; NULL for programs, if unknown and for type
    0, INVALID"""
    shape: str | None
    """shape of the tensor, for programs with its layout; NULL if unknown"""
    holders: int | None
    """number of allocations (equal in kind, tf_op, region_type, data_type and shape) or buffers
    that the row combines; NULL for earlier, stack and unknown"""
    size_bytes: int
    """size of the row's allocations or buffers, padding included; buffers of 0 bytes are left out;
    negative for kind unknown if the allocator reports less memory than its live allocations have
    [bytes]"""
    size_mib: float
    """size_bytes in MiB; negative if size_bytes is negative [MiB]"""
    percent: float | None
    """size_bytes as a share of the peak; negative if size_bytes is negative; NULL if the peak is 0
    [percent]"""
    since_us: float | None
    """time at which the oldest of the allocations was made, from the session start; NULL for other
    kinds and for programs [us]"""
    held_us: float | None
    """time from since_us to the peak; NULL if since_us is NULL [us]"""
    since_op: str | None
    """HLO instruction at which the storage of a temporary is allocated; NULL for other kinds and
    for allocators"""
    hosts: int
    """number of hosts that have this program (content_hash of hlo_modules); 1 for allocators
    [hosts]"""

class PeakMemory(NamedTuple):
    run: str
    """name of the run"""
    host: str
    """name of the host; the first, if several hosts have equal values"""
    program_id: str
    """id of the program, decimal"""
    hlo_module: str
    """name of the program's HLO module"""
    peak_mib: float
    """largest memory in use at one time [MiB]"""
    parameters_mib: float
    """size of the arguments of the program, part of the peak [MiB]"""
    outputs_mib: float
    """size of the allocations that the program may return; an allocation that is also an argument
    counts in both columns [MiB]"""
    temporaries_mib: float
    """size of the temporaries that are live at the peak [MiB]"""
    padding_mib: float
    """part of temporaries_mib that is padding [MiB]"""
    fragmentation_mib: float | None
    """memory allocated for temporaries that is unused even at the peak; NULL if the peak exceeds
    the allocations [MiB]"""
    allocated_mib: float
    """size of all allocations [MiB]"""
    peak_op: str | None
    """instruction at which the peak is reached; NULL if temporaries_mib is 0"""
    hosts: int
    """number of hosts that have this program with these values [hosts]"""

class ProgramCost(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank within the run: programs that compiled during the capture first, those that compiled
    longest before the others, then by FLOPs"""
    program_id: str
    """id of the program, decimal"""
    hlo_module: str
    """name of the program's HLO module"""
    instructions: int
    """number of instructions in all computations; a Python loop that JAX unrolls adds its body for
    each iteration, a scan adds it once [instructions]"""
    computations: int
    """number of computations [computations]"""
    loops: int
    """number of while loops in the program [instructions]"""
    flops: float | None
    """operations of one execution, as XLA's compiled.cost_analysis() counts them, library calls
    included; custom calls as the metadata of a TPU's events counts them. Each loop counts one
    iteration. NULL if unknown for one instruction"""
    bytes_accessed: float | None
    """bytes read plus bytes written by the instructions of the entry computation in one execution
    (hlo_instructions.bytes_accessed_actual), library calls included. Each loop counts one
    iteration. NULL if unknown for one instruction [bytes]"""
    parameter_mib: float | None
    """size of the program's parameters; NULL if unknown [MiB]"""
    peak_mib: float | None
    """peak memory of the program, parameters and outputs included; NULL if unknown [MiB]"""
    compile_ms: float | None
    """time that it took to compile the program during the capture (the longest, if several hosts
    did); NULL if it was compiled before [ms]"""
    executions: int | None
    """number of executions on all devices of these hosts; NULL if the run records no execution of
    any program, as without devices [executions]"""
    hosts: int
    """number of hosts that have this program with these values [hosts]"""

class ProgramFlops(NamedTuple):
    run: str
    """name of the run"""
    program_id: str | None
    """id of the HLO program, decimal; NULL for ops of no program"""
    hlo_module: str | None
    """name of the HLO module; NULL if unknown"""
    executions: int | None
    """number of executions on all devices (program_runs); NULL if none is recorded [executions]"""
    occurrences: int
    """number of events of its ops [events]"""
    op_ms: float
    """self time of its ops on all devices (simultaneous kernels on several streams add up) [ms]"""
    unlisted_percent: float | None
    """share of op_ms that hlo_ops lacks: of kernels that record no instruction, as in CUDA graphs,
    and of programs that XLA rejects; 0 on TPUs; NULL if op_ms is 0 [percent]"""
    flops_by: str | None
    """how model_flops and hardware_flops are found. ops: sums over hlo_ops. program: operations
    that the program's instructions need in one execution, times program_totals.shown_executions;
    used if hlo_ops lacks some of the time. NULL if unknown"""
    model_flops: float | None
    """operations that the model needs, without those that are computed again: sum of
    hlo_ops.model_flops_actual, or of hlo_instructions.model_flops_actual times runs_per_execution.
    Ops with unknown operations count as 0. NULL if hlo_ops lacks more than a tenth of op_ms, and
    how often the program's instructions run is unknown too [FLOP]"""
    hardware_flops: float | None
    """operations that the devices carried out, those computed again included: the same sum of
    flops_actual; NULL if model_flops is NULL [FLOP]"""

class RangeKernels(NamedTuple):
    run: str
    """name of the run"""
    range_name: str
    """name of the range: the parameter, else the innermost annotation"""
    kernel: str
    """name of the kernel, copy or other event on the device"""
    short_name: str
    """name of the kernel without namespaces, template arguments and parameters, unique in the run
    (docs/semantics.md); for copies and other events the name"""
    launches: int
    """number of its launches under the range; each counts once, also in ranges that nest
    [events]"""
    total_us: float
    """time on the device of the launched work [us]"""
    avg_us: float
    """total_us divided by launches [us]"""
    percent: float | None
    """total_us as a share of the time of all work that was launched under the range in this run;
    NULL if that is 0 [percent 0..100]"""
    avg_delay_us: float
    """average launch latency (launch_delays.delay_us) [us]"""
    own_launches: int | None
    """launches without those of other threads: the call is on the line of a range that contains it,
    or on a line where only calls contain it, as drivers can record calls on lines of their own.
    Equals launches if the parameter range is NULL [events]"""
    own_us: float
    """time on the device of the work of own_launches [us]"""

class RematCandidates(NamedTuple):
    run: str
    """name of the run"""
    program_id: str
    """id of the program, decimal"""
    hlo_module: str
    """name of the program's HLO module"""
    hlo_op: str
    """HLO instruction whose result the value is, with the index of the part; later values may reuse
    its storage"""
    opcode: str
    """opcode of the instruction"""
    size_mib: float
    """size of the value: memory that recomputing it would save at the peak [MiB]"""
    peak_percent: float
    """size of the value as a share of the program's peak [percent 0..100]"""
    lived_percent: float
    """share of the heap trace's events between allocation and release of the value's storage
    [percent 0..100]"""
    flops: int
    """floating-point operations to recompute the value (hlo_instructions.model_flops_actual).
    Values without a row: those whose operations are unknown (for a custom call, also if they are
    0), communication, asynchronous copies, tuples, results of loops and calls, values with which a
    loop starts (it stores its results in their place), values of the instruction at which the peak
    is reached, and values that are already recomputed (named .remat by XLA, or in a
    rematted_computation of JAX) [FLOP]"""
    flops_per_byte: float
    """floating-point operations to recompute the value, per byte saved [FLOP/byte]"""
    shape: str
    """shape of the value, with layout"""
    tf_op: str | None
    """framework op that the instruction comes from; NULL if unknown"""
    source_line: str | None
    """source file and line of the innermost stack frame, which may be in a library; NULL if
    unknown"""
    user_file: str | None
    """source file of the user's own program, not of a library or framework (docs/semantics.md, User
    line); NULL if unknown"""
    user_line: int | None
    """line number in user_file; NULL if user_file is NULL"""
    hosts: int
    """number of hosts that have this program with these values [hosts]"""

class SlowStepOps(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank by difference_us within the run, 1 for the largest; what belongs to the step only by
    time (in_group = 0) comes last"""
    step: int
    """number of the step"""
    over_median_us: float | None
    """duration of the step minus the median duration of the other complete steps; NULL if there are
    none [us]"""
    plane_kind: str
    """where the op ran: host (threads), gpu, tensorcore or sparsecore"""
    name: str
    """name of the op or host event"""
    short_name: str
    """readable name: for events of GPUs without namespaces, template arguments and parameters,
    unique in the run (docs/semantics.md); for others the display name, else name; if there are
    several, the last in byte order"""
    in_group: int
    """1: the events have the step's group; 0: they belong to the step by their time, and may only
    run at the same time as it [0 or 1]"""
    occurrences: int
    """number of times that it ran in the step [events]"""
    self_us: float
    """self time in the step, summed over threads, devices and hosts; below 0 if events nested in it
    overlap each other [us]"""
    median_us: float | None
    """median of its self time over the other complete steps, 0 in a step in which it did not run;
    below 0 as self_us; NULL if there are no other complete steps [us]"""
    difference_us: float | None
    """self_us - median_us; below 0 if the op took less time in the step than in the median; NULL if
    median_us is NULL [us]"""
    other_steps: int
    """number of other complete steps in which it ran; 0 if it ran only in this step, as a
    compilation may [steps]"""

class SlowestSteps(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank of the step by duration within the run; 1 is the longest"""
    step: int
    """number of the step, as in the table steps"""
    name: str | None
    """name of the step; NULL if it has no name"""
    duration_ms: float
    """duration of the step [ms]"""
    over_median_ms: float
    """duration of the step minus the median of the run's complete steps; below 0 if the step is
    shorter [ms]"""
    spent_on: str | None
    """category in which the step exceeds the median of the complete steps most; NULL if it exceeds
    none"""
    spent_on_ms: float | None
    """excess of the step over the median in spent_on; NULL if spent_on is NULL [ms]"""
    more: str | None
    """all categories in which the step exceeds the median, largest excess first; NULL if it exceeds
    none"""
    dropped: int
    """1: the step is the first or last of more than five, so it may be incomplete, and the medians
    exclude it [0 or 1]"""

class SteadySteps(NamedTuple):
    run: str
    """name of the run"""
    steps: int
    """number of steady steps. A step is clean if XProf does not drop it and nothing was compiled in
    it. If more clean steps start before the last step with a compilation than after it, all clean
    steps are steady; otherwise only those after it [steps]"""
    left_out: int
    """number of the run's other steps [steps]"""
    compiling_steps: int
    """number of steps in which something was compiled: a compilation belongs to the step, or (in a
    run of one host) starts during it, or steps.compilation_ms_actual is above 0 [steps]"""
    first_step: int
    """lowest number of the steady steps"""
    median_ms: float
    """median duration of the steady steps [ms]"""
    average_ms: float
    """average duration of the steady steps [ms]"""
    shortest_ms: float
    """duration of the shortest steady step [ms]"""
    longest_ms: float
    """duration of the longest steady step [ms]"""
    deviation_ms: float | None
    """sample standard deviation of the steady steps; NULL for one step [ms]"""
    all_steps_ms: float
    """average duration of all steps of the run [ms]"""

class StepTimeGraph(NamedTuple):
    run: str
    """name of the run"""
    step: int
    """number of the step, as in the table steps"""
    name: str | None
    """name of the step; NULL if it has no name"""
    duration_ms: float
    """duration of the step [ms]"""
    graph: str
    """bar of the step, one letter per activity. C: computing on devices, A: collectives, D: copies
    between devices, I: input, O: output, H: host, L: launching kernels, X: compiling, dot: the rest
    (no known activity, copies within the host, and time after a core finished before the longest).
    Parts beyond the step's duration are cut off"""
    bottleneck: str
    """category with the largest share of the step (steps.bottleneck)"""
    dropped: int
    """1: the step is the first or last of more than five, so it may be incomplete, and averages
    exclude it [0 or 1]"""

class StepTimes(NamedTuple):
    run: str
    """name of the run"""
    step: int
    """number of the step, as in the table steps"""
    place: int
    """number of the category: 0 for Step time, which is the duration of the step, and 1 to 9 for
    what the step spends its time on"""
    category: str
    """Step time, Device compute, Device to device, Device collective communication, Host compute,
    Kernel launch, Input, Output, Compilation or All others"""
    ms: float | None
    """time of the category in the step: duration_ms of the table steps, or the column of the
    category that ends in _actual; NULL if that is NULL [ms]"""
    dropped: int
    """1: XProf drops the step as possibly incomplete (see steps) [0 or 1]"""

class StepVariance(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank by variance_percent within the run; what belongs to the steps only by time (in_group =
    0) comes after the others, the remainder last"""
    plane_kind: str | None
    """where the op ran: host (threads), gpu, tensorcore or sparsecore; NULL for the remainder"""
    name: str | None
    """name of the op or host event; NULL for the remainder: time of the steps that no op explains,
    less what ops that run at the same time explain twice"""
    short_name: str | None
    """readable name: for events of GPUs without namespaces, template arguments and parameters,
    unique in the run (docs/semantics.md); for others the display name, else name; if there are
    several, the last in byte order; NULL for the remainder"""
    in_group: int | None
    """1: the events have the steps' groups; 0: they belong to the steps by their time, and may only
    run at the same time as them; NULL for the remainder [0 or 1]"""
    steps: int
    """number of complete steps in which it ran; for the remainder, of all complete steps [steps]"""
    avg_us: float
    """average self time per complete step, 0 in a step in which it did not run; for the remainder,
    average duration of the complete steps; below 0 if events nested in it overlap each other
    [us]"""
    stddev_us: float
    """sample standard deviation of the op's self time per complete step; for the remainder, that of
    the steps' durations [us]"""
    variance_percent: float
    """covariance of the op's self time per step with the step's duration, as a share of the
    variance of the duration. Negative if the op takes longer in shorter steps; above 100 if other
    ops vary in the opposite direction or run at the same time. All rows of a run add up to 100
    [percent]"""

class Stragglers(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank of the core by own_ms; 1 is the slowest"""
    host: str
    """name of the host"""
    core_id: int
    """number of the core, as in core_steps: all GPUs of a host are one core, and so are the threads
    of a host without devices"""
    plane: str | None
    """name of the TensorCore's plane; NULL if the core is not a single device"""
    step_count: int
    """number of complete steps"""
    step_ms: float
    """average duration of a complete step on the core [ms]"""
    own_ms: float
    """average part of a complete step outside of collectives and, on GPUs, outside of copies
    between devices: time in which the core cannot wait for another device [ms]"""
    over_median_ms: float
    """own_ms minus the median of all cores; below 0 if the core is faster [ms]"""
    z_score: float | None
    """modified z-score of own_ms: 0.6745 x over_median_ms / median absolute deviation of all cores
    (at least 0.1% of the median); NULL for fewer than three cores, or if the median is 0"""
    straggler: str | None
    """yes if z_score is above 3.5, else no; NULL if z_score is NULL"""
    waited_ms: float | None
    """average time per step that the core waits in collectives for others of its group and host
    (collectives.wait_ps), dropped steps included; for GPUs, the average of the host's GPUs. The
    core that others wait for waits least. NULL if unknown [ms]"""

class TensorcoreMissed(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank by total duration within the run; 1 is the longest"""
    op_name: str
    """name of the framework op; tensor cores can run ops with this name"""
    kernel_name: str
    """name of the kernel, which does not use tensor cores, judged by its HLO op and its name
    (docs/semantics.md, Kernel on tensor cores). These kernels have no row: those of Fourier
    transforms and complex products, which tensor cores cannot run, those of HLO ops without a
    product, and helpers of a kernel on tensor cores (kernel_ops.is_helper)"""
    short_name: str
    """name of the kernel without namespaces, template arguments and parameters, unique in the run
    (docs/semantics.md)"""
    occurrences: int
    """number of times that the kernel ran for the op [kernels]"""
    total_duration_us: float
    """sum of the kernel's durations on the event clock [us]"""
    percent: float
    """total_duration_us as a share of the time of all kernels of the run [percent 0..100]"""
    avg_duration_us: float
    """average duration of one kernel [us]"""

class TimeByScope(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank by self time within the run; 1 is the longest"""
    plane_kind: str
    """where the ops ran: gpu, tensorcore or sparsecore; host in a run without devices"""
    scope: str | None
    """path of the scope (scope_ops.scope), cut after depth components; NULL for the ops outside of
    any scope"""
    iteration: int | None
    """iteration of the loop around the ops (scope_ops.iteration), with by_iteration = 1; NULL
    otherwise, and outside of loops"""
    forward_us: float
    """self time of the scope's ops of the forward pass, which includes the optimizer, over all
    devices or threads [us]"""
    backward_us: float
    """self time of the scope's ops that compute gradients [us]"""
    recomputed_us: float
    """self time of the scope's ops that compute values again for the gradients (jax.checkpoint,
    rematerialization) [us]"""
    unknown_us: float | None
    """self time of the scope's ops whose pass is unknown: no name of a framework op shows it
    (scope_ops.pass is NULL) [us]"""
    self_us: float
    """forward_us + backward_us + recomputed_us + unknown_us [us]"""
    percent: float | None
    """self_us as a share of the self time of all ops of the run and plane_kind; NULL if that is 0
    [percent 0..100]"""
    occurrences: int
    """number of events of the scope's ops [events]"""
    flops: float | None
    """operations of the scope's ops (scope_ops.flops), without those whose number is unknown; NULL
    if all are unknown [FLOP]"""
    bytes_accessed: float | None
    """bytes read and written by the scope's ops (scope_ops.bytes_accessed), without those whose
    number is unknown; NULL if all are unknown [bytes]"""
    scope_by: str | None
    """where the scope of top_op comes from: name, or stack (modules of the Python stack); NULL if
    scope is NULL"""
    owner_by: str | None
    """how the owner of top_op was found: own, fused, user, producer or caller; NULL if it has
    none"""
    top_op: str
    """op with the most self time: the HLO instruction, else the framework op, else the name of the
    events; for a kernel of a CUDA graph whose instruction is unknown, its name"""

class TimeBySourceLine(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank by self time within the run; 1 is the longest"""
    plane_kind: str
    """where the ops ran: gpu, tensorcore or sparsecore; host in a run without devices"""
    user_file: str | None
    """source file of the user's own program, not of a library or framework (docs/semantics.md, User
    line); NULL for ops that come from none"""
    user_line: int | None
    """line number in user_file; NULL if user_file is NULL"""
    user_function: str | None
    """function that contains the line; NULL if unknown"""
    forward_us: float
    """self time of the line's ops of the forward pass, which includes the optimizer, over all
    devices or threads [us]"""
    backward_us: float
    """self time of the line's ops that compute gradients [us]"""
    recomputed_us: float
    """self time of the line's ops that compute values again for the gradients (jax.checkpoint,
    rematerialization) [us]"""
    unknown_us: float | None
    """self time of the line's ops whose pass is unknown: no name of a framework op shows it
    (scope_ops.pass is NULL) [us]"""
    self_us: float
    """forward_us + backward_us + recomputed_us + unknown_us [us]"""
    percent: float | None
    """self_us as a share of the self time of all ops of the run and plane_kind; NULL if that is 0
    [percent 0..100]"""
    occurrences: int
    """number of events of the line's ops [events]"""
    flops: float | None
    """operations of the line's ops (scope_ops.flops), without those whose number is unknown; NULL
    if all are unknown [FLOP]"""
    bytes_accessed: float | None
    """bytes read and written by the line's ops (scope_ops.bytes_accessed), without those whose
    number is unknown; NULL if all are unknown [bytes]"""
    scope: str | None
    """scope of top_op; NULL if it has none"""
    top_op: str
    """op with the most self time: the HLO instruction, else the framework op, else the name of the
    events; for a kernel of a CUDA graph whose instruction is unknown, its name"""

class TimeByType(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank by self time within the run and plane_kind"""
    plane_kind: str
    """kind of the planes on which the ops ran: gpu, tensorcore or sparsecore; host in a run without
    devices"""
    element_type: str | None
    """element type such as f32 or bf16: for a matrix product or convolution, or a fusion that
    contains one, the type of its first operand; for other ops, the type of the result; tuple for
    several results; NULL for ops whose instruction is not in the file"""
    ops: int
    """number of instructions that ran; those of equal programs of several hosts count once
    [instructions]"""
    occurrences: int
    """number of events of these instructions [events]"""
    self_us: float
    """self time of these instructions [us]"""
    percent: float | None
    """self_us as a share of the self time of all ops on these planes; NULL if that is 0
    [percent]"""
    product_us: float
    """part of self_us in matrix products and convolutions: alone (dot, ragged-dot, scaled-dot,
    convolution), in fusions, and in library calls: custom calls whose target has gemm, matmul,
    $conv or $fmha (attention) in its name, in any case of letters, unless it contains reorder
    [us]"""
    convert_us: float
    """part of self_us in conversions to this type that are instructions or fusions of their own (of
    nothing but convert, copy, reshape and bitcast); conversions inside other fusions have no time
    of their own [us]"""

class TopHloOps(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank by self time within the run; 1 is the longest"""
    hlo_op: str
    """name of the HLO instruction; for kernels of a CUDA graph whose instructions are unknown, name
    of the graph"""
    category: str
    """HLO category of the op"""
    program_id: str | None
    """id of the program, decimal; NULL if the file does not name it"""
    hlo_module: str | None
    """name of the program's HLO module; NULL if the file does not contain the program"""
    occurrences: int
    """executions of the op on all cores (hlo_ops.occurrences_actual; on GPUs and host threads
    scope_ops.executions, or if these are unknown, the number of kernels)"""
    self_time_us: float
    """total time of the op without nested ops, on the device clock; top_ops uses the event clock,
    which on TPUs differs by some percent [us]"""
    percent: float
    """self time of the op as a share of the time in all ops of the run [percent 0..100]"""
    cumulative_percent: float
    """sum of percent of this op and the ops before it [percent 0..100]"""
    avg_self_time_us: float
    """average self time of one execution [us]"""
    flops_utilization: float | None
    """FLOP rate of the op divided by the device's peak rate; NULL if unknown [fraction]"""
    hbm_utilization: float | None
    """HBM bandwidth of the op divided by the device's peak bandwidth; above 1 if a cost is
    overestimated, far above 1 for the start and done of asynchronous transfers; NULL if unknown
    [fraction]"""
    bound_by: str
    """resource that the op uses closest to its peak; on GPUs, Compute or HBM, the larger of the two
    preceding columns; Unknown if neither is known"""
    tf_op: str | None
    """framework op that the instruction comes from, with its type if the file has it; NULL if
    unknown"""
    source_line: str | None
    """source file and line of the innermost stack frame, which may be in a library; NULL if
    unknown"""
    user_file: str | None
    """source file of the user's own program, not of a library or framework (docs/semantics.md, User
    line); NULL if unknown"""
    user_line: int | None
    """line number in user_file; NULL if user_file is NULL"""
    work_kind: str
    """compute, collective or transfer: the kind of the op's work (docs/semantics.md)"""
    is_container: int
    """1: the op runs other ops (hlo_ops.is_container) [0 or 1]"""
    is_recomputed: int
    """1: the op computes values again for the gradients (rematerialization) [0 or 1]"""
    event_self_time_us: float
    """self_time_us on the event clock, on which steps and spans are measured; the same on GPUs
    [us]"""

class TopKernels(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank by total duration within the run; 1 is the longest"""
    kernel_name: str
    """name of the kernel"""
    short_name: str
    """name of the kernel without namespaces, template arguments and parameters, unique in the run
    (docs/semantics.md)"""
    occurrences: int
    """number of times that the kernel ran [kernels]"""
    total_duration_us: float
    """sum of the kernel's durations on the event clock [us]"""
    percent: float | None
    """total_duration_us as a share of the time of all kernels of the run; NULL if all durations are
    0 [percent 0..100]"""
    cumulative_percent: float | None
    """sum of percent of this kernel and the kernels before it; NULL if all durations are 0 [percent
    0..100]"""
    avg_duration_us: float
    """average duration of one execution [us]"""
    min_duration_us: float
    """shortest duration of the kernel [us]"""
    max_duration_us: float
    """longest duration of the kernel [us]"""
    op_count: int
    """number of framework ops that the kernel ran for; 0 if none is known [ops]"""
    op_name: str | None
    """name of the framework op with the most time in the kernel; NULL if none is known"""
    uses_tensorcore: int
    """1: the kernel runs on tensor cores, judged by its HLO op and its name [0 or 1]"""

class TopOps(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank by self time within the run; 1 is the longest"""
    operation: str
    """name of the operation: its display name, else its name"""
    short_name: str
    """readable name: for events of GPUs without namespaces, template arguments and parameters,
    unique in the run (docs/semantics.md); for others the same as operation"""
    hlo_module: str | None
    """HLO module of the operation; NULL if it has none, and on GPUs, where a row is a kernel of all
    programs"""
    place: str
    """where the operation ran: device (GPU or TensorCore), sparsecore, or host (the threads of a
    run without GPUs, TensorCores and SparseCores)"""
    occurrences: int
    """number of times that the operation ran [events]"""
    total_time_us: float
    """sum of the durations on the event clock, nested operations included; hlo_ops uses the device
    clock of TPUs [us]"""
    self_time_us: float
    """sum of the durations without the operations nested directly in this one [us]"""
    self_time_percent: float | None
    """self time of the operation as a share of the self time of all operations of the run in this
    place; NULL if all self times are 0 [percent 0..100]"""
    avg_time_us: float
    """average duration of one execution [us]"""
    min_time_us: float
    """shortest duration of the operation [us]"""
    max_time_us: float
    """longest duration of the operation [us]"""

class TopWasted(NamedTuple):
    run: str
    """name of the run"""
    rank: int
    """rank by wasted time within the run; 1 wastes the most. Collectives and transfers such as
    infeed (see exposed_communication), ops that contain other ops (while, call) and ops whose
    utilization is unknown have no row"""
    hlo_op: str
    """name of the HLO instruction"""
    category: str
    """HLO category of the op"""
    program_id: str | None
    """id of the program, decimal; NULL if the file does not name it"""
    hlo_module: str | None
    """name of the program's HLO module; NULL if the file does not contain the program"""
    occurrences: int
    """executions of the op on all cores (top_hlo_ops.occurrences)"""
    self_time_us: float
    """total time of the op without nested ops, on the device clock [us]"""
    wasted_time_us: float
    """part of self_time_us that would be saved if the better utilized resource were at its peak
    [us]"""
    wasted_percent: float
    """wasted_time_us as a share of the time in all ops of the run [percent 0..100]"""
    flops_utilization: float | None
    """FLOP rate of the op divided by the device's peak rate; NULL if it has no operations or they
    are unknown [fraction]"""
    hbm_utilization: float | None
    """HBM bandwidth of the op divided by the device's peak bandwidth; NULL if it has no bytes or
    they are unknown [fraction]"""
    bound_by: str
    """resource that the op uses closest to its peak; on GPUs, Compute or HBM, the larger of the two
    preceding columns"""
    tf_op: str | None
    """framework op that the instruction comes from, with its type if the file has it; NULL if
    unknown"""
    source_line: str | None
    """source file and line of the innermost stack frame, which may be in a library; NULL if
    unknown"""

Source = str | PathLike[str] | Tables

class Tables:
    def prof_tables(self) -> Result[ProfTables]:
        """One row: one table of the extension."""
    def prof_columns(self) -> Result[ProfColumns]:
        """One row: one column of a table or canned query."""
    def prof_functions(self) -> Result[ProfFunctions]:
        """One row: one SQL function."""
    def prof_queries(self) -> Result[ProfQueries]:
        """One row: one canned query."""
    def prof_differences(self) -> Result[ProfDifferences]:
        """One row: one column whose value equals XProf's and is known to be wrong, with the column
        that is right."""
    def prof_runs(self, *, source: Source | None = None) -> Result[ProfRuns]:
        """One row: one attached run, or the run that a path names."""
    def prof_find(self, dir: Source) -> Result[ProfFind]:
        """One row: one run found in a folder or below it."""
    def prof_help(self, word: str | None = None) -> Result[ProfHelp]:
        """One row: one table, query, function or column that matches a word, best match first;
        without a word, all except columns."""
    def hosts(self, *, source: Source | None = None) -> Result[Hosts]:
        """One row: one host file of a run."""
    def planes(self, *, source: Source | None = None) -> Result[Planes]:
        """One row: one plane of a file: a device, a host's threads, or metadata."""
    def lines(self, *, source: Source | None = None) -> Result[Lines]:
        """One row: one timeline in a plane: a host thread, a GPU stream, or a row of a TPU core."""
    def trace_events(self, *, source: Source | None = None) -> Result[TraceEvents]:
        """One row: one event, in file order, with its times, self time, depth, parent and typed
        stats."""
    def events(self, *, source: Source | None = None) -> Result[Events]:
        """One row: one event: the same table as `trace_events`, under a shorter name."""
    def event_totals(self, *, source: Source | None = None) -> Result[EventTotals]:
        """One row: one event metadata entry on one line (one name; on TPUs, one op of one program):
        number of events; total, self, shortest and longest time."""
    def op_percentiles(self, *, source: Source | None = None) -> Result[OpPercentiles]:
        """One row: one op, program or step on the planes of a kind, with the percentiles of its
        durations (docs/semantics.md, Spread)."""
    def slow_calls(self, op: str | None = None, n: int | None = None, *, source: Source | None = None) -> Result[SlowCalls]:
        """One row: one call of an op, kernel or copy on a device that took longer than the median
        of its calls, the slowest first: which single calls of an op took much longer than its other
        calls?."""
    def timeline(self, *, source: Source | None = None) -> Result[Timeline]:
        """One row: one event that XProf's trace viewer displays; `derived = 1` marks events on
        lines that XProf adds."""
    def xprof_events(self, *, source: Source | None = None) -> Result[XprofEvents]:
        """One row: one event as in XProf's Events DB (`xprof query_events_db`), with XProf's column
        names."""
    def event_stats(self, *, source: Source | None = None) -> Result[EventStats]:
        """One row: one stat of one event: the event's own stats first, then those of its
        metadata."""
    def event_metadata(self, *, source: Source | None = None) -> Result[EventMetadata]:
        """One row: one event metadata entry that a plane declares: the name and stats that its
        events share."""
    def event_metadata_stats(self, *, source: Source | None = None) -> Result[EventMetadataStats]:
        """One row: one stat that all events of one metadata entry share."""
    def stat_metadata(self, *, source: Source | None = None) -> Result[StatMetadata]:
        """One row: one stat name that a plane declares."""
    def plane_stats(self, *, source: Source | None = None) -> Result[PlaneStats]:
        """One row: one stat of a plane, such as a device capability or a property of the
        session."""
    def session(self, *, source: Source | None = None) -> Result[Session]:
        """One row: one fact about the capture: its environment, or an error or warning of the
        profiler."""
    def prof_issues(self, *, source: Source | None = None) -> Result[ProfIssues]:
        """One row: one problem of a file (data was lost, was repaired or is doubtful), one reason
        why a table has no rows, or one warning of an XProf page."""
    def devices(self, *, source: Source | None = None) -> Result[Devices]:
        """One row: one GPU, TensorCore or SparseCore: its model, and the peak rates of its compute
        units and memories."""
    def device_time(self, by_step: int | None = None, by_line: int | None = None, *, source: Source | None = None) -> Result[DeviceTime]:
        """One row: one device (or one of its streams, or one step on it) with its time busy,
        computing, communicating, transferring, waiting and idle, and the parts that computing does
        not hide."""
    def device_steps(self, *, source: Source | None = None) -> Result[DeviceSteps]:
        """One row: one GPU or TensorCore in one step: its time communicating and transferring, and
        the parts that computing does not hide."""
    def time_breakdown(self, by_step: int | None = None, by_line: int | None = None, *, source: Source | None = None) -> Result[TimeBreakdown]:
        """One row: one combination of activities of a device (computing, communicating,
        transferring, or none of them), with the part of its span in which exactly these run."""
    def op_metrics(self, *, source: Source | None = None) -> Result[OpMetrics]:
        """One row: one op on host threads or on devices, with its occurrences, times, FLOPs and
        bytes."""
    def op_metrics_totals(self, *, source: Source | None = None) -> Result[OpMetricsTotals]:
        """One row: one side of a run (host, device or framework), with its measured time, time in
        ops and duty cycle."""
    def tf_ops(self, include_idle: int | None = None, row_limit: int | None = None, *, source: Source | None = None) -> Result[TfOps]:
        """One row: one framework op of devices or hosts, as in XProf's framework op stats."""
    def hlo_ops(self, *, source: Source | None = None) -> Result[Any]:
        """One row: one HLO op, summed over all devices, as in XProf's HLO op stats, which lack the
        kernels of CUDA graphs (top_hlo_ops has them)."""
    def scope_ops(self, *, source: Source | None = None) -> Result[Any]:
        """One row: one op (in a loop, one iteration of it) on the devices of a kind, or on a host's
        threads in a run without devices, with its time, scope, owner and user line."""
    def kernel_stats(self, row_limit: int | None = None, *, source: Source | None = None) -> Result[KernelStats]:
        """One row: one GPU kernel by name, launch configuration and op, as in XProf's kernel stats;
        longest kernel first."""
    def kernel_ops(self, *, source: Source | None = None) -> Result[KernelOps]:
        """One row: one GPU kernel by name, framework op and use of tensor cores, from profiler
        files of any age; longest kernel first."""
    def launch_delays(self, *, source: Source | None = None) -> Result[LaunchDelays]:
        """One row: one kernel, copy or other event on a GPU whose launch is known: when it was
        launched, how long it waited, and what the host was doing."""
    def graph_kernels(self, *, source: Source | None = None) -> Result[Any]:
        """One row: one kernel or copy that a CUDA graph ran, with the HLO instruction that it
        runs."""
    def launch_latency(self, n: int | None = None, *, source: Source | None = None) -> Result[LaunchLatency]:
        """One row: one name of kernels, copies or other events on GPUs: how long does a kernel wait
        between its launch on the host and its start on the device?."""
    def launch_queue(self, *, source: Source | None = None) -> Result[LaunchQueue]:
        """One row: one stream of a GPU: how long are the launch queues of GPU streams, and is the
        host blocked because one is full?."""
    def program_runs(self, *, source: Source | None = None) -> Result[ProgramRuns]:
        """One row: one execution of an HLO program on a device."""
    def program_totals(self, *, source: Source | None = None) -> Result[ProgramTotals]:
        """One row: one HLO program (id and module) on one device: how often it ran, and for how
        long."""
    def program_gaps(self, *, source: Source | None = None) -> Result[ProgramGaps]:
        """One row: one part of a device's span in which it ran no HLO program, between two programs
        or at an end."""
    def gaps(self, n: int | None = None, *, source: Source | None = None) -> Result[Gaps]:
        """One row: one gap between two ops of a device; in a run without work on devices, between
        two ops of a process."""
    def op_profile(self, group_by: str | None = None, include_idle: int | None = None, row_limit: int | None = None, *, source: Source | None = None) -> Result[OpProfile]:
        """One row: one node of XProf's op profile, a tree of the devices' ops; in preorder."""
    def compilations(self, *, source: Source | None = None) -> Result[Compilations]:
        """One row: one compilation during the capture: the function, the program that it became,
        and how its parameters differ from those of the previous program; ordered by host and
        start."""
    def recompilations(self, *, source: Source | None = None) -> Result[Recompilations]:
        """One row: one function that was compiled several times, or has several programs in the
        file: how long that took, and the parameters whose shapes differ; for each host, longest
        compilation time first."""
    def compiler_events(self, *, source: Source | None = None) -> Result[CompilerEvents]:
        """One row: one name of events on one thread of a compiler, during the compilations of one
        function: how often and how long these ran (docs/semantics.md)."""
    def idle_causes(self, *, source: Source | None = None) -> Result[IdleCauses]:
        """One row: one activity of the host during which devices were idle, with the idle time;
        longest first."""
    def all_others(self, *, source: Source | None = None) -> Result[AllOthers]:
        """One row: one activity of the host in the time of the steps that XProf calls All others,
        because no known activity runs: what is in All others? The longest first."""
    def wait_totals(self, *, source: Source | None = None) -> Result[WaitTotals]:
        """One row: one name of waits for a device on one host thread: how many there are, and how
        long they take. host_waits also says what calls them."""
    def roofline(self, *, source: Source | None = None) -> Result[Roofline]:
        """One row: one op, or the entire program, compared with the peak rates of the device, as in
        XProf's roofline model."""
    def roofline_properties(self, *, source: Source | None = None) -> Result[RooflineProperties]:
        """One row: one property of the devices that XProf's roofline model uses."""
    def tf_functions(self, *, source: Source | None = None) -> Result[TfFunctions]:
        """One row: one tf.function in one execution mode, with its calls and the cost of
        tracing."""
    def overview(self, *, source: Source | None = None) -> Result[Overview]:
        """One row: one property of XProf's overview page."""
    def top_device_ops(self, *, source: Source | None = None) -> Result[TopDeviceOps]:
        """One row: one of the ten framework ops with the most device time, as in XProf's overview
        page."""
    def recommendations(self, *, source: Source | None = None) -> Result[Recommendations]:
        """One row: one recommendation of XProf's pages, or of a rule like theirs: a finding and
        what to do about it, or a tip; the query advice shows what each problem costs."""
    def steps(self, *, source: Source | None = None) -> Result[Steps]:
        """One row: one step of a run, with its duration and its time by activity."""
    def step_breakdown(self, *, source: Source | None = None) -> Result[StepBreakdown]:
        """One row: one category of time of one core in one step, as in XProf's step database."""
    def core_steps(self, *, source: Source | None = None) -> Result[CoreSteps]:
        """One row: one core in one step, as in XProf's pod viewer."""
    def host_steps(self, *, source: Source | None = None) -> Result[HostSteps]:
        """One row: one step, or group of events, on one host, including steps that XProf does not
        count and the reason for it."""
    def step_ops(self, *, source: Source | None = None) -> Result[StepOps]:
        """One row: one op or host event in one step: how often and how long it ran
        (docs/semantics.md)."""
    def step_op_spread(self, of_step: int | None = None, *, source: Source | None = None) -> Result[StepOpSpread]:
        """One row: one op or host event over all steps of a run: how its self time varies, how much
        of the variation of the step time it explains, and what it took in the longest step or
        another."""
    def input_pipeline(self, *, source: Source | None = None) -> Result[InputPipeline]:
        """One row: one run: whether it waits for its input, by XProf's rules."""
    def input_steps(self, *, source: Source | None = None) -> Result[InputSteps]:
        """One row: one step, as in XProf's input-pipeline analyzer."""
    def input_ops(self, *, source: Source | None = None) -> Result[InputOps]:
        """One row: one op of the host's input pipelines; longest self time first."""
    def input_breakdown(self, *, source: Source | None = None) -> Result[InputBreakdown]:
        """One row: one of the five parts of the host's input time."""
    def tf_data_pipelines(self, *, source: Source | None = None) -> Result[TfDataPipelines]:
        """One row: one tf.data input pipeline, with the bottleneck of its longest call."""
    def tf_data_calls(self, *, source: Source | None = None) -> Result[TfDataCalls]:
        """One row: one request for an element of a tf.data pipeline; longest request first."""
    def tf_data_iterators(self, *, source: Source | None = None) -> Result[TfDataIterators]:
        """One row: one iterator in one request for an element of a tf.data pipeline, with its share
        of the time."""
    def hlo_modules(self, *, source: Source | None = None) -> Result[HloModules]:
        """One row: one HLO program of a host."""
    def hlo_computations(self, *, source: Source | None = None) -> Result[HloComputations]:
        """One row: one computation of an HLO program."""
    def hlo_instructions(self, *, source: Source | None = None) -> Result[Any]:
        """One row: one instruction of an HLO program."""
    def hlo_operands(self, *, source: Source | None = None) -> Result[HloOperands]:
        """One row: one operand of an HLO instruction."""
    def hlo_text(self, module: str | None = None, style: str | None = None, *, source: Source | None = None) -> Result[HloText]:
        """One row: one line of an HLO program's text, as XProf's graph viewer shows it."""
    def buffer_allocations(self, small_buffer_bytes: int | None = None, *, source: Source | None = None) -> Result[Any]:
        """One row: one logical buffer of an HLO program, with its position in an allocation."""
    def heap_timeline(self, *, source: Source | None = None) -> Result[HeapTimeline]:
        """One row: one event of an HLO program's heap trace, with the memory in use before it."""
    def memory_peaks(self, *, source: Source | None = None) -> Result[MemoryPeaks]:
        """One row: one memory space of an HLO program that has an allocation in it, with its peak
        and totals, as in XProf's memory viewer."""
    def memory_events(self, samples: int | None = None, *, source: Source | None = None) -> Result[MemoryEvents]:
        """One row: one allocation or free that an allocator recorded."""
    def memory_allocators(self, *, source: Source | None = None) -> Result[MemoryAllocators]:
        """One row: one allocator, with its peaks and the composition of its memory at the profile's
        peak."""
    def memory_active(self, *, source: Source | None = None) -> Result[MemoryActive]:
        """One row: one group of equal allocations that were live at their allocator's peak, or heap
        or stack that no allocation explains."""
    def memory_time(self, levels: int | None = None, *, source: Source | None = None) -> Result[MemoryTime]:
        """One row: one level of an allocator's memory in use, with the time that the allocator
        spent at it; lowest level first."""
    def memory_over_time(self, parts: int | None = None, *, source: Source | None = None) -> Result[MemoryOverTime]:
        """One row: one part of an allocator's time, with the most and the least memory in use in
        it; in the order of the allocators' names and of time."""
    def memory_ops(self, *, source: Source | None = None) -> Result[MemoryOps]:
        """One row: one op that allocated memory from one allocator: how often, how much, and how
        much of that was freed; in the order of the allocators' names and of the first allocation in
        memory_events."""
    def async_ops(self, include_synchronous: int | None = None, *, source: Source | None = None) -> Result[AsyncOps]:
        """One row: one asynchronous transfer or collective of a device, with the time that
        computing hides."""
    def async_op_totals(self, include_synchronous: int | None = None, *, source: Source | None = None) -> Result[AsyncOpTotals]:
        """One row: one asynchronous transfer or collective of a device with the compute op that
        overlaps it longest: the number and times of all such executions."""
    def collectives(self, *, source: Source | None = None) -> Result[Collectives]:
        """One row: one collective op of one device: how long it took, and how long the device
        waited for other devices."""
    def dcn_collectives(self, *, source: Source | None = None) -> Result[DcnCollectives]:
        """One row: one collective between TPU slices over the data-center network, as in XProf's
        megascale stats."""
    def dcn_messages(self, *, source: Source | None = None) -> Result[DcnMessages]:
        """One row: one message that a host received from another TPU slice over the data-center
        network."""
    def dcn_bursts(self, *, source: Source | None = None) -> Result[DcnBursts]:
        """One row: one burst: a period without a pause in which messages from other slices were in
        flight, with the share of the network that they used."""
    def inference_models(self, *, source: Source | None = None) -> Result[InferenceModels]:
        """One row: one model on a model server, with its requests, batches and batching
        parameters."""
    def inference_requests(self, *, source: Source | None = None) -> Result[InferenceRequests]:
        """One row: one request to a model server, with its time by activity; ordered by model,
        shortest request first."""
    def inference_batches(self, *, source: Source | None = None) -> Result[InferenceBatches]:
        """One row: one batch that a model server ran; ordered by model, shortest batch first."""
    def inference_percentiles(self, *, source: Source | None = None) -> Result[InferencePercentiles]:
        """One row: one request or batch at a percentile of the duration, or an average, as in
        XProf's inference profile."""
    def inference_tensor_patterns(self, *, source: Source | None = None) -> Result[InferenceTensorPatterns]:
        """One row: one pattern of tensors that requests and batches converted between host and
        device layout, with the time that took."""
    def inference_latency(self, *, source: Source | None = None) -> Result[InferenceLatency]:
        """One row: one percentile of the duration of requests to a model server, with its time by
        activity."""
    def perf_counters(self, *, source: Source | None = None) -> Result[PerfCounters]:
        """One row: one hardware counter in one sample, in file order."""
    def utilization(self, *, source: Source | None = None) -> Result[Utilization]:
        """One row: one hardware unit of one TPU core in one sample, with its utilization from
        hardware counters (v6e, v7x)."""
    def kernel_utilization(self, *, source: Source | None = None) -> Result[KernelUtilization]:
        """One row: one metric that XProf computes from one sample of a TPU's hardware counters."""
    def profsql_live(self, *, source: Source | None = None) -> Result[ProfsqlLive]:
        """One row: one record of a capture that is still running."""
    def prof_capture(self, address: str | None = None, duration_ms: int | None = None, logdir: str | None = None) -> Result[ProfCapture]:
        """One row: one host whose running program was profiled by this query (docs/remote.md)."""
    def prof_monitor(self, address: str | None = None, duration_ms: int | None = None, level: int | None = None) -> Result[ProfMonitor]:
        """One row: one measurement of a running program, made by this query (docs/remote.md)."""
    def advice(self, least_percent: float | None = None, *, source: Source | None = None) -> Result[Advice]:
        """Which problems cost the most time, and what can be done about them?"""
    def allocation_churn(self, n: int | None = None, *, source: Source | None = None) -> Result[AllocationChurn]:
        """Which operations allocate the most memory over and over?"""
    def batch_padding(self, *, source: Source | None = None) -> Result[BatchPadding]:
        """How much of a model server's batches is padding?"""
    def capture_summary(self, *, source: Source | None = None) -> Result[CaptureSummary]:
        """What does a profile contain, on one screen: time, steps, devices, kernels, copies,
        losses?"""
    def compare_groups(self, runs_a: str | None = None, runs_b: str | None = None) -> Result[CompareGroups]:
        """Is the difference between two groups of runs more than noise?"""
    def compare_hlo_ops(self, b: Source, *, a: Source | None = None) -> Result[CompareHloOps]:
        """How do the HLO ops of two runs differ?"""
    def compare_kernels(self, b: Source, *, a: Source | None = None) -> Result[CompareKernels]:
        """How do the GPU kernels of two runs differ?"""
    def compare_ops(self, b: Source, kind: str | None = None, *, a: Source | None = None) -> Result[CompareOps]:
        """How do the operations of two runs differ, on devices, or on host threads if no run has a
        device?"""
    def compare_slower_ops(self, b: Source, kind: str | None = None, *, a: Source | None = None) -> Result[CompareSlowerOps]:
        """Which operations take more time in the second run than in the first?"""
    def compare_steps(self, b: Source, *, a: Source | None = None) -> Result[CompareSteps]:
        """What does a step of one run spend more time on than a step of another run?"""
    def compare_tf_ops(self, b: Source, *, a: Source | None = None) -> Result[CompareTfOps]:
        """How do the framework ops of two runs differ?"""
    def compile_passes(self, *, source: Source | None = None) -> Result[Any]:
        """Why is compilation slow: which pass of the compiler takes the time?"""
    def compile_time(self, *, source: Source | None = None) -> Result[CompileTime]:
        """How much time did the job spend compiling?"""
    def donation(self, n: int | None = None, *, source: Source | None = None) -> Result[Donation]:
        """Which parameters of programs are donated, so that outputs reuse their memory, and which
        could be?"""
    def eager_ops(self, *, source: Source | None = None) -> Result[EagerOps]:
        """Which TensorFlow ops ran eagerly, outside any tf.function?"""
    def exposed_communication(self, by_device: int | None = None, *, source: Source | None = None) -> Result[ExposedCommunication]:
        """How much of the communication and copying is not hidden by computation?"""
    def exposed_communication_by_step(self, *, source: Source | None = None) -> Result[ExposedCommunicationByStep]:
        """How much communication and copying was exposed in each step of each device?"""
    def flops_utilization_by_step(self, *, source: Source | None = None) -> Result[FlopsUtilizationByStep]:
        """How much of the devices' peak FLOP rate did each step use (MFU, HFU)?"""
    def fragmentation(self, n: int | None = None, *, source: Source | None = None) -> Result[Fragmentation]:
        """How much memory do programs allocate for temporaries but never use?"""
    def fusion_breakdown(self, n: int | None = None, *, source: Source | None = None) -> Result[FusionBreakdown]:
        """Which instructions are in the fusions, slowest fusion first?"""
    def gpu_counters(self, *, source: Source | None = None) -> Result[GpuCounters]:
        """How busy were the parts of the GPUs over time, according to their hardware counters?"""
    def gpu_samples(self, *, source: Source | None = None) -> Result[GpuSamples]:
        """What were the power, clock rates, load and temperature of the GPUs over time?"""
    def host_bound(self, *, source: Source | None = None) -> Result[HostBound]:
        """Does the host slow the devices down, and what does it do?"""
    def host_only_ops(self, n: int | None = None, *, source: Source | None = None) -> Result[HostOnlyOps]:
        """Which framework ops ran on the host only, without any work on a device?"""
    def host_waits(self, *, source: Source | None = None) -> Result[HostWaits]:
        """How long, and in which calls, does the host wait for a device?"""
    def idle_gaps(self, n: int | None = None, *, source: Source | None = None) -> Result[IdleGaps]:
        """When was a device idle, and what ran before and after?"""
    def input_bound(self, *, source: Source | None = None) -> Result[InputBound]:
        """Is the run waiting for its input, and for which part of the input pipeline?"""
    def kernel_time_by_op(self, n: int | None = None, *, source: Source | None = None) -> Result[KernelTimeByOp]:
        """Which framework ops do GPU kernels and copies run for, in profiler files of any age?"""
    def kpi(self, *, source: Source | None = None) -> Result[Kpi]:
        """How well did the run perform, in one row?"""
    def largest_buffers(self, n: int | None = None, space: int | None = None, *, source: Source | None = None) -> Result[LargestBuffers]:
        """Which buffers use the most memory at the peak?"""
    def layout_ops(self, n: int | None = None, *, source: Source | None = None) -> Result[LayoutOps]:
        """How much time do copies and transposes take, and which op needs them?"""
    def live_allocations(self, event: int | None = None, n: int | None = None, *, source: Source | None = None) -> Result[LiveAllocations]:
        """Which memory was allocated and not yet freed at an event, or at each allocator's peak?"""
    def live_at(self, event: int | None = None, module: str | None = None, n: int | None = None, space: int | None = None, *, source: Source | None = None) -> Result[LiveAt]:
        """Which buffers of a compiled program are live at one moment of its memory plan?"""
    def memory_by_source_line(self, n: int | None = None, space: int | None = None, *, source: Source | None = None) -> Result[MemoryBySourceLine]:
        """Which lines of my program use the most memory of a compiled program at its peak?"""
    def memory_growth(self, *, source: Source | None = None) -> Result[MemoryGrowth]:
        """Does the memory in use grow from step to step (a leak)?"""
    def mfu(self, peak: float | None = None, *, source: Source | None = None) -> Result[Mfu]:
        """What is the MFU of the run, of each step and of each program (model FLOPS
        utilization)?"""
    def missing(self, *, source: Source | None = None) -> Result[Missing]:
        """What can this file not answer, and which profiler option would have recorded it?"""
    def op_time_by_category(self, *, source: Source | None = None) -> Result[OpTimeByCategory]:
        """Which kinds of ops take the time, on the devices and on the host?"""
    def op_time_by_line(self, n: int | None = None, *, source: Source | None = None) -> Result[OpTimeByLine]:
        """How much time does each timeline spend in each operation?"""
    def overview_page(self, *, source: Source | None = None) -> Result[OverviewPage]:
        """What does XProf's overview page show for the run?"""
    def padding_waste(self, n: int | None = None, *, source: Source | None = None) -> Result[PaddingWaste]:
        """Which buffers waste the most memory and time on padding, and which shape would fit?"""
    def peak_holders(self, n: int | None = None, space: int | None = None, *, source: Source | None = None) -> Result[PeakHolders]:
        """Which allocations or buffers make up the memory peak, and since when do they exist?"""
    def peak_memory(self, n: int | None = None, space: int | None = None, *, source: Source | None = None) -> Result[PeakMemory]:
        """How much memory does each compiled program need at its peak, and for what?"""
    def program_cost(self, n: int | None = None, *, source: Source | None = None) -> Result[ProgramCost]:
        """How many FLOPs does each program need, how large is it, and how long did it take to
        compile?"""
    def program_flops(self, *, source: Source | None = None) -> Result[ProgramFlops]:
        """How many FLOPs did each HLO program carry out on devices, and how is that known?"""
    def range_kernels(self, range: str | None = None, *, source: Source | None = None) -> Result[RangeKernels]:
        """Which kernels were launched under a range, such as a TraceAnnotation or a Python
        function?"""
    def remat_candidates(self, n: int | None = None, max_flops_per_byte: float | None = None, space: int | None = None, *, source: Source | None = None) -> Result[RematCandidates]:
        """Which large values stay in memory across the peak although they are cheap to
        recompute?"""
    def slow_step_ops(self, of_step: int | None = None, n: int | None = None, *, source: Source | None = None) -> Result[SlowStepOps]:
        """What took longer in a slow step than in the median step?"""
    def slowest_steps(self, n: int | None = None, *, source: Source | None = None) -> Result[SlowestSteps]:
        """Which steps took longest, and what did they spend more time on than the median complete
        step?"""
    def steady_steps(self, *, source: Source | None = None) -> Result[SteadySteps]:
        """How long is a step in steady state, without warm-up and compilation?"""
    def step_time_graph(self, width: int | None = None, *, source: Source | None = None) -> Result[StepTimeGraph]:
        """How long did each step take, and on what? One text bar per step"""
    def step_times(self, *, source: Source | None = None) -> Result[StepTimes]:
        """What did each step spend its time on, one row for each step and category?"""
    def step_variance(self, n: int | None = None, *, source: Source | None = None) -> Result[StepVariance]:
        """Which ops make the step times vary?"""
    def stragglers(self, n: int | None = None, *, source: Source | None = None) -> Result[Stragglers]:
        """Which cores or hosts slow the others down?"""
    def tensorcore_missed(self, n: int | None = None, *, source: Source | None = None) -> Result[TensorcoreMissed]:
        """Which kernels could run on tensor cores but do not?"""
    def tf_stats(self, *, source: Source | None = None) -> Result[Any]:
        """What does XProf's framework op stats page, and its CSV export, show?"""
    def time_by_pass(self, *, source: Source | None = None) -> Result[Any]:
        """Does the forward pass, the backward pass or the optimizer take the time?"""
    def time_by_scope(self, depth: int | None = None, by_iteration: int | None = None, n: int | None = None, *, source: Source | None = None) -> Result[TimeByScope]:
        """Which layer, module or named scope takes the time, in the forward and in the backward
        pass?"""
    def time_by_source_line(self, n: int | None = None, *, source: Source | None = None) -> Result[TimeBySourceLine]:
        """Which lines of my program take the time?"""
    def time_by_type(self, *, source: Source | None = None) -> Result[TimeByType]:
        """In which element types do the ops compute, and how long do conversions between them
        take?"""
    def top_hlo_ops(self, n: int | None = None, *, source: Source | None = None) -> Result[TopHloOps]:
        """Which HLO ops take the most time on the devices, or on the host in a run without
        devices?"""
    def top_kernels(self, n: int | None = None, *, source: Source | None = None) -> Result[TopKernels]:
        """Which GPU kernels take the most time?"""
    def top_ops(self, n: int | None = None, *, source: Source | None = None) -> Result[TopOps]:
        """Which operations take the most self time?"""
    def top_wasted(self, n: int | None = None, *, source: Source | None = None) -> Result[TopWasted]:
        """Which computing HLO ops waste the most device time, using neither compute nor memory
        well?"""
