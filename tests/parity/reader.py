#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An independent reading of XSpace files, by Google's protobuf for Python: what libprofsql's raw
tables must say.

    reader.py FILE.xplane.pb...          the dump of rows.py; several files are the hosts of one run

The schema is declared here, on its own, from the published field numbers of xplane.proto. Strings
are declared as bytes: protobuf would refuse a whole file for one name that is not UTF-8. A file
that protobuf refuses all the same ends this with status 3 and the reason.
"""

import math
import os
import sys

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory
except ImportError:  # needed neither for the schema nor for the dump
    descriptor_pb2 = None

sys.dont_write_bytecode = True
from rows import spell  # noqa: E402

INT64_MAX = 2**63 - 1
LONGEST_NS = INT64_MAX // 1000

# message: (number, name, type, label or oneof). Types: i int64, u uint64, d double, b bytes and
# string, else a message.
SCHEMA = {
    "XSpace": [(1, "planes", "XPlane", "*"), (2, "errors", "b", "*"), (3, "warnings", "b", "*"),
               (4, "hostnames", "b", "*")],
    "XPlane": [(1, "id", "i", ""), (2, "name", "b", ""), (3, "lines", "XLine", "*"),
               (4, "event_metadata", "XEventMetadata", "map"),
               (5, "stat_metadata", "XStatMetadata", "map"),
               (6, "stats", "XStat", "*")],
    "XLine": [(1, "id", "i", ""), (2, "name", "b", ""), (3, "timestamp_ns", "i", ""),
              (4, "events", "XEvent", "*"),
              (9, "duration_ps", "i", ""), (10, "display_id", "i", ""),
              (11, "display_name", "b", "")],
    "XEvent": [(1, "metadata_id", "i", ""), (2, "offset_ps", "i", "data"),
               (5, "num_occurrences", "i", "data"),
               (3, "duration_ps", "i", ""), (4, "stats", "XStat", "*")],
    "XStat": [(1, "metadata_id", "i", ""), (2, "double", "d", "value"), (3, "uint64", "u", "value"),
              (4, "int64", "i", "value"), (5, "str", "b", "value"), (6, "bytes", "b", "value"),
              (7, "ref", "u", "value")],
    "XEventMetadata": [(1, "id", "i", ""), (2, "name", "b", ""), (3, "metadata", "b", ""),
                       (4, "display_name", "b", ""),
                       (5, "stats", "XStat", "*"), (6, "child_id", "i", "*")],
    "XStatMetadata": [(1, "id", "i", ""), (2, "name", "b", ""), (3, "description", "b", "")],
}


def declare():
    """The message class of XSpace."""
    if not descriptor_pb2:
        sys.exit("reader.py needs protobuf for Python: apt install python3-protobuf")
    F = descriptor_pb2.FieldDescriptorProto
    types = {"i": F.TYPE_INT64, "u": F.TYPE_UINT64, "d": F.TYPE_DOUBLE, "b": F.TYPE_BYTES}
    package = "profsql_parity"
    proto = descriptor_pb2.FileDescriptorProto(name="parity.proto", package=package,
                                               syntax="proto3")
    for message_name, fields in SCHEMA.items():
        m = proto.message_type.add(name=message_name)
        for number, name, kind, how in fields:
            f = m.field.add(name=name, number=number)
            f.label = F.LABEL_REPEATED if how in ("*", "map") else F.LABEL_OPTIONAL
            if kind in types:
                f.type = types[kind]
            else:
                f.type, f.type_name = F.TYPE_MESSAGE, ".%s.%s" % (package, kind)
            if how == "map":
                entry = m.nested_type.add(name="".join(w.capitalize()
                                                       for w in name.split("_")) + "Entry")
                entry.options.map_entry = True
                entry.field.add(name="key", number=1, type=F.TYPE_INT64, label=F.LABEL_OPTIONAL)
                entry.field.add(name="value", number=2, type=F.TYPE_MESSAGE, type_name=f.type_name,
                                label=F.LABEL_OPTIONAL)
                f.type_name = ".%s.%s.%s" % (package, message_name, entry.name)
            elif how not in ("", "*"):
                if not m.oneof_decl:
                    m.oneof_decl.add(name=how)
                f.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(proto)
    found = pool.FindMessageTypeByName(package + ".XSpace")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(found)
    return message_factory.MessageFactory(pool).GetPrototype(found)


def text(data):
    return data.decode("utf-8", "replace")


def host_of(path):
    name = os.path.basename(path)
    return name[:-len(".xplane.pb")] if name.endswith(".xplane.pb") else name


def stat_fields(stat, names):
    """stat_id, name, type, value of one XStat; `names` maps the plane's stat metadata ids to
    names."""
    kind = stat.WhichOneof("value")
    value = None
    if kind == "ref":
        ref = stat.ref if stat.ref <= INT64_MAX else stat.ref - 2**64
        value = names.get(ref, "")
    elif kind == "str":
        value = text(stat.str)
    elif kind:
        value = getattr(stat, kind)
        if kind == "uint64" and value > INT64_MAX:
            value = str(value)
        elif kind == "double" and math.isnan(value):
            value = None
    return stat.metadata_id, names.get(stat.metadata_id, ""), kind or "none", value


def epoch_of(space):
    """Where line times that are too large for picoseconds count from: the session's start, else the
    earliest of them."""
    times = [line.timestamp_ns for plane in space.planes for line in plane.lines
             if line.timestamp_ns > LONGEST_NS]
    if not times:
        return 0
    starts = [stat.int64 or stat.uint64 for plane in space.planes
              if text(plane.name) == "Task Environment"
              for stat in plane.stats
              if text(plane.stat_metadata[stat.metadata_id].name) == "profile_start_time"]
    if starts and 0 < starts[-1] <= min(times) and min(times) - starts[-1] <= LONGEST_NS:
        return starts[-1]
    return min(times)


class Dump:
    """Writes files one after another, with ids that go on from file to file as in one run."""

    def __init__(self, out):
        self.out = out
        self.plane_id = self.line_id = self.event_id = 0

    def row(self, table, *fields):
        self.out.write(table + "\t" + "\t".join(map(spell, fields)) + "\n")

    def file(self, path, space):
        host = host_of(path)
        before = self.event_id
        self.epoch_ns = epoch_of(space)
        for plane in space.planes:
            self.plane(host, plane)
        self.row("hosts", host, os.path.getsize(path), self.event_id - before)

    def plane(self, host, plane):
        stat_names = {key: text(entry.name) for key, entry in plane.stat_metadata.items()}
        metadata = {key: (text(entry.name), len(entry.stats))
                    for key, entry in plane.event_metadata.items()}
        counts = dict.fromkeys(metadata, 0)
        first = self.event_id
        for line in plane.lines:
            self.row("lines", self.line_id, host, self.plane_id, str(line.id), text(line.name),
                     text(line.display_name),
                     line.display_id, line.timestamp_ns, line.duration_ps, len(line.events))
            base = (line.timestamp_ns - (self.epoch_ns if line.timestamp_ns > LONGEST_NS
                                         else 0)) * 1000
            for event in line.events:
                name, inherited = metadata.get(event.metadata_id, ("", 0))
                if event.metadata_id in counts:
                    counts[event.metadata_id] += 1
                start = min(max(base + event.offset_ps, -2**63), INT64_MAX)
                aggregated = event.WhichOneof("data") == "num_occurrences"
                self.row("events", self.event_id, host, self.plane_id, self.line_id,
                         event.metadata_id, name, start,
                         event.duration_ps, event.num_occurrences if aggregated else None)
                for n, stat in enumerate(event.stats):
                    self.row("event_stats", self.event_id, n, *stat_fields(stat, stat_names))
                if inherited:
                    self.row("inherited_stats", self.event_id, inherited)
                self.event_id += 1
            self.line_id += 1
        self.row("planes", self.plane_id, host, str(plane.id), text(plane.name), len(plane.lines),
                 self.event_id - first)
        for key, entry in sorted(plane.event_metadata.items()):
            children = "[%s]" % ",".join(map(str, entry.child_id)) if entry.child_id else None
            self.row("event_metadata", self.plane_id, key, text(entry.name),
                     text(entry.display_name), entry.metadata,
                     children, len(entry.stats), counts[key])
            for n, stat in enumerate(entry.stats):
                self.row("event_metadata_stats", self.plane_id, key, n,
                         *stat_fields(stat, stat_names))
        for key, entry in sorted(plane.stat_metadata.items()):
            self.row("stat_metadata", self.plane_id, key, text(entry.name), text(entry.description))
        for n, stat in enumerate(plane.stats):
            self.row("plane_stats", self.plane_id, n, *stat_fields(stat, stat_names))
        self.plane_id += 1


def main(paths):
    if not paths:
        sys.exit(__doc__)
    XSpace = declare()
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    dump = Dump(sys.stdout)
    for path in sorted(paths, key=os.fsencode):
        with open(path, "rb") as fh:
            data = fh.read()
        try:
            space = XSpace.FromString(data)
        except message.DecodeError as error:
            print("protobuf refuses %s: %s" % (path, error), file=sys.stderr)
            return 3
        dump.file(path, space)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
